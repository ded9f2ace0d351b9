/* Contacts to rows: gap, cone, compliance, warm start.
 *
 *   u = velocity of a against b at the point, in the contact's frame (normal first), then the relative spin about the
 *   two tangents where the surface has rolling friction. The normal row is shifted by what the integrator asks for.
 *   Compliant surfaces: u_N = v_N + gap / t + R r_N and u_T = v_T + R (r_T - r_T of the last step),  R = 1 / (k h t),
 *   t the part of the step after the contacts were found.
 *
 * Drilling friction has no cone of its own yet: its bound spinning * r_N enters as a known normal impulse and is set
 * anew until it agrees with the answer (step_solve.c). */
#include "base/threads.h"
#include "base/trig.h"
#include "sim/hooks_internal.h"
#include "sim/softs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_TURN 0.25 /* rad in a step */
#define FOLLOWED 3.0   /* times the speed of the surfaces */

static const double same_normal = 1.0 - 1e-12; /* cosine between contacts of one face */

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
  double length = sqrt(x * x + y * y);
  law.cone = FRIX_CONE_ELLIPTIC;
  law.mu2 = f->mu2;
  law.axis[0] = x / length, law.axis[1] = y / length;
  return law;
}

/* The direction of mu in the world. */
static frix_vec3 axis_of(const frix_sim *sim, const fx_surface *f, const fx_contact *c) {
  int32_t body = f->axis_side ? c->body_b : c->body_a;
  const fx_shape *shape = &sim->model->shape[f->axis_side ? c->shape_b : c->shape_a];
  return fx_rotate(sim->state.pose[body].q, fx_rotate(shape->local.q, f->axis));
}

/* One body's block: velocity of the contact point along normal and tangents, then its spin about the tangents. */
static void fill_block(int32_t dim, int32_t dof, double sign, const fx_contact *c, frix_vec3 arm, double *J) {
  frix_vec3 axis[3] = {c->normal, c->tangent[0], c->tangent[1]};
  for (int32_t k = 0; k < dim; k++, J += dof) {
    frix_vec3 d = fx_scale(sign, axis[k < 3 ? k : k - 2]), zero = {0.0, 0.0, 0.0};
    frix_vec3 lin = k < 3 ? d : zero, ang = k < 3 ? fx_cross(arm, d) : d;
    if (dof == 3) {
      J[0] = lin.x, J[1] = lin.y, J[2] = ang.z;
    } else {
      J[0] = lin.x, J[1] = lin.y, J[2] = lin.z, J[3] = ang.x, J[4] = ang.y, J[5] = ang.z;
    }
  }
}

/* What a body that does not move by itself adds to the same velocities. */
static void fill_drive(const fx_state *s, int32_t slot, int32_t dim, double sign, const fx_contact *c, frix_vec3 p,
                       double *drive) {
  if (slot == 0 || s->asleep[slot]) return;
  frix_vec3 axis[3] = {c->normal, c->tangent[0], c->tangent[1]}, w = s->spin[slot];
  frix_vec3 v = fx_add(s->velocity[slot], fx_cross(w, fx_sub(p, s->pose[slot].p)));
  for (int32_t k = 0; k < dim; k++) drive[k] += sign * (k < 3 ? fx_dot(axis[k], v) : fx_dot(axis[k - 2], w));
}

/* The same of a link of a tree; both sides may be of one. */
static void fill_link(const frix_sim *sim, const fx_mover *m, int32_t slot, int32_t dim, double sign,
                      const fx_contact *c, frix_vec3 arm, double *J) {
  frix_vec3 axis[3] = {c->normal, c->tangent[0], c->tangent[1]}, zero = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < dim; k++, J += m->dof) {
    frix_vec3 d = fx_scale(sign, axis[k < 3 ? k : k - 2]);
    fx_tree_row(sim, m, slot, k < 3 ? d : zero, k < 3 ? fx_cross(arm, d) : d, J);
  }
}

static frix_vec3 middle_of(const fx_contact *c) { return fx_scale(0.5, fx_add(c->point_a, c->point_b)); }

static void fill_rows(const frix_sim *sim, const fx_assembly *a, const fx_group *g, const fx_contact *c) {
  frix_vec3 p = middle_of(c);
  double *J = a->J + g->value, *drive = a->drive + g->row;
  for (int32_t b = 0; sim->mechanism && b < g->body_count; b++) {
    const fx_mover *m = &sim->mover[g->mover[b]];
    if (m->tree) memset(fx_group_block(sim, a, g, g->mover[b], 0), 0, (size_t)(g->dim * m->dof) * sizeof *J);
  }
  for (int side = 0; side < 2; side++) {
    int32_t slot = side ? c->body_b : c->body_a, m = sim->mover_of[slot];
    double sign = side ? -1.0 : 1.0;
    if (m < 0) {
      fill_drive(&sim->state, slot, g->dim, sign, c, p, drive);
    } else {
      int32_t dof = sim->mover[m].dof;
      bool second = g->mover[0] != m; /* blocks stand in the order of movers, as do slots */
      double *block = second ? J + (size_t)(g->dim * sim->mover[g->mover[0]].dof) : J;
      frix_vec3 arm = fx_sub(p, sim->state.pose[slot].p);
      if (sim->mover[m].tree && sim->mover[m].tree->soft)
        fx_soft_fill(sim, &sim->mover[m], side ? c->soft_b : c->soft_a, g->dim, sign, c, p, block);
      else if (sim->mover[m].tree)
        fill_link(sim, &sim->mover[m], slot, g->dim, sign, c, arm, block);
      else
        fill_block(g->dim, dof, sign, c, arm, block);
    }
  }
}

static void spin_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_contact *c, frix_vec3 d) {
  frix_vec3 zero = {0.0, 0.0, 0.0};
  fx_group_term(sim, a, g, k, c->body_a, zero, d);
  fx_group_term(sim, a, g, k, c->body_b, zero, fx_neg(d));
}

/* How a spring turned since the last step: the least turn that takes the old normal to the new one, and about it the
 * mean spin of the two bodies. So the pair may turn as one, and its springs turn with it. */
typedef struct turning {
  frix_vec3 axis; /* old x new normal */
  double cosine, s, c;
  frix_vec3 normal;
} turning;

static turning turning_of(const frix_sim *sim, const fx_contact *c, const fx_contact *past) {
  const fx_state *state = &sim->state;
  turning t = {fx_cross(past->normal, c->normal), fx_dot(past->normal, c->normal), 0.0, 1.0, c->normal};
  frix_vec3 spin = fx_add(state->spin[c->body_a], state->spin[c->body_b]);
  double angle = 0.5 * state->last_step * fx_dot(spin, c->normal);
  if (angle != 0.0) fx_sincos(angle, &t.s, &t.c);
  return t;
}

static frix_vec3 turned(const turning *t, frix_vec3 v) {
  if (t->cosine > 0.0) { /* else it is another contact under the same name */
    frix_vec3 once = fx_cross(t->axis, v);
    v = fx_add(v, fx_mad(once, 1.0 / (1.0 + t->cosine), fx_cross(t->axis, once)));
  }
  frix_vec3 along = fx_scale(fx_dot(v, t->normal), t->normal), across = fx_sub(v, along);
  return fx_add(along, fx_mad(fx_scale(t->c, across), t->s, fx_cross(t->normal, across)));
}

/* dw/dt of a mover left alone: J dw/dt = -w x J w. */
static frix_vec3 gyration(const frix_sim *sim, const fx_mover *m) {
  if (m->tree && m->tree->soft) return fx_vec(0.0, 0.0, 0.0);
  if (fx_is_zero(m->w0) || fx_isotropic(fx_slot_body(sim, m->slot))) return fx_vec(0.0, 0.0, 0.0);
  return fx_neg(fx_sym3_mul(fx_sym3_inverse(m->J), fx_cross(m->w0, fx_sym3_mul(m->J, m->w0))));
}

/* How much faster than its surface moves a contact may run along a shape that turns: the largest radius of curvature
 * over the least half axis. */
static double bend_of(const fx_shape *shape) {
  bool flat = shape->kind == FRIX_SHAPE_ELLIPSE;
  if (shape->kind != FRIX_SHAPE_ELLIPSOID && !flat) return 1.0;
  double x = shape->half.x, y = shape->half.y, z = flat ? x : shape->half.z;
  double ratio = fmax(x, fmax(y, z)) / fmin(x, fmin(y, z));
  return ratio * ratio;
}

/* Whether a contact is still the same after its point p went this way: no further than FOLLOWED times as fast as the
 * surfaces move there (more where they are bent), else it jumped; and whether what turned did so little enough for a
 * derivative to say where to.
 */
static bool is_followed(const frix_sim *sim, const fx_contact *c, frix_vec3 p, double way) {
  const fx_state *s = &sim->state;
  double speed = 0.0;
  for (int side = 0; side < 2; side++) {
    int32_t slot = side ? c->body_b : c->body_a;
    if (slot == 0) continue;
    double spin = fx_norm(s->spin[slot]);
    if (!(spin * sim->h <= MOST_TURN)) return false;
    speed += fx_norm(s->velocity[slot]) + spin * fx_norm(fx_sub(p, s->pose[slot].p));
  }
  const fx_shape *shape = sim->model->shape;
  double bend = fmax(bend_of(&shape[c->shape_a]), bend_of(&shape[c->shape_b]));
  return way <= FOLLOWED * bend * s->last_step * speed;
}

static bool is_same_face(const fx_contact *c, const fx_contact *d) {
  return c->body_a == d->body_a && c->body_b == d->body_b && c->shape_a == d->shape_a && c->shape_b == d->shape_b &&
         fx_dot(c->normal, d->normal) > same_normal;
}

/* Velocity of the point of contact i; false where it cannot be told from the last step. */
static bool point_rate(const frix_sim *sim, int32_t i, const fx_contact *past, frix_vec3 *rate) {
  const fx_contact *c = &sim->contact[i];
  frix_vec3 p = middle_of(c), way = fx_sub(p, middle_of(past));
  if (!(sim->state.last_step > 0.0) || !is_followed(sim, c, p, fx_norm(way))) return false;
  *rate = fx_scale(1.0 / sim->state.last_step, way);
  return true;
}

/* The same of the face that i belongs to: the mean of its points, by the impulses they carried. Points that went each
 * its own way would ask for slips that no motion of two rigid bodies has; where they stick, friction rises to its bound
 * to resist that. Contacts of a face stand together. */
static bool face_rate(const frix_sim *sim, int32_t i, frix_vec3 *rate) {
  const fx_contact *c = &sim->contact[i];
  int32_t first = i, end = i + 1;
  while (first > 0 && is_same_face(c, &sim->contact[first - 1])) first--;
  while (end < sim->contact_count && is_same_face(c, &sim->contact[end])) end++;
  double sum = 0.0;
  frix_vec3 mean = {0.0, 0.0, 0.0}, own;
  for (int32_t k = first; k < end; k++) {
    const fx_touching *past = sim->past[k] >= 0 ? &sim->state.touching[sim->past[k]] : NULL;
    if (!past || !point_rate(sim, k, &past->contact, &own)) continue;
    double weight = fx_max(past->row[0], DBL_MIN); /* where none carried anything, the plain mean */
    mean = fx_mad(mean, weight, own);
    sum += weight;
  }
  if (!(sum > 0.0)) return false;
  *rate = fx_scale(1.0 / sum, mean);
  return true;
}

static bool turns(const frix_sim *sim, const fx_contact *c) {
  return !fx_is_zero(sim->state.spin[c->body_a]) || !fx_is_zero(sim->state.spin[c->body_b]);
}

/* How fast the slip of a against b changes while their momenta stay: w_a x (p' - v_a) + w_a' x (p - x_a) less the same
 * of b, p' the velocity of the point of contact. A row holds at the beginning of a step, and the slip it leaves over
 * the step is that of its middle: without h/2 of this change what rolls gains or loses energy in every step. */
static frix_vec3 change_of_slip(const frix_sim *sim, const fx_contact *c, frix_vec3 rate) {
  const fx_state *s = &sim->state;
  frix_vec3 p = middle_of(c), sum = {0.0, 0.0, 0.0};
  for (int side = 0; side < 2; side++) {
    int32_t slot = side ? c->body_b : c->body_a;
    if (slot == 0 || s->asleep[slot]) continue;
    frix_vec3 turn = fx_cross(s->spin[slot], fx_sub(rate, s->velocity[slot]));
    int32_t m = sim->mover_of[slot];
    if (m >= 0) turn = fx_add(turn, fx_cross(sim->mover[m].gyration, fx_sub(p, s->pose[slot].p)));
    sum = fx_mad(sum, side ? -1.0 : 1.0, turn);
  }
  return sum;
}

/* This step over the last: forces stay, impulses follow. */
static double longer(const frix_sim *sim) { return sim->state.last_step > 0.0 ? sim->h / sim->state.last_step : 1.0; }

/* The impulse of the last step in the frame of this one. */
static void remember(const frix_sim *sim, const fx_contact *c, const fx_touching *past, bool spring, int32_t dim,
                     double *out) {
  double scale = longer(sim);
  frix_vec3 direction[5] = {c->normal, c->tangent[0], c->tangent[1], c->tangent[0], c->tangent[1]};
  frix_vec3 impulse = fx_held_impulse(past);
  frix_vec3 roll = fx_mad(fx_scale(past->row[3], past->contact.tangent[0]), past->row[4], past->contact.tangent[1]);
  bool same = !memcmp(&c->normal, &past->contact.normal, sizeof c->normal);
  if (spring) {
    turning t = turning_of(sim, c, &past->contact);
    same &= t.s == 0.0;
    if (!same) impulse = turned(&t, impulse), roll = turned(&t, roll);
  }
  for (int32_t k = 0; k < dim; k++)
    out[k] = scale * (same ? past->row[k] : fx_dot(k < 3 ? impulse : roll, direction[k]));
  if (out[0] < 0.0) memset(out, 0, (size_t)dim * sizeof *out);
}

/* The slip over the last step beyond h v, h^2/2 of its change, stretches the spring of friction where it held: without
 * it what rolls under load would creep along. One that slid is stretched as far as it goes already. */
static void stretch(const frix_sim *sim, int32_t i, const fx_contact *past, const fx_surface *f, int32_t dim,
                    double *impulse) {
  const fx_contact *c = &sim->contact[i];
  double h = sim->state.last_step;
  frix_vec3 rate;
  if (!turns(sim, c) || !point_rate(sim, i, past, &rate)) return;
  frix_vec3 slip = fx_scale(0.5 * h * h, change_of_slip(sim, c, rate));
  double k = f->stiffness * sim->h * sim->integrator->position_time;
  for (int32_t j = 1; j < dim && j < 3; j++) impulse[j] -= k * fx_dot(slip, c->tangent[j - 1]);
}

/* A rigid contact asks for the slip of the middle of the step. */
static void ask_for_middle(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  const fx_contact *c = &sim->contact[g->source];
  frix_vec3 rate;
  if (g->dim == 1 || !turns(sim, c) || !face_rate(sim, g->source, &rate)) return;
  frix_vec3 slip = fx_scale(0.5 * sim->h, change_of_slip(sim, c, rate));
  for (int32_t j = 1; j < g->dim && j < 3; j++) a->w[g->row + j] += fx_dot(slip, c->tangent[j - 1]);
}

/* Twice the weight that sliding has in the law of springs below: the mean of both tangents, and of links, which joints
 * may hold altogether where they touch, no less than bodies of their apparent mass would have. */
static double sliding_weight(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  double both = fx_group_weight(sim, a, g, 1) + fx_group_weight(sim, a, g, 2);
  return fx_max(both, 2.0 * fx_links_sliding(sim, &sim->contact[g->source]));
}

/* A contact has one stiffness, in N/m. Its springs against rolling and drilling get the natural frequency of the one
 * against sliding, R over the row's own weight: without them such rows would be rigid, a pile of them has many answers,
 * and sweeps crawl. */
static void add_compliance(const frix_sim *sim, const fx_assembly *a, const fx_group *g, const fx_surface *f,
                           const double *past) {
  double R = 1.0 / (f->stiffness * sim->h * sim->h * sim->integrator->position_time);
  double sliding = g->dim > 3 ? sliding_weight(sim, a, g) : 1.0;
  double rolling = g->dim > 3 ? fx_group_weight(sim, a, g, 3) + fx_group_weight(sim, a, g, 4) : 1.0;
  for (int32_t k = 0; k < g->dim; k++) {
    a->R[g->row + k] = k < 3 ? R : R * rolling / sliding;
    a->r_c[g->row + k] = k ? past[k] : 0.0;
  }
}

/* The same for drilling friction g beside its contact. */
static void add_drilling_compliance(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double past) {
  const fx_group *contact = g - 1;
  double sliding = 0.5 * sliding_weight(sim, a, contact);
  a->R[g->row + 1] = a->R[contact->row + 1] * fx_group_weight(sim, a, g, 1) / sliding;
  a->r_c[g->row + 1] = past;
}

/* Drilling friction beside contact group c: the normal row moves no body, u_N = R (r_N - known). */
static void fill_spinning(frix_sim *sim, fx_assembly *a, fx_group *g, double past_normal, double past_spin) {
  const fx_contact *c = &sim->contact[g->source];
  spin_row(sim, a, g, 1, c, c->normal);
  if (sim->hooks && sim->hooks->slip) a->drive[g->row + 1] += sim->hooks->slip[g->source].spin;
  a->w[g->row + 1] = a->drive[g->row + 1];
  double weight = fx_group_weight(sim, a, g, 1);
  a->R[g->row] = weight > 0.0 ? weight : 1.0; /* any, where nothing spins */
  a->r_c[g->row] = past_normal;
  a->guess[g->row] = past_normal;
  a->guess[g->row + 1] = past_spin;
}

/* Gaps that are noise are none, else a structure at rest would be asked to tell its forces apart by them. Noise is what
 * an answer certified to 1e-8 lets gaps wander, with room to spare: 1e-5 of the way gravity makes in a step where they
 * open, 1e-6 where bodies overlap, small against every body; and what the coordinates are rounded to. */
static double clean_gap(const frix_sim *sim, const fx_contact *c) {
  if (sim->of_state) return c->gap;
  double near = sim->gap_noise, deep = 0.1 * near;
  if (c->gap > near || c->gap < -deep) { /* seldom */
    double far = 0.0, part[3] = {c->point_a.x, c->point_a.y, c->point_a.z};
    for (int k = 0; k < 3; k++) far = fabs(part[k]) > far ? fabs(part[k]) : far;
    near = 2e-12 * far, deep = 2e-11 * far;
  }
  return c->gap <= near && c->gap >= -deep ? 0.0 : c->gap;
}

bool fx_contact_closed(const frix_sim *sim, int32_t i) { return clean_gap(sim, &sim->contact[i]) <= 0.0; }

static bool has_spinning(const fx_surface *f, const fx_contact *c) { return f->spinning > 0.0 && !c->planar; }

static fx_normal normal_of(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double gap) {
  fx_normal n = {.gap = gap,
                 .restitution = sim->surface[g->source].restitution,
                 .kept = g->kept,
                 .compress = sim->config.restitution == FRIX_RESTITUTION_POISSON};
  if (n.restitution > 0.0) {
    n.before = fx_group_velocity(sim, a, g, 0, FX_BEFORE);
    n.free = fx_group_velocity(sim, a, g, 0, FX_FREE);
  }
  return n;
}

double fx_contact_shift(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double gap) {
  fx_normal n = normal_of(sim, a, g, gap);
  return fx_normal_shift(sim, &n);
}

double fx_rigid_shift(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  const fx_contact *c = &sim->contact[g->source];
  return fx_contact_shift(sim, a, g, clean_gap(sim, c)) + c->ahead / sim->h;
}

double fx_push_out(const frix_sim *sim, const fx_group *g) {
  double gap = sim->surface[g->source].stiffness == 0.0 ? clean_gap(sim, &sim->contact[g->source]) : 0.0;
  return gap < 0.0 ? sim->config.stabilisation * gap / sim->h : 0.0;
}

/* Of a contact that is struck, with the overlap it has where it is a spring: within a step that cannot bounce by
 * itself. 0 where it is not struck. */
double fx_contact_bounce(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  if (g->kind != FX_GROUP_CONTACT || sim->surface[g->source].restitution == 0.0) return 0.0;
  const fx_contact *c = &sim->contact[g->source];
  fx_normal n = normal_of(sim, a, g, sim->surface[g->source].stiffness == 0.0 ? clean_gap(sim, c) : c->gap);
  return fx_strikes(sim, &n) ? fx_bounce_of(&n) : 0.0;
}

/* True where a spring is struck: it bounces as a rigid contact does. */
static bool struck_spring(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double *shift) {
  fx_normal n = normal_of(sim, a, g, sim->contact[g->source].gap);
  bool struck = fx_strikes(sim, &n);
  if (struck) *shift = fx_bounce_of(&n);
  return struck;
}

void fx_contact_keep(const frix_sim *sim, const fx_assembly *a, fx_group *g, double kept) {
  g->kept = kept;
  bool rigid = sim->surface[g->source].stiffness == 0.0;
  double gap = clean_gap(sim, &sim->contact[g->source]);
  bool left = a->leaves_overlaps && gap < 0.0;
  if (rigid) a->w[g->row] = a->drive[g->row] + (left ? fx_contact_shift(sim, a, g, 0.0) : fx_rigid_shift(sim, a, g));
  double shift = 0.0;
  if (!rigid && a->R[g->row] == 0.0) /* struck, or pressed too far */
    a->w[g->row] = a->drive[g->row] + (struck_spring(sim, a, g, &shift) ? shift : fx_rigid_shift(sim, a, g));
}

/* What the spring of a contact held at the end of the last step. */
static void store(const frix_sim *sim, const fx_surface *f, const fx_touching *past, fx_group *g) {
  double h = sim->state.last_step;
  if (!(past->stiffness > 0.0) || !(h > 0.0) || !(f->stiffness > 0.0)) return;
  for (int32_t k = 0; k < g->dim && k < 3; k++)
    g->stored[k > 0] += past->row[k] * past->row[k] / (2.0 * past->stiffness * h * h);
}

/* Rows, shift, compliance and warm start of a contact group; drilling friction follows it. */
static void fill_contact(frix_sim *sim, fx_assembly *a, fx_group *g) {
  int32_t i = g->source;
  const fx_contact *c = &sim->contact[i];
  const fx_surface *f = &sim->surface[i];
  fill_rows(sim, a, g, c);
  if (sim->hooks && sim->hooks->slip) fx_belts_drive(sim, g, a->drive + g->row);
  if (f->stiffness > 0.0) g->natural = fx_natural_gap(sim, i);
  double shift = f->stiffness == 0.0 ? fx_rigid_shift(sim, a, g)
                                     : (c->gap + c->ahead - g->natural) / (sim->h * sim->integrator->position_time);
  bool struck = f->stiffness > 0.0 && f->restitution > 0.0 && struck_spring(sim, a, g, &shift);
  g->blow = struck ? 0.0 : fx_blow_of(sim, a, g);
  if (sim->of_state && g->blow > 0.0) struck = true, g->blow = 0.0; /* the limit of what it would expect */
  for (int32_t k = 0; k < g->dim; k++) a->w[g->row + k] = a->drive[g->row + k] + (k == 0 ? shift : 0.0);
  double *guess = a->guess + g->row, spin_guess = 0.0;
  if (sim->past[i] >= 0) {
    const fx_touching *past = &sim->state.touching[sim->past[i]];
    remember(sim, c, past, f->stiffness > 0.0, g->dim, guess);
    store(sim, f, past, g);
    spin_guess = longer(sim) * past->spin_impulse;
    if (f->stiffness > 0.0 && past->state == FRIX_CONTACT_STICK) stretch(sim, i, &past->contact, f, g->dim, guess);
  }
  if (f->stiffness > 0.0)
    add_compliance(sim, a, g, f, guess);
  else
    ask_for_middle(sim, a, g);
  for (int32_t k = 0; struck && k < (f->by_rule ? g->dim : 1); k++) a->R[g->row + k] = 0.0;
  if (!has_spinning(f, c)) return;
  fill_spinning(sim, a, g + 1, guess[0], spin_guess);
  if (f->stiffness > 0.0 && g->dim >= 3) add_drilling_compliance(sim, a, g + 1, spin_guess);
}

/* ---- all: places first, then contents, in parts that need not know each other ---- */

typedef struct filling {
  frix_sim *sim;
  fx_assembly *a;
} filling;

enum { PART = 256 };

static void fill_part(int32_t task, void *user) {
  const filling *f = user;
  int32_t end = (task + 1) * PART < f->a->group_count ? (task + 1) * PART : f->a->group_count;
  for (int32_t k = task * PART; k < end; k++)
    if (f->a->group[k].kind == FX_GROUP_CONTACT) fill_contact(f->sim, f->a, &f->a->group[k]);
}

static void place_contact(frix_sim *sim, fx_assembly *a, int32_t i) {
  const fx_contact *c = &sim->contact[i];
  const fx_surface *f = &sim->surface[i];
  int32_t slot[2] = {c->body_a, c->body_b};
  if (sim->mover_of[c->body_a] < 0 && sim->mover_of[c->body_b] < 0) return;
  frix_vec3 none = {0.0, 0.0, 0.0};
  frix_contact law = law_of(f, c, f->anisotropic ? axis_of(sim, f, c) : none);
  fx_group_add_raw(sim, a, FX_GROUP_CONTACT, i, law, 2, slot);
  a->compliant |= f->stiffness > 0.0;
  a->rolls |= law.dim > 3 || has_spinning(f, c);
  if (!has_spinning(f, c)) return;
  a->compliant = true;
  fx_group_add(sim, a, FX_GROUP_SPINNING, i, frix_contact_of_dim(2, f->spinning, 0.0), 2, slot);
}

frix_status fx_contacts_assemble(frix_sim *sim, fx_assembly *a) {
  double fall = 1e-5 * sim->h * sim->h * fx_norm(sim->state.gravity), small = 1e-6 * sim->smallest;
  sim->gap_noise = fall < small ? fall : small;
  for (int32_t k = 0; k < sim->mover_count; k++) sim->mover[k].gyration = gyration(sim, &sim->mover[k]);
  for (int32_t i = 0; i < sim->contact_count; i++) place_contact(sim, a, i);
  filling f = {sim, a};
  fx_parallel(sim->inner, sim->config.thread_count, (a->group_count + PART - 1) / PART, fill_part, &f);
  return FRIX_OK;
}
