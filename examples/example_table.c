/* The table of examples: adding one is a row in a scene file, its name in scenes.h and a line here. */
#include "scenes.h"

#include <string.h>

static const frix_example *const rows[] = {
    &ex_slope, &ex_slide, &ex_anisotropic, &ex_hexapyramid, &ex_rolling, &ex_cardhouse, &ex_stack, &ex_arch,
    &ex_wall,  &ex_pile,  &ex_discs,       &ex_chain,       &ex_bridge,  &ex_limit,     &ex_drop,  &ex_painleve,
};

const frix_example *frix_example_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof rows / sizeof rows[0]) ? rows[k] : NULL;
}

const frix_example *frix_example_find(const char *name) {
  const frix_example *row;
  for (int32_t k = 0; (row = frix_example_table(k)); k++)
    if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

int32_t frix_example_parameter_index(const frix_example *example, const char *name) {
  for (int32_t k = 0; k < example->parameter_count; k++)
    if (strcmp(example->parameter[k].name, name) == 0) return k;
  return -1;
}

frix_status frix_example_build(const frix_example *example, frix_context *context, const double *value,
                               frix_problem **out) {
  double chosen[FRIX_EXAMPLE_MAX_PARAMETERS];
  if (!example || !context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  for (int32_t k = 0; k < example->parameter_count; k++) {
    const frix_example_parameter *parameter = &example->parameter[k];
    chosen[k] = value ? value[k] : parameter->initial;
    /* written so that a NaN is refused too */
    if (!(chosen[k] >= parameter->minimum && chosen[k] <= parameter->maximum)) return FRIX_ERROR_INPUT;
  }
  return example->build(context, chosen, out);
}
