/* The table of scenes. */
#include "world.h"

#include <string.h>

static const frix_scene *const rows[] = {
    &ex_scene_cardhouse,   &ex_scene_arch,         &ex_scene_stack,      &ex_scene_wall,         &ex_scene_loghouse,
    &ex_scene_hexapyramid, &ex_scene_dominoes,     &ex_scene_funnel,     &ex_scene_cannonball,   &ex_scene_balls,
    &ex_scene_drop5,       &ex_scene_pile,         &ex_scene_pebbles,    &ex_scene_bunnies,      &ex_scene_segregation,
    &ex_scene_ellipse,     &ex_scene_painleve,     &ex_scene_top,        &ex_scene_grip,         &ex_scene_puck,
    &ex_scene_incline,     &ex_scene_cradle,       &ex_scene_soft_stack, &ex_scene_cantilever,   &ex_scene_capstan,
    &ex_scene_jam,         &ex_scene_chairs,       &ex_scene_dinosaurs,  &ex_scene_bunnies_arch, &ex_scene_touch,
    &ex_scene_weave,       &ex_scene_weave_thrown, &ex_scene_silo,       &ex_scene_collapse,
};

const frix_scene *frix_scene_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof rows / sizeof rows[0]) ? rows[k] : NULL;
}

const frix_scene *frix_scene_find(const char *name) {
  const frix_scene *row;
  for (int32_t k = 0; (row = frix_scene_table(k)); k++)
    if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

int32_t frix_scene_parameter_index(const frix_scene *scene, const char *name) {
  for (int32_t k = 0; k < scene->parameter_count; k++)
    if (strcmp(scene->parameter[k].name, name) == 0) return k;
  return -1;
}

bool frix_scene_allows(const frix_scene *scene, int32_t k, double value) {
  const frix_option_info *parameter = &scene->parameter[k];
  /* written so that a NaN is refused too */
  if (!(value >= parameter->minimum && value <= parameter->maximum)) return false;
  return parameter->kind == FRIX_OPTION_REAL || value == (double)(int64_t)value;
}

frix_status frix_scene_build(const frix_scene *scene, frix_context *context, const double *value, uint64_t seed,
                             frix_model **out) {
  double chosen[FRIX_SCENE_MAX_PARAMETERS];
  if (!scene || !context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  for (int32_t k = 0; k < scene->parameter_count; k++) {
    chosen[k] = value ? value[k] : scene->parameter[k].initial;
    if (!frix_scene_allows(scene, k, chosen[k])) return FRIX_ERROR_INPUT;
  }
  frix_builder *builder = NULL;
  frix_status status = frix_builder_create(context, &builder);
  if (status == FRIX_OK) status = scene->build(builder, chosen, seed);
  if (status == FRIX_OK) status = frix_builder_compile(builder, out);
  frix_builder_destroy(builder);
  return status;
}

frix_status frix_scene_drive(const frix_scene *scene, frix_sim *sim, const frix_model *model, const double *value,
                             double h) {
  return scene->drive ? scene->drive(sim, model, value, h) : FRIX_OK;
}
