/* The robot of a simulation from outside. */
#include "sim/mechanism.h"

#include <string.h>

const frix_robot *frix_model_robot(const frix_model *model) { return model ? model->robot.robot : NULL; }

frix_robot_state *frix_sim_robot(frix_sim *sim) {
  if (!sim || fx_mechanism_renew(sim) != FRIX_OK) return NULL;
  return sim->mechanism ? sim->mechanism->state : NULL;
}

static frix_status refuse(const frix_sim *sim, const char *call) {
  return fx_fail(sim->context, FRIX_ERROR_INPUT, "%s: %s", call,
                 sim->mechanism ? "a number is not finite, or called from the force callback"
                                : "the model has no robot in reduced coordinates");
}

frix_status frix_sim_robot_place(frix_sim *sim) {
  if (!sim || fx_mechanism_renew(sim) != FRIX_OK) return FRIX_ERROR_INPUT;
  if (!sim->mechanism || sim->in_force || !fx_mechanism_finite(sim)) return refuse(sim, "frix_sim_robot_place");
  frix_energy *e = &sim->state.energy;
  double before = e->kinetic + e->potential;
  fx_mechanism_place(sim);
  sim->stamp++;
  fx_joints_measure(sim, false);
  for (int32_t k = 1; k < sim->state.count; k++) fx_wake(sim, k);
  e->kinetic = fx_kinetic(sim);
  e->potential = fx_potential(sim);
  e->work += e->kinetic + e->potential - before;
  return FRIX_OK;
}

frix_status frix_sim_robot_reset(frix_sim *sim, int32_t key) {
  if (!sim || fx_mechanism_renew(sim) != FRIX_OK) return FRIX_ERROR_INPUT;
  const fx_mechanism *x = sim->mechanism;
  if (!x || sim->in_force) return refuse(sim, "frix_sim_robot_reset");
  if (key < -1 || key >= x->tree.key_count)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_robot_reset: the robot has no keyframe %d", (int)key);
  frix_robot_reset(x->state, key);
  x->state->time = sim->state.time;
  fx_tree_forget(x->state);
  memset(sim->state.robot + x->at.row_left, 0, (size_t)(x->at.count - x->at.row_left) * sizeof *sim->state.robot);
  return frix_sim_robot_place(sim);
}

frix_status frix_sim_robot_sense(frix_sim *sim) {
  if (!sim || fx_mechanism_renew(sim) != FRIX_OK) return FRIX_ERROR_INPUT;
  const fx_mechanism *x = sim->mechanism;
  if (!x || sim->in_force || !fx_mechanism_finite(sim)) return refuse(sim, "frix_sim_robot_sense");
  frix_status status = frix_robot_forward(x->state);
  return status == FRIX_OK && sim->state.step_count > 0 ? fx_mechanism_sense(sim) : status;
}

int32_t frix_sim_robot_row(const frix_sim *sim, int32_t k, frix_robot_part *part) {
  if (part) *part = FRIX_ROBOT_JOINT;
  if (!sim || !part || !sim->mechanism || k < 0 || k >= frix_sim_row_count(sim)) return -1;
  const fx_group *g = &sim->rows.group[k];
  if (!g->robot) return -1;
  const fx_robot_places *at = &sim->mechanism->at;
  int32_t place = (int32_t)(g->memory - sim->state.robot);
  *part = place < at->tendon_lower ? FRIX_ROBOT_JOINT
          : place < at->drive      ? FRIX_ROBOT_TENDON
          : place < at->equality   ? FRIX_ROBOT_ACTUATOR
                                   : FRIX_ROBOT_EQUALITY;
  return *part == FRIX_ROBOT_JOINT ? sim->mechanism->tree.dof[g->source].joint : g->source;
}
