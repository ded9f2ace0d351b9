/* Rays, casts, overlaps and distances at the present poses. */
#include "base/abi.h"
#include "sim/query_internal.h"

#include "base/threads.h"
#include "collision/gap.h"

#include <frix/query.h>
#include <math.h>

/* ---- the tree ---- */

#define FX_PRISM 1e9 /* half height of flat shapes */

/* A little wider than the shape, so that rounding of its box hides no hit. */
static void place_item(const fx_shape *s, frix_pose body, int32_t slot, int32_t shape, fx_query_item *out) {
  *out = (fx_query_item){.pose = s->centred ? body : fx_pose_mul(body, s->local), .slot = slot, .shape = shape};
  if (!isfinite(s->bound)) {
    out->low.x = -INFINITY;
    return;
  }
  const fx_shape_row *row = fx_shape_row_of(s->kind);
  row->box(s, out->pose, &out->low, &out->high);
  frix_vec3 p = out->pose.p;
  double pad = 1e-12 * (s->bound + fabs(p.x) + fabs(p.y) + fabs(p.z));
  out->low = fx_sub(out->low, fx_vec(pad, pad, pad)), out->high = fx_add(out->high, fx_vec(pad, pad, pad));
  if (row->info.flat) out->low.z = -FX_PRISM, out->high.z = FX_PRISM;
}

static frix_status rebuild(frix_sim *sim, fx_query_tree *tree) {
  const fx_state *s = &sim->state;
  int64_t count = 0;
  for (int32_t k = 0; k < s->count; k++)
    if (s->prototype[k] >= 0) count += fx_slot_body(sim, k)->shape_count;
  if (count > INT32_MAX / 4) return fx_fail(sim->context, FRIX_ERROR_INPUT, "query: too many shapes");
  if (fx_query_tree_reserve(tree, (int32_t)count) != FRIX_OK) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t k = 0; k < s->count; k++) {
    if (s->prototype[k] < 0) continue;
    const fx_body *body = fx_slot_body(sim, k);
    for (int32_t j = body->shape_start; j < body->shape_start + body->shape_count; j++)
      place_item(&sim->model->shape[j], s->pose[k], k, j, &tree->item[at++]);
  }
  fx_query_tree_build(tree, at);
  return FRIX_OK;
}

const fx_query_tree *fx_query_now(frix_sim *sim) {
  fx_query *q = sim->query;
  if (!q && !(q = sim->query = FX_NEW(sim->context, fx_query, 1))) return NULL;
  q->tree.context = sim->context;
  /* within the force callback poses change without a mark */
  if (q->valid && !sim->in_force && q->stamp == sim->stamp && q->step_count == sim->state.step_count) return &q->tree;
  q->valid = false;
  if (rebuild(sim, &q->tree) != FRIX_OK) return NULL;
  q->stamp = sim->stamp;
  q->step_count = sim->state.step_count;
  q->valid = !sim->in_force;
  return &q->tree;
}

void fx_query_free(frix_sim *sim) {
  if (!sim->query) return;
  fx_query_tree_free(&sim->query->tree);
  fx_free(sim->context, sim->query);
}

/* ---- what counts ---- */

static frix_query_filter default_query_filter(void) {
  return (frix_query_filter){.size = sizeof(frix_query_filter), .mask = UINT32_MAX};
}

void frix_query_filter_init(frix_query_filter *out, size_t size) {
  frix_query_filter all = default_query_filter();
  fx_give_struct(out, size, &all, sizeof all);
}

static frix_status check_filter(const frix_sim *sim, const frix_query_filter *filter, const char *call) {
  if (!filter || filter->size == sizeof *filter) return FRIX_OK;
  return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: the filter does not come from frix_query_filter_default()", call);
}

static frix_shape_id shape_id(const frix_sim *sim, int32_t shape) {
  return (frix_shape_id){(uint32_t)sim->model->shape[shape].id + 1, 1};
}

static bool counts(const frix_sim *sim, const frix_query_filter *filter, const fx_query_item *item) {
  if (!filter) return true;
  if (!(sim->model->shape[item->shape].group & filter->mask)) return false;
  if (filter->ignore_world && item->slot == 0) return false;
  frix_body_id body = fx_slot_id(sim, item->slot);
  if (filter->ignore.index && body.index == filter->ignore.index && body.generation == filter->ignore.generation)
    return false;
  return !filter->accept || filter->accept(body, shape_id(sim, item->shape), filter->user);
}

/* ---- rays ---- */

typedef struct ray_query {
  const frix_sim *sim;
  const fx_query_tree *tree;
  const frix_query_filter *filter;
  fx_ray ray;
  double limit;
  int32_t item; /* the closest, -1: none */
  frix_vec3 normal;
  frix_ray_hit *all; /* every hit, where it is wanted */
  int32_t count, capacity;
  bool failed;
} ray_query;

static bool good_ray(const frix_ray *r) {
  return fx_finite(r->origin) && fx_finite(r->direction) && fx_norm2(r->direction) > 0.0 && r->length >= 0.0;
}

static ray_query query_of(const frix_sim *sim, const fx_query_tree *tree, const frix_ray *r,
                          const frix_query_filter *filter) {
  return (ray_query){.sim = sim,
                     .tree = tree,
                     .filter = filter,
                     .ray = {.origin = r->origin, .direction = fx_unit(r->direction)},
                     .limit = r->length,
                     .item = -1};
}

static bool meet(const ray_query *q, const fx_query_item *item, double *distance, frix_vec3 *normal) {
  fx_ray local = {.origin = fx_pose_unpoint(item->pose, q->ray.origin),
                  .direction = fx_unrotate(item->pose.q, q->ray.direction)};
  if (!fx_ray_shape(&q->sim->model->shape[item->shape], &local, q->limit, distance, normal)) return false;
  *normal = fx_rotate(item->pose.q, *normal);
  return true;
}

static frix_ray_hit hit_of(const ray_query *q, int32_t item, double distance, frix_vec3 normal) {
  const fx_query_item *at = &q->tree->item[item];
  return (frix_ray_hit){.body = fx_slot_id(q->sim, at->slot),
                        .shape = shape_id(q->sim, at->shape),
                        .distance = distance,
                        .point = fx_mad(q->ray.origin, distance, q->ray.direction),
                        .normal = normal};
}

static void visit_closest(int32_t item, void *user) {
  ray_query *q = user;
  double distance;
  frix_vec3 normal;
  if (!meet(q, &q->tree->item[item], &distance, &normal)) return;
  if (q->item >= 0 && distance == q->limit && item > q->item) return;
  if (!counts(q->sim, q->filter, &q->tree->item[item])) return;
  q->limit = distance, q->item = item, q->normal = normal;
}

static frix_ray_hit closest(ray_query *q) {
  fx_query_tree_ray(q->tree, &q->ray, &q->limit, visit_closest, q);
  frix_ray_hit none = {.distance = q->limit};
  return q->item < 0 ? none : hit_of(q, q->item, q->limit, q->normal);
}

frix_status frix_sim_cast_ray(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter, frix_ray_hit *out) {
  return frix_sim_cast_rays(sim, ray, 1, filter, out);
}

enum { RAYS_PER_TASK = 256 };

typedef struct ray_batch {
  const frix_sim *sim;
  const fx_query_tree *tree;
  const frix_ray *ray;
  const frix_query_filter *filter;
  frix_ray_hit *out;
  int32_t count;
} ray_batch;

static void cast_some(int32_t task, void *user) {
  const ray_batch *b = user;
  int32_t first = task * RAYS_PER_TASK, last = first + RAYS_PER_TASK < b->count ? first + RAYS_PER_TASK : b->count;
  for (int32_t k = first; k < last; k++) {
    ray_query q = query_of(b->sim, b->tree, &b->ray[k], b->filter);
    b->out[k] = closest(&q);
  }
}

frix_status frix_sim_cast_rays(frix_sim *sim, const frix_ray *ray, int32_t count, const frix_query_filter *filter,
                               frix_ray_hit *out) {
  if (!sim || count < 0 || (count && (!ray || !out))) return FRIX_ERROR_INPUT;
  frix_status status = check_filter(sim, filter, "frix_sim_cast_rays");
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < count; k++)
    if (!good_ray(&ray[k]))
      return fx_fail(sim->context, FRIX_ERROR_INPUT,
                     "frix_sim_cast_rays: ray %d needs a finite origin, a direction and a length of at least 0",
                     (int)k);
  ray_batch batch = {.sim = sim, .ray = ray, .filter = filter, .out = out, .count = count};
  if (!(batch.tree = fx_query_now(sim))) return FRIX_ERROR_MEMORY;
  int32_t tasks = count / RAYS_PER_TASK + (count % RAYS_PER_TASK != 0);
  int32_t threads = tasks > 1 ? sim->config.thread_count : 1;
  fx_parallel(sim->context, threads, tasks, cast_some, &batch);
  return FRIX_OK;
}

/* By distance, then in the order of bodies and shapes. */
static bool comes_before(const frix_ray_hit *a, const frix_ray_hit *b) {
  if (a->distance != b->distance) return a->distance < b->distance;
  if (a->body.index != b->body.index) return a->body.index < b->body.index;
  return a->shape.index < b->shape.index;
}

/* The nearest `capacity` hits, sorted as they come. */
static void visit_any(int32_t item, void *user) {
  ray_query *q = user;
  double distance;
  frix_vec3 normal;
  if (!meet(q, &q->tree->item[item], &distance, &normal) || !counts(q->sim, q->filter, &q->tree->item[item])) return;
  frix_ray_hit hit = hit_of(q, item, distance, normal);
  int32_t kept = q->count < q->capacity ? q->count : q->capacity, at = kept;
  q->count++;
  while (at > 0 && comes_before(&hit, &q->all[at - 1])) at--;
  if (at >= q->capacity) return;
  for (int32_t k = kept < q->capacity ? kept : q->capacity - 1; k > at; k--) q->all[k] = q->all[k - 1];
  q->all[at] = hit;
}

frix_status frix_sim_cast_ray_all(frix_sim *sim, const frix_ray *ray, const frix_query_filter *filter,
                                  frix_ray_hit *out, int32_t capacity, int32_t *count) {
  if (!sim || !ray || !count || capacity < 0 || (capacity && !out)) return FRIX_ERROR_INPUT;
  *count = 0;
  frix_status status = check_filter(sim, filter, "frix_sim_cast_ray_all");
  if (status != FRIX_OK) return status;
  if (!good_ray(ray)) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_cast_ray_all: not a ray");
  const fx_query_tree *tree = fx_query_now(sim);
  if (!tree) return FRIX_ERROR_MEMORY;
  ray_query q = query_of(sim, tree, ray, filter);
  q.all = out, q.capacity = capacity;
  fx_query_tree_ray(tree, &q.ray, &q.limit, visit_any, &q);
  *count = q.count;
  return FRIX_OK;
}

/* ---- shapes ---- */

typedef struct shape_query {
  frix_sim *sim;
  const fx_query_tree *tree;
  const frix_query_filter *filter;
  fx_shape shape;
  frix_pose pose;
  frix_vec3 low, high, way;
  double limit, near; /* near: how far boxes may be apart */
  int32_t item;
  fx_gap gap;
  frix_overlap *out;
  int32_t count, capacity;
} shape_query;

/* Checks and places the caller's shape. */
static frix_status begin_shape(frix_sim *sim, const frix_shape_config *config, frix_pose pose,
                               const frix_query_filter *filter, const char *call, shape_query *q) {
  const frix_model *m = sim->model;
  frix_status status = check_filter(sim, filter, call);
  if (status != FRIX_OK) return status;
  FX_WHOLE(frix_shape_config, config, frix_shape_default());
  if (config->size != sizeof *config)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: the shape does not come from frix_shape_default()", call);
  const fx_shape_row *row =
      (int)config->kind >= 0 && config->kind < FRIX_SHAPE_COUNT ? fx_shape_row_of(config->kind) : NULL;
  if (!row || !row->support)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: a bounded convex shape is needed", call);
  uint32_t number = config->geometry.index;
  if (number && (config->geometry.generation != 1 || number > (uint32_t)m->geometry_count))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: no such geometry", call);
  const fx_geometry *geometry = number ? m->geometry[number - 1] : NULL;
  if ((status = row->check(sim->context, config, geometry)) != FRIX_OK) return status;
  double n = fx_quat_norm2(pose.q), inner = fx_quat_norm2(config->pose.q);
  if (!fx_finite(pose.p) || !fx_finite(config->pose.p) || !isfinite(n) || !isfinite(inner) || !(n > 1e-12) ||
      !(inner > 1e-12))
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: the pose is not finite", call);
  *q = (shape_query){.sim = sim, .filter = filter, .item = -1};
  q->shape = (fx_shape){.kind = config->kind,
                        .radius = config->radius,
                        .half_length = config->half_length,
                        .half = config->half,
                        .geometry = geometry,
                        .local = fx_pose_one()};
  q->shape.bound = fx_shape_bound(&q->shape);
  frix_pose own = {config->pose.p, fx_quat_unit(config->pose.q)};
  pose.q = fx_quat_unit(pose.q);
  q->pose = fx_pose_mul(pose, own);
  row->box(&q->shape, q->pose, &q->low, &q->high);
  return (q->tree = fx_query_now(sim)) ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Whether the item counts and has a distance from the caller's shape. */
static bool may_meet(const shape_query *q, const fx_query_item *item) {
  return fx_gap_known(&q->shape, &q->sim->model->shape[item->shape]) && counts(q->sim, q->filter, item);
}

static void visit_cast(int32_t k, void *user) {
  shape_query *q = user;
  const fx_query_item *item = &q->tree->item[k];
  double fraction;
  fx_gap gap;
  if (!may_meet(q, item) || !fx_gap_cast(q->sim->inner, &q->shape, q->pose, q->way, &q->sim->model->shape[item->shape],
                                         item->pose, q->limit, &fraction, &gap))
    return;
  if (q->item >= 0 && (fraction > q->limit || (fraction == q->limit && k > q->item))) return;
  q->limit = fraction, q->item = k, q->gap = gap;
}

frix_status frix_sim_cast_shape(frix_sim *sim, const frix_shape_config *shape, frix_pose pose, frix_vec3 way,
                                const frix_query_filter *filter, frix_cast_hit *out) {
  if (!sim || !shape || !out) return FRIX_ERROR_INPUT;
  shape_query q;
  frix_status status = begin_shape(sim, shape, pose, filter, "frix_sim_cast_shape", &q);
  if (status != FRIX_OK) return status;
  if (!fx_finite(way)) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_cast_shape: the way is not finite");
  q.way = way, q.limit = 1.0;
  frix_vec3 low = fx_vec(q.low.x + fx_min(way.x, 0.0), q.low.y + fx_min(way.y, 0.0), q.low.z + fx_min(way.z, 0.0));
  frix_vec3 high = fx_vec(q.high.x + fx_max(way.x, 0.0), q.high.y + fx_max(way.y, 0.0), q.high.z + fx_max(way.z, 0.0));
  fx_query_tree_near(q.tree, low, high, &q.near, visit_cast, &q);
  *out = (frix_cast_hit){.fraction = 1.0};
  if (q.item < 0) return FRIX_OK;
  const fx_query_item *item = &q.tree->item[q.item];
  *out = (frix_cast_hit){.body = fx_slot_id(sim, item->slot),
                         .shape = shape_id(sim, item->shape),
                         .fraction = q.limit,
                         .point = q.gap.point_b,
                         .normal = q.gap.normal};
  return FRIX_OK;
}

static void visit_overlap(int32_t k, void *user) {
  shape_query *q = user;
  const fx_query_item *item = &q->tree->item[k];
  fx_gap gap;
  if (!may_meet(q, item) ||
      !fx_gap_find(q->sim->inner, &q->shape, q->pose, &q->sim->model->shape[item->shape], item->pose, 0.0, &gap))
    return;
  frix_overlap hit = {fx_slot_id(q->sim, item->slot), shape_id(q->sim, item->shape), fx_max(0.0, -gap.distance)};
  int32_t kept = q->count < q->capacity ? q->count : q->capacity, at = kept;
  q->count++;
  while (at > 0 && (hit.body.index < q->out[at - 1].body.index ||
                    (hit.body.index == q->out[at - 1].body.index && hit.shape.index < q->out[at - 1].shape.index)))
    at--;
  if (at >= q->capacity) return;
  for (int32_t j = kept < q->capacity ? kept : q->capacity - 1; j > at; j--) q->out[j] = q->out[j - 1];
  q->out[at] = hit;
}

frix_status frix_sim_overlap(frix_sim *sim, const frix_shape_config *shape, frix_pose pose,
                             const frix_query_filter *filter, frix_overlap *out, int32_t capacity, int32_t *count) {
  if (!sim || !shape || !count || capacity < 0 || (capacity && !out)) return FRIX_ERROR_INPUT;
  *count = 0;
  shape_query q;
  frix_status status = begin_shape(sim, shape, pose, filter, "frix_sim_overlap", &q);
  if (status != FRIX_OK) return status;
  q.out = out, q.capacity = capacity;
  fx_query_tree_near(q.tree, q.low, q.high, &q.near, visit_overlap, &q);
  *count = q.count;
  return FRIX_OK;
}

/* ---- distances ---- */

static void visit_distance(int32_t k, void *user) {
  shape_query *q = user;
  const fx_query_item *item = &q->tree->item[k];
  fx_gap gap;
  if (!may_meet(q, item) ||
      !fx_gap_find(q->sim->inner, &q->shape, q->pose, &q->sim->model->shape[item->shape], item->pose, q->limit, &gap))
    return;
  if (q->item >= 0 && (gap.distance > q->limit || (gap.distance == q->limit && k > q->item))) return;
  q->limit = q->near = gap.distance, q->item = k, q->gap = gap;
}

frix_status frix_sim_shape_distance(frix_sim *sim, const frix_shape_config *shape, frix_pose pose, double limit,
                                    const frix_query_filter *filter, frix_distance *out) {
  if (!sim || !shape || !out) return FRIX_ERROR_INPUT;
  shape_query q;
  frix_status status = begin_shape(sim, shape, pose, filter, "frix_sim_shape_distance", &q);
  if (status != FRIX_OK) return status;
  if (isnan(limit)) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_shape_distance: limit is not a number");
  q.limit = q.near = limit;
  fx_query_tree_near(q.tree, q.low, q.high, &q.near, visit_distance, &q);
  *out = (frix_distance){.distance = INFINITY};
  if (q.item < 0) return FRIX_OK;
  const fx_query_item *item = &q.tree->item[q.item];
  out->distance = q.gap.distance;
  out->body_b = fx_slot_id(sim, item->slot);
  out->shape_b = shape_id(sim, item->shape);
  out->point_a = q.gap.point_a, out->point_b = q.gap.point_b, out->normal = q.gap.normal;
  return FRIX_OK;
}

static frix_pose placed(const frix_sim *sim, int32_t slot, const fx_shape *s) {
  return s->centred ? sim->state.pose[slot] : fx_pose_mul(sim->state.pose[slot], s->local);
}

/* Between two shapes of the sim, the bounded convex one first. */
static bool pair_gap(const frix_sim *sim, int32_t slot_a, const fx_shape *a, int32_t slot_b, const fx_shape *b,
                     double limit, fx_gap *out) {
  if (!fx_gap_known(a, b)) return false;
  if (fx_shape_row_of(a->kind)->support)
    return fx_gap_find(sim->inner, a, placed(sim, slot_a, a), b, placed(sim, slot_b, b), limit, out);
  fx_gap turned;
  if (!fx_gap_find(sim->inner, b, placed(sim, slot_b, b), a, placed(sim, slot_a, a), limit, &turned)) return false;
  *out = (fx_gap){turned.distance, turned.point_b, turned.point_a, fx_neg(turned.normal)};
  return true;
}

bool fx_query_gap(const frix_sim *sim, int32_t shape_a, int32_t shape_b, double limit, fx_gap *out) {
  const fx_shape *a = &sim->model->shape[shape_a], *b = &sim->model->shape[shape_b];
  return pair_gap(sim, a->body, a, b->body, b, limit, out);
}

frix_status frix_sim_distance(frix_sim *sim, frix_body_id a, frix_body_id b, frix_distance *out) {
  if (!sim || !out) return FRIX_ERROR_INPUT;
  int32_t slot_a = fx_slot_of(sim, a, true, "frix_sim_distance"),
          slot_b = fx_slot_of(sim, b, true, "frix_sim_distance");
  if (slot_a < 0 || slot_b < 0) return FRIX_ERROR_INPUT;
  if (slot_a == slot_b) return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_distance: one body twice");
  *out = (frix_distance){.distance = INFINITY, .body_a = a, .body_b = b};
  const fx_body *one = fx_slot_body(sim, slot_a), *two = fx_slot_body(sim, slot_b);
  for (int32_t i = one->shape_start; i < one->shape_start + one->shape_count; i++)
    for (int32_t j = two->shape_start; j < two->shape_start + two->shape_count; j++) {
      fx_gap gap;
      if (!pair_gap(sim, slot_a, &sim->model->shape[i], slot_b, &sim->model->shape[j], out->distance, &gap)) continue;
      if (out->shape_a.index && gap.distance >= out->distance) continue;
      out->distance = gap.distance;
      out->shape_a = shape_id(sim, i), out->shape_b = shape_id(sim, j);
      out->point_a = gap.point_a, out->point_b = gap.point_b, out->normal = gap.normal;
    }
  return FRIX_OK;
}
