/* frix run: a scene or a world, step by step, every step with its certificate. */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "page.h"

/* ---- settings */

bool fx_run_times(fx_run *run, const fx_args *args) {
  double time = run->subject.time;
  run->h = run->subject.step;
  if (!fx_arg_real(args, "--dt", 1e-9, 1e3, &run->h) || !fx_arg_real(args, "--time", 0, 1e12, &time)) return false;
  if (!fx_arg_integer(args, "--every", 1, INT64_MAX, &run->every)) return false;
  if (!fx_arg_integer(args, "--checkpoint", 1, INT64_MAX, &run->checkpoint)) return false;
  double steps = floor(time / run->h + 0.5);
  if (!(steps <= 1e15)) {
    fx_error("--time %g with steps of %g s is too many steps", time, run->h);
    return false;
  }
  if (steps == 0 && time > 0) {
    fx_error("--time %g is less than half a step of %g s", time, run->h);
    return false;
  }
  run->step_count = (int64_t)steps;
  return true;
}

static bool read_flags(fx_run *run, const fx_args *args) {
  run->out = fx_arg(args, "--out");
  run->page = fx_arg(args, "--html");
  run->csv = fx_arg(args, "--csv");
  run->problems = fx_arg(args, "--export-problems");
  run->poses = fx_arg(args, "--poses");
  run->json = fx_arg(args, "--json") || run->poses;
  run->quiet = fx_arg(args, "--quiet");
  run->every = 1, run->checkpoint = 200;
  const char *resumed = fx_arg(args, "--resume");
  if (!resumed == (args->word_count == 0)) {
    fx_error(resumed ? "--resume continues the scene of its file: give no other scene"
                     : "usage: frix run SCENE|FILE, or frix run --resume FILE: see 'frix help run'");
    return false;
  }
  if (resumed && run->out && strcmp(resumed, run->out)) {
    fx_error("--resume appends to its own file: copy the file first to keep both");
    return false;
  }
  if (!resumed && !fx_check_outputs(run->context, (const char *[]){run->out, run->page}, 2)) return false;
  if ((run->page || fx_arg(args, "--live")) && !fx_page_available()) return false;
  if (run->page && !run->out && !resumed) { /* a page is made from a file, which may go then */
    run->scratch = fx_new_file(run->page, ".frx");
    run->out = run->scratch;
    if (!run->out) return false;
  }
  if (run->problems && mkdir(run->problems, 0777) && errno != EEXIST) {
    fx_error("%s: cannot make the directory: %s", run->problems, strerror(errno));
    return false;
  }
  return true;
}

/* ---- problems of single steps */

static bool have_fclib(void) {
  for (int k = 0; frix_format_table(k); k++)
    if (!strcmp(frix_format_table(k)->name, "fclib")) return frix_format_table(k)->available;
  return false;
}

/* Into fclib where it is there and has a place for everything in the problem, else into JSON. */
static frix_status write_problem(const fx_run *run, const frix_problem *problem) {
  char name[64];
  frix_status status = FRIX_ERROR_UNSUPPORTED;
  for (int json = !have_fclib(); json < 2 && status == FRIX_ERROR_UNSUPPORTED; json++) {
    snprintf(name, sizeof name, "/step_%08" PRId64 "%s", frix_sim_step_count(run->sim), json ? ".json" : ".hdf5");
    char *path = fx_join(run->problems, name);
    status = frix_problem_write(problem, path, NULL);
    free(path);
  }
  return status;
}

static bool export_problem(const fx_run *run) {
  frix_problem *problem = NULL;
  bool good = frix_sim_problem(run->sim, &problem) == FRIX_OK && write_problem(run, problem) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(run->context));
  frix_problem_destroy(problem);
  return good;
}

/* ---- stepping */

typedef struct outputs {
  fx_run_file *file;
  fx_run_csv *csv;
  fx_run_robot *robot;
  double shown; /* when the progress line was last written */
} outputs;

static void show_progress(const fx_run *run, const frix_step_report *report, outputs *o) {
  double now = fx_now(), wall = now - run->account.wall;
  if (run->quiet || now - o->shown < 0.1 || !fx_progress_wanted()) return;
  o->shown = now;
  double done = (double)run->account.made, left = (double)(run->step_count - frix_sim_step_count(run->sim));
  char eta[32];
  fx_format_seconds(wall / done * left, eta, sizeof eta);
  /* a narrow terminal cuts the end off, so what is waited for comes first */
  fx_progress("t %.3f of %g s, %s left, %.2fx real time, %d contacts, residual %.1e, penetration %.1e m",
              frix_sim_time(run->sim), (double)run->step_count * run->h, eta, done * run->h / wall,
              (int)report->touching_count, report->certificate.residual, report->penetration);
}

/* What is due after a step; false after a message. */
static bool put_step(fx_run *run, const frix_step_report *report, outputs *o) {
  int64_t step = frix_sim_step_count(run->sim);
  bool due = step % run->every == 0;
  fx_step_view view = {report, run->sim, run->subject.model};
  fx_account_add(&run->account, &view, step, run->config.tolerance);
  show_progress(run, report, o);
  if (run->live) fx_live_show(run->live, run, report);
  if (o->csv && due) fx_run_csv_add(o->csv, &view);
  if (run->problems && due && report->contact_count > 0 && !export_problem(run)) return false;
  return !o->file || fx_run_file_add(o->file, run, report);
}

static bool step_all(fx_run *run, outputs *o) {
  while (frix_sim_step_count(run->sim) < run->step_count) {
    frix_step_report report;
    if (fx_interrupted(NULL)) {
      run->interrupted = true;
      break;
    }
    double h = run->length ? run->length[frix_sim_step_count(run->sim)] : run->h;
    if (!fx_subject_drive(&run->subject, run->context, run->sim, h)) return false;
    fx_run_robot_drive(o->robot, run->sim);
    frix_status status = frix_sim_step(run->sim, h, &report);
    if (status == FRIX_ERROR_CERTIFICATE) {
      run->broken = true;
      fx_error("%s: the strict run ends here", frix_error_text(run->context));
      break;
    }
    if (status != FRIX_OK) {
      fx_error("%s", frix_error_text(run->context));
      return false;
    }
    if (!put_step(run, &report, o) || !fx_run_robot_sense(o->robot, run)) return false;
  }
  return true;
}

/* ---- the verb */

/* --accuracy: contacts are rigid, since springs that depend on the step would have no limit to come near to. */
static bool plan_steps(fx_run *run, const fx_args *args) {
  double accuracy = 0;
  if (!fx_arg(args, "--accuracy")) return true;
  if (!fx_arg_real(args, "--accuracy", 1e-12, 1e3, &accuracy)) return false;
  if (fx_arg(args, "--live") || fx_arg(args, "--ctrl") || fx_arg(args, "--ctrl-file") || run->step_count == 0) {
    fx_error("--accuracy: not with --live or controls, and for a time above 0");
    return false;
  }
  frix_vec3 g = frix_model_gravity(run->subject.model);
  double fall = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
  if (!fx_arg(args, "--contact")) run->config.contact = FRIX_CONTACT_KIND_RIGID;
  if (!fx_arg(args, "--integrator")) run->config.integrator = "variational";
  run->config.restitution_speed = 0.1 * sqrt(2 * fall * accuracy); /* slower ones rise by less than a hundredth of it */
  return fx_run_plan(run, accuracy);
}

static bool start(fx_run *run, const fx_args *args, outputs *o) {
  const char *resumed = fx_arg(args, "--resume");
  if (resumed) {
    run->out = resumed;
    o->file = fx_run_file_resume(run, resumed, args);
    if (o->file && !fx_run_robot_open(run, fx_run_file_args(o->file), args, &o->robot)) return false;
  } else {
    if (!fx_subject_read(args, args->word[0], &run->subject) || !fx_run_times(run, args)) return false;
    if (!fx_sim_settings(run->context, args, &run->config, &run->options)) return false;
    if (!fx_subject_build(&run->subject, run->context) || !fx_run_times(run, args)) return false;
    if (!plan_steps(run, args)) return false;
    if (frix_sim_create(run->context, run->subject.model, &run->config, &run->sim) != FRIX_OK) {
      fx_error("%s: %s", run->subject.word, frix_error_text(run->context));
      return false;
    }
    if (!fx_run_robot_open(run, args, args, &o->robot)) return false;
    fx_account_begin(&run->account, run->sim, run->subject.model);
    if (run->out) o->file = fx_run_file_create(run, args);
  }
  if (run->out && !o->file) return false;
  /* once more: now it is known what was read, and which file the run is written to */
  if (!fx_check_output(run->context, run->page)) return false;
  if (run->csv) o->csv = fx_run_csv_open(run->context, run->csv);
  return !run->csv || o->csv;
}

/* The page opens, and the run begins when it asks for frames. */
static bool go_live(fx_run *run, const fx_args *args) {
  int64_t port = 0;
  if (!fx_arg(args, "--live")) return true;
  if (!fx_arg_integer(args, "--port", 0, 65535, &port)) return false;
  run->live = fx_live_open(run, port);
  if (!run->live) return false;
  const char *address = fx_live_address(run->live);
  bool opened = !fx_arg(args, "--no-open") && fx_open_browser(address);
  fx_remark(opened ? "live: %s" : "live: open %s in a browser; the run begins then", address);
  if (!fx_live_wait(run->live)) run->interrupted = true;
  return true;
}

static bool write_page(const fx_run *run) {
  fx_page_config config = fx_page_default();
  int32_t damaged = 0;
  return !run->page || fx_page_write(run->context, run->out, run->page, &config, &damaged);
}

static int run_run(const fx_args *args) {
  fx_run run = {.context = fx_context(false)};
  outputs o = {0};
  fx_catch_interrupt();
  bool good = read_flags(&run, args) && start(&run, args, &o) && go_live(&run, args) && step_all(&run, &o);
  fx_live_close(run.live);
  fx_progress_clear();
  if (run.sim) fx_account_end(&run.account);
  /* the file is made whole in any case */
  if (!fx_run_csv_close(o.csv)) good = false;
  if (!fx_run_robot_close(o.robot, good)) good = false;
  if (run.sim && !fx_run_file_close(o.file, &run)) good = false;
  if (good) good = write_page(&run);
  if (good && run.json) fx_run_json(&run);
  if (good && !run.json && !run.quiet) fx_run_print(&run);
  if (good && !run.json && !run.quiet && run.accuracy.wanted > 0) fx_run_tell_accuracy(&run);
  bool all = (run.accuracy.wanted == 0 || run.accuracy.reached) && !run.broken && !run.interrupted &&
             run.account.tally.certified == run.account.tally.steps;
  int code = fx_missing_code(&run.subject.missing, all ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED);
  if (run.scratch) unlink(run.scratch);
  free(run.scratch);
  free(run.length);
  fx_account_free(&run.account);
  frix_sim_destroy(run.sim);
  fx_run_file_free(o.file);
  frix_options_destroy(run.options);
  fx_subject_free(&run.subject);
  frix_context_destroy(run.context);
  return good ? code : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    {"--set", "k=v", NULL,
     "set a parameter of the scene (levels=4) or an option of a solver (nsgs.relaxation=1.1); may be repeated"},
    {"--time", "T", NULL, "simulated time in s; default: the scene's"},
    {"--dt", "H", NULL, "time step in s; default: the scene's"},
    {"--accuracy", "X", NULL, "choose time steps so that positions are within X metres over the run (docs/explain.md)"},
    {"--seed", "N", NULL, "seed of the random parts of the scene; if not 0, exact worlds are perturbed slightly"},
    FX_SIM_FLAGS,
    {"--out", "FILE", NULL, "write the run to FILE (.frx): frames and checkpoints"},
    {"--html", "PAGE", NULL, "write a replay page, one HTML file for any browser"},
    {"--live", NULL, NULL, "show the run in a browser while it is computed, at most in real time"},
    {"--port", "N", NULL, "port of the live page; default: a free one"},
    {"--no-open", NULL, NULL, "print the address of the live page instead of opening a browser"},
    {"--csv", "PREFIX", NULL, "write PREFIX_steps.csv and PREFIX_bodies.csv"},
    {"--export-problems", "DIR", NULL, "write the contact problem of each step as a file, fclib or JSON"},
    {"--ctrl", "NAME=X", NULL, "robots: set the control of an actuator from the start (*: all); may be repeated"},
    {"--ctrl-file", "FILE", NULL, "robots: read controls over time from a table time,NAME,NAME..."},
    {"--sensors", "FILE", NULL, "robots: write the sensor values after each step as CSV"},
    {"--every", "K", NULL, "write frames, CSV rows and problems of every K-th step only"},
    {"--checkpoint", "N", NULL, "write a checkpoint every N steps (default 200) and at the end"},
    {"--resume", "FILE", NULL, "continue a run from its last checkpoint with the same bits; --time may be longer"},
    {"--json", NULL, NULL, "print one JSON object instead of the summary"},
    {"--poses", NULL, NULL, "print JSON with the poses and velocities of all bodies at the end"},
    {"--strict", NULL, NULL, "stop at the first step that is not certified"},
    {"--quiet", NULL, NULL, "print no progress line and no summary"},
    {0},
};

const fx_verb fx_verb_run = {
    .name = "run",
    .arguments = "SCENE|FILE",
    .summary = "simulate a scene or file and certify every step",
    .detail =
        "'frix list scenes' lists the scenes and their parameters. FILE is a world in MJCF (.xml) or URDF. Ctrl-C "
        "stops after\n"
        "the current step and leaves a valid file. Exit code 0: every step is certified to the tolerance; 1: some are "
        "not, or\n"
        "Ctrl-C stopped the run; 2: bad usage or input; 3: every step is certified, but the file uses unsupported "
        "features or\n"
        "nothing in it can move.",
    .example =
        "  frix run cardhouse\n"
        "  frix run cardhouse --set blow=3 --live\n"
        "  frix run arch --set shape=catenary --set blow=leg --out arch.frx\n"
        "  frix run --resume arch.frx --time 20\n"
        "  frix run cannonball --set levels=20 --set mu=0.2 --json\n"
        "  frix run hand.xml --key open --ctrl grip=0.8 --sensors felt.csv",
    .flag = flags,
    .words = "@scenes",
    .max_words = 1,
    .run = run_run,
};
