/* An articulated tree from an MJCF file: the passes, bodies and joints, references. */
#include "io/mjcf_robot.h"
#include "base/abi.h"
#include "base/sort.h"

#include <string.h>

#include "io/file.h"
#include "io/urdf.h"
#include "model/builder.h"

/* ---- lists and references ---- */

bool fx_robot_room(fx_robot_maker *m, void **list, int32_t count, int32_t *room, size_t size) {
  if (count < *room) return true;
  int32_t wanted = count < 16 ? 16 : 2 * count;
  void *grown = fx_arena_take(&m->r->out->arena, (size_t)wanted, size);
  if (!grown) return false;
  if (count) memcpy(grown, *list, (size_t)count * size);
  *list = grown;
  *room = wanted;
  return true;
}

frix_status fx_robot_refer(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, fx_mjcf_named kind,
                           const char *key, fx_robot_reference *out) {
  *out = (fx_robot_reference){kind, {NULL, 0}};
  return fx_xml_value(e, key) ? fx_mjcf_find(m->r, instance, e, kind, key, &out->found) : FRIX_OK;
}

int32_t fx_robot_thing(const fx_robot_maker *m, const fx_robot_reference *x, int32_t k) {
  if (!x->found.count) return -1;
  return fx_mjcf_thing(m->r, x->kind, &x->found, x->found.count == 1 ? 0 : k < x->found.count ? k : 0);
}

const char *fx_robot_name_of(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const fx_robot_reference *x,
                             int32_t copy) {
  const char *name = fx_xml_value(e, "name"), *prefix = m->r->instance[instance].prefix;
  const char *suffix = m->r->instance[instance].suffix;
  if (!name || !*name) return NULL;
  if (x && x->found.count > 1) suffix = m->r->names[x->kind].name[x->found.entry[copy]].suffix;
  size_t a = strlen(prefix), b = strlen(name), c = strlen(suffix);
  char *text = fx_arena_take(&m->r->out->arena, a + b + c + 1, 1);
  if (!text) return NULL;
  memcpy(text, prefix, a), memcpy(text + a, name, b), memcpy(text + a + b, suffix, c + 1);
  return text;
}

/* ---- replicas ---- */

fx_mjcf_at fx_robot_at(const fx_robot_maker *m, int32_t instance, const fx_robot_reference *x, int32_t copy) {
  fx_mjcf_at at = {.instance = instance, .suffix = m->r->instance[instance].suffix};
  if (x->found.count < 2) return at;
  const fx_mjcf_name *name = &m->r->names[x->kind].name[x->found.entry[copy]];
  at.suffix = name->suffix, at.copy = name->copy;
  return at;
}

frix_status fx_robot_copies(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const fx_robot_reference *x,
                            int32_t copies, int32_t *first, int32_t *end) {
  bool later = m->only < 0 && copies > 1;
  *first = m->only < 0 ? 0 : m->only, *end = later ? 0 : m->only < 0 ? copies : m->only + 1;
  for (int32_t k = 0; later && k < copies; k++) {
    if (!fx_robot_room(m, (void **)&m->later, m->later_count, &m->later_room, sizeof *m->later))
      return FRIX_ERROR_MEMORY;
    m->later[m->later_count++] = (fx_robot_later){e, instance, k, fx_robot_at(m, instance, x, k).copy};
  }
  return FRIX_OK;
}

static int compare_later(int32_t a, int32_t b, const void *user) {
  const fx_robot_later *list = user;
  return (list[a].replica > list[b].replica) - (list[a].replica < list[b].replica);
}

frix_status fx_robot_read_all(fx_robot_maker *m, const char *section,
                              frix_status (*read)(fx_robot_maker *m, int32_t instance, const fx_xml_element *e)) {
  int32_t instance = -1;
  frix_status status = FRIX_OK;
  m->later_count = 0, m->only = -1;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(m->r, section, &instance, e));)
    status = read(m, instance, e);
  int32_t *order = FX_TAKE_RAW(&m->r->arena, int32_t, m->later_count);
  int32_t *scratch = FX_TAKE_RAW(&m->r->arena, int32_t, m->later_count);
  if (!order || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < m->later_count; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)m->later_count, compare_later, m->later);
  m->r->again = true;
  for (int32_t k = 0; k < m->later_count && !status; k++) {
    const fx_robot_later *x = &m->later[order[k]];
    m->only = x->copy;
    status = read(m, x->instance, x->element);
  }
  m->r->again = false;
  return status;
}

/* ---- bodies ---- */

static const char *keep(fx_robot_maker *m, const char *text) { return text ? fx_mjcf_keep(m->r, text) : NULL; }

static void fill_joint(fx_robot_maker *m, const fx_mjcf_joint *from, fx_tree_joint *to) {
  const frix_pose *place = &m->r->body[from->body].place;
  *to = (fx_tree_joint){.name = keep(m, from->name),
                        .kind = (frix_robot_joint_kind)from->type,
                        .body = from->body,
                        .pos = from->pos,
                        .axis = from->axis,
                        .stiffness = {from->stiffness, from->stiffness_more[0], from->stiffness_more[1]},
                        .damping = {from->damping, from->damping_more[0], from->damping_more[1]},
                        .friction = from->friction,
                        .armature = from->armature,
                        .margin = from->margin,
                        .spring_damper = {from->spring_damper[0], from->spring_damper[1]},
                        .limited = from->limited && from->type != FX_JOINT_FREE,
                        .force_limited = from->force_limited && from->type >= FX_JOINT_SLIDE,
                        .carries_gravcomp = from->carries_gravcomp,
                        .range = {from->given_range[0], from->given_range[1]},
                        .force_range = {from->force_range[0], from->force_range[1]}};
  const double free[7] = {place->p.x, place->p.y, place->p.z, place->q.w, place->q.x, place->q.y, place->q.z};
  if (from->type == FX_JOINT_FREE) {
    to->pos = fx_vec(0.0, 0.0, 0.0), to->axis = fx_vec(0.0, 0.0, 1.0);
    memcpy(to->ref, free, sizeof free);
  }
  if (from->type == FX_JOINT_BALL) to->ref[0] = 1.0;
  memcpy(to->spring, to->ref, sizeof to->spring);
  if (from->type >= FX_JOINT_SLIDE) to->ref[0] = from->ref, to->spring[0] = from->spring_ref;
}

/* A mesh as an ellipsoid stands in its principal axes and reaches as far along each as it does itself. */
static void mesh_axes(const fx_mjcf_geom *g, fx_tree_geom *to) {
  frix_pose frame = g->asset->frame;
  for (int32_t k = 0; k < g->asset->mesh.vertex_count; k++) {
    frix_vec3 v = fx_pose_unpoint(frame, g->asset->mesh.vertex[k]);
    for (int n = 0; n < 3; n++) to->half[n] = fx_max(to->half[n], fabs(fx_at(v, n)));
  }
}

static frix_status fill_fluid(fx_robot_maker *m, const fx_mjcf_geom *g, fx_tree_geom *to) {
  static const double initial[5] = {0.5, 0.25, 1.5, 1.0, 1.0};
  int shape = 0;
  memcpy(to->fluid, initial, sizeof initial);
  frix_status status = fx_mjcf_word(m->r, &g->item, "fluidshape", "none ellipsoid", &shape);
  if (!status) status = fx_mjcf_reals(m->r, &g->item, "fluidcoef", 1, 5, to->fluid, NULL);
  bool solid = g->type >= FX_GEOM_SPHERE && g->type <= FX_GEOM_MESH;
  to->ellipsoid = shape && solid;
  if (status || !to->ellipsoid) return status;
  const double *s = g->size;
  const double half[3] = {s[0], g->type >= FX_GEOM_ELLIPSOID && g->type != FX_GEOM_CYLINDER ? s[1] : s[0],
                          g->type == FX_GEOM_SPHERE     ? s[0]
                          : g->type == FX_GEOM_CAPSULE  ? s[0] + s[1]
                          : g->type == FX_GEOM_CYLINDER ? s[1]
                                                        : s[2]};
  if (g->type == FX_GEOM_MESH)
    mesh_axes(g, to);
  else
    memcpy(to->half, half, sizeof half);
  return FRIX_OK;
}

/* The axes of a ball are those of the body it leaves behind, so nothing in the same body may turn it after. */
static frix_status check_balls(const fx_robot_maker *m) {
  const fx_mjcf_reader *r = m->r;
  for (int32_t k = 1; k < r->joint_count; k++) {
    const fx_mjcf_joint *j = &r->joint[k];
    if (j->body == j[-1].body && j[-1].type == FX_JOINT_BALL && j->type != FX_JOINT_SLIDE)
      return fx_mjcf_fail(r, j->item.element, "a ball joint is followed by another that turns the same body");
  }
  return FRIX_OK;
}

static frix_status fill_bodies(fx_robot_maker *m) {
  const fx_mjcf_reader *r = m->r;
  fx_tree *t = m->tree;
  fx_arena *arena = &r->out->arena;
  t->body_count = r->body_count, t->joint_count = r->joint_count, t->site_count = r->site_count;
  t->geom_count = r->geom_count, t->mocap_count = r->mocap_count, t->camera_count = r->camera_count;
  t->body = FX_TAKE(arena, fx_tree_body, t->body_count);
  t->joint = FX_TAKE(arena, fx_tree_joint, t->joint_count);
  t->site = FX_TAKE(arena, fx_tree_site, t->site_count);
  t->geom = FX_TAKE(arena, fx_tree_geom, t->geom_count);
  t->camera = FX_TAKE(arena, fx_tree_camera, t->camera_count);
  if (!t->camera || !t->body || !t->joint || !t->site || !t->geom) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->body_count; k++) {
    const fx_mjcf_body *b = &r->body[k];
    t->body[k] = (fx_tree_body){.name = k ? keep(m, b->name) : "world",
                                .parent = b->parent,
                                .joint_first = b->joint_first,
                                .joint_count = b->joint_count,
                                .mocap = b->mocap ? b->mocap_place : -1,
                                .place = b->place,
                                .mass = b->mass,
                                .has_axes = b->has_axes,
                                .axes = b->axes,
                                .gravcomp = b->gravcomp};
  }
  for (int32_t k = 0; k < t->joint_count; k++) fill_joint(m, &r->joint[k], &t->joint[k]);
  for (int32_t k = 0; k < t->site_count; k++)
    t->site[k] = (fx_tree_site){.name = keep(m, r->site[k].name),
                                .body = r->site[k].body,
                                .pose = r->site[k].pose,
                                .kind = (fx_site_kind)r->site[k].kind,
                                .size = {r->site[k].size[0], r->site[k].size[1], r->site[k].size[2]}};
  for (int32_t k = 0; k < t->camera_count; k++) {
    const fx_mjcf_camera *c = &r->camera[k];
    t->camera[k] = (fx_tree_camera){c->body, c->pose, {c->focal[0], c->focal[1]}, {c->center[0], c->center[1]}};
  }
  for (int32_t k = 0; k < t->geom_count; k++) {
    const fx_mjcf_geom *g = &r->geom[k];
    t->geom[k] = (fx_tree_geom){.name = keep(m, g->name), .body = g->body, .pose = g->pose, .radius = g->size[0]};
    frix_status status = fill_fluid(m, g, &t->geom[k]);
    if (status) return status;
    if (g->type == FX_GEOM_MESH) t->geom[k].pose = fx_pose_mul(g->pose, g->asset->frame);
    if (g->type == FX_GEOM_SPHERE) t->geom[k].kind = FX_TREE_GEOM_SPHERE;
    if (g->type == FX_GEOM_CYLINDER) t->geom[k].kind = FX_TREE_GEOM_CYLINDER;
  }
  return FRIX_OK;
}

static frix_status fill_settings(fx_robot_maker *m) {
  const fx_mjcf_reader *r = m->r;
  fx_tree *t = m->tree;
  t->gravity = r->out->info.gravity, t->timestep = r->out->info.timestep;
  t->wind = r->wind, t->magnetic = r->magnetic;
  t->density = r->density, t->viscosity = r->viscosity;
  t->no_gravity = r->no_gravity, t->no_spring = r->no_spring, t->no_damper = r->no_damper;
  t->no_actuation = r->no_actuation, t->no_clamp = r->no_clamp, t->no_limit = r->no_limit;
  t->no_friction = r->no_friction, t->no_equality = r->no_equality;
  return fx_mjcf_coated(m->r, &t->coated);
}

/* Whether a link has a shape without end, which has no mass. The model refuses it, and says so better. */
static bool has_plane(const fx_mjcf_reader *r) {
  for (int32_t k = 0; k < r->geom_count; k++)
    if (r->geom[k].body != 0 && r->geom[k].type == FX_GEOM_PLANE) return true;
  return false;
}

/* Whether coordinate i turns something, in kg m^2, or moves it, in kg. */
static bool turns(const fx_tree *t, int32_t i) {
  const fx_tree_joint *j = &t->joint[t->dof[i].joint];
  return j->kind == FRIX_ROBOT_FREE ? i - j->v >= 3 : j->kind != FRIX_ROBOT_SLIDE;
}

/* A link that weighs nothing along one of its joints has no acceleration: nothing beside what the other coordinates of
 * its tree move, whatever the units. Grains of 10 um have 1e-22 kg m^2. */
static frix_status check_masses(const fx_robot_maker *m) {
  const double none = 1e-15, least = 1e-250;
  const fx_tree *t = m->tree;
  for (int32_t i = 0; i < t->dof_count && !has_plane(m->r); i++) {
    double most = least;
    if (t->m0[i] > none) continue;
    for (int32_t k = 0; k < t->dof_count; k++) {
      bool alike = t->body[t->dof[k].body].root == t->body[t->dof[i].body].root && turns(t, k) == turns(t, i);
      if (alike) most = fmax(most, t->m0[k]);
    }
    if (t->m0[i] > none * most && t->m0[i] > least) continue;
    const fx_mjcf_joint *j = &m->r->joint[t->dof[i].joint];
    return fx_mjcf_fail(m->r, j->item.element, "what this joint moves has no mass or inertia along it (%g)", t->m0[i]);
  }
  return FRIX_OK;
}

/* ---- the passes ---- */

static frix_status run(fx_robot_maker *m, const char *path, const char *bytes, size_t count) {
  fx_mjcf_reader *r = m->r;
  frix_status status = frix_builder_create(r->context, &r->builder);
  if (status) return status;
  if ((status = fx_mjcf_load(r, path, bytes, count)) || (status = fx_mjcf_bodies(r)) || (status = fx_mjcf_masses(r)) ||
      (status = fx_mjcf_align(r)) || (status = check_balls(m)) || (status = fill_bodies(m)))
    return status;
  if ((status = fill_settings(m)) || (status = fx_robot_tendons(m)) || (status = fx_robot_actuators(m)) ||
      (status = fx_robot_sensors(m)) || (status = fx_robot_equalities(m)) ||
      (status = fx_tree_finish(r->context, &r->out->arena, m->tree)) || (status = check_masses(m)))
    return status;
  return fx_robot_keys(m);
}

static frix_status read_mjcf(frix_context *context, const char *name, const void *bytes, size_t count,
                             const frix_mjcf_config *config, frix_robot **out) {
  frix_robot *robot = FX_NEW(context, frix_robot, 1);
  if (!robot) return FRIX_ERROR_MEMORY;
  fx_mjcf_reader r = {.context = context, .robot = true};
  frix_status status = fx_mjcf_open_reader(&r, config);
  if (!status) {
    fx_robot_maker m = {.r = &r, .tree = &robot->tree};
    r.config.key = NULL;
    status = run(&m, name, bytes ? bytes : "", count);
    if (!status) status = fx_mjcf_finish_reader(&r);
  }
  if (!status) {
    robot->context = context;
    robot->arena = r.out->arena;
    robot->name = r.out->info.name;
    robot->note = r.out->info.note, robot->note_count = r.out->info.note_count;
    fx_arena_init(&r.out->arena, context);
    *out = robot;
  } else {
    fx_free(context, robot);
  }
  fx_mjcf_close_reader(&r);
  frix_mjcf_destroy(r.out);
  return status;
}

/* Notes of a URDF file stand before those of what was made of it. */
static frix_status add_notes(frix_robot *robot, const fx_urdf *u) {
  int32_t count = u->note_count + robot->note_count;
  frix_mjcf_note *note = FX_TAKE(&robot->arena, frix_mjcf_note, count);
  if (!note) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < u->note_count; k++) {
    size_t name = strlen(u->note[k].name) + 1, file = strlen(u->note[k].file) + 1;
    char *text = fx_arena_take(&robot->arena, name + file, 1);
    if (!text) return FRIX_ERROR_MEMORY;
    memcpy(text, u->note[k].name, name), memcpy(text + name, u->note[k].file, file);
    note[k] = u->note[k];
    note[k].name = text, note[k].file = text + name;
  }
  if (robot->note_count) memcpy(note + u->note_count, robot->note, (size_t)robot->note_count * sizeof *note);
  robot->note = note, robot->note_count = count;
  return FRIX_OK;
}

static frix_status read_urdf(frix_context *context, const char *name, const void *bytes, size_t count,
                             const frix_mjcf_config *config, frix_robot **out) {
  fx_urdf u = {.context = context, .path = name, .config = *config};
  fx_buffer text;
  fx_buffer_init(&text, context);
  frix_status status = fx_urdf_read(&u, bytes, count);
  if (!status) status = fx_urdf_write(&u, false, &text);
  for (int32_t k = 0; k < u.note_count && !status && config->strict; k++)
    if (u.note[k].kind == FRIX_MJCF_UNSUPPORTED)
      status = fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s:%d: %s: %s", u.note[k].file, (int)u.note[k].line,
                       u.note[k].name, u.note[k].text);
  frix_mjcf_config inner = *config;
  inner.allow_outside = true; /* meshes of packages: what leads elsewhere was refused before */
  if (!status) status = read_mjcf(context, name, text.bytes, text.count, &inner, out);
  if (!status) status = add_notes(*out, &u);
  if (status) frix_robot_destroy(*out), *out = NULL;
  fx_buffer_free(&text);
  fx_urdf_free(&u);
  return status;
}

bool fx_is_urdf(const char *name) {
  size_t length = strlen(name);
  return length > 5 && (!strcmp(name + length - 5, ".urdf") || !strcmp(name + length - 5, ".URDF"));
}

frix_status frix_robot_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                   const frix_mjcf_config *config, frix_robot **out) {
  if (!context || !name || (!bytes && count) || !out) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_config, config, frix_mjcf_default());
  *out = NULL;
  frix_mjcf_config used = config ? *config : frix_mjcf_default();
  if (used.size != sizeof used)
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_robot_read: start from frix_mjcf_default()");
  return fx_is_urdf(name) ? read_urdf(context, name, bytes ? bytes : "", count, &used, out)
                          : read_mjcf(context, name, bytes, count, &used, out);
}

frix_status frix_robot_read(frix_context *context, const char *path, const frix_mjcf_config *config, frix_robot **out) {
  if (!context || !path || !out) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_mjcf_config, config, frix_mjcf_default());
  *out = NULL;
  char *bytes = NULL;
  size_t count = 0;
  frix_mjcf_config used = config ? *config : frix_mjcf_default();
  frix_status status = fx_file_read(context, path, used.max_bytes, &bytes, &count);
  if (status) return status;
  status = frix_robot_read_memory(context, path, bytes, count, &used, out);
  fx_free(context, bytes);
  return status;
}
