/* Free motion of soft bodies: momenta to rounding, energy, frequencies, rigid limit, order of the steps. */
#include "soft_tools.h"

typedef struct flight {
  frix_context *context;
  frix_soft *soft;
  frix_soft_state *x;
  int32_t k;
} flight;

static bool start(fx_test *t, const char *shape, const frix_soft_config *c, flight *f) {
  *f = (flight){0};
  if (!frix_context_create(NULL, &f->context) && !frix_soft_make(f->context, shape, c, &f->soft) &&
      !frix_soft_state_create(f->soft, &f->x)) {
    f->k = frix_soft_view(f->soft).coordinates;
    return true;
  }
  fx_test_fail(t, __FILE__, __LINE__, "%s", f->context ? frix_error_text(f->context) : "no context");
  return false;
}

static void end(flight *f) {
  frix_soft_state_destroy(f->x);
  frix_soft_destroy(f->soft);
  frix_context_destroy(f->context);
}

static double total(const flight *f, frix_vec3 g) {
  frix_soft_energy e = frix_soft_energy_of(f->x, g);
  return e.kinetic + e.elastic + e.gravity;
}

/* A tumbling, swinging body. */
static void throw_body(flight *f, double spin, double bend) {
  frix_soft_frame frame = {
      .pose = {{0, 0, 0}, {1, 0, 0, 0}}, .velocity = {1, 0.5, 2}, .spin = {spin, 0.6 * spin, -0.3 * spin}};
  double q[FX_MOST_COORDINATES] = {0};
  q[0] = bend, q[1] = -0.5 * bend;
  frix_soft_set(f->x, q, NULL);
  frix_soft_set_frame(f->x, &frame);
}

/* 1e5 variational steps of a spinning, swinging body, linear and St.Venant-Kirchhoff: energy within a band, without
 * drift; both momenta to rounding. */
static void keeps_energy(fx_test *t) {
  for (int material = 0; material < 2; material++) {
    flight f;
    frix_soft_config c = frix_soft_default();
    c.material = (frix_soft_material)material, c.modes = 3, c.derivatives = material ? 3 : 0, c.order = 1;
    c.sides = (frix_vec3){1, 0.2, 0.1};
    if (start(t, "bar", &c, &f)) {
      frix_vec3 g = {0, 0, 0};
      throw_body(&f, 5, 0.05);
      frix_soft_energy e0 = frix_soft_energy_of(f.x, g);
      double first = total(&f, g), early = 0, late = 0, h = 2e-4, spin = fx_norm(e0.spin_momentum);
      int steps = 100000;
      bool fine = true;
      for (int n = 0; n < steps && fine; n++) {
        fine = !frix_soft_step(f.x, FRIX_SOFT_VARIATIONAL, h, g);
        double off = total(&f, g) / first - 1;
        if (n < steps / 10) early = fmax(early, fabs(off));
        if (n >= steps - steps / 10) late = fmax(late, fabs(off));
      }
      CHECK(t, fine);
      frix_soft_energy e = frix_soft_energy_of(f.x, g);
      double lost = fx_norm(fx_sub(e.spin_momentum, e0.spin_momentum)) / spin, M[20 * 20], v[20];
      /* and by mass and velocities */
      frix_soft_frame at = frix_soft_get_frame(f.x);
      frix_vec3 arm = fx_cross(at.pose.p, e.momentum), sum = {0, 0, 0};
      CHECK(t, !frix_soft_mass_matrix(f.x, 0, M));
      v[3] = at.spin.x, v[4] = at.spin.y, v[5] = at.spin.z;
      memcpy(v + 6, frix_soft_rate(f.x), (size_t)f.k * sizeof *v);
      for (int j = 3, n = 6 + f.k; j < n; j++)
        sum = fx_mad(sum, v[j], fx_vec(M[3 * n + j], M[4 * n + j], M[5 * n + j]));
      lost = fmax(lost, fx_norm(fx_sub(fx_add(sum, arm), e0.spin_momentum)) / spin);
      CHECK(t, lost < 1e-11); /* of p x m v, which grows with the way */
      CHECK(t, early < 2e-3 && late < 1.5 * early);
      fx_test_note(t, "%s: energy %.1e, at the end %.1e, spin %.0e", material ? "StVK" : "linear", early, late, lost);
    }
    end(&f);
  }
}

/* The implicit step keeps momenta as well, and without spin it never adds energy, however stiff the body. */
static void implicit_loses_energy(fx_test *t) {
  static const double young[] = {1e3, 1e6, 1e9, 1e11};
  for (int k = 0; k < 4; k++) {
    for (double h = 1e-4; h < 0.02; h *= 10) {
      flight f;
      frix_soft_config c = frix_soft_default();
      c.modes = 6, c.young = young[k], c.order = 1;
      if (start(t, "bar", &c, &f)) {
        frix_vec3 g = {0, 0, -9.81};
        throw_body(&f, 0, 0.3);
        double last = total(&f, g), first = last;
        bool fine = true;
        for (int n = 0; n < 200; n++) {
          fine = fine && !frix_soft_step(f.x, FRIX_SOFT_IMPLICIT, h, g);
          /* the fall of the centre is exact but for g h^2 / 2 m g per step */
          double now = total(&f, g) - 0.5 * frix_soft_view(f.soft).mass * 9.81 * 9.81 * h * h * (n + 1);
          fine = fine && isfinite(now) && now <= last + 1e-12 * fabs(first);
          last = now;
        }
        if (!fine) fx_test_fail(t, __FILE__, __LINE__, "E = %g, h = %g", young[k], h);
      }
      end(&f);
    }
  }
}

/* Free swinging at the mode's frequency: the variational step of a linear mode has w' = 2/h atan(w h/2). */
static void swings_at_its_frequency(fx_test *t) {
  flight f;
  frix_soft_config c = frix_soft_default();
  c.modes = 2, c.order = 1;
  if (start(t, "bar", &c, &f)) {
    double w = frix_soft_view(f.soft).omega[0], h = 0.1 / w, q[2] = {1e-4, 0}, crossing = 0;
    frix_soft_set(f.x, q, NULL);
    int periods = 0;
    for (int n = 0; n < 2000 && periods < 20; n++) {
      double before = frix_soft_amplitude(f.x)[0];
      CHECK(t, !frix_soft_step(f.x, FRIX_SOFT_VARIATIONAL, h, (frix_vec3){0, 0, 0}));
      double after = frix_soft_amplitude(f.x)[0];
      if (before < 0 && after >= 0) {
        crossing = (n + before / (before - after)) * h;
        periods++;
      }
    }
    double expected = (20 - 0.25) * 2 * 3.14159265358979323846 / (2 / h * atan(w * h / 2));
    CHECK_NEAR(t, crossing / expected, 1, 2e-5);
  }
  end(&f);
}

/* Damping: a mode of ratio z loses exp(-z w t). */
static void decays_as_damped(fx_test *t) {
  for (int kind = 0; kind < 3; kind++) {
    flight f;
    frix_soft_config c = frix_soft_default();
    c.modes = 2, c.order = 1;
    if (kind == 0) c.damping_ratio = 0.02;
    if (kind == 1) c.damping_mass = 2;
    if (kind == 2) c.damping_stiffness = 1e-3;
    if (start(t, "bar", &c, &f)) {
      double w = frix_soft_view(f.soft).omega[0], h = 0.02 / w, q[2] = {1e-4, 0};
      double rate = kind == 0 ? 0.02 * w : kind == 1 ? 1 : 0.5e-3 * w * w;
      frix_soft_set(f.x, q, NULL);
      frix_vec3 g = {0, 0, 0};
      double first = total(&f, g);
      int steps = (int)(2 * 3.14159265358979323846 * 5 / (w * h));
      for (int n = 0; n < steps; n++) CHECK(t, !frix_soft_step(f.x, FRIX_SOFT_VARIATIONAL, h, g));
      CHECK_NEAR(t, log(total(&f, g) / first) / (-2 * rate * steps * h), 1, 0.01);
    }
    end(&f);
  }
}

/* Euler's equations of the undeformed body, one step of the midpoint rule on momentum: dm/dt = m x w. */
static void euler(const double I[3], double m[3], double h) {
  double x[3] = {m[0], m[1], m[2]};
  for (int again = 0; again < 50; again++) {
    double c[3], w[3];
    for (int k = 0; k < 3; k++) c[k] = 0.5 * (m[k] + x[k]), w[k] = c[k] / I[k];
    for (int k = 0; k < 3; k++) x[k] = m[k] + h * (c[(k + 1) % 3] * w[(k + 2) % 3] - c[(k + 2) % 3] * w[(k + 1) % 3]);
  }
  for (int k = 0; k < 3; k++) m[k] = x[k];
}

/* Rigid limit: a very stiff body tumbles as the rigid one does. */
static void tumbles_as_rigid(fx_test *t) {
  for (int integrator = 0; integrator < 2; integrator++) {
    flight f;
    frix_soft_config c = frix_soft_default();
    c.modes = 3, c.order = 1, c.young = 1e13, c.sides = (frix_vec3){1, 0.6, 0.3};
    if (start(t, "bar", &c, &f)) {
      frix_soft_info info = frix_soft_view(f.soft);
      const double I[3] = {info.inertia.xx, info.inertia.yy, info.inertia.zz};
      double m[3] = {0.1 * I[0], 3 * I[1], 0.2 * I[2]};
      frix_soft_frame frame = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}, .spin = {0.1, 3, 0.2}};
      CHECK(t, !frix_soft_set_frame(f.x, &frame));
      for (int n = 0; n < 4000; n++) {
        CHECK(t, !frix_soft_step(f.x, (frix_soft_integrator)integrator, 1e-3, (frix_vec3){0, 0, 0}));
        euler(I, m, 1e-3);
      }
      frix_soft_frame at = frix_soft_get_frame(f.x);
      frix_vec3 w = fx_unrotate(at.pose.q, at.spin);
      double off = fmax(fabs(w.x - m[0] / I[0]), fmax(fabs(w.y - m[1] / I[1]), fabs(w.z - m[2] / I[2])));
      CHECK(t, off < 2e-3);
      fx_test_note(t, "spin %.1e", off);
    }
    end(&f);
  }
}

/* Halving the step: the variational one is of second order, the implicit one of first. */
static void converges(fx_test *t) {
  for (int integrator = 0; integrator < 2; integrator++) {
    frix_vec3 place[4];
    for (int level = 0; level < 4; level++) {
      flight f;
      frix_soft_config c = frix_soft_default();
      c.material = FRIX_SOFT_STVK, c.modes = 3, c.order = 1;
      if (start(t, "bar", &c, &f)) {
        int steps = level == 3 ? 12800 : 400 << level;
        throw_body(&f, 4, 0.05);
        for (int n = 0; n < steps; n++)
          CHECK(t, !frix_soft_step(f.x, level == 3 ? FRIX_SOFT_VARIATIONAL : (frix_soft_integrator)integrator,
                                   0.1 / steps, (frix_vec3){0, 0, -9.81}));
        place[level] = frix_soft_point(f.x, 0, NULL);
      }
      end(&f);
    }
    double a = fx_norm(fx_sub(place[0], place[3])), b = fx_norm(fx_sub(place[1], place[3]));
    double d = fx_norm(fx_sub(place[2], place[3]));
    fx_test_note(t, "%.1e %.1e %.1e", a, b, d);
    CHECK(t, integrator == FRIX_SOFT_VARIATIONAL ? a / b > 3.3 && b / d > 3.3 : b / d > 1.6);
  }
}

/* A spinning bar stretches and settles where elastic and centrifugal force are in balance. */
static void stretches_as_it_spins(fx_test *t) {
  flight f;
  frix_soft_config c = frix_soft_default();
  c.modes = 12, c.poisson = 0, c.damping_ratio = 0.3, c.sides = (frix_vec3){1, 0.25, 0.25}, c.young = 1e7;
  if (start(t, "bar", &c, &f)) {
    double w = 2, length = 1;
    frix_soft_frame frame = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}, .spin = {0, 0, w}};
    CHECK(t, !frix_soft_set_frame(f.x, &frame));
    for (int n = 0; n < 2000; n++) CHECK(t, !frix_soft_step(f.x, FRIX_SOFT_IMPLICIT, 1e-3, (frix_vec3){0, 0, 0}));
    /* u(L/2) = rho w^2 (L/2)^3 / (3 E) of an exact bar; the mean over the end face */
    frix_soft_info info = frix_soft_view(f.soft);
    frix_soft_frame at = frix_soft_get_frame(f.x);
    double mean = 0;
    int count = 0;
    for (int32_t p = 0; p < info.point_count; p++)
      if (info.point[p].x > 0.5 * length - 1e-9) {
        mean += fx_pose_unpoint(at.pose, frix_soft_point(f.x, p, NULL)).x - 0.5 * length;
        count++;
      }
    double exact = 1000 * w * w * 0.125 / (3 * 1e7);
    fx_test_note(t, "%.4g of %.4g m", mean / count, exact);
    CHECK_NEAR(t, mean / count / exact, 1, 0.05);
  }
  end(&f);
}

const fx_test_row test_soft_motion[] = {{"soft_motion/keeps_energy", keeps_energy},
                                        {"soft_motion/implicit_loses_energy", implicit_loses_energy},
                                        {"soft_motion/swings_at_its_frequency", swings_at_its_frequency},
                                        {"soft_motion/decays_as_damped", decays_as_damped},
                                        {"soft_motion/tumbles_as_rigid", tumbles_as_rigid},
                                        {"soft_motion/converges", converges},
                                        {"soft_motion/stretches_as_it_spins", stretches_as_it_spins},
                                        {0}};
