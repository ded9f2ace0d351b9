/* Four contacts at once, in the compiler's own vectors: compiled once for every machine and, on x86, once more for
 * AVX2; both give the same bits as the formulas in cone.h and block_matrix.c, since lanes never mix. Vectors go by
 * pointer, since their calling convention depends on the target, though all of this is inlined. */
#include "problem/lanes.h"

#include "linalg/lane_roots.h"
#include "problem/round_rows.h"

#include <math.h>

enum { LANES = 4, DOF = 6, BLOCK = 3 * DOF };

#define INLINE static inline __attribute__((always_inline))
#define MIX __builtin_shufflevector
#define MAGNITUDE(x) ((lanes)((bits)(x)&INT64_MAX))

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double anywhere __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));

/* Four vectors of four numbers, transposed. */
INLINE void turn(const lanes row[LANES], lanes out[LANES]) {
  lanes low[2], high[2];
  for (int k = 0; k < 2; k++) {
    low[k] = MIX(row[2 * k], row[2 * k + 1], 0, 4, 2, 6);
    high[k] = MIX(row[2 * k], row[2 * k + 1], 1, 5, 3, 7);
  }
  out[0] = MIX(low[0], low[1], 0, 1, 4, 5);
  out[1] = MIX(high[0], high[1], 0, 1, 4, 5);
  out[2] = MIX(low[0], low[1], 2, 3, 6, 7);
  out[3] = MIX(high[0], high[1], 2, 3, 6, 7);
}

INLINE void transpose(const double *const from[LANES], int32_t at, lanes out[LANES]) {
  lanes row[LANES];
  for (int lane = 0; lane < LANES; lane++) row[lane] = *(const anywhere *)(from[lane] + at);
  turn(row, out);
}

/* Six numbers of four bodies. */
INLINE void read6(const double *const from[LANES], lanes out[DOF]) {
  lanes last[LANES];
  transpose(from, 2, last);
  transpose(from, 0, out);
  out[4] = last[2];
  out[5] = last[3];
}

INLINE void read_block(const double *const from[LANES], lanes out[BLOCK]) {
  lanes last[LANES];
  for (int k = 0; k < 16; k += LANES) transpose(from, k, out + k);
  transpose(from, BLOCK - LANES, last);
  out[16] = last[2];
  out[17] = last[3];
}

/* Blocks of four contacts and where the degrees of freedom of their bodies begin; zeros where a contact has one body.
 */
typedef struct four {
  const double *block[2][LANES];
  int32_t dof[2][LANES];
} four;

INLINE bool find(const fx_system *s, int32_t i, int lane, four *f) {
  static const double nothing[BLOCK];
  int32_t first = s->Ht.start[i], last = s->Ht.start[i + 1] - 1;
  if (last < first || last > first + 1) return false;
  if (fx_block_cols(&s->Ht, first) != DOF || fx_block_cols(&s->Ht, last) != DOF) return false;
  bool two = last > first;
  f->block[0][lane] = fx_block(&s->Ht, first);
  f->block[1][lane] = two ? fx_block(&s->Ht, last) : nothing;
  f->dof[0][lane] = s->dof[s->Ht.index[first]];
  f->dof[1][lane] = s->dof[s->Ht.index[last]]; /* of the same body where there is one: times zero */
  return true;
}

/* Numbers of the bodies on one side, from an array over degrees of freedom. */
INLINE void of_bodies(const double *x, const int32_t dof[LANES], lanes out[DOF]) {
  const double *from[LANES] = {x + dof[0], x + dof[1], x + dof[2], x + dof[3]};
  read6(from, out);
}

/* u += H' v for the bodies on one side. */
INLINE void add_velocity(const lanes h[BLOCK], const lanes x[DOF], lanes u[3]) {
  for (int row = 0; row < 3; row++) {
    lanes sum = h[DOF * row] * x[0];
    for (int k = 1; k < DOF; k++) sum += h[DOF * row + k] * x[k];
    u[row] += sum;
  }
}

/* u += H' v of contacts of spheres, from their numbers. */
INLINE void add_round_velocity(const double *number, const lanes x[2][DOF], lanes u[3]) {
  enum { LAST = FX_ROUND_NUMBERS - LANES };
  const double *from[LANES];
  lanes Q[LAST + LANES], last[LANES], v[3], t[3];
  for (int lane = 0; lane < LANES; lane++) from[lane] = number + FX_ROUND_NUMBERS * lane;
  for (int k = 0; k < LAST; k += LANES) transpose(from, k, Q + k);
  transpose(from, LAST, last);
  const lanes *a = last + (FX_ROUND_LINEAR - LAST), *c = last + (FX_ROUND_ANGULAR - LAST);
  for (int k = 0; k < 3; k++) {
    v[k] = a[0] * x[0][k] + a[1] * x[1][k];
    t[k] = c[0] * x[0][k + 3] + c[1] * x[1][k + 3];
  }
  u[0] += Q[0] * v[0] + Q[1] * v[1] + Q[2] * v[2];
  u[1] += (Q[3] * v[0] + Q[4] * v[1] + Q[5] * v[2]) + (Q[6] * t[0] + Q[7] * t[1] + Q[8] * t[2]);
  u[2] += (Q[6] * v[0] + Q[7] * v[1] + Q[8] * v[2]) - (Q[3] * t[0] + Q[4] * t[1] + Q[5] * t[2]);
}

INLINE void root(const lanes *x, lanes *out) {
  *out = *x;
  FX_ROOTS(*out, LANES, sqrt);
}

INLINE void choose(const bits *which, const lanes *a, const lanes *b, lanes *out) {
  *out = (lanes)(((bits)*a & *which) | ((bits)*b & ~*which));
}

/* | r - P_K(x) |^2 */
INLINE void distance(const lanes *mu, const lanes r[3], const lanes x[3], lanes *out) {
  lanes one = (lanes){0} + 1, square = x[1] * x[1] + x[2] * x[2], length, n, scale;
  root(&square, &length);
  bits inside = (x[0] >= 0) & (length <= *mu * x[0]);
  lanes normal = (x[0] + *mu * length) / (1 + *mu * *mu);
  normal = (lanes)((bits)normal & (normal > 0));
  bits clipped = (length > *mu * normal) & ~inside;
  lanes part = *mu * normal / length;
  choose(&clipped, &part, &one, &scale);
  choose(&inside, &x[0], &normal, &n);
  lanes a = r[0] - n, b = r[1] - scale * x[1], c = r[2] - scale * x[2];
  *out = a * a + b * b + c * c;
}

/* | r - P_K(r - rho (u + shift e_N)) |^2 */
INLINE void natural_map(const lanes *mu, const lanes *rho, const lanes *shift, const lanes r[3], const lanes u[3],
                        lanes *out) {
  lanes x[3] = {r[0] - *rho * u[0], r[1] - *rho * u[1], r[2] - *rho * u[2]};
  x[0] -= *rho * *shift;
  distance(mu, r, x, out);
}

INLINE void find_shift(const lanes *mu, const lanes u[3], lanes *out) {
  lanes square = u[1] * u[1] + u[2] * u[2], length;
  root(&square, &length);
  *out = *mu * length;
}

#define EACH(member) ((lanes){c[0].member, c[1].member, c[2].member, c[3].member})

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

INLINE void fetch_round(const fx_system *s, int32_t i) {
  enum { AHEAD = 40, LINE = 8 };
  const double *from = s->round + (size_t)(i + AHEAD) * FX_ROUND_NUMBERS;
  if (i + AHEAD >= s->contact_count) return;
  for (int e = 0; e < LANES * FX_ROUND_NUMBERS; e += LINE) __builtin_prefetch(from + e);
}

/* Velocities of the bodies of four contacts, on both sides. */
INLINE void read_motions(const fx_system *s, int32_t i, const double *v, lanes x[2][DOF]) {
  int32_t dof[2][LANES];
  for (int lane = 0; lane < LANES; lane++) {
    dof[0][lane] = s->dof[s->Ht.index[s->Ht.start[i + lane]]];
    dof[1][lane] = s->dof[s->Ht.index[s->Ht.start[i + lane + 1] - 1]]; /* the same where there is one: times zero */
  }
  for (int side = 0; side < 2; side++) of_bodies(v, dof[side], x[side]);
}

INLINE int32_t judge(const fx_system *s, bool round, int32_t first, int32_t end, const double *r, const double *v,
                     double *u, fx_residual_sums *t) {
  double rr = t->r[0], qq = t->q[0], mm = t->map[0];
  int32_t i = first;
  for (; i + LANES <= end; i += LANES) {
    four f;
    bool known = true;
    if (round)
      fetch_round(s, i);
    else
      fetch_ahead(s, i);
    for (int lane = 0; lane < LANES; lane++)
      known = known && s->contact[i + lane].cone == FRIX_CONE_CIRCULAR && (round || find(s, i + lane, lane, &f));
    if (!known) break;
    lanes velocity[3], impulse[3], map, h[BLOCK], x[2][DOF];
    const double *ri = r + s->row[i], *qi = s->q + s->row[i];
    read3(s->w + s->row[i], velocity);
    read3(ri, impulse);
    if (round) {
      read_motions(s, i, v, x);
      add_round_velocity(s->round + (size_t)i * FX_ROUND_NUMBERS, x, velocity);
    }
    for (int side = 0; side < 2 && !round; side++) {
      read_block(f.block[side], h);
      of_bodies(v, f.dof[side], x[side]);
      add_velocity(h, x[side], velocity);
    }
    if (s->R) {
      lanes R[3];
      read3(s->R + s->row[i], R);
      for (int k = 0; k < 3; k++) velocity[k] += R[k] * impulse[k];
    }
    const frix_contact *c = s->contact + i;
    lanes mu = EACH(mu), rho = (lanes){0} + s->rho, shift;
    find_shift(&mu, velocity, &shift);
    natural_map(&mu, &rho, &shift, impulse, velocity, &map);
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

/* The larger of each lane; what is no number stays. */
INLINE void keep_larger(const lanes *x, lanes *most) {
  bits larger = (*x > *most) | (*x != *x);
  choose(&larger, x, most, most);
}

INLINE int32_t certify(const fx_system *s, int32_t first, int32_t end, const double *r, const double *u,
                       fx_residual_sums *t, fx_lane_worst *out) {
  double rr = t->r[0], qq = t->q[0], mm = t->map[0];
  lanes signorini = {0}, cone = {0}, dissipation = {0}, zero = {0};
  int32_t i = first;
  for (; i + LANES <= end; i += LANES) {
    const frix_contact *c = s->contact + i;
    bool known = true;
    for (int lane = 0; lane < LANES; lane++) known = known && c[lane].cone == FRIX_CONE_CIRCULAR;
    if (!known) break;
    const double *ri = r + s->row[i], *qi = s->q + s->row[i];
    lanes velocity[3], impulse[3], w[3], map, shift, mu = EACH(mu), common = zero + s->rho, rho;
    read3(u + s->row[i], velocity);
    read3(ri, impulse);
    read3(s->W_diag + s->row[i], w);
    find_shift(&mu, velocity, &shift);
    natural_map(&mu, &common, &shift, impulse, velocity, &map);
    for (int lane = 0; lane < LANES; lane++) mm += map[lane];
    for (int k = 0; k < 3 * LANES; k++) {
      rr += ri[k] * ri[k];
      qq += qi[k] * qi[k];
    }

    /* The parts, each contact with a scale of its own. */
    lanes trace = w[0] + w[1] + w[2], own = 3 / trace;
    bits positive = trace > 0;
    choose(&positive, &own, &common, &rho);
    natural_map(&mu, &rho, &shift, impulse, velocity, &map);
    root(&map, &map);
    map /= rho;
    lanes worst = zero + out->velocity;
    bits worse = (map > worst) | (map != map);
    for (int lane = 0; lane < LANES; lane++)
      if (worse[lane] && (map[lane] > out->velocity || map[lane] != map[lane])) {
        out->velocity = map[lane];
        out->contact = i + lane;
      }
    lanes normal = impulse[0] / rho, least, outside;
    bits less = velocity[0]<normal, pushing = impulse[0]> 0;
    choose(&less, &velocity[0], &normal, &least);
    least = MAGNITUDE(least);
    keep_larger(&least, &signorini);
    distance(&mu, impulse, impulse, &outside);
    root(&outside, &outside);
    outside /= rho;
    keep_larger(&outside, &cone);
    choose(&pushing, &impulse[0], &zero, &normal);
    lanes gap = MAGNITUDE(normal * shift + (impulse[1] * velocity[1] + impulse[2] * velocity[2]));
    keep_larger(&gap, &dissipation);
  }
  t->r[0] = rr;
  t->q[0] = qq;
  t->map[0] = mm;
  for (int lane = 0; lane < LANES; lane++) {
    out->signorini[lane] = signorini[lane];
    out->cone[lane] = cone[lane];
    out->dissipation[lane] = dissipation[lane];
  }
  return i;
}

/* D += H' M^-1 H for the bodies on one side. */
INLINE void add_diagonal(const lanes h[BLOCK], const lanes inverse[DOF], lanes D[9]) {
  for (int b = 0; b < 3; b++) {
    lanes y[DOF];
    for (int k = 0; k < DOF; k++) y[k] = h[DOF * b + k] * inverse[k];
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < DOF; k++) D[3 * a + b] += h[DOF * a + k] * y[k];
  }
}

/* Nine numbers of four contacts, one contact after the other in memory. */
INLINE void write9(const lanes in[9], double *to) {
  lanes part[LANES];
  for (int k = 0; k < 8; k += LANES) {
    turn(in + k, part);
    for (int lane = 0; lane < LANES; lane++) *(anywhere *)(to + 9 * lane + k) = part[lane];
  }
  for (int lane = 0; lane < LANES; lane++) to[9 * lane + 8] = in[8][lane];
}

INLINE int32_t prepare(const fx_system *s, int32_t first, int32_t end, double *D, double *q) {
  int32_t i = first;
  for (; i + LANES <= end; i += LANES) {
    four f;
    bool known = true;
    fetch_ahead(s, i);
    for (int lane = 0; lane < LANES; lane++)
      known = known && s->contact[i + lane].dim == 3 && find(s, i + lane, lane, &f);
    if (!known) break;
    lanes velocity[3], block[9] = {{0}}, h[BLOCK], x[DOF], inverse[DOF];
    read3(s->w + s->row[i], velocity);
    for (int side = 0; side < 2; side++) {
      read_block(f.block[side], h);
      of_bodies(s->v_free, f.dof[side], x);
      of_bodies(s->inverse_mass, f.dof[side], inverse);
      add_velocity(h, x, velocity);
      add_diagonal(h, inverse, block);
    }
    write3(velocity, q + s->row[i]);
    write9(block, D + s->diagonal[i]);
  }
  return i;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static int32_t certify_avx2(const fx_system *s, int32_t first, int32_t end,
                                                            const double *r, const double *u, fx_residual_sums *t,
                                                            fx_lane_worst *out) {
  return certify(s, first, end, r, u, t, out);
}

__attribute__((target("avx2"))) static int32_t judge_avx2(const fx_system *s, int32_t first, int32_t end,
                                                          const double *r, const double *v, double *u,
                                                          fx_residual_sums *t) {
  return s->round ? judge(s, true, first, end, r, v, u, t) : judge(s, false, first, end, r, v, u, t);
}

__attribute__((target("avx2"))) static int32_t prepare_avx2(const fx_system *s, int32_t first, int32_t end, double *D,
                                                            double *q) {
  return prepare(s, first, end, D, q);
}
#endif

int32_t fx_lanes_judge(const fx_system *s, int32_t first, int32_t end, const double *r, const double *v, double *u,
                       fx_residual_sums *t) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return judge_avx2(s, first, end, r, v, u, t);
#endif
  return s->round ? judge(s, true, first, end, r, v, u, t) : judge(s, false, first, end, r, v, u, t);
}

int32_t fx_lanes_prepare(const fx_system *s, int32_t first, int32_t end, double *D, double *q) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return prepare_avx2(s, first, end, D, q);
#endif
  return prepare(s, first, end, D, q);
}

int32_t fx_lanes_certify(const fx_system *s, int32_t first, int32_t end, const double *r, const double *u,
                         fx_residual_sums *t, fx_lane_worst *out) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return certify_avx2(s, first, end, r, u, t, out);
#endif
  return certify(s, first, end, r, u, t, out);
}
