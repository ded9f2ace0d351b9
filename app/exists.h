/* Whether an equilibrium exists, for check and limit: forces within the friction cones that hold a structure, or a
 * mechanism that shows there are none. Whether a simulation stays there is another question: stand.h. */
#ifndef FX_EXISTS_H
#define FX_EXISTS_H

#include "stand.h"

enum { FX_MOVING = 5 };

typedef struct fx_moving {
  char name[64];
  frix_vec3 velocity, spin;
} fx_moving;

typedef struct fx_exists {
  frix_standing standing;
  double stands, falls;                  /* of a load: see frix_equilibrium_result */
  double imbalance;                      /* of the forces */
  double power, resistance, force_limit; /* of the mechanism */
  int32_t moving_count, body_count;      /* bodies listed, and all that the mechanism moves */
  fx_moving moving[FX_MOVING];           /* fastest first */
} fx_exists;

/* Under the case's tilt and load. False after a message. */
bool fx_exists_now(const fx_stand_case *c, fx_exists *out);
/* The largest tilt (as its tangent) or load along the case's direction, or with sign -1 the least, as its negative. */
bool fx_exists_limit(const fx_stand_case *c, bool tilt, double sign, fx_exists *out);

/* Degrees of tilt from 0 to `most` along the case's direction: the end of the interval with equilibria where it lies
 * there, from below (upper) or from above. Forces that do not turn with gravity (motors, springs) make the programme's
 * answer one for other forces: it is asked again at the angles themselves, and *holds tells. */
bool fx_exists_tilt(fx_stand_case *c, bool upper, double most, fx_trials *trials, fx_bracket *out, fx_exists *mechanism,
                    bool *holds);

/* fx_judge: the same as a verdict. */
bool fx_judge_exists(fx_stand_case *c, fx_trials *trials, frix_standing *out);

/* "an equilibrium exists", "no equilibrium exists", "whether an equilibrium exists is undecided" */
const char *fx_exists_text(frix_standing standing);
/* The bodies of the mechanism, in one line; nothing where there is none. */
void fx_print_mechanism(const fx_exists *e, const char *head);
void fx_put_exists(fx_json *json, const char *key, const fx_exists *e);
void fx_put_mechanism(fx_json *json, const char *key, const fx_exists *e);

#endif
