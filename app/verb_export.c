/* frix export: a run as tables, or the contact problem of one of its steps. */
#include "app.h"
#include "gltf.h"

#include <inttypes.h>
#include <string.h>

/* ---- tables */

bool fx_parse_frames(const char *text, frix_export_config *config) {
  int32_t *part[3] = {&config->first, &config->last, &config->every};
  if (!text) return true;
  for (int k = 0; k < 3; k++) {
    int used = 0, value = 0;
    if (sscanf(text, "%9d%n", &value, &used) == 1) *part[k] = value;
    text += used;
    if (!*text) return true;
    if (*text++ != ':') break;
  }
  fx_error("--frames should read FIRST:LAST:EVERY, each of them optional");
  return false;
}

static bool export_tables(const fx_args *args, frix_context *context, frix_trajectory *trajectory, int32_t *damaged) {
  frix_export_config config = frix_export_default();
  config.skipped = damaged;
  config.format = fx_arg(args, "--format");
  if (config.format && fx_choose("@exports", "format", config.format) < 0) return false;
  if (!fx_parse_frames(fx_arg(args, "--frames"), &config)) return false;
  const char *out = fx_arg(args, "--out"), *dot = strrchr(fx_base_name(out), '.');
  if (fx_arg(args, "--gltf") || (dot && !strcmp(dot, ".glb"))) return fx_gltf_write(context, trajectory, out, &config);
  if (frix_trajectory_export(trajectory, out, &config) == FRIX_OK) return true;
  fx_error("%s", frix_error_text(context));
  return false;
}

/* ---- one problem: the run is taken up before the wanted step and goes there again */

typedef struct rerun {
  frix_context *context;
  frix_trajectory *trajectory;
  const char *path;
  frix_sim *sim;
  int32_t frame;   /* the next one ahead */
  int32_t damaged; /* frames and checkpoints that were passed over */
} rerun;

static bool complain(const rerun *r) {
  fx_error("%s", frix_error_text(r->context));
  return false;
}

/* The last checkpoint before a step that can be read, NULL where there is none. */
static bool find_checkpoint(rerun *r, int64_t wanted, frix_snapshot **out) {
  int64_t step = 0;
  for (int32_t at = frix_trajectory_checkpoint_count(r->trajectory) - 1; at >= 0; at--) {
    if (frix_trajectory_checkpoint(r->trajectory, at, NULL, &step, NULL) != FRIX_OK) return complain(r);
    if (step >= wanted) continue;
    frix_status status = frix_trajectory_checkpoint(r->trajectory, at, NULL, &step, out);
    if (status == FRIX_OK) return true;
    if (status != FRIX_ERROR_FORMAT) return complain(r);
    fx_warning("%s; passed over", frix_error_text(r->context));
    r->damaged++;
  }
  return true;
}

/* The sim at the last checkpoint before a step, else at the start. */
static bool take_up(rerun *r, int64_t wanted) {
  frix_sim_config config;
  frix_snapshot *snapshot = NULL;
  if (!find_checkpoint(r, wanted, &snapshot)) return false;
  bool good = frix_trajectory_config(r->trajectory, &config) == FRIX_OK &&
              frix_sim_create(r->context, frix_trajectory_model(r->trajectory), &config, &r->sim) == FRIX_OK &&
              (!snapshot || frix_sim_restore(r->sim, snapshot) == FRIX_OK);
  frix_snapshot_destroy(snapshot);
  return good || complain(r);
}

/* The next frame ahead of the sim that can be read; false with *end set when there is none. */
static bool look_ahead(rerun *r, frix_frame *frame, bool *end) {
  int64_t step = -1, now = frix_sim_step_count(r->sim);
  int32_t count = frix_trajectory_frame_count(r->trajectory);
  *end = false;
  for (; r->frame < count; r->frame++) {
    if (frix_trajectory_frame_time(r->trajectory, r->frame, &step, NULL) != FRIX_OK) return complain(r);
    if (step <= now) continue;
    frix_status status = frix_trajectory_frame(r->trajectory, r->frame, frame);
    if (status == FRIX_OK) return true;
    if (status != FRIX_ERROR_FORMAT) return complain(r);
    fx_warning("%s; passed over", frix_error_text(r->context));
    r->damaged++;
  }
  *end = true;
  return false;
}

/* Steps to the next frame and compares; *problem is kept when the wanted step is passed. */
static bool go_to_frame(rerun *r, const frix_frame *frame, int64_t wanted, frix_problem **problem) {
  while (frix_sim_step_count(r->sim) < frame->step) {
    if (frix_sim_step(r->sim, frame->h, NULL) != FRIX_OK) return complain(r);
    if (frix_sim_step_count(r->sim) == wanted && frix_sim_problem(r->sim, problem) != FRIX_OK) return complain(r);
  }
  uint64_t hash = 0;
  frix_sim_hash(r->sim, &hash);
  if (hash == frame->hash) return true;
  fx_error("%s: step %" PRId64 " comes out differently: forces applied from outside are not in the file", r->path,
           frame->step);
  return false;
}

static bool export_problem(const fx_args *args, frix_context *context, frix_trajectory *trajectory, int64_t wanted,
                           int32_t *damaged) {
  rerun r = {context, trajectory, args->word[0], NULL, 0, 0};
  frix_problem *problem = NULL;
  bool good = take_up(&r, wanted);
  while (good && !problem) {
    frix_frame frame;
    bool end = false;
    good = look_ahead(&r, &frame, &end) && go_to_frame(&r, &frame, wanted, &problem);
    if (end) fx_error("%s: ends before step %" PRId64, r.path, wanted);
  }
  if (good && frix_problem_write(problem, fx_arg(args, "--out"), NULL) != FRIX_OK) good = complain(&r);
  frix_problem_destroy(problem);
  frix_sim_destroy(r.sim);
  *damaged = r.damaged;
  return good;
}

static int run_export(const fx_args *args) {
  int64_t step = 0;
  const char *out = fx_arg(args, "--out");
  if (!fx_arg_integer(args, "--problem", 1, INT64_MAX, &step)) return FX_EXIT_USAGE;
  if (!out) {
    fx_error("nothing to write: give --out FILE");
    return FX_EXIT_USAGE;
  }
  frix_context *context = fx_context(false);
  frix_trajectory *trajectory = NULL;
  int32_t damaged = 0;
  bool good = frix_trajectory_open(context, args->word[0], &trajectory) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(context));
  if (good && frix_trajectory_trouble(trajectory))
    fx_warning("%s: %s", args->word[0], frix_trajectory_trouble(trajectory));
  good = good && fx_check_output(context, out) &&
         (step ? export_problem(args, context, trajectory, step, &damaged)
               : export_tables(args, context, trajectory, &damaged));
  damaged += frix_trajectory_damage_count(trajectory);
  if (good && damaged) fx_warning("%s: %d damaged places were left out", args->word[0], (int)damaged);
  frix_trajectory_close(trajectory);
  frix_context_destroy(context);
  return !good ? FX_EXIT_USAGE : damaged ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--out", "FILE", NULL, "file to write; the extension chooses the format: .csv, .npz, .h5, .glb"},
    {"--gltf", NULL, NULL,
     "write an animated scene in binary glTF 2.0 (as .glb does), for Blender, three.js and others"},
    {"--format", "NAME", "@exports", "format of the tables"},
    {"--frames", "A:B:K", NULL, "frames A to B, every K-th (default: all)"},
    {"--problem", "STEP", NULL, "write the contact problem of this step instead (.hdf5 for fclib, .json, .dat)"},
    {0},
};

const fx_verb fx_verb_export = {
    .name = "export",
    .arguments = "RUN.frx",
    .summary = "write a run as tables, or one of its contact problems",
    .detail =
        "Tables hold every frame: times, certificates, energies, poses, velocities, contacts. A .csv export is three "
        "files:\n"
        "_steps, _bodies and _contacts. A contact problem is recomputed by stepping from the nearest checkpoint; every "
        "frame\n"
        "on the way must equal the file bit by bit. Damaged frames are left out, with a warning and exit code 1.",
    .example =
        "  frix export run.frx --out run.npz                # numpy.load(\"run.npz\")[\"position\"]\n"
        "  frix export run.frx --out run.csv --frames ::10  # every tenth frame\n"
        "  frix export run.frx --out run.glb                # the run as a scene, animated\n"
        "  frix export run.frx --problem 120 --out p.hdf5   # fclib, for other solvers",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_export,
};
