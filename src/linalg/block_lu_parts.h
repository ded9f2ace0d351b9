/* Declarations shared by the files of the block factorisation: setup, factors, solution. */
#ifndef FX_LINALG_BLOCK_LU_PARTS_H
#define FX_LINALG_BLOCK_LU_PARTS_H

#include "linalg/block_lu.h"

/* A strip of packed columns on its way into a panel. */
struct fx_strip {
  int32_t row, width; /* its first column is this row of the update */
  bool apart;         /* its columns are not neighbours in the panel */
  size_t at;          /* in the packed numbers */
};

/* Entries p .. q - 1 of the list of an earlier panel are steps of the panel at hand. */
struct fx_debt {
  int32_t panel;
  size_t p, q;
};

enum { FX_ROWS_AT_ONCE = 12 }; /* rows of an update that stay in the cache while the strips pass */

/* Offsets of all panels for the partition at hand. */
void fx_block_lu_lay_out(fx_block_lu *lu);

/* Rows of a panel's own steps. */
static inline int32_t fx_panel_width(const fx_block_lu *lu, int32_t p) {
  return lu->first[lu->order.first[p + 1]] - lu->first[lu->order.first[p]];
}

#endif
