/* Energy and overlaps of a step.
 *
 *   K1 - K0 = v . h F + sum of r . (u0 + u1) / 2,   v = (v0 + v1) / 2
 *
 * exactly, u without what rows are asked for. The second sum is what contacts and joints bring in. Forces, motors and
 * springs of joints, together p, that turn a motion round within the step excuse r . H' M^-1 p / 2 of it, bounces at
 * least p . M^-1 p / 8, which is the most they can bring where restitution brings nothing (tension of trees is part of
 * p and of M); push-out of overlaps, drift
 * control, motors and springs bring what they say, and so does friction that acts against the slip of the middle of the
 * step. Joints under tension take what they damp. The rest must not be positive, but for bounces by Newton's law where
 * that was chosen. Judged by island: bodies that impulses connect. */
#include "judge_trees.h"

#include <stdlib.h>
#include <string.h>

static int root_of(const judge *j, int k) {
  while (j->body[k].island != k) k = j->body[k].island;
  return k;
}

static void join(judge *j, const group *g) {
  int first = -1;
  bool acts = false;
  for (int k = 0; k < g->dim; k++) acts |= g->r[k] != 0;
  for (int k = 0; acts && k < g->dim; k++)
    for (int t = 0; t < g->row[k].count; t++) {
      int b = g->row[k].term[t].body;
      if (!j->body[b].moves) continue;
      if (first < 0)
        first = root_of(j, b);
      else
        j->body[root_of(j, b)].island = first;
    }
}

/* Links of one tree move together. */
static void join_trees(judge *j) {
  for (int k = 1; k < j->body_count; k++)
    for (int i = 1; i < k && j->body[k].in_tree; i++)
      if (trees_of(j, i) == trees_of(j, k)) j->body[root_of(j, k)].island = root_of(j, i);
}

static int island_of(const judge *j, const group *g) {
  for (int k = g->dim - 1; k >= 0; k--)
    for (int t = 0; t < g->row[k].count; t++)
      if (j->body[g->row[k].term[t].body].moves) return root_of(j, g->row[k].term[t].body);
  return 0;
}

typedef struct account {
  real brought, excused, size;
  real forces, turned; /* excuse of forces: row by row, and p . M^-1 p / 8 over the bodies */
  int bounces;         /* contacts that a restitution acts on */
  bool unknown;        /* the spin of a body where the rows were taken is not */
} account;

/* What the spring of a contact gives: the law makes r . u1 at most -r (w + R (r - memory)), below zero where it stores;
 * what is expected of a blow gives nothing. In the second phase of Poisson's law the spring holds what the first left
 * in it. */
static real given(const group *g, int k, bool two_phases) {
  real R = g->R[k], memory = spring_remembers(g, k), first = (two_phases ? g->first[k] : g->r[k]) - g->expected[k];
  real later = two_phases ? g->r[k] - g->first[k] : 0;
  if (g->r[k] == 0) return 0;
  return (R * memory - g->w[k]) * (first + later) - R * (first * first + first * later + later * later);
}

static bool drives(const group *g) {
  return g->report.kind == FRIX_ROW_MOTOR || (g->report.kind == FRIX_ROW_SPRING && g->report.joint.index != 0);
}

/* What forces, motors and springs change velocities by. */
static void find_driven(judge *j) {
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    b->driven_v = v_sub(b->v[FREE], b->v[BEFORE]), b->driven_w = v_sub(b->w[FREE], b->w[BEFORE]);
  }
  for (int k = 0; k < j->group_count; k++) {
    const group *g = &j->group[k];
    for (int i = 0; i < g->dim && drives(g); i++)
      for (int t = 0; t < g->row[i].count; t++) {
        const term *x = &g->row[i].term[t];
        judged_body *b = &j->body[x->body];
        if (!b->moves || b->in_tree) continue;
        vec lin = x->lin;
        if (b->planar) lin.z = 0;
        b->driven_v = v_mad(b->driven_v, g->r[i] / b->mass, lin);
        b->driven_w = v_mad(b->driven_w, g->r[i], m_mul(b->J_inverse, x->ang));
      }
  }
  if (!j->trees) return;
  trees_push_none(j);
  for (int k = 0; k < j->group_count; k++)
    for (int i = 0; i < j->group[k].dim && drives(&j->group[k]); i++)
      trees_push_row(j, &j->group[k].row[i], j->group[k].r[i]);
  trees_push_end(j);
  for (int k = 1; k < j->body_count; k++)
    if (j->body[k].in_tree) trees_pushed(j, k, &j->body[k].driven_v, &j->body[k].driven_w);
}

static real driven_by(const judge *j, const row *r) {
  real sum = 0;
  for (int k = 0; k < r->count; k++) {
    const judged_body *b = &j->body[r->term[k].body];
    if (b->moves) sum += v_dot(r->term[k].lin, b->driven_v) + v_dot(r->term[k].ang, b->driven_w);
  }
  return sum;
}

/* What a row brings and what it may. The row of drilling that holds the bound moves nobody, and no spring is behind it.
 */
static void book(const judge *j, const group *g, int k, account *a) {
  if (g->report.kind == FRIX_ROW_DRILLING && k == 0) return;
  real before = row_velocity(j, &g->row[k], BEFORE), after = row_velocity(j, &g->row[k], AFTER), r = g->r[k];
  frix_row_kind kind = g->report.kind;
  real power = r * (before + after) / 2;
  a->brought += power;
  a->size += fabsl(r) * (fabsl(before) + fabsl(after) + g->near[k]);
  a->forces += fabsl(r * driven_by(j, &g->row[k])) / 2;
  a->excused += fabsl(r) * g->slack[k];
  if (kind == FRIX_ROW_CONTACT && k == 0) a->excused += fabsl(r) * g->push;
  if (kind == FRIX_ROW_CONTACT && k > 0) a->excused += fabsl(r * g->w[k]); /* slip of the middle */
  if (kind == FRIX_ROW_LIMIT) a->excused += fabsl(r) * g->push;
  if (kind == FRIX_ROW_JOINT) a->excused += fabsl(r) * (fabsl(g->w[k]) + fabsl(before) / 2);
  if (kind == FRIX_ROW_MOTOR || kind == FRIX_ROW_SPRING) a->excused += fabsl(r) * (fabsl(before) + fabsl(after)) / 2;
  if (g->stiffness > 0 && g->R[k] > 0 && !(g->rebound > 0)) /* no spring carries the impulse between the phases */
    a->excused += given(g, k, j->two_phases);
  else if (g->R[k] > 0)
    a->excused += fabsl(r) * (fabsl(g->w[k]) + g->R[k] * (fabsl(r) + fabsl((real)g->report.memory[k])));
}

void judge_energy(judge *j, verdict *out) {
  account *all = calloc((size_t)j->body_count, sizeof *all);
  if (j->softs) { /* what pushes overlaps out is not known there */
    free(all);
    return;
  }
  find_driven(j);
  for (int k = 0; k < j->group_count; k++) join(j, &j->group[k]);
  if (j->trees) join_trees(j);
  for (int k = 0; k < j->group_count; k++) {
    const group *g = &j->group[k];
    account *a = &all[island_of(j, g)];
    for (int i = 0; i < g->dim; i++) book(j, g, i, a);
    a->bounces += g->r[0] > 0 && (g->may_bounce || g->rebound > 0);
  }
  for (int k = 1; k < j->body_count; k++) {
    const judged_body *b = &j->body[k];
    if (!b->moves) continue;
    account *a = &all[root_of(j, k)];
    a->unknown |= !b->sharp;
    a->size += b->own * b->own;
    vec v = b->driven_v, w = b->driven_w;
    a->turned += (b->mass * v_dot(v, v) + v_dot(w, m_mul(b->J, w)) + (b->in_tree ? trees_held(j, k, w) : 0)) / 8;
    a->brought += v_dot(b->damped, v_add(b->w[BEFORE], b->w[AFTER])) / 2;
    a->forces += fabsl(v_dot(b->damped, w)) / 2; /* t of tension stands beside r in r . (u0 - u_free) / 2 */
  }
  real tolerance = 100 * (real)j->config.tolerance;
  for (int k = 1; k < j->body_count; k++) {
    const account *a = &all[k];
    if (!(a->brought > 0) || a->unknown || (a->bounces && j->config.restitution == FRIX_RESTITUTION_NEWTON)) continue;
    real excused = a->excused + (a->bounces ? fmaxl(a->forces, a->turned) : a->forces);
    note(out, LAW_ENERGY, a->brought / (excused + tolerance * a->size),
         "island of body %d: contacts and joints bring %.4Lg J, excused %.4Lg J, of %.4Lg J; %d bounce", k, a->brought,
         excused, a->size, a->bounces);
  }
  free(all);
}

/* ---- spheres that end inside each other or inside a plane, though no row said so ---- */

typedef struct ball {
  int body;
  frix_material_id material;
  vec before, after;
  real radius;
  vec normal; /* a plane: its normal, radius 0 */
  bool flat;
} ball;

static bool joined(const judge *j, int a, int b) {
  for (int k = 0; k < j->joint_count; k++) {
    frix_joint_config c = frix_joint_default(FRIX_JOINT_BALL);
    frix_model_joint(j->model, frix_model_joint_at(j->model, k), &c);
    int p = body_index(j, c.a), q = body_index(j, c.b);
    if ((p == a && q == b) || (p == b && q == a)) return true;
  }
  return false;
}

/* Spheres about the centres of their bodies, and planes that do not move. */
static int find_balls(const judge *j, const frix_sim *sim, ball *out) {
  int count = 0;
  for (int k = 0; k < frix_model_count(j->model).shape_count; k++) {
    frix_shape_config s = frix_shape_default();
    frix_body_id owner;
    frix_model_shape(j->model, frix_model_shape_at(j->model, k), &s, &owner);
    ball x = {
        .body = body_index(j, owner), .material = s.material, .radius = s.radius, .flat = s.kind == FRIX_SHAPE_PLANE};
    const judged_body *b = &j->body[x.body];
    if (x.flat && x.body == 0) {
      x.before = x.after = v_of(s.pose.p);
      x.normal = q_column(q_of(s.pose.q), 2);
      x.radius = 0;
    } else if (s.kind == FRIX_SHAPE_SPHERE && b->moves && !b->soft && v_norm(v_sub(v_of(s.pose.p), b->center)) == 0) {
      frix_body_state state;
      frix_sim_body(sim, b->id, &state);
      x.before = b->c0;
      x.after = v_of(state.center);
    } else {
      continue;
    }
    out[count++] = x;
  }
  return count;
}

static real gap_of(const ball *a, const ball *b, bool after) {
  vec d = v_sub(after ? a->after : a->before, after ? b->after : b->before);
  if (b->flat) return v_dot(d, b->normal) - a->radius;
  return v_norm(d) - a->radius - b->radius;
}

/* A tenth of the radius is what the documentation grants to bodies that an impact throws. */
/* By how much a ball ends elsewhere than its velocity says: links go along circles, and so do balls off a centre. */
static real bend_of_way(const judge *j, const ball *x) {
  const judged_body *b = &j->body[x->body];
  if (x->flat || !b->in_tree) return 0;
  vec v = v_add(b->v[AFTER], v_cross(b->w[AFTER], v_sub(x->before, b->c)));
  return v_norm(v_sub(v_sub(x->after, x->before), v_mul(j->h, v)));
}

void judge_overlaps(judge *j, const frix_sim *sim, verdict *out) {
  if (strcmp(j->config.integrator, "moreau") != 0) return;
  ball *all = calloc((size_t)frix_model_count(j->model).shape_count + 1, sizeof *all);
  int count = find_balls(j, sim, all);
  for (int p = 0; p < count; p++)
    for (int q = 0; q < count; q++) {
      const ball *a = &all[p], *b = &all[q];
      if (a->flat || (!b->flat && q <= p) || a->body == b->body) continue;
      real before = gap_of(a, b, false), after = gap_of(a, b, true),
           thin = b->flat ? a->radius : fminl(a->radius, b->radius);
      real deeper = fminl(before, 0) - after;
      real grant = 0.12L * thin + 1e-11L * (v_far(a->before) + v_far(b->before)) + 1e-5L * j->h * j->h * j->gravity +
                   100 * (real)j->config.tolerance * v_norm(v_sub(a->after, a->before)) + bend_of_way(j, a) +
                   bend_of_way(j, b);
      frix_material_config pair = frix_material_default();
      frix_model_pair(j->model, a->material, b->material, &pair);
      if (pair.stiffness > 0 && !isinf(pair.stiffness)) continue;
      if (pair.stiffness == 0 && j->config.contact == FRIX_CONTACT_KIND_STIFF) grant += 0.1L * thin; /* of springs */
      if (!(deeper > grant) || joined(j, a->body, b->body)) continue;
      note(out, LAW_OVERLAP, deeper / grant, "bodies %d, %d: gap %.4Lg before, %.4Lg after, radius %.3Lg", a->body,
           b->body, before, after, thin);
    }
  free(all);
}
