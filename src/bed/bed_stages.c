/* The order in which the blocks of a bed are swept.
 *
 * Gauss-Seidel over eight colours, the parities of the block coordinates: a block follows those beside it of a lower
 * colour, and nothing else matters to the bits, since blocks that are not neighbours share no grain. Several ranks take
 * colour after colour, with a message after each. One rank takes another order with the same neighbours before and
 * after: layers along z, the even one above before the odd one below,
 *
 *   0, 2, 1, 4, 3, 6, 5, ..
 *
 * rows of a layer along y likewise. Whole colours would take all grains through the cache eight times per sweep; in
 * this order a grain is done with while it is there, after the next two layers. With several threads a stage holds
 * blocks of one colour from a band of layers, enough of them for all threads. */
#include "bed/bed_internal.h"

#include <stdlib.h>

enum { ENOUGH = 16 }; /* blocks of a stage per thread */

typedef struct spot {
  int32_t stage, within, block; /* within: order in the stage */
  int32_t layer;
} spot;

static int by_stage(const void *a, const void *b) {
  const spot *x = a, *y = b;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  if (x->within != y->within) return x->within < y->within ? -1 : 1;
  return x->block < y->block ? -1 : x->block > y->block;
}

/* Even numbers follow each other, and an odd one the even one above it. */
static int32_t in_turn(int32_t k) { return k % 2 ? 2 * k + 3 : 2 * k; }

/* Layers of a band whose stages have enough blocks; those of one band are even. */
static int32_t band_of_layers(const frix_bed *bed) {
  int32_t wanted = ENOUGH * bed->config.thread_count, layer = bed->blocks[0] * bed->blocks[1];
  int32_t band = 2;
  while (band < bed->blocks[2] && (int64_t)band * layer < 8 * (int64_t)wanted) band += 2;
  return band;
}

static spot spot_of(const frix_bed *bed, int32_t block, int32_t band) {
  int32_t x = block % bed->blocks[0], y = block / bed->blocks[0] % bed->blocks[1],
          z = block / bed->blocks[0] / bed->blocks[1];
  int32_t colour = (x & 1) | (y & 1) << 1 | (z & 1) << 2;
  if (fx_bed_ranks(bed) > 1) return (spot){.stage = colour, .block = block, .layer = z};
  if (bed->config.thread_count == 1) return (spot){in_turn(z), 2 * in_turn(y) + (x & 1), block, z};
  return (spot){(z + (z & 1)) / band * FX_COLOURS + colour, 0, block, z};
}

/* Where the slots of the layers below `end` end. Blocks of one rank have their own numbers as slots. */
static int32_t slots_below(const frix_bed *bed, int32_t end) {
  bool all = fx_bed_ranks(bed) > 1 || bed->period[2] > 0.0 || end > bed->blocks[2];
  return all ? bed->own_slots : end * bed->blocks[0] * bed->blocks[1];
}

static void begin_stage(frix_bed *bed, int32_t first, int32_t ready) {
  bed->stage_ready[bed->stage_count] = ready;
  bed->stage_start[bed->stage_count++] = first;
}

frix_status fx_bed_order_stages(frix_bed *bed) {
  bool ranks = fx_bed_ranks(bed) > 1; /* they exchange velocities after every colour, without blocks of it too */
  int32_t count = bed->own_slots, band = band_of_layers(bed), ready = ranks ? count : 0;
  spot *all = fx_alloc_raw(bed->context, (size_t)count + 1, sizeof *all);
  if (!all) return FRIX_ERROR_MEMORY;
  for (int32_t s = 0; s < count; s++) all[s] = spot_of(bed, bed->slot_block[s], band);
  qsort(all, (size_t)count, sizeof *all, by_stage);
  bed->stage_count = 0;
  for (int32_t k = 0; k < count; k++) {
    bool begins = k == 0 || all[k].stage != all[k - 1].stage;
    bed->stage_block[k] = all[k].block;
    while (begins && ranks && bed->stage_count < all[k].stage) begin_stage(bed, k, ready);
    if (slots_below(bed, all[k].layer + 2) > ready) ready = slots_below(bed, all[k].layer + 2);
    if (begins) begin_stage(bed, k, ready);
    bed->stage_ready[bed->stage_count - 1] = ready;
  }
  while (ranks && bed->stage_count < FX_COLOURS) begin_stage(bed, count, ready);
  bed->stage_start[bed->stage_count] = count;
  fx_free(bed->context, all);
  return FRIX_OK;
}
