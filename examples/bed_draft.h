/* Shorthand for building beds by name (beds.h). The first failure stays, later calls do nothing. */
#ifndef EX_BED_DRAFT_H
#define EX_BED_DRAFT_H

#include <frix/bed.h>

#include "beds.h"

#define EX_BED_ROWS(rows) rows, (int32_t)(sizeof(rows) / sizeof(rows)[0])

typedef struct ex_bed_draft {
  frix_bed *bed;
  frix_status status;
  uint64_t random;
} ex_bed_draft;

ex_bed_draft ex_draft_begin(frix_context *context, const frix_bed_config *config, uint64_t seed);
frix_status ex_draft_finish(ex_bed_draft *d, frix_bed **out);
void ex_draft_plane(ex_bed_draft *d, frix_vec3 point, frix_vec3 normal, double mu);
void ex_draft_turned(ex_bed_draft *d, double a0, double a1, double b0, double b1, double mu);
/* A floor and four sides. */
void ex_draft_box(ex_bed_draft *d, double half, double mu);
void ex_draft_grain(ex_bed_draft *d, int32_t size, frix_vec3 p);
/* A grain that lies at random. */
void ex_draft_turned_grain(ex_bed_draft *d, int32_t size, frix_vec3 p);
double ex_draft_noise(ex_bed_draft *d, double scale);
/* Without libm, so that worlds have the same bits everywhere. */
double ex_cube_root(double x);
/* Room for the grains of this rank: all alone, else about its share. */
void ex_draft_reserve(ex_bed_draft *d, const frix_bed_config *c, double count);
/* Clumps of 2 to 4 touching spheres (pair, triangle, tetrahedron) with the volume of a sphere of radius r; the radius
 * of the sphere around. Corners of a cube that are two steps apart are equally far from each other. */
double ex_clump_of(int32_t spheres, double r, frix_bed_clump *out);
/* A loose lattice of `count` grains above `lower`, as wide as the space from lower to upper; radii in turn. */
void ex_draft_lattice(ex_bed_draft *d, frix_vec3 lower, frix_vec3 upper, double pitch, int64_t count, int32_t radii,
                      bool turned);
/* Three radii about the mean: 1 - spread, 1, 1 + spread. */
void ex_set_radii(frix_bed_config *c, double mean, double spread);

/* Beds whose grains start packed in a vessel (bed_vessels.c). */
extern const ex_bed_scene ex_bed_pebbles, ex_bed_hopper, ex_bed_column;

#endif
