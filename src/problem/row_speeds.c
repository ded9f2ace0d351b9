/* Velocity scales of contact rows, from the loads of their bodies; errors of single contacts are relative to them
 * (row_errors.c).
 *
 *   V   = max |w| + max R |r| + sum over motions m of the bodies of sqrt(t_m) E_m      (trees: row_links.c)
 *   t_m = N / n times the trace of J_m M_m^-1 J_m' over the n rows of a part, N the normal and tangential rows of its
 *         contact, as if all had its weight
 *   E_m = |v_free|_M + sum over the parts of all contacts of the body of (N r' J_m M_m^-1 J_m' r)^1/2
 *
 * Motions of a body are its translation and its rotation if M does not couple them. Neither loosens the bound of a row
 * that only the other moves; tangents do not loosen a normal row, and impulses along a tangent that moves nothing
 * loosen no row. E_m is the load of the motion: momentum, applied forces over the step and impulses, as the root of an
 * energy, which is independent of units and frame. Only the contact's own bodies count. Without bodies (u = W r
 * + q) the contacts that share one with contact i are those with a block W_ij, and |q_j| / sqrt(tr W_jj) stands for
 * their momentum.
 *
 * An upper limit prevents impulses that are large compared with everything that drives the system from hiding an error:
 * 1,000 times the driving speed of the island, sqrt(tr W) (sum of q^2 / W)^(1/2), and for contacts without joints at
 * most 1,000 times the largest |q|. */
#include "problem/mass.h"
#include "problem/row_errors.h"

#include <math.h>
#include <string.h>

static const double NEIGHBOUR =
    1e-4;                           /* of what the contacts of the same bodies see of these, where bodies are unknown */
static const double OF_TREE = 1e-3; /* of that, what a tree carries counts for each of its links */
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

/* ---- parts: rows of equal units ---- */

/* The end of the part of contact i that begins at its row k. */
static inline int32_t part_end(const fx_system *s, int32_t i, int32_t k) {
  const frix_contact *c = &s->contact[i];
  if (k == 0 || c->cone == FRIX_CONE_BILATERAL) return k + 1;
  return k < 3 && c->dim > 3 ? 3 : c->dim;
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
  *out = (fx_row_scales){.of = s, .index = s->Ht.index, .worst = -1};
  frix_status status = s->motion ? fx_row_links_take(arena, s, out) : FRIX_OK;
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; s->has_velocity && i < s->contact_count; i++) {
    place[i] = (int32_t)blocks;
    blocks += (size_t)(s->Ht.start[i + 1] - s->Ht.start[i]) * (size_t)fx_row_weights(s->contact[i].dim);
  }
  int32_t bodies = out->first ? out->first[s->mover_count] : s->mover_count;
  int32_t energies = s->has_velocity ? 2 * bodies : s->contact_count;
  out->energy = FX_TAKE_RAW(arena, double, energies);
  out->free = FX_TAKE_RAW(arena, double, energies);
  out->rotation = FX_TAKE_RAW(arena, int32_t, energies);
  out->weighed = FX_TAKE(arena, uint8_t, s->contact_count);
  out->place = place;
  out->weight = FX_TAKE_RAW(arena, double, blocks);
  out->speed = FX_TAKE_RAW(arena, double, s->row_count);
  out->limit = FX_TAKE_RAW(arena, double, s->row_count);
  for (int32_t k = 0; out->free && k < energies; k++) out->free[k] = -1;
  bool good = out->energy && out->free && out->rotation && out->weighed && out->weight && out->speed && out->limit;
  if (!good || fx_row_balls_take(arena, s, out) != FRIX_OK) return FRIX_ERROR_MEMORY;
  return s->motion ? fx_row_links_free(arena, s, out) : FRIX_OK;
}

/* Where the rotation of mover m begins among its degrees of freedom; their number where it is not apart. */
static int32_t rotation_of(const fx_system *s, int32_t m) {
  int32_t n = s->dof[m + 1] - s->dof[m], first = fx_row_is_tree(s, m) ? n : n == 6 ? 3 : n == 3 ? 2 : n;
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

/* Both motions of mover m, and the roots of their energies. */
static void find_energies(const fx_system *s, int32_t m, fx_row_scales *t) {
  int32_t n = s->dof[m + 1] - s->dof[m], first = t->rotation[m] = rotation_of(s, m);
  const double *v = s->v_free + s->dof[m];
  double *free = t->free + 2 * (t->first ? t->first[m] : m);
  free[0] = part_norm(s, m, 0, first, v);
  free[1] = first < n ? part_norm(s, m, first, n, v) : 0;
}

static inline double product_of(const double *g, const double *h, const double *y, const double *inverse, int32_t first,
                                int32_t end) {
  double sum = 0;
  for (int32_t c = first; c < end; c++) sum += inverse ? g[c] * h[c] * inverse[c] : g[c] * y[c];
  return sum;
}

/* Of d rows; inlined with the sizes of the common bodies. */
static inline __attribute__((always_inline)) void weigh_rows(int32_t d, int32_t n, int32_t first, const double *H,
                                                             const double *Y, const double *inverse, double *weight) {
  double *both = weight + 2 * d;
  for (int32_t a = 0; a < d; a++) {
    const double *h = H + a * n, *y = Y ? Y + a * n : NULL;
    double linear = product_of(h, h, y, inverse, 0, first), angular = product_of(h, h, y, inverse, first, n);
    weight[2 * a] = linear > 0 ? linear : 0;
    weight[2 * a + 1] = angular > 0 ? angular : 0;
    if (a != 2 && a != 4) continue;
    both[1] = product_of(h - n, h, y, inverse, 0, first);
    both[4] = product_of(h - n, h, y, inverse, first, n);
    both += FX_PAIR_WEIGHTS;
  }
}

/* J M^-1 J' for the rows of one block, by translation and rotation, which begins at degree of freedom `first`. */
static void weigh(const fx_system *s, int32_t k, int32_t d, int32_t first, double *weight) {
  int32_t n = fx_block_cols(&s->Ht, k), m = s->Ht.index[k];
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
  for (int32_t k = first; k < end; k++) most = fx_larger(demanded(&s->contact[i], k, shift[row + k]), most);
  for (int32_t k = first; s->R && k < end; k++) spring = fx_larger(s->R[row + k] * fabs(r[row + k]), spring);
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

/* Whether two rows of one contact are the part that begins at row k: its impulses act together. */
static inline bool is_pair(int32_t k, int32_t end) { return end == k + 2; }

/* Where both rows stand with each other in the weights of a block. */
static inline double *pair_of(double *own, int32_t d, int32_t k) { return own + 2 * d + (k > 1 ? FX_PAIR_WEIGHTS : 0); }

static inline void keep_pair(const double *own, int32_t k, double *both) {
  both[0] = own[2 * k], both[2] = own[2 * k + 2];
  both[3] = own[2 * k + 1], both[5] = own[2 * k + 3];
}

/* The roots of each trace take the place of the part's first weights. */
static inline void take_roots(const fx_system *s, const fx_row_bodies *bodies, int32_t i, int32_t k, int32_t end) {
  int32_t d = s->contact[i].dim, width = fx_row_weights(d);
  double factor = alike(&s->contact[i], k, end);
  double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += width) {
    double linear = own[2 * k], angular = own[2 * k + 1];
    for (int32_t a = k + 1; a < end; a++) linear += own[2 * a], angular += own[2 * a + 1];
    if (is_pair(k, end)) keep_pair(own, k, pair_of(own, d, k));
    own[2 * k] = sqrt(factor * linear);
    own[2 * k + 1] = sqrt(factor * angular);
  }
}

/* Root of r' G r of two rows. */
static inline double root_of_pair(const double *G, const double *r) {
  double energy = G[0] * (r[0] * r[0]) + 2 * G[1] * (r[0] * r[1]) + G[2] * (r[1] * r[1]);
  if (energy > 1e-280 && energy < 1e280) return sqrt(energy);
  double unit = fx_larger(fabs(r[0]), fabs(r[1]));
  if (!(unit > 0) || isinf(unit)) return unit;
  double x = r[0] / unit, y = r[1] / unit;
  energy = G[0] * (x * x) + 2 * G[1] * (x * y) + G[2] * (y * y);
  return energy > 0 ? unit * sqrt(energy) : isnan(energy) ? energy : 0;
}

/* What the impulses r of a part bring is added. */
static inline void add_impulses(const fx_system *s, const fx_row_bodies *bodies, int32_t i, int32_t k, int32_t end,
                                int32_t first_body, int32_t end_body, const double *r, double *energy) {
  int32_t d = s->contact[i].dim, width = fx_row_weights(d);
  double *own = bodies->weight + bodies->place[i];
  double factor = is_pair(k, end) ? sqrt(2 * alike(&s->contact[i], k, end)) : 0;
  double size = is_pair(k, end) ? 0 : size_of(end - k, r);
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += width) {
    if (bodies->index[b] < first_body || bodies->index[b] >= end_body) continue;
    double *to = energy + 2 * (size_t)bodies->index[b];
    const double *both = pair_of(own, d, k);
    to[0] += is_pair(k, end) ? factor * root_of_pair(both, r) : own[2 * k] * size;
    to[1] += is_pair(k, end) ? factor * root_of_pair(both + 3, r) : own[2 * k + 1] * size;
  }
}

/* The most common contact, one normal and two tangents: the same sums without loops. */
enum { PLAIN = 2 * 3 + FX_PAIR_WEIGHTS };

static inline bool is_plain(const fx_system *s, int32_t i) {
  return s->contact[i].dim == 3 && s->contact[i].cone == FRIX_CONE_CIRCULAR && !s->has_bounds;
}

static inline void take_plain_roots(const fx_row_bodies *bodies, int32_t i) {
  double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += PLAIN) {
    keep_pair(own, 1, own + 6);
    own[2] = sqrt(1.5 * (own[2] + own[4]));
    own[3] = sqrt(1.5 * (own[3] + own[5]));
    own[0] = sqrt(3.0 * own[0]);
    own[1] = sqrt(3.0 * own[1]);
  }
}

/* To bodies first .. end - 1. */
static inline void add_plain(const fx_row_bodies *bodies, int32_t i, int32_t first, int32_t end, const double *r,
                             double *energy) {
  static const double root_of_3 = 1.7320508075688772;
  double normal = fabs(r[0]);
  const double *own = bodies->weight + bodies->place[i];
  if (normal == 0 && r[1] == 0 && r[2] == 0) return;
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += PLAIN) {
    if (bodies->index[b] < first || bodies->index[b] >= end) continue;
    double *to = energy + 2 * (size_t)bodies->index[b];
    to[0] = to[0] + own[0] * normal + root_of_3 * root_of_pair(own + 6, r + 1);
    to[1] = to[1] + own[1] * normal + root_of_3 * root_of_pair(own + 9, r + 1);
  }
}

static inline void find_plain(const fx_row_bodies *bodies, int32_t i, const double *energy, double *speed) {
  double normal = speed[0], tangent = speed[1];
  const double *own = bodies->weight + bodies->place[i];
  for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += PLAIN) {
    const double *from = energy + 2 * (size_t)bodies->index[b];
    double linear = from[0] + FX_ROW_SHARED * from[1], angular = from[1] + FX_ROW_SHARED * from[0];
    normal += own[0] * linear + own[1] * angular;
    tangent += own[2] * linear + own[3] * angular;
  }
  speed[0] = normal;
  speed[1] = speed[2] = tangent;
}

static void find_speed(const fx_system *s, const fx_row_bodies *bodies, int32_t i, const double *shift, const double *r,
                       const double *energy, double *speed) {
  int32_t d = s->contact[i].dim, row = s->row[i], width = fx_row_weights(d);
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    double sum = own_terms(s, i, k, end, shift, r);
    const double *own = bodies->weight + bodies->place[i];
    for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++, own += width) {
      const double *from = energy + 2 * (size_t)bodies->index[b];
      sum += own[2 * k] * (from[0] + FX_ROW_SHARED * from[1]) + own[2 * k + 1] * (from[1] + FX_ROW_SHARED * from[0]);
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
  for (int32_t c = 0; c < set->count; c++) roots_of(s, bodies, fx_row_at(set, c));
}

/* What the free motion of trees brings to the parts of contact i. */
static void add_free(const fx_system *s, int32_t i, const double *free, double *speed) {
  int32_t d = s->contact[i].dim;
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    double more = sqrt(alike(&s->contact[i], k, end)) * size_of(end - k, free + k);
    for (int32_t a = k; a < end; a++) speed[a] += more;
  }
}

/* Speeds of rows from the energies of their bodies; contacts are independent of each other. */
typedef struct speeds {
  const fx_system *s;
  const fx_row_bodies *bodies;
  const fx_row_set *set;
  const double *shift, *r, *energy;
  double *speed;
} speeds;

static void find_speeds(int32_t part, int32_t first, int32_t end, void *user) {
  const speeds *t = user;
  const fx_system *s = t->s;
  const double *shift = t->shift, *r = t->r;
  double *speed = t->speed;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = fx_row_at(t->set, c), row = s->row[i];
    if (!is_plain(s, i)) {
      find_speed(s, t->bodies, i, shift, r, t->energy, speed);
      if (t->bodies->free) add_free(s, i, t->bodies->free + row, speed + row);
      continue;
    }
    speed[row] = shift[row] > 0 ? 0 : fabs(shift[row]);
    speed[row + 1] = fx_larger(fabs(shift[row + 2]), fabs(shift[row + 1]));
    if (s->R) {
      speed[row] += s->R[row] * fabs(r[row]);
      speed[row + 1] += fx_larger(s->R[row + 2] * fabs(r[row + 2]), s->R[row + 1] * fabs(r[row + 1]));
    }
    find_plain(t->bodies, i, t->energy, speed + row);
    if (t->bodies->free) add_free(s, i, t->bodies->free + row, speed + row);
  }
}

/* The most that a tree carries, for its links: velocities that are rounding of it give no scale. */
static void share_in_trees(const fx_row_bodies *bodies, const fx_row_set *set, double *energy) {
  for (int pass = 0; pass < 2; pass++)
    for (int32_t c = 0; c < set->count; c++) {
      int32_t i = fx_row_at(set, c);
      for (int32_t b = bodies->start[i]; b < bodies->start[i + 1]; b++) {
        if (bodies->tree[bodies->index[b]] < 0) continue;
        double *link = energy + 2 * (size_t)bodies->index[b];
        double *all = energy + 2 * (size_t)bodies->tree[bodies->index[b]];
        if (pass == 0)
          all[1] = fx_larger(link[0], all[1]);
        else
          link[1] = OF_TREE * (all[0] + all[1]);
      }
    }
}

/* What impulses bring to bodies; each thread has some of the bodies and looks at all contacts, so that a body adds its
 * contacts in the same order however many threads there are. */
typedef struct loads {
  const fx_system *s;
  const fx_row_bodies *bodies;
  const fx_row_set *set;
  const double *r;
  double *energy;
  int32_t parts;
} loads;

static void load_bodies(int32_t part, void *user) {
  const loads *t = user;
  const fx_system *s = t->s;
  bool last = part == t->parts - 1;
  int32_t first = (int32_t)((int64_t)s->mover_count * part / t->parts);
  int32_t end_body = last ? INT32_MAX : (int32_t)((int64_t)s->mover_count * (part + 1) / t->parts);
  for (int32_t c = 0; c < t->set->count; c++) {
    int32_t i = fx_row_at(t->set, c), row = s->row[i];
    if (is_plain(s, i)) {
      add_plain(t->bodies, i, first, end_body, t->r + row, t->energy);
      continue;
    }
    for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
      end = part_end(s, i, k);
      add_impulses(s, t->bodies, i, k, end, first, end_body, t->r + row + k, t->energy);
    }
  }
}

void fx_row_speeds(const fx_system *s, const fx_row_bodies *bodies, const fx_row_set *set, const double *shift,
                   const double *r, double *energy, double *speed) {
  bool divided = s->threads.count > 1 && set->count >= 2 * FX_LEAST_CONTACTS;
  loads l = {s, bodies, set, r, energy, divided ? s->threads.count : 1};
  fx_parallel(s->threads.context, l.parts, l.parts, load_bodies, &l);
  if (bodies->tree) share_in_trees(bodies, set, energy);
  speeds t = {s, bodies, set, shift, r, energy, speed};
  fx_parallel_range(s->threads, set->count, FX_LEAST_CONTACTS, find_speeds, &t);
}

/* ---- without bodies ---- */

/* |q| / sqrt(tr W) of contact i, the largest of its parts; an open gap counts for nothing. */
static double free_energy(const fx_system *s, int32_t i) {
  double most = 0, x[FRIX_MAX_DIM];
  int32_t row = s->row[i];
  for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
    end = part_end(s, i, k);
    for (int32_t a = k; a < end; a++) x[a] = demanded(&s->contact[i], a, s->q[row + a]);
    double trace = fx_row_sum(s->W_diag + row, k, end);
    if (trace > 0) most = fx_larger(fx_safe_norm(end - k, x + k) / sqrt(trace), most);
  }
  return most;
}

/* Root of N / n times the trace of W over a part. */
static double root_of_trace(const fx_system *s, int32_t i, int32_t k, int32_t end) {
  double trace = alike(&s->contact[i], k, end) * fx_row_sum(s->W_diag + s->row[i], k, end);
  return trace > 0 ? sqrt(trace) : 0;
}

/* What the impulses of a part bring of an energy, as its root: N / n of n r' W r, W the block of the part. */
static double impulse_root(const fx_system *s, int32_t i, int32_t k, int32_t end, const double *r) {
  if (!is_pair(k, end)) return root_of_trace(s, i, k, end) * fx_safe_norm(end - k, r);
  int32_t d = s->contact[i].dim;
  const double *D = s->D + s->diagonal[i], *W = s->W_diag + s->row[i] + k;
  double G[3] = {W[0], 0.5 * (D[k * d + k + 1] + D[(k + 1) * d + k]), W[1]};
  return sqrt(2 * alike(&s->contact[i], k, end)) * root_of_pair(G, r);
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
    most = fx_larger(energy[j], most);
    for (int32_t a = 0; a < d; a++, block += n)
      for (int32_t b = 0; b < n; b++) impulse[a] += fabs(block[b] * (s->W_diag[row + a] > 0 ? rj[b] : largest));
  }
  double carried = energy[i] + NEIGHBOUR * most; /* its own rows tell of its bodies too */
  for (int32_t a = 0; a < d && a < 3; a++)
    if (s->W_diag[row + a] > 0) carried = fx_larger(impulse[a] / sqrt(s->W_diag[row + a]), carried);
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    carried += impulse_root(s, i, k, end, r + row + k);
  }
  for (int32_t k = 0, end; k < d; k = end) {
    end = part_end(s, i, k);
    double sum = own_terms(s, i, k, end, s->q, r) + root_of_trace(s, i, k, end) * carried, added = 0;
    for (int32_t a = k; a < end; a++) added = fx_larger(impulse[a], added);
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

void fx_row_limits(const fx_system *s, const fx_row_set *set, const double *r, double *limit) {
  drive all = {0, 0};
  for (int32_t c = 0; c < set->count; c++) add_drive(s, fx_row_at(set, c), r, &all);
  double most = DRIVE_LIMIT * sqrt(all.energy);
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = fx_row_at(set, c), row = s->row[i];
    for (int32_t k = 0, end; k < s->contact[i].dim; k = end) {
      end = part_end(s, i, k);
      double trace = fx_row_sum(s->W_diag + row, k, end);
      double own = trace > 0 && most < INFINITY ? sqrt(trace) * most : INFINITY;
      if (k < 3 && own > DRIVE_LIMIT * all.speed) own = DRIVE_LIMIT * all.speed;
      for (int32_t a = k; a < end; a++) limit[row + a] = own;
    }
  }
}

/* Weights of contacts: the same in every judgement of one system. */
typedef struct weighing {
  const fx_system *s;
  const fx_row_set *set;
  const fx_row_bodies *bodies;
  fx_row_scales *t;
} weighing;

static void weigh_once(int32_t part, int32_t first, int32_t end, void *user) {
  const weighing *w = user;
  const fx_system *s = w->s;
  fx_row_scales *t = w->t;
  bool own = t->of == s;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = fx_row_at(w->set, c), d = s->contact[i].dim;
    double *weight = t->weight + t->place[i];
    if (own && t->weighed[i]) continue;
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++, weight += fx_row_weights(d))
      weigh(s, k, d, t->rotation[s->Ht.index[k]], weight);
    roots_of(s, w->bodies, i);
    t->weighed[i] = own;
  }
}

void fx_row_weigh(const fx_system *s, const fx_row_bodies *bodies, int32_t i) {
  int32_t d = s->contact[i].dim;
  double *weight = bodies->weight + bodies->place[i];
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++, weight += fx_row_weights(d)) weigh(s, k, d, 3, weight);
  roots_of(s, bodies, i);
}

/* Energies of mover m without impulses. */
static inline void begin_energies(const fx_system *s, int32_t m, fx_row_scales *t) {
  int32_t first = t->first ? t->first[m] : m, count = t->first ? t->first[m + 1] - first : 1;
  if (t->of != s || t->free[2 * first] < 0) find_energies(s, m, t);
  memcpy(t->energy + 2 * (size_t)first, t->free + 2 * (size_t)first, 2 * (size_t)count * sizeof *t->energy);
}

static fx_row_bodies bodies_of(const fx_system *s, const fx_row_scales *t) {
  return (fx_row_bodies){s->Ht.start, t->index, t->place, t->weight, t->tree, t->carried};
}

fx_row_measure fx_row_measure_of(const fx_system *s, const fx_row_scales *t) {
  fx_row_measure by = {.speed = t->speed, .limit = s->limit ? s->limit : t->limit};
  if (!s->has_velocity) return by;
  by.bodies = bodies_of(s, t);
  by.energy = t->energy;
  by.shift = s->w;
  by.unweighed = t->ball && t->of == s;
  return by;
}

static void speeds_by_bodies(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  fx_row_bodies bodies = bodies_of(s, t);
  weighing w = {s, set, &bodies, t};
  /* before the weights, which contacts of one body share */
  for (int32_t m = 0; !set->list && m < s->mover_count; m++) begin_energies(s, m, t);
  for (int32_t c = 0; set->list && c < set->count; c++) {
    int32_t i = fx_row_at(set, c);
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) begin_energies(s, s->Ht.index[k], t);
  }
  if (t->ball && t->of == s) {
    fx_row_ball_speeds(s, set, r, t);
    return;
  }
  fx_parallel_range(s->threads, set->count, FX_LEAST_CONTACTS, weigh_once, &w);
  fx_row_speeds(s, &bodies, set, s->w, r, t->energy, t->speed);
}

static void speeds_by_contacts(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  double largest = 0;
  for (int32_t c = 0; c < set->count; c++) {
    int32_t i = fx_row_at(set, c);
    t->energy[i] = free_energy(s, i);
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) largest = fx_larger(fabs(r[k]), largest);
  }
  for (int32_t c = 0; c < set->count; c++) speeds_of_row(s, fx_row_at(set, c), r, largest, t->energy, t->speed);
}

void fx_row_scales_find(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  if (s->has_velocity)
    speeds_by_bodies(s, set, r, t);
  else
    speeds_by_contacts(s, set, r, t);
}
