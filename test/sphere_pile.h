/* Problems of settling spheres: a trajectory of bench/spheres.h, stopped at some step. */
#ifndef FX_TEST_SPHERE_PILE_H
#define FX_TEST_SPHERE_PILE_H

#include "answer.h"
#include "bench/spheres.h"

typedef struct pile {
  frix_context *context;
  spheres *spheres;
  frix_problem *problem;
  frix_problem_data data;
} pile;

static inline void pile_free(pile *p) {
  frix_problem_destroy(p->problem);
  spheres_destroy(p->spheres);
  frix_context_destroy(p->context);
}

static inline bool pile_next(pile *p) {
  frix_problem_destroy(p->problem);
  p->problem = NULL;
  return spheres_problem(p->spheres, &p->data) && frix_problem_create(p->context, &p->data, &p->problem) == FRIX_OK;
}

static inline frix_solution *pile_solve(const pile *p, const char *solver, double tolerance, frix_result *result) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  config.solver = solver;
  config.tolerance = tolerance;
  if (frix_solve(p->context, p->problem, &config, &solution) == FRIX_OK) frix_solution_view(solution, result);
  return solution;
}

/* The problem after some steps of a trajectory; to be freed in any case. */
static inline bool pile_make(pile *p, int32_t count, double compliance, bool shuffle, int32_t steps) {
  *p = (pile){0};
  spheres_config config = spheres_default(count);
  config.compliance = compliance;
  config.shuffle = shuffle;
  p->spheres = spheres_create(&config);
  bool good = frix_context_create(NULL, &p->context) == FRIX_OK && p->spheres && pile_next(p);
  for (int32_t k = 0; good && k < steps; k++) {
    frix_result result;
    frix_solution *solution = pile_solve(p, "sweeps", 1e-4, &result);
    good = solution != NULL;
    if (good) spheres_advance(p->spheres, result.r, result.v);
    frix_solution_destroy(solution);
    good = good && pile_next(p);
  }
  return good;
}

static inline double distance(const double *a, const double *b, int32_t n) {
  double sum = 0, size = 0;
  for (int32_t k = 0; k < n; k++) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
    size += a[k] * a[k];
  }
  return sqrt(sum / (size > 0 ? size : 1));
}

#endif
