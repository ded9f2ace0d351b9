/* Four contacts at once, in the compiler's own vectors: compiled once for every machine and, on x86, once more for
 * AVX2; both give the same bits as the formulas in cone.h and block_matrix.c, since lanes never mix. Vectors go by
 * pointer, since their calling convention depends on the target, though all of this is inlined. */
#include "problem/lanes.h"

#include <math.h>

enum { LANES = 4, DOF = 6, BLOCK = 3 * DOF };

#define INLINE static inline __attribute__((always_inline))
#define MIX __builtin_shufflevector

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double anywhere __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));

/* Four vectors of four numbers, transposed. */
INLINE void transpose(const double *const from[LANES], int32_t at, lanes out[LANES]) {
  lanes row[LANES], low[2], high[2];
  for (int lane = 0; lane < LANES; lane++) row[lane] = *(const anywhere *)(from[lane] + at);
  for (int k = 0; k < 2; k++) {
    low[k] = MIX(row[2 * k], row[2 * k + 1], 0, 4, 2, 6);
    high[k] = MIX(row[2 * k], row[2 * k + 1], 1, 5, 3, 7);
  }
  out[0] = MIX(low[0], low[1], 0, 1, 4, 5);
  out[1] = MIX(high[0], high[1], 0, 1, 4, 5);
  out[2] = MIX(low[0], low[1], 2, 3, 6, 7);
  out[3] = MIX(high[0], high[1], 2, 3, 6, 7);
}

/* Blocks of four contacts and the velocities they read; zeros where a contact has one body. */
typedef struct four {
  const double *block[2][LANES], *v[2][LANES];
} four;

INLINE bool find(const fx_system *s, int32_t i, const double *v, int lane, four *f) {
  static const double nothing[BLOCK];
  int32_t first = s->Ht.start[i], last = s->Ht.start[i + 1] - 1;
  if (s->contact[i].cone != FRIX_CONE_CIRCULAR || last < first || last > first + 1) return false;
  if (fx_block_cols(&s->Ht, first) != DOF || fx_block_cols(&s->Ht, last) != DOF) return false;
  bool two = last > first;
  f->block[0][lane] = fx_block(&s->Ht, first);
  f->block[1][lane] = two ? fx_block(&s->Ht, last) : nothing;
  f->v[0][lane] = v + s->dof[s->Ht.index[first]];
  f->v[1][lane] = two ? v + s->dof[s->Ht.index[last]] : nothing;
  return true;
}

/* u += H' v for the bodies on one side. */
INLINE void add_velocity(const double *const block[LANES], const double *const v[LANES], lanes u[3]) {
  lanes x[DOF], h[BLOCK], last[LANES];
  transpose(v, 2, last);
  transpose(v, 0, x);
  x[4] = last[2];
  x[5] = last[3];
  for (int k = 0; k < 16; k += LANES) transpose(block, k, h + k);
  transpose(block, BLOCK - LANES, last);
  h[16] = last[2];
  h[17] = last[3];
  for (int row = 0; row < 3; row++) {
    lanes sum = h[DOF * row] * x[0];
    for (int k = 1; k < DOF; k++) sum += h[DOF * row + k] * x[k];
    u[row] += sum;
  }
}

INLINE void root(const lanes *x, lanes *out) {
  *out = *x;
  for (int lane = 0; lane < LANES; lane++) (*out)[lane] = sqrt((*out)[lane]);
}

/* | r - P_K(r - rho (u + mu |u_T| e_N)) |^2 */
INLINE void natural_map(const lanes *mu, double rho, const lanes r[3], const lanes u[3], lanes *out) {
  lanes x[3] = {r[0] - rho * u[0], r[1] - rho * u[1], r[2] - rho * u[2]}, square = u[1] * u[1] + u[2] * u[2], length;
  root(&square, &length);
  x[0] -= rho * (*mu * length);
  square = x[1] * x[1] + x[2] * x[2];
  root(&square, &length);
  lanes one = (lanes){0} + 1, normal = (x[0] + *mu * length) / (1 + *mu * *mu);
  bits inside = (x[0] >= 0) & (length <= *mu * x[0]);
  normal = (lanes)((bits)normal & (normal > 0));
  bits clipped = (length > *mu * normal) & ~inside;
  lanes scale = (lanes)(((bits)(*mu * normal / length) & clipped) | ((bits)one & ~clipped));
  lanes n = (lanes)(((bits)x[0] & inside) | ((bits)normal & ~inside));
  lanes a = r[0] - n, b = r[1] - scale * x[1], c = r[2] - scale * x[2];
  *out = a * a + b * b + c * c;
}

/* Three numbers of four contacts, one contact after the other in memory. */
INLINE void read3(const double *from, lanes out[3]) {
  lanes p = *(const anywhere *)from, q = *(const anywhere *)(from + 4), s = *(const anywhere *)(from + 8);
  out[0] = MIX(MIX(p, q, 0, 3, 6, 6), s, 0, 1, 2, 5);
  out[1] = MIX(MIX(p, q, 1, 4, 7, 7), s, 0, 1, 2, 6);
  out[2] = MIX(MIX(p, q, 2, 5, 5, 5), s, 0, 1, 4, 7);
}

INLINE void write3(const lanes in[3], double *to) {
  *(anywhere *)to = MIX(MIX(in[0], in[1], 0, 4, 0, 1), in[2], 0, 1, 4, 3);
  *(anywhere *)(to + 4) = MIX(MIX(in[1], in[2], 1, 5, 1, 2), in[0], 0, 1, 6, 3);
  *(anywhere *)(to + 8) = MIX(MIX(in[2], in[0], 2, 7, 2, 3), in[1], 0, 1, 7, 3);
}

/* What the next contacts need of H, so that it is there when they come. */
INLINE void fetch_ahead(const fx_system *s, int32_t i) {
  enum { AHEAD = 24, LINE = 8 };
  if (i + AHEAD >= s->contact_count) return;
  const double *from = fx_block(&s->Ht, s->Ht.start[i + AHEAD]);
  for (int e = 0; e < LANES * 2 * BLOCK; e += LINE) __builtin_prefetch(from + e);
}

INLINE int32_t judge(const fx_system *s, int32_t first, int32_t end, const double *r, const double *v, double *u,
                     fx_residual_sums *t) {
  double rr = t->r[0], qq = t->q[0], mm = t->map[0];
  int32_t i = first;
  for (; i + LANES <= end; i += LANES) {
    four f;
    bool known = true;
    fetch_ahead(s, i);
    for (int lane = 0; lane < LANES; lane++) known = known && find(s, i + lane, v, lane, &f);
    if (!known) break;
    lanes velocity[3], impulse[3], map;
    const double *ri = r + s->row[i], *qi = s->q + s->row[i];
    read3(s->w + s->row[i], velocity);
    read3(ri, impulse);
    add_velocity(f.block[0], f.v[0], velocity);
    add_velocity(f.block[1], f.v[1], velocity);
    if (s->R) {
      lanes R[3];
      read3(s->R + s->row[i], R);
      for (int k = 0; k < 3; k++) velocity[k] += R[k] * impulse[k];
    }
    lanes mu = {s->contact[i].mu, s->contact[i + 1].mu, s->contact[i + 2].mu, s->contact[i + 3].mu};
    natural_map(&mu, s->rho, impulse, velocity, &map);
    write3(velocity, u + s->row[i]);
    for (int lane = 0; lane < LANES; lane++) mm += map[lane];
    for (int k = 0; k < 3 * LANES; k++) {
      rr += ri[k] * ri[k];
      qq += qi[k] * qi[k];
    }
  }
  t->r[0] = rr;
  t->q[0] = qq;
  t->map[0] = mm;
  return i;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static int32_t judge_avx2(const fx_system *s, int32_t first, int32_t end,
                                                          const double *r, const double *v, double *u,
                                                          fx_residual_sums *t) {
  return judge(s, first, end, r, v, u, t);
}
#endif

int32_t fx_lanes_judge(const fx_system *s, int32_t first, int32_t end, const double *r, const double *v, double *u,
                       fx_residual_sums *t) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return judge_avx2(s, first, end, r, v, u, t);
#endif
  return judge(s, first, end, r, v, u, t);
}
