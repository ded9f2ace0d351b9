/* The products of Anderson mixing, once per precision: REAL, NAME(x) and LANES are defined where this is included. Sums
 * are made in REAL over short runs and added up in double, in one order on every target. */

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));

#define VEC NAME(vec)

/* Four sums side by side, so that none waits for the one before. */
#define SUM_OF(total, count, term)                                          \
  do {                                                                      \
    VEC part[4] = {{0}, {0}, {0}, {0}};                                     \
    size_t k = 0;                                                           \
    for (; k + 4 <= (count); k += 4)                                        \
      for (size_t e = 0; e < 4; e++) part[e] += term(k + e);                \
    for (; k < (count); k++) part[0] += term(k);                            \
    VEC all = (part[0] + part[1]) + (part[2] + part[3]);                    \
    for (int lane = 0; lane < LANES; lane++) *(total) += (double)all[lane]; \
  } while (0)

INLINE void NAME(square)(size_t count, const VEC *f, double *total) {
#define TERM(k) (f[k] * f[k])
  SUM_OF(total, count, TERM);
#undef TERM
}

INLINE void NAME(product)(size_t count, const VEC *f, const VEC *h, double *total) {
#define TERM(k) (f[k] * h[k])
  SUM_OF(total, count, TERM);
#undef TERM
}

/* f . (g - last) over vectors begin .. end - 1. */
INLINE void NAME(advance)(size_t begin, size_t end, const VEC *f, const VEC *g, const VEC *last, double *sum) {
  enum { RUN = 64 };
#define TERM(k) (f[first + (k)] * (g[first + (k)] - last[first + (k)]))
  *sum = 0;
  for (size_t first = begin; first < end; first += RUN) {
    size_t length = end - first < RUN ? end - first : RUN;
    SUM_OF(sum, length, TERM);
  }
#undef TERM
}

/* f = g - x, and its products with all steps of the ring, over vectors begin .. end - 1. */
INLINE void NAME(products)(size_t begin, size_t end, const VEC *g, const VEC *x, VEC *f, const VEC *const *other,
                           int32_t others, double *sum) {
  enum { RUN = 64 };
  for (int32_t j = 0; j <= others; j++) sum[j] = 0;
  for (size_t first = begin; first < end; first += RUN) {
    size_t length = end - first < RUN ? end - first : RUN;
    for (size_t k = first; k < first + length; k++) f[k] = g[k] - x[k];
    NAME(square)(length, f + first, &sum[others]);
    for (int32_t j = 0; j < others; j++) NAME(product)(length, f + first, other[j] + first, &sum[j]);
  }
}

/* out = sum of weight[j] from[j], in the order of j, rounded to the last bit of `grain`; `terms` is a constant where
 * this is inlined. */
INLINE void NAME(mix_some)(size_t begin, size_t end, const VEC *const *from, const double *weight, int32_t terms,
                           REAL grain, VEC *out) {
  REAL w[FX_BLEND_ROOM] = {0};
  const VEC *g[FX_BLEND_ROOM] = {NULL};
  for (int32_t j = 0; j < terms; j++) {
    w[j] = (REAL)weight[j];
    g[j] = from[j];
  }
  for (size_t k = begin; k < end; k++) {
    VEC sum = g[0][k] * w[0];
    for (int32_t j = 1; j < terms; j++) sum += g[j][k] * w[j];
    out[k] = (sum + grain) - grain;
  }
}

INLINE void NAME(mix)(size_t begin, size_t end, const VEC *const *from, const double *weight, int32_t terms, REAL grain,
                      VEC *out) {
  if (terms == FX_BLEND_ROOM)
    NAME(mix_some)(begin, end, from, weight, FX_BLEND_ROOM, grain, out);
  else
    NAME(mix_some)(begin, end, from, weight, terms, grain, out);
}

#undef SUM_OF
#undef VEC
#undef REAL
#undef NAME
#undef LANES
