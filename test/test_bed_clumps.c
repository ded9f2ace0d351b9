/* Clumps in beds: mass of overlapping spheres, torque-free turning, sliding with a pitching moment. */
#include <frix/frix.h>

#include <math.h>

#include "test.h"

static const double pi = 3.14159265358979323846;

/* Two spheres of radius 0.1 along x, `apart` between their centres, on a floor or in the air. */
static frix_bed *pair_bed(frix_context *context, double apart, double mu, double stiffness, bool floor) {
  frix_bed_config c = frix_bed_default();
  frix_bed_clump pair = {.count = 2, .center = {{-0.5 * apart, 0, 0}, {0.5 * apart, 0, 0}}, .radius = {0.1, 0.1}};
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-1, -1, 0}, c.upper = (frix_vec3){1, 1, 1};
  c.clump = &pair, c.mu = mu, c.stiffness = stiffness, c.tolerance = 1e-9;
  c.gravity = (frix_vec3){0, 0, floor ? -10.0 : 0.0};
  if (frix_bed_create(context, &c, &bed)) return NULL;
  frix_bed_wall plane = {.kind = FRIX_BED_PLANE, .normal = {0, 0, 1}, .mu = mu};
  if (floor) frix_bed_add_wall(bed, &plane, NULL);
  return bed;
}

/* Two spheres less the lens that both have: pi (4 r + d) (2 r - d)^2 / 12. */
static void weighs_its_union(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    double d = k ? 0.1 : 0.2, r = 0.1, tolerance = k ? 2e-3 : 1e-6;
    double volume = 8.0 / 3.0 * pi * r * r * r - pi * (4 * r + d) * (2 * r - d) * (2 * r - d) / 12;
    frix_bed *bed = pair_bed(context, d, 0.5, 1e5, true);
    frix_bed_wall floor;
    frix_bed_report report;
    REQUIRE(t, bed);
    frix_bed_add(bed, 0, (frix_vec3){0, 0, 0.1}, (frix_vec3){0, 0, 0}, NULL);
    for (int s = 0; s < 300; s++) CHECK(t, frix_bed_step(bed, 0.01, &report) == FRIX_OK && report.certified);
    CHECK(t, frix_bed_wall_at(bed, 0, &floor) == FRIX_OK && frix_bed_contact_count(bed) == 2);
    CHECK_NEAR(t, floor.force, 25000.0 * volume, tolerance * 25000.0 * volume);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

/* Without forces the axis of a pair goes round the angular momentum with |L| / I_across. */
static void turns_freely(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = pair_bed(context, 0.2, 0.5, 1e5, false);
  REQUIRE(t, bed);
  double along = 0.4 * 0.01, across = along + 0.01, wx = 3.0, wz = 2.0; /* inertia over the mass: 2/5 r^2, + r^2 */
  double L = sqrt(along * along * wx * wx + across * across * wz * wz), rate = L / across, time = 1.0, h = 1e-4;
  frix_vec3 l = {along * wx / L, 0, across * wz / L}, rest = {0, 0, 0};
  frix_bed_grain g;
  frix_bed_add_turned(bed, 0, (frix_pose){{0, 0, 0.5}, {1, 0, 0, 0}}, rest, (frix_vec3){wx, 0, wz}, NULL);
  for (int s = 0; s < (int)(time / h + 0.5); s++) CHECK(t, frix_bed_step(bed, h, NULL) == FRIX_OK);
  CHECK(t, frix_bed_at(bed, 0, &g) == FRIX_OK);
  frix_quat q = g.turn;
  double axis[3] = {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)};
  double c = cos(rate * time), s = sin(rate * time); /* Rodrigues: x turned about l */
  double expected[3] = {c + l.x * l.x * (1 - c), l.z * s, l.x * l.z * (1 - c)};
  for (int k = 0; k < 3; k++) CHECK_NEAR(t, axis[k], expected[k], 1e-6);
  double spin = g.spin.x * axis[0] + g.spin.y * axis[1] + g.spin.z * axis[2];
  CHECK_NEAR(t, spin, wx, 1e-6);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* Along its axis a pair slides with mu g; friction at the floor loads the front sphere by mu r more than half. */
static void slides_along(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = pair_bed(context, 0.2, 0.3, 0.0, true);
  REQUIRE(t, bed);
  frix_bed_grain g;
  frix_bed_contact c;
  double load[2] = {0, 0};
  frix_bed_add(bed, 0, (frix_vec3){-0.5, 0, 0.1}, (frix_vec3){1, 0, 0}, NULL);
  for (int s = 0; s < 100; s++) CHECK(t, frix_bed_step(bed, 0.001, NULL) == FRIX_OK);
  CHECK(t, frix_bed_at(bed, 0, &g) == FRIX_OK && frix_bed_contact_count(bed) == 2);
  CHECK_NEAR(t, g.velocity.x, 1.0 - 0.3 * 10.0 * 0.1, 1e-6);
  for (int32_t k = 0; k < frix_bed_contact_count(bed); k++) {
    CHECK(t, frix_bed_contact_at(bed, k, &c) == FRIX_OK && c.b == -1);
    load[c.point.x > g.position.x] = c.impulse.z;
  }
  CHECK_NEAR(t, load[1] / load[0], (1 + 0.3) / (1 - 0.3), 1e-4);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

static void refuses(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-1, -1, 0}, c.upper = (frix_vec3){1, 1, 1};
  frix_bed_clump bad[] = {{.count = 9},
                          {.count = -1},
                          {.count = 1},
                          {.count = 1, .radius = {NAN}},
                          {.count = 1, .radius = {0.1}, .center = {{INFINITY, 0, 0}}}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    c.clump = &bad[k];
    CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_ERROR_INPUT);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

const fx_test_row test_bed_clumps[] = {{"bed_clumps/weighs its union", weighs_its_union},
                                       {"bed_clumps/turns freely", turns_freely},
                                       {"bed_clumps/slides along", slides_along},
                                       {"bed_clumps/refuses", refuses},
                                       {0}};
