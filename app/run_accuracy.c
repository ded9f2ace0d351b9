/* frix run --accuracy: steps as long as the motion allows.
 *
 * Each step is made once with h and once as two halves, which are kept; the distance of both ends, in metres, is the
 * estimate, and may be tolerance x h / T. Where it is larger h is shortened, down to `shortest`: so the times of
 * impacts and of changes between sticking and sliding are found, across which a step is as wrong as it is long. Every
 * step obeys the law as exactly as ever; only the times at which it is asked for change. Estimates say nothing about
 * what the motion does to errors: the run is planned again with a quarter of the tolerance, and both must agree to the
 * accuracy at all of SAMPLES times. Where they do not, the tolerance is lowered; a motion that stays apart, or that has
 * more impacts than MOST_TRIALS can find, is told, with the time up to which it is right. */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SAMPLES = 64,
  PASSES = 5,
  MOST_TRIALS = 20000
}; /* trials: of a pass; what is left of it then takes plain steps */

typedef struct body_size {
  frix_body_id id;
  double gyration; /* radius of */
} body_size;

typedef struct plan {
  const fx_run *run;
  double end, tolerance, shortest, longest;
  body_size *body;
  int32_t body_count;
  double *length; /* of the steps */
  int64_t count, room, located, trials;
  double exhausted; /* s: from here on steps are plain; INFINITY: nowhere */
  frix_vec3 *place; /* SAMPLES x body_count */
  bool certified;
} plan;

/* ---- states ---- */

static void list_bodies(plan *p) {
  const frix_model *model = p->run->subject.model;
  int32_t count = frix_model_count(model).body_count;
  p->body = fx_grow(NULL, (size_t)count + 1, sizeof *p->body);
  for (int32_t k = 0; k < count; k++) {
    frix_body_config b;
    frix_body_id id = frix_model_body_at(model, k);
    if (frix_model_body(model, id, &b) != FRIX_OK || b.kind != FRIX_BODY_DYNAMIC || b.spawn_only) continue;
    double inertia = b.planar ? b.inertia.zz : 0.5 * (b.inertia.xx + b.inertia.yy + b.inertia.zz);
    p->body[p->body_count++] = (body_size){id, sqrt(inertia / b.mass)};
  }
}

static void get_states(const plan *p, const frix_sim *sim, frix_body_state *out) {
  for (int32_t k = 0; k < p->body_count; k++) {
    memset(&out[k], 0, sizeof out[k]);
    if (frix_sim_alive(sim, p->body[k].id)) frix_sim_body(sim, p->body[k].id, &out[k]);
  }
}

static double length_of(frix_vec3 a, frix_vec3 b) {
  double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return sqrt(x * x + y * y + z * z);
}

/* Metres: of the centres, and of points at the radius of gyration. */
static double distance(const plan *p, const frix_body_state *a, const frix_body_state *b) {
  double most = 0;
  for (int32_t k = 0; k < p->body_count; k++) {
    frix_quat q = a[k].pose.q, r = b[k].pose.q;
    double same = fabs(q.w * r.w + q.x * r.x + q.y * r.y + q.z * r.z);
    double turn = 2 * sqrt(fmax(2 - 2 * fmin(same, 1), 0)); /* of small angles */
    most = fmax(most, length_of(a[k].center, b[k].center) + turn * p->body[k].gyration);
  }
  return most;
}

/* ---- one pass ---- */

static bool take(const plan *p, frix_sim *sim, double h, int parts, bool *certified) {
  for (int k = 0; k < parts; k++) {
    frix_step_report report;
    if (!fx_subject_drive(&p->run->subject, p->run->context, sim, h / parts)) return false;
    if (frix_sim_step(sim, h / parts, &report) != FRIX_OK) {
      fx_error("%s", frix_error_text(p->run->context));
      return false;
    }
    *certified &= report.certified;
  }
  return true;
}

static void keep_steps(plan *p, double h) {
  if (p->count + 2 > p->room) {
    p->room = p->room ? 2 * p->room : 1024;
    p->length = fx_grow(p->length, (size_t)p->room, sizeof *p->length);
  }
  p->length[p->count++] = 0.5 * h;
  p->length[p->count++] = 0.5 * h;
}

typedef struct trial {
  frix_sim *sim;
  frix_body_state *whole, *halves;
  double h; /* what the next step begins with */
} trial;

/* One accepted step of at most `room` seconds; false after a message. */
static bool advance(plan *p, trial *t, double room) {
  bool plain = p->trials >= MOST_TRIALS;
  if (plain) p->exhausted = fmin(p->exhausted, frix_sim_time(t->sim));
  double h = fmin(plain ? p->run->h : t->h, room);
  for (;; p->trials++) {
    frix_snapshot *before = NULL;
    bool certified = true, ignored = true;
    bool good = frix_sim_save(t->sim, &before) == FRIX_OK && take(p, t->sim, h, 1, &ignored);
    if (good) get_states(p, t->sim, t->whole), good = frix_sim_restore(t->sim, before) == FRIX_OK;
    good = good && take(p, t->sim, h, 2, &certified);
    if (good) get_states(p, t->sim, t->halves);
    double error = good ? distance(p, t->whole, t->halves) : 0, allowed = p->tolerance * h / p->end;
    bool last = h <= p->shortest * 1.000001, accepted = error <= allowed || last || plain;
    if (good && !accepted) good = frix_sim_restore(t->sim, before) == FRIX_OK;
    frix_snapshot_destroy(before);
    if (!good || fx_interrupted(NULL)) return false;
    double factor = error > 0 ? 0.9 * sqrt(allowed / error) : 2;
    if (accepted) {
      p->located += last && error > allowed;
      p->certified &= certified;
      t->h = fmin(fmax(h, t->h < room ? h : t->h) * fmin(fmax(factor, 0.5), 2), p->longest);
      keep_steps(p, h);
      p->trials++;
      return true;
    }
    h = fmax(h * fmin(fmax(factor, 0.1), 0.5), p->shortest);
  }
}

static bool run_pass(plan *p) {
  trial t = {.h = fmin(p->run->h, p->longest)};
  size_t bodies = (size_t)p->body_count;
  t.whole = fx_grow(NULL, bodies + 1, sizeof *t.whole), t.halves = fx_grow(NULL, bodies + 1, sizeof *t.halves);
  p->place = fx_grow(p->place, (size_t)SAMPLES * bodies + 1, sizeof *p->place);
  p->count = p->located = p->trials = 0, p->certified = true, p->exhausted = INFINITY;
  bool good = frix_sim_create(p->run->context, p->run->subject.model, &p->run->config, &t.sim) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(p->run->context));
  double now = 0; /* by the lengths of the steps: it meets the samples exactly */
  for (int k = 0; good && k < SAMPLES; k++) {
    double until = p->end * (k + 1) / SAMPLES;
    while (good && until - now > 1e-9 * p->end) {
      int64_t first = p->count;
      fx_progress("accuracy: %.4f of %g s, steps of %.1e s", now, p->end, t.h);
      good = advance(p, &t, until - now);
      for (int64_t n = first; good && n < p->count; n++) now += p->length[n];
    }
    if (good) get_states(p, t.sim, t.whole);
    for (size_t n = 0; good && n < bodies; n++) p->place[(size_t)k * bodies + n] = t.whole[n].center;
  }
  fx_progress_clear();
  frix_sim_destroy(t.sim);
  free(t.whole);
  free(t.halves);
  return good;
}

/* ---- passes that agree ---- */

/* The largest distance at the samples, and the time up to which it is within the accuracy. */
static double compare(const plan *p, const frix_vec3 *before, double accuracy, double *until) {
  double most = 0;
  *until = p->end;
  for (int k = 0; k < SAMPLES; k++)
    for (int32_t n = 0; n < p->body_count; n++) {
      size_t at = (size_t)k * (size_t)p->body_count + (size_t)n;
      most = fmax(most, length_of(before[at], p->place[at]));
      if (most > accuracy && *until == p->end) *until = p->end * k / SAMPLES;
    }
  return most;
}

static double fastest_fall(const fx_run *run, double time) {
  frix_vec3 g = frix_model_gravity(run->subject.model);
  return 1 + sqrt(g.x * g.x + g.y * g.y + g.z * g.z) * fmin(time, 1);
}

bool fx_run_plan(fx_run *run, double accuracy) {
  fx_accuracy *a = &run->accuracy;
  plan p = {.run = run, .end = (double)run->step_count * run->h, .tolerance = 0.5 * accuracy};
  frix_vec3 *before = NULL;
  p.shortest = fmax(1e-2 * accuracy / fastest_fall(run, p.end), 1e-9), p.longest = p.end / SAMPLES;
  list_bodies(&p);
  size_t size = (size_t)SAMPLES * (size_t)p.body_count + 1;
  before = fx_grow(NULL, size, sizeof *before);
  *a = (fx_accuracy){.wanted = accuracy, .until = p.end};
  bool good = run_pass(&p);
  for (int k = 1; good && k < PASSES && !a->reached && !isfinite(p.exhausted); k++) {
    memcpy(before, p.place, size * sizeof *before);
    p.tolerance *= 0.25, p.shortest = fmax(0.25 * p.shortest, 1e-9);
    good = run_pass(&p);
    double last = k > 1 ? a->found : INFINITY;
    if (good) a->found = compare(&p, before, accuracy, &a->until), a->passes = k + 1;
    if (a->found > accuracy && a->found > 0.7 * last) break; /* shorter steps do not bring them nearer */
    a->reached = good && a->found <= accuracy && !isfinite(p.exhausted);
  }
  a->until = fmin(a->until, p.exhausted);
  if (!a->passes) a->found = INFINITY;
  a->located = p.located;
  run->length = good ? p.length : NULL;
  if (good) run->step_count = p.count;
  if (!good) free(p.length);
  free(p.place);
  free(p.body);
  free(before);
  return good;
}

void fx_run_tell_accuracy(const fx_run *run) {
  const fx_accuracy *a = &run->accuracy;
  if (a->reached)
    printf(
        "  accuracy: %.1e m asked for; runs of two tolerances agree to %.1e m; %lld steps at events as short as "
        "allowed\n",
        a->wanted, a->found, (long long)a->located);
  else
    printf(
        "  accuracy: %.1e m %snot reached%s: runs of two tolerances agree to it up to %.4g s and are %.1e m apart "
        "later;\n"
        "  this motion makes small differences large, or has more impacts than can be told apart\n",
        a->wanted, fx_colour_on(FX_RED), fx_colour_off(), a->until, a->found);
}
