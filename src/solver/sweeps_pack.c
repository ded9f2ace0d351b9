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

bool fx_pile_fits(const fx_system *s) {
  if (!s->has_velocity || s->contact_count == 0 || s->contact_count > INT32_MAX / 64) return false;
  for (int32_t i = 0; i < s->contact_count; i++)
    if (!cone_fits(&s->contact[i]) || s->Ht.start[i + 1] - s->Ht.start[i] > 2) return false;
  for (int32_t m = 0; m < s->mover_count; m++)
    if (s->dof[m + 1] - s->dof[m] > DOF) return false;
  return true;
}

/* ---- the general form ---- */

/* K = L^-1 of M = L L', lower triangle in a 6 x 6 array. */
typedef struct root {
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

static bool is_symmetric(const double *M, int32_t n) {
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < a; b++)
      if (M[a * n + b] != M[b * n + a] &&
          fabs(M[a * n + b] - M[b * n + a]) > 1e-14 * sqrt(fabs(M[a * n + a] * M[b * n + b])))
        return false;
  return true;
}

/* False where a block of M is not symmetric and positive. */
static bool find_roots(const fx_pile *p, root *out) {
  const fx_system *s = p->system;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t m = p->body_mover[body], n = s->dof[m + 1] - s->dof[m];
    double L[DOF * DOF] = {0};
    if (!is_symmetric(s->M + s->M_offset[m], n) || !factor(s->M + s->M_offset[m], n, L)) return false;
    invert(L, n, out[body].K);
  }
  return true;
}

/* Hh of contact i at H: first body, second body, 3 rows of 6 each; zero where there is none. */
static void scaled_blocks(const fx_pile *p, const root *r, int32_t i, const int32_t *body, double *H) {
  const fx_system *s = p->system;
  int32_t k = s->Ht.start[i], count = s->Ht.start[i + 1] - k;
  memset(H, 0, 36 * sizeof *H);
  for (int side = 2 - count; side < 2; side++, k++) {
    const double *K = r[body[side * FX_BATCH] / FX_RECORD].K, *h = fx_block(&s->Ht, k);
    int32_t n = fx_block_cols(&s->Ht, k);
    for (int32_t row = 0; row < s->contact[i].dim; row++, h += n)
      for (int32_t a = 0; a < n; a++) {
        double sum = 0;
        for (int32_t b = 0; b <= a; b++) sum += K[a * DOF + b] * h[b];
        H[18 * side + row * DOF + a] = p->scale * sum;
      }
  }
}

/* ---- the form of spheres ---- */

/* scale / sqrt(mass) and scale / sqrt(inertia) of a body that has one of each. */
typedef struct ball {
  double mass, inertia;
} ball;

static bool find_balls(const fx_pile *p, ball *out) {
  const fx_system *s = p->system;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t m = p->body_mover[body];
    if (s->dof[m + 1] - s->dof[m] != DOF) return false;
    const double *M = s->M + s->M_offset[m];
    bool good = M[0] > 0 && M[21] > 0 && M[7] == M[0] && M[14] == M[0] && M[28] == M[21] && M[35] == M[21];
    for (int a = 0; a < DOF; a++)
      for (int b = 0; b < DOF; b++) good &= a == b || M[a * DOF + b] == 0;
    if (!good) return false;
    out[body] = (ball){p->scale / sqrt(M[0]), p->scale / sqrt(M[21])};
  }
  return true;
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Two numbers at once: most of packing a pile is this test. */
typedef double pair __attribute__((vector_size(16), aligned(8)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

/* Is H = (a Q, c Q~) for this body, to rounding? Rows of H are 6 long, those of Q 3. */
static bool is_round(const double *h, const double *Q, double *a_out, double *c_out) {
  double a = dot3(h, Q), c = dot3(h + DOF + 3, Q + 6);
  const double want[18] = {a * Q[0], a * Q[1], a * Q[2], 0,        0,        0,        a * Q[3],  a * Q[4],  a * Q[5],
                           c * Q[6], c * Q[7], c * Q[8], a * Q[6], a * Q[7], a * Q[8], -c * Q[3], -c * Q[4], -c * Q[5]};
  const pair_bits magnitude = {INT64_MAX, INT64_MAX};
  pair sum = {0, 0};
  for (int k = 0; k < 18; k += 2)
    sum += (pair)((pair_bits)(*(const pair *)(h + k) - *(const pair *)(want + k)) & magnitude);
  *a_out = a;
  *c_out = c;
  return sum[0] + sum[1] <= round_error * (fabs(a) + fabs(c));
}

/* Q, a (2) and c (2) of contact i, masses left out; false where it has another form. */
static bool find_frame(const fx_system *s, int32_t i, double *Q, double a[2], double c[2]) {
  int32_t first = s->Ht.start[i], count = s->Ht.start[i + 1] - first;
  if (s->contact[i].dim != 3 || count == 0) return false;
  const double *h = fx_block(&s->Ht, first + count - 1);
  double length = sqrt(dot3(h, h)), error = 0;
  if (!(length > 0)) return false;
  if (fx_block_cols(&s->Ht, first + count - 1) != DOF) return false;
  double inverse = 1 / length;
  for (int k = 0; k < 3; k++) {
    Q[k] = h[k] * inverse;
    Q[3 + k] = h[DOF + k] * inverse;
    Q[6 + k] = h[2 * DOF + k] * inverse;
  }
  error = fabs(dot3(Q, Q + 3)) + fabs(dot3(Q, Q + 6)) + fabs(dot3(Q + 3, Q + 6)) + fabs(dot3(Q + 3, Q + 3) - 1) +
          fabs(dot3(Q + 6, Q + 6) - 1);
  if (!(error <= round_error)) return false;
  a[0] = c[0] = 0;
  for (int side = 2 - count, k = first; side < 2; side++, k++)
    if (fx_block_cols(&s->Ht, k) != DOF || !is_round(fx_block(&s->Ht, k), Q, &a[side], &c[side])) return false;
  return true;
}

static bool round_blocks(const fx_pile *p, const ball *balls, int32_t i, const int32_t *body, double *out) {
  double *a = out + 9, *c = out + 11;
  if (!find_frame(p->system, i, out, a, c)) return false;
  for (int side = 0; side < 2; side++) {
    const ball *b = &balls[body[side * FX_BATCH] / FX_RECORD];
    a[side] *= b->mass;
    c[side] *= b->inertia;
  }
  return true;
}

bool fx_pile_looks_round(const fx_system *s) {
  enum { SAMPLES = 16 };
  double Q[9], a[2], c[2];
  for (int32_t k = 0; k < SAMPLES && k < s->contact_count; k++)
    if (!find_frame(s, (int32_t)((int64_t)k * s->contact_count / SAMPLES), Q, a, c)) return false;
  return true;
}

/* ---- contacts ---- */

/* Everything but H: q, inverses, mu, and compliance at c; the coupling D_TN goes to coupling. */
static void laws(const fx_pile *p, int32_t i, double *field, double *c, double coupling[2]) {
  const fx_system *s = p->system;
  const frix_contact *contact = &s->contact[i];
  const double *D = s->D + s->diagonal[i];
  int32_t d = contact->dim, row = s->row[i];
  bool friction = contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR;
  double largest = 0;
  coupling[0] = coupling[1] = 0;
  for (int32_t k = 0; k < 3; k++) field[FX_Q + k] = k < d ? s->q[row + k] : 0;
  for (int32_t k = 1; k < d; k++) coupling[k - 1] = s->rho * D[k * d];
  for (int32_t k = 0; p->compliant && k < 3; k++) c[k] = k < d ? s->rho * s->R[row + k] : 0;
  if (d == 2) largest = D[3];
  if (d == 3) {
    double half = 0.5 * (D[4] + D[8]), apart = 0.5 * (D[4] - D[8]), off = 0.5 * (D[5] + D[7]);
    largest = p->round ? fmax(D[4], D[8]) : half + sqrt(apart * apart + off * off);
  }
  field[FX_INVERSE_N] = D[0] > 0 ? 1 / (s->rho * D[0]) : 0;
  field[FX_INVERSE_T] = friction && largest > 0 ? 1 / (s->rho * largest) : 0;
  field[FX_MU] = friction ? contact->mu : 0;
}

/* All fields of the contact in a slot; empty slots are zero. False where the pile is taken for round and this is not.
 */
static bool contact_fields(const fx_pile *p, int32_t slot, double *field) {
  int32_t i = p->slot_contact[slot];
  if (i < 0) {
    memset(field, 0, (size_t)p->field_count * sizeof *field);
    return true;
  }
  const int32_t *body = p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
  double coupling[2];
  laws(p, i, field, field + (p->round ? FX_ROUND_END : FX_GENERAL_END), coupling);
  if (p->round) return round_blocks(p, p->roots, i, body, field + FX_H);
  scaled_blocks(p, p->roots, i, body, field + FX_H);
  memcpy(field + FX_COUPLING, coupling, sizeof coupling);
  return true;
}

/* Index of number k of `count` in a slot, where `lanes` slots stand together. */
static inline size_t at(int32_t slot, int32_t lanes, int32_t count, int32_t k) {
  return ((size_t)(slot / lanes) * (size_t)count + (size_t)k) * (size_t)lanes + (size_t)(slot % lanes);
}

/* Slots do not follow the order of contacts, so the machine does not foresee which comes next. */
static void fetch_ahead(const fx_pile *p, int32_t slot) {
  enum { LINE = 8 };
  int32_t i = p->slot_contact[slot];
  if (i < 0) return;
  const fx_system *s = p->system;
  const double *from = fx_block(&s->Ht, s->Ht.start[i]), *to = fx_block(&s->Ht, s->Ht.start[i + 1]);
  for (; from < to; from += LINE) __builtin_prefetch(from);
  __builtin_prefetch(s->D + s->diagonal[i]);
  __builtin_prefetch(s->D + s->diagonal[i] + LINE);
  __builtin_prefetch(s->q + s->row[i]);
}

static bool pack(const fx_pile *p, bool full) {
  enum { AHEAD = 12 };
  double field[MAX_FIELDS];
  int32_t count = p->field_count, slots = p->batch_count * FX_BATCH;
  for (int32_t slot = 0; slot < slots; slot++) {
    if (slot + AHEAD < slots) fetch_ahead(p, slot + AHEAD);
    if (!contact_fields(p, slot, field)) return false;
    float *single = (float *)p->single.field + at(slot, 8, count, 0);
    double *twice = full ? (double *)p->full.field + at(slot, 4, count, 0) : NULL;
    if (full)
      for (int32_t k = 0; k < count; k++) twice[4 * k] = field[k];
    else
      for (int32_t k = 0; k < count; k++) single[8 * k] = (float)field[k];
  }
  return true;
}

/* ---- the whole ---- */

static void choose_form(fx_pile *p, bool round) {
  p->round = round;
  p->field_count = (round ? FX_ROUND_END : FX_GENERAL_END) + (p->compliant ? FX_COMPLIANCE_SIZE : 0);
}

static bool take(fx_arena *arena, const fx_pile *p, size_t size, fx_pile_data *d) {
  size_t slots = (size_t)p->batch_count * FX_BATCH, records = (size_t)p->body_count * FX_RECORD;
  d->field = fx_arena_take_raw(arena, slots * (size_t)p->field_count, size);
  d->z = fx_arena_take(arena, slots * 3, size);
  d->z_last = fx_arena_take(arena, slots * 3, size);
  d->d = fx_arena_take(arena, records, size);
  d->d_last = fx_arena_take(arena, records, size);
  return d->field && d->z && d->z_last && d->d && d->d_last;
}

/* Fields of all contacts in one form; *fits says whether they have it. */
static frix_status build_form(fx_arena *arena, fx_pile *p, bool full, bool *fits) {
  void *roots = p->round ? (void *)FX_TAKE(arena, ball, p->body_count) : (void *)FX_TAKE(arena, root, p->body_count);
  if (!roots) return FRIX_ERROR_MEMORY;
  p->roots = roots;
  *fits = p->round ? find_balls(p, roots) : find_roots(p, roots);
  if (!*fits) return FRIX_OK;
  if (!take(arena, p, sizeof(float), &p->single) || (full && !take(arena, p, sizeof(double), &p->full)))
    return FRIX_ERROR_MEMORY;
  *fits = pack(p, false);
  return FRIX_OK;
}

frix_status fx_pile_build(fx_arena *arena, const fx_system *s, bool full, fx_pile *p) {
  *p = (fx_pile){.system = s, .compliant = s->R != NULL, .scale = sqrt(s->rho)};
  bool fits;
  frix_status status = fx_pile_order(arena, s, p);
  if (status != FRIX_OK) return status;
  choose_form(p, true);
  if ((status = build_form(arena, p, full, &fits)) != FRIX_OK || fits) return status;
  choose_form(p, false);
  if ((status = build_form(arena, p, full, &fits)) != FRIX_OK) return status;
  return fits ? FRIX_OK : FRIX_ERROR_UNSUPPORTED;
}

void fx_pile_pack_full(const fx_pile *p) { pack(p, true); }

void fx_pile_load(const fx_pile *p, bool full, const double *r) {
  const fx_system *s = p->system;
  double inverse = 1 / s->rho;
  for (int32_t slot = 0; slot < p->batch_count * FX_BATCH; slot++) {
    int32_t i = p->slot_contact[slot];
    if (i < 0) continue;
    for (int32_t k = 0; k < s->contact[i].dim; k++) {
      double value = inverse * r[s->row[i] + k];
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
      r[s->row[i] + k] = s->rho * (full ? ((double *)p->full.z)[at(slot, 4, 3, k)]
                                        : (double)((float *)p->single.z)[at(slot, 8, 3, k)]);
  }
}
