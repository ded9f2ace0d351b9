/* Steps within products of second-order cones: what cone_lp.c, cone_lp_finish.c and cone_qp.c share. */
#ifndef FX_SOLVER_CONE_LP_STEPS_H
#define FX_SOLVER_CONE_LP_STEPS_H

#include "solver/cone_lp.h"

static inline int32_t fx_cone_lp_dim(const fx_cone_lp *lp, int32_t i) { return lp->first[i + 1] - lp->first[i]; }

#define FX_EACH_CONE(lp, i)                      \
  for (int32_t i = 0; i < (lp)->unit_count; i++) \
    if (!(lp)->free[i])

/* The part of a direction that dx, dz and y2 do not hold. */
typedef struct fx_cone_lp_direction {
  double t, tau, kappa;
} fx_cone_lp_direction;

/* Nesterov-Todd scaling of x and z, lambda = W z = W^-1 x, and X = W^2; false where one is not inside. */
bool fx_cone_lp_scale(fx_cone_lp *lp);
/* sx = W^-1 dx, sz = W dz; dx and dz stay, for there and back again would cost them digits. */
void fx_cone_lp_scaled(fx_cone_lp *lp);
/* Largest step that keeps everything in its cone. */
double fx_cone_lp_longest(const fx_cone_lp *lp, const fx_cone_lp_direction *by);
/* q = lambda \ (target e - lambda o lambda - sx o sz), the last, of the predictor, where correct is set. */
void fx_cone_lp_aim(fx_cone_lp *lp, double target, bool correct);
/* x, z, y, t, tau, kappa += step times the direction, y2 being that of y. */
void fx_cone_lp_advance(fx_cone_lp *lp, double step, const fx_cone_lp_direction *by);

/* A place to return to. */
void fx_cone_lp_keep(const fx_cone_lp *lp, fx_cone_lp_place *at);
void fx_cone_lp_go_back(fx_cone_lp *lp, const fx_cone_lp_place *at);

#endif
