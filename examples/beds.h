/* Beds of grains by name (frix/bed.h): what `frix bed` and `frix-mpi` run.
 *
 *   const ex_bed_scene *scene = ex_bed_find("pebbles");
 *   ex_bed_values(scene, value);
 *   scene->build(context, &config, value, seed, &bed);     config: tolerance, threads and link of the caller
 *   for (...) { scene->drive(bed, value, h); frix_bed_step(bed, h, &report); } */
#ifndef EX_BEDS_H
#define EX_BEDS_H

#include <frix/frix.h>

enum { EX_BED_PARAMETERS = 16 };

typedef struct ex_bed_scene {
  const char *name, *summary;
  const frix_option_info *parameter;
  int32_t parameter_count;
  double step, time; /* s: of a step, and of a run that shows something */
  /* Space, radii, materials, walls and grains; what the caller set in the config besides stays. */
  frix_status (*build)(frix_context *context, const frix_bed_config *config, const double *value, uint64_t seed,
                       frix_bed **out);
  /* Before each step; NULL: nothing to do. */
  frix_status (*drive)(frix_bed *bed, const double *value, double h);
} ex_bed_scene;

/* Row k of the table, NULL past its end. */
const ex_bed_scene *ex_bed_table(int32_t k);
const ex_bed_scene *ex_bed_find(const char *name);
/* -1: it has none of this name. */
int32_t ex_bed_parameter(const ex_bed_scene *scene, const char *name);
/* The values that parameters have where they are not set. */
void ex_bed_values(const ex_bed_scene *scene, double *value);

#endif
