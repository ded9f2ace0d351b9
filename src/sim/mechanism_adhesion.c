/* Actuators at a body: adhesion. The force pulls the body and what it touches together, in equal shares along the
 * normals of the contacts of the last step, as in MuJoCo; their law does the rest: what is pulled presses, and may
 * stick. */
#include "sim/mechanism.h"

static void pull(frix_sim *sim, int32_t slot, frix_vec3 force, frix_vec3 at) {
  frix_vec3 torque = fx_cross(fx_sub(at, sim->state.pose[slot].p), force);
  int32_t k = sim->mover_of[slot];
  if (k < 0) return;
  fx_mover *m = &sim->mover[k];
  frix_vec3 *sum[2] = {&m->force, &m->torque};
  if (m->tree) sum[0] = &sim->mechanism->push[slot][0], sum[1] = &sim->mechanism->push[slot][1];
  *sum[0] = fx_add(*sum[0], force);
  *sum[1] = fx_add(*sum[1], torque);
}

static bool is_of(const fx_touching *c, int32_t slot) {
  return c->touches && (c->contact.body_a == slot || c->contact.body_b == slot);
}

static void adhere(frix_sim *sim, int32_t actuator) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_actuator *a = &x->tree.actuator[actuator];
  const fx_state *s = &sim->state;
  int32_t slot = x->slot_of_body[x->tree.body[a->object].link], count = 0;
  for (int32_t k = 0; slot > 0 && k < s->touching_count; k++) count += is_of(&s->touching[k], slot);
  if (count == 0) return;
  double force = fx_tree_drive_of(x->state, actuator).force;
  if (a->force_limited) force = fx_clamp(force, a->force_range[0], a->force_range[1]);
  for (int32_t k = 0; k < s->touching_count && force != 0.0; k++) {
    const fx_contact *c = &s->touching[k].contact;
    if (!is_of(&s->touching[k], slot)) continue;
    frix_vec3 at = fx_scale(0.5, fx_add(c->point_a, c->point_b)), f = fx_scale(force / count, c->normal);
    pull(sim, c->body_a, fx_neg(f), at);
    pull(sim, c->body_b, f, at);
  }
}

void fx_mechanism_adhere(frix_sim *sim) {
  const fx_tree *t = &sim->mechanism->tree;
  for (int32_t k = 0; k < t->actuator_count && !t->no_actuation; k++)
    if (t->actuator[k].transmission == FRIX_ROBOT_AT_BODY && !t->actuator[k].off) adhere(sim, k);
}
