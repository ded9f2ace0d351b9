/* Models as bytes. What was given goes back through the public builder, so that everything is checked again; what was
 * computed from it (masses, hulls, central frames) is kept too and put in place of the recomputed, which may differ by
 * rounding. docs/formats.md tells every byte. */
#include "io/trajectory_internal.h"

#include "io/soft_file.h"
#include "model/builder.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 2, SOFT_VERSION = 3 }; /* with soft bodies: their bytes follow the geometries */

typedef struct body_row {
  const char *name;
  int kind;
  bool planar, spawn_only, can_sleep;
  double mass, gravity_scale;
  frix_sym3 inertia;
  frix_vec3 center, velocity, spin;
  frix_pose start; /* central frame */
} body_row;

typedef struct shape_row {
  const char *name;
  int kind;
  uint32_t body, material, geometry, group, mask; /* material 0: the default; geometry 0: none */
  frix_pose local;                                /* in the central frame */
  double radius, half_length, density;
  frix_vec3 half;
} shape_row;

/* ---- one description of each record, for both ways ---- */

static void pack_material(fx_pack *p, frix_material_config *c) {
  fx_pack_text(p, &c->name);
  fx_pack_f64(p, &c->mu);
  fx_pack_f64(p, &c->mu2);
  fx_pack_vec(p, &c->axis);
  fx_pack_f64(p, &c->rolling);
  fx_pack_f64(p, &c->spinning);
  fx_pack_f64(p, &c->restitution);
  fx_pack_f64(p, &c->stiffness);
}

static void pack_body(fx_pack *p, body_row *b) {
  fx_pack_text(p, &b->name);
  fx_pack_choice(p, &b->kind, FRIX_BODY_STATIC + 1);
  fx_pack_bool(p, &b->planar);
  fx_pack_bool(p, &b->spawn_only);
  fx_pack_bool(p, &b->can_sleep);
  fx_pack_f64(p, &b->mass);
  fx_pack_f64(p, &b->gravity_scale);
  fx_pack_sym(p, &b->inertia);
  fx_pack_vec(p, &b->center);
  fx_pack_vec(p, &b->velocity);
  fx_pack_vec(p, &b->spin);
  fx_pack_pose(p, &b->start);
}

static void pack_shape(fx_pack *p, shape_row *s) {
  fx_pack_text(p, &s->name);
  fx_pack_choice(p, &s->kind, FRIX_SHAPE_COUNT);
  fx_pack_u32(p, &s->body);
  fx_pack_u32(p, &s->material);
  fx_pack_u32(p, &s->geometry);
  fx_pack_u32(p, &s->group);
  fx_pack_u32(p, &s->mask);
  fx_pack_pose(p, &s->local);
  fx_pack_f64(p, &s->radius);
  fx_pack_f64(p, &s->half_length);
  fx_pack_vec(p, &s->half);
  fx_pack_f64(p, &s->density);
}

void fx_pack_axis(fx_pack *p, frix_axis_config *a) {
  int motor = (int)a->motor;
  fx_pack_bool(p, &a->limited);
  fx_pack_choice(p, &motor, FRIX_MOTOR_COUNT);
  a->motor = (frix_motor_kind)motor;
  double *part[] = {&a->lower,     &a->upper,     &a->friction, &a->stiffness, &a->damping,     &a->rest,    &a->target,
                    &a->max_speed, &a->max_force, &a->gain,     &a->rate_gain, &a->target_rate, &a->armature};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) fx_pack_f64(p, part[k]);
}

static void pack_joint(fx_pack *p, frix_joint_config *c) {
  int kind = (int)c->kind;
  fx_pack_text(p, &c->name);
  fx_pack_choice(p, &kind, FRIX_JOINT_COUNT);
  c->kind = (frix_joint_kind)kind;
  fx_pack_bool(p, &c->collide);
  fx_pack_u32(p, &c->a.index);
  fx_pack_u32(p, &c->b.index);
  fx_pack_pose(p, &c->frame_a);
  fx_pack_pose(p, &c->frame_b);
  for (int k = 0; k < FRIX_JOINT_AXES; k++) fx_pack_axis(p, &c->axis[k]);
  fx_pack_f64(p, &c->length);
  fx_pack_u32(p, &c->first.index);
  fx_pack_u32(p, &c->second.index);
  fx_pack_i32(p, &c->first_axis);
  fx_pack_i32(p, &c->second_axis);
  fx_pack_f64(p, &c->ratio);
  fx_pack_f64(p, &c->offset);
}

static void pack_pair(fx_pack *p, fx_pair_entry *e) {
  fx_surface *s = &e->surface;
  fx_pack_i32(p, &e->material.a);
  fx_pack_i32(p, &e->material.b);
  fx_pack_bool(p, &s->anisotropic);
  fx_pack_choice(p, &s->axis_side, 2);
  fx_pack_vec(p, &s->axis);
  double *part[] = {&s->mu, &s->mu2, &s->rolling, &s->spinning, &s->restitution, &s->stiffness};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) fx_pack_f64(p, part[k]);
}

/* ---- writing ---- */

static void write_list(fx_pack *p, const int32_t *list, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    int32_t x = list[k];
    fx_pack_i32(p, &x);
  }
}

static void write_points(fx_pack *p, const frix_vec3 *point, int32_t count) {
  fx_pack_i32(p, &count);
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 v = point[k];
    fx_pack_vec(p, &v);
  }
}

static void write_geometry(fx_pack *p, const fx_geometry *g) {
  const char *name = g->name;
  int kind = (int)g->kind;
  int32_t rows = g->row_count, columns = g->column_count, faces = g->hull.face_count, triangles = g->triangle_count;
  fx_pack_text(p, &name);
  fx_pack_choice(p, &kind, FRIX_GEOMETRY_POLYGON + 1);
  switch (g->kind) {
    case FRIX_GEOMETRY_HULL:
      write_points(p, g->hull.vertex, g->hull.vertex_count);
      fx_pack_i32(p, &faces);
      write_list(p, g->hull.face_start, faces + 1);
      write_list(p, g->hull.face_vertex, g->hull.face_start[faces]);
      break;
    case FRIX_GEOMETRY_POLYGON: write_points(p, g->hull.vertex, g->hull.vertex_count); break;
    case FRIX_GEOMETRY_MESH:
      write_points(p, g->vertex, g->vertex_count);
      fx_pack_i32(p, &triangles);
      write_list(p, g->triangle, 3 * triangles);
      break;
    case FRIX_GEOMETRY_HEIGHT_FIELD:
      fx_pack_i32(p, &rows);
      fx_pack_i32(p, &columns);
      fx_pack_reals(p, (double[]){g->width, g->depth}, 2);
      fx_pack_reals(p, g->height, (size_t)rows * (size_t)columns);
      break;
  }
}

static void write_bodies(fx_pack *p, const frix_model *m) {
  for (int32_t k = 1; k < m->body_count; k++) {
    const fx_body *b = &m->body[k];
    body_row row = {b->name,          (int)b->kind, b->planar, b->spawn_only, b->can_sleep, b->mass,
                    b->gravity_scale, b->inertia,   b->center, b->velocity,   b->spin,      b->start};
    pack_body(p, &row);
  }
}

static void write_shapes(fx_pack *p, const frix_model *m) {
  for (int32_t k = 0; k < m->shape_count; k++) {
    const fx_shape *s = &m->shape[m->shape_of_id[k]];
    uint32_t number = s->geometry ? (uint32_t)s->geometry->number : 0;
    shape_row row = {s->name, (int)s->kind, (uint32_t)s->body, (uint32_t)s->material, number,     s->group,
                     s->mask, s->local,     s->radius,         s->half_length,        s->density, s->half};
    pack_shape(p, &row);
  }
}

static void write_rest(fx_pack *p, const frix_model *m) {
  for (int32_t k = 0; k < m->joint_count; k++) {
    frix_joint_config c = m->joint[k].config;
    pack_joint(p, &c);
  }
  for (int32_t k = 0; k < m->pair_count; k++) {
    fx_pair_entry e = m->pair[k];
    pack_pair(p, &e);
  }
  for (int32_t k = 0; k < m->excluded_count; k++) write_list(p, (int32_t[]){m->excluded[k].a, m->excluded[k].b}, 2);
}

/* Whether the default material is the one that readers take for granted. */
static frix_status check_material(frix_context *context, const frix_model *m) {
  frix_material_config own = m->material[0].config, usual = frix_material_default();
  fx_buffer a, b;
  fx_buffer_init(&a, context), fx_buffer_init(&b, context);
  fx_pack p = fx_pack_writer(&a), q = fx_pack_writer(&b);
  pack_material(&p, &own), pack_material(&q, &usual);
  bool failed = a.failed || b.failed, same = !failed && a.count == b.count && !memcmp(a.bytes, b.bytes, a.count);
  fx_buffer_free(&a), fx_buffer_free(&b);
  if (failed) return FRIX_ERROR_MEMORY;
  if (same) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_UNSUPPORTED,
                 "model: its default material was changed, which bytes do not hold: give shapes a material of its own");
}

static bool has_soft(const frix_model *m) {
  for (int32_t k = 0; k < m->geometry_count; k++)
    if (m->geometry[k]->soft) return true;
  return false;
}

/* By geometry: the size of its soft body, 0 where there is none, and the body as in a file of its own. */
static frix_status write_softs(fx_pack *p, const frix_model *m) {
  for (int32_t k = 0; k < m->geometry_count; k++) {
    const frix_soft *soft = m->geometry[k]->soft;
    size_t at = p->out->count;
    int64_t size = 0;
    fx_pack_i64(p, &size);
    frix_status status = soft ? fx_soft_encode(soft, p->out) : FRIX_OK;
    if (status) return status;
    uint64_t length = soft ? p->out->count - at - 8 : 0;
    for (int b = 0; soft && b < 8; b++) p->out->bytes[at + (size_t)b] = (char)(length >> 8 * b & 255);
  }
  return FRIX_OK;
}

frix_status frix_model_encode(frix_context *context, const frix_model *m, unsigned char **out, size_t *size) {
  if (!context || !m || !out || !size) return FRIX_ERROR_INPUT;
  if (fx_model_has_holes(m))
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED,
                   "model: shapes or joints were removed from it, so its ids cannot be written to bytes");
  frix_status status = check_material(context, m);
  if (status != FRIX_OK) return status;
  fx_buffer buffer;
  fx_buffer_init(&buffer, context);
  fx_pack p = fx_pack_writer(&buffer);
  frix_vec3 gravity = m->gravity;
  bool soft = has_soft(m);
  write_list(&p, (int32_t[]){soft ? SOFT_VERSION : VERSION}, 1);
  fx_pack_vec(&p, &gravity);
  write_list(&p,
             (int32_t[]){m->material_count - 1, m->geometry_count, m->body_count - 1, m->shape_count, m->joint_count,
                         m->pair_count, m->excluded_count},
             7);
  for (int32_t k = 1; k < m->material_count; k++) {
    frix_material_config c = m->material[k].config;
    pack_material(&p, &c);
  }
  for (int32_t k = 0; k < m->geometry_count; k++) write_geometry(&p, m->geometry[k]);
  if (soft) status = write_softs(&p, m);
  if (status) {
    fx_buffer_free(&buffer);
    return status;
  }
  write_bodies(&p, m);
  write_shapes(&p, m);
  write_rest(&p, m);
  return fx_bytes_give(&buffer, out, size);
}

/* ---- reading ---- */

typedef struct draft {
  frix_context *context;
  frix_builder *builder;
  frix_pose *start, *local, (*frame)[2];
  frix_vec3 *center;
  frix_model *model;
} draft;

/* One element more than asked; NULL with the pack failed when so many cannot follow, or memory runs out. */
static void *read_room(fx_pack *p, int32_t count, size_t bytes_each, size_t size) {
  if (count < 0) p->failed = true;
  if (!fx_pack_room(p, count < 0 ? 0 : (uint64_t)count, bytes_each)) return NULL;
  void *room = fx_alloc(p->context, (size_t)count + 1, size);
  if (!room) p->failed = p->no_memory = true;
  return room;
}

static frix_vec3 *read_points(fx_pack *p, int32_t *count) {
  fx_pack_i32(p, count);
  frix_vec3 *point = read_room(p, *count, 24, sizeof *point);
  for (int32_t k = 0; point && k < *count; k++) fx_pack_vec(p, &point[k]);
  return point;
}

static int32_t *read_list(fx_pack *p, int32_t count) {
  int32_t *list = read_room(p, count, 4, sizeof *list);
  for (int32_t k = 0; list && k < count; k++) fx_pack_i32(p, &list[k]);
  return list;
}

static frix_status read_geometry(fx_pack *p, frix_builder *builder) {
  frix_geometry_config c = frix_geometry_default();
  fx_faces faces = {0};
  int32_t *start = NULL, *list = NULL;
  frix_vec3 *point = NULL;
  double *height = NULL;
  int kind = 0;
  fx_pack_text(p, &c.name);
  fx_pack_choice(p, &kind, FRIX_GEOMETRY_POLYGON + 1);
  c.kind = (frix_geometry_kind)kind;
  if (c.kind == FRIX_GEOMETRY_HEIGHT_FIELD) {
    fx_pack_i32(p, &c.row_count);
    fx_pack_i32(p, &c.column_count);
    fx_pack_f64(p, &c.width);
    fx_pack_f64(p, &c.depth);
    int64_t count = (int64_t)c.row_count * c.column_count;
    if (c.row_count < 0 || c.column_count < 0 || count > INT32_MAX) count = -1;
    height = read_room(p, (int32_t)count, 8, sizeof *height);
    if (height) fx_pack_reals(p, height, (size_t)count);
    c.height = height;
  } else {
    c.point = point = read_points(p, &c.point_count);
    if (c.kind == FRIX_GEOMETRY_MESH) {
      fx_pack_i32(p, &c.triangle_count);
      bool many = c.triangle_count < 0 || c.triangle_count > INT32_MAX / 3;
      c.triangle = list = read_list(p, many ? -1 : 3 * c.triangle_count);
    } else if (c.kind == FRIX_GEOMETRY_HULL) {
      fx_pack_i32(p, &faces.count);
      faces.start = start = read_list(p, faces.count < 0 || faces.count == INT32_MAX ? -1 : faces.count + 1);
      faces.vertex = list = read_list(p, start ? start[faces.count] : -1);
    }
  }
  bool convex = c.kind == FRIX_GEOMETRY_HULL || c.kind == FRIX_GEOMETRY_POLYGON;
  frix_status status =
      p->failed ? FRIX_ERROR_FORMAT : fx_builder_add_geometry(builder, &c, convex ? &faces : NULL, NULL);
  void *owned[] = {(void *)c.name, point, height, start, list};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(p->context, owned[k]);
  return status;
}

/* Soft bodies of the geometries that were read. */
static frix_status read_softs(fx_pack *p, frix_builder *builder) {
  for (int32_t k = 0; k < builder->geometry_count; k++) {
    int64_t size = 0;
    frix_soft *soft = NULL;
    fx_pack_i64(p, &size);
    if (p->failed || size < 0 || size > p->end - p->at) return FRIX_ERROR_FORMAT;
    if (!size) continue;
    frix_status status = fx_soft_decode(p->context, "model", (const char *)p->at, (size_t)size, &soft);
    p->at += size;
    if (!status) status = fx_geometry_soften(builder->geometry[k], soft);
    frix_soft_destroy(soft);
    if (status) return status;
  }
  return FRIX_OK;
}

static frix_status read_material(fx_pack *p, frix_builder *builder) {
  frix_material_config c = frix_material_default();
  pack_material(p, &c);
  frix_status status = p->failed ? FRIX_ERROR_FORMAT : frix_builder_add_material(builder, &c, NULL);
  fx_free(p->context, (void *)c.name);
  return status;
}

static frix_status read_body(fx_pack *p, draft *d, int32_t k) {
  body_row row = {0};
  pack_body(p, &row);
  frix_body_config c = frix_body_default();
  c.name = row.name, c.kind = (frix_body_kind)row.kind;
  c.planar = row.planar, c.spawn_only = row.spawn_only, c.can_sleep = row.can_sleep;
  c.mass = row.mass, c.gravity_scale = row.gravity_scale, c.inertia = row.inertia, c.center = row.center;
  c.velocity = row.velocity, c.spin = row.spin;
  c.pose = fx_body_user_pose(&(fx_body){.center = row.center}, row.start);
  d->start[k] = row.start, d->center[k] = row.center;
  frix_status status = p->failed ? FRIX_ERROR_FORMAT : frix_builder_add_body(d->builder, &c, NULL);
  if (!status && c.kind == FRIX_BODY_DYNAMIC && !(c.mass > 0.0)) status = FRIX_ERROR_FORMAT;
  fx_free(p->context, (void *)c.name);
  return status;
}

static frix_status read_shape(fx_pack *p, draft *d, int32_t k, int32_t body_count) {
  shape_row row = {0};
  pack_shape(p, &row);
  if (row.body >= (uint32_t)body_count) p->failed = true, row.body = 0;
  frix_shape_config c = frix_shape_default();
  c.name = row.name, c.kind = (frix_shape_kind)row.kind;
  c.pose = row.local;
  c.pose.p = fx_add(c.pose.p, d->center[row.body]);
  c.radius = row.radius, c.half_length = row.half_length, c.half = row.half, c.density = row.density;
  c.group = row.group, c.mask = row.mask;
  c.material = (frix_material_id){row.material, row.material ? 1 : 0};
  c.geometry = (frix_geometry_id){row.geometry, row.geometry ? 1 : 0};
  d->local[k] = row.local;
  frix_body_id body = {row.body, row.body ? 1 : 0};
  frix_status status = p->failed ? FRIX_ERROR_FORMAT : frix_builder_add_shape(d->builder, body, &c, NULL);
  fx_free(p->context, (void *)c.name);
  return status;
}

static frix_status read_joint(fx_pack *p, draft *d, int32_t k, int32_t body_count) {
  frix_joint_config c = frix_joint_default(FRIX_JOINT_BALL);
  pack_joint(p, &c);
  if (c.a.index >= (uint32_t)body_count || c.b.index >= (uint32_t)body_count) p->failed = true;
  if (!p->failed) {
    c.a.generation = c.a.index != 0, c.b.generation = c.b.index != 0;
    c.first.generation = c.first.index != 0, c.second.generation = c.second.index != 0;
    d->frame[k][0] = c.frame_a, d->frame[k][1] = c.frame_b;
    c.frame_a.p = fx_add(c.frame_a.p, d->center[c.a.index]);
    c.frame_b.p = fx_add(c.frame_b.p, d->center[c.b.index]);
  }
  frix_status status = p->failed ? FRIX_ERROR_FORMAT : frix_builder_add_joint(d->builder, &c, NULL);
  fx_free(p->context, (void *)c.name);
  return status;
}

static bool good_pair(frix_context *context, const fx_pair_entry *e, const fx_pair_entry *before, int32_t materials) {
  const fx_surface *s = &e->surface;
  fx_pair m = e->material;
  frix_material_config c = frix_material_default();
  c.mu = s->mu, c.mu2 = s->mu2, c.axis = s->axis, c.rolling = s->rolling, c.spinning = s->spinning;
  c.restitution = s->restitution, c.stiffness = s->stiffness;
  if (!s->anisotropic) c.mu2 = 0.0;
  if (fx_check_material(context, &c) || !(s->mu2 >= 0.0) || !isfinite(s->mu2)) return false;
  bool after = !before || before->material.a < m.a || (before->material.a == m.a && before->material.b < m.b);
  return after && m.a >= 0 && m.a <= m.b && m.b < materials;
}

/* Sorted lists, put in place of what the builder would have made of them. */
static frix_status read_pairs(fx_pack *p, frix_model *m, int32_t pairs, int32_t excluded) {
  fx_pair_entry *pair = read_room(p, pairs, 66, sizeof *pair);
  fx_pair *apart = read_room(p, excluded, 8, sizeof *apart);
  fx_free(m->context, m->pair);
  fx_free(m->context, m->excluded);
  m->pair = pair, m->excluded = apart;
  m->pair_count = m->excluded_count = 0;
  for (int32_t k = 0; pair && apart && k < pairs; k++, m->pair_count++) {
    pack_pair(p, &pair[k]);
    if (!good_pair(p->context, &pair[k], k ? &pair[k - 1] : NULL, m->material_count)) p->failed = true;
  }
  for (int32_t k = 0; pair && apart && k < excluded; k++, m->excluded_count++) {
    fx_pair *e = &apart[k];
    fx_pack_i32(p, &e->a);
    fx_pack_i32(p, &e->b);
    bool sorted = k == 0 || e[-1].a < e->a || (e[-1].a == e->a && e[-1].b <= e->b);
    if (!sorted || e->a < 0 || e->a > e->b || e->b >= m->body_count) p->failed = true;
  }
  return p->failed ? FRIX_ERROR_FORMAT : FRIX_OK;
}

static frix_status read_model(fx_pack *p, draft *d) {
  int32_t version = 0, count[7] = {0};
  frix_vec3 gravity = {0};
  fx_pack_i32(p, &version);
  if (version != VERSION && version != SOFT_VERSION) return FRIX_ERROR_FORMAT;
  fx_pack_vec(p, &gravity);
  for (int k = 0; k < 7; k++) {
    fx_pack_i32(p, &count[k]);
    if (count[k] < 0) p->failed = true;
  }
  int32_t bodies = count[2] < INT32_MAX ? count[2] + 1 : 0;
  d->start = read_room(p, count[2], 100, sizeof *d->start); /* one more than asked: the world */
  d->center = read_room(p, count[2], 100, sizeof *d->center);
  d->local = read_room(p, count[3], 100, sizeof *d->local);
  d->frame = read_room(p, count[4], 100, sizeof *d->frame);
  frix_status status = p->failed ? FRIX_ERROR_FORMAT : frix_builder_create(d->context, &d->builder);
  if (!status) status = frix_builder_set_gravity(d->builder, gravity);
  for (int32_t k = 0; !status && k < count[0]; k++) status = read_material(p, d->builder);
  for (int32_t k = 0; !status && k < count[1]; k++) status = read_geometry(p, d->builder);
  if (!status && version == SOFT_VERSION) status = read_softs(p, d->builder);
  for (int32_t k = 1; !status && k < bodies; k++) status = read_body(p, d, k);
  for (int32_t k = 0; !status && k < count[3]; k++) status = read_shape(p, d, k, bodies);
  for (int32_t k = 0; !status && k < count[4]; k++) status = read_joint(p, d, k, bodies);
  if (!status) status = frix_builder_compile(d->builder, &d->model);
  if (!status) status = fx_model_restore_frames(d->model, d->start, d->local, (const frix_pose(*)[2])(void *)d->frame);
  if (!status) status = read_pairs(p, d->model, count[5], count[6]);
  return status || p->at == p->end ? status : FRIX_ERROR_FORMAT;
}

frix_status frix_model_decode(frix_context *context, const unsigned char *bytes, size_t size, frix_model **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!bytes && size) return fx_fail(context, FRIX_ERROR_INPUT, "frix_model_decode: bytes is NULL");
  draft d = {.context = context};
  fx_pack p = fx_pack_reader(context, bytes, size);
  frix_status status = read_model(&p, &d);
  if (p.no_memory) status = FRIX_ERROR_MEMORY;
  frix_builder_destroy(d.builder);
  void *owned[] = {d.start, d.center, d.local, d.frame};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(context, owned[k]);
  if (status == FRIX_OK) {
    *out = d.model;
    return FRIX_OK;
  }
  frix_model_destroy(d.model);
  if (status == FRIX_ERROR_INPUT) { /* what the builder said */
    char *text = fx_copy_text(context, frix_error_text(context));
    status = fx_fail(context, FRIX_ERROR_FORMAT, "model: %s", text ? text : "");
    fx_free(context, text);
    return status;
  }
  return status == FRIX_ERROR_FORMAT ? fx_fail(context, status, "model: its bytes are cut short or damaged") : status;
}
