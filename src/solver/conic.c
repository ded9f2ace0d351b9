/* The convex problem: primal-dual interior point with Nesterov-Todd scaling and Mehrotra's predictor and corrector, and
 * a semismooth Newton iteration that finishes it and makes use of a warm start.
 *
 *   interior point   A dx - E' dz = -rd,  ds = E dx + rp,  lambda o (W dz + W^-1 ds) = d
 *                    => (A + E' W^-2 E) dx = -rd + E' (W^-1 (lambda \ d) - W^-2 rp)
 *   semismooth       s - P_C(s - z) = 0, J = dP_C(s - z), F = (J + delta)^-1:
 *                    => (A + E' F (I - J) E) dx = -rd - E' F (s - P_C(s - z))
 *
 * Both lead to the same matrix A + D. The interior point is sure and slow at the end; Newton is fast once the faces are
 * right, which the interior point arranges. References: S. Mehrotra 1992; Y. Nesterov, M. Todd 1998; L. Vandenberghe,
 * The CVXOPT linear and quadratic cone program solvers, 2010; L. Qi, J. Sun 1993; M. Anitescu 2006 (contact as a cone
 * QP). */
#include "solver/conic.h"

#include "solver/scaling.h"

#include <math.h>
#include <string.h>

static const double held_weight = 1e9; /* stiffness of held directions; z makes up for what it leaves */

/* ---- structure ---- */

static frix_status count_entries(fx_arena *arena, const fx_system *s, const frix_contact *full, fx_conic *c) {
  int32_t n = s->contact_count;
  c->part_start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  c->entry = FX_TAKE(arena, int32_t, (size_t)n + 1);
  c->E_offset = FX_TAKE(arena, size_t, (size_t)n + 1);
  c->off = FX_TAKE(arena, bool, n);
  if (!c->part_start || !c->entry || !c->E_offset || !c->off) return FRIX_ERROR_MEMORY;
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM];
  for (int32_t i = 0; i < n; i++) {
    int32_t entries;
    c->part_start[i + 1] = c->part_start[i] + fx_conic_parts(full ? &full[i] : &s->contact[i], part, E, &entries);
    c->entry[i + 1] = c->entry[i] + entries;
    c->E_offset[i + 1] = c->E_offset[i] + (size_t)(entries * s->contact[i].dim);
  }
  c->part_count = c->part_start[n];
  c->entry_count = c->entry[n];
  return FRIX_OK;
}

static void fill_entries(const fx_system *s, const frix_contact *full, fx_conic *c) {
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM];
  for (int32_t i = 0; i < s->contact_count; i++) {
    const frix_contact *contact = full ? &full[i] : &s->contact[i];
    int32_t entries, d = s->contact[i].dim, drop = contact->dim - d;
    int32_t count = fx_conic_parts(contact, part, E, &entries);
    for (int32_t k = 0; k < count; k++) {
      c->part[c->part_start[i] + k] = part[k];
      c->part[c->part_start[i] + k].first += c->entry[i];
    }
    for (int32_t e = 0; e < entries; e++) {
      c->column[c->entry[i] + e] = E[e * contact->dim];
      memcpy(c->E + c->E_offset[i] + (size_t)(e * d), E + e * contact->dim + drop, (size_t)d * sizeof *E);
    }
  }
}

frix_status fx_conic_setup(fx_arena *arena, const fx_system *s, const frix_contact *full, fx_conic *c) {
  *c = (fx_conic){.s = s, .row_count = s->row_count};
  frix_status status = count_entries(arena, s, full, c);
  if (status != FRIX_OK) return status;
  double **rows[] = {&c->q, &c->x, &c->rd, &c->dx, &c->b, &c->x_keep, &c->x_best};
  double **entries[] = {&c->g, &c->z, &c->column, &c->sl,     &c->ds, &c->dz,
                        &c->p, &c->t, &c->z_keep, &c->z_best, &c->w,  &c->lambda};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, c->row_count))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
    if (!(*entries[k] = FX_TAKE(arena, double, c->entry_count))) return FRIX_ERROR_MEMORY;
  c->part = FX_TAKE(arena, fx_conic_part, c->part_count);
  c->eta = FX_TAKE(arena, double, c->part_count);
  c->E = FX_TAKE(arena, double, c->E_offset[s->contact_count]);
  c->S = fx_scaling(arena, s);
  if (!c->part || !c->eta || !c->E || !c->S) return FRIX_ERROR_MEMORY;
  fill_entries(s, full, c);
  for (int32_t k = 0; k < c->row_count; k++) c->q[k] = c->S[k] * s->q[k];
  return fx_kkt_setup(arena, s, c->S, &c->kkt);
}

void fx_conic_impulse(fx_conic *c, int32_t i, double impulse) {
  c->off[i] = !(impulse > 0);
  for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++)
    c->g[e] = c->off[i] ? 0 : c->column[e] * impulse / c->S[c->s->row[i]];
}

/* ---- products over contacts ---- */

/* out = E a */
static void times_E(const fx_conic *c, const double *a, double *out) {
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim;
    const double *E = c->E + c->E_offset[i], *from = a + c->s->row[i];
    for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++, E += d) {
      double sum = 0;
      for (int32_t k = 0; k < d; k++) sum += E[k] * from[k];
      out[e] = sum;
    }
  }
}

/* out += factor E' a; contacts that are off keep 0 */
static void add_Et(const fx_conic *c, double factor, const double *a, double *out) {
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim;
    const double *E = c->E + c->E_offset[i];
    double *to = out + c->s->row[i];
    for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++, E += d)
      for (int32_t k = 0; k < d; k++) to[k] += factor * E[k] * a[e];
    if (c->off[i])
      for (int32_t k = 0; k < d; k++) to[k] = 0;
  }
}

/* rd = A x + q - E' z */
static void dual_residual(fx_conic *c) {
  fx_kkt_multiply(&c->kkt, c->x, c->rd);
  for (int32_t k = 0; k < c->row_count; k++) c->rd[k] += c->q[k];
  add_Et(c, -1, c->z, c->rd);
}

/* D_i += E' B E for the part's block B (dim x dim, symmetric). */
static void add_block(fx_conic *c, int32_t i, const fx_conic_part *part, const double *B) {
  int32_t d = c->s->contact[i].dim, m = part->dim;
  const double *E = c->E + c->E_offset[i] + (size_t)((part->first - c->entry[i]) * d);
  double *D = c->kkt.D + c->s->diagonal[i];
  for (int32_t a = 0; a < m; a++)
    for (int32_t b = 0; b < m; b++)
      for (int32_t r = 0; r < d; r++)
        for (int32_t k = 0; k < d; k++) D[r * d + k] += E[a * d + r] * B[a * m + b] * E[b * d + k];
}

/* Runs over the parts of contacts that are on. */
#define EACH_PART(c, i, part)                                        \
  for (int32_t i = 0; i < (c)->s->contact_count; i++)                \
    for (const fx_conic_part *part = (c)->part + (c)->part_start[i]; \
         !(c)->off[i] && part < (c)->part + (c)->part_start[i + 1]; part++)

/* D = proximal I, large where contacts are off. */
static void clear_D(fx_conic *c, double proximal) {
  const fx_system *s = c->s;
  memset(c->kkt.D, 0, s->diagonal[s->contact_count] * sizeof *c->kkt.D);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0; k < s->contact[i].dim; k++)
      c->kkt.D[s->diagonal[i] + (size_t)(k * (s->contact[i].dim + 1))] = c->off[i] ? 1e12 : proximal;
}

/* ---- merit ---- */

static double scale_of(const fx_conic *c) {
  double sum = fx_dot(c->row_count, c->q, c->q) + fx_dot(c->entry_count, c->g, c->g);
  return sum > 0 ? sqrt(sum) : 1;
}

/* | A x + q - E' z, s - P_C(s - z) | with s = E x + g; leaves rd, s in ds and the natural map in p. */
static double measure(fx_conic *c) {
  dual_residual(c);
  times_E(c, c->x, c->ds);
  for (int32_t e = 0; e < c->entry_count; e++) c->ds[e] += c->g[e];
  double sum = fx_dot(c->row_count, c->rd, c->rd), y[3], projected[3];
  EACH_PART(c, i, part) {
    const double *s = c->ds + part->first, *z = c->z + part->first;
    for (int32_t k = 0; k < part->dim; k++) y[k] = s[k] - z[k];
    if (part->held)
      projected[0] = 0;
    else
      fx_soc_project(part->dim, y, projected);
    for (int32_t k = 0; k < part->dim; k++) {
      double gap = s[k] - projected[k];
      c->p[part->first + k] = gap;
      sum += gap * gap;
    }
  }
  c->merit = sqrt(sum) / scale_of(c);
  if (c->merit < c->best) {
    c->best = c->merit;
    memcpy(c->x_best, c->x, (size_t)c->row_count * sizeof *c->x);
    memcpy(c->z_best, c->z, (size_t)c->entry_count * sizeof *c->z);
  }
  return c->merit;
}

/* ---- semismooth Newton ---- */

/* F (I - J) as block B, and t = F phi, for one part; eigenvectors of J: (1, w), (1, -w), across. */
static void newton_part(fx_conic *c, const fx_conic_part *part, double delta, double *B) {
  int32_t d = part->dim, first = part->first;
  const double *phi = c->p + first;
  double y[3], *t = c->t + first, length = 0;
  memset(B, 0, 9 * sizeof *B);
  if (part->held) {
    B[0] = held_weight;
    t[0] = held_weight * phi[0];
    return;
  }
  for (int32_t k = 0; k < d; k++) y[k] = c->ds[first + k] - c->z[first + k];
  for (int32_t k = 1; k < d; k++) length += y[k] * y[k];
  length = sqrt(length);
  bool inside = y[0] >= length, outside = y[0] <= -length;
  if (d == 1 || inside || outside) {
    double j = (d == 1 ? y[0] > 0 : inside) ? 1 : 0, f = 1 / (j + delta);
    for (int32_t k = 0; k < d; k++) {
      B[k * (d + 1)] = (1 - j) * f;
      t[k] = f * phi[k];
    }
    return;
  }
  double w[3] = {1, y[1] / length, d > 2 ? y[2] / length : 0}, j = 0.5 * (1 + y[0] / length);
  double f_in = 1 / (1 + delta), f_out = 1 / delta, f_across = 1 / (j + delta), b_across = (1 - j) * f_across;
  double b_out = f_out; /* (1 - 0) / delta; along (1, w) it is 0 */
  double in = phi[0], out = phi[0];
  for (int32_t k = 1; k < d; k++) {
    in += w[k] * phi[k];
    out -= w[k] * phi[k];
  }
  t[0] = 0.5 * (f_in * in + f_out * out);
  for (int32_t k = 1; k < d; k++) {
    double along = 0.5 * (in - out); /* component of phi along w */
    t[k] = 0.5 * (f_in * in - f_out * out) * w[k] + f_across * (phi[k] - along * w[k]);
  }
  for (int32_t a = 0; a < d; a++)
    for (int32_t b = 0; b < d; b++) {
      double sign = (a > 0) == (b > 0) ? 1 : -1;
      B[a * d + b] = 0.5 * b_out * sign * w[a] * w[b];
      if (a > 0 && b > 0) B[a * d + b] += b_across * ((a == b) - w[a] * w[b]);
    }
}

/* One step from the state that measure left; false when the matrix is singular. */
static bool newton_step(fx_conic *c, double delta) {
  clear_D(c, delta);
  memset(c->t, 0, (size_t)c->entry_count * sizeof *c->t);
  double B[9];
  EACH_PART(c, i, part) {
    newton_part(c, part, delta, B);
    add_block(c, i, part, B);
  }
  if (!fx_kkt_factor(&c->kkt)) return false;
  c->steps++;
  for (int32_t k = 0; k < c->row_count; k++) c->b[k] = -c->rd[k];
  add_Et(c, -1, c->t, c->b);
  fx_kkt_solve(&c->kkt, c->b, 1e-12, c->dx);
  times_E(c, c->dx, c->dz);
  EACH_PART(c, i, part) {
    /* dz = -F phi - F (I - J) E dx */
    double change[3];
    newton_part(c, part, delta, B);
    for (int32_t a = 0; a < part->dim; a++) {
      change[a] = -c->t[part->first + a];
      for (int32_t b = 0; b < part->dim; b++) change[a] -= B[a * part->dim + b] * c->dz[part->first + b];
    }
    for (int32_t a = 0; a < part->dim; a++) c->z[part->first + a] += change[a];
  }
  for (int32_t k = 0; k < c->row_count; k++) c->x[k] += c->dx[k];
  return true;
}

typedef struct verdict {
  bool done;
  fx_conic_end end;
} verdict;

/* Tells the caller and compares with the tolerance; merit is fresh. */
static verdict judge(fx_conic *c, const fx_conic_run *run) {
  if (run->stop && run->stop(c, run->user)) return (verdict){true, FX_CONIC_STOPPED};
  if (c->merit <= run->tolerance) return (verdict){true, FX_CONIC_SOLVED};
  if (c->steps >= run->max_steps) return (verdict){true, FX_CONIC_LIMIT};
  return (verdict){false, FX_CONIC_STALLED};
}

/* Newton from x and z; delta = caution merit^(3/4). Goes on while the merit halves within three steps; true with the
 * verdict when that ends the run, else x and z are as they were. */
static bool newton(fx_conic *c, const fx_conic_run *run, double caution, verdict *out) {
  memcpy(c->x_keep, c->x, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z_keep, c->z, (size_t)c->entry_count * sizeof *c->z);
  double best = measure(c), first = best, mark = best;
  for (int k = 1; k <= 30; k++) {
    double delta = caution * sqrt(c->merit * sqrt(c->merit));
    if (delta > 1e-2) delta = 1e-2;
    if (delta < 1e-11) delta = 1e-11;
    if (!newton_step(c, delta)) break;
    double now = measure(c);
    if (!(now < INFINITY) || now > 1e4 * first) break;
    *out = judge(c, run);
    if (out->done) return true;
    if (now < best) best = now;
    if (k % 3 == 0) {
      if (best > 0.5 * mark) break;
      mark = best;
    }
  }
  memcpy(c->x, c->x_keep, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z, c->z_keep, (size_t)c->entry_count * sizeof *c->z);
  return false;
}

/* ---- interior point ---- */

/* Moves a into the interior by a multiple of e, where it is not. */
static void shift_inside(const fx_conic *c, double *a) {
  double worst = -INFINITY;
  EACH_PART(c, i, part) {
    if (part->held) continue;
    double length = 0;
    for (int32_t k = 1; k < part->dim; k++) length += a[part->first + k] * a[part->first + k];
    double depth = sqrt(length) - a[part->first];
    if (depth > worst) worst = depth;
  }
  double size = sqrt(fx_dot(c->entry_count, a, a) / (c->entry_count > 0 ? c->entry_count : 1));
  double least = size > 0 ? 0.1 * size : 1;
  if (worst < -1e-8 * least) return;
  EACH_PART(c, i, part) {
    if (!part->held) a[part->first] += worst + least;
  }
}

/* min 1/2 x'Ax + q'x + 1/2 |Ex + g|^2 gives x; s = Ex + g and z = -s are then moved inside. */
static bool start_inside(fx_conic *c) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, line[1] = {1}, pair[4] = {1, 0, 0, 1};
  clear_D(c, 0);
  EACH_PART(c, i, part) add_block(c, i, part, part->dim == 1 ? line : part->dim == 2 ? pair : identity);
  if (!fx_kkt_factor(&c->kkt)) return false;
  c->steps++;
  for (int32_t k = 0; k < c->row_count; k++) c->b[k] = -c->q[k];
  add_Et(c, -1, c->g, c->b);
  fx_kkt_solve(&c->kkt, c->b, 1e-6, c->x);
  times_E(c, c->x, c->sl);
  for (int32_t e = 0; e < c->entry_count; e++) {
    c->sl[e] += c->g[e];
    c->z[e] = -c->sl[e];
  }
  shift_inside(c, c->sl);
  shift_inside(c, c->z);
  EACH_PART(c, i, part) {
    if (part->held) c->sl[part->first] = c->z[part->first] = 0;
  }
  return true;
}

/* Scaling points and D = E' W^-2 E, W^-2 = (2 (Jw)(Jw)' - J) / eta^2. */
static bool scale_and_factor(fx_conic *c) {
  clear_D(c, 0);
  EACH_PART(c, i, part) {
    int32_t d = part->dim, first = part->first;
    double B[9], *eta = &c->eta[part - c->part];
    const double *w = c->w + first;
    if (part->held) {
      B[0] = held_weight;
    } else {
      if (!fx_soc_scale(d, c->sl + first, c->z + first, c->w + first, eta, c->lambda + first)) return false;
      double factor = 1 / (*eta * *eta);
      for (int32_t a = 0; a < d; a++)
        for (int32_t b = 0; b < d; b++) {
          double sign = (a > 0) == (b > 0) ? 1 : -1;
          B[a * d + b] = factor * (2 * sign * w[a] * w[b] + (a == b ? (a == 0 ? -1 : 1) : 0));
        }
      if (d == 1) B[0] = factor;
    }
    add_block(c, i, part, B);
  }
  if (!fx_kkt_factor(&c->kkt)) return false;
  c->steps++;
  return true;
}

/* Direction for right-hand sides p = lambda \ d: dx, and W^-1 ds in ds, W dz in dz. t holds rp. */
static void direction(fx_conic *c, double accuracy) {
  /* lambda-space part p - W^-1 rp, then E' W^-1 of it */
  memset(c->dz, 0, (size_t)c->entry_count * sizeof *c->dz);
  EACH_PART(c, i, part) {
    int32_t first = part->first;
    double scaled[3];
    if (part->held) {
      c->dz[first] = -held_weight * c->t[first];
      continue;
    }
    const double *w = c->w + first, eta = c->eta[part - c->part];
    fx_soc_unapply(part->dim, w, eta, c->t + first, scaled);
    for (int32_t k = 0; k < part->dim; k++) scaled[k] = c->p[first + k] - scaled[k];
    fx_soc_unapply(part->dim, w, eta, scaled, c->dz + first);
  }
  for (int32_t k = 0; k < c->row_count; k++) c->b[k] = -c->rd[k];
  add_Et(c, 1, c->dz, c->b);
  fx_kkt_solve(&c->kkt, c->b, accuracy, c->dx);
  times_E(c, c->dx, c->ds);
  EACH_PART(c, i, part) {
    int32_t first = part->first;
    double unscaled[3];
    if (part->held) {
      c->dz[first] = -held_weight * (c->ds[first] + c->t[first]);
      c->ds[first] = 0;
      continue;
    }
    for (int32_t k = 0; k < part->dim; k++) unscaled[k] = c->ds[first + k] + c->t[first + k];
    fx_soc_unapply(part->dim, c->w + first, c->eta[part - c->part], unscaled, c->ds + first);
    for (int32_t k = 0; k < part->dim; k++) c->dz[first + k] = c->p[first + k] - c->ds[first + k];
  }
}

/* Largest step that keeps s and z in the cone. */
static double longest(const fx_conic *c) {
  double step = INFINITY;
  EACH_PART(c, i, part) {
    if (part->held) continue;
    double a = fx_soc_step(part->dim, c->lambda + part->first, c->ds + part->first);
    double b = fx_soc_step(part->dim, c->lambda + part->first, c->dz + part->first);
    if (a < step) step = a;
    if (b < step) step = b;
  }
  return step;
}

/* s . z per part */
static double mean_gap(const fx_conic *c) {
  double sum = 0;
  int32_t count = 0;
  EACH_PART(c, i, part) {
    if (part->held) continue;
    for (int32_t k = 0; k < part->dim; k++) sum += c->sl[part->first + k] * c->z[part->first + k];
    count++;
  }
  return count ? sum / count : 0;
}

/* p = lambda \ (sigma gap e - lambda o lambda - ds o dz), the last with the affine direction where correct is set. */
static void centre(fx_conic *c, double target, bool correct) {
  EACH_PART(c, i, part) {
    int32_t first = part->first, d = part->dim;
    if (part->held) continue;
    double rhs[3] = {0}, product[3] = {0};
    if (!correct) {
      for (int32_t k = 0; k < d; k++) c->p[first + k] = -c->lambda[first + k];
      continue;
    }
    fx_soc_product(d, c->lambda + first, c->lambda + first, rhs);
    fx_soc_product(d, c->ds + first, c->dz + first, product);
    for (int32_t k = 0; k < d; k++) rhs[k] = (k == 0 ? target : 0) - rhs[k] - product[k];
    fx_soc_divide(d, c->lambda + first, rhs, c->p + first);
  }
}

/* x, s, z += step * direction, back from the scaled space. */
static void advance(fx_conic *c, double step) {
  for (int32_t k = 0; k < c->row_count; k++) c->x[k] += step * c->dx[k];
  EACH_PART(c, i, part) {
    int32_t first = part->first;
    double a[3], b[3];
    if (part->held) {
      c->z[first] += step * c->dz[first];
      continue;
    }
    fx_soc_apply(part->dim, c->w + first, c->eta[part - c->part], c->ds + first, a);
    fx_soc_unapply(part->dim, c->w + first, c->eta[part - c->part], c->dz + first, b);
    for (int32_t k = 0; k < part->dim; k++) {
      c->sl[first + k] += step * a[k];
      c->z[first + k] += step * b[k];
    }
  }
}

/* One predictor-corrector step; its length, 0 where it failed. */
static double interior_step(fx_conic *c) {
  dual_residual(c);
  times_E(c, c->x, c->t);
  for (int32_t e = 0; e < c->entry_count; e++) c->t[e] += c->g[e] - c->sl[e];
  if (!scale_and_factor(c)) return 0;
  centre(c, 0, false);
  direction(c, 1e-3);
  double affine = longest(c), gap = mean_gap(c);
  if (affine > 1) affine = 1;
  double sigma = (1 - affine) * (1 - affine) * (1 - affine);
  centre(c, sigma * gap, true);
  direction(c, 1e-11);
  double step = 0.99 * longest(c);
  if (!(step < 1)) step = 1;
  advance(c, step);
  return step;
}

/* The interior point, with an attempt by Newton whenever the merit fell by a hundred. */
static fx_conic_end interior(fx_conic *c, const fx_conic_run *run) {
  verdict v;
  double try_newton = 1e-4, mark = INFINITY;
  if (!start_inside(c)) return FX_CONIC_STALLED;
  for (int64_t k = 1;; k++) {
    measure(c);
    v = judge(c, run);
    if (v.done) return v.end;
    if (c->merit < try_newton) {
      try_newton = 1e-2 * c->merit;
      if (newton(c, run, 1, &v)) return v.end;
    }
    double step = interior_step(c);
    bool still = k % 12 == 0 && !(c->best < 0.5 * mark);
    if (k % 12 == 0) mark = c->best;
    if (!(step > 0) || still) return FX_CONIC_STALLED;
  }
}

static void return_to_best(fx_conic *c) {
  memcpy(c->x, c->x_best, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z, c->z_best, (size_t)c->entry_count * sizeof *c->z);
  c->merit = c->best;
}

fx_conic_end fx_conic_solve(fx_conic *c, const fx_conic_run *run) {
  verdict v = {false, FX_CONIC_STALLED};
  for (int32_t i = 0; i < c->s->contact_count; i++)
    for (int32_t k = c->s->row[i]; c->off[i] && k < c->s->row[i + 1]; k++) c->x[k] = 0;
  c->steps = 0;
  c->best = INFINITY;
  if (run->warm) {
    measure(c);
    v = judge(c, run);
    if (v.done) return v.end;
    if (newton(c, run, 1, &v)) return v.end;
  }
  if (run->warm && c->best <= run->accept) {
    return_to_best(c);
    return FX_CONIC_STALLED;
  }
  fx_conic_end end = interior(c, run);
  if (end != FX_CONIC_STALLED || !(c->best < INFINITY)) return end;
  /* The interior is lost to rounding: Newton has the last word, more and more cautious. */
  for (double caution = 1; caution < 1e5; caution *= 30) {
    return_to_best(c);
    if (newton(c, run, caution, &v)) return v.end;
  }
  return_to_best(c);
  return FX_CONIC_STALLED;
}

/* ---- warm start ---- */

void fx_conic_warm(fx_conic *c) {
  fx_kkt_multiply(&c->kkt, c->x, c->rd);
  for (int32_t k = 0; k < c->row_count; k++) c->rd[k] += c->q[k];
  memset(c->z, 0, (size_t)c->entry_count * sizeof *c->z);
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim, m = c->entry[i + 1] - c->entry[i];
    const double *E = c->E + c->E_offset[i], *u = c->rd + c->s->row[i];
    double size = 0, *z = c->z + c->entry[i];
    for (int32_t e = 0; e < m * d; e++) size += E[e] * E[e];
    /* projected gradient on |E' z - u|^2 */
    for (int round = 0; round < 40 && size > 0; round++) {
      double rest[FRIX_MAX_DIM];
      for (int32_t k = 0; k < d; k++) {
        rest[k] = u[k];
        for (int32_t e = 0; e < m; e++) rest[k] -= E[e * d + k] * z[e];
      }
      for (int32_t e = 0; e < m; e++)
        for (int32_t k = 0; k < d; k++) z[e] += E[e * d + k] * rest[k] / size * (m > d ? 1 : 1.5);
      for (int32_t k = c->part_start[i]; k < c->part_start[i + 1]; k++)
        if (!c->part[k].held) fx_soc_project(c->part[k].dim, c->z + c->part[k].first, c->z + c->part[k].first);
    }
  }
}
