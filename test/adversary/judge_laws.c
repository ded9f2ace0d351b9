/* The laws of a step, group by group.
 *
 * A group is right where some exact (u', r') lies within the tolerances of (u, r):
 *
 *   open    r' = 0, u' >= 0                     closed  u'_N = 0, r'_N >= 0, friction:
 *   stick   u'_T = 0, r'_T within the bound     slip    r'_T = what takes the most power from u'_T
 *
 * An error of u by `near` turns the direction of slip by near / |u_T|. The bound follows r_N itself, so that no
 * tolerance is multiplied by mu. */
#include "judge_soft.h"
#include "judge_trees.h"

#include <stdio.h>
#include <string.h>

static const real FLOOR = 1e-13L; /* of sums of some tens of doubles, beside all they are made of */

static real ratio(real x, real grant) { return x <= 0 ? 0 : x / grant; }

/* S of a row, and what may be missing in u and r. */
/* Part of the row's weight that tension takes: known of rows that only turn a body from what it took of the spin, S =
 * |damped| / |w| beside the inertia; of others all of the turning. */
static real weight_of_tension(const judged_body *b, const term *x, vec lin) {
  if (!b->jointed || b->in_tree) return 0;
  real turns = v_dot(x->ang, m_mul(b->J_inverse, x->ang)), spin = v_norm(b->w[AFTER]);
  if (v_norm(lin) > 0) return turns;
  real S = v_norm(b->damped) > 0 && spin > 0 ? v_norm(b->damped) / spin : 0, both = v_dot(x->ang, x->ang) + S * turns;
  return both > 0 ? turns * (S * turns / both) : 0;
}

static void find_tolerance(const judge *j, group *g, int k) {
  real tolerance = 100 * (real)j->config.tolerance, own = fabsl(g->row[k].belt), all = own;
  real size = 0, spin = 0, turn = 0;
  for (int t = 0; t < g->row[k].count; t++) {
    const term *x = &g->row[k].term[t];
    const judged_body *b = &j->body[x->body];
    if (!b->moves) {
      own += fabsl(v_dot(x->lin, b->v[BEFORE])) + fabsl(v_dot(x->ang, b->w[BEFORE]));
      continue;
    }
    vec lin = x->lin;
    if (b->planar) lin.z = 0;
    real root = sqrtl(fmaxl(
        0, v_dot(lin, lin) / b->mass + v_dot(x->ang, m_mul(b->J_inverse, x->ang)) + (b->soft ? soft_weight(j, x) : 0)));
    turn += weight_of_tension(b, x, lin);
    own += root * b->own;
    all += root * b->all;
    size += v_norm(x->lin) * b->size + v_norm(x->ang);
    spin += v_norm(x->lin) * farthest(g, b) * (v_norm(b->w[BEFORE]) + v_norm(b->w[AFTER]));
  }
  bool unilateral = k == 0 && (g->report.kind == FRIX_ROW_CONTACT || g->report.kind == FRIX_ROW_LIMIT);
  real asked = unilateral && g->w[k] > 0 ? 0 : fabsl(g->w[k]);
  own += asked + g->R[k] * fabsl((real)g->report.memory[k]);
  all += own + g->R[k] * fabsl(g->r[k]);
  real S = fminl(all, fmaxl(own, size / j->h));
  g->scale[k] = S;
  g->near[k] = tolerance * S + fminl(FLOOR * all, 100 * tolerance * S) + g->slack[k] + 8 * 0x1p-52L * spin;
  real W = g->weight[k] - turn + g->R[k]; /* tension makes jointed bodies harder to turn, by how much is not known */
  g->light[k] = W > 0 ? g->near[k] / W : INFINITY;
}

static real velocity_of(const judge *j, const group *g, int k, moment when, const real *r) {
  real u = row_velocity(j, &g->row[k], when) + g->w[k];
  return g->R[k] > 0 ? u + g->R[k] * (r[k] - g->report.memory[k]) : u;
}

static real length(int n, const real *x) { return n == 1 ? fabsl(x[0]) : hypotl(x[0], x[1]); }

/* ---- friction over n rows from `first` on; most: the impulse r* that takes most power from u ---- */

typedef struct friction {
  int n, first;
  real half[2];  /* half axes of the set of impulses */
  real axis[2];  /* direction of half[0] among the two rows */
  real relative; /* what the bound itself may be wrong by, relative */
} friction;

static void into_axes(const friction *f, const real *x, real *out) {
  out[0] = x[0], out[1] = f->n > 1 ? x[1] : 0;
  if (f->n < 2 || f->half[0] == f->half[1]) return;
  real c = f->axis[0], s = f->axis[1];
  out[0] = c * x[0] + s * x[1], out[1] = c * x[1] - s * x[0];
}

static real friction_excess(const group *g, const friction *f, const real *r, const real *u, real tolerance);

/* No friction along one of the two axes: none there, and along the other as between two rows. */
static real one_way_excess(const group *g, const friction *f, const real *x, const real *v, real tolerance) {
  int along = f->half[0] > 0 ? 0 : 1;
  int stiff = g->near[f->first] > g->near[f->first + 1] ? f->first : f->first + 1;
  friction line = {1, stiff, {f->half[along], f->half[along]}, {1, 0}, f->relative};
  real grant = fmaxl(g->light[f->first], g->light[f->first + 1]) + tolerance * f->half[along];
  return fmaxl(friction_excess(g, &line, x + along, v + along, tolerance), ratio(fabsl(x[1 - along]), grant));
}

static real friction_excess(const group *g, const friction *f, const real *r, const real *u, real tolerance) {
  real near = 0, light = 0, x[2], v[2], most[2] = {0, 0};
  for (int k = 0; k < f->n; k++) {
    near = fmaxl(near, g->near[f->first + k]);
    light = fmaxl(light, g->light[f->first + k]);
  }
  into_axes(f, r, x);
  into_axes(f, u, v);
  if (f->n > 1 && (f->half[0] > 0) != (f->half[1] > 0)) return one_way_excess(g, f, x, v, tolerance);
  real slip = length(2, v), size = length(2, x), big = fmaxl(f->half[0], f->half[1]),
       small = f->n > 1 ? fminl(f->half[0], f->half[1]) : f->half[0];
  light = fmaxl(light, tolerance * size) + f->relative * big;
  if (!isfinite(big)) return ratio(slip, near);
  /* beyond the bound: at least this far, for a point of this radius in the axes of the set */
  real out = 0;
  if (small > 0) {
    real radius = hypotl(x[0] / f->half[0], f->n > 1 ? x[1] / f->half[1] : 0);
    out = radius > 1 ? size * (1 - 1 / radius) * (small / big) : 0;
  } else {
    for (int k = 0; k < 2; k++) out = fmaxl(out, fabsl(x[k]) - (f->n > k ? f->half[k] : 0));
  }
  real beyond = ratio(out, light);
  real stick = ratio(slip, near);
  if (!(slip > 0)) return beyond;
  real power = hypotl(f->half[0] * v[0], f->n > 1 ? f->half[1] * v[1] : 0);
  for (int k = 0; k < f->n && power > 0; k++) most[k] = -f->half[k] * f->half[k] * v[k] / power;
  real miss[2] = {x[0] - most[0], x[1] - most[1]};
  real turned = fminl(2, 2 * near / slip * (small > 0 ? big / small : 1));
  real slide = ratio(length(2, miss), light + turned * big);
  return fmaxl(beyond, fminl(stick, slide));
}

/* ---- contacts ---- */

real contact_excess(const judge *j, const group *g, const real *r, const real *u, real known, bool slips, char *what,
                    size_t room) {
  real tolerance = 100 * (real)j->config.tolerance, N = fmaxl(0, r[0]);
  real force = 0, open, closed;
  if (g->dim > 1) {
    friction f = {g->dim == 2 ? 1 : 2, 1, {g->pair.mu * N, g->pair.mu * N}, {1, 0}, tolerance};
    if (g->report.law.cone == FRIX_CONE_ELLIPTIC) {
      f.half[1] = g->pair.mu2 * N;
      f.axis[0] = g->report.law.axis[0], f.axis[1] = g->report.law.axis[1];
    } else if (g->report.law.mu != g->pair.mu) { /* the axis of friction stands on the surface: the smaller one */
      f.half[0] = f.half[1] = fminl(g->pair.mu, g->pair.mu2) * N;
    }
    real still[2] = {0, 0};
    force = friction_excess(g, &f, r + 1, slips ? u + 1 : still, tolerance);
  }
  if (g->dim == 5) {
    friction f = {2, 3, {g->pair.rolling * N, g->pair.rolling * N}, {1, 0}, tolerance};
    real still[2] = {0, 0};
    force = fmaxl(force, friction_excess(g, &f, r + 3, slips ? u + 3 : still, tolerance));
  }
  real free = r[0] - known, pull = fmaxl(0, -free), noise = known > 0 ? g->rebound_noise : 0;
  closed = fmaxl(ratio(fabsl(u[0]), g->near[0]), ratio(pull, noise + fmaxl(g->light[0], tolerance * fabsl(r[0]))));
  open = fmaxl(ratio(-u[0], g->near[0]), ratio(fabsl(free), g->light[0] + tolerance * known + noise));
  snprintf(what, room,
           "u_N %.3Lg u_T %.3Lg m/s (granted %.2Lg, %.2Lg), r_N %.6Lg (known %.6Lg) r_T %.6Lg N s, mu %g, gap %.3g: "
           "normal %.2Lg friction %.2Lg",
           u[0],
           g->dim > 2   ? length(2, u + 1)
           : g->dim > 1 ? fabsl(u[1])
                        : 0,
           g->near[0], g->near[g->dim > 1], r[0], known,
           g->dim > 2   ? length(2, r + 1)
           : g->dim > 1 ? fabsl(r[1])
                        : 0,
           g->pair.mu, g->report.gap, fminl(open, closed), force);
  if (known > 0) return fmaxl(force, fminl(open, closed));
  for (int k = 1; k < g->dim; k++) open = fmaxl(open, ratio(fabsl(r[k]), g->light[k]));
  return fminl(open, fmaxl(closed, force));
}

/* One phase. The report says what rows asked for in the first. */
static void judge_contact(const judge *j, group *g, moment when, verdict *out) {
  real r[FRIX_MAX_DIM], u[FRIX_MAX_DIM], known = 0;
  bool last = when == AFTER, slips = true;
  char what[400], why[400];
  for (int k = 0; k < g->dim; k++) {
    r[k] = j->two_phases ? (last ? g->r[k] - g->first[k] : g->first[k]) : g->r[k];
    u[k] = velocity_of(j, g, k, when, when == AFTER ? g->r : g->first);
  }
  if (j->two_phases && last) {
    known = g->rebound;
    u[0] += g->late;
    u[0] -= g->R[0] * known;     /* the spring does not carry it */
    slips = !(g->stiffness > 0); /* two springs in a row */
  }
  real excess = contact_excess(j, g, r, u, known, slips, what, sizeof what);
  if (j->left && j->two_phases && last && g->report.gap < 0 && g->w[0] < 0) { /* the second phase left the overlap */
    u[0] -= g->w[0];
    excess = fminl(excess, contact_excess(j, g, r, u, known, slips, why, sizeof why));
  }
  if (g->unsure || (g->vague && j->two_phases && last)) return;
  note(out, LAW_CONTACT, excess, "bodies %u, %u%s: %s", g->report.a.index, g->report.b.index,
       !j->two_phases ? ""
       : last         ? " (decompression)"
                      : " (compression)",
       what);
}

/* On an edge of a soft surface the row is taken with the weights of one of its triangles: any will do. */
static void judge_soft_contact(const judge *j, group *g, moment when, verdict *out) {
  verdict best, one;
  int places[2] = {g->row[0].term[0].places, g->row[0].term[1].places};
  best.excess[LAW_CONTACT] = INFINITY;
  for (int a = 0; a == 0 || a < places[0]; a++)
    for (int b = 0; b == 0 || b < places[1]; b++) {
      memset(&one, 0, sizeof one);
      for (int k = 0; k < g->dim; k++) g->row[k].term[0].at = a, g->row[k].term[1].at = b;
      judge_contact(j, g, when, &one);
      if (one.excess[LAW_CONTACT] < best.excess[LAW_CONTACT]) best = one;
    }
  if (isfinite(best.excess[LAW_CONTACT]))
    note(out, LAW_CONTACT, best.excess[LAW_CONTACT], "%s", best.text[LAW_CONTACT]);
}

static void judge_drilling(const judge *j, group *g, moment when, verdict *out) {
  const group *c = &j->group[g->carrier];
  real tolerance = 100 * (real)j->config.tolerance;
  bool second = j->two_phases && when == AFTER;
  real r = second ? g->r[1] - g->first[1] : g->first[1], N = second ? c->r[0] - c->first[0] : c->first[0];
  if (!j->two_phases) r = g->r[1], N = c->r[0];
  real u = velocity_of(j, g, 1, when, when == AFTER ? g->r : g->first), half = g->bound * fmaxl(0, N), still = 0;
  friction f = {1, 1, {half, half}, {1, 0}, tolerance};
  bool bounds_only = second; /* friction of the known impulse has no part in it */
  real excess = friction_excess(g, &f, &r, bounds_only ? &still : &u, tolerance);
  note(out, LAW_DRILLING, excess, "bodies %u, %u: drilling impulse %.4Lg, bound %.4Lg N m s, spin %.3Lg rad/s (%.2Lg)",
       g->report.a.index, g->report.b.index, r, half, u, g->near[1]);
}

/* ---- joints ---- */

static void judge_limit(const judge *j, group *g, moment when, verdict *out) {
  real r = !j->two_phases ? g->r[0] : when == AFTER ? g->r[0] - g->first[0] : g->first[0];
  real tolerance = 100 * (real)j->config.tolerance, u = velocity_of(j, g, 0, when, g->r);
  real closed = fmaxl(ratio(fabsl(u), g->near[0]), ratio(fmaxl(0, -r), fmaxl(g->light[0], tolerance * fabsl(r))));
  real open = fmaxl(ratio(-u, g->near[0]), ratio(fabsl(r), g->light[0]));
  note(out, LAW_LIMIT, fminl(open, closed), "joint %u %s limit: rate to it %.3Lg (granted %.2Lg), impulse %.4Lg",
       g->report.joint.index, g->report.upper ? "upper" : "lower", u, g->near[0], r);
}

static void judge_held(const judge *j, group *g, moment when, verdict *out) {
  bool spring = g->report.kind == FRIX_ROW_SPRING;
  for (int k = 0; k < g->dim; k++) {
    real u = velocity_of(j, g, k, when, when == AFTER ? g->r : g->first);
    note(out, spring ? LAW_SPRING : LAW_JOINT, ratio(fabsl(u), g->near[k]),
         "joint %u row %d: velocity %.3Lg (granted %.2Lg), impulse %.4Lg", g->report.joint.index, k, u, g->near[k],
         g->r[k]);
  }
}

/* A ball joint turns only where its friction is at the bound and against the spin, whatever directions the rows have.
 * The spin of a link that stands is rounded like the rates of what moves on it. */
static void judge_ball(const judge *j, const group *g, verdict *out) {
  int a = body_index(j, g->report.a), b = body_index(j, g->report.b);
  vec spin = v_sub(j->body[b].w[AFTER], j->body[a].w[AFTER]), torque = {0, 0, 0};
  real near = 0, light = 0;
  for (int k = g->report.law.cone == FRIX_CONE_BILATERAL ? 0 : 1; k < g->dim; k++) {
    torque = v_mad(torque, g->r[k], v_of(g->report.direction[k]));
    near = fmaxl(near, g->near[k]), light = fmaxl(light, g->light[k]);
    if (j->trees) near = fmaxl(near, trees_row_noise(j, &g->row[k]));
  }
  real size = v_norm(torque), turns = v_norm(spin), grant = light + 100 * (real)j->config.tolerance * g->bound;
  vec miss = turns > 0 ? v_mad(torque, g->bound / turns, spin) : (vec){0, 0, 0}; /* from -bound spin / |spin| */
  real turned = fminl(2, 2 * near / turns);
  real slides = turns > 0 ? ratio(v_norm(miss), grant + turned * g->bound) : INFINITY;
  note(out, LAW_BALL_FRICTION, fmaxl(ratio(size - g->bound, grant), fminl(ratio(turns, near), slides)),
       "joint %u: turns with %.3Lg rad/s (granted %.2Lg) under friction %.4Lg of %.4Lg N m s", g->report.joint.index,
       turns, near, size, g->bound);
}

/* Bounded motors and dry friction; the bound holds over both phases together. */
static void judge_bounded(const judge *j, group *g, moment when, verdict *out) {
  real tolerance = 100 * (real)j->config.tolerance, u[2], still[2] = {0, 0};
  if (g->joint == FRIX_JOINT_BALL && !j->two_phases) judge_ball(j, g, out);
  if (g->joint == FRIX_JOINT_BALL && g->report.law.cone == FRIX_CONE_BILATERAL) return;
  int first = isfinite(g->bound) ? 1 : 0, n = g->dim - first;
  bool second = j->two_phases && when == AFTER;
  const real *r = second || !j->two_phases ? g->r + first : g->first + first;
  for (int k = 0; k < n && k < 2; k++) u[k] = velocity_of(j, g, first + k, when, g->r);
  friction f = {n, first, {g->bound, g->bound}, {1, 0}, tolerance};
  real excess = friction_excess(g, &f, r, second ? still : u, tolerance);
  note(out, g->report.kind == FRIX_ROW_MOTOR ? LAW_MOTOR : LAW_JOINT_FRICTION, excess,
       "joint %u: rate off by %.3Lg (granted %.2Lg), impulse %.6Lg, bound %.6Lg", g->report.joint.index, u[0],
       g->near[first], length(n, r), g->bound);
}

bool group_is_sharp(const judge *j, const group *g) {
  for (int k = 0; k < g->row[g->dim - 1].count; k++)
    if (!j->body[g->row[g->dim - 1].term[k].body].sharp) return false;
  return true;
}

/* Whether the velocities between the phases are known: not of bodies that hang on joints, whose tension and dampers act
 * there on a spin that nobody sees, and not of links, where they follow from the impulses on all links of the tree: the
 * rounding of those on heavy links moves a light one. */
static bool is_known(const judge *j, const group *g, moment when) {
  for (int k = 0; when == COMPRESSED && k < g->row[g->dim - 1].count; k++) {
    const judged_body *b = &j->body[g->row[g->dim - 1].term[k].body];
    if (b->blurred || b->jointed || b->in_tree || v_norm(b->damped) > 0) return false;
  }
  return true;
}

static void judge_group(judge *j, group *g, moment when, verdict *out) {
  if (!is_known(j, g, when) || !group_is_sharp(j, g)) return;
  switch (g->report.kind) {
    case FRIX_ROW_CONTACT:
      if (g->row[0].term[0].places + g->row[0].term[1].places > 0)
        judge_soft_contact(j, g, when, out);
      else
        judge_contact(j, g, when, out);
      break;
    case FRIX_ROW_DRILLING: judge_drilling(j, g, when, out); break;
    case FRIX_ROW_LIMIT: judge_limit(j, g, when, out); break;
    case FRIX_ROW_FRICTION:
    case FRIX_ROW_MOTOR: judge_bounded(j, g, when, out); break;
    default: judge_held(j, g, when, out);
  }
}

/* What a row asks for must lie where state and model allow it. */
static void judge_demand(const judge *j, const group *g, verdict *out) {
  if (!group_is_sharp(j, g) || j->softs) return;
  for (int k = 0; k < g->dim; k++) {
    real miss = demand_miss(g, k), grant = g->near[k];
    if (g->row[k].count && miss > 0)
      note(out, LAW_DEMAND, miss / grant,
           "%s, bodies %u, %u, joint %u row %d: asks for %.6Lg, allowed %.6Lg to %.6Lg (%.2Lg), gap %.3g",
           frix_row_kind_name(g->report.kind), g->report.a.index, g->report.b.index, g->report.joint.index, k, g->w[k],
           g->least[k], g->most[k], grant, g->report.gap);
    real R = g->report.compliance[k], forgets = R * fabsl(spring_remembers(g, k) - g->memory[k]) - g->stretch[k];
    bool remembers = g->stiffness > 0 && (k > 0 || g->report.kind == FRIX_ROW_CONTACT);
    if (remembers && forgets > 0)
      note(out, LAW_DEMAND, forgets / grant, "%s, bodies %u, %u row %d: remembers %.6Lg N s, %.6Lg expected (%.2Lg)",
           frix_row_kind_name(g->report.kind), g->report.a.index, g->report.b.index, k, spring_remembers(g, k),
           g->memory[k], (grant + g->stretch[k]) / R);
    bool bound = g->report.kind == FRIX_ROW_DRILLING && k == 0; /* moves nobody */
    if (g->row[k].count && !bound && fabsl(g->R[k] - R) > 1e-6L * (fabsl(g->R[k]) + fabsl(R)))
      note(out, LAW_DEMAND, 1e6L, "bodies %u, %u, joint %u row %d: compliance %.6Lg, %.6Lg expected", g->report.a.index,
           g->report.b.index, g->report.joint.index, k, R, g->R[k]);
  }
}

void judge_laws(judge *j, verdict *out) {
  for (int k = 0; k < j->group_count; k++)
    for (int i = 0; i < j->group[k].dim; i++) find_tolerance(j, &j->group[k], i);
  for (int k = 0; k < j->group_count; k++) {
    judge_demand(j, &j->group[k], out);
    if (!j->softs) judge_blow(j, &j->group[k], out);
    if (!j->softs) judge_pressed(j, &j->group[k], out);
    if (j->two_phases) judge_group(j, &j->group[k], COMPRESSED, out);
    judge_group(j, &j->group[k], AFTER, out);
  }
}
