/* A packing (packing.h) that one of several ranks makes, and the others are told. */
#ifndef EX_RANK_PACKING_H
#define EX_RANK_PACKING_H

#include <frix/bed.h>

#include "packing.h"

typedef struct ex_rank_packing {
  const frix_bed_link *link; /* NULL: alone */
  int64_t count, next;
  ex_packing *packing; /* of the first rank */
  frix_vec3 *place;    /* with several ranks */
} ex_rank_packing;

/* With link and count set. The others wait here until the first rank has ended its packing. Arguments: ex_packing_new,
 * with bottom 0. */
frix_status ex_rank_packing_begin(ex_rank_packing *s, double radius, double half, double height,
                                  void (*keep)(const void *vessel, double radius, frix_vec3 *center),
                                  const void *vessel);
/* Where the next sphere lies that falls at (x, y). All ranks ask for the same ones in the same order. */
frix_vec3 ex_rank_packing_next(ex_rank_packing *s, double x, double y);
/* status: what happened so far; it is kept where it is an error. */
frix_status ex_rank_packing_end(ex_rank_packing *s, frix_status status);

#endif
