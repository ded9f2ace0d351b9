/* The range of lengths of a muscle that does not say it: the shortest and the longest it can be within the ranges of
 * the joints that it passes.
 *
 *   q := clamp(q + s step m / |m|_inf range),   m = dL/dq, s = -1 or 1, the step halved where L does not follow
 *
 * Joints without a range, ball and free joints stay at their reference. */
#include <math.h>
#include <string.h>

#include "tree/tree.h"

enum { MOST_STEPS = 200 };
#define FIRST_STEP 0.1 /* of the range of a joint */
#define LAST_STEP 1e-7

static const fx_tree_joint *joint_of(const fx_tree *t, int32_t dof) {
  const fx_tree_joint *j = &t->joint[t->dof[dof].joint];
  bool line = j->kind == FRIX_ROBOT_HINGE || j->kind == FRIX_ROBOT_SLIDE;
  return line && j->limited ? j : NULL;
}

/* Joints a step along the moments; how long it is then. */
static double moved(frix_robot_state *s, int32_t actuator, double step) {
  const fx_tree *t = s->tree;
  fx_tree_span span = t->actuator[actuator].dofs;
  const int32_t *dof = t->list + span.first;
  const double *moment = s->actuator_moment + span.first;
  double most = 0.0;
  for (int32_t n = 0; n < span.count; n++) {
    const fx_tree_joint *j = joint_of(t, dof[n]);
    if (j) most = fx_max(most, fabs(moment[n]) * (j->range[1] - j->range[0]));
  }
  for (int32_t n = 0; n < span.count && most > 0.0; n++) {
    const fx_tree_joint *j = joint_of(t, dof[n]);
    if (!j) continue;
    double range = j->range[1] - j->range[0], *q = s->qpos + j->q;
    *q = fx_clamp(*q + step * range * (moment[n] * range / most), j->range[0], j->range[1]);
  }
  fx_tree_evaluate_position(s);
  return s->actuator_length[actuator];
}

/* The end of the way that makes it longer (sign 1) or shorter (-1); `kept` has room for the coordinates. */
static double farthest(frix_robot_state *s, int32_t actuator, double sign, double *kept) {
  size_t bytes = (size_t)s->tree->q_count * sizeof *kept;
  frix_robot_reset(s, -1);
  fx_tree_evaluate_position(s);
  double best = s->actuator_length[actuator], step = FIRST_STEP;
  for (int k = 0; k < MOST_STEPS && step > LAST_STEP; k++) {
    memcpy(kept, s->qpos, bytes);
    double length = moved(s, actuator, sign * step);
    if (sign * (length - best) > 1e-12 * fabs(best)) {
      best = length;
      continue;
    }
    memcpy(s->qpos, kept, bytes);
    fx_tree_evaluate_position(s);
    step *= 0.5;
  }
  return best;
}

bool fx_tree_find_length_range(frix_robot_state *s, int32_t actuator, double *room, double range[2]) {
  range[0] = farthest(s, actuator, -1.0, room);
  range[1] = farthest(s, actuator, 1.0, room);
  frix_robot_reset(s, -1);
  fx_tree_evaluate_position(s);
  return range[1] - range[0] > 1e-9 * fabs(range[1]);
}
