/* The kernel of sweeps, once per precision: REAL, MASK, LANES, ROOT and NAME(x) are defined where this is included.
 *
 * For LANES contacts at once, from y = z + beta (z - z_last):
 *   u    = Hh' d + q + C y                               C = rho R
 *   z_N  = max(0, y_N - u_N / D_NN)
 *   u_T += D_TN (z_N - y_N)
 *   z_T  = P(y_T - u_T / lambda) on the disc of radius mu z_N,   lambda = largest eigenvalue of D_TT
 *   d   += Hh (z - y)
 * The fixed point is Coulomb's law whatever lambda; for spheres (D diagonal, D_TT = lambda I) z is the exact solution of
 * the contact. Vectors are of the compiler's own kind, one operation after the other: every target gives the same bits.
 * They go by pointer, since their calling convention depends on the target, though all of this is inlined. */

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef MASK NAME(mask) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL NAME(half) __attribute__((vector_size(16), may_alias));

#define VEC NAME(vec)
#define LOADED(pointer, k) (((const VEC *)(pointer))[k])

/* ---- body records to columns and back ---- */

#if LANES == 8
/* Four numbers of bodies i and i + 4 side by side, then 4 x 4 transposes within the halves. */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  VEC low[4], high[4];
  for (int k = 0; k < 4; k++) {
    const REAL *a = row[k], *b = row[k + 4];
    low[k] = __builtin_shufflevector(*(const NAME(half) *)a, *(const NAME(half) *)b, 0, 1, 2, 3, 4, 5, 6, 7);
    high[k] =
        __builtin_shufflevector(*(const NAME(half) *)(a + 4), *(const NAME(half) *)(b + 4), 0, 1, 2, 3, 4, 5, 6, 7);
  }
  VEC t0 = __builtin_shufflevector(low[0], low[1], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t1 = __builtin_shufflevector(low[0], low[1], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t2 = __builtin_shufflevector(low[2], low[3], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t3 = __builtin_shufflevector(low[2], low[3], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t4 = __builtin_shufflevector(high[0], high[1], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t5 = __builtin_shufflevector(high[2], high[3], 0, 8, 1, 9, 4, 12, 5, 13);
  out[0] = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  out[1] = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  out[2] = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
  out[3] = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
  out[4] = __builtin_shufflevector(t4, t5, 0, 1, 8, 9, 4, 5, 12, 13);
  out[5] = __builtin_shufflevector(t4, t5, 2, 3, 10, 11, 6, 7, 14, 15);
}

INLINE void NAME(put)(REAL *a, REAL *b, const VEC *x) {
  *(NAME(half) *)a = ((const NAME(half) *)x)[0];
  *(NAME(half) *)b = ((const NAME(half) *)x)[1];
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  VEC zero = {0};
  VEC t0 = __builtin_shufflevector(in[0], in[1], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t1 = __builtin_shufflevector(in[0], in[1], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t2 = __builtin_shufflevector(in[2], in[3], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t3 = __builtin_shufflevector(in[2], in[3], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC t4 = __builtin_shufflevector(in[4], in[5], 0, 8, 1, 9, 4, 12, 5, 13);
  VEC t5 = __builtin_shufflevector(in[4], in[5], 2, 10, 3, 11, 6, 14, 7, 15);
  VEC low[4] = {__builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13),
                __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15),
                __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13),
                __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15)};
  VEC high[4] = {__builtin_shufflevector(t4, zero, 0, 1, 8, 9, 4, 5, 12, 13),
                 __builtin_shufflevector(t4, zero, 2, 3, 10, 11, 6, 7, 14, 15),
                 __builtin_shufflevector(t5, zero, 0, 1, 8, 9, 4, 5, 12, 13),
                 __builtin_shufflevector(t5, zero, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int k = 0; k < 4; k++) {
    NAME(put)(row[k], row[k + 4], &low[k]);
    NAME(put)(row[k] + 4, row[k + 4] + 4, &high[k]);
  }
}
#else
/* Two numbers of bodies i and i + 2 side by side. */
INLINE void NAME(gather)(REAL *const *row, VEC out[6]) {
  for (int k = 0; k < 6; k += 2) {
    const NAME(half) *p[4] = {(NAME(half) *)(row[0] + k), (NAME(half) *)(row[1] + k), (NAME(half) *)(row[2] + k),
                              (NAME(half) *)(row[3] + k)};
    VEC a = __builtin_shufflevector(*p[0], *p[2], 0, 1, 2, 3), b = __builtin_shufflevector(*p[1], *p[3], 0, 1, 2, 3);
    out[k] = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    out[k + 1] = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  }
}

INLINE void NAME(put)(REAL *a, REAL *b, const VEC *x) {
  *(NAME(half) *)a = ((const NAME(half) *)x)[0];
  *(NAME(half) *)b = ((const NAME(half) *)x)[1];
}

INLINE void NAME(scatter)(REAL *const *row, const VEC in[6]) {
  for (int k = 0; k < 6; k += 2) {
    VEC a = __builtin_shufflevector(in[k], in[k + 1], 0, 4, 2, 6);
    VEC b = __builtin_shufflevector(in[k], in[k + 1], 1, 5, 3, 7);
    NAME(put)(row[0] + k, row[2] + k, &a);
    NAME(put)(row[1] + k, row[3] + k, &b);
  }
}
#endif

/* ---- u = Hh' v and v += Hh x ---- */

INLINE void NAME(read_round)(const REAL *f, const VEC a[6], const VEC b[6], VEC u[3]) {
  const VEC *q = (const VEC *)f + FX_H;
  VEC v[3], t[3];
  for (int k = 0; k < 3; k++) {
    v[k] = LOADED(f, FX_ROUND_A) * a[k] + LOADED(f, FX_ROUND_A + 1) * b[k];
    t[k] = LOADED(f, FX_ROUND_C) * a[k + 3] + LOADED(f, FX_ROUND_C + 1) * b[k + 3];
  }
  u[0] = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];
  u[1] = (q[3] * v[0] + q[4] * v[1] + q[5] * v[2]) + (q[6] * t[0] + q[7] * t[1] + q[8] * t[2]);
  u[2] = (q[6] * v[0] + q[7] * v[1] + q[8] * v[2]) - (q[3] * t[0] + q[4] * t[1] + q[5] * t[2]);
}

INLINE void NAME(write_round)(const REAL *f, const VEC x[3], VEC a[6], VEC b[6]) {
  const VEC *q = (const VEC *)f + FX_H;
  for (int k = 0; k < 3; k++) {
    VEC p = q[k] * x[0] + q[3 + k] * x[1] + q[6 + k] * x[2];
    VEC t = q[6 + k] * x[1] - q[3 + k] * x[2];
    a[k] += LOADED(f, FX_ROUND_A) * p;
    b[k] += LOADED(f, FX_ROUND_A + 1) * p;
    a[k + 3] += LOADED(f, FX_ROUND_C) * t;
    b[k + 3] += LOADED(f, FX_ROUND_C + 1) * t;
  }
}

INLINE void NAME(read_general)(const REAL *f, const VEC a[6], const VEC b[6], VEC u[3]) {
  const VEC *h = (const VEC *)f + FX_H;
  for (int row = 0; row < 3; row++, h += 6)
    u[row] = ((h[0] * a[0] + h[1] * a[1]) + (h[2] * a[2] + h[3] * a[3])) +
             ((h[4] * a[4] + h[5] * a[5]) + (h[18] * b[0] + h[19] * b[1])) +
             ((h[20] * b[2] + h[21] * b[3]) + (h[22] * b[4] + h[23] * b[5]));
}

INLINE void NAME(write_general)(const REAL *f, const VEC x[3], VEC a[6], VEC b[6]) {
  const VEC *h = (const VEC *)f + FX_H;
  for (int k = 0; k < 6; k++) {
    a[k] += h[k] * x[0] + h[6 + k] * x[1] + h[12 + k] * x[2];
    b[k] += h[18 + k] * x[0] + h[24 + k] * x[1] + h[30 + k] * x[2];
  }
}

/* ---- one batch ---- */

INLINE void NAME(root)(const VEC *x, VEC *out) {
  for (int k = 0; k < LANES; k++) (*out)[k] = ROOT((*x)[k]);
}

/* z from y and u; f are the fields. */
INLINE void NAME(local)(const REAL *f, bool round, bool compliant, const VEC y[3], VEC u[3], VEC z[3]) {
  const VEC *c = (const VEC *)f + (round ? FX_ROUND_END : FX_GENERAL_END);
  for (int k = 0; k < 3; k++) {
    u[k] += LOADED(f, FX_Q + k);
    if (compliant) u[k] += c[k] * y[k];
  }
  VEC normal = y[0] - u[0] * LOADED(f, FX_INVERSE_N);
  z[0] = (VEC)((NAME(mask))normal & (normal > 0));
  if (!round) {
    u[1] += LOADED(f, FX_COUPLING) * (z[0] - y[0]);
    u[2] += LOADED(f, FX_COUPLING + 1) * (z[0] - y[0]);
  }
  VEC s = y[1] - u[1] * LOADED(f, FX_INVERSE_T), t = y[2] - u[2] * LOADED(f, FX_INVERSE_T);
  VEC radius = LOADED(f, FX_MU) * z[0], square = s * s + t * t, length;
  NAME(root)(&square, &length);
  NAME(mask) outside = length > radius;
  VEC one = (VEC){0} + 1;
  VEC factor = (VEC)(((NAME(mask))(radius / length) & outside) | ((NAME(mask))one & ~outside));
  z[1] = s * factor;
  z[2] = t * factor;
}

typedef struct NAME(sums) {
  VEC step, size, uphill;
} NAME(sums);

/* The records of the bodies of a batch: addresses are read once, since stores might reach them for all the compiler
 * knows. */
INLINE void NAME(rows)(REAL *d, const int32_t *body, REAL *row[LANES]) {
  for (int k = 0; k < LANES; k++) row[k] = d + body[k];
}

/* A plain sweep (beta = 0) measures its step; one with momentum only whether it went uphill. */
INLINE void NAME(batch)(const REAL *f, bool round, bool compliant, bool plain, REAL beta, const int32_t *body, VEC *now,
                        VEC *last, REAL *d, NAME(sums) * sums) {
  VEC a[6], b[6], u[3], y[3], z[3], x[3];
  REAL *first[LANES], *second[LANES];
  NAME(rows)(d, body, first);
  NAME(rows)(d, body + FX_BATCH, second);
  NAME(gather)(first, a);
  NAME(gather)(second, b);
  for (int k = 0; k < 3; k++) {
    y[k] = now[k];
    if (!plain) y[k] += (now[k] - last[k]) * beta;
  }
  if (round)
    NAME(read_round)(f, a, b, u);
  else
    NAME(read_general)(f, a, b, u);
  NAME(local)(f, round, compliant, y, u, z);
  for (int k = 0; k < 3; k++) {
    x[k] = z[k] - y[k];
    if (plain) {
      sums->step += x[k] * x[k];
      sums->size += z[k] * z[k];
    } else {
      sums->uphill -= x[k] * (z[k] - now[k]);
    }
    last[k] = now[k];
    now[k] = z[k];
  }
  if (round)
    NAME(write_round)(f, x, a, b);
  else
    NAME(write_general)(f, x, a, b);
  NAME(scatter)(first, a);
  NAME(scatter)(second, b);
}

/* ---- all batches ---- */

INLINE double NAME(total)(const VEC *x) {
  double sum = 0;
  for (int k = 0; k < LANES; k++) sum += (double)(*x)[k];
  return sum;
}

/* d := d + beta (d - d_last), d_last := d: what the extrapolated impulses give, since d is linear in z. */
INLINE void NAME(extrapolate)(int32_t body_count, bool plain, REAL beta, VEC *d, VEC *last) {
  int32_t count = body_count * (FX_RECORD / LANES);
  for (int32_t k = 0; k < count; k++) {
    VEC now = d[k];
    if (!plain) d[k] = now + (now - last[k]) * beta;
    last[k] = now;
  }
}

/* Sums go to double every few batches, so that their error does not grow with the pile. */
INLINE fx_sweep_sums NAME(sweep)(const fx_pile *pile, const fx_pile_data *data, bool round, bool compliant, bool plain,
                                 REAL beta) {
  enum { GROUPS = FX_BATCH / LANES };
  fx_sweep_sums total = {0, 0, 0};
  const REAL *f = data->field;
  VEC *z = data->z, *last = data->z_last;
  const int32_t *body = pile->slot_body;
  int32_t fields = (round ? FX_ROUND_END : FX_GENERAL_END) + (compliant ? FX_COMPLIANCE_SIZE : 0);
  NAME(extrapolate)(pile->body_count, plain, beta, data->d, data->d_last);
  for (int32_t first = 0; first < pile->batch_count; first += FLUSH) {
    int32_t end = pile->batch_count - first < FLUSH ? pile->batch_count : first + FLUSH;
    NAME(sums) sums = {{0}, {0}, {0}};
    for (int32_t batch = first; batch < end; batch++, body += 2 * FX_BATCH)
      for (int group = 0; group < GROUPS; group++, f += fields * LANES, z += 3, last += 3)
        NAME(batch)(f, round, compliant, plain, beta, body + group * LANES, z, last, data->d, &sums);
    total.step += NAME(total)(&sums.step);
    total.size += NAME(total)(&sums.size);
    total.uphill += NAME(total)(&sums.uphill);
  }
  return total;
}

INLINE void NAME(refresh)(const fx_pile *pile, const fx_pile_data *data, bool round) {
  enum { GROUPS = FX_BATCH / LANES };
  const REAL *f = data->field;
  const VEC *z = data->z;
  REAL *d = data->d;
  const int32_t *body = pile->slot_body;
  for (int32_t batch = 0; batch < pile->batch_count; batch++, body += 2 * FX_BATCH)
    for (int group = 0; group < GROUPS; group++, f += pile->field_count * LANES, z += 3) {
      VEC a[6], b[6];
      REAL *first[LANES], *second[LANES];
      NAME(rows)(d, body + group * LANES, first);
      NAME(rows)(d, body + group * LANES + FX_BATCH, second);
      NAME(gather)(first, a);
      NAME(gather)(second, b);
      if (round)
        NAME(write_round)(f, z, a, b);
      else
        NAME(write_general)(f, z, a, b);
      NAME(scatter)(first, a);
      NAME(scatter)(second, b);
    }
}

#undef VEC
#undef LOADED
