/* States of beds as bytes: the grains of one rank with what their contacts remember, and what all ranks share.
 *
 * Bytes are those of the parts, whichever rank wrote them: a bed on another number of ranks takes from all of them the
 * grains that lie in its own blocks. */
#include "bed/bed_internal.h"
#include "io/pack.h"

#include <math.h>
#include <string.h>

/* "rxbed02", and "rxbed03" with forms and joints, which only beds that have such things write. */
static const uint64_t plain = 0x32306465627872u, magic = 0x33306465627872u;

/* A convex form: shapes of one kind with the same sizes and moments. */
typedef struct sort_of_form {
  int32_t kind, corners;
  double number[12];
} sort_of_form;

static sort_of_form form_of(const fx_bed_kind *kind) {
  const fx_shape *s = &kind->shape;
  frix_sym3 I = kind->inertia;
  sort_of_form f = {.kind = (int32_t)s->kind, .corners = s->geometry ? s->geometry->hull.vertex_count : 0};
  const double number[12] = {s->radius, s->half_length, s->half.x, s->half.y, s->half.z, kind->mass,
                             I.xx,      I.yy,           I.zz,      I.xy,      I.xz,      I.yz};
  if (kind->clump.count == 0) memcpy(f.number, number, sizeof number);
  return f;
}

/* What must be equal for a state to mean the same. */
typedef struct sort_of_bed {
  frix_vec3 lower, upper;
  int32_t radius_count;
  double density;
  frix_bed_clump clump[FRIX_BED_SIZES];
  sort_of_form form[FRIX_BED_SIZES];
} sort_of_bed;

static sort_of_bed sort_of(const frix_bed *bed) {
  sort_of_bed s = {.lower = bed->config.lower,
                   .upper = bed->config.upper,
                   .radius_count = bed->config.radius_count,
                   .density = bed->config.density};
  for (int32_t k = 0; k < s.radius_count; k++) s.clump[k] = bed->kind[k].clump, s.form[k] = form_of(&bed->kind[k]);
  return s;
}

static void pack_sort(fx_pack *p, sort_of_bed *c, bool forms) {
  fx_pack_vec(p, &c->lower);
  fx_pack_vec(p, &c->upper);
  fx_pack_i32(p, &c->radius_count);
  fx_pack_f64(p, &c->density);
  if (c->radius_count < 0 || c->radius_count > FRIX_BED_SIZES) p->failed = true;
  for (int32_t k = 0; k < c->radius_count && !p->failed; k++) {
    fx_pack_i32(p, &c->clump[k].count);
    for (int32_t part = 0; part < FRIX_BED_PARTS; part++) fx_pack_vec(p, &c->clump[k].center[part]);
    fx_pack_reals(p, c->clump[k].radius, FRIX_BED_PARTS);
    if (!forms) continue;
    fx_pack_i32(p, &c->form[k].kind);
    fx_pack_i32(p, &c->form[k].corners);
    fx_pack_reals(p, c->form[k].number, 12);
  }
}

static void pack_wall(fx_pack *p, frix_bed_wall *w) {
  int kind = (int)w->kind;
  fx_pack_choice(p, &kind, FRIX_BED_TURNED + 1);
  w->kind = (frix_bed_wall_kind)kind;
  fx_pack_vec(p, &w->point);
  fx_pack_vec(p, &w->normal);
  fx_pack_reals(p, w->a, 2);
  fx_pack_reals(p, w->b, 2);
  fx_pack_f64(p, &w->mu);
  fx_pack_vec(p, &w->velocity);
  fx_pack_bool(p, &w->servo);
  fx_pack_f64(p, &w->load);
  fx_pack_f64(p, &w->servo_speed);
  fx_pack_f64(p, &w->force);
  fx_pack_vec(p, &w->traction);
}

static void pack_flow(fx_pack *p, frix_bed_flow *f) {
  fx_pack_f64(p, &f->outlet);
  fx_pack_bool(p, &f->again);
  fx_pack_vec(p, &f->lower);
  fx_pack_vec(p, &f->upper);
  fx_pack_f64(p, &f->rate);
  fx_pack_vec(p, &f->velocity);
  fx_pack_i32(p, &f->radius);
  fx_pack_u64(p, &f->seed);
}

/* All that ranks share. */
typedef struct head {
  uint64_t magic;
  sort_of_bed sort;
  double time, owed;
  int64_t steps, next_id, next_joint;
  int32_t walls, grains;
  frix_bed_wall wall[FRIX_BED_WALLS];
  frix_bed_flow flow;
} head;

static void pack_head(fx_pack *p, head *h) {
  fx_pack_u64(p, &h->magic);
  pack_sort(p, &h->sort, h->magic == magic);
  fx_pack_f64(p, &h->time);
  fx_pack_f64(p, &h->owed);
  fx_pack_i64(p, &h->steps);
  fx_pack_i64(p, &h->next_id);
  if (h->magic == magic) fx_pack_i64(p, &h->next_joint);
  fx_pack_i32(p, &h->walls);
  if (h->walls < 0 || h->walls > FRIX_BED_WALLS) p->failed = true;
  for (int32_t k = 0; k < h->walls && !p->failed; k++) pack_wall(p, &h->wall[k]);
  pack_flow(p, &h->flow);
  fx_pack_i32(p, &h->grains);
}

/* One grain; its memories follow, then its joints. */
typedef struct kept {
  int64_t id;
  int32_t size, memories, joints;
  frix_vec3 p, v, s;
  frix_quat q;
} kept;

static void pack_grain(fx_pack *p, kept *g, bool joints) {
  fx_pack_i64(p, &g->id);
  fx_pack_i32(p, &g->size);
  fx_pack_i32(p, &g->memories);
  if (joints) fx_pack_i32(p, &g->joints);
  fx_pack_vec(p, &g->p);
  fx_pack_quat(p, &g->q);
  fx_pack_vec(p, &g->v);
  fx_pack_vec(p, &g->s);
}

static void pack_memory(fx_pack *p, fx_bed_memory *m) {
  fx_pack_i64(p, &m->other);
  fx_pack_vec(p, &m->r);
}

static void pack_joint(fx_pack *p, fx_bed_joint *j) {
  int kind = (int)j->kind;
  fx_pack_i64(p, &j->a);
  fx_pack_i64(p, &j->b);
  fx_pack_i64(p, &j->number);
  fx_pack_choice(p, &kind, FRIX_JOINT_COUNT);
  j->kind = (frix_joint_kind)kind;
  fx_pack_i32(p, &j->rows);
  for (int side = 0; side < 2; side++) fx_pack_pose(p, &j->frame[side]);
  fx_pack_f64(p, &j->length);
  fx_pack_reals(p, j->r, FX_BED_ROWS);
  fx_pack_vec(p, &j->push);
  if (j->rows != frix_joint_table(kind)->row_count || j->rows < 1 || j->rows > FX_BED_ROWS) p->failed = true;
}

frix_status frix_bed_save(const frix_bed *bed, unsigned char **out, size_t *size) {
  if (!bed || !out || !size) return FRIX_ERROR_INPUT;
  frix_status status = fx_bed_settle_joints((frix_bed *)bed);
  if (status) return status;
  fx_buffer buffer;
  fx_buffer_init(&buffer, bed->context);
  fx_pack p = fx_pack_writer(&buffer);
  bool more = bed->has_shapes || bed->next_joint > 0;
  head h = {.magic = more ? magic : plain,
            .sort = sort_of(bed),
            .time = bed->time,
            .owed = bed->owed,
            .steps = bed->step_count};
  h.next_id = bed->next_id, h.next_joint = bed->next_joint, h.walls = bed->wall_count, h.grains = bed->own,
  h.flow = bed->flow;
  memcpy(h.wall, bed->wall, sizeof h.wall);
  pack_head(&p, &h);
  for (int32_t k = 0; k < bed->own; k++) {
    int32_t was = bed->before[k];
    kept g = {.id = bed->place[k].id, .size = bed->place[k].size, .p = bed->place[k].p, .q = bed->place[k].q};
    g.v = bed->speed[k].v, g.s = bed->speed[k].s;
    g.memories = was < 0 ? 0 : bed->memory_start[was + 1] - bed->memory_start[was];
    int64_t first;
    g.joints = fx_bed_joints_of(bed, g.id, &first);
    pack_grain(&p, &g, more);
    for (int32_t m = 0; m < g.memories; m++) pack_memory(&p, &bed->memory[bed->memory_start[was] + m]);
    for (int32_t j = 0; j < g.joints; j++) pack_joint(&p, &bed->joint[first + j]);
  }
  if (buffer.failed) {
    fx_buffer_free(&buffer);
    return fx_fail(bed->context, FRIX_ERROR_MEMORY, "out of memory");
  }
  *out = (unsigned char *)buffer.bytes, *size = buffer.count;
  return FRIX_OK;
}

void frix_bed_bytes_free(const frix_bed *bed, unsigned char *bytes) {
  if (bed) fx_free(bed->context, bytes);
}

static bool same_clump(const frix_bed_clump *a, const frix_bed_clump *b) {
  return a->count == b->count && !memcmp(a->center, b->center, sizeof a->center) &&
         !memcmp(a->radius, b->radius, sizeof a->radius);
}

static bool same_sort(const sort_of_bed *a, const sort_of_bed *b) {
  bool same = !memcmp(&a->lower, &b->lower, sizeof a->lower) && !memcmp(&a->upper, &b->upper, sizeof a->upper) &&
              a->radius_count == b->radius_count && a->density == b->density;
  for (int32_t k = 0; same && k < a->radius_count; k++)
    same = same_clump(&a->clump[k], &b->clump[k]) && !memcmp(&a->form[k], &b->form[k], sizeof a->form[k]);
  return same;
}

static bool is_finite_wall(const frix_bed_wall *w) {
  return fx_finite(w->point) && fx_finite(w->normal) && fx_finite(w->velocity) && isfinite(w->mu) &&
         isfinite(w->load) && isfinite(w->a[0]) && isfinite(w->a[1]) && isfinite(w->b[0]) && isfinite(w->b[1]);
}

static bool is_sound(const head *h) {
  bool good = isfinite(h->time) && isfinite(h->owed) && h->steps >= 0 && h->next_id >= 0 && h->grains >= 0;
  for (int32_t k = 0; k < h->walls; k++) good = good && is_finite_wall(&h->wall[k]);
  return good;
}

/* Other parts than the first are of the same moment. */
static frix_status take_head(frix_bed *bed, const head *h, bool first) {
  if (h->magic != magic && h->magic != plain)
    return fx_fail(bed->context, FRIX_ERROR_FORMAT, "bed: these bytes hold no state of a bed");
  sort_of_bed own = sort_of(bed);
  if (!same_sort(&h->sort, &own))
    return fx_fail(bed->context, FRIX_ERROR_INPUT,
                   "bed: the state is of a bed with other space, radii, clumps, forms or density");
  if (!is_sound(h))
    return fx_fail(bed->context, FRIX_ERROR_FORMAT, "bed: the state of a bed holds numbers out of range");
  if (!first && (bed->step_count != h->steps || bed->time != h->time || bed->next_id != h->next_id))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the parts of a state are of different steps");
  bed->time = h->time, bed->owed = h->owed, bed->step_count = h->steps, bed->next_id = h->next_id;
  bed->next_joint = h->next_joint;
  bed->has_arms = bed->has_arms || h->next_joint > 0;
  bed->wall_count = h->walls;
  memcpy(bed->wall, h->wall, (size_t)h->walls * sizeof *h->wall);
  bed->flow = h->flow;
  bed->flow.size = sizeof bed->flow;
  return FRIX_OK;
}

static void drop_all(frix_bed *bed) {
  bed->own = bed->count = bed->memory_own = 0;
  bed->joint_count = bed->settled = bed->bind_count = 0;
  bed->memory_count = bed->contact_count = 0;
  bed->memory_start[0] = 0;
}

/* Marks an id; false where it was marked, or cannot be one. */
static bool mark(uint8_t *seen, int64_t next, int64_t id) {
  if (id < 0 || id >= next) return false;
  bool fresh = !(seen[id / 8] & 1u << id % 8);
  seen[id / 8] |= (uint8_t)(1u << id % 8);
  return fresh;
}

/* A grain of this rank's blocks joins; others are passed over. */
static frix_status take_grain(frix_bed *bed, fx_pack *p, bool joints, uint8_t *seen) {
  kept g = {0};
  int32_t cell[3];
  pack_grain(p, &g, joints);
  bool good = !p->failed && g.size >= 0 && g.size < bed->config.radius_count && fx_finite(g.p) && fx_finite(g.v) &&
              fx_finite(g.s) && fabs(fx_quat_norm2(g.q) - 1.0) < 1e-6 && g.memories >= 0 && g.joints >= 0 &&
              fx_pack_room(p, (uint64_t)g.memories, 32) && mark(seen, bed->next_id, g.id);
  if (!good) {
    p->failed = true;
    return FRIX_OK;
  }
  fx_bed_cell_of(bed, g.p, cell);
  bool own = bed->owner[fx_bed_block_of(bed, cell)] == fx_bed_rank(bed);
  int64_t wanted = bed->memory_count + g.memories;
  if (own && (!fx_bed_reserve(bed, bed->own + 1) ||
              !fx_bed_grow(bed, &bed->memory, bed->memory_count, &bed->memory_room, wanted, sizeof *bed->memory)))
    return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < g.memories; k++) {
    fx_bed_memory m = {0};
    pack_memory(p, &m);
    p->failed = p->failed || !fx_finite(m.r);
    if (own) bed->memory[bed->memory_count++] = m;
  }
  for (int32_t k = 0; k < g.joints && !p->failed; k++) {
    fx_bed_joint joint = {0};
    pack_joint(p, &joint);
    frix_status status = own && !p->failed ? fx_bed_put_joint(bed, &joint) : FRIX_OK;
    if (status) return status;
  }
  if (!own) return FRIX_OK;
  fx_bed_put(bed, bed->own, g.id, g.size, g.p, g.q, g.v, g.s);
  bed->before[bed->own++] = bed->memory_own++;
  bed->memory_start[bed->memory_own] = (int32_t)bed->memory_count;
  bed->count = bed->own;
  return FRIX_OK;
}

frix_status frix_bed_load(frix_bed *bed, const unsigned char *bytes, size_t size, bool first) {
  if (!bed || (!bytes && size)) return FRIX_ERROR_INPUT;
  fx_pack p = fx_pack_reader(bed->context, bytes, size);
  head h = {.magic = 0};
  pack_head(&p, &h);
  if (p.failed) return fx_pack_status(&p, false, "bed: these bytes hold no state of a bed");
  frix_status status = take_head(bed, &h, first);
  if (status) return status;
  if (first) drop_all(bed);
  uint8_t *seen = FX_NEW(bed->context, uint8_t, h.next_id / 8 + 1);
  if (!seen) return fx_fail(bed->context, FRIX_ERROR_MEMORY, "out of memory");
  for (int32_t k = 0; k < bed->own; k++) mark(seen, bed->next_id, bed->place[k].id);
  for (int32_t k = 0; k < h.grains && !p.failed && !status; k++) status = take_grain(bed, &p, h.magic == magic, seen);
  fx_free(bed->context, seen);
  fx_bed_order_joints(bed);
  if (status) return status;
  return p.failed ? fx_pack_status(&p, false, "bed: the state of a bed is cut short, damaged or holds a grain twice")
                  : FRIX_OK;
}
