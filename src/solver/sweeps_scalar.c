/* The kernel of sweeps without vectors: the reference that the vector kernels must match bit by bit, lane by lane with
 * the same operations in the same order. Equations in sweeps_kernel.h. */
#include "solver/sweeps.h"

#include <math.h>

#define DEFINE_SCALAR(REAL, LANES, ROOT, TINY, name)                                                            \
  typedef struct contact_##name {                                                                               \
    const REAL *f; /* number k of the contact is f[k * LANES] */                                                \
    REAL *a, *b;   /* records of its bodies */                                                                  \
  } contact_##name;                                                                                             \
                                                                                                                \
  static contact_##name find_##name(const fx_pile *p, const fx_pile_data *data, REAL *d, int32_t slot) {        \
    const int32_t *body = p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;                      \
    size_t group = (size_t)(slot / LANES) * (size_t)p->field_count * LANES;                                     \
    return (contact_##name){(const REAL *)data->field + group + slot % LANES, d + body[0], d + body[FX_BATCH]}; \
  }                                                                                                             \
                                                                                                                \
  static void read_##name(bool round, const contact_##name *c, REAL u[3]) {                                     \
    const REAL *h = c->f + FX_H * LANES, *a = c->a, *b = c->b;                                                  \
    REAL v[3], t[3];                                                                                            \
    for (int k = 0; k < 3 && round; k++) {                                                                      \
      v[k] = c->f[FX_ROUND_A * LANES] * a[k] + c->f[(FX_ROUND_A + 1) * LANES] * b[k];                           \
      t[k] = c->f[FX_ROUND_C * LANES] * a[k + 3] + c->f[(FX_ROUND_C + 1) * LANES] * b[k + 3];                   \
    }                                                                                                           \
    if (round) {                                                                                                \
      REAL q[9];                                                                                                \
      for (int k = 0; k < 9; k++) q[k] = h[k * LANES];                                                          \
      u[0] = q[0] * v[0] + q[1] * v[1] + q[2] * v[2];                                                           \
      u[1] = (q[3] * v[0] + q[4] * v[1] + q[5] * v[2]) + (q[6] * t[0] + q[7] * t[1] + q[8] * t[2]);             \
      u[2] = (q[6] * v[0] + q[7] * v[1] + q[8] * v[2]) - (q[3] * t[0] + q[4] * t[1] + q[5] * t[2]);             \
      return;                                                                                                   \
    }                                                                                                           \
    for (int row = 0; row < 3; row++, h += 6 * LANES)                                                           \
      u[row] = ((h[0] * a[0] + h[LANES] * a[1]) + (h[2 * LANES] * a[2] + h[3 * LANES] * a[3])) +                \
               ((h[4 * LANES] * a[4] + h[5 * LANES] * a[5]) + (h[18 * LANES] * b[0] + h[19 * LANES] * b[1])) +  \
               ((h[20 * LANES] * b[2] + h[21 * LANES] * b[3]) + (h[22 * LANES] * b[4] + h[23 * LANES] * b[5])); \
  }                                                                                                             \
                                                                                                                \
  static void write_##name(bool round, const contact_##name *c, const REAL x[3]) {                              \
    const REAL *h = c->f + FX_H * LANES;                                                                        \
    for (int k = 0; k < 3 && round; k++) {                                                                      \
      REAL p = h[k * LANES] * x[0] + h[(3 + k) * LANES] * x[1] + h[(6 + k) * LANES] * x[2];                     \
      REAL t = h[(6 + k) * LANES] * x[1] - h[(3 + k) * LANES] * x[2];                                           \
      c->a[k] += c->f[FX_ROUND_A * LANES] * p;                                                                  \
      c->b[k] += c->f[(FX_ROUND_A + 1) * LANES] * p;                                                            \
      c->a[k + 3] += c->f[FX_ROUND_C * LANES] * t;                                                              \
      c->b[k + 3] += c->f[(FX_ROUND_C + 1) * LANES] * t;                                                        \
    }                                                                                                           \
    for (int k = 0; k < 6 && !round; k++) {                                                                     \
      c->a[k] += h[k * LANES] * x[0] + h[(6 + k) * LANES] * x[1] + h[(12 + k) * LANES] * x[2];                  \
      c->b[k] += h[(18 + k) * LANES] * x[0] + h[(24 + k) * LANES] * x[1] + h[(30 + k) * LANES] * x[2];          \
    }                                                                                                           \
  }                                                                                                             \
                                                                                                                \
  static void local_##name(const fx_pile *p, const REAL *f, const REAL y[3], REAL u[3], REAL z[3]) {            \
    const REAL *c = f + (p->round ? FX_ROUND_END : FX_GENERAL_END) * LANES;                                     \
    for (int k = 0; k < 3; k++) {                                                                               \
      u[k] += f[(FX_Q + k) * LANES];                                                                            \
      if (p->compliant) u[k] += c[k * LANES] * y[k];                                                            \
    }                                                                                                           \
    REAL normal = y[0] - u[0] * f[FX_INVERSE_N * LANES];                                                        \
    z[0] = normal > 0 ? normal : 0;                                                                             \
    for (int k = 1; k < 3 && !p->round; k++) u[k] += f[(FX_COUPLING + k - 1) * LANES] * (z[0] - y[0]);          \
    REAL s = y[1] - u[1] * f[FX_INVERSE_T * LANES], t = y[2] - u[2] * f[FX_INVERSE_T * LANES];                  \
    REAL radius = f[FX_MU * LANES] * z[0], length = ROOT(s * s + t * t);                                        \
    REAL factor = length > radius ? radius / length : 1;                                                        \
    z[1] = s * factor;                                                                                          \
    z[2] = t * factor;                                                                                          \
  }                                                                                                             \
                                                                                                                \
  static void local_based_##name(const fx_pile *p, const REAL *f, const REAL *base, const REAL y[3], REAL u[3], \
                                 REAL z[3]) {                                                                   \
    const REAL *c = f + (p->round ? FX_ROUND_END : FX_GENERAL_END) * LANES;                                     \
    REAL low = base[FX_LOW * LANES], reach = base[FX_REACH * LANES], mu = f[FX_MU * LANES];                     \
    for (int k = 0; k < 3; k++) u[k] += f[(FX_Q + k) * LANES] + c[k * LANES] * y[k];                            \
    REAL normal = y[0] - u[0] * f[FX_INVERSE_N * LANES];                                                        \
    z[0] = normal > low ? normal : low;                                                                         \
    for (int k = 1; k < 3 && !p->round; k++) u[k] += f[(FX_COUPLING + k - 1) * LANES] * (z[0] - y[0]);          \
    REAL first = y[1] - u[1] * f[FX_INVERSE_T * LANES], t = y[2] - u[2] * f[FX_INVERSE_T * LANES];              \
    REAL s = reach + first, length = ROOT(s * s + t * t), limit = base[FX_GAP * LANES] + mu * z[0];             \
    REAL radius = mu * (z[0] - low);                                                                            \
    REAL grown = (first * (reach + s) + t * t) / (length + reach + TINY), across = t / (length + TINY);         \
    REAL lost = radius * (s > 0 ? across * (t / (length + s + TINY)) : 1 - s / (length + TINY));                \
    z[1] = grown > limit ? limit - lost : first;                                                                \
    z[2] = grown > limit ? radius * across : t;                                                                 \
  }                                                                                                             \
                                                                                                                \
  static void visit_##name(const fx_pile *p, const fx_pile_data *data, int32_t slot, REAL beta, REAL sums[3]) { \
    contact_##name c = find_##name(p, data, data->d_last, slot);                                                \
    size_t first = (size_t)(slot / LANES) * 3 * LANES + (size_t)(slot % LANES);                                 \
    const REAL *now = (REAL *)data->z + first;                                                                  \
    REAL *last = (REAL *)data->z_last + first, u[3], y[3], z[3], x[3];                                          \
    for (int k = 0; k < 3; k++)                                                                                 \
      y[k] = beta == 0 ? now[k * LANES] : now[k * LANES] + (now[k * LANES] - last[k * LANES]) * beta;           \
    read_##name(p->round, &c, u);                                                                               \
    if (data->base)                                                                                             \
      local_based_##name(p, c.f, (const REAL *)data->base + fx_slot_at(slot, LANES, FX_BASE, 0), y, u, z);      \
    else                                                                                                        \
      local_##name(p, c.f, y, u, z);                                                                            \
    for (int k = 0; k < 3; k++) {                                                                               \
      x[k] = z[k] - y[k];                                                                                       \
      sums[0] += beta == 0 ? x[k] * x[k] : 0;                                                                   \
      sums[1] += beta == 0 ? z[k] * z[k] : 0;                                                                   \
      sums[2] -= beta == 0 ? 0 : x[k] * (z[k] - now[k * LANES]);                                                \
      last[k * LANES] = z[k];                                                                                   \
    }                                                                                                           \
    write_##name(p->round, &c, x);                                                                              \
  }                                                                                                             \
                                                                                                                \
  static fx_sweep_sums sweep_##name(const fx_pile *p, const fx_pile_data *data, const fx_sweep_part *part,      \
                                    REAL beta) {                                                                \
    fx_sweep_sums total = {0, 0, 0};                                                                            \
    REAL *d = data->d, *d_last = data->d_last;                                                                  \
    for (int32_t k = part->first_body * FX_RECORD; k < part->end_body * FX_RECORD; k++)                         \
      d_last[k] = beta == 0 ? d[k] : d[k] + (d[k] - d_last[k]) * beta;                                          \
    int32_t end = part->end * FX_BATCH;                                                                         \
    for (int32_t first = part->first * FX_BATCH; first < end; first += FX_FLUSH * FX_BATCH) {                   \
      REAL sums[LANES][3] = {{0}};                                                                              \
      for (int32_t slot = first; slot < first + FX_FLUSH * FX_BATCH && slot < end; slot++)                      \
        visit_##name(p, data, slot, beta, sums[slot % LANES]);                                                  \
      double one[3] = {0, 0, 0};                                                                                \
      for (int lane = 0; lane < LANES; lane++)                                                                  \
        for (int k = 0; k < 3; k++) one[k] += (double)sums[lane][k];                                            \
      total.step += one[0];                                                                                     \
      total.size += one[1];                                                                                     \
      total.uphill += one[2];                                                                                   \
    }                                                                                                           \
    return total;                                                                                               \
  }                                                                                                             \
                                                                                                                \
  static void refresh_##name(const fx_pile *p, const fx_pile_data *data, int32_t first, int32_t end) {          \
    for (int32_t slot = first * FX_BATCH; slot < end * FX_BATCH; slot++) {                                      \
      contact_##name c = find_##name(p, data, data->d, slot);                                                   \
      const REAL *z = (REAL *)data->z + (size_t)(slot / LANES) * 3 * LANES + slot % LANES;                      \
      REAL x[3] = {z[0], z[LANES], z[2 * LANES]};                                                               \
      write_##name(p->round, &c, x);                                                                            \
    }                                                                                                           \
  }

DEFINE_SCALAR(float, 8, sqrtf, 1e-30f, single)
DEFINE_SCALAR(double, 4, sqrt, 1e-290, full)

fx_sweep_sums fx_sweep_scalar(const fx_pile *p, bool full, const fx_sweep_part *part, double beta) {
  return full ? sweep_full(p, &p->full, part, beta) : sweep_single(p, &p->single, part, (float)beta);
}

void fx_refresh_scalar(const fx_pile *p, bool full, int32_t first, int32_t end) {
  if (full)
    refresh_full(p, &p->full, first, end);
  else
    refresh_single(p, &p->single, first, end);
}
