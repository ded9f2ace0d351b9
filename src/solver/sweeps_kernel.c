/* The kernels of sweeps for every instruction set: one source, compiled for each, chosen when a solve starts. */
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { FLUSH = 64 };

#define INLINE static inline __attribute__((always_inline))

#define REAL float
#define MASK int32_t
#define LANES 8
#define ROOT sqrtf
#define NAME(x) x##_single
#include "solver/sweeps_kernel.h"
#undef REAL
#undef MASK
#undef LANES
#undef ROOT
#undef NAME

#define REAL double
#define MASK int64_t
#define LANES 4
#define ROOT sqrt
#define NAME(x) x##_full
#include "solver/sweeps_kernel.h"
#undef REAL
#undef MASK
#undef LANES
#undef ROOT
#undef NAME

/* Flags become constants, so that no loop has a branch inside. */
#define CHOOSE(name, data, beta)                                                                                       \
  (plain         ? p->round ? p->compliant ? name(p, data, true, true, true, beta) : name(p, data, true, false, true, beta) \
   : p->compliant ? name(p, data, false, true, true, beta)                                                             \
                  : name(p, data, false, false, true, beta)                                                            \
   : p->round     ? p->compliant ? name(p, data, true, true, false, beta) : name(p, data, true, false, false, beta)    \
   : p->compliant ? name(p, data, false, true, false, beta)                                                            \
                  : name(p, data, false, false, false, beta))

INLINE fx_sweep_sums sweep_any(const fx_pile *p, bool full, double beta) {
  bool plain = beta == 0;
  return full ? CHOOSE(sweep_full, &p->full, beta) : CHOOSE(sweep_single, &p->single, (float)beta);
}

INLINE void refresh_any(const fx_pile *p, bool full) {
  if (full)
    refresh_full(p, &p->full, p->round);
  else
    refresh_single(p, &p->single, p->round);
}

static fx_sweep_sums sweep_plain(const fx_pile *p, bool full, double beta) { return sweep_any(p, full, beta); }
static void refresh_plain(const fx_pile *p, bool full) { refresh_any(p, full); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static fx_sweep_sums sweep_avx2(const fx_pile *p, bool full, double beta) {
  return sweep_any(p, full, beta);
}
__attribute__((target("avx2"))) static void refresh_avx2(const fx_pile *p, bool full) { refresh_any(p, full); }
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

fx_sweep_sums fx_sweep(const fx_pile *p, bool full, fx_sweep_target target, double beta) {
  switch (target) {
    case FX_SWEEP_AVX2: return sweep_avx2(p, full, beta);
    case FX_SWEEP_PLAIN: return sweep_plain(p, full, beta);
    case FX_SWEEP_SCALAR: break;
  }
  return fx_sweep_scalar(p, full, beta);
}

void fx_sweep_refresh(const fx_pile *p, bool full, fx_sweep_target target) {
  memset(full ? p->full.d : p->single.d, 0,
         (size_t)p->body_count * FX_RECORD * (full ? sizeof(double) : sizeof(float)));
  switch (target) {
    case FX_SWEEP_AVX2: refresh_avx2(p, full); return;
    case FX_SWEEP_PLAIN: refresh_plain(p, full); return;
    case FX_SWEEP_SCALAR: break;
  }
  fx_refresh_scalar(p, full);
}
