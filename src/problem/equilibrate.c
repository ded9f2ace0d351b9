/* Scaling of rows to comparable units.
 *
 *   u' = S u,  r' = S^-1 r,  W' = S W S,  R' = S R S,  H' = H S,        mu_r' = mu_r / s
 *
 * Rows of joints and of rolling friction have different units: in metres or millimetres their W differs by powers of
 * ten from that of force rows, and methods with one step length for all rows would converge slowly. Each such row is
 * scaled by the power of two (which causes no rounding) nearest to sqrt(W* / W_kk), with W* the mean over the force
 * rows or, if there are none, the largest joint row. */
#include "problem/equilibrate.h"

#include <math.h>
#include <string.h>

enum { ALIKE = 3 }; /* powers of two between rows that are left as they are */

static int exponent_of(double x) {
  int e;
  frexp(x, &e);
  return e;
}

/* Rolling rows of a contact share one unit of length. */
static bool is_free(const frix_contact *c, int32_t k) {
  return c->cone == FRIX_CONE_BILATERAL || (c->cone == FRIX_CONE_ROLLING && k >= 3);
}

static double reference_of(const fx_system *s) {
  double sum = 0, largest = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0; k < s->contact[i].dim; k++) {
      double W = s->W_diag[s->row[i] + k];
      bool force = s->contact[i].dim > 1 && !is_free(&s->contact[i], k) && !fx_is_bound(s, i);
      if (force) sum += W, count++;
      if (is_free(&s->contact[i], k) && W > largest) largest = W;
    }
  return sum > 0 ? sum / count : largest;
}

/* True where some row is unlike the others. */
static bool find_scales(const fx_system *s, double *scale) {
  double reference = reference_of(s);
  bool any = false;
  if (!(reference > 0) || !isfinite(reference)) return false;
  int base = exponent_of(reference);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0; k < s->contact[i].dim; k++) {
      const frix_contact *c = &s->contact[i];
      int32_t row = s->row[i] + k;
      double W = c->cone == FRIX_CONE_ROLLING && k > 3 ? s->W_diag[s->row[i] + 3] : s->W_diag[row];
      scale[row] = 1;
      if (!is_free(c, k) || !(W > 0) || !isfinite(W)) continue;
      int half = (base - exponent_of(W)) / 2;
      any |= half >= ALIKE || half <= -ALIKE;
      scale[row] = ldexp(1, half);
    }
  return any;
}

static double *times(fx_arena *arena, const fx_system *s, const double *scale, int power, const double *x) {
  double *out = x ? FX_TAKE_RAW(arena, double, s->row_count) : NULL;
  for (int32_t k = 0; out && k < s->row_count; k++) out[k] = x[k] * (power == 2 ? scale[k] * scale[k] : scale[k]);
  return out;
}

/* Block rows, and for W block columns too. */
static bool scale_blocks(fx_arena *arena, const fx_system *s, const double *scale, bool columns,
                         const fx_block_matrix *from, fx_block_matrix *to) {
  size_t count = from->offset[from->start[from->row_blocks]];
  *to = *from;
  to->x = FX_TAKE_RAW(arena, double, count);
  if (!to->x) return false;
  for (int32_t i = 0; i < from->row_blocks; i++)
    for (int32_t k = from->start[i]; k < from->start[i + 1]; k++) {
      int32_t n = fx_block_cols(from, k);
      const double *x = fx_block(from, k), *across = columns ? scale + s->row[from->index[k]] : NULL;
      double *y = fx_block(to, k);
      for (int32_t a = 0; a < fx_block_rows(from, i); a++)
        for (int32_t c = 0; c < n; c++, x++, y++) *y = *x * scale[s->row[i] + a] * (across ? across[c] : 1);
    }
  return true;
}

static bool scale_diagonal(fx_arena *arena, const fx_system *s, const double *scale, fx_system *to) {
  double *D = FX_TAKE_RAW(arena, double, s->diagonal[s->contact_count]);
  if (!D) return false;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    const double *own = scale + s->row[i], *x = s->D + s->diagonal[i];
    double *y = D + s->diagonal[i];
    for (int32_t a = 0; a < d; a++)
      for (int32_t c = 0; c < d; c++, x++, y++) *y = *x * own[a] * own[c];
  }
  to->D = D;
  return true;
}

static bool scale_response(fx_arena *arena, const fx_system *s, const double *scale, fx_system *to) {
  to->response = FX_TAKE(arena, fx_response, 1);
  if (!to->response) return false;
  *to->response = *s->response;
  to->response->arena = arena;
  if (s->response->Yt.x) return scale_blocks(arena, s, scale, false, &s->response->Yt, &to->response->Yt);
  to->response->Yt = to->Ht;
  to->response->Yt.x = NULL;
  return true;
}

static bool scale_contacts(fx_arena *arena, const fx_system *s, const double *scale, fx_system *to) {
  frix_contact *contact = FX_TAKE_RAW(arena, frix_contact, s->contact_count);
  if (!contact) return false;
  memcpy(contact, s->contact, (size_t)s->contact_count * sizeof *contact);
  for (int32_t i = 0; i < s->contact_count; i++)
    if (contact[i].cone == FRIX_CONE_ROLLING) contact[i].mu_r /= scale[s->row[i] + 3];
  to->contact = contact;
  return true;
}

frix_status fx_system_equilibrate(fx_arena *arena, const fx_system *s, fx_system *to, const double **out) {
  *out = NULL;
  bool wanted = false;
  for (int32_t i = 0; i < s->contact_count && !wanted; i++) wanted = is_free(&s->contact[i], s->contact[i].dim - 1);
  if (!wanted) return FRIX_OK;
  double *scale = FX_TAKE_RAW(arena, double, s->row_count);
  if (!scale) return FRIX_ERROR_MEMORY;
  if (!find_scales(s, scale)) return FRIX_OK;
  *to = *s;
  to->q = times(arena, s, scale, 1, s->q);
  to->w = times(arena, s, scale, 1, s->w);
  to->limit = times(arena, s, scale, 1, s->limit);
  to->R = times(arena, s, scale, 2, s->R);
  to->W_diag = times(arena, s, scale, 2, s->W_diag);
  bool good = to->q && to->W_diag && (to->w || !s->w) && (to->limit || !s->limit) && (to->R || !s->R);
  good = good && scale_contacts(arena, s, scale, to) && scale_diagonal(arena, s, scale, to);
  if (good && s->has_W) good = scale_blocks(arena, s, scale, true, &s->W, &to->W);
  if (good && s->has_velocity)
    good = scale_blocks(arena, s, scale, false, &s->Ht, &to->Ht) && scale_response(arena, s, scale, to);
  if (!good) return FRIX_ERROR_MEMORY;
  fx_system_scales(to);
  *out = scale;
  return FRIX_OK;
}

void fx_system_shift_alike(const fx_system *s, const double *scale, fx_system *to) {
  for (int32_t k = 0; k < s->row_count; k++) {
    to->q[k] = scale[k] * s->q[k];
    to->w[k] = scale[k] * s->w[k];
  }
}
