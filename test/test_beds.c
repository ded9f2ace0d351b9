/* Beds of grains: closed forms, one certificate with the rest of frix, walls, flow, states, and bits that neither
 * threads nor ranks change. */
#include <frix/frix.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bed_link.h"
#include "examples/beds.h"
#include "shell.h"
#include "test.h"

static const uint64_t GOLDEN = 0xf50afa93d95e5a26u; /* of the bed in `golden` */

typedef struct fixture {
  frix_context *context;
  frix_bed *bed;
  const ex_bed_scene *scene;
  double value[EX_BED_PARAMETERS];
} fixture;

static void set(fixture *f, const char *name, double value) { f->value[ex_bed_parameter(f->scene, name)] = value; }

static bool choose(fixture *f, const char *scene) {
  *f = (fixture){.scene = ex_bed_find(scene)};
  ex_bed_values(f->scene, f->value);
  return frix_context_create(NULL, &f->context) == FRIX_OK;
}

static frix_status make(fixture *f, double tolerance, int32_t threads, const frix_bed_link *link) {
  frix_bed_config config = frix_bed_default();
  config.tolerance = tolerance, config.thread_count = threads, config.link = link;
  return f->scene->build(f->context, &config, f->value, 1, &f->bed);
}

static frix_status advance(fixture *f, int steps, frix_bed_report *report) {
  frix_status status = FRIX_OK;
  for (int k = 0; k < steps && !status; k++) {
    if (f->scene->drive) status = f->scene->drive(f->bed, f->value, f->scene->step);
    if (!status) status = frix_bed_step(f->bed, f->scene->step, report);
  }
  return status;
}

static void end(fixture *f) {
  frix_bed_destroy(f->bed);
  frix_context_destroy(f->context);
}

/* ---- one grain ---- */

static frix_bed *one_grain(frix_context *context, frix_vec3 gravity, double mu, double stiffness, double z,
                           frix_vec3 v) {
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-1, -1, 0}, c.upper = (frix_vec3){1, 1, 1};
  c.radius[0] = 0.1, c.gravity = gravity, c.mu = mu, c.stiffness = stiffness, c.tolerance = 1e-10;
  if (frix_bed_create(context, &c, &bed)) return NULL;
  frix_bed_wall floor = {.kind = FRIX_BED_PLANE, .normal = {0, 0, 1}, .mu = mu};
  frix_bed_add_wall(bed, &floor, NULL);
  frix_bed_add(bed, 0, (frix_vec3){0, 0, z}, v, NULL);
  return bed;
}

static void rests(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = one_grain(context, (frix_vec3){0, 0, -10}, 0.5, 1e5, 0.1, (frix_vec3){0, 0, 0});
  frix_bed_report report;
  frix_bed_wall floor;
  frix_bed_grain g;
  double weight = 2500.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1e-3 * 10.0;
  for (int k = 0; k < 400 && bed; k++) CHECK(t, frix_bed_step(bed, 0.01, &report) == FRIX_OK && report.certified);
  CHECK(t, bed && frix_bed_wall_at(bed, 0, &floor) == FRIX_OK && frix_bed_at(bed, 0, &g) == FRIX_OK);
  CHECK_NEAR(t, floor.force, weight, 1e-6 * weight);
  CHECK_NEAR(t, 0.1 - g.position.z, weight / 1e5, 1e-9); /* the spring's sag */
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* Rigid, on a slope of tan 0.8 > 3.5 mu: slides with g (sin - mu cos) and spins with 2.5 mu g cos / r. Below: rolls
 * with 5/7 g sin. */
static void slides_and_rolls(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    double mu = k ? 0.5 : 0.1, h = 0.001, time = 0.1;
    frix_bed *bed = one_grain(context, (frix_vec3){8, 0, -10}, mu, 0.0, 0.1, (frix_vec3){0, 0, 0});
    frix_bed_grain g;
    for (int s = 0; s < 100 && bed; s++) CHECK(t, frix_bed_step(bed, h, NULL) == FRIX_OK);
    CHECK(t, bed && frix_bed_at(bed, 0, &g) == FRIX_OK);
    CHECK_NEAR(t, g.velocity.x, k ? 5.0 / 7.0 * 8.0 * time : (8.0 - mu * 10.0) * time, 1e-9);
    CHECK_NEAR(t, g.spin.y, k ? g.velocity.x / 0.1 : 2.5 * mu * 10.0 * time / 0.1, 1e-8);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

static void bounces(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  c.lower = (frix_vec3){-1, -1, -1}, c.upper = (frix_vec3){1, 1, 1}, c.gravity = (frix_vec3){0, 0, 0};
  c.radius[0] = 0.1, c.stiffness = 0.0, c.restitution = 0.5, c.mu = 0.0, c.tolerance = 1e-12;
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
  frix_bed_add(bed, 0, (frix_vec3){-0.15, 0, 0}, (frix_vec3){1, 0, 0}, NULL);
  frix_bed_add(bed, 0, (frix_vec3){0.15, 0, 0}, (frix_vec3){0, 0, 0}, NULL);
  for (int k = 0; k < 200; k++) CHECK(t, frix_bed_step(bed, 0.001, NULL) == FRIX_OK);
  for (int k = 0; k < 2; k++) {
    frix_bed_grain g;
    CHECK(t, frix_bed_at(bed, k, &g) == FRIX_OK);
    CHECK_NEAR(t, g.velocity.x, g.id == 0 ? 0.25 : 0.75, 1e-9); /* (1 -+ e) / 2 */
  }
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* A large grain that 40 small ones press: partners of one grain come in portions (bed_contacts.c), and none is lost. */
static void many_partners(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  frix_bed_contact one;
  c.lower = (frix_vec3){-2, -2, -2}, c.upper = (frix_vec3){2, 2, 2}, c.gravity = (frix_vec3){0, 0, 0};
  c.radius_count = 2, c.radius[0] = 1.0, c.radius[1] = 0.1;
  REQUIRE(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
  frix_bed_add(bed, 0, (frix_vec3){0, 0, 0}, (frix_vec3){0, 0, 0}, NULL);
  bool met[41] = {false};
  for (int k = 0; k < 40; k++) {
    double z = -0.95 + 1.9 * k / 39.0, across = sqrt(1.0 - z * z), turn = 2.399963 * k;
    frix_vec3 p = {1.099 * across * cos(turn), 1.099 * across * sin(turn), 1.099 * z};
    frix_bed_add(bed, 1, p, (frix_vec3){0, 0, 0}, NULL);
  }
  CHECK(t, frix_bed_step(bed, 0.001, NULL) == FRIX_OK && frix_bed_contact_count(bed) == 40);
  for (int32_t k = 0; k < frix_bed_contact_count(bed); k++) {
    CHECK(t, frix_bed_contact_at(bed, k, &one) == FRIX_OK && one.a == 0 && one.b > 0 && one.b <= 40 && !met[one.b]);
    if (one.b > 0 && one.b <= 40) met[one.b] = true;
  }
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* ---- the certificate is that of all other problems ---- */

static void check_certificate(fx_test *t, double clump) {
  for (int rigid = 0; rigid < 2; rigid++) {
    fixture f;
    frix_bed_report report;
    frix_problem *problem = NULL;
    frix_certificate judged;
    REQUIRE(t, choose(&f, "box"));
    set(&f, "n", 400), set(&f, "spread", 0.3), set(&f, "clump", clump);
    if (rigid) set(&f, "stiffness", 0);
    CHECK(t, make(&f, rigid ? 1e-2 : 1e-5, 1, NULL) == FRIX_OK);
    CHECK(t, advance(&f, clump > 1 ? 220 : 150, &report) == FRIX_OK && report.certified && report.touching_count > 100);
    CHECK(t, frix_bed_problem(f.bed, &problem) == FRIX_OK);
    frix_problem_data data;
    frix_problem_view(problem, &data);
    CHECK(t, data.contact_count == report.contact_count);
    CHECK(t, frix_certify(f.context, problem, FRIX_LAW_COULOMB, data.guess, NULL, &judged, NULL, NULL) == FRIX_OK);
    CHECK_NEAR(t, judged.contact_residual, report.certificate.contact_residual, 1e-6 * judged.contact_residual);
    CHECK_NEAR(t, judged.row_residual, report.certificate.row_residual, 1e-6 * judged.row_residual);
    CHECK_NEAR(t, judged.rho, report.certificate.rho, 1e-9 * judged.rho);
    frix_problem_destroy(problem);
    end(&f);
  }
}

static void same_certificate(fx_test *t) { check_certificate(t, 1); }
static void same_for_clumps(fx_test *t) { check_certificate(t, 3); }

/* Grains fall back on each other, and what they press the floor with is their weight. */
static void floor_carries_weight(fx_test *t) {
  fixture f;
  frix_bed_report report;
  frix_bed_wall floor;
  REQUIRE(t, choose(&f, "box"));
  set(&f, "n", 300), set(&f, "mu", 0), set(&f, "stiffness", 2e4);
  CHECK(t, make(&f, 1e-5, 1, NULL) == FRIX_OK && advance(&f, 500, &report) == FRIX_OK);
  CHECK(t, frix_bed_wall_at(f.bed, 0, &floor) == FRIX_OK);
  double weight = 300 * 2500.0 * 4.0 / 3.0 * 3.14159265358979323846 * 0.005 * 0.005 * 0.005 * 9.81;
  CHECK_NEAR(t, floor.force, weight, 0.02 * weight);
  end(&f);
}

/* ---- periodic cells and servo walls ---- */

/* Without walls and gravity momentum is kept, and a common velocity changes nothing. */
static void periodic_momentum(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed_config c = frix_bed_default();
  frix_bed *bed = NULL;
  frix_bed_report report;
  double sum[3] = {0, 0, 0}, first[3] = {0, 0, 0};
  c.lower = (frix_vec3){0, 0, 0}, c.upper = (frix_vec3){0.2, 0.2, 0.2}, c.gravity = (frix_vec3){0, 0, 0};
  c.periodic[0] = c.periodic[1] = c.periodic[2] = true;
  c.radius[0] = 0.01, c.block_cells = 3, c.tolerance = 1e-6;
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
  for (int k = 0; k < 512 && bed; k++) {
    frix_vec3 p = {0.025 * (k % 8), 0.025 * (k / 8 % 8), 0.025 * (k / 64)};
    frix_vec3 v = {3.0 + 0.3 * ((k * 7) % 5 - 2), 0.3 * ((k * 11) % 7 - 3), 0.2 * ((k * 5) % 9 - 4)};
    CHECK(t, frix_bed_add(bed, 0, p, v, NULL) == FRIX_OK);
    first[0] += v.x, first[1] += v.y, first[2] += v.z;
  }
  int64_t met = 0;
  for (int k = 0; k < 200 && bed; k++) {
    CHECK(t, frix_bed_step(bed, 0.001, &report) == FRIX_OK && report.certified);
    met += report.touching_count;
  }
  for (int32_t k = 0; k < frix_bed_count(bed); k++) {
    frix_bed_grain g;
    frix_bed_at(bed, k, &g);
    sum[0] += g.velocity.x, sum[1] += g.velocity.y, sum[2] += g.velocity.z;
    CHECK(t, g.position.x >= 0.0 && g.position.x < 0.2 && g.position.z >= 0.0 && g.position.z < 0.2);
  }
  CHECK(t, met > 1000);
  for (int a = 0; a < 3; a++) CHECK_NEAR(t, sum[a], first[a], 1e-9);
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* Two grains press each other through a face of the cell, along each axis, from either side: one contact, with the
 * normal and the gap of the nearest image. */
static void across_the_border(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 6; k++) {
    int axis = k / 2, high_first = k % 2;
    frix_bed_config c = frix_bed_default();
    frix_bed *bed = NULL;
    c.lower = (frix_vec3){0, 0, 0}, c.upper = (frix_vec3){0.2, 0.2, 0.2}, c.gravity = (frix_vec3){0, 0, 0};
    c.periodic[0] = c.periodic[1] = c.periodic[2] = true;
    c.radius[0] = 0.01, c.block_cells = 3, c.tolerance = 1e-10;
    REQUIRE(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
    for (int grain = 0; grain < 2; grain++) {
      frix_vec3 p = {0.05, 0.05, 0.05};
      double at = grain == high_first ? 0.009 : 0.191; /* 18 mm apart: they overlap by 2 mm */
      *(axis == 0 ? &p.x : axis == 1 ? &p.y : &p.z) = at;
      CHECK(t, frix_bed_add(bed, 0, p, (frix_vec3){0, 0, 0}, NULL) == FRIX_OK);
    }
    frix_bed_report report;
    frix_bed_contact one = {0};
    CHECK(t, frix_bed_step(bed, 1e-6, &report) == FRIX_OK && report.touching_count == 1);
    CHECK(t, frix_bed_contact_count(bed) == 1 && frix_bed_contact_at(bed, 0, &one) == FRIX_OK);
    double n = axis == 0 ? one.normal.x : axis == 1 ? one.normal.y : one.normal.z;
    CHECK(t, one.a == 0 && one.b == 1);
    CHECK_NEAR(t, n, high_first ? -1.0 : 1.0, 1e-12); /* from the second grain to the first */
    CHECK_NEAR(t, one.gap, -0.002, 1e-6);
    frix_bed_destroy(bed);
  }
  frix_context_destroy(context);
}

static void servo_keeps_pressure(fx_test *t) {
  fixture f;
  frix_bed_report report;
  REQUIRE(t, choose(&f, "triaxial"));
  set(&f, "n", 343), set(&f, "stiffness", 2e4);
  CHECK(t, make(&f, 1e-4, 1, NULL) == FRIX_OK && advance(&f, 900, &report) == FRIX_OK && report.certified);
  for (int32_t k = 1; k < 6; k++) {
    frix_bed_wall wall;
    CHECK(t, frix_bed_wall_at(f.bed, k, &wall) == FRIX_OK);
    CHECK_NEAR(t, wall.force / wall.load, 1.0, 0.02);
  }
  end(&f);
}

/* The dragged plane carries the pressure and is held back by friction of at most its coefficient. */
static void shear_cell(fx_test *t) {
  fixture f;
  frix_bed_report report;
  double load = 0.0, drag = 0.0;
  REQUIRE(t, choose(&f, "shear"));
  set(&f, "n", 700), set(&f, "speed", 0.5), set(&f, "stiffness", 2e4);
  CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK && advance(&f, 500, &report) == FRIX_OK);
  for (int k = 0; k < 200; k++) {
    frix_bed_wall lid;
    CHECK(t, advance(&f, 1, &report) == FRIX_OK && frix_bed_wall_at(f.bed, 1, &lid) == FRIX_OK);
    load += lid.force / lid.load / 200.0, drag += lid.traction.x / lid.load / 200.0;
  }
  CHECK_NEAR(t, load, 1.0, 0.1);
  CHECK(t, drag < -0.1 && drag > -1.0);
  end(&f);
}

/* ---- flow ---- */

static void grains_come_and_leave(fx_test *t) {
  fixture f;
  frix_bed_report report;
  int64_t came = 0, left = 0;
  REQUIRE(t, choose(&f, "hopper"));
  set(&f, "width", 10), set(&f, "rate", 1000);
  CHECK(t, make(&f, 1e-4, 1, NULL) == FRIX_OK);
  for (int k = 0; k < 1200; k++) {
    CHECK(t, advance(&f, 1, &report) == FRIX_OK);
    came += report.came, left += report.left;
  }
  CHECK(t, came > 900 && came <= 1200 && left > 100);
  CHECK(t, report.grain_count == came - left && frix_bed_count(f.bed) == came - left);
  end(&f);
}

/* A packed silo with a flat floor runs out through its hole and nowhere else. */
static void silo_runs_out(fx_test *t) {
  fixture f;
  frix_bed_report report;
  int64_t left = 0;
  double low = INFINITY;
  REQUIRE(t, choose(&f, "hopper"));
  set(&f, "n", 800), set(&f, "slope", 0), set(&f, "rate", 0), set(&f, "width", 10), set(&f, "hole", 5);
  CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK && frix_bed_count(f.bed) == 800);
  for (int k = 0; k < 200; k++) {
    CHECK(t, advance(&f, 1, &report) == FRIX_OK && report.certified && report.came == 0);
    left += report.left;
  }
  for (int32_t k = 0; k < frix_bed_count(f.bed); k++) {
    frix_bed_grain g;
    CHECK(t, frix_bed_at(f.bed, k, &g) == FRIX_OK);
    if (hypot(g.position.x, g.position.y) > 0.5 * 5 * 0.01) low = fmin(low, g.position.z);
  }
  fx_test_note(t, "%d left, lowest beside the hole %.2f mm", (int)left, 1e3 * low);
  CHECK(t, left > 40 && left < 160 && frix_bed_count(f.bed) == 800 - left);
  CHECK(t, low > 0.95 * 0.005);
  end(&f);
}

static void pebbles_come_again(fx_test *t) {
  fixture f;
  frix_bed_report report;
  int64_t came = 0;
  REQUIRE(t, choose(&f, "pebbles"));
  set(&f, "n", 600);
  CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK);
  for (int k = 0; k < 160; k++) {
    CHECK(t, advance(&f, 1, &report) == FRIX_OK && report.certified);
    came += report.came;
  }
  CHECK(t, report.grain_count == 600 && came > 10);
  end(&f);
}

/* ---- bits ---- */

typedef struct party {
  const char *scene;
  double n, clump;              /* clump: spheres of a grain; 0: the scene has no such thing */
  int32_t threads, steps, stop; /* stop: state saved there, 0: none */
  uint64_t hash[FX_TEST_RANKS];
  frix_status status[FX_TEST_RANKS];
  unsigned char *bytes[FX_TEST_RANKS];
  size_t size[FX_TEST_RANKS];
  const struct party *from; /* goes on from its states */
  int32_t from_ranks;
} party;

static frix_status load_all(fixture *f, const party *from, int32_t ranks) {
  frix_status status = FRIX_OK;
  for (int32_t p = 0; p < ranks && !status; p++) status = frix_bed_load(f->bed, from->bytes[p], from->size[p], p == 0);
  return status;
}

static void run_rank(const frix_bed_link *link, void *user) {
  party *p = user;
  fixture f;
  frix_bed_report report;
  p->status[link->rank] = FRIX_ERROR_MEMORY;
  if (!choose(&f, p->scene)) return;
  set(&f, "n", p->n);
  if (p->clump > 0) set(&f, "clump", p->clump);
  frix_status status = make(&f, 1e-4, p->threads, link);
  if (!status && p->from) status = load_all(&f, p->from, p->from_ranks);
  int done = status ? 0 : (int)frix_bed_step_count(f.bed);
  if (!status) status = advance(&f, (p->stop ? p->stop : p->steps) - done, &report);
  if (!status) status = frix_bed_hash(f.bed, &p->hash[link->rank]);
  unsigned char *bytes = NULL;
  size_t size = 0;
  if (!status && p->stop) status = frix_bed_save(f.bed, &bytes, &size);
  if (!status && p->stop && (p->bytes[link->rank] = malloc(size))) {
    memcpy(p->bytes[link->rank], bytes, size);
    p->size[link->rank] = size;
  }
  frix_bed_bytes_free(f.bed, bytes);
  p->status[link->rank] = status;
  end(&f);
}

static void check_bits(fx_test *t, const char *scene, double n, int steps, double clump) {
  uint64_t alone = 0;
  for (int32_t ranks = 1; ranks <= 4; ranks++)
    for (int32_t threads = 1; threads <= (ranks == 4 ? 1 : 2); threads++) {
      party p = {.scene = scene, .n = n, .threads = threads, .steps = steps, .clump = clump};
      CHECK(t, fx_test_ranks(ranks, run_rank, &p));
      if (ranks == 1 && threads == 1) alone = p.hash[0];
      for (int32_t k = 0; k < ranks; k++) {
        CHECK(t, p.status[k] == FRIX_OK);
        CHECK(t, p.hash[k] == alone);
      }
    }
}

static void bits_of_pebbles(fx_test *t) { check_bits(t, "pebbles", 1200, 30, 0); }
static void bits_of_shear(fx_test *t) { check_bits(t, "shear", 1000, 40, 0); }
static void bits_of_triaxial(fx_test *t) { check_bits(t, "triaxial", 600, 50, 0); }
static void bits_of_clumps(fx_test *t) { check_bits(t, "box", 500, 60, 4); }
static void bits_of_bricks(fx_test *t) { check_bits(t, "bricks", 200, 60, 0); }
static void bits_of_chains(fx_test *t) { check_bits(t, "chains", 40, 60, 0); }

/* Three ranks are stopped; two go on; the end is that of one that never stopped. */
static void goes_on_elsewhere(fx_test *t) {
  const struct {
    const char *scene;
    double n, clump;
  } all[] = {{"pebbles", 800, 0}, {"box", 300, 2}, {"bricks", 150, 0}, {"chains", 40, 0}};
  for (size_t row = 0; row < sizeof all / sizeof *all; row++) {
    party whole = {.scene = all[row].scene, .n = all[row].n, .threads = 1, .steps = 40, .clump = all[row].clump};
    party first = whole, second = whole;
    first.stop = 17;
    CHECK(t, fx_test_ranks(1, run_rank, &whole));
    CHECK(t, fx_test_ranks(3, run_rank, &first));
    second.from = &first, second.from_ranks = 3;
    CHECK(t, fx_test_ranks(2, run_rank, &second));
    for (int32_t k = 0; k < 2; k++) CHECK(t, second.status[k] == FRIX_OK && second.hash[k] == whole.hash[0]);
    for (int32_t k = 0; k < 3; k++) free(first.bytes[k]);
  }
}

/* The same bits from every compiler and machine. */
static void golden(fx_test *t) {
  fixture f;
  frix_bed_report report;
  uint64_t hash = 0;
  REQUIRE(t, choose(&f, "pebbles"));
  set(&f, "n", 300);
  CHECK(t, make(&f, 1e-4, 1, NULL) == FRIX_OK && advance(&f, 30, &report) == FRIX_OK);
  CHECK(t, frix_bed_hash(f.bed, &hash) == FRIX_OK);
  if (hash != GOLDEN) fx_test_fail(t, __FILE__, __LINE__, "hash %016llx", (unsigned long long)hash);
  end(&f);
}

/* ---- files ---- */

static void files(fx_test *t) {
  fixture f;
  frix_bed_report report;
  frix_model *model = NULL;
  frix_recorder *recorder = NULL;
  frix_trajectory *run = NULL;
  frix_frame frame;
  const char *path = fx_test_scratch(t, "bed.frx");
  REQUIRE(t, choose(&f, "shear"));
  set(&f, "n", 300);
  CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK && frix_bed_model(f.bed, &model) == FRIX_OK);
  CHECK(t, frix_recorder_create(f.context, path, model, NULL, &recorder) == FRIX_OK);
  CHECK(t, advance(&f, 150, &report) == FRIX_OK);
  CHECK(t, frix_recorder_add_bed(recorder, f.bed, &report, true) == FRIX_OK);
  CHECK(t, frix_recorder_close(recorder) == FRIX_OK);
  CHECK(t, frix_trajectory_open(f.context, path, &run) == FRIX_OK && frix_trajectory_frame(run, 0, &frame) == FRIX_OK);
  CHECK(t, frame.body_count == 302 && frame.contact_count == frix_bed_contact_count(f.bed) && frame.step == 150);
  double pressed = 0.0; /* by the lid, wall 1 and body 2 */
  for (int32_t k = 0; k < frame.contact_count; k++)
    if (frame.contact[k].b.index == 2) pressed -= frame.contact[k].force.z;
  frix_bed_wall lid;
  CHECK(t, frix_bed_wall_at(f.bed, 1, &lid) == FRIX_OK);
  CHECK_NEAR(t, pressed, lid.force, 1e-5 * fabs(lid.force) + 1e-9);
  frix_trajectory_close(run);
  frix_model_destroy(model);
  end(&f);
}

/* An index of two files is one run. */
static void parts_are_one(fx_test *t) {
  frix_context *context = NULL;
  frix_trajectory *run = NULL;
  frix_frame frame;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  char path[2][512];
  for (int k = 0; k < 2; k++) {
    fixture f;
    frix_model *model = NULL;
    frix_recorder *recorder = NULL;
    snprintf(path[k], sizeof path[k], "%s", fx_test_scratch(t, k ? "parts.frx.1" : "parts.frx.0"));
    REQUIRE(t, choose(&f, "box"));
    set(&f, "n", k ? 70 : 50);
    CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK && frix_bed_model(f.bed, &model) == FRIX_OK);
    CHECK(t, frix_recorder_create(f.context, path[k], model, NULL, &recorder) == FRIX_OK);
    for (int frames = 0; frames < 3 - k; frames++)
      CHECK(t, frix_recorder_add_bed(recorder, f.bed, NULL, true) == FRIX_OK);
    CHECK(t, frix_recorder_close(recorder) == FRIX_OK);
    frix_model_destroy(model);
    end(&f);
  }
  const char *index = fx_test_scratch(t, "parts.frx"), text[] = "frix parts 1\nparts.frx.0\nparts.frx.1\n";
  frix_output *output = NULL;
  CHECK(t, frix_output_open(context, index, &output) == FRIX_OK &&
               frix_output_write(output, text, sizeof text - 1) == FRIX_OK);
  CHECK(t, frix_output_close(output, true) == FRIX_OK);
  CHECK(t, frix_trajectory_open(context, index, &run) == FRIX_OK);
  CHECK(t, frix_trajectory_frame_count(run) == 2 && frix_trajectory_frame(run, 1, &frame) == FRIX_OK);
  CHECK(t, frame.body_count == 50 + 5 + 70 + 5);
  frix_trajectory_close(run);
  frix_context_destroy(context);
}

/* ---- bad input ---- */

static void refuses(fx_test *t) {
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_bed *bed = NULL;
  frix_bed_config c = frix_bed_default();
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_ERROR_INPUT); /* no radius, no space */
  c.radius[0] = 1.0, c.upper = (frix_vec3){10, 10, 10}, c.periodic[0] = true;
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_ERROR_INPUT); /* too narrow to be periodic */
  c.periodic[0] = false;
  CHECK(t, frix_bed_create(context, &c, &bed) == FRIX_OK);
  frix_vec3 p = {1, 1, 1}, bad = {NAN, 0, 0};
  CHECK(t, frix_bed_add(bed, 1, p, p, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_bed_add(bed, 0, bad, p, NULL) == FRIX_ERROR_INPUT);
  frix_bed_wall wall = {.kind = FRIX_BED_PLANE};
  CHECK(t, frix_bed_add_wall(bed, &wall, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_bed_step(bed, 0.0, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_bed_load(bed, (const unsigned char *)"nonsense", 8, true) == FRIX_ERROR_FORMAT);
  CHECK(t, frix_bed_step(bed, 0.01, NULL) == FRIX_OK); /* nothing in it */
  frix_bed_destroy(bed);
  frix_context_destroy(context);
}

/* The command goes on from a state with steps of another length, up to the time that is asked for. */
static void goes_on_with_another_step(fx_test *t) {
  shell_result r = shell(t, "$frix bed box --set n=20 --step 0.001 --time 0.04 --save 40 --out a.frx --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"steps\": 40,"));
  shell_free(&r);
  r = shell(t, "$frix bed box --set n=20 --step 0.002 --time 0.06 --resume a.frx.state --out b.frx --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"steps\": 10,"));
  shell_free(&r);
  r = shell(t, "$frix bed box --set n=20 --step 0.002 --time 0.03 --resume a.frx.state --out c.frx --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"steps\": 0,"));
  shell_free(&r);
}

/* Parts of a state: each once, all of one step, numbers only. */
static void refuses_states(fx_test *t) {
  fixture f;
  unsigned char *bytes = NULL, *later = NULL;
  size_t size = 0, more = 0;
  REQUIRE(t, choose(&f, "box"));
  set(&f, "n", 20);
  CHECK(t, make(&f, 1e-3, 1, NULL) == FRIX_OK && advance(&f, 60, NULL) == FRIX_OK);
  CHECK(t, frix_bed_save(f.bed, &bytes, &size) == FRIX_OK);
  CHECK(t, advance(&f, 1, NULL) == FRIX_OK && frix_bed_save(f.bed, &later, &more) == FRIX_OK);
  CHECK(t, frix_bed_load(f.bed, bytes, size, true) == FRIX_OK);
  CHECK(t, frix_bed_load(f.bed, bytes, size, false) != FRIX_OK); /* grains twice */
  CHECK(t, frix_bed_load(f.bed, later, more, false) == FRIX_ERROR_INPUT);
  const double nan = NAN;
  memcpy(bytes + size - sizeof nan, &nan, sizeof nan); /* an impulse, or a number of the last grain */
  CHECK(t, frix_bed_load(f.bed, bytes, size, true) != FRIX_OK);
  frix_bed_bytes_free(f.bed, bytes), frix_bed_bytes_free(f.bed, later);
  frix_bed_destroy(f.bed);
  frix_context_destroy(f.context);
  shell_result r = shell(t, "printf 'frix bed state 1\\n' >none.state; $frix bed box --set n=20 --resume none.state");
  CHECK(t, r.code == 2 && strstr(r.err, "names no parts"));
  shell_free(&r);
}

const fx_test_row test_beds[] = {{"beds/rests", rests},
                                 {"beds/goes on with another step", goes_on_with_another_step},
                                 {"beds/slides and rolls", slides_and_rolls},
                                 {"beds/bounces", bounces},
                                 {"beds/many partners", many_partners},
                                 {"beds/same certificate", same_certificate},
                                 {"beds/same certificate for clumps", same_for_clumps},
                                 {"beds/floor carries weight", floor_carries_weight},
                                 {"beds/periodic momentum", periodic_momentum},
                                 {"beds/across the border", across_the_border},
                                 {"beds/servo keeps pressure", servo_keeps_pressure},
                                 {"beds/shear cell", shear_cell},
                                 {"beds/grains come and leave", grains_come_and_leave},
                                 {"beds/silo runs out", silo_runs_out},
                                 {"beds/pebbles come again", pebbles_come_again},
                                 {"beds/bits of pebbles", bits_of_pebbles},
                                 {"beds/bits of shear", bits_of_shear},
                                 {"beds/bits of triaxial", bits_of_triaxial},
                                 {"beds/bits of clumps", bits_of_clumps},
                                 {"beds/bits of bricks", bits_of_bricks},
                                 {"beds/bits of chains", bits_of_chains},
                                 {"beds/goes on elsewhere", goes_on_elsewhere},
                                 {"beds/golden", golden},
                                 {"beds/files", files},
                                 {"beds/parts are one", parts_are_one},
                                 {"beds/refuses", refuses},
                                 {"beds/refuses states", refuses_states},
                                 {0}};
