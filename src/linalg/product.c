/* Products of small dense blocks: a tile of c (6 rows, one strip of columns) stays in registers while a and b stream
 * by. Compiled once for every machine and, on x86, once more for AVX2 and AVX-512; all give the same bits, since lanes
 * never mix and nothing is contracted. */
#include "linalg/product.h"

#include <stdbool.h>

#include "linalg/dense.h"

typedef double octet __attribute__((vector_size(64), aligned(8)));
typedef double lanes4 __attribute__((vector_size(32), aligned(8)));
typedef double lanes2 __attribute__((vector_size(16), aligned(8)));

/* One row of a tile whose strip is two vectors of types L and H, the second at column 4. */
#define ROW_LOAD(R, L, H)           \
  const double *a##R = a + (R)*lda; \
  double *c##R = c + to[R];         \
  L low##R = *(const L *)c##R;      \
  H high##R = *(const H *)(c##R + 4);
#define ROW_STEP(R, PART)                            \
  {                                                  \
    lanes4 f = {a##R[o], a##R[o], a##R[o], a##R[o]}; \
    low##R -= f * low;                               \
    high##R -= PART(f) * high;                       \
  }
#define WHOLE(f) f
#define HALF(f) __builtin_shufflevector(f, f, 0, 1)
#define ROW_STORE(R, L, H) \
  *(L *)c##R = low##R;     \
  *(H *)(c##R + 4) = high##R;

/* The same with one vector. */
#define THIN_LOAD(R, L)             \
  const double *a##R = a + (R)*lda; \
  double *c##R = c + to[R];         \
  L low##R = *(const L *)c##R;
#define THIN_STEP(R) low##R -= a##R[o] * low;
#define THIN_STORE(R, L) *(L *)c##R = low##R;

#define INLINE static inline __attribute__((always_inline))

/* fx_NAME: the kernel NAME for the machine it runs on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_MACHINE(NAME, PARAMETERS, ARGUMENTS)                                         \
  __attribute__((target("avx2"))) static void NAME##_avx2 PARAMETERS { NAME ARGUMENTS; } \
  void fx_##NAME PARAMETERS {                                                            \
    if (__builtin_cpu_supports("avx2"))                                                  \
      NAME##_avx2 ARGUMENTS;                                                             \
    else                                                                                 \
      NAME ARGUMENTS;                                                                    \
  }
#else
#define FOR_MACHINE(NAME, PARAMETERS, ARGUMENTS) \
  void fx_##NAME PARAMETERS { NAME ARGUMENTS; }
#endif

#define TILE_ARGUMENTS \
  int32_t k, const double *restrict a, size_t lda, size_t step, const double *restrict b, double *c, const size_t *to

#define WIDE_TILES(W, L, H, PART)                                                                                     \
  INLINE void tile6_##W(TILE_ARGUMENTS) {                                                                             \
    ROW_LOAD(0, L, H)                                                                                                 \
    ROW_LOAD(1, L, H)                                                                                                 \
    ROW_LOAD(2, L, H)                                                                                                 \
    ROW_LOAD(3, L, H)                                                                                                 \
    ROW_LOAD(4, L, H) ROW_LOAD(5, L, H) for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {          \
      L low = *(const L *)b;                                                                                          \
      H high = *(const H *)(b + 4);                                                                                   \
      ROW_STEP(0, PART) ROW_STEP(1, PART) ROW_STEP(2, PART) ROW_STEP(3, PART) ROW_STEP(4, PART) ROW_STEP(5, PART)     \
    }                                                                                                                 \
    ROW_STORE(0, L, H) ROW_STORE(1, L, H) ROW_STORE(2, L, H) ROW_STORE(3, L, H) ROW_STORE(4, L, H) ROW_STORE(5, L, H) \
  }                                                                                                                   \
  INLINE void tile3_##W(TILE_ARGUMENTS) {                                                                             \
    ROW_LOAD(0, L, H)                                                                                                 \
    ROW_LOAD(1, L, H) ROW_LOAD(2, L, H) for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {          \
      L low = *(const L *)b;                                                                                          \
      H high = *(const H *)(b + 4);                                                                                   \
      ROW_STEP(0, PART) ROW_STEP(1, PART) ROW_STEP(2, PART)                                                           \
    }                                                                                                                 \
    ROW_STORE(0, L, H) ROW_STORE(1, L, H) ROW_STORE(2, L, H)                                                          \
  }                                                                                                                   \
  INLINE void tile1_##W(TILE_ARGUMENTS) {                                                                             \
    ROW_LOAD(0, L, H)                                                                                                 \
    for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {                                              \
      L low = *(const L *)b;                                                                                          \
      H high = *(const H *)(b + 4);                                                                                   \
      ROW_STEP(0, PART)                                                                                               \
    }                                                                                                                 \
    ROW_STORE(0, L, H)                                                                                                \
  }

#define THIN_TILES(NAME, W, L)                                                                            \
  INLINE void tile6_##NAME(TILE_ARGUMENTS) {                                                              \
    THIN_LOAD(0, L)                                                                                       \
    THIN_LOAD(1, L)                                                                                       \
    THIN_LOAD(2, L)                                                                                       \
    THIN_LOAD(3, L)                                                                                       \
    THIN_LOAD(4, L) THIN_LOAD(5, L) for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {  \
      L low = *(const L *)b;                                                                              \
      THIN_STEP(0) THIN_STEP(1) THIN_STEP(2) THIN_STEP(3) THIN_STEP(4) THIN_STEP(5)                       \
    }                                                                                                     \
    THIN_STORE(0, L) THIN_STORE(1, L) THIN_STORE(2, L) THIN_STORE(3, L) THIN_STORE(4, L) THIN_STORE(5, L) \
  }                                                                                                       \
  INLINE void tile3_##NAME(TILE_ARGUMENTS) {                                                              \
    THIN_LOAD(0, L)                                                                                       \
    THIN_LOAD(1, L) THIN_LOAD(2, L) for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {  \
      L low = *(const L *)b;                                                                              \
      THIN_STEP(0) THIN_STEP(1) THIN_STEP(2)                                                              \
    }                                                                                                     \
    THIN_STORE(0, L) THIN_STORE(1, L) THIN_STORE(2, L)                                                    \
  }                                                                                                       \
  INLINE void tile1_##NAME(TILE_ARGUMENTS) {                                                              \
    THIN_LOAD(0, L)                                                                                       \
    for (size_t o = 0, e = 0; e < (size_t)k; e++, o += step, b += (W)) {                                  \
      L low = *(const L *)b;                                                                              \
      THIN_STEP(0)                                                                                        \
    }                                                                                                     \
    THIN_STORE(0, L)                                                                                      \
  }

WIDE_TILES(8, lanes4, lanes4, WHOLE)
WIDE_TILES(6, lanes4, lanes2, HALF)
THIN_TILES(8_at_once, 8, octet)
THIN_TILES(4, 4, lanes4)
THIN_TILES(2, 2, lanes2)
THIN_TILES(1, 1, double)

/* All rows of one strip. */
#define STRIP(NAME)                                                                              \
  do {                                                                                           \
    int32_t r = 0;                                                                               \
    for (; r + 6 <= rows; r += 6) tile6_##NAME(k, a + (size_t)r * lda, lda, step, b, c, to + r); \
    for (; r + 3 <= rows; r += 3) tile3_##NAME(k, a + (size_t)r * lda, lda, step, b, c, to + r); \
    for (; r < rows; r++) tile1_##NAME(k, a + (size_t)r * lda, lda, step, b, c, to + r);         \
  } while (0)

#define STRIP_PARAMETERS \
  (int32_t rows, int32_t width, int32_t k, const double *a, size_t lda, const double *b, double *c, const size_t *to)

/* step: from one number of a row of a to the next; at_once: a strip of eight is one vector. */
INLINE void subtract(int32_t rows, int32_t width, int32_t k, const double *a, size_t lda, size_t step, const double *b,
                     double *c, const size_t *to, bool at_once) {
  switch (width) {
    case 8:
      if (at_once)
        STRIP(8_at_once);
      else
        STRIP(8);
      break;
    case 6: STRIP(6); break;
    case 4: STRIP(4); break;
    case 2: STRIP(2); break;
    default: STRIP(1); break;
  }
}

/* The kernel NAME with a by rows or by columns, for the machine it runs on. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SUBTRACT(NAME, LDA, STEP)                                                 \
  __attribute__((target("avx512f"))) static void NAME##_avx512 STRIP_PARAMETERS { \
    subtract(rows, width, k, a, LDA, STEP, b, c, to, true);                       \
  }                                                                               \
  __attribute__((target("avx2"))) static void NAME##_avx2 STRIP_PARAMETERS {      \
    subtract(rows, width, k, a, LDA, STEP, b, c, to, false);                      \
  }                                                                               \
  void fx_##NAME STRIP_PARAMETERS {                                               \
    if (__builtin_cpu_supports("avx512f"))                                        \
      NAME##_avx512(rows, width, k, a, lda, b, c, to);                            \
    else if (__builtin_cpu_supports("avx2"))                                      \
      NAME##_avx2(rows, width, k, a, lda, b, c, to);                              \
    else                                                                          \
      subtract(rows, width, k, a, LDA, STEP, b, c, to, false);                    \
  }
#else
#define SUBTRACT(NAME, LDA, STEP) \
  void fx_##NAME STRIP_PARAMETERS { subtract(rows, width, k, a, LDA, STEP, b, c, to, false); }
#endif

SUBTRACT(subtract_strip, lda, 1)
SUBTRACT(subtract_turned, 1, lda)

/* ---- rows of contacts ---- */

INLINE void scale_rows(int32_t m, int32_t d, int32_t w, double scale, const double *restrict D,
                       const double *restrict h, double *restrict g) {
  for (int32_t r = 0; r < m; r++, g += w) {
    int32_t c = 0;
    for (; c + 4 <= w; c += 4) {
      lanes4 sum = {0.0, 0.0, 0.0, 0.0};
      for (int32_t e = 0; e < d; e++) sum += D[r * d + e] * *(const lanes4 *)(h + e * w + c);
      *(lanes4 *)(g + c) = sum * scale;
    }
    for (; c < w; c++) {
      double sum = 0.0;
      for (int32_t e = 0; e < d; e++) sum += D[r * d + e] * h[e * w + c];
      g[c] = sum * scale;
    }
  }
}

INLINE void scale_all(int32_t count, double scale, const double *restrict h, double *restrict g) {
  int32_t k = 0;
  for (; k + 4 <= count; k += 4) *(lanes4 *)(g + k) = scale * *(const lanes4 *)(h + k);
  for (; k < count; k++) g[k] = scale * h[k];
}

/* Three rows, the usual contact. */
INLINE void add_outer3(int32_t m, int32_t w, const double *restrict h, const double *restrict g, double *restrict to,
                       int32_t length) {
  for (int32_t a = 0; a < m; a++, to += length) {
    double f0 = h[a], f1 = h[m + a], f2 = h[2 * m + a];
    int32_t b = 0;
    for (; b + 4 <= w; b += 4) {
      lanes4 sum = *(const lanes4 *)(to + b);
      sum += f0 * *(const lanes4 *)(g + b);
      sum += f1 * *(const lanes4 *)(g + w + b);
      sum += f2 * *(const lanes4 *)(g + 2 * w + b);
      *(lanes4 *)(to + b) = sum;
    }
    for (; b < w; b++) {
      double sum = to[b];
      sum += f0 * g[b];
      sum += f1 * g[w + b];
      sum += f2 * g[2 * w + b];
      to[b] = sum;
    }
  }
}

INLINE void add_outer(int32_t d, int32_t m, int32_t w, const double *restrict h, const double *restrict g,
                      double *restrict to, int32_t length) {
  if (d == 3) {
    add_outer3(m, w, h, g, to, length);
    return;
  }
  for (int32_t a = 0; a < m; a++)
    for (int32_t e = 0; e < d; e++) {
      double factor = h[e * m + a];
      for (int32_t b = 0; b < w; b++) to[a * length + b] += factor * g[e * w + b];
    }
}

/* The order of additions of fx_dot_quad, of three rows beside each other. */
INLINE void add_products3(int32_t w, const double *restrict h, const double *restrict x, double *restrict out) {
  const double *h1 = h + w, *h2 = h + 2 * (size_t)w;
  lanes4 s0 = {0.0, 0.0, 0.0, 0.0}, s1 = s0, s2 = s0;
  int32_t c = 0;
  for (; c + 4 <= w; c += 4) {
    lanes4 own = *(const lanes4 *)(x + c);
    s0 += *(const lanes4 *)(h + c) * own;
    s1 += *(const lanes4 *)(h1 + c) * own;
    s2 += *(const lanes4 *)(h2 + c) * own;
  }
  double t0 = s0[0], t1 = s1[0], t2 = s2[0];
  for (; c < w; c++) t0 += h[c] * x[c], t1 += h1[c] * x[c], t2 += h2[c] * x[c];
  out[0] += (t0 + s0[1]) + (s0[2] + s0[3]);
  out[1] += (t1 + s1[1]) + (s1[2] + s1[3]);
  out[2] += (t2 + s2[1]) + (s2[2] + s2[3]);
}

INLINE void add_products(int32_t d, int32_t w, const double *restrict h, const double *restrict x,
                         double *restrict out) {
  for (; d >= 3; d -= 3, h += 3 * (size_t)w, out += 3) add_products3(w, h, x, out);
  for (int32_t r = 0; r < d; r++, h += w) out[r] += fx_dot_quad(w, h, x);
}

/* The same with two vectors, and one look at h. */
INLINE void add_pairs3(int32_t w, const double *restrict h, const double *restrict x, const double *restrict y,
                       double *restrict ox, double *restrict oy) {
  const double *h1 = h + w, *h2 = h + 2 * (size_t)w;
  lanes4 s0 = {0.0, 0.0, 0.0, 0.0}, s1 = s0, s2 = s0, t0 = s0, t1 = s0, t2 = s0;
  int32_t c = 0;
  for (; c + 4 <= w; c += 4) {
    lanes4 own = *(const lanes4 *)(x + c), other = *(const lanes4 *)(y + c);
    lanes4 row0 = *(const lanes4 *)(h + c), row1 = *(const lanes4 *)(h1 + c), row2 = *(const lanes4 *)(h2 + c);
    s0 += row0 * own, s1 += row1 * own, s2 += row2 * own;
    t0 += row0 * other, t1 += row1 * other, t2 += row2 * other;
  }
  for (; c < w; c++) { /* the first lane is the one that takes what is left */
    s0[0] += h[c] * x[c], s1[0] += h1[c] * x[c], s2[0] += h2[c] * x[c];
    t0[0] += h[c] * y[c], t1[0] += h1[c] * y[c], t2[0] += h2[c] * y[c];
  }
  ox[0] += (s0[0] + s0[1]) + (s0[2] + s0[3]), oy[0] += (t0[0] + t0[1]) + (t0[2] + t0[3]);
  ox[1] += (s1[0] + s1[1]) + (s1[2] + s1[3]), oy[1] += (t1[0] + t1[1]) + (t1[2] + t1[3]);
  ox[2] += (s2[0] + s2[1]) + (s2[2] + s2[3]), oy[2] += (t2[0] + t2[1]) + (t2[2] + t2[3]);
}

INLINE void add_pairs(int32_t d, int32_t w, const double *restrict h, const double *restrict x,
                      const double *restrict y, double *restrict ox, double *restrict oy) {
  for (; d >= 3; d -= 3, h += 3 * (size_t)w, ox += 3, oy += 3) add_pairs3(w, h, x, y, ox, oy);
  for (int32_t r = 0; r < d; r++, h += w) ox[r] += fx_dot_quad(w, h, x), oy[r] += fx_dot_quad(w, h, y);
}

INLINE void add_rows(int32_t d, int32_t w, const double *restrict h, const double *restrict f, double *restrict to) {
  if (d == 3) {
    for (int32_t c = 0; c < w; c++) to[c] = to[c] + f[0] * h[c] + f[1] * h[w + c] + f[2] * h[2 * w + c];
    return;
  }
  for (int32_t r = 0; r < d; r++, h += w)
    for (int32_t c = 0; c < w; c++) to[c] += f[r] * h[c];
}

FOR_MACHINE(scale_rows, (int32_t m, int32_t d, int32_t w, double scale, const double *D, const double *h, double *g),
            (m, d, w, scale, D, h, g))
FOR_MACHINE(scale_all, (int32_t count, double scale, const double *h, double *g), (count, scale, h, g))
FOR_MACHINE(add_outer, (int32_t d, int32_t m, int32_t w, const double *h, const double *g, double *to, int32_t length),
            (d, m, w, h, g, to, length))
FOR_MACHINE(add_products, (int32_t d, int32_t w, const double *h, const double *x, double *out), (d, w, h, x, out))
FOR_MACHINE(add_pairs,
            (int32_t d, int32_t w, const double *h, const double *x, const double *y, double *ox, double *oy),
            (d, w, h, x, y, ox, oy))
FOR_MACHINE(add_rows, (int32_t d, int32_t w, const double *h, const double *f, double *to), (d, w, h, f, to))

/* ---- weights of rows ---- */

/* Eight rows beside each other, from the last column on: L' y = h'. Rows of L end where zeros are left: amplitudes of a
 * linear material share entries with the frame alone. */
enum { BESIDE = 8 };

/* The amplitudes of four rows, where none of L's rows reaches beyond the frame: its six numbers stay in registers. */
INLINE void weigh_modes(int32_t n, const double *restrict L, double *restrict y, lanes4 *out) {
  lanes4 sum = {0.0, 0.0, 0.0, 0.0}, *frame = (lanes4 *)y;
  lanes4 f0 = frame[0], f1 = frame[2], f2 = frame[4], f3 = frame[6], f4 = frame[8], f5 = frame[10];
  for (int32_t k = n - 1; k >= 6; k--) {
    const double *row = L + (size_t)k * (size_t)n;
    lanes4 own = frame[2 * k];
    sum += own * own / row[k];
    f0 -= row[0] * own, f1 -= row[1] * own, f2 -= row[2] * own;
    f3 -= row[3] * own, f4 -= row[4] * own, f5 -= row[5] * own;
  }
  frame[0] = f0, frame[2] = f1, frame[4] = f2, frame[6] = f3, frame[8] = f4, frame[10] = f5;
  *out = sum;
}

/* linear: the rows of L behind the frame end in it. */
INLINE void weigh8(int32_t n, const double *restrict L, const int32_t *restrict end, bool linear, double *restrict y,
                   double *restrict out) {
  lanes4 low = {0.0, 0.0, 0.0, 0.0}, high = low;
  if (linear) weigh_modes(n, L, y, &low), weigh_modes(n, L, y + 4, &high);
  for (int32_t k = linear ? 5 : n - 1; k >= 0; k--) {
    const double *row = L + (size_t)k * (size_t)n;
    lanes4 own = *(const lanes4 *)(y + BESIDE * k), other = *(const lanes4 *)(y + BESIDE * k + 4);
    low += own * own / row[k];
    high += other * other / row[k];
    for (int32_t j = 0; j < end[k]; j++) {
      *(lanes4 *)(y + BESIDE * j) -= row[j] * own;
      *(lanes4 *)(y + BESIDE * j + 4) -= row[j] * other;
    }
  }
  for (int e = 0; e < 4; e++) out[e] = low[e], out[4 + e] = high[e];
}

INLINE void weigh_rows(int32_t d, int32_t n, const double *L, const double *h, double *work, double *out) {
  int32_t *end = (void *)(work + BESIDE * (size_t)n);
  bool linear = n > 6;
  for (int32_t k = 0; k < n; k++) {
    const double *row = L + (size_t)k * (size_t)n;
    for (end[k] = k; end[k] > 0 && row[end[k] - 1] == 0.0;) end[k]--;
    linear &= end[k] <= 6;
  }
  for (int32_t r = 0; r < d; r += BESIDE) {
    int32_t count = d - r < BESIDE ? d - r : BESIDE;
    double weight[BESIDE];
    for (int32_t e = 0; e < BESIDE; e++) {
      const double *row = h + (size_t)(r + (e < count ? e : 0)) * (size_t)n;
      for (int32_t k = 0; k < n; k++) work[BESIDE * k + e] = row[k];
    }
    weigh8(n, L, end, linear, work, weight);
    for (int32_t e = 0; e < count; e++) out[r + e] = weight[e];
  }
}

FOR_MACHINE(weigh_rows, (int32_t d, int32_t n, const double *L, const double *h, double *work, double *out),
            (d, n, L, h, work, out))
