/* frix swing: a soft body set free, spinning and bent, and what its energy and momenta do; with --floor, how it meets
 * one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "soft_report.h"

typedef struct course {
  double time, h;
  int64_t steps;
  frix_vec3 gravity;
  frix_soft_integrator integrator;
  bool floor;
  double height, mu;
  int64_t stack; /* bodies on each other */
} course;

typedef struct outcome {
  int64_t steps;
  double first, last, largest; /* energy at both ends, and the largest relative change on the way */
  double spin, momentum;       /* relative changes of the momenta, without what gravity does */
  double reach;                /* largest displacement of a surface point by deformation, in m */
  double seconds;
  /* with a floor */
  int64_t certified, contacts; /* steps; largest number of contacts */
  int32_t coordinates;
  double residual, solve, overlap, lost; /* worst; seconds in all; m; J lost to friction */
} outcome;

static double norm(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
static frix_vec3 minus(frix_vec3 a, frix_vec3 b) { return (frix_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* About the centre of mass, which gravity leaves alone. */
static frix_vec3 spin_of(const frix_soft_state *x, const frix_soft_energy *e) {
  frix_vec3 p = frix_soft_get_frame(x).pose.p, m = e->momentum;
  return minus(e->spin_momentum, (frix_vec3){p.y * m.z - p.z * m.y, p.z * m.x - p.x * m.z, p.x * m.y - p.y * m.x});
}

static double reach_of(const frix_soft *soft, const double *q) {
  frix_soft_info info = frix_soft_view(soft);
  double most = 0;
  for (int32_t i = 0; i < info.point_count; i++) {
    double d[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++)
      for (int32_t j = 0; j < info.coordinates; j++)
        d[a] += q[j] * info.shape[(3 * (size_t)i + a) * info.coordinates + j];
    most = fmax(most, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  }
  return most;
}

/* MODE=METRES: the amplitude at which the mode's largest displacement is that. */
static bool bend(const fx_args *args, const frix_soft *soft, frix_soft_state *x) {
  frix_soft_info info = frix_soft_view(soft);
  double *q = fx_grow(NULL, (size_t)info.coordinates, sizeof *q);
  memset(q, 0, (size_t)info.coordinates * sizeof *q);
  const char *text;
  bool fine = true;
  for (int cursor = 0; fine && (text = fx_arg_next(args, "--bend", &cursor));) {
    char *end;
    long mode = strtol(text, &end, 10);
    const char *number = end + 1;
    double metres = *end == '=' ? strtod(number, &end) : NAN;
    fine = isfinite(metres) && *end == 0 && end != number && mode >= 1 && mode <= info.coordinates;
    if (!fine) {
      fx_error("--bend: expected MODE=METRES with a mode from 1 to %d, not '%s'", (int)info.coordinates, text);
      break;
    }
    double *one = fx_grow(NULL, (size_t)info.coordinates, sizeof *one);
    memset(one, 0, (size_t)info.coordinates * sizeof *one);
    one[mode - 1] = 1;
    q[mode - 1] = metres / reach_of(soft, one);
    free(one);
  }
  fine = fine && !frix_soft_set(x, q, NULL);
  free(q);
  return fine;
}

/* HEIGHT,MU */
static bool get_floor(const fx_args *args, course *c) {
  const char *text = fx_arg(args, "--floor");
  if (!text) return true;
  char *end, *last = NULL;
  c->height = strtod(text, &end);
  if (end != text && *end == ',') c->mu = strtod(end + 1, &last);
  c->floor = last && last != end + 1 && !*last && isfinite(c->height) && c->mu >= 0 && isfinite(c->mu);
  if (!c->floor) fx_error("--floor: expected HEIGHT,MU, not '%s'", text);
  return c->floor;
}

static bool begin(const fx_args *args, const frix_soft *soft, frix_soft_state *x, course *c) {
  frix_soft_frame frame = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}};
  c->integrator = fx_arg_choice(args, "--integrator", 0) ? FRIX_SOFT_IMPLICIT : FRIX_SOFT_VARIATIONAL;
  if (!fx_arg_real(args, "--time", 1e-9, 1e9, &c->time) || !fx_arg_real(args, "--step", 1e-9, 10, &c->h) ||
      !fx_arg_vec(args, "--spin", &frame.spin) || !fx_arg_vec(args, "--velocity", &frame.velocity) ||
      !fx_arg_vec(args, "--gravity", &c->gravity) || !get_floor(args, c) ||
      !fx_arg_integer(args, "--stack", 1, 100, &c->stack) || !bend(args, soft, x))
    return false;
  c->steps = (int64_t)(c->time / c->h + 0.5);
  if (c->steps < 1) c->steps = 1;
  return !frix_soft_set_frame(x, &frame);
}

static void csv_row(FILE *file, double time, const frix_soft_state *x, const frix_soft_energy *e, int32_t k) {
  frix_soft_frame frame = frix_soft_get_frame(x);
  fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", time, e->kinetic, e->elastic, e->gravity, frame.pose.p.x,
          frame.pose.p.y, frame.pose.p.z);
  for (int32_t j = 0; j < k; j++) fprintf(file, ",%.17g", frix_soft_amplitude(x)[j]);
  fputc('\n', file);
}

static void csv_head(FILE *file, int32_t k) {
  fprintf(file, "time,kinetic,elastic,gravity,x,y,z");
  for (int32_t j = 0; j < k; j++) fprintf(file, ",q%d", (int)j + 1);
  fputc('\n', file);
}

/* All bodies of a stack. */
static frix_soft_energy energy_of(frix_soft_world *world, frix_vec3 gravity) {
  frix_soft_energy sum = frix_soft_energy_of(frix_soft_world_state(world, 0), gravity);
  const frix_soft_state *x;
  for (int32_t k = 1; (x = frix_soft_world_state(world, k)); k++) {
    frix_soft_energy e = frix_soft_energy_of(x, gravity);
    sum.kinetic += e.kinetic, sum.elastic += e.elastic, sum.gravity += e.gravity;
  }
  return sum;
}

/* One step, free or with the floor. */
static frix_status step(frix_soft_world *world, frix_soft_state *x, const course *c, outcome *o) {
  if (!c->floor) return frix_soft_step(x, c->integrator, c->h, c->gravity);
  frix_soft_report r;
  frix_status status = frix_soft_world_step(world, c->h, c->gravity, &r);
  o->certified += r.certified;
  o->contacts = r.contacts > o->contacts ? r.contacts : o->contacts;
  o->coordinates = r.coordinates;
  o->residual = fmax(o->residual, r.residual), o->overlap = fmax(o->overlap, r.deepest);
  o->solve += r.seconds, o->lost -= r.contact_work;
  return status;
}

static frix_status go(const frix_soft *soft, frix_soft_world *world, const course *c, FILE *csv, outcome *o) {
  frix_soft_state *x = frix_soft_world_state(world, 0);
  int32_t k = frix_soft_view(soft).coordinates;
  frix_soft_energy e = energy_of(world, c->gravity), start = e;
  frix_vec3 spin0 = spin_of(x, &e);
  double mass = frix_soft_view(soft).mass, scale = e.kinetic + e.elastic, from = fx_now();
  *o = (outcome){.first = e.kinetic + e.elastic + e.gravity, .reach = reach_of(soft, frix_soft_amplitude(x))};
  if (csv) csv_head(csv, k), csv_row(csv, 0, x, &e, k);
  for (int64_t n = 0; n < c->steps && !fx_interrupted(NULL); n++) {
    frix_status status = step(world, x, c, o);
    if (status) return status;
    e = energy_of(world, c->gravity);
    scale = fmax(scale, e.kinetic + e.elastic);
    o->last = e.kinetic + e.elastic + e.gravity;
    o->largest = fmax(o->largest, fabs(o->last - o->first));
    o->steps++;
    double t = (double)o->steps * c->h;
    frix_vec3 fall = {mass * c->gravity.x * t, mass * c->gravity.y * t, mass * c->gravity.z * t};
    double size = fmax(norm(start.momentum), norm(e.momentum)), turn = norm(spin0);
    if (size > 0) o->momentum = fmax(o->momentum, norm(minus(minus(e.momentum, start.momentum), fall)) / size);
    if (turn > 0) o->spin = fmax(o->spin, norm(minus(spin_of(x, &e), spin0)) / turn);
    if (csv) csv_row(csv, t, x, &e, k);
    if (n % 64 == 0) {
      o->reach = fmax(o->reach, reach_of(soft, frix_soft_amplitude(x)));
      fx_progress("%.3g s", t);
    }
  }
  if (scale > 0) o->largest /= scale;
  o->seconds = fx_now() - from;
  return FRIX_OK;
}

static void report(const char *path, const course *c, const outcome *o, bool as_json) {
  const char *name = c->floor || c->integrator == FRIX_SOFT_IMPLICIT ? "implicit" : "variational";
  if (as_json) {
    fx_json json = {stdout, false};
    fx_put_open(&json, NULL, '{');
    fx_put_text(&json, "file", path);
    fx_put_text(&json, "integrator", name);
    fx_put_integer(&json, "steps", o->steps);
    fx_put_real(&json, "step", c->h);
    fx_put_real(&json, "energy", o->first);
    fx_put_real(&json, "energy_end", o->last);
    fx_put_real(&json, "energy_change", o->largest);
    if (c->floor) {
      fx_put_integer(&json, "certified", o->certified);
      fx_put_integer(&json, "contacts", o->contacts);
      fx_put_integer(&json, "coordinates", o->coordinates);
      fx_put_real(&json, "residual", o->residual);
      fx_put_real(&json, "overlap", o->overlap);
      fx_put_real(&json, "lost", o->lost);
      fx_put_real(&json, "solve_seconds", o->solve);
    } else {
      fx_put_real(&json, "momentum_change", o->momentum);
      fx_put_real(&json, "spin_change", o->spin);
    }
    fx_put_real(&json, "deformation", o->reach);
    fx_put_real(&json, "seconds", o->seconds);
    fx_put_close(&json, '}');
    fx_put_end_line(&json);
    return;
  }
  char time[32];
  fx_format_seconds(o->seconds / (double)o->steps, time, sizeof time);
  printf("%s: %lld %s steps of %g s, %s each\n", path, (long long)o->steps, name, c->h, time);
  printf("  energy       %.9g J -> %.9g J, largest change %.1e\n", o->first, o->last, o->largest);
  if (c->floor) {
    fx_format_seconds(o->solve / (double)o->steps, time, sizeof time);
    printf("  certified    %lld of %lld steps, worst residual %.1e, %s a solve\n", (long long)o->certified,
           (long long)o->steps, o->residual, time);
    printf("  contacts     up to %lld on %d coordinates, overlap up to %.1e m, friction took %.4g J\n",
           (long long)o->contacts, (int)o->coordinates, o->overlap, o->lost);
  } else
    printf("  momentum     changed by %.1e beside gravity\n  spin         momentum changed by %.1e\n", o->momentum,
           o->spin);
  printf("  deformation  up to %.4g m\n", o->reach);
}

/* The others of a stack, each as high above the one below as the body is. */
static frix_status put_stack(frix_soft_world *world, const frix_soft *soft, const course *c) {
  frix_soft_info info = frix_soft_view(soft);
  double low = info.point[0].z, high = low;
  for (int32_t k = 0; k < info.point_count; k++) low = fmin(low, info.point[k].z), high = fmax(high, info.point[k].z);
  frix_status status = frix_soft_world_friction(world, c->mu);
  for (int64_t k = 1; k < c->stack && !status; k++) {
    frix_soft_frame frame = frix_soft_get_frame(frix_soft_world_state(world, 0));
    frame.pose.p.z += (double)k * (high - low);
    status = frix_soft_world_add(world, soft, NULL);
    if (!status) status = frix_soft_set_frame(frix_soft_world_state(world, (int32_t)k), &frame);
  }
  return status;
}

static bool put_floor(frix_context *context, frix_soft_world *world, const frix_soft *soft, const course *c) {
  if (!c->floor && c->stack > 1) {
    fx_error("--stack: bodies are stacked on a floor: --floor HEIGHT,MU");
    return false;
  }
  if (!c->floor) return true;
  frix_soft_obstacle plane = {.kind = FRIX_SOFT_PLANE, .point = {0, 0, c->height}, .direction = {0, 0, 1}, .mu = c->mu};
  if (!frix_soft_world_obstacle(world, &plane) && (c->stack < 2 || !put_stack(world, soft, c))) return true;
  fx_error("%s", frix_error_text(context));
  return false;
}

static int run_swing(const fx_args *args) {
  frix_context *context = fx_context(false);
  frix_soft *soft = NULL;
  frix_soft_world *world = NULL;
  course c = {.time = 1, .h = 1e-3, .stack = 1};
  outcome o;
  const char *path = fx_arg(args, "--csv");
  int code = FX_EXIT_USAGE;
  fx_catch_interrupt();
  if (frix_soft_read(context, args->word[0], &soft) || frix_soft_world_create(context, &world) ||
      frix_soft_world_add(world, soft, NULL)) {
    fx_error("%s", frix_error_text(context));
  } else if (begin(args, soft, frix_soft_world_state(world, 0), &c) && fx_check_output(context, path) &&
             put_floor(context, world, soft, &c)) {
    fx_output *csv = path ? fx_output_open(context, path) : NULL;
    if (!path || csv) {
      frix_status status = go(soft, world, &c, csv ? csv->file : NULL, &o);
      fx_progress_clear();
      bool kept = fx_output_close(csv, !status);
      if (status) fx_error("%s", frix_error_text(context));
      if (!status) report(args->word[0], &c, &o, fx_arg(args, "--json"));
      bool certified = !c.floor || o.certified == o.steps;
      if (!status && kept) code = certified ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    }
  }
  frix_soft_world_destroy(world);
  frix_soft_destroy(soft);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--time", "T", NULL, "simulated time in s (1)"},
    {"--step", "H", NULL, "time step in s (1e-3)"},
    {"--integrator", "NAME", "variational|implicit", "time integrator (default variational)"},
    {"--bend", "MODE=METRES", NULL, "largest displacement of a mode at the start; may be repeated"},
    {"--spin", "X,Y,Z", NULL, "spin at the start in rad/s"},
    {"--velocity", "X,Y,Z", NULL, "velocity at the start in m/s"},
    {"--gravity", "X,Y,Z", NULL, "gravity in m/s^2 (0,0,0)"},
    {"--floor", "HEIGHT,MU", NULL, "add a floor; steps are then implicit and certified"},
    {"--stack", "N", NULL, "stack N bodies, with the floor's friction"},
    {"--csv", "FILE", NULL, "write energies, centre and amplitudes of every step"},
    {"--json", NULL, NULL, "print one JSON object"},
    {0}};

const fx_verb fx_verb_swing = {
    .name = "swing",
    .arguments = "BODY.frixsoft",
    .summary = "simulate a soft body, free or on a floor",
    .detail =
        "Bends and spins a body made by frix soften, releases it, and reports the changes of energy and momenta\n"
        "(docs/soft.md).",
    .example =
        "  frix swing bar.frixsoft --bend 1=0.05 --spin 0,3,0 --time 10\n"
        "  frix swing bar.frixsoft --gravity 2,0,-9.81 --floor -0.1,0.5",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_swing,
};
