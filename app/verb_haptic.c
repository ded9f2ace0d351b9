/* frix haptic: a hand in a simulation, a thousand times a second.
 *
 * The hand (device.h) is coupled to a body by a spring and a damper in six coordinates, both implicit:
 *   F = k (x_hand - x) + c (v_hand - v),   T = k_r theta + c_r (w_hand - w)
 * and feels -F. A step has a deadline (frix_sim_step_within): what is not certified by then is cut back so that it
 * takes energy out, and is counted. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "subject.h"

#include <frix/trajectory.h>

static const fx_device *const devices[] = {&fx_device_press, &fx_device_path};
enum { DEVICES = sizeof devices / sizeof *devices, BINS = 7 };

static const double bin_end[BINS] = {10e-6, 30e-6, 100e-6, 300e-6, 1e-3, 3e-3, INFINITY};
static const char *const bin_name[BINS] = {"10 us", "30 us", "100 us", "300 us", "1 ms", "3 ms", "more"};

typedef struct course {
  double h, time, budget, stiffness, damping;
  bool waits;
  int64_t every;
} course;

typedef struct outcome {
  int64_t steps, certified, late, contacts, coordinates, bin[BINS];
  double residual, missed; /* worst of all steps; worst velocity error of those that are not certified, m/s */
  double force, brought;   /* largest force felt; energy that contacts brought in */
  double *wall, *cpu;      /* of every step, s */
} outcome;

/* ---- the coupling ---- */

typedef struct coupling {
  frix_body_id body;
  double k, c, turning, turning_damping;
} coupling;

/* The vector of the turn from one orientation to another. */
static frix_vec3 turn_between(frix_quat to, frix_quat from) {
  frix_quat back = {from.w, -from.x, -from.y, -from.z};
  frix_quat q = {to.w * back.w - to.x * back.x - to.y * back.y - to.z * back.z,
                 to.w * back.x + to.x * back.w + to.y * back.z - to.z * back.y,
                 to.w * back.y - to.x * back.z + to.y * back.w + to.z * back.x,
                 to.w * back.z + to.x * back.y - to.y * back.x + to.z * back.w};
  double sign = q.w < 0 ? -2 : 2; /* 2 sin(angle/2): the angle itself for small ones */
  return (frix_vec3){sign * q.x, sign * q.y, sign * q.z};
}

static frix_vec3 pull(double k, frix_vec3 off, double c, frix_vec3 rate) {
  return (frix_vec3){k * off.x + c * rate.x, k * off.y + c * rate.y, k * off.z + c * rate.z};
}

static frix_vec3 less(frix_vec3 a, frix_vec3 b) { return (frix_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

static double size_of(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static frix_sym3 same(double x) { return (frix_sym3){x, x, x, 0, 0, 0}; }

/* Force and torque of the hand on the body as they are. */
static void forces(const coupling *g, const frix_body_state *s, const fx_hand *hand, frix_vec3 *force,
                   frix_vec3 *torque) {
  *force = pull(g->k, less(hand->pose.p, s->pose.p), g->c, less(hand->velocity, s->velocity));
  *torque = pull(g->turning, turn_between(hand->pose.q, s->pose.q), g->turning_damping, less(hand->spin, s->spin));
}

static frix_status couple(frix_sim *sim, const coupling *g, const fx_hand *hand) {
  frix_body_state s;
  frix_vec3 force, torque;
  frix_status status = frix_sim_body(sim, g->body, &s);
  if (status) return status;
  forces(g, &s, hand, &force, &torque);
  status = frix_sim_add_force(sim, g->body, force, torque);
  return status ? status : frix_sim_add_slope(sim, g->body, same(g->k), same(g->c), same(g->turning_damping));
}

/* ---- the loop ---- */

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double moment) {
  double whole = floor(moment);
  struct timespec t = {(time_t)whole, (long)(1e9 * (moment - whole))};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

static void count(outcome *o, const frix_step_report *r, double lateness, double wall, double cpu) {
  int bin = 0;
  while (lateness > bin_end[bin]) bin++;
  o->bin[bin]++;
  o->wall[o->steps] = wall, o->cpu[o->steps++] = cpu;
  o->certified += r->certified;
  o->residual = fmax(o->residual, r->certificate.residual);
  if (!r->certified) o->missed = fmax(o->missed, r->certificate.worst_velocity);
  if (r->contact_count > o->contacts) o->contacts = r->contact_count;
  if (r->dof_count > o->coordinates) o->coordinates = r->dof_count;
}

static frix_status go(const fx_subject *subject, frix_context *context, frix_sim *sim, const course *c,
                      const coupling *g, const fx_device *device, void *handle, frix_recorder *recorder, outcome *o) {
  double start = clock_now();
  int64_t steps = (int64_t)floor(c->time / c->h + 0.5);
  frix_status status = recorder ? frix_recorder_add(recorder, sim, NULL) : FRIX_OK;
  for (int64_t n = 0; n < steps && !status && !fx_interrupted(NULL); n++) {
    double due = start + (double)n * c->h;
    if (c->waits && clock_now() < due) wait_until(due);
    double begun = clock_now(), cpu = cpu_now(), before = frix_sim_energy(sim).contact;
    fx_hand hand;
    frix_body_state s;
    frix_vec3 force, torque;
    frix_step_report r = {.size = sizeof r};
    device->read(handle, (double)(n + 1) * c->h, &hand);
    if (!fx_subject_drive(subject, context, sim, c->h)) return FRIX_ERROR_INPUT;
    if ((status = couple(sim, g, &hand))) break;
    status = c->budget > 0 ? frix_sim_step_within(sim, c->h, 1e6 * c->budget, &r) : frix_sim_step(sim, c->h, &r);
    if (status || (status = frix_sim_body(sim, g->body, &s))) break;
    forces(g, &s, &hand, &force, &torque);
    if (device->feel)
      device->feel(handle, (frix_vec3){-force.x, -force.y, -force.z}, (frix_vec3){-torque.x, -torque.y, -torque.z});
    double lateness = c->waits ? begun - due : 0;
    count(o, &r, lateness, clock_now() - begun, cpu_now() - cpu);
    o->late += lateness > c->h;
    o->force = fmax(o->force, size_of(force));
    o->brought += fmax(0, frix_sim_energy(sim).contact - before);
    if (recorder && (n + 1) % c->every == 0) status = frix_recorder_add(recorder, sim, &r);
  }
  return status;
}

/* ---- what came of it ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double at_share(const double *sorted, int64_t count, double share) {
  int64_t k = (int64_t)ceil(share * (double)count) - 1;
  return count ? sorted[k < 0 ? 0 : k] : 0;
}

static void put_json(const char *word, const course *c, const outcome *o) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "scene", word);
  fx_put_integer(&json, "steps", o->steps);
  fx_put_real(&json, "step", c->h);
  fx_put_integer(&json, "certified", o->certified);
  fx_put_integer(&json, "late", o->late);
  fx_put_integer(&json, "contacts", o->contacts);
  fx_put_integer(&json, "coordinates", o->coordinates);
  fx_put_real(&json, "residual", o->residual);
  fx_put_real(&json, "missed", o->missed);
  fx_put_real(&json, "force", o->force);
  fx_put_real(&json, "energy_brought", o->brought);
  fx_put_real(&json, "cpu_median", at_share(o->cpu, o->steps, 0.5));
  fx_put_real(&json, "cpu_99", at_share(o->cpu, o->steps, 0.99));
  fx_put_real(&json, "cpu_999", at_share(o->cpu, o->steps, 0.999));
  fx_put_real(&json, "wall_999", at_share(o->wall, o->steps, 0.999));
  fx_put_open(&json, "lateness", '[');
  for (int k = 0; k < BINS; k++) fx_put_integer(&json, NULL, o->bin[k]);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static void print(const char *word, const course *c, const outcome *o) {
  double most = 0;
  printf("%s: %lld steps of %g s%s\n", word, (long long)o->steps, c->h, c->waits ? " in real time" : "");
  printf("  certified    %lld steps, %.2f %%; the law is missed by %.1e m/s at most in the others\n",
         (long long)o->certified, 100.0 * (double)o->certified / (double)(o->steps ? o->steps : 1), o->missed);
  printf("  problem      up to %lld contacts on %lld coordinates\n", (long long)o->contacts, (long long)o->coordinates);
  printf("  step         %.0f us of CPU in the middle, %.0f us at 99 %%, %.0f us at 99.9 %%\n",
         1e6 * at_share(o->cpu, o->steps, 0.5), 1e6 * at_share(o->cpu, o->steps, 0.99),
         1e6 * at_share(o->cpu, o->steps, 0.999));
  printf("  force        up to %.3g N felt; contacts brought in %.1e J\n", o->force, o->brought);
  if (!c->waits) return;
  printf("  lateness     of the beginning of a step; %lld began more than a step late\n", (long long)o->late);
  for (int k = 0; k < BINS; k++) most = fmax(most, (double)o->bin[k]);
  for (int k = 0; k < BINS; k++) {
    printf("    %-7s %8lld ", bin_name[k], (long long)o->bin[k]);
    for (int j = 0; j < (int)ceil(40 * (double)o->bin[k] / fmax(most, 1)); j++) putchar('#');
    putchar('\n');
  }
}

/* ---- the verb ---- */

static bool read_course(const fx_args *args, course *c) {
  double rate = 1000, budget = 500;
  *c = (course){.time = 10, .stiffness = 1000, .damping = -1, .waits = !fx_arg(args, "--fast"), .every = 10};
  if (!fx_arg_real(args, "--rate", 1, 1e5, &rate) || !fx_arg_real(args, "--time", 0, 1e6, &c->time) ||
      !fx_arg_real(args, "--budget", 0, 1e6, &budget) || !fx_arg_real(args, "--stiffness", 0, 1e9, &c->stiffness) ||
      !fx_arg_real(args, "--damping", 0, 1e9, &c->damping) || !fx_arg_integer(args, "--every", 1, 1000000, &c->every))
    return false;
  c->h = 1 / rate, c->budget = 1e-6 * budget;
  return true;
}

/* The body that is held: the named one, else "hand", else the last that moves. */
static bool find_body(const fx_args *args, const frix_model *model, const course *c, coupling *g) {
  const char *name = fx_arg(args, "--hold");
  frix_body_config body = frix_body_default();
  g->body = frix_model_find_body(model, name ? name : "hand");
  for (int32_t k = frix_model_count(model).body_count - 1; !name && !g->body.generation && k >= 0; k--) {
    frix_body_id id = frix_model_body_at(model, k);
    if (!frix_model_body(model, id, &body) && body.kind == FRIX_BODY_DYNAMIC) g->body = id;
  }
  if (!g->body.generation || frix_model_body(model, g->body, &body) || body.kind != FRIX_BODY_DYNAMIC) {
    fx_error("no dynamic body is named '%s'", name ? name : "hand");
    return false;
  }
  double inertia = fmax(body.inertia.xx, fmax(body.inertia.yy, body.inertia.zz));
  g->k = c->stiffness;
  g->c = c->damping >= 0 ? c->damping : 2 * sqrt(g->k * body.mass); /* critical */
  g->turning = g->k * inertia / body.mass;
  g->turning_damping = 2 * sqrt(g->turning * inertia);
  return true;
}

static bool run_course(const fx_args *args, frix_context *context, const fx_subject *subject, frix_sim *sim,
                       const course *c, outcome *o) {
  coupling g;
  frix_body_state s;
  frix_recorder *recorder = NULL;
  const char *file = fx_arg(args, "--record"), *path = fx_arg(args, "--path"), *press = fx_arg(args, "--press");
  const fx_device *device = devices[path ? 1 : 0];
  if (!find_body(args, subject->model, c, &g) || !fx_check_output(context, file)) return false;
  frix_status status = frix_sim_body(sim, g.body, &s);
  fx_hand start = {.pose = s.pose};
  void *handle = status ? NULL : device->open(path ? path : press, &start);
  if (!handle) return false;
  if (file) status = frix_recorder_create(context, file, subject->model, "{\"verb\":\"haptic\"}", &recorder);
  size_t steps = (size_t)(c->time / c->h) + 2;
  o->wall = fx_grow(NULL, steps, sizeof *o->wall), o->cpu = fx_grow(NULL, steps, sizeof *o->cpu);
  if (!status) status = go(subject, context, sim, c, &g, device, handle, recorder, o);
  device->close(handle);
  frix_status closed = frix_recorder_close(recorder);
  if (!status) status = closed;
  if (status) fx_error("%s", frix_error_text(context));
  qsort(o->wall, (size_t)o->steps, sizeof *o->wall, compare);
  qsort(o->cpu, (size_t)o->steps, sizeof *o->cpu, compare);
  return !status;
}

static int run_haptic(const fx_args *args) {
  frix_context *context = fx_context(false);
  frix_options *options = NULL;
  frix_sim_config config = frix_sim_default();
  fx_subject subject = {0};
  frix_sim *sim = NULL;
  course c;
  outcome o = {0};
  int code = FX_EXIT_USAGE;
  fx_catch_interrupt();
  if (read_course(args, &c) && fx_subject_read(args, args->word[0], &subject) &&
      fx_sim_settings(context, args, &config, &options) && fx_subject_build(&subject, context)) {
    if (frix_sim_create(context, subject.model, &config, &sim)) {
      fx_error("%s", frix_error_text(context));
    } else if (run_course(args, context, &subject, sim, &c, &o)) {
      if (fx_arg(args, "--json"))
        put_json(args->word[0], &c, &o);
      else
        print(args->word[0], &c, &o);
      code = (double)o.certified >= 0.99 * (double)o.steps ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    }
  }
  free(o.wall);
  free(o.cpu);
  frix_sim_destroy(sim);
  fx_subject_free(&subject);
  frix_options_destroy(options);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--hold", "BODY", NULL, "body held by the hand; default: the body named hand, else the last dynamic body"},
    {"--press", "DEPTH,RADIUS", NULL, "the hand presses once a second and moves in a circle; both in m (0.02,0.02)"},
    {"--path", "FILE", NULL, "the hand follows a table with lines time,x,y,z in m from the body's start"},
    {"--stiffness", "K", NULL, "stiffness of the spring between hand and body in N/m (1000)"},
    {"--damping", "C", NULL, "damping between hand and body in N s/m; default: critical"},
    {"--time", "T", NULL, "simulated time in s (10)"},
    {"--rate", "F", NULL, "steps per second (1000)"},
    {"--budget", "US", NULL, "time for the solve of a step in microseconds (500); 0: no limit"},
    {"--fast", NULL, NULL, "do not wait for real time"},
    {"--record", "FILE", NULL, "write the run to FILE (.frx)"},
    {"--every", "K", NULL, "record every K-th step (10)"},
    {"--set", "k=v", NULL, "set a parameter of the scene or an option of a solver; may be repeated"},
    {"--seed", "N", NULL, "seed of the random parts of the scene"},
    FX_SIM_FLAGS,
    {"--json", NULL, NULL, "print one JSON object"},
    {0}};

const fx_verb fx_verb_haptic = {
    .name = "haptic",
    .arguments = "SCENE",
    .summary = "hold a body of a simulation in real time at 1 kHz",
    .detail =
        "A scripted hand holds a body of the scene by a spring and a damper and measures the contact force. Every step "
        "has a\n"
        "deadline. The report shows how many steps are certified, how late they began, their cost and the force felt\n"
        "(docs/soft.md).",
    .example =
        "  frix haptic touch --time 5\n"
        "  frix haptic soft-stack --hold cube_9 --press 0,0.01 --record held.frx",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_haptic,
};
