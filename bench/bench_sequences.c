/* Sphere piles as problem files: consecutive steps of true trajectories, warm starts included.
 *
 *   bench_sequences DIR [--spheres N[,N...]] [--steps N]
 *
 * Writes DIR/spheresN-PHASE-K for the phases pouring, settling and rest of piles of N spheres (see spheres.h), the
 * first `steps` steps of each. */
#include "spheres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct phase {
  const char *name;
  int32_t first;
} phase;

static const phase phases[] = {{"pouring", 40}, {"settling", 120}, {"rest", 400}};
enum { PHASES = sizeof phases / sizeof *phases };

/* HDF5 where this build has it: a tenth of the size. */
static const char *extension(void) {
  for (int32_t k = 0; frix_format_table(k); k++)
    if (!strcmp(frix_format_table(k)->name, "fclib") && frix_format_table(k)->available) return "hdf5";
  return "json";
}

static bool write_step(const frix_problem *problem, const char *dir, int32_t count, int32_t step, int32_t steps) {
  for (int p = 0; p < PHASES; p++) {
    if (step < phases[p].first || step >= phases[p].first + steps) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/spheres%d-%s-%d.%s", dir, count, phases[p].name, step - phases[p].first,
             extension());
    return frix_problem_write(problem, path, NULL) == FRIX_OK;
  }
  return true;
}

static bool write_pile(frix_context *context, const char *dir, int32_t count, int32_t steps) {
  spheres_config config = spheres_default(count);
  spheres *s = spheres_create(&config);
  bool good = s != NULL;
  for (int32_t step = 0; good && step < phases[PHASES - 1].first + steps; step++) {
    frix_problem_data data;
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    frix_result result;
    frix_solve_config solve = frix_solve_default();
    solve.solver = "sweeps";
    solve.tolerance = 1e-5;
    solve.max_iterations = 1000;
    good = spheres_problem(s, &data) && frix_problem_create(context, &data, &problem) == FRIX_OK &&
           write_step(problem, dir, count, step, steps) && frix_solve(context, problem, &solve, &solution) == FRIX_OK;
    if (good) {
      frix_solution_view(solution, &result);
      spheres_advance(s, result.r, result.v);
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  spheres_destroy(s);
  return good;
}

int main(int count, char **argument) {
  const char *list = "100,1000";
  int32_t steps = 3;
  bool good = count >= 2 && count % 2 == 0;
  for (int k = 2; k + 1 < count; k += 2) {
    if (!strcmp(argument[k], "--spheres"))
      list = argument[k + 1];
    else if (!strcmp(argument[k], "--steps"))
      steps = atoi(argument[k + 1]);
    else
      good = false;
  }
  frix_context *context = NULL;
  if (!good || steps < 1 || frix_context_create(NULL, &context) != FRIX_OK) {
    fprintf(stderr, "usage: bench_sequences DIR [--spheres N[,N...]] [--steps N]\n");
    return 2;
  }
  for (const char *c = list; good && *c; c += strcspn(c, ","), c += *c == ',') {
    int32_t size = atoi(c);
    good = size > 0 && write_pile(context, argument[1], size, steps);
  }
  if (!good) fprintf(stderr, "bench_sequences: %s\n", frix_error_text(context));
  frix_context_destroy(context);
  return good ? 0 : 1;
}
