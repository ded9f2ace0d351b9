/* The monitor: what a running method is told about its own progress, and when to stop.
 *
 * A method hands over its iterate; the monitor recomputes u, takes the certificate's residual, keeps the best iterate
 * and watches tolerance, iterations, deadline, cancellation and standstill. A method never judges itself. */
#ifndef FX_SOLVER_MONITOR_H
#define FX_SOLVER_MONITOR_H

#include "problem/certificate.h"

/* What the caller of the whole solve wants watched; shared by all islands. */
typedef struct fx_limits {
  double tolerance;
  int64_t max_iterations; /* 0: the method's own */
  double start, deadline; /* fx_seconds; deadline 0: none */
  bool hurried;           /* the deadline is near, measured by what it took to read the problem */
  double grace;           /* seconds after the deadline that the first ten iterations may still take */
  bool (*cancel)(void *user);
  void (*progress)(int64_t iteration, double residual, double seconds, void *user);
  void *user;
  bool rows_later; /* single contacts are judged by who asked, where the whole is good */
} fx_limits;

enum { FX_HISTORY_ROWS = 2048 };

typedef struct fx_monitor {
  const fx_system *system;
  const fx_limits *limits;
  frix_law law;
  /* Iterations: of the current method, of all before it, and where the current method must stop. */
  int64_t iteration, before, stage_limit;
  double residual, best; /* of the last and of the best iterate */
  double *best_r, *u, *v;
  fx_row_scales scales;
  int32_t *last; /* workspace for the start: over movers */
  frix_outcome outcome;
  bool finished; /* solved, out of time, or cancelled: no other method need try */
  int64_t next_check, mark_iteration;
  bool exact;      /* the method says that its answer is exact but for rounding */
  bool wanders;    /* the method may lead away from its best answer for long, and come to a better one */
  bool rare;       /* a check now and then is all that time allows */
  double row;      /* error of single contacts at the last check, 0 where they were not judged */
  double best_row; /* least error of single contacts where the whole was good */
  double mark_best, mark_row;
  /* Under a deadline: what one check costs, what an iteration of the current method costs, and since when. */
  double check_cost, pace, pace_time;
  int64_t pace_iteration;
  double least, most, last_time; /* the shortest and the longest iteration seen, and when the last one ended */
  int64_t last_iteration;
  int64_t look;          /* iteration at which the clock is read next: to read it costs as much as some contacts */
  double velocity_error; /* of the best iterate, estimated by the method: relative, in the norm of the kinetic energy;
                            0: no estimate */
  /* Residual history: thinned by two whenever it is full, so that it never allocates while a method runs. */
  frix_history_row *history;
  int32_t history_count;
  int64_t history_stride, history_skipped;
} fx_monitor;

frix_status fx_monitor_init(fx_monitor *monitor, fx_arena *arena, const fx_system *system, frix_law law,
                            const fx_limits *limits, bool history);

/* A method begins: its own iteration limit unless the caller gave one. */
void fx_monitor_begin(fx_monitor *monitor, int64_t default_limit);

/* Is a check worth its cost after this many iterations? Often at first, then every eighth part of the way; always when
 * the method's own step (relative to |r|) says it may be done, or when the time does not allow another iteration. */
bool fx_monitor_due(fx_monitor *monitor, int64_t iteration, double step);

/* Whether something that takes so many seconds, and a check after it, ends before the deadline. */
bool fx_monitor_time_for(const fx_monitor *monitor, double seconds);

/* The rank of an answer of this residual (within the tolerance) whose single contacts err by `row`: where only these
 * fail, between the tolerance and twice that, so better than whatever the residual already rejects. */
double fx_rank_of_rows(double residual, double row, double tolerance);

/* The iteration that is due after a check at this one. */
static inline int64_t fx_monitor_next(int64_t iteration) {
  return iteration + 1 + (iteration < 16 ? iteration / 2 : iteration / 8);
}

/* Judges r after `iteration` iterations of the current method; true: stop. u and v of the monitor then belong to r. */
bool fx_monitor_check(fx_monitor *monitor, int64_t iteration, const double *r);

/* Judges the start of a large system, without a deadline. Where it is far from the tolerance its first contacts show
 * that, and its residual stays unknown: `best` is then that of others, and fx_monitor_compare has the last word. */
bool fx_monitor_check_start(fx_monitor *monitor, const double *r);

/* Judges r beside the best so far, and decides nothing. */
void fx_monitor_compare(fx_monitor *monitor, const double *r);

/* Judges r = 0, before any method; short of the tolerance it does not count as an answer. */
bool fx_monitor_check_nothing(fx_monitor *monitor);

#endif
