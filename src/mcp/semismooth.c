/* semismooth: Newton's method on the Fischer-Burmeister equations, with feasible iterates.
 *
 *   phi(a, b) = a + b - sqrt(a^2 + b^2)                    zero exactly where a >= 0, b >= 0, ab = 0
 *   Phi_i = F_i                                            free
 *         = phi(x - l, F)                                  lower bound
 *         = -phi(h - x, -F)                                upper bound
 *         = phi(x - l, -phi(h - x, -F))                    both
 *   H d = -Phi,  H in dPhi;   x(t) = P(x + t d),  Psi = 1/2 |Phi|^2 decreases (nonmonotone Armijo rule)
 *
 * Where H is singular or d is no good, Levenberg and Marquardt's direction (H'H + m I) d = -H'Phi, solved as an
 * augmented sparse system, and then the projected gradient take over. A run that stalls starts again from a
 * reproducible point. References: T. De Luca, F. Facchinei, C. Kanzow, 1996; S. Billups 1995 (both bounds); C. Kanzow,
 * S. Petra, 2007 (feasible iterates, Levenberg-Marquardt). */
#include "linalg/sparse_lu.h"
#include "mcp/mcp_internal.h"

#include <math.h>
#include <string.h>

enum { RESTARTS, MEMORY, PENALTY, OPTION_COUNT };

static const frix_option_info options[OPTION_COUNT] = {
    {"restarts", FRIX_OPTION_INTEGER, 40, 0, 100000, NULL, "fresh starts after a stall"},
    {"memory", FRIX_OPTION_INTEGER, 4, 1, 32, NULL, "steps the merit may look back on before it must have decreased"},
    {"penalty", FRIX_OPTION_REAL, 1, 0.01, 1, NULL,
     "weight of Fischer-Burmeister against the penalised term (1: plain)"},
};

enum { LONGEST_MEMORY = 32, RUN_LIMIT = 300, HALVINGS = 30, SMALL = 100000 };

typedef struct state {
  const frix_mcp *mcp;
  fx_mcp_monitor *monitor;
  int32_t n;
  double lambda;         /* penalty weight */
  double *x, *F, *J;     /* present iterate */
  double *phi, *da, *db; /* Phi, and H = diag(da) + diag(db) J */
  double *gradient, *d, *trial, *trial_F, *trial_phi;
  double merit, recent[LONGEST_MEMORY];
  int32_t recent_count, memory;
  /* H in compressed columns: the pattern of J with the diagonal */
  int32_t *H_column, *H_row, *H_from; /* H_from: entry of J, -1 where only the diagonal stands */
  double *H;
  fx_sparse_lu lu;
  /* augmented system of Levenberg and Marquardt */
  int32_t *A_column, *A_row;
  double *A, *A_b;
  fx_sparse_lu augmented;
  bool has_augmented;
  double damping;
} state;

/* ---- the equations */

/* l * (a + b - sqrt(a^2 + b^2)) + (1 - l) a+ b+ and its derivatives (Chen, Chen, Kanzow 2000). */
static double penalised(double a, double b, double l, double *da, double *db) {
  double length = sqrt(a * a + b * b), sign_a, sign_b;
  if (length > 0) {
    sign_a = a / length;
    sign_b = b / length;
  } else {
    sign_a = sign_b = sqrt(0.5);
  }
  /* a + b - length without cancellation where both are positive */
  double value = a > 0 && b > 0 ? 2 * a * b / (a + b + length) : a + b - length;
  *da = l * (1 - sign_a);
  *db = l * (1 - sign_b);
  if (a > 0 && b > 0 && l < 1) {
    *da += (1 - l) * b;
    *db += (1 - l) * a;
    return l * value + (1 - l) * a * b;
  }
  return l * value;
}

/* Row i: value, and derivatives by x_i directly (da) and through F_i (db). */
static double row_value(const state *t, int32_t i, double x, double F, double *da, double *db) {
  double low = t->mcp->data.lower[i], high = t->mcp->data.upper[i], l = t->lambda;
  bool has_low = low > -INFINITY, has_high = high < INFINITY;
  if (has_low && has_high && low == high) { /* fixed */
    *da = 1;
    *db = 0;
    return x - low;
  }
  if (!has_low && !has_high) {
    *da = 0;
    *db = 1;
    return F;
  }
  if (!has_high) return penalised(x - low, F, l, da, db);
  double inner_a, inner_b, inner = -penalised(high - x, -F, l, &inner_a, &inner_b); /* d/dx = inner_a, d/dF = inner_b */
  if (!has_low) {
    *da = inner_a;
    *db = inner_b;
    return inner;
  }
  double outer_a, outer_b, outer = penalised(x - low, inner, l, &outer_a, &outer_b);
  *da = outer_a + outer_b * inner_a;
  *db = outer_b * inner_b;
  return outer;
}

static double merit_of(const state *t, const double *x, const double *F, double *phi) {
  double sum = 0, da, db;
  for (int32_t i = 0; i < t->n; i++) {
    phi[i] = row_value(t, i, x[i], F[i], &da, &db);
    sum += phi[i] * phi[i];
  }
  return 0.5 * sum;
}

/* Phi, H and the gradient of the merit at x; false where the Jacobian is undefined. */
static bool linearise(state *t) {
  if (!fx_mcp_jacobian(t->monitor, t->x, t->J)) return false;
  double sum = 0;
  for (int32_t i = 0; i < t->n; i++) {
    t->phi[i] = row_value(t, i, t->x[i], t->F[i], &t->da[i], &t->db[i]);
    sum += t->phi[i] * t->phi[i];
  }
  t->merit = 0.5 * sum;
  for (int32_t j = 0; j < t->n; j++) {
    double slope = 0;
    for (int32_t k = t->H_column[j]; k < t->H_column[j + 1]; k++) {
      int32_t i = t->H_row[k], from = t->H_from[k];
      t->H[k] = (i == j ? t->da[i] : 0) + (from >= 0 ? t->db[i] * t->J[from] : 0);
      slope += t->H[k] * t->phi[i];
    }
    t->gradient[j] = slope;
  }
  return true;
}

/* ---- patterns */

static frix_status build_pattern(state *t, fx_arena *arena) {
  const frix_mcp_data *data = &t->mcp->data;
  int64_t bound = (int64_t)t->mcp->entry_count + t->n;
  t->H_column = FX_TAKE(arena, int32_t, (int64_t)t->n + 1);
  t->H_row = FX_TAKE(arena, int32_t, bound);
  t->H_from = FX_TAKE(arena, int32_t, bound);
  t->H = FX_TAKE(arena, double, bound);
  if (!t->H_column || !t->H_row || !t->H_from || !t->H) return FRIX_ERROR_MEMORY;
  int32_t used = 0;
  for (int32_t j = 0; j < t->n; j++) {
    bool placed = false;
    for (int32_t k = data->column[j]; k <= data->column[j + 1]; k++) {
      bool end = k == data->column[j + 1];
      if (!placed && (end || data->row[k] >= j)) {
        placed = true;
        if (end || data->row[k] > j) {
          t->H_row[used] = j;
          t->H_from[used++] = -1;
        }
      }
      if (end) break;
      t->H_row[used] = data->row[k];
      t->H_from[used++] = k;
    }
    t->H_column[j + 1] = used;
  }
  return fx_sparse_lu_analyze(arena, t->n, t->H_column, t->H_row, &t->lu);
}

/* [ I  H ] [ y ]   [ -Phi ]
 * [ H' -m] [ d ] = [   0  ]     gives (H'H + m) d = -H'Phi */
static frix_status build_augmented(state *t, fx_arena *arena) {
  int32_t n = t->n, entries = t->H_column[n];
  int64_t total = 2 * (int64_t)entries + 2 * (int64_t)n;
  if (total > INT32_MAX) return FRIX_OK;
  t->A_column = FX_TAKE(arena, int32_t, 2 * (int64_t)n + 1);
  t->A_row = FX_TAKE(arena, int32_t, total);
  t->A = FX_TAKE(arena, double, total);
  t->A_b = FX_TAKE(arena, double, 2 * (int64_t)n);
  int32_t *fill = FX_TAKE(arena, int32_t, n);
  if (!t->A_column || !t->A_row || !t->A || !t->A_b || !fill) return FRIX_ERROR_MEMORY;
  /* left columns: 1 and a row of H; right columns: a column of H and -m */
  for (int32_t k = 0; k < entries; k++) t->A_column[t->H_row[k] + 1]++;
  for (int32_t i = 0; i < n; i++) {
    t->A_column[i + 1] += t->A_column[i] + 1;
    fill[i] = t->A_column[i];
    t->A_row[fill[i]++] = i;
  }
  for (int32_t j = 0; j < n; j++) {
    int32_t at = t->A_column[n + j];
    for (int32_t k = t->H_column[j]; k < t->H_column[j + 1]; k++) {
      t->A_row[fill[t->H_row[k]]++] = n + j;
      t->A_row[at++] = t->H_row[k];
    }
    t->A_row[at++] = n + j;
    t->A_column[n + j + 1] = at;
  }
  frix_status status = fx_sparse_lu_analyze(arena, 2 * n, t->A_column, t->A_row, &t->augmented);
  t->has_augmented = status == FRIX_OK;
  return status;
}

/* Entries of the augmented matrix in the order of its pattern. */
static void fill_augmented(state *t, double m) {
  int32_t n = t->n;
  int32_t *fill = t->augmented.pattern; /* free between factorisations */
  for (int32_t i = 0; i < n; i++) {
    fill[i] = t->A_column[i];
    t->A[fill[i]++] = 1;
  }
  for (int32_t j = 0; j < n; j++) {
    int32_t at = t->A_column[n + j];
    for (int32_t k = t->H_column[j]; k < t->H_column[j + 1]; k++) {
      t->A[fill[t->H_row[k]]++] = t->H[k];
      t->A[at++] = t->H[k];
    }
    t->A[at] = -m;
  }
}

/* ---- directions */

static bool usable(const double *d, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += d[k] - d[k];
  return sum == 0;
}

/* d = -H^-1 Phi; *good tells whether there is one. */
static frix_status newton_direction(state *t, bool *good) {
  bool singular = false;
  frix_status status = fx_sparse_lu_factor(&t->lu, t->H, 0.1, &singular);
  t->monitor->result->factorizations++;
  *good = status == FRIX_OK && !singular;
  if (!*good) return status;
  for (int32_t i = 0; i < t->n; i++) t->d[i] = -t->phi[i];
  fx_sparse_lu_solve(&t->lu, t->d);
  *good = usable(t->d, t->n);
  return FRIX_OK;
}

static frix_status damped_direction(state *t, fx_arena *arena, double m, bool *good) {
  frix_status status = t->has_augmented ? FRIX_OK : build_augmented(t, arena);
  *good = false;
  if (status != FRIX_OK || !t->has_augmented) return status;
  fill_augmented(t, m);
  bool singular = false;
  status = fx_sparse_lu_factor(&t->augmented, t->A, 0.01, &singular);
  t->monitor->result->factorizations++;
  if (status != FRIX_OK || singular) return status;
  for (int32_t i = 0; i < t->n; i++) {
    t->A_b[i] = -t->phi[i];
    t->A_b[t->n + i] = 0;
  }
  fx_sparse_lu_solve(&t->augmented, t->A_b);
  memcpy(t->d, t->A_b + t->n, (size_t)t->n * sizeof *t->d);
  *good = usable(t->d, t->n);
  return FRIX_OK;
}

/* Largest merit the next step is measured against. */
static double reference(const state *t) {
  double largest = t->merit;
  int32_t count = t->recent_count < t->memory ? t->recent_count : t->memory;
  for (int32_t k = 0; k < count; k++)
    if (t->recent[k] > largest) largest = t->recent[k];
  return largest;
}

/* x(s) = P(x + s d) with s halved until the merit has decreased enough; false when it never does. */
static bool line_search(state *t, int32_t halvings, double against) {
  double s = 1;
  for (int32_t attempt = 0; attempt < halvings; attempt++, s *= 0.5) {
    double slope = 0, moved = 0;
    for (int32_t i = 0; i < t->n; i++) t->trial[i] = t->x[i] + s * t->d[i];
    fx_mcp_project(t->mcp, t->trial);
    for (int32_t i = 0; i < t->n; i++) {
      slope += t->gradient[i] * (t->trial[i] - t->x[i]);
      moved += fabs(t->trial[i] - t->x[i]);
    }
    if (!(moved > 0)) return false;
    if (!fx_mcp_function(t->monitor, t->trial, t->trial_F)) continue;
    double merit = merit_of(t, t->trial, t->trial_F, t->trial_phi);
    if (merit <= against + 1e-4 * slope && merit < against) return true;
    /* a projected direction may point uphill: then plain decrease must do */
    if (slope >= 0 && merit <= (1 - 1e-4 * s) * t->merit) return true;
  }
  return false;
}

static void accept(state *t) {
  memcpy(t->x, t->trial, (size_t)t->n * sizeof *t->x);
  memcpy(t->F, t->trial_F, (size_t)t->n * sizeof *t->F);
  for (int32_t k = t->memory - 1; k > 0; k--) t->recent[k] = t->recent[k - 1];
  t->recent[0] = t->merit;
  if (t->recent_count < t->memory) t->recent_count++;
}

/* One step by the first direction that works; *moved is false at a stationary point. */
static frix_status step(state *t, fx_arena *arena, bool *moved) {
  bool good = false;
  *moved = true;
  frix_status status = newton_direction(t, &good);
  if (status != FRIX_OK) return status;
  if (good && line_search(t, HALVINGS / 3, reference(t))) {
    accept(t);
    t->damping *= 0.1;
    return FRIX_OK;
  }
  if (t->damping < 1e-10) t->damping = 1e-10;
  for (int32_t attempt = 0; attempt < 4; attempt++, t->damping *= 100) {
    double m = t->damping * (1 + sqrt(2 * t->merit));
    status = damped_direction(t, arena, m, &good);
    if (status != FRIX_OK) return status;
    if (good && line_search(t, HALVINGS / 3, t->merit)) {
      accept(t);
      return FRIX_OK;
    }
  }
  t->damping = 1e-4;
  double size = 0;
  for (int32_t i = 0; i < t->n; i++) size += t->gradient[i] * t->gradient[i];
  double scale = size > 0 ? 2 * t->merit / size : 0;
  if (scale < 1) scale = 1;
  for (int32_t i = 0; i < t->n; i++) t->d[i] = -scale * t->gradient[i];
  *moved = line_search(t, 2 * HALVINGS, t->merit);
  if (*moved) accept(t);
  return FRIX_OK;
}

/* ---- runs */

/* Iterates from x until solved, stalled or out of budget; *stop: no restart may follow. */
static frix_status run(state *t, fx_arena *arena, bool *stop) {
  *stop = false;
  t->recent_count = 0;
  t->damping = 1e-8;
  if (!fx_mcp_function(t->monitor, t->x, t->F)) return FRIX_OK;
  double mark = INFINITY;
  for (int32_t k = 0; k < RUN_LIMIT; k++) {
    *stop = fx_mcp_check(t->monitor, t->x, t->F);
    if (*stop || !linearise(t)) return FRIX_OK;
    if (k % 25 == 24) { /* not halved in 25 steps: this run goes nowhere */
      if (!(t->merit < 0.5 * mark)) return FRIX_OK;
      mark = t->merit;
    }
    bool moved = false;
    frix_status status = step(t, arena, &moved);
    if (status != FRIX_OK || !moved) return status;
  }
  return FRIX_OK;
}

static frix_status take(state *t, fx_arena *arena) {
  double **vectors[] = {&t->x,        &t->F, &t->phi,   &t->da,      &t->db,
                        &t->gradient, &t->d, &t->trial, &t->trial_F, &t->trial_phi};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, t->n))) return FRIX_ERROR_MEMORY;
  t->J = FX_TAKE(arena, double, t->mcp->entry_count);
  frix_status status = t->J ? build_pattern(t, arena) : FRIX_ERROR_MEMORY;
  /* large problems pay for the damped system only where they need it */
  return status == FRIX_OK && t->mcp->entry_count <= SMALL ? build_augmented(t, arena) : status;
}

static frix_status solve(fx_mcp_call *call) {
  state t = {.mcp = call->mcp,
             .monitor = call->monitor,
             .n = call->mcp->data.count,
             .lambda = call->option[PENALTY],
             .memory = (int32_t)call->option[MEMORY]};
  frix_status status = take(&t, call->arena);
  bool stop = false;
  fx_mcp_begin(call->monitor, 20000);
  for (int32_t k = 0; k <= (int32_t)call->option[RESTARTS] && status == FRIX_OK && !stop; k++) {
    if (k)
      fx_mcp_restart_point(call->mcp, call->x, k, t.x);
    else
      memcpy(t.x, call->x, (size_t)t.n * sizeof *t.x);
    call->monitor->result->restarts += k > 0;
    status = run(&t, call->arena, &stop);
  }
  if (status == FRIX_OK && !stop) fx_mcp_stall(call->monitor);
  fx_sparse_lu_free(&t.lu);
  fx_sparse_lu_free(&t.augmented);
  return status;
}

const fx_mcp_method fx_mcp_semismooth = {
    .info = {.name = "semismooth",
             .summary = "Fischer-Burmeister Newton with sparse factors, damped steps and restarts",
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve,
};
