/* The method table, option values, the monitor, and the driver that lets the certificate judge. */
#include "base/abi.h"
#include "base/option.h"
#include "base/threads.h"
#include "mcp/mcp_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const fx_mcp_method *const table[] = {
    &fx_mcp_auto,
    &fx_mcp_semismooth,
    &fx_mcp_box_trust_region,
    &fx_mcp_lemke,
};

enum { METHOD_COUNT = sizeof table / sizeof *table };

const fx_mcp_method *fx_mcp_method_at(int32_t k) { return k >= 0 && k < METHOD_COUNT ? table[k] : NULL; }

const frix_mcp_method_info *frix_mcp_method_table(int32_t k) {
  return k >= 0 && k < METHOD_COUNT ? &table[k]->info : NULL;
}

static frix_mcp_config default_mcp(void) {
  frix_mcp_config config = {0};
  config.size = sizeof config;
  config.method = "auto";
  config.tolerance = 1e-8;
  return config;
}

void frix_mcp_init(frix_mcp_config *out, size_t size) {
  frix_mcp_config all = default_mcp();
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- names and options */

static frix_status find_method(frix_context *context, const char *name, int32_t *out) {
  int32_t nearest = 0;
  for (int32_t k = 0; k < METHOD_COUNT; k++) {
    *out = k;
    if (strcmp(table[k]->info.name, name) == 0) return FRIX_OK;
    if (fx_text_distance(name, table[k]->info.name) < fx_text_distance(name, table[nearest]->info.name)) nearest = k;
  }
  return fx_fail(context, FRIX_ERROR_INPUT, "unknown method '%s'; did you mean '%s'?", name, table[nearest]->info.name);
}

static frix_status set_option(frix_context *context, const frix_mcp_setting *setting,
                              double value[METHOD_COUNT][FX_MCP_MAX_OPTIONS]) {
  char full[64], nearest[64] = "";
  int best = 1000;
  if (!setting->name || !setting->value) return fx_fail(context, FRIX_ERROR_INPUT, "mcp: a setting without a name");
  for (int32_t k = 0; k < METHOD_COUNT; k++)
    for (int32_t o = 0; o < table[k]->info.option_count; o++) {
      const frix_option_info *row = &table[k]->info.option[o];
      snprintf(full, sizeof full, "%s.%s", table[k]->info.name, row->name);
      if (strcmp(full, setting->name) == 0) return fx_option_parse(context, row, full, setting->value, &value[k][o]);
      int distance = fx_text_distance(setting->name, full);
      if (distance < best) {
        best = distance;
        memcpy(nearest, full, sizeof full);
      }
    }
  return fx_fail(context, FRIX_ERROR_INPUT, "unknown option '%s'; did you mean '%s'?", setting->name, nearest);
}

static frix_status read_options(frix_context *context, const frix_mcp_config *config,
                                double value[METHOD_COUNT][FX_MCP_MAX_OPTIONS]) {
  for (int32_t k = 0; k < METHOD_COUNT; k++)
    for (int32_t o = 0; o < table[k]->info.option_count; o++) value[k][o] = table[k]->info.option[o].initial;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < config->setting_count && status == FRIX_OK; k++)
    status = set_option(context, &config->setting[k], value);
  return status;
}

/* ---- monitor */

void fx_mcp_begin(fx_mcp_monitor *m, int64_t default_limit) {
  m->iteration = 0;
  m->stage_limit = m->config->max_iterations > 0 ? m->config->max_iterations : default_limit;
}

bool fx_mcp_check(fx_mcp_monitor *m, const double *x, const double *F) {
  double residual = fx_mcp_residual(m->mcp, x, F);
  if (m->iteration++) m->result->iterations++; /* the start is no iteration */
  if (residual < m->best) {
    m->best = residual;
    memcpy(m->best_x, x, (size_t)m->mcp->data.count * sizeof *x);
  }
  bool cancelled =
      m->config->cancel && m->config->cancel(m->result->iterations, residual, x, m->config->user); /* sees them all */
  m->finished = true;
  if (m->best <= m->config->tolerance) {
    m->outcome = FRIX_OUTCOME_SOLVED;
  } else if (cancelled) {
    m->outcome = FRIX_OUTCOME_CANCELLED;
  } else if (!fx_mcp_expired(m)) {
    m->finished = false;
    m->outcome = FRIX_OUTCOME_MAX_ITERATIONS;
    return m->iteration > m->stage_limit;
  }
  return true;
}

bool fx_mcp_expired(fx_mcp_monitor *m) {
  if (!(m->deadline > 0) || fx_seconds() < m->deadline) return false;
  m->outcome = FRIX_OUTCOME_TIME_LIMIT;
  m->finished = true;
  return true;
}

void fx_mcp_stall(fx_mcp_monitor *m) {
  if (!m->finished) m->outcome = FRIX_OUTCOME_STALLED;
}

void fx_mcp_restart_point(const frix_mcp *mcp, const double *start, int32_t k, double *x) {
  uint64_t state = (uint64_t)k;
  double spread = 0.1;
  for (int32_t e = 1; e < k && e < 10; e++) spread *= 2;
  if (k >= 10) spread *= 1.0 / (double)(1 << (k % 8)); /* once wide, all widths in turn */
  for (int32_t i = 0; i < mcp->data.count; i++) x[i] = start[i] + spread * (1 + fabs(start[i])) * fx_mcp_random(&state);
  fx_mcp_project(mcp, x);
}

/* ---- driver */

static frix_status check_request(frix_context *context, const frix_mcp *mcp, const frix_mcp_config *config,
                                 const frix_mcp_method_info *method, const double *x) {
  if (!(config->tolerance > 0) || !(config->tolerance < INFINITY))
    return fx_fail(context, FRIX_ERROR_INPUT, "tolerance must be a positive number");
  if (!(config->time_limit >= 0) || config->max_iterations < 0)
    return fx_fail(context, FRIX_ERROR_INPUT, "time_limit and max_iterations must not be negative");
  if (method->linear_only && !mcp->data.linear)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "method %s solves linear problems only", method->name);
  if (!method->matrix_free && !mcp->data.jacobian)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "method %s needs the Jacobian as a matrix", method->name);
  for (int32_t i = 0; i < mcp->data.count; i++)
    if (!isfinite(x[i])) return fx_fail(context, FRIX_ERROR_INPUT, "start[%d] is not a finite number", (int)i);
  return FRIX_OK;
}

static frix_status run(frix_context *context, const frix_mcp *mcp, const frix_mcp_config *config, int32_t row,
                       double *x, frix_mcp_result *result) {
  double option[METHOD_COUNT][FX_MCP_MAX_OPTIONS] = {{0}}, start = fx_seconds();
  frix_status status = read_options(context, config, option);
  if (status) return status;
  fx_arena arena;
  fx_arena_init(&arena, context);
  size_t bytes = (size_t)mcp->data.count * sizeof *x;
  fx_mcp_monitor monitor = {.mcp = mcp,
                            .config = config,
                            .deadline = config->time_limit > 0 ? start + config->time_limit : 0,
                            .best = INFINITY,
                            .best_x = FX_TAKE(&arena, double, mcp->data.count),
                            .outcome = FRIX_OUTCOME_STALLED,
                            .result = result};
  fx_mcp_call call = {.mcp = mcp,
                      .option = option[row],
                      .options = (const double(*)[FX_MCP_MAX_OPTIONS])option,
                      .arena = &arena,
                      .monitor = &monitor,
                      .x = FX_TAKE(&arena, double, mcp->data.count)};
  result->method = result->finisher = table[row]->info.name;
  if (!monitor.best_x || !call.x) {
    status = FRIX_ERROR_MEMORY;
  } else {
    memcpy(call.x, x, bytes);
    fx_mcp_project(mcp, call.x);
    memcpy(monitor.best_x, call.x, bytes);
    status = table[row]->solve(&call);
    memcpy(x, monitor.best_x, bytes);
  }
  result->outcome = monitor.outcome;
  fx_arena_free(&arena);
  if (status == FRIX_OK) status = frix_mcp_certify(context, mcp, x, &result->certificate);
  bool good = status == FRIX_OK && result->certificate.residual <= config->tolerance;
  if (good)
    result->outcome = FRIX_OUTCOME_SOLVED;
  else if (result->outcome == FRIX_OUTCOME_SOLVED)
    result->outcome = FRIX_OUTCOME_STALLED;
  result->seconds = fx_seconds() - start;
  return status;
}

frix_status frix_mcp_solve(frix_context *context, const frix_mcp *mcp, const frix_mcp_config *config, double *x,
                           frix_mcp_result *out) {
  if (!context || !mcp || !x || !out) return FRIX_ERROR_INPUT;
  *out = (frix_mcp_result){0};
  frix_mcp_config chosen = frix_mcp_default();
  FX_WHOLE(frix_mcp_config, config, frix_mcp_default());
  if (config && config->size != sizeof chosen)
    return fx_fail(context, FRIX_ERROR_INPUT, "mcp config does not come from frix_mcp_default()");
  if (config) chosen = *config;
  int32_t row = 0;
  frix_status status = find_method(context, chosen.method ? chosen.method : "auto", &row);
  if (status == FRIX_OK) status = check_request(context, mcp, &chosen, &table[row]->info, x);
  return status ? status : run(context, mcp, &chosen, row, x, out);
}
