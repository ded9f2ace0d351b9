/* The normal map of a contact problem, and its derivative. */
#include "solver/normal_map.h"

#include "problem/cone_slope.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

frix_status fx_normal_map_take(fx_normal_map *map, fx_arena *arena, fx_newton_linear *shared, fx_linear_choice choice) {
  const fx_system *s = map->s;
  frix_status status = FRIX_OK;
  map->linear = shared && choice == FX_LINEAR_AUTO ? shared : fx_newton_linear_create_as(arena, s, choice, &status);
  if (!map->linear) return status;
  map->S = map->linear->S;
  map->q = FX_TAKE(arena, double, s->row_count);
  map->P = FX_TAKE(arena, double, s->diagonal[s->contact_count]);
  map->B = FX_TAKE(arena, double, s->diagonal[s->contact_count]);
  if (!map->q || !map->P || !map->B) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < s->row_count; k++) map->q[k] = map->S[k] * s->q[k];
  return FRIX_OK;
}

double fx_normal_map_evaluate(const fx_normal_map *map, const double *x, double *z, double *G) {
  const fx_system *s = map->s;
  memcpy(z, x, (size_t)s->row_count * sizeof *z);
  fx_project_all(s, z);
  fx_newton_apply(map->linear, z, G);
  double sum = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double y[FRIX_MAX_DIM];
    int32_t row = s->row[i], d = s->contact[i].dim;
    for (int32_t k = 0; k < d; k++) y[k] = z[row + k] - x[row + k];
    if (map->law == FRIX_LAW_COULOMB) G[row] += fx_cone_shift(&s->contact[i], y);
    for (int32_t k = 0; k < d; k++) {
      G[row + k] += map->q[row + k] - y[k];
      sum += G[row + k] * G[row + k];
    }
  }
  return sqrt(sum);
}

double fx_normal_map_start(const fx_normal_map *map, const double *r, double *x, double *z, double *G) {
  const fx_system *s = map->s;
  for (int32_t k = 0; k < s->row_count; k++) z[k] = r[k] / map->S[k];
  fx_project_all(s, z);
  fx_newton_apply(map->linear, z, G);
  for (int32_t k = 0; k < s->row_count; k++) G[k] += map->q[k];
  if (map->law == FRIX_LAW_COULOMB) fx_shift_all(s, G);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++)
      x[k] = s->contact[i].cone == FRIX_CONE_BILATERAL ? z[k] : z[k] - G[k];
  return fx_normal_map_evaluate(map, x, z, G);
}

double fx_normal_map_delta(const fx_normal_map *map, int32_t i, double delta) {
  return map->s->contact[i].cone == FRIX_CONE_BILATERAL && delta > 1e-6 ? 1e-6 : delta;
}

void fx_normal_map_differentiate(fx_normal_map *map, const double *x, const double *z, double delta) {
  const fx_system *s = map->s;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i], d = s->contact[i].dim;
    double *P = map->P + s->diagonal[i], *B = map->B + s->diagonal[i], y[FRIX_MAX_DIM], g[FRIX_MAX_DIM];
    fx_cone_project_slope(&s->contact[i], x + row, P);
    for (int32_t k = 0; k < d * d; k++) B[k] = -P[k];
    for (int32_t k = 0; k < d; k++) B[k * (d + 1)] += 1;
    if (map->law == FRIX_LAW_COULOMB) {
      for (int32_t k = 0; k < d; k++) y[k] = z[row + k] - x[row + k];
      fx_cone_shift_slope(&s->contact[i], y, g);
      for (int32_t a = 1; a < d; a++) /* dy = -(I - P) dx, so the shift enters with a minus */
        for (int32_t b = 0; b < d; b++) B[b] -= g[a] * B[a * d + b];
    }
    for (int32_t k = 0; k < d; k++) B[k * (d + 1)] += fx_normal_map_delta(map, i, delta);
  }
}
