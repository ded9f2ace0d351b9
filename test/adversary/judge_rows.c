/* Contacts of a step: rows from point, normal and tangents; what each row is asked for.
 *
 *   rigid      u_N = v_N + gap / h (open), v_N + gamma gap / h (overlapping);  struck: v_N + s e v_N before, s in [0,
 * 1] u_T = v_T + h/2 times the change of slip, which spins and speeds bound compliant  u_N = v_N + gap / t + R r_N, u_T
 * = v_T + R (r_T - memory),  R = 1 / (k h t)
 *
 * t is the part of the step after the rows were taken; s is at least what the step says it kept. Gaps that the
 * documentation calls closed (1e-5 of the way gravity makes in a step, 2e-11 of the coordinates) may be taken as they
 * are or as closed; so the demand has a slack.
 */
#include "judge_soft.h"
#include "judge_trees.h"

#include <stdlib.h>
#include <string.h>

real row_velocity(const judge *j, const row *r, moment when) {
  real sum = r->belt;
  for (int k = 0; k < r->count; k++) {
    const judged_body *b = &j->body[r->term[k].body];
    sum += v_dot(r->term[k].lin, b->v[when]) + v_dot(r->term[k].ang, b->w[when]);
    if (b->soft) sum += soft_velocity(j, &r->term[k], when);
  }
  return sum;
}

static real row_weight(const judge *j, const row *r) {
  real sum = 0;
  for (int k = 0; k < r->count; k++) {
    const judged_body *b = &j->body[r->term[k].body];
    if (!b->moves || b->in_tree) continue;
    vec lin = r->term[k].lin, ang = r->term[k].ang;
    if (b->planar) lin.z = 0;
    sum += v_dot(lin, lin) / b->mass + v_dot(ang, m_mul(b->J_inverse, ang));
    if (b->soft) sum += soft_weight(j, &r->term[k]);
  }
  return j->trees ? sum + trees_row_weight(j, r) : sum;
}

static void contact_rows(const judge *j, group *g) {
  int body[2] = {body_index(j, g->report.a), body_index(j, g->report.b)};
  vec p = v_of(g->report.point), zero = {0, 0, 0};
  for (int k = 0; k < g->dim; k++) {
    vec d = v_of(g->report.direction[k]);
    bool turns = g->report.kind == FRIX_ROW_DRILLING || k >= 3;
    g->row[k].count = 2;
    for (int side = 0; side < 2; side++) {
      vec e = v_mul(side ? -1 : 1, d);
      g->row[k].term[side] = (term){
          .body = body[side], .lin = turns ? zero : e, .ang = turns ? e : v_cross(v_sub(p, j->body[body[side]].c), e)};
    }
  }
  for (int side = 0; side < 2; side++) { /* the normal points to a */
    if (!j->body[body[side]].soft) continue;
    term *first = &g->row[0].term[side];
    soft_find_place(j, first, v_mad(p, (side ? -0.5L : 0.5L) * g->report.gap, v_of(g->report.direction[0])), p);
    soft_add_place(j, first, g->report.soft_place[side], p);
    for (int k = 1; k < g->dim; k++) {
      term *other = &g->row[k].term[side];
      other->places = first->places;
      memcpy(other->place, first->place, sizeof first->place);
    }
  }
}

real farthest(const group *g, const judged_body *b) {
  bool contact = g->report.kind == FRIX_ROW_CONTACT || g->report.kind == FRIX_ROW_DRILLING;
  real own = fmaxl(v_far(b->c), v_far(b->c0)); /* c = c0 + h/2 v, rounded to what either is */
  return contact ? fmaxl(own, v_far(v_of(g->report.point))) : own;
}

real gap_noise(const judge *j, const group *g) {
  real fall = 1e-5L * j->h * j->h * j->gravity, small = 1e-6L * j->smallest;
  return 1.01L * fmaxl(fminl(fall, small), 2e-11L * v_far(v_of(g->report.point)));
}

/* Speed below which nothing bounces. */
static real bounce_speed(const judge *j) {
  return j->config.restitution_speed >= 0 ? (real)j->config.restitution_speed : 2 * j->h * j->gravity;
}

static bool strikes(const judge *j, const group *g, approach x, real slack) {
  real fastest = fminl(x.before, x.free), speed = bounce_speed(j);
  return g->pair.restitution > 0 && -x.before > speed + slack && x.gap + j->h * fastest <= -slack * j->h;
}

/* kept: part of e. */
static real rigid_demand(const judge *j, const group *g, approach x, bool struck, real kept) {
  real w = x.gap > 0 ? x.gap / j->h : j->config.stabilisation * x.gap / j->h;
  if (!struck) return w;
  if (j->config.restitution == FRIX_RESTITUTION_POISSON) return 0;
  real bounce = kept * g->pair.restitution * x.before;
  return x.gap > 0 || bounce < w ? bounce : w;
}

void allow(group *g, int k, real w) {
  g->least[k] = fminl(g->least[k], w);
  g->most[k] = fmaxl(g->most[k], w);
}

/* Demands between all of e and the part that was kept. */
static void allow_rigid(const judge *j, group *g, approach x, bool struck) {
  allow(g, 0, rigid_demand(j, g, x, struck, 1));
  if (struck && j->config.restitution == FRIX_RESTITUTION_BOUNDED) allow(g, 0, rigid_demand(j, g, x, struck, j->kept));
}

/* Largest radius of curvature over the least half axis: so much faster than its surface the point of contact runs. */
static real bend_of(const frix_shape_config *s) {
  if (s->kind != FRIX_SHAPE_ELLIPSOID && s->kind != FRIX_SHAPE_ELLIPSE) return 1;
  real x = s->half.x, y = s->half.y, z = s->kind == FRIX_SHAPE_ELLIPSE ? x : s->half.z;
  real ratio = fmaxl(x, fmaxl(y, z)) / fminl(x, fminl(y, z));
  return ratio * ratio;
}

/* What the slip may change by until the middle of the step: 4 h/2 (|w| (speed of the point + |v|) + |dw/dt| arm). */
static void allow_slip(const judge *j, group *g, real bend) {
  real speed = 0, turn = 0, own[2], spin[2];
  for (int t = 0; t < 2; t++) {
    int body = g->row[0].term[t].body;
    const judged_body *b = &j->body[body];
    real arm = v_norm(v_sub(v_of(g->report.point), b->c));
    own[t] = v_norm(b->v[BEFORE]), spin[t] = v_norm(b->w[BEFORE]);
    if (j->trees) trees_shown(j, body, &own[t], &spin[t]);
    speed += own[t] + spin[t] * arm;
  }
  for (int t = 0; t < 2; t++) {
    const judged_body *b = &j->body[g->row[0].term[t].body];
    vec w = b->w[BEFORE];
    real arm = v_norm(v_sub(v_of(g->report.point), b->c));
    turn += spin[t] * (bend * speed + own[t]);
    if (b->moves && !b->planar) turn += v_norm(m_mul(b->J_inverse, v_cross(w, m_mul(b->J, w)))) * arm;
  }
  for (int k = 1; k < g->dim && k < 3; k++) g->least[k] = -2 * j->h * turn, g->most[k] = 2 * j->h * turn;
}

/* Whether a body that moves hangs on a joint: its tension damps the free motion, by how much the judge does not know.
 */
static bool tension_acts(const judge *j, const group *g) {
  const judged_body *a = &j->body[g->row[0].term[0].body], *b = &j->body[g->row[0].term[1].body];
  return (a->moves && a->jointed) || (b->moves && b->jointed);
}

/* Impulse of Poisson's second phase: e times the compression, of the part that the impact and not the force made. */
static void find_rebound(const judge *j, group *g, approach x, real slack) {
  real speed = bounce_speed(j);
  g->rebound = g->rebound_noise = 0;
  g->unsure = g->vague = false;
  if (j->config.restitution != FRIX_RESTITUTION_POISSON || !(g->pair.restitution > 0)) return;
  g->unsure = g->first[0] > 0 && fabsl(-x.before - speed) <= slack;
  if (!(g->first[0] > 0) || !(-x.before > speed)) return;
  real part = x.free < x.before && x.before < 0 ? x.before / x.free : 1;
  g->rebound = g->pair.restitution * g->first[0] * part;
  if (j->trees && part < 1) g->rebound_noise = g->rebound * fminl(1, trees_row_noise(j, &g->row[0]) / -x.free);
  g->vague = tension_acts(j, g);
  g->unsure |= j->kept < 1; /* which part of it, the report does not say */
}

/* Compliance of rows: those of rolling and drilling have the natural frequency of the one against sliding. */
static void contact_compliance(const judge *j, group *g) {
  if (!(g->stiffness > 0)) return;
  real R = 1 / (g->stiffness * j->h * j->time);
  real sliding = g->dim > 3 ? g->weight[1] + g->weight[2] : 1, rolling = g->dim > 3 ? g->weight[3] + g->weight[4] : 1;
  for (int k = 0; k < g->dim; k++) g->R[k] = k < 3 ? R : R * rolling / sliding;
}

/* In a world with soft bodies the law is that of the report: what it asks for is not judged. */
static void take_as_reported(group *g) {
  for (int k = 0; k < g->dim; k++) {
    g->R[k] = g->report.compliance[k];
    g->expected[k] = g->report.expected[k];
    g->least[k] = -INFINITY, g->most[k] = INFINITY;
  }
}

/* Velocity of the belt of a shape, world frame. */
static vec belt_of(const judge *j, frix_shape_id shape, const frix_shape_config *s, int body) {
  return q_turn(j->body[body].q, q_turn(q_of(s->pose.q), j->belt[shape.index]));
}

static void read_contact(judge *j, group *g) {
  frix_shape_config a = frix_shape_default(), b = frix_shape_default();
  frix_model_shape(j->model, g->report.shape_a, &a, NULL);
  frix_model_shape(j->model, g->report.shape_b, &b, NULL);
  frix_model_pair(j->model, a.material, b.material, &g->pair);
  contact_rows(j, g);
  vec belt = v_sub(belt_of(j, g->report.shape_a, &a, body_index(j, g->report.a)),
                   belt_of(j, g->report.shape_b, &b, body_index(j, g->report.b)));
  for (int k = 1; k < 3 && k < g->dim; k++) g->row[k].belt = v_dot(belt, v_of(g->report.direction[k]));
  if (j->softs) {
    for (int k = 0; k < g->dim; k++) g->weight[k] = row_weight(j, &g->row[k]);
    take_as_reported(g);
    return;
  }
  g->stiffness = spring_stiffness(j, g);
  g->stiff = g->pair.stiffness == 0 && g->stiffness > 0;
  for (int k = 0; k < g->dim; k++) g->weight[k] = row_weight(j, &g->row[k]);
  approach x = {row_velocity(j, &g->row[0], BEFORE), row_velocity(j, &g->row[0], FREE), g->report.gap};
  real size = 0;
  for (int t = 0; t < 2; t++) {
    const judged_body *m = &j->body[g->row[0].term[t].body];
    size += v_norm(m->v[BEFORE]) + v_norm(m->v[FREE]) +
            v_norm(g->row[0].term[t].ang) * (v_norm(m->w[BEFORE]) + v_norm(m->w[FREE]));
  }
  real slack = 1e-12L * (size + fabsl(x.gap) / j->time);
  if (j->trees) slack += trees_came_noise(j, &g->row[0]);
  bool sure = strikes(j, g, x, slack), perhaps = strikes(j, g, x, -slack);
  g->vague_motion = tension_acts(j, g);
  if (g->vague_motion) {
    approach slow = {x.before, x.before, x.gap};
    sure = strikes(j, g, slow, slack);
    perhaps = g->pair.restitution > 0 && -x.before > bounce_speed(j) - slack;
  }
  real noise = gap_noise(j, g);
  find_rebound(j, g, x, slack);
  contact_compliance(j, g);
  g->struck = sure;
  g->may_bounce = perhaps;
  g->slack[0] = slack;
  allow_slip(j, g, fmaxl(bend_of(&a), bend_of(&b)));
  if (g->stiffness > 0) {
    spring_demand(j, g, x, sure, perhaps);
    return;
  }
  real pushed = rigid_demand(j, g, x, sure, 1), before = x.before;
  bool closed = fabsl((real)g->report.gap) <= noise; /* taken as it is, or as closed */
  if (j->left && x.gap < 0) x.gap = 0;
  g->least[0] = g->most[0] = rigid_demand(j, g, x, sure, 1);
  allow_rigid(j, g, x, sure);
  allow_rigid(j, g, x, perhaps);
  if (j->left && j->config.restitution == FRIX_RESTITUTION_POISSON) allow(g, 0, pushed); /* one of the two phases */
  if (g->rebound > 0 && x.gap < 0) g->late = j->config.stabilisation * x.gap / j->h;
  x.gap = 0;
  if (closed) allow_rigid(j, g, x, perhaps || strikes(j, g, x, -slack));
  if (closed) g->slack[0] += fabsl((real)g->report.gap) / j->h;
  real bounce =
      g->struck && j->config.restitution != FRIX_RESTITUTION_POISSON ? j->kept * g->pair.restitution * before : 0;
  g->push = g->report.gap < 0 && pushed < bounce ? bounce - pushed : -g->late;
}

static void read_drilling(judge *j, group *g, int carrier) {
  const group *c = &j->group[carrier];
  g->carrier = carrier;
  g->pair = c->pair;
  contact_rows(j, g);
  g->bound = g->pair.spinning;
  for (int k = 0; k < g->dim; k++) g->weight[k] = row_weight(j, &g->row[k]);
  g->stiffness = c->stiffness;
  g->stiff = c->stiff;
  if (!(g->stiffness > 0) || c->dim < 3) return;
  g->R[1] = c->R[1] * g->weight[1] / ((c->weight[1] + c->weight[2]) / 2);
  spring_drilling(j, g);
}

/* Springs against rolling and drilling go by the weights of the step, in which joints under tension count. Rows that
 * joints let no impulse move have weights of rounding, or none: whether there is a spring, the rows of sliding tell. */
static void take_report(const judge *j, group *g) {
  bool contact = g->report.kind == FRIX_ROW_CONTACT || g->report.kind == FRIX_ROW_DRILLING;
  const group *slides = g->report.kind == FRIX_ROW_DRILLING ? &j->group[g->carrier] : g;
  bool sprung = contact && slides->dim > 1 && slides->R[1] > 0;
  for (int i = 0; i < g->dim; i++) {
    g->w[i] = g->row[i].count ? (real)g->report.shift[i] : 0;
    if (sprung && (i >= 3 || g->report.kind == FRIX_ROW_DRILLING)) g->R[i] = g->report.compliance[i];
  }
}

void judge_read_rows(judge *j, const frix_sim *sim) {
  int count = frix_sim_row_count(sim), carrier = -1;
  if (count > j->group_capacity) {
    j->group_capacity = 2 * count;
    j->group = realloc(j->group, (size_t)j->group_capacity * sizeof *j->group);
  }
  j->group_count = count;
  j->two_phases = false;
  for (int k = 0; k < count; k++) {
    group *g = &j->group[k];
    memset(g, 0, sizeof *g);
    frix_sim_row(sim, k, &g->report);
    g->dim = g->report.law.dim;
    for (int i = 0; i < g->dim; i++) g->r[i] = g->report.impulse[i], g->first[i] = g->report.compression[i];
    if (g->report.kind == FRIX_ROW_CONTACT) {
      carrier = k;
      read_contact(j, g);
    } else if (g->report.kind == FRIX_ROW_DRILLING) {
      read_drilling(j, g, carrier);
    } else {
      judge_read_joint(j, sim, g);
      for (int i = 0; i < g->dim; i++) g->weight[i] = row_weight(j, &g->row[i]);
    }
    take_report(j, g);
    j->two_phases |= g->rebound > 0;
  }
  for (int k = 0; k < count; k++) judge_allow_projection(j, &j->group[k]);
}
