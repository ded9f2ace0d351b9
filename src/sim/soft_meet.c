/* Contacts of soft bodies: surface points against obstacles, and against the deformed surfaces of other bodies.
 *
 * A point meets the nearest place of the other surface: three corners with barycentric weights. Where several triangles
 * are as near (on an edge), the one that faces the point's own surface counts. Edges are not tried against edges:
 * bodies whose edges cross must have points there. */
#include "sim/soft_world.h"

static const double margin_share = 1e-3; /* of a body's size: always looked at */
static const double deepest_share = 0.1; /* deeper overlaps are taken for the far side of the other body */

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

/* How far a number lies outside an interval. */
static double off_box(double low, double x, double high) { return fx_max(low - x, x - high); }

static bool meet_body(const frix_soft_world *w, fx_arena *arena, fx_soft_skin *all, int32_t a, int32_t b, int32_t p,
                      double reach, fx_touches *out) {
  const frix_soft_info *info = &w->body[b]->soft->info;
  frix_vec3 place = fx_soft_skin_place(&all[a], p);
  double deep = deepest_share * fx_min(w->size[a], w->size[b]);
  if (fx_max(off_box(all[b].low.x, place.x, all[b].high.x),
             fx_max(off_box(all[b].low.y, place.y, all[b].high.y), off_box(all[b].low.z, place.z, all[b].high.z))) >
      reach)
    return true;
  fx_soft_near best;
  if (!fx_soft_nearest(&all[b], place, fx_unit(fx_soft_skin_outward(&all[a], p)), reach, deep, &best) || best.beside)
    return true;
  const int32_t *t = info->triangle + 3 * (size_t)best.triangle;
  frix_vec3 c, n;
  double gap = fx_soft_gap(&all[b], place, reach, &best, &c, &n);
  if (gap > reach) return true;
  fx_soft_side own = {.body = a, .count = 1, .point = {p}, .weight = {1.0}};
  fx_soft_side far = {.body = b, .count = 3, .point = {t[0], t[1], t[2]}};
  for (int k = 0; k < 3; k++) far.weight[k] = -best.weight[k];
  fx_touch touch = {
      .body = a, .point = p, .other = FX_SOFT_OBSTACLES + b, .side_count = 2, .gap = gap, .mu = w->mu, .normal = n};
  touch.side[0] = a < b ? own : far, touch.side[1] = a < b ? far : own;
  return add(arena, out, touch);
}

/* ---- all contacts, by name ---- */

static bool meet_point(const frix_soft_world *w, fx_arena *arena, fx_soft_skin *all, int32_t b, int32_t p, double h,
                       double margin, fx_touches *out) {
  for (int32_t o = 0; o < w->obstacle_count; o++) {
    const frix_soft_obstacle *obstacle = &w->obstacle[o];
    fx_touch t = {.body = b, .point = p, .other = o, .side_count = 1, .mu = obstacle->mu, .drive = obstacle->velocity};
    t.side[0] = (fx_soft_side){.body = b, .count = 1, .point = {p}, .weight = {1.0}};
    t.gap = gap_of(obstacle, fx_soft_skin_place(&all[b], p), &t.normal);
    double speed = fx_norm(fx_sub(fx_soft_skin_velocity(&all[b], p), obstacle->velocity));
    if (t.gap < margin + 1.5 * h * speed && !add(arena, out, t)) return false;
  }
  for (int32_t other = 0; w->mu >= 0.0 && other < w->body_count; other++) {
    double reach = margin + 1.5 * h * (fx_norm(fx_soft_skin_velocity(&all[b], p)) + all[other].fastest);
    if (other != b && !meet_body(w, arena, all, b, other, p, reach, out)) return false;
  }
  return true;
}

frix_status fx_soft_meet(const frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, fx_touches *out) {
  fx_soft_skin *all = FX_TAKE(arena, fx_soft_skin, w->body_count);
  if (!all) return FRIX_ERROR_MEMORY;
  for (int32_t b = 0; b < w->body_count; b++) {
    frix_status status = fx_soft_skin_take(w->body[b]->soft, arena, &all[b]);
    if (status) return status;
    fx_soft_skin_find(w->body[b], &all[b]);
  }
  for (int32_t b = 0; b < w->body_count; b++) {
    double margin = margin_share * w->size[b] + h * h * fx_norm(gravity);
    for (int32_t p = 0; p < w->body[b]->soft->info.point_count; p++)
      if (!meet_point(w, arena, all, b, p, h, margin, out)) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}
