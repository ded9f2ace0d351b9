/* frix: does an equilibrium exist, and up to which load?
 *
 * The forces r of the contacts and joints of a world hold it at rest if
 *
 *   H r + G lambda + f = 0,   every r_i in its friction cone
 *
 * where f contains the weight and all other applied forces. This is a convex problem: either such forces exist, or a
 * mechanism proves that none do: a velocity v at which no contact resists (r . H'v >= 0 for all r in the cones) and the
 * loads do work, f . v > 0. With a second load l and f + t l in place of f, the factors t with an equilibrium form an
 * interval, whose end one conic programme finds. A simulation that starts at rest need not stay there: Coulomb's law
 * may have moving solutions besides the one at rest. */
#ifndef FRIX_EQUILIBRIUM_H
#define FRIX_EQUILIBRIUM_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_standing {
  FRIX_STANDING_UNDECIDED, /* neither could be certified: too close to the limit, or the world is too large */
  FRIX_STANDING_STANDS,    /* forces were found */
  FRIX_STANDING_FALLS,     /* a mechanism was found */
} frix_standing;

FRIX_API const char *frix_standing_name(frix_standing standing);

/* The load that the factor multiplies: an acceleration of all bodies, and forces and torques at centres of mass. */
typedef struct frix_load {
  frix_body_id body;
  frix_vec3 force, torque;
} frix_load;

typedef struct frix_load_config {
  uint32_t size; /* set by frix_load_default */
  frix_vec3 gravity;
  int32_t load_count;
  const frix_load *load;
} frix_load_config;

FRIX_API void frix_load_init(frix_load_config *out, size_t size);
static inline frix_load_config frix_load_default(void) {
  frix_load_config out;
  frix_load_init(&out, sizeof out);
  return out;
}

/* The velocity of a body in a mechanism. */
typedef struct frix_body_motion {
  frix_body_id body;
  frix_vec3 velocity, spin;
} frix_body_motion;

typedef struct frix_equilibrium_result {
  uint32_t size;
  frix_standing standing;
  /* Load factors: the largest that is certified to stand, and the smallest beyond which all are certified to fall.
   * INFINITY: no limit; -INFINITY: no factor stands. 0 without a load. */
  double stands, falls;
  double imbalance;  /* of the forces: resultant on a body over the sum of the forces on it, for the worst body; torques
                      * are  divided by the longest lever */
  double power;      /* of the mechanism: f . v, v scaled so that its largest part is 1 */
  double resistance; /* power that the contacts could resist with forces up to force_limit, including rounding of v */
  double force_limit;    /* N: a mechanism excludes equilibria with normal forces up to here */
  int32_t contact_count; /* contacts with a force, if it stands; margin is |r_T| / (mu r_N) */
  const frix_contact_report *contact;
  int32_t motion_count; /* bodies that the mechanism moves, fastest first */
  const frix_body_motion *motion;
  int64_t steps; /* of the conic programmes */
  double effort; /* frix_sim_hold: the largest share of its limit that an actuator gives; INFINITY: none holds it */
  double effort_bound; /* no smaller share holds it */
} frix_equilibrium_result;

typedef struct frix_equilibrium frix_equilibrium;

/* Decides whether forces exist that hold the world in its present pose, ignoring velocities. h is the step for which
 * contacts are searched; sleeping bodies count as fixed. With load (may be NULL): the largest factor t for which f + t
 * l can be held, over all real t; -l gives the least. Includes forces of the force callback and those added for the
 * next step; springs have the force of their present length; kinematic bodies are at rest; compliant contacts count as
 * rigid. The world is not changed, but contacts and reports of the last step are no longer available. */
FRIX_API frix_status frix_sim_equilibrium(frix_sim *sim, double h, const frix_load_config *load,
                                          frix_equilibrium **out);
/* Something that pushes or turns: `body` with value times (force, torque) at its centre of mass, `on` (index 0:
 * nothing) with the opposite at the same point. Any value, of either sign, |value| <= effort times limit. */
typedef struct frix_actuator {
  frix_body_id body, on;
  frix_vec3 force, torque; /* of value 1, world frame */
  double limit;
} frix_actuator;

/* Inverse statics: the actuators that hold the world as it is with the least effort, the friction of contacts and the
 * forces of joints helping as far as they can. value (count, may be NULL) gets what each gives; of all that need no
 * more effort (to 1e-6 of it), forces of least square sum. standing: stands where some effort is enough. Bodies that
 * touch nothing and hang on no joint are not held by actuators. The world as in frix_sim_equilibrium. */
FRIX_API frix_status frix_sim_hold(frix_sim *sim, double h, const frix_actuator *actuator, int32_t count, double *value,
                                   frix_equilibrium **out);
FRIX_API void frix_equilibrium_destroy(frix_equilibrium *equilibrium);
FRIX_API void frix_equilibrium_view_sized(const frix_equilibrium *equilibrium, frix_equilibrium_result *out,
                                          size_t size);
static inline void frix_equilibrium_view(const frix_equilibrium *equilibrium, frix_equilibrium_result *out) {
  frix_equilibrium_view_sized(equilibrium, out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
