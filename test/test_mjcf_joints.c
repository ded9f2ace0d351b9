/* MJCF, moving parts: joints, drives, equalities, keyframes of joints, attached and replicated models, against closed
 * forms and against what the same thing written otherwise gives. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

#if defined(FRIX_HAVE_EXPAT) && defined(FRIX_HAVE_QHULL)

typedef struct scene {
  frix_context *context;
  frix_mjcf *mjcf;
  frix_mjcf_info info;
  frix_sim *sim;
} scene;

/* With a sim at the key, NULL: as the bodies stand. */
static scene start(fx_test *t, const char *text, const char *key) {
  scene s = {0};
  char name[4096];
  frix_mjcf_config config = frix_mjcf_default();
  frix_sim_config rows = frix_sim_default();
  config.key = key, rows.coordinates = FRIX_COORDINATES_MAXIMAL;
  snprintf(name, sizeof name, "%s", fx_test_scratch(t, "scene.xml"));
  if (frix_context_create(NULL, &s.context)) return s;
  if (frix_mjcf_read_memory(s.context, name, text, strlen(text), &config, &s.mjcf) ||
      frix_sim_create(s.context, frix_mjcf_view(s.mjcf).model, &rows, &s.sim))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(s.context));
  s.info = frix_mjcf_view(s.mjcf);
  return s;
}

static void end(scene *s) {
  frix_sim_destroy(s->sim);
  frix_mjcf_destroy(s->mjcf);
  frix_context_destroy(s->context);
}

static void steps(fx_test *t, scene *s, double h, int count) {
  for (int k = 0; s->sim && k < count; k++) {
    frix_step_report report;
    if (frix_sim_step(s->sim, h, &report) || !report.certified) {
      fx_test_fail(t, __FILE__, __LINE__, "step %d: residual %g", k, report.certificate.residual);
      return;
    }
  }
}

/* Number and rate of a joint of the file. */
static double number_of(const scene *s, const char *name, double *rate) {
  for (int32_t k = 0; k < s->info.joint_count; k++) {
    const frix_mjcf_joint *j = &s->info.joint[k];
    frix_joint_state state;
    if (!j->name || strcmp(j->name, name) || frix_sim_joint(s->sim, j->joint, &state)) continue;
    if (rate) *rate = state.rate[j->axis];
    return state.coordinate[j->axis] + j->shift;
  }
  return NAN;
}

static frix_body_state body_of(const scene *s, const char *name) {
  frix_body_state state = {0};
  frix_sim_body(s->sim, frix_model_find_body(s->info.model, name), &state);
  return state;
}

static double vec_gap(frix_vec3 a, frix_vec3 b) { return fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z); }

/* "name count;" of everything that changes the motion and is not done */
static void missing(const scene *s, char *out, size_t size) {
  out[0] = 0;
  for (int32_t k = 0; k < s->info.note_count; k++) {
    const frix_mjcf_note *n = &s->info.note[k];
    size_t at = strlen(out);
    if (n->kind == FRIX_MJCF_UNSUPPORTED) snprintf(out + at, size - at, "%s %d;", n->name, (int)n->count);
  }
}

#define CHECK_MISSING(t, s, wanted)                                                    \
  do {                                                                                 \
    char names_[1024];                                                                 \
    missing((s), names_, sizeof names_);                                               \
    if (strcmp(names_, (wanted))) fx_test_fail((t), __FILE__, __LINE__, "%s", names_); \
  } while (0)

static frix_joint_config joint_at(const scene *s, int32_t k) {
  frix_joint_config joint = frix_joint_default(FRIX_JOINT_FIXED);
  frix_model_joint(s->info.model, frix_model_joint_at(s->info.model, k), &joint);
  return joint;
}

#define ROD "<geom type='capsule' size='0.02' fromto='0 0 0 0.4 0 0' mass='1'/>"

/* ---- which joints ---- */

static void kinds(fx_test *t) {
  static const struct {
    const char *joints;
    int kind; /* -1: free, -2: fixed to its parent */
    const char *missing;
  } rows[] = {
      {"<joint/>", FRIX_JOINT_HINGE, ""},
      {"<joint type='slide' axis='1 0 0'/>", FRIX_JOINT_SLIDER, ""},
      {"<joint type='ball'/>", FRIX_JOINT_BALL, ""},
      {"<joint axis='2 1 1'/><joint axis='0 -1 1'/>", FRIX_JOINT_UNIVERSAL, ""},
      {"<joint axis='1 0 0'/><joint axis='0 0 1'/><joint axis='0 1 0'/>", FRIX_JOINT_BALL, ""},
      {"<joint axis='1 0 0' range='-10 10'/><joint axis='0 0 1' damping='1'/><joint axis='0 1 0'/>", FRIX_JOINT_BALL,
       "joint range 1;joint damping 1;"},
      {"<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide'/><joint type='ball'/>",
       -1, ""},
      {"<freejoint/>", -1, ""},
      {"<joint type='free' damping='1'/>", -1, "joint damping 1;"},
      {"<joint axis='1 0 0'/><joint axis='0 1 0' pos='0 0 0.1'/>", -2, "joints of one body: hinge hinge 1;"},
      {"<joint axis='1 0 0'/><joint axis='1 1 0'/>", -2, "joints of one body: hinge hinge 1;"},
      {"<joint type='slide'/><joint/>", -2, "joints of one body: slide hinge 1;"},
      {"<joint type='ball' range='0 90' stiffness='1' frictionloss='1'/>", FRIX_JOINT_BALL,
       "joint range 1;joint stiffness 1;joint frictionloss of a ball 1;"},
      {"<joint damping='1 0.5' springdamper='0.1 1'/>", FRIX_JOINT_HINGE, "joint damping of higher order 1;"},
      {"", -2, ""},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><compiler autolimits='true'/><worldbody><body name='b' pos='0 0 1'>%s" ROD
             "</body></worldbody></mujoco>",
             rows[k].joints);
    scene s = start(t, text, NULL);
    frix_body_config body = frix_body_default();
    frix_model_body(s.info.model, frix_model_body_at(s.info.model, 0), &body);
    int32_t count = frix_model_count(s.info.model).joint_count;
    int kind = count ? (int)joint_at(&s, 0).kind : body.kind == FRIX_BODY_DYNAMIC ? -1 : -2;
    if (kind != rows[k].kind || count > 1) fx_test_fail(t, __FILE__, __LINE__, "%s: kind %d", rows[k].joints, kind);
    CHECK_MISSING(t, &s, rows[k].missing);
    end(&s);
  }
}

/* Range, spring, friction, armature, in the file's units, counted from the file's zero. */
static void axes(fx_test *t) {
  scene s = start(t,
                  "<mujoco><default><joint damping='0.3' armature='0.02'/></default><worldbody><body>"
                  "<joint name='a' axis='0 1 0' range='-30 60' ref='30' springref='45' stiffness='2' "
                  "frictionloss='0.1' margin='0.1'/>" ROD
                  "<body pos='1 0 0'><joint type='slide' name='b' limited='false' range='1 2'/>" ROD
                  "</body></body></worldbody></mujoco>",
                  NULL);
  frix_axis_config a = joint_at(&s, 0).axis[0], b = joint_at(&s, 1).axis[0];
  const double d = acos(-1.0) / 180;
  CHECK(t, a.limited && !b.limited);
  CHECK_NEAR(t, a.lower, -30 * d + 0.1, 1e-15); /* the margin is in radians */
  CHECK_NEAR(t, a.upper, 60 * d - 0.1, 1e-15);
  CHECK_NEAR(t, a.rest, 45 * d, 1e-15);
  CHECK(t, a.stiffness == 2 && a.damping == 0.3 && a.friction == 0.1 && a.armature == 0.02 && b.damping == 0.3);
  CHECK_NEAR(t, number_of(&s, "a", NULL), 30 * d, 1e-15);
  CHECK_NEAR(t, number_of(&s, "b", NULL), 0, 1e-15);
  CHECK_MISSING(t, &s, "");
  end(&s);
  s = start(
      t,
      "<mujoco><option><flag limit='disable' spring='disable' damper='disable' frictionloss='disable' "
      "actuation='disable' equality='disable'/></option><worldbody><body name='r'><joint name='a' range='0 9' "
      "stiffness='1' damping='1' frictionloss='1'/>" ROD
      "</body></worldbody><equality><weld body1='r'/></equality><actuator><position joint='a'/></actuator></mujoco>",
      NULL);
  a = joint_at(&s, 0).axis[0];
  CHECK(t, !a.limited && a.stiffness + a.damping + a.friction == 0 && a.motor == FRIX_MOTOR_NONE);
  CHECK(t, frix_model_count(s.info.model).joint_count == 1);
  end(&s);
}

/* A rod on a spring with a rotor swings with sqrt(k / (m l^2 / 3 + A)). */
static void oscillates(fx_test *t) {
  scene s = start(t,
                  "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='a' axis='0 0 1' stiffness='3' "
                  "armature='0.2'/><inertial pos='0.2 0 0' mass='1' diaginertia='0.001 0.0133 0.0133333333333333'/>"
                  "</body></worldbody><keyframe><key name='k' qpos='0.1'/></keyframe></mujoco>",
                  "k");
  double period = 2 * acos(-1.0) * sqrt((0.0133333333333333 + 0.04 + 0.2) / 3), h = period / 4000;
  CHECK_NEAR(t, number_of(&s, "a", NULL), 0.1, 1e-15);
  steps(t, &s, h, 1000);
  CHECK_NEAR(t, number_of(&s, "a", NULL), 0, 2e-4);
  steps(t, &s, h, 1000);
  CHECK_NEAR(t, number_of(&s, "a", NULL), -0.1, 1e-3);
  end(&s);
}

/* ---- keyframes ---- */

#define CHAIN                                                                                                    \
  "<mujoco><compiler angle='radian'/><worldbody><body name='one' pos='1 0 0'><joint name='a' axis='0 0 1'/>" ROD \
  "<body name='two' pos='1 0 0'><joint name='b' axis='0 0 1' pos='-0.5 0 0' ref='0.25'/>" ROD                    \
  "<body name='tip' pos='0 2 0'><joint name='c' type='slide' axis='0 1 0'/>" ROD                                 \
  "</body></body></body></worldbody>"                                                                            \
  "<keyframe><key name='k' qpos='1.5707963267948966 3.3915926535897933 0.5' qvel='2 0 3'/>"                      \
  "<key name='zero' qpos='0 0.25 0'/></keyframe></mujoco>"

/* A chain by hand: the first link turned by 90 degrees, the second by 180 degrees about a point half way back. */
static void kinematics(fx_test *t) {
  scene s = start(t, CHAIN, "k");
  CHECK_NEAR(t, vec_gap(body_of(&s, "one").pose.p, (frix_vec3){1, 0, 0}), 0, 1e-15);
  CHECK_NEAR(t, vec_gap(body_of(&s, "two").pose.p, (frix_vec3){1, 0, 0}), 0, 1e-14);
  CHECK_NEAR(t, vec_gap(body_of(&s, "tip").pose.p, (frix_vec3){3.5, 0, 0}), 0, 1e-14);
  double rate = NAN;
  CHECK_NEAR(t, number_of(&s, "a", &rate), 1.5707963267948966, 1e-14);
  CHECK_NEAR(t, rate, 2, 1e-14);
  CHECK_NEAR(t, number_of(&s, "b", NULL), 3.3915926535897933, 1e-14); /* beyond half a turn: counted from there */
  CHECK_NEAR(t, number_of(&s, "c", &rate), 0.5, 1e-14);
  CHECK_NEAR(t, rate, 3, 1e-14);
  /* everything turns at 2 about (1, 0); the tip slides on at 3 along x besides */
  frix_body_state tip = body_of(&s, "tip");
  CHECK_NEAR(t, tip.spin.z, 2, 1e-14);
  frix_vec3 arm = {tip.center.x - 1, tip.center.y, 0};
  CHECK_NEAR(t, vec_gap(tip.velocity, (frix_vec3){3 - 2 * arm.y, 2 * arm.x, 0}), 0, 1e-13);
  /* states for programs: one for each body that moves */
  REQUIRE(t, s.info.key_count == 2 && s.info.key[0].state_count == 3);
  CHECK_NEAR(t, vec_gap(s.info.key[0].state[2].pose.p, tip.pose.p), 0, 1e-15);
  CHECK_NEAR(t, vec_gap(s.info.key[1].state[2].pose.p, (frix_vec3){2, 2, 0}), 0, 1e-15);
  end(&s);
  /* joints hold at the key: nothing is pulled together in the first step */
  s = start(t, CHAIN, "k");
  steps(t, &s, 1e-6, 1);
  frix_joint_state joint;
  for (int32_t k = 0; k < 3; k++)
    CHECK(t, !frix_sim_joint(s.sim, s.info.joint[k].joint, &joint) && joint.error < 1e-10);
  end(&s);
}

/* A quaternion without length is no turn; a keyframe that nobody asks for refuses nothing. */
static void zero_quaternion(fx_test *t) {
  static const char text[] =
      "<mujoco><worldbody><body name='b' euler='0 0 90'><freejoint/><geom size='1'/></body>"
      "</worldbody><keyframe><key name='z' qpos='1 2 3 0 0 0 0'/></keyframe></mujoco>";
  scene s = start(t, text, NULL);
  CHECK_NEAR(t, body_of(&s, "b").pose.q.z, sqrt(0.5), 1e-15);
  end(&s);
  s = start(t, text, "z");
  CHECK_NEAR(t, body_of(&s, "b").pose.q.w, 1, 0);
  CHECK_NEAR(t, body_of(&s, "b").pose.p.y, 2, 0);
  end(&s);
}

/* ---- drives ---- */

static void drives(fx_test *t) {
  static const struct {
    const char *defaults, *actuators, *key;
    frix_motor_kind motor;
    double gain, rate_gain, target, target_rate, max_force; /* of a force: target */
    const char *missing;
  } rows[] = {
      {"", "<motor joint='a'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY, ""},
      {"", "<motor joint='a' gear='3' ctrlrange='-1 1'/>", "ctrl='2'", FRIX_MOTOR_FORCE, 0, 0, 3, 0, INFINITY, ""},
      {"", "<motor joint='a' gear='3' forcerange='-0.5 0.5'/>", "ctrl='2'", FRIX_MOTOR_FORCE, 0, 0, 1.5, 0, INFINITY,
       ""},
      {"", "<position joint='a' kp='5' kv='2'/>", "ctrl='0.5'", FRIX_MOTOR_SERVO, 5, 2, 0.5, 0, INFINITY, ""},
      {"", "<position joint='a' kp='5' gear='2' forcerange='-4 4'/>", "ctrl='0.5'", FRIX_MOTOR_SERVO, 20, 0, 0.25, 0, 8,
       ""},
      {"<position kp='7' forcerange='-4 4'/>", "<position joint='a'/>", "", FRIX_MOTOR_SERVO, 7, 0, 0, 0, 4, ""},
      {"<general ctrlrange='0.2 1' gear='2'/>", "<position joint='a' kp='1'/>", "", FRIX_MOTOR_SERVO, 4, 0, 0.1, 0,
       INFINITY, ""},
      {"", "<velocity joint='a' kv='3'/>", "ctrl='2'", FRIX_MOTOR_SERVO, 0, 3, 0, 2, INFINITY, ""},
      {"", "<general joint='a' gainprm='4' biastype='affine' biasprm='1 -4 -2'/>", "ctrl='0.5'", FRIX_MOTOR_SERVO, 4, 2,
       0.75, 0, INFINITY, ""},
      {"", "<general joint='a' gainprm='4 9 9' biasprm='1 -4 -2'/>", "ctrl='0.5'", FRIX_MOTOR_FORCE, 0, 0, 2, 0,
       INFINITY, ""}, /* fixed gain, no bias unless they are asked for */
      {"", "<damper joint='a' kv='3' ctrlrange='0 1'/>", "ctrl='0.5'", FRIX_MOTOR_SERVO, 0, 1.5, 0, 0, INFINITY, ""},
      {"", "<position joint='a' kp='2'/><motor joint='a'/>", "ctrl='0.5 1'", FRIX_MOTOR_SERVO, 2, 0, 1, 0, INFINITY,
       ""},
      {"", "<motor tendon='t' gear='2'/>", "ctrl='3'", FRIX_MOTOR_FORCE, 0, 0, 3, 0, INFINITY, ""},
      {"", "<intvelocity joint='a' kp='2' actrange='-1 1'/>", "", FRIX_MOTOR_SERVO, 2, 0, 0, 0, INFINITY, ""},
      {"", "<position joint='a' kp='8' dampratio='0.5'/>", "", FRIX_MOTOR_SERVO, 8, 2, 0, 0, INFINITY,
       ""}, /* J = 0.5 */
      /* what is not done */
      {"", "<position tendon='t'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY, "actuator position at a tendon 1;"},
      {"", "<motor site='s' gear='0 0 1 0 0 0'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY, ""},
      {"", "<motor site='s' gear='0 0 1 0 0 0'/>", "ctrl='1'", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY,
       "actuator motor without a joint 1;"},
      {"", "<muscle joint='a'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY, "actuator muscle 1;"},
      {"", "<position joint='a' forcerange='-1 2'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY,
       "actuator position forcerange 1;"},
      {"", "<position joint='a' timeconst='1'/>", "ctrl='1'", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY,
       "actuator position with activation 1;"},
      {"", "<general joint='a' biastype='affine' biasprm='0 3 0'/>", "", FRIX_MOTOR_NONE, 0, 0, 0, 0, INFINITY,
       "actuator general with a negative gain 1;"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "<mujoco><default>%s</default><worldbody><body><joint name='a'/><site name='s'/><inertial pos='0 0 0' "
        "mass='1' diaginertia='0.5 0.5 0.5'/></body></worldbody><tendon><fixed name='t'><joint joint='a' coef='0.5'/>"
        "</fixed></tendon><actuator>%s</actuator><keyframe><key name='k' %s/></keyframe></mujoco>",
        rows[k].defaults, rows[k].actuators, rows[k].key);
    scene s = start(t, text, "k");
    frix_axis_config a = joint_at(&s, 0).axis[0];
    if (a.motor != rows[k].motor || fabs(a.gain - rows[k].gain) > 1e-14 ||
        fabs(a.rate_gain - rows[k].rate_gain) > 1e-14 || fabs(a.target - rows[k].target) > 1e-14 ||
        fabs(a.target_rate - rows[k].target_rate) > 1e-14 || a.max_force != rows[k].max_force)
      fx_test_fail(t, __FILE__, __LINE__, "%s: motor %d, gains %g %g, targets %g %g, %g", rows[k].actuators,
                   (int)a.motor, a.gain, a.rate_gain, a.target, a.target_rate, a.max_force);
    CHECK_MISSING(t, &s, rows[k].missing);
    end(&s);
  }
}

/* A spring given by its time: J / (T^2 z^2) and 2 J / T. */
static void spring_damper(fx_test *t) {
  scene s =
      start(t,
            "<mujoco><worldbody><body><joint springdamper='0.5 0.8' armature='0.1'/><inertial pos='0 0 0' mass='1' "
            "diaginertia='1 1 1'/><body pos='2 0 0'><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/></body>"
            "</body></worldbody></mujoco>",
            NULL);
  frix_axis_config a = joint_at(&s, 0).axis[0];
  double inertia = 1 + 1 + 3 * 4 + 0.1;
  CHECK_NEAR(t, a.stiffness, inertia / 0.16, 1e-12);
  CHECK_NEAR(t, a.damping, 2 * inertia / 0.5, 1e-12);
  end(&s);
}

/* ---- equalities ---- */

static void equalities(fx_test *t) {
  scene s =
      start(t,
            "<mujoco><option gravity='0 0 -1'/><worldbody><body name='a' pos='0 0 1'><freejoint/>" ROD
            "<site name='sa' "
            "pos='0.4 0 0'/></body><body name='b' pos='0.4 0 1' euler='0 0 90'><freejoint/>" ROD
            "<site name='sb'/></body>"
            "<body name='c' pos='0 3 0'><joint name='jc' ref='20'/>" ROD
            "</body><body name='d' pos='0 4 0'><joint name='jd'/>" ROD
            "</body><body name='e' pos='0 5 0'><joint name='je'/>" ROD
            "</body></worldbody>"
            "<equality><connect body1='a' anchor='0 0 0'/><weld site1='sa' site2='sb'/><weld body1='a' body2='b'/>"
            "<weld body1='a' body2='b' relpose='0.4 0 0 1 0 0 0' active='false'/>"
            "<joint joint1='jc' joint2='jd' polycoef='0.1 2 0 0 0'/><joint joint1='je' polycoef='0.3'/>"
            "<joint joint1='jc' joint2='jd' polycoef='0 1 1 0 0'/><tendon tendon1='x'/></equality></mujoco>",
            NULL);
  CHECK_MISSING(t, &s, "equality joint of higher order 1;equality tendon 1;");
  static const frix_joint_kind kind[] = {FRIX_JOINT_HINGE, FRIX_JOINT_HINGE, FRIX_JOINT_HINGE,   FRIX_JOINT_BALL,
                                         FRIX_JOINT_FIXED, FRIX_JOINT_FIXED, FRIX_JOINT_COUPLING};
  REQUIRE(t, frix_model_count(s.info.model).joint_count == 7);
  for (int32_t k = 0; k < 7; k++) CHECK(t, joint_at(&s, k).kind == kind[k]);
  CHECK(t, joint_at(&s, 3).collide && joint_at(&s, 5).collide);
  /* by bodies: as they stand at the reference, the quarter turn kept */
  frix_joint_config weld = joint_at(&s, 5);
  CHECK_NEAR(t, vec_gap(weld.frame_a.p, (frix_vec3){0.4, 0, 0}), 0, 1e-15);
  CHECK_NEAR(t, fabs(weld.frame_a.q.z), sqrt(0.5), 1e-15);
  /* q1 - ref1 = a0 + a1 (q2 - ref2) */
  frix_joint_config gear = joint_at(&s, 6);
  CHECK(t, gear.ratio == 2);
  CHECK_NEAR(t, gear.offset, 0.1 + 20 * acos(-1.0) / 180, 1e-15);
  frix_axis_config held = joint_at(&s, 2).axis[0];
  CHECK(t, held.motor == FRIX_MOTOR_POSITION && held.target == 0.3 && isinf(held.max_force));
  end(&s);
}

/* Who hangs on whom does not meet, but for what cannot move. */
static void parents(fx_test *t) {
  static const char *const flag[] = {"enable", "disable"};
  for (int off = 0; off < 2; off++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><option><flag filterparent='%s'/></option><worldbody><body name='base'>" ROD "<body><joint/>" ROD
             "<body><joint/>" ROD "</body></body></body><body mocap='true'>" ROD "<body><joint/>" ROD
             "</body></body></worldbody></mujoco>",
             flag[off]);
    scene s = start(t, text, NULL);
    CHECK(t, joint_at(&s, 0).collide);
    CHECK(t, joint_at(&s, 1).collide == off && joint_at(&s, 2).collide == off);
    end(&s);
  }
}

/* ---- models from several files ---- */

#define ARM                                                                                                           \
  "<mujoco model=\"arm\"><compiler angle=\"radian\"/><default><geom density=\"500\"/></default><worldbody><body "     \
  "name=\"up\"><joint name=\"j\" range=\"-1 1\"/><geom type=\"box\" size=\".1 .1 .1\"/><body name=\"low\" pos=\"0 0 " \
  "1\"><joint name=\"k\"/><geom type=\"box\" size=\".1 .1 .1\"/></body></body></worldbody><contact><exclude "         \
  "body1=\"up\" body2=\"low\"/></contact><actuator><position joint=\"j\" kp=\"3\"/></actuator><keyframe><key "        \
  "name=\"bent\" qpos=\"0.5 0.25\"/></keyframe></mujoco>"

static void attached(fx_test *t) {
  shell_result r = shell(t, "mkdir -p sub; echo '" ARM "' > sub/arm.xml");
  shell_free(&r);
  scene s =
      start(t,
            "<mujoco><asset><model name='m' file='sub/arm.xml'/></asset><worldbody><body name='base' pos='0 0 1'>"
            "<freejoint/><geom size='0.5'/><frame pos='1 0 0'><attach model='m' body='up' prefix='l_'/></frame>"
            "<attach model='m' body='low' prefix='r_'/></body><replicate count='2' offset='3 0 0' sep='-'><attach "
            "model='m' prefix='p_'/></replicate></worldbody><actuator><motor joint='r_k'/></actuator></mujoco>",
            "l_bent");
  CHECK(t, frix_model_count(s.info.model).body_count == 1 + 2 + 1 + 4);
  CHECK(t, frix_model_find_body(s.info.model, "l_low").index && frix_model_find_body(s.info.model, "p_up-1").index);
  frix_body_config body = frix_body_default();
  frix_model_body(s.info.model, frix_model_find_body(s.info.model, "r_low"), &body);
  CHECK_NEAR(t, body.mass, 4, 1e-12); /* its own file's density */
  CHECK_NEAR(t, number_of(&s, "l_j", NULL), 0.5, 1e-15);
  CHECK_NEAR(t, number_of(&s, "l_k", NULL), 0.25, 1e-15);
  CHECK_NEAR(t, number_of(&s, "p_j-0", NULL), 0, 1e-15);
  int servos = 0, limits = 0;
  for (int32_t k = 0; k < frix_model_count(s.info.model).joint_count; k++) {
    frix_joint_config joint = joint_at(&s, k);
    servos += joint.axis[0].motor == FRIX_MOTOR_SERVO;
    limits += joint.axis[0].limited && joint.axis[0].upper == 1; /* radians, as that file says */
  }
  CHECK(t, servos == 3 && limits == 3);
  CHECK_MISSING(t, &s, "");
  end(&s);
}

/* What names something replicated counts for every replica. */
static void replicated(fx_test *t) {
  scene s = start(t,
                  "<mujoco><worldbody><replicate count='3' offset='0 1 0' sep='_'><body name='a'><joint name='j'/>" ROD
                  "<body name='b' pos='1 0 0'><joint name='k'/>" ROD
                  "</body></body></replicate></worldbody>"
                  "<equality><joint joint1='k' joint2='j'/></equality><actuator><position joint='j' kp='2'/>"
                  "<position joint='k_1' kp='5'/></actuator></mujoco>",
                  NULL);
  REQUIRE(t, frix_model_count(s.info.model).joint_count == 9);
  for (int k = 0; k < 3; k++) {
    frix_joint_config gear = joint_at(&s, 6 + k);
    CHECK(t, gear.first.index == (uint32_t)(2 * k + 2) && gear.second.index == (uint32_t)(2 * k + 1));
    CHECK(t, joint_at(&s, 2 * k).axis[0].gain == 2 && joint_at(&s, 2 * k + 1).axis[0].gain == (k == 1 ? 5 : 0));
  }
  end(&s);
}

/* Meshes lie where the main file's folder and meshdir say; else beside the file that is included. */
static void mesh_places(fx_test *t) {
  static const char *const put[] = {"m/part.obj", "sub/m/part.obj", "sub/part.obj"};
  for (size_t k = 0; k < 3; k++) {
    shell_result r =
        shell(t,
              "rm -rf m sub; mkdir -p m sub/m; printf 'v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\n' > %s; "
              "echo '<mujoco><compiler meshdir=\"m\"/><asset><mesh file=\"part.obj\"/></asset></mujoco>' > "
              "sub/in.xml",
              put[k]);
    shell_free(&r);
    scene s = start(t,
                    "<mujoco><include file='sub/in.xml'/><worldbody><body><freejoint/><geom type='mesh' mesh='part'/>"
                    "</body></worldbody></mujoco>",
                    NULL);
    CHECK(t, s.info.model && frix_model_count(s.info.model).shape_count == 1);
    end(&s);
  }
}

/* ---- geoms of meshes ---- */

/* A brick as a mesh: every primitive fitted to it, by inertia and by its box. */
static void fits(fx_test *t) {
  static const struct {
    const char *type;
    double by_inertia[3], by_box[3];
  } rows[] = {{"sphere", {0.2, 0, 0}, {0.3, 0, 0}},
              {"capsule", {0.15, 0.225, 0}, {0.2, 0.1, 0}},
              {"cylinder", {0.15, 0.3, 0}, {0.2, 0.3, 0}},
              {"ellipsoid", {0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}},
              {"box", {0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}}};
  for (int k = 0; k < 10; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><compiler fitaabb='%s'/><asset><mesh name='m' refpos='1 0 0' vertex='0.9 -0.2 -0.3 1.1 -0.2 -0.3 "
             "0.9 0.2 -0.3 1.1 0.2 -0.3 0.9 -0.2 0.3 1.1 -0.2 0.3 0.9 0.2 0.3 1.1 0.2 0.3'/></asset><worldbody><geom "
             "type='%s' mesh='m' pos='5 0 0' fitscale='2'/></worldbody></mujoco>",
             k % 2 ? "true" : "false", rows[k / 2].type);
    scene s = start(t, text, NULL);
    const double *want = k % 2 ? rows[k / 2].by_box : rows[k / 2].by_inertia;
    frix_shape_config shape = frix_shape_default();
    frix_model_shape(s.info.model, frix_model_shape_at(s.info.model, 0), &shape, NULL);
    bool round = shape.kind != FRIX_SHAPE_BOX && shape.kind != FRIX_SHAPE_ELLIPSOID;
    CHECK_NEAR(t, round ? shape.radius : shape.half.x, 2 * want[0], 1e-12);
    CHECK_NEAR(t, round ? shape.half_length : shape.half.y, 2 * want[1], 1e-12);
    CHECK_NEAR(t, shape.pose.p.x, 5, 1e-12);
    CHECK_MISSING(t, &s, "");
    end(&s);
  }
}

/* What is not made is left out and told; the rest of the file stands. */
static void left_out(fx_test *t) {
  scene s =
      start(t,
            "<mujoco><extension><plugin plugin='p'/></extension><asset><mesh name='m' builtin='sphere' params='3'/>"
            "<mesh name='n'><plugin plugin='p'/></mesh></asset><worldbody><body><freejoint/><geom size='1'/>"
            "<geom type='mesh' mesh='m'/><geom type='mesh' mesh='n'/><geom type='sdf' mesh='n'/></body>"
            "<body><composite type='grid' count='3 1 1'/></body></worldbody></mujoco>",
            NULL);
  CHECK_MISSING(t, &s, "plugin 1;composite 1;mesh plugin 1;geom of a mesh that is not read 1;geom type=sdf 1;");
  CHECK(t, frix_model_count(s.info.model).shape_count == 2);
  end(&s);
}

/* ---- height fields from pictures ---- */

static void big(unsigned char *out, uint32_t word) {
  for (int k = 0; k < 4; k++) out[k] = (unsigned char)(word >> (24 - 8 * k));
}

static size_t chunk(unsigned char *out, const char *name, const unsigned char *data, uint32_t size) {
  big(out, size);
  memcpy(out + 4, name, 4);
  if (size) memcpy(out + 8, data, size);
  big(out + 8 + size, frix_crc32(0, out + 4, size + 4));
  return size + 12;
}

/* Three by two pixels of red, green, blue, stored, with filters 0 and 2; and of one bit each, grey. */
static void pictures(fx_test *t) {
  static const unsigned char rows[2][20] = {{0, 10, 1, 2, 20, 3, 4, 30, 5, 6, 2, 30, 9, 9, 30, 9, 9, 30, 9, 9},
                                            {0, 0xa0, 0, 0x40}};
  static const int counts[] = {20, 4};
  static const double want[2][6] = {{40, 50, 60, 10, 20, 30}, {0, 255, 0, 255, 0, 255}};
  for (int k = 0; k < 2; k++) {
    unsigned char file[256] = "\x89PNG\r\n\x1a\n", head[13] = {0}, data[64] = {0x78, 1, 1};
    big(head, 3), big(head + 4, 2);
    head[8] = k ? 1 : 8, head[9] = k ? 0 : 2;
    data[3] = (unsigned char)counts[k], data[5] = (unsigned char)~counts[k], data[6] = 0xff;
    memcpy(data + 7, rows[k], (size_t)counts[k]);
    size_t at = 8;
    at += chunk(file + at, "IHDR", head, 13);
    at += chunk(file + at, "IDAT", data, (uint32_t)counts[k] + 11); /* the checksum behind is not looked at */
    at += chunk(file + at, "IEND", NULL, 0);
    FILE *out = fopen(fx_test_scratch(t, "h.png"), "wb");
    REQUIRE(t, out != NULL);
    fwrite(file, 1, at, out);
    fclose(out);
    scene s =
        start(t,
              "<mujoco><asset><hfield name='h' file='h.png' size='1 1 2 1'/></asset><worldbody><geom type='hfield' "
              "hfield='h'/></worldbody></mujoco>",
              NULL);
    frix_geometry_config g = frix_geometry_default();
    REQUIRE(t, s.info.model && !frix_model_geometry(s.info.model, frix_model_geometry_at(s.info.model, 0), &g));
    CHECK(t, g.row_count == 2 && g.column_count == 3);
    double low = want[k][k ? 0 : 3], high = want[k][k ? 1 : 2];
    for (int i = 0; i < 6 && g.height; i++) CHECK_NEAR(t, g.height[i], 2 * (want[k][i] - low) / (high - low), 1e-15);
    end(&s);
    /* every byte in turn is wrong: told, never a crash */
    for (size_t i = 8; i < at; i += 3) {
      file[i] ^= 0x5a;
      out = fopen(fx_test_scratch(t, "h.png"), "wb");
      fwrite(file, 1, at, out);
      fclose(out);
      file[i] ^= 0x5a;
      shell_result r =
          shell(t,
                "echo '<mujoco><asset><hfield name=\"h\" file=\"h.png\" size=\"1 1 2 1\"/></asset><worldbody>"
                "<geom type=\"hfield\" hfield=\"h\"/></worldbody></mujoco>' > f.xml; $frix info f.xml");
      if (r.code != 2 || !strstr(r.err, "f.xml:1: ") || shell_lines(r.err) != 1)
        fx_test_fail(t, __FILE__, __LINE__, "byte %d: exit code %d, %s", (int)i, r.code, r.err);
      shell_free(&r);
      if (k) i += 12; /* a few of the second */
    }
  }
}

const fx_test_row test_mjcf_joints[] = {{"mjcf/kinds_of_joints", kinds},
                                        {"mjcf/axes_of_joints", axes},
                                        {"mjcf/oscillates", oscillates},
                                        {"mjcf/kinematics", kinematics},
                                        {"mjcf/zero_quaternion", zero_quaternion},
                                        {"mjcf/drives", drives},
                                        {"mjcf/spring_damper", spring_damper},
                                        {"mjcf/equalities", equalities},
                                        {"mjcf/parents", parents},
                                        {"mjcf/attached", attached},
                                        {"mjcf/replicated", replicated},
                                        {"mjcf/mesh_places", mesh_places},
                                        {"mjcf/fits", fits},
                                        {"mjcf/left_out", left_out},
                                        {"mjcf/pictures", pictures},
                                        {0}};

#else

static void absent(fx_test *t) { fx_test_skip(t, "built without expat or qhull"); }

const fx_test_row test_mjcf_joints[] = {{"mjcf/joints", absent}, {0}};

#endif
