/* The solver table, and the option values that go with it. */
#include "base/option.h"
#include "solver/solver.h"

#include <stdio.h>
#include <string.h>

/* One row per line: */
/* clang-format off */
static const fx_solver *const table[] = {
    &fx_solver_auto,
    &fx_solver_nsgs,
    &fx_solver_newton,
    &fx_solver_spring_newton,
    &fx_solver_continuation,
    &fx_solver_apgd,
    &fx_solver_admm,
    &fx_solver_sweeps,
    &fx_solver_implicit,
    &fx_solver_pgs,
    &fx_solver_interior_point,
    &fx_solver_fixed_point,
    &fx_solver_staggered,
    &fx_solver_lemke,
    &fx_solver_qp_active_set,
    &fx_solver_semismooth,
    &fx_solver_box_trust_region,
#ifdef FRIX_HAVE_NLOPT
    &fx_solver_sqp,
#endif
};
/* clang-format on */

enum { SOLVER_COUNT = sizeof table / sizeof *table };

struct frix_options {
  frix_context *context;
  double value[SOLVER_COUNT][FX_MAX_OPTIONS];
};

const fx_solver *fx_solver_at(int32_t k) { return k >= 0 && k < SOLVER_COUNT ? table[k] : NULL; }

int32_t fx_solver_row(const fx_solver *solver) {
  int32_t row = 0;
  while (table[row] != solver) row++;
  return row;
}

const frix_solver_info *frix_solver_table(int32_t k) {
  const fx_solver *solver = fx_solver_at(k);
  return solver ? &solver->info : NULL;
}

int32_t fx_solver_find(frix_context *context, const char *name) {
  int32_t nearest = 0;
  for (int32_t k = 0; k < SOLVER_COUNT; k++) {
    if (strcmp(table[k]->info.name, name) == 0) return k;
    if (fx_text_distance(name, table[k]->info.name) < fx_text_distance(name, table[nearest]->info.name)) nearest = k;
  }
  fx_fail(context, FRIX_ERROR_INPUT, "unknown solver '%s'; did you mean '%s'?", name, table[nearest]->info.name);
  return -1;
}

static void defaults(double value[SOLVER_COUNT][FX_MAX_OPTIONS]) {
  for (int32_t k = 0; k < SOLVER_COUNT; k++)
    for (int32_t o = 0; o < table[k]->info.option_count; o++) value[k][o] = table[k]->info.option[o].initial;
}

frix_status frix_options_create(frix_context *context, frix_options **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = FX_NEW(context, frix_options, 1);
  if (!*out) return FRIX_ERROR_MEMORY;
  (*out)->context = context;
  defaults((*out)->value);
  return FRIX_OK;
}

void frix_options_destroy(frix_options *options) {
  if (options) fx_free(options->context, options);
}

void fx_options_values(const frix_options *options, int32_t k, double value[FX_MAX_OPTIONS]) {
  for (int32_t o = 0; o < table[k]->info.option_count; o++)
    value[o] = options ? options->value[k][o] : table[k]->info.option[o].initial;
}

frix_status frix_options_set(frix_options *options, const char *name, const char *text) {
  if (!options || !name || !text) return FRIX_ERROR_INPUT;
  char full[64], nearest[64] = "";
  int best = 1000;
  for (int32_t k = 0; k < SOLVER_COUNT; k++)
    for (int32_t o = 0; o < table[k]->info.option_count; o++) {
      const frix_option_info *row = &table[k]->info.option[o];
      snprintf(full, sizeof full, "%s.%s", table[k]->info.name, row->name);
      if (strcmp(full, name) == 0) return fx_option_parse(options->context, row, full, text, &options->value[k][o]);
      int distance = fx_text_distance(name, full);
      if (distance < best) {
        best = distance;
        memcpy(nearest, full, sizeof full);
      }
    }
  return fx_fail(options->context, FRIX_ERROR_INPUT, "unknown option '%s'; did you mean '%s'?", name, nearest);
}

frix_status fx_solve_instead(fx_call *call, const fx_solver *other, const char *who, const char *why) {
  double option[FX_MAX_OPTIONS];
  fx_options_values(call->options, fx_solver_row(other), option);
  fx_call inner = *call;
  inner.option = option;
  fx_log(call->arena->context, FRIX_LOG_INFO, "%s: %d contacts: %s, %s instead", who, call->system->contact_count, why,
         other->info.name);
  frix_status status = other->solve(&inner);
  call->finisher = other->info.name;
  return status;
}
