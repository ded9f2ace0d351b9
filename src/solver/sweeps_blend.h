/* Anderson mixing of sweeps, type II, in the arrays of a pile.
 *
 *   g_k = S(x_k),   f_k = g_k - x_k,   alpha = argmin |sum_j alpha_j f_j| with sum_j alpha_j = 1,
 *   x_k+1 = sum_j alpha_j g_j,   d(x_k+1) = sum_j alpha_j d(g_j)
 *
 * over the last FX_BLEND_DEPTH + 1 sweeps: d is linear in z, so a mixed start costs no product with Hh. One sweep S is
 * a contraction of a strongly monotone problem but not a symmetric map, which is why mixing needs fewer sweeps than
 * momentum there.
 *
 * Where |f| grows, the map of the contacts as they are now is no contraction: friction that jams has a direction in
 * which errors grow with every sweep, until a contact opens, slides or sticks. Mixing would lead back to the fixed
 * point of that map, which is not where these contacts are in that state, and would do so again and again. So the
 * history is dropped and sweeps go with momentum, which leads away from that point the faster the longer it goes,
 *
 *   x_k+1 = g_k + beta (g_k - g_k-1),   beta = min(cap, (theta_k - 1) / theta_k+1),
 *   theta_k+1 = (1 + sqrt(1 + 4 theta_k^2)) / 2,   theta := 1 where f_k . (g_k - g_k-1) < 0,
 *
 * until |f| is less than where that began.
 *
 * Weights of either sign add up to one, but not their sizes: rounding errors of d(g_j), which no sweep corrects, grow
 * from mixing to mixing, up to the size of the steps within tens of sweeps. They are estimated as independent,
 *
 *   e(x)^2 = sum_j alpha_j^2 e(g_j)^2,
 *
 * and d(x) is found from scratch where e(x) comes near |f|. Reference: H. Walker, P. Ni 2011. */
#ifndef FX_SOLVER_SWEEPS_BLEND_H
#define FX_SOLVER_SWEEPS_BLEND_H

#include "base/threads.h"
#include "solver/sweeps.h"

enum { FX_BLEND_DEPTH = 6, FX_BLEND_ROOM = FX_BLEND_DEPTH + 1 };

typedef struct fx_blend {
  void *g[FX_BLEND_ROOM], *f[FX_BLEND_ROOM], *d[FX_BLEND_ROOM]; /* a ring: results, steps, and d of the results */
  void *x, *d_x;                                                /* where the next sweep starts */
  double gram[FX_BLEND_ROOM][FX_BLEND_ROOM];                    /* f_i . f_j */
  int32_t newest, count;
  double last;                          /* |f| squared of the sweep before */
  bool runs;                            /* with momentum, */
  double mark, theta;                   /* until |f| squared is below this */
  double grain;                         /* mixed numbers are rounded to its last bit */
  double error[FX_BLEND_ROOM], error_x; /* expected |d - Hh z| by rounding, of the results and of the next start */
} fx_blend;

/* Room for one precision of the pile. */
frix_status fx_blend_take(fx_arena *arena, const fx_pile *pile, bool full, fx_blend *out);
/* A new history that starts from z and d of the pile; size: a usual one of the numbers to come, 0: unknown. */
void fx_blend_begin(fx_blend *blend, fx_pile *pile, bool full, double size);
/* One sweep and the start of the next one; z and d of the pile are then what the sweep made, d_last what the one before
 * made. */
fx_sweep_sums fx_blend_sweep(fx_blend *blend, fx_pile *pile, bool full, fx_sweep_target target, const fx_threads *team);
/* fx_sweep_refresh by two threads: the same bits. */
void fx_refresh_by_two(fx_pile *pile, bool full, fx_sweep_target target, const fx_threads *team);
/* fx_sweep by two threads, where the pile is cut and there is a team (not NULL): the same bits. */
fx_sweep_sums fx_sweep_by_two(fx_pile *pile, bool full, fx_sweep_target target, double momentum,
                              const fx_threads *team);

#endif
