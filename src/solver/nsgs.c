/* nsgs: block Gauss-Seidel with an exact solve of one contact at a time; the formula is in exact_sweep.h. */
#include "solver/exact_sweep.h"
#include "solver/solver.h"

#include <string.h>

static const frix_option_info options[] = {
    [FX_SWEEP_RELAXATION] = {"relaxation", FRIX_OPTION_REAL, 1, 0.05, 1.95, NULL,
                             "r := (1 - x) old + x new, projected on the cone"},
    [FX_SWEEP_SYMMETRIC] = {"symmetric", FRIX_OPTION_BOOLEAN, 0, 0, 1, NULL, "sweep forward and backward in turn"},
};

static void sweep(fx_exact_sweep *t, fx_one_contact *one, bool backward) {
  t->change = t->size = 0;
  int32_t n = t->s->contact_count;
  if (backward)
    for (int32_t i = n - 1; i >= 0; i--) fx_exact_sweep_visit(t, i, &one[i]);
  else
    for (int32_t i = 0; i < n; i++) fx_exact_sweep_visit(t, i, &one[i]);
}

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  fx_exact_sweep t = {.s = s, .r = call->r, .relaxation = call->option[FX_SWEEP_RELAXATION]};
  fx_one_contact *one = FX_TAKE_RAW(call->arena, fx_one_contact, s->contact_count);
  t.v = FX_TAKE_RAW(call->arena, double, s->dof_count);
  if (!one || !t.v) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    frix_status status = fx_one_contact_prepare(call->arena, &s->contact[i], s->D + s->diagonal[i], &one[i]);
    if (status != FRIX_OK) return status;
  }
  frix_status status = FRIX_OK;
  if (call->packed)
    fx_exact_sweep_share(call->packed, &t);
  else if (s->has_W)
    status = fx_exact_sweep_pack(call->arena, &t);
  if (status != FRIX_OK) return status;
  if (s->has_velocity) fx_system_motion(s, t.r, t.v);

  fx_monitor_begin(call->monitor, 100000);
  for (int64_t k = 1;; k++) {
    sweep(&t, one, call->option[FX_SWEEP_SYMMETRIC] != 0 && k % 2 == 0);
    double step = sqrt(t.change / (t.size > 0 ? t.size : 1));
    if (!fx_monitor_due(call->monitor, k, step)) continue;
    if (fx_monitor_check(call->monitor, k, t.r)) return FRIX_OK;
    if (s->has_velocity) memcpy(t.v, call->monitor->v, (size_t)s->dof_count * sizeof *t.v); /* no drift by round-off */
  }
}

const fx_solver fx_solver_nsgs = {
    .info = {.name = "nsgs",
             .summary = "block Gauss-Seidel, each contact solved exactly in turn",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
