/* What the files of the block factorisation share: setup, factors, solution. */
#ifndef FX_LINALG_BLOCK_LU_PARTS_H
#define FX_LINALG_BLOCK_LU_PARTS_H

#include "linalg/block_lu.h"

/* A strip of packed columns on its way into a panel. */
struct fx_strip {
  int32_t width;
  int32_t column; /* in the panel that is updated */
  int32_t row;    /* of the first column among the rows of the update */
  size_t at;      /* in lu->packed */
};

/* Offsets of all panels for the partition at hand. */
void fx_block_lu_lay_out(fx_block_lu *lu);

/* Rows of a panel's own steps. */
static inline int32_t fx_panel_width(const fx_block_lu *lu, int32_t p) {
  return lu->first[lu->order.first[p + 1]] - lu->first[lu->order.first[p]];
}

#endif
