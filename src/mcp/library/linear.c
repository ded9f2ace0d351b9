/* Linear complementarity problems with fixed and with free size.
 *
 *   munson1, path4    small dense examples of the solver literature
 *   transmcp          Dantzig's transport problem: two plants, three markets
 *   murty, fathi      2^n pivots for some rules: unit upper triangular with 2 above, and its Gram matrix; q = -1
 *   ahn, tri          tridiagonal (-2, 4, 1) and (-1, 4, -1); q = -1
 *
 * References: T. Munson, 2000; S. Dirkse, M. Ferris, 1995; G. Dantzig, 1963; K. Murty, 1988; Y. Fathi, 1979; B. Ahn,
 * 1983. */
#include "mcp/library/library.h"

#include <math.h>

/* F = M x + q from a full matrix by rows. */
static frix_status create_dense(frix_context *context, const frix_mcp_data *data, const double *M, const double *q,
                                frix_mcp **out) {
  enum { LARGEST = 16 };
  int32_t row[LARGEST * LARGEST], col[LARGEST * LARGEST], n = data->count;
  for (int32_t k = 0; k < n * n; k++) {
    row[k] = k / n;
    col[k] = k % n;
  }
  return fx_library_affine(context, data, (fx_triplets){(int64_t)n * n, row, col, M}, q, out);
}

static frix_status create_munson(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double M[9] = {1, 2, 3, 0, 1, -1, 1, 1, 0}, q[3] = {-1, 1, 1};
  static const double start[2][3] = {{0, 0, 0}, {1, 1, 1}}, solution[1][3] = {{1, 0, 0}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 3;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return create_dense(context, &data, M, q, out);
}

static frix_status create_path4(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double M[16] = {0, 0, -1, -1, 0, 0, 1, -2, 1, -1, 2, -2, 1, 2, -2, 4}, q[4] = {2, 2, -2, -6};
  static const double start[2][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}}, solution[1][4] = {{2.8, 0, .8, 1.2}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 4;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return create_dense(context, &data, M, q, out);
}

/* w_i _|_ cap_i - sum_j x_ij,  p_j _|_ sum_i x_ij - dem_j,  x_ij _|_ w_i + cost_ij - p_j */
static frix_status create_transport(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  enum { PLANTS = 2, MARKETS = 3, N = PLANTS + MARKETS + PLANTS * MARKETS };
  static const double capacity[PLANTS] = {350, 600}, wanted[MARKETS] = {325, 300, 275},
                      distance[PLANTS][MARKETS] = {{2.5, 1.7, 1.8}, {2.5, 1.8, 1.4}};
  double M[N * N] = {0}, q[N], solution[1][N];
  (void)size;
  for (int32_t i = 0; i < PLANTS; i++) q[i] = capacity[i];
  for (int32_t j = 0; j < MARKETS; j++) q[PLANTS + j] = -wanted[j];
  for (int32_t i = 0; i < PLANTS; i++)
    for (int32_t j = 0; j < MARKETS; j++) {
      int32_t x = PLANTS + MARKETS + i * MARKETS + j;
      M[i * N + x] = -1;
      M[(PLANTS + j) * N + x] = 1;
      M[x * N + i] = 1;
      M[x * N + PLANTS + j] = -1;
      q[x] = .09 * distance[i][j];
    }
  for (int32_t k = 0; k < N; k++) solution[0][k] = NAN; /* the flows are not unique */
  solution[0][PLANTS] = .225;
  solution[0][PLANTS + 1] = .153;
  solution[0][PLANTS + 2] = .126;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = N;
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return create_dense(context, &data, M, q, out);
}

const fx_mcp_spec fx_library_linear[] = {
    {{"munson1", "linear", "LCP of size 3", false, 0, 0, 0, 3, 2, true}, create_munson, NULL},
    {{"path4", "linear", "LCP of size 4", false, 0, 0, 0, 4, 2, true}, create_path4, NULL},
    {{"transmcp", "linear", "Dantzig's transport problem, degenerate", false, 0, 0, 0, 11, 1, true},
     create_transport,
     NULL},
    {.entry = {.name = NULL}},
};

/* ---- free size */

typedef enum shape { MURTY, FATHI, AHN, TRI } shape;

static const shape murty = MURTY, fathi = FATHI, ahn = AHN, tri = TRI;

/* Entry (i, j), 0 where there is none. Sum over k of the columns of Murty's matrix: 4 min(i, j) + (i == j ? 1 : 2). */
static double entry_of(shape kind, int32_t i, int32_t j) {
  switch (kind) {
    case MURTY: return i == j ? 1 : i < j ? 2 : 0;
    case FATHI: return i == j ? 4.0 * i + 1 : 4.0 * (i < j ? i : j) + 2;
    case AHN: return i == j ? 4 : j == i + 1 ? 1 : j == i - 1 ? -2 : 0;
    case TRI: return i == j ? 4 : j == i + 1 || j == i - 1 ? -1 : 0;
  }
  return 0;
}

/* Columns hold rows first..last. */
static void column_range(shape kind, int32_t n, int32_t j, int32_t *first, int32_t *last) {
  bool band = kind == AHN || kind == TRI;
  *first = band && j > 0 ? j - 1 : band ? j : 0;
  *last = band ? (j + 1 < n ? j + 1 : j) : kind == MURTY ? j : n - 1;
}

/* Murty: the last component alone is 1; Fathi: the first. The others are known for n = 10. */
static void known_solution(shape kind, int32_t n, double *known) {
  static const double ahn_known[10] = {.18350330, .26598681, .30305937, .31973613, .32717424,
                                       .33077529, .33124732, .33656129, .31624946, .40812473};
  static const double tri_known[5] = {.36602452, .46409807, .49036778, .49737303, .49912434};
  for (int32_t i = 0; i < n; i++) {
    if (kind == MURTY) known[i] = i == n - 1;
    if (kind == FATHI) known[i] = i == 0;
    if (kind == AHN) known[i] = n == 10 ? ahn_known[i] : NAN;
    if (kind == TRI) known[i] = n == 10 ? tri_known[i < 5 ? i : 9 - i] : NAN;
  }
}

static frix_status create_sized(frix_context *context, const fx_mcp_spec *spec, int32_t n, frix_mcp **out) {
  shape kind = *(const shape *)spec->detail;
  int64_t count = 0, at = 0;
  int32_t first, last;
  for (int32_t j = 0; j < n; j++) {
    column_range(kind, n, j, &first, &last);
    count += last - first + 1;
  }
  fx_arena arena;
  fx_arena_init(&arena, context);
  int32_t *row = FX_TAKE(&arena, int32_t, count), *col = FX_TAKE(&arena, int32_t, count);
  double *x = FX_TAKE(&arena, double, count), *q = FX_TAKE(&arena, double, n), *known = FX_TAKE(&arena, double, n);
  frix_status status = FRIX_ERROR_MEMORY;
  if (row && col && x && q && known) {
    for (int32_t j = 0; j < n; j++) {
      column_range(kind, n, j, &first, &last);
      for (int32_t i = first; i <= last; i++, at++) {
        row[at] = i;
        col[at] = j;
        x[at] = entry_of(kind, i, j);
      }
      q[j] = -1;
    }
    known_solution(kind, n, known);
    frix_mcp_data data = frix_mcp_data_default();
    data.name = spec->entry.name;
    data.count = n;
    data.solution = known;
    data.solution_count = kind == MURTY || kind == FATHI || n == 10;
    status = fx_library_affine(context, &data, (fx_triplets){count, row, col, x}, q, out);
  }
  fx_arena_free(&arena);
  return status;
}

const fx_mcp_spec fx_library_sized[] = {
    {{"murty", "sized", "Murty's LCP, exponentially many pivots for some rules", true, 10, 1, 2000, 10, 1, true},
     create_sized,
     &murty},
    {{"fathi", "sized", "Fathi's LCP, symmetric and ill-conditioned", true, 10, 1, 2000, 10, 1, true},
     create_sized,
     &fathi},
    {{"ahn", "sized", "Ahn's LCP, tridiagonal and unsymmetric", true, 10, 1, 1000000, 10, 1, true}, create_sized, &ahn},
    {{"tri", "sized", "tridiagonal and symmetric LCP", true, 10, 1, 1000000, 10, 1, true}, create_sized, &tri},
    {.entry = {.name = NULL}},
};
