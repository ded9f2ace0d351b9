/* What frix robot prints: the tree with its joints, drives and sensors as text, and a whole state as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "robot_print.h"

static const char *const joint_word[] = {"free", "ball", "slide", "hinge"};
static const char *const at_word[] = {"joint", "joint in parent", "slider-crank", "tendon", "site", "body"};

static const char *or_dash(const char *name) { return name ? name : "-"; }

/* ---- text ---- */

static void print_range(bool limited, const double range[2]) {
  if (limited) printf("  [%.4g, %.4g]", range[0], range[1]);
}

static void print_joint(const frix_robot *robot, const frix_robot_state *state, int32_t k, int depth) {
  static const int numbers[] = {7, 4, 1, 1}, rates[] = {6, 3, 1, 1};
  frix_robot_joint j;
  if (frix_robot_get_joint(robot, k, &j)) return;
  const double *q = frix_robot_data((frix_robot_state *)state, FRIX_ROBOT_QPOS, NULL);
  printf("%*s%s %s  q %d", 2 * depth + 4, "", joint_word[j.kind], or_dash(j.name), (int)j.q);
  if (numbers[j.kind] > 1) printf("-%d", (int)j.q + numbers[j.kind] - 1);
  printf(" v %d", (int)j.v);
  if (rates[j.kind] > 1) printf("-%d", (int)j.v + rates[j.kind] - 1);
  if (numbers[j.kind] == 1) printf("  = %.4g", q[j.q]);
  print_range(j.limited, j.range);
  if (j.stiffness != 0.0) printf("  stiffness %.4g", j.stiffness);
  if (j.damping != 0.0) printf("  damping %.4g", j.damping);
  if (j.friction != 0.0) printf("  friction %.4g", j.friction);
  if (j.armature != 0.0) printf("  armature %.4g", j.armature);
  printf("\n");
}

static void print_tree(const frix_robot *robot, const frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  int *depth = fx_grow(NULL, (size_t)info.body_count, sizeof *depth);
  for (int32_t k = 0; k < info.body_count; k++) {
    frix_robot_body b;
    if (frix_robot_get_body(robot, k, &b)) continue;
    depth[k] = b.parent < 0 ? 0 : depth[b.parent] + 1;
    frix_vec3 p = frix_robot_body_pose(state, k).p;
    printf("%*s%s%s%s", 2 * depth[k] + 2, "", fx_colour_on(FX_BOLD), or_dash(b.name), fx_colour_off());
    if (k) printf("  %.6g kg  at %.4g %.4g %.4g", b.mass, p.x, p.y, p.z);
    printf("%s\n", b.mocap >= 0 ? "  mocap" : "");
    for (int32_t n = 0; n < b.joint_count; n++) print_joint(robot, state, b.joint_first + n, depth[k]);
  }
  free(depth);
}

static void print_drives(const frix_robot *robot, frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  const double *force = frix_robot_data(state, FRIX_ROBOT_ACTUATOR_FORCE, NULL);
  const double *ctrl = frix_robot_data(state, FRIX_ROBOT_CTRL, NULL);
  const double *length = frix_robot_data(state, FRIX_ROBOT_TENDON_LENGTH, NULL);
  for (int32_t k = 0; k < info.actuator_count; k++) {
    frix_robot_actuator a;
    if (frix_robot_get_actuator(robot, k, &a)) continue;
    printf("  actuator    %d %s at %s %s", (int)k, or_dash(a.name), at_word[a.transmission], or_dash(a.object));
    if (a.ctrl_count) printf("  control %.4g", ctrl[a.ctrl_first]);
    print_range(a.ctrl_limited, a.ctrl_range);
    printf("  force %.4g", force[k]);
    print_range(a.force_limited, a.force_range);
    printf("\n");
  }
  for (int32_t k = 0; k < info.tendon_count; k++)
    printf("  tendon      %d %s  length %.6g\n", (int)k, or_dash(frix_robot_name(robot, FRIX_ROBOT_TENDON, k)),
           length[k]);
}

static void print_sensors(const frix_robot *robot, frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  const double *data = frix_robot_data(state, FRIX_ROBOT_SENSOR_DATA, NULL);
  for (int32_t k = 0; k < info.sensor_count; k++) {
    frix_robot_sensor s;
    if (frix_robot_get_sensor(robot, k, &s)) continue;
    printf("  sensor      %s %s ", or_dash(s.name), frix_robot_sensor_word(s.kind));
    for (int32_t n = 0; n < s.count; n++) printf(" %.4g", data[s.first + n]);
    printf("\n");
  }
}

void fx_robot_text(const char *path, const frix_robot *robot, frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  int32_t controls;
  frix_robot_data(state, FRIX_ROBOT_CTRL, &controls);
  printf("%s%s%s\n", fx_colour_on(FX_BOLD), path, fx_colour_off());
  if (info.name[0]) printf("  model       %s\n", info.name);
  printf("  mass        %.6g kg in %d bodies\n", info.mass, (int)info.body_count - 1);
  printf("  coordinates %d, velocities %d, controls %d, activations %d\n", (int)info.q_count, (int)info.v_count,
         (int)controls, (int)info.act_count);
  printf("  timestep    %g s, gravity %g %g %g\n", info.timestep, info.gravity.x, info.gravity.y, info.gravity.z);
  for (int32_t k = 0; k < info.key_count; k++)
    printf("  key         %s\n", or_dash(frix_robot_name(robot, FRIX_ROBOT_KEY, k)));
  print_tree(robot, state);
  print_drives(robot, state);
  print_sensors(robot, state);
  for (int32_t k = 0; k < info.note_count; k++) {
    const frix_mjcf_note *n = &info.note[k];
    if (n->kind == FRIX_MJCF_UNSUPPORTED)
      fx_warning("%s:%d: %s (%d): %s", n->file, (int)n->line, n->name, (int)n->count, n->text);
  }
}

/* ---- JSON ---- */

static void put_list(fx_json *json, const char *key, const double *list, int32_t count) {
  fx_put_open(json, key, '[');
  for (int32_t k = 0; k < count; k++) fx_put_real(json, NULL, list[k]);
  fx_put_close(json, ']');
}

static void put_pose(fx_json *json, frix_pose pose) {
  put_list(json, "pos", (const double[]){pose.p.x, pose.p.y, pose.p.z}, 3);
  put_list(json, "quat", (const double[]){pose.q.w, pose.q.x, pose.q.y, pose.q.z}, 4);
}

static void put_name(fx_json *json, const char *name) { fx_put_text(json, "name", name ? name : ""); }

static void put_bodies(fx_json *json, const frix_robot *robot, const frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  fx_put_open(json, "bodies", '[');
  for (int32_t k = 0; k < info.body_count; k++) {
    frix_robot_body b;
    if (frix_robot_get_body(robot, k, &b)) continue;
    fx_put_open(json, NULL, '{');
    put_name(json, b.name);
    fx_put_integer(json, "parent", b.parent);
    fx_put_real(json, "mass", b.mass);
    put_list(json, "center", (const double[]){b.center.x, b.center.y, b.center.z}, 3);
    put_list(json, "inertia",
             (const double[]){b.inertia.xx, b.inertia.yy, b.inertia.zz, b.inertia.xy, b.inertia.xz, b.inertia.yz}, 6);
    put_pose(json, frix_robot_body_pose(state, k));
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_open(json, "sites", '[');
  for (int32_t k = 0; k < info.site_count; k++) {
    fx_put_open(json, NULL, '{');
    put_name(json, frix_robot_name(robot, FRIX_ROBOT_SITE, k));
    put_pose(json, frix_robot_site_pose(state, k));
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

static void put_joints(fx_json *json, const frix_robot *robot) {
  frix_robot_info info = frix_robot_view(robot);
  fx_put_open(json, "joints", '[');
  for (int32_t k = 0; k < info.joint_count; k++) {
    frix_robot_joint j;
    if (frix_robot_get_joint(robot, k, &j)) continue;
    fx_put_open(json, NULL, '{');
    put_name(json, j.name);
    fx_put_text(json, "type", joint_word[j.kind]);
    fx_put_integer(json, "body", j.body);
    fx_put_integer(json, "q", j.q);
    fx_put_integer(json, "v", j.v);
    if (j.limited) put_list(json, "range", j.range, 2);
    fx_put_real(json, "armature", j.armature);
    fx_put_real(json, "damping", j.damping);
    fx_put_real(json, "friction", j.friction);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

/* Names and moments of tendons or actuators. */
static void put_moments(fx_json *json, const frix_robot *robot, const frix_robot_state *state, bool tendons) {
  frix_robot_info info = frix_robot_view(robot);
  int32_t count = tendons ? info.tendon_count : info.actuator_count;
  double *moment = fx_grow(NULL, (size_t)info.v_count + 1, sizeof *moment);
  fx_put_open(json, tendons ? "tendons" : "actuators", '[');
  for (int32_t k = 0; k < count; k++) {
    frix_robot_drive drive;
    fx_put_open(json, NULL, '{');
    put_name(json, frix_robot_name(robot, tendons ? FRIX_ROBOT_TENDON : FRIX_ROBOT_ACTUATOR, k));
    if (tendons)
      frix_robot_tendon_moment(state, k, moment);
    else
      frix_robot_actuator_moment(state, k, moment);
    put_list(json, "moment", moment, info.v_count);
    if (!tendons && !frix_robot_get_drive(state, k, &drive)) {
      fx_put_real(json, "by_length", drive.by_length);
      fx_put_real(json, "by_velocity", drive.by_velocity);
      fx_put_real(json, "lowest", drive.lowest);
      fx_put_real(json, "highest", drive.highest);
    }
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  free(moment);
}

static void put_matrix(fx_json *json, const frix_robot *robot, const frix_robot_state *state) {
  size_t n = (size_t)frix_robot_view(robot).v_count;
  double *m = fx_grow(NULL, n * n + 1, sizeof *m);
  frix_robot_mass_matrix(state, m);
  put_list(json, "mass_matrix", m, (int32_t)(n * n));
  free(m);
}

static void put_equalities(fx_json *json, const frix_robot *robot, frix_robot_state *state) {
  frix_robot_info info = frix_robot_view(robot);
  double violation[6], *jacobian = fx_grow(NULL, 6 * (size_t)info.v_count + 1, sizeof *jacobian);
  fx_put_open(json, "equalities", '[');
  for (int32_t k = 0; k < info.equality_count; k++) {
    int32_t rows = frix_robot_equality_rows(state, k, 6, violation, jacobian);
    fx_put_open(json, NULL, '{');
    put_name(json, frix_robot_name(robot, FRIX_ROBOT_EQUALITY, k));
    put_list(json, "violation", violation, rows);
    put_list(json, "jacobian", jacobian, rows * info.v_count);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  free(jacobian);
}

static void put_sensors(fx_json *json, const frix_robot *robot) {
  frix_robot_info info = frix_robot_view(robot);
  fx_put_open(json, "sensors", '[');
  for (int32_t k = 0; k < info.sensor_count; k++) {
    frix_robot_sensor s;
    if (frix_robot_get_sensor(robot, k, &s)) continue;
    fx_put_open(json, NULL, '{');
    put_name(json, s.name);
    fx_put_text(json, "type", frix_robot_sensor_word(s.kind));
    fx_put_integer(json, "first", s.first);
    fx_put_integer(json, "count", s.count);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

static void put_notes(fx_json *json, const frix_robot_info *info) {
  static const char *const kind[] = {"unsupported", "not_needed", "looks"};
  fx_put_open(json, "ignored", '[');
  for (int32_t k = 0; k < info->note_count; k++) {
    const frix_mjcf_note *n = &info->note[k];
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", n->name);
    fx_put_text(json, "kind", kind[n->kind]);
    fx_put_text(json, "text", n->text);
    fx_put_text(json, "file", n->file);
    fx_put_integer(json, "line", n->line);
    fx_put_integer(json, "count", n->count);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

void fx_robot_json(const char *path, const frix_robot *robot, frix_robot_state *state) {
  static const char *const array[] = {"qpos",
                                      "qvel",
                                      "ctrl",
                                      "act",
                                      "mocap",
                                      "applied",
                                      "bias",
                                      "passive",
                                      "actuator_torque",
                                      "actuator_force",
                                      "actuator_length",
                                      "actuator_velocity",
                                      "act_rate",
                                      "tendon_length",
                                      "tendon_velocity",
                                      "acceleration",
                                      "sensor_data"};
  frix_robot_info info = frix_robot_view(robot);
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  fx_put_text(&json, "model", info.name);
  fx_put_real(&json, "mass", info.mass);
  fx_put_real(&json, "timestep", info.timestep);
  fx_put_open(&json, "keys", '[');
  for (int32_t k = 0; k < info.key_count; k++) {
    const char *name = frix_robot_name(robot, FRIX_ROBOT_KEY, k);
    fx_put_text(&json, NULL, name ? name : "");
  }
  fx_put_close(&json, ']');
  for (int k = 0; k < FRIX_ROBOT_ARRAY_COUNT; k++) {
    int32_t count;
    const double *list = frix_robot_data(state, (frix_robot_array)k, &count);
    put_list(&json, array[k], list, count);
  }
  put_matrix(&json, robot, state);
  fx_put_real(&json, "potential_energy", frix_robot_potential_energy(state));
  fx_put_real(&json, "kinetic_energy", frix_robot_kinetic_energy(state));
  put_bodies(&json, robot, state);
  put_joints(&json, robot);
  put_moments(&json, robot, state, true);
  put_moments(&json, robot, state, false);
  put_sensors(&json, robot);
  put_equalities(&json, robot, state);
  put_notes(&json, &info);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}
