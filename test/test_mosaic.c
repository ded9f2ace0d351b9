/* LU of matrices of blocks without exchanges of rows: against the product, with blocks that are zero, and where it must
 * refuse. */
#include "linalg/mosaic.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 5, N = 6 + 22 + 8 + 33 + 3 };
static const int32_t start[BLOCKS + 1] = {0, 6, 28, 36, 69, 72};

/* A chain: each block touches the next one, the last also the first. */
static void make(double *a, bool *filled, double skew) {
  uint32_t seed = 12345;
  memset(a, 0, (size_t)N * N * sizeof *a);
  memset(filled, 0, (size_t)BLOCKS * BLOCKS);
  for (int i = 0; i < BLOCKS; i++)
    for (int j = 0; j < BLOCKS; j++) {
      if (abs(i - j) > 1 && abs(i - j) < BLOCKS - 1) continue;
      filled[i * BLOCKS + j] = true;
      for (int32_t r = start[i]; r < start[i + 1]; r++)
        for (int32_t c = start[j]; c < start[j + 1]; c++) {
          seed = seed * 1664525u + 1013904223u;
          a[r * N + c] = (r == c ? 40.0 : 0.0) + skew * ((double)(seed >> 8) / (1 << 24) - 0.5);
        }
    }
}

static void solves(fx_test *t) {
  static double a[N * N], lu[N * N];
  bool filled[BLOCKS * BLOCKS];
  double x[N], b[N];
  make(a, filled, 2.0);
  fx_mosaic m = {N, BLOCKS, start, filled};
  fx_mosaic_fill(&m);
  CHECK(t, !filled[0 * BLOCKS + 2]);
  CHECK(t, filled[2 * BLOCKS + 4]); /* through the first block and the second */
  for (int i = 0; i < N; i++) x[i] = 1.0 / (1 + i);
  for (int i = 0; i < N; i++) {
    b[i] = 0;
    for (int j = 0; j < N; j++) b[i] += a[i * N + j] * x[j];
  }
  memcpy(lu, a, sizeof lu);
  REQUIRE(t, fx_mosaic_factor(&m, lu));
  fx_mosaic_solve(&m, lu, b);
  for (int i = 0; i < N; i++) CHECK_NEAR(t, b[i], x[i], 1e-13);
  for (int32_t r = start[0]; r < start[1]; r++) CHECK_NEAR(t, lu[r * N + start[2]], 0, 0);
}

/* A pivot that is zero or no number needs fx_lu_factor. */
static void refuses(fx_test *t) {
  static double a[N * N];
  bool filled[BLOCKS * BLOCKS];
  fx_mosaic m = {N, BLOCKS, start, filled};
  const double bad[] = {0.0, NAN};
  for (int k = 0; k < 2; k++) {
    make(a, filled, 0.0);
    fx_mosaic_fill(&m);
    a[30 * N + 30] = bad[k];
    CHECK(t, !fx_mosaic_factor(&m, a));
  }
}

const fx_test_row test_mosaic[] = {{"mosaic/solves", solves}, {"mosaic/refuses", refuses}, {0}};
