/* Inlets, outlets and walls that keep a load.
 *
 * Places of the inlet stand on a lattice; one is free where no grain of any rank is near it. Grains that left and come
 * again take free places in the order of their ids, new ones follow. A servo wall moves along its normal with
 *
 *   v := KEEP v + GAIN (load - force) / (K h),   K the stiffness of the contacts that press it
 *
 * Where force follows the way by c K, 0 < c <= 1, deviations decay by KEEP^1/2 a step; where grains give way freely the
 * wall moves 2 (load - force) / (K h) fast. A wall that nothing presses comes with its greatest speed. */
#include "bed/bed_internal.h"

#include "base/abi.h"
#include "linalg/exact_sum.h"

#include <stdlib.h>
#include <string.h>

#define KEEP 0.95
#define GAIN 0.1
#define PITCH 1.2 /* of the places in an inlet, over the largest diameter */

static frix_bed_flow default_flow(void) {
  return (frix_bed_flow){.size = sizeof(frix_bed_flow), .outlet = -INFINITY, .radius = -1, .seed = 1};
}

void frix_bed_flow_init(frix_bed_flow *out, size_t size) {
  frix_bed_flow all = default_flow();
  fx_give_struct(out, size, &all, sizeof all);
}

frix_status frix_bed_set_flow(frix_bed *bed, const frix_bed_flow *flow) {
  if (!bed) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_bed_flow, flow, default_flow());
  if (!flow || flow->size != sizeof *flow)
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the flow does not come from frix_bed_flow_default()");
  bool inlet = flow->again || flow->rate > 0.0;
  if (!(flow->rate >= 0.0) || isnan(flow->outlet) || !fx_finite(flow->lower) || !fx_finite(flow->upper) ||
      !fx_finite(flow->velocity) || flow->radius < -1 || flow->radius >= bed->config.radius_count ||
      (inlet && (flow->upper.x < flow->lower.x || flow->upper.y < flow->lower.y || flow->upper.z < flow->lower.z)))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: rate, heights, inlet or radius of the flow make no sense");
  if (flow->outlet > -INFINITY && bed->joint_count)
    return fx_fail(bed->context, FRIX_ERROR_UNSUPPORTED, "bed: a bed with joints has no outlet");
  bed->flow = *flow;
  return FRIX_OK;
}

/* ---- places ---- */

typedef struct inlet {
  int32_t n[3];
  double pitch;
  double *taken; /* by place */
  int32_t next, stride, count;
} inlet;

static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

static int32_t common(int32_t a, int32_t b) { return b ? common(b, a % b) : a; }

static frix_vec3 place_at(const frix_bed *bed, const inlet *in, int32_t k) {
  return fx_vec(bed->flow.lower.x + in->pitch * (k % in->n[0]),
                bed->flow.lower.y + in->pitch * (k / in->n[0] % in->n[1]),
                bed->flow.lower.z + in->pitch * (k / in->n[0] / in->n[1]));
}

static bool lay_out(frix_bed *bed, inlet *in) {
  double most = 0.0, count = 1.0;
  for (int32_t k = 0; k < bed->config.radius_count; k++) most = fx_max(most, bed->config.radius[k]);
  in->pitch = PITCH * 2.0 * most;
  for (int a = 0; a < 3; a++) {
    double n = 1.0 + floor((fx_at(bed->flow.upper, a) - fx_at(bed->flow.lower, a)) / in->pitch);
    in->n[a] = (int32_t)fx_min(n, 1000.0);
    count *= in->n[a];
  }
  in->count = (int32_t)fx_min(count, 1e6);
  uint64_t random = scramble(bed->flow.seed * 1000003u + (uint64_t)bed->step_count);
  in->next = (int32_t)(random % (uint64_t)in->count);
  in->stride = 1 + (int32_t)((random >> 20) % (uint64_t)in->count);
  while (common(in->stride, in->count) != 1) in->stride++;
  in->taken = FX_NEW(bed->context, double, in->count);
  return in->taken;
}

/* Marks the places that a grain is near. */
static void mark_near(const frix_bed *bed, inlet *in, int32_t k) {
  double clear = bed->speed[k].radius + 0.5 * in->pitch / PITCH;
  int32_t low[3], high[3];
  for (int a = 0; a < 3; a++) {
    double x = (fx_at(bed->place[k].p, a) - fx_at(bed->flow.lower, a)) / in->pitch, width = clear / in->pitch;
    if (!(x + width >= 0.0) || !(x - width <= in->n[a])) return;
    low[a] = (int32_t)fx_max(ceil(x - width), 0.0), high[a] = (int32_t)fx_min(floor(x + width), in->n[a] - 1.0);
  }
  for (int32_t z = low[2]; z <= high[2]; z++)
    for (int32_t y = low[1]; y <= high[1]; y++)
      for (int32_t x = low[0]; x <= high[0]; x++) {
        int32_t at = (z * in->n[1] + y) * in->n[0] + x;
        if (at < in->count && fx_norm2(fx_sub(place_at(bed, in, at), bed->place[k].p)) < clear * clear)
          in->taken[at] += 1.0;
      }
}

/* The next free place; false where there is none. */
static bool next_place(frix_bed *bed, inlet *in, int32_t *tried, frix_vec3 *out) {
  for (; *tried < in->count; (*tried)++) {
    int32_t at = in->next;
    in->next = (int32_t)(((int64_t)in->next + in->stride) % in->count);
    if (in->taken[at] != 0.0) continue;
    *out = place_at(bed, in, at);
    (*tried)++;
    return true;
  }
  return false;
}

/* ---- leaving and coming ---- */

static int by_id(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Ids of all grains below the outlet, of all ranks, ascending; ids are whole numbers below 2^53. */
static frix_status list_leavers(frix_bed *bed, double **out, int32_t *count) {
  int32_t own = 0, ranks = fx_bed_ranks(bed), rank = fx_bed_rank(bed), first = 0, all = 0;
  double *number = FX_NEW(bed->context, double, ranks);
  if (!number) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < bed->own; k++) own += bed->place[k].p.z < bed->flow.outlet;
  number[rank] = own;
  frix_status status = fx_bed_add_sums(bed, number, (size_t)ranks);
  for (int32_t p = 0; p < ranks && !status; p++) {
    if (p < rank) first += (int32_t)number[p];
    all += (int32_t)number[p];
  }
  fx_free(bed->context, number);
  double *id = status ? NULL : FX_NEW(bed->context, double, all);
  if (status || !id) return status ? status : FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < bed->own; k++)
    if (bed->place[k].p.z < bed->flow.outlet) id[first++] = (double)bed->place[k].id;
  status = fx_bed_add_sums(bed, id, (size_t)all);
  qsort(id, (size_t)all, sizeof *id, by_id);
  *out = id, *count = all;
  return status;
}

static void drop_leavers(frix_bed *bed) {
  int32_t kept = 0;
  for (int32_t k = 0; k < bed->own; k++) {
    if (bed->place[k].p.z < bed->flow.outlet) continue;
    bed->place[kept] = bed->place[k], bed->speed[kept] = bed->speed[k], bed->before[kept] = bed->before[k];
    kept++;
  }
  bed->own = bed->count = kept;
}

static int32_t find_id(const frix_bed *bed, int64_t id) {
  for (int32_t k = 0; k < bed->own; k++)
    if (bed->place[k].id == id) return k;
  return FX_NO_GRAIN;
}

/* Those that left take places; where there are none they go on falling. */
static void bring_back(frix_bed *bed, inlet *in, int32_t *tried, const double *id, int32_t count) {
  frix_vec3 p;
  for (int32_t k = 0; k < count && next_place(bed, in, tried, &p); k++) {
    int32_t at = find_id(bed, (int64_t)id[k]);
    bed->left++, bed->came++;
    if (at < 0) continue;
    bed->place[at].p = p;
    bed->speed[at].v = bed->flow.velocity;
    bed->speed[at].s = fx_vec(0.0, 0.0, 0.0);
    bed->before[at] = FX_NO_GRAIN;
  }
}

static frix_status bring_new(frix_bed *bed, inlet *in, int32_t *tried) {
  frix_status status = FRIX_OK;
  frix_vec3 p;
  for (; bed->owed >= 1.0 && !status && next_place(bed, in, tried, &p); bed->owed -= 1.0, bed->came++) {
    int32_t size = bed->flow.radius >= 0 ? bed->flow.radius : (int32_t)(bed->next_id % bed->config.radius_count);
    status = frix_bed_add(bed, size, p, bed->flow.velocity, NULL);
  }
  bed->owed = fx_min(bed->owed, 1.0); /* what finds no place does not come later */
  return status;
}

frix_status fx_bed_drive(frix_bed *bed, double h) {
  const frix_bed_flow *flow = &bed->flow;
  double *id = NULL;
  int32_t leavers = 0, tried = 0;
  inlet in = {0};
  bed->left = bed->came = 0;
  bed->owed += flow->rate * h;
  frix_status status = flow->outlet > -INFINITY ? list_leavers(bed, &id, &leavers) : FRIX_OK;
  bool comes = (flow->again && leavers > 0) || bed->owed >= 1.0;
  if (!status && comes && !lay_out(bed, &in)) status = FRIX_ERROR_MEMORY;
  if (!status && comes) {
    for (int32_t k = 0; k < bed->own; k++) mark_near(bed, &in, k);
    status = fx_bed_add_sums(bed, in.taken, (size_t)in.count);
  }
  if (!status && flow->again && leavers > 0) bring_back(bed, &in, &tried, id, leavers);
  if (!status && !flow->again && leavers > 0) {
    bed->left = leavers;
    drop_leavers(bed);
  }
  if (!status && comes) status = bring_new(bed, &in, &tried);
  fx_free(bed->context, in.taken);
  fx_free(bed->context, id);
  return status;
}

/* ---- walls ---- */

enum { WALL_SUMS = 4 }; /* force on the wall, and the number of its contacts */

static frix_status sum_forces(frix_bed *bed, double *total) {
  size_t width = (size_t)bed->wall_count * WALL_SUMS;
  fx_exact_sum *sum = FX_NEW(bed->context, fx_exact_sum, width);
  if (!sum) return FRIX_ERROR_MEMORY;
  for (int32_t s = 0; s < bed->own_slots; s++) {
    int32_t first, end, block = bed->slot_block[s];
    fx_bed_grains_of(bed, block, &first, &end);
    for (int64_t k = bed->contact_start[first]; k < bed->contact_start[end]; k++) {
      const fx_bed_contact *c = &bed->contact[k];
      if (c->other >= 0 || fx_norm2(bed->load[k].r) == 0.0) continue;
      fx_exact_sum *to = sum + (size_t)(-1 - c->other) * WALL_SUMS;
      frix_vec3 r = bed->load[k].r;
      const double part[WALL_SUMS] = {-r.x, -r.y, -r.z, 1.0};
      for (int a = 0; a < WALL_SUMS; a++) fx_exact_add(&to[a], part[a]);
    }
  }
  frix_status status = fx_bed_add_sums(bed, sum->bin, width * FX_EXACT_BINS);
  for (size_t k = 0; k < width; k++) total[k] = fx_exact_value(&sum[k]);
  fx_free(bed->context, sum);
  return status;
}

/* Stiffness of one contact as the servo sees it. */
static double contact_stiffness(const frix_bed *bed) {
  const fx_bed_law *law = &bed->law[FRIX_BED_SIZES];
  return bed->config.stiffness > 0.0 ? bed->config.stiffness : 1.0 / (law->W[0] * bed->h * bed->h);
}

frix_status fx_bed_move_walls(frix_bed *bed) {
  double total[FRIX_BED_WALLS * WALL_SUMS];
  frix_status status = bed->wall_count ? sum_forces(bed, total) : FRIX_OK;
  for (int32_t k = 0; k < bed->wall_count && !status; k++) {
    frix_bed_wall *wall = &bed->wall[k];
    const double *sum = total + (size_t)k * WALL_SUMS;
    wall->traction = fx_scale(1.0 / bed->h, fx_vec(sum[0], sum[1], sum[2]));
    wall->force = wall->kind == FRIX_BED_PLANE ? -fx_dot(wall->traction, wall->normal) : fx_norm(wall->traction);
    if (wall->kind != FRIX_BED_PLANE) continue;
    double along = fx_dot(wall->velocity, wall->normal);
    wall->point = fx_mad(wall->point, bed->h * along, wall->normal);
    if (!wall->servo) continue;
    double most = wall->servo_speed, Kh = sum[3] * contact_stiffness(bed) * bed->h;
    double speed = sum[3] > 0.0 ? KEEP * along + GAIN * (wall->load - wall->force) / Kh : most;
    speed = fx_clamp(speed, -most, most);
    wall->velocity = fx_mad(wall->velocity, speed - along, wall->normal);
  }
  return status;
}
