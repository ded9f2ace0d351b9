/* Packing a pile: from the blocks of a system to what a sweep reads, in the units of sweeps.h. */
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { DOF = 6, MAX_FIELDS = FX_GENERAL_END + FX_COMPLIANCE_SIZE };

static const double round_error = 1e-11; /* relative: how exactly a contact must have the form of spheres */

/* ---- what fits ---- */

static bool cone_fits(const frix_contact *c) {
  bool disc = c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR || c->cone == FRIX_CONE_FRICTIONLESS ||
              c->cone == FRIX_CONE_LIMIT;
  return disc && c->dim <= 3;
}

static bool mass_fits(const fx_system *s, int32_t m) {
  const double *M = s->M + s->M_offset[m];
  int32_t n = s->dof[m + 1] - s->dof[m];
  if (n > DOF) return false;
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < a; b++)
      if (fabs(M[a * n + b] - M[b * n + a]) > 1e-14 * sqrt(fabs(M[a * n + a] * M[b * n + b]))) return false;
  return true;
}

bool fx_pile_fits(const fx_system *s) {
  if (!s->has_velocity || s->contact_count == 0 || s->contact_count > INT32_MAX / 64) return false;
  for (int32_t i = 0; i < s->contact_count; i++)
    if (!cone_fits(&s->contact[i]) || s->Ht.start[i + 1] - s->Ht.start[i] > 2) return false;
  for (int32_t m = 0; m < s->mover_count; m++)
    if (!mass_fits(s, m)) return false;
  return true;
}

/* ---- masses ---- */

/* K = L^-1 of M = L L', lower triangle in a 6 x 6 array; false where M is not positive. */
typedef struct root {
  bool diagonal;
  double K[DOF * DOF];
} root;

static bool factor(const double *M, int32_t n, double *L) {
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b <= a; b++) {
      double sum = M[a * n + b];
      for (int32_t k = 0; k < b; k++) sum -= L[a * DOF + k] * L[b * DOF + k];
      if (a == b && !(sum > 0)) return false;
      L[a * DOF + b] = a == b ? sqrt(sum) : sum / L[b * DOF + b];
    }
  return true;
}

static void invert(const double *L, int32_t n, double *K) {
  for (int32_t b = 0; b < n; b++)
    for (int32_t a = b; a < n; a++) {
      double sum = a == b;
      for (int32_t k = b; k < a; k++) sum -= L[a * DOF + k] * K[k * DOF + b];
      K[a * DOF + b] = sum / L[a * DOF + a];
    }
}

static bool find_roots(const fx_pile *p, root *out) {
  const fx_system *s = p->system;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t m = p->body_mover[body], n = s->dof[m + 1] - s->dof[m];
    const double *M = s->M + s->M_offset[m];
    double L[DOF * DOF] = {0};
    root *r = &out[body];
    r->diagonal = true;
    for (int32_t a = 0; a < n; a++)
      for (int32_t b = 0; b < a; b++) r->diagonal &= M[a * n + b] == 0;
    for (int32_t a = 0; a < n && r->diagonal; a++) {
      if (!(M[a * n + a] > 0)) return false;
      r->K[a * DOF + a] = 1 / sqrt(M[a * n + a]);
    }
    if (r->diagonal) continue;
    if (!factor(M, n, L)) return false;
    invert(L, n, r->K);
  }
  return true;
}

/* ---- contacts ---- */

/* Hh of one contact and body: dim rows of 6. */
static void scaled_block(const fx_pile *p, const root *r, int32_t dim, int32_t n, const double *h, double *out) {
  for (int32_t row = 0; row < dim; row++, h += n, out += DOF)
    for (int32_t a = 0; a < n; a++) {
      double sum = 0;
      if (r->diagonal)
        sum = r->K[a * DOF + a] * h[a];
      else
        for (int32_t b = 0; b <= a; b++) sum += r->K[a * DOF + b] * h[b];
      out[a] = p->scale * sum;
    }
}

/* Both blocks of contact i at H (first body, second body), zero where there is none. */
static void contact_blocks(const fx_pile *p, const root *r, int32_t i, const int32_t *body, double *H) {
  const fx_system *s = p->system;
  int32_t k = s->Ht.start[i], count = s->Ht.start[i + 1] - k;
  memset(H, 0, 36 * sizeof *H);
  for (int side = 2 - count; side < 2; side++, k++)
    scaled_block(p, &r[body[side * FX_BATCH] / FX_RECORD], s->contact[i].dim, fx_block_cols(&s->Ht, k),
                 fx_block(&s->Ht, k), H + 18 * side);
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* x = factor y, to rounding? */
static bool is_multiple(const double *x, double factor, const double *y) {
  double bound = round_error * (fabs(factor) + 1e-300);
  for (int k = 0; k < 3; k++)
    if (!(fabs(x[k] - factor * y[k]) <= bound)) return false;
  return true;
}

/* Hh = (a Q, c Q~) for both bodies? Then out holds Q, a (2), c (2). */
static bool as_round(const double *H, double *out) {
  const double *second = H + 18;
  double length = sqrt(dot3(second, second)), *Q = out, *a = out + 9, *c = out + 11;
  if (!(length > 0)) return false;
  for (int row = 0; row < 3; row++)
    for (int k = 0; k < 3; k++) Q[3 * row + k] = second[row * DOF + k] / length;
  for (int side = 0; side < 2; side++) {
    const double *h = H + 18 * side;
    a[side] = dot3(h, Q);
    c[side] = dot3(h + DOF + 3, Q + 6);
    for (int row = 0; row < 3; row++)
      if (!is_multiple(h + row * DOF, a[side], Q + 3 * row)) return false;
    double size = fabs(a[side]) + fabs(c[side]);
    for (int k = 3; k < DOF; k++)
      if (!(fabs(h[k]) <= round_error * size)) return false;
    if (!is_multiple(h + DOF + 3, c[side], Q + 6) || !is_multiple(h + 2 * DOF + 3, -c[side], Q + 3)) return false;
  }
  return fabs(dot3(Q, Q + 3)) < round_error && fabs(dot3(Q, Q + 6)) < round_error &&
         fabs(dot3(Q + 3, Q + 6)) < round_error && fabs(dot3(Q + 3, Q + 3) - 1) < round_error &&
         fabs(dot3(Q + 6, Q + 6) - 1) < round_error;
}

/* Everything but H: q, inverses, mu, and compliance at c; the coupling D_TN goes to coupling. */
static void laws(const fx_pile *p, int32_t i, double *field, double *c, double coupling[2]) {
  const fx_system *s = p->system;
  const frix_contact *contact = &s->contact[i];
  const double *D = s->D + s->diagonal[i];
  int32_t d = contact->dim, row = s->row[i];
  bool friction = contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR;
  double largest = 0;
  coupling[0] = coupling[1] = 0;
  memset(field, 0, FX_H * sizeof *field);
  for (int32_t k = 0; k < d; k++) field[FX_Q + k] = s->q[row + k];
  for (int32_t k = 1; k < d; k++) coupling[k - 1] = s->rho * D[k * d];
  for (int32_t k = 0; p->compliant && k < 3; k++) c[k] = k < d ? s->rho * s->R[row + k] : 0;
  if (D[0] > 0) field[FX_INVERSE_N] = 1 / (s->rho * D[0]);
  if (d == 2) largest = D[3];
  if (d == 3) {
    double half = 0.5 * (D[4] + D[8]), apart = 0.5 * (D[4] - D[8]), off = 0.5 * (D[5] + D[7]);
    largest = half + sqrt(apart * apart + off * off);
  }
  if (friction && largest > 0) field[FX_INVERSE_T] = 1 / (s->rho * largest);
  if (friction) field[FX_MU] = contact->mu;
}

/* All fields of the contact in a slot; empty slots are zero. False where the pile is taken for round and this is not.
 */
static bool contact_fields(const fx_pile *p, const root *r, int32_t slot, double *field) {
  int32_t i = p->slot_contact[slot];
  memset(field, 0, (size_t)p->field_count * sizeof *field);
  if (i < 0) return true;
  double H[36], coupling[2];
  contact_blocks(p, r, i, p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH, H);
  laws(p, i, field, field + (p->round ? FX_ROUND_END : FX_GENERAL_END), coupling);
  if (p->round) return p->system->contact[i].dim == 3 && as_round(H, field + FX_H);
  memcpy(field + FX_H, H, sizeof H);
  memcpy(field + FX_COUPLING, coupling, sizeof coupling);
  return true;
}

/* Index of number k of `count` in a slot, where `lanes` slots stand together. */
static inline size_t at(int32_t slot, int32_t lanes, int32_t count, int32_t k) {
  return ((size_t)(slot / lanes) * (size_t)count + (size_t)k) * (size_t)lanes + (size_t)(slot % lanes);
}

static bool pack(const fx_pile *p, const root *r, bool full) {
  double field[MAX_FIELDS];
  for (int32_t slot = 0; slot < p->batch_count * FX_BATCH; slot++) {
    if (!contact_fields(p, r, slot, field)) return false;
    for (int32_t k = 0; k < p->field_count; k++)
      if (full)
        ((double *)p->full.field)[at(slot, 4, p->field_count, k)] = field[k];
      else
        ((float *)p->single.field)[at(slot, 8, p->field_count, k)] = (float)field[k];
  }
  return true;
}

/* ---- the whole ---- */

static bool take(fx_arena *arena, const fx_pile *p, size_t size, fx_pile_data *d) {
  size_t slots = (size_t)p->batch_count * FX_BATCH, most = MAX_FIELDS;
  d->field = fx_arena_take(arena, slots * most, size);
  d->z = fx_arena_take(arena, slots * 3, size);
  d->z_last = fx_arena_take(arena, slots * 3, size);
  d->d = fx_arena_take(arena, (size_t)p->body_count * FX_RECORD, size);
  d->d_last = fx_arena_take(arena, (size_t)p->body_count * FX_RECORD, size);
  return d->field && d->z && d->z_last && d->d && d->d_last;
}

frix_status fx_pile_build(fx_arena *arena, const fx_system *s, bool full, fx_pile *p) {
  *p = (fx_pile){.system = s, .compliant = s->R != NULL, .scale = sqrt(s->rho)};
  frix_status status = fx_pile_order(arena, s, p);
  if (status != FRIX_OK) return status;
  root *r = FX_TAKE(arena, root, p->body_count);
  if (!r || !take(arena, p, sizeof(float), &p->single) || (full && !take(arena, p, sizeof(double), &p->full)))
    return FRIX_ERROR_MEMORY;
  p->roots = r;
  if (!find_roots(p, r)) return FRIX_ERROR_UNSUPPORTED;
  p->round = true;
  p->field_count = FX_ROUND_END + (p->compliant ? FX_COMPLIANCE_SIZE : 0);
  if (pack(p, r, false)) return FRIX_OK;
  p->round = false;
  p->field_count = FX_GENERAL_END + (p->compliant ? FX_COMPLIANCE_SIZE : 0);
  pack(p, r, false);
  return FRIX_OK;
}

void fx_pile_pack_full(const fx_pile *p) { pack(p, p->roots, true); }

void fx_pile_load(const fx_pile *p, bool full, const double *r) {
  const fx_system *s = p->system;
  for (int32_t slot = 0; slot < p->batch_count * FX_BATCH; slot++) {
    int32_t i = p->slot_contact[slot];
    if (i < 0) continue;
    for (int32_t k = 0; k < s->contact[i].dim; k++) {
      double value = r[s->row[i] + k] / s->rho;
      if (full)
        ((double *)p->full.z)[at(slot, 4, 3, k)] = value;
      else
        ((float *)p->single.z)[at(slot, 8, 3, k)] = (float)value;
    }
  }
}

void fx_pile_store(const fx_pile *p, bool full, double *r) {
  const fx_system *s = p->system;
  for (int32_t slot = 0; slot < p->batch_count * FX_BATCH; slot++) {
    int32_t i = p->slot_contact[slot];
    if (i < 0) continue;
    for (int32_t k = 0; k < s->contact[i].dim; k++)
      r[s->row[i] + k] =
          s->rho * (full ? ((double *)p->full.z)[at(slot, 4, 3, k)] : (double)((float *)p->single.z)[at(slot, 8, 3, k)]);
  }
}
