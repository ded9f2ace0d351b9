/* Errors of single contacts.
 *
 * The error of a contact is the smallest e such that some (u', r') obeys its law exactly with
 *
 *   |u' - u| <= e V,   |r' - r| <= e P         in every part: the normal row; tangents; rolling; a row of a joint
 *   V = min( limit,  max |w| + max R |r| + sum over motions m of the bodies of sqrt(t_m) E_m ),
 *                                              t_m = N / n times the trace of J_m M_m^-1 J_m' over the rows of the
 * part, N the normal and tangential rows of its contact, as if all had its weight E_m = |v_free|_M + sum over the parts
 * of all contacts of the body of sqrt(t_m) |r| P = max( |r|,  V n / tr(W + R) )           n rows
 *
 * and friction beyond its bound is at most e |r_T|. Motions of a body are its translation and its rotation, where M
 * does not couple them: neither loosens a row that only the other moves, nor do tangents loosen a normal row. E_m is
 * what the motion carries: its momentum, the applied forces over the step and the impulses on it, as the root of an
 * energy, which depends neither on units nor on the frame. Only the contact's own bodies count. Without bodies (u = W r
 * + q) the contacts that share one with contact i are those with a block W_ij, and |q_j| / sqrt(tr W_jj) stands for
 * their momentum.
 *
 * `limit` keeps impulses that are large against everything that drives the system from hiding an error: the simulator
 * gives one body size per step; else it is 1,000 times what drives the island, sqrt(tr W) (sum of q^2 / W)^(1/2), and
 * for contacts without joints at most 1,000 times the largest |q|.
 *
 * u is a sum of terms of size V before the limit, so no method can bring it below ROUNDING times that. An error below
 * is accepted, and reported as floor, where it is at most FLOOR_LIMIT. */
#include "problem/row_errors.h"

#include "problem/cone.h"
#include "problem/mass.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 32 * 2.220446049250313e-16; /* a sum of some tens of terms */
static const double FLOOR_LIMIT = 1e-8;                    /* above, rounding hides the law */
static const double OWN_SCALE = 1e-8;                      /* impulses below this part of P count as such */
static const double NEIGHBOUR =
    1e-4;                          /* of what the contacts of the same bodies see of these, where bodies are unknown */
static const double SHARED = 1e-3; /* of what a body's translation carries counts for its rotation, and back */
static const double DRIVE_LIMIT = 1e3; /* towers of a thousand blocks stay below */

double fx_safe_norm(int32_t n, const double *x) {
  double most = 0, sum = 0;
  for (int32_t k = 0; k < n; k++) {
    double a = fabs(x[k]);
    if (a > most || isnan(a)) most = a;
  }
  if (!(most > 0) || isinf(most)) return most;
  if (most > 1e-140 && most < 1e140) {
    for (int32_t k = 0; k < n; k++) sum += x[k] * x[k];
    return sqrt(sum);
  }
  for (int32_t k = 0; k < n; k++) sum += (x[k] / most) * (x[k] / most);
  return most * sqrt(sum);
}

static double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

/* 0 / 0 is 0. */
static double ratio(double x, double scale) { return x == 0 ? 0 : x / scale; }

/* ---- parts: rows of equal units ---- */

/* The end of the part of contact i that begins at its row k. */
static inline int32_t part_end(const fx_system *s, int32_t i, int32_t k) {
  const frix_contact *c = &s->contact[i];
  if (k == 0 || c->cone == FRIX_CONE_BILATERAL) return k + 1;
  return k < 3 && c->dim > 3 ? 3 : c->dim;
}

/* Contact c of those that are looked at. */
static inline int32_t at(const fx_row_set *set, int32_t c) { return set->list ? set->list[c] : c; }

static inline double sum_of(const double *x, int32_t first, int32_t end) {
  double sum = 0;
  for (int32_t k = first; k < end; k++) sum += x[k];
  return sum;
}

/* Velocity that a normal row asks for counts; an open gap does not. */
static inline double demanded(const frix_contact *contact, int32_t k, double w) {
  bool unilateral = k == 0 && contact->cone != FRIX_CONE_BILATERAL;
  return unilateral && w > 0 ? 0 : fabs(w);
}

/* ---- what the bodies carry ---- */

frix_status fx_row_scales_take(fx_arena *arena, const fx_system *s, fx_row_scales *out) {
  size_t blocks = 0;
  int32_t *place = FX_TAKE_RAW(arena, int32_t, s->contact_count);
  if (!place) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; s->has_velocity && i < s->contact_count; i++) {
    place[i] = (int32_t)blocks;
    blocks += (size_t)(s->Ht.start[i + 1] - s->Ht.start[i]) * 2 * (size_t)s->contact[i].dim;
  }
  int32_t energies = s->has_velocity ? 2 * s->mover_count : s->contact_count;
  *out = (fx_row_scales){.energy = FX_TAKE_RAW(arena, double, energies),
                         .free = FX_TAKE_RAW(arena, double, energies),
                         .of = s,
                         .weighed = FX_TAKE(arena, uint8_t, s->contact_count),
                         .place = place,
                         .weight = FX_TAKE_RAW(arena, double, blocks),
                         .speed = FX_TAKE_RAW(arena, double, s->row_count),
                         .limit = FX_TAKE_RAW(arena, double, s->row_count),
                         .worst = -1};
  for (int32_t k = 0; out->free && k < energies; k++) out->free[k] = -1;
  return out->energy && out->free && out->weighed && out->weight && out->speed && out->limit ? FRIX_OK
                                                                                             : FRIX_ERROR_MEMORY;
}

/* Where the rotation of mover m begins among its degrees of freedom; their number where it is not apart. */
static int32_t rotation_of(const fx_system *s, int32_t m) {
  int32_t n = s->dof[m + 1] - s->dof[m], first = n == 6 ? 3 : n == 3 ? 2 : n;
  if (first == n || s->diagonal_mass || s->inverse_mass[s->dof[m]] != 0) return first;
  const double *M = s->M + s->M_offset[m];
  for (int32_t a = 0; a < first; a++)
    for (int32_t b = first; b < n; b++)
      if (M[a * n + b] != 0 || M[b * n + a] != 0) return n;
  return first;
}

/* v' M v over the degrees of freedom first .. end - 1 of mover m, for v / unit. */
static double twice_energy(const fx_system *s, int32_t m, int32_t first, int32_t end, double unit, const double *v) {
  int32_t n = s->dof[m + 1] - s->dof[m];
  double sum = 0;
  if (s->M && s->inverse_mass[s->dof[m]] == 0) {
    const double *M = s->M + s->M_offset[m];
    for (int32_t a = first; a < end; a++)
      for (int32_t b = first; b < end; b++) sum += (v[a] / unit) * M[a * n + b] * (v[b] / unit);
  } else {
    const double *mass = s->mass + s->dof[m];
    for (int32_t a = first; a < end; a++) sum += (v[a] / unit) * mass[a] * (v[a] / unit);
  }
  return sum;
}

static double part_norm(const fx_system *s, int32_t m, int32_t first, int32_t end, const double *v) {
  double sum = twice_energy(s, m, first, end, 1, v);
  if (sum > 1e-280 && sum < 1e280) return sqrt(sum);
  double unit = fx_safe_norm(end - first, v + first);
  if (!(unit > 0) || !isfinite(unit)) return unit;
  sum = twice_energy(s, m, first, end, unit, v);
  return sum > 0 ? unit * sqrt(sum) : 0;
}

double fx_mover_norm(const fx_system *s, int32_t m, const double *v) {
  return part_norm(s, m, 0, s->dof[m + 1] - s->dof[m], v);
}

/* Roots of the energies of both motions of mover m. */
static void find_energies(const fx_system *s, int32_t m, double *energy) {
  int32_t n = s->dof[m + 1] - s->dof[m], first = rotation_of(s, m);
  const double *v = s->v_free + s->dof[m];
  energy[2 * m] = part_norm(s, m, 0, first, v);
  energy[2 * m + 1] = first < n ? part_norm(s, m, first, n, v) : 0;
}

static inline double weight_of(const double *h, const double *y, const double *inverse, int32_t first, int32_t end) {
  double sum = 0;
  for (int32_t c = first; c < end; c++) sum += inverse ? h[c] * h[c] * inverse[c] : h[c] * y[c];
  return sum > 0 ? sum : 0;
}

/* Of d rows; inlined with the sizes of the common bodies. */
static inline __attribute__((always_inline)) void weigh_rows(int32_t d, int32_t n, int32_t first, const double *h,
                                                             const double *y, const double *inverse, double *weight) {
  for (int32_t a = 0; a < d; a++, h += n, y = y ? y + n : NULL) {
    weight[2 * a] = weight_of(h, y, inverse, 0, first);
    weight[2 * a + 1] = weight_of(h, y, inverse, first, n);
  }
}

/* J M^-1 J' for the rows of one block, by translation and rotation. */
static void weigh(const fx_system *s, int32_t k, int32_t d, double *weight) {
  int32_t n = fx_block_cols(&s->Ht, k), m = s->Ht.index[k], first = rotation_of(s, m);
  const double *h = fx_block(&s->Ht, k);
  const double *inverse = s->diagonal_mass ? s->inverse_mass + s->dof[m] : NULL;
  const double *y = inverse ? NULL : fx_block(&s->response->Yt, k);
  if (d == 3 && n == 6 && first == 3 && inverse)
    weigh_rows(3, 6, 3, h, NULL, inverse, weight);
  else if (d == 3 && n == 6 && first == 3)
    weigh_rows(3, 6, 3, h, y, NULL, weight);
  else
    weigh_rows(d, n, first, h, y, inverse, weight);
}

/* The part of a speed that the row itself brings: what it asks for, and its spring. */
static double own_terms(const fx_system *s, int32_t i, int32_t first, int32_t end, const double *shift,
                        const double *r) {
  double most = 0, spring = 0;
  int32_t row = s->row[i];
  for (int32_t k = first; k < end; k++) most = larger(demanded(&s->contact[i], k, shift[row + k]), most);
  for (int32_t k = first; s->R && k < end; k++) spring = larger(s->R[row + k] * fabs(r[row + k]), spring);
  return most + spring;
}

static inline double size_of(int32_t count, const double *x) {
  if (count == 1) return fabs(x[0]);
  if (count != 2) return fx_safe_norm(count, x);
  double square = x[0] * x[0] + x[1] * x[1];
  return square > 1e-280 && square < 1e280 ? sqrt(square) : fx_safe_norm(2, x);
}

/* N / n of a part. */
static inline double alike(const frix_contact *c, int32_t k, int32_t end) {
  if (k >= 3 || c->cone == FRIX_CONE_BILATERAL) return 1;
  return (double)(c->dim > 3 ? 3 : c->dim) / (double)(end - k);
}

/* The roots of each trace take the place of the part's first weights. */
static inline void take_roots(const fx_system *s, const fx_row_bodies *bodies, int32_t i, int32_t k, int32_t end) {
  int32_t d = s->contact[i].dim;
  double factor = alike(&s->contact[i], k, end);
  double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 2 * d) {
    double linear = own[2 * k], angular = own[2 * k + 1];
    for (int32_t a = k + 1; a < end; a++) linear += own[2 * a], angular += own[2 * a + 1];
    own[2 * k] = sqrt(factor * linear);
    own[2 * k + 1] = sqrt(factor * angular);
  }
}

/* What the impulses of a part bring is added. */
static inline void add_impulses(const fx_row_bodies *bodies, int32_t i, int32_t d, int32_t k, double size,
                                double *energy) {
  const double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 2 * d) {
    double *to = energy + 2 * (size_t)bodies->index[b];
    to[0] += own[2 * k] * size;
    to[1] += own[2 * k + 1] * size;
  }
}

/* The most common contact, one normal and two tangents: the same sums without loops. */
static inline bool is_plain(const fx_system *s, int32_t i) {
  return s->contact[i].dim == 3 && s->contact[i].cone == FRIX_CONE_CIRCULAR && !s->has_bounds;
}

static inline void take_plain_roots(const fx_row_bodies *bodies, int32_t i) {
  double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 6) {
    own[2] = sqrt(1.5 * (own[2] + own[4]));
    own[3] = sqrt(1.5 * (own[3] + own[5]));
    own[0] = sqrt(3.0 * own[0]);
    own[1] = sqrt(3.0 * own[1]);
  }
}

static inline void add_plain(const fx_row_bodies *bodies, int32_t i, const double *r, double *energy) {
  double normal = fabs(r[0]), tangent = size_of(2, r + 1);
  const double *own = bodies->weight + bodies->place[i];
  if (normal == 0 && tangent == 0) return;
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 6) {
    double *to = energy + 2 * (size_t)bodies->index[b];
    to[0] = to[0] + own[0] * normal + own[2] * tangent;
    to[1] = to[1] + own[1] * normal + own[3] * tangent;
  }
}

static inline void find_plain(const fx_row_bodies *bodies, int32_t i, const double *energy, double *speed) {
  double normal = speed[0], tangent = speed[1];
  const double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 6) {
    const double *from = energy + 2 * (size_t)bodies->index[b];
    double linear = from[0] + SHARED * from[1], angular = from[1] + SHARED * from[0];
    normal += own[0] * linear + own[1] * angular;
    tangent += own[2] * linear + own[3] * angular;
  }
  speed[0] = normal;
  speed[1] = speed[2] = tangent;
}

static void find_speed(const fx_system *s, const fx_row_bodies *bodies, int32_t i, const double *shift, const double *r,
                       const double *energy, double *speed) {
  int32_t d = s->contact[i].dim, row = s->row[i];
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    double sum = own_terms(s, i, k, end, shift, r);
    const double *own = bodies->weight + bodies->place[i];
    for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += 2 * d) {
      const double *from = energy + 2 * (size_t)bodies->index[b];
      sum += own[2 * k] * (from[0] + SHARED * from[1]) + own[2 * k + 1] * (from[1] + SHARED * from[0]);
    }
    for (int32_t a = k; a < end; a++) speed[row + a] = sum;
  }
}

static void roots_of(const fx_system *s, const fx_row_bodies *bodies, int32_t i) {
  if (is_plain(s, i)) {
    take_plain_roots(bodies, i);
    return;
  }
  for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
    end = part_end(s, i, k);
    take_roots(s, bodies, i, k, end);
  }
}

void fx_row_roots(const fx_system *s, const fx_row_bodies *bodies, const fx_row_set *set) {
  for (int32_t c = 0; c < set->count; c++) roots_of(s, bodies, at(set, c));
}

void fx_row_speeds(const fx_system *s, const fx_row_bodies *bodies, const fx_row_set *set, const double *shift,
                   const double *r, double *energy, double *speed) {
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c), row = s->row[i];
    if (is_plain(s, i)) {
      add_plain(bodies, i, r + row, energy);
      continue;
    }
    for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
      end = part_end(s, i, k);
      add_impulses(bodies, i, s->contact[i].dim, k, size_of(end - k, r + row + k), energy);
    }
  }
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c), row = s->row[i];
    if (!is_plain(s, i)) {
      find_speed(s, bodies, i, shift, r, energy, speed);
      continue;
    }
    speed[row] = shift[row] > 0 ? 0 : fabs(shift[row]);
    speed[row + 1] = larger(fabs(shift[row + 2]), fabs(shift[row + 1]));
    if (s->R) {
      speed[row] += s->R[row] * fabs(r[row]);
      speed[row + 1] += larger(s->R[row + 2] * fabs(r[row + 2]), s->R[row + 1] * fabs(r[row + 1]));
    }
    find_plain(bodies, i, energy, speed + row);
  }
}

/* ---- without bodies ---- */

/* |q| / sqrt(tr W) of contact i, the largest of its parts; an open gap counts for nothing. */
static double free_energy(const fx_system *s, int32_t i) {
  double most = 0, x[FRIX_MAX_DIM];
  int32_t row = s->row[i];
  for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
    end = part_end(s, i, k);
    for (int32_t a = k; a < end; a++) x[a] = demanded(&s->contact[i], a, s->q[row + a]);
    double trace = sum_of(s->W_diag + row, k, end);
    if (trace > 0) most = larger(fx_safe_norm(end - k, x + k) / sqrt(trace), most);
  }
  return most;
}

/* Root of N / n times the trace of W over a part. */
static double root_of_trace(const fx_system *s, int32_t i, int32_t k, int32_t end) {
  double trace = alike(&s->contact[i], k, end) * sum_of(s->W_diag + s->row[i], k, end);
  return trace > 0 ? sqrt(trace) : 0;
}

/* Speeds of contact i from the contacts that share a body with it. A row without W_ii belongs to no contact of bodies
 * but to a complementarity problem of another kind: the largest impulse gives its scale. */
static void speeds_of_row(const fx_system *s, int32_t i, const double *r, double largest, const double *energy,
                          double *speed) {
  double impulse[FRIX_MAX_DIM] = {0}, most = 0;
  int32_t d = s->contact[i].dim, row = s->row[i];
  for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
    int32_t j = s->W.index[k], n = fx_block_cols(&s->W, k);
    const double *block = fx_block(&s->W, k), *rj = r + s->row[j];
    most = larger(energy[j], most);
    for (int32_t a = 0; a < d; a++, block += n)
      for (int32_t b = 0; b < n; b++) impulse[a] += fabs(block[b] * (s->W_diag[row + a] > 0 ? rj[b] : largest));
  }
  double carried = energy[i] + NEIGHBOUR * most; /* its own rows tell of its bodies too */
  for (int32_t a = 0; a < d && a < 3; a++)
    if (s->W_diag[row + a] > 0) carried = larger(impulse[a] / sqrt(s->W_diag[row + a]), carried);
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    carried += root_of_trace(s, i, k, end) * fx_safe_norm(end - k, r + row + k);
  }
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    double sum = own_terms(s, i, k, end, s->q, r) + root_of_trace(s, i, k, end) * carried, added = 0;
    for (int32_t a = k; a < end; a++) added = larger(impulse[a], added);
    for (int32_t a = k; a < end; a++) speed[row + a] = sum + added;
  }
}

/* ---- the largest scale ---- */

typedef struct drive {
  double energy; /* sum of q^2 / W; without bodies infinite where a row without W has a q, as complementarity problems
                  * of other kinds have: these have no such measure. A row that moves no body drives nothing. */
  double speed;  /* largest |q| of normals and tangents; infinite where joints, whose units may be others, take part */
} drive;

/* An open contact without impulse drives nothing. */
static void add_drive(const fx_system *s, int32_t i, const double *r, drive *out) {
  int32_t row = s->row[i], d = s->contact[i].dim, first = s->has_bounds && fx_is_bound(s, i);
  bool joint = s->contact[i].cone == FRIX_CONE_BILATERAL || s->contact[i].cone == FRIX_CONE_LIMIT || first;
  if (!joint && s->q[row] > 0 && fx_safe_norm(d, r + row) == 0) return;
  for (int32_t k = first; k < d; k++) {
    double q = demanded(&s->contact[i], k, s->q[row + k]);
    bool moves = s->W_diag[row + k] > 0 || !s->has_velocity;
    if (q > 0 && moves) out->energy += q * (q / s->W_diag[row + k]);
    if (k < 3 && q > out->speed) out->speed = q;
  }
  if (joint) out->speed = INFINITY;
}

static void limit_by_drive(const fx_system *s, const fx_row_set *set, const double *r, double *limit) {
  drive all = {0, 0};
  for (int32_t c = 0; c < set->count; c++) add_drive(s, at(set, c), r, &all);
  double most = DRIVE_LIMIT * sqrt(all.energy);
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c), row = s->row[i];
    for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
      end = part_end(s, i, k);
      double trace = sum_of(s->W_diag + row, k, end);
      double own = trace > 0 && most < INFINITY ? sqrt(trace) * most : INFINITY;
      if (k < 3 && own > DRIVE_LIMIT * all.speed) own = DRIVE_LIMIT * all.speed;
      for (int32_t a = k; a < end; a++) limit[row + a] = own;
    }
  }
}

/* Weights of contact i and what its bodies carry without impulses: the same in every judgement of one system. */
static void weigh_once(const fx_system *s, const fx_row_bodies *bodies, int32_t i, fx_row_scales *t) {
  int32_t d = s->contact[i].dim;
  double *weight = t->weight + t->place[i];
  bool own = t->of == s;
  if (own && t->weighed[i]) return;
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++, weight += 2 * d) {
    if (!own || t->free[2 * s->Ht.index[k]] < 0) find_energies(s, s->Ht.index[k], t->free);
    weigh(s, k, d, weight);
  }
  roots_of(s, bodies, i);
  t->weighed[i] = own;
}

static void speeds_by_bodies(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  fx_row_bodies bodies = {s->Ht.start, s->Ht.index, t->place, t->weight};
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c);
    weigh_once(s, &bodies, i, t);
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
      memcpy(t->energy + 2 * (size_t)s->Ht.index[k], t->free + 2 * (size_t)s->Ht.index[k], 2 * sizeof *t->energy);
  }
  fx_row_speeds(s, &bodies, set, s->w, r, t->energy, t->speed);
}

static void speeds_by_contacts(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  double largest = 0;
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c);
    t->energy[i] = free_energy(s, i);
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) largest = larger(fabs(r[k]), largest);
  }
  for (int32_t c = 0; c < set->count; c++) speeds_of_row(s, at(set, c), r, largest, t->energy, t->speed);
}

static void find_speeds(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  if (s->has_velocity)
    speeds_by_bodies(s, set, r, t);
  else
    speeds_by_contacts(s, set, r, t);
}

/* ---- the error of one contact ---- */

/* Scales of a part. */
typedef struct scale {
  double V, P;
} scale;

static scale scale_of(const fx_system *s, int32_t row, int32_t count, double V, const double *r) {
  double W = sum_of(s->W_diag, row, row + count) + (s->R ? sum_of(s->R, row, row + count) : 0);
  scale b = {V, fx_safe_norm(count, r)};
  if (W > 0) b.P = larger(V * ((double)count / W), b.P);
  return b;
}

/* Rows that carry nothing and yet move: no scale makes that small. */
static bool moves_from_nothing(int32_t n, const scale *b, const double *u) {
  return !(b->V > 0) && fx_safe_norm(n, u) > 0;
}

/* Friction on a disc of this radius: natural map in units of P and V, which moves u and r by the same share. */
static double disc_error(int32_t n, const scale *b, double radius, const double *r, const double *u) {
  double x[2] = {0, 0}, e[2] = {0, 0};
  if (moves_from_nothing(n, b, u)) return INFINITY;
  for (int32_t k = 0; k < n; k++) x[k] = ratio(r[k], b->P) - ratio(u[k], b->V);
  double length = fx_safe_norm(n, x), bound = ratio(radius, b->P);
  if (!(length > bound)) return ratio(fx_safe_norm(n, u), b->V) + (isnan(length) ? length : 0);
  for (int32_t k = 0; k < n; k++) e[k] = ratio(r[k], b->P) - x[k] * (bound / length);
  return fx_safe_norm(n, e);
}

/* The same on an ellipse: a disc in the coordinates r_k / mu_k, mu_k u_k. */
static double ellipse_error(const frix_contact *c, const scale *b, double normal, const double *r, const double *u) {
  double mu[2] = {c->mu, c->mu2}, C = c->axis[0], S = c->axis[1];
  if (moves_from_nothing(2, b, u)) return INFINITY;
  double rt[2] = {C * r[0] + S * r[1], C * r[1] - S * r[0]}, ut[2] = {C * u[0] + S * u[1], C * u[1] - S * u[0]};
  if (mu[0] == 0 || mu[1] == 0) { /* a line: no impulse across it */
    int along = mu[0] == 0 ? 1 : 0;
    return larger(ratio(fabs(rt[1 - along]), b->P), disc_error(1, b, mu[along] * normal, rt + along, ut + along));
  }
  double x[2], bound = ratio(normal, b->P), dr[2], du[2];
  for (int k = 0; k < 2; k++) x[k] = ratio(rt[k], b->P) / mu[k] - ratio(ut[k], b->V) / mu[1 - k];
  double length = fx_safe_norm(2, x), shrink = length > bound ? bound / length : 1;
  for (int k = 0; k < 2; k++) {
    double d = ratio(rt[k], b->P) / mu[k] - shrink * x[k];
    dr[k] = mu[k] * d;
    du[k] = mu[1 - k] * d;
  }
  return larger(fx_safe_norm(2, dr), fx_safe_norm(2, du));
}

static double polygon_error(const frix_contact *c, const scale *b, double normal, const double *r, const double *u) {
  if (moves_from_nothing(2, b, u)) return INFINITY;
  double x[3] = {0, ratio(r[0], b->P) - ratio(u[0], b->V), ratio(r[1], b->P) - ratio(u[1], b->V)};
  double mid[2], width[2], a = fx_pyramid_sector(c, x, mid, width), bound = ratio(normal, b->P);
  if (!(a > width[0] * bound)) return ratio(fx_safe_norm(2, u), b->V);
  double along = mid[0] * x[2] - mid[1] * x[1], most = width[1] * bound;
  a = width[0] * bound;
  along = along > most ? most : along < -most ? -most : along;
  double e[2] = {ratio(r[0], b->P) - (mid[0] * a - mid[1] * along), ratio(r[1], b->P) - (mid[1] * a + mid[0] * along)};
  return fx_safe_norm(2, e);
}

/* The convex relaxation couples all rows: natural map of the whole cone. Rolling rows are measured in units that make
 * them alike: lengths in P_R / P. */
static double associated_error(frix_contact c, const scale *b, const scale *roll, const double *r, const double *u) {
  double x[FRIX_MAX_DIM], out[FRIX_MAX_DIM], own[FRIX_MAX_DIM] = {0};
  double length = c.dim > 3 ? ratio(roll->P, b->P) : 1;
  if (!(length > 0) || isinf(length)) length = 1;
  c.mu_r /= length;
  for (int32_t k = 0; k < c.dim; k++) {
    double unit = k < 3 ? 1 : length;
    own[k] = ratio(r[k], b->P * unit);
    x[k] = own[k] - (b->V > 0 ? u[k] * unit / b->V : u[k] * unit);
  }
  fx_cone_project(&c, x, out);
  for (int32_t k = 0; k < c.dim; k++) out[k] = own[k] - out[k];
  double error = fx_safe_norm(c.dim, out);
  return error > 0 && !(b->V > 0) ? INFINITY : error;
}

/* Friction beyond its bound is measured by the impulse itself, which a method can keep within the bound exactly. */
static double excess(int32_t n, const scale *b, double radius, const double *r) {
  double size = fx_safe_norm(n, r);
  if (!(size > radius)) return isnan(size) ? size : 0;
  return ratio(size - radius, larger(size, OWN_SCALE * b->P));
}

static double friction_error(const frix_contact *c, const scale *t, const scale *roll, double normal, const double *r,
                             const double *u) {
  if (c->cone == FRIX_CONE_ELLIPTIC) return ellipse_error(c, t, normal, r + 1, u + 1);
  if (c->cone == FRIX_CONE_PYRAMID) return polygon_error(c, t, normal, r + 1, u + 1);
  if (c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT)
    return ratio(fx_safe_norm(c->dim - 1, r + 1), t->P);
  int32_t n = c->cone == FRIX_CONE_PLANAR ? 1 : 2;
  double e = larger(excess(n, t, c->mu * normal, r + 1), disc_error(n, t, c->mu * normal, r + 1, u + 1));
  if (c->cone != FRIX_CONE_ROLLING) return e;
  e = larger(excess(2, roll, c->mu_r * normal, r + 3), e);
  return larger(disc_error(2, roll, c->mu_r * normal, r + 3, u + 3), e);
}

/* V by row, r and u of contact i. */
static double contact_error(const fx_system *s, frix_law law, int32_t i, const double *V, const double *ri,
                            const double *ui) {
  const frix_contact *c = &s->contact[i];
  int32_t row = s->row[i], near = c->dim > 3 ? 3 : c->dim; /* normal and tangents */
  double worst = 0;
  if (c->cone == FRIX_CONE_BILATERAL) {
    for (int32_t k = 0; k < c->dim; k++) worst = larger(ratio(fabs(ui[k]), V[k]), worst);
    return worst;
  }
  double pushing = ri[0] > 0 ? ri[0] : 0, pulling = ri[0] < 0 ? -ri[0] : 0, into = ui[0] < 0 ? -ui[0] : 0;
  scale roll = {0, 0};
  if (c->dim > 3) roll = scale_of(s, row + 3, c->dim - 3, V[3], ri + 3);
  if (s->has_bounds && fx_is_bound(s, i)) {
    scale t = scale_of(s, row + 1, near - 1, V[1], ri + 1);
    return friction_error(c, &t, &roll, fx_bound_of(s, i), ri, ui);
  }
  if (law == FRIX_LAW_ASSOCIATED && c->dim > 1 && c->cone != FRIX_CONE_FRICTIONLESS) {
    scale all = scale_of(s, row, near, larger(V[0], V[1]), ri);
    return associated_error(*c, &all, &roll, ri, ui);
  }
  scale normal = scale_of(s, row, 1, V[0], ri), tangent = {0, 0};
  double closed = larger(ratio(fabs(ui[0]), normal.V), ratio(pulling, normal.P));
  double open = larger(ratio(into, normal.V), ratio(fabs(ri[0]), normal.P));
  if (c->dim > 1) {
    tangent = scale_of(s, row + 1, near - 1, V[1], ri + 1);
    closed = larger(friction_error(c, &tangent, &roll, pushing, ri, ui), closed);
    open = larger(ratio(fx_safe_norm(near - 1, ri + 1), tangent.P), open);
  }
  if (c->dim > 3) open = larger(ratio(fx_safe_norm(c->dim - 3, ri + 3), roll.P), open);
  return open < closed || isnan(open) ? open : closed;
}

/* ---- all of them ---- */

/* Whether the error of a circular contact is certainly at most e: open without impulse, or sticking inside the cone. */
static bool is_below(const frix_contact *c, double e, const double V[2], const double *r, const double *u) {
  if (c->cone != FRIX_CONE_CIRCULAR) return false;
  if (r[0] == 0 && r[1] == 0 && r[2] == 0) return u[0] >= 0;
  double most = e * V[1];
  return fabs(u[0]) <= e * V[0] && u[1] * u[1] + u[2] * u[2] <= most * most && r[0] > 0 &&
         r[1] * r[1] + r[2] * r[2] <= c->mu * c->mu * (r[0] * r[0]);
}

/* Rounding of u relative to the scale of its rows. */
static double rounding_of(const fx_system *s, int32_t i, const double *speed, const double *V) {
  double most = 0;
  for (int32_t k = 0; k < s->contact[i].dim; k++)
    if (V[k] > 0) most = larger(speed[s->row[i] + k] / V[k], most);
  return ROUNDING * most;
}

void fx_row_errors_find(const fx_system *s, const fx_row_set *set, frix_law law, const double *speed,
                        const double *limit, const double *r, const double *u, fx_row_errors *out) {
  double capped[FRIX_MAX_DIM];
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = at(set, c), row = s->row[i], d = s->contact[i].dim;
    bool simple = law == FRIX_LAW_COULOMB && d == 3 && !(s->has_bounds && fx_is_bound(s, i));
    if (simple) {
      double V[2];
      bool sure = true; /* else rounding hides the law, whatever u says */
      for (int32_t k = 0; k < 2; k++) {
        V[k] = speed[row + k] < limit[row + k] ? speed[row + k] : limit[row + k];
        sure &= ROUNDING * speed[row + k] <= FLOOR_LIMIT * V[k] && V[k] < INFINITY;
      }
      if (sure && is_below(&s->contact[i], larger(out->worst, ROUNDING), V, r + row, u + row)) continue;
    }
    for (int32_t k = 0; k < d; k++) capped[k] = speed[row + k] < limit[row + k] ? speed[row + k] : limit[row + k];
    bool beyond = false; /* all measure: nothing can be said of numbers that overflow */
    for (int32_t k = 0; k < d; k++) beyond |= !(capped[k] < INFINITY);
    double e = beyond ? INFINITY : contact_error(s, law, i, capped, r + row, u + row);
    double floor = rounding_of(s, i, speed, capped);
    if (floor > FLOOR_LIMIT && floor > e) e = floor;
    if (e <= out->worst) continue;
    if (e <= floor && floor <= FLOOR_LIMIT) {
      if (floor > ROUNDING) out->floor = larger(floor, out->floor);
      continue;
    }
    out->worst = e;
    out->where = row;
    out->contact = i;
    if (isnan(e)) return;
  }
}

double fx_row_error(const fx_system *s, const fx_row_set *set, frix_law law, fx_row_scales *t, const double *r,
                    const double *u) {
  fx_row_errors errors = {.where = -1};
  find_speeds(s, set, r, t);
  if (!s->limit) limit_by_drive(s, set, r, t->limit);
  fx_row_errors_find(s, set, law, t->speed, s->limit ? s->limit : t->limit, r, u, &errors);
  if (!set->list) t->worst = errors.where >= 0 ? errors.contact : -1;
  return errors.worst;
}

double fx_row_error_of_worst(const fx_system *s, frix_law law, const fx_row_scales *t, const double *r,
                             const double *u) {
  if (t->worst < 0) return 0;
  fx_row_errors errors = {.where = -1};
  fx_row_set one = {&t->worst, 1};
  fx_row_errors_find(s, &one, law, t->speed, s->limit ? s->limit : t->limit, r, u, &errors);
  return errors.worst;
}

void fx_row_errors_of_islands(const fx_system *s, const fx_islands *islands, frix_law law, fx_row_scales *t,
                              const double *r, const double *u, fx_row_errors *out) {
  fx_row_set all = {.count = s->contact_count};
  *out = (fx_row_errors){.where = -1};
  find_speeds(s, &all, r, t);
  for (int32_t k = 0; !s->limit && k < islands->count; k++) {
    fx_row_set one = {islands->contact + islands->start[k], islands->start[k + 1] - islands->start[k]};
    limit_by_drive(s, &one, r, t->limit);
  }
  fx_row_errors_find(s, &all, law, t->speed, s->limit ? s->limit : t->limit, r, u, out);
}
