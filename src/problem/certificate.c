/* The certificate.
 *
 *   u~ = u + s(u) e_N  (law coulomb)      u~ = u  (law associated)
 *   contact_residual = | r - P_K(r - rho u~) | / min(|r|, 1000 rho |q|),   rho = 1 / mean diag W
 *   joint_residual   = | rho_b u_b | / min(max(|lambda|, rho_b |q_b|), 1000 rho_b |q|)
 *   row_residual     = the largest error of a single contact or joint (row_errors.c)
 *   residual         = the largest of the three
 *
 * Reference: V. Acary, M. Bremond, O. Huber, On solving contact problems with Coulomb friction: formulations and
 * numerical comparisons, 2018 (natural map); G. De Saxce, Z.-Q. Feng, The bipotential method, 1998 (the shift). */
#include "problem/certificate.h"

#include "problem/cone.h"
#include "problem/lanes.h"
#include "problem/round_rows.h"

#include <math.h>
#include <string.h>

/* |r - P_K(r - rho u~)|^2, u~ = u + lift e_N; inlined with the size of the common cone. */
static inline double map_sized(const frix_contact *contact, int32_t dim, double lift, double rho, const double *r,
                               const double *u) {
  double x[FRIX_MAX_DIM], out[FRIX_MAX_DIM], sum = 0;
  for (int32_t k = 0; k < dim; k++) x[k] = r[k] - rho * u[k];
  x[0] -= rho * lift;
  fx_cone_project(contact, x, out);
  for (int32_t k = 0; k < dim; k++) sum += (r[k] - out[k]) * (r[k] - out[k]);
  return sum;
}

static inline double natural_map(const frix_contact *contact, double lift, double rho, const double *r,
                                 const double *u) {
  if (contact->cone == FRIX_CONE_CIRCULAR) return map_sized(contact, 3, lift, rho, r, u);
  if (contact->cone == FRIX_CONE_PLANAR) return map_sized(contact, 2, lift, rho, r, u);
  return map_sized(contact, contact->dim, lift, rho, r, u);
}

typedef fx_residual_sums sums;

/* Where the normal impulse is a given bound, friction alone: the bound is no impulse of the problem, and would hide
 * errors where it is large. */
static void add_bounded(const fx_system *s, int32_t i, const double *r, const double *u, sums *t) {
  const frix_contact *contact = &s->contact[i];
  double x[FRIX_MAX_DIM], length = 0, bound = contact->mu * fx_bound_of(s, i);
  for (int32_t k = 1; k < contact->dim; k++) {
    x[k] = r[k] - s->rho * u[k];
    length += x[k] * x[k];
    t->r[0] += r[k] * r[k];
    t->q[0] += s->q[s->row[i] + k] * s->q[s->row[i] + k];
  }
  double scale = sqrt(length) > bound ? bound / sqrt(length) : 1;
  for (int32_t k = 1; k < contact->dim; k++) t->map[0] += (r[k] - scale * x[k]) * (r[k] - scale * x[k]);
}

/* lift: the shift under Coulomb's law, else 0. */
static inline void add_contact(const fx_system *s, int32_t i, double lift, const double *r, const double *u, sums *t) {
  const frix_contact *contact = &s->contact[i];
  const double *q = s->q + s->row[i];
  int kind = contact->cone == FRIX_CONE_BILATERAL;
  bool disc = contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR;
  if (disc && s->has_bounds && fx_is_bound(s, i)) {
    add_bounded(s, i, r, u, t);
    return;
  }
  t->map[kind] += natural_map(contact, lift, kind ? s->rho_joint : s->rho, r, u);
  for (int32_t k = 0; k < contact->dim; k++) {
    t->r[kind] += r[k] * r[k];
    t->q[kind] += q[k] * q[k];
  }
}

static inline double lift_of(const frix_contact *contact, frix_law law, const double *u) {
  return law == FRIX_LAW_COULOMB ? fx_cone_shift(contact, u) : 0;
}

/* Contacts first .. end - 1. */
static void accumulate(const fx_system *s, frix_law law, int32_t first, int32_t end, const double *r, const double *u,
                       sums *t) {
  for (int32_t i = first; i < end; i++)
    add_contact(s, i, lift_of(&s->contact[i], law, u + s->row[i]), r + s->row[i], u + s->row[i], t);
}

/* A norm relative to its scale: 0 / 0 is 0. */
static double relative(double norm, double scale) { return norm == 0 ? 0 : scale > 0 ? norm / scale : INFINITY; }

/* Impulses below 1e-7 of the momentum at hand are near the rounding of the velocities they correct: their error is
 * measured by that momentum. */
static double least_scale(const fx_system *s, double rho) { return 1e-7 * sqrt(rho) * s->carried; }

/* Where a problem has no answer, impulses can grow until any error is small beside them: the scale is at most a
 * thousand times what drives the problem, joints included. Towers of a thousand blocks stay below. */
static double contact_part(const fx_system *s, const sums *t) {
  double length = sqrt(t->r[0]), most = 1e3 * s->rho * sqrt(t->q[0] + t->q[1]), least = least_scale(s, s->rho);
  if (!(length > 0)) length = s->rho * sqrt(t->q[0]);
  if (length > most) length = most;
  return relative(sqrt(t->map[0]), length > least ? length : least);
}

static double joint_part(const fx_system *s, const sums *t) {
  double length = sqrt(t->r[1]), drive = s->rho_joint * sqrt(t->q[1]);
  double most = 1e3 * s->rho_joint * sqrt(t->q[0] + t->q[1]);
  double least = least_scale(s, s->rho_joint);
  if (drive > length) length = drive;
  if (length > most) length = most;
  return relative(sqrt(t->map[1]), length > least ? length : least);
}

static double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

void fx_residual_add(const fx_system *s, frix_law law, int32_t i, const double *r, const double *u, sums *t) {
  add_contact(s, i, lift_of(&s->contact[i], law, u), r, u, t);
}

double fx_residual_end(const fx_system *s, const sums *t) { return larger(contact_part(s, t), joint_part(s, t)); }

double fx_residual(const fx_system *s, frix_law law, const double *r, const double *u) {
  sums t = {{0, 0}, {0, 0}, {0, 0}};
  accumulate(s, law, 0, s->contact_count, r, u, &t);
  return fx_residual_end(s, &t);
}

/* Contacts first .. end - 1, from the velocities of the bodies; u is found on the way. */
static void judge_rows(const fx_system *s, frix_law law, int32_t first, int32_t end, const double *r, const double *v,
                       double *u, sums *t) {
  while (first < end) {
    if (law == FRIX_LAW_COULOMB && !s->has_bounds) first = fx_lanes_judge(s, first, end, r, v, u, t);
    int32_t next = end - first < 4 ? end : first + 4;
    memcpy(u + s->row[first], s->w + s->row[first], (size_t)(s->row[next] - s->row[first]) * sizeof *u);
    for (int32_t i = first; s->round && i < next; i++) fx_round_add_velocity(s, i, v, u + s->row[i]);
    if (!s->round) fx_block_multiply_add_rows(&s->Ht, first, next, v, u);
    for (int32_t k = s->row[first]; s->R && k < s->row[next]; k++) u[k] += s->R[k] * r[k];
    accumulate(s, law, first, next, r, u, t);
    first = next;
  }
}

void fx_residual_join(const sums *from, sums *to) {
  for (int kind = 0; kind < 2; kind++) {
    to->map[kind] += from->map[kind];
    to->r[kind] += from->r[kind];
    to->q[kind] += from->q[kind];
  }
}

typedef struct judgement {
  const fx_system *s;
  frix_law law;
  const double *r, *v;
  double *u;
  sums part[FX_PARTS];
} judgement;

static void judge_part(int32_t part, int32_t first, int32_t end, void *user) {
  judgement *j = user;
  judge_rows(j->s, j->law, first, end, j->r, j->v, j->u, &j->part[part]);
}

double fx_residual_of(const fx_system *s, frix_law law, const double *r, double *u, double *v) {
  if (!s->has_velocity) {
    fx_system_velocity(s, r, u, v);
    return fx_residual(s, law, r, u);
  }
  judgement j = {.s = s, .law = law, .r = r, .v = v, .u = u};
  fx_system_motion_fast(s, r, v);
  int32_t parts = fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, judge_part, &j);
  sums t = j.part[0];
  for (int32_t k = 1; k < parts; k++) fx_residual_join(&j.part[k], &t);
  return fx_residual_end(s, &t);
}

/* Sum of squares in four chains, for limits where the last bit does not matter. */
static double square_of(int32_t n, const double *x) {
  double sum[4] = {0, 0, 0, 0};
  int32_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (int e = 0; e < 4; e++) sum[e] += x[k + e] * x[k + e];
  for (; k < n; k++) sum[0] += x[k] * x[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The last contact of each mover, -1 where it has none. One mover or two take the same path: no branch to predict. */
static void find_last(const fx_system *s, int32_t *last) {
  const int32_t *start = s->Ht.start, *index = s->Ht.index;
  memset(last, -1, (size_t)s->mover_count * sizeof *last);
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t first = start[i], end = start[i + 1];
    if (first == end) continue;
    last[index[first]] = last[index[end - 1]] = i;
    for (int32_t k = first + 1; k < end - 1; k++) last[index[k]] = i;
  }
}

/* Whether no contact from `end` on moves the bodies of contact i. */
static bool is_complete(const fx_system *s, int32_t i, int32_t end, const int32_t *last) {
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
    if (last[s->Ht.index[k]] >= end) return false;
  return true;
}

/* Velocities of the bodies whose last contact is i. */
static void end_motion(const fx_system *s, int32_t i, const int32_t *last, double *v) {
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    int32_t m = s->Ht.index[k];
    if (last[m] == i) fx_motion_end(s, m, m + 1, v);
  }
}

/* The velocity of a body is known when the last of its contacts was visited, and a contact is judged when its bodies
 * are known: near in a pile is near in the list, so that the judge follows close behind. */
double fx_residual_up_to(const fx_system *s, frix_law law, double most, const double *r, double *u, double *v,
                         int32_t *last) {
  enum { STRIDE = 256 };
  sums t = {{0, 0}, {0, 0}, {0, 0}};
  double square = square_of(s->row[s->joint_first], r);
  find_last(s, last);
  fx_motion_begin(s, 0, s->mover_count, v);
  for (int32_t first = 0, done = 0; first < s->contact_count; first += STRIDE) {
    int32_t end = s->contact_count - first < STRIDE ? s->contact_count : first + STRIDE, ready = done;
    if (s->round)
      fx_round_motion(s, first, end, (fx_mover_range){0, s->mover_count}, r, v);
    else
      fx_motion_add(s, first, end, r, v);
    for (int32_t i = first; i < end; i++) end_motion(s, i, last, v);
    while (ready < end && is_complete(s, ready, end, last)) ready++;
    judge_rows(s, law, done, ready, r, v, u, &t);
    if (square > 0 && t.map[0] > 1.000001 * most * most * square) return INFINITY;
    done = ready;
  }
  for (int32_t m = 0; m < s->mover_count; m++)
    if (last[m] < 0) fx_motion_end(s, m, m + 1, v);
  return fx_residual_end(s, &t);
}

bool fx_nothing_is_far(const fx_system *s, frix_law law, double most) {
  static const double nothing[FRIX_MAX_DIM];
  double square = square_of(s->row[s->joint_first], s->q), map = 0;
  double limit = 1.000001 * most * most * s->rho * s->rho * square;
  for (int32_t i = 0; i < s->joint_first && !(map > limit); i++) {
    const double *q = s->q + s->row[i];
    map += natural_map(&s->contact[i], lift_of(&s->contact[i], law, q), s->rho, nothing, q);
  }
  return map > limit;
}

/* ---- the parts, contact by contact ---- */

static inline void judge_contact(const fx_system *s, frix_law law, int32_t i, double shift, const double *r,
                                 const double *u, frix_certificate *c) {
  const frix_contact *contact = &s->contact[i];
  if (contact->cone == FRIX_CONE_BILATERAL) {
    for (int32_t k = 0; k < contact->dim; k++) c->bilateral = larger(fabs(u[k]), c->bilateral);
    return;
  }
  double out[FRIX_MAX_DIM], trace = 0;
  for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) trace += s->W_diag[k];
  double rho = trace > 0 ? contact->dim / trace : s->rho;
  double velocity = sqrt(natural_map(contact, law == FRIX_LAW_COULOMB ? shift : 0, rho, r, u)) / rho;
  if (c->worst_contact < 0 || velocity > c->worst_velocity || isnan(velocity)) {
    c->worst_velocity = velocity;
    c->worst_contact = i;
  }
  double lift = law == FRIX_LAW_COULOMB ? 0 : shift, friction = 0, outside = 0;
  double impulse = r[0] / rho;
  /* Under the associated law a sliding contact lifts by the shift: that much is the law's, not an error. */
  c->signorini = larger(fabs(u[0] - lift < impulse ? u[0] - lift : impulse), c->signorini);
  fx_cone_project(contact, r, out);
  for (int32_t k = 0; k < contact->dim; k++) outside += (r[k] - out[k]) * (r[k] - out[k]);
  c->cone = larger(sqrt(outside) / rho, c->cone);
  for (int32_t k = 1; k < contact->dim; k++) friction += r[k] * u[k];
  c->dissipation = larger(fabs((r[0] > 0 ? r[0] : 0) * shift + friction), c->dissipation);
}

/* Contacts first .. end - 1, four at once where they are circular. */
static int32_t judge_lanes(const fx_system *s, int32_t first, int32_t end, const double *r, const double *u, sums *t,
                           frix_certificate *c) {
  fx_lane_worst worst = {.velocity = c->worst_velocity, .contact = c->worst_contact};
  if (worst.contact < 0) worst.velocity = -1; /* the first is the worst so far, whatever it is */
  int32_t next = fx_lanes_certify(s, first, end, r, u, t, &worst);
  if (next == first) return first;
  c->worst_velocity = worst.velocity;
  c->worst_contact = worst.contact;
  for (int lane = 0; lane < 4; lane++) {
    c->signorini = larger(worst.signorini[lane], c->signorini);
    c->cone = larger(worst.cone[lane], c->cone);
    c->dissipation = larger(worst.dissipation[lane], c->dissipation);
  }
  return next;
}

/* Contacts that threads certify, part by part. */
typedef struct certifying {
  const fx_system *s;
  frix_law law;
  const double *r, *u;
  sums sum[FX_PARTS];
  frix_certificate worst[FX_PARTS];
} certifying;

static void certify_part(int32_t part, int32_t first, int32_t n, void *user) {
  certifying *j = user;
  const fx_system *s = j->s;
  const double *r = j->r, *u = j->u;
  frix_law law = j->law;
  sums *t = &j->sum[part];
  frix_certificate *c = &j->worst[part];
  c->worst_contact = -1;
  for (int32_t i = first; i < n;) {
    if (law == FRIX_LAW_COULOMB && !s->has_bounds) i = judge_lanes(s, i, n, r, u, t, c);
    for (int32_t end = n - i < 4 ? n : i + 4; i < end; i++) {
      const double *ri = r + s->row[i], *ui = u + s->row[i];
      double shift = fx_cone_shift(&s->contact[i], ui);
      add_contact(s, i, law == FRIX_LAW_COULOMB ? shift : 0, ri, ui, t);
      judge_contact(s, law, i, shift, ri, ui, c);
    }
  }
}

static void judge_contacts(const fx_system *s, frix_law law, const double *r, const double *u, sums *t,
                           frix_certificate *c) {
  certifying j = {.s = s, .law = law, .r = r, .u = u};
  int32_t parts = fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, certify_part, &j);
  for (int32_t k = 0; k < parts; k++) {
    const frix_certificate *one = &j.worst[k];
    fx_residual_join(&j.sum[k], t);
    c->bilateral = larger(one->bilateral, c->bilateral);
    c->signorini = larger(one->signorini, c->signorini);
    c->cone = larger(one->cone, c->cone);
    c->dissipation = larger(one->dissipation, c->dissipation);
    double velocity = one->worst_velocity;
    bool worse = c->worst_contact < 0 || velocity > c->worst_velocity || isnan(velocity);
    if (one->worst_contact < 0 || !worse) continue;
    c->worst_velocity = velocity;
    c->worst_contact = one->worst_contact;
  }
}

/* y = A x for a compressed-column matrix; returns |y|. Rigid bodies come in runs of six. */
static double product(const fx_sparse *a, const double *x, double *y) {
  double sum = 0;
  memset(y, 0, (size_t)a->row_count * sizeof *y);
  for (int32_t c = 0; c < a->col_count; c++)
    for (int32_t k = a->p[c], end = a->p[c + 1]; k < end;) {
      if (k + 6 <= end && a->i[k + 5] == a->i[k] + 5) {
        double *run = y + a->i[k], part[6];
        for (int e = 0; e < 6; e++) part[e] = run[e] + a->x[k + e] * x[c];
        for (int e = 0; e < 6; e++) run[e] = part[e];
        k += 6;
      } else {
        y[a->i[k]] += a->x[k] * x[c];
        k++;
      }
    }
  for (int32_t k = 0; k < a->row_count; k++) sum += y[k] * y[k];
  return sqrt(sum);
}

typedef struct pushing {
  const frix_problem *p;
  const double *r;
  double *y;
  int32_t parts;
} pushing;

static void push_some(int32_t part, void *user) {
  const pushing *t = user;
  int64_t movers = t->p->blocks->col_blocks;
  int32_t first = (int32_t)(movers * part / t->parts), end = (int32_t)(movers * (part + 1) / t->parts);
  fx_block_transpose_multiply_add_cols(t->p->blocks, first, end, t->r, t->y);
}

/* y = H r; returns |y|. Divided by bodies, each of which adds its contacts in the same order. */
static double push(const frix_problem *p, const double *r, double *y) {
  if (!p->blocks) return product(&p->H, r, y);
  double sum = 0;
  memset(y, 0, (size_t)p->dof_count * sizeof *y);
  pushing t = {p, r, y, p->threads.count};
  if (t.parts > 1 && p->contact_count >= FX_LEAST_CONTACTS)
    fx_parallel(p->threads.context, t.parts, t.parts, push_some, &t);
  else
    fx_block_transpose_multiply_add(p->blocks, r, y);
  for (int32_t k = 0; k < p->dof_count; k++) sum += y[k] * y[k];
  return sqrt(sum);
}

/* | M v - H r - G lambda - f | / (|f| + |H r| + |G lambda|) */
static double motion_error(const frix_problem *p, const double *r, const double *v, double *workspace) {
  int32_t n = p->dof_count;
  double *error = workspace, *part = workspace + n, scale = 0, square = 0;
  product(&p->M, v, error);
  scale += push(p, r, part);
  for (int32_t k = 0; k < n; k++) error[k] -= part[k];
  if (p->joint_count) {
    scale += product(&p->G, r + p->row_count, part);
    for (int32_t k = 0; k < n; k++) error[k] -= part[k];
  }
  double drive = 0;
  for (int32_t k = 0; k < n; k++) {
    double e = error[k] - p->f[k];
    square += e * e;
    drive += p->f[k] * p->f[k];
  }
  return relative(sqrt(square), scale + sqrt(drive));
}

/* Normal impulses that are given, relative to themselves. Methods may leave them to rounding of the whole, the driver
 * puts them to what they are. */
static void judge_given(const fx_system *s, const double *r, frix_certificate *c) {
  for (int32_t i = 0; s->has_bounds && i < s->contact_count; i++) {
    if (!fx_is_bound(s, i)) continue;
    double own = r[s->row[i]], bound = fx_bound_of(s, i), error = fabs(own - bound);
    error = relative(error, larger(fabs(own), bound));
    if (error <= c->row_residual) continue;
    c->row_residual = error;
    c->worst_row = s->row[i];
  }
}

void fx_certificate_add_rows(const fx_row_errors *errors, frix_certificate *c) {
  if (!(errors->worst <= c->row_residual)) {
    c->row_residual = errors->worst;
    c->worst_row = errors->where;
  }
  c->floor = errors->floor;
  c->residual = larger(c->row_residual, c->residual);
}

void fx_certificate_compute(const frix_problem *problem, const fx_system *s, frix_law law, const double *r,
                            const double *u, const double *v, double *workspace, frix_certificate *c) {
  *c = (frix_certificate){.worst_contact = -1, .worst_row = -1};
  sums t = {{0, 0}, {0, 0}, {0, 0}};
  judge_contacts(s, law, r, u, &t, c);
  judge_given(s, r, c);
  c->contact_residual = contact_part(s, &t);
  c->joint_residual = joint_part(s, &t);
  c->residual = larger(c->contact_residual, c->joint_residual);
  c->rho = s->rho;
  for (int32_t k = 0; k < s->row_count; k++) c->power += r[k] * u[k];
  if (problem && problem->form == FRIX_FORM_GLOBAL) c->motion = motion_error(problem, r, v, workspace);
}
