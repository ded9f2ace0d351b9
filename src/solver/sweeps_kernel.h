/* The kernel of sweeps, once per precision and width of the machine's vectors: REAL, MASK, ROOT, NAME(x), WIDE
 * (contacts that stand together in memory) and LANES (contacts at once, a part of WIDE) are defined where this is
 * included.
 *
 * For LANES contacts at once, from y = z + beta (z - z_last):
 *   u    = Hh' d + q + C y                               C = rho R
 *   z_N  = max(0, y_N - a u_N / D_NN)
 *   u_T += D_TN (z_N - y_N)
 *   z_T  = P(y_T - b u_T / lambda) on the disc of radius mu z_N,   lambda = largest eigenvalue of D_TT
 *   d   += Hh (z - y)
 * The fixed point is Coulomb's law whatever a, b and lambda; for spheres (D diagonal, D_TT = lambda I) and a = b = 1,
 * z is the exact solution of the contact. Vectors are of the compiler's own kind, one operation after the other: every
 * target gives the same bits. They go by pointer, since their calling convention depends on the target, though all of
 * this is inlined. */

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef MASK NAME(mask) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL NAME(half) __attribute__((vector_size(16), may_alias));

#define VEC NAME(vec)
#define HALF NAME(half)
#define NUMBER(pointer, k) (*(const VEC *)((pointer) + (k)*WIDE))
#define MIX __builtin_shufflevector

/* ---- records of bodies to columns and back; row[k] is the record of the body in lane k ---- */

#if LANES * 4 == 16 && WIDE == 8 /* four of single precision: 4 x 4 transposes */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  VEC t0 = MIX(*(VEC *)row[0], *(VEC *)row[1], 0, 4, 1, 5), t1 = MIX(*(VEC *)row[0], *(VEC *)row[1], 2, 6, 3, 7);
  VEC t2 = MIX(*(VEC *)row[2], *(VEC *)row[3], 0, 4, 1, 5), t3 = MIX(*(VEC *)row[2], *(VEC *)row[3], 2, 6, 3, 7);
  VEC t4 = MIX(*(VEC *)(row[0] + 4), *(VEC *)(row[1] + 4), 0, 4, 1, 5);
  VEC t5 = MIX(*(VEC *)(row[2] + 4), *(VEC *)(row[3] + 4), 0, 4, 1, 5);
  out[0] = MIX(t0, t2, 0, 1, 4, 5);
  out[1] = MIX(t0, t2, 2, 3, 6, 7);
  out[2] = MIX(t1, t3, 0, 1, 4, 5);
  out[3] = MIX(t1, t3, 2, 3, 6, 7);
  out[4] = MIX(t4, t5, 0, 1, 4, 5);
  out[5] = MIX(t4, t5, 2, 3, 6, 7);
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  VEC zero = {0}, t0 = MIX(in[0], in[1], 0, 4, 1, 5), t1 = MIX(in[0], in[1], 2, 6, 3, 7);
  VEC t2 = MIX(in[2], in[3], 0, 4, 1, 5), t3 = MIX(in[2], in[3], 2, 6, 3, 7);
  VEC t4 = MIX(in[4], in[5], 0, 4, 1, 5), t5 = MIX(in[4], in[5], 2, 6, 3, 7);
  *(VEC *)row[0] = MIX(t0, t2, 0, 1, 4, 5);
  *(VEC *)row[1] = MIX(t0, t2, 2, 3, 6, 7);
  *(VEC *)row[2] = MIX(t1, t3, 0, 1, 4, 5);
  *(VEC *)row[3] = MIX(t1, t3, 2, 3, 6, 7);
  *(VEC *)(row[0] + 4) = MIX(t4, zero, 0, 1, 4, 5);
  *(VEC *)(row[1] + 4) = MIX(t4, zero, 2, 3, 6, 7);
  *(VEC *)(row[2] + 4) = MIX(t5, zero, 0, 1, 4, 5);
  *(VEC *)(row[3] + 4) = MIX(t5, zero, 2, 3, 6, 7);
}
#elif LANES == 8 /* eight of single precision: bodies k and k + 4 side by side, transposes within the halves */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  VEC low[4], high[4];
  for (int k = 0; k < 4; k++) {
    low[k] = MIX(*(HALF *)row[k], *(HALF *)row[k + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    high[k] = MIX(*(HALF *)(row[k] + 4), *(HALF *)(row[k + 4] + 4), 0, 1, 2, 3, 4, 5, 6, 7);
  }
  VEC t0 = MIX(low[0], low[1], 0, 8, 1, 9, 4, 12, 5, 13), t1 = MIX(low[0], low[1], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t2 = MIX(low[2], low[3], 0, 8, 1, 9, 4, 12, 5, 13), t3 = MIX(low[2], low[3], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t4 = MIX(high[0], high[1], 0, 8, 1, 9, 4, 12, 5, 13), t5 = MIX(high[2], high[3], 0, 8, 1, 9, 4, 12, 5, 13);
  out[0] = MIX(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  out[1] = MIX(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  out[2] = MIX(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
  out[3] = MIX(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
  out[4] = MIX(t4, t5, 0, 1, 8, 9, 4, 5, 12, 13);
  out[5] = MIX(t4, t5, 2, 3, 10, 11, 6, 7, 14, 15);
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  VEC zero = {0};
  VEC t0 = MIX(in[0], in[1], 0, 8, 1, 9, 4, 12, 5, 13), t1 = MIX(in[0], in[1], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t2 = MIX(in[2], in[3], 0, 8, 1, 9, 4, 12, 5, 13), t3 = MIX(in[2], in[3], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t4 = MIX(in[4], in[5], 0, 8, 1, 9, 4, 12, 5, 13), t5 = MIX(in[4], in[5], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC low[4] = {MIX(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13), MIX(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15),
                MIX(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13), MIX(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15)};
  VEC high[4] = {MIX(t4, zero, 0, 1, 8, 9, 4, 5, 12, 13), MIX(t4, zero, 2, 3, 10, 11, 6, 7, 14, 15),
                 MIX(t5, zero, 0, 1, 8, 9, 4, 5, 12, 13), MIX(t5, zero, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int k = 0; k < 4; k++) {
    *(HALF *)row[k] = ((const HALF *)&low[k])[0];
    *(HALF *)row[k + 4] = ((const HALF *)&low[k])[1];
    *(HALF *)(row[k] + 4) = ((const HALF *)&high[k])[0];
    *(HALF *)(row[k + 4] + 4) = ((const HALF *)&high[k])[1];
  }
}
#elif LANES == 4 /* four of double precision: two numbers of bodies k and k + 2 side by side */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  for (int k = 0; k < 6; k += 2) {
    VEC a = MIX(*(HALF *)(row[0] + k), *(HALF *)(row[2] + k), 0, 1, 2, 3);
    VEC b = MIX(*(HALF *)(row[1] + k), *(HALF *)(row[3] + k), 0, 1, 2, 3);
    out[k] = MIX(a, b, 0, 4, 2, 6);
    out[k + 1] = MIX(a, b, 1, 5, 3, 7);
  }
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  for (int k = 0; k < 6; k += 2) {
    VEC a = MIX(in[k], in[k + 1], 0, 4, 2, 6), b = MIX(in[k], in[k + 1], 1, 5, 3, 7);
    *(HALF *)(row[0] + k) = ((const HALF *)&a)[0];
    *(HALF *)(row[2] + k) = ((const HALF *)&a)[1];
    *(HALF *)(row[1] + k) = ((const HALF *)&b)[0];
    *(HALF *)(row[3] + k) = ((const HALF *)&b)[1];
  }
}
#else            /* two of double precision */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  for (int k = 0; k < 6; k += 2) {
    out[k] = MIX(*(VEC *)(row[0] + k), *(VEC *)(row[1] + k), 0, 2);
    out[k + 1] = MIX(*(VEC *)(row[0] + k), *(VEC *)(row[1] + k), 1, 3);
  }
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  for (int k = 0; k < 6; k += 2) {
    *(VEC *)(row[0] + k) = MIX(in[k], in[k + 1], 0, 2);
    *(VEC *)(row[1] + k) = MIX(in[k], in[k + 1], 1, 3);
  }
}
#endif

/* ---- u = Hh' d and d += Hh x; f are the numbers of the contacts ---- */

INLINE void NAME(read_round)(const REAL *f, const VEC a[6], const VEC b[6], VEC u[3]) {
  VEC q[9], v[3], t[3];
  for (int k = 0; k < 9; k++) q[k] = NUMBER(f, FX_H + k);
  for (int k = 0; k < 3; k++) {
    v[k] = NUMBER(f, FX_ROUND_A) * a[k] + NUMBER(f, FX_ROUND_A + 1) * b[k];
    t[k] = NUMBER(f, FX_ROUND_C) * a[k + 3] + NUMBER(f, FX_ROUND_C + 1) * b[k + 3];
  }
  u[0] = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];
  u[1] = (q[3] * v[0] + q[4] * v[1] + q[5] * v[2]) + (q[6] * t[0] + q[7] * t[1] + q[8] * t[2]);
  u[2] = (q[6] * v[0] + q[7] * v[1] + q[8] * v[2]) - (q[3] * t[0] + q[4] * t[1] + q[5] * t[2]);
}

INLINE void NAME(write_round)(const REAL *f, const VEC x[3], VEC a[6], VEC b[6]) {
  for (int k = 0; k < 3; k++) {
    VEC p = NUMBER(f, FX_H + k) * x[0] + NUMBER(f, FX_H + 3 + k) * x[1] + NUMBER(f, FX_H + 6 + k) * x[2];
    VEC t = NUMBER(f, FX_H + 6 + k) * x[1] - NUMBER(f, FX_H + 3 + k) * x[2];
    a[k] += NUMBER(f, FX_ROUND_A) * p;
    b[k] += NUMBER(f, FX_ROUND_A + 1) * p;
    a[k + 3] += NUMBER(f, FX_ROUND_C) * t;
    b[k + 3] += NUMBER(f, FX_ROUND_C + 1) * t;
  }
}

INLINE void NAME(read_general)(const REAL *f, const VEC a[6], const VEC b[6], VEC u[3]) {
  for (int row = 0; row < 3; row++) {
    const REAL *g = f + (FX_H + 6 * row) * WIDE, *h = g + 18 * WIDE;
    u[row] = ((NUMBER(g, 0) * a[0] + NUMBER(g, 1) * a[1]) + (NUMBER(g, 2) * a[2] + NUMBER(g, 3) * a[3])) +
             ((NUMBER(g, 4) * a[4] + NUMBER(g, 5) * a[5]) + (NUMBER(h, 0) * b[0] + NUMBER(h, 1) * b[1])) +
             ((NUMBER(h, 2) * b[2] + NUMBER(h, 3) * b[3]) + (NUMBER(h, 4) * b[4] + NUMBER(h, 5) * b[5]));
  }
}

INLINE void NAME(write_general)(const REAL *f, const VEC x[3], VEC a[6], VEC b[6]) {
  for (int k = 0; k < 6; k++) {
    const REAL *g = f + (FX_H + k) * WIDE, *h = g + 18 * WIDE;
    a[k] += NUMBER(g, 0) * x[0] + NUMBER(g, 6) * x[1] + NUMBER(g, 12) * x[2];
    b[k] += NUMBER(h, 0) * x[0] + NUMBER(h, 6) * x[1] + NUMBER(h, 12) * x[2];
  }
}

/* ---- one group of contacts ---- */

INLINE void NAME(root)(const VEC *x, VEC *out) {
  *out = *x;
  FX_ROOTS(*out, LANES, ROOT);
}

/* z from y and u = Hh' d. */
INLINE void NAME(local)(const REAL *f, bool round, bool compliant, const VEC y[3], VEC u[3], VEC z[3]) {
  int end = round ? FX_ROUND_END : FX_GENERAL_END;
  for (int k = 0; k < 3; k++) {
    u[k] += NUMBER(f, FX_Q + k);
    if (compliant) u[k] += NUMBER(f, end + k) * y[k];
  }
  VEC normal = y[0] - u[0] * NUMBER(f, FX_INVERSE_N);
  z[0] = (VEC)((NAME(mask))normal & (normal > 0));
  if (!round) {
    u[1] += NUMBER(f, FX_COUPLING) * (z[0] - y[0]);
    u[2] += NUMBER(f, FX_COUPLING + 1) * (z[0] - y[0]);
  }
  VEC s = y[1] - u[1] * NUMBER(f, FX_INVERSE_T), t = y[2] - u[2] * NUMBER(f, FX_INVERSE_T);
  VEC radius = NUMBER(f, FX_MU) * z[0], square = s * s + t * t, length, one = (VEC){0} + 1;
  NAME(root)(&square, &length);
  NAME(mask) outside = length > radius;
  VEC factor = (VEC)(((NAME(mask))(radius / length) & outside) | ((NAME(mask))one & ~outside));
  z[1] = s * factor;
  z[2] = t * factor;
}

/* The same relative to a base z0 on the cone whose u is in the fields: y and z are then small and keep their digits.
 * The first tangent is along z0_T, so that of a fast slip only the small part across enters the direction of friction:
 *   g = |s| - |z0_T| = (p (|z0_T| + s_1) + t^2) / (|s| + |z0_T|),   p = y_1 - b u_1 / lambda,  t = y_2 - b u_2 /
 * lambda, s = (|z0_T| + p, t);   slip where g > mu z0_N - |z0_T| + mu z_N =: limit, to radius s / |s| - z0_T = (limit -
 * radius (1 - s_1 / |s|), radius t / |s|),   1 - s_1 / |s| = t^2 / (|s| (|s| + s_1)) where s_1 > 0 */
INLINE void NAME(local_based)(const REAL *f, const REAL *base, bool round, const VEC y[3], VEC u[3], VEC z[3]) {
  int end = round ? FX_ROUND_END : FX_GENERAL_END;
  VEC low = NUMBER(base, FX_LOW), reach = NUMBER(base, FX_REACH), mu = NUMBER(f, FX_MU), tiny = (VEC){0} + TINY, length;
  for (int k = 0; k < 3; k++) u[k] += NUMBER(f, FX_Q + k) + NUMBER(f, end + k) * y[k];
  VEC normal = y[0] - u[0] * NUMBER(f, FX_INVERSE_N);
  NAME(mask) above = normal > low;
  z[0] = (VEC)(((NAME(mask))normal & above) | ((NAME(mask))low & ~above));
  if (!round) {
    u[1] += NUMBER(f, FX_COUPLING) * (z[0] - y[0]);
    u[2] += NUMBER(f, FX_COUPLING + 1) * (z[0] - y[0]);
  }
  VEC p = y[1] - u[1] * NUMBER(f, FX_INVERSE_T), t = y[2] - u[2] * NUMBER(f, FX_INVERSE_T);
  VEC s = reach + p, square = s * s + t * t, limit = NUMBER(base, FX_GAP) + mu * z[0], radius = mu * (z[0] - low);
  NAME(root)(&square, &length);
  VEC grown = (p * (reach + s) + t * t) / (length + reach + tiny), across = t / (length + tiny);
  NAME(mask) outside = grown > limit, ahead = s > 0;
  VEC near = across * (t / (length + s + tiny)), far = 1 - s / (length + tiny);
  VEC lost = radius * (VEC)(((NAME(mask))near & ahead) | ((NAME(mask))far & ~ahead));
  z[1] = (VEC)(((NAME(mask))(limit - lost) & outside) | ((NAME(mask))p & ~outside));
  z[2] = (VEC)(((NAME(mask))(radius * across) & outside) | ((NAME(mask))t & ~outside));
}

/* The bodies of LANES contacts, to and from columns. */
INLINE void NAME(read_pair)(REAL *d, const int32_t *body, VEC pair[12]) {
  REAL *first[LANES], *second[LANES];
  for (int k = 0; k < LANES; k++) {
    first[k] = d + body[k];
    second[k] = d + body[k + FX_BATCH];
  }
  NAME(gather)(first, pair);
  NAME(gather)(second, pair + 6);
}

INLINE void NAME(write_pair)(REAL *d, const int32_t *body, const VEC pair[12]) {
  REAL *first[LANES], *second[LANES];
  for (int k = 0; k < LANES; k++) {
    first[k] = d + body[k];
    second[k] = d + body[k + FX_BATCH];
  }
  NAME(scatter)(first, pair);
  NAME(scatter)(second, pair + 6);
}

typedef struct NAME(sums) {
  VEC step, size, uphill;
} NAME(sums);

/* LANES contacts in one visit: their numbers, base, bodies and impulses. */
typedef struct NAME(contacts) {
  const REAL *f, *base;
  const int32_t *body;
  const REAL *now;
  REAL *last;
  VEC *pair; /* both bodies, in columns */
  VEC u[3], y[3], z[3];
} NAME(contacts);

/* y, and u = Hh' d. */
INLINE void NAME(begin)(NAME(contacts) * c, bool round, bool plain, REAL beta, bool take, REAL *d) {
  if (take) NAME(read_pair)(d, c->body, c->pair);
  for (int k = 0; k < 3; k++) {
    c->y[k] = NUMBER(c->now, k);
    if (!plain) c->y[k] += (NUMBER(c->now, k) - NUMBER(c->last, k)) * beta;
  }
  if (round)
    NAME(read_round)(c->f, c->pair, c->pair + 6, c->u);
  else
    NAME(read_general)(c->f, c->pair, c->pair + 6, c->u);
}

INLINE void NAME(solve)(NAME(contacts) * c, bool round, bool compliant) {
  if (c->base)
    NAME(local_based)(c->f, c->base, round, c->y, c->u, c->z);
  else
    NAME(local)(c->f, round, compliant, c->y, c->u, c->z);
}

/* A plain sweep (beta = 0) measures its step, one with momentum only whether it went uphill. What comes out takes the
 * place of the impulses before the last, and the two change names after the sweep: that is a quarter less to write. */
INLINE void NAME(end)(NAME(contacts) * c, bool round, bool plain, bool give, REAL *d, NAME(sums) * sums) {
  VEC x[3];
  for (int k = 0; k < 3; k++) {
    x[k] = c->z[k] - c->y[k];
    if (plain) {
      sums->step += x[k] * x[k];
      sums->size += c->z[k] * c->z[k];
    } else {
      sums->uphill -= x[k] * (c->z[k] - NUMBER(c->now, k));
    }
    *(VEC *)(c->last + k * WIDE) = c->z[k];
  }
  if (round)
    NAME(write_round)(c->f, x, c->pair, c->pair + 6);
  else
    NAME(write_general)(c->f, x, c->pair, c->pair + 6);
  if (give) NAME(write_pair)(d, c->body, c->pair);
}

/* One visit, or two that share no body: a visit is a chain of operations that wait for each other, and the machine
 * works on the other one meanwhile. Bodies stay in `pair` while batches meet the same: `take` and `give` where they are
 * read and written. */
INLINE void NAME(visit)(NAME(contacts) * c, int count, bool round, bool compliant, bool plain, REAL beta, bool take,
                        bool give, REAL *d, NAME(sums) * sums) {
  for (int k = 0; k < count; k++) NAME(begin)(&c[k], round, plain, beta, take, d);
  for (int k = 0; k < count; k++) NAME(solve)(&c[k], round, compliant);
  for (int k = 0; k < count; k++) NAME(end)(&c[k], round, plain, give, d, sums);
}

/* ---- all batches ---- */

/* Lanes are added in the order in which they stand, whatever the width. */
INLINE void NAME(add)(const VEC *x, double *total) {
  for (int k = 0; k < LANES; k++) *total += (double)(*x)[k];
}

/* d + beta (d - d_last) in the place of d_last: what the extrapolated impulses give, since d is linear in z. Of bodies
 * first .. end - 1, just before the batches that meet them, so that a large pile is not read twice. */
INLINE void NAME(extrapolate)(int32_t first, int32_t end, bool plain, REAL beta, const VEC *d, VEC *last) {
  for (int32_t k = first * (FX_RECORD / LANES); k < end * (FX_RECORD / LANES); k++)
    if (plain)
      last[k] = d[k];
    else
      last[k] = d[k] + (d[k] - last[k]) * beta;
}

/* Fields come from far where the pile is large, and the machine looks less far ahead than it takes to bring them. */
INLINE void NAME(fetch_ahead)(const REAL *f, int32_t numbers) {
  enum { AHEAD = 8, LINE = 64 / sizeof(REAL) };
  for (int32_t k = 0; k < numbers; k += LINE) __builtin_prefetch(f + AHEAD * numbers + k);
}

/* So do the bodies that the next FX_FLUSH batches meet first, `lines` of each array with every batch. */
INLINE void NAME(fetch_bodies)(const fx_pile_data *data, size_t from, size_t lines) {
  enum { LINE = 64 / sizeof(REAL) };
  for (size_t k = from; k < from + lines * LINE; k += LINE) {
    __builtin_prefetch((const REAL *)data->d + k);
    __builtin_prefetch((const REAL *)data->d_last + k);
  }
}

/* Sums go to double every few batches, so that their error does not grow with the pile. */
INLINE fx_sweep_sums NAME(sweep)(const fx_pile *pile, const fx_pile_data *data, const fx_sweep_part *part, bool based,
                                 bool round, bool compliant, bool plain, REAL beta) {
  enum { PARTS = WIDE / LANES, LINE = 64 / sizeof(REAL) };
  enum { COUPLES = WIDE == FX_BATCH }; /* else sums would be made in another order */
  fx_sweep_sums total = {0, 0, 0};
  int32_t fields = (round ? FX_ROUND_END : FX_GENERAL_END) + (compliant ? FX_COMPLIANCE_SIZE : 0);
  const REAL *f = data->field;
  bool whole = pile->segment_count == 1;
  if (part->first == part->end) NAME(extrapolate)(part->first_body, part->end_body, plain, beta, data->d, data->d_last);
  for (int32_t first = part->first, ready = part->first_body; first < part->end; first += FX_FLUSH) {
    bool is_last = part->end - first <= FX_FLUSH;
    int32_t end = is_last ? part->end : first + FX_FLUSH;
    const int32_t *met = whole ? pile->body_end + first / FX_FLUSH : &part->end_body;
    NAME(extrapolate)(ready, met[0], plain, beta, data->d, data->d_last);
    ready = met[0];
    size_t from = (size_t)ready * FX_RECORD, count = is_last || !whole ? 0 : (size_t)(met[1] - ready) * FX_RECORD;
    size_t lines = (count + FX_FLUSH * LINE - 1) / (FX_FLUSH * LINE);
    NAME(sums) sums[PARTS] = {{{0}, {0}, {0}}};
    fx_sweep_sums one = {0, 0, 0};
    VEC pair[2 * FX_BATCH / LANES][12] = {{{0}}};
    for (int32_t batch = first, next; batch < end; batch = next) {
      bool two = COUPLES && pile->couple[batch];
      next = batch + (two ? 2 : 1);
      bool take = batch == first || !pile->again[batch] || (!COUPLES && pile->couple[batch]);
      bool give = next == end || !pile->again[next] || (!COUPLES && pile->couple[next]);
      for (int32_t k = batch; k < next; k++, from += lines * LINE) {
        NAME(fetch_ahead)(f + (size_t)k * FX_BATCH * (size_t)fields, fields * FX_BATCH);
        NAME(fetch_bodies)(data, from, lines);
      }
      for (int group = 0, p = 0; group < FX_BATCH; group += LANES, p = (p + 1) % PARTS) {
        NAME(contacts) c[2];
        for (int k = 0; k < 2; k++) {
          size_t slot = (size_t)(batch + k) * FX_BATCH + (size_t)group, at = slot / WIDE * WIDE;
          c[k].f = f + at * (size_t)fields + slot % WIDE;
          c[k].base = based ? (const REAL *)data->base + at * FX_BASE + slot % WIDE : NULL;
          c[k].body = pile->slot_body + (size_t)(batch + k) * 2 * FX_BATCH + group;
          c[k].now = (const REAL *)data->z + 3 * at + slot % WIDE;
          c[k].last = (REAL *)data->z_last + 3 * at + slot % WIDE;
          c[k].pair = pair[k * (FX_BATCH / LANES) + group / LANES];
        }
        if (two)
          NAME(visit)(c, 2, round, compliant, plain, beta, take, give, data->d_last, &sums[p]);
        else
          NAME(visit)(c, 1, round, compliant, plain, beta, take, give, data->d_last, &sums[p]);
      }
    }
    for (int p = 0; p < PARTS; p++) {
      NAME(add)(&sums[p].step, &one.step);
      NAME(add)(&sums[p].size, &one.size);
      NAME(add)(&sums[p].uphill, &one.uphill);
    }
    total.step += one.step;
    total.size += one.size;
    total.uphill += one.uphill;
  }
  return total;
}

/* d += Hh z of batches first .. end - 1. */
INLINE void NAME(refresh)(const fx_pile *pile, const fx_pile_data *data, bool round, int32_t first, int32_t end) {
  const REAL *f = data->field, *z = data->z;
  REAL *d = data->d;
  const int32_t *body = pile->slot_body;
  for (int32_t g = first * (FX_BATCH / LANES); g < end * (FX_BATCH / LANES); g++) {
    int32_t slot = g * LANES, at = slot / WIDE, lane = slot % WIDE;
    const REAL *numbers = f + (size_t)at * (size_t)pile->field_count * WIDE + lane;
    const int32_t *list = body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
    VEC pair[12], *a = pair, *b = pair + 6, x[3];
    if (lane == 0) NAME(fetch_ahead)(numbers, pile->field_count * WIDE);
    for (int k = 0; k < 3; k++) x[k] = NUMBER(z + (size_t)at * 3 * WIDE + lane, k);
    NAME(read_pair)(d, list, pair);
    if (round)
      NAME(write_round)(numbers, x, a, b);
    else
      NAME(write_general)(numbers, x, a, b);
    NAME(write_pair)(d, list, pair);
  }
}

#undef VEC
#undef HALF
#undef NUMBER
#undef MIX
#undef REAL
#undef MASK
#undef ROOT
#undef TINY
#undef NAME
#undef WIDE
#undef LANES
