/* Contacts to rows: gap, cone, compliance, warm start.
 *
 *   u = velocity of a against b at the point, in the contact's frame (normal first), then the relative spin about the
 *   two tangents where the surface has rolling friction. The normal row is shifted by what the integrator asks for.
 *   Compliant surfaces: u_N = v_N + gap / t + R r_N and u_T = v_T + R (r_T - r_T of the last step),  R = 1 / (k h t),
 *   t the part of the step after the contacts were found.
 *
 * Drilling friction has no cone of its own yet: its bound spinning * r_N enters as a known normal impulse and is set
 * anew until it agrees with the answer (solve.c). */
#include "sim/sim.h"

#include <string.h>

static frix_contact law_of(const fx_surface *f, const fx_contact *c, frix_vec3 axis) {
  if (c->planar) return frix_contact_of_dim(2, f->mu, 0.0);
  if (f->rolling > 0.0) return frix_contact_of_dim(5, f->mu, f->rolling);
  frix_contact law = frix_contact_of_dim(3, f->mu, 0.0);
  if (f->mu == 0.0 && f->mu2 == 0.0) return frix_contact_of_dim(1, 0.0, 0.0);
  if (!f->anisotropic) return law;
  double x = fx_dot(axis, c->tangent[0]), y = fx_dot(axis, c->tangent[1]);
  if (!(x * x + y * y > 1e-12 * fx_norm2(axis))) { /* the axis stands on the surface: no direction is special */
    law.mu = f->mu < f->mu2 ? f->mu : f->mu2;
    return law;
  }
  law.cone = FRIX_CONE_ELLIPTIC;
  law.mu2 = f->mu2;
  law.axis[0] = x, law.axis[1] = y;
  return law;
}

/* The direction of mu in the world. */
static frix_vec3 axis_of(const frix_sim *sim, const fx_surface *f, const fx_contact *c) {
  int32_t body = f->axis_side ? c->body_b : c->body_a;
  const fx_shape *shape = &sim->model->shape[f->axis_side ? c->shape_b : c->shape_a];
  return fx_rotate(sim->state.pose[body].q, fx_rotate(shape->local.q, f->axis));
}

/* Both terms of a relative velocity row along d at point p. */
static void point_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_contact *c, frix_vec3 p,
                      frix_vec3 d) {
  const frix_pose *pose = sim->state.pose;
  fx_group_term(sim, a, g, k, c->body_a, d, fx_cross(fx_sub(p, pose[c->body_a].p), d));
  fx_group_term(sim, a, g, k, c->body_b, fx_neg(d), fx_neg(fx_cross(fx_sub(p, pose[c->body_b].p), d)));
}

static void spin_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_contact *c, frix_vec3 d) {
  frix_vec3 zero = {0.0, 0.0, 0.0};
  fx_group_term(sim, a, g, k, c->body_a, zero, d);
  fx_group_term(sim, a, g, k, c->body_b, zero, fx_neg(d));
}

/* The impulse of the last step in the frame of this one. */
static void remember(const frix_sim *sim, const fx_contact *c, const fx_touching *past, int32_t dim, double *out) {
  double scale = sim->state.last_step > 0.0 ? sim->h / sim->state.last_step : 1.0;
  frix_vec3 direction[5] = {c->normal, c->tangent[0], c->tangent[1], c->tangent[0], c->tangent[1]};
  bool same = !memcmp(&c->normal, &past->contact.normal, sizeof c->normal);
  for (int32_t k = 0; k < dim; k++)
    out[k] = scale * (same ? past->row[k] : fx_dot(k < 3 ? past->impulse : past->roll, direction[k]));
  if (out[0] < 0.0) memset(out, 0, (size_t)dim * sizeof *out);
}

static void add_compliance(const frix_sim *sim, fx_assembly *a, const fx_group *g, const fx_surface *f,
                           const double *past) {
  double R = 1.0 / (f->stiffness * sim->h * sim->h * sim->integrator->position_time);
  a->compliant = true;
  for (int32_t k = 0; k < g->dim && k < 3; k++) {
    a->R[g->row + k] = R;
    a->r_c[g->row + k] = k ? past[k] : 0.0;
  }
}

/* A row whose normal impulse is known: u_N = R (r_N - known), no body moves with it. */
static void known_normal(fx_assembly *a, const fx_group *g, double R, double known) {
  a->compliant = true;
  a->R[g->row] = R;
  a->r_c[g->row] = known;
  a->guess[g->row] = known;
}

static void add_spinning(frix_sim *sim, fx_assembly *a, int32_t i, double past_normal, double past_spin) {
  const fx_contact *c = &sim->contact[i];
  int32_t slot[2] = {c->body_a, c->body_b};
  fx_group *g =
      fx_group_add(sim, a, FX_GROUP_SPINNING, i, frix_contact_of_dim(2, sim->surface[i].spinning, 0.0), 2, slot);
  spin_row(sim, a, g, 1, c, c->normal);
  a->w[g->row + 1] = a->drive[g->row + 1];
  known_normal(a, g, fx_group_weight(sim, a, g, 1), past_normal);
  a->guess[g->row + 1] = past_spin;
}

/* Gaps that are noise are none, else a structure at rest would be asked to tell its forces apart by them. Noise is what
 * an answer certified to 1e-8 lets gaps wander, with room to spare: 1e-5 of the way gravity makes in a step where they
 * open, 1e-6 where bodies overlap, small against every body; and what the coordinates are rounded to. */
static double clean_gap(const frix_sim *sim, const fx_contact *c) {
  frix_vec3 p = c->point_a, q = c->point_b;
  double size = fmax(fmax(fabs(p.x) + fabs(q.x), fabs(p.y) + fabs(q.y)), fabs(p.z) + fabs(q.z));
  double noise = fmin(1e-5 * sim->h * sim->h * fx_norm(sim->state.gravity), 1e-6 * sim->smallest);
  bool none = c->gap <= fmax(noise, 1e-12 * size) && c->gap >= -fmax(0.1 * noise, 1e-11 * size);
  return none ? 0.0 : c->gap;
}

static void add_contact(frix_sim *sim, fx_assembly *a, int32_t i) {
  const fx_contact *c = &sim->contact[i];
  const fx_surface *f = &sim->surface[i];
  frix_vec3 p = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  frix_contact law = law_of(f, c, f->anisotropic ? axis_of(sim, f, c) : fx_vec(0.0, 0.0, 0.0));
  int32_t slot[2] = {c->body_a, c->body_b};
  fx_assembly before = *a;
  fx_group *g = fx_group_add(sim, a, FX_GROUP_CONTACT, i, law, 2, slot);
  point_row(sim, a, g, 0, c, p, c->normal);

  /* what the integrator wants of the normal row; a contact that plays no part is taken back */
  fx_normal n = {.gap = clean_gap(sim, c),
                 .before = fx_group_velocity(sim, a, g, 0, FX_BEFORE),
                 .free = fx_group_velocity(sim, a, g, 0, FX_FREE),
                 .restitution = f->restitution,
                 .compress = sim->config.restitution == FRIX_RESTITUTION_POISSON};
  double shift = c->gap / (sim->h * sim->integrator->position_time);
  if (f->stiffness == 0.0 && !sim->integrator->normal(sim, &n, &shift)) {
    memset(a->J + before.value_count, 0, (a->value_count - before.value_count) * sizeof *a->J);
    a->drive[g->row] = 0.0;
    *a = before;
    return;
  }
  for (int32_t k = 1; k < law.dim; k++) {
    frix_vec3 d = c->tangent[(k - 1) % 2];
    if (k < 3)
      point_row(sim, a, g, k, c, p, d);
    else
      spin_row(sim, a, g, k, c, d);
  }
  for (int32_t k = 0; k < law.dim; k++) a->w[g->row + k] = a->drive[g->row + k] + (k == 0 ? shift : 0.0);

  double *guess = a->guess + g->row, spin_guess = 0.0;
  if (sim->past[i] >= 0) {
    const fx_touching *past = &sim->state.touching[sim->past[i]];
    remember(sim, c, past, law.dim, guess);
    spin_guess = past->spin_impulse;
  }
  if (f->stiffness > 0.0) add_compliance(sim, a, g, f, guess);
  if (f->spinning > 0.0 && !c->planar) add_spinning(sim, a, i, guess[0], spin_guess);
}

frix_status fx_contacts_assemble(frix_sim *sim, fx_assembly *a) {
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    if (sim->mover_of[c->body_a] < 0 && sim->mover_of[c->body_b] < 0) continue;
    add_contact(sim, a, i);
  }
  return FRIX_OK;
}
