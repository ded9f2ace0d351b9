/* The monitor. */
#include "solver/monitor.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { RARE = 10, MANY = 40 }; /* iterations from check to check, at least, where there is no time for many checks */

frix_status fx_monitor_init(fx_monitor *m, fx_arena *arena, const fx_system *system, frix_law law,
                            const fx_limits *limits, bool history) {
  *m = (fx_monitor){.system = system, .limits = limits, .law = law, .history_stride = 1};
  m->best = m->residual = INFINITY;
  m->outcome = FRIX_OUTCOME_MAX_ITERATIONS;
  m->best_r = FX_TAKE(arena, double, system->row_count); /* zero where no residual is a number */
  m->u = FX_TAKE_RAW(arena, double, system->row_count);
  m->v = FX_TAKE(arena, double, system->dof_count);
  m->last = FX_TAKE_RAW(arena, int32_t, system->mover_count);
  if (history) m->history = FX_TAKE(arena, frix_history_row, FX_HISTORY_ROWS);
  if (fx_row_scales_take(arena, system, &m->scales) != FRIX_OK) return FRIX_ERROR_MEMORY;
  return m->best_r && m->u && m->v && m->last && (m->history || !history) ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_monitor_begin(fx_monitor *m, int64_t default_limit) {
  double now = m->limits->deadline > 0 ? fx_seconds() : 0;
  m->before += m->iteration;
  m->iteration = m->look = 0;
  m->rare = m->limits->hurried && now + MANY * m->check_cost > m->limits->deadline;
  m->next_check = m->rare ? RARE : 0;
  m->mark_iteration = 0;
  m->wanders = m->exact = false;
  m->mark_best = m->mark_row = m->best_row = INFINITY;
  m->stage_limit = m->limits->max_iterations > 0 ? m->limits->max_iterations : default_limit;
  m->pace_iteration = m->last_iteration = 0;
  m->pace = m->check_cost;
  m->least = INFINITY;
  m->most = 0;
  m->pace_time = m->last_time = now;
}

bool fx_monitor_time_for(const fx_monitor *m, double seconds) {
  return !(m->limits->deadline > 0) || fx_seconds() + seconds + m->check_cost < m->limits->deadline;
}

/* Seconds that the next iteration may take: the longest so far, since those of newton differ by half; of the first
 * ten, which are sweeps, the mean since the last check, a pause that the machine made left out. */
static void measure_pace(fx_monitor *m, int64_t iteration, double now) {
  if (iteration <= m->last_iteration) return;
  double one = (now - m->last_time) / (double)(iteration - m->last_iteration);
  m->least = fmin(m->least, one);
  m->most = fmax(m->most, one);
  m->pace = (now - m->pace_time) / (double)(iteration - m->pace_iteration);
  m->pace = m->before + iteration <= RARE ? fmin(m->pace, 2 * m->least) : fmax(m->pace, m->most);
  m->last_time = now;
  m->last_iteration = iteration;
}

/* Would the next iteration and its check end too late? */
static bool is_late(const fx_monitor *m, int64_t iteration, double now) {
  double grace = m->before + iteration < RARE ? m->limits->grace : 0;
  return now + m->pace + m->check_cost >= m->limits->deadline + grace;
}

/* Iterations until the clock must be read again: where the deadline is far, those of a hundredth of the time left. */
static int64_t until_next_look(const fx_monitor *m, double now) {
  enum { MOST = 1000 };
  double count = m->limits->hurried ? 0 : 0.01 * (m->limits->deadline - now) / m->pace;
  return count < MOST ? (int64_t)count : MOST;
}

bool fx_monitor_due(fx_monitor *m, int64_t iteration, double step) {
  if (m->limits->deadline > 0 && iteration >= m->look) {
    double now = fx_seconds();
    measure_pace(m, iteration, now);
    if (is_late(m, iteration, now)) return true;
    m->look = iteration + 1 + until_next_look(m, now);
  }
  return iteration >= m->next_check || iteration >= m->stage_limit || step <= 2 * m->limits->tolerance;
}

static void record(fx_monitor *m, double seconds) {
  if (!m->history || m->history_skipped++ % m->history_stride != 0) return;
  if (m->history_count == FX_HISTORY_ROWS) {
    m->history_count /= 2;
    for (int32_t k = 0; k < m->history_count; k++) m->history[k] = m->history[2 * k];
    m->history_stride *= 2;
  }
  m->history[m->history_count++] =
      (frix_history_row){.iteration = m->before + m->iteration, .seconds = seconds, .residual = m->residual};
}

/* No progress worth the name (1 %) while the number of iterations doubled. */
static bool stands_still(fx_monitor *m) {
  if (m->wanders || m->iteration < 2 * m->mark_iteration + 500) return false;
  bool still = !(m->best < 0.99 * m->mark_best) && !(m->best_row < 0.99 * m->mark_row);
  m->mark_iteration = m->iteration;
  m->mark_best = m->best;
  m->mark_row = m->best_row;
  return still;
}

double fx_rank_of_rows(double residual, double row, double tolerance) {
  if (row <= tolerance) return row > residual ? row : residual;
  if (isnan(row)) return row;
  return tolerance * (1 + (row < 1 ? row : 1));
}

/* Single contacts are judged where the whole is good; u belongs to r. */
static void judge_rows(fx_monitor *m, const double *r) {
  m->row = 0;
  if (m->limits->rows_later || !(m->residual <= m->limits->tolerance)) return;
  fx_row_set all = {.count = m->system->contact_count};
  m->row = fx_row_error(m->system, &all, m->law, &m->scales, r, m->u);
  if (m->row < m->best_row) m->best_row = m->row;
  m->residual = fx_rank_of_rows(m->residual, m->row, m->limits->tolerance);
}

/* Where the start is nothing, u is the velocity without impulses. */
static void judge_nothing(fx_monitor *m) {
  const fx_system *s = m->system;
  memset(m->best_r, 0, (size_t)s->row_count * sizeof *m->best_r);
  memcpy(m->u, s->q, (size_t)s->row_count * sizeof *m->u);
  if (s->has_velocity) memcpy(m->v, s->v_free, (size_t)s->dof_count * sizeof *m->v);
  m->residual = fx_residual(s, m->law, m->best_r, m->u);
  judge_rows(m, m->best_r);
  m->best = m->residual;
}

/* The time, where somebody wants to know it. */
static double look_at_clock(const fx_monitor *m) {
  return m->history || m->limits->deadline > 0 || m->limits->progress ? fx_seconds() : 0;
}

/* What follows from the residual: history, progress, and whether to stop. */
static bool decide(fx_monitor *m, double now) {
  const fx_limits *limits = m->limits;
  record(m, now - limits->start);
  if (limits->progress) limits->progress(m->before + m->iteration, m->residual, now - limits->start, limits->user);

  m->finished = true;
  if (m->residual <= limits->tolerance) {
    m->outcome = FRIX_OUTCOME_SOLVED;
  } else if (limits->cancel && limits->cancel(limits->user)) {
    m->outcome = FRIX_OUTCOME_CANCELLED;
  } else if (limits->deadline > 0 && is_late(m, m->iteration, now)) {
    m->outcome = FRIX_OUTCOME_TIME_LIMIT;
  } else {
    m->finished = false;
    if (m->iteration >= m->stage_limit)
      m->outcome = FRIX_OUTCOME_MAX_ITERATIONS;
    else if (stands_still(m) || isnan(m->residual))
      m->outcome = FRIX_OUTCOME_STALLED;
    else
      return false;
  }
  return true;
}

/* Time cannot be up before anything was tried: the start comes next, and it may be better. */
bool fx_monitor_check_nothing(fx_monitor *m) {
  judge_nothing(m);
  if (decide(m, look_at_clock(m)) && m->outcome != FRIX_OUTCOME_TIME_LIMIT) return true;
  m->finished = false;
  m->best = INFINITY;
  return false;
}

static void keep_best(fx_monitor *m, const double *r) {
  if (!(m->residual < m->best)) return;
  m->best = m->residual;
  m->velocity_error = 0;
  memcpy(m->best_r, r, (size_t)m->system->row_count * sizeof *r);
}

void fx_monitor_compare(fx_monitor *m, const double *r) {
  m->residual = fx_residual_of(m->system, m->law, r, m->u, m->v);
  judge_rows(m, r);
  keep_best(m, r);
}

bool fx_monitor_check_start(fx_monitor *m, const double *r) {
  m->residual = fx_residual_up_to(m->system, m->law, m->limits->tolerance, r, m->u, m->v, m->last);
  if (!(m->residual < INFINITY)) return false;
  judge_rows(m, r);
  keep_best(m, r);
  return decide(m, look_at_clock(m));
}

bool fx_monitor_check(fx_monitor *m, int64_t iteration, const double *r) {
  m->iteration = iteration;
  m->next_check = fx_monitor_next(iteration);
  if (m->rare && m->next_check < iteration + RARE) m->next_check = iteration + RARE;
  double begun = m->limits->deadline > 0 ? fx_seconds() : 0;
  if (m->limits->deadline > 0) measure_pace(m, iteration, begun);
  fx_monitor_compare(m, r);
  double now = look_at_clock(m);
  if (m->limits->deadline > 0) m->check_cost = now - begun;
  bool stop = decide(m, now);
  m->pace_time = m->last_time = m->limits->progress ? fx_seconds() : now; /* without what the caller's function took */
  m->pace_iteration = iteration;
  return stop;
}
