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
