/* Reduced bodies: forces are those of the finite elements, tangents and momenta agree with differences. */
#include "soft_tools.h"

typedef struct made {
  fx_tets tets;
  fx_fem fem;
  fx_basis basis;
  frix_soft *soft;
} made;

/* A body and, beside it, the finite elements and the basis it came from. */
static bool make(lab *l, fx_test *t, const char *shape, frix_vec3 size, int32_t cells, frix_soft_config c, made *m) {
  fx_soft_watch watch = {NULL, NULL};
  fx_elements elements;
  *m = (made){0};
  if (!lab_shape(l, t, shape, size, cells, &m->tets)) return false;
  int32_t derivatives = c.material == FRIX_SOFT_STVK ? (c.derivatives < 0 ? c.modes : c.derivatives) : 0;
  if (!fx_elements_make(&l->arena, &m->tets, c.order, &elements) &&
      !fx_fem_make(&l->arena, &elements, c.young, c.poisson, c.density, &m->fem) &&
      !fx_modes_find(&l->arena, &m->fem, c.modes, &watch, &m->basis) &&
      !fx_basis_derive(&l->arena, &m->fem, derivatives, &watch, &m->basis) &&
      !fx_soft_build(l->context, &m->tets, &c, &m->soft))
    return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(l->context));
  return false;
}

static frix_soft_config stvk(int32_t modes, int32_t order) {
  frix_soft_config c = frix_soft_default();
  c.material = FRIX_SOFT_STVK, c.modes = modes, c.order = order;
  return c;
}

/* Energy and forces on random amplitudes, up to deformations as large as the body, against F, E, S, P element by
 * element. */
static void agrees_with_elements(fx_test *t) {
  for (int order = 1; order <= 2; order++) {
    lab l;
    made m;
    REQUIRE(t, lab_open(&l));
    if (make(&l, t, "bar", (frix_vec3){1, 0.3, 0.2}, 2, stvk(6, order), &m)) {
      int32_t n = fx_fem_size(&m.fem), k = frix_soft_view(m.soft).coordinates;
      double *u = calloc((size_t)n, sizeof *u), *f = calloc((size_t)n, sizeof *f), q[64], force[64], worst = 0;
      CHECK(t, k == 12 && m.basis.count == k);
      for (int turn = 0; turn < 6; turn++) {
        double size = turn % 3 == 0 ? 1e-4 : turn % 3 == 1 ? 0.1 : 1;
        memset(u, 0, (size_t)n * sizeof *u);
        for (int j = 0; j < k; j++) {
          q[j] = size * fx_test_random(t);
          for (int i = 0; i < n; i++) u[i] += q[j] * m.basis.shape[(size_t)j * n + i];
        }
        double energy = lab_stvk(&m.fem, u, f), own = frix_soft_elastic(m.soft, q, force, NULL), scale = 0;
        worst = fmax(worst, fabs(own / energy - 1));
        for (int j = 0; j < k; j++) scale = fmax(scale, fabs(force[j]));
        for (int j = 0; j < k; j++)
          worst = fmax(worst, fabs(fx_fem_dot(n, m.basis.shape + (size_t)j * n, f) - force[j]) / scale);
      }
      CHECK(t, worst < 1e-10);
      fx_test_note(t, "order %d: %.1e", order, worst);
      free(u), free(f);
    }
    frix_soft_destroy(m.soft);
    lab_close(&l);
  }
}

/* The force is the gradient of the energy, the tangent that of the force. */
static void has_derivatives(fx_test *t) {
  lab l;
  made m;
  REQUIRE(t, lab_open(&l));
  if (make(&l, t, "blob", (frix_vec3){0.3, 0.2, 0.15}, 5, stvk(5, 1), &m)) {
    int32_t k = frix_soft_view(m.soft).coordinates;
    double q[64], f[64], K[64 * 64], low[64], high[64], x[64], scale = 0, worst = 0, slope = 0;
    for (int j = 0; j < k; j++) q[j] = 0.02 * fx_test_random(t);
    frix_soft_elastic(m.soft, q, f, K);
    for (int j = 0; j < k * k; j++) scale = fmax(scale, fabs(K[j]));
    for (int j = 0; j < k; j++) {
      double e = 1e-5;
      memcpy(x, q, sizeof x);
      x[j] = q[j] + e;
      double up = frix_soft_elastic(m.soft, x, high, NULL);
      x[j] = q[j] - e;
      double down = frix_soft_elastic(m.soft, x, low, NULL);
      slope = fmax(slope, fabs((up - down) / (2 * e) - f[j]) / (scale * 0.02));
      for (int i = 0; i < k; i++) {
        worst = fmax(worst, fabs((high[i] - low[i]) / (2 * e) - K[i * k + j]) / scale);
        CHECK(t, fabs(K[i * k + j] - K[j * k + i]) <= 1e-14 * scale);
      }
    }
    CHECK(t, slope < 1e-6 && worst < 1e-6);
    fx_test_note(t, "force %.0e, tangent %.0e", slope, worst);
  }
  frix_soft_destroy(m.soft);
  lab_close(&l);
}

/* Modal derivatives answer the force of second order: along a mode, amplitude a, the basis finds a state of lower
 * energy than the mode alone, close to what all nodes together find to that order. */
static void derivatives_relax_bending(fx_test *t) {
  lab l;
  made m;
  REQUIRE(t, lab_open(&l));
  if (make(&l, t, "bar", (frix_vec3){1, 0.05, 0.05}, 1, stvk(4, 2), &m)) {
    int32_t n = fx_fem_size(&m.fem), k = frix_soft_view(m.soft).coordinates;
    double *d = calloc((size_t)n, sizeof *d), *scratch = calloc(2 * (size_t)n, sizeof *scratch);
    fx_soft_watch watch = {NULL, NULL};
    fx_basis modes;
    CHECK(t, !fx_modes_find(&l.arena, &m.fem, 1, &watch, &modes));
    fx_fem_second_order(&m.fem, modes.shape, modes.shape, d);
    fx_fem_static(&m.fem, d, scratch);
    fx_fem_mass(&m.fem, d, scratch);
    double all = fx_fem_dot(n, d, scratch), kept = 0;
    for (int j = 0; j < k; j++) {
      double share = fx_fem_dot(n, m.basis.shape + (size_t)j * n, scratch);
      kept += share * share;
    }
    CHECK(t, kept > 0.999 * all); /* the derivative lies in the basis */
    fx_test_note(t, "%.4f %% of the derivative is in the basis", 100 * kept / all);
    free(d), free(scratch);
  }
  frix_soft_destroy(m.soft);
  lab_close(&l);
}

/* Mass, centre, inertia of a box; coupling of spin and rates; rows of a point against differences of its place. */
static void has_inertia(fx_test *t) {
  lab l;
  made m;
  frix_soft_state *x = NULL;
  REQUIRE(t, lab_open(&l));
  if (make(&l, t, "bar", (frix_vec3){1, 0.4, 0.2}, 1, stvk(5, 2), &m)) {
    frix_soft_info info = frix_soft_view(m.soft);
    double mass = 1000 * 0.08, a = mass / 12;
    CHECK_NEAR(t, info.mass, mass, 1e-10);
    CHECK_NEAR(t, info.inertia.xx, a * (0.16 + 0.04), 1e-12);
    CHECK_NEAR(t, info.inertia.yy, a * (1 + 0.04), 1e-11);
    CHECK_NEAR(t, info.inertia.xy, 0, 1e-12);
    REQUIRE(t, !frix_soft_state_create(m.soft, &x));
    int32_t k = info.coordinates, n = 6 + k;
    double q[64], s[64], M[70 * 70], J[3 * 70], v[70];
    for (int j = 0; j < k; j++) q[j] = fx_test_random(t), s[j] = fx_test_random(t);
    frix_soft_frame frame = {{{0.3, -0.2, 0.5}, {0.9, 0.2, -0.3, 0.1}}, {1, 2, -1}, {0.5, -1, 2}};
    CHECK(t, !frix_soft_set_frame(x, &frame) && !frix_soft_set(x, q, s));
    frix_soft_frame back = frix_soft_get_frame(x);
    CHECK_NEAR(t, back.spin.x, 0.5, 1e-12);
    CHECK_NEAR(t, back.spin.y, -1, 1e-12);
    /* kinetic energy by the mass matrix and by the momenta */
    double twice = 0;
    v[0] = 1, v[1] = 2, v[2] = -1, v[3] = back.spin.x, v[4] = back.spin.y, v[5] = back.spin.z;
    for (int j = 0; j < k; j++) v[6 + j] = s[j];
    CHECK(t, !frix_soft_mass_matrix(x, 0, M));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) twice += v[i] * M[i * n + j] * v[j];
    frix_soft_energy e = frix_soft_energy_of(x, (frix_vec3){0, 0, 0});
    CHECK_NEAR(t, e.kinetic / (0.5 * twice), 1, 1e-13);
    /* and by all nodes of the finite elements: velocity R (U s + w x r) + v */
    int32_t nodes = m.fem.e.node_count;
    double *u = calloc(3 * (size_t)nodes, sizeof *u), *Mu = calloc(3 * (size_t)nodes, sizeof *Mu);
    frix_vec3 w = fx_unrotate(back.pose.q, back.spin), lift = fx_unrotate(back.pose.q, frame.velocity);
    for (int32_t i = 0; i < nodes; i++) {
      frix_vec3 r = m.fem.e.node[i], rate = {0, 0, 0};
      for (int j = 0; j < k; j++) {
        const double *U = m.basis.shape + (size_t)j * 3 * nodes + 3 * i;
        r = fx_mad(r, q[j], fx_vec(U[0], U[1], U[2])), rate = fx_mad(rate, s[j], fx_vec(U[0], U[1], U[2]));
      }
      frix_vec3 speed = fx_add(fx_add(rate, fx_cross(w, r)), lift);
      u[3 * i] = speed.x, u[3 * i + 1] = speed.y, u[3 * i + 2] = speed.z;
    }
    fx_fem_mass(&m.fem, u, Mu);
    CHECK_NEAR(t, 0.5 * fx_fem_dot(3 * nodes, u, Mu) / e.kinetic, 1, 1e-11);
    /* rows of a point give its velocity */
    for (int32_t p = 0; p < info.point_count; p += 7) {
      frix_vec3 speed, sum = {0, 0, 0};
      frix_soft_point(x, p, &speed);
      CHECK(t, !frix_soft_jacobian(x, p, J));
      for (int j = 0; j < n; j++) sum = fx_mad(sum, v[j], fx_vec(J[j], J[n + j], J[2 * n + j]));
      CHECK(t, fx_norm(fx_sub(sum, speed)) < 1e-12);
    }
    CHECK(t, frix_soft_jacobian(x, info.point_count, J) == FRIX_ERROR_INPUT);
    free(u), free(Mu);
  }
  frix_soft_state_destroy(x);
  frix_soft_destroy(m.soft);
  lab_close(&l);
}

/* The centrifugal force is the derivative of the kinetic energy at fixed velocities. */
static void has_centrifugal_force(fx_test *t) {
  lab l;
  made m;
  REQUIRE(t, lab_open(&l));
  if (make(&l, t, "blob", (frix_vec3){0.3, 0.2, 0.15}, 4, stvk(4, 1), &m)) {
    int32_t k = frix_soft_view(m.soft).coordinates;
    double q[64], s[64], out[64];
    frix_vec3 w = {2, -3, 1}, g[64];
    for (int j = 0; j < k; j++) q[j] = 0.1 * fx_test_random(t), s[j] = fx_test_random(t);
    fx_soft_centrifugal(m.soft, q, w, s, out);
    for (int j = 0; j < k; j++) {
      double e = 1e-4, T[2];
      for (int side = 0; side < 2; side++) {
        double kept = q[j];
        q[j] += side ? -e : e;
        T[side] = 0.5 * fx_dot(w, fx_sym3_mul(fx_soft_inertia(m.soft, q), w));
        fx_soft_coupling(m.soft, q, g);
        for (int i = 0; i < k; i++) T[side] += s[i] * fx_dot(w, g[i]);
        q[j] = kept;
      }
      CHECK_NEAR(t, (T[0] - T[1]) / (2 * e), out[j], 1e-9);
    }
  }
  frix_soft_destroy(m.soft);
  lab_close(&l);
}

const fx_test_row test_soft_reduced[] = {{"soft_reduced/agrees_with_elements", agrees_with_elements},
                                         {"soft_reduced/has_derivatives", has_derivatives},
                                         {"soft_reduced/derivatives_relax_bending", derivatives_relax_bending},
                                         {"soft_reduced/has_inertia", has_inertia},
                                         {"soft_reduced/has_centrifugal_force", has_centrifugal_force},
                                         {0}};
