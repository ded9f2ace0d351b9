/* Limit analysis for the tests, in long double and without any code of the library: bodies, points that touch, a weight
 * and a load,
 *
 *   max t    sum of the contact forces on each body + weight + t load = 0, forces and torques;  |r_T| <= mu r_N
 *
 * by the simplex method. In the plane the friction cone has two edges and the programme is exact. In space a force is a
 * sum of edges of its cone; edges come as the simplex method asks for them: the one of least u_N + mu d . u_T, which is
 * d = -u_T / |u_T|, u the velocity that the dual answer gives the contact. When none is below zero, t is the limit. */
#ifndef FX_TEST_LIMIT_ORACLE_H
#define FX_TEST_LIMIT_ORACLE_H

#include <stdbool.h>

enum { ORACLE_BODIES = 128, ORACLE_CONTACTS = 400 };

typedef struct oracle_body {
  double mass, center[3];
  double weight[3]; /* force at the centre */
  double load[3], load_torque[3];
} oracle_body;

typedef struct oracle_contact {
  int a, b; /* b < 0: the ground */
  double point[3], normal[3] /* from b to a */, mu;
} oracle_contact;

typedef struct oracle {
  bool planar; /* x and y only */
  int body_count, contact_count;
  oracle_body body[ORACLE_BODIES];
  oracle_contact contact[ORACLE_CONTACTS];
} oracle;

typedef struct oracle_answer {
  bool stands;      /* at t = 0 */
  bool unbounded;   /* at every t > 0 */
  double limit;     /* lower bound, of forces that were found */
  double violation; /* how far the dual answer is from excluding larger ones: largest mu |u_T| - u_N, load . v = 1 */
  double imbalance; /* of the forces, over the largest weight */
  int pivots, edges;
} oracle_answer;

/* False where the method failed. */
bool oracle_limit(const oracle *o, oracle_answer *out);

#endif
