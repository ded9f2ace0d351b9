/* A judge of single steps, in long double, that knows frix by its public headers only.
 *
 *   judge_before(j, sim)         state of every body before a step
 *   judge_push(j, body, F, T)    what is applied to a body in this step
 *   judge_after(j, sim, h, ...)  the step's rows and the new state, judged
 *
 * Judged are: momentum of every body; at every contact no approach beyond the gap, no adhesion, no force across a gap,
 * Coulomb's bound, friction against the slip; rolling and drilling friction; joint rows; limits; motors and dry
 * friction of joints (at their speed, or at their bound and against the motion); springs; energy; spheres that end
 * inside each other. What a row asks for is taken from its report, after it was compared with what state and model
 * allow it to ask for.
 *
 * Tolerances. A row's velocity may miss its law by TOLERANCE S, its impulse by TOLERANCE S / W, W = J M^-1 J' and
 *
 *   S = min(S_all, max(S_own, size / h))
 *   S_own   sum over the row's own bodies of sqrt(J M^-1 J') (|v before|_M + |v after|_M), and what the row asks for
 *   S_all   the same with the applied forces and all impulses on these bodies
 *
 * so nothing another body carries loosens it, and forces that cancel loosen it up to one body size per step. Sums of
 * doubles err by some eps S_all; that much is granted as long as it is below 100 TOLERANCE S. */
#ifndef ADVERSARY_JUDGE_H
#define ADVERSARY_JUDGE_H

#include <frix/frix.h>

typedef enum law {
  LAW_MOMENTUM,
  LAW_CONTACT,
  LAW_DRILLING,
  LAW_LIMIT,
  LAW_JOINT_FRICTION,
  LAW_BALL_FRICTION,
  LAW_MOTOR,
  LAW_SPRING,
  LAW_JOINT,
  LAW_OVERLAP,
  LAW_ENERGY,
  LAW_DEMAND,
  LAW_COUNT
} law;

const char *law_name(law which);

typedef struct verdict {
  double excess[LAW_COUNT]; /* worst error over its tolerance: above 1 the law is broken */
  char text[LAW_COUNT][480];
  int rows;
} verdict;

/* The worst law, LAW_COUNT where all hold. */
law verdict_worst(const verdict *v);

typedef struct judge judge;

judge *judge_new(const frix_model *model, const frix_sim_config *config);
void judge_free(judge *j);
/* The world as it was created, before anything is changed. */
void judge_begin(judge *j, const frix_sim *sim);
/* Size of a body that moves by itself, 0 for others. */
double judge_size(const judge *j, frix_body_id body);
void judge_before(judge *j, const frix_sim *sim);
void judge_push(judge *j, frix_body_id body, frix_vec3 force, frix_vec3 torque);
/* The surface of a shape runs, in its own frame, from now on. */
void judge_belt(judge *j, frix_shape_id shape, frix_vec3 velocity);
/* After a step of length h. gravity: that of the sim. */
void judge_after(judge *j, const frix_sim *sim, double h, frix_vec3 gravity, const frix_step_report *report,
                 verdict *out);

#endif
