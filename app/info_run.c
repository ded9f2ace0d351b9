/* frix info of a run: its frames, how they were certified, and what a file that was cut off still has. */
#include <math.h>

#include "run.h"
#include "scene_file.h"

typedef struct tally {
  int32_t frames, damaged, certified, bodies, contacts;
  int64_t first, last; /* steps */
  double begin, end, residual;
  fx_worst worst[FX_STEP_COLUMNS];
  frix_tally steps;
} tally;

static bool count_frames(frix_context *context, frix_trajectory *run, tally *t) {
  *t = (tally){.frames = frix_trajectory_frame_count(run)};
  for (int32_t k = 0, read = 0; k < t->frames; k++) {
    frix_frame f = {.size = sizeof f};
    frix_status status = frix_trajectory_frame(run, k, &f);
    if (status != FRIX_OK && status != FRIX_ERROR_FORMAT) return false;
    if (status != FRIX_OK) {
      if (t->damaged++ == 0) fx_warning("%s", frix_error_text(context));
      continue;
    }
    if (read++ == 0) t->first = f.step, t->begin = f.time;
    t->last = f.step, t->end = f.time;
    t->certified += f.step == 0 || f.report.certified;
    t->residual = fmax(t->residual, f.report.certificate.residual);
    fx_step_view view = {&f.report, NULL, frix_trajectory_model(run)};
    fx_worst_add(t->worst, &view, f.step);
    t->bodies = f.body_count > t->bodies ? f.body_count : t->bodies;
    t->contacts = f.contact_count > t->contacts ? f.contact_count : t->contacts;
  }
  return frix_trajectory_tally(run, -1, &t->steps) == FRIX_OK;
}

static void print_text(const char *path, frix_trajectory *run, const tally *t) {
  printf("%s\n", path);
  printf("  frames      %d, of steps %lld to %lld, %g s to %g s\n", (int)t->frames, (long long)t->first,
         (long long)t->last, t->begin, t->end);
  printf("  checkpoints %d to continue from\n", (int)frix_trajectory_checkpoint_count(run));
  printf("  bodies      %d at most\n", (int)t->bodies);
  printf("  contacts    %d at most\n", (int)t->contacts);
  printf("  certified   %d of %d frames, worst residual %.2e\n", (int)t->certified, (int)t->frames, t->residual);
  printf("  steps       %lld of %lld certified", (long long)t->steps.certified, (long long)t->steps.steps);
  if (t->steps.unknown) printf(", %lld unknown: the file has no record of them", (long long)t->steps.unknown);
  printf("\n");
  if (t->damaged) printf("  damaged     %d frames cannot be read\n", (int)t->damaged);
  fx_worst_print(t->worst, 11);
  fx_missing missing = fx_missing_read(frix_trajectory_meta(run));
  fx_missing_print(&missing, 11);
  fx_missing_free(&missing);
}

static void print_json(const char *path, frix_trajectory *run, const tally *t) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", path);
  fx_put_integer(&json, "frames", t->frames);
  fx_put_integer(&json, "checkpoints", frix_trajectory_checkpoint_count(run));
  fx_put_integer(&json, "first_step", t->first);
  fx_put_integer(&json, "last_step", t->last);
  fx_put_real(&json, "begin", t->begin);
  fx_put_real(&json, "end", t->end);
  fx_put_integer(&json, "bodies", t->bodies);
  fx_put_integer(&json, "contacts_max", t->contacts);
  fx_put_integer(&json, "certified_frames", t->certified);
  fx_put_real(&json, "residual_max", t->residual);
  fx_put_integer(&json, "damaged_frames", t->damaged);
  fx_put_integer(&json, "steps", t->steps.steps);
  fx_put_integer(&json, "certified_steps", t->steps.certified);
  fx_put_integer(&json, "unknown_steps", t->steps.unknown);
  fx_worst_put(&json, t->worst);
  fx_missing missing = fx_missing_read(frix_trajectory_meta(run));
  fx_missing_put(&json, &missing);
  fx_missing_free(&missing);
  fx_put_boolean(&json, "truncated", frix_trajectory_truncated(run));
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

int fx_info_run(frix_context *context, const char *path, bool as_json) {
  frix_trajectory *run = NULL;
  tally t = {0};
  bool good = frix_trajectory_open(context, path, &run) == FRIX_OK && count_frames(context, run, &t);
  if (!good) fx_error("%s", frix_error_text(context));
  if (good && frix_trajectory_trouble(run)) fx_warning("%s: %s", path, frix_trajectory_trouble(run));
  if (good) (as_json ? print_json : print_text)(path, run, &t);
  t.damaged += frix_trajectory_damage_count(run);
  frix_trajectory_close(run);
  return !good ? FX_EXIT_USAGE : t.damaged ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}
