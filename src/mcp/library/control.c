/* Discrete optimal control with bounded control, as its optimality conditions.
 *
 *   min 1/2 sum_k (x_k'Q x_k + R u_k^2) + 1/2 x_N'Q x_N,   x_{k+1} = A x_k + b u_k,   -1 <= u_k <= 1
 *   u_k _|_ R u_k + b'p_{k+1}      x_{k+1}: x_{k+1} - A x_k - b u_k = 0      p_k: p_k - Q x_k - A'p_{k+1} = 0
 *
 * A = [1 h; -h 1], b = (0, h), Q = diag(2, 1), R = 6, x_0 = (15, 5), h = min(0.1, 10 / N). Five unknowns per stage.
 * Reference: D. Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982 (the
 * family; the numbers are our own). */
#include "mcp/library/library.h"

#include <math.h>

enum { STAGE = 5, ENTRIES = 15 }; /* u, x (2), p (2); entries of the Jacobian per stage at most */

static const double R = 6, Q[2] = {2, 1}, x_first[2] = {15, 5};

typedef struct control {
  frix_context *context;
  int32_t stages;
  double h;
} control;

static bool function(const double *z, double *F, void *user) {
  const control *c = user;
  double h = c->h;
  for (int32_t k = 0; k < c->stages; k++) {
    const double *here = z + STAGE * k, *u = here, *x = here + 1, *p = here + 3;
    const double *before = k ? here - STAGE + 1 : x_first, *after = k + 1 < c->stages ? here + STAGE + 3 : NULL;
    double *row = F + STAGE * k;
    row[0] = R * u[0] + h * p[1];
    row[1] = x[0] - before[0] - h * before[1];
    row[2] = x[1] + h * before[0] - before[1] - h * u[0];
    row[3] = p[0] - Q[0] * x[0] - (after ? after[0] - h * after[1] : 0);
    row[4] = p[1] - Q[1] * x[1] - (after ? h * after[0] + after[1] : 0);
  }
  return true;
}

/* Column by column; first pass with value NULL counts and lists the rows. */
static int32_t fill(const control *c, int32_t *column, int32_t *row, double *value) {
  int32_t used = 0;
  double h = c->h;
  for (int32_t k = 0; k < c->stages; k++) {
    int32_t s = STAGE * k;
    bool first = k == 0, last = k + 1 == c->stages;
    /* rows and entries of the columns u, x, p; those outside the horizon are left out */
    const struct {
      int32_t col, row;
      double entry;
      bool there;
    } list[ENTRIES] = {
        {s, s, R, true},           {s, s + 2, -h, true},      {s + 1, s + 1, 1, true},    {s + 1, s + 3, -Q[0], true},
        {s + 1, s + 6, -1, !last}, {s + 1, s + 7, h, !last},  {s + 2, s + 2, 1, true},    {s + 2, s + 4, -Q[1], true},
        {s + 2, s + 6, -h, !last}, {s + 2, s + 7, -1, !last}, {s + 3, s - 2, -1, !first}, {s + 3, s - 1, -h, !first},
        {s + 3, s + 3, 1, true},   {s + 4, s - 2, h, !first}, {s + 4, s - 1, -1, !first},
    };
    int32_t at = -1;
    for (int32_t e = 0; e < ENTRIES; e++) {
      if (list[e].col != at && column) column[list[e].col] = used;
      at = list[e].col;
      if (!list[e].there) continue;
      if (row) row[used] = list[e].row;
      if (value) value[used] = list[e].entry;
      used++;
    }
    /* the costate's second component also acts on the control of its own stage */
    if (row) row[used] = s;
    if (value) value[used] = h;
    used++;
    if (row) row[used] = s + 4;
    if (value) value[used] = 1;
    used++;
  }
  if (column) column[STAGE * c->stages] = used;
  return used;
}

static bool jacobian(const double *z, double *value, void *user) {
  (void)z;
  fill(user, NULL, NULL, value);
  return true;
}

static void release(void *user) {
  control *c = user;
  fx_free(c->context, c);
}

/* The known trajectories: N = 20 in full for the control, N = 1000 where the control is at its bounds. */
static void known_solution(int32_t stages, double *known) {
  static const double short_control[20] = {-1, -1, -1, -0.87493733, -0.25093807, 0.29017421, 0.74609607,
                                           1,  1,  1,  1,           1,           1,          1,
                                           1,  1,  1,  0.82284797,  0.55085557,  0.27309295};
  for (int32_t k = 0; k < STAGE * stages; k++) known[k] = NAN;
  if (stages == 20) {
    for (int32_t k = 0; k < 20; k++) known[STAGE * k] = short_control[k];
    known[STAGE * 19 + 1] = -1.38916544;
    known[STAGE * 19 + 2] = -16.38557727;
  } else if (stages == 1000) {
    for (int32_t k = 0; k < 1000; k++) {
      bool low = k <= 31 || (k >= 354 && k <= 652), high = (k >= 38 && k <= 343) || (k >= 674 && k <= 926);
      if (low || high) known[STAGE * k] = low ? -1 : 1;
    }
    known[STAGE * 999 + 1] = -10.07837012;
    known[STAGE * 999 + 2] = 2.84783476;
  }
}

/* Starts: controls 0, 1, -1 and alternating, everything else 0. */
static void starts(int32_t n, double *start) {
  static const double value[4][2] = {{0, 0}, {1, 1}, {-1, -1}, {1, -1}};
  for (int32_t s = 0; s < 4; s++)
    for (int32_t k = 0; k < n; k += STAGE) start[(int64_t)s * n + k] = value[s][k / STAGE % 2];
}

static frix_status create(frix_context *context, const fx_mcp_spec *spec, int32_t stages, frix_mcp **out) {
  control *c = FX_NEW(context, control, 1);
  if (!c) return FRIX_ERROR_MEMORY;
  *c = (control){context, stages, 10.0 / stages < 0.1 ? 10.0 / stages : 0.1};
  int32_t n = STAGE * stages, entries = fill(c, NULL, NULL, NULL);
  fx_arena arena;
  fx_arena_init(&arena, context);
  double *lower = FX_TAKE(&arena, double, n), *upper = FX_TAKE(&arena, double, n);
  double *start = FX_TAKE(&arena, double, 4 * (int64_t)n), *known = FX_TAKE(&arena, double, n);
  int32_t *column = FX_TAKE(&arena, int32_t, n + 1), *row = FX_TAKE(&arena, int32_t, entries);
  frix_status status = FRIX_ERROR_MEMORY;
  if (lower && upper && start && known && column && row) {
    for (int32_t k = 0; k < n; k++) {
      lower[k] = k % STAGE ? -INFINITY : -1;
      upper[k] = k % STAGE ? INFINITY : 1;
    }
    fill(c, column, row, NULL);
    starts(n, start);
    known_solution(stages, known);
    frix_mcp_data data = frix_mcp_data_default();
    data.name = spec->entry.name;
    data.count = n;
    data.lower = lower;
    data.upper = upper;
    data.linear = true;
    data.function = function;
    data.column = column;
    data.row = row;
    data.jacobian = jacobian;
    data.user = c;
    data.release = release;
    data.start = start;
    data.start_count = 4;
    data.solution = known;
    data.solution_count = stages == 20 || stages == 1000;
    status = frix_mcp_create(context, &data, out);
  } else {
    release(c);
  }
  fx_arena_free(&arena);
  return status;
}

const fx_mcp_spec fx_library_control[] = {
    {{"control", "control", "linear-quadratic control with bounded input, N stages", true, 20, 2, 1000000, 100, 4,
      true},
     create,
     NULL},
    {.entry = {.name = NULL}},
};
