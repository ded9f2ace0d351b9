/* Actuators at a body: adhesion. The force pulls the body and what it touches together, in equal shares along the
 * normals of the contacts of the last step, as in MuJoCo; their law does the rest: what is pulled presses, and may
 * stick. */
#include "sim/coats.h"
#include "sim/mechanism.h"

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
    frix_vec3 at = fx_scale(0.5, fx_add(c->point_a, c->point_b));
    fx_attract(sim, &(fx_attraction){{c->body_a, c->body_b}, fx_scale(force / count, c->normal), at});
  }
}

void fx_mechanism_adhere(frix_sim *sim) {
  const fx_tree *t = &sim->mechanism->tree;
  for (int32_t k = 0; k < t->actuator_count && !t->no_actuation; k++)
    if (t->actuator[k].transmission == FRIX_ROBOT_AT_BODY && !t->actuator[k].off) adhere(sim, k);
}
