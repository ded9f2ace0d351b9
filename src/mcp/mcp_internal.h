/* Mixed complementarity problems: the problem as methods see it, the monitor that watches them, and their table. */
#ifndef FX_MCP_MCP_H
#define FX_MCP_MCP_H

#include "base/arena.h"

#include <frix/mcp.h>

struct frix_mcp {
  frix_context *context;
  fx_arena arena;
  frix_mcp_data data;  /* arrays live in the arena; lower and upper are always there */
  int32_t entry_count; /* stored entries of the Jacobian, 0 without a matrix */
};

enum { FX_MCP_MAX_OPTIONS = 8 };

/* What a running method is told about its own progress, and when to stop. It never judges itself. */
typedef struct fx_mcp_monitor {
  const frix_mcp *mcp;
  const frix_mcp_config *config;
  double deadline;                /* fx_seconds; 0: none */
  int64_t iteration, stage_limit; /* of the current method */
  double best;                    /* residual of best_x */
  double *best_x;
  frix_outcome outcome;
  bool finished;           /* solved, out of time or cancelled: no other method need try */
  frix_mcp_result *result; /* counters */
} fx_mcp_monitor;

typedef struct fx_mcp_call {
  const frix_mcp *mcp;
  const double *option;                        /* values of the method's own rows */
  const double (*options)[FX_MCP_MAX_OPTIONS]; /* all values, for methods made of methods */
  fx_arena *arena;
  fx_mcp_monitor *monitor;
  double *x; /* start, within the bounds; the monitor keeps the best */
} fx_mcp_call;

typedef struct fx_mcp_method {
  frix_mcp_method_info info;
  frix_status (*solve)(fx_mcp_call *call);
} fx_mcp_method;

extern const fx_mcp_method fx_mcp_auto, fx_mcp_box_trust_region, fx_mcp_semismooth, fx_mcp_lemke;

/* Row k of the method table, NULL past its end. */
const fx_mcp_method *fx_mcp_method_at(int32_t k);

/* F(x); false where it is undefined or not finite. */
bool fx_mcp_function(fx_mcp_monitor *monitor, const double *x, double *F);
/* Entries of the Jacobian, or products with it; false as above. */
bool fx_mcp_jacobian(fx_mcp_monitor *monitor, const double *x, double *value);
bool fx_mcp_product(fx_mcp_monitor *monitor, const double *x, const double *value, const double *d, bool transposed,
                    double *out);

/* x_i - mid(l_i, h_i, x_i - F_i) */
double fx_mcp_natural(const frix_mcp *mcp, const double *x, const double *F, int32_t i);
double fx_mcp_residual(const frix_mcp *mcp, const double *x, const double *F);
/* Nearest point of the box. */
void fx_mcp_project(const frix_mcp *mcp, double *x);

/* A method begins: its own iteration limit unless the caller gave one. */
void fx_mcp_begin(fx_mcp_monitor *monitor, int64_t default_limit);
/* Takes note of x with F(x) after one more iteration; true: stop. */
bool fx_mcp_check(fx_mcp_monitor *monitor, const double *x, const double *F);
/* Whether time is up; the outcome is then set. For methods with long iterations. */
bool fx_mcp_expired(fx_mcp_monitor *monitor);
/* The method gives up by itself. */
void fx_mcp_stall(fx_mcp_monitor *monitor);

/* A reproducible restart: x = P(start + spread_k (1 + |start|) w), w in (-1, 1), spread growing with k = 1, 2, ... */
void fx_mcp_restart_point(const frix_mcp *mcp, const double *start, int32_t k, double *x);

/* splitmix64, as a number in [-1, 1). */
static inline double fx_mcp_random(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return 2 * ((double)(z >> 11) * 0x1p-53) - 1;
}

#endif
