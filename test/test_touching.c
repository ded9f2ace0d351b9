/* What touches, as people understand it: contacts that are closed and press, not impulses of rounding across a gap. */
#include "examples/scene.h"
#include "sim_world.h"

static double dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

typedef struct tally {
  int begins, ends, bounces, ghosts;
  double widest; /* gap at the end of the step of what begins and does not bounce */
} tally;

static void count_step(fx_test *t, const frix_sim *sim, double h, int32_t touching, tally *sum) {
  int32_t here = 0;
  for (int32_t k = 0; k < frix_sim_contact_count(sim); k++) {
    frix_contact_report c;
    CHECK(t, frix_sim_contact(sim, k, &c) == FRIX_OK);
    here += c.phase != FRIX_CONTACT_END;
    sum->ends += c.phase == FRIX_CONTACT_END;
    if (c.phase != FRIX_CONTACT_BEGIN) continue;
    sum->begins++;
    double away = dot(c.velocity, c.normal), end = c.gap + h * away;
    if (end > 1e-4 && away > 0 && dot(c.force, c.normal) > 1e-3) {
      sum->bounces++; /* cards weigh 20 mN */
    } else {
      sum->ghosts += end > 1e-4;
      sum->widest = fmax(sum->widest, end);
    }
  }
  CHECK(t, here == touching);
}

/* Three blocks fall on a house of cards: nothing begins to touch across a gap. */
static void struck_cards(fx_test *t) {
  const frix_scene *scene = frix_scene_find("cardhouse");
  REQUIRE(t, scene);
  double value[FRIX_SCENE_MAX_PARAMETERS];
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  value[frix_scene_parameter_index(scene, "blow")] = 3;
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  CHECK(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_scene_build(scene, context, value, 0, &model) == FRIX_OK);
  frix_sim_config config = frix_sim_default();
  config.contact = FRIX_CONTACT_KIND_RIGID;
  CHECK(t, model && frix_sim_create(context, model, &config, &sim) == FRIX_OK);
  tally sum = {.widest = -INFINITY};
  for (int step = 0; sim && step < 400; step++) {
    frix_step_report report;
    CHECK(t, frix_scene_drive(scene, sim, model, value, scene->step) == FRIX_OK);
    CHECK(t, frix_sim_step(sim, scene->step, &report) == FRIX_OK);
    count_step(t, sim, scene->step, report.touching_count, &sum);
  }
  CHECK(t, sum.ghosts == 0);
  CHECK(t, sum.begins > 300 && sum.ends > 300);
  fx_test_note(t, "%d begin, of which %d bounce, the others end within %.0e m; %d end", sum.begins, sum.bounces,
               sum.widest, sum.ends);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* A ball that bounces touches once at every bounce, with its impulse; in between it touches nothing. */
static void bounces(fx_test *t) {
  for (int law = 0; law < 2; law++) {
    world w = world_new(t, 0.3, 0.8);
    world_plane(&w, turned(0, 0, 0, 1));
    frix_body_config b = body_at(at(0, 0, 0.35));
    b.mass = 1;
    frix_body_id ball = world_body(&w, b, sphere_shape(0.05));
    w.config.restitution = law ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_NEWTON;
    REQUIRE(t, world_start(&w));
    int begins = 0, ends = 0, persists = 0;
    for (int step = 0; step < 150; step++) {
      double before = state_of(&w, ball).velocity.z;
      world_step(&w, 5e-3);
      double after = state_of(&w, ball).velocity.z;
      for (int32_t k = 0; k < frix_sim_contact_count(w.sim); k++) {
        frix_contact_report c;
        MUST(&w, frix_sim_contact(w.sim, k, &c));
        begins += c.phase == FRIX_CONTACT_BEGIN, persists += c.phase == FRIX_CONTACT_PERSIST;
        ends += c.phase == FRIX_CONTACT_END;
        if (c.phase == FRIX_CONTACT_BEGIN) CHECK(t, before < 0 && after > 0 && fabs(c.impulse.z) > 1.7 * after);
      }
    }
    CHECK(t, begins == 2 && ends == 2 && persists == 0); /* after 0.25 s and 0.4 s more */
    world_end(&w);
  }
}

/* Boxes side by side touch without load: they are there, open, in every step, and nothing begins or ends again. */
static void side_by_side(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_id left = world_body(&w, body_at(at(-0.125, 0, 0.125)), box_shape(0.125, 0.125, 0.125)),
               right = world_body(&w, body_at(at(0.125, 0, 0.125)), box_shape(0.125, 0.125, 0.125));
  REQUIRE(t, world_start(&w));
  for (int step = 0; step < 100; step++) {
    frix_step_report report = world_step(&w, 5e-3);
    int between = 0, under = 0;
    for (int32_t k = 0; k < frix_sim_contact_count(w.sim); k++) {
      frix_contact_report c;
      MUST(&w, frix_sim_contact(w.sim, k, &c));
      bool both = c.a.index == left.index && c.b.index == right.index;
      between += both && c.state == FRIX_CONTACT_OPEN;
      under += !both && c.state == FRIX_CONTACT_STICK;
      CHECK(t, c.phase == (step ? FRIX_CONTACT_PERSIST : FRIX_CONTACT_BEGIN));
    }
    CHECK(t, between == 4 && under == 8 && report.touching_count == 12);
  }
  world_end(&w);
}

const fx_test_row test_touching[] = {
    {"touching/struck-cards", struck_cards},
    {"touching/bounces", bounces},
    {"touching/side-by-side", side_by_side},
    {0},
};
