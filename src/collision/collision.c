/* The collision run: proxies, broad phase, narrow phase in fixed parts, one sorted list. */
#include "collision/collision.h"

#include "base/threads.h"
#include "collision/broad.h"
#include "collision/memory.h"
#include "collision/rim.h"

#include <string.h>

enum { PARTS = 64, FEWEST_PAIRS = 512 };

/* An axis that kept a pair apart. */
typedef struct apart {
  int32_t slot[2], shape[2];
  frix_vec3 axis;
} apart;

enum { AXES = 256 }; /* a power of two */

/* What one part of the pairs gave. */
typedef struct part {
  fx_manifold manifold; /* scratch, one pair at a time */
  fx_lean lean;         /* of that pair */
  fx_contact *contact;
  size_t room;
  int32_t count;
  size_t at;    /* of its list in the whole */
  int32_t past; /* cursor into the list of the last run */
  bool failed;
} part;

struct fx_collision {
  frix_context *context;
  const frix_model *model;
  fx_broad *broad;
  fx_proxy *proxy;
  frix_pose *pose;     /* of proxies */
  fx_contact *contact; /* of several parts */
  size_t proxy_room, pose_room, contact_room;
  fx_placement_memory memory;
  const fx_contact *list; /* of the last run: those of all parts, or of the one there was */
  int32_t list_count;
  fx_contact *past; /* the list of the last run, while the next one is made */
  size_t past_room;
  part part[PARTS];
  apart *apart; /* AXES of them, by pair */
  fx_collision_stats stats;
};

frix_status fx_collision_create(frix_context *context, const frix_model *model, fx_collision **out) {
  *out = NULL;
  fx_collision *c = FX_NEW(context, fx_collision, 1);
  if (!c) return FRIX_ERROR_MEMORY;
  c->context = context;
  c->model = model;
  for (int k = 0; k < PARTS; k++) c->part[k].manifold.context = context;
  frix_status status = fx_broad_create(context, &c->broad);
  if (status) {
    fx_collision_destroy(c);
    return status;
  }
  *out = c;
  return FRIX_OK;
}

void fx_collision_destroy(fx_collision *c) {
  if (!c) return;
  for (int k = 0; k < PARTS; k++) {
    fx_free(c->context, c->part[k].manifold.touch);
    fx_free(c->context, c->part[k].contact);
  }
  fx_broad_destroy(c->broad);
  fx_free(c->context, c->proxy);
  fx_free(c->context, c->pose);
  fx_free(c->context, c->contact);
  fx_free(c->context, c->past);
  fx_free(c->context, c->apart);
  fx_free(c->context, c->memory.slot);
  fx_free(c->context, c);
}

fx_collision_stats fx_collision_statistics(const fx_collision *c) { return c->stats; }

/* The order of a contact against a pair of shapes. */
static int pair_order(const fx_contact *a, int32_t body_a, int32_t body_b, int32_t shape_a, int32_t shape_b) {
  if (a->body_a != body_a) return a->body_a < body_a ? -1 : 1;
  if (a->body_b != body_b) return a->body_b < body_b ? -1 : 1;
  if (a->shape_a != shape_a) return a->shape_a < shape_a ? -1 : 1;
  if (a->shape_b != shape_b) return a->shape_b < shape_b ? -1 : 1;
  return 0;
}

int fx_contact_order(const fx_contact *a, const fx_contact *b) {
  int order = pair_order(a, b->body_a, b->body_b, b->shape_a, b->shape_b);
  return order ? order : a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* ---- proxies ---- */

/* Boxes end here, metres: their sizes and distances are then numbers. */
static const double EDGE = 1e100;

static double reach_of(const fx_placement *p, int32_t slot) { return p->reach ? fx_min(p->reach[slot], EDGE) : 0.0; }

static double inner_of(const fx_placement *p, int32_t slot) { return fx_min(p->inner[slot], EDGE); }

/* How far two slots may come nearer within the step. A body at rest in the world may move fast against the root of
 * its tree: of the two sums, not of the parts of each slot, the smaller one bounds it. */
static double approach(const fx_placement *p, int32_t a, int32_t b) {
  bool together = p->tree && p->tree[a] >= 0 && p->tree[a] == p->tree[b];
  double all = reach_of(p, a) + reach_of(p, b);
  return together ? fx_min(inner_of(p, a) + inner_of(p, b), all) : all;
}

static bool good_pose(frix_pose pose) {
  double most = fx_max(fx_max(fabs(pose.p.x), fabs(pose.p.y)), fabs(pose.p.z));
  double sum = pose.p.x + pose.p.y + pose.p.z + pose.q.w + pose.q.x + pose.q.y + pose.q.z;
  return isfinite(sum) && most < EDGE && fabs(fx_quat_norm2(pose.q) - 1.0) < 1e-6;
}

static frix_vec3 within_edge(frix_vec3 v) {
  return fx_vec(fx_clamp(v.x, -EDGE, EDGE), fx_clamp(v.y, -EDGE, EDGE), fx_clamp(v.z, -EDGE, EDGE));
}

/* A half space has no box: its normal and a point on its surface, moved out by the margin. */
static void place_half_space(const fx_shape *s, frix_pose pose, double wide, fx_proxy *p) {
  p->half_space = true;
  p->low = fx_rotate(pose.q, s->kind == FRIX_SHAPE_PLANE ? fx_vec(0.0, 0.0, 1.0) : fx_vec(0.0, 1.0, 0.0));
  p->high = fx_mad(pose.p, wide, p->low);
}

static frix_pose shape_pose(const fx_placement *placement, int32_t slot, const fx_shape *s) {
  return s->centred ? placement->pose[slot] : fx_pose_mul(placement->pose[slot], s->local);
}

static void place_proxy(fx_collision *c, const fx_placement *placement, int32_t slot, int32_t shape, double wide,
                        int32_t at) {
  const fx_shape *s = &c->model->shape[shape];
  const fx_body *body = &c->model->body[s->body];
  fx_proxy *p = &c->proxy[at];
  frix_pose pose = c->pose[at] = shape_pose(placement, slot, s);
  p->slot = slot, p->shape = shape;
  p->tree = placement->tree ? placement->tree[slot] : -1;
  p->less = placement->tree ? reach_of(placement, slot) - inner_of(placement, slot) : 0.0;
  p->group = s->group, p->mask = s->mask;
  p->middle = pose.p, p->ball = (1.0 + 1e-12) * s->bound + wide;
  p->flat = fx_shape_row_of(s->kind)->info.flat;
  p->mobile = body->dof > 0 && !(placement->asleep && placement->asleep[slot]);
  p->half_space = false;
  if (s->kind == FRIX_SHAPE_PLANE || s->kind == FRIX_SHAPE_HALF_PLANE) {
    place_half_space(s, pose, wide, p);
    return;
  }
  fx_shape_row_of(s->kind)->box(s, pose, &p->low, &p->high);
  frix_vec3 margin = {wide, wide, wide};
  p->low = within_edge(fx_sub(p->low, margin)), p->high = within_edge(fx_add(p->high, margin));
}

static frix_status place_all(fx_collision *c, const fx_placement *placement, double margin, int32_t *count) {
  const frix_model *m = c->model;
  int64_t wanted = 0;
  for (int32_t k = 0; k < placement->count; k++) {
    int32_t body = placement->prototype[k];
    if (body < 0) continue;
    if (body >= m->body_count) return fx_fail(c->context, FRIX_ERROR_INPUT, "collision: slot %d has no body", k);
    if (!good_pose(placement->pose[k]))
      return fx_fail(c->context, FRIX_ERROR_INPUT,
                     "collision: the pose of body '%s' (slot %d) is out of range or not unit",
                     m->body[body].name ? m->body[body].name : "", k);
    wanted += m->body[body].shape_count;
  }
  if (wanted > INT32_MAX / 4) return fx_fail(c->context, FRIX_ERROR_INPUT, "collision: too many shapes");
  if (!fx_make_room(c->context, (void **)&c->proxy, &c->proxy_room, (size_t)wanted, sizeof *c->proxy) ||
      !fx_make_room(c->context, (void **)&c->pose, &c->pose_room, (size_t)wanted, sizeof *c->pose))
    return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t k = 0; k < placement->count; k++) {
    if (placement->prototype[k] < 0) continue;
    const fx_body *body = &m->body[placement->prototype[k]];
    double wide = 0.5 * margin + reach_of(placement, k);
    for (int32_t s = body->shape_start; s < body->shape_start + body->shape_count; s++)
      if (!fx_shape_is_soft(&m->shape[s]))
        place_proxy(c, placement, k, s, wide, at++); /* others: sim/soft_contacts.c */
  }
  *count = at;
  return FRIX_OK;
}

/* ---- narrow phase ---- */

typedef struct job {
  fx_collision *c;
  const fx_placement *placement;
  const fx_pair *pair;
  int32_t pair_count, part_count;
  double margin;
} job;

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

static uint32_t generation_of(const fx_placement *p, int32_t slot) { return p->generation ? p->generation[slot] : 1; }

/* Touches in the order of their features, which are then told apart where two are equal. */
static void sort_touches(fx_manifold *m) {
  for (int32_t k = 1; k < m->count; k++) {
    fx_touch t = m->touch[k];
    int32_t at = k;
    for (; at > 0 && m->touch[at - 1].feature > t.feature; at--) m->touch[at] = m->touch[at - 1];
    m->touch[at] = t;
  }
  for (int32_t k = 1; k < m->count; k++)
    if (m->touch[k].feature <= m->touch[k - 1].feature) m->touch[k].feature = m->touch[k - 1].feature + 1;
}

static bool same_bits(frix_vec3 a, frix_vec3 b) { return memcmp(&a, &b, sizeof a) == 0; }

void fx_contact_frame(fx_contact *x, const fx_contact *neighbour) {
  if (neighbour && same_bits(x->normal, neighbour->normal)) {
    x->tangent[0] = neighbour->tangent[0], x->tangent[1] = neighbour->tangent[1];
  } else if (x->planar) {
    x->tangent[0] = fx_vec(-x->normal.y, x->normal.x, 0.0);
    x->tangent[1] = fx_vec(0.0, 0.0, 1.0);
  } else {
    x->tangent[0] = fx_across(x->normal);
    x->tangent[1] = fx_cross(x->normal, x->tangent[0]);
  }
}

static bool part_room(fx_collision *c, part *p, int32_t more) {
  size_t wanted = (size_t)p->count + (size_t)more;
  if (wanted <= p->room) return true;
  size_t target = 2 * p->room > wanted ? 2 * p->room : wanted;
  fx_contact *grown = fx_realloc(c->context, p->contact, (size_t)p->count, target, sizeof *grown);
  if (!grown) return false;
  p->contact = grown;
  p->room = target;
  return true;
}

/* ---- the last run ---- */

/* Contact k of the last run against a pair of now. */
static int past_order(const fx_collision *c, int32_t k, fx_pair pair) {
  const fx_proxy *a = &c->proxy[pair.a], *b = &c->proxy[pair.b];
  return pair_order(&c->past[k], a->slot, b->slot, a->shape, b->shape);
}

/* The first contact of the last run that does not stand before a pair. */
static int32_t find_past(const fx_collision *c, fx_pair pair) {
  int32_t low = 0, high = c->list_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (past_order(c, middle, pair) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static fx_lean lean_of(const fx_placement *placement, int32_t slot_a, int32_t shape_a, int32_t slot_b,
                       int32_t shape_b) {
  fx_lean lean = placement->lean;
  lean.slot[0] = slot_a, lean.shape[0] = shape_a;
  lean.slot[1] = slot_b, lean.shape[1] = shape_b;
  return lean;
}

/* Whether the load on its round faces keeps the rim points of a contact of the last run, of slots that did not move,
 * where they are. */
static bool rim_holds(const fx_collision *c, const fx_placement *placement, const fx_contact *x) {
  if (same_bits(x->rim, fx_vec(0.0, 0.0, 0.0))) return true;
  int side = fx_rim_side(x->feature);
  const fx_shape *a = &c->model->shape[x->shape_a], *b = &c->model->shape[x->shape_b];
  fx_lean lean = lean_of(placement, x->body_a, x->shape_a, x->body_b, x->shape_b);
  fx_manifold m = {.lean = lean.ask ? &lean : NULL,
                   .pose = {shape_pose(placement, x->body_a, a), shape_pose(placement, x->body_b, b)}};
  return same_bits(x->rim, fx_cap_anchor(side ? b : a, fx_rim_top(x->feature), &m, side));
}

static bool rims_hold(const fx_collision *c, const fx_placement *placement) {
  for (int32_t k = 0; k < c->list_count; k++)
    if (!rim_holds(c, placement, &c->list[k])) return false;
  return true;
}

/* The contacts of a pair that is as it was; pairs come in the order of the list. *holds: they are the same. */
static bool take_past(fx_collision *c, const fx_placement *placement, part *p, fx_pair pair, bool *holds) {
  while (p->past < c->list_count && past_order(c, p->past, pair) < 0) p->past++;
  int32_t first = p->past;
  *holds = true;
  for (; p->past < c->list_count && past_order(c, p->past, pair) == 0; p->past++)
    *holds = *holds && rim_holds(c, placement, &c->past[p->past]);
  if (p->past == first || !*holds) return true;
  if (!part_room(c, p, p->past - first)) return false;
  memcpy(p->contact + p->count, c->past + first, (size_t)(p->past - first) * sizeof *p->contact);
  p->count += p->past - first;
  return true;
}

/* Puts the list of the last run aside, where the next one does not write. */
static void keep_past(fx_collision *c) {
  bool whole = c->list == c->contact;
  fx_contact **list = whole ? &c->contact : &c->part[0].contact, *swap = *list;
  size_t *room = whole ? &c->contact_room : &c->part[0].room, swap_room = *room;
  *list = c->past, *room = c->past_room;
  c->past = swap, c->past_room = swap_room;
}

/* ---- pair by pair ---- */

uint64_t fx_contact_name(const fx_contact *c, uint32_t generation_a, uint32_t generation_b) {
  uint64_t h = mix(0, (uint64_t)(uint32_t)c->body_a << 32 | generation_a);
  h = mix(h, (uint64_t)(uint32_t)c->body_b << 32 | generation_b);
  h = mix(h, (uint64_t)(uint32_t)c->shape_a << 32 | (uint32_t)c->shape_b);
  return mix(h, c->feature);
}

/* The manifold becomes contacts, for which there is room. */
static void name_contacts(const job *j, part *p, const fx_proxy *a, const fx_proxy *b) {
  const fx_manifold *m = &p->manifold;
  uint32_t generation_a = generation_of(j->placement, a->slot), generation_b = generation_of(j->placement, b->slot);
  for (int32_t k = 0; k < m->count; k++) {
    const fx_touch *t = &m->touch[k];
    fx_contact *x = &p->contact[p->count++];
    x->feature = t->feature;
    x->body_a = a->slot, x->body_b = b->slot;
    x->shape_a = a->shape, x->shape_b = b->shape;
    x->id = fx_contact_name(x, generation_a, generation_b);
    x->point_a = t->point_a, x->point_b = t->point_b;
    x->normal = t->normal;
    x->gap = t->gap;
    x->rim = t->rim;
    x->planar = a->flat;
    x->soft_a = x->soft_b = 0;
    x->ahead = 0.0;
    fx_contact_frame(x, k > 0 ? x - 1 : NULL);
  }
}

/* Where the axis of a pair is kept; another pair that stood there is forgotten. Threads keep none. */
static frix_vec3 *axis_of(const job *j, const fx_proxy *a, const fx_proxy *b) {
  if (j->part_count > 1 || !j->c->apart) return NULL;
  uint64_t name = mix(mix(0, (uint64_t)(uint32_t)a->slot << 32 | (uint32_t)b->slot),
                      (uint64_t)(uint32_t)a->shape << 32 | (uint32_t)b->shape);
  apart *x = &j->c->apart[name & (AXES - 1)];
  bool same = x->slot[0] == a->slot && x->slot[1] == b->slot && x->shape[0] == a->shape && x->shape[1] == b->shape;
  if (!same) *x = (apart){{a->slot, b->slot}, {a->shape, b->shape}, {0.0, 0.0, 0.0}};
  return &x->axis;
}

static void run_pair(const job *j, part *p, fx_pair pair) {
  fx_collision *c = j->c;
  const fx_proxy *a = &c->proxy[pair.a], *b = &c->proxy[pair.b];
  if (c->memory.slot[a->slot].same && c->memory.slot[b->slot].same) {
    bool holds;
    p->failed = !take_past(c, j->placement, p, pair, &holds);
    if (holds) return;
  }
  const fx_shape *shape_a = &c->model->shape[a->shape], *shape_b = &c->model->shape[b->shape];
  if (c->model->excluded_count && fx_model_excluded(c->model, shape_a->body, shape_b->body)) return;
  double margin = j->margin + approach(j->placement, a->slot, b->slot);
  fx_manifold *m = &p->manifold;
  p->lean = lean_of(j->placement, a->slot, a->shape, b->slot, b->shape);
  m->lean = p->lean.ask ? &p->lean : NULL;
  m->count = 0;
  m->apart = axis_of(j, a, b);
  fx_narrow_pair(shape_a, c->pose[pair.a], shape_b, c->pose[pair.b], margin, m);
  if (m->failed || !part_room(c, p, m->count)) {
    p->failed = true;
    return;
  }
  if (m->count == 0) return;
  if (m->count > 1) sort_touches(m);
  name_contacts(j, p, a, b);
}

static void run_part(int32_t task, void *user) {
  const job *j = user;
  part *p = &j->c->part[task];
  p->count = 0;
  p->failed = p->manifold.failed = false;
  int32_t first = (int32_t)((int64_t)j->pair_count * task / j->part_count);
  int32_t end = (int32_t)((int64_t)j->pair_count * (task + 1) / j->part_count);
  if (first < end) p->past = find_past(j->c, j->pair[first]);
  for (int32_t k = first; k < end && !p->failed; k++) run_pair(j, p, j->pair[k]);
}

static void copy_part(int32_t task, void *user) {
  fx_collision *c = user;
  const part *p = &c->part[task];
  if (p->count) memcpy(c->contact + p->at, p->contact, (size_t)p->count * sizeof *c->contact);
}

/* The parts' lists one after the other. */
static frix_status gather(fx_collision *c, int32_t part_count, int32_t thread_count) {
  int64_t total = 0;
  for (int32_t k = 0; k < part_count; k++) {
    if (c->part[k].failed) return fx_fail(c->context, FRIX_ERROR_MEMORY, "collision: out of memory");
    c->part[k].at = (size_t)total;
    total += c->part[k].count;
  }
  if (total > INT32_MAX / 8) return fx_fail(c->context, FRIX_ERROR_MEMORY, "collision: too many contacts");
  c->list_count = (int32_t)total;
  c->list = c->part[0].contact;
  if (part_count == 1) return FRIX_OK;
  if (!fx_make_room(c->context, (void **)&c->contact, &c->contact_room, (size_t)total, sizeof *c->contact))
    return FRIX_ERROR_MEMORY;
  fx_parallel(c->context, thread_count, part_count, copy_part, c);
  c->list = c->contact;
  return FRIX_OK;
}

static frix_status find(fx_collision *c, const fx_placement *placement, double margin, int32_t thread_count) {
  double start = fx_seconds();
  int32_t proxy_count = 0;
  job j = {.c = c, .placement = placement, .margin = margin, .part_count = 1};
  frix_status status = place_all(c, placement, margin, &proxy_count);
  if (status) return status;
  status = fx_broad_run(c->broad, c->proxy, proxy_count, placement->count, thread_count, &j.pair, &j.pair_count);
  if (status) return status;
  double middle = fx_seconds();

  /* one thread needs one part; the list is the same however it is cut */
  if (thread_count > 1 && j.pair_count >= FEWEST_PAIRS) j.part_count = PARTS;
  keep_past(c);
  if (!c->apart && j.pair_count > 0 && j.pair_count <= AXES && !(c->apart = FX_NEW(c->context, apart, AXES)))
    return FRIX_ERROR_MEMORY;
  fx_parallel(c->context, thread_count, j.part_count, run_part, &j);
  status = gather(c, j.part_count, thread_count);
  c->stats = (fx_collision_stats){proxy_count, j.pair_count, c->list_count, middle - start, fx_seconds() - middle};
  return status;
}

frix_status fx_collision_run(fx_collision *c, const fx_placement *placement, double margin, int32_t thread_count,
                             const fx_contact **contact, int32_t *count) {
  *contact = NULL;
  *count = 0;
  if (!(margin >= 0.0) || !isfinite(margin))
    return fx_fail(c->context, FRIX_ERROR_INPUT, "collision: margin is %g, must be finite and not negative", margin);
  int32_t changed = fx_placement_remember(c->context, &c->memory, placement, margin);
  if (changed < 0) return FRIX_ERROR_MEMORY;
  bool as_it_was = changed == 0 && rims_hold(c, placement);
  frix_status status = as_it_was ? FRIX_OK : find(c, placement, margin, thread_count);
  if (status != FRIX_OK) { /* there is no list to go back to */
    c->memory.count = c->list_count = 0;
    return status;
  }
  *contact = c->list;
  *count = c->list_count;
  return FRIX_OK;
}
