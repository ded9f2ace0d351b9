/* Scaled unknowns, shared by the first-order methods. */
#include "solver/scaling.h"

#include <math.h>

double *fx_scaling(fx_arena *arena, const fx_system *s) {
  double *S = FX_TAKE(arena, double, s->row_count);
  for (int32_t i = 0; S && i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    const double *D = s->D + s->diagonal[i];
    double trace = 0;
    for (int32_t k = 0; k < d; k++) trace += D[k * d + k];
    double scale = trace > 0 ? sqrt(d / trace) : 1;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) S[k] = scale;
  }
  return S;
}

void fx_project_all(const fx_system *s, double *z) {
  for (int32_t i = 0; i < s->contact_count; i++) fx_cone_project(&s->contact[i], z + s->row[i], z + s->row[i]);
}

void fx_shift_all(const fx_system *s, double *u) {
  for (int32_t i = 0; i < s->contact_count; i++)
    if (s->contact[i].cone != FRIX_CONE_BILATERAL) u[s->row[i]] += fx_cone_shift(&s->contact[i], u + s->row[i]);
}

void fx_scaled_velocity(const fx_system *s, const double *S, const double *z, double *r, double *v, double *out) {
  for (int32_t k = 0; k < s->row_count; k++) r[k] = S[k] * z[k];
  fx_system_velocity(s, r, out, v);
  for (int32_t k = 0; k < s->row_count; k++) out[k] *= S[k];
}

double fx_dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

frix_status fx_scaled_operator(fx_arena *arena, const fx_system *s, const double *S, fx_block_matrix *out) {
  const fx_block_matrix *W = &s->W;
  int32_t n = s->contact_count;
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)n + 1),
          *index = FX_TAKE(arena, int32_t, (size_t)W->start[n] + (size_t)n);
  if (!start || !index) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0, at = 0; i < n; i++) {
    bool own = false; /* the diagonal block is listed */
    for (int32_t k = W->start[i]; k < W->start[i + 1]; k++) {
      if (!own && W->index[k] >= i) {
        own = true;
        if (W->index[k] > i) index[at++] = i;
      }
      index[at++] = W->index[k];
    }
    if (!own) index[at++] = i;
    start[i + 1] = at;
  }
  frix_status status = fx_block_from_pattern(arena, n, s->row, n, s->row, start, index, out);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = W->start[i]; k < W->start[i + 1]; k++) {
      const double *from = fx_block(W, k);
      double *to = fx_block_at(out, i, W->index[k]);
      double factor = S[s->row[i]] * S[s->row[W->index[k]]];
      for (size_t e = 0; e < W->offset[k + 1] - W->offset[k]; e++) to[e] = factor * from[e];
    }
  for (int32_t i = 0; s->R && i < n; i++) {
    double *block = fx_block_at(out, i, i);
    int32_t d = s->contact[i].dim;
    for (int32_t a = 0; a < d; a++) {
      int32_t row = s->row[i] + a;
      block[a * d + a] += S[row] * S[row] * s->R[row];
    }
  }
  return FRIX_OK;
}
