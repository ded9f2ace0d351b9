/* Contacts with arms: grains that are clumps or convex shapes.
 *
 * A contact is one of two spheres, of a sphere and a wall, or a point of the manifold of two shapes
 * (collision/narrow.h); its arms lead from the centres of mass to it:
 *
 *   u = v_i + w_i x a - v_j - w_j x b,   W = sum of 1/m - [a] I^-1 [a]
 *
 * so that normal and friction couple. W n and the largest tangential eigenvalue of W are kept with the contact, for the
 * sweeps (bed_arms.c). Beds of spheres without joints never come here. */
#include "bed/bed_internal.h"

typedef struct touch {
  frix_vec3 n, a, b; /* normal, and arms */
  double gap;
  int32_t other, part[2];
  int64_t key;
} touch;

/* The contacts of grain i: counted, and filled in from number `at` on where it is not below 0. */
typedef struct search {
  frix_bed *bed;
  int32_t i;
  int64_t at, count;
  fx_manifold *room;
} search;

/* ---- parts ---- */

static const fx_bed_kind *kind_of(const frix_bed *bed, int32_t i) { return &bed->kind[bed->place[i].size]; }

static bool is_convex(const frix_bed *bed, int32_t i) { return kind_of(bed, i)->clump.count == 0; }

static int32_t part_count(const frix_bed *bed, int32_t i) {
  return is_convex(bed, i) ? 1 : kind_of(bed, i)->clump.count;
}

static frix_vec3 part_arm(const frix_bed *bed, int32_t i, int32_t part) {
  return fx_rotate(bed->place[i].q, kind_of(bed, i)->clump.center[part]);
}

static double part_radius(const frix_bed *bed, int32_t i, int32_t part) { return kind_of(bed, i)->clump.radius[part]; }

/* A part as a shape; its pose from the centre of mass. */
static fx_shape part_shape(const frix_bed *bed, int32_t i, int32_t part, frix_pose *pose) {
  bool convex = is_convex(bed, i);
  *pose = (frix_pose){convex ? fx_vec(0.0, 0.0, 0.0) : part_arm(bed, i, part), bed->place[i].q};
  if (convex) return kind_of(bed, i)->shape;
  double r = part_radius(bed, i, part);
  return (fx_shape){.kind = FRIX_SHAPE_SPHERE, .local = fx_pose_one(), .centred = true, .radius = r, .bound = r};
}

/* ---- names ---- */

static int64_t key_of_parts(const frix_bed *bed, const touch *t) {
  int64_t id = t->other >= 0 ? bed->place[t->other].id : t->other;
  return t->other >= 0 ? (id * FRIX_BED_PARTS + t->part[0]) * FRIX_BED_PARTS + t->part[1]
                       : -1 - ((-1 - id) * FRIX_BED_PARTS + t->part[0]);
}

/* A hash of the parts and of the features that touch. */
static int64_t key_of_feature(int64_t key, uint64_t feature) {
  uint64_t x = ((uint64_t)key + 1) * 0x9e3779b97f4a7c15u ^ feature;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 29) * 0x94d049bb133111ebu;
  return (int64_t)(x ^ x >> 32);
}

/* ---- one contact ---- */

/* Velocity of a point of grain i, of its motion. */
static frix_vec3 at_arm(const frix_bed *bed, int32_t i, frix_vec3 v, frix_vec3 s, frix_vec3 arm) {
  return fx_mad(v, 1.0 / bed->speed[i].radius, fx_cross(s, arm));
}

/* Normal velocity of the contact by the motions free or before the step. */
static double closing_of(const frix_bed *bed, int32_t i, const touch *t, bool free) {
  int32_t j = t->other;
  frix_vec3 v = free ? at_arm(bed, i, bed->free[i].v, bed->free[i].s, t->a)
                     : at_arm(bed, i, bed->speed[i].v, bed->speed[i].s, t->a);
  frix_vec3 u = j < 0  ? bed->wall[-1 - j].velocity
                : free ? at_arm(bed, j, bed->free[j].v, bed->free[j].s, t->b)
                       : at_arm(bed, j, bed->speed[j].v, bed->speed[j].s, t->b);
  return fx_dot(t->n, fx_sub(v, u));
}

/* W of one body, by columns of the unit vectors e: 1/m + (arm x e) I^-1 (arm x f). */
static double weight(const frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 e, frix_vec3 f) {
  frix_vec3 turn = fx_cross(arm, e);
  return bed->speed[k].inverse_mass * fx_dot(e, f) + fx_dot(fx_cross(arm, f), fx_sym3_mul(bed->turn[k], turn));
}

static void weigh_contact(const frix_bed *bed, int32_t i, fx_bed_contact *c, fx_bed_arm *arm) {
  frix_vec3 e[3] = {c->n, fx_across(c->n)};
  e[2] = fx_cross(e[0], e[1]);
  double W[3][3];
  for (int x = 0; x < 3; x++)
    for (int y = 0; y < 3; y++) {
      W[x][y] = weight(bed, i, arm->a, e[x], e[y]);
      if (c->other >= 0) W[x][y] += weight(bed, c->other, arm->b, e[x], e[y]);
    }
  double mean = 0.5 * (W[1][1] + W[2][2]), half = 0.5 * (W[1][1] - W[2][2]);
  arm->Wn = fx_mad(fx_mad(fx_scale(W[0][0], e[0]), W[0][1], e[1]), W[0][2], e[2]);
  arm->W_normal = W[0][0];
  arm->W_across = mean + sqrt(half * half + W[1][2] * W[1][2]);
  arm->W_diagonal[0] = W[1][1], arm->W_diagonal[1] = W[2][2];
}

static void add_touch(search *s, const touch *t) {
  frix_bed *bed = s->bed;
  if (!fx_bed_comes_near(bed, t->gap, closing_of(bed, s->i, t, true))) return;
  int64_t at = s->at + s->count++;
  if (s->at < 0) return;
  bed->arm[at] = (fx_bed_arm){.a = t->a, .b = t->b, .key = t->key};
  fx_bed_begin_contact(bed, &bed->contact[at], s->i, t->other, t->n, t->gap, closing_of(bed, s->i, t, false), t->key);
  weigh_contact(bed, s->i, &bed->contact[at], &bed->arm[at]);
}

/* ---- spheres ---- */

static void meet_spheres(search *s, int32_t j, touch *t) {
  const frix_bed *bed = s->bed;
  frix_vec3 a = part_arm(bed, s->i, t->part[0]), b = part_arm(bed, j, t->part[1]);
  frix_vec3 d = fx_bed_apart(bed, fx_add(bed->place[s->i].p, a), fx_add(bed->place[j].p, b));
  double distance = fx_norm(d), ri = part_radius(bed, s->i, t->part[0]), rj = part_radius(bed, j, t->part[1]);
  t->n = distance > 0.0 ? fx_scale(1.0 / distance, d) : fx_vec(0.0, 0.0, 1.0);
  t->gap = distance - ri - rj;
  t->a = fx_mad(a, -ri, t->n);
  t->b = fx_mad(b, rj, t->n);
  t->key = key_of_parts(bed, t);
  add_touch(s, t);
}

static void meet_wall(search *s, int32_t wall, touch *t) {
  const frix_bed *bed = s->bed;
  frix_vec3 a = part_arm(bed, s->i, t->part[0]);
  double r = part_radius(bed, s->i, t->part[0]);
  t->gap = fx_bed_wall_gap(&bed->wall[wall], fx_add(bed->place[s->i].p, a), r, &t->n);
  t->a = fx_mad(a, -r, t->n);
  t->b = fx_vec(0.0, 0.0, 0.0);
  t->key = key_of_parts(bed, t);
  add_touch(s, t);
}

/* ---- shapes ---- */

/* The largest gap from which a pair may come near in the step: no point of a grain has a larger arm than its radius. */
static double margin_of(const frix_bed *bed, int32_t i, frix_vec3 v, double turn) {
  return bed->reach + bed->h * (fx_norm(fx_sub(bed->free[i].v, v)) + fx_norm(bed->free[i].s) + turn);
}

/* The points of a manifold in the frame of the centre of i; `from`: from that centre to the one of the other. */
static void add_manifold(search *s, frix_vec3 from, touch *t) {
  int64_t parts = key_of_parts(s->bed, t);
  for (int32_t k = 0; k < s->room->count; k++) {
    const fx_touch *point = &s->room->touch[k];
    t->n = point->normal, t->gap = point->gap, t->a = point->point_a;
    t->b = t->other >= 0 ? fx_sub(point->point_b, from) : fx_vec(0.0, 0.0, 0.0);
    t->key = key_of_feature(parts, point->feature);
    add_touch(s, t);
  }
  s->room->count = 0;
}

static void meet_shapes(search *s, int32_t j, touch *t) {
  const frix_bed *bed = s->bed;
  frix_pose pose[2];
  fx_shape a = part_shape(bed, s->i, t->part[0], &pose[0]), b = part_shape(bed, j, t->part[1], &pose[1]);
  frix_vec3 from = fx_bed_apart(bed, bed->place[j].p, bed->place[s->i].p);
  double margin = margin_of(bed, s->i, bed->free[j].v, fx_norm(bed->free[j].s));
  pose[1].p = fx_add(pose[1].p, from);
  if (fx_norm(fx_sub(pose[0].p, pose[1].p)) > a.bound + b.bound + margin) return;
  fx_narrow_pair(&a, pose[0], &b, pose[1], margin, s->room);
  add_manifold(s, from, t);
}

static void meet_plane(search *s, int32_t wall, touch *t) {
  static const fx_shape plane = {.kind = FRIX_SHAPE_PLANE, .bound = INFINITY};
  const frix_bed *bed = s->bed;
  const frix_bed_wall *w = &bed->wall[wall];
  frix_pose pose;
  fx_shape a = part_shape(bed, s->i, 0, &pose);
  double margin = margin_of(bed, s->i, w->velocity, 0.0);
  frix_vec3 from = fx_sub(w->point, bed->place[s->i].p), x = fx_across(w->normal);
  if (-fx_dot(w->normal, from) > a.bound + margin) return;
  frix_pose ground = {from, fx_quat_of_axes(x, fx_cross(w->normal, x), w->normal)};
  fx_narrow_pair(&a, pose, &plane, ground, margin, s->room);
  add_manifold(s, from, t);
}

/* ---- all contacts of a grain ---- */

static void meet_grain(search *s, int32_t j) {
  const frix_bed *bed = s->bed;
  int32_t own = part_count(bed, s->i), others = part_count(bed, j);
  bool spheres = !is_convex(bed, s->i) && !is_convex(bed, j);
  touch t = {.other = j};
  for (int32_t k = 0; k < own * others; k++) {
    t.part[0] = k / others, t.part[1] = k % others;
    if (spheres)
      meet_spheres(s, j, &t);
    else
      meet_shapes(s, j, &t);
  }
}

int64_t fx_bed_arm_contacts(frix_bed *bed, int32_t i, const fx_bed_runs *near, int64_t at, fx_manifold *room) {
  search s = {.bed = bed, .i = i, .at = at, .room = room};
  for (int32_t run = 0; run < near->count; run++)
    for (int32_t j = near->first[run]; j < near->end[run]; j++) {
      if (bed->place[j].id <= bed->place[i].id) continue;
      double most = FX_BED_NEAR * (bed->speed[i].radius + bed->speed[j].radius);
      if (fx_norm2(fx_bed_apart(bed, bed->place[i].p, bed->place[j].p)) > most * most) continue;
      if (bed->bind_count && fx_bed_is_joined(bed, i, bed->place[j].id)) continue;
      meet_grain(&s, j);
    }
  for (int32_t k = 0; k < bed->wall_count; k++) {
    touch t = {.other = -1 - k};
    if (is_convex(bed, i))
      meet_plane(&s, k, &t);
    else
      for (; t.part[0] < part_count(bed, i); t.part[0]++) meet_wall(&s, k, &t);
  }
  return room->failed ? -1 : s.count;
}

/* Arms turn with their grains, to first order; a point on the surface of a wall is the end of a ball within the grain.
 */
double fx_bed_arm_gap(const frix_bed *bed, int64_t k) {
  const fx_bed_contact *c = &bed->contact[k];
  const fx_bed_arm *arm = &bed->arm[k];
  int32_t i = c->grain, j = c->other;
  double ball = bed->speed[i].radius;
  frix_vec3 n, a = fx_mad(arm->a, bed->h / ball, fx_cross(bed->speed[i].s, arm->a));
  if (j < 0) return fx_bed_wall_gap(&bed->wall[-1 - j], fx_mad(fx_add(bed->place[i].p, a), ball, c->n), ball, &n);
  frix_vec3 b = fx_mad(arm->b, bed->h / bed->speed[j].radius, fx_cross(bed->speed[j].s, arm->b));
  return fx_dot(c->n, fx_add(fx_bed_apart(bed, bed->place[i].p, bed->place[j].p), fx_sub(a, b)));
}
