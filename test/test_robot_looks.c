/* Sensors that look at the world (contacts chosen by what they touch, rays, distances, cameras), and inverse dynamics
 * with the forces of contacts: a box of 3 kg on the floor beside a ball on a post (test/robots/looks.xml), numbers of
 * MuJoCo where it has rigid ones. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "robot_world.h"
#include "shell.h"

static void looks(fx_test *t) {
  char *text = shell_read("test/robots/looks.xml");
  world w = {0};
  REQUIRE(t, text);
  if (open_world(t, text, &w)) {
    steps(t, &w, 50);
    CHECK(t, frix_sim_robot_sense(w.sim) == FRIX_OK);
    EXPECT(t, &w, "net", 4, 0, 0, -30, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0);
    EXPECT(t, &w, "reverse", 0, 0, 30, 0, 0, 0);
    EXPECT(t, &w, "each", 4, 0, 0, 0, -1, 4, 0, 0, 0, -1, 4, 0, 0, 0, -1, 4, 0, 0, 0, -1, 0, 0, 0, 0, 0);
    EXPECT(t, &w, "in zone", 2, -.2, .1, 0, 2, .2, .1, 0);
    EXPECT(t, &w, "none", 0, 0, 0, 0);
    EXPECT(t, &w, "to floor", .4);
    EXPECT(t, &w, "to sky", -1);
    EXPECT(t, &w, "apart", sqrt(.73) - .1);
    EXPECT(t, &w, "way", .8 / sqrt(.73), 0, .3 / sqrt(.73));
    EXPECT(t, &w, "ends", 1 - .08 / sqrt(.73), 0, .5 - .03 / sqrt(.73), .2, 0, .2);
    EXPECT(t, &w, "far", .2);
    EXPECT(t, &w, "inside", 1);
    EXPECT(t, &w, "outside", 0);
    EXPECT(t, &w, "seen", 343.551362, 156.861561);
    EXPECT(t, &w, "eye at", .1, .294174203, -1.98077296);
  }
  close_world(&w);
  free(text);
}

/* A leg on a floor, on its limit, with dry friction, a servo, a ball at its range and a loop: at rest inverse dynamics
 * are zero, and without the forces that hold it they are those forces. */
static void inverts(fx_test *t) {
  static const char text[] =
      "<mujoco><option gravity='0 0 -10'/><worldbody><geom type='plane' size='1 1 1'/>"
      "<body pos='0 0 .5'><joint name='top' type='slide' axis='0 0 1' frictionloss='.4'/>"
      "<geom type='box' size='.1 .1 .05' mass='2'/><body pos='.05 0 -.1'>"
      "<joint name='s' type='slide' axis='0 0 1' range='-.05 .02'/><geom type='box' size='.02 .02 .1' mass='.5'/>"
      "<body pos='.01 0 -.15'><geom type='sphere' size='.03' mass='.3'/></body></body></body>"
      "<body name='bar' pos='1 0 .3'><joint name='b' axis='0 1 0' damping='.5'/>"
      "<geom type='capsule' size='.02' fromto='0 0 0 .4 0 0' mass='1'/></body>"
      "<body pos='-1 0 2'><joint name='round' type='ball' damping='.3' range='0 40'/>"
      "<geom type='capsule' size='.02' fromto='0 0 0 .3 0 0' mass='1'/></body>"
      "<body pos='0 1 1'><joint name='h' axis='0 1 0' damping='.1'/>"
      "<geom type='capsule' size='.02' fromto='0 0 0 .3 0 0' mass='1'/></body></worldbody>"
      "<equality><connect body1='bar' anchor='.4 0 0'/></equality>"
      "<actuator><position joint='h' kp='40'/></actuator></mujoco>";
  world w;
  if (!open_world(t, text, &w)) return;
  double tau[16], held[16], none[16] = {0};
  steps(t, &w, 3000);
  int n = frix_robot_view(w.robot).v_count;
  CHECK(t, n == 7);
  CHECK(t, frix_sim_robot_inverse(w.sim, none, tau) == FRIX_OK);
  for (int i = 0; i < n; i++) CHECK_NEAR(t, tau[i], 0, 1e-5);
  CHECK(t, frix_sim_robot_held(w.sim, held) == FRIX_OK);
  const double *bias = frix_robot_data(frix_sim_robot(w.sim), FRIX_ROBOT_BIAS, NULL);
  CHECK_NEAR(t, held[0], 28, 1e-5);
  CHECK(t, fabs(bias[2]) > 1 && fabs(held[2] - bias[2]) < 1e-5); /* the loop carries the bar */
  CHECK(t, fabs(held[6]) < 1e-9);                                /* the servo the last one */
  /* an acceleration adds its inertia */
  none[0] = 1;
  CHECK(t, frix_sim_robot_inverse(w.sim, none, tau) == FRIX_OK);
  CHECK_NEAR(t, tau[0], 2.8, 1e-5);
  close_world(&w);
}

/* What a sensor asks for and does not get is listed, and bad ones are errors. */
static void refuses(fx_test *t) {
  static const struct {
    const char *sensor, *said;
  } row[] = {{"<contact geom1='a' body1='b'/>", "beside another"},
             {"<contact data='force found'/>", "stands after"},
             {"<contact data='warmth'/>", "none of its fields"},
             {"<distance geom1='a'/>", "needs geom2 or body2"},
             {"<camprojection site='s'/>", "camera"},
             {"<camprojection site='s' camera='c'/>", "c"},
             {"<insidesite objtype='site' objname='s'/>", "site"},
             {"<contact reduce='most'/>", "reduce"}};
  if (!frix_mjcf_available()) return;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body name='b'><joint/><geom name='a' size='.1'/><site name='s'/></body></worldbody>"
             "<sensor>%s</sensor></mujoco>",
             row[k].sensor);
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    CHECK(t, frix_robot_read_memory(context, "r.xml", text, strlen(text), NULL, &robot) != FRIX_OK);
    CHECK(t, strstr(frix_error_text(context), row[k].said) != NULL);
    frix_robot_destroy(robot);
    frix_context_destroy(context);
  }
}

const fx_test_row test_robot_looks[] = {
    {"robot_looks/sensors", looks}, {"robot_looks/inverse", inverts}, {"robot_looks/refused", refuses}, {0}};
