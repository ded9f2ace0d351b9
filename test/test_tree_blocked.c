/* Contacts that press a link where its joint does not let it go. */
#include <frix/frix.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* A column that only turns about the vertical reaches 0.1 m below the floor. */
static const char column[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 .1'/>"
    "<body pos='0 0 .5'><joint axis='0 0 1'/><geom type='box' size='.05 .05 .6'/></body></worldbody></mujoco>";

/* NULL: the test is skipped. */
static frix_sim *open_sim(fx_test *t, frix_context **context, frix_model **model, const char *text) {
  frix_mjcf *mjcf = NULL;
  frix_sim *sim = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return NULL;
  }
  frix_mjcf_config config = frix_mjcf_default();
  config.coordinates = FRIX_COORDINATES_REDUCED;
  bool good = frix_context_create(NULL, context) == FRIX_OK &&
              frix_mjcf_read_memory(*context, "blocked.xml", text, strlen(text), &config, &mjcf) == FRIX_OK &&
              frix_sim_create(*context, *model = frix_mjcf_take_model(mjcf), NULL, &sim) == FRIX_OK;
  frix_mjcf_destroy(mjcf);
  CHECK(t, good);
  return sim;
}

/* Such a contact was taken for one whose normal impulse is given, and no impulse at all was certified. */
static void springs_press(fx_test *t) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = open_sim(t, &context, &model, column);
  for (int step = 0; sim && step < 10; step++) {
    frix_step_report report;
    frix_contact_report contact;
    CHECK(t, frix_sim_step(sim, 0.002, &report) == FRIX_OK && report.certified);
    CHECK(t, report.certificate.worst_velocity < 1e-9);
    CHECK(t, frix_sim_contact_count(sim) == 4);
    for (int32_t k = 0; step == 0 && k < 4; k++)
      CHECK(t, frix_sim_contact(sim, k, &contact) == FRIX_OK && contact.impulse.z * contact.normal.z > 0.0);
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* Two balls on a slider, deep in a block that is fixed between them. */
static const char wedge[] =
    "<mujoco><default><geom condim='4' friction='1 .1'/></default><worldbody><body pos='-0.0103 0.0519 0.056'><joint "
    "type='slide'/><geom size='0.0911'/>"
    "<body pos='0.185 -0.1936 -0.0835' xyaxes='-0.2155 -0.6285 -0.3727 0.6807 0.9664 0.1143'>"
    "<geom size='0.1091' pos='0.0457 -0.0756 -0.0914'/></body></body>"
    "<frame pos='-0.1085 0.1477 -0.1915' xyaxes='0.8013 0.5913 0.0764 -0.8976 -0.8388 0.5001'>"
    "<body pos='-0.134 0.1 0.1023' zaxis='0.1023 0.8799 0.1923'>"
    "<geom type='box' size='0.1105 0.0327 0.1007' pos='0.0949 0.0214 0.081' "
    "xyaxes='0.3123 0.3234 -0.413 -0.1666 0.6933 0.4511'/></body></frame></worldbody></mujoco>";

/* Springs that are pressed too far become rigid for a step. Where these ask to be pushed out against each other there
 * is no answer, and the overlaps stay, as those of rigid contacts do. */
static void wedged(fx_test *t) {
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = open_sim(t, &context, &model, wedge);
  int left = 0;
  int64_t iterations = 0;
  for (int step = 0; sim && step < 15; step++) {
    frix_step_report report;
    CHECK(t, frix_sim_step(sim, 0.002, &report) == FRIX_OK && report.certified);
    left += report.overlaps_left;
    iterations += report.iterations;
  }
  CHECK(t, !sim || left > 0);
  CHECK(t, iterations < 75000); /* 93,000 where every round of drilling friction tries all methods */
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* A block on a slider that falls on a floor. */
static const char piston[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 .1' condim='%d' friction='.5 .01 .01'/>"
    "<body><body pos='0 0 .12'><joint type='slide' axis='0 0 1'/><geom type='box' size='.1 .1 .1' condim='%d' "
    "friction='.5 .01 .01'/></body></body></worldbody></mujoco>";

/* Springs against rolling and drilling go by the weight of sliding. A block that cannot slide has none: their
 * compliance was 0 / 0, and it fell through the floor. */
static void nothing_slides(fx_test *t) {
  static const int dims[] = {3, 4, 6};
  for (int n = 0; n < 3; n++) {
    frix_context *context = NULL;
    frix_model *model = NULL;
    char text[512];
    snprintf(text, sizeof text, piston, dims[n], dims[n]);
    frix_sim *sim = open_sim(t, &context, &model, text);
    frix_body_state state = {0};
    for (int step = 0; sim && step < 60; step++) {
      frix_step_report report;
      CHECK(t, frix_sim_step(sim, 0.005, &report) == FRIX_OK && report.certified);
    }
    if (sim) {
      CHECK(t, frix_sim_contact_count(sim) >= 4);
      for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
        CHECK(t, frix_sim_body(sim, frix_model_body_at(model, k), &state) == FRIX_OK);
        if (state.pose.p.z != 0) CHECK_NEAR(t, state.pose.p.z, 0.1, 1e-5);
      }
    }
    frix_sim_destroy(sim);
    frix_model_destroy(model);
    frix_context_destroy(context);
  }
}

const fx_test_row test_tree_blocked[] = {
    {"trees/blocked_contacts_press", springs_press},
    {"trees/blocked_wedge", wedged},
    {"trees/blocked_slides", nothing_slides},
    {NULL, NULL},
};
