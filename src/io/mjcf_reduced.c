/* A model whose joints are coordinates of a robot.
 *
 * The file is read twice: as a robot (mjcf_robot.c), which has the joints, actuators, tendons, equalities and masses of
 * all bodies, and as a model, whose bodies are the links with all that is fixed to them, for shapes and contacts.
 * Bodies have the same numbers in both. A file that only has free bodies needs no robot and is read as it always was.
 */
#include <string.h>

#include "io/mjcf_robot.h"
#include "io/urdf.h"

/* Whether joints do more than to let bodies go. */
static bool has_trees(const fx_tree *t) {
  for (int32_t k = 0; k < t->joint_count; k++)
    if (t->joint[k].kind != FRIX_ROBOT_FREE) return true;
  for (int32_t k = 0; k < t->actuator_count; k++)
    if (t->actuator[k].dofs.count > 0 ||
        (t->actuator[k].transmission == FRIX_ROBOT_AT_BODY && t->actuator[k].gain_kind == FX_GAIN_FIXED))
      return true;
  bool air = t->density > 0.0 || t->viscosity > 0.0;
  return (t->joint_count > 0 && (air || t->coated)) || t->tendon_count > 0 ||
         (t->joint_count > 0 && t->equality_count > 0);
}

static void destroy_robot(void *robot) { frix_robot_destroy(robot); }

static int32_t key_of(const frix_robot *robot, const char *name) {
  return name ? frix_robot_find(robot, FRIX_ROBOT_KEY, name) : -1;
}

/* What a tree by itself lacks, and the step has: contacts. */
static bool is_done(const frix_mjcf_note *n) {
  static const char adhesion[] = "adhesion actuator at a body";
  return !strcmp(n->name, adhesion);
}

/* What the robot does not do either, once per name. */
static frix_status add_notes(fx_mjcf_reader *r, const frix_robot *robot) {
  for (int32_t k = 0; k < robot->note_count; k++) {
    const frix_mjcf_note *n = &robot->note[k];
    bool known = is_done(n);
    for (int32_t j = 0; j < r->note_count; j++)
      known |= !strcmp(r->note[j].name, n->name) && r->note[j].kind == n->kind;
    if (known) continue;
    if (!FX_MJCF_ROOM(r, note)) return FRIX_ERROR_MEMORY;
    frix_mjcf_note copy = *n;
    copy.name = fx_mjcf_keep(r, n->name), copy.file = fx_mjcf_keep(r, n->file), copy.text = fx_mjcf_keep(r, n->text);
    if (!copy.name || !copy.file || !copy.text) return FRIX_ERROR_MEMORY;
    r->note[r->note_count++] = copy;
  }
  return FRIX_OK;
}

/* What the robot has to know of shapes. */
static frix_status link_shapes(fx_mjcf_reader *r, frix_context *context, fx_robot_link *link) {
  link->shape_body = FX_NEW(context, int32_t, r->shape_count);
  link->shape_geom = FX_NEW(context, int32_t, r->shape_count);
  if (!link->shape_body || !link->shape_geom) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->shape_count; k++) {
    const fx_mjcf_geom *g = &r->geom[r->shape_geom[k]];
    link->shape_body[k] = g->body, link->shape_geom[k] = r->shape_geom[k];
  }
  return fx_mjcf_coat_link(r, context, link);
}

frix_status fx_mjcf_attach_robot(fx_mjcf_reader *r) {
  frix_robot *robot = r->own_robot;
  frix_model *model = r->out->model;
  frix_status status = add_notes(r, robot);
  if (status) return status;
  if (robot->tree.body_count != r->body_count)
    return fx_fail(r->context, FRIX_ERROR_INPUT, "the robot and its model differ in their bodies");
  fx_robot_link *link = &model->robot;
  link->body = FX_NEW(model->context, int32_t, r->body_count);
  if (!link->body) return FRIX_ERROR_MEMORY;
  link->body_count = r->body_count;
  for (int32_t k = 0; k < r->body_count; k++) link->body[k] = k && r->body[k].own ? (int32_t)r->body[k].id.index : -1;
  if ((status = link_shapes(r, model->context, link))) return status;
  link->key = key_of(robot, r->config.key);
  link->robot = robot, link->destroy = destroy_robot;
  r->own_robot = NULL;
  return FRIX_OK;
}

/* The first thing that the robot does not do. */
static frix_status refuse_missing(frix_context *context, const frix_robot *robot) {
  for (int32_t k = 0; k < robot->note_count; k++) {
    const frix_mjcf_note *n = &robot->note[k];
    if (n->kind == FRIX_MJCF_UNSUPPORTED && !is_done(n))
      return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s:%d: %s: %s", n->file, (int)n->line, n->name, n->text);
  }
  return FRIX_OK;
}

static frix_status read_text(frix_context *context, const char *name, const void *bytes, size_t count,
                             const frix_mjcf_config *config, frix_robot *robot, frix_mjcf **out) {
  bool trees = has_trees(&robot->tree);
  fx_mjcf_reader r = {.context = context, .robot = trees, .reduced = trees, .own_robot = trees ? robot : NULL};
  fx_robot_key_sizes(&robot->tree, &r);
  frix_status status = fx_mjcf_read_model(&r, name, bytes, count, config, out);
  if (!trees || r.own_robot) frix_robot_destroy(robot);
  return status;
}

frix_status fx_mjcf_read_reduced(frix_context *context, const char *name, const void *bytes, size_t count,
                                 const frix_mjcf_config *config, frix_mjcf **out) {
  frix_robot *robot = NULL;
  frix_mjcf_config lenient = *config;
  lenient.strict = false; /* a file without trees is judged by what its bodies do not do */
  frix_status status = frix_robot_read_memory(context, name, bytes, count, &lenient, &robot);
  if (!status && config->strict && has_trees(&robot->tree)) status = refuse_missing(context, robot);
  if (status) {
    frix_robot_destroy(robot);
    return status;
  }
  if (!fx_is_urdf(name)) return read_text(context, name, bytes, count, config, robot, out);
  fx_urdf u = {.context = context, .path = name, .config = *config};
  fx_buffer text;
  fx_buffer_init(&text, context);
  status = fx_urdf_read(&u, bytes ? bytes : "", count);
  if (!status) status = fx_urdf_write(&u, false, &text);
  frix_mjcf_config inner = *config;
  inner.allow_outside = true;
  if (status)
    frix_robot_destroy(robot);
  else
    status = read_text(context, name, text.bytes, text.count, &inner, robot, out);
  fx_buffer_free(&text);
  fx_urdf_free(&u);
  return status;
}
