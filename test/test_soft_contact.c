/* Soft bodies in contact with obstacles: rigid limits, rest, friction, energy, abuse. Every step is certified. */
#include "soft_tools.h"

typedef struct place {
  frix_context *context;
  frix_soft *soft;
  frix_soft_world *world;
  frix_soft_state *x;
} place;

static bool start(fx_test *t, const char *shape, const frix_soft_config *c, place *p) {
  *p = (place){0};
  if (!frix_context_create(NULL, &p->context) && !frix_soft_make(p->context, shape, c, &p->soft) &&
      !frix_soft_world_create(p->context, &p->world) && !frix_soft_world_add(p->world, p->soft, NULL)) {
    p->x = frix_soft_world_state(p->world, 0);
    return true;
  }
  fx_test_fail(t, __FILE__, __LINE__, "%s", p->context ? frix_error_text(p->context) : "no context");
  return false;
}

static void end(place *p) {
  frix_soft_world_destroy(p->world);
  frix_soft_destroy(p->soft);
  frix_context_destroy(p->context);
}

static void floor_of(fx_test *t, place *p, double height, double mu) {
  frix_soft_obstacle o = {.kind = FRIX_SOFT_PLANE, .point = {0, 0, height}, .direction = {0, 0, 1}, .mu = mu};
  CHECK(t, !frix_soft_world_obstacle(p->world, &o));
}

static frix_soft_config block(double young, frix_vec3 sides, int32_t cells, int32_t modes) {
  frix_soft_config c = frix_soft_default();
  c.young = young, c.sides = sides, c.cells = cells, c.modes = modes, c.order = 1, c.damping_ratio = 0.2,
  c.strains = true;
  return c;
}

/* A soft cube falls, rests; the floor carries its weight, nothing overlaps, energy only falls. */
static void comes_to_rest(fx_test *t) {
  for (int material = 0; material < 2; material++) {
    place p;
    frix_soft_config c = block(2e5, (frix_vec3){0.2, 0.2, 0.2}, 3, 9);
    c.material = (frix_soft_material)material;
    if (start(t, "bar", &c, &p)) {
      floor_of(t, &p, -0.12, 0.5);
      frix_vec3 g = {0, 0, -9.81};
      double h = 2e-3, deepest = 0, worst = 0, weight = frix_soft_view(p.soft).mass * 9.81 * h;
      frix_soft_report r = {0};
      bool certified = true;
      for (int n = 0; n < 1000; n++) {
        if (frix_soft_world_step(p.world, h, g, &r)) {
          fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(p.context));
          break;
        }
        certified = certified && r.certified;
        deepest = fmax(deepest, r.deepest), worst = fmax(worst, r.residual);
        CHECK(t, r.contact_work <= r.deepest / h * fx_norm(r.impulse) + 1e-10);
      }
      CHECK(t, certified && deepest < 2e-4);
      CHECK_NEAR(t, r.impulse.z / weight, 1, 1e-6);
      CHECK(t, fx_norm(frix_soft_get_frame(p.x).velocity) < 1e-8);
      fx_test_note(t, "%d contacts, %d dof: residual %.0e, overlap %.0e", (int)r.contacts, (int)r.coordinates, worst,
                   deepest);
    }
    end(&p);
  }
}

/* A stiff block on an incline: at rest below atan mu without any creep, above it with the rigid acceleration. */
static void slides_as_rigid(fx_test *t) {
  double mu = 0.5;
  for (int above = 0; above < 2; above++) {
    place p;
    frix_soft_config c = block(1e9, (frix_vec3){0.2, 0.2, 0.1}, 2, 6);
    if (start(t, "bar", &c, &p)) {
      floor_of(t, &p, -0.05, mu);
      double h = 1e-3, angle = atan(mu * (above ? 1.001 : 0.999)), s, q;
      frix_sincos(angle, &s, &q);
      frix_vec3 g = {9.81 * s, 0, -9.81 * q};
      frix_soft_report r;
      bool certified = true;
      for (int n = 0; n < 500; n++) { /* settle in place, then tilt */
        frix_vec3 upright = {0, 0, -9.81 * q};
        CHECK(t, !frix_soft_world_step(p.world, h, n < 200 ? upright : g, &r));
        certified = certified && r.certified;
      }
      double v0 = frix_soft_get_frame(p.x).velocity.x;
      for (int n = 0; n < 300; n++) CHECK(t, !frix_soft_world_step(p.world, h, g, &r));
      double v1 = frix_soft_get_frame(p.x).velocity.x, exact = 9.81 * (s - mu * q);
      CHECK(t, certified);
      if (above)
        CHECK_NEAR(t, (v1 - v0) / 0.3 / exact, 1, 0.02);
      else
        CHECK(t, fabs(v1) < 1e-7);
      fx_test_note(t, "%s: %.3e m/s^2, rigid %.3e", above ? "slides" : "sticks", (v1 - v0) / 0.3, above ? exact : 0);
    }
    end(&p);
  }
}

/* A tall block on a rough incline topples at atan(b/h). */
static void topples_as_rigid(fx_test *t) {
  for (int above = 0; above < 2; above++) {
    place p;
    frix_soft_config c = block(1e10, (frix_vec3){0.1, 0.1, 0.3}, 1, 4);
    if (start(t, "bar", &c, &p)) {
      floor_of(t, &p, -0.15, 2);
      double h = 2e-3, angle = atan(1.0 / 3 * (above ? 1.001 : 0.999)), s, q;
      frix_soft_report r;
      for (int n = 0; n < 4000; n++) { /* inclined slowly: a load that comes at once swings beyond */
        frix_sincos(angle * fmin(1, n / 2000.0), &s, &q);
        CHECK(t, !frix_soft_world_step(p.world, h, (frix_vec3){9.81 * s, 0, -9.81 * q}, &r));
      }
      frix_quat turn = frix_soft_get_frame(p.x).pose.q;
      CHECK(t, above ? fabs(turn.y) > 0.05 : fabs(turn.y) < 1e-5);
      fx_test_note(t, "%s by %.1e", above ? "turned" : "stands, turned", 2 * fabs(turn.y));
    }
    end(&p);
  }
}

/* A bar clamped by stiff handles at one end sags under gravity as beam theory says: w = rho A g L^4 / (8 E I). */
static void hangs_as_a_beam(fx_test *t) {
  double length = 1, thick = 0.05, young = 1e8, density = 1000, tip[3];
  for (int fine = 0; fine < 3; fine++) {
    place p;
    frix_soft_config c = block(young, (frix_vec3){length, thick, thick}, fine == 2 ? 2 : 1, fine ? 6 : 20);
    c.order = 2, c.poisson = 0, c.damping_ratio = 0, c.strains = false;
    if (fine) c.hold_low = (frix_vec3){-0.5, -1, -1}, c.hold_high = (frix_vec3){-0.5, 1, 1};
    tip[fine] = 0;
    if (start(t, "bar", &c, &p)) {
      frix_soft_info info = frix_soft_view(p.soft);
      int32_t end_point = 0;
      for (int32_t k = 0; k < info.point_count; k++) {
        frix_soft_handle hold = {0, k, info.point[k], 1e7, 1e2};
        if (info.point[k].x < -0.5 * length + 1e-9) CHECK(t, !frix_soft_world_handle(p.world, &hold));
        frix_vec3 q = info.point[k];
        if (q.x > 0.5 * length - 1e-9 && fabs(q.y) < 1e-9 && fabs(q.z) < 1e-9) end_point = k;
      }
      for (int n = 0; n < 200; n++) CHECK(t, !frix_soft_world_step(p.world, 0.1, (frix_vec3){0, 0, -1}, NULL));
      tip[fine] = -(frix_soft_point(p.x, end_point, NULL).z - info.point[end_point].z);
    }
    end(&p);
  }
  double exact =
      density * thick * thick * length * length * length * length / (8 * young * thick * thick * thick * thick / 12);
  fx_test_note(t, "of beam theory: %.3f with 20 modes, %.3f with 6 and the shapes of the held end, %.3f refined",
               tip[0] / exact, tip[1] / exact, tip[2] / exact);
  CHECK(t, tip[0] < 0.9 * exact);
  CHECK_NEAR(t, tip[1] / exact, 1, 0.03);
  CHECK_NEAR(t, tip[2] / exact, 1, 0.0125);
}

/* Pulled about by a stiff handle, at any stiffness, friction and step: certified or said so, and always finite. */
static void stands_abuse(fx_test *t) {
  static const double young[] = {1e3, 1e6, 1e11}, step[] = {1e-4, 1e-3, 1e-2}, mu[] = {0, 0.5, 10};
  int steps = 0, certified = 0;
  double worst = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int m = 0; m < 3; m++) {
        place p;
        frix_soft_config c = block(young[a], (frix_vec3){0.2, 0.2, 0.1}, 1, 6);
        c.damping_ratio = 0.05;
        if (start(t, "bar", &c, &p)) {
          floor_of(t, &p, -0.05, mu[m]);
          frix_soft_handle hold = {0, 0, {2, 0.5, 0.2}, 1e5, 0};
          CHECK(t, !frix_soft_world_handle(p.world, &hold));
          frix_soft_frame fast = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}, .velocity = {10, 0, -10}, .spin = {0, 30, 0}};
          CHECK(t, !frix_soft_set_frame(p.x, &fast));
          for (int n = 0; n < 100; n++) {
            frix_soft_report r;
            bool fine = !frix_soft_world_step(p.world, step[b], (frix_vec3){0, 0, -9.81}, &r);
            frix_soft_energy e = frix_soft_energy_of(p.x, (frix_vec3){0, 0, -9.81});
            fine = fine && isfinite(e.kinetic + e.elastic) && (r.certified || r.residual > 1e-8);
            if (!fine) {
              fx_test_fail(t, __FILE__, __LINE__, "E %g h %g mu %g step %d: %s", young[a], step[b], mu[m], n,
                           frix_error_text(p.context));
              break;
            }
            steps++, certified += r.certified;
            worst = fmax(worst, r.residual);
          }
        }
        end(&p);
      }
  CHECK(t, certified >= 0.99 * steps);
  fx_test_note(t, "%d of %d steps certified, worst %.0e", certified, steps, worst);
}

/* A plastic chair on a plane: few coordinates, many points. */
static void chair_stands(fx_test *t) {
  place p;
  frix_soft_config c = frix_soft_default();
  c.young = 2e9, c.modes = 20, c.order = 2, c.damping_ratio = 0.02;
  if (start(t, "chair", &c, &p)) {
    floor_of(t, &p, -0.45 - frix_soft_view(p.soft).center.z, 0.4);
    frix_soft_report r = {0};
    double worst = 0, busy = 0;
    int certified = 0;
    for (int n = 0; n < 200; n++) {
      CHECK(t, !frix_soft_world_step(p.world, 1e-2, (frix_vec3){1, 0, -9.81}, &r));
      certified += r.certified;
      worst = fmax(worst, r.residual), busy += r.seconds;
    }
    CHECK(t, certified == 200);
    fx_test_note(t, "%d contacts on %d dof, %.2f ms a solve, worst %.0e", (int)r.contacts, (int)r.coordinates,
                 1e3 * busy / 200, worst);
  }
  end(&p);
}

/* Patch test: a body without modes is rigid; it presses a soft block on a smooth floor, without weight, by a handle of
 * force F. The block is in uniform stress: it is shorter by F L / (E A), and wider by nu times the strain, exactly. */
static void presses_uniformly(fx_test *t) {
  place p;
  frix_soft *plate = NULL;
  double young = 2e5, force = 80, area = 0.04, length = 0.1;
  frix_soft_config c = block(young, (frix_vec3){0.2, 0.2, length}, 2, 6), stiff = c;
  stiff.modes = 0, stiff.strains = false, stiff.sides = (frix_vec3){0.3, 0.3, 0.1}, stiff.cells = 1;
  if (start(t, "bar", &c, &p) && !frix_soft_make(p.context, "bar", &stiff, &plate)) {
    frix_soft_info info = frix_soft_view(plate);
    CHECK(t, info.coordinates == 0);
    floor_of(t, &p, -0.05, 0);
    CHECK(t, !frix_soft_world_friction(p.world, 0) && !frix_soft_world_add(p.world, plate, NULL));
    frix_soft_frame frame = {.pose = {{0, 0, 0.1}, {1, 0, 0, 0}}};
    CHECK(t, !frix_soft_set_frame(frix_soft_world_state(p.world, 1), &frame));
    for (int32_t k = 0; k < info.point_count; k++) { /* four corners of its top, pulled down from afar */
      frix_vec3 q = info.point[k];
      frix_soft_handle pull = {1, k, {q.x, q.y, q.z + 0.1 - 1000}, force / 4 / 1000, 50};
      if (fabs(q.x) > 0.149 && fabs(q.y) > 0.149 && q.z > 0.04) CHECK(t, !frix_soft_world_handle(p.world, &pull));
    }
    frix_soft_report r = {0};
    bool certified = true;
    for (int n = 0; n < 1500; n++) {
      CHECK(t, !frix_soft_world_step(p.world, 5e-3, (frix_vec3){0, 0, 0}, &r));
      certified = certified && r.certified;
    }
    double strain = force / (young * area), low = 0, left = 0, right = 0, high = 0;
    for (int32_t k = 0; k < frix_soft_view(p.soft).point_count; k++) {
      /* in its own axes: on a smooth floor it turns as it likes */
      frix_vec3 q = fx_pose_unpoint(frix_soft_get_frame(p.x).pose, frix_soft_point(p.x, k, NULL));
      left = k ? fmin(left, q.x) : q.x, right = k ? fmax(right, q.x) : q.x;
      low = fmin(low, q.z), high = fmax(high, q.z);
    }
    fx_test_note(t, "strain %.6f along, %.6f across, of %.6f", 1 - (high - low) / length, (right - left) / 0.2 - 1,
                 strain);
    CHECK(t, certified);
    CHECK_NEAR(t, (1 - (high - low) / length) / strain, 1, 1e-3);
    CHECK_NEAR(t, ((right - left) / 0.2 - 1) / (0.3 * strain), 1, 5e-3);
  }
  frix_soft_world_destroy(p.world);
  p.world = NULL;
  frix_soft_destroy(plate);
  end(&p);
}

/* Ten soft cubes on each other stand, and each carries those above it. */
static void ten_cubes_stand(fx_test *t) {
  enum { CUBES = 10 };
  place p;
  frix_soft_config c = block(1e6, (frix_vec3){0.1, 0.1, 0.1}, 2, 8);
  if (start(t, "bar", &c, &p)) {
    floor_of(t, &p, -0.05, 0.6);
    CHECK(t, !frix_soft_world_friction(p.world, 0.6));
    for (int k = 1; k < CUBES; k++) {
      int32_t number;
      CHECK(t, !frix_soft_world_add(p.world, p.soft, &number) && number == k);
      frix_soft_frame frame = {.pose = {{0.004 * (k % 2), 0, 0.1 * k}, {1, 0, 0, 0}}};
      CHECK(t, !frix_soft_set_frame(frix_soft_world_state(p.world, k), &frame));
    }
    frix_soft_report r = {0};
    double worst = 0, deepest = 0, busy = 0, h = 5e-3;
    int certified = 0, steps = 600;
    for (int n = 0; n < steps; n++) {
      CHECK(t, !frix_soft_world_step(p.world, h, (frix_vec3){0, 0, -9.81}, &r));
      certified += r.certified, busy += r.seconds;
      worst = fmax(worst, r.residual), deepest = fmax(deepest, r.deepest);
    }
    CHECK(t, certified == steps && deepest < 1e-4);
    CHECK_NEAR(t, r.impulse.z / (10 * 9.81 * h), 1, 1e-4);
    for (int k = 0; k < CUBES; k++) {
      frix_soft_frame at = frix_soft_get_frame(frix_soft_world_state(p.world, k));
      CHECK(t, fx_norm(at.velocity) < 3e-3 && fabs(at.pose.p.x - 0.004 * (k % 2)) < 2e-3);
    }
    /* the middle of the top one: cubes below shortened by what they carry and half themselves, m g L / (E A) each */
    double sunk = 0.9 - frix_soft_get_frame(frix_soft_world_state(p.world, 9)).pose.p.z;
    CHECK_NEAR(t, sunk / (49.875 * 9.81 * 0.1 / (1e6 * 0.01)), 1, 0.02);
    fx_test_note(t, "%d contacts on %d dof, %.2f ms a solve, worst %.0e, overlap %.0e, top sinks by %.4f m",
                 (int)r.contacts, (int)r.coordinates, 1e3 * busy / steps, worst, deepest, sunk);
  }
  end(&p);
}

const fx_test_row test_soft_contact[] = {{"soft_contact/comes_to_rest", comes_to_rest},
                                         {"soft_contact/slides_as_rigid", slides_as_rigid},
                                         {"soft_contact/topples_as_rigid", topples_as_rigid},
                                         {"soft_contact/hangs_as_a_beam", hangs_as_a_beam},
                                         {"soft_contact/stands_abuse", stands_abuse},
                                         {"soft_contact/chair_stands", chair_stands},
                                         {"soft_contact/presses_uniformly", presses_uniformly},
                                         {"soft_contact/ten_cubes_stand", ten_cubes_stand},
                                         {0}};
