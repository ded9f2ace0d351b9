/* The file of a run: frames for viewers, checkpoints to go on from, and the words that made the run, so that --resume
 * drives the world as before. */
#include "run.h"

#include <frix/trajectory.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const fx_verb fx_verb_run;

struct fx_run_file {
  frix_recorder *recorder;
  frix_trajectory *trajectory; /* of a resumed run, holds its model */
  char **word;                 /* of the command that began the run */
  int word_count;
  fx_args args;
  int32_t checkpoint; /* the one a resumed run goes on from */
  int64_t kept;       /* step of the last checkpoint */
  bool broken;        /* it could not be written, which was said */
};

static bool failed(const fx_run *run) {
  fx_error("%s", frix_error_text(run->context));
  return false;
}

/* ---- the text about the run */

/* Flags that say what the run is; the others say what becomes of it. */
static bool belongs_to_run(const char *flag) {
  static const char *const names[] = {"--set",  "--seed",      "--time",          "--dt", "--every", "--checkpoint",
                                      "--ctrl", "--ctrl-file", "--allow-outside", "--key"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
    if (!strcmp(flag, names[k])) return true;
  return false;
}

/* What the numbers of the robot in each frame are: hinges and slides, then actuators. */
static void put_mechanism(fx_json *json, const frix_robot *robot) {
  frix_robot_info info = frix_robot_view(robot);
  fx_put_open(json, "mechanism", '{');
  fx_put_open(json, "joints", '[');
  for (int32_t k = 0; k < info.joint_count; k++) {
    frix_robot_joint j;
    frix_robot_body body;
    if (frix_robot_get_joint(robot, k, &j) || (j.kind != FRIX_ROBOT_HINGE && j.kind != FRIX_ROBOT_SLIDE)) continue;
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", j.name ? j.name : "");
    fx_put_text(json, "body", !frix_robot_get_body(robot, j.body, &body) && body.name ? body.name : "");
    fx_put_text(json, "kind", j.kind == FRIX_ROBOT_SLIDE ? "slide" : "hinge");
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_open(json, "actuators", '[');
  for (int32_t k = 0; k < info.actuator_count; k++) {
    frix_robot_actuator a;
    bool known = !frix_robot_get_actuator(robot, k, &a);
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", known && a.name ? a.name : "");
    fx_put_text(json, "at", known && a.object ? a.object : "");
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_close(json, '}');
}

static char *about(const fx_run *run, const fx_args *args) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (!memory) return NULL;
  fx_json json = {memory, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "program", "frix " FRIX_VERSION_TEXT);
  fx_put_settings(&json, run);
  fx_put_integer(&json, "steps", run->step_count);
  fx_put_open(&json, "arguments", '[');
  fx_put_text(&json, NULL, run->subject.word);
  for (int k = 0; k < args->flag_count; k++) {
    if (!belongs_to_run(args->flag[k]->name)) continue;
    fx_put_text(&json, NULL, args->flag[k]->name);
    if (args->flag[k]->value) fx_put_text(&json, NULL, args->value[k]);
  }
  fx_put_close(&json, ']');
  const frix_robot *robot = frix_model_robot(run->subject.model);
  char mark[FX_MARK_SIZE];
  if (robot && fx_robot_mark(robot, mark)) fx_put_text(&json, "robot", mark);
  if (robot) put_mechanism(&json, robot);
  fx_put_close(&json, '}');
  if (fclose(memory) == 0) return text;
  free(text);
  return NULL;
}

/* The words of "arguments", none where the text has no such list. */
static void read_words(fx_run_file *file, const char *meta) {
  static const char key[] = "\"arguments\": [";
  const char *at = meta ? strstr(meta, key) : NULL;
  for (at = at ? at + sizeof key - 1 : NULL; at && *at;) {
    char *word = fx_read_json_text(&at);
    if (!word) return;
    file->word = fx_grow(file->word, (size_t)file->word_count + 1, sizeof *file->word);
    file->word[file->word_count++] = word;
    at += strspn(at, ", ");
  }
}

/* ---- writing */

static fx_run_file *file_new(void) {
  fx_run_file *file = fx_grow(NULL, 1, sizeof *file);
  memset(file, 0, sizeof *file);
  return file;
}

/* What came before a checkpoint, then the checkpoint. */
static bool put_checkpoint(fx_run_file *file, const fx_run *run) {
  return frix_recorder_tally(file->recorder, &run->account.tally) == FRIX_OK &&
         frix_recorder_checkpoint(file->recorder, run->sim) == FRIX_OK;
}

fx_run_file *fx_run_file_create(const fx_run *run, const fx_args *args) {
  char *meta = about(run, args);
  if (!meta) {
    fx_error("out of memory");
    return NULL;
  }
  fx_run_file *file = file_new();
  bool good = frix_recorder_create(run->context, run->out, run->subject.model, meta, &file->recorder) == FRIX_OK &&
              frix_recorder_add(file->recorder, run->sim, NULL) == FRIX_OK && put_checkpoint(file, run);
  free(meta);
  if (good) return file;
  failed(run);
  frix_recorder_close(file->recorder);
  file->recorder = NULL;
  fx_run_file_free(file);
  return NULL;
}

bool fx_run_file_add(fx_run_file *file, const fx_run *run, const frix_step_report *report) {
  int64_t step = frix_sim_step_count(run->sim);
  bool last = step == run->step_count, good = true;
  if (step % run->every == 0 || last) good = frix_recorder_add(file->recorder, run->sim, report) == FRIX_OK;
  if (good && step % run->checkpoint == 0) {
    file->kept = step;
    good = put_checkpoint(file, run);
  }
  file->broken = !good;
  return good || failed(run);
}

bool fx_run_file_close(fx_run_file *file, const fx_run *run) {
  if (!file || !file->recorder) return true;
  bool good = file->broken || frix_sim_step_count(run->sim) == file->kept || put_checkpoint(file, run);
  if (!good) failed(run);
  frix_status status = frix_recorder_close(file->recorder);
  file->recorder = NULL;
  if (!good || file->broken) return false;
  return status == FRIX_OK || failed(run);
}

void fx_run_file_free(fx_run_file *file) {
  if (!file) return;
  frix_recorder_close(file->recorder);
  frix_trajectory_close(file->trajectory);
  for (int k = 0; k < file->word_count; k++) free(file->word[k]);
  free(file->word);
  fx_args_free(&file->args);
  free(file);
}

/* ---- going on */

/* The words of the file as the flags and the one word they were; a file may hold anything. */
static bool parse_words(fx_run_file *file, const char *path) {
  bool good = fx_args_parse(&fx_verb_run, file->word_count, file->word, &file->args) && file->args.word_count == 1;
  for (int k = 0; good && k < file->args.flag_count; k++) good = belongs_to_run(file->args.flag[k]->name);
  if (!good) fx_error("%s: its list of arguments makes no sense", path);
  return good;
}

/* The robot of a run is no part of its file: its own file is read again, and must be what it was. */
static bool read_robot(const fx_run_file *file, fx_run *run, const char *path, const char *wanted) {
  char mark[FX_MARK_SIZE] = "";
  run->subject.told = true;
  if (!fx_subject_build(&run->subject, run->context) || !fx_run_times(run, &file->args)) return false;
  const frix_robot *robot = frix_model_robot(run->subject.model);
  if (robot && fx_robot_mark(robot, mark) && !strncmp(mark, wanted, strlen(mark))) return true;
  fx_error("%s: %s does not hold the robot that the run began with", path, run->subject.word);
  return false;
}

/* Subject and times as the words of the file say; a file without words goes on without a drive. */
static bool read_subject(fx_run_file *file, fx_run *run, const char *path, const fx_args *args) {
  static const char robot_key[] = "\"robot\": \"";
  const char *meta = frix_trajectory_meta(file->trajectory), *robot = meta ? strstr(meta, robot_key) : NULL;
  read_words(file, meta);
  frix_frame frame = {.size = sizeof frame};
  int32_t last = frix_trajectory_frame_count(file->trajectory) - 1;
  if (file->word_count) {
    if (!parse_words(file, path)) return false;
    if (!fx_subject_read(&file->args, file->args.word[0], &run->subject)) return false;
    if (!fx_run_times(run, &file->args)) return false;
  } else {
    run->subject = (fx_subject){.word = path};
    if (last < 0 || frix_trajectory_frame(file->trajectory, last, &frame) != FRIX_OK) return failed(run);
    run->subject.step = frame.h > 0 ? frame.h : 0.01;
    run->subject.time = frame.time;
  }
  if (!robot)
    run->subject.model = frix_trajectory_model(file->trajectory);
  else if (!file->word_count || !read_robot(file, run, path, robot + sizeof robot_key - 1))
    return false;
  run->subject.missing = fx_missing_read(frix_trajectory_meta(file->trajectory));
  run->subject.missing.allowed |= fx_arg(args, "--allow-missing") != NULL;
  /* what this command says goes before, but a run goes on as it began */
  static const char *const fixed[] = {"--dt",         "--set",         "--seed", "--solver", "--tol",
                                      "--integrator", "--restitution", "--law",  "--key"};
  for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
    if (fx_arg(args, fixed[k])) {
      fx_error("%s cannot be changed with --resume: it is part of the run's file", fixed[k]);
      return false;
    }
  double step = run->h, time = (double)run->step_count * step;
  if (file->word_count) run->subject.step = step, run->subject.time = time;
  return fx_run_times(run, args);
}

/* Where the bodies stood at the start, as the first frame has it. */
static void remember_start(fx_run_file *file, fx_run *run) {
  frix_frame frame = {.size = sizeof frame};
  if (frix_trajectory_frame(file->trajectory, 0, &frame) != FRIX_OK) return;
  for (int32_t k = 0; k < frame.body_count; k++)
    fx_account_start(&run->account, frame.body[k].id, frame.body[k].state.center);
}

/* The newest checkpoint that can be read; those behind it are lost, which is said. */
static bool find_checkpoint(fx_run_file *file, fx_run *run, const char *path, frix_snapshot **out) {
  int32_t count = frix_trajectory_checkpoint_count(file->trajectory), k = count - 1;
  for (; k >= 0; k--) {
    frix_status status = frix_trajectory_checkpoint(file->trajectory, k, NULL, &file->kept, out);
    if (status == FRIX_OK) break;
    if (status != FRIX_ERROR_FORMAT) return failed(run);
    fx_warning("%s", frix_error_text(run->context));
  }
  if (k < 0) {
    fx_error("%s: no checkpoint to continue from; start the run again", path);
    return false;
  }
  int64_t last = file->kept;
  frix_trajectory_frame_time(file->trajectory, frix_trajectory_frame_count(file->trajectory) - 1, &last, NULL);
  if (k + 1 < count)
    fx_warning("%s: %d of %d checkpoints are lost; continuing at step %" PRId64 ", the steps to %" PRId64
               " are made again",
               path, (int)(count - 1 - k), (int)count, file->kept, last);
  file->checkpoint = k;
  return true;
}

/* Reports what is lost: frames after the checkpoint are cut off and made again, damaged frames before it stay. */
static bool tell_damage(fx_run_file *file, fx_run *run, const char *path) {
  const char *trouble = frix_trajectory_trouble(file->trajectory);
  if (trouble) fx_warning("%s: %s; continuing at step %" PRId64, path, trouble, file->kept);
  int32_t damaged = 0, count = frix_trajectory_frame_count(file->trajectory);
  for (int32_t k = 0; k < count; k++) {
    frix_frame frame;
    int64_t step = 0;
    frix_status status = frix_trajectory_frame_time(file->trajectory, k, &step, NULL);
    if (status == FRIX_OK && step > file->kept) break;
    if (status == FRIX_OK) status = frix_trajectory_frame(file->trajectory, k, &frame);
    if (status != FRIX_OK && status != FRIX_ERROR_FORMAT) return failed(run);
    if (status == FRIX_ERROR_FORMAT && damaged++ == 0) fx_warning("%s", frix_error_text(run->context));
  }
  if (damaged) fx_warning("%s: %d of %d frames are unreadable; the run continues without them", path, damaged, count);
  return true;
}

/* A sim as the file says, in the state of the checkpoint. */
static bool resume_at(fx_run_file *file, fx_run *run, const char *path, const fx_args *args, frix_snapshot **snapshot) {
  int64_t threads = 1;
  if (!read_subject(file, run, path, args)) return false;
  if (frix_trajectory_config(file->trajectory, &run->config) != FRIX_OK) return failed(run);
  if (!fx_arg_integer(args, "--threads", 1, 1024, &threads)) return false;
  run->config.thread_count = (int32_t)threads;
  run->config.policy = fx_arg(args, "--strict") ? FRIX_POLICY_STRICT : FRIX_POLICY_REPORT;
  if (run->subject.own) { /* for sims of the model that was read again */
    frix_snapshot_destroy(*snapshot);
    *snapshot = NULL;
    if (frix_trajectory_checkpoint(file->trajectory, file->checkpoint, run->subject.own, NULL, snapshot))
      return failed(run);
  }
  return (frix_sim_create(run->context, run->subject.model, &run->config, &run->sim) == FRIX_OK &&
          frix_sim_restore(run->sim, *snapshot) == FRIX_OK) ||
         failed(run);
}

static bool resume(fx_run_file *file, fx_run *run, const char *path, const fx_args *args) {
  frix_snapshot *snapshot = NULL;
  if (frix_trajectory_open(run->context, path, &file->trajectory) != FRIX_OK) return failed(run);
  if (!find_checkpoint(file, run, path, &snapshot)) return false;
  bool good = resume_at(file, run, path, args, &snapshot);
  frix_snapshot_destroy(snapshot);
  if (!good || !tell_damage(file, run, path)) return false;
  if (fx_arg(args, "--time") && run->step_count < frix_sim_step_count(run->sim))
    fx_warning("--time %s: the run is at %g s already, no step is made", fx_arg(args, "--time"),
               frix_sim_time(run->sim));
  fx_account_begin(&run->account, run->sim, run->subject.model);
  remember_start(file, run);
  if (frix_trajectory_tally(file->trajectory, file->checkpoint, &run->account.tally) != FRIX_OK) return failed(run);
  return frix_recorder_append(run->context, path, file->checkpoint, &file->recorder) == FRIX_OK || failed(run);
}

fx_run_file *fx_run_file_read(fx_run *run, const char *path, const fx_args *args) {
  fx_run_file *file = file_new();
  if ((frix_trajectory_open(run->context, path, &file->trajectory) == FRIX_OK || failed(run)) &&
      read_subject(file, run, path, args) &&
      (frix_trajectory_config(file->trajectory, &run->config) == FRIX_OK || failed(run)))
    return file;
  fx_run_file_free(file);
  return NULL;
}

const fx_args *fx_run_file_args(const fx_run_file *file) { return &file->args; }

fx_run_file *fx_run_file_resume(fx_run *run, const char *path, const fx_args *args) {
  fx_run_file *file = file_new();
  if (resume(file, run, path, args)) return file;
  frix_sim_destroy(run->sim);
  run->sim = NULL;
  fx_run_file_free(file);
  return NULL;
}
