/* The table of scenes: every row builds, runs and is certified; what drives a scene goes on with the same bits; scenes
 * behave as they are described. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/scene.h"
#include "test.h"

typedef struct play {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  const frix_scene *scene;
  double value[FRIX_SCENE_MAX_PARAMETERS];
  int uncertified;
} play;

static void set(fx_test *t, play *p, const char *name, double value) {
  int32_t k = frix_scene_parameter_index(p->scene, name);
  CHECK(t, k >= 0);
  if (k >= 0) p->value[k] = value;
}

static play play_new(fx_test *t, const char *name) {
  play p = {.scene = frix_scene_find(name)};
  CHECK(t, p.scene != NULL && frix_context_create(NULL, &p.context) == FRIX_OK);
  for (int32_t k = 0; k < p.scene->parameter_count; k++) p.value[k] = p.scene->parameter[k].initial;
  return p;
}

/* False where this build lacks something the scene is made of. */
static bool play_start(fx_test *t, play *p) {
  frix_status status = frix_scene_build(p->scene, p->context, p->value, 0, &p->model);
  if (status == FRIX_ERROR_UNSUPPORTED) return false;
  if (status == FRIX_OK) status = frix_sim_create(p->context, p->model, NULL, &p->sim);
  if (status != FRIX_OK) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", p->scene->name, frix_error_text(p->context));
  return status == FRIX_OK;
}

static void play_steps(fx_test *t, play *p, int64_t steps) {
  for (int64_t k = 0; k < steps; k++) {
    frix_step_report report = {0};
    frix_status status = frix_scene_drive(p->scene, p->sim, p->model, p->value, p->scene->step);
    if (status == FRIX_OK) status = frix_sim_step(p->sim, p->scene->step, &report);
    if (status != FRIX_OK) {
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", p->scene->name, frix_error_text(p->context));
      return;
    }
    p->uncertified += !report.certified;
  }
}

static void play_end(play *p) {
  frix_sim_destroy(p->sim);
  frix_model_destroy(p->model);
  frix_context_destroy(p->context);
}

static frix_body_state state_of(const play *p, const char *name) {
  frix_body_state state = {0};
  frix_sim_body(p->sim, frix_model_find_body(p->model, name), &state);
  return state;
}

/* ---- the table ---- */

static void all_certified(fx_test *t) {
  for (int32_t k = 0; frix_scene_table(k); k++) {
    play p = play_new(t, frix_scene_table(k)->name);
    if (!strcmp(p.scene->name, "pebbles")) set(t, &p, "n", 500);
    if (!strcmp(p.scene->name, "silo") || !strcmp(p.scene->name, "collapse")) set(t, &p, "n", 150);
    if (!play_start(t, &p)) {
      fx_test_note(t, "%s: not in this build", p.scene->name);
      play_end(&p);
      continue;
    }
    CHECK(t, frix_sim_body_count(p.sim) > 0);
    play_steps(t, &p, 20);
    if (p.uncertified) fx_test_fail(t, __FILE__, __LINE__, "%s: %d steps not certified", p.scene->name, p.uncertified);
    frix_energy e = frix_sim_energy(p.sim);
    CHECK(t, isfinite(e.kinetic) && isfinite(e.potential));
    if (p.scene->stands) CHECK(t, e.kinetic < 1e-12 * fabs(e.potential) + 1e-15);
    play_end(&p);
  }
}

static void rows_make_sense(fx_test *t) {
  for (int32_t k = 0; frix_scene_table(k); k++) {
    const frix_scene *s = frix_scene_table(k);
    CHECK(t, frix_scene_find(s->name) == s);
    CHECK(t, s->parameter_count <= FRIX_SCENE_MAX_PARAMETERS && s->step > 0 && s->time > 0);
    for (int32_t p = 0; p < s->parameter_count; p++) {
      const frix_option_info *row = &s->parameter[p];
      CHECK(t, frix_scene_allows(s, p, row->initial) && row->summary && row->summary[0]);
      CHECK(t, frix_scene_parameter_index(s, row->name) == p);
      CHECK(t, !frix_scene_allows(s, p, NAN) && !frix_scene_allows(s, p, row->maximum + 1));
      int choices = 1;
      for (const char *c = row->choices; c && *c; c++) choices += *c == '|';
      if (row->kind == FRIX_OPTION_CHOICE) CHECK(t, row->maximum == choices - 1);
    }
  }
  CHECK(t, frix_scene_find("nothing") == NULL && frix_scene_table(-1) == NULL);
}

/* Every parameter at both ends of its range either builds or is refused with a text; sizes stay small. */
static void ends_of_ranges(fx_test *t) {
  for (int32_t k = 0; frix_scene_table(k); k++)
    for (int32_t p = 0; p < frix_scene_table(k)->parameter_count; p++)
      for (int end = 0; end < 2; end++) {
        play one = play_new(t, frix_scene_table(k)->name);
        const frix_option_info *row = &one.scene->parameter[p];
        one.value[p] = end ? row->maximum : row->minimum;
        for (int32_t q = 0; q < one.scene->parameter_count; q++) /* what is counted stays small */
          if (one.scene->parameter[q].kind == FRIX_OPTION_INTEGER && one.value[q] > 30) one.value[q] = 30;
        if (play_start(t, &one)) play_steps(t, &one, 1);
        play_end(&one);
      }
}

static void refuses(fx_test *t) {
  play p = play_new(t, "arch");
  frix_model *model = NULL;
  const double bad[] = {NAN, -1, 1e9, 7.5};
  for (int k = 0; k < 4; k++) {
    p.value[0] = bad[k];
    CHECK(t, frix_scene_build(p.scene, p.context, p.value, 0, &model) == FRIX_ERROR_INPUT && !model);
  }
  play_end(&p);
}

/* ---- continuing ---- */

/* A snapshot taken before a blow, put into another sim, goes on with the same bits. */
static void drive_continues(fx_test *t) {
  static const struct {
    const char *scene, *parameter;
    double value;
    int64_t before, after;
  } rows[] = {{"arch", "blow", 1, 40, 40}, {"segregation", "n", 30, 3, 5}, {"pebbles", "n", 60, 100, 100}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    play whole = play_new(t, rows[k].scene), parts = play_new(t, rows[k].scene);
    set(t, &whole, rows[k].parameter, rows[k].value);
    set(t, &parts, rows[k].parameter, rows[k].value);
    uint64_t expected = 0, found = 1;
    if (play_start(t, &whole) && play_start(t, &parts)) {
      frix_snapshot *snapshot = NULL;
      frix_sim *other = NULL;
      play_steps(t, &whole, rows[k].before + rows[k].after);
      play_steps(t, &parts, rows[k].before);
      CHECK(t, frix_sim_save(parts.sim, &snapshot) == FRIX_OK);
      CHECK(t, frix_sim_create(parts.context, parts.model, NULL, &other) == FRIX_OK);
      CHECK(t, frix_sim_restore(other, snapshot) == FRIX_OK);
      frix_snapshot_destroy(snapshot);
      frix_sim_destroy(parts.sim);
      parts.sim = other;
      play_steps(t, &parts, rows[k].after);
      frix_sim_hash(whole.sim, &expected);
      frix_sim_hash(parts.sim, &found);
    }
    CHECK(t, expected == found);
    play_end(&whole);
    play_end(&parts);
  }
}

/* The same seed, the same world; another one, another world. */
static void seeds(fx_test *t) {
  uint64_t hash[3] = {0};
  for (int k = 0; k < 3; k++) {
    play p = play_new(t, "balls");
    CHECK(t, frix_scene_build(p.scene, p.context, p.value, k < 2 ? 7 : 8, &p.model) == FRIX_OK);
    CHECK(t, frix_sim_create(p.context, p.model, NULL, &p.sim) == FRIX_OK);
    frix_sim_hash(p.sim, &hash[k]);
    play_end(&p);
  }
  CHECK(t, hash[0] == hash[1] && hash[0] != hash[2]);
}

/* ---- what scenes are about ---- */

/* Blocks fall on a card house: cards come down, none into the ground, every step certified, and all come to rest. How
 * many come down is chance: rigid or stiff, at steps of 1 to 5 ms, from none to all. */
static void cards_struck(fx_test *t) {
  for (int blocks = 3; blocks <= 4; blocks++) {
    enum { CARDS = 26 };
    double start[CARDS], low = 1;
    char name[24];
    play p = play_new(t, "cardhouse");
    set(t, &p, "blow", blocks);
    if (play_start(t, &p)) {
      for (int k = 1; k < CARDS; k++) snprintf(name, sizeof name, "card_%d", k), start[k] = state_of(&p, name).center.z;
      play_steps(t, &p, 1200);
      int sank = 0;
      for (int k = 1; k < CARDS; k++) {
        snprintf(name, sizeof name, "card_%d", k);
        double z = state_of(&p, name).center.z;
        sank += start[k] - z > 0.05, low = fmin(low, z);
      }
      frix_energy e = frix_sim_energy(p.sim);
      CHECK(t, p.uncertified == 0 && sank > 0 && low > 0);
      if (blocks == 3) CHECK(t, e.kinetic == 0);
      fx_test_note(t, "%d blocks: %d cards sank, %.1e J left", blocks, sank, e.kinetic);
    }
    play_end(&p);
  }
}

/* Stones dropped on the crown leave both arches standing; thrown at a leg they bring them down. Rigid stones stay where
 * they were; stiff ones sag where a blow opened their joints, by millimetres at h = 0.01. */
static void arch_blows(fx_test *t) {
  static const double most[] = {[FRIX_CONTACT_KIND_STIFF] = 2e-2, [FRIX_CONTACT_KIND_RIGID] = 1e-4};
  for (int n = 0; n < 8; n++) {
    int shape = n & 1, blow = 1 + (n >> 1 & 1), law = n >> 2;
    play p = play_new(t, "arch");
    set(t, &p, "shape", shape);
    set(t, &p, "blow", blow);
    if (!play_start(t, &p)) return;
    frix_sim_destroy(p.sim);
    frix_sim_config config = frix_sim_default();
    config.contact = (frix_contact_kind)law;
    REQUIRE(t, frix_sim_create(p.context, p.model, &config, &p.sim) == FRIX_OK);
    double start = state_of(&p, "keystone").center.y;
    play_steps(t, &p, 400);
    double sunk = start - state_of(&p, "keystone").center.y;
    CHECK(t, p.uncertified == 0);
    if (blow == 1)
      CHECK(t, fabs(sunk) < most[law]);
    else
      CHECK(t, sunk > 0.5);
    fx_test_note(t, "shape %d, blow %d, law %d: keystone sunk by %.1e m", shape, blow, law, sunk);
    play_end(&p);
  }
}

/* The largest difference between the velocities of a card and of the one that stood as its mirror image. */
static double lopsided(const play *p) {
  double worst = 0;
  int32_t count = frix_model_count(p->model).body_count;
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j < count; j++) {
      frix_body_id a = frix_model_body_at(p->model, i), b = frix_model_body_at(p->model, j);
      frix_body_config x, y;
      frix_body_state u, v;
      if (frix_model_body(p->model, a, &x) != FRIX_OK || frix_model_body(p->model, b, &y) != FRIX_OK) continue;
      if (fabs(x.pose.p.x + y.pose.p.x) > 1e-6 || fabs(x.pose.p.z - y.pose.p.z) > 1e-6) continue;
      if (frix_sim_body(p->sim, a, &u) != FRIX_OK || frix_sim_body(p->sim, b, &v) != FRIX_OK) continue;
      worst = fmax(worst, hypot(u.velocity.x + v.velocity.x, u.velocity.z - v.velocity.z));
    }
  return worst;
}

/* A block hits the top of a card house in its middle, hard: mirror images fly apart alike. */
static void struck_alike(fx_test *t) {
  play p = play_new(t, "cardhouse");
  set(t, &p, "blow", 1);
  if (!play_start(t, &p)) return;
  frix_sim_destroy(p.sim);
  frix_sim_config config = frix_sim_default();
  config.contact = FRIX_CONTACT_KIND_RIGID, config.solver = "newton",
  config.tolerance = 1e-11; /* no order of contacts, no choice among answers */
  REQUIRE(t, frix_sim_create(p.context, p.model, &config, &p.sim) == FRIX_OK);
  for (int k = 0; k < 20; k++) frix_sim_step(p.sim, p.scene->step, NULL);
  frix_pose above = {{0, 0, 0.42}, {1, 0, 0, 0}};
  frix_vec3 none = {0, 0, 0}, down = {0, 0, -60};
  CHECK(t, frix_sim_spawn(p.sim, frix_model_find_body(p.model, "block"), above, down, none, NULL) == FRIX_OK);
  double fastest = 0, apart = 0;
  for (int k = 0; k < 3; k++) {
    frix_step_report r = {0};
    CHECK(t, frix_sim_step(p.sim, p.scene->step, &r) == FRIX_OK && r.certified);
    fastest = fmax(fastest, frix_sim_energy(p.sim).kinetic);
    apart = fmax(apart, lopsided(&p));
  }
  CHECK(t, frix_sim_energy(p.sim).impact > 1 && fastest > 0.01);
  CHECK(t, apart < 1e-7);
  fx_test_note(t, "mirror images apart by %.1e m/s", apart);
  play_end(&p);
}

/* The puck stops after v^2/(2 mu g); the dominoes all fall; the cradle's last ball swings as far as the first. */
static void closed_forms(fx_test *t) {
  play puck = play_new(t, "puck");
  if (play_start(t, &puck)) {
    play_steps(t, &puck, 200);
    frix_vec3 x = state_of(&puck, "puck").center;
    CHECK_NEAR(t, sqrt(x.x * x.x + x.y * x.y), 4 / (2 * 0.4 * 9.81), 2 * 0.005);
    CHECK(t, puck.uncertified == 0);
  }
  play_end(&puck);
  play tiles = play_new(t, "dominoes");
  set(t, &tiles, "n", 4);
  if (play_start(t, &tiles)) {
    play_steps(t, &tiles, 700);
    CHECK(t, state_of(&tiles, "tile_3").center.z < 0.015);
  }
  play_end(&tiles);
  play cradle = play_new(t, "cradle");
  if (play_start(t, &cradle)) {
    double far = 0;
    for (int k = 0; k < 40; k++) {
      play_steps(t, &cradle, 50);
      far = fmax(far, state_of(&cradle, "ball_4").center.x - 4 * 0.041);
    }
    CHECK_NEAR(t, far, 0.30 * 0.3420201433256687, 0.01);
    fx_test_note(t, "the last ball swings %.4f m", far);
  }
  play_end(&cradle);
}

/* A mid-sized pile and reactor are built in the time of their number. */
static void many(fx_test *t) {
  static const char *const names[] = {"pile", "pebbles"};
  for (int k = 0; k < 2; k++) {
    play p = play_new(t, names[k]);
    set(t, &p, "n", 20000);
    if (play_start(t, &p)) CHECK(t, frix_sim_body_count(p.sim) >= 20000);
    play_end(&p);
  }
}

/* A packed reactor starts without overlaps, filled as random spheres are, and moves by a small part of a diameter when
 * it is let go. */
static void packed(fx_test *t) {
  play p = play_new(t, "pebbles");
  set(t, &p, "n", 1000);
  set(t, &p, "start", 1);
  set(t, &p, "outlet", 0);
  double inside = 0, drop = 0;
  frix_vec3 *start = calloc(1001, sizeof *start);
  if (play_start(t, &p) && start) {
    frix_step_report report = {0};
    for (int k = 0; k < 1000; k++) {
      frix_body_state s = {0};
      frix_sim_body(p.sim, frix_model_body_at(p.model, k + 1), &s);
      start[k] = s.center;
      /* in a cylinder of 0.2 m radius above the cone, by centres */
      inside += s.center.z > 0.2 && s.center.z < 0.5 && hypot(s.center.x, s.center.y) < 0.2;
    }
    CHECK(t, frix_sim_step(p.sim, p.scene->step, &report) == FRIX_OK);
    CHECK(t, report.penetration < 1e-3); /* of 60 mm: facets are planes */
    play_steps(t, &p, 9);
    for (int k = 0; k < 1000; k++) {
      frix_body_state s = {0};
      frix_sim_body(p.sim, frix_model_body_at(p.model, k + 1), &s);
      drop += (start[k].z - s.center.z) / 1000;
    }
  }
  double fraction = inside * 4.0 / 3.0 * 0.03 * 0.03 * 0.03 / (0.2 * 0.2 * 0.3);
  CHECK(t, fraction > 0.54 && fraction < 0.64);
  CHECK(t, drop > 0 && drop < 0.015);
  fx_test_note(t, "packing fraction %.3f, settles by %.1f mm in 0.05 s", fraction, 1e3 * drop);
  free(start);
  play_end(&p);
}

/* Pyramids of discs on the lattice, with little friction, have many answers near each other; the default solver finds
 * one. */
static void slipping_pyramid(fx_test *t) {
  play p = play_new(t, "cannonball");
  set(t, &p, "levels", 20);
  set(t, &p, "mu", 0.2);
  if (play_start(t, &p)) play_steps(t, &p, 3);
  CHECK(t, p.uncertified == 0);
  play_end(&p);
}

/* Bunnies stay in their tub, and one among them stays above the ground by less than its size. */
static void bunnies_fall(fx_test *t) {
  play p = play_new(t, "bunnies");
  set(t, &p, "n", 8);
  double highest = 0;
  if (play_start(t, &p)) play_steps(t, &p, 80);
  CHECK(t, p.uncertified == 0);
  for (int k = 0; p.sim && k < 8; k++) {
    char name[32];
    snprintf(name, sizeof name, "bunny_%d", k);
    frix_vec3 c = state_of(&p, name).center;
    CHECK(t, fabs(c.x) < 0.21 && fabs(c.y) < 0.21 && c.z > 0.03);
    highest = fmax(highest, c.z);
  }
  CHECK(t, highest < 0.25);
  play_end(&p);
}

const fx_test_row test_scenes[] = {
    {"scenes/rows_make_sense", rows_make_sense},
    {"scenes/all_certified", all_certified},
    {"scenes/ends_of_ranges", ends_of_ranges},
    {"scenes/refuses", refuses},
    {"scenes/drive_continues", drive_continues},
    {"scenes/seeds", seeds},
    {"scenes/cards_struck", cards_struck},
    {"scenes/arch_blows", arch_blows},
    {"scenes/struck_alike", struck_alike},
    {"scenes/closed_forms", closed_forms},
    {"scenes/many", many},
    {"scenes/packed", packed},
    {"scenes/slipping_pyramid", slipping_pyramid},
    {"scenes/bunnies_fall", bunnies_fall},
    {0},
};
