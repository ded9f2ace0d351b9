/* Results of moving scenes: one row for each scene and engine. */
#include "motion_table.h"

#include <math.h>
#include <string.h>

/* How the run ended, in a word or two. */
static void end_of(const motion_scene *scene, const motion_result *r, char *out, size_t room) {
  bool stands = r->moved < 0.1 * scene->size;
  if (r->failed)
    snprintf(out, room, "failed after %lld steps", (long long)r->steps);
  else if (r->steps < r->wanted_steps)
    snprintf(out, room, "gave up after %lld of %lld steps", (long long)r->steps, (long long)r->wanted_steps);
  else if (stands || motion_must_stand(scene))
    snprintf(out, room, stands ? "stands" : "falls");
  else
    snprintf(out, room, r->late < 1e-3 * scene->size ? "at rest" : "moving");
}

static void certified_of(const motion_result *r, char *out, size_t room) {
  if (r->judged == 0)
    snprintf(out, room, "-");
  else if (r->certified == r->judged)
    snprintf(out, room, "all");
  else
    snprintf(out, room, "%.2f %%", floor(1e4 * (double)r->certified / (double)r->judged) / 100);
}

void motion_table_begin(motion_table *t) {
  if (!t->hashes)
    printf("%-16s %-14s %-14s %8s %8s %8s %8s %8s %8s %9s %9s %9s %11s %6s  %s\n", "scene", "engine", "law", "mean ms",
           "p50", "p95", "p99", "max", "certif.", "depth mm", "late m", "kinetic J", "iter. (max)", "cont.", "end");
  if (t->csv)
    fprintf(t->csv,
            "scene,engine,law,steps,wanted_steps,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,wall_ms,certified,judged,"
            "residual,penetration_m,moved_m,late_m,kinetic_J,created_J,preload_J,iterations,most_iterations,contacts,"
            "collide_ms,assemble_ms,solve_ms,integrate_ms,hash,end\n");
  if (t->json) fprintf(t->json, "[");
  fflush(stdout);
}

static void json_row(FILE *file, bool first, const motion_scene *scene, const motion_result *r, const char *end) {
  fprintf(file,
          "%s\n  {\"scene\": \"%s\", \"engine\": \"%s\", \"law\": \"%s\", \"steps\": %lld, \"wanted_steps\": %lld,",
          first ? "" : ",", scene->name, r->engine, r->law, (long long)r->steps, (long long)r->wanted_steps);
  const struct {
    const char *name;
    double value;
  } rows[] = {{"mean_ms", r->mean},
              {"p50_ms", r->p50},
              {"p95_ms", r->p95},
              {"p99_ms", r->p99},
              {"max_ms", r->max},
              {"wall_ms", r->wall},
              {"certified", (double)r->certified},
              {"judged", (double)r->judged},
              {"residual", r->residual},
              {"penetration_m", r->penetration},
              {"moved_m", r->moved},
              {"late_m", r->late},
              {"kinetic_J", r->kinetic},
              {"created_J", r->created},
              {"preload_J", r->preload},
              {"iterations", r->iterations},
              {"most_iterations", r->most_iterations},
              {"contacts", r->contacts},
              {"collide_ms", r->collide},
              {"assemble_ms", r->assemble},
              {"solve_ms", r->solve},
              {"integrate_ms", r->integrate}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (isfinite(rows[k].value))
      fprintf(file, " \"%s\": %.9g,", rows[k].name, rows[k].value);
    else
      fprintf(file, " \"%s\": null,", rows[k].name);
  fprintf(file, " \"hash\": \"%016llx\", \"end\": \"%s\"}", (unsigned long long)r->hash, end);
}

static void csv_row(FILE *file, const motion_scene *scene, const motion_result *r, const char *end) {
  fprintf(file, "%s,%s,\"%s\",%lld,%lld,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%lld,%lld,%.3e,%.6e,%.6e,%.6e,%.6e,%.6e,%.6e,",
          scene->name, r->engine, r->law, (long long)r->steps, (long long)r->wanted_steps, r->mean, r->p50, r->p95,
          r->p99, r->max, r->wall, (long long)r->certified, (long long)r->judged, r->residual, r->penetration, r->moved,
          r->late, r->kinetic, r->created, r->preload);
  fprintf(file, "%.2f,%.0f,%d,%.6f,%.6f,%.6f,%.6f,%016llx,\"%s\"\n", r->iterations, r->most_iterations, r->contacts,
          r->collide, r->assemble, r->solve, r->integrate, (unsigned long long)r->hash, end);
}

/* ---- Markdown ---- */

static void write_line(motion_table *t) {
  if (t->cell_count == 0) return;
  for (int k = 0; !t->headed && k < t->cell_count; k++)
    fprintf(t->markdown, k ? " %s |" : "| scene | %s |", t->engine[k]);
  for (int k = 0; !t->headed && k < t->cell_count; k++) fprintf(t->markdown, k ? "---|" : "\n|---|---|");
  if (!t->headed) fprintf(t->markdown, "\n");
  fprintf(t->markdown, "| %s |", t->scene);
  for (int k = 0; k < t->cell_count; k++) fprintf(t->markdown, " %s |", t->cell[k]);
  fprintf(t->markdown, "\n");
  t->headed = true, t->cell_count = 0;
}

/* Three figures, without a power of ten. */
static void short_number(double x, char out[24]) {
  int digits = x >= 99.5 ? 0 : x >= 9.95 ? 1 : x >= 0.995 ? 2 : 3;
  snprintf(out, 24, "%.*f", digits, x);
}

/* mean (p99, max) ms, deepest penetration, drift where it is wanted, and how it ended where that is a question. */
static void add_cell(motion_table *t, const motion_scene *scene, const motion_result *r, const char *end) {
  char mean[24], p99[24], max[24], depth[24], drift[32] = "", *cell;
  if (strcmp(t->scene, scene->name) != 0) write_line(t);
  if (t->cell_count == MOTION_CELLS) return;
  snprintf(t->scene, sizeof t->scene, "%s", scene->name);
  snprintf(t->engine[t->cell_count], sizeof *t->engine, "%s", r->engine);
  cell = t->cell[t->cell_count++];
  short_number(r->mean, mean), short_number(r->p99, p99), short_number(r->max, max);
  short_number(1e3 * r->penetration, depth);
  bool tell = motion_must_stand(scene) || r->failed || r->steps < r->wanted_steps;
  if (t->drift) {
    double moved = 1e3 * r->late;
    snprintf(drift, sizeof drift, moved < 1 ? "; %.2g mm" : "; %.0f mm", moved);
    tell = true;
  }
  snprintf(cell, sizeof *t->cell, "%s (%s, %s); %s mm%s%s%s%s", mean, p99, max, depth, drift,
           r->judged > r->certified ? "; not all certified" : "", tell ? "; " : "", tell ? end : "");
}

void motion_table_row(motion_table *t, const motion_scene *scene, const motion_result *r) {
  char end[96], certified[16], iterations[32] = "";
  end_of(scene, r, end, sizeof end);
  certified_of(r, certified, sizeof certified);
  if (r->judged) snprintf(iterations, sizeof iterations, "%.0f (%.0f)", r->iterations, r->most_iterations);
  if (t->hashes)
    printf("%-16s %-14s %016llx\n", scene->name, r->law, (unsigned long long)r->hash);
  else
    printf("%-16s %-14s %-14s %8.3f %8.3f %8.3f %8.2f %8.2f %8s %9.3f %9.1e %9.2e %11s %6d  %s\n", scene->name,
           r->engine, r->law, r->mean, r->p50, r->p95, r->p99, r->max, certified, 1e3 * r->penetration, r->late,
           r->kinetic, iterations, r->contacts, end);
  if (t->parts && r->judged)
    printf(
        "%-16s parts of %.3f ms that passed: collide %.3f, assemble %.3f, solve %.3f, integrate %.3f; worst residual "
        "%.1e; energy created %.2e J, springs preloaded with %.2e J; state %016llx\n",
        "", r->wall, r->collide, r->assemble, r->solve, r->integrate, r->residual, r->created, r->preload,
        (unsigned long long)r->hash);
  if (t->csv) csv_row(t->csv, scene, r, end);
  if (t->json) json_row(t->json, t->rows == 0, scene, r, end);
  if (t->markdown) add_cell(t, scene, r, end);
  t->rows++;
  fflush(NULL);
}

void motion_table_end(motion_table *t) {
  if (t->json) fprintf(t->json, "\n]\n");
  if (t->markdown) write_line(t);
}
