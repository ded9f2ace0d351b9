/* ball-drop: five balls in a column fall together; the shock passes in one step.
 *
 * S4, figure 6: equal balls touching each other, dropped from rest; all stop within the step in which the lowest hits
 * the floor, and the method takes one iteration for it. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "examples/balls.h"
#include "reproduce.h"

enum { BALLS = 5, STEPS = 120 };

static bool run(fx_report *report) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  frix_context *context = fx_context(false);
  ex_balls *balls = ex_balls_in_column(BALLS, 0.5, 0.005, 0.5);
  frix_solve_config config = frix_solve_default();
  config.solver = settings->solver ? settings->solver : "implicit";
  if (settings->tolerance > 0) config.tolerance = settings->tolerance;
  double time[STEPS], low[STEPS], high[STEPS], before = 0, after = NAN;
  int64_t at_impact = -1;
  bool good = balls != NULL;
  fx_report_text(report,
                 "Five balls of radius 0.15 m, the lowest 0.5 m above the floor, at rest; steps of 5 ms, "
                 "method %s from the sticking start.",
                 config.solver);
  for (int k = 0; k < STEPS && good; k++) {
    frix_problem *problem = NULL;
    frix_solution *solution = NULL;
    double speed = ex_balls_look(balls).speed;
    good = ex_balls_problem(balls, context, &problem) == FRIX_OK &&
           frix_solve(context, problem, &config, &solution) == FRIX_OK;
    if (good) {
      frix_result r = {.size = sizeof r};
      frix_solution_view(solution, &r);
      ex_balls_advance(balls, &r);
      ex_balls_state now = ex_balls_look(balls);
      if (at_impact < 0 && r.contact_count == BALLS) at_impact = r.iterations, before = speed, after = now.speed;
      time[k] = (k + 1) * 0.005, low[k] = now.lowest, high[k] = now.highest;
    } else {
      fx_error("ball-drop: %s", frix_error_text(context));
    }
    frix_solution_destroy(solution);
    frix_problem_destroy(problem);
  }
  ex_balls_free(balls);
  frix_context_destroy(context);
  if (!good) return false;
  fx_report_compare(report, (fx_compared){1, (double)at_impact, "", true}, "iterations in the step of the impact");
  fx_report_compare(report, (fx_compared){0, after, "m/s", true}, "largest speed after that step (before: %.3g m/s)",
                    before);
  fx_curve curve[2] = {{"highest ball", time, high, STEPS, FX_CURVE_LINE},
                       {"lowest ball", time, low, STEPS, FX_CURVE_LINE}};
  fx_chart chart = {.title = "Five balls dropped in a column",
                    .subtitle = "height of the centres; the shock passes within one step",
                    .x_label = "time, s",
                    .y_label = "m",
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = 2};
  return fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_ball_drop = {
    .name = "ball-drop",
    .document = "S4",
    .place = "figure 6",
    .summary = "five balls in a column hit the floor: the shock passes in one step, by one iteration",
    .seconds = 0.01,
    .quick_seconds = 0.01,
    .run = run,
};
#endif
