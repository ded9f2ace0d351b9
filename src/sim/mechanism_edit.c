/* Trees of joints of the model after bodies or joints were changed by hand.
 *
 * A change (bodies or joints added or removed, another pose of a link, another mass) makes the trees stale; before they
 * are needed next they are made anew of the bodies where they are. Joints that are closed there are coordinates, those
 * that a change left open are rows, which close them as they do in maximal coordinates; then they are coordinates
 * again.
 *
 *   velocities   of the bodies, links or not, are those of before: M qvel = sum J' (m v, J w), the projection on the
 *                joints in the norm of kinetic energy, as for joints whose rows the next step sees. A link that is a
 *                body now goes on as it moved.
 *   impulses     contacts and axes of joints keep theirs: they are remembered by slots and joints, not by coordinates.
 *
 * A tree that is as it was keeps its reference, its coordinates and what it brings, hence all bits of what follows. */
#include "sim/joints.h"
#include "sim/mechanism.h"
#include "sim/softs.h"

#include <string.h>

/* Whether trees are made of the model's joints. */
static bool makes_trees(const frix_sim *sim) {
  return sim->config.coordinates == FRIX_COORDINATES_REDUCED && !sim->model->robot.robot;
}

static bool has_joints(const frix_sim *sim, int32_t slot) {
  bool any = false;
  for (int32_t j = 0; j < sim->model->joint_count && !any; j++) {
    const fx_joint *joint = &sim->model->joint[j];
    any =
        (joint->a == slot || joint->b == slot) && joint->config.kind != FRIX_JOINT_COUPLING && fx_joint_active(sim, j);
  }
  return any;
}

void fx_mechanism_touch(frix_sim *sim, int32_t slot) {
  if (!makes_trees(sim) || sim->state.stale) return;
  if ((sim->model->joint_count == 0 && !sim->mechanism) || (slot > 0 && !has_joints(sim, slot))) return;
  if (sim->mechanism) fx_mechanism_place(sim); /* coordinates that were set before */
  sim->state.stale = true;
}

void fx_mechanism_await(frix_sim *sim) {
  const fx_layout *trees = sim->state.trees;
  if (!trees || !trees->any_waits || sim->state.stale) return;
  bool closed = false;
  for (int32_t j = 0; j < trees->joint_count; j++)
    closed |= trees->waits[j] && fx_joint_active(sim, j) && sim->state.joint[j].error <= FX_JOINT_CLOSED;
  sim->state.stale = closed;
}

/* ---- motion ---- */

void fx_mechanism_set_motion(frix_sim *sim, int32_t slot) {
  fx_mechanism *x = sim->mechanism;
  frix_robot_state *s = x->state;
  int32_t part = x->part_of_body[x->body_of_slot[slot]];
  const fx_part *p = &x->part[part];
  double *carried = &sim->state.robot[x->at.carried + part], before = *carried;
  *carried = 0.0;
  if (sim->state.stale) return;
  for (int32_t i = 0; i < x->tree.dof_count; i++) x->smooth[i] = s->qvel[i];
  fx_mechanism_start(sim);
  for (int32_t i = 0; i < x->tree.dof_count; i++)
    if (i < p->first || i >= p->first + p->count) s->qvel[i] = x->smooth[i];
  fx_tree_velocities(s);
  fx_mechanism_remember(x);
  /* beside links of 1e16 times the mass a velocity may be nothing: the tree goes on as if it had not been set */
  if (!memcmp(s->qvel + p->first, x->smooth + p->first, (size_t)p->count * sizeof *s->qvel)) *carried = before;
}

/* ---- from one layout to the next ---- */

/* The old trees, while new ones take their place. */
typedef struct past {
  fx_mechanism *trees;
  double *robot;
  int32_t robot_count;
} past;

static void release(frix_sim *sim, const past *old) {
  fx_mechanism *now = sim->mechanism;
  sim->mechanism = old->trees;
  fx_mechanism_destroy(sim);
  sim->mechanism = now;
  fx_free(sim->context, old->robot);
}

static void put_back(frix_sim *sim, const past *old) {
  fx_mechanism_destroy(sim);
  fx_free(sim->context, sim->state.robot);
  sim->mechanism = old->trees;
  sim->state.robot = old->robot, sim->state.robot_count = old->robot_count;
}

/* Trees of the layout instead of those there are, at their reference; numbers of soft bodies go on. */
static frix_status replace(frix_sim *sim, fx_layout *layout, past *old) {
  *old = (past){sim->mechanism, sim->state.robot, sim->state.robot_count};
  int32_t soft = fx_softs_room(sim->model);
  frix_status status = FRIX_OK;
  sim->mechanism = NULL, sim->state.robot = NULL, sim->state.robot_count = soft;
  if (layout && layout->robot.tree.body_count > 1)
    status = fx_mechanism_build(sim, layout);
  else if (soft && !(sim->state.robot = FX_NEW(sim->context, double, soft)))
    status = FRIX_ERROR_MEMORY;
  if (status != FRIX_OK) {
    put_back(sim, old);
    return status;
  }
  if (soft)
    memcpy(sim->state.robot + sim->state.robot_count - soft, old->robot + old->robot_count - soft,
           (size_t)soft * sizeof(double));
  fx_softs_move(sim, sim->state.robot_count - old->robot_count);
  return FRIX_OK;
}

/* The numbers of body b of a tree that continues one of `old`. */
static void continue_body(frix_sim *sim, const past *old, int32_t b) {
  fx_mechanism *x = sim->mechanism;
  const fx_mechanism *before = old->trees;
  int32_t from = x->own->from[b];
  const fx_tree_body *to = &x->tree.body[b], *was = &before->tree.body[from];
  for (int32_t k = 0; k < to->joint_count; k++) {
    const fx_tree_joint *j = &x->tree.joint[to->joint_first + k], *i = &before->tree.joint[was->joint_first + k];
    memcpy(x->state->qpos + j->q, before->state->qpos + i->q, (size_t)fx_joint_q_size(j->kind) * sizeof(double));
  }
  memcpy(x->state->qvel + to->dof_first, before->state->qvel + was->dof_first, (size_t)to->dof_count * sizeof(double));
  memcpy(x->state->applied + to->dof_first, before->state->applied + was->dof_first,
         (size_t)to->dof_count * sizeof(double));
  memcpy(sim->state.robot + x->at.flown + 6 * (size_t)b, old->robot + before->at.flown + 6 * (size_t)from,
         6 * sizeof(double));
}

/* Springs of contacts with trees whose links are elsewhere stay as stiff as they were. */
static frix_status keep_masses(const frix_sim *sim, const past *old, fx_layout *layout) {
  fx_mechanism *x = sim->mechanism;
  for (int32_t b = 1; old->trees && b < x->tree.body_count; b++)
    if (layout->was[b] >= 0) x->contact_mass[b] = old->trees->contact_mass[layout->was[b]];
  layout->contact_mass = FX_TAKE(&layout->robot.arena, double, x->tree.body_count);
  if (!layout->contact_mass) return FRIX_ERROR_MEMORY;
  memcpy(layout->contact_mass, x->contact_mass, (size_t)x->tree.body_count * sizeof *x->contact_mass);
  return FRIX_OK;
}

static void carry_on(frix_sim *sim, const past *old) {
  fx_mechanism *x = sim->mechanism;
  x->state->time = sim->state.time;
  fx_mechanism_start(sim);
  for (int32_t b = 1; old->trees && b < x->tree.body_count; b++)
    if (x->own->from[b] >= 0) continue_body(sim, old, b);
  for (int32_t k = 0; old->trees && k < x->part_count; k++) {
    int32_t from = x->own->from[x->part[k].root];
    if (from < 0) continue;
    sim->state.robot[x->at.carried + k] = old->robot[old->trees->at.carried + old->trees->part_of_body[from]];
  }
  fx_mechanism_remember(x);
  fx_mechanism_place(sim);
}

/* Whether a layout is the one there is: changes elsewhere, or back. */
static bool is_the_same(const frix_sim *sim, const fx_layout *made) {
  const fx_layout *now = sim->state.trees;
  if (!now || now->model != made->model || now->robot.tree.body_count != made->robot.tree.body_count) return false;
  for (int32_t b = 1; b < made->robot.tree.body_count; b++)
    if (made->from[b] != b) return false;
  return !memcmp(made->tree_joint, now->tree_joint, (size_t)made->joint_count * sizeof *made->tree_joint) &&
         made->any_waits == now->any_waits;
}

frix_status fx_mechanism_renew(frix_sim *sim) {
  if (!sim->state.stale) return FRIX_OK;
  fx_layout *layout = NULL;
  past old;
  fx_joints_measure(sim, false);
  frix_status status = fx_layout_make(sim, &layout);
  if (status == FRIX_OK && is_the_same(sim, layout)) {
    fx_layout_release(layout);
    sim->state.stale = false;
    return FRIX_OK;
  }
  if (status == FRIX_OK) status = replace(sim, layout, &old);
  if (status == FRIX_OK && sim->mechanism && (status = keep_masses(sim, &old, layout)) != FRIX_OK) {
    fx_softs_move(sim, old.robot_count - sim->state.robot_count);
    put_back(sim, &old);
  }
  if (status == FRIX_OK) {
    sim->state.stale = false;
    if (sim->mechanism) carry_on(sim, &old);
    release(sim, &old);
    fx_layout_release(sim->state.trees);
    sim->state.trees = layout;
  } else {
    fx_layout_release(layout);
  }
  return status;
}

/* Such numbers are of a robot or of trees that this simulation has not. */
static frix_status refuse(const frix_sim *sim) {
  return fx_fail(sim->context, FRIX_ERROR_INPUT,
                 "frix_sim_restore: the snapshot is of a robot in reduced coordinates, which this model has not");
}

frix_status fx_mechanism_take(frix_sim *sim, const fx_state *state) {
  if (!makes_trees(sim)) return state->robot_count == sim->state.robot_count ? FRIX_OK : refuse(sim);
  bool none = state->robot_count == fx_softs_room(sim->model);
  fx_layout *wanted = state->trees ? state->trees : none ? NULL : sim->first_trees;
  past old;
  if (state->robot_count != fx_layout_numbers(wanted) + fx_softs_room(sim->model)) return refuse(sim);
  sim->state.stale = none && sim->model->joint_count > 0;
  if (wanted == sim->state.trees) return FRIX_OK;
  frix_status status = replace(sim, wanted, &old);
  if (status != FRIX_OK) return status;
  release(sim, &old);
  fx_layout_release(sim->state.trees);
  sim->state.trees = fx_layout_hold(wanted);
  return FRIX_OK;
}
