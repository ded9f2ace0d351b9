/* frix info of a scene file: what the model holds, and what the file asks for besides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "missing.h"
#include "scene_file.h"

typedef struct tally {
  int32_t body[3]; /* by frix_body_kind */
  int32_t shape[FRIX_SHAPE_COUNT], joint[FRIX_JOINT_COUNT];
  double mass, lightest, heaviest, min_mu, max_mu;
} tally;

static void count_friction(const frix_model *model, tally *t) {
  frix_model_counts c = frix_model_count(model);
  t->min_mu = c.material_count ? HUGE_VAL : 0.0;
  for (int32_t a = 0; a < c.material_count; a++)
    for (int32_t b = a; b < c.material_count; b++) {
      frix_material_config law;
      if (frix_model_pair(model, frix_model_material_at(model, a), frix_model_material_at(model, b), &law)) continue;
      t->min_mu = fmin(t->min_mu, law.mu);
      t->max_mu = fmax(t->max_mu, law.mu);
    }
}

static tally count_all(const frix_model *model) {
  tally t = {.lightest = HUGE_VAL};
  frix_model_counts c = frix_model_count(model);
  for (int32_t k = 0; k < c.body_count; k++) {
    frix_body_config body;
    if (frix_model_body(model, frix_model_body_at(model, k), &body)) continue;
    t.body[body.kind]++;
    if (body.kind != FRIX_BODY_DYNAMIC) continue;
    t.mass += body.mass;
    t.lightest = fmin(t.lightest, body.mass);
    t.heaviest = fmax(t.heaviest, body.mass);
  }
  for (int32_t k = 0; k < c.shape_count; k++) {
    frix_shape_config shape;
    if (!frix_model_shape(model, frix_model_shape_at(model, k), &shape, NULL)) t.shape[shape.kind]++;
  }
  if (!isfinite(t.lightest)) t.lightest = 0.0;
  for (int32_t k = 0; k < c.joint_count; k++) {
    frix_joint_config joint;
    if (!frix_model_joint(model, frix_model_joint_at(model, k), &joint)) t.joint[joint.kind]++;
  }
  count_friction(model, &t);
  return t;
}

static void print_notes(const frix_mjcf_info *info) {
  fx_missing missing = fx_missing_of(info, false);
  fx_missing_print(&missing, 11);
  fx_missing_free(&missing);
  bool first = true;
  for (int32_t k = 0; k < info->note_count; k++) {
    if (info->note[k].kind != FRIX_MJCF_LOOKS) continue;
    printf("%s%s", first ? "  looks only  " : ", ", info->note[k].name);
    first = false;
  }
  if (!first) printf("\n");
}

static void print_text(const char *path, const frix_mjcf_info *info) {
  tally t = count_all(info->model);
  frix_model_counts c = frix_model_count(info->model);
  printf("%s%s%s\n", fx_colour_on(FX_BOLD), path, fx_colour_off());
  if (info->name[0]) printf("  model       %s\n", info->name);
  printf("  bodies      %d moving, %d mocap, %d static%s", (int)t.body[FRIX_BODY_DYNAMIC],
         (int)t.body[FRIX_BODY_KINEMATIC], (int)t.body[FRIX_BODY_STATIC], info->fused_count ? "" : "\n");
  if (info->fused_count) printf("; %d more are fixed to them\n", (int)info->fused_count);
  printf("  shapes      %d:", (int)c.shape_count);
  for (int32_t k = 0; k < FRIX_SHAPE_COUNT; k++)
    if (t.shape[k]) printf(" %d %s", (int)t.shape[k], frix_shape_table(k)->name);
  printf("\n  mass        %.6g kg", t.mass);
  if (t.body[FRIX_BODY_DYNAMIC] > 1) printf(", each %.6g to %.6g", t.lightest, t.heaviest);
  printf("\n  friction    %g to %g in %d materials\n", t.min_mu, t.max_mu, (int)c.material_count);
  if (c.joint_count) {
    printf("  joints      %d:", (int)c.joint_count);
    for (int32_t k = 0; k < FRIX_JOINT_COUNT; k++)
      if (t.joint[k]) printf(" %d %s", (int)t.joint[k], frix_joint_table(k)->name);
    printf("\n");
  }
  printf("  gravity     %g %g %g\n", info->gravity.x, info->gravity.y, info->gravity.z);
  printf("  timestep    %g s\n", info->timestep);
  for (int32_t k = 0; k < info->key_count; k++)
    printf("  key         %s\n", info->key[k].name ? info->key[k].name : "(without name)");
  print_notes(info);
}

static void put_vec(fx_json *json, const char *key, frix_vec3 v) {
  fx_put_open(json, key, '[');
  fx_put_real(json, NULL, v.x);
  fx_put_real(json, NULL, v.y);
  fx_put_real(json, NULL, v.z);
  fx_put_close(json, ']');
}

static void put_body(fx_json *json, const frix_body_config *b) {
  static const char *const kind[] = {"dynamic", "mocap", "static"};
  fx_put_open(json, NULL, '{');
  if (b->name) fx_put_text(json, "name", b->name);
  fx_put_text(json, "kind", kind[b->kind]);
  put_vec(json, "pos", b->pose.p);
  fx_put_open(json, "quat", '[');
  const double q[4] = {b->pose.q.w, b->pose.q.x, b->pose.q.y, b->pose.q.z};
  for (int k = 0; k < 4; k++) fx_put_real(json, NULL, q[k]);
  fx_put_close(json, ']');
  if (b->kind == FRIX_BODY_DYNAMIC) {
    const double j[6] = {b->inertia.xx, b->inertia.yy, b->inertia.zz, b->inertia.xy, b->inertia.xz, b->inertia.yz};
    fx_put_real(json, "mass", b->mass);
    put_vec(json, "center", b->center);
    fx_put_open(json, "inertia", '[');
    for (int k = 0; k < 6; k++) fx_put_real(json, NULL, j[k]);
    fx_put_close(json, ']');
  }
  fx_put_close(json, '}');
}

static void print_json(const char *path, const frix_mjcf_info *info) {
  tally t = count_all(info->model);
  frix_model_counts c = frix_model_count(info->model);
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  fx_put_text(&json, "model", info->name);
  fx_put_integer(&json, "dynamic", t.body[FRIX_BODY_DYNAMIC]);
  fx_put_integer(&json, "mocap", t.body[FRIX_BODY_KINEMATIC]);
  fx_put_integer(&json, "static", t.body[FRIX_BODY_STATIC]);
  fx_put_integer(&json, "fused", info->fused_count);
  fx_put_integer(&json, "shapes", c.shape_count);
  fx_put_integer(&json, "joints", c.joint_count);
  fx_put_real(&json, "mass", t.mass);
  fx_put_real(&json, "timestep", info->timestep);
  put_vec(&json, "gravity", info->gravity);
  fx_put_open(&json, "keys", '[');
  for (int32_t k = 0; k < info->key_count; k++) fx_put_text(&json, NULL, info->key[k].name ? info->key[k].name : "");
  fx_put_close(&json, ']');
  fx_put_notes(&json, info);
  fx_put_open(&json, "bodies", '[');
  for (int32_t k = 0; k < c.body_count; k++) {
    frix_body_config body;
    if (!frix_model_body(info->model, frix_model_body_at(info->model, k), &body)) put_body(&json, &body);
  }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

bool fx_info_scene(frix_context *context, const char *path, const fx_args *args) {
  frix_mjcf *scene = fx_read_scene(context, path, args, 1);
  if (!scene) return false;
  frix_mjcf_info info = frix_mjcf_view(scene);
  if (fx_arg(args, "--json")) {
    print_json(path, &info);
  } else {
    print_text(path, &info);
  }
  frix_mjcf_destroy(scene);
  return true;
}
