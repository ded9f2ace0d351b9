/* Contacts of a bed: which pairs are in the problem of a step, and what they remember of the last one.
 *
 *   springs   u_N = v_N + gap / h + R r_N,   u_T = v_T + R (r_T - r_T of the last step),   R = 1 / (k h^2)
 *   rigid     u_N = v_N + gap / h where open, + PUSH_OUT gap / h where they overlap, + e v_N before where struck
 *
 * A pair is in the problem where its gap would be below `reach` after the free motion of the step. */
#include "bed/bed_internal.h"

#include <string.h>

#define PUSH_OUT 0.2   /* of an overlap of rigid grains per step */
#define STRUCK 2.0     /* times |g| h: slower impacts do not bounce */
#define FRICTION_W 3.5 /* W_T / W_N of solid spheres: 1 + 1 / 0.4 */

/* ---- laws ---- */

static fx_bed_law law_of(const frix_bed *bed, double inverse_mass, double mu) {
  double k = bed->config.stiffness, R = k > 0.0 ? 1.0 / (k * bed->h * bed->h) : 0.0;
  fx_bed_law law = {.W = {inverse_mass, FRICTION_W * inverse_mass}, .R = R, .mu = mu};
  for (int a = 0; a < 2; a++) law.inverse[a] = 1.0 / (law.W[a] + R);
  return law;
}

static double inverse_mass_of(const frix_bed *bed, int32_t size) { return 1.0 / bed->kind[size].mass; }

void fx_bed_laws(frix_bed *bed) {
  for (int32_t a = 0; a < bed->config.radius_count; a++) {
    fx_bed_law *row = bed->law + (size_t)a * (FRIX_BED_SIZES + FRIX_BED_WALLS);
    double own = inverse_mass_of(bed, a);
    for (int32_t b = 0; b < bed->config.radius_count; b++)
      row[b] = law_of(bed, own + inverse_mass_of(bed, b), bed->config.mu);
    for (int32_t k = 0; k < bed->wall_count; k++) row[FRIX_BED_SIZES + k] = law_of(bed, own, bed->wall[k].mu);
  }
}

/* ---- geometry ---- */

static double image(double x, double period) {
  return period > 0.0 ? x > 0.5 * period ? x - period : x < -0.5 * period ? x + period : x : x;
}

frix_vec3 fx_bed_apart(const frix_bed *bed, frix_vec3 a, frix_vec3 b) {
  frix_vec3 d = fx_sub(a, b);
  return fx_vec(image(d.x, bed->period[0]), image(d.y, bed->period[1]), image(d.z, bed->period[2]));
}

/* Nearest point of the segment in the half plane of the grain. */
static double turned_gap(const frix_bed_wall *wall, frix_vec3 p, double radius, frix_vec3 *normal) {
  double rho = sqrt(p.x * p.x + p.y * p.y), e[2] = {wall->b[0] - wall->a[0], wall->b[1] - wall->a[1]};
  double length2 = e[0] * e[0] + e[1] * e[1];
  double t = length2 > 0.0 ? ((rho - wall->a[0]) * e[0] + (p.z - wall->a[1]) * e[1]) / length2 : 0.0;
  t = fx_clamp(t, 0.0, 1.0);
  double d[2] = {rho - (wall->a[0] + t * e[0]), p.z - (wall->a[1] + t * e[1])};
  double distance = sqrt(d[0] * d[0] + d[1] * d[1]);
  frix_vec3 out = rho > 0.0 ? fx_vec(p.x / rho, p.y / rho, 0.0) : fx_vec(1.0, 0.0, 0.0);
  if (!(distance > 0.0)) { /* on the surface itself: towards the axis, or up */
    *normal = e[1] != 0.0 ? fx_neg(out) : fx_vec(0.0, 0.0, 1.0);
    return -radius;
  }
  *normal = fx_vec(d[0] / distance * out.x, d[0] / distance * out.y, d[1] / distance);
  return distance - radius;
}

double fx_bed_wall_gap(const frix_bed_wall *wall, frix_vec3 p, double radius, frix_vec3 *normal) {
  if (wall->kind == FRIX_BED_TURNED) return turned_gap(wall, p, radius, normal);
  *normal = wall->normal;
  return fx_dot(wall->normal, fx_sub(p, wall->point)) - radius;
}

/* ---- pairs ---- */

/* What a pair that is in the problem is to become. */
typedef struct meeting {
  frix_vec3 n;
  double gap;
} meeting;

bool fx_bed_comes_near(const frix_bed *bed, double gap, double closing) {
  return gap + bed->h * fx_min(closing, 0.0) < bed->reach;
}

static meeting meet_grain(const frix_bed *bed, int32_t i, int32_t j) {
  frix_vec3 d = fx_bed_apart(bed, bed->place[i].p, bed->place[j].p);
  double distance = fx_norm(d);
  return (meeting){.n = distance > 0.0 ? fx_scale(1.0 / distance, d) : fx_vec(0.0, 0.0, 1.0),
                   .gap = distance - (bed->speed[i].radius + bed->speed[j].radius)};
}

static meeting meet_wall(const frix_bed *bed, int32_t i, int32_t k) {
  meeting m;
  m.gap = fx_bed_wall_gap(&bed->wall[k], bed->place[i].p, bed->speed[i].radius, &m.n);
  return m;
}

/* Most pairs of neighbouring cells are too far apart. */
static bool meets_grain(const frix_bed *bed, int32_t i, int32_t j) {
  frix_vec3 d = fx_bed_apart(bed, bed->place[i].p, bed->place[j].p);
  if (fx_norm2(d) > bed->near * bed->near || bed->place[j].id <= bed->place[i].id) return false;
  meeting m = meet_grain(bed, i, j);
  double touching = bed->speed[i].radius + bed->speed[j].radius;
  return m.gap <= (FX_BED_NEAR - 1.0) * touching &&
         fx_bed_comes_near(bed, m.gap, fx_dot(m.n, fx_sub(bed->free[i].v, bed->free[j].v)));
}

static bool meets_wall(const frix_bed *bed, int32_t i, int32_t k) {
  meeting m = meet_wall(bed, i, k);
  return fx_bed_comes_near(bed, m.gap, fx_dot(m.n, fx_sub(bed->free[i].v, bed->wall[k].velocity)));
}

static double shift_of(const frix_bed *bed, double gap, double before) {
  if (bed->config.stiffness > 0.0) return gap / bed->h;
  double slow = STRUCK * fx_norm(bed->config.gravity) * bed->h, e = bed->config.restitution;
  bool closes = gap + bed->h * before <= 0.0;
  if (e > 0.0 && before < -slow && closes) return e * before;
  return gap > 0.0 ? gap / bed->h : PUSH_OUT * gap / bed->h;
}

/* What the contact of grain i with this key carried in the last step. */
static frix_vec3 recall(const frix_bed *bed, int32_t i, int64_t key) {
  int32_t was = bed->before[i];
  if (was < 0) return fx_vec(0.0, 0.0, 0.0);
  for (int32_t k = bed->memory_start[was]; k < bed->memory_start[was + 1]; k++)
    if (bed->memory[k].other == key) return bed->memory[k].r;
  return fx_vec(0.0, 0.0, 0.0);
}

void fx_bed_begin_contact(frix_bed *bed, fx_bed_contact *c, int32_t i, int32_t other, frix_vec3 n, double gap,
                          double before, int64_t key) {
  frix_vec3 zero = {0.0, 0.0, 0.0}, r = recall(bed, i, key);
  int32_t row = bed->place[i].size * (FRIX_BED_SIZES + FRIX_BED_WALLS);
  int32_t column = other >= 0 ? bed->place[other].size : FRIX_BED_SIZES - 1 - other;
  double normal = fx_dot(r, n);
  frix_vec3 across = fx_mad(r, -normal, n);
  *c = (fx_bed_contact){.n = n, .grain = i, .other = other, .law = row + column};
  c->w = shift_of(bed, gap, before);
  fx_bed_load *load = fx_bed_load_of(bed, c);
  load->r = load->last = normal > 0.0 ? r : zero;
  c->c = bed->config.stiffness > 0.0 && normal > 0.0 ? across : zero;
}

/* Partners of a grain, in fixed order: grains of higher id near it, then walls (-1 - k). */
typedef struct partners {
  int32_t *list;
  int32_t from, room; /* those numbered from .. from + room - 1 are stored */
  int32_t count;
} partners;

static void put_partner(partners *to, int32_t other) {
  int32_t at = to->count++ - to->from;
  if (at >= 0 && at < to->room) to->list[at] = other;
}

static void find_partners(const frix_bed *bed, int32_t i, const fx_bed_runs *near, partners *to) {
  for (int32_t run = 0; run < near->count; run++)
    for (int32_t j = near->first[run]; j < near->end[run]; j++)
      if (meets_grain(bed, i, j)) put_partner(to, j);
  for (int32_t k = 0; k < bed->wall_count; k++)
    if (meets_wall(bed, i, k)) put_partner(to, -1 - k);
}

/* Partners are kept from the count to the filling in bed->last, which holds nothing before the solve. */
enum { KEPT = sizeof(fx_bed_motion) / sizeof(int32_t) };

static int32_t *kept_partners(frix_bed *bed, int32_t i) { return (int32_t *)(void *)&bed->last[i]; }

/* Grains of one cell have the same cells around them. */
static void count_block(frix_bed *bed, int32_t block) {
  int32_t first, end, at[3];
  fx_bed_runs near = {0};
  fx_manifold room = {.context = bed->context};
  fx_bed_grains_of(bed, block, &first, &end);
  for (int32_t i = first; i < end; i++) {
    if (i == first || bed->place[i].cell != bed->place[i - 1].cell) {
      fx_bed_cell_of(bed, bed->place[i].p, at);
      fx_bed_around(bed, at, &near);
    }
    partners found = {.list = kept_partners(bed, i), .room = KEPT};
    if (!bed->has_arms) find_partners(bed, i, &near, &found);
    int64_t count = bed->has_arms ? fx_bed_arm_contacts(bed, i, &near, -1, &room) : found.count;
    if (count < 0) fx_bed_sums_of(bed, block)[FX_SUM_FAILED] = 1.0;
    bed->contact_start[i + 1] = count < 0 ? 0 : count;
  }
  fx_free(bed->context, room.touch);
}

static void fill_one(frix_bed *bed, int32_t i, int32_t other, fx_bed_contact *out) {
  meeting m = other >= 0 ? meet_grain(bed, i, other) : meet_wall(bed, i, -1 - other);
  frix_vec3 v = other >= 0 ? bed->speed[other].v : bed->wall[-1 - other].velocity;
  int64_t key = other >= 0 ? bed->place[other].id : other;
  fx_bed_begin_contact(bed, out, i, other, m.n, m.gap, fx_dot(m.n, fx_sub(bed->speed[i].v, v)), key);
}

/* A grain with more partners than are kept looks for them again, some at a time. */
static void fill_contacts(frix_bed *bed, int32_t i, fx_bed_contact *own, int64_t count, fx_manifold *room) {
  int32_t some[KEPT], at[3];
  fx_bed_runs near;
  if (count > KEPT || bed->has_arms) {
    fx_bed_cell_of(bed, bed->place[i].p, at);
    fx_bed_around(bed, at, &near);
  }
  if (bed->has_arms) {
    if (count > 0) fx_bed_arm_contacts(bed, i, &near, own - bed->contact, room);
    return;
  }
  for (int64_t from = 0; from < count; from += KEPT) {
    partners found = {.list = some, .from = (int32_t)from, .room = KEPT};
    if (count > KEPT)
      find_partners(bed, i, &near, &found);
    else
      found.list = kept_partners(bed, i);
    for (int64_t k = from; k < count && k < from + KEPT; k++) fill_one(bed, i, found.list[k - from], &own[k]);
  }
}

void fx_bed_diagonal(const frix_bed *bed, int64_t k, double out[3]) {
  const fx_bed_law *law = &bed->law[bed->contact[k].law];
  out[0] = bed->has_arms ? bed->arm[k].W_normal : law->W[0];
  out[1] = bed->has_arms ? bed->arm[k].W_diagonal[0] : law->W[1];
  out[2] = bed->has_arms ? bed->arm[k].W_diagonal[1] : law->W[1];
}

static void fill_block(frix_bed *bed, int32_t block) {
  int32_t first, end;
  double *sum = fx_bed_sums_of(bed, block), deepest = 0.0, diagonal = 0.0, carried = 0.0;
  fx_manifold room = {.context = bed->context};
  fx_bed_grains_of(bed, block, &first, &end);
  for (int32_t i = first; i < end; i++) {
    fx_bed_contact *own = bed->contact + bed->contact_start[i];
    int64_t count = bed->contact_start[i + 1] - bed->contact_start[i];
    fill_contacts(bed, i, own, count, &room);
    for (int64_t k = 0; k < count; k++) {
      double W[3];
      fx_bed_diagonal(bed, bed->contact_start[i] + k, W);
      diagonal += W[0] + W[1] + W[2];
      deepest = fx_max(deepest, -own[k].w * bed->h);
    }
    carried += fx_norm2(bed->free[i].v) / bed->speed[i].inverse_mass + fx_bed_spin_energy(bed, i, bed->free[i].s);
  }
  if (room.failed) sum[FX_SUM_FAILED] = 1.0;
  fx_free(bed->context, room.touch);
  sum[FX_SUM_DEEPEST] = deepest, sum[FX_SUM_DIAGONAL] = diagonal, sum[FX_SUM_CARRIED] = carried;
  sum[FX_SUM_CONTACTS] = (double)(bed->contact_start[end] - bed->contact_start[first]);
  sum[FX_SUM_GRAINS] = end - first;
  if (bed->bind_count) fx_bed_bind_block(bed, block);
}

frix_status fx_bed_find_contacts(frix_bed *bed) {
  memset(bed->sums, 0, (size_t)bed->own_slots * FX_SUMS * sizeof *bed->sums);
  bed->contact_start[0] = 0;
  fx_bed_for_all(bed, count_block);
  for (int32_t i = 0; i < bed->own; i++) bed->contact_start[i + 1] += bed->contact_start[i];
  bed->contact_count = bed->contact_start[bed->own];
  if (!fx_bed_grow(bed, &bed->contact, 0, &bed->contact_room, bed->contact_count, sizeof *bed->contact))
    return FRIX_ERROR_MEMORY;
  /* sweeps read a vector of four from the last three numbers */
  if (!fx_bed_grow(bed, &bed->load, 0, &bed->load_room, bed->contact_count + 1, sizeof *bed->load))
    return FRIX_ERROR_MEMORY;
  if (bed->has_arms && !fx_bed_grow(bed, &bed->arm, 0, &bed->arm_room, bed->contact_count, sizeof *bed->arm))
    return FRIX_ERROR_MEMORY;
  fx_bed_for_all(bed, fill_block);
  return FRIX_OK;
}

/* ---- memory ---- */

static bool carries(const fx_bed_load *c) { return c->r.x != 0.0 || c->r.y != 0.0 || c->r.z != 0.0; }

/* Of the contacts of the step, for the next one. */
frix_status fx_bed_remember(frix_bed *bed) {
  int64_t count = 0;
  for (int64_t k = 0; k < bed->contact_count; k++) count += carries(&bed->load[k]);
  if (!fx_bed_grow(bed, &bed->memory, 0, &bed->memory_room, count, sizeof *bed->memory)) return FRIX_ERROR_MEMORY;
  count = 0;
  for (int32_t i = 0; i < bed->own; i++) {
    bed->memory_start[i] = (int32_t)count;
    bed->before[i] = i;
    for (int64_t k = bed->contact_start[i]; k < bed->contact_start[i + 1]; k++) {
      const fx_bed_contact *c = &bed->contact[k];
      if (!carries(&bed->load[k])) continue;
      int64_t id = c->other >= 0 ? bed->place[c->other].id : c->other;
      bed->memory[count++] = (fx_bed_memory){.other = bed->has_arms ? bed->arm[k].key : id, .r = bed->load[k].r};
    }
  }
  bed->memory_start[bed->own] = (int32_t)count;
  bed->memory_count = count;
  bed->memory_own = bed->own;
  return FRIX_OK;
}
