/* The stiff law of contact: springs so stiff that their sag lies below the error of the time step.
 *
 *   k = KAPPA m / h^2,   m the geometric mean of the two masses, or the one that can move; that of a link of a tree is
 *   its apparent mass (mechanism.c), that of a soft body the share of a surface point (softs.c)
 *   u_N = v_N + (gap - natural) / t + R r_N,   u_T = v_T + R (r_T - r_T of the last step),   R = 1 / (k h t)
 *
 * A body of mass m that rests on one contact sags by g h^2 / KAPPA: second order in h, as the error of the step is. The
 * problem is strongly monotone (R / W is about 1 / KAPPA), so forces are unique, equal feet carry equal loads and
 * methods converge at a rate that does not depend on how many bodies there are.
 *
 * The natural gap is the memory of the normal spring. A contact that is found with an overlap, or was struck in the
 * last step, starts without force: what a blow presses together is not given back. Where it overlaps by more than SLOP
 * of the smallest body, the natural gap returns to that as rigid contacts push overlaps out; where bodies move far
 * apart it follows them. Contacts that are struck, or through which a blow goes, expect it (blows.c). A load that would
 * press a spring by a tenth of a thin body meets a rigid contact for that step. Where a rigid step would leave bodies
 * at rest, springs are set to carry what holds them (fx_hold_contact): structures stand without sag, and what comes to
 * rest stays to the bit. */
#include "base/threads.h"
#include "sim/softs.h"

#include <math.h>

#define LOADED 1e-3  /* of an impulse: a contact that carried less before is struck by it */
#define THIN 0.1     /* of a shape: a load that would press a spring further meets a rigid contact */
#define FURTHER 1e-2 /* of that depth: slower is no pressing */
#define RELAX 0.25   /* of the stabilisation of rigid contacts: a blow must not be given back as push-out */
#define SLOP 1e-3    /* of the smallest body: overlaps that are not pushed out, so that what rests stays */

static const frix_contact_kind_info table[] = {
    {"stiff", "springs of 25 m / h^2, m the mean mass: forces are unique, the sag is second order in h"},
    {"rigid", "no overlap: forces may have several solutions, and moving heaps cost more"},
};

const frix_contact_kind_info *frix_contact_kind_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof table / sizeof *table) ? &table[k] : NULL;
}

static double mass_of(const frix_sim *sim, int32_t slot) {
  int32_t m = sim->mover_of[slot];
  const fx_soft_body *soft = fx_soft_at(sim, slot);
  if (soft && m >= 0) return soft->contact_mass;
  if (fx_is_link(sim, slot)) return sim->mechanism->contact_mass[sim->mechanism->body_of_slot[slot]];
  return m >= 0 ? sim->mover[m].mass : 0.0;
}

double fx_links_sliding(const frix_sim *sim, const fx_contact *c) {
  double sum = 0.0;
  const int32_t slot[2] = {c->body_a, c->body_b};
  for (int n = 0; n < 2; n++) sum += fx_is_link(sim, slot[n]) ? 1.0 / mass_of(sim, slot[n]) : 0.0;
  return sum;
}

double fx_rule_stiffness(const frix_sim *sim, const fx_contact *c) {
  double a = mass_of(sim, c->body_a), b = mass_of(sim, c->body_b), mass = a > 0.0 && b > 0.0 ? sqrt(a * b) : a + b;
  return FX_KAPPA * mass / (sim->h * sim->h);
}

double fx_natural_gap(const frix_sim *sim, int32_t i) {
  const fx_surface *f = &sim->surface[i];
  const fx_touching *past = sim->past[i] >= 0 ? &sim->state.touching[sim->past[i]] : NULL;
  double gap = sim->contact[i].gap, natural = 0.0;
  if (past && past->stiffness == f->stiffness)
    natural = past->natural;
  else if (past && past->stiffness > 0.0 && sim->of_state) /* as below where nothing turns, and without a jump */
    natural = past->natural + past->row[0] / sim->state.last_step * (1.0 / f->stiffness - 1.0 / past->stiffness);
  else if (past && past->stiffness > 0.0) /* the step has another length: the force stays */
    natural = past->row[0] > 0.0 ? gap + past->row[0] / (sim->state.last_step * f->stiffness) : past->natural;
  else if (f->by_rule)
    natural = gap < 0.0 ? gap : 0.0;
  if (f->by_rule && fmin(gap, 0.0) - natural > THIN * sim->thinnest) natural = fmin(gap, 0.0); /* it opened */
  double slop = SLOP * sim->smallest;
  bool rests = past && past->contact.gap == gap; /* what is at rest stays so, overlaps too */
  if (!f->by_rule || !(natural < -slop) || rests) return natural;
  return natural + RELAX * sim->config.stabilisation * (-slop - natural);
}

bool fx_is_stiff(const frix_sim *sim, const fx_group *g) {
  return (g->kind == FX_GROUP_CONTACT || g->kind == FX_GROUP_SPINNING) && sim->surface[g->source].by_rule;
}

bool fx_is_struck(const frix_sim *sim, int32_t i, double impulse) {
  double before = sim->past[i] >= 0 ? sim->state.touching[sim->past[i]].row[0] : 0.0;
  return before <= LOADED * impulse;
}

frix_vec3 fx_held_impulse(const fx_touching *t) {
  frix_vec3 sum = fx_scale(t->row[0], t->contact.normal);
  for (int32_t k = 1; k < 3; k++) sum = fx_mad(sum, t->row[k], t->contact.tangent[k - 1]);
  return sum;
}

/* Whether the spring is pressed by more than this beyond the load it was set to carry, and further in this step. */
static bool is_pressed(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double most) {
  double time = sim->h * sim->integrator->position_time, depth = a->R[g->row] * fx_held(a, g->row) * time;
  double deeper = depth - (g->natural - sim->contact[g->source].gap);
  return depth - fmax(g->natural, 0.0) > most && deeper > FURTHER * most;
}

/* Springs that threads look at, part by part. */
typedef struct pressing {
  const frix_sim *sim;
  fx_assembly *a;
  bool any[FX_PARTS];
} pressing;

static void stiffen_some(int32_t part, int32_t first, int32_t end, void *user) {
  pressing *t = user;
  const frix_sim *sim = t->sim;
  fx_assembly *a = t->a;
  for (int32_t k = first; k < end; k++) {
    fx_group *g = &a->group[k];
    if (g->kind != FX_GROUP_CONTACT || !fx_is_stiff(sim, g) || !(a->R[g->row] > 0.0)) continue;
    if (!is_pressed(sim, a, g, THIN * sim->thinnest)) continue;
    const fx_contact *c = &sim->contact[g->source];
    const fx_shape *shape = sim->model->shape;
    double thin = fmin(fx_shape_thickness(&shape[c->shape_a]), fx_shape_thickness(&shape[c->shape_b]));
    if (!is_pressed(sim, a, g, THIN * thin)) continue;
    a->R[g->row] = 0.0;
    fx_forget_blow(a, g); /* it was told by springs that are none */
    bool left = a->leaves_overlaps && c->gap < 0.0;
    a->w[g->row] = a->drive[g->row] + (left ? fx_contact_shift(sim, a, g, 0.0) : fx_rigid_shift(sim, a, g));
    t->any[part] = true;
  }
}

bool fx_make_pressed_rigid(const frix_sim *sim, fx_assembly *a) {
  pressing t = {.sim = sim, .a = a};
  int32_t parts = fx_parallel_range(fx_sim_threads(sim), a->joint_first, FX_LEAST_CONTACTS, stiffen_some, &t);
  bool any = false;
  for (int32_t k = 0; k < parts; k++) any |= t.any[k];
  return any;
}

bool fx_stiff_closed(const frix_sim *sim, const fx_group *g) {
  double sag = fx_norm(sim->state.gravity) * sim->h * sim->h / FX_KAPPA;
  bool rests = true;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    rests &= fx_is_zero(m->v0) && fx_is_zero(m->w0);
  }
  return rests && fx_is_stiff(sim, g) && sim->contact[g->source].gap <= sag;
}

void fx_hold_contact(const frix_sim *sim, fx_assembly *a, fx_group *g, const double *r) {
  double time = sim->h * sim->integrator->position_time, gap = sim->contact[g->source].gap;
  g->held = true;
  if (g->kind == FX_GROUP_CONTACT) {
    fx_forget_blow(a, g);
    g->natural = r[0] > 0.0 ? gap + a->R[g->row] * r[0] * time : fmin(g->natural, gap);
    a->w[g->row] = a->drive[g->row] + (gap - g->natural) / time;
  }
  for (int32_t k = g->kind == FX_GROUP_CONTACT; k < g->dim; k++) a->r_c[g->row + k] = r[k];
}

void fx_leave_blow(const frix_sim *sim, fx_assembly *a, fx_group *g, const double *r, double share) {
  double time = sim->h * sim->integrator->position_time, gap = sim->contact[g->source].gap;
  if (g->kind != FX_GROUP_CONTACT || !(r[0] > 0.0)) return;
  for (int32_t k = 0; k < g->dim; k++) a->expected[g->row + k] = (1.0 - share) * r[k];
  a->r_c[g->row] = a->expected[g->row];
  g->natural = gap + a->R[g->row] * share * r[0] * time;
  a->w[g->row] = a->drive[g->row] + (gap - g->natural) / time;
}

void fx_make_rigid(const frix_sim *sim, fx_assembly *a) {
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    if (!fx_is_stiff(sim, g)) continue;
    bool contact = g->kind == FX_GROUP_CONTACT;
    for (int32_t j = contact ? 0 : 1; j < g->dim; j++) a->R[g->row + j] = a->r_c[g->row + j] = 0.0;
    if (contact) a->w[g->row] = a->drive[g->row] + fx_rigid_shift(sim, a, g);
  }
}
