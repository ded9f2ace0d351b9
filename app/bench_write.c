/* The files of a benchmark: results.csv, table.md, time.svg (performance profile) and residual.svg. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

/* ---- sums */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bench_summary fx_bench_summary(const bench *b, int solver) {
  bench_summary sum = {0};
  double *residual = fx_grow(NULL, (size_t)b->problem_count, sizeof *residual);
  int measured = 0;
  for (int p = 0; p < b->problem_count; p++) {
    const bench_run *run = &b->problem[p].run[solver];
    sum.count += b->problem[p].readable;
    sum.solved += run->solved;
    sum.approximate |= run->approximate;
    if (!run->supported) continue;
    sum.seconds += run->seconds;
    residual[measured++] = run->certificate.residual;
  }
  qsort(residual, (size_t)measured, sizeof *residual, ascending);
  sum.median_residual = measured ? residual[measured / 2] : NAN;
  free(residual);
  return sum;
}

int fx_bench_solved_by_any(const bench *b) {
  int count = 0;
  for (int p = 0; p < b->problem_count; p++) {
    bool solved = false;
    for (int s = 0; s < b->solver_count; s++) solved = solved || b->problem[p].run[s].solved;
    count += solved;
  }
  return count;
}

static double best_time(const bench *b, int p) {
  double best = HUGE_VAL;
  for (int s = 0; s < b->solver_count; s++)
    if (b->problem[p].run[s].solved) best = fmin(best, b->problem[p].run[s].seconds);
  return best;
}

/* ---- CSV */

static void write_csv(FILE *file, const bench *b) {
  fprintf(file,
          "file,contacts,dof,solver,law,approximate,outcome,tolerance,iterations,seconds,residual,worst_velocity,"
          "signorini,cone,dissipation\n");
  for (int p = 0; p < b->problem_count; p++) {
    const bench_problem *row = &b->problem[p];
    for (int s = 0; s < b->solver_count; s++) {
      const bench_run *run = &row->run[s];
      const frix_certificate *c = &run->certificate;
      fx_csv_text(file, row->path);
      fprintf(file, ",%d,%d,%s,%s,%s,%s,%g,", (int)row->contacts, (int)row->dof, b->solver[s]->name,
              frix_law_name(b->config.law), run->approximate ? "yes" : "no",
              row->readable ? run->outcome : "unreadable", b->config.tolerance);
      if (run->supported) {
        fprintf(file, "%lld,%.9g,%.17g,%.17g,%.17g,%.17g,%.17g\n", (long long)run->iterations, run->seconds,
                c->residual, c->worst_velocity, c->signorini, c->cone, c->dissipation);
      } else {
        fprintf(file, ",,,,,,\n");
      }
    }
  }
}

/* ---- Markdown */

static void write_summary(FILE *file, const bench *b) {
  fprintf(file, "| solver | solved | total time | median residual | |\n|---|---|---|---|---|\n");
  for (int s = 0; s < b->solver_count; s++) {
    bench_summary sum = fx_bench_summary(b, s);
    char seconds[32];
    fx_format_seconds(sum.seconds, seconds, sizeof seconds);
    fprintf(file, "| %s | %d of %d | %s | %.2e | %s |\n", b->solver[s]->name, sum.solved, sum.count, seconds,
            sum.median_residual, sum.approximate ? "approximate" : "");
  }
}

/* Time and certified residual; the fastest solved in bold, what was not solved in italics. */
static void write_cell(FILE *file, const bench_run *run, double best) {
  char seconds[32];
  if (!run->supported) {
    fprintf(file, " %s |", run->outcome);
    return;
  }
  fx_format_seconds(run->seconds, seconds, sizeof seconds);
  const char *mark = !run->solved ? "*" : run->seconds <= best ? "**" : "";
  fprintf(file, " %s%s, %.1e%s%s |", mark, seconds, run->certificate.residual, mark,
          run->approximate ? " approximate" : "");
}

static void write_markdown(FILE *file, const bench *b) {
  fprintf(file, "# Solvers on %s\n\n", b->folder);
  fprintf(file,
          "frix %s, law %s, tolerance %g, time limit %g s, %d thread%s. Times are wall time of the solve; the\n"
          "residual is the certificate's. **Fastest solved**, *not solved*.\n\n",
          frix_version(), frix_law_name(b->config.law), b->config.tolerance, b->config.time_limit,
          (int)b->config.thread_count, b->config.thread_count == 1 ? "" : "s");
  write_summary(file, b);
  fprintf(file, "\n| problem | contacts | dof |");
  for (int s = 0; s < b->solver_count; s++) fprintf(file, " %s |", b->solver[s]->name);
  fprintf(file, "\n|---|---|---|");
  for (int s = 0; s < b->solver_count; s++) fprintf(file, "---|");
  fprintf(file, "\n");
  for (int p = 0; p < b->problem_count; p++) {
    const bench_problem *row = &b->problem[p];
    fprintf(file, "| %s |", fx_base_name(row->path));
    if (!row->readable) {
      fprintf(file, " unreadable | |");
      for (int s = 0; s < b->solver_count; s++) fprintf(file, " |");
    } else {
      fprintf(file, " %d | %d |", (int)row->contacts, (int)row->dof);
      for (int s = 0; s < b->solver_count; s++) write_cell(file, &row->run[s], best_time(b, p));
    }
    fprintf(file, "\n");
  }
}

/* ---- profiles */

/* Values of one solver over the readable problems: time against the best, or the certified residual. */
static void profile_values(const bench *b, int s, bool time, double *value) {
  int n = 0;
  for (int p = 0; p < b->problem_count; p++) {
    const bench_run *run = &b->problem[p].run[s];
    if (!b->problem[p].readable) continue;
    double x = HUGE_VAL;
    if (time && run->solved) x = run->seconds / best_time(b, p);
    if (!time && run->supported && isfinite(run->certificate.residual)) x = run->certificate.residual;
    value[n++] = x;
  }
}

/* Decades of the axis that hold what is finite. */
static int last_decade(const double *value, int count, int low, int high) {
  double largest = 0;
  for (int k = 0; k < count; k++)
    if (value[k] < HUGE_VAL && value[k] > largest) largest = value[k];
  int decade = largest > 0 ? (int)ceil(log10(largest)) : low;
  return decade < low ? low : decade > high ? high : decade;
}

static void write_profile(FILE *file, const bench *b, bool time) {
  int readable = 0;
  for (int p = 0; p < b->problem_count; p++) readable += b->problem[p].readable;
  fx_series *series = fx_grow(NULL, (size_t)b->solver_count, sizeof *series);
  double *value = fx_grow(NULL, (size_t)b->solver_count * (size_t)readable, sizeof *value);
  for (int s = 0; s < b->solver_count; s++) {
    double *own = value + (size_t)s * (size_t)readable;
    profile_values(b, s, time, own);
    series[s] = (fx_series){b->solver[s]->name, own, fx_bench_summary(b, s).approximate};
  }
  char subtitle[200], mark[64];
  snprintf(subtitle, sizeof subtitle, "%d problems, law %s, tolerance %g, time limit %g s, frix %s", readable,
           frix_law_name(b->config.law), b->config.tolerance, b->config.time_limit, frix_version());
  snprintf(mark, sizeof mark, "tolerance");
  fx_plot plot = {.title = time ? "Time to a certified answer" : "Certified residual",
                  .subtitle = subtitle,
                  .x_label = time ? "time, as a multiple of the fastest solver on the same problem"
                                  : "relative natural-map residual reached",
                  .low = time ? 0 : -16,
                  .high = time ? last_decade(value, b->solver_count * readable, 1, 6) : 0,
                  .ratio = time,
                  .mark = time ? 0 : b->config.tolerance,
                  .mark_text = mark,
                  .series = series,
                  .series_count = b->solver_count,
                  .value_count = readable};
  fx_plot_write(file, &plot);
  free(value);
  free(series);
}

static void write_time(FILE *file, const bench *b) { write_profile(file, b, true); }
static void write_residual(FILE *file, const bench *b) { write_profile(file, b, false); }

bool fx_bench_write(frix_context *context, const bench *b) {
  static const struct {
    const char *name;
    void (*write)(FILE *file, const bench *b);
  } files[] = {{"/results.csv", write_csv},
               {"/table.md", write_markdown},
               {"/time.svg", write_time},
               {"/residual.svg", write_residual}};
  bool good = true;
  for (size_t k = 0; k < sizeof files / sizeof files[0] && good; k++) {
    char *path = fx_join(b->out, files[k].name);
    fx_output *output = fx_output_open(context, path);
    if (output) files[k].write(output->file, b);
    good = output && fx_output_close(output, true);
    free(path);
  }
  return good;
}
