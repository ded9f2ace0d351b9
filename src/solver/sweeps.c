/* experimental */
#include "base/threads.h"
#include "solver/sweeps_mix.h"
#include "solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTUM, DEPTH, ROUND };

static const frix_option_info options[] = {
    {"momentum", FRIX_OPTION_REAL, 0.8, 0, 0.99, NULL, "largest momentum"},
    {"depth", FRIX_OPTION_INTEGER, 0, 0, FX_MIX_MOST, NULL, "rounds mixed"},
    {"round", FRIX_OPTION_INTEGER, 10, 1, 1000, NULL, "sweeps of a round"},
};

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  if (!fx_pile_fits(s)) return fx_fail(call->arena->context, FRIX_ERROR_UNSUPPORTED, "no pile");
  fx_pile pile;
  double tol = call->monitor->limits->tolerance;
  bool full = false, later = tol < 2e-6;
  double t0 = fx_seconds();
  frix_status status = fx_pile_build(call->arena, s, later, &pile);
  if (status != FRIX_OK) return status;
  double t1 = fx_seconds();
  int depth = (int)call->option[DEPTH], round = (int)call->option[ROUND];
  double cap = call->option[MOMENTUM];
  fx_mix mix, mix_full;
  fx_mix_init(call->arena, &pile, false, depth, &mix);
  if (later) fx_mix_init(call->arena, &pile, true, depth, &mix_full);
  fx_mix *m = &mix;
  fx_pile_load(&pile, false, call->r);
  fx_sweep_target target = fx_sweep_best_target();
  fx_sweep_refresh(&pile, false, target);
  fx_monitor_begin(call->monitor, 100000);
  double theta = 1, best_round = INFINITY, mark = INFINITY, last_f = INFINITY, estimate = 0.45;
  int64_t rounds_since = 0, off_until = 0, off_length = 10;
  double sweeping = 0;
  bool mixed = false;
  int64_t single_count = 0;
  for (int64_t k = 1, rounds = 0;;) {
    double target_step = (full || !later ? tol : fmax(tol, 3e-6)) / estimate;
    if (depth) { fx_mix_begin(m, &pile, full); theta = 1; }
    fx_sweep_sums sums = {0};
    double beta = 0;
    double ts = fx_seconds();
    bool end = false;
    for (int e = 0; e < round; e++, k++) {
      bool last = depth && e == round - 1;
      sums = fx_sweep(&pile, full, target, last ? 0 : beta);
      double step = sqrt(sums.step / (sums.size > 0 ? sums.size : 1));
      double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta));
      beta = fmin(cap, (theta - 1) / next);
      theta = next;
      if (sums.uphill > 0) { theta = 1; beta = 0; }
      if (step <= target_step || k >= call->monitor->stage_limit) { end = true; k++; break; }
    }
    sweeping += fx_seconds() - ts;
    if (!full) single_count = k - 1;
    rounds++;
    if (end) {
      if (!full && later) {
        fx_pile_store(&pile, false, call->r);
        fx_pile_pack_full(&pile);
        fx_pile_load(&pile, true, call->r);
        fx_sweep_refresh(&pile, true, target);
        full = true;
        m = &mix_full;
        theta = 1;
        mixed = false; last_f = INFINITY;
        continue;
      }
      fx_pile_store(&pile, full, call->r);
      bool stop = fx_monitor_check(call->monitor, k - 1, call->r);
      double step = sqrt(sums.step / sums.size);
      if (getenv("PILE_VERBOSE")) fprintf(stderr, "  check %lld step %.2e residual %.2e ratio %.2f\n", (long long)k - 1, step, call->monitor->residual, call->monitor->residual / step);
      if (stop) break;
      estimate = fmin(3, fmax(estimate * 1.2, 1.1 * call->monitor->residual / step));
      if (!full && call->monitor->residual < 1e-6) {}
    }
    if (depth) {
      double f = fx_mix_end(m, &pile, full);
      if (mixed && f > 4 * last_f) {
        /* mixing failed: go back */
        m->newest = (m->newest + m->depth - 1) % m->depth;
        fx_mix_revert(m, &pile, full);
        fx_mix_forget(m);
        mixed = false;
        fx_sweep_refresh(&pile, full, target);
        continue;
      }
      last_f = f;
      if (f < best_round) best_round = f;
      if (best_round < 0.25 * mark) { mark = best_round; rounds_since = 0; }
      else if (++rounds_since >= 20 && rounds >= off_until) { off_until = rounds + off_length; off_length *= 2; rounds_since = 0; fx_mix_forget(m); }
      mixed = false;
      if (rounds >= off_until && m->count > 1) { fx_mix_apply(m, &pile, full); mixed = true; }
      fx_sweep_refresh(&pile, full, target);
    } else if (rounds % 8 == 0) fx_sweep_refresh(&pile, full, target);
  }
  double t2 = fx_seconds();
  int64_t it = call->monitor->iteration;
  fx_log(call->arena->context, FRIX_LOG_INFO, "sweeps: %d contacts, %d batches, fill %.3f, round %d: %lld single %lld full, build %.0f us, run %.0f us, sweeping %.2f ns per contact and sweep",
    s->contact_count, pile.batch_count, s->contact_count / (8.0 * pile.batch_count), pile.round, (long long)single_count, (long long)(it - single_count), 1e6 * (t1 - t0), 1e6 * (t2 - t1), 1e9 * sweeping / s->contact_count / (double)it);
  return FRIX_OK;
}

const fx_solver fx_solver_sweeps = {
    .info = {.name = "sweeps",
             .summary = "vectorised block Gauss-Seidel with momentum for large piles",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .solve = solve,
};
