/* Elastic energy of amplitudes, its gradient and second derivatives: a polynomial of degree 4, term by term.
 *
 *   V(q) = 1/2 sum w_i^2 q_i^2 + sum_{i<=j<=l} c_ijl q_i q_j q_l + sum_{i<=j<=l<=m} c_ijlm q_i q_j q_l q_m
 *
 * The sum over the last index of a term is taken first, so that a coefficient costs a few operations. */
#include "soft/soft_internal.h"

#include <string.h>

/* Adds to both places of a pair, which are one where the indices agree: d^2(q^2) = 2. */
static void add_pair(double *H, int32_t k, int32_t a, int32_t b, double x) {
  H[(size_t)a * k + b] += x;
  H[(size_t)b * k + a] += x;
}

static double cubic_terms(const frix_soft *s, const double *q, double *force, double *tangent) {
  int32_t k = s->info.coordinates;
  const double *next = s->cubic;
  double sum = 0.0;
  for (int32_t i = 0; i < k; i++) {
    for (int32_t j = i; j < k; next += k - j, j++) {
      const double *c = next - j; /* c[l] for l >= j */
      double line = 0.0, pair = q[i] * q[j];
      for (int32_t l = j; l < k; l++) line += c[l] * q[l];
      sum += pair * line;
      if (!force) continue;
      force[i] += q[j] * line, force[j] += q[i] * line;
      for (int32_t l = j; l < k; l++) force[l] += pair * c[l];
      if (!tangent) continue;
      add_pair(tangent, k, i, j, line);
      for (int32_t l = j; l < k; l++) {
        add_pair(tangent, k, i, l, q[j] * c[l]);
        add_pair(tangent, k, j, l, q[i] * c[l]);
      }
    }
  }
  return sum;
}

static void quartic_derivatives(int32_t k, const int32_t at[3], const double *c, double line, const double *q,
                                double *force, double *tangent) {
  double a = q[at[0]], b = q[at[1]], d = q[at[2]], all = a * b * d;
  force[at[0]] += b * d * line, force[at[1]] += a * d * line, force[at[2]] += a * b * line;
  for (int32_t m = at[2]; m < k; m++) force[m] += all * c[m];
  if (!tangent) return;
  add_pair(tangent, k, at[0], at[1], d * line);
  add_pair(tangent, k, at[0], at[2], b * line);
  add_pair(tangent, k, at[1], at[2], a * line);
  for (int32_t m = at[2]; m < k; m++) {
    add_pair(tangent, k, at[0], m, b * d * c[m]);
    add_pair(tangent, k, at[1], m, a * d * c[m]);
    add_pair(tangent, k, at[2], m, a * b * c[m]);
  }
}

static double quartic_terms(const frix_soft *s, const double *q, double *force, double *tangent) {
  int32_t k = s->info.coordinates;
  const double *next = s->quartic;
  double sum = 0.0;
  for (int32_t i = 0; i < k; i++) {
    for (int32_t j = i; j < k; j++) {
      for (int32_t l = j; l < k; l++) {
        const double *c = next - l; /* c[m] for m >= l */
        double line = 0.0;
        for (int32_t m = l; m < k; m++) line += c[m] * q[m];
        sum += q[i] * q[j] * q[l] * line;
        const int32_t at[3] = {i, j, l};
        if (force) quartic_derivatives(k, at, c, line, q, force, tangent);
        next += k - l;
      }
    }
  }
  return sum;
}

double fx_soft_elastic(const frix_soft *s, const double *q, double *force, double *tangent) {
  int32_t k = s->info.coordinates;
  double sum = 0.0;
  if (force) memset(force, 0, (size_t)k * sizeof *force);
  if (tangent) memset(tangent, 0, (size_t)k * k * sizeof *tangent);
  for (int32_t i = 0; i < k; i++) {
    sum += 0.5 * s->stiffness[i] * q[i] * q[i];
    if (force) force[i] = s->stiffness[i] * q[i];
    if (tangent) tangent[(size_t)i * k + i] = s->stiffness[i];
  }
  if (!s->cubic) return sum;
  return sum + cubic_terms(s, q, force, tangent) + quartic_terms(s, q, force, tangent);
}
