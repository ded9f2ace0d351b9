/* Packing a pile: from the blocks of a system to what a sweep reads, in the units of sweeps.h. The form of spheres is
 * in sweeps_round.c. */
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { DOF = FX_BODY_DOF, MAX_FIELDS = FX_GENERAL_END + FX_COMPLIANCE_SIZE };

/* ---- what fits ---- */

static bool cone_fits(const frix_contact *c) {
  bool disc = c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR || c->cone == FRIX_CONE_FRICTIONLESS ||
              c->cone == FRIX_CONE_LIMIT;
  return (disc && c->dim <= 3) || c->cone == FRIX_CONE_ROLLING;
}

bool fx_pile_fits(const fx_system *s) {
  if (!s->has_velocity || s->contact_count == 0 || s->contact_count > INT32_MAX / 64) return false;
  for (int32_t i = 0; i < s->contact_count; i++)
    if (!cone_fits(&s->contact[i]) || s->Ht.start[i + 1] - s->Ht.start[i] > 2) return false;
  for (int32_t m = 0; m < s->mover_count; m++)
    if (s->dof[m + 1] - s->dof[m] > DOF) return false;
  return true;
}

/* Of what fits only rolling friction has more than three rows, and rows are read faster than contacts. */
bool fx_pile_is_wide(const fx_system *s) {
  for (int32_t i = 0; i < s->contact_count; i++)
    if (s->row[i + 1] - s->row[i] > 3) return true;
  return false;
}

/* The rate of sweeps with momentum or mixing goes with the root of the least R / W. A few contacts may be rigid: those
 * of a hard blow. */
int64_t fx_pile_spring_sweeps(const fx_system *s) {
  enum { FEW = 20, RATE = 100, MOST = 10000, RIGID_PART = 4 };
  double least = INFINITY;
  int32_t rigid = 0;
  if (!s->R || s->contact_count < FEW || !fx_pile_fits(s)) return 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i];
    rigid += !(s->R[row] > 0) && s->W_diag[row] > 0;
    for (int32_t k = row; k < s->row[i + 1]; k++)
      if (s->W_diag[k] > 0 && s->R[row] > 0) least = fmin(least, s->R[k] / s->W_diag[k]);
  }
  double sweeps = RATE / sqrt(fmin(least, 1));
  return sweeps <= MOST && RIGID_PART * rigid <= s->contact_count ? (int64_t)sweeps : 0;
}

/* ---- the general form ---- */

/* K = L^-1 of M = L L', lower triangle in a 6 x 6 array. */
typedef struct root {
  double K[DOF * DOF];
  bool apart; /* M does not couple translation and rotation: two triangles of 3 x 3 */
} root;

enum { HALF = DOF / 2, ANGULAR = HALF * DOF + HALF }; /* where the block of the rotation begins */

static inline bool factor(const double *M, int32_t width, int32_t n, double *L) {
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b <= a; b++) {
      double sum = M[a * width + b];
      for (int32_t k = 0; k < b; k++) sum -= L[a * DOF + k] * L[b * DOF + k];
      if (a == b && !(sum > 0)) return false;
      L[a * DOF + b] = a == b ? sqrt(sum) : sum / L[b * DOF + b];
    }
  return true;
}

static inline void invert(const double *L, int32_t n, double *K) {
  for (int32_t b = 0; b < n; b++)
    for (int32_t a = b; a < n; a++) {
      double sum = a == b;
      for (int32_t k = b; k < a; k++) sum -= L[a * DOF + k] * K[k * DOF + b];
      K[a * DOF + b] = sum / L[a * DOF + a];
    }
}

static bool is_symmetric(const double *M, int32_t n) {
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < a; b++)
      if (M[a * n + b] != M[b * n + a] &&
          fabs(M[a * n + b] - M[b * n + a]) > 1e-14 * sqrt(fabs(M[a * n + a] * M[b * n + b])))
        return false;
  return true;
}

static bool is_apart(const double *M, int32_t n) {
  if (n != DOF) return false;
  for (int32_t a = HALF; a < DOF; a++)
    for (int32_t b = 0; b < HALF; b++)
      if (M[a * DOF + b] != 0) return false;
  return true;
}

/* False where a block of M is not symmetric and positive. */
static bool find_roots(const fx_pile *p, const double *mass, root *out) {
  const fx_system *s = p->system;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t m = p->body_mover[body], n = s->dof[m + 1] - s->dof[m];
    const double *M = mass + s->M_offset[m];
    double L[DOF * DOF], *K = out[body].K;
    if (!is_symmetric(M, n)) return false;
    out[body].apart = is_apart(M, n);
    if (out[body].apart) {
      if (!factor(M, DOF, HALF, L) || !factor(M + ANGULAR, DOF, HALF, L + ANGULAR)) return false;
      invert(L, HALF, K);
      invert(L + ANGULAR, HALF, K + ANGULAR);
    } else {
      if (!factor(M, n, n, L)) return false;
      invert(L, n, K);
    }
  }
  return true;
}

/* One row of six: scale K h. */
static inline void scale_row(const double *K, const double *h, double scale, double *out) {
  for (int32_t half = 0; half < DOF; half += HALF)
    for (int32_t a = half; a < half + HALF; a++) {
      double sum = 0;
      for (int32_t b = half; b <= a; b++) sum += K[a * DOF + b] * h[b];
      out[a] = scale * sum;
    }
}

void fx_pile_blocks(const fx_pile *p, int32_t i, int32_t rows, double *H) {
  const fx_system *s = p->system;
  const root *r = p->roots;
  const int32_t *body = p->slot_body + p->slot[i] / FX_BATCH * 2 * FX_BATCH + p->slot[i] % FX_BATCH;
  int32_t k = s->Ht.start[i], count = s->Ht.start[i + 1] - k, dim = s->contact[i].dim;
  if (count < 2 || dim < rows) memset(H, 0, (size_t)(2 * rows * DOF) * sizeof *H);
  for (int side = 2 - count; side < 2; side++, k++) {
    const root *own = &r[body[side * FX_BATCH] / FX_RECORD];
    const double *h = fx_block(&s->Ht, k);
    double *out = H + rows * side * DOF;
    int32_t n = fx_block_cols(&s->Ht, k);
    if (own->apart) {
      for (int32_t row = 0; row < dim; row++) scale_row(own->K, h + row * DOF, p->scale, out + row * DOF);
      continue;
    }
    if (n < DOF) memset(out, 0, (size_t)(rows * DOF) * sizeof *out);
    for (int32_t row = 0; row < dim; row++, h += n)
      for (int32_t a = 0; a < n; a++) {
        double sum = 0;
        for (int32_t b = 0; b <= a; b++) sum += own->K[a * DOF + b] * h[b];
        out[row * DOF + a] = p->scale * sum;
      }
  }
}

/* ---- contacts ---- */

/* Everything but H: q, inverses, mu, coupling D_TN, compliance. */
static void laws(const fx_pile *p, int32_t i, double *field) {
  const fx_system *s = p->system;
  const frix_contact *contact = &s->contact[i];
  const double *D = s->D + s->diagonal[i];
  int32_t d = contact->dim, row = s->row[i];
  bool friction = contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR;
  double largest = 0;
  for (int32_t k = 0; k < 3; k++) field[FX_Q + k] = k < d ? s->q[row + k] : 0;
  for (int32_t k = 1; k < 3; k++) field[FX_COUPLING + k - 1] = k < d ? s->rho * D[k * d] : 0;
  for (int32_t k = 0; p->compliant && k < 3; k++) field[FX_GENERAL_END + k] = k < d ? s->rho * s->R[row + k] : 0;
  if (d == 2) largest = D[3];
  if (d == 3) {
    double half = 0.5 * (D[4] + D[8]), apart = 0.5 * (D[4] - D[8]), off = 0.5 * (D[5] + D[7]);
    largest = half + sqrt(apart * apart + off * off);
  }
  field[FX_INVERSE_N] = D[0] > 0 ? p->step[0] / (s->rho * D[0]) : 0;
  field[FX_INVERSE_T] = friction && largest > 0 ? p->step[1] / (s->rho * largest) : 0;
  field[FX_MU] = friction ? contact->mu : 0;
}

static void pack_general(const fx_pile *p, bool full, int32_t from, int32_t end) {
  double field[MAX_FIELDS];
  int32_t count = p->field_count;
  for (int32_t k = from; k < end; k++) {
    int32_t i = p->order[k], slot = p->slot[i];
    laws(p, i, field);
    fx_pile_blocks(p, i, 3, field + FX_H);
    float *single = (float *)p->single.field + fx_slot_at(slot, 8, count, 0);
    double *twice = full ? (double *)p->full.field + fx_slot_at(slot, 4, count, 0) : NULL;
    if (full)
      for (int32_t e = 0; e < count; e++) twice[4 * e] = field[e];
    else
      for (int32_t e = 0; e < count; e++) single[8 * e] = (float)field[e];
  }
}

/* Contacts that threads read or write, each in its place. */
typedef struct contacts {
  const fx_pile *pile;
  bool full;
  double *r;
  const double *given;
} contacts;

static void pack_part(int32_t part, int32_t first, int32_t end, void *user) {
  contacts *t = user;
  (void)part;
  if (t->pile->round)
    fx_round_pack(t->pile, t->full, first, end);
  else
    pack_general(t->pile, t->full, first, end);
}

/* Contacts one after the other, as the system holds them: what is read is much more than what is written, and its
 * place in the batches is never far from the one before. */
static void pack(const fx_pile *p, bool full) {
  size_t size = full ? sizeof(double) : sizeof(float), batch = FX_BATCH * (size_t)p->field_count * size;
  unsigned char *field = full ? p->full.field : p->single.field;
  memset(full ? p->full.z : p->single.z, 0, (size_t)(p->batch_count * FX_BATCH) * (size_t)p->row_count * size);
  for (int32_t e = 0, last = -1; e < p->empty_count; last = p->empty[e++] / FX_BATCH) /* batches that are not full */
    if (p->empty[e] / FX_BATCH != last) memset(field + (size_t)(p->empty[e] / FX_BATCH) * batch, 0, batch);
  contacts t = {.pile = p, .full = full};
  if (p->wide)
    fx_wide_pack(p);
  else
    fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, pack_part, &t);
}

/* ---- the whole ---- */

/* Among spheres normal impulses go a little less far than the contact alone would have them, and friction a little
 * farther: momentum then stirs up less, and a pile of 8,000 needs a sixth fewer sweeps to 1e-4. Walls and card houses,
 * where weight has to pass through, would need more. */
static void choose_form(fx_pile *p, bool round) {
  p->round = round && !p->wide;
  p->step[0] = p->round ? 0.8 : 1;
  p->step[1] = p->round ? 1.1 : 1;
  p->row_count = p->wide ? FX_WIDE_ROWS : 3;
  p->field_count =
      p->wide ? FX_WIDE_END : (round ? FX_ROUND_END : FX_GENERAL_END) + (p->compliant ? FX_COMPLIANCE_SIZE : 0);
}

void *fx_pile_take_records(fx_arena *arena, const fx_pile *p, size_t size) {
  size_t bodies = (size_t)p->body_count * FX_RECORD, second_world = p->segment_count > 1 ? FX_RECORD : 0;
  char *d = fx_arena_take_raw(arena, bodies + second_world, size);
  if (d) memset(d + bodies * size, 0, second_world * size);
  return d;
}

/* Packing zeroes z, for the sake of empty slots; the rest is written before it is read: d by a refresh, the two before
 * the last by the plain sweep that has to come next. */
static bool take(fx_arena *arena, const fx_pile *p, size_t size, fx_pile_data *d) {
  size_t slots = (size_t)p->batch_room * FX_BATCH;
  d->field = fx_arena_take_raw(arena, slots * (size_t)p->field_count, size);
  d->z = fx_arena_take_raw(arena, slots * (size_t)p->row_count, size);
  d->z_last = fx_arena_take_raw(arena, slots * (size_t)p->row_count, size);
  d->d = fx_pile_take_records(arena, p, size);
  d->d_last = fx_pile_take_records(arena, p, size);
  return d->field && d->z && d->z_last && d->d && d->d_last;
}

static frix_status take_roots(fx_arena *arena, fx_pile *p, bool *fits) {
  root *roots = FX_TAKE(arena, root, p->body_count + 1); /* those of the world, the first and the last, are zero */
  const double *M = fx_system_mass(p->system);
  if (!roots || !M) return FRIX_ERROR_MEMORY;
  p->roots = roots;
  *fits = find_roots(p, M, roots);
  return FRIX_OK;
}

/* Fields of all contacts in one form; *fits says whether they have it. */
static frix_status build_form(fx_arena *arena, fx_pile *p, bool full, bool *fits) {
  frix_status status = p->round ? fx_round_begin(arena, p, fits) : take_roots(arena, p, fits);
  if (status != FRIX_OK || !*fits) return status;
  if (!p->wide && !take(arena, p, sizeof(float), &p->single)) return FRIX_ERROR_MEMORY;
  if ((full || p->wide) && !take(arena, p, sizeof(double), &p->full)) return FRIX_ERROR_MEMORY;
  pack(p, p->wide);
  return FRIX_OK;
}

frix_status fx_pile_build(fx_arena *arena, const fx_system *s, const uint8_t *swept, bool full, fx_pile *p) {
  *p = (fx_pile){.system = s, .wide = fx_pile_is_wide(s), .compliant = s->R != NULL, .scale = sqrt(s->rho)};
  bool fits = false;
  frix_status status = fx_pile_order(arena, s, swept, p);
  if (status != FRIX_OK) return status;
  choose_form(p, true);
  if (!p->wide && ((status = build_form(arena, p, full, &fits)) != FRIX_OK || fits)) return status;
  choose_form(p, false);
  if ((status = build_form(arena, p, full, &fits)) != FRIX_OK) return status;
  return fits ? FRIX_OK : FRIX_ERROR_UNSUPPORTED;
}

void fx_pile_pack_full(const fx_pile *p) { pack(p, true); }

bool fx_pile_grow(fx_pile *p, const uint8_t *swept) {
  int32_t from = p->count, first = p->batch_count;
  if (p->wide || !fx_pile_order_more(p, swept)) return false;
  size_t slot = (size_t)first * FX_BATCH, count = (size_t)(p->batch_count - first) * FX_BATCH;
  size_t fields = (size_t)p->field_count, rows = (size_t)p->row_count;
  memset((float *)p->single.field + slot * fields, 0, count * fields * sizeof(float));
  memset((float *)p->single.z + slot * rows, 0, count * rows * sizeof(float));
  if (p->round && !fx_round_more(p, from, p->count)) return false;
  if (p->round)
    fx_round_pack(p, false, from, p->count);
  else
    pack_general(p, false, from, p->count);
  return true;
}

static void shift_part(int32_t part, int32_t first, int32_t end, void *user) {
  const fx_pile *p = user;
  const fx_system *s = p->system;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = p->order[c];
    float *single = (float *)p->single.field + fx_slot_at(p->slot[i], 8, p->field_count, FX_Q);
    for (int32_t k = 0; k < s->contact[i].dim; k++) single[8 * k] = (float)s->q[s->row[i] + k];
  }
}

void fx_pile_shift(fx_pile *p, bool full) {
  if (full)
    pack(p, true);
  else
    fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, shift_part, p);
}

static void load_part(int32_t part, int32_t first, int32_t end, void *user) {
  const contacts *t = user;
  const fx_pile *p = t->pile;
  const int32_t *row = p->system->row;
  double inverse = 1 / p->system->rho;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = p->order[c];
    for (int32_t k = row[i]; k < row[i + 1]; k++)
      if (t->full)
        ((double *)p->full.z)[fx_slot_at(p->slot[i], 4, p->row_count, k - row[i])] = inverse * t->given[k];
      else
        ((float *)p->single.z)[fx_slot_at(p->slot[i], 8, 3, k - row[i])] = (float)(inverse * t->given[k]);
  }
}

void fx_pile_load(const fx_pile *p, bool full, const double *r) {
  contacts t = {.pile = p, .full = full, .given = r};
  fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, load_part, &t);
}

static void store_part(int32_t part, int32_t first, int32_t end, void *user) {
  const contacts *t = user;
  const fx_pile *p = t->pile;
  const int32_t *row = p->system->row;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = p->order[c];
    for (int32_t k = row[i]; k < row[i + 1]; k++)
      t->r[k] = p->system->rho * (t->full ? ((double *)p->full.z)[fx_slot_at(p->slot[i], 4, p->row_count, k - row[i])]
                                          : (double)((float *)p->single.z)[fx_slot_at(p->slot[i], 8, 3, k - row[i])]);
  }
}

void fx_pile_store(const fx_pile *p, bool full, double *r) {
  contacts t = {.pile = p, .full = full, .r = r};
  fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, store_part, &t);
}
