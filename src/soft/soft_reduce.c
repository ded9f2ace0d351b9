/* Inertia and elastic energy of a reduced body as polynomials of its amplitudes q, u = sum q_i U_i.
 *
 * Strain is E = sum q_i e_i + sum_{i<=j} q_i q_j p_ij with e_i = sym D_i, p_ij = sym(D_i' D_j), p_ii = D_i'D_i / 2.
 * With a(x, y) = integral of x:C:y the energy is 1/2 a(E, E): quadratic a(e_i, e_j)/2, cubic a(e_i, p_jl), quartic
 * a(p_ij, p_lm)/2. The Gram matrix of all e and p is summed over the points of quadrature, several at a time, in
 * components that make C the unit matrix: sqrt(kappa) tr and sqrt(2 mu) dev. It is exact, so the reduced energy is that
 * of the finite elements. */
#include "soft/soft_internal.h"

#include <string.h>

enum { PARTS = 8, BATCH = 8, WIDTH = PARTS * BATCH };

int64_t fx_cubic_count(int32_t k) { return (int64_t)k * (k + 1) * (k + 2) / 6; }
int64_t fx_quartic_count(int32_t k) { return (int64_t)k * (k + 1) * (k + 2) * (k + 3) / 24; }

/* Where the coefficient of a product stands, indices in any order: the number of sorted tuples before it. */
static int64_t rank(int32_t k, int order, const int32_t *index) {
  int32_t s[4];
  for (int a = 0; a < order; a++) {
    int b = a;
    for (; b && s[b - 1] > index[a]; b--) s[b] = s[b - 1];
    s[b] = index[a];
  }
  int64_t at = 0;
  int32_t from = 0;
  for (int a = 0; a < order; a++) {
    int left = order - a - 1; /* indices that follow */
    for (int32_t i = from; i < s[a]; i++) {
      int64_t n = k - i;
      at += left == 3 ? n * (n + 1) * (n + 2) / 6 : left == 2 ? n * (n + 1) / 2 : left == 1 ? n : 1;
    }
    from = s[a];
  }
  return at;
}

typedef struct gram {
  int32_t k, pairs, count; /* count: k + pairs */
  double *part;            /* WIDTH numbers per strain */
  double *sum;             /* count squared, the lower triangle */
  double *D;               /* 9 per coordinate */
} gram;

/* x : C : y = part(x) . part(y) */
static void put(double *to, const double s[9], double bulk, double shear) {
  double trace = s[0] + s[4] + s[8], third = trace / 3.0, half = shear * 0.70710678118654752440;
  to[0] = bulk * trace;
  to[1] = shear * (s[0] - third), to[2] = shear * (s[4] - third), to[3] = shear * (s[8] - third);
  to[4] = half * (s[1] + s[3]), to[5] = half * (s[2] + s[6]), to[6] = half * (s[5] + s[7]);
  to[7] = 0.0;
}

/* Strains of all coordinates and pairs at a point; slot: its place in the batch. */
static void strains(const fx_fem *f, const fx_basis *b, gram *g, int32_t element, int32_t point, int slot) {
  frix_vec3 gradient[FX_MOST_NODES];
  double w = fx_element_gradients(&f->e, element, point, gradient);
  double bulk = sqrt(w * (f->lambda + 2.0 / 3.0 * f->mu)), shear = sqrt(2.0 * w * f->mu);
  int32_t n = fx_fem_size(f), at = g->k;
  for (int32_t i = 0; i < g->k; i++) {
    double *D = g->D + 9 * (size_t)i;
    fx_fem_gradient(&f->e, element, gradient, b->shape + (size_t)i * n, D);
    put(g->part + (size_t)i * WIDTH + slot * PARTS, D, bulk, shear);
  }
  for (int32_t i = 0; i < g->k && g->pairs; i++) {
    const double *A = g->D + 9 * (size_t)i;
    for (int32_t j = i; j < g->k; j++, at++) {
      const double *B = g->D + 9 * (size_t)j;
      double p[9], scale = i == j ? 0.5 : 1.0;
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) p[3 * r + c] = scale * (A[r] * B[c] + A[3 + r] * B[3 + c] + A[6 + r] * B[6 + c]);
      put(g->part + (size_t)at * WIDTH + slot * PARTS, p, bulk, shear);
    }
  }
}

/* sum += part part', four columns at a time. */
static void add_batch(gram *g) {
  typedef double lanes __attribute__((vector_size(32), aligned(8)));
  for (int32_t i = 0; i < g->count; i++) {
    const double *x = g->part + (size_t)i * WIDTH;
    double *to = g->sum + (size_t)i * g->count;
    for (int32_t j = 0; j <= i; j += 4) {
      lanes s[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
      const double *y = g->part + (size_t)j * WIDTH;
      for (int a = 0; a < WIDTH; a += 4) {
        lanes v = *(const lanes *)(x + a);
        for (int b = 0; b < 4; b++) s[b] += v * *(const lanes *)(y + (size_t)b * WIDTH + a);
      }
      for (int b = 0; b < 4 && j + b <= i; b++) to[j + b] += (s[b][0] + s[b][1]) + (s[b][2] + s[b][3]);
    }
  }
  memset(g->part, 0, (size_t)g->count * WIDTH * sizeof *g->part);
}

static frix_status fill_gram(fx_arena *arena, const fx_fem *f, const fx_basis *b, const fx_soft_watch *watch, gram *g) {
  int slot = 0;
  for (int32_t k = 0; k < f->e.element_count; k++) {
    for (int32_t point = 0; point < f->e.points; point++) {
      strains(f, b, g, k, point, slot);
      if (++slot == BATCH) add_batch(g), slot = 0;
    }
    if (k % 64 == 0 && fx_watch(watch, "reduced forces", (double)k / f->e.element_count))
      return fx_fail(arena->context, FRIX_ERROR_INPUT, "ended by the user");
  }
  if (slot) add_batch(g);
  return FRIX_OK;
}

/* From the Gram matrix to coefficients of products. */
static void collect(frix_soft *soft, const gram *g) {
  int32_t k = g->k, p = k;
  for (int32_t j = 0; j < k; j++) {
    for (int32_t l = j; l < k; l++, p++) {
      for (int32_t i = 0; i < k; i++) {
        const int32_t index[3] = {i, j, l};
        soft->cubic[rank(k, 3, index)] += g->sum[(size_t)p * g->count + i];
      }
      int32_t o = k;
      for (int32_t m = 0; m < k; m++) {
        for (int32_t n = m; n < k; n++, o++) {
          if (o > p) continue;
          const int32_t index[4] = {j, l, m, n};
          soft->quartic[rank(k, 4, index)] += (o < p ? 1.0 : 0.5) * g->sum[(size_t)p * g->count + o];
        }
      }
    }
  }
}

static frix_status reduce_energy(frix_soft *soft, fx_arena *arena, const fx_fem *f, const fx_basis *b,
                                 const fx_soft_watch *watch) {
  int32_t k = b->count;
  for (int32_t i = 0; i < k; i++) soft->stiffness[i] = b->value[i];
  if (soft->info.material == FRIX_SOFT_LINEAR) return FRIX_OK;
  gram g = {.k = k, .pairs = k * (k + 1) / 2};
  g.count = k + g.pairs;
  g.part = FX_TAKE(arena, double, ((size_t)g.count + 4) * WIDTH);
  g.sum = FX_TAKE(arena, double, (size_t)g.count *g.count);
  g.D = FX_TAKE(arena, double, 9 * (size_t)k);
  if (!g.part || !g.sum || !g.D) return FRIX_ERROR_MEMORY;
  frix_status status = fill_gram(arena, f, b, watch, &g);
  if (!status) collect(soft, &g);
  return status;
}

/* ---- inertia ---- */

/* out[3 r + c] = sum m_ab x_a[r] y_b[c], for x and M y node by node */
static void moments(int32_t nodes, const double *x, const double *My, double out[9]) {
  memset(out, 0, 9 * sizeof *out);
  for (int32_t a = 0; a < nodes; a++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) out[3 * r + c] += x[3 * (size_t)a + r] * My[3 * (size_t)a + c];
}

static frix_status reduce_inertia(frix_soft *soft, fx_arena *arena, const fx_fem *f, const fx_basis *b) {
  int32_t n = fx_fem_size(f), k = b->count;
  double *place = FX_TAKE_RAW(arena, double, n), *M = FX_TAKE_RAW(arena, double, n);
  if (!place || !M) return FRIX_ERROR_MEMORY;
  for (int32_t a = 0; a < f->e.node_count; a++)
    place[3 * (size_t)a] = f->e.node[a].x, place[3 * (size_t)a + 1] = f->e.node[a].y,
              place[3 * (size_t)a + 2] = f->e.node[a].z;
  fx_fem_mass(f, place, M);
  moments(f->e.node_count, place, M, soft->second);
  for (int32_t j = 0; j < k; j++) {
    fx_fem_mass(f, b->shape + (size_t)j * n, M);
    moments(f->e.node_count, place, M, soft->first + 9 * (size_t)j);
    for (int32_t i = 0; i < k; i++)
      moments(f->e.node_count, b->shape + (size_t)i * n, M, soft->cross + 9 * ((size_t)i * k + j));
    /* the basis does not turn the body: the first moment is symmetric, up to rounding that is taken off */
    double *s = soft->first + 9 * (size_t)j;
    s[1] = s[3] = 0.5 * (s[1] + s[3]), s[2] = s[6] = 0.5 * (s[2] + s[6]), s[5] = s[7] = 0.5 * (s[5] + s[7]);
  }
  const double *s = soft->second;
  soft->info.inertia = (frix_sym3){s[4] + s[8], s[0] + s[8], s[0] + s[4], -s[1], -s[2], -s[5]};
  return FRIX_OK;
}

/* ---- surface ---- */

static void reduce_skin(frix_soft *soft, const fx_fem *f, const fx_basis *b, const fx_skin *skin,
                        const int32_t *number) {
  frix_soft_info *info = &soft->info;
  int32_t k = b->count, n = fx_fem_size(f);
  frix_vec3 *point = (frix_vec3 *)info->point;
  double *shape = (double *)info->shape;
  for (int32_t v = 0; v < skin->vertex_count; v++) {
    if (number[v] < 0) continue;
    point[number[v]] = f->e.node[v];
    for (int a = 0; a < 3; a++)
      for (int32_t j = 0; j < k; j++)
        shape[(3 * (size_t)number[v] + a) * k + j] = b->shape[(size_t)j * n + 3 * (size_t)v + a];
  }
  for (int32_t t = 0; t < 3 * skin->triangle_count; t++) ((int32_t *)info->triangle)[t] = number[skin->triangle[t]];
}

frix_status fx_soft_reduce(frix_soft *soft, fx_arena *arena, const fx_fem *f, const fx_basis *basis,
                           const fx_skin *skin, const fx_soft_watch *watch) {
  int32_t *number = FX_TAKE_RAW(arena, int32_t, skin->vertex_count), points = 0;
  if (!number) return FRIX_ERROR_MEMORY;
  for (int32_t v = 0; v < skin->vertex_count; v++) number[v] = -1;
  for (int32_t t = 0; t < 3 * skin->triangle_count; t++) number[skin->triangle[t]] = 0;
  for (int32_t v = 0; v < skin->vertex_count; v++)
    if (!number[v]) number[v] = points++;
  soft->info.coordinates = basis->count;
  soft->info.point_count = points, soft->info.triangle_count = skin->triangle_count;
  frix_status status = fx_soft_take(soft);
  if (!status) status = reduce_inertia(soft, arena, f, basis);
  if (status) return status;
  reduce_skin(soft, f, basis, skin, number);
  return reduce_energy(soft, arena, f, basis, watch);
}
