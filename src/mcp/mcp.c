/* Mixed complementarity problems: creation, evaluation, and the certificate
 *
 *   residual  = max_i | x_i - mid(l_i, h_i, x_i - F_i(x)) |
 *   objective = 1/2 ( |f - z|^2 + |g|^2 + (u'z)^2 ),   z = max(f, 0)
 *
 * Reference: R. Andreani, A. Friedlander, M. Mello, S. Santos, Multi-rigid-body contact problems with Coulomb friction:
 * complementarity and equivalent formulations, 2003 (objective); S. Dirkse, M. Ferris, MCPLIB, 1995 (the problem). */
#include "base/abi.h"
#include "mcp/mcp_internal.h"

#include <math.h>
#include <string.h>

static frix_mcp_data default_mcp_data(void) {
  frix_mcp_data data = {0};
  data.size = sizeof data;
  return data;
}

void frix_mcp_data_init(frix_mcp_data *out, size_t size) {
  frix_mcp_data all = default_mcp_data();
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- creation */

static frix_status check_pattern(frix_context *context, const frix_mcp_data *data) {
  if (!data->jacobian && !data->product)
    return fx_fail(context, FRIX_ERROR_INPUT, "mcp: needs a Jacobian or products with it");
  if (!data->jacobian) return FRIX_OK;
  if (!data->column || !data->row) return fx_fail(context, FRIX_ERROR_INPUT, "mcp: the Jacobian has no pattern");
  if (data->column[0] != 0) return fx_fail(context, FRIX_ERROR_INPUT, "mcp: column[0] must be 0");
  for (int32_t j = 0; j < data->count; j++) {
    if (data->column[j + 1] < data->column[j])
      return fx_fail(context, FRIX_ERROR_INPUT, "mcp: column[%d] is less than the one before", (int)j + 1);
    int32_t last = -1;
    for (int32_t k = data->column[j]; k < data->column[j + 1]; k++) {
      if (data->row[k] <= last || data->row[k] >= data->count)
        return fx_fail(context, FRIX_ERROR_INPUT, "mcp: rows of column %d are not ascending within 0..%d", (int)j,
                       (int)data->count - 1);
      last = data->row[k];
    }
  }
  return FRIX_OK;
}

static frix_status check_values(frix_context *context, const frix_mcp_data *data) {
  for (int32_t i = 0; i < data->count; i++) {
    double low = data->lower ? data->lower[i] : 0, high = data->upper ? data->upper[i] : INFINITY;
    if (!(low <= high) || low == INFINITY || high == -INFINITY)
      return fx_fail(context, FRIX_ERROR_INPUT, "mcp: unknown %d has the bounds %g and %g", (int)i, low, high);
  }
  for (int64_t k = 0; k < (int64_t)data->start_count * data->count; k++)
    if (!isfinite(data->start[k])) return fx_fail(context, FRIX_ERROR_INPUT, "mcp: a start is not finite");
  return FRIX_OK;
}

static frix_status check(frix_context *context, const frix_mcp_data *data) {
  if (data->size != sizeof *data)
    return fx_fail(context, FRIX_ERROR_INPUT, "mcp data does not come from frix_mcp_data_default()");
  if (data->count < 0 || data->start_count < 0 || data->solution_count < 0)
    return fx_fail(context, FRIX_ERROR_INPUT, "mcp: a count is negative");
  if (!data->function) return fx_fail(context, FRIX_ERROR_INPUT, "mcp: no function");
  if ((data->start_count && !data->start) || (data->solution_count && !data->solution))
    return fx_fail(context, FRIX_ERROR_INPUT, "mcp: starts or solutions are missing");
  frix_status status = check_pattern(context, data);
  return status ? status : check_values(context, data);
}

static const void *keep(fx_arena *arena, const void *from, int64_t count, size_t size) {
  void *to = fx_arena_take(arena, (size_t)count, size);
  if (to && count) memcpy(to, from, (size_t)count * size);
  return to;
}

static frix_status copy_arrays(frix_mcp *mcp) {
  frix_mcp_data *data = &mcp->data;
  fx_arena *arena = &mcp->arena;
  int64_t n = data->count;
  double *lower = FX_TAKE(arena, double, n), *upper = FX_TAKE(arena, double, n);
  if (!lower || !upper) return FRIX_ERROR_MEMORY;
  for (int64_t i = 0; i < n; i++) {
    lower[i] = data->lower ? data->lower[i] : 0;
    upper[i] = data->upper ? data->upper[i] : INFINITY;
  }
  data->lower = lower;
  data->upper = upper;
  const char *name = data->name ? data->name : "";
  data->name = keep(arena, name, (int64_t)strlen(name) + 1, 1);
  data->start = keep(arena, data->start, data->start_count * n, sizeof(double));
  data->solution = keep(arena, data->solution, data->solution_count * n, sizeof(double));
  if (data->jacobian) {
    mcp->entry_count = data->column[n];
    data->column = keep(arena, data->column, n + 1, sizeof(int32_t));
    data->row = keep(arena, data->row, mcp->entry_count, sizeof(int32_t));
    if (!data->column || !data->row) return FRIX_ERROR_MEMORY;
  }
  return data->name && data->start && data->solution ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status frix_mcp_create(frix_context *context, const frix_mcp_data *data, frix_mcp **out) {
  if (!context || !data || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_mcp_data, data, frix_mcp_data_default());
  frix_status status = check(context, data);
  frix_mcp *mcp = status ? NULL : FX_NEW(context, frix_mcp, 1);
  if (!mcp) {
    if (data->size == sizeof *data && data->release) data->release(data->user);
    return status ? status : FRIX_ERROR_MEMORY;
  }
  mcp->context = context;
  mcp->data = *data;
  fx_arena_init(&mcp->arena, context);
  status = copy_arrays(mcp);
  if (status == FRIX_OK)
    *out = mcp;
  else
    frix_mcp_destroy(mcp);
  return status;
}

void frix_mcp_destroy(frix_mcp *mcp) {
  if (!mcp) return;
  if (mcp->data.release) mcp->data.release(mcp->data.user);
  fx_arena_free(&mcp->arena);
  fx_free(mcp->context, mcp);
}

void frix_mcp_view_sized(const frix_mcp *mcp, frix_mcp_data *out, size_t size) {
  frix_mcp_data all = mcp ? mcp->data : frix_mcp_data_default();
  fx_give_struct(out, size, &all, sizeof all);
}

bool frix_mcp_start(const frix_mcp *mcp, int32_t k, double *x) {
  if (!mcp || !x) return false;
  const frix_mcp_data *data = &mcp->data;
  if (k < 0 || k >= (data->start_count ? data->start_count : 1)) return false;
  for (int32_t i = 0; i < data->count; i++) x[i] = data->start_count ? data->start[(int64_t)k * data->count + i] : 0;
  fx_mcp_project(mcp, x);
  return true;
}

double frix_mcp_distance(const frix_mcp *mcp, const double *x, int32_t *which) {
  if (!mcp || !x) return NAN;
  const frix_mcp_data *data = &mcp->data;
  double nearest = NAN;
  for (int32_t k = 0; k < data->solution_count; k++) {
    double largest = 0;
    for (int32_t i = 0; i < data->count; i++) {
      double known = data->solution[(int64_t)k * data->count + i];
      if (isnan(known)) continue;
      double difference = fabs(x[i] - known);
      if (!(difference <= largest)) largest = difference;
    }
    if (!(nearest <= largest)) {
      nearest = largest;
      if (which) *which = k;
    }
  }
  return nearest;
}

/* ---- evaluation */

static bool all_finite(const double *x, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += x[k] - x[k];
  return sum == 0;
}

bool fx_mcp_function(fx_mcp_monitor *monitor, const double *x, double *F) {
  const frix_mcp_data *data = &monitor->mcp->data;
  monitor->result->evaluations++;
  return data->function(x, F, data->user) && all_finite(F, data->count);
}

bool fx_mcp_jacobian(fx_mcp_monitor *monitor, const double *x, double *value) {
  const frix_mcp_data *data = &monitor->mcp->data;
  if (!data->jacobian) return true;
  return data->jacobian(x, value, data->user) && all_finite(value, monitor->mcp->entry_count);
}

bool fx_mcp_product(fx_mcp_monitor *monitor, const double *x, const double *value, const double *d, bool transposed,
                    double *out) {
  const frix_mcp_data *data = &monitor->mcp->data;
  monitor->result->products++;
  if (!data->jacobian) return data->product(x, d, transposed, out, data->user) && all_finite(out, data->count);
  if (!transposed) memset(out, 0, (size_t)data->count * sizeof *out);
  for (int32_t j = 0; j < data->count; j++) {
    double sum = 0;
    for (int32_t k = data->column[j]; k < data->column[j + 1]; k++) {
      if (transposed)
        sum += value[k] * d[data->row[k]];
      else
        out[data->row[k]] += value[k] * d[j];
    }
    if (transposed) out[j] = sum;
  }
  return true;
}

double fx_mcp_natural(const frix_mcp *mcp, const double *x, const double *F, int32_t i) {
  double step = x[i] - F[i], low = mcp->data.lower[i], high = mcp->data.upper[i];
  /* between the bounds the map is F itself, without the rounding of x - (x - F) */
  if (step >= low && step <= high) return F[i];
  return x[i] - (step < low ? low : high);
}

double fx_mcp_residual(const frix_mcp *mcp, const double *x, const double *F) {
  double largest = 0;
  for (int32_t i = 0; i < mcp->data.count; i++) {
    double size = fabs(fx_mcp_natural(mcp, x, F, i));
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

void fx_mcp_project(const frix_mcp *mcp, double *x) {
  for (int32_t i = 0; i < mcp->data.count; i++) {
    if (x[i] < mcp->data.lower[i]) x[i] = mcp->data.lower[i];
    if (x[i] > mcp->data.upper[i]) x[i] = mcp->data.upper[i];
  }
}

/* ---- certificate */

static void judge(const frix_mcp *mcp, const double *x, const double *F, frix_mcp_certificate *c) {
  double squares = 0, product = 0;
  for (int32_t i = 0; i < mcp->data.count; i++) {
    double low = mcp->data.lower[i], high = mcp->data.upper[i], size = fabs(fx_mcp_natural(mcp, x, F, i));
    if (!(size <= c->residual) || c->worst < 0) {
      c->residual = size;
      c->worst = i;
    }
    double outside = x[i] < low ? low - x[i] : x[i] > high ? x[i] - high : 0;
    if (outside > c->infeasibility) c->infeasibility = outside;
    /* F = z_low - z_high with both slacks as small as the signs allow */
    double z_low = F[i] > 0 && low > -INFINITY ? F[i] : 0, z_high = F[i] < 0 && high < INFINITY ? -F[i] : 0;
    double miss = F[i] - z_low + z_high;
    squares += miss * miss + outside * outside;
    if (z_low > 0 && x[i] > low) product += (x[i] - low) * z_low;
    if (z_high > 0 && x[i] < high) product += (high - x[i]) * z_high;
  }
  c->complementarity = product;
  c->objective = 0.5 * (squares + product * product);
}

frix_status frix_mcp_certify(frix_context *context, const frix_mcp *mcp, const double *x, frix_mcp_certificate *out) {
  if (!context || !mcp || !x || !out) return FRIX_ERROR_INPUT;
  *out = (frix_mcp_certificate){.worst = -1};
  double *F = FX_NEW(context, double, mcp->data.count);
  if (!F) return FRIX_ERROR_MEMORY;
  if (mcp->data.function(x, F, mcp->data.user) && all_finite(F, mcp->data.count)) {
    judge(mcp, x, F, out);
  } else {
    out->residual = out->objective = INFINITY;
    out->worst = 0;
  }
  fx_free(context, F);
  return FRIX_OK;
}
