/* Projection on the joint and contact manifold after a step.
 *
 *   min 1/2 |d|_M^2   subject to   G' d + e = 0,   N' d + gap >= 0:   the contact problem with f = 0, w = gap, no
 * friction
 *
 * d displaces the bodies and leaves their velocities alone. Reference: M. Anitescu, G. Hart, A constraint-stabilized
 * time-stepping approach for rigid multibody dynamics with joints, contact and friction, 2004. */
#include "sim/hooks_internal.h"
#include "sim/joints.h"
#include "sim/softs.h"

#include <string.h>

static void no_motion(frix_sim *sim) {
  fx_state *s = &sim->state;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->tree) continue;
    const fx_body *body = fx_slot_body(sim, m->slot);
    frix_vec3 zero = {0.0, 0.0, 0.0};
    m->pose0 = s->pose[m->slot];
    m->J = m->B = fx_world_inertia(body, m->pose0);
    if (body->planar) m->B.xx = m->B.yy = 1.0;
    m->A = (frix_sym3){m->mass, m->mass, m->mass, 0.0, 0.0, 0.0};
    m->A_inverse = fx_sym3_inverse(m->A);
    m->B_inverse = fx_sym3_inverse(m->B);
    m->v0 = m->w0 = m->v_free = m->w_free = m->v1 = m->w1 = zero;
  }
}

static void add_contact(frix_sim *sim, fx_assembly *a, int32_t i) {
  const fx_contact *c = &sim->contact[i];
  int32_t slot[2] = {c->body_a, c->body_b};
  frix_vec3 p = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  fx_group *g = fx_group_add(sim, a, FX_GROUP_CONTACT, i, frix_contact_of_dim(1, 0.0, 0.0), 2, slot);
  for (int side = 0; side < 2; side++) {
    frix_vec3 d = side ? fx_neg(c->normal) : c->normal;
    fx_group_term(sim, a, g, 0, slot[side], d, fx_cross(fx_sub(p, sim->state.pose[slot[side]].p), d));
  }
  a->w[g->row] = c->gap;
}

/* Where the integrator sees joints at the end of a step, what is left of their errors goes too; else they only stay. */
static void add_joint(frix_sim *sim, fx_assembly *a, int32_t j) {
  bool whole = sim->integrator->position_time == 1.0;
  const fx_joint *joint = &sim->model->joint[j];
  if (joint->config.kind == FRIX_JOINT_COUPLING || fx_in_tree(sim, j) || !fx_joint_active(sim, j)) return;
  if (sim->mover_of[joint->a] < 0 && sim->mover_of[joint->b] < 0) return;
  fx_joint_view v = fx_joint_look(sim, j);
  fx_joint_row row[FRIX_MAX_DIM];
  int32_t n = fx_joint_rows(sim, j, &v, row), slot[2] = {joint->a, joint->b};
  if (n == 0) return;
  fx_group *g = fx_group_add(sim, a, FX_GROUP_JOINT, j, (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = n}, 2, slot);
  for (int32_t k = 0; k < n; k++) {
    fx_joint_bilateral_row(sim, a, g, k, &v, &row[k]);
    a->w[g->row + k] = whole ? row[k].error : 0.0;
  }
}

/* One projection; the displacement is the answer's velocity over a unit of time. */
static frix_status displace(frix_sim *sim) {
  fx_state *s = &sim->state;
  fx_placement placement = {
      .count = s->count, .prototype = s->prototype, .generation = s->generation, .pose = s->pose, .asleep = NULL};
  frix_status status =
      fx_collision_run(sim->collision, &placement, 0.0, sim->config.thread_count, &sim->contact, &sim->contact_count);
  if (status != FRIX_OK) return fx_fail(sim->context, status, "%s", frix_error_text(sim->inner));
  if ((status = fx_contacts_sift(sim, false)) != FRIX_OK) return status;
  sim->past = FX_TAKE(&sim->arena, int32_t, sim->contact_count); /* the list is another one now */
  if (!sim->past) return FRIX_ERROR_MEMORY;
  fx_contacts_match(sim);
  no_motion(sim);
  for (int32_t k = 1; k < s->count; k++) /* trees and soft bodies stay where their coordinates put them */
    if (fx_is_link(sim, k) || fx_soft_at(sim, k)) sim->mover_of[k] = -1;
  fx_assembly a;
  int32_t rows = sim->contact_count + FRIX_MAX_DIM * s->joint_count;
  status = fx_assembly_begin(sim, &a, sim->contact_count + s->joint_count, rows, 12 * (size_t)rows);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < sim->contact_count; i++)
    if (sim->mover_of[sim->contact[i].body_a] >= 0 || sim->mover_of[sim->contact[i].body_b] >= 0)
      add_contact(sim, &a, i);
  a.joint_first = a.group_count;
  for (int32_t j = 0; j < s->joint_count; j++) add_joint(sim, &a, j);
  memset(a.drive, 0, (size_t)a.row_capacity * sizeof *a.drive); /* others stand still meanwhile */
  if ((status = fx_sim_solve(sim, &a)) != FRIX_OK) return status;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->tree) continue;
    s->pose[m->slot].p = fx_add(s->pose[m->slot].p, m->v1);
    s->pose[m->slot].q = fx_turn(s->pose[m->slot].q, m->w1, 1.0);
  }
  return FRIX_OK;
}

frix_status fx_project(frix_sim *sim) {
  if (sim->config.projections == 0) return FRIX_OK;
  frix_step_report before = sim->report;
  fx_mover *kept = fx_movers_save(sim);
  if (!kept) return FRIX_ERROR_MEMORY;
  frix_problem problem = sim->problem;
  int32_t count = sim->contact_count;
  fx_contact *contact = FX_TAKE_RAW(&sim->arena, fx_contact, count); /* those of the step, for its rows */
  if (!contact) return FRIX_ERROR_MEMORY;
  if (count) memcpy(contact, sim->contact, (size_t)count * sizeof *contact);
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < sim->config.projections && status == FRIX_OK; k++) {
    status = displace(sim);
    if (status != FRIX_OK) break;
    fx_join_verdict(sim, &before, "projection");
    fx_take_verdict(&before, &sim->report); /* counts and method stay those of the step itself */
  }
  fx_movers_restore(sim, kept);
  sim->problem = problem;
  sim->contact = contact;
  sim->contact_count = count;
  sim->report = before;
  return status;
}
