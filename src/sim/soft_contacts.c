/* Contacts of soft surfaces.
 *
 * Points of a deformed surface meet every rigid shape (as spheres without radius, by the functions of narrow.c) and the
 * nearest place of other soft surfaces; centres of rigid spheres and corners of rigid boxes and hulls meet soft
 * surfaces. A contact is named by the point, not by the place it meets, so it lasts while it slides. Sharp edges of two
 * soft surfaces meet each other and the edges of rigid boxes and hulls. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "collision/narrow.h"
#include "model/geometry.h"

static const double deepest_share = 0.1; /* of the smaller body: deeper overlaps are taken for its far side */
static const double short_way = 1e-3;    /* of the smaller body: an overlap that does not count */

typedef struct meeting {
  frix_sim *sim;
  double margin, h; /* h: how long surfaces go on from where they are */
  double deeper; /* of the smaller body: overlaps are looked for that are deeper; 0: all contacts within the margin */
  fx_contact *contact;
  int32_t count, room;
  fx_manifold manifold;
  bool failed;
} meeting;

static bool may_meet(const frix_sim *sim, const fx_shape *a, const fx_shape *b) {
  return (a->group & b->mask) && (b->group & a->mask) &&
         !(sim->model->excluded_count && fx_model_excluded(sim->model, a->body, b->body));
}

/* A side of a contact: slot, shape, place on a soft surface, its point. */
typedef struct side {
  int32_t slot, shape, soft;
  frix_vec3 point;
} side;

/* own meets other along the normal, which points from other to own. */
static void add(meeting *m, side own, side other, uint64_t feature, uint64_t turned, frix_vec3 normal, double gap) {
  if (m->count == m->room) {
    int32_t room = m->room ? 2 * m->room : 256;
    fx_contact *grown = FX_TAKE_RAW(&m->sim->arena, fx_contact, room);
    if (!grown) {
      m->failed = true;
      return;
    }
    if (m->count) memcpy(grown, m->contact, (size_t)m->count * sizeof *grown);
    m->contact = grown, m->room = room;
  }
  bool first = own.slot < other.slot;
  side a = first ? own : other, b = first ? other : own;
  fx_contact *c = &m->contact[m->count++];
  *c = (fx_contact){.feature = first ? feature : turned,
                    .body_a = a.slot,
                    .body_b = b.slot,
                    .shape_a = a.shape,
                    .shape_b = b.shape,
                    .soft_a = a.soft,
                    .soft_b = b.soft,
                    .point_a = a.point,
                    .point_b = b.point,
                    .normal = first ? normal : fx_neg(normal),
                    .gap = gap,
                    .ahead = m->deeper > 0.0 ? m->margin : 0.0};
  const uint32_t *generation = m->sim->state.generation;
  c->id = fx_contact_name(c, generation[a.slot], generation[b.slot]);
  fx_contact_frame(c, NULL);
}

static double off_box(frix_vec3 low, frix_vec3 high, frix_vec3 p) {
  double x = fx_max(low.x - p.x, p.x - high.x), y = fx_max(low.y - p.y, p.y - high.y);
  return fx_max(fx_max(x, y), fx_max(low.z - p.z, p.z - high.z));
}

static bool boxes_apart(frix_vec3 low_a, frix_vec3 high_a, frix_vec3 low_b, frix_vec3 high_b, double reach) {
  return low_a.x > high_b.x + reach || low_b.x > high_a.x + reach || low_a.y > high_b.y + reach ||
         low_b.y > high_a.y + reach || low_a.z > high_b.z + reach || low_b.z > high_a.z + reach;
}

/* Size of the smaller one of a soft body and a shape, of another soft body where there is one. */
static double smaller(const meeting *m, const fx_soft_body *b, int32_t shape, const fx_soft_body *other) {
  double bound = m->sim->model->shape[shape].bound;
  return fx_min(b->size, other ? other->size : 2.0 * bound);
}

/* ---- points of the surface against a rigid shape ---- */

static double speed_at(const frix_sim *sim, int32_t slot, frix_vec3 p) {
  const fx_state *s = &sim->state;
  return fx_norm(fx_add(s->velocity[slot], fx_cross(s->spin[slot], fx_sub(p, s->pose[slot].p))));
}

static void meet_rigid(meeting *m, fx_soft_body *b, int32_t p, int32_t slot, int32_t shape, frix_pose pose) {
  const fx_shape *s = &m->sim->model->shape[shape];
  frix_vec3 place = fx_soft_skin_place(&b->skin, p);
  const fx_shape ball = {.kind = FRIX_SHAPE_SPHERE, .centred = true};
  double reach = m->margin;
  if (m->h > 0.0) reach += m->h * (fx_norm(fx_soft_skin_velocity(&b->skin, p)) + speed_at(m->sim, slot, place));
  m->manifold.count = 0;
  fx_narrow_pair(&ball, (frix_pose){place, {1.0, 0.0, 0.0, 0.0}}, s, pose, fx_max(reach, 0.0), &m->manifold);
  if (m->manifold.failed) m->failed = true;
  const fx_touch *best = NULL;
  for (int32_t k = 0; k < m->manifold.count; k++)
    if (!best || m->manifold.touch[k].gap < best->gap) best = &m->manifold.touch[k];
  if (!best || best->gap > reach) return;
  add(m, (side){b->slot, b->shape, p + 1, place}, (side){slot, shape, 0, best->point_b},
      FX_FEATURE(FX_FEATURE_VERTEX, p, FX_FEATURE_NONE, 0), FX_FEATURE(FX_FEATURE_NONE, 0, FX_FEATURE_VERTEX, p),
      best->normal, best->gap);
}

/* ---- a point of something else against the surface ---- */

/* radius: of a ball around the point. */
static void meet_surface(meeting *m, fx_soft_body *b, side own, uint32_t number, double radius, frix_vec3 outward,
                         double reach, double deep) {
  fx_soft_near near;
  frix_vec3 place, normal, p = own.point;
  double around = fx_max(reach + radius, 0.0);
  if (off_box(b->skin.low, b->skin.high, p) > reach + radius) return;
  if (!fx_soft_nearest(&b->skin, p, outward, around, deep + radius, &near)) return;
  /* beside an edge other contacts hold it, but where it comes fast */
  if (near.beside && reach - m->margin < short_way / deepest_share * deep) return;
  double gap = fx_soft_gap(&b->skin, p, around, &near, &place, &normal) - radius;
  if (gap > reach) return;
  own.point = fx_mad(p, -radius, normal);
  add(m, own, (side){b->slot, b->shape, -(near.triangle + 1), place},
      FX_FEATURE(FX_FEATURE_VERTEX, number, FX_FEATURE_FACE, 0),
      FX_FEATURE(FX_FEATURE_FACE, 0, FX_FEATURE_VERTEX, number), normal, gap);
}

/* Centre of a sphere, corners of boxes and hulls; other shapes meet the points of the surface alone. */
static void meet_corners(meeting *m, fx_soft_body *b, int32_t slot, int32_t shape, frix_pose pose) {
  const fx_shape *s = &m->sim->model->shape[shape];
  bool ball = s->kind == FRIX_SHAPE_SPHERE, box = s->kind == FRIX_SHAPE_BOX, hull = s->kind == FRIX_SHAPE_HULL;
  int32_t count = ball ? 1 : box ? 8 : hull ? s->geometry->hull.vertex_count : 0;
  double radius = ball ? s->radius : 0.0, deep = deepest_share * fx_min(b->size, 2.0 * s->bound);
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 local = {0.0, 0.0, 0.0};
    if (box)
      local = fx_vec(k & 1 ? s->half.x : -s->half.x, k & 2 ? s->half.y : -s->half.y, k & 4 ? s->half.z : -s->half.z);
    if (hull) local = s->geometry->hull.vertex[k];
    frix_vec3 p = fx_pose_point(pose, local);
    frix_vec3 outward = ball ? fx_sub(b->x->pose.p, p) : fx_sub(p, pose.p);
    double reach = m->margin + m->h * (b->skin.fastest + speed_at(m->sim, slot, p));
    if (off_box(b->skin.low, b->skin.high, p) > reach + radius) continue;
    meet_surface(m, b, (side){slot, shape, 0, p}, (uint32_t)k, radius, fx_unit(outward), reach, deep);
  }
}

/* ---- edges ---- */

/* Two bodies whose edges meet; a is soft, b may be rigid. */
typedef struct edge_pair {
  meeting *m;
  side a, b;
  double size; /* of the smaller */
} edge_pair;

/* Whether a contact of that name was one in the last step. */
static bool was_there(const frix_sim *sim, const fx_contact *c) {
  const fx_state *s = &sim->state;
  int32_t low = 0, high = s->touching_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    int order = fx_contact_order(&s->touching[middle].contact, c);
    if (order == 0) return s->touching[middle].contact.id == c->id;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

/* Where bodies overlap a little at one place, edges elsewhere may cross deep in them, along a longer way out: those are
 * contacts only where they were so before, or where the first step finds them. */
static void take_edges(void *user, const fx_edge_touch *t) {
  const edge_pair *x = user;
  meeting *m = x->m;
  uint32_t i = (uint32_t)t->edge_a, j = (uint32_t)t->edge_b;
  side a = x->a, b = x->b;
  a.soft = -(t->triangle_a + 1), a.point = t->at.point_a;
  b.soft = -(t->triangle_b + 1), b.point = t->at.point_b; /* 0: rigid */
  add(m, a, b, FX_FEATURE(FX_FEATURE_EDGE, i, FX_FEATURE_EDGE, j), FX_FEATURE(FX_FEATURE_EDGE, j, FX_FEATURE_EDGE, i),
      t->at.normal, t->at.gap);
  bool deep = !(m->deeper > 0.0) && t->at.gap < -fx_soft_deepest_new * x->size && m->sim->state.step_count > 0;
  if (deep && !m->failed && !was_there(m->sim, &m->contact[m->count - 1])) m->count--;
}

/* ---- pairs ---- */

static void meet_shape(meeting *m, fx_soft_body *b, int32_t slot, int32_t shape) {
  const frix_sim *sim = m->sim;
  const fx_shape *s = &sim->model->shape[shape];
  frix_pose pose = fx_pose_mul(sim->state.pose[slot], s->local);
  double reach = m->margin + m->h * b->skin.fastest + (m->h > 0.0 ? sim->reach[slot] : 0.0);
  bool bounded = isfinite(s->bound);
  fx_soft_region region = {.bounded = bounded, .normal = fx_rotate(pose.q, fx_vec(0.0, 0.0, 1.0)), .reach = reach};
  region.low = pose.p;
  if (bounded) {
    fx_shape_row_of(s->kind)->box(s, pose, &region.low, &region.high);
    if (boxes_apart(region.low, region.high, b->skin.low, b->skin.high, reach)) return;
  }
  int32_t count = fx_soft_points_near(&b->skin, &region);
  for (int32_t k = 0; k < count && !m->failed; k++) meet_rigid(m, b, b->skin.list[k], slot, shape, pose);
  meet_corners(m, b, slot, shape, pose);
  edge_pair pair = {
      m, {.slot = b->slot, .shape = b->shape}, {.slot = slot, .shape = shape}, smaller(m, b, shape, NULL)};
  fx_soft_meet_rigid_edges(m->sim, m->margin, m->h, b, slot, s, pose, take_edges, &pair);
}

static void meet_soft(meeting *m, fx_soft_body *a, fx_soft_body *b) {
  double h = m->h, far = m->margin + h * (a->skin.fastest + b->skin.fastest);
  double deep = deepest_share * fx_min(a->size, b->size);
  if (boxes_apart(a->skin.low, a->skin.high, b->skin.low, b->skin.high, far)) return;
  fx_soft_region region = {.bounded = true, .low = b->skin.low, .high = b->skin.high, .reach = far};
  int32_t count = fx_soft_points_near(&a->skin, &region);
  for (int32_t k = 0; k < count && !m->failed; k++) {
    int32_t p = a->skin.list[k];
    double reach = m->margin;
    if (h > 0.0) reach += h * (fx_norm(fx_soft_skin_velocity(&a->skin, p)) + b->skin.fastest);
    meet_surface(m, b, (side){a->slot, a->shape, p + 1, a->skin.place[p]}, (uint32_t)p, 0.0,
                 fx_unit(fx_soft_skin_outward(&a->skin, p)), reach, deep);
  }
}

static void meet_edges(meeting *m, fx_soft_body *a, fx_soft_body *b) {
  double far = m->margin + m->h * (a->skin.fastest + b->skin.fastest);
  edge_pair pair = {
      m, {.slot = a->slot, .shape = a->shape}, {.slot = b->slot, .shape = b->shape}, smaller(m, a, b->shape, b)};
  if (boxes_apart(a->skin.low, a->skin.high, b->skin.low, b->skin.high, far)) return;
  fx_soft_meet_edges(m->margin, m->h, a, b, take_edges, &pair);
}

/* Whether a pair is looked at. What goes less far than overlaps count cannot overlap by more than it did. */
static bool look_at(meeting *m, const fx_soft_body *b, int32_t slot, int32_t shape, const fx_soft_body *other) {
  const frix_sim *sim = m->sim;
  if (!(m->deeper > 0.0)) return true;
  frix_vec3 v, w;
  fx_slot_motion(sim, slot, FX_AFTER, &v, &w);
  double way = other ? sim->h * other->skin.fastest : fx_body_way(sim, slot, v, w);
  m->margin = -m->deeper * smaller(m, b, shape, other);
  return sim->h * b->skin.fastest + way > -m->margin;
}

static void meet_all(meeting *m) {
  const frix_sim *sim = m->sim;
  const fx_state *s = &sim->state;
  const fx_softs *softs = sim->softs;
  for (int32_t k = 0; k < softs->count; k++) {
    fx_soft_body *b = &softs->body[k];
    const fx_shape *own = &sim->model->shape[b->shape];
    if (b->mover < 0) continue;
    for (int32_t slot = 0; slot < s->count; slot++) {
      if (slot == b->slot || s->prototype[slot] < 0) continue;
      fx_soft_body *other = fx_soft_at(sim, slot);
      const fx_body *body = fx_slot_body(sim, slot);
      for (int32_t shape = body->shape_start; shape < body->shape_start + body->shape_count; shape++) {
        if (!may_meet(sim, own, &sim->model->shape[shape]) || !look_at(m, b, slot, shape, other)) continue;
        if (!other)
          meet_shape(m, b, slot, shape);
        else if (other->mover >= 0) {
          meet_soft(m, b, other);
          if (b->slot < other->slot) meet_edges(m, b, other);
        }
      }
    }
  }
}

static int compare(int32_t a, int32_t b, const void *user) {
  const fx_contact *list = user;
  return fx_contact_order(&list[a], &list[b]);
}

/* Contacts of the meeting and those of a list, in order. */
static frix_status sort_contacts(frix_sim *sim, const meeting *m, const fx_contact *list, int32_t count) {
  int32_t all = count + m->count;
  fx_contact *both = FX_TAKE_RAW(&sim->arena, fx_contact, all), *sorted = FX_TAKE_RAW(&sim->arena, fx_contact, all);
  int32_t *order = FX_TAKE_RAW(&sim->arena, int32_t, all), *scratch = FX_TAKE_RAW(&sim->arena, int32_t, all);
  if (!both || !sorted || !order || !scratch) return FRIX_ERROR_MEMORY;
  if (count) memcpy(both, list, (size_t)count * sizeof *both);
  if (m->count) memcpy(both + count, m->contact, (size_t)m->count * sizeof *both);
  for (int32_t k = 0; k < all; k++) order[k] = k;
  fx_sort_by(order, scratch, (size_t)all, compare, both);
  for (int32_t k = 0; k < all; k++) sorted[k] = both[order[k]];
  sim->contact = sorted, sim->contact_count = all;
  return FRIX_OK;
}

frix_status fx_softs_meet(frix_sim *sim, double margin) {
  meeting m = {.sim = sim, .h = sim->h, .manifold = {.context = sim->inner}};
  m.margin = margin + sim->h * sim->h * fx_norm(sim->state.gravity);
  meet_all(&m);
  fx_free(sim->inner, m.manifold.touch);
  return m.failed ? FRIX_ERROR_MEMORY : sort_contacts(sim, &m, sim->contact, sim->contact_count);
}

frix_status fx_softs_overlap(frix_sim *sim, double deeper) {
  meeting m = {.sim = sim, .deeper = deeper, .manifold = {.context = sim->inner}};
  meet_all(&m);
  fx_free(sim->inner, m.manifold.touch);
  return m.failed ? FRIX_ERROR_MEMORY : sort_contacts(sim, &m, NULL, 0);
}
