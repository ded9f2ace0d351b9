/* auto: the default. Methods in turn, each from the start with a growing number of restarts, until one is certified. */
#include "mcp/mcp_internal.h"

typedef struct stage {
  const fx_mcp_method *method;
  double restarts;
} stage;

static const stage stages[] = {
    {&fx_mcp_semismooth, 0},  {&fx_mcp_box_trust_region, 0},  {&fx_mcp_lemke, 0},
    {&fx_mcp_semismooth, 40}, {&fx_mcp_box_trust_region, 40},
};

enum { STAGES = sizeof stages / sizeof *stages };

static int32_t row_of(const fx_mcp_method *method) {
  int32_t row = 0;
  while (fx_mcp_method_at(row) != method) row++;
  return row;
}

static frix_status solve(fx_mcp_call *call) {
  frix_status status = FRIX_OK;
  fx_mcp_monitor *monitor = call->monitor;
  double best = monitor->best;
  for (int32_t k = 0; k < STAGES && status == FRIX_OK && !monitor->finished; k++) {
    const fx_mcp_method *method = stages[k].method;
    if (!method->info.matrix_free && !call->mcp->data.jacobian) continue;
    if (method->info.linear_only && !call->mcp->data.linear) continue;
    double option[FX_MCP_MAX_OPTIONS];
    for (int32_t o = 0; o < FX_MCP_MAX_OPTIONS; o++) option[o] = call->options[row_of(method)][o];
    if (method != &fx_mcp_lemke) option[0] = stages[k].restarts; /* restarts stand first */
    fx_arena arena;                                              /* every stage returns its workspace */
    fx_arena_init(&arena, call->arena->context);
    fx_mcp_call inner = *call;
    inner.option = option;
    inner.arena = &arena;
    status = method->solve(&inner);
    fx_arena_free(&arena);
    if (monitor->best < best) {
      best = monitor->best;
      monitor->result->finisher = method->info.name;
    }
  }
  return status;
}

const fx_mcp_method fx_mcp_auto = {
    .info = {.name = "auto", .summary = "the default: the methods in turn until one is certified", .matrix_free = true},
    .solve = solve,
};
