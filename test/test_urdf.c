/* Robots in URDF: what becomes of links, joints, mimics, packages; broken files; the way to MJCF. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

#define ARM FRIX_SOURCE_DIR "/test/robots/arm_description/urdf/arm.urdf"

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

static void arm(fx_test *t) {
  if (!available(t)) return;
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_state *state = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  CHECK(t, frix_robot_read(context, ARM, NULL, &robot) == FRIX_OK);
  REQUIRE(t, robot && frix_robot_state_create(robot, &state) == FRIX_OK);
  frix_robot_info info = frix_robot_view(robot);
  CHECK(t, info.body_count == 9 && info.v_count == 13 && info.q_count == 14 && info.equality_count == 1);
  CHECK_NEAR(t, info.mass, 5.1, 1e-12);
  int unsupported = 0;
  for (int32_t k = 0; k < info.note_count; k++) unsupported += info.note[k].kind == FRIX_MJCF_UNSUPPORTED;
  CHECK(t, unsupported == 3); /* transmission, gazebo, a Collada mesh */
  frix_robot_joint joint;
  CHECK(t, frix_robot_get_joint(robot, frix_robot_find(robot, FRIX_ROBOT_JOINT, "shoulder"), &joint) == FRIX_OK);
  CHECK(t, joint.limited && joint.range[0] == -1.5 && joint.range[1] == 2 && joint.damping == 0.5);
  double *q = frix_robot_data(state, FRIX_ROBOT_QPOS, NULL);
  q[joint.q] = 0.4;
  q[2] = 0.02, q[3] = 0.04;
  CHECK(t, frix_robot_forward(state) == FRIX_OK);
  double violation[6], row[6 * 13]; /* q = 1.5 other + 0.01 */
  CHECK(t, frix_robot_equality_rows(state, 0, 6, violation, row) == 1);
  CHECK_NEAR(t, violation[0], 0, 1e-15);
  CHECK(t, row[3] == 1 && row[2] == -1.5);
  /* the shoulder's place: turned by 0.4 about z of the world with its base */
  frix_vec3 p = frix_robot_body_pose(state, frix_robot_find(robot, FRIX_ROBOT_BODY, "upper")).p;
  CHECK_NEAR(t, p.x, 0.1, 1e-15);
  CHECK_NEAR(t, p.z, 0.4, 1e-15);
  /* and its turn: yaw 0.4 of the base, then roll 0.2, pitch -0.1, yaw 0.3 about fixed axes: the first column of R */
  q[joint.q] = 0;
  CHECK(t, frix_robot_forward(state) == FRIX_OK);
  frix_quat r = frix_robot_body_pose(state, frix_robot_find(robot, FRIX_ROBOT_BODY, "upper")).q;
  CHECK_NEAR(t, 1 - 2 * (r.y * r.y + r.z * r.z), cos(0.7) * cos(-0.1), 1e-14);
  CHECK_NEAR(t, 2 * (r.x * r.y + r.w * r.z), sin(0.7) * cos(-0.1), 1e-14);
  CHECK_NEAR(t, 2 * (r.x * r.z - r.w * r.y), -sin(-0.1), 1e-14);
  CHECK_NEAR(t, 2 * (r.y * r.z + r.w * r.x), cos(-0.1) * sin(0.2), 1e-14);
  frix_robot_state_destroy(state);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

/* The robot in URDF and the MJCF that is written of it have the same numbers. */
static void converts(fx_test *t) {
  if (!available(t)) return;
  shell_result a =
      shell(t,
            "$frix convert %s arm.xml && $frix robot %s --json | sed 's/.*\"qpos\"/\"qpos\"/; s/\"ignored.*//' > a && "
            "$frix robot arm.xml --json --allow-outside | sed 's/.*\"qpos\"/\"qpos\"/; s/\"ignored.*//' > b && cmp a b",
            ARM, ARM);
  CHECK(t, a.code == 0);
  if (a.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", a.out, a.err);
  shell_free(&a);
}

/* Meshes beneath the written file are told as seen from there: it is read without a flag. */
static void converts_beside(fx_test *t) {
  if (!available(t)) return;
  shell_result a =
      shell(t,
            "mkdir -p c/arm_description/urdf c/arm_description/meshes && cp %s c/arm_description/urdf/ && cp "
            "%s/test/robots/arm_description/meshes/wedge.obj c/arm_description/meshes/ && $frix convert "
            "c/arm_description/urdf/arm.urdf c/arm.xml && $frix robot c/arm.xml && grep -c "
            "'file=\"arm_description/meshes/wedge.obj\"' c/arm.xml",
            ARM, FRIX_SOURCE_DIR);
  if (a.code) fx_test_fail(t, __FILE__, __LINE__, "%s%s", a.out, a.err);
  shell_free(&a);
}

static void packages(fx_test *t) {
  if (!available(t)) return;
  shell_result a = shell(
      t,
      "mkdir -p x other/meshes && cp %s x/ && cp %s/test/robots/arm_description/meshes/wedge.obj other/meshes/ && "
      "$frix robot x/arm.urdf",
      ARM, FRIX_SOURCE_DIR);
  CHECK(t, a.code == 2 && strstr(a.err, "--package arm_description=FOLDER") && strstr(a.err, "arm.urdf:13"));
  shell_free(&a);
  a = shell(t, "$frix robot x/arm.urdf --package arm_description=other");
  CHECK(t, a.code == 0 && strstr(a.out, "hinge shoulder"));
  shell_free(&a);
}

typedef struct broken {
  const char *inside, *hint;
} broken;

#define LINK(name) \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
#define JOINT(name, type, a, b, more) \
  "<joint name='" name "' type='" type "'><parent link='" a "'/><child link='" b "'/>" more "</joint>"

static const broken rows[] = {
    {"", "without a link"},
    {LINK("a") LINK("a"), "second link"},
    {LINK("a") LINK("b"), "both have no parent"},
    {LINK("a") LINK("b") JOINT("j", "hinge", "a", "b", ""), "no type 'hinge'"},
    {LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", ""), "needs a <limit>"},
    {LINK("a") LINK("b") JOINT("j", "revolute", "a", "b", "<limit lower='2' upper='1'/>"), "reversed"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "c", ""), "no link 'c'"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>"), "no length"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<axis xyz='0 0'/>"), "2 numbers"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<origin xyz='0 0 nan'/>"), "not a finite number"},
    {LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "a", "b", ""), "hangs on joint 'j'"},
    {LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "") JOINT("j", "fixed", "b", "a", ""), "second joint"},
    {LINK("a") LINK("b") JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", ""), "loop"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<mimic joint='j'/>"), "mimics itself"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<mimic joint='x'/>"), "no joint 'x'"},
    {LINK("a") LINK("b") LINK("c") JOINT("j", "continuous", "a", "b", "<mimic joint='k'/>")
         JOINT("k", "continuous", "b", "c", "<mimic joint='j'/>"),
     "mimics itself"},
    {LINK("a") LINK("b") JOINT("j", "continuous", "a", "b", "<dynamics damping='-1'/>"), "negative"},
    {"<link name='a'><inertial><mass value='-1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>", "negative"},
    {"<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9'/></inertial></link>", "exceeds"},
    {"<link name='a'><inertial><mass value='1'/></inertial></link>", "needs mass and inertia"},
    {"<link/>", "needs the attribute 'name'"},
    {LINK("a") "<link name='b'/>" JOINT("j", "continuous", "a", "b", ""), "no mass or inertia"},
    {"<link name='a'><collision><geometry><mesh filename='gone.stl'/></geometry></collision></link>", "gone.stl"},
    {"<link name='a'><collision><geometry><mesh filename='../x.stl'/></geometry></collision></link>",
     "--allow-outside"},
    {"<link name='a'><collision><geometry><mesh filename='file:///etc/x.stl'/></geometry></collision></link>",
     "--allow-outside"},
    {"<link name='a'><collision><geometry><box size='1 0 1'/></geometry></collision></link>", "positive"},
};

static void broken_files(fx_test *t) {
  if (!available(t)) return;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    FILE *file = fopen(fx_test_scratch(t, "f.urdf"), "w");
    REQUIRE(t, file);
    fprintf(file, "<robot name='r'>\n%s\n</robot>\n", rows[k].inside);
    fclose(file);
    shell_result a = shell(t, "$frix robot '%s'", fx_test_scratch(t, "f.urdf"));
    if (a.code != 2 || !strstr(a.err, rows[k].hint) || a.out[0])
      fx_test_fail(t, __FILE__, __LINE__, "'%s': code %d, '%s' is not in: %s", rows[k].inside, a.code, rows[k].hint,
                   a.err);
    shell_free(&a);
  }
  shell_result a = shell(t, "echo '<mujoco/>' > g.urdf; $frix robot g.urdf");
  CHECK(t, a.code == 2 && strstr(a.err, "begins with <robot>"));
  shell_free(&a);
}

/* Robots in MJCF that cannot be. */
static const broken robots[] = {
    {"<worldbody><body><joint type='ball'/><joint/><geom size='1'/></body></worldbody>", "ball joint is followed"},
    {"<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><motor/></actuator>",
     "needs a joint"},
    {"<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><motor joint='k'/></actuator>",
     "did you mean 'j'"},
    {"<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><motor joint='j' ctrlrange='1 "
     "0'/></actuator>",
     "not below"},
    {"<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><tendon><fixed/></tendon>",
     "without a path"},
    {"<worldbody><site name='s'/><geom size='1'/></worldbody><tendon><spatial><site site='s'/></spatial></tendon>",
     "two sites"},
    {"<worldbody><site name='s'/><geom name='g' type='box' size='1 1 1'/></worldbody><tendon><spatial><site "
     "site='s'/><geom "
     "geom='g'/><site site='s'/></spatial></tendon>",
     "spheres and cylinders"},
    {"<worldbody><site name='s'/><geom name='g' size='1'/></worldbody><tendon><spatial><geom geom='g'/><site "
     "site='s'/><site site='s'/></spatial></tendon>",
     "between two sites"},
    {"<worldbody><site name='s'/></worldbody><tendon><spatial><site site='s'/><pulley divisor='0'/><site "
     "site='s'/></spatial></tendon>",
     "not positive"},
    {"<worldbody><body><joint/></body></worldbody>", "no mass or inertia"},
    {"<worldbody><body><freejoint name='f'/><geom size='1'/></body></worldbody><sensor><jointpos joint='f'/></sensor>",
     "of another kind"},
    {"<worldbody/><sensor><jiro site='s'/></sensor>", "no sensor <jiro>"},
    {"<worldbody><body><joint name='a'/><geom size='1'/></body></worldbody><keyframe><key qpos='0 0'/></keyframe>",
     "the model has 1"},
    {"<worldbody><body><freejoint name='a'/><geom size='1'/></body></worldbody><equality><joint "
     "joint1='a'/></equality>",
     "hinges and slides"},
    {"<worldbody><body><joint name='a' type='ball'/><geom size='1'/></body></worldbody><tendon><fixed><joint joint='a' "
     "coef='1'/></fixed></tendon>",
     "hinges and slides"},
};

static void broken_robots(fx_test *t) {
  if (!available(t)) return;
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    FILE *file = fopen(fx_test_scratch(t, "f.xml"), "w");
    REQUIRE(t, file);
    fprintf(file, "<mujoco>\n%s\n</mujoco>\n", robots[k].inside);
    fclose(file);
    shell_result a = shell(t, "$frix robot '%s'", fx_test_scratch(t, "f.xml"));
    if (a.code != 2 || !strstr(a.err, robots[k].hint) || !strstr(a.err, "f.xml:2") || a.out[0])
      fx_test_fail(t, __FILE__, __LINE__, "'%s': code %d, '%s' is not in: %s", robots[k].inside, a.code, robots[k].hint,
                   a.err);
    shell_free(&a);
  }
}

static void command(fx_test *t) {
  if (!available(t)) return;
  const char *file = FRIX_SOURCE_DIR "/test/robots/drives.xml";
  shell_result a = shell(t, "$frix robot %s --key bent --set a=0.7 --drive m1=0.5 --json", file);
  CHECK(t, a.code == 0 && shell_json(a.out));
  shell_free(&a);
  a = shell(t, "$frix robot %s --set ball=1", file);
  CHECK(t, a.code == 2 && strstr(a.err, "several numbers"));
  shell_free(&a);
  a = shell(t, "$frix robot %s --qpos '1 2'", file);
  CHECK(t, a.code == 2 && strstr(a.err, "2 numbers, the robot has 22"));
  shell_free(&a);
  a = shell(t, "$frix robot %s --drive nobody=1", file);
  CHECK(t, a.code == 2 && strstr(a.err, "no actuator 'nobody'"));
  shell_free(&a);
  a = shell(t, "$frix robot %s --drive m1=nan", file);
  CHECK(t, a.code == 2 && strstr(a.err, "not a finite number"));
  shell_free(&a);
  a = shell(t, "$frix robot %s --key nowhere", file);
  CHECK(t, a.code == 2 && strstr(a.err, "no keyframe 'nowhere'") && strstr(a.err, "bent"));
  shell_free(&a);
}

/* Two links that overlap, and do not where an SRDF file says that they never meet. */
static void srdf(fx_test *t) {
  static const char make[] =
      "cat >r.urdf <<'END'\n<robot name='r'><link name='base'/><link name='a'><inertial><mass value='1'/><inertia "
      "ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='.2'/>"
      "</geometry></collision></link><link name='b'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' "
      "ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='.2'/></geometry></collision></link>"
      "<joint name='j' type='prismatic'><parent link='base'/><child link='a'/><axis xyz='1 0 0'/><limit lower='-1' "
      "upper='1' effort='1' velocity='1'/></joint><joint name='k' type='prismatic'><parent link='base'/><child "
      "link='b'/><origin xyz='.3 0 0'/><axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
      "</robot>\nEND\n";
  if (!available(t)) return;
  shell_result r = shell(t, "%s \"$frix\" run r.urdf --time 0.02 --json --quiet", make);
  CHECK(t, r.code == 0 && !strstr(r.out, "\"contacts_max\": 0,"));
  shell_free(&r);
  r = shell(
      t,
      "echo \"<robot><disable_collisions link1='a' link2='b'/><disable_collisions link1='a' link2='no'/></robot>\" "
      ">r.srdf; \"$frix\" run r.urdf --time 0.02 --json --quiet");
  CHECK(t, r.code == 0 && strstr(r.out, "\"contacts_max\": 0,"));
  shell_free(&r);
  r = shell(t, "echo '<x/>' >r.srdf; \"$frix\" run r.urdf --time 0.02 --json --quiet");
  CHECK(t, r.code == 2 && strstr(r.err, "r.srdf:1"));
  shell_free(&r);
}

const fx_test_row test_urdf[] = {{"urdf/arm", arm},
                                 {"urdf/srdf", srdf},
                                 {"urdf/converts", converts},
                                 {"urdf/converts_beside", converts_beside},
                                 {"urdf/packages", packages},
                                 {"urdf/broken", broken_files},
                                 {"robots/broken", broken_robots},
                                 {"robots/command", command},
                                 {0}};
