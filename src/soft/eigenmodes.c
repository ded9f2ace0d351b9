/* Lowest modes of a free body, K x = l M x with l > 0, by block Lanczos on the static answer.
 *
 * S = pseudo-inverse of K on loads in balance has the eigenvalues 1/l for S M. A Krylov basis V, orthonormal in the
 * mass and orthogonal to the rigid motions, grows by blocks W = S M V_last, each orthogonalised twice against all of
 * it; T = V'M S M V is kept whole. Blocks of four find modes that come in twos and threes, as symmetric bodies have
 * them. */
#include "linalg/dense.h"
#include "linalg/symmetric_eigen.h"
#include "soft/soft_internal.h"

#include <string.h>

enum { BLOCK = 4 };
static const double tolerance = 1e-10; /* of a Ritz pair's residual, relative to its value */

typedef struct lanczos {
  const fx_fem *f;
  int32_t n, size, most; /* vectors in the basis, and room for them */
  double *V;             /* most vectors */
  double *T;             /* most by most; the lower triangle is kept */
  double *down;          /* BLOCK by BLOCK: how the last block leaves the basis */
  double *M, *scratch;   /* n, 2 n */
  double *matrix, *value, *vector, *work;
  uint64_t seed;
} lanczos;

static double *vector_at(const lanczos *l, int32_t k) { return l->V + (size_t)k * l->n; }

static double chance(lanczos *l) {
  l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(l->seed >> 11) * 0x1p-52 - 1.0;
}

static void add_scaled(int32_t n, double *x, double s, const double *y) {
  for (int32_t i = 0; i < n; i++) x[i] += s * y[i];
}

/* w -= V V'M w for the first count vectors; the shares are added to share (may be NULL). */
static void clean(lanczos *l, int32_t count, double *w, double *share) {
  fx_fem_mass(l->f, w, l->M);
  for (int k = 0; k < 6; k++) add_scaled(l->n, w, -fx_fem_dot(l->n, l->f->rigid[k], l->M), l->f->rigid[k]);
  for (int32_t k = 0; k < count; k++) {
    double s = fx_fem_dot(l->n, vector_at(l, k), l->M);
    add_scaled(l->n, w, -s, vector_at(l, k));
    if (share) share[k] += s;
  }
}

static double length_of(lanczos *l, const double *w) {
  fx_fem_mass(l->f, w, l->M);
  return sqrt(fx_max(fx_fem_dot(l->n, w, l->M), 0.0));
}

/* Vector `at` becomes orthonormal to all before; share: what it had along them and its length at the end (may be NULL).
 * One that lies in their span is replaced by a random one, with length 0, and by zero where the space is used up. */
static void orthonormalise(lanczos *l, int32_t at, double *share) {
  double *w = vector_at(l, at), before = length_of(l, w);
  for (int twice = 0; twice < 2; twice++) clean(l, at, w, share);
  double length = length_of(l, w);
  if (share) share[at] = length > 1e-12 * before ? length : 0.0;
  for (int tries = 0; tries < 3 && !(length > 1e-12 * before); tries++) {
    for (int32_t i = 0; i < l->n; i++) w[i] = chance(l);
    before = length_of(l, w);
    for (int twice = 0; twice < 2; twice++) clean(l, at, w, NULL);
    length = length_of(l, w);
  }
  double scale = length > 1e-12 * before ? 1.0 / length : 0.0;
  for (int32_t i = 0; i < l->n; i++) w[i] *= scale;
}

/* The next block from the last one, and the columns of T of the last. share: most + BLOCK numbers. */
static void grow(lanczos *l, double *share) {
  int32_t last = l->size - BLOCK;
  for (int b = 0; b < BLOCK; b++) {
    double *w = vector_at(l, l->size + b);
    fx_fem_mass(l->f, vector_at(l, last + b), w);
    fx_fem_static(l->f, w, l->scratch);
  }
  memset(l->down, 0, BLOCK * BLOCK * sizeof *l->down);
  for (int b = 0; b < BLOCK; b++) {
    memset(share, 0, ((size_t)l->most + BLOCK) * sizeof *share);
    orthonormalise(l, l->size + b, share);
    for (int32_t k = 0; k < l->size; k++) {
      int32_t i = k > last + b ? k : last + b, j = k > last + b ? last + b : k;
      l->T[(size_t)i * l->most + j] = share[k];
    }
    for (int c = 0; c <= b; c++) l->down[c * BLOCK + b] = share[l->size + c];
  }
}

/* Ritz values of T into value (ascending), and how many of the largest have converged. */
static int32_t judge(lanczos *l, int32_t wanted, bool *fine) {
  int32_t m = l->size;
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j <= i; j++) l->matrix[(size_t)i * m + j] = l->T[(size_t)i * l->most + j];
  *fine = fx_symmetric_eigen(m, l->matrix, l->value, l->vector, l->work);
  int32_t good = 0;
  for (; *fine && good < wanted && good < m; good++) {
    const double *s = l->vector + (size_t)(m - 1 - good) * m + (m - BLOCK);
    double square = 0.0;
    for (int c = 0; c < BLOCK; c++) {
      double x = 0.0;
      for (int b = c; b < BLOCK; b++) x += l->down[c * BLOCK + b] * s[b];
      square += x * x;
    }
    if (!(sqrt(square) <= tolerance * l->value[m - 1 - good])) break;
  }
  return good;
}

static frix_status take(fx_arena *arena, lanczos *l) {
  size_t most = (size_t)l->most, n = (size_t)l->n;
  l->V = FX_TAKE_RAW(arena, double, (most + BLOCK) * n);
  l->T = FX_TAKE(arena, double, most *most);
  l->down = FX_TAKE(arena, double, BLOCK *BLOCK);
  l->M = FX_TAKE_RAW(arena, double, n);
  l->scratch = FX_TAKE_RAW(arena, double, 2 * n);
  l->matrix = FX_TAKE_RAW(arena, double, most *most);
  l->vector = FX_TAKE_RAW(arena, double, most *most);
  l->value = FX_TAKE_RAW(arena, double, most);
  l->work = FX_TAKE_RAW(arena, double, 3 * most);
  return l->V && l->T && l->down && l->M && l->scratch && l->matrix && l->vector && l->value && l->work
             ? FRIX_OK
             : FRIX_ERROR_MEMORY;
}

/* Mode k from the Ritz vector, with its largest entry positive, and its residual. The block behind the basis is free.
 */
static void finish_mode(lanczos *l, int32_t k, fx_basis *out) {
  int32_t m = l->size, n = l->n, big = 0;
  const double *s = l->vector + (size_t)(m - 1 - k) * m;
  double *x = out->shape + (size_t)k * n;
  memset(x, 0, (size_t)n * sizeof *x);
  for (int32_t j = 0; j < m; j++) add_scaled(n, x, s[j], vector_at(l, j));
  for (int32_t i = 0; i < n; i++)
    if (fabs(x[i]) > 1.0000001 * fabs(x[big])) big = i;
  double scale = (x[big] < 0.0 ? -1.0 : 1.0) / length_of(l, x);
  for (int32_t i = 0; i < n; i++) x[i] *= scale;
  fx_fem_mass(l->f, x, l->M);
  out->value[k] = 1.0 / l->value[m - 1 - k]; /* x.K x would have the rounding of the stiffest directions */
  /* x - value S M x, which rounding in stiff directions does not hide */
  double *y = vector_at(l, l->most);
  memcpy(y, l->M, (size_t)n * sizeof *y);
  fx_fem_static(l->f, y, l->scratch);
  for (int32_t i = 0; i < n; i++) y[i] = x[i] - out->value[k] * y[i];
  out->residual = fx_max(out->residual, length_of(l, y));
}

frix_status fx_modes_find(fx_arena *arena, const fx_fem *f, int32_t count, const fx_soft_watch *watch, fx_basis *out) {
  int32_t n = fx_fem_size(f), free = n - 6;
  *out = (fx_basis){0};
  if (!count) return FRIX_OK; /* a rigid body */
  if (count > free / 2)
    return fx_fail(arena->context, FRIX_ERROR_INPUT,
                   "%d modes are too many for a mesh of %d nodes: refine it, or ask for at most %d", (int)count,
                   (int)f->e.node_count, (int)(free / 2));
  int32_t most = 6 * count + 60;
  if (most > free) most = free;
  most += (BLOCK - most % BLOCK) % BLOCK;
  lanczos l = {.f = f, .n = n, .size = BLOCK, .most = most, .seed = 88172645463325252u};
  frix_status status = take(arena, &l);
  double *share = FX_TAKE(arena, double, (size_t)most + BLOCK);
  *out = (fx_basis){.count = count,
                    .shape = FX_TAKE_RAW(arena, double, (size_t)count *(size_t)n),
                    .value = FX_TAKE_RAW(arena, double, count)};
  if (status || !share || !out->shape || !out->value) return FRIX_ERROR_MEMORY;
  for (int b = 0; b < BLOCK; b++) {
    for (int32_t i = 0; i < n; i++) vector_at(&l, b)[i] = chance(&l);
    orthonormalise(&l, b, NULL);
  }
  for (int32_t good = 0;;) {
    grow(&l, share);
    out->iterations += BLOCK;
    bool whole = l.size + BLOCK > most, fine = true;
    if (whole || (l.size >= count && l.size % (4 * BLOCK) == 0)) {
      good = judge(&l, count, &fine);
      if (!fine) return fx_fail(arena->context, FRIX_ERROR_INPUT, "the modes of the mesh cannot be computed");
      if (good >= count) break;
      if (whole)
        return fx_fail(arena->context, FRIX_ERROR_INPUT,
                       "%d of %d modes converged in %d steps: refine the mesh, or ask for fewer", (int)good, (int)count,
                       (int)l.size);
    }
    if (fx_watch(watch, "modes", good < count ? (double)good / count : 1.0))
      return fx_fail(arena->context, FRIX_ERROR_INPUT, "ended by the user");
    l.size += BLOCK;
  }
  for (int32_t k = 0; k < count; k++) finish_mode(&l, k, out);
  return FRIX_OK;
}
