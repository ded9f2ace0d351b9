/* Moving scenes as text: what is written is read again, what is wrong is refused with its line, and each kind moves. */
#include "bench/motion_engine.h"
#include "bench/motion_make.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *kinds[] = {"cards3_blow1", "stack5_push", "wall40_ball",    "boxes30",    "capsules30",
                              "mixed30",      "spheres27",   "pyramid4_mu1.0", "boxpyramid6"};

enum { KINDS = sizeof kinds / sizeof *kinds };

static bool read_text(motion_scene *scene, const char *text, char message[200]) {
  FILE *file = tmpfile();
  bool good = file && fputs(text, file) >= 0;
  if (good) rewind(file), good = motion_scene_read(scene, file, "text", message, 200);
  if (file) fclose(file);
  return good;
}

static void written_and_read(fx_test *t) {
  for (int k = 0; k < KINDS; k++) {
    motion_scene made, again;
    char message[200] = "";
    REQUIRE(t, motion_make(&made, kinds[k], 7));
    FILE *file = tmpfile();
    REQUIRE(t, file && motion_scene_write(&made, file));
    rewind(file);
    bool good = motion_scene_read(&again, file, "file", message, sizeof message);
    fclose(file);
    if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s: %s", kinds[k], message);
    REQUIRE(t, good);
    CHECK(t, !strcmp(made.name, again.name) && made.mu == again.mu && made.h == again.h && made.time == again.time);
    CHECK(t, made.body_count == again.body_count && made.dynamic_count == again.dynamic_count);
    for (int32_t j = 0; j < made.body_count && j < again.body_count; j++) {
      const motion_body *a = &made.body[j], *b = &again.body[j];
      CHECK(t, a->shape == b->shape && a->dynamic == b->dynamic && a->mass == b->mass);
      CHECK(t, !memcmp(&a->start, &b->start, sizeof a->start) && !memcmp(a->size, b->size, sizeof a->size));
      CHECK(t, !memcmp(a->inertia, b->inertia, sizeof a->inertia));
    }
    CHECK(t, made.put_count == again.put_count && made.push_count == again.push_count);
    motion_scene_end(&made), motion_scene_end(&again);
  }
}

static void names(fx_test *t) {
  static const char *wrong[] = {"",       "boxes", "boxes0", "boxes5x", "cards4", "cards4_blow", "pyramid3_mu",
                                "stack5", "ball"};
  motion_scene a, b;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) CHECK(t, !motion_make(&a, wrong[k], 1));
  REQUIRE(t, motion_make(&a, "boxes20", 1) && motion_make(&b, "boxes20", 2));
  CHECK(t, memcmp(&a.body[1].start, &b.body[1].start, sizeof a.body[1].start) != 0); /* another seed, another scene */
  motion_scene_end(&a), motion_scene_end(&b);
}

static void container(fx_test *t) {
  motion_scene s;
  char message[200] = "";
  const char *ball = "body a 1 1 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 sphere 0.1\n";
  char text[400];
  snprintf(text, sizeof text, "container 1 2 3 # walls\n\n%s", ball);
  REQUIRE(t, read_text(&s, text, message));
  CHECK(t, s.body_count == 5 && s.dynamic_count == 1); /* walls are added */
  motion_scene_end(&s);
  snprintf(text, sizeof text, "container 1 2 3\n%sbody w 0 0 0 0 0 2 0 0 1 0 0 0 0 0 0 0 0 0 box 1 1 1\n", ball);
  REQUIRE(t, read_text(&s, text, message));
  CHECK(t, s.body_count == 2); /* they are listed */
  motion_scene_end(&s);
}

static void refused(fx_test *t) {
  static const struct {
    const char *text, *says;
  } rows[] = {{"mu 0.5\nhello 3\n", "text:2: unknown item"},
              {"mu x\n", "text:1: not a finite number"},
              {"mu 0.5 1\n", "too many words"},
              {"gravity 0 0\n", "too few words"},
              {"h 0\n", "above zero"},
              {"mu 0.5\n", "no dynamic body"},
              {"body a 1 1 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 cone 1\n", "unknown shape"},
              {"body a 1 0 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 sphere 1\n", "mass"},
              {"body a 1 1 1 1 1 0 0 1 0 0 0 0 0 0 0 0 0 0 sphere 1\n", "quaternion"},
              {"body a 1 1 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 plane\n", "plane"},
              {"push 0 1 -1 0 0 1\n", "number of a body"},
              {"body a 1 1 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 sphere 1\npush 0 1 1 0 0 1\n", "not there"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    motion_scene s;
    char message[200] = "";
    CHECK(t, !read_text(&s, rows[k].text, message));
    if (!strstr(message, rows[k].says))
      fx_test_fail(t, __FILE__, __LINE__, "'%s' is not in '%s'", rows[k].says, message);
  }
}

/* Every kind for some steps: certified, and the same state twice. */
static void runs(fx_test *t) {
  for (int k = 0; k < KINDS; k++) {
    motion_scene s;
    motion_result r, again;
    motion_options options = {.steps = 40, .budget = 1e9, .stiffness = 1e5};
    REQUIRE(t, motion_make(&s, kinds[k], 1));
    CHECK(t, motion_run(&motion_frix, &s, &options, NULL, &r) && motion_run(&motion_frix, &s, &options, NULL, &again));
    CHECK(t, !r.failed && r.steps == 40 && r.judged == 40 && r.certified == 40);
    CHECK(t, r.hash == again.hash && r.mean > 0 && r.p50 <= r.p95 && r.p95 <= r.p99 && r.p99 <= r.max);
    CHECK(t, isfinite(r.kinetic) && isfinite(r.moved) && isfinite(r.penetration));
    motion_scene_end(&s);
  }
}

/* Events act when they should: a body at rest in free space is put elsewhere, then pushed. */
static void events(fx_test *t) {
  motion_scene s;
  motion_result r;
  motion_options options = {.steps = 100, .budget = 1e9};
  char message[200] = "";
  const char *text =
      "gravity 0 0 0\nh 0.01\nT 1\nat 0.2 0 5 0 0 1 0 0 0 0 0 0 0 0 0\npush 0.5 0.8 0 2 0 0\n"
      "body a 1 2 1 1 1 0 0 0 1 0 0 0 0 0 0 0 0 0 sphere 0.1\n";
  REQUIRE(t, read_text(&s, text, message));
  CHECK(t, motion_run(&motion_frix, &s, &options, NULL, &r));
  CHECK_NEAR(t, r.kinetic, 0.5 * 2 * 0.3 * 0.3, 1e-12); /* 1 m/s^2 for 0.3 s */
  CHECK_NEAR(t, r.moved, 5 + 0.5 * 0.3 * 0.3 + 0.2 * 0.3, 0.31 * 0.01);
  options.steps = 0, options.budget = 0;
  CHECK(t, motion_run(&motion_frix, &s, &options, NULL, &r) && r.steps == 0 && r.wanted_steps == 100);
  motion_scene_end(&s);
}

/* The judge of other engines sees what a step reports. */
static void judge(fx_test *t) {
  motion_scene s;
  REQUIRE(t, motion_make(&s, "stack2_push", 1));
  motion_judge *j = motion_judge_new(&s);
  REQUIRE(t, j);
  motion_state state[2] = {s.body[1].start, s.body[2].start};
  CHECK_NEAR(t, motion_judge_depth(j, state), 0, 1e-12);
  state[1].p[2] -= 0.013;
  CHECK_NEAR(t, motion_judge_depth(j, state), 0.013, 1e-9);
  state[1].p[2] += 0.1;
  CHECK_NEAR(t, motion_judge_depth(j, state), 0, 1e-12);
  motion_judge_end(j);
  motion_scene_end(&s);
}

/* The blow on a pyramid of 5,050 boxes, 59,800 contacts: newton has the last digits, whose factors have wide panels and
 * cost half of what multiplications tell (1,714 sweeps, which take twice as long). */
static void struck_pyramid(fx_test *t) {
  enum { BLOW = 6 };
  motion_scene s;
  motion_options options = {.steps = 0};
  motion_step step = {0};
  REQUIRE(t, motion_make(&s, "boxpyramid100_ball", 1));
  CHECK(t, !motion_must_stand(&s));
  void *world = motion_frix.create(&s, &options);
  bool good = world != NULL;
  for (int k = 0; k <= BLOW && good; k++) good = motion_frix.step(world, &step) && step.certified;
  fx_test_note(t, "%d contacts touch, %d iterations, %s", (int)step.touching, (int)step.iterations,
               step.finisher ? step.finisher : "");
  CHECK(t, good && step.touching > 50000 && step.iterations < 900);
  CHECK(t, step.finisher && !strcmp(step.finisher, "spring_newton"));
  if (world) motion_frix.destroy(world);
  motion_scene_end(&s);
}

const fx_test_row test_motion_scenes[] = {{"motion_scenes/written_and_read", written_and_read},
                                          {"motion_scenes/names", names},
                                          {"motion_scenes/container", container},
                                          {"motion_scenes/refused", refused},
                                          {"motion_scenes/runs", runs},
                                          {"motion_scenes/events", events},
                                          {"motion_scenes/judge", judge},
                                          {"motion_scenes/struck_pyramid", struck_pyramid},
                                          {0}};
