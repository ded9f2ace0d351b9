/* Conjugate gradients on the faces of a box.
 *
 * On the open face of the present point, scaled conjugate gradients run until a bound is met; then the face shrinks,
 * and the projected conjugate-gradient point is taken instead where it is lower (it meets many bounds at once). The
 * face is left along the projected gradient as soon as the part of it that points off the face dominates. Directions of
 * nonpositive curvature are followed to the bound.
 * References: A. Friedlander, J. M. Martinez, On the maximization of a concave quadratic function with box constraints,
 * 1994; R. Bielschowsky, A. Friedlander, F. Gomes, J. M. Martinez, M. Raydan, An adaptive algorithm for bound
 * constrained quadratic minimization, 1997 (leaving the face). */
#include "mcp/box_quadratic.h"

#include <math.h>
#include <string.h>

static const double LEAVE = 0.5; /* leave the face when the free part of the gradient is less than this share */

frix_status fx_box_quadratic_take(fx_arena *arena, int32_t n, fx_box_quadratic *q) {
  double **vectors[] = {&q->s, &q->g, &q->d, &q->Bd, &q->trial};
  q->n = n;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = FX_TAKE(arena, double, n))) return FRIX_ERROR_MEMORY;
  return FRIX_OK;
}

/* Component i of the gradient as far as the box lets it act: 1 free, 2 pointing off its bound, 0 held. */
static int act(const fx_box_quadratic *q, int32_t i) {
  if (q->low[i] == q->high[i]) return 0;
  if (q->s[i] <= q->low[i]) return q->g[i] < 0 ? 2 : 0;
  if (q->s[i] >= q->high[i]) return q->g[i] > 0 ? 2 : 0;
  return 1;
}

static double longest_step(const fx_box_quadratic *q) {
  double longest = INFINITY;
  for (int32_t i = 0; i < q->n; i++) {
    double room = q->d[i] > 0 ? q->high[i] - q->s[i] : q->low[i] - q->s[i];
    if (q->d[i] != 0 && room / q->d[i] < longest) longest = room / q->d[i];
  }
  return longest > 0 ? longest : 0;
}

/* s += a d, clamped; exact at the bounds that are met. */
static void advance(fx_box_quadratic *q, double a) {
  for (int32_t i = 0; i < q->n; i++) {
    if (q->d[i] == 0) continue;
    double next = q->s[i] + a * q->d[i];
    if (next <= q->low[i] + 1e-15 * fabs(q->low[i])) next = q->low[i];
    if (next >= q->high[i] - 1e-15 * fabs(q->high[i])) next = q->high[i];
    q->s[i] = next;
  }
}

/* From the end of the truncated step, where the quadratic is lower by `truncated`, towards the projected full step:
 * taken where it is lower still. Returns the change from the truncated point, 0 when not taken; NAN on failure. */
static double extrapolate(fx_box_quadratic *q, double beyond) {
  double slope = 0, moved = 0;
  for (int32_t i = 0; i < q->n; i++) {
    double next = q->s[i] + beyond * q->d[i];
    next = next < q->low[i] ? q->low[i] : next > q->high[i] ? q->high[i] : next;
    q->trial[i] = next - q->s[i];
    slope += q->g[i] * q->trial[i];
    moved += fabs(q->trial[i]);
  }
  if (!(moved > 0)) return 0;
  if (!q->product(q->trial, q->Bd, q->user)) return NAN;
  double curvature = 0;
  for (int32_t i = 0; i < q->n; i++) curvature += q->trial[i] * q->Bd[i];
  if (!(slope + 0.5 * curvature < 0)) return 0;
  for (int32_t i = 0; i < q->n; i++) {
    double next = q->s[i] + q->trial[i];
    q->s[i] = next < q->low[i] ? q->low[i] : next > q->high[i] ? q->high[i] : next;
    q->g[i] += q->Bd[i];
  }
  return slope + 0.5 * curvature;
}

double fx_box_quadratic_solve(fx_box_quadratic *q, double factor, int64_t step_limit, int64_t *steps) {
  int32_t n = q->n;
  double change = 0, goal = -1, before = 0;
  bool fresh = true; /* the next direction forgets the last one */
  memset(q->s, 0, (size_t)n * sizeof *q->s);
  memcpy(q->g, q->gradient, (size_t)n * sizeof *q->g);
  for (int64_t k = 0; k < step_limit; k++) {
    double free_part = 0, off_part = 0;
    for (int32_t i = 0; i < n; i++) {
      int kind = act(q, i);
      if (kind == 1) free_part += q->g[i] * q->g[i] / q->diagonal[i];
      if (kind == 2) off_part += q->g[i] * q->g[i] / q->diagonal[i];
    }
    if (goal < 0) goal = factor * factor * (free_part + off_part);
    if (!(free_part + off_part > goal)) break;

    /* the direction: off the face, or conjugate within it */
    bool leave = free_part < LEAVE * LEAVE * (free_part + off_part);
    double beta = leave || fresh || !(before > 0) ? 0 : free_part / before, slope = 0, curvature = 0;
    for (int32_t i = 0; i < n; i++) {
      int kind = act(q, i);
      bool moves = kind == 1 || (leave && kind == 2);
      q->d[i] = moves ? -q->g[i] / q->diagonal[i] + (beta > 0 ? beta * q->d[i] : 0) : 0;
      slope += q->g[i] * q->d[i];
    }
    before = free_part;
    if (!(slope < 0)) {
      if (fresh) break;
      fresh = true;
      continue;
    }
    if (!q->product(q->d, q->Bd, q->user)) return NAN;
    (*steps)++;
    for (int32_t i = 0; i < n; i++) curvature += q->d[i] * q->Bd[i];

    double longest = longest_step(q), wanted = curvature > 0 ? -slope / curvature : INFINITY;
    double a = wanted < longest ? wanted : longest;
    if (!(a < INFINITY)) break; /* cannot happen in a bounded box */
    advance(q, a);
    for (int32_t i = 0; i < n; i++) q->g[i] += a * q->Bd[i];
    change += a * slope + 0.5 * a * a * curvature;
    fresh = leave || wanted >= longest;
    if (wanted > longest && wanted < INFINITY) {
      double more = extrapolate(q, wanted - longest);
      if (isnan(more)) return NAN;
      change += more;
    }
  }
  return change;
}
