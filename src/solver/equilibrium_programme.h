/* One island of a static problem as a conic programme, and back. */
#ifndef FX_SOLVER_EQUILIBRIUM_PROGRAMME_H
#define FX_SOLVER_EQUILIBRIUM_PROGRAMME_H

#include "problem/statics.h"
#include "solver/cone_lp.h"

/* A cone of the programme: variables x with r += T'x on the rows of a contact. Links are rows beyond the bodies' that
 * tie the first variables of units to each other, or to a known normal force. */
enum { FX_UNIT_LINKS = 3 };

typedef struct fx_unit {
  int32_t contact, dim;
  bool free;
  double T[FRIX_MAX_DIM * FRIX_MAX_DIM]; /* dim x dim of the contact */
  int32_t link_count, link[FX_UNIT_LINKS];
  double weight[FX_UNIT_LINKS];
} fx_unit;

typedef struct fx_programme {
  const fx_statics *statics;
  const fx_statics_part *part;
  fx_unit *unit;
  int32_t unit_count, unit_capacity, link_count;
  double *link_b, *link_a;
  int32_t *normal_unit;  /* by contact of the system: its first unit that carries the normal force, -1: none */
  int32_t *normal_count; /* and how many there are */
  fx_cone_lp lp;
  double *b, *a;
  double *weight;                 /* by variable: of |r|^2 */
  double force_scale, load_scale; /* x = r / force_scale, t = factor load_scale / force_scale */
} fx_programme;

/* place: by mover of the system, its number within the part. */
frix_status fx_programme_take(fx_arena *arena, const fx_statics *statics, const fx_statics_part *part,
                              const int32_t *place, bool with_load, double most_cost, fx_programme *out,
                              bool *affordable);
/* r of the part's contacts from x / scale, the factor from t / scale. */
void fx_programme_forces(const fx_programme *programme, double scale, double *r);
double fx_programme_factor(const fx_programme *programme, double scale);
/* v of the part's movers from y. */
void fx_programme_velocity(const fx_programme *programme, double *v);

#endif
