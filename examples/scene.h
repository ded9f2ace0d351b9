/* Worlds to simulate: one table, shared by the command, tests, benchmarks and the documentation.
 *
 *   const frix_scene *scene = frix_scene_find("cardhouse");
 *   frix_model *model;
 *   frix_scene_build(scene, context, NULL, 0, &model);        // NULL: the initial value of every parameter
 *   ... frix_sim_create ...
 *   repeat: frix_scene_drive(scene, sim, model, values, h);   // blows, shaking, refuelling
 *           frix_sim_step(sim, h, &report);
 *
 * Setup uses + - * / sqrt and the sine of degrees.c alone, so a world has the same bits everywhere. What drives it
 * depends on the state and time of the sim alone: a run that is continued from a snapshot goes on with the same bits. A
 * new scene is one build function and its row in a scene_*.c file, its name in world.h and a line in scene_table.c. */
#ifndef FRIX_SCENE_H
#define FRIX_SCENE_H

#include <frix/frix.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRIX_SCENE_MAX_PARAMETERS 8

typedef struct frix_scene {
  const char *name, *summary;
  const frix_option_info *parameter; /* a choice has the index as its value */
  int32_t parameter_count;
  double step, time; /* what a run takes unless told otherwise, s */
  bool stands;       /* a structure at rest, for which it is a question whether it stands */
  frix_status (*build)(frix_builder *builder, const double *value, uint64_t seed);
  frix_status (*drive)(frix_sim *sim, const frix_model *model, const double *value, double h); /* or NULL */
} frix_scene;

/* Row k of the table, NULL past the end. */
const frix_scene *frix_scene_table(int32_t k);
/* The row of this name, NULL where there is none. */
const frix_scene *frix_scene_find(const char *name);
/* Index of a parameter, -1 where there is none. */
int32_t frix_scene_parameter_index(const frix_scene *scene, const char *name);
/* Whether parameter k may have this value. */
bool frix_scene_allows(const frix_scene *scene, int32_t k, double value);
/* The world with these values (parameter_count of them; NULL: the initial ones). seed: what is random, and, where it is
 * not 0, a perturbation of what would be exact. */
frix_status frix_scene_build(const frix_scene *scene, frix_context *context, const double *value, uint64_t seed,
                             frix_model **out);
/* What happens to the world in the coming step of length h. */
frix_status frix_scene_drive(const frix_scene *scene, frix_sim *sim, const frix_model *model, const double *value,
                             double h);

#ifdef __cplusplus
}
#endif
#endif
