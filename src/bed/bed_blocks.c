/* Blocks and cells: where grains are.
 *
 * Cells are at least FX_BED_NEAR largest diameters wide, so that contacts lie within neighbouring ones; a block has
 * cells^3 of them. Colours are parities of the block coordinates: two blocks of one colour are a block apart, and with
 * two cells or more in between no grain is near both. Along periodic directions the number of blocks is even. All of
 * this follows from the config, never from ranks. bed_stages.c has the order of sweeps. Grains outside of space count
 * to its outermost cells.
 *
 * Ranks own runs of blocks along Morton's curve. */
#include "bed/bed_internal.h"

#include <stdlib.h>
#include <string.h>

static double along(frix_vec3 v, int k) { return fx_at(v, k); }

static double largest_radius(const frix_bed *bed) {
  double most = 0.0;
  for (int32_t k = 0; k < bed->config.radius_count; k++) most = fx_max(most, bed->config.radius[k]);
  return most;
}

/* ---- the cut ---- */

static frix_status cut_axis(frix_bed *bed, int k, double least) {
  double length = along(bed->config.upper, k) - along(bed->config.lower, k), edge = least * bed->cells;
  double fit = floor(length / edge);
  if (fit > 1e6) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: more than a million blocks along one axis");
  int32_t n = fit < 1.0 ? 1 : (int32_t)fit;
  if (bed->config.periodic[k]) {
    n -= n % 2;
    if (n < 2)
      return fx_fail(
          bed->context, FRIX_ERROR_INPUT,
          "bed: a periodic length must be at least 2 blocks of %d cells, %g m; fewer cells make smaller blocks",
          bed->cells, 2.0 * edge);
    bed->period[k] = length;
  }
  bed->blocks[k] = n;
  bed->cell[k] = fx_max(length / ((double)n * bed->cells), least);
  return FRIX_OK;
}

typedef struct curve_point {
  uint64_t key;
  int32_t block;
} curve_point;

static int by_key(const void *a, const void *b) {
  const curve_point *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key;
}

/* Bits of the coordinates in turn. */
static uint64_t morton(const frix_bed *bed, int32_t block) {
  uint64_t key = 0, at[3] = {(uint64_t)(block % bed->blocks[0]), (uint64_t)(block / bed->blocks[0] % bed->blocks[1]),
                             (uint64_t)(block / bed->blocks[0] / bed->blocks[1])};
  for (int bit = 0; bit < 20; bit++)
    for (int k = 0; k < 3; k++) key |= (at[k] >> bit & 1) << (3 * bit + k);
  return key;
}

/* weight: by block. Rank p takes the blocks whose part of the weight begins in its share. */
static frix_status share_out(frix_bed *bed, const double *weight) {
  curve_point *curve = fx_alloc_raw(bed->context, (size_t)bed->block_count, sizeof *curve);
  if (!curve) return FRIX_ERROR_MEMORY;
  double all = 0.0, sum = 0.0;
  int32_t ranks = fx_bed_ranks(bed);
  for (int32_t b = 0; b < bed->block_count; b++) {
    curve[b] = (curve_point){morton(bed, b), b};
    all += weight[b];
  }
  qsort(curve, (size_t)bed->block_count, sizeof *curve, by_key);
  for (int32_t k = 0; k < bed->block_count; k++) {
    int32_t p = (int32_t)(sum / all * ranks);
    bed->owner[curve[k].block] = p < ranks ? p : ranks - 1;
    sum += weight[curve[k].block];
  }
  fx_free(bed->context, curve);
  return FRIX_OK;
}

/* Whether some rank's block lies beside this one. */
static bool is_beside(const frix_bed *bed, int32_t block, int32_t rank) {
  int32_t at[3] = {block % bed->blocks[0], block / bed->blocks[0] % bed->blocks[1],
                   block / bed->blocks[0] / bed->blocks[1]};
  for (int32_t k = 0; k < 27; k++) {
    int32_t by[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, near[3];
    bool inside = true;
    for (int a = 0; a < 3; a++) {
      near[a] = at[a] + by[a];
      if (bed->period[a] > 0.0) near[a] = (near[a] + bed->blocks[a]) % bed->blocks[a];
      inside = inside && near[a] >= 0 && near[a] < bed->blocks[a];
    }
    if (inside && bed->owner[(near[2] * bed->blocks[1] + near[1]) * bed->blocks[0] + near[0]] == rank) return true;
  }
  return false;
}

/* Slots of own blocks, then of those beside them; own blocks in the order of sweeps. */
static frix_status list_blocks(frix_bed *bed) {
  int32_t rank = fx_bed_rank(bed);
  bed->slot_count = 0;
  for (int32_t b = 0; b < bed->block_count; b++) {
    bed->slot[b] = bed->owner[b] == rank ? bed->slot_count : -1;
    if (bed->owner[b] == rank) bed->slot_block[bed->slot_count++] = b;
  }
  bed->own_slots = bed->slot_count;
  for (int32_t b = 0; b < bed->block_count; b++)
    if (bed->slot[b] < 0 && is_beside(bed, b, rank)) {
      bed->slot[b] = bed->slot_count;
      bed->slot_block[bed->slot_count++] = b;
    }
  size_t wanted = (size_t)bed->slot_count * (size_t)(bed->cells * bed->cells * bed->cells) + 1;
  if (wanted > bed->cell_room) {
    fx_bed_give(bed, bed->cell_start, bed->cell_room, sizeof *bed->cell_start);
    bed->cell_start = fx_bed_take(bed, wanted, sizeof *bed->cell_start);
    bed->cell_room = bed->cell_start ? wanted : 0;
  }
  bool good = bed->cell_start &&
              fx_bed_grow(bed, &bed->sums, 0, &bed->sums_room, (int64_t)bed->own_slots * FX_SUMS, sizeof *bed->sums);
  return good ? fx_bed_order_stages(bed) : FRIX_ERROR_MEMORY;
}

frix_status fx_bed_cut(frix_bed *bed) {
  double least = FX_BED_NEAR * 2.0 * largest_radius(bed);
  bed->near = least;
  bed->cells = bed->config.block_cells;
  for (int k = 0; k < 3; k++) {
    frix_status status = cut_axis(bed, k, least);
    if (status) return status;
  }
  double all = (double)bed->blocks[0] * bed->blocks[1] * bed->blocks[2];
  double table = all * bed->cells * bed->cells * bed->cells;
  if (table > 1e9) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: space has more than 1e9 cells");
  size_t n = (size_t)all;
  bed->block_count = (int32_t)n;
  bed->owner = fx_bed_take(bed, n, sizeof *bed->owner);
  bed->slot = fx_bed_take(bed, n, sizeof *bed->slot);
  bed->slot_block = fx_bed_take(bed, n, sizeof *bed->slot_block);
  bed->stage_block = fx_bed_take(bed, n, sizeof *bed->stage_block);
  bed->stage_start = fx_bed_take(bed, n + FX_COLOURS + 1, sizeof *bed->stage_start);
  bed->stage_ready = fx_bed_take(bed, n + FX_COLOURS + 1, sizeof *bed->stage_ready);
  if (!bed->owner || !bed->slot || !bed->slot_block || !bed->stage_block || !bed->stage_start || !bed->stage_ready)
    return FRIX_ERROR_MEMORY;
  return fx_bed_balance(bed);
}

frix_status fx_bed_balance(frix_bed *bed) {
  double *weight = FX_NEW(bed->context, double, bed->block_count);
  if (!weight) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < bed->own; k++) {
    int32_t cell[3];
    fx_bed_cell_of(bed, bed->place[k].p, cell);
    weight[fx_bed_block_of(bed, cell)] += 1.0;
  }
  /* a grain is on one rank, but a block may have grains of several before they go home: each brings whole numbers */
  frix_status status = fx_bed_add_sums(bed, weight, (size_t)bed->block_count);
  for (int32_t b = 0; b < bed->block_count; b++) weight[b] += 0.01; /* empty ones cost a little */
  if (!status) status = share_out(bed, weight);
  if (!status) status = list_blocks(bed);
  fx_free(bed->context, weight);
  return status;
}

/* ---- cells ---- */

void fx_bed_cell_of(const frix_bed *bed, frix_vec3 p, int32_t at[3]) {
  for (int k = 0; k < 3; k++) {
    double x = (along(p, k) - along(bed->config.lower, k)) / bed->cell[k];
    int32_t most = bed->blocks[k] * bed->cells - 1;
    at[k] = x < 0.0 ? 0 : x >= most ? most : (int32_t)x;
  }
}

int32_t fx_bed_block_of(const frix_bed *bed, const int32_t cell[3]) {
  int32_t n = bed->cells;
  return (cell[2] / n * bed->blocks[1] + cell[1] / n) * bed->blocks[0] + cell[0] / n;
}

bool fx_bed_step_cell(const frix_bed *bed, const int32_t cell[3], const int32_t by[3], int32_t out[3]) {
  for (int k = 0; k < 3; k++) {
    int32_t most = bed->blocks[k] * bed->cells;
    out[k] = cell[k] + by[k];
    if (bed->period[k] > 0.0)
      out[k] = out[k] < 0 ? out[k] + most : out[k] >= most ? out[k] - most : out[k];
    else if (out[k] < 0 || out[k] >= most)
      return false;
  }
  return true;
}

/* Place of a cell in the table of this rank, -1: it does not know it. */
static int32_t cell_index(const frix_bed *bed, const int32_t cell[3]) {
  int32_t n = bed->cells, slot = bed->slot[fx_bed_block_of(bed, cell)];
  if (slot < 0) return -1;
  return ((slot * n + cell[2] % n) * n + cell[1] % n) * n + cell[0] % n;
}

void fx_bed_grains_in(const frix_bed *bed, const int32_t cell[3], int32_t *first, int32_t *end) {
  int32_t k = cell_index(bed, cell);
  *first = k < 0 ? 0 : bed->cell_start[k];
  *end = k < 0 ? 0 : bed->cell_start[k + 1];
}

/* The cells x - 1, x, x + 1 of a row stand together where they are in one block. */
static void add_row(const frix_bed *bed, const int32_t cell[3], int32_t y, int32_t z, fx_bed_runs *to) {
  int32_t within = cell[0] % bed->cells, near[3];
  bool inside = within > 0 && within < bed->cells - 1;
  for (int32_t x = inside ? 0 : -1; x <= (inside ? 0 : 1); x++) {
    const int32_t by[3] = {x, y, z};
    if (!fx_bed_step_cell(bed, cell, by, near)) continue;
    int32_t k = cell_index(bed, near);
    if (k < 0) continue;
    to->first[to->count] = bed->cell_start[inside ? k - 1 : k];
    to->end[to->count++] = bed->cell_start[inside ? k + 2 : k + 1];
  }
}

void fx_bed_around(const frix_bed *bed, const int32_t cell[3], fx_bed_runs *out) {
  out->count = 0;
  for (int32_t row = 0; row < 9; row++) add_row(bed, cell, row % 3 - 1, row / 3 - 1, out);
}

/* ---- sorting ---- */

static void swap_bytes(void *a, void *b, size_t size) {
  unsigned char keep[sizeof(fx_bed_place) > sizeof(fx_bed_speed) ? sizeof(fx_bed_place) : sizeof(fx_bed_speed)];
  memcpy(keep, a, size), memcpy(a, b, size), memcpy(b, keep, size);
}

/* Element k goes to to[k]; cycle by cycle, in place. `to` becomes the identity. */
static void permute(frix_bed *bed, int32_t *to, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    while (to[k] != k) {
      int32_t j = to[k];
      swap_bytes(&bed->place[k], &bed->place[j], sizeof *bed->place);
      swap_bytes(&bed->speed[k], &bed->speed[j], sizeof *bed->speed);
      swap_bytes(&bed->before[k], &bed->before[j], sizeof *bed->before);
      to[k] = to[j];
      to[j] = j;
    }
}

/* Ids ascend within each cell, so that the order of grains is one of space alone. */
static void order_cell(frix_bed *bed, int32_t first, int32_t end) {
  for (int32_t k = first + 1; k < end; k++)
    for (int32_t j = k; j > first && bed->place[j - 1].id > bed->place[j].id; j--) {
      swap_bytes(&bed->place[j], &bed->place[j - 1], sizeof *bed->place);
      swap_bytes(&bed->speed[j], &bed->speed[j - 1], sizeof *bed->speed);
      swap_bytes(&bed->before[j], &bed->before[j - 1], sizeof *bed->before);
    }
}

frix_status fx_bed_sort(frix_bed *bed) {
  size_t cells = (size_t)bed->slot_count * (size_t)(bed->cells * bed->cells * bed->cells);
  int32_t *start = bed->cell_start, *to = fx_alloc_raw(bed->context, (size_t)bed->count + 1, sizeof *to);
  if (!to) return FRIX_ERROR_MEMORY;
  memset(start, 0, (cells + 1) * sizeof *start);
  for (int32_t k = 0; k < bed->count; k++) {
    int32_t at[3];
    fx_bed_cell_of(bed, bed->place[k].p, at);
    bed->place[k].cell = cell_index(bed, at);
    start[bed->place[k].cell + 1]++;
  }
  for (size_t c = 0; c < cells; c++) start[c + 1] += start[c];
  for (int32_t k = 0; k < bed->count; k++) to[k] = start[bed->place[k].cell]++;
  for (size_t c = cells; c > 0; c--) start[c] = start[c - 1];
  start[0] = 0;
  permute(bed, to, bed->count);
  fx_free(bed->context, to);
  for (size_t c = 0; c < cells; c++) order_cell(bed, start[c], start[c + 1]);
  return FRIX_OK;
}
