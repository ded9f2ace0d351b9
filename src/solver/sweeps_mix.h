/* Anderson mixing of rounds of sweeps. */
#ifndef FX_SOLVER_SWEEPS_MIX_H
#define FX_SOLVER_SWEEPS_MIX_H

#include "solver/sweeps.h"

enum { FX_MIX_MOST = 16 };

typedef struct fx_mix {
  int32_t depth, count, newest; /* rounds kept at most, now, and the last of them */
  size_t length;
  void *start;           /* z before the round */
  void *f[FX_MIX_MOST];  /* z after - z before, of each round kept */
  void *g[FX_MIX_MOST];  /* z after */
  double gram[FX_MIX_MOST * FX_MIX_MOST];
} fx_mix;

/* Room for `depth` rounds of vectors of the pile in the given precision; depth 0 is none. */
frix_status fx_mix_init(fx_arena *arena, const fx_pile *pile, bool full, int32_t depth, fx_mix *out);
/* A round begins at z: remembers it. */
void fx_mix_begin(fx_mix *mix, const fx_pile *pile, bool full);
/* A round has ended: keeps it; returns |z after - z before|^2. */
double fx_mix_end(fx_mix *mix, const fx_pile *pile, bool full);
/* z := y := P(sum alpha g) with the alpha of sum 1 that make |sum alpha f| smallest. v does not follow. */
void fx_mix_apply(fx_mix *mix, const fx_pile *pile, bool full);
/* z := y := result of the last round. */
void fx_mix_revert(const fx_mix *mix, const fx_pile *pile, bool full);
void fx_mix_forget(fx_mix *mix);

#endif
