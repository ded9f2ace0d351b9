/* Rays, casts, overlaps and distances, judged by sets of points and by loops over all shapes.
 *
 * A ray is judged by whether points on it lie inside the shape, told by the shape's own inequality. A distance is
 * judged by what proves it: two points, one in each set, that far apart, and a plane between the sets that leaves as
 * much room. A cast is judged by distances on its way. */
#include <frix/frix.h>
#include <stdlib.h>

#include "collision/gap.h"
#include "collision/ray.h"
#include "shapes.h"

/* ---- inside or outside, by inequalities; below 0: inside ---- */

static double outside_hull(const fx_polyhedron *p, frix_vec3 x) {
  double most = -INFINITY;
  for (int32_t k = 0; k < p->face_count; k++)
    most = fmax(most, fx_dot(p->face_normal[k], fx_sub(x, p->vertex[p->face_vertex[p->face_start[k]]])));
  return most;
}

static double outside(const fx_shape *s, frix_vec3 x) {
  double across = sqrt(x.x * x.x + x.y * x.y);
  frix_vec3 h = s->half;
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE: return fx_norm(x) - s->radius;
    case FRIX_SHAPE_CAPSULE: x.z -= fmin(fmax(x.z, -s->half_length), s->half_length); return fx_norm(x) - s->radius;
    case FRIX_SHAPE_BOX: return fmax(fmax(fabs(x.x) - h.x, fabs(x.y) - h.y), fabs(x.z) - h.z);
    case FRIX_SHAPE_CYLINDER: return fmax(across - s->radius, fabs(x.z) - s->half_length);
    case FRIX_SHAPE_ELLIPSOID:
      return (sqrt(x.x * x.x / (h.x * h.x) + x.y * x.y / (h.y * h.y) + x.z * x.z / (h.z * h.z)) - 1) *
             fmin(h.x, fmin(h.y, h.z));
    case FRIX_SHAPE_HULL: return outside_hull(&s->geometry->hull, x);
    default: return INFINITY;
  }
}

/* The first point of the ray inside the shape, found by small steps and halving; INFINITY: none was met. */
static double first_inside(const fx_shape *s, const fx_ray *ray, double length) {
  enum { STEPS = 4000 };
  double before = 0.0;
  for (int k = 0; k <= STEPS; k++) {
    double t = length * k / STEPS;
    if (outside(s, fx_mad(ray->origin, t, ray->direction)) > 0.0) {
      before = t;
      continue;
    }
    if (k == 0) return 0.0;
    for (int half = 0; half < 60; half++) {
      double middle = 0.5 * (before + t);
      if (outside(s, fx_mad(ray->origin, middle, ray->direction)) > 0.0)
        before = middle;
      else
        t = middle;
    }
    return t;
  }
  return INFINITY;
}

static void ray_shapes(fx_test *t) {
  stock all;
  REQUIRE(t, stock_new(t, &all));
  int hits = 0, judged = 0;
  for (int kind = 0; kind < BOUNDED; kind++)
    for (int k = 0; k < 1000; k++) {
      fx_shape s = random_shape(t, &all, bounded[kind]);
      if (bounded[kind] == FRIX_SHAPE_HULL && !s.geometry) continue;
      fx_ray ray = {fx_scale(3.0, random_vec(t)), random_unit(t)};
      if (k % 2) ray.direction = fx_unit(fx_sub(fx_scale(0.7, random_vec(t)), ray.origin)); /* about half should hit */
      double length = 8.0, expected = first_inside(&s, &ray, length), distance = INFINITY;
      frix_vec3 normal = {0, 0, 0};
      bool hit = fx_ray_shape(&s, &ray, length, &distance, &normal);
      judged++, hits += hit;
      if (hit && !isfinite(expected)) { /* between two of the steps: it must be a graze */
        frix_vec3 inner = fx_mad(ray.origin, distance + 1e-9, ray.direction);
        CHECK(t, outside(&s, fx_mad(ray.origin, distance, ray.direction)) < 1e-9 && outside(&s, inner) < 1e-9);
        continue;
      }
      CHECK(t, hit == (isfinite(expected) != 0));
      if (!hit) continue;
      CHECK_NEAR(t, distance, expected, 1e-9);
      CHECK_NEAR(t, fx_norm(normal), 1, 1e-12);
      CHECK(t, fx_dot(normal, ray.direction) <= 1e-9);
      frix_vec3 p = fx_mad(ray.origin, distance, ray.direction);
      if (distance > 0.0) CHECK(t, outside(&s, fx_mad(p, 1e-6, normal)) > 0.0);
    }
  fx_test_note(t, "%d rays, %d hits", judged, hits);
  stock_free(&all);
}

/* ---- distances with their proof ---- */

static bool holds(const fx_shape *s, frix_pose pose, frix_vec3 x, double slop) {
  return outside(s, fx_pose_unpoint(pose, x)) <= slop;
}

static double support_along(const fx_shape *s, frix_pose pose, frix_vec3 d) {
  frix_vec3 p = fx_shape_row_of(s->kind)->support(s, fx_unrotate(pose.q, d));
  return fx_dot(d, fx_pose_point(pose, p));
}

static void pair_distances(fx_test *t) {
  stock all;
  REQUIRE(t, stock_new(t, &all));
  int overlaps = 0, count = 0;
  for (int a = 0; a < BOUNDED; a++)
    for (int b = 0; b < BOUNDED; b++)
      for (int k = 0; k < 1000; k++) {
        fx_shape one = random_shape(t, &all, bounded[a]), two = random_shape(t, &all, bounded[b]);
        if ((bounded[a] == FRIX_SHAPE_HULL || bounded[b] == FRIX_SHAPE_HULL) && !(one.geometry && two.geometry))
          continue;
        frix_pose pa = {fx_scale(2.0, random_vec(t)), random_quat(t)}, pb = {random_vec(t), random_quat(t)};
        fx_gap gap;
        bool found = fx_gap_find(all.context, &one, pa, &two, pb, INFINITY, &gap);
        CHECK(t, found);
        if (!found) continue;
        count++, overlaps += gap.distance < 0.0;
        double room = -support_along(&one, pa, fx_neg(gap.normal)) - support_along(&two, pb, gap.normal);
        CHECK_NEAR(t, room, gap.distance, 1e-7);
        CHECK_NEAR(t, fx_dot(gap.normal, fx_sub(gap.point_a, gap.point_b)), gap.distance, 1e-7);
        /* a distance to 1e-9 gives the place on a smooth surface, of which it is a square, to 3e-5 */
        double slop = 3e-5;
        CHECK(t, holds(&one, pa, gap.point_a, slop) && holds(&two, pb, gap.point_b, slop));
        if (gap.distance > 0.0) CHECK_NEAR(t, fx_norm(fx_sub(gap.point_a, gap.point_b)), gap.distance, 1e-7);
      }
  fx_test_note(t, "%d pairs, %d overlap", count, overlaps);
  stock_free(&all);
}

static void pair_casts(fx_test *t) {
  stock all;
  REQUIRE(t, stock_new(t, &all));
  int hits = 0, count = 0;
  for (int a = 0; a < BOUNDED; a++)
    for (int b = 0; b < BOUNDED; b++)
      for (int k = 0; k < 1000; k++) {
        fx_shape one = random_shape(t, &all, bounded[a]), two = random_shape(t, &all, bounded[b]);
        if ((bounded[a] == FRIX_SHAPE_HULL || bounded[b] == FRIX_SHAPE_HULL) && !(one.geometry && two.geometry))
          continue;
        frix_pose pa = {fx_scale(4.0, random_vec(t)), random_quat(t)}, pb = {random_vec(t), random_quat(t)};
        frix_vec3 way = fx_scale(8.0, random_unit(t));
        if (k % 2) way = fx_scale(8.0, fx_unit(fx_sub(pb.p, pa.p)));
        fx_gap gap, at;
        double fraction = 1.0;
        bool hit = fx_gap_cast(all.context, &one, pa, way, &two, pb, 1.0, &fraction, &gap);
        count++, hits += hit;
        for (int j = 0; j <= 10; j++) { /* free on the way, closed at its end */
          double part = hit ? fraction * j / 10 : j / 10.0;
          frix_pose moved = {fx_mad(pa.p, part, way), pa.q};
          bool found = fx_gap_find(all.context, &one, moved, &two, pb, INFINITY, &at);
          CHECK(t, found);
          if (hit && fraction == 0.0)
            CHECK(t, at.distance <= 1e-8);
          else
            CHECK(t, hit && j == 10 ? fabs(at.distance) < 1e-7 : at.distance > -1e-9);
        }
      }
  fx_test_note(t, "%d casts, %d hits", count, hits);
  stock_free(&all);
}

/* ---- a whole world against a loop over its shapes ---- */

typedef struct scene {
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
} scene;

static void add(fx_test *t, scene *s, frix_body_id body, frix_shape_config shape) {
  CHECK(t, frix_builder_add_shape(s->builder, body, &shape, NULL) == FRIX_OK);
}

/* A plane far below, a bumpy field, a mesh and `count` bodies of all kinds. */
static bool scene_new(fx_test *t, scene *s, int count) {
  memset(s, 0, sizeof *s);
  s->context = new_context(t);
  if (!s->context || frix_builder_create(s->context, &s->builder)) return false;
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_PLANE;
  shape.pose.p.z = -6;
  add(t, s, (frix_body_id){0, 0}, shape);
  double height[100];
  for (int k = 0; k < 100; k++) height[k] = -5 + 0.5 * fx_test_random(t);
  frix_geometry_config field = frix_geometry_default();
  field.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
  field.row_count = field.column_count = 10, field.width = field.depth = 10, field.height = height;
  shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_HEIGHT_FIELD;
  CHECK(t, frix_builder_add_geometry(s->builder, &field, &shape.geometry) == FRIX_OK);
  add(t, s, (frix_body_id){0, 0}, shape);
  frix_vec3 corner[40];
  for (int k = 0; k < 40; k++) corner[k] = fx_scale(3.0, random_vec(t));
  int32_t triangle[90];
  for (int k = 0; k < 30; k++) triangle[3 * k] = k, triangle[3 * k + 1] = k + 3, triangle[3 * k + 2] = k + 7;
  frix_geometry_config mesh = frix_geometry_default();
  mesh.kind = FRIX_GEOMETRY_MESH;
  mesh.point = corner, mesh.point_count = 40, mesh.triangle = triangle, mesh.triangle_count = 30;
  shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_MESH;
  shape.pose.p = fx_vec(8, 0, 0);
  CHECK(t, frix_builder_add_geometry(s->builder, &mesh, &shape.geometry) == FRIX_OK);
  add(t, s, (frix_body_id){0, 0}, shape);
  for (int k = 0; k < count; k++) {
    frix_body_config body = frix_body_default();
    body.pose = (frix_pose){fx_scale(5.0, random_vec(t)), random_quat(t)};
    frix_body_id id;
    CHECK(t, frix_builder_add_body(s->builder, &body, &id) == FRIX_OK);
    for (int part = 0; part <= k % 2; part++) {
      shape = frix_shape_default();
      shape.kind = bounded[(k + part) % (BOUNDED - 1)]; /* hulls need a package */
      shape.radius = between(t, 0.1, 0.5), shape.half_length = between(t, 0.1, 0.5);
      shape.half = fx_vec(between(t, 0.1, 0.5), between(t, 0.1, 0.5), between(t, 0.1, 0.5));
      shape.pose.p = fx_scale(0.3, random_vec(t));
      shape.group = 1u << k % 3;
      add(t, s, id, shape);
    }
  }
  return frix_builder_compile(s->builder, &s->model) == FRIX_OK &&
         frix_sim_create(s->context, s->model, NULL, &s->sim) == FRIX_OK;
}

static void scene_free(scene *s) {
  frix_sim_destroy(s->sim);
  frix_model_destroy(s->model);
  frix_builder_destroy(s->builder);
  frix_context_destroy(s->context);
}

/* Pose of shape k of the model, as its body stands in the sim. */
static frix_pose pose_of(const scene *s, const fx_shape *shape) {
  frix_body_state state = {0};
  frix_body_id id = {(uint32_t)shape->body, shape->body ? 1u : 0u};
  if (frix_sim_body(s->sim, id, &state) != FRIX_OK) return fx_pose_one();
  frix_pose central = {state.center, state.pose.q};
  return fx_pose_mul(central, shape->local);
}

static void world_rays(fx_test *t) {
  scene s;
  REQUIRE(t, scene_new(t, &s, 80));
  int hits = 0;
  for (int k = 0; k < 2000; k++) {
    if (k == 1000) /* the tree follows the poses */
      for (int step = 0; step < 3; step++) CHECK(t, frix_sim_step(s.sim, 0.01, NULL) == FRIX_OK);
    frix_vec3 far = k < 1500 ? fx_vec(0, 0, 0) : fx_vec(3e4, -2e4, 1e5); /* where single precision has little left */
    for (uint32_t body = 1; k == 1500 && body < (uint32_t)s.model->body_count; body++) {
      frix_body_state state;
      CHECK(t, frix_sim_body(s.sim, (frix_body_id){body, 1}, &state) == FRIX_OK);
      state.pose.p = fx_add(state.pose.p, far);
      CHECK(t, frix_sim_set_pose(s.sim, (frix_body_id){body, 1}, state.pose) == FRIX_OK);
    }
    frix_ray ray = {fx_add(far, fx_scale(7.0, random_vec(t))), fx_scale(3.0, random_unit(t)), k % 5 ? INFINITY : 4.0};
    if (k % 7 == 0) ray.direction = fx_vec(k % 3 == 0, k % 3 == 1, k % 3 == 2); /* along an axis */
    frix_query_filter filter = frix_query_filter_default();
    if (k % 3 == 0) filter.mask = 2;
    fx_ray unit = {ray.origin, fx_unit(ray.direction)};
    double best = INFINITY;
    int32_t which = -1, total = 0;
    for (int32_t j = 0; j < s.model->shape_count; j++) {
      const fx_shape *shape = &s.model->shape[j];
      if (!(shape->group & filter.mask)) continue;
      frix_pose pose = pose_of(&s, shape);
      fx_ray local = {fx_pose_unpoint(pose, unit.origin), fx_unrotate(pose.q, unit.direction)};
      double distance;
      frix_vec3 normal;
      if (!fx_ray_shape(shape, &local, ray.length, &distance, &normal)) continue;
      total++;
      if (distance < best) best = distance, which = j;
    }
    frix_ray_hit hit, all[200];
    int32_t count;
    CHECK(t, frix_sim_cast_ray(s.sim, &ray, &filter, &hit) == FRIX_OK);
    CHECK(t, frix_sim_cast_ray_all(s.sim, &ray, &filter, all, 200, &count) == FRIX_OK && count == total);
    CHECK(t, hit.shape.index == (which < 0 ? 0 : (uint32_t)s.model->shape[which].id + 1));
    if (which < 0) continue;
    hits++;
    CHECK_NEAR(t, hit.distance, best, 1e-12 * (1 + best + fx_norm(far)));
    CHECK(t, all[0].distance == hit.distance && all[0].shape.index == hit.shape.index);
    for (int32_t j = 1; j < count; j++) CHECK(t, all[j - 1].distance <= all[j].distance);
    filter.ignore = hit.body, filter.ignore_world = !hit.body.index;
    frix_ray_hit next;
    CHECK(t, frix_sim_cast_ray(s.sim, &ray, &filter, &next) == FRIX_OK);
    CHECK(t, !next.shape.index || next.body.index != hit.body.index);
  }
  fx_test_note(t, "%d of 2000 hit", hits);
  scene_free(&s);
}

static void world_shapes(fx_test *t) {
  scene s;
  REQUIRE(t, scene_new(t, &s, 80));
  int hits = 0, overlapping = 0;
  for (int k = 0; k < 1000; k++) {
    frix_shape_config shape = frix_shape_default();
    shape.kind = bounded[k % (BOUNDED - 1)];
    shape.radius = between(t, 0.1, 0.5), shape.half_length = between(t, 0.1, 0.5);
    shape.half = fx_vec(between(t, 0.1, 0.5), between(t, 0.1, 0.5), between(t, 0.1, 0.5));
    fx_shape own = loose_shape(shape.kind, shape.radius, shape.half_length, shape.half, NULL);
    frix_pose pose = {fx_scale(6.0, random_vec(t)), random_quat(t)};
    frix_vec3 way = fx_scale(4.0, random_vec(t));
    double nearest = INFINITY, free = 1.0;
    int32_t inside = 0;
    for (int32_t j = 0; j < s.model->shape_count; j++) {
      fx_gap gap;
      double fraction;
      frix_pose there = pose_of(&s, &s.model->shape[j]);
      if (fx_gap_find(s.context, &own, pose, &s.model->shape[j], there, INFINITY, &gap)) {
        nearest = fmin(nearest, gap.distance);
        inside += gap.distance <= 0.0;
      }
      if (fx_gap_cast(s.context, &own, pose, way, &s.model->shape[j], there, 1.0, &fraction, &gap))
        free = fmin(free, fraction);
    }
    frix_distance distance;
    frix_cast_hit cast;
    frix_overlap list[100];
    int32_t count;
    CHECK(t, frix_sim_shape_distance(s.sim, &shape, pose, INFINITY, NULL, &distance) == FRIX_OK);
    CHECK(t, frix_sim_cast_shape(s.sim, &shape, pose, way, NULL, &cast) == FRIX_OK);
    CHECK(t, frix_sim_overlap(s.sim, &shape, pose, NULL, list, 100, &count) == FRIX_OK);
    CHECK_NEAR(t, distance.distance, nearest, 1e-9);
    CHECK_NEAR(t, cast.fraction, free, 1e-8);
    CHECK(t, count == inside);
    for (int32_t j = 1; j < count; j++)
      CHECK(t, list[j - 1].body.index < list[j].body.index ||
                   (list[j - 1].body.index == list[j].body.index && list[j - 1].shape.index < list[j].shape.index));
    hits += cast.shape.index != 0, overlapping += count > 0;
  }
  fx_test_note(t, "%d casts hit, %d poses overlap", hits, overlapping);
  scene_free(&s);
}

/* Distance of two bodies: the least over their shapes, the same from both sides. */
static void world_distances(fx_test *t) {
  scene s;
  REQUIRE(t, scene_new(t, &s, 30));
  for (uint32_t a = 0; a <= 30; a++)
    for (uint32_t b = 0; b <= 30; b++) {
      frix_body_id one = {a, a ? 1u : 0u}, two = {b, b ? 1u : 0u};
      frix_distance d, back;
      if (a == b) {
        CHECK(t, frix_sim_distance(s.sim, one, two, &d) == FRIX_ERROR_INPUT);
        continue;
      }
      CHECK(t, frix_sim_distance(s.sim, one, two, &d) == FRIX_OK);
      CHECK(t, frix_sim_distance(s.sim, two, one, &back) == FRIX_OK);
      CHECK_NEAR(t, d.distance, back.distance, 1e-7);
      CHECK_NEAR(t, fx_dot(d.normal, fx_sub(d.point_a, d.point_b)), d.distance, 1e-7);
    }
  scene_free(&s);
}

/* Batched rays: the bits of single ones for any number of threads. */
static void batched_rays(fx_test *t) {
  enum { N = 3000 };
  scene s;
  REQUIRE(t, scene_new(t, &s, 200));
  frix_ray *ray = calloc(N, sizeof *ray);
  frix_ray_hit *one = calloc(N, sizeof *one), *many = calloc(N, sizeof *many);
  for (int k = 0; k < N; k++) ray[k] = (frix_ray){fx_scale(7.0, random_vec(t)), random_unit(t), 20.0};
  for (int k = 0; k < N; k++) CHECK(t, frix_sim_cast_ray(s.sim, &ray[k], NULL, &one[k]) == FRIX_OK);
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    frix_sim_config config = frix_sim_default();
    config.thread_count = threads;
    frix_sim *sim = NULL;
    CHECK(t, frix_sim_create(s.context, s.model, &config, &sim) == FRIX_OK);
    CHECK(t, frix_sim_cast_rays(sim, ray, N, NULL, many) == FRIX_OK);
    for (int k = 0; k < N; k++)
      CHECK(t, one[k].distance == many[k].distance && one[k].shape.index == many[k].shape.index &&
                   one[k].normal.x == many[k].normal.x);
    frix_sim_destroy(sim);
  }
  ray[7].direction = fx_vec(0, 0, 0);
  CHECK(t, frix_sim_cast_rays(s.sim, ray, N, NULL, many) == FRIX_ERROR_INPUT);
  free(ray), free(one), free(many);
  scene_free(&s);
}

/* In a planar world rays and shapes meet by x and y. */
static void flat_world(fx_test *t) {
  scene s = {.context = new_context(t)};
  REQUIRE(t, frix_builder_create(s.context, &s.builder) == FRIX_OK);
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_HALF_PLANE;
  add(t, &s, (frix_body_id){0, 0}, shape);
  frix_body_config body = frix_body_default();
  body.planar = true;
  body.pose.p = fx_vec(3, 2, 0);
  frix_body_id id;
  REQUIRE(t, frix_builder_add_body(s.builder, &body, &id) == FRIX_OK);
  shape.kind = FRIX_SHAPE_DISC;
  shape.radius = 0.5;
  add(t, &s, id, shape);
  REQUIRE(t, frix_builder_compile(s.builder, &s.model) == FRIX_OK &&
                 frix_sim_create(s.context, s.model, NULL, &s.sim) == FRIX_OK);
  frix_ray ray = {{0, 2, 0}, {1, 0, 0}, 10};
  frix_ray_hit hit;
  CHECK(t, frix_sim_cast_ray(s.sim, &ray, NULL, &hit) == FRIX_OK && hit.body.index == id.index);
  CHECK_NEAR(t, hit.distance, 2.5, 1e-12);
  ray.direction = fx_vec(0, -1, 0);
  CHECK(t, frix_sim_cast_ray(s.sim, &ray, NULL, &hit) == FRIX_OK && hit.body.index == 0 && hit.shape.index == 1);
  CHECK_NEAR(t, hit.distance, 2, 1e-12);
  shape.radius = 0.25;
  frix_cast_hit cast;
  CHECK(t, frix_sim_cast_shape(s.sim, &shape, (frix_pose){{0, 2, 0}, {1, 0, 0, 0}}, fx_vec(10, 0, 0), NULL, &cast) ==
               FRIX_OK);
  CHECK_NEAR(t, cast.fraction, 0.225, 1e-9);
  frix_distance d;
  CHECK(t, frix_sim_distance(s.sim, id, (frix_body_id){0, 0}, &d) == FRIX_OK);
  CHECK_NEAR(t, d.distance, 1.5, 1e-12);
  scene_free(&s);
}

/* Shapes that crowd towards a point make the deepest tree: none of them is lost. */
static void crowded(fx_test *t) {
  enum { N = 1500 };
  scene s = {.context = new_context(t)};
  REQUIRE(t, frix_builder_create(s.context, &s.builder) == FRIX_OK);
  for (int k = 0; k < N; k++) {
    frix_shape_config shape = frix_shape_default();
    shape.kind = FRIX_SHAPE_SPHERE;
    shape.pose.p.x = ldexp(1.0, -k / 2) * (k % 2 ? 0.7 : 1.0);
    shape.radius = 0.1 * shape.pose.p.x;
    add(t, &s, (frix_body_id){0, 0}, shape);
  }
  REQUIRE(t, frix_builder_compile(s.builder, &s.model) == FRIX_OK &&
                 frix_sim_create(s.context, s.model, NULL, &s.sim) == FRIX_OK);
  int32_t count = 0;
  frix_shape_config probe = frix_shape_default();
  probe.kind = FRIX_SHAPE_SPHERE;
  probe.radius = 3;
  CHECK(t, frix_sim_overlap(s.sim, &probe, (frix_pose){{0, 0, 0}, {1, 0, 0, 0}}, NULL, NULL, 0, &count) == FRIX_OK);
  CHECK(t, count == N);
  scene_free(&s);
}

const fx_test_row test_query[] = {{"query/crowded", crowded},
                                  {"query/ray_shapes", ray_shapes},
                                  {"query/pair_distances", pair_distances},
                                  {"query/pair_casts", pair_casts},
                                  {"query/world_rays", world_rays},
                                  {"query/world_shapes", world_shapes},
                                  {"query/world_distances", world_distances},
                                  {"query/batched_rays", batched_rays},
                                  {"query/flat_world", flat_world},
                                  {0}};
