/* The examples by file; example_table.c lists them. */
#ifndef EX_SCENES_H
#define EX_SCENES_H

#include "assemble.h"

/* A row with its parameters, an array, and its build function. */
#define EX_ROW(name, summary, parameters, build) \
  { name, summary, parameters, (int32_t)(sizeof(parameters) / sizeof(parameters)[0]), build }

/* blocks.c: one body on a plane, all with closed-form answers */
extern const frix_example ex_slope, ex_slide, ex_anisotropic, ex_hexapyramid, ex_rolling;
/* masonry.c: bodies on bodies */
extern const frix_example ex_cardhouse, ex_stack, ex_arch, ex_wall;
/* grains.c */
extern const frix_example ex_pile, ex_discs;
/* linkage.c: joints and limits */
extern const frix_example ex_chain, ex_bridge, ex_limit;
/* balls.c: also steps, see balls.h */
extern const frix_example ex_drop;
/* painleve.c */
extern const frix_example ex_painleve;

#endif
