/* Frames of beds: a model of walls and one pattern per radius, of which every grain is an instance.
 *
 * Bodies of the model are the walls, then the patterns; grain `id` is the body behind them. Files of beds are read by
 * all that read runs; they hold no checkpoints (frix_bed_save is for these). */
#include "bed/bed_internal.h"
#include "io/trajectory_internal.h"

#include <stdio.h>
#include <string.h>

enum { SIDES = 48 }; /* of a surface of revolution */

/* ---- the model ---- */

static frix_status add_turned(frix_builder *builder, frix_body_id body, const frix_bed_wall *w) {
  frix_vec3 point[2 * SIDES];
  int32_t triangle[6 * SIDES], count = 0;
  for (int k = 0; k < SIDES; k++) {
    double s, c;
    frix_sincos(2.0 * 3.14159265358979323846 * k / SIDES, &s, &c);
    point[2 * k] = fx_vec(fx_max(w->a[0], 1e-6) * c, fx_max(w->a[0], 1e-6) * s, w->a[1]);
    point[2 * k + 1] = fx_vec(fx_max(w->b[0], 1e-6) * c, fx_max(w->b[0], 1e-6) * s, w->b[1]);
    int32_t corner[4] = {2 * k, 2 * k + 1, (2 * k + 2) % (2 * SIDES), (2 * k + 3) % (2 * SIDES)};
    const int32_t two[6] = {corner[0], corner[1], corner[2], corner[1], corner[3], corner[2]};
    memcpy(triangle + 6 * (size_t)count++, two, sizeof two);
  }
  frix_geometry_config mesh = frix_geometry_default();
  mesh.kind = FRIX_GEOMETRY_MESH;
  mesh.point_count = 2 * SIDES, mesh.point = point, mesh.triangle_count = 2 * SIDES, mesh.triangle = triangle;
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_MESH;
  frix_status status = frix_builder_add_geometry(builder, &mesh, &shape.geometry);
  return status ? status : frix_builder_add_shape(builder, body, &shape, NULL);
}

static frix_pose pose_of(const frix_bed_wall *w) {
  if (w->kind == FRIX_BED_TURNED) return fx_pose_one();
  frix_vec3 x = fx_across(w->normal);
  return (frix_pose){w->point, fx_quat_of_axes(x, fx_cross(w->normal, x), w->normal)};
}

static frix_status add_wall(frix_builder *builder, const frix_bed_wall *w, int32_t k) {
  char name[32];
  frix_body_id id;
  frix_body_config body = frix_body_default();
  snprintf(name, sizeof name, "wall_%d", (int)k);
  body.name = name, body.kind = FRIX_BODY_KINEMATIC, body.pose = pose_of(w);
  frix_status status = frix_builder_add_body(builder, &body, &id);
  if (status || w->kind == FRIX_BED_TURNED) return status ? status : add_turned(builder, id, w);
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_PLANE;
  return frix_builder_add_shape(builder, id, &shape, NULL);
}

static frix_status add_convex(frix_builder *builder, frix_body_id id, const fx_shape *of, frix_shape_config *shape) {
  frix_status status = FRIX_OK;
  shape->kind = of->kind, shape->radius = of->radius, shape->half_length = of->half_length, shape->half = of->half;
  if (of->geometry) {
    frix_geometry_config hull = frix_geometry_default();
    hull.kind = FRIX_GEOMETRY_HULL;
    hull.point_count = of->geometry->hull.vertex_count, hull.point = of->geometry->hull.vertex;
    status = frix_builder_add_geometry(builder, &hull, &shape->geometry);
  }
  return status ? status : frix_builder_add_shape(builder, id, shape, NULL);
}

static frix_status add_pattern(frix_builder *builder, const frix_bed *bed, int32_t k) {
  char name[32];
  frix_body_id id;
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  snprintf(name, sizeof name, "grain_%d", (int)k);
  const fx_bed_kind *kind = &bed->kind[k];
  body.name = name, body.spawn_only = true;
  if (kind->clump.count > 1) body.mass = kind->mass, body.inertia = kind->inertia;
  shape.kind = FRIX_SHAPE_SPHERE, shape.density = bed->config.density;
  frix_status status = frix_builder_add_body(builder, &body, &id);
  if (kind->clump.count == 0 && !status) return add_convex(builder, id, &kind->shape, &shape);
  for (int32_t part = 0; part < kind->clump.count && !status; part++) {
    shape.radius = kind->clump.radius[part], shape.pose.p = kind->clump.center[part];
    status = frix_builder_add_shape(builder, id, &shape, NULL);
  }
  return status;
}

frix_status frix_bed_model(const frix_bed *bed, frix_model **out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_builder *builder = NULL;
  frix_status status = frix_builder_create(bed->context, &builder);
  if (!status) status = frix_builder_set_gravity(builder, bed->config.gravity);
  for (int32_t k = 0; k < bed->wall_count && !status; k++) status = add_wall(builder, &bed->wall[k], k);
  for (int32_t k = 0; k < bed->config.radius_count && !status; k++) status = add_pattern(builder, bed, k);
  if (!status) status = frix_builder_compile(builder, out);
  frix_builder_destroy(builder);
  return status;
}

/* ---- frames ---- */

static uint32_t index_of(const frix_bed *bed, int64_t id) {
  return (uint32_t)(1 + bed->wall_count + bed->config.radius_count + id);
}

static frix_frame_body wall_body(const frix_bed *bed, int32_t k) {
  const frix_bed_wall *w = &bed->wall[k];
  frix_pose pose = pose_of(w);
  frix_frame_body b = {.id = {(uint32_t)(1 + k), 1}, .pattern = {(uint32_t)(1 + k), 1}};
  b.state.center = pose.p, b.state.pose.q = pose.q, b.state.velocity = w->velocity;
  return b;
}

static frix_frame_body grain_body(const frix_bed *bed, int32_t k) {
  const fx_bed_place *p = &bed->place[k];
  frix_frame_body b = {.id = {index_of(bed, p->id), 1}, .pattern = {(uint32_t)(1 + bed->wall_count + p->size), 1}};
  b.state.center = p->p, b.state.pose.q = p->q, b.state.velocity = bed->speed[k].v;
  b.state.spin = fx_scale(1.0 / bed->speed[k].radius, bed->speed[k].s);
  return b;
}

static frix_contact_report contact_report(const frix_bed *bed, const frix_model *model, int32_t k) {
  frix_bed_contact c = {0};
  frix_bed_contact_at(bed, k, &c);
  frix_contact_report r = {.phase = FRIX_CONTACT_PERSIST, .point = c.point, .normal = c.normal, .impulse = c.impulse};
  double normal = fx_dot(c.impulse, c.normal), across = fx_norm(fx_mad(c.impulse, -normal, c.normal));
  int32_t wall = c.b < 0 ? (int32_t)(-1 - c.b) : -1;
  r.mu = wall < 0 ? bed->config.mu : bed->wall[wall].mu;
  r.a = (frix_body_id){index_of(bed, c.a), 1};
  r.b = (frix_body_id){wall < 0 ? index_of(bed, c.b) : (uint32_t)(1 + wall), 1};
  r.id = (uint64_t)r.a.index << 32 | r.b.index;
  r.margin = r.mu > 0.0 && normal > 0.0 ? fx_min(across / (r.mu * normal), 1.0) : 0.0;
  r.state = r.margin > 0.9999 ? FRIX_CONTACT_SLIP : FRIX_CONTACT_STICK;
  r.tangent[0] = fx_across(c.normal), r.tangent[1] = fx_cross(c.normal, r.tangent[0]), r.gap = c.gap;
  /* walls have one shape each; the last shape of any grain serves, for shapes are only looked at */
  r.shape_a = (frix_shape_id){(uint32_t)model->shape_count, 1};
  r.shape_b = (frix_shape_id){wall < 0 ? (uint32_t)model->shape_count : (uint32_t)(1 + wall), 1};
  return r;
}

static frix_step_report report_of(const frix_bed_report *b) {
  frix_step_report r = {.size = sizeof r, .certified = b->certified, .certificate = b->certificate};
  r.outcome = b->certified ? FRIX_OUTCOME_SOLVED : FRIX_OUTCOME_MAX_ITERATIONS;
  r.iterations = b->sweeps, r.contact_count = (int32_t)b->contact_count, r.touching_count = (int32_t)b->touching_count;
  r.penetration = b->penetration, r.seconds = b->seconds, r.collide_seconds = b->sort_seconds + b->contact_seconds;
  r.solve_seconds = b->solve_seconds, r.finisher = "bed", r.restitution = 1.0, r.awake_count = (int32_t)b->grain_count;
  r.row_count = 3 * r.contact_count, r.dof_count = (int32_t)(6 * b->grain_count), r.island_count = 1;
  return r;
}

frix_status fx_bed_frame(fx_buffer *out, const frix_bed *bed, const frix_model *model, const frix_bed_report *report,
                         bool contacts) {
  frix_frame f = {.step = bed->step_count, .time = bed->time, .h = bed->h};
  int32_t walls = fx_bed_rank(bed) == 0 ? bed->wall_count : 0; /* each body once, whatever the ranks */
  if (report) f.report = report_of(report), f.energy.kinetic = report->kinetic;
  f.body_count = walls + bed->own;
  f.contact_count = contacts ? frix_bed_contact_count(bed) : 0;
  frix_frame_body *body = fx_alloc_raw(bed->context, (size_t)f.body_count, sizeof *body);
  frix_contact_report *contact = fx_alloc_raw(bed->context, (size_t)f.contact_count, sizeof *contact);
  bool good = body && contact;
  for (int32_t k = 0; k < walls && good; k++) body[k] = wall_body(bed, k);
  for (int32_t k = 0; k < bed->own && good; k++) body[walls + k] = grain_body(bed, k);
  for (int32_t k = 0; k < f.contact_count && good; k++) contact[k] = contact_report(bed, model, k);
  if (good) fx_frame_put(out, &f, body, contact);
  fx_free(bed->context, body);
  fx_free(bed->context, contact);
  return good && !out->failed ? FRIX_OK : FRIX_ERROR_MEMORY;
}
