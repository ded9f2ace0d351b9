/* Small islands solved where they stand give the bits of the general way, which a watched solve takes. */
#include <frix/frix.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { ISLANDS = 40, BODIES = 3, DOF = 6, CONTACTS = 10, ROWS = ISLANDS * CONTACTS * 5, DOFS = ISLANDS * BODIES * DOF };

typedef struct heap {
  frix_contact contact[ISLANDS * CONTACTS];
  double M[DOFS], f[DOFS], w[ROWS], R[ROWS], start[ROWS], *H, *G, b[ISLANDS];
  int32_t p[DOFS + 1], i[DOFS];
} heap;

static void count_small(frix_log_level level, const char *text, void *user) {
  (void)level;
  if (strstr(text, "in place")) ++*(int *)user;
}

static void watch(int64_t iteration, double residual, double seconds, void *user) {
  (void)iteration, (void)residual, (void)seconds, (void)user;
}

/* Island k: three bodies, 1 to 10 contacts of one kind, some with a joint; random directions. */
static void fill(fx_test *t, heap *s, frix_problem_data *d) {
  int32_t row = 0, count = 0;
  for (int32_t k = 0; k < DOFS; k++) {
    s->M[k] = 1.5 + fx_test_random(t), s->f[k] = fx_test_random(t);
    s->p[k + 1] = k + 1, s->i[k] = k;
  }
  for (int32_t k = 0; k < ISLANDS; k++) {
    static const int32_t dims[] = {3, 2, 3, 5, 3};
    for (int32_t c = 0; c < 1 + k % CONTACTS; c++) {
      frix_contact *contact = &s->contact[count++];
      *contact = frix_contact_of_dim(dims[k % 5], 0.2 + 0.1 * (k % 7), 0.05);
      if (k % 5 == 2) contact->cone = FRIX_CONE_PYRAMID, contact->facets = 6;
      for (int32_t a = 0; a < contact->dim; a++, row++) {
        s->w[row] = a ? 0 : -0.3;
        s->R[row] = k % 6 == 1 ? 0.01 : 0;
        for (int32_t e = 0; e < 2 * DOF; e++) /* body 0 and one of the others */
          s->H[row * DOFS + k * BODIES * DOF + (e < DOF ? e : e + (c % 2) * DOF)] = fx_test_random(t);
      }
    }
    for (int32_t e = 0; e < 2 * DOF && k % 4 == 0; e++) s->G[k * DOFS + k * BODIES * DOF + e] = fx_test_random(t);
  }
  *d = frix_problem_data_default();
  d->form = FRIX_FORM_GLOBAL;
  d->contact_count = count, d->contact = s->contact;
  d->dof_count = DOFS, d->joint_count = ISLANDS;
  d->M = (frix_matrix){.format = FRIX_MATRIX_CSC,
                       .row_count = DOFS,
                       .col_count = DOFS,
                       .nonzero_count = DOFS,
                       .p = s->p,
                       .i = s->i,
                       .x = s->M};
  d->H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = row, .x = s->H};
  d->G = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = ISLANDS, .x = s->G};
  d->f = s->f, d->w = s->w, d->R = s->R, d->b = s->b;
}

/* Both ways from the same start. */
static void compare(fx_test *t, frix_context *context, const frix_problem *problem, const double *start,
                    const char *relaxation, double *answer) {
  frix_solution *solution[2] = {NULL, NULL};
  frix_result result[2] = {{0}};
  frix_options *options = NULL;
  if (relaxation && frix_options_create(context, &options) == FRIX_OK) {
    CHECK(t, frix_options_set(options, "nsgs.relaxation", relaxation) == FRIX_OK);
    CHECK(t, frix_options_set(options, "nsgs.symmetric", "1") == FRIX_OK);
  }
  for (int k = 0; k < 2; k++) {
    frix_solve_config config = frix_solve_default();
    config.progress = k ? watch : NULL;
    config.guess_r = start;
    config.options = options;
    config.thread_count = 2 - k;
    if (frix_solve(context, problem, &config, &solution[k]) == FRIX_OK) frix_solution_view(solution[k], &result[k]);
    CHECK(t, solution[k] && result[k].outcome == FRIX_OUTCOME_SOLVED);
  }
  if (solution[0] && solution[1]) {
    size_t rows = (size_t)result[0].row_count * sizeof(double);
    CHECK(t, memcmp(result[0].r, result[1].r, rows) == 0 && memcmp(result[0].u, result[1].u, rows) == 0);
    CHECK(t, memcmp(result[0].hint, result[1].hint, (size_t)result[0].contact_count) == 0);
    CHECK(t, result[0].iterations == result[1].iterations && result[0].island_count == result[1].island_count);
    CHECK(t, strcmp(result[0].finisher, result[1].finisher) == 0);
    if (answer) memcpy(answer, result[0].r, rows);
  }
  for (int k = 0; k < 2; k++) frix_solution_destroy(solution[k]);
  frix_options_destroy(options);
}

static void same_bits(fx_test *t) {
  heap *s = calloc(1, sizeof *s);
  int small = 0;
  frix_context_config with = frix_context_default();
  with.log = count_small;
  with.user = &small;
  frix_context *context = NULL;
  frix_problem *problem = NULL, *reduced = NULL;
  frix_problem_data data;
  REQUIRE(t, s);
  s->H = calloc(DOFS * ROWS, sizeof *s->H);
  s->G = calloc(DOFS * ISLANDS, sizeof *s->G);
  CHECK(t, frix_context_create(&with, &context) == FRIX_OK);
  if (s->H && s->G && context) {
    fill(t, s, &data);
    CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    CHECK(t, problem && frix_problem_reduce(problem, &reduced) == FRIX_OK);
  }
  if (reduced) {
    compare(t, context, problem, NULL, NULL, s->start);
    int once = small;
    CHECK(t, once > ISLANDS / 4);
    /* Warm: some islands have their answer, some nearly, some have anything. */
    for (int32_t k = 0; k < ROWS; k++)
      s->start[k] *= k < ROWS / 16 ? 1 : k < ROWS / 8 ? 1 + 1e-5 * fx_test_random(t) : 1 + fx_test_random(t);
    compare(t, context, problem, s->start, NULL, NULL);
    compare(t, context, problem, NULL, "0.9", NULL);
    compare(t, context, reduced, NULL, NULL, NULL);
    fx_test_note(t, "%d of %d islands in place", once, ISLANDS);
  }
  frix_problem_destroy(problem);
  frix_problem_destroy(reduced);
  frix_context_destroy(context);
  free(s->H);
  free(s->G);
  free(s);
}

const fx_test_row test_small_islands[] = {{"small_islands/same_bits", same_bits}, {0}};
