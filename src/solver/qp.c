/* The public interface to quadratic programmes: factors Q, makes rows of A and of A Q^-1, runs, and judges the answer
 * by its optimality conditions, from the data and not from what the method kept. */
#include <frix/qp.h>

#include "base/abi.h"
#include "linalg/active_set.h"
#include "problem/problem_internal.h"

#include <math.h>
#include <string.h>

struct frix_qp_solution {
  frix_context *context;
  frix_qp_result result;
  double *x, *lambda; /* lambda: nu, then the inequalities */
  bool *active;
};

typedef struct programme {
  frix_context *context;
  const frix_qp_data *data;
  int32_t n, m, block_count;
  const int32_t *block;
  int32_t whole[2];
  double *L;      /* Cholesky factors of the blocks, row-major */
  size_t *offset; /* of each block in Q and L */
  int32_t *block_of;
  int32_t *start[2], *index[2];
  double *value[2]; /* rows of A_eq and A, and of their products with Q^-1 */
  double *x0, *lower, *work;
  int32_t *group;
} programme;

static frix_qp_data default_qp_data(void) {
  frix_qp_data data = {0};
  data.size = sizeof data;
  return data;
}

void frix_qp_data_init(frix_qp_data *out, size_t size) {
  frix_qp_data all = default_qp_data();
  fx_give_struct(out, size, &all, sizeof all);
}

static frix_qp_config default_qp(void) {
  frix_qp_config config = {0};
  config.size = sizeof config;
  config.tolerance = 1e-12;
  return config;
}

void frix_qp_init(frix_qp_config *out, size_t size) {
  frix_qp_config all = default_qp();
  fx_give_struct(out, size, &all, sizeof all);
}

const char *frix_qp_outcome_name(frix_qp_outcome outcome) {
  static const char *const name[] = {"solved", "infeasible", "max_iterations", "stalled"};
  return (unsigned)outcome < sizeof name / sizeof *name ? name[outcome] : "unknown";
}

/* ---- checks ---- */

static frix_status check_vector(frix_context *context, const char *name, const double *x, int64_t count) {
  if (count > 0 && !x) return fx_fail(context, FRIX_ERROR_INPUT, "%s is missing", name);
  for (int64_t k = 0; k < count; k++)
    if (!isfinite(x[k]))
      return fx_fail(context, FRIX_ERROR_INPUT, "%s[%lld] is not a finite number", name, (long long)k);
  return FRIX_OK;
}

static frix_status check_blocks(programme *p) {
  const frix_qp_data *d = p->data;
  if (d->block_count < 0 || (d->block_count > 0 && !d->block))
    return fx_fail(p->context, FRIX_ERROR_INPUT, "block is missing");
  p->whole[1] = p->n;
  p->block = d->block_count ? d->block : p->whole;
  p->block_count = d->block_count ? d->block_count : 1;
  bool good = p->block[0] == 0 && p->block[p->block_count] == p->n;
  for (int32_t b = 0; b < p->block_count; b++) good = good && p->block[b] <= p->block[b + 1];
  return good ? FRIX_OK : fx_fail(p->context, FRIX_ERROR_INPUT, "blocks of Q must go from 0 to %d, ascending", p->n);
}

static frix_status check(programme *p, const frix_qp_config *config) {
  const frix_qp_data *d = p->data;
  if (d->variable_count < 0 || d->equality_count < 0 || d->inequality_count < 0 ||
      d->equality_count > INT32_MAX - d->inequality_count)
    return fx_fail(p->context, FRIX_ERROR_INPUT, "counts must not be negative");
  if (!(config->tolerance > 0) || config->max_iterations < 0 || !(config->price >= 0))
    return fx_fail(p->context, FRIX_ERROR_INPUT, "tolerance must be positive, max_iterations and price not negative");
  frix_status status = check_blocks(p);
  if (status == FRIX_OK) status = check_vector(p->context, "c", d->c, p->n);
  if (status == FRIX_OK) status = check_vector(p->context, "b", d->b, d->equality_count);
  if (status == FRIX_OK) status = check_vector(p->context, "lower", d->lower, d->inequality_count);
  if (status == FRIX_OK && config->guess_x) status = check_vector(p->context, "guess_x", config->guess_x, p->n);
  if (status == FRIX_OK && config->guess_lambda)
    status = check_vector(p->context, "guess_lambda", config->guess_lambda, d->inequality_count);
  return status;
}

/* ---- Q ---- */

static frix_status factor(fx_arena *arena, programme *p) {
  p->offset = FX_TAKE(arena, size_t, (size_t)p->block_count + 1);
  p->block_of = FX_TAKE(arena, int32_t, p->n);
  if (!p->offset || !p->block_of) return FRIX_ERROR_MEMORY;
  for (int32_t b = 0; b < p->block_count; b++) {
    size_t size = (size_t)(p->block[b + 1] - p->block[b]);
    p->offset[b + 1] = p->offset[b] + size * size;
    for (int32_t i = p->block[b]; i < p->block[b + 1]; i++) p->block_of[i] = b;
  }
  size_t total = p->offset[p->block_count];
  frix_status status = check_vector(p->context, "Q", p->data->Q, (int64_t)total);
  if (status != FRIX_OK) return status;
  p->L = FX_TAKE(arena, double, total);
  if (!p->L) return FRIX_ERROR_MEMORY;
  memcpy(p->L, p->data->Q, total * sizeof *p->L);
  for (int32_t b = 0; b < p->block_count; b++) {
    int32_t n = p->block[b + 1] - p->block[b];
    double *L = p->L + p->offset[b];
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j <= i; j++) {
        double sum = L[(size_t)i * (size_t)n + (size_t)j];
        for (int32_t k = 0; k < j; k++)
          sum -= L[(size_t)i * (size_t)n + (size_t)k] * L[(size_t)j * (size_t)n + (size_t)k];
        if (i == j && !(sum > 0))
          return fx_fail(p->context, FRIX_ERROR_INPUT, "Q is not positive definite: pivot of variable %d is %g",
                         p->block[b] + i, sum);
        L[(size_t)i * (size_t)n + (size_t)j] = i == j ? sqrt(sum) : sum / L[(size_t)j * (size_t)n + (size_t)j];
      }
  }
  return FRIX_OK;
}

/* x := Q_b^-1 x, x the part of block b */
static void solve_block(const programme *p, int32_t b, double *x) {
  size_t n = (size_t)(p->block[b + 1] - p->block[b]);
  const double *L = p->L + p->offset[b];
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    x[i] /= L[i * n + i];
    for (size_t k = 0; k < i; k++) x[k] -= L[i * n + k] * x[i];
  }
}

/* out = Q x */
static void multiply(const programme *p, const double *x, double *out) {
  for (int32_t b = 0; b < p->block_count; b++) {
    int32_t first = p->block[b], n = p->block[b + 1] - first;
    const double *Q = p->data->Q + p->offset[b];
    for (int32_t i = 0; i < n; i++) {
      out[first + i] = 0;
      for (int32_t j = 0; j < n; j++) out[first + i] += Q[(size_t)i * (size_t)n + (size_t)j] * x[first + j];
    }
  }
}

/* ---- rows ---- */

/* Appends the rows of a checked matrix (stored by columns) to side 0, from row `first` on. */
static void copy_rows(programme *p, const fx_sparse *A, int32_t first) {
  int32_t *next = p->start[0] + first + 1; /* fills up to the start of the next row */
  for (int32_t c = 0; c < A->col_count; c++)
    for (int32_t k = A->p[c]; k < A->p[c + 1]; k++) {
      int32_t at = next[A->i[k]]++;
      p->index[0][at] = c;
      p->value[0][at] = A->x[k];
    }
}

static void count_rows(programme *p, const fx_sparse *A, int32_t first) {
  for (int32_t k = 0; k < A->p[A->col_count]; k++) p->start[0][first + A->i[k] + 2]++;
}

/* Side 1: each row times Q^-1, full over the blocks it touches. */
static frix_status solve_rows(fx_arena *arena, programme *p) {
  int32_t *seen = FX_TAKE(arena, int32_t, p->block_count);
  int64_t total = 0;
  if (!seen) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < p->m; k++)
    for (int32_t e = p->start[0][k]; e < p->start[0][k + 1]; e++) {
      int32_t b = p->block_of[p->index[0][e]];
      if (seen[b] != k + 1) total += p->block[b + 1] - p->block[b];
      seen[b] = k + 1;
    }
  if (total > INT32_MAX)
    return fx_fail(p->context, FRIX_ERROR_UNSUPPORTED, "the rows times Q^-1 have too many entries");
  p->start[1] = FX_TAKE(arena, int32_t, (size_t)p->m + 1);
  p->index[1] = FX_TAKE(arena, int32_t, total);
  p->value[1] = FX_TAKE(arena, double, total);
  if (!p->start[1] || !p->index[1] || !p->value[1]) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0, at = 0; k < p->m; k++) {
    for (int32_t e = p->start[0][k]; e < p->start[0][k + 1]; e++) p->work[p->index[0][e]] = p->value[0][e];
    for (int32_t e = p->start[0][k]; e < p->start[0][k + 1]; e++) {
      int32_t b = p->block_of[p->index[0][e]];
      if (seen[b] == -1 - k) continue;
      seen[b] = -1 - k;
      solve_block(p, b, p->work + p->block[b]);
      for (int32_t i = p->block[b]; i < p->block[b + 1]; i++) {
        p->index[1][at] = i;
        p->value[1][at++] = p->work[i];
        p->work[i] = 0;
      }
    }
    p->start[1][k + 1] = at;
  }
  return FRIX_OK;
}

static frix_status build_rows(fx_arena *arena, programme *p) {
  const frix_qp_data *d = p->data;
  fx_sparse A[2] = {{0}, {0}};
  frix_status status = FRIX_OK;
  if (d->equality_count) status = fx_matrix_take(p->context, "A_eq", &d->A_eq, d->equality_count, p->n, &A[0]);
  if (status == FRIX_OK && d->inequality_count)
    status = fx_matrix_take(p->context, "A", &d->A, d->inequality_count, p->n, &A[1]);
  if (status == FRIX_OK) {
    size_t entries = (A[0].p ? (size_t)A[0].p[p->n] : 0) + (A[1].p ? (size_t)A[1].p[p->n] : 0);
    p->start[0] = FX_TAKE(arena, int32_t, (size_t)p->m + 2);
    p->index[0] = FX_TAKE(arena, int32_t, entries);
    p->value[0] = FX_TAKE(arena, double, entries);
    if (!p->start[0] || !p->index[0] || !p->value[0]) status = FRIX_ERROR_MEMORY;
  }
  if (status == FRIX_OK) {
    for (int side = 0; side < 2; side++)
      if (A[side].p) count_rows(p, &A[side], side * d->equality_count);
    for (int32_t k = 0; k < p->m; k++) p->start[0][k + 2] += p->start[0][k + 1];
    for (int side = 0; side < 2; side++)
      if (A[side].p) copy_rows(p, &A[side], side * d->equality_count);
  }
  fx_sparse_free(p->context, &A[0]);
  fx_sparse_free(p->context, &A[1]);
  return status == FRIX_OK ? solve_rows(arena, p) : status;
}

static frix_status prepare(fx_arena *arena, programme *p) {
  const frix_qp_data *d = p->data;
  frix_status status = factor(arena, p);
  if (status != FRIX_OK) return status;
  p->x0 = FX_TAKE(arena, double, p->n);
  p->work = FX_TAKE(arena, double, p->n);
  p->lower = FX_TAKE(arena, double, p->m);
  p->group = FX_TAKE(arena, int32_t, p->m);
  if (!p->x0 || !p->work || !p->lower || !p->group) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < p->n; i++) p->x0[i] = -d->c[i];
  for (int32_t b = 0; b < p->block_count; b++) solve_block(p, b, p->x0 + p->block[b]);
  if (d->equality_count) memcpy(p->lower, d->b, (size_t)d->equality_count * sizeof *p->lower);
  if (d->inequality_count)
    memcpy(p->lower + d->equality_count, d->lower, (size_t)d->inequality_count * sizeof *p->lower);
  for (int32_t k = d->equality_count; k < p->m; k++) p->group[k] = k - d->equality_count;
  return build_rows(arena, p);
}

/* ---- the judge ---- */

static double relative(double value, double scale) { return value == 0 ? 0 : scale > 0 ? value / scale : INFINITY; }

static void judge(const programme *p, frix_qp_solution *s) {
  const frix_qp_data *d = p->data;
  double *gradient = p->work, stationary = 0, force = 0, violated = 0, size = 0, gap = 0, power = 0, negative = 0,
         most = 0;
  multiply(p, s->x, gradient);
  s->result.objective = 0;
  for (int32_t i = 0; i < p->n; i++) {
    s->result.objective += (0.5 * gradient[i] + d->c[i]) * s->x[i];
    force = fmax(force, fmax(fabs(gradient[i]), fabs(d->c[i])));
    gradient[i] += d->c[i];
  }
  for (int32_t k = 0; k < p->m; k++) {
    double value = 0, terms = fabs(p->lower[k]);
    for (int32_t e = p->start[0][k]; e < p->start[0][k + 1]; e++) {
      double entry = p->value[0][e];
      value += entry * s->x[p->index[0][e]];
      terms = fmax(terms, fabs(entry * s->x[p->index[0][e]]));
      gradient[p->index[0][e]] -= entry * s->lambda[k];
      force = fmax(force, fabs(entry * s->lambda[k]));
    }
    double slack = value - p->lower[k];
    size = fmax(size, terms);
    violated = fmax(violated, k < d->equality_count ? fabs(slack) : -slack);
    if (k < d->equality_count) continue;
    gap = fmax(gap, fabs(slack * s->lambda[k]));
    power = fmax(power, terms * fabs(s->lambda[k]));
    negative = fmax(negative, -s->lambda[k]);
    most = fmax(most, fabs(s->lambda[k]));
  }
  for (int32_t i = 0; i < p->n; i++) stationary = fmax(stationary, fabs(gradient[i]));
  s->result.residual = fmax(fmax(relative(stationary, force), relative(violated, size)),
                            fmax(relative(gap, power), relative(negative, most)));
}

/* ---- the run ---- */

static frix_qp_outcome outcome_of(fx_qp_end end) {
  switch (end) {
    case FX_QP_SOLVED: return FRIX_QP_SOLVED;
    case FX_QP_INFEASIBLE: return FRIX_QP_INFEASIBLE;
    case FX_QP_LIMIT: return FRIX_QP_MAX_ITERATIONS;
    case FX_QP_STOPPED:
    case FX_QP_FULL:
    case FX_QP_STALLED: break;
  }
  return FRIX_QP_STALLED;
}

/* A row without entries that asks for something. */
static bool contradicts_itself(const programme *p) {
  for (int32_t k = 0; k < p->m; k++) {
    bool empty = true;
    for (int32_t e = p->start[0][k]; e < p->start[0][k + 1]; e++) empty = empty && p->value[0][e] == 0;
    if (empty && (k < p->data->equality_count ? p->lower[k] != 0 : p->lower[k] > 0)) return true;
  }
  return false;
}

static frix_status run(fx_arena *arena, programme *p, const frix_qp_config *config, frix_qp_solution *out) {
  fx_active_set set;
  frix_status status = fx_active_set_take(arena, p->n, p->m, p->n + 1, &set);
  if (status != FRIX_OK) return status;
  set.A = (fx_rows){p->start[0], p->index[0], p->value[0]};
  set.Y = (fx_rows){p->start[1], p->index[1], p->value[1]};
  set.equality_count = p->data->equality_count;
  set.x0 = p->x0;
  set.lower = p->lower;
  set.tolerance = config->tolerance;
  set.limit = config->max_iterations ? config->max_iterations : 100 * (int64_t)p->m + 1000;
  for (int32_t k = 0; config->guess_lambda && k < p->data->inequality_count; k++)
    set.lambda[p->data->equality_count + k] = fmax(config->guess_lambda[k], 0);
  fx_qp_end end;
  if (contradicts_itself(p)) {
    end = FX_QP_INFEASIBLE;
  } else if (config->method == FRIX_QP_PRIMAL) {
    fx_elastic elastic;
    if ((status = fx_elastic_take(arena, &set, p->data->inequality_count, p->group, &elastic)) != FRIX_OK)
      return status;
    memcpy(set.x, config->guess_x ? config->guess_x : p->x0, (size_t)p->n * sizeof *set.x);
    double price = 1; /* twenty times what lifts the worst row by itself */
    fx_active_set_measure(&set);
    for (int32_t k = set.equality_count; k < p->m; k++)
      if (set.diagonal[k] > 0) price = fmax(price, fmax(20 * set.scale / set.norm[k], 5 * set.lambda[k]));
    end = fx_elastic_run(&elastic, &set, config->price > 0 ? config->price : price);
  } else {
    end = fx_active_set_dual(&set);
  }
  memcpy(out->x, set.x, (size_t)p->n * sizeof *out->x);
  memcpy(out->lambda, set.lambda, (size_t)p->m * sizeof *out->lambda);
  for (int32_t j = 0; j < set.count; j++)
    if (set.active[j] >= set.equality_count) {
      out->active[set.active[j] - set.equality_count] = true;
      out->result.active_count++;
    }
  out->result.outcome = outcome_of(end);
  out->result.iterations = set.iterations;
  judge(p, out);
  return FRIX_OK;
}

frix_status frix_qp_solve(frix_context *context, const frix_qp_data *data, const frix_qp_config *config,
                          frix_qp_solution **out) {
  if (!context || !data || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_qp_data, data, frix_qp_data_default());
  FX_WHOLE(frix_qp_config, config, frix_qp_default());
  frix_qp_config chosen = frix_qp_default();
  if (data->size != sizeof *data || (config && config->size != sizeof chosen))
    return fx_fail(context, FRIX_ERROR_INPUT, "data or config do not come from frix_qp_data_default, frix_qp_default");
  if (config) chosen = *config;
  programme p = {
      .context = context, .data = data, .n = data->variable_count, .m = data->equality_count + data->inequality_count};
  frix_status status = check(&p, &chosen);
  if (status != FRIX_OK) return status;
  frix_qp_solution *s = FX_NEW(context, frix_qp_solution, 1);
  if (!s) return FRIX_ERROR_MEMORY;
  s->context = context;
  s->x = FX_NEW(context, double, p.n);
  s->lambda = FX_NEW(context, double, p.m);
  s->active = FX_NEW(context, bool, data->inequality_count);
  status = s->x && s->lambda && s->active ? FRIX_OK : FRIX_ERROR_MEMORY;
  fx_arena arena;
  fx_arena_init(&arena, context);
  if (status == FRIX_OK) status = prepare(&arena, &p);
  if (status == FRIX_OK) status = run(&arena, &p, &chosen, s);
  fx_arena_free(&arena);
  if (status != FRIX_OK) {
    frix_qp_solution_destroy(s);
    return status;
  }
  s->result.size = sizeof s->result;
  s->result.x = s->x;
  s->result.nu = s->lambda;
  s->result.lambda = s->lambda + data->equality_count;
  s->result.active = s->active;
  *out = s;
  return FRIX_OK;
}

void frix_qp_solution_destroy(frix_qp_solution *solution) {
  if (!solution) return;
  fx_free(solution->context, solution->x);
  fx_free(solution->context, solution->lambda);
  fx_free(solution->context, solution->active);
  fx_free(solution->context, solution);
}

void frix_qp_solution_view_sized(const frix_qp_solution *solution, frix_qp_result *out, size_t size) {
  frix_qp_result none = {0};
  fx_give_struct(out, size, solution ? &solution->result : &none, sizeof none);
}
