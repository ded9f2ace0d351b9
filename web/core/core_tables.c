/* The tables of frix as one JSON text: what a page offers. */
#include "core.h"

#include <stdlib.h>

static void put_parameter(fx_json *json, const frix_option_info *p) {
  static const char *const kind[] = {[FRIX_OPTION_REAL] = "real",
                                     [FRIX_OPTION_INTEGER] = "integer",
                                     [FRIX_OPTION_BOOLEAN] = "boolean",
                                     [FRIX_OPTION_CHOICE] = "choice"};
  fx_put_open(json, NULL, '{');
  fx_put_text(json, "name", p->name);
  fx_put_text(json, "kind", kind[p->kind]);
  fx_put_real(json, "initial", p->initial);
  fx_put_real(json, "minimum", p->minimum);
  fx_put_real(json, "maximum", p->maximum);
  fx_put_text(json, "choices", p->choices);
  fx_put_text(json, "summary", p->summary);
  fx_put_close(json, '}');
}

static void put_scenes(fx_json *json) {
  fx_put_open(json, "scenes", '[');
  const frix_scene *scene;
  for (int32_t k = 0; (scene = frix_scene_table(k)); k++) {
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", scene->name);
    fx_put_text(json, "summary", scene->summary);
    fx_put_real(json, "step", scene->step);
    fx_put_real(json, "time", scene->time);
    fx_put_boolean(json, "stands", scene->stands);
    fx_put_open(json, "parameters", '[');
    for (int32_t p = 0; p < scene->parameter_count; p++) put_parameter(json, &scene->parameter[p]);
    fx_put_close(json, ']');
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

/* The caller frees it. */
FX_EXPORT char *core_tables(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  fx_json json = {memory, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "version", FRIX_VERSION_TEXT);
  put_scenes(&json);
  fx_put_open(&json, "solvers", '[');
  const frix_solver_info *solver;
  for (int32_t k = 0; (solver = frix_solver_table(k)); k++) {
    fx_put_open(&json, NULL, '{');
    fx_put_text(&json, "name", solver->name);
    fx_put_text(&json, "summary", solver->summary);
    fx_put_boolean(&json, "approximate", solver->approximate);
    fx_put_boolean(&json, "coulomb", solver->coulomb);
    fx_put_boolean(&json, "associated", solver->associated);
    fx_put_close(&json, '}');
  }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fclose(memory);
  return text;
}
