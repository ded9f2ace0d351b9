/* The products of Anderson mixing, once per precision: REAL, NAME(x) and LANES are defined where this is included. Sums
 * are made in REAL over short runs and added up in double, in one order on every target. */

typedef REAL NAME(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));

#define VEC NAME(vec)

/* f = g - x, and its products with all steps of the ring. */
INLINE void NAME(products)(size_t count, const VEC *g, const VEC *x, VEC *f, const VEC *const *other, int32_t others,
                           double *sum) {
  enum { RUN = 64 };
  for (int32_t j = 0; j <= others; j++) sum[j] = 0;
  for (size_t first = 0; first < count; first += RUN) {
    size_t end = count - first < RUN ? count : first + RUN;
    VEC part = {0};
    for (size_t k = first; k < end; k++) {
      VEC step = g[k] - x[k];
      f[k] = step;
      part += step * step;
    }
    for (int lane = 0; lane < LANES; lane++) sum[others] += (double)part[lane];
    for (int32_t j = 0; j < others; j++) {
      const VEC *h = other[j];
      VEC mixed = {0};
      for (size_t k = first; k < end; k++) mixed += f[k] * h[k];
      for (int lane = 0; lane < LANES; lane++) sum[j] += (double)mixed[lane];
    }
  }
}

/* out = sum of weight[j] from[j], in the order of j. */
INLINE void NAME(mix)(size_t count, const VEC *const *from, const double *weight, int32_t terms, VEC *out) {
  REAL w[FX_BLEND_ROOM];
  for (int32_t j = 0; j < terms; j++) w[j] = (REAL)weight[j];
  for (size_t k = 0; k < count; k++) {
    VEC sum = from[0][k] * w[0];
    for (int32_t j = 1; j < terms; j++) sum += from[j][k] * w[j];
    out[k] = sum;
  }
}

#undef VEC
#undef REAL
#undef NAME
#undef LANES
