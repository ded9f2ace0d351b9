/* Contacts of soft bodies: surface points against obstacles, and against the deformed surfaces of other bodies.
 *
 * A point meets the nearest place of the other surface: three corners with barycentric weights. Where several triangles
 * are as near (on an edge), the one that faces the point's own surface counts. Edges are not tried against edges:
 * bodies whose edges cross must have points there. */
#include "sim/soft_world.h"

static const double margin_share = 1e-3; /* of a body's size: always looked at */
static const double deepest_share = 0.1; /* deeper overlaps are taken for the far side of the other body */

/* ---- what is known of a body during a step ---- */

typedef struct pose_of {
  frix_vec3 *place, *velocity, *outward; /* by point; outward: sum of the normals around it */
  frix_vec3 *normal;                     /* of triangles */
  frix_vec3 low, high;
  double fastest;
} pose_of;

static frix_vec3 least(frix_vec3 a, frix_vec3 b) {
  return fx_vec(fx_min(a.x, b.x), fx_min(a.y, b.y), fx_min(a.z, b.z));
}
static frix_vec3 most(frix_vec3 a, frix_vec3 b) { return fx_vec(fx_max(a.x, b.x), fx_max(a.y, b.y), fx_max(a.z, b.z)); }

static frix_status look_at(const frix_soft_state *x, fx_arena *arena, pose_of *out) {
  const frix_soft_info *info = &x->soft->info;
  int32_t n = info->point_count;
  *out = (pose_of){.place = FX_TAKE_RAW(arena, frix_vec3, n),
                   .velocity = FX_TAKE_RAW(arena, frix_vec3, n),
                   .outward = FX_TAKE(arena, frix_vec3, n),
                   .normal = FX_TAKE_RAW(arena, frix_vec3, info->triangle_count)};
  if (!out->place || !out->velocity || !out->outward || !out->normal) return FRIX_ERROR_MEMORY;
  frix_vec3 spin = fx_soft_spin(x);
  for (int32_t p = 0; p < n; p++) {
    out->place[p] = fx_soft_place(x, p, spin, &out->velocity[p]);
    out->low = p ? least(out->low, out->place[p]) : out->place[p];
    out->high = p ? most(out->high, out->place[p]) : out->place[p];
    out->fastest = fx_max(out->fastest, fx_norm(out->velocity[p]));
  }
  for (int32_t k = 0; k < info->triangle_count; k++) {
    const int32_t *t = info->triangle + 3 * (size_t)k;
    frix_vec3 a = out->place[t[0]], n2 = fx_cross(fx_sub(out->place[t[1]], a), fx_sub(out->place[t[2]], a));
    out->normal[k] = fx_unit(n2);
    for (int c = 0; c < 3; c++) out->outward[t[c]] = fx_add(out->outward[t[c]], out->normal[k]);
  }
  return FRIX_OK;
}

/* ---- obstacles ---- */

/* How far a point is from an obstacle, and the direction away from it. */
static double gap_of(const frix_soft_obstacle *o, frix_vec3 p, frix_vec3 *normal) {
  frix_vec3 away = fx_sub(p, o->point);
  if (o->kind == FRIX_SOFT_PLANE) {
    *normal = o->direction;
    return fx_dot(away, o->direction);
  }
  if (o->kind == FRIX_SOFT_DRUM) away = fx_mad(away, -fx_dot(away, o->direction), o->direction);
  *normal = fx_unit(away);
  return fx_norm(away) - o->radius;
}

static bool add(fx_arena *arena, fx_touches *out, fx_touch t) {
  out->deepest = fx_max(out->deepest, -t.gap);
  t.along = fx_across(t.normal), t.across = fx_cross(t.normal, t.along);
  if (!fx_soft_room(arena, (void **)&out->touch, out->count, &out->room, sizeof t)) return false;
  out->touch[out->count++] = t;
  return true;
}

/* ---- other bodies ---- */

typedef struct nearest {
  double square, weight[3], facing; /* facing: how much the triangle looks against the point's own surface */
  int32_t triangle;
  bool inside; /* the nearest place lies inside the triangle */
} nearest;

/* Barycentric weights of the nearest place of a triangle, by the region of its plane (Ericson, Real-Time Collision
 * Detection, 5.1.5). */
static bool nearest_weights(frix_vec3 p, frix_vec3 a, frix_vec3 b, frix_vec3 c, double w[3]) {
  frix_vec3 ab = fx_sub(b, a), ac = fx_sub(c, a), ap = fx_sub(p, a), bp = fx_sub(p, b), cp = fx_sub(p, c);
  double d1 = fx_dot(ab, ap), d2 = fx_dot(ac, ap), d3 = fx_dot(ab, bp), d4 = fx_dot(ac, bp);
  double d5 = fx_dot(ab, cp), d6 = fx_dot(ac, cp);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v = 0.0, u = 0.0; /* of b and c */
  bool inside = false;
  if (d1 <= 0.0 && d2 <= 0.0) {
  } else if (d3 >= 0.0 && d4 <= d3) {
    v = 1.0;
  } else if (d6 >= 0.0 && d5 <= d6) {
    u = 1.0;
  } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    v = d1 / (d1 - d3);
  } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    u = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    v = 1.0 - u;
  } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    u = d2 / (d2 - d6);
  } else {
    double scale = 1.0 / (va + vb + vc);
    v = vb * scale, u = vc * scale;
    inside = true;
  }
  w[0] = 1.0 - v - u, w[1] = v, w[2] = u;
  return inside;
}

/* The triangle of a body that a point meets, within reach. */
static bool search(const frix_soft_info *info, const pose_of *body, frix_vec3 p, frix_vec3 outward, double reach,
                   nearest *best) {
  *best = (nearest){.square = reach * reach, .triangle = -1};
  for (int32_t k = 0; k < info->triangle_count; k++) {
    const int32_t *t = info->triangle + 3 * (size_t)k;
    frix_vec3 a = body->place[t[0]], n = body->normal[k];
    double height = fx_dot(fx_sub(p, a), n), facing = -fx_dot(n, outward);
    if (!(facing > 0.0) || height * height > best->square * (1.0 + 1e-9)) continue;
    double w[3];
    bool inside = nearest_weights(p, a, body->place[t[1]], body->place[t[2]], w);
    frix_vec3 c = fx_mad(fx_mad(fx_scale(w[0], a), w[1], body->place[t[1]]), w[2], body->place[t[2]]);
    double square = fx_norm2(fx_sub(p, c)), tie = 1e-12 * reach * reach;
    bool nearer = square < best->square - tie, as_near = square <= best->square + tie;
    if (!nearer && !(as_near && best->triangle >= 0 && facing > best->facing)) continue;
    *best = (nearest){square, {w[0], w[1], w[2]}, facing, k, inside};
  }
  return best->triangle >= 0;
}

static bool meet_body(const frix_soft_world *w, fx_arena *arena, const pose_of *all, int32_t a, int32_t b, int32_t p,
                      double reach, fx_touches *out) {
  const frix_soft_info *info = &w->body[b]->soft->info;
  frix_vec3 place = all[a].place[p];
  double deep = fx_max(reach, deepest_share * fx_min(w->size[a], w->size[b]));
  frix_vec3 off = most(fx_sub(all[b].low, place), fx_sub(place, all[b].high));
  if (fx_max(off.x, fx_max(off.y, off.z)) > reach) return true;
  nearest best;
  if (!search(info, &all[b], place, fx_unit(all[a].outward[p]), deep, &best)) return true;
  const int32_t *t = info->triangle + 3 * (size_t)best.triangle;
  frix_vec3 n = all[b].normal[best.triangle], c = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) c = fx_mad(c, best.weight[k], all[b].place[t[k]]);
  frix_vec3 way = fx_sub(place, c);
  double height = fx_dot(way, n), gap = height < 0.0 ? -sqrt(best.square) : sqrt(best.square);
  if (gap > reach) return true;
  /* beside an edge the way itself is the normal, as far as it has a direction */
  if (!best.inside && best.square > 1e-12 * reach * reach) n = fx_scale(height < 0.0 ? -1.0 : 1.0, fx_unit(way));
  fx_soft_side own = {.body = a, .count = 1, .point = {p}, .weight = {1.0}};
  fx_soft_side far = {.body = b, .count = 3, .point = {t[0], t[1], t[2]}};
  for (int k = 0; k < 3; k++) far.weight[k] = -best.weight[k];
  fx_touch touch = {
      .body = a, .point = p, .other = FX_SOFT_OBSTACLES + b, .side_count = 2, .gap = gap, .mu = w->mu, .normal = n};
  touch.side[0] = a < b ? own : far, touch.side[1] = a < b ? far : own;
  return add(arena, out, touch);
}

/* ---- all contacts, by name ---- */

static bool meet_point(const frix_soft_world *w, fx_arena *arena, const pose_of *all, int32_t b, int32_t p, double h,
                       double margin, fx_touches *out) {
  for (int32_t o = 0; o < w->obstacle_count; o++) {
    const frix_soft_obstacle *obstacle = &w->obstacle[o];
    fx_touch t = {.body = b, .point = p, .other = o, .side_count = 1, .mu = obstacle->mu, .drive = obstacle->velocity};
    t.side[0] = (fx_soft_side){.body = b, .count = 1, .point = {p}, .weight = {1.0}};
    t.gap = gap_of(obstacle, all[b].place[p], &t.normal);
    double speed = fx_norm(fx_sub(all[b].velocity[p], obstacle->velocity));
    if (t.gap < margin + 1.5 * h * speed && !add(arena, out, t)) return false;
  }
  for (int32_t other = 0; w->mu >= 0.0 && other < w->body_count; other++) {
    double reach = margin + 1.5 * h * (fx_norm(all[b].velocity[p]) + all[other].fastest);
    if (other != b && !meet_body(w, arena, all, b, other, p, reach, out)) return false;
  }
  return true;
}

frix_status fx_soft_meet(const frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, fx_touches *out) {
  pose_of *all = FX_TAKE(arena, pose_of, w->body_count);
  if (!all) return FRIX_ERROR_MEMORY;
  for (int32_t b = 0; b < w->body_count; b++) {
    frix_status status = look_at(w->body[b], arena, &all[b]);
    if (status) return status;
  }
  for (int32_t b = 0; b < w->body_count; b++) {
    double margin = margin_share * w->size[b] + h * h * fx_norm(gravity);
    for (int32_t p = 0; p < w->body[b]->soft->info.point_count; p++)
      if (!meet_point(w, arena, all, b, p, h, margin, out)) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}
