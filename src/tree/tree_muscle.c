/* Muscles, as MJCF has them: force = gain(length, velocity) activation + bias(length).
 *
 * With L the length in units of the optimal one (range of operation mapped from lengthrange) and V its rate by vmax:
 *   gain = -peak FL(L) FV(V)        bias = -peak fpmax FP(L)
 * FL a bump of four quadratic pieces over [lmin, 1, lmax], FV a quadratic of three pieces that saturates at fvmax, FP a
 * cubic that begins at the optimal length. Parameters: range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax. */
#include "tree/tree.h"

enum { RANGE0, RANGE1, FORCE, SCALE, LMIN, LMAX, VMAX, FPMAX, FVMAX };

static double peak_force(const fx_tree_actuator *a, const double *p) {
  return p[FORCE] < 0.0 ? p[SCALE] / fx_max(1e-15, a->acc0) : p[FORCE];
}

/* Length in which the optimum is 1, per unit of tendon. */
static double unit_length(const fx_tree_actuator *a, const double *p) {
  return (a->length_range[1] - a->length_range[0]) / fx_max(1e-15, p[RANGE1] - p[RANGE0]);
}

static double scaled_length(const fx_tree_actuator *a, const double *p, double length) {
  return p[RANGE0] + (length - a->length_range[0]) / fx_max(1e-15, unit_length(a, p));
}

static double bump(double length, double low, double high) {
  if (!(length >= low && length <= high)) return 0.0;
  double left = 0.5 * (low + 1.0), right = 0.5 * (1.0 + high), x;
  if (length <= left) {
    x = (length - low) / fx_max(1e-15, left - low);
    return 0.5 * x * x;
  }
  if (length <= 1.0) {
    x = (1.0 - length) / fx_max(1e-15, 1.0 - left);
    return 1.0 - 0.5 * x * x;
  }
  if (length <= right) {
    x = (length - 1.0) / fx_max(1e-15, right - 1.0);
    return 1.0 - 0.5 * x * x;
  }
  x = (high - length) / fx_max(1e-15, high - right);
  return 0.5 * x * x;
}

double fx_muscle_gain(const fx_tree_actuator *a, double length, double velocity) {
  const double *p = a->gain;
  double L = scaled_length(a, p, length);
  double V = velocity / fx_max(1e-15, unit_length(a, p) * p[VMAX]), y = p[FVMAX] - 1.0, fv;
  if (V <= -1.0)
    fv = 0.0;
  else if (V <= 0.0)
    fv = (V + 1.0) * (V + 1.0);
  else if (V <= y)
    fv = p[FVMAX] - (y - V) * (y - V) / fx_max(1e-15, y);
  else
    fv = p[FVMAX];
  return -peak_force(a, p) * bump(L, p[LMIN], p[LMAX]) * fv;
}

double fx_muscle_bias(const fx_tree_actuator *a, double length) {
  const double *p = a->bias;
  double L = scaled_length(a, p, length), right = 0.5 * (1.0 + p[LMAX]), force = peak_force(a, p), x;
  if (L <= 1.0) return 0.0;
  if (L <= right) {
    x = (L - 1.0) / fx_max(1e-15, right - 1.0);
    return -force * p[FPMAX] * 0.5 * x * x;
  }
  x = (L - right) / fx_max(1e-15, right - 1.0);
  return -force * p[FPMAX] * (0.5 + x);
}

/* Between 0 and 1 with slope 0 at both. */
static double smooth_step(double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  return x * x * x * (x * (6.0 * x - 15.0) + 10.0);
}

/* Activation follows control with time constants that depend on activation (Millard et al. 2013). */
double fx_muscle_rate(double control, double activation, const double *p) {
  double wanted = fx_clamp(control, 0.0, 1.0), now = fx_clamp(activation, 0.0, 1.0);
  double rise = p[0] * (0.5 + 1.5 * now), fall = p[1] / (0.5 + 1.5 * now), way = wanted - activation, time;
  if (p[2] < 1e-15)
    time = way > 0.0 ? rise : fall;
  else
    time = fall + (rise - fall) * smooth_step(way / p[2] + 0.5);
  return way / fx_max(1e-15, time);
}
