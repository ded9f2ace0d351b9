/* Worlds are stepped, certified steps are judged. */
#include "trials.h"

#include "judge_problem.h"

#include <math.h>
#include <string.h>
#include <time.h>

const char *run_save;

void tally_add(tally *to, const tally *from) {
  to->worlds += from->worlds;
  to->refused += from->refused;
  to->steps += from->steps;
  to->certified += from->certified;
  to->wrong += from->wrong;
  to->open += from->open;
  to->failed += from->failed;
  to->seconds += from->seconds;
  for (int k = 0; k < LAW_COUNT; k++) to->law[k] += from->law[k];
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void describe(FILE *log, int step, const frix_step_report *r, const verdict *v) {
  fprintf(log,
          "  step %d: %s, %s, residual %.2e, worst velocity %.2e, bilateral %.2e, %d contacts, %d joint rows, %s%s\n",
          step, r->certified ? "certified" : "not certified", r->phase, r->certificate.residual,
          r->certificate.worst_velocity, r->certificate.bilateral, r->contact_count, r->joint_count,
          r->finisher && *r->finisher ? r->finisher : "no rows", r->overlaps_left ? ", overlaps left" : "");
  for (int k = 0; k < LAW_COUNT; k++)
    if (v->excess[k] > 1e-2)
      fprintf(log, "    %s %-14s %8.2e of its tolerance: %s\n", v->excess[k] > 1 ? "WRONG" : "     ", law_name((law)k),
              v->excess[k], v->text[k]);
}

static void take_finding(finding *f, int step, const verdict *v) {
  law worst = verdict_worst(v);
  if (f->step >= 0) return;
  *f = (finding){.step = step, .law = worst, .excess = v->excess[worst]};
  snprintf(f->text, sizeof f->text, "%s: %s", law_name(worst), v->text[worst]);
}

void run_world(world *w, tally *t, finding *f, FILE *log) {
  verdict v;
  *f = (finding){.step = -1};
  t->worlds++;
  if (!w->sim) {
    t->refused++;
    if (log) fprintf(log, "  refused: %s\n", frix_error_text(w->context));
    return;
  }
  frix_sim_config promised = w->config;
  promised.tolerance = w->promise;
  judge *j = judge_new(w->model, &promised);
  judge_begin(j, w->sim);
  for (int k = 0; k < w->steps; k++) {
    frix_step_report r = {.size = sizeof r};
    if (w->edit) w->edit(w);
    for (int i = 0; i < w->belt_count; i++) judge_belt(j, w->belt[i].shape, w->belt[i].velocity);
    judge_before(j, w->sim);
    for (int i = 0; i < w->push_count; i++) {
      frix_sim_add_force(w->sim, w->push[i].body, w->push[i].force, w->push[i].torque);
      judge_push(j, w->push[i].body, w->push[i].force, w->push[i].torque);
    }
    frix_status status = frix_sim_step(w->sim, w->h, &r);
    if (status != FRIX_OK) {
      t->failed++;
      if (log) fprintf(log, "  step %d: %s\n", k, frix_error_text(w->context));
      break;
    }
    t->steps++;
    t->certified += r.certified;
    t->open += !r.certified;
    judge_after(j, w->sim, w->h, w->gravity, &r, &v);
    if (log) describe(log, k, &r, &v);
    if (!r.certified || verdict_worst(&v) == LAW_COUNT) continue;
    t->wrong++;
    for (int i = 0; i < LAW_COUNT; i++) t->law[i] += v.excess[i] > 1;
    take_finding(f, k, &v);
  }
  judge_free(j);
}

void count_verdict(int step, double residual, const verdict *v, tally *t, finding *f, FILE *log) {
  t->steps++;
  t->certified++;
  if (log) {
    frix_step_report report = {.certified = true, .certificate = {.residual = residual}};
    describe(log, step, &report, v);
  }
  if (verdict_worst(v) == LAW_COUNT) return;
  t->wrong++;
  for (int i = 0; i < LAW_COUNT; i++) t->law[i] += v->excess[i] > 1;
  take_finding(f, step, v);
}

/* What a problem says of its bodies: where no entry of M connects two degrees of freedom, each is one. */
static problem_bodies bodies_of(const frix_problem *problem) {
  frix_problem_data p;
  frix_problem_view(problem, &p);
  if (p.form != FRIX_FORM_GLOBAL || p.M.format != FRIX_MATRIX_CSC) return (problem_bodies){0};
  for (int c = 0; c < p.M.col_count; c++)
    for (int k = p.M.p[c]; k < p.M.p[c + 1]; k++)
      if (p.M.i[k] != c && p.M.x[k] != 0) return (problem_bodies){0};
  return (problem_bodies){.dofs = 1};
}

/* Counts an answer that frix certified or not. */
static void count_answer(const frix_problem *problem, frix_law kind, bool certified, double residual, const double *r,
                         const double *lambda, tally *t, finding *f, FILE *log) {
  verdict v;
  if (!certified) {
    t->steps++;
    t->open++;
    return;
  }
  problem_bodies bodies = bodies_of(problem);
  judge_answer(problem, &bodies, kind, r, lambda, &v);
  count_verdict(0, residual, &v, t, f, log);
}

void run_problem(frix_context *context, frix_problem *problem, const frix_solve_config *config, tally *t, finding *f,
                 FILE *log) {
  frix_solve_config c = config ? *config : frix_solve_default();
  frix_solution *solution = NULL;
  *f = (finding){.step = -1};
  t->worlds++;
  if (!problem) {
    t->refused++;
  } else if (frix_solve(context, problem, &c, &solution) != FRIX_OK) {
    t->failed++;
    if (log) fprintf(log, "  %s\n", frix_error_text(context));
  } else {
    frix_result result = {.size = sizeof result};
    frix_solution_view(solution, &result);
    if (run_save) frix_problem_write(problem, run_save, "json");
    count_answer(problem, c.law, result.outcome == FRIX_OUTCOME_SOLVED, result.certificate.residual, result.r,
                 result.lambda, t, f, log);
  }
  frix_solution_destroy(solution);
  frix_problem_destroy(problem);
}

void run_answer(frix_context *context, frix_problem *problem, const double *r, tally *t, finding *f, FILE *log) {
  frix_certificate c;
  *f = (finding){.step = -1};
  t->worlds++;
  if (!problem || frix_certify(context, problem, FRIX_LAW_COULOMB, r, NULL, &c, NULL, NULL) != FRIX_OK)
    t->failed++;
  else
    count_answer(problem, FRIX_LAW_COULOMB, c.residual <= 1e-8, c.residual, r, NULL, t, f, log);
  frix_problem_destroy(problem);
}

void run_case(const world_class *class, uint64_t seed, uint64_t index, tally *t, finding *f, FILE *log) {
  world w;
  double start = seconds();
  world_open(&w, class, seed, index, (units){1, 1, 1});
  if (log)
    fprintf(log, "%s %llu %llu: %d bodies, h %g, %s, %s\n", class->name, (unsigned long long)seed,
            (unsigned long long)index, w.body_count, w.h, w.config.integrator,
            frix_restitution_table((int32_t)w.config.restitution)->name);
  if (class->make) {
    frix_problem *problem = class->make(&w);
    frix_solve_config c = frix_solve_default();
    if (world_tolerance > 0) c.tolerance = world_tolerance;
    if (chance(&w, 0.1)) c.law = FRIX_LAW_ASSOCIATED;
    limit_iterations(&w);
    c.max_iterations = w.config.max_iterations;
    run_problem(w.context, problem, &c, t, f, log);
  } else if (class->run) {
    class->run(&w, t, f, log);
  } else {
    run_world(&w, t, f, log);
  }
  world_close(&w);
  t->seconds += seconds() - start;
}
