/* Generated contact problems: one table, shared by tests, benchmarks, demos and the documentation.
 *
 *   const frix_example *example = frix_example_find("cardhouse");
 *   frix_problem *problem;
 *   frix_example_build(example, context, NULL, &problem);   // NULL: the initial value of every parameter
 *
 * Every example is one time step in global form (M, H, G, f, w, b), built through the public interface only. Bodies
 * have 6 degrees of freedom (velocity of the centre of mass, then spin, world frame, z up); planar ones have 3 (v_x,
 * v_z, spin about y). Setup uses + - * / sqrt and the sine of degrees.c alone, so a problem has the same bits
 * everywhere. A new example is one build function, one table row in example_table.c and one test row. */
#ifndef FRIX_EXAMPLES_H
#define FRIX_EXAMPLES_H

#include <frix/frix.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRIX_EXAMPLE_GRAVITY 9.81
#define FRIX_EXAMPLE_MAX_PARAMETERS 8

typedef struct frix_example_parameter {
  const char *name;
  double initial, minimum, maximum; /* inclusive */
  const char *summary;
} frix_example_parameter;

typedef struct frix_example {
  const char *name, *summary;
  const frix_example_parameter *parameter;
  int32_t parameter_count;
  frix_status (*build)(frix_context *context, const double *value, frix_problem **out);
} frix_example;

/* Row k of the table, NULL past the end. */
const frix_example *frix_example_table(int32_t k);
/* The row of this name, NULL where there is none. */
const frix_example *frix_example_find(const char *name);
/* Index of a parameter, -1 where there is none. */
int32_t frix_example_parameter_index(const frix_example *example, const char *name);
/* Checks the values (parameter_count of them; NULL: the initial ones) against their ranges, then builds. */
frix_status frix_example_build(const frix_example *example, frix_context *context, const double *value,
                               frix_problem **out);

#ifdef __cplusplus
}
#endif
#endif
