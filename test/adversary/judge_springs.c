/* Contacts with springs: their stiffness, the gap at which they carry nothing, and the impulses they remember.
 *
 *   u_N = v_N + (gap - natural) / t + R (r_N - e_N),   u_T = v_T + R (r_T - memory - e_T),   R = 1 / (k h t)
 *
 * A material's own stiffness has natural = 0, e = 0. The stiff law has k = 25 m / h^2, m the geometric mean of the
 * masses that move, and a natural gap: that of the last step where the spring was loaded then, else min(gap, 0), also
 * where it opened far, from where it returns to 1e-3 of the smallest body by 0.25 of the stabilisation. Where some
 * contact of the step comes faster than forces make it, contacts may expect impulses e of the blow, as the report says;
 * what else is remembered must be what springs held. What bounces is rigid, and what its load would press by a tenth of
 * the thinner of its two shapes: the report says which, they are judged as rigid, and no other may end so. Memory is r
 * - e of the last step, turned with the contact: with the normal, and about it by the mean spin. It is stretched by
 * what the slip changed within that step, which spins and speeds bound. Only bodies that rest at the end of a step may
 * have springs set anew: to what they carry. */
#include "judge_parts.h"

#include <stdlib.h>
#include <string.h>

static const real KAPPA = 25, LOADED = 1e-3L, THIN = 0.1L, RELAX = 0.25L, SLOP = 1e-3L;
static const real CLOSE = 1e-9L;   /* of a comparison that rounding may turn */
static const real AT_REST = 1e-3L; /* of a step's gravity */

/* A contact of the last step. */
struct spring_memory {
  frix_shape_id a, b;
  uint64_t contact;
  real gap, normal_impulse, drilling;
  int natural_count; /* several where rounding decides */
  real natural[SPRING_CHOICES];
  vec normal, impulse, roll;
  bool may_keep, may_forget; /* its natural gap; both where rounding decides */
};

/* ---- the model ---- */

real spring_stiffness(const judge *j, const group *g) {
  if (g->pair.stiffness != 0) return isinf(g->pair.stiffness) ? 0 : (real)g->pair.stiffness;
  if (j->config.contact != FRIX_CONTACT_KIND_STIFF) return 0;
  const judged_body *a = &j->body[body_index(j, g->report.a)], *b = &j->body[body_index(j, g->report.b)];
  real p = a->moves ? a->mass : 0, q = b->moves ? b->mass : 0;
  real least = KAPPA * (p > 0 && q > 0 ? sqrtl(p * q) : p + q) / (j->h * j->h), R = g->report.compliance[0];
  if (!(R > 0) && g->dim > 1) R = g->report.compliance[1];
  bool link = a->in_tree || b->in_tree; /* its apparent mass, which is its own at least */
  return link && R > 0 ? fmaxl(least, 1 / (R * j->h * j->time)) : least;
}

/* Half of the least side of the box around points. */
static real thin_points(const frix_vec3 *p, int count, bool flat) {
  vec low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < count; k++) {
    low = (vec){fminl(low.x, p[k].x), fminl(low.y, p[k].y), fminl(low.z, p[k].z)};
    high = (vec){fmaxl(high.x, p[k].x), fmaxl(high.y, p[k].y), fmaxl(high.z, p[k].z)};
  }
  vec side = v_sub(high, low);
  return fminl(fminl(side.x, side.y), flat ? INFINITY : side.z) / 2;
}

/* Half thickness of a shape; NAN where the judge does not know what frix takes. */
static real thickness_of(const frix_model *model, const frix_shape_config *s) {
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE:
    case FRIX_SHAPE_DISC:
    case FRIX_SHAPE_CAPSULE: return s->radius;
    case FRIX_SHAPE_CYLINDER: return fminl(s->radius, s->half_length);
    case FRIX_SHAPE_BOX:
    case FRIX_SHAPE_ELLIPSOID: return fminl(s->half.x, fminl(s->half.y, s->half.z));
    case FRIX_SHAPE_RECTANGLE:
    case FRIX_SHAPE_ELLIPSE: return fminl(s->half.x, s->half.y);
    case FRIX_SHAPE_PLANE:
    case FRIX_SHAPE_HALF_PLANE: return INFINITY;
    case FRIX_SHAPE_HULL:
    case FRIX_SHAPE_POLYGON: {
      frix_geometry_config g = frix_geometry_default();
      if (frix_model_geometry(model, s->geometry, &g) != FRIX_OK) return NAN;
      return thin_points(g.point, g.point_count, s->kind == FRIX_SHAPE_POLYGON);
    }
    default: return NAN;
  }
}

void springs_begin(judge *j) {
  j->thinnest = INFINITY;
  for (int k = 0; k < frix_model_count(j->model).shape_count; k++) {
    frix_shape_config s = frix_shape_default();
    frix_model_shape(j->model, frix_model_shape_at(j->model, k), &s, NULL);
    real thin = thickness_of(j->model, &s);
    j->thinnest = isnan(thin) || isnan(j->thinnest) ? NAN : fminl(j->thinnest, thin);
  }
}

void springs_end(judge *j) { free(j->spring); }

/* ---- the last step ---- */

static const spring_memory *last_of(const judge *j, const group *g) {
  for (int k = 0; k < j->spring_count; k++) {
    const spring_memory *s = &j->spring[k];
    if (s->contact == g->report.contact && s->a.index == g->report.shape_a.index &&
        s->b.index == g->report.shape_b.index)
      return s;
  }
  return NULL;
}

/* v turned as the contact was: the least turn from the old normal to the new, and about it the mean spin. */
static vec turned(const judge *j, const group *g, const spring_memory *s, vec v) {
  vec n = v_of(g->report.direction[0]), axis = v_cross(s->normal, n);
  real cosine = v_dot(s->normal, n);
  if (cosine > 0) v = v_add(v_add(v, v_cross(axis, v)), v_mul(1 / (1 + cosine), v_cross(axis, v_cross(axis, v))));
  vec spin = v_add(j->body[body_index(j, g->report.a)].spin, j->body[body_index(j, g->report.b)].spin);
  return q_turn(q_after((quat){1, 0, 0, 0}, v_mul(v_dot(spin, n) / 2, n), j->last_h), v);
}

/* Impulses that the rows of a contact remember, and how much they may be stretched. */
static void find_memory(const judge *j, group *g) {
  const spring_memory *s = last_of(j, g);
  if (!s) return;
  real longer = j->h / j->last_h; /* forces stay */
  vec impulse = v_mul(longer, turned(j, g, s, s->impulse)), roll = v_mul(longer, turned(j, g, s, s->roll));
  bool other = v_dot(impulse, v_of(g->report.direction[0])) < 0; /* another contact under the same name */
  for (int k = 1; k < g->dim; k++) {
    g->memory[k] = other ? 0 : v_dot(k < 3 ? impulse : roll, v_of(g->report.direction[k]));
    g->stretch[k] = k < 3 ? g->most[k] / (longer * longer) + g->R[k] * 0x1p-50L * v_norm(s->impulse)
                          : g->R[k] * 0x1p-50L * v_norm(s->roll);
    if (!(s->normal_impulse > CLOSE * v_norm(s->impulse))) g->stretch[k] = INFINITY; /* rounding tells a side */
    g->least[k] = g->most[k] = 0;
  }
}

/* ---- what the normal row asks for ---- */

/* The spring may ask for w, which is no other choice where only rounding differs. */
static void ask_for(group *g, real w) {
  allow(g, 0, w);
  for (int k = 0; k < g->ask_count; k++)
    if (fabsl(g->ask[k] - w) <= 1e-9L * fabsl(w)) return;
  if (g->ask_count < SPRING_CHOICES) g->ask[g->ask_count++] = w;
}

/* How far a demand is from the nearest choice. */
static real ask_miss(const group *g, real w) {
  real least = INFINITY;
  for (int k = 0; k < g->ask_count; k++) least = fminl(least, fabsl(g->ask[k] - w));
  return least;
}

real demand_miss(const group *g, int k) {
  real w = g->report.shift[k];
  bool chooses = k == 0 && g->ask_count > 0 && !g->held && g->report.compliance[0] > 0;
  return chooses ? ask_miss(g, w) : fmaxl(g->least[k] - w, w - g->most[k]);
}

static void allow_natural(const judge *j, group *g, const spring_memory *s, real natural) {
  real slop = SLOP * j->least_radius, gap = g->report.gap;
  bool rests = s && s->gap == gap;
  if (natural < -slop && !rests) natural += RELAX * j->config.stabilisation * (-slop - natural);
  ask_for(g, (gap - natural) / j->time);
}

/* The natural gap of the last step, or where that was of another length the one at which its force is the same; where
 * the overlap opened by a tenth of the thinnest shape, what is left of it. */
static void allow_kept(const judge *j, group *g, const spring_memory *s) {
  for (int k = 0; k < s->natural_count; k++) {
    real gap = g->report.gap, natural = s->natural[k];
    if (j->h != j->last_h && s->normal_impulse > 0) natural = gap + s->normal_impulse / (j->last_h * g->stiffness);
    real left = fminl(0, gap), opened = left - natural, far = THIN * j->thinnest;
    if (!(opened > far * (1 + CLOSE))) allow_natural(j, g, s, natural);
    if (!(opened < far * (1 - CLOSE))) allow_natural(j, g, s, left);
  }
}

/* Whether both bodies come to rest in the step, and the spring carries what acts. */
static bool is_held(const judge *j, const group *g) {
  real slow = AT_REST * j->h * j->gravity;
  for (int t = 0; t < 2; t++) {
    const judged_body *b = &j->body[g->row[0].term[t].body];
    vec at_point = v_add(b->v[AFTER], v_cross(b->w[AFTER], v_sub(v_of(g->report.point), b->c)));
    real before = v_norm(b->v[BEFORE]), speed = v_norm(b->v[AFTER]) + b->reach * v_norm(b->w[AFTER]);
    if (!b->moves) speed = fabsl(v_dot(at_point, v_of(g->report.direction[0]))); /* ground may run under what rests */
    if (speed > slow || before > 4 * j->h * j->gravity) return false;
  }
  real w = g->report.shift[0], R = g->report.compliance[0], r = g->report.impulse[0];
  if (g->report.kind == FRIX_ROW_DRILLING || R == 0) return true; /* rigid along the normal: only tangents remember */
  if (!(r > 0)) return w >= -slow - g->slack[0]; /* it opens, slower than that: what it would carry is as little */
  return R > 0 && fabsl(w + R * (r - g->expected[0])) <= slow + 1e-6L * R * r + g->slack[0];
}

/* What the contact expects of a blow. */
static void find_expected(group *g) {
  for (int k = 0; k < g->dim; k++) {
    g->expected[k] = g->report.expected[k];
    g->blow |= g->report.expected[k] != 0;
  }
}

real spring_remembers(const group *g, int k) { return (real)g->report.memory[k] - g->expected[k]; }

/* The report says what is remembered and expected together, rounded to the larger. */
static bool remembers_otherwise(const group *g, int k) {
  real rounding = 0x1p-50L * fabsl((real)g->report.memory[k]);
  real other = fabsl(spring_remembers(g, k) - g->memory[k]) * g->R[k] - g->stretch[k];
  return k > 0 && other > g->R[k] * (1e-9L * fabsl(g->memory[k]) + rounding);
}

static bool asks_otherwise(const group *g, int k) {
  return demand_miss(g, k) > 1e-9L * fabsl(g->least[k]) + g->slack[k] || remembers_otherwise(g, k);
}

/* Whether a surface runs: along it springs may go on as they are. */
static bool runs(const judge *j, const group *g) {
  bool any = false;
  for (int k = 1; k < g->dim; k++) {
    any |= g->row[k].belt != 0;
    for (int t = 0; t < g->row[k].count; t++) {
      const judged_body *b = &j->body[g->row[k].term[t].body];
      any |= !b->moves && v_norm(b->v[AFTER]) + v_norm(b->w[AFTER]) > 0;
    }
  }
  return any;
}

static void take_held(const judge *j, group *g) {
  bool other = false;
  for (int k = 0; k < g->dim; k++) other |= asks_otherwise(g, k);
  if (!other || !g->stiff || !is_held(j, g)) return;
  g->held = true;
  if (g->report.kind == FRIX_ROW_CONTACT && g->report.compliance[0] > 0) allow(g, 0, g->report.shift[0]);
  bool kept = runs(j, g);
  for (int k = 1; k < g->dim; k++) kept &= !remembers_otherwise(g, k);
  for (int k = 1; k < g->dim && !kept; k++) {
    bool turns = k >= 3 || g->report.kind == FRIX_ROW_DRILLING;
    real slow = AT_REST * j->h * j->gravity;
    g->memory[k] = g->r[k] - g->expected[k];
    g->stretch[k] = turns ? slow / j->least_radius : slow;
  }
}

void spring_drilling(const judge *j, group *g) {
  const spring_memory *s = last_of(j, g);
  if (s) g->memory[1] = s->drilling * j->h / j->last_h;
  take_held(j, g);
}

void spring_demand(const judge *j, group *g, approach x, bool sure, bool perhaps) {
  const spring_memory *s = last_of(j, g);
  real bounce = j->config.restitution == FRIX_RESTITUTION_POISSON ? 0 : g->pair.restitution * x.before;
  find_memory(j, g);
  g->least[0] = INFINITY, g->most[0] = -INFINITY;
  if (!sure && !g->stiff) ask_for(g, x.gap / j->time);
  if (!sure && g->stiff && (!s || s->may_forget)) allow_natural(j, g, s, fminl(0, x.gap));
  if (!sure && g->stiff && s && s->may_keep) allow_kept(j, g, s);
  if (perhaps) allow(g, 0, bounce);
  if (perhaps && j->config.restitution == FRIX_RESTITUTION_BOUNDED) allow(g, 0, j->kept * bounce);
  bool rigid = g->report.compliance[0] == 0 && (!g->stiff || g->dim < 2 || g->report.compliance[1] == 0);
  bool bounces = sure || (perhaps && rigid);
  for (int k = 0; bounces && k < (g->stiff ? g->dim : 1); k++) g->R[k] = 0;
  if (g->stiff && !bounces && g->report.compliance[0] == 0) {
    real noise = gap_noise(j, g);
    g->R[0] = 0;
    g->least[0] = INFINITY, g->most[0] = -INFINITY;
    allow(g, 0, x.gap > 0 ? x.gap / j->h : j->config.stabilisation * x.gap / j->h);
    if (fabsl(x.gap) <= noise || (j->left && x.gap < 0)) allow(g, 0, 0);
    g->push = x.gap < 0 ? -j->config.stabilisation * x.gap / j->h : 0;
  }
  find_expected(g);
  take_held(j, g);
}

/* Least velocity of a row before the step. A body whose pose at the half step is not known keeps its momentum L: it
 * turns with |L| over its least moment of inertia at most, about any axis. */
static real least_before(const judge *j, const row *r) {
  real sum = r->belt;
  for (int k = 0; k < r->count; k++) {
    const judged_body *b = &j->body[r->term[k].body];
    vec w = b->w[BEFORE], ang = r->term[k].ang;
    real most = (b->J_inverse.row[0].x + b->J_inverse.row[1].y + b->J_inverse.row[2].z) * v_norm(m_mul(b->J, w));
    sum += v_dot(r->term[k].lin, b->v[BEFORE]);
    sum += b->moves && !b->sharp ? -v_norm(ang) * most : v_dot(ang, w);
  }
  return sum;
}

/* Whether a contact is struck: faster than gravity and the forces on it make it, by the least that it may ask for. */
static bool is_struck(const judge *j, const group *c) {
  real least = c->least[0], before = row_velocity(j, &c->row[0], BEFORE), free = row_velocity(j, &c->row[0], FREE);
  for (int k = 0; k < c->ask_count; k++) least = fminl(least, c->ask[k]);
  real push = j->h * j->gravity + fmaxl(0, before - free);
  return c->vague_motion || -least_before(j, &c->row[0]) - least > push * (1 - CLOSE);
}

/* e is not below zero, and some contact of the step is struck. */
void judge_blow(const judge *j, const group *g, verdict *out) {
  bool struck = false;
  if (!g->blow || g->held || is_held(j, g)) return; /* what is stopped for good expects what it came with */
  for (int k = 0; k < j->group_count && !struck; k++) {
    const group *c = &j->group[k];
    struck = c->stiff && c->report.kind == FRIX_ROW_CONTACT && is_struck(j, c);
  }
  if (!struck || g->expected[0] < 0)
    note(out, LAW_DEMAND, 1e6L, "bodies %u, %u: expects %.4Lg N s of a blow that there is not", g->report.a.index,
         g->report.b.index, g->expected[0]);
}

void judge_pressed(const judge *j, const group *g, verdict *out) {
  if (!g->stiff || g->report.kind != FRIX_ROW_CONTACT || !(g->R[0] > 0)) return;
  frix_shape_config a = frix_shape_default(), b = frix_shape_default();
  frix_model_shape(j->model, g->report.shape_a, &a, NULL);
  frix_model_shape(j->model, g->report.shape_b, &b, NULL);
  real thin = fminl(thickness_of(j->model, &a), thickness_of(j->model, &b));
  real natural = g->report.gap - (real)g->report.shift[0] * j->time;
  real pressed = g->R[0] * j->time * (g->r[0] - g->expected[0]);
  real depth = pressed - fmaxl(0, natural), grant = THIN * thin * (1 + 1e-6L);
  real deeper = pressed - (natural - g->report.gap); /* in this step */
  if (!isnan(thin) && depth > 0 && deeper > 0.01L * grant)
    note(out, LAW_OVERLAP, depth / grant,
         "bodies %u, %u: the spring is pressed by %.4Lg, a tenth of the shape is %.4Lg", g->report.a.index,
         g->report.b.index, depth, grant);
}

/* ---- after the step ---- */

/* The gap at which it carries nothing: what the report says. Where a step that is not certified asks otherwise than the
 * spring remembers, it was set for rest, and is as it was. */
static void find_natural(const judge *j, const group *g, spring_memory *out) {
  real shift = g->report.shift[0], near = 1e-9L * fabsl(shift) + g->slack[0];
  bool undone = !j->certified && g->R[0] > 0 && g->ask_count > 0 && ask_miss(g, shift) > near;
  out->natural_count = undone ? g->ask_count : 1;
  for (int k = 0; k < out->natural_count; k++) {
    real natural = g->report.gap - (undone ? g->ask[k] : shift) * j->time;
    out->natural[k] = !g->stiff ? 0 : g->r[0] > 0 || natural < 0 ? natural : 0;
  }
}

static void keep_spring(judge *j, const group *g, const spring_memory *s, spring_memory *out) {
  real r = g->r[0], before = s ? s->normal_impulse : 0;
  *out = (spring_memory){.a = g->report.shape_a, .b = g->report.shape_b, .contact = g->report.contact};
  out->gap = g->report.gap;
  out->normal_impulse = fmaxl(0, r - g->expected[0]);
  out->normal = v_of(g->report.direction[0]);
  for (int k = 0; k < g->dim; k++) {
    real holds = k ? g->r[k] - g->expected[k] : out->normal_impulse;
    if (k < 3) out->impulse = v_mad(out->impulse, holds, v_of(g->report.direction[k]));
    if (k >= 3) out->roll = v_mad(out->roll, holds, v_of(g->report.direction[k]));
  }
  find_natural(j, g, out);
  bool acted = g->report.compliance[0] > 0, held = g->held && j->certified;
  bool set = j->certified && g->stiff && !(r > 0) && is_held(j, g); /* for rest: that changes nothing without load */
  real load = before - LOADED * r, natural = out->natural[0], least = natural;
  for (int k = 1; k < out->natural_count; k++)
    natural = fmaxl(natural, out->natural[k]), least = fminl(least, out->natural[k]);
  /* the report's shift is a difference of velocities, ground that moves included: natural gaps are rounded like them */
  real none = CLOSE * fabsl(out->gap) + g->slack[0] * j->time;
  out->may_forget = !acted || (!held && load <= CLOSE * before);
  out->may_keep = acted && (held || set || natural > -none || load > -CLOSE * before);
  if (least > none && acted) out->may_forget = false;
}

void springs_keep(judge *j) {
  spring_memory *list = calloc((size_t)j->group_count + 1, sizeof *list);
  int count = 0, last = -1;
  for (int k = 0; k < j->group_count; k++) {
    const group *g = &j->group[k];
    if (g->report.kind == FRIX_ROW_DRILLING && last == k - 1) list[count - 1].drilling = g->r[1];
    if (g->report.kind != FRIX_ROW_CONTACT || !(g->r[0] > 0 || g->report.gap <= 0)) continue;
    keep_spring(j, g, last_of(j, g), &list[count++]);
    last = k;
  }
  free(j->spring);
  j->spring = list;
  j->spring_count = count;
  j->last_h = j->h;
}
