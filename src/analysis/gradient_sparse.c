/* K of a large island through sparse factors over its bodies.
 *
 *   K = I - J + J G (R' + S H'M^-1 H S),   R' = S R S
 *
 * With a small compliance d, B = I - J + J G (R' + d) can be inverted contact by contact, and with C = B^-1 J G
 *
 *   (K + d J G) z = b:    V v = H S B^-1 b,   z = B^-1 b - C S H'v,   V = M + H S C S H'
 *   transposed            V'p = H S C'b,      z = B'^-1 (b - S H'p)
 *
 * and K z = b follows by repeating it on what is left of b: parts of K far above d need two or three rounds. The same
 * rounds without b keep what K sends to nothing, and little else: one random start shows whether changes of force that
 * keep every law move a body or a contact that slides. Where every contact is compliant B needs no d, one solution is
 * nearly exact, and two from a random start tell how large K^-1 is. */
#include "analysis/gradient.h"

#include "linalg/block_lu.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-12 /* left of b */
#define SOFT 1e-4    /* of R': it does what d is for */
#define NOTHING 1e-13
#define LEAST 1e-6 /* compliance of factors of an answer that is known to rounding */
#define NULL_PART 1e-6
enum { MOST_ROUNDS = 30, NULL_ROUNDS = 24 };

struct fx_gradient_sparse {
  double compliance;
  bool soft;                  /* compliant everywhere */
  int32_t k, n, movers, dofs; /* island of g, its rows, movers and degrees of freedom */
  const int32_t *place;       /* by contact of the island's list: its first row */
  int32_t *dof;               /* movers + 1 */
  double *B, *C;              /* B^-1 and C, dim x dim by contact */
  size_t *block;              /* by contact of the list */
  fx_block_matrix V;
  fx_block_lu lu; /* of V */
  bool ready;
  fx_arena *arena;
  double *z, *left, *u, *v, *p;
};

typedef struct fx_gradient_sparse sparse;

static int32_t contact_at(const frix_gradient *g, const sparse *x, int32_t e) {
  return g->islands.contact[g->islands.start[x->k] + e];
}
static int32_t contacts_of(const frix_gradient *g, const sparse *x) {
  return g->islands.start[x->k + 1] - g->islands.start[x->k];
}
/* The place in the island of the body of a block of Ht. */
static int32_t mover_at(const frix_gradient *g, int32_t block) { return g->islands.mover_place[g->s.Ht.index[block]]; }

/* ---- products ---- */

/* v += H S z, over the island's movers. */
static void add_forces(const frix_gradient *g, const sparse *x, const double *z, double *v) {
  const fx_block_matrix *Ht = &g->s.Ht;
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e), d = g->s.contact[i].dim;
    double S = g->forces->scale[i];
    for (int32_t b = Ht->start[i]; b < Ht->start[i + 1]; b++) {
      int32_t width = fx_block_cols(Ht, b);
      const double *h = fx_block(Ht, b);
      double *to = v + x->dof[mover_at(g, b)];
      for (int32_t r = 0; r < d; r++)
        for (int32_t c = 0; c < width; c++) to[c] += S * z[x->place[e] + r] * h[r * width + c];
    }
  }
}

/* u = S H'v */
static void take_speeds(const frix_gradient *g, const sparse *x, const double *v, double *u) {
  const fx_block_matrix *Ht = &g->s.Ht;
  memset(u, 0, (size_t)x->n * sizeof *u);
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e), d = g->s.contact[i].dim;
    for (int32_t b = Ht->start[i]; b < Ht->start[i + 1]; b++) {
      int32_t width = fx_block_cols(Ht, b);
      const double *h = fx_block(Ht, b), *from = v + x->dof[mover_at(g, b)];
      for (int32_t r = 0; r < d; r++)
        for (int32_t c = 0; c < width; c++) u[x->place[e] + r] += g->forces->scale[i] * h[r * width + c] * from[c];
    }
  }
}

static void over_mass(const frix_gradient *g, const sparse *x, double *v) {
  double old[64];
  for (int32_t m = 0; m < x->movers; m++) {
    int32_t mover = g->islands.mover[g->islands.mover_start[x->k] + m], n = x->dof[m + 1] - x->dof[m];
    const double *inverse = g->inverse + g->s.M_offset[mover];
    memcpy(old, v + x->dof[m], (size_t)n * sizeof *old);
    for (int32_t r = 0; r < n; r++) {
      double sum = 0;
      for (int32_t c = 0; c < n; c++) sum += inverse[r * n + c] * old[c];
      v[x->dof[m] + r] = sum;
    }
  }
}

/* out = a z or a'z, blocks a of the contacts. */
static void blocks_times(const frix_gradient *g, const sparse *x, const double *a, bool own, bool transposed,
                         const double *z, double *out) {
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e), d = g->s.contact[i].dim, at = x->place[e];
    const double *m = a + (own ? x->block[e] : g->block[i]);
    for (int32_t r = 0; r < d; r++) {
      double sum = 0;
      for (int32_t c = 0; c < d; c++) sum += (transposed ? m[c * d + r] : m[r * d + c]) * z[at + c];
      out[at + r] = sum;
    }
  }
}

/* u = S (W + R) S z */
static void times_A(const frix_gradient *g, sparse *x, const double *z, double *u) {
  memset(x->v, 0, (size_t)x->dofs * sizeof *x->v);
  add_forces(g, x, z, x->v);
  over_mass(g, x, x->v);
  take_speeds(g, x, x->v, u);
  for (int32_t e = 0; g->s.R && e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e);
    double S = g->forces->scale[i];
    for (int32_t r = 0; r < g->s.contact[i].dim; r++)
      u[x->place[e] + r] += S * g->s.R[g->s.row[i] + r] * S * z[x->place[e] + r];
  }
}

/* left = b - K z, or with K'. */
static double find_left(const frix_gradient *g, sparse *x, bool transposed, const double *b, const double *z) {
  double most = 0;
  if (transposed) {
    blocks_times(g, x, g->JG, false, true, z, x->p);
    times_A(g, x, x->p, x->u);
    memcpy(x->left, x->u, (size_t)x->n * sizeof *x->left);
  } else {
    times_A(g, x, z, x->u);
    blocks_times(g, x, g->JG, false, false, x->u, x->left);
  }
  blocks_times(g, x, g->J, false, transposed, z, x->p);
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e);
    bool joint = g->s.contact[i].cone == FRIX_CONE_BILATERAL;
    for (int32_t r = x->place[e]; r < x->place[e] + g->s.contact[i].dim; r++) {
      x->left[r] = b[r] - x->left[r] - (joint ? 0 : z[r] - x->p[r]);
      most = fmax(most, fabs(x->left[r]));
    }
  }
  return most;
}

/* ---- factors ---- */

static bool invert_contact(const frix_gradient *g, sparse *x, int32_t e) {
  int32_t i = contact_at(g, x, e), d = g->s.contact[i].dim, pivot[FRIX_MAX_DIM];
  double B[FRIX_MAX_DIM * FRIX_MAX_DIM], S = g->forces->scale[i], column[FRIX_MAX_DIM];
  const double *J = g->J + g->block[i], *JG = g->JG + g->block[i];
  bool joint = g->s.contact[i].cone == FRIX_CONE_BILATERAL;
  for (int32_t r = 0; r < d; r++)
    for (int32_t c = 0; c < d; c++) {
      double R = g->s.R ? S * g->s.R[g->s.row[i] + c] * S : 0;
      B[r * d + c] = JG[r * d + c] * (R + x->compliance) + (joint ? 0 : (r == c) - J[r * d + c]);
    }
  if (!fx_lu_factor(d, B, pivot)) return false;
  for (int32_t c = 0; c < d; c++) {
    memset(column, 0, sizeof column);
    column[c] = 1;
    fx_lu_solve(d, B, pivot, column);
    for (int32_t r = 0; r < d; r++) x->B[x->block[e] + (size_t)(r * d + c)] = column[r];
    for (int32_t r = 0; r < d; r++) column[r] = JG[r * d + c];
    fx_lu_solve(d, B, pivot, column);
    for (int32_t r = 0; r < d; r++) x->C[x->block[e] + (size_t)(r * d + c)] = column[r];
  }
  return true;
}

static void fill(const frix_gradient *g, sparse *x) {
  const fx_block_matrix *Ht = &g->s.Ht;
  const double *M = fx_system_mass(&g->s);
  memset(x->V.x, 0, x->V.offset[x->V.start[x->movers]] * sizeof *x->V.x);
  for (int32_t m = 0; m < x->movers; m++) {
    int32_t mover = g->islands.mover[g->islands.mover_start[x->k] + m], n = x->dof[m + 1] - x->dof[m];
    memcpy(fx_block_at(&x->V, m, m), M + g->s.M_offset[mover], (size_t)(n * n) * sizeof *M);
  }
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e), d = g->s.contact[i].dim;
    const double *C = x->C + x->block[e];
    double square = g->forces->scale[i] * g->forces->scale[i];
    for (int32_t b = Ht->start[i]; b < Ht->start[i + 1]; b++) { /* C H' of one body, then H of each */
      int32_t width = fx_block_cols(Ht, b);
      const double *h = fx_block(Ht, b);
      for (int32_t c = 0; c < width; c++) {
        double product[FRIX_MAX_DIM] = {0};
        for (int32_t r = 0; r < d; r++)
          for (int32_t k = 0; k < d; k++) product[r] += square * C[r * d + k] * h[k * width + c];
        for (int32_t a = Ht->start[i]; a < Ht->start[i + 1]; a++) {
          int32_t rows = fx_block_cols(Ht, a);
          const double *other = fx_block(Ht, a);
          double *to = fx_block_at(&x->V, mover_at(g, a), mover_at(g, b));
          for (int32_t r = 0; r < d; r++)
            for (int32_t q = 0; q < rows; q++) to[q * width + c] += other[r * rows + q] * product[r];
        }
      }
    }
  }
}

static bool factor(const frix_gradient *g, sparse *x) {
  if (x->ready) return true;
  fill(g, x);
  if (fx_block_lu_analyze(x->arena, &x->V, &x->lu) != FRIX_OK) return false;
  x->ready = fx_block_lu_factor(&x->lu, &x->V, 0, false);
  return x->ready;
}

/* z += (K + d J G)^-1 b, or transposed. */
static void add_solution(const frix_gradient *g, sparse *x, bool transposed, const double *b, double *z) {
  memset(x->v, 0, (size_t)x->dofs * sizeof *x->v);
  blocks_times(g, x, transposed ? x->C : x->B, true, transposed, b, x->p);
  add_forces(g, x, x->p, x->v);
  (transposed ? fx_block_lu_solve_transposed : fx_block_lu_solve)(&x->lu, x->v);
  take_speeds(g, x, x->v, x->u);
  if (transposed) {
    for (int32_t r = 0; r < x->n; r++) x->u[r] = b[r] - x->u[r];
    blocks_times(g, x, x->B, true, true, x->u, x->p);
    for (int32_t r = 0; r < x->n; r++) z[r] += x->p[r];
  } else {
    for (int32_t r = 0; r < x->n; r++) z[r] += x->p[r];
    blocks_times(g, x, x->C, true, false, x->u, x->p);
    for (int32_t r = 0; r < x->n; r++) z[r] -= x->p[r];
  }
}

double fx_gradient_sparse_solve(const frix_gradient *g, sparse *x, bool transposed, double *b) {
  double size = 0, off = INFINITY;
  if (!factor(g, x)) return INFINITY;
  for (int32_t r = 0; r < x->n; r++) size = fmax(size, fabs(b[r]));
  memset(x->z, 0, (size_t)x->n * sizeof *x->z);
  for (int round = 0; round < MOST_ROUNDS && size > 0; round++) {
    double left = round ? find_left(g, x, transposed, b, x->z) / size : 1;
    if (round == 0) memcpy(x->left, b, (size_t)x->n * sizeof *x->left);
    if (left <= ENOUGH || !(left < 0.5 * off)) {
      off = fmin(off, left);
      break;
    }
    off = left;
    add_solution(g, x, transposed, x->left, x->z);
  }
  memcpy(b, x->z, (size_t)x->n * sizeof *b);
  return size > 0 ? off : 0;
}

/* ---- what K sends to nothing ---- */

static void random_start(const sparse *x, double *z) {
  uint64_t state = UINT64_C(0x2545f4914f6cdd1d);
  for (int32_t r = 0; r < x->n; r++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    z[r] = (double)(state >> 11) * 0x1p-52 - 1;
  }
}

static double largest(const sparse *x, const double *z) {
  double most = 0;
  for (int32_t r = 0; r < x->n; r++) most = fmax(most, fabs(z[r]));
  return most;
}

bool fx_gradient_sparse_null(const frix_gradient *g, sparse *x, double *z) {
  double *old = x->left, most = 1;
  if (!factor(g, x)) return true;
  if (x->soft) return false;
  random_start(x, z);
  for (int round = 0; round < NULL_ROUNDS && most > NULL_PART; round++) { /* what is in the null space stays as it is */
    blocks_times(g, x, g->JG, false, false, z, old);
    for (int32_t r = 0; r < x->n; r++) old[r] *= x->compliance;
    memset(z, 0, (size_t)x->n * sizeof *z);
    add_solution(g, x, false, old, z);
    most = largest(x, z);
  }
  return most > NULL_PART;
}

double fx_gradient_sparse_gain(const frix_gradient *g, sparse *x) {
  double gain = 1, *b = x->left;
  if (!x->soft || !factor(g, x)) return 0;
  random_start(x, b);
  for (int round = 0; round < 2; round++) {
    memset(x->z, 0, (size_t)x->n * sizeof *x->z);
    add_solution(g, x, false, b, x->z);
    gain = largest(x, x->z) / fmax(largest(x, b), 1e-300);
    double size = fmax(largest(x, x->z), 1e-300);
    for (int32_t r = 0; r < x->n; r++) b[r] = x->z[r] / size;
  }
  return gain;
}

bool fx_gradient_sparse_keeps(const sparse *x, double change) {
  return x->compliance <= 10 * LEAST && change <= 1e-3 * (x->soft ? SOFT : x->compliance);
}

void fx_gradient_sparse_speeds(const frix_gradient *g, sparse *x, const double *z, double *u) { times_A(g, x, z, u); }

/* ---- setup ---- */

/* Every body with itself and with those it shares a contact with. */
static frix_status find_pattern(const frix_gradient *g, sparse *x, fx_arena *own) {
  const fx_block_matrix *Ht = &g->s.Ht;
  int32_t *contacts, *first, count = 0, most = x->movers;
  frix_status status = fx_block_columns(own, Ht, &first, &contacts);
  if (status != FRIX_OK) return status;
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t bodies = Ht->start[contact_at(g, x, e) + 1] - Ht->start[contact_at(g, x, e)];
    most += bodies * (bodies - 1);
  }
  int32_t *start = FX_TAKE(own, int32_t, (size_t)x->movers + 1), *index = FX_TAKE(own, int32_t, most);
  int32_t *stamp = FX_TAKE(own, int32_t, x->movers);
  if (!start || !index || !stamp) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < x->movers; m++) {
    int32_t mover = g->islands.mover[g->islands.mover_start[x->k] + m], begin = count;
    index[count++] = m, stamp[m] = m + 1;
    for (int32_t e = first[mover]; e < first[mover + 1]; e++)
      for (int32_t b = Ht->start[contacts[e]]; g->among[contacts[e]] && b < Ht->start[contacts[e] + 1]; b++) {
        int32_t other = mover_at(g, b), at = count;
        if (stamp[other] == m + 1) continue;
        stamp[other] = m + 1;
        for (; at > begin && index[at - 1] > other; at--) index[at] = index[at - 1];
        index[at] = other, count++;
      }
    start[m + 1] = count;
  }
  return fx_block_from_pattern(x->arena, x->movers, x->dof, x->movers, x->dof, start, index, &x->V);
}

static bool is_soft(const frix_gradient *g, const sparse *x) {
  for (int32_t e = 0; e < contacts_of(g, x); e++) {
    int32_t i = contact_at(g, x, e);
    double S = g->forces->scale[i];
    for (int32_t k = g->s.row[i]; k < g->s.row[i + 1]; k++)
      if (!g->s.R || !(S * g->s.R[k] * S >= SOFT)) return false;
  }
  return true;
}

/* False where it has no such factors: reduced form, trees of many degrees of freedom, no memory. */
bool fx_gradient_sparse_open(frix_gradient *g, int32_t k, int32_t n, double compliance, sparse **out) {
  sparse *x = FX_TAKE(&g->arena, sparse, 1);
  *out = NULL;
  if (!x || !g->s.has_velocity) return false;
  *x = (sparse){.compliance = compliance, .k = k, .n = n, .arena = &g->arena};
  x->movers = g->islands.mover_start[k + 1] - g->islands.mover_start[k];
  x->soft = is_soft(g, x);
  if (x->soft) x->compliance = NOTHING;
  int32_t contacts = contacts_of(g, x), at = 0, *place = FX_TAKE(&g->arena, int32_t, contacts);
  size_t used = 0;
  x->place = place;
  x->block = FX_TAKE(&g->arena, size_t, contacts);
  x->dof = FX_TAKE(&g->arena, int32_t, (size_t)x->movers + 1);
  if (!place || !x->block || !x->dof) return false;
  for (int32_t e = 0; e < contacts; e++) {
    int32_t d = g->s.contact[contact_at(g, x, e)].dim;
    place[e] = at, x->block[e] = used;
    at += d, used += (size_t)(d * d);
  }
  for (int32_t m = 0; m < x->movers; m++) {
    int32_t mover = g->islands.mover[g->islands.mover_start[k] + m], dofs = g->s.dof[mover + 1] - g->s.dof[mover];
    if (dofs > 64) return false;
    x->dof[m + 1] = x->dof[m] + dofs;
  }
  x->dofs = x->dof[x->movers];
  x->B = FX_TAKE(&g->arena, double, used), x->C = FX_TAKE(&g->arena, double, used);
  x->z = FX_TAKE(&g->arena, double, n), x->left = FX_TAKE(&g->arena, double, n);
  x->u = FX_TAKE(&g->arena, double, n), x->p = FX_TAKE(&g->arena, double, n);
  x->v = FX_TAKE(&g->arena, double, x->dofs);
  if (!x->B || !x->C || !x->z || !x->left || !x->u || !x->p || !x->v) return false;
  for (int32_t e = 0; e < contacts; e++)
    if (!invert_contact(g, x, e)) return false;
  fx_arena own;
  fx_arena_init(&own, g->context);
  frix_status status = find_pattern(g, x, &own);
  fx_arena_free(&own);
  if (status != FRIX_OK) return false;
  *out = x;
  return true;
}
