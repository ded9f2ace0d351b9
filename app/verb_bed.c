/* frix bed: a bed of many grains, in little memory. */
#include "app.h"

#include <inttypes.h>
#include <string.h>

#include "examples/bed_run.h"

static void list_scenes(void) {
  for (int32_t k = 0; ex_bed_table(k); k++) {
    const ex_bed_scene *s = ex_bed_table(k);
    printf("%-10s %s\n", s->name, s->summary);
    for (int32_t p = 0; p < s->parameter_count; p++)
      printf("  %-12s %-8g %s\n", s->parameter[p].name, s->parameter[p].initial, s->parameter[p].summary);
  }
}

static void show(const frix_bed *bed, const frix_bed_report *r, void *user) {
  (void)user;
  fx_progress("t %.3f s  %" PRId64 " grains  %" PRId64 " contacts  %" PRId64 " sweeps  residual %.1e",
              frix_bed_time(bed), r->grain_count, r->touching_count, r->sweeps, r->certificate.residual);
}

static bool read_job(const fx_args *args, ex_bed_job *job) {
  int64_t threads = job->threads, sweeps = 0, seed = 1;
  const char *setting;
  for (int cursor = 0; (setting = fx_arg_next(args, "--set", &cursor));) {
    const char *trouble = ex_bed_set(job, setting);
    if (!trouble) continue;
    fx_error("--set %s: %s; 'frix bed list' lists all", setting, trouble);
    return false;
  }
  bool good =
      fx_arg_real(args, "--step", 1e-9, 10, &job->h) && fx_arg_real(args, "--time", 0, 1e9, &job->time) &&
      fx_arg_real(args, "--tol", 1e-14, 1, &job->tolerance) && fx_arg_integer(args, "--threads", 1, 256, &threads) &&
      fx_arg_integer(args, "--every", 1, INT64_MAX, &job->every) &&
      fx_arg_integer(args, "--save", 1, INT64_MAX, &job->save) &&
      fx_arg_integer(args, "--sweeps", 1, INT32_MAX, &sweeps) && fx_arg_integer(args, "--seed", 0, INT64_MAX, &seed);
  job->threads = (int32_t)threads, job->max_sweeps = (int32_t)sweeps, job->seed = (uint64_t)seed;
  job->out = fx_arg(args, "--out"), job->resume = fx_arg(args, "--resume"),
  job->contacts = !fx_arg(args, "--no-contacts");
  if (good && job->save && !job->out) {
    fx_error("--save writes beside the run: give --out FILE");
    return false;
  }
  return good;
}

static void print_outcome(const ex_bed_job *job, const ex_bed_outcome *o, bool json) {
  double per_step = o->steps ? o->seconds / (double)o->steps : 0.0;
  double bytes = o->grains ? (double)o->bytes / (double)o->grains : 0.0;
  if (json) {
    fx_json j = {.file = stdout};
    fx_put_open(&j, NULL, '{');
    fx_put_integer(&j, "steps", o->steps);
    fx_put_integer(&j, "certified", o->certified);
    fx_put_real(&j, "tolerance", job->tolerance);
    fx_put_text(&j, "law", ex_bed_law(job));
    fx_put_real(&j, "residual_max", o->worst);
    fx_put_integer(&j, "sweeps", o->sweeps);
    fx_put_integer(&j, "grains", o->grains);
    fx_put_integer(&j, "contacts", o->last.touching_count);
    fx_put_integer(&j, "came", o->came);
    fx_put_integer(&j, "left", o->left);
    fx_put_real(&j, "kinetic", o->last.kinetic);
    fx_put_real(&j, "seconds_per_step", per_step);
    fx_put_real(&j, "bytes_per_grain", bytes);
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, o->hash);
    fx_put_text(&j, "hash", hash);
    fx_put_close(&j, '}');
    fx_put_end_line(&j);
    return;
  }
  printf("%" PRId64 " steps, %" PRId64 " certified to %.0e, %s, largest residual %.1e, %.1f sweeps and %.3g s a step\n",
         o->steps, o->certified, job->tolerance, ex_bed_law(job), o->worst,
         o->steps ? (double)o->sweeps / (double)o->steps : 0.0, per_step);
  printf("%" PRId64 " grains, %" PRId64 " contacts, %.0f bytes per grain, hash %016" PRIx64 "\n", o->grains,
         o->last.touching_count, bytes, o->hash);
  if (o->came || o->left) printf("%" PRId64 " grains came, %" PRId64 " left\n", o->came, o->left);
}

static int run_bed(const fx_args *args) {
  if (!strcmp(args->word[0], "list")) {
    list_scenes();
    return FX_EXIT_SOLVED;
  }
  const ex_bed_scene *scene = ex_bed_find(args->word[0]);
  if (!scene) {
    fx_error("unknown bed '%s': 'frix bed list' lists them", args->word[0]);
    return FX_EXIT_USAGE;
  }
  ex_bed_job job = ex_bed_job_of(scene);
  if (!read_job(args, &job)) return FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  ex_bed_outcome outcome;
  job.tell = show;
  bool good = (!job.out || fx_check_output(context, job.out)) && ex_bed_run(context, &job, &outcome) == FRIX_OK;
  fx_progress_clear();
  if (!good)
    fx_error("%s", frix_error_text(context));
  else
    print_outcome(&job, &outcome, fx_arg(args, "--json"));
  bool certified = good && outcome.certified == outcome.steps;
  frix_context_destroy(context);
  return !good ? FX_EXIT_USAGE : certified ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

static const fx_flag flags[] = {
    {"--set", "k=v", NULL, "set a parameter of the bed (n=400000); may be repeated"},
    {"--time", "T", NULL, "simulated time in s"},
    {"--step", "H", NULL, "time step in s"},
    {"--tol", "E", NULL, "tolerance of the certificate (default 1e-4)"},
    {"--threads", "N", NULL, "number of threads; results have the same bits for any N"},
    {"--sweeps", "N", NULL, "largest number of sweeps per step (default 2000)"},
    {"--seed", "N", NULL, "seed of random positions"},
    {"--out", "RUN.frx", NULL, "write frames for frix view, measure and export"},
    {"--every", "K", NULL, "write a frame every K steps (default 20)"},
    {"--no-contacts", NULL, NULL, "write frames without contacts, which takes less memory"},
    {"--save", "K", NULL, "save the state every K steps to RUN.frx.state"},
    {"--resume", "STATE", NULL, "continue from a saved state, with any number of threads or ranks"},
    {"--json", NULL, NULL, "print the result as one line of JSON"},
    {0},
};

const fx_verb fx_verb_bed = {
    .name = "bed",
    .arguments = "NAME",
    .summary = "simulate many grains in little memory: reactors, shear cells, hoppers, chains",
    .detail =
        "Beds hold spheres, clumps, convex grains and joints between them, with the same contact law and certificate "
        "as\n"
        "other worlds. A sphere takes less than 1 kB of memory and a few microseconds per step. 'frix bed list' lists\n"
        "the beds and their parameters. On many MPI ranks: mpirun -n P frix-mpi bed NAME ... (docs/scale.md).",
    .example =
        "  frix bed pebbles --set n=400000 --tol 1e-3 --time 1 --out reactor.frx   # the whole reactor\n"
        "  frix bed bricks --set form=5 --out bricks.frx                          # boxes, capsules, cylinders\n"
        "  frix bed shear --set pressure=5000 --out shear.frx                     # periodic, servo lid\n"
        "  frix measure reactor.frx --cylinder 0,0,1                               # packing, stress, flow",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_bed,
};
