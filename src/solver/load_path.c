/* Load paths: forces that hold walls, stacks and pyramids, body by body from the top.
 *
 * Where all that presses on a body is known, and its weight w with it, the contacts below it carry
 *
 *   min sum |r_j|^2 / 2,   sum J_j' r_j + w = 0,   r_j in K_j
 *
 * and press on what is below. In the dual v, six unknowns, r_j = P_K(-J_j v) and phi(v) = sum |r_j|^2 / 2 - w . v is
 * convex and once differentiable: Newton's method ends in a few steps. Equal feet carry equal shares. A contact is
 * below a body where its normal pushes against the load; others (sides that touch) carry nothing.
 *
 * A body that what is below it cannot balance (one that is pushed) may be left with the forces that come near, as if
 * springs held it besides; what follows from them is a start for other methods.
 *
 * This is one sweep over the bodies where an interior point method factorises the island some twenty times. */
#include "solver/load_path.h"

#include "linalg/dense.h"
#include "problem/cone.h"
#include "problem/cone_slope.h"

#include <math.h>
#include <string.h>

#define STEEP 0.2    /* cosine between load and normal of a contact that carries */
#define EXACT 1e-15  /* imbalance of a body, of all that acts on it: rounding */
#define GOOD 1e-13   /* where steps bring no more, this will do */
#define SOFTEST 1e-9 /* of the mean stiffness: least pivots of directions that nothing holds */
#define SPRING 1e-2  /* stiffness of what holds a body that is left, beside 1 of a contact */

enum { STEPS = 40, HALVINGS = 30, MOST_DOF = 6 };

typedef struct path {
  const fx_statics *t;
  const fx_statics_part *part;
  int32_t *start, *list; /* by mover: the contacts of the part that it has */
  int32_t *waits;        /* by mover: contacts that press on it and are not known yet */
  int32_t *order;        /* movers whose loads are known */
  int32_t *carried;      /* by contact: the mover it carries, -1: none */
  double *load;          /* by degree of freedom */
  double *r;
} path;

/* ---- which contact carries whom ---- */

/* Cosine between the push of a contact's normal on the mover of block k and the load of that mover. */
static double push_along(const path *p, int32_t k) {
  const fx_system *s = p->t->s;
  int32_t m = s->Ht.index[k], dof = s->dof[m + 1] - s->dof[m], width = dof == 6 ? 3 : 2;
  const double *h = fx_block(&s->Ht, k), *f = p->t->force + s->dof[m];
  double dot = 0, n = 0, w = 0;
  for (int32_t c = 0; c < width; c++) dot += h[c] * f[c], n += h[c] * h[c], w += f[c] * f[c];
  return n > 0 && w > 0 ? dot / sqrt(n * w) : 0;
}

static int32_t carried_by(const path *p, int32_t i) {
  const fx_system *s = p->t->s;
  if (p->t->kind[i] != FX_STATICS_CONE) return -1;
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
    if (push_along(p, k) < -STEEP) return s->Ht.index[k];
  return -1;
}

/* Rigid bodies, and contacts alone. */
static bool is_fit(const path *p) {
  const fx_system *s = p->t->s;
  for (int32_t e = 0; e < p->part->mover_count; e++) {
    int32_t m = p->part->mover[e], dof = s->dof[m + 1] - s->dof[m];
    if (dof != 6 && dof != 3) return false;
  }
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    int32_t i = p->part->contact[c];
    bool fit = p->t->kind[i] == FX_STATICS_CONE || p->t->kind[i] == FX_STATICS_OPEN;
    if (!fit || s->Ht.start[i + 1] - s->Ht.start[i] > 2) return false;
  }
  return true;
}

static frix_status take(path *p, fx_arena *arena) {
  const fx_system *s = p->t->s;
  p->start = FX_TAKE(arena, int32_t, (size_t)s->mover_count + 1);
  p->list = FX_TAKE_RAW(arena, int32_t, p->part->contact_count);
  p->waits = FX_TAKE(arena, int32_t, s->mover_count);
  p->order = FX_TAKE_RAW(arena, int32_t, p->part->mover_count);
  p->carried = FX_TAKE_RAW(arena, int32_t, s->contact_count);
  p->load = FX_TAKE_RAW(arena, double, s->dof_count);
  bool good = p->start && p->list && p->waits && p->order && p->carried && p->load;
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* The contacts below each mover, in ascending order, and how many press on it. */
static void list_contacts(path *p) {
  const fx_system *s = p->t->s;
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    int32_t i = p->part->contact[c], m = carried_by(p, i);
    p->carried[i] = m;
    if (m < 0) continue;
    p->start[m + 1]++;
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
      if (s->Ht.index[k] != m) p->waits[s->Ht.index[k]]++;
  }
  for (int32_t m = 0; m < s->mover_count; m++) p->start[m + 1] += p->start[m];
  for (int32_t c = 0; c < p->part->contact_count; c++) {
    int32_t m = p->carried[p->part->contact[c]];
    if (m >= 0) p->list[p->start[m]++] = p->part->contact[c];
  }
  for (int32_t m = s->mover_count; m > 0; m--) p->start[m] = p->start[m - 1];
  p->start[0] = 0;
}

/* ---- one body ---- */

typedef struct body {
  const path *p;
  int32_t m, dof;
  const double *load, *arm; /* torques are divided by the arm */
  double g[MOST_DOF];       /* what is missing to balance */
  double A[MOST_DOF * MOST_DOF];
  double size;   /* of the terms */
  double spring; /* stiffness of what holds it besides */
} body;

static const double *block_of(const fx_system *s, int32_t i, int32_t m) {
  int32_t k = s->Ht.start[i];
  return fx_block(&s->Ht, s->Ht.index[k] == m ? k : k + 1);
}

/* phi(v) with r, g and, where it is asked for, A = sum J' P' J; linear: P is the identity. */
static double look(body *b, const double *v, bool linear, bool slope) {
  const fx_system *s = b->p->t->s;
  double phi = 0, size = 0;
  for (int32_t c = 0; c < b->dof; c++) {
    b->g[c] = b->load[c] / b->arm[c];
    phi -= v[c] * b->g[c];
    size += fabs(b->g[c]);
    phi += 0.5 * b->spring * v[c] * v[c];
    b->g[c] -= b->spring * v[c];
  }
  if (slope) memset(b->A, 0, sizeof b->A);
  for (int32_t c = 0; slope && c < b->dof; c++) b->A[c * b->dof + c] = b->spring;
  for (int32_t e = b->p->start[b->m]; e < b->p->start[b->m + 1]; e++) {
    int32_t i = b->p->list[e], dim = s->contact[i].dim;
    const double *h = block_of(s, i, b->m);
    double J[FRIX_MAX_DIM * MOST_DOF], x[FRIX_MAX_DIM], P[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0}, *r = b->p->r + s->row[i];
    for (int32_t a = 0; a < dim; a++) {
      x[a] = 0;
      for (int32_t c = 0; c < b->dof; c++) {
        J[a * b->dof + c] = h[a * b->dof + c] / b->arm[c];
        x[a] -= J[a * b->dof + c] * v[c];
      }
    }
    for (int32_t a = 0; linear && a < dim; a++) P[a * dim + a] = 1, r[a] = x[a];
    if (!linear) fx_cone_project(&s->contact[i], x, r);
    if (!linear && slope) fx_cone_project_slope(&s->contact[i], x, P);
    for (int32_t a = 0; a < dim; a++) {
      phi += 0.5 * r[a] * r[a];
      for (int32_t c = 0; c < b->dof; c++) b->g[c] += J[a * b->dof + c] * r[a], size += fabs(J[a * b->dof + c] * r[a]);
      for (int32_t d = 0; slope && d < dim; d++)
        for (int32_t c = 0; P[a * dim + d] != 0 && c < b->dof; c++)
          for (int32_t k = 0; k < b->dof; k++)
            b->A[c * b->dof + k] += J[a * b->dof + c] * P[a * dim + d] * J[d * b->dof + k];
    }
  }
  b->size = size;
  return phi;
}

static double missing(const body *b) {
  double most = 0;
  for (int32_t c = 0; c < b->dof; c++) most = fmax(most, fabs(b->g[c]));
  return most;
}

/* A dv = g; what nothing holds is held a little. */
static bool newton_step(body *b, double *dv) {
  int32_t n = b->dof, pivot[MOST_DOF];
  double trace = 0;
  for (int32_t c = 0; c < n; c++) trace += b->A[c * n + c];
  for (int32_t c = 0; c < n; c++) b->A[c * n + c] += SOFTEST * trace / n;
  memcpy(dv, b->g, (size_t)n * sizeof *dv);
  if (!(trace > 0) || !fx_lu_factor(n, b->A, pivot)) return false;
  fx_lu_solve(n, b->A, pivot, dv);
  return true;
}

/* Forces below mover m that balance it, with springs of this stiffness. */
static bool balance(const path *p, int32_t m, double spring) {
  const fx_system *s = p->t->s;
  body b = {.p = p,
            .m = m,
            .dof = s->dof[m + 1] - s->dof[m],
            .load = p->load + s->dof[m],
            .arm = p->t->arm + s->dof[m],
            .spring = spring};
  double v[MOST_DOF] = {0}, dv[MOST_DOF], next[MOST_DOF], best = INFINITY;
  look(&b, v, true, true);
  if (!newton_step(&b, v)) return missing(&b) == 0;
  double phi = look(&b, v, false, true);
  for (int step = 0; step < STEPS; step++) {
    double miss = missing(&b);
    if (miss <= EXACT * b.size) return true;
    if (!(miss < 0.5 * best) && miss <= GOOD * b.size) return true;
    best = fmin(best, miss);
    if (!newton_step(&b, dv)) return false;
    double t = 1, slope = 0, value = INFINITY;
    for (int32_t c = 0; c < b.dof; c++) slope -= b.g[c] * dv[c];
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
      for (int32_t c = 0; c < b.dof; c++) next[c] = v[c] + t * dv[c];
      value = look(&b, next, false, true);
      if (value <= phi + 1e-4 * t * slope || missing(&b) <= 0.5 * miss) break;
    }
    memcpy(v, next, sizeof v);
    phi = value;
  }
  return missing(&b) <= GOOD * b.size;
}

/* ---- all bodies ---- */

/* What the contacts below mover m press on others; returns how many of these have all their loads now. */
static int32_t pass_on(path *p, int32_t m, int32_t *ready) {
  const fx_system *s = p->t->s;
  int32_t count = 0;
  for (int32_t e = p->start[m]; e < p->start[m + 1]; e++) {
    int32_t i = p->list[e];
    const double *r = p->r + s->row[i];
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
      int32_t other = s->Ht.index[k], dof = s->dof[other + 1] - s->dof[other];
      const double *h = fx_block(&s->Ht, k);
      if (other == m) continue;
      for (int32_t a = 0; a < s->contact[i].dim; a++)
        for (int32_t c = 0; c < dof; c++) p->load[s->dof[other] + c] += h[a * dof + c] * r[a];
      if (--p->waits[other] == 0) ready[count++] = other;
    }
  }
  return count;
}

frix_status fx_load_path_find(fx_arena *arena, const fx_statics *statics, const fx_statics_part *part,
                              int32_t most_left, double *r, int32_t *left) {
  const fx_system *s = statics->s;
  path p = {.t = statics, .part = part, .r = r};
  *left = -1;
  if (!is_fit(&p)) return FRIX_OK;
  frix_status status = take(&p, arena);
  if (status != FRIX_OK) return status;
  list_contacts(&p);
  int32_t count = 0, missed = 0;
  for (int32_t c = 0; c < part->contact_count; c++)
    memset(r + s->row[part->contact[c]], 0, (size_t)s->contact[part->contact[c]].dim * sizeof *r);
  for (int32_t e = 0; e < part->mover_count; e++) {
    int32_t m = part->mover[e], first = s->dof[m];
    memcpy(p.load + first, statics->force + first, (size_t)(s->dof[m + 1] - first) * sizeof *p.load);
    if (p.waits[m] == 0) p.order[count++] = m;
  }
  for (int32_t e = 0; e < count; e++) {
    if (!balance(&p, p.order[e], 0) && (++missed > most_left || !balance(&p, p.order[e], SPRING))) return FRIX_OK;
    count += pass_on(&p, p.order[e], p.order + count);
  }
  if (count == part->mover_count) *left = missed;
  return FRIX_OK;
}
