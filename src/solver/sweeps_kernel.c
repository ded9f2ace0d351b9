/* The kernels of sweeps for every instruction set: one source, compiled for each, chosen when a solve starts. */
#include "solver/sweeps.h"

#include "linalg/lane_roots.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Vectors of 16 bytes: SSE2, NEON, WebAssembly. */
#define REAL float
#define MASK int32_t
#define ROOT sqrtf
#define TINY 1e-30f
#define WIDE 8
#define LANES 4
#define NAME(x) x##_single_16
#include "solver/sweeps_kernel.h"

#define REAL double
#define MASK int64_t
#define ROOT sqrt
#define TINY 1e-290
#define WIDE 4
#define LANES 2
#define NAME(x) x##_full_16
#include "solver/sweeps_kernel.h"

/* Flags become constants, so that no loop has a branch inside. */
#define FORM(sweep, data, round, plain, beta)                             \
  (p->compliant ? sweep(p, data, part, false, round, true, plain, (beta)) \
                : sweep(p, data, part, false, round, false, plain, (beta)))
#define FOUR(sweep, data, plain, beta) \
  (p->round ? FORM(sweep, data, true, plain, beta) : FORM(sweep, data, false, plain, beta))
#define CHOOSE(sweep, data, beta) (beta == 0 ? FOUR(sweep, data, true, beta) : FOUR(sweep, data, false, beta))
/* From a base: compliant and plain. */
#define BASED(sweep, data) \
  (p->round ? sweep(p, data, part, true, true, true, true, 0) : sweep(p, data, part, true, false, true, true, 0))

static fx_sweep_sums sweep_plain(const fx_pile *p, bool full, const fx_sweep_part *part, double beta) {
  if (full) return CHOOSE(sweep_full_16, &p->full, beta);
  return p->single.base ? BASED(sweep_single_16, &p->single) : CHOOSE(sweep_single_16, &p->single, (float)beta);
}

static void refresh_plain(const fx_pile *p, bool full, int32_t first, int32_t end) {
  if (full)
    refresh_full_16(p, &p->full, p->round, first, end);
  else
    refresh_single_16(p, &p->single, p->round, first, end);
}

#if defined(__x86_64__)
/* Vectors of 32 bytes. */
#define REAL float
#define MASK int32_t
#define ROOT sqrtf
#define TINY 1e-30f
#define WIDE 8
#define LANES 8
#define NAME(x) x##_single_32
#include "solver/sweeps_kernel.h"

#define REAL double
#define MASK int64_t
#define ROOT sqrt
#define TINY 1e-290
#define WIDE 4
#define LANES 4
#define NAME(x) x##_full_32
#include "solver/sweeps_kernel.h"

__attribute__((target("avx2"))) static fx_sweep_sums sweep_avx2(const fx_pile *p, bool full, const fx_sweep_part *part,
                                                                double beta) {
  if (full) return CHOOSE(sweep_full_32, &p->full, beta);
  return p->single.base ? BASED(sweep_single_32, &p->single) : CHOOSE(sweep_single_32, &p->single, (float)beta);
}

__attribute__((target("avx2"))) static void refresh_avx2(const fx_pile *p, bool full, int32_t first, int32_t end) {
  if (full)
    refresh_full_32(p, &p->full, p->round, first, end);
  else
    refresh_single_32(p, &p->single, p->round, first, end);
}
#else
#define sweep_avx2 sweep_plain
#define refresh_avx2 refresh_plain
#endif

fx_sweep_target fx_sweep_best_target(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return FX_SWEEP_AVX2;
#endif
  return FX_SWEEP_PLAIN;
}

static fx_sweep_sums sweep_on(const fx_pile *p, bool full, fx_sweep_target target, const fx_sweep_part *part,
                              double beta) {
  switch (target) {
    case FX_SWEEP_AVX2: return sweep_avx2(p, full, part, beta);
    case FX_SWEEP_PLAIN: return sweep_plain(p, full, part, beta);
    case FX_SWEEP_SCALAR: break;
  }
  return fx_sweep_scalar(p, full, part, beta);
}

/* Segment k; its bodies are extrapolated by the first two. */
static fx_sweep_part part_of(const fx_pile *p, int32_t k) {
  fx_sweep_part part = {k ? p->segment_end[k - 1] : 0, p->segment_end[k], 0, 0};
  if (p->segment_count == 1 || k == 1) part.end_body = p->body_count;
  if (p->segment_count > 1 && k == 0) part.end_body = p->body_cut;
  if (k == 1) part.first_body = p->body_cut;
  return part;
}

static void exchange(void **a, void **b) {
  void *kept = *a;
  *a = *b;
  *b = kept;
}

void fx_sweep_exchange(fx_pile *p, bool full) {
  fx_pile_data *data = full ? &p->full : &p->single;
  exchange(&data->z, &data->z_last);
  exchange(&data->d, &data->d_last);
}

fx_sweep_sums fx_sweep_segment(const fx_pile *p, bool full, fx_sweep_target target, double beta, int32_t segment) {
  fx_sweep_part part = part_of(p, segment);
  return sweep_on(p, full, target, &part, beta);
}

fx_sweep_sums fx_sweep(fx_pile *p, bool full, fx_sweep_target target, double beta) {
  fx_sweep_sums sums = {0, 0, 0};
  if (p->wide) sums = fx_wide_sweep(p, target, beta);
  for (int32_t k = 0; k < p->segment_count && !p->wide; k++) {
    fx_sweep_part part = part_of(p, k);
    fx_sweep_sums one = sweep_on(p, full, target, &part, beta);
    sums = (fx_sweep_sums){sums.step + one.step, sums.size + one.size, sums.uphill + one.uphill};
  }
  fx_sweep_exchange(p, full);
  return sums;
}

void fx_sweep_clear(const fx_pile *p, bool full) {
  memset(full ? p->full.d : p->single.d, 0,
         (size_t)p->body_count * FX_RECORD * (full ? sizeof(double) : sizeof(float)));
}

void fx_refresh_segment(const fx_pile *p, bool full, fx_sweep_target target, int32_t segment) {
  int32_t first = segment ? p->segment_end[segment - 1] : 0, end = p->segment_end[segment];
  switch (target) {
    case FX_SWEEP_AVX2: refresh_avx2(p, full, first, end); return;
    case FX_SWEEP_PLAIN: refresh_plain(p, full, first, end); return;
    case FX_SWEEP_SCALAR: break;
  }
  fx_refresh_scalar(p, full, first, end);
}

void fx_sweep_refresh(const fx_pile *p, bool full, fx_sweep_target target) {
  fx_sweep_clear(p, full);
  if (p->wide) fx_wide_refresh(p, target);
  for (int32_t k = 0; k < p->segment_count && !p->wide; k++) fx_refresh_segment(p, full, target, k);
}
