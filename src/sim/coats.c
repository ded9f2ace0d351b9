/* What a file asks of surfaces beside friction: contacts that act at a distance (margin), that pull (adhesion), and
 * surfaces that move (belts, hooks.c).
 *
 * Adhesion of d newtons lets a contact pull with up to d: its force f obeys the law with f + d e_N in its place, so
 * that friction is bounded by mu (f_N + d). With r = f + d e_N this is the law itself beside an attraction d along the
 * normal, which acts on both bodies as applied forces do: rows and certificate see r. It acts at all contacts of this
 * step within the margin and gap of their shapes, as in MuJoCo. */
#include "sim/coats.h"

#include "sim/mechanism.h"

#define TOUCH 1e-6 /* of the smallest body: contacts that are open by less stick */

static const fx_coat *coat_of(const frix_sim *sim, int32_t shape) {
  return &sim->model->robot.coat[sim->model->shape[shape].id];
}

/* The pair that a file names, NULL: none. */
static const fx_coat_pair *named(const frix_sim *sim, int32_t shape_a, int32_t shape_b) {
  const fx_robot_link *link = &sim->model->robot;
  if (!link->coat_pair_count) return NULL;
  int32_t a = link->shape_geom[sim->model->shape[shape_a].id], b = link->shape_geom[sim->model->shape[shape_b].id];
  int32_t low = a < b ? a : b, high = a < b ? b : a, first = 0, end = link->coat_pair_count;
  while (first < end) {
    int32_t middle = (first + end) / 2;
    const fx_coat_pair *p = &link->coat_pair[middle];
    if (p->a == low && p->b == high) return p;
    if (p->a < low || (p->a == low && p->b < high))
      first = middle + 1;
    else
      end = middle;
  }
  return NULL;
}

/* What holds between two shapes. */
static fx_coat_pair between(const frix_sim *sim, int32_t shape_a, int32_t shape_b) {
  const fx_coat_pair *p = named(sim, shape_a, shape_b);
  if (p) return *p;
  const fx_coat *a = coat_of(sim, shape_a), *b = coat_of(sim, shape_b);
  const fx_coat *ruler = a->priority > b->priority ? a : b->priority > a->priority ? b : NULL;
  return (fx_coat_pair){.margin = a->margin + b->margin,
                        .gap = a->gap + b->gap,
                        .adhesion = ruler ? ruler->adhesion : a->adhesion + b->adhesion};
}

double fx_coats_thickest(const frix_sim *sim) {
  const fx_robot_link *link = &sim->model->robot;
  double thick = 0.0, most = 0.0;
  for (int32_t k = 0; link->coat && k < sim->model->shape_count; k++) {
    const fx_coat *c = coat_of(sim, k);
    thick = fx_max(thick, c->margin + c->gap);
  }
  for (int32_t k = 0; k < link->coat_pair_count; k++)
    most = fx_max(most, link->coat_pair[k].margin + link->coat_pair[k].gap);
  return fx_max(2.0 * thick, most);
}

frix_status fx_coats_measure(frix_sim *sim, double margin) {
  if (!sim->model->robot.coat) return FRIX_OK;
  fx_contact *kept = FX_TAKE_RAW(&sim->arena, fx_contact, sim->contact_count);
  if (!kept) return FRIX_ERROR_MEMORY;
  int32_t count = 0;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    fx_contact *c = &kept[count];
    *c = sim->contact[i];
    fx_coat_pair p = between(sim, c->shape_a, c->shape_b);
    c->gap -= p.margin;
    double reach = margin + sim->reach[c->body_a] + sim->reach[c->body_b];
    count += c->gap <= fx_max(reach, p.adhesion > 0.0 ? p.gap : 0.0);
  }
  sim->contact = kept;
  sim->contact_count = count;
  return FRIX_OK;
}

bool fx_coats_near(const frix_sim *sim, const fx_contact *c) {
  bool bare = !sim->model->robot.coat || c->shape_a < 0 || c->shape_b < 0;
  return c->gap <= TOUCH * sim->smallest + (bare ? 0.0 : between(sim, c->shape_a, c->shape_b).gap);
}

double fx_coats_adhesion(const frix_sim *sim, const fx_contact *c) {
  if (!sim->model->robot.coat || c->shape_a < 0 || c->shape_b < 0) return 0.0;
  return fx_coats_near(sim, c) ? between(sim, c->shape_a, c->shape_b).adhesion : 0.0;
}

frix_status fx_coats_stick(frix_sim *sim) {
  if (!sim->model->robot.coat) return FRIX_OK;
  sim->pull = FX_TAKE_RAW(&sim->arena, fx_attraction, sim->contact_count);
  if (!sim->pull) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < sim->contact_count; i++) {
    const fx_contact *c = &sim->contact[i];
    double adhesion = fx_coats_adhesion(sim, c);
    if (!(adhesion > 0.0)) continue;
    frix_vec3 at = fx_scale(0.5, fx_add(c->point_a, c->point_b));
    sim->pull[sim->pull_count++] = (fx_attraction){{c->body_a, c->body_b}, fx_scale(adhesion, c->normal), at};
  }
  return FRIX_OK;
}

void fx_attract(frix_sim *sim, const fx_attraction *p) {
  for (int side = 0; side < 2; side++) {
    int32_t slot = p->slot[side], k = sim->mover_of[slot];
    if (k < 0) continue;
    frix_vec3 force = side ? p->force : fx_neg(p->force);
    frix_vec3 torque = fx_cross(fx_sub(p->at, sim->state.pose[slot].p), force);
    fx_mover *m = &sim->mover[k];
    frix_vec3 *sum[2] = {&m->force, &m->torque};
    if (m->tree) sum[0] = &sim->mechanism->push[slot][0], sum[1] = &sim->mechanism->push[slot][1];
    *sum[0] = fx_add(*sum[0], force);
    *sum[1] = fx_add(*sum[1], torque);
  }
}

void fx_coats_pull(frix_sim *sim) {
  for (int32_t k = 0; k < sim->pull_count; k++) fx_attract(sim, &sim->pull[k]);
}

frix_vec3 fx_coats_impulse(const frix_sim *sim, const fx_touching *t) {
  double adhesion = fx_coats_adhesion(sim, &t->contact);
  return adhesion > 0.0 ? fx_mad(t->impulse, -adhesion * sim->state.last_step, t->contact.normal) : t->impulse;
}
