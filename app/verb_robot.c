/* frix robot: an articulated tree from an MJCF or URDF file, evaluated at a state. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "robot_print.h"

/* ---- settings from the command line ---- */

/* Numbers separated by spaces or commas; false after a message. */
static bool fill(const char *flag, const char *text, double *out, int32_t count) {
  int32_t found = 0;
  for (const char *at = text; *at;) {
    char *end;
    while (*at == ' ' || *at == ',' || *at == '\n' || *at == '\t') at++;
    if (!*at) break;
    errno = 0;
    double value = strtod(at, &end);
    if (end == at || !isfinite(value)) {
      fx_error("%s: '%.20s' is not a finite number", flag, at);
      return false;
    }
    if (found < count) out[found] = value;
    found++;
    at = end;
  }
  if (found == count) return true;
  fx_error("%s: %d numbers, the robot has %d", flag, (int)found, (int)count);
  return false;
}

static bool set_arrays(frix_robot_state *state, const fx_args *args) {
  static const struct {
    const char *flag;
    frix_robot_array array;
  } row[] = {{"--qpos", FRIX_ROBOT_QPOS},
             {"--qvel", FRIX_ROBOT_QVEL},
             {"--ctrl", FRIX_ROBOT_CTRL},
             {"--act", FRIX_ROBOT_ACT},
             {"--mocap", FRIX_ROBOT_MOCAP}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    int32_t count;
    double *list = frix_robot_data(state, row[k].array, &count);
    if (fx_arg(args, row[k].flag) && !fill(row[k].flag, fx_arg(args, row[k].flag), list, count)) return false;
  }
  return true;
}

/* --set JOINT=VALUE and --drive ACTUATOR=VALUE */
static bool set_by_name(const frix_robot *robot, frix_robot_state *state, const fx_args *args, bool drive) {
  const char *flag = drive ? "--drive" : "--set", *text;
  frix_robot_part part = drive ? FRIX_ROBOT_ACTUATOR : FRIX_ROBOT_JOINT;
  for (int cursor = 0; (text = fx_arg_next(args, flag, &cursor));) {
    char *name;
    const char *value;
    if (!fx_split_setting(text, &name, &value)) return false;
    int32_t k = frix_robot_find(robot, part, name);
    frix_robot_joint joint = {.kind = FRIX_ROBOT_HINGE};
    frix_robot_actuator actuator = {0};
    if (k >= 0 && drive) frix_robot_get_actuator(robot, k, &actuator);
    if (k >= 0 && !drive) frix_robot_get_joint(robot, k, &joint);
    bool line = joint.kind == FRIX_ROBOT_HINGE || joint.kind == FRIX_ROBOT_SLIDE;
    if (k < 0) fx_error("%s: the robot has no %s '%s'", flag, drive ? "actuator" : "joint", name);
    if (k >= 0 && !line) fx_error("%s: joint '%s' has several numbers: use --qpos", flag, name);
    free(name);
    if (k < 0 || !line) return false;
    double *list = frix_robot_data(state, drive ? FRIX_ROBOT_CTRL : FRIX_ROBOT_QPOS, NULL);
    if (!fill(flag, value, list + (drive ? actuator.ctrl_first : joint.q), 1)) return false;
  }
  return true;
}

static bool choose_key(const frix_robot *robot, const char *name, int32_t *key) {
  *key = -1;
  if (!name) return true;
  *key = frix_robot_find(robot, FRIX_ROBOT_KEY, name);
  if (*key >= 0) return true;
  fx_error("--key: the robot has no keyframe '%s'", name);
  frix_robot_info info = frix_robot_view(robot);
  for (int32_t k = 0; k < info.key_count; k++) {
    const char *own = frix_robot_name(robot, FRIX_ROBOT_KEY, k);
    if (own) fx_remark("there is '%s'", own);
  }
  return false;
}

/* ---- the verb ---- */

static int run_state(const frix_robot *robot, frix_context *context, const fx_args *args) {
  frix_robot_state *state = NULL;
  int32_t key;
  if (frix_robot_state_create(robot, &state)) {
    fx_error("%s", frix_error_text(context));
    return FX_EXIT_USAGE;
  }
  int code = FX_EXIT_USAGE;
  if (choose_key(robot, fx_arg(args, "--key"), &key) && !frix_robot_reset(state, key) && set_arrays(state, args) &&
      set_by_name(robot, state, args, false) && set_by_name(robot, state, args, true)) {
    if (frix_robot_forward(state)) {
      fx_error("%s", frix_error_text(context));
    } else {
      if (fx_arg(args, "--json"))
        fx_robot_json(args->word[0], robot, state);
      else
        fx_robot_text(args->word[0], robot, state);
      code = FX_EXIT_SOLVED;
    }
  }
  frix_robot_state_destroy(state);
  return code;
}

int fx_packages(const fx_args *args, const char **out, int most) {
  const char *text;
  int count = 0;
  for (int cursor = 0; count < most && (text = fx_arg_next(args, "--package", &cursor));) out[count++] = text;
  return count;
}

static int run_robot(const fx_args *args) {
  frix_context *context = fx_context(false);
  frix_mjcf_config config = frix_mjcf_default();
  config.strict = fx_arg(args, "--strict") != NULL;
  config.allow_outside = fx_arg(args, "--allow-outside") != NULL;
  const char *package[64];
  config.package = package, config.package_count = fx_packages(args, package, 64);
  frix_robot *robot = NULL;
  int code = FX_EXIT_USAGE;
  if (frix_robot_read(context, args->word[0], &config, &robot))
    fx_error("%s", frix_error_text(context));
  else
    code = run_state(robot, context, args);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--key", "NAME", NULL, "state: this keyframe"},
    {"--set", "JOINT=X", NULL, "set the coordinate of a hinge or slide joint; may be repeated"},
    {"--drive", "ACTUATOR=X", NULL, "set the control of an actuator; may be repeated"},
    {"--qpos", "LIST", NULL, "set all coordinates"},
    {"--qvel", "LIST", NULL, "set all velocities"},
    {"--ctrl", "LIST", NULL, "set all controls"},
    {"--act", "LIST", NULL, "set all activations"},
    {"--mocap", "LIST", NULL, "set position and quaternion of every mocap body"},
    {"--json", NULL, NULL, "print the whole state as JSON"},
    {"--strict", NULL, NULL, "treat the first unsupported feature as an error"},
    {"--package", "NAME=DIR", NULL, "folder of package://NAME of a URDF file; may be repeated"},
    {"--allow-outside", NULL, NULL, "allow files outside the folder of the model"},
    {0}};

const fx_verb fx_verb_robot = {
    .name = "robot",
    .arguments = "FILE",
    .summary = "show kinematics and dynamics of a robot in reduced coordinates",
    .detail =
        "Reads an MJCF or URDF file as an articulated tree and shows its bodies, its joints with the indices of their\n"
        "coordinates, its actuators, tendons and sensors. --json adds poses, mass matrix, bias, forces, accelerations "
        "(without\n"
        "contacts, limits, dry friction and equalities), tendon lengths and moments, and sensor data (docs/robots.md).",
    .example =
        "  frix robot arm.xml --key home                    # the tree, and where it stands\n"
        "  frix robot arm.xml --set elbow=0.5 --json        # all numbers",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_robot,
};
