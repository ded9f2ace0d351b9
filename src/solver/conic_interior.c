/* Primal-dual interior point with Nesterov-Todd scaling and Mehrotra's predictor and corrector.
 *
 *   A dx - N E' dz = -rd,  ds = E dx + rp,  lambda o (W dz + W^-1 ds) = d       N = I; exact law: I - e_N shift'
 *   => (A + N E' W^-2 E + delta) dx = -rd + N E' (W^-1 (lambda \ d) - W^-2 rp)
 *
 * Under the exact law the shift moves along with every step, so that no outer iteration over shifts is needed. The path
 * of centres may then turn back, and steps shrink to nothing where it does: delta, a proximal term, lets the iterates
 * leave it there. References: S. Mehrotra 1992; Y. Nesterov, M. Todd 1998; L. Vandenberghe, The CVXOPT linear and
 * quadratic cone program solvers, 2010. */
#include "solver/conic_steps.h"

#include "problem/cone_slope.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

/* Moves a into the interior by a multiple of e, where it is not. */
static void shift_inside(const fx_conic *c, double *a) {
  double worst = -INFINITY;
  FX_EACH_PART(c, i, part) {
    if (part->held) continue;
    double length = 0;
    for (int32_t k = 1; k < part->dim; k++) length += a[part->first + k] * a[part->first + k];
    double depth = sqrt(length) - a[part->first];
    if (depth > worst) worst = depth;
  }
  double size = sqrt(fx_dot(c->entry_count, a, a) / (c->entry_count > 0 ? c->entry_count : 1));
  double least = size > 0 ? 0.1 * size : 1;
  if (worst < -1e-8 * least) return;
  FX_EACH_PART(c, i, part) {
    if (!part->held) a[part->first] += worst + least;
  }
}

/* min 1/2 x'Ax + q'x + 1/2 |Ex + g|^2 gives x; s = Ex + g and z = -s are then moved inside. */
static bool start_inside(fx_conic *c) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, line[1] = {1}, pair[4] = {1, 0, 0, 1};
  fx_conic_clear_D(c);
  FX_EACH_PART(c, i, part) fx_conic_add_block(c, i, part, part->dim == 1 ? line : part->dim == 2 ? pair : identity);
  bool exact = c->exact;
  c->exact = false; /* a start is convex */
  bool factored = fx_conic_factor(c, 0);
  c->exact = exact;
  if (!factored) return false;
  for (int32_t k = 0; k < c->row_count; k++) c->b[k] = -c->q[k];
  fx_conic_add_Et(c, -1, c->g, c->b);
  fx_kkt_solve(&c->kkt, c->b, 1e-6 * sqrt(fx_dot(c->row_count, c->b, c->b)), c->x);
  fx_conic_times_E(c, c->x, c->sl);
  for (int32_t e = 0; e < c->entry_count; e++) {
    c->sl[e] += c->g[e];
    c->z[e] = -c->sl[e];
  }
  shift_inside(c, c->sl);
  shift_inside(c, c->z);
  FX_EACH_PART(c, i, part) {
    if (part->held) c->sl[part->first] = c->z[part->first] = 0;
  }
  return true;
}

/* Scaling points and D = N E' W^-2 E + delta, W^-2 = (2 (Jw)(Jw)' - J) / eta^2. */
static bool scale_and_factor(fx_conic *c, double delta) {
  fx_conic_clear_D(c);
  FX_EACH_PART(c, i, part) {
    int32_t d = part->dim, first = part->first;
    double B[9], *eta = &c->eta[part - c->part];
    const double *w = c->w + first;
    if (part->held) {
      B[0] = FX_HELD_WEIGHT;
    } else {
      if (!fx_soc_scale(d, c->sl + first, c->z + first, c->w + first, eta, c->lambda + first)) return false;
      double factor = 1 / (*eta * *eta);
      for (int32_t a = 0; a < d; a++)
        for (int32_t b = 0; b < d; b++) {
          double sign = (a > 0) == (b > 0) ? 1 : -1;
          B[a * d + b] = factor * (2 * sign * w[a] * w[b] + (a == b ? (a == 0 ? -1 : 1) : 0));
        }
      if (d == 1) B[0] = factor;
    }
    fx_conic_add_block(c, i, part, B);
  }
  return fx_conic_factor(c, delta);
}

/* Direction for right-hand sides p = lambda \ d: dx, and W^-1 ds in ds, W dz in dz. t holds rp. */
static void direction(fx_conic *c, double accuracy, double enough) {
  /* lambda-space part p - W^-1 rp, then E' W^-1 of it */
  memset(c->dz, 0, (size_t)c->entry_count * sizeof *c->dz);
  FX_EACH_PART(c, i, part) {
    int32_t first = part->first;
    double scaled[3];
    if (part->held) {
      c->dz[first] = -FX_HELD_WEIGHT * c->t[first];
      continue;
    }
    const double *w = c->w + first, eta = c->eta[part - c->part];
    fx_soc_unapply(part->dim, w, eta, c->t + first, scaled);
    for (int32_t k = 0; k < part->dim; k++) scaled[k] = c->p[first + k] - scaled[k];
    fx_soc_unapply(part->dim, w, eta, scaled, c->dz + first);
  }
  fx_conic_solve_for(c, c->dz, accuracy, enough);
  fx_conic_times_E(c, c->dx, c->ds);
  FX_EACH_PART(c, i, part) {
    int32_t first = part->first;
    double unscaled[3];
    if (part->held) {
      c->dz[first] = -FX_HELD_WEIGHT * (c->ds[first] + c->t[first]);
      c->ds[first] = 0;
      continue;
    }
    for (int32_t k = 0; k < part->dim; k++) unscaled[k] = c->ds[first + k] + c->t[first + k];
    fx_soc_unapply(part->dim, c->w + first, c->eta[part - c->part], unscaled, c->ds + first);
    for (int32_t k = 0; k < part->dim; k++) c->dz[first + k] = c->p[first + k] - c->ds[first + k];
  }
}

/* Largest step that keeps s and z in the cone. */
static double longest(const fx_conic *c) {
  double step = INFINITY;
  FX_EACH_PART(c, i, part) {
    if (part->held) continue;
    double a = fx_soc_step(part->dim, c->lambda + part->first, c->ds + part->first);
    double b = fx_soc_step(part->dim, c->lambda + part->first, c->dz + part->first);
    if (a < step) step = a;
    if (b < step) step = b;
  }
  return step;
}

/* s . z per part */
static double mean_gap(const fx_conic *c) {
  double sum = 0;
  int32_t count = 0;
  FX_EACH_PART(c, i, part) {
    if (part->held) continue;
    for (int32_t k = 0; k < part->dim; k++) sum += c->sl[part->first + k] * c->z[part->first + k];
    count++;
  }
  return count ? sum / count : 0;
}

/* p = -lambda: straight to the end. */
static void aim(fx_conic *c) {
  FX_EACH_PART(c, i, part) {
    for (int32_t k = 0; k < part->dim && !part->held; k++) c->p[part->first + k] = -c->lambda[part->first + k];
  }
}

/* p = lambda \ (target e - lambda o lambda - ds o dz), the last, of the affine direction, where correct is set. */
static void centre(fx_conic *c, double target, bool correct) {
  FX_EACH_PART(c, i, part) {
    int32_t first = part->first, d = part->dim;
    if (part->held) continue;
    double rhs[3] = {0}, product[3] = {0};
    fx_soc_product(d, c->lambda + first, c->lambda + first, rhs);
    if (correct) fx_soc_product(d, c->ds + first, c->dz + first, product);
    for (int32_t k = 0; k < d; k++) rhs[k] = (k == 0 ? target : 0) - rhs[k] - product[k];
    fx_soc_divide(d, c->lambda + first, rhs, c->p + first);
  }
}

/* x, s, z += step * direction, back from the scaled space. */
static void advance(fx_conic *c, double step) {
  for (int32_t k = 0; k < c->row_count; k++) c->x[k] += step * c->dx[k];
  FX_EACH_PART(c, i, part) {
    int32_t first = part->first;
    double a[3], b[3];
    if (part->held) {
      c->z[first] += step * c->dz[first];
      continue;
    }
    fx_soc_apply(part->dim, c->w + first, c->eta[part - c->part], c->ds + first, a);
    fx_soc_unapply(part->dim, c->w + first, c->eta[part - c->part], c->dz + first, b);
    for (int32_t k = 0; k < part->dim; k++) {
      c->sl[first + k] += step * a[k];
      c->z[first + k] += step * b[k];
    }
  }
}

/* How far to centre after an affine step of this length. */
static double centring(const fx_conic *c, const fx_conic_run *run, double affine) {
  double rest = 1 - affine;
  if (!c->exact) return rest * rest * rest;
  if (run->careful) return sqrt(rest);
  return fmin(fmax(rest * rest * rest, 1e-3), 0.8);
}

/* What the linear systems of a step may miss, over the merit before it: far less than the step leaves. */
static const double missed = 1e-5;

/* One predictor-corrector step from the state that measure left; its length, 0 where it failed. */
static double interior_step(fx_conic *c, const fx_conic_run *run, double delta) {
  for (int32_t e = 0; e < c->entry_count; e++) c->t[e] = c->ds[e] - c->sl[e];
  if (!scale_and_factor(c, delta)) return 0;
  aim(c);
  direction(c, 1e-3, 0);
  double affine = fmin(longest(c), 1), target = centring(c, run, affine) * mean_gap(c);
  /* Gaps that fall ahead of the dual residual leave iterates that can move neither way. */
  if (c->exact) target = fmax(target, fx_dot(c->row_count, c->rd, c->rd) / c->part_count);
  centre(c, target, !c->exact || affine > 0.3);
  direction(c, 1e-11, missed * c->merit * fx_conic_size(c));
  double step = fmin((c->exact ? 0.95 : 0.99) * longest(c), 1);
  advance(c, step);
  return step;
}

/* delta rises while steps are short and falls while they are long. */
static double adapt(double delta, double step) {
  if (step < 0.1) return fmax(4 * delta, 1e-5);
  if (step < 0.6) return delta;
  return delta > 1e-9 ? 0.25 * delta : 0;
}

/* With an attempt by Newton whenever the merit of a convex problem fell by a hundred. */
fx_conic_end fx_conic_interior(fx_conic *c, const fx_conic_run *run) {
  fx_conic_verdict v;
  double try_newton = c->exact ? 0 : 1e-4, mark = INFINITY, delta = 0;
  int64_t patience = !c->exact ? 12 : run->careful ? 40 : 20;
  if (!start_inside(c)) return FX_CONIC_STALLED;
  for (int64_t k = 1;; k++) {
    fx_conic_measure(c);
    v = fx_conic_judge(c, run);
    if (v.done) return v.end;
    if (c->merit < try_newton) {
      try_newton = 1e-2 * c->merit;
      if (fx_conic_newton(c, run, 1, &v)) return v.end;
      fx_conic_measure(c);
    }
    double step = interior_step(c, run, delta);
    if (c->exact) delta = adapt(delta, step);
    bool still = k % patience == 0 && !(c->best < 0.5 * mark);
    if (k % patience == 0) mark = c->best;
    if (!(step > 0) || still) return FX_CONIC_STALLED;
  }
}
