/* The solve of a bed: Gauss-Seidel over contacts, blocks of one colour side by side, with momentum.
 *
 *   y = r + beta (r - r_last);   r_N := max(0, y_N - u_N / (W_N + R)),   r_T := P_{mu r_N}(y_T - u_T / (W_T + R))
 *
 * One contact of spheres is solved exactly by this, since its normal and its friction do not couple. Momentum starts
 * anew where it points uphill [O'Donoghue and Candes, Found. Comput. Math. 15 (2015) 715]. Velocities of the bodies
 * follow every impulse; before the answer is judged they are made anew from all impulses. */
#include "base/threads.h"
#include "bed/bed_internal.h"

#include <string.h>

enum { LATE = 3 };  /* beta = k / (k + LATE) */
#define EARLY 3.0   /* an answer is first judged where a sweep changes it by this many tolerances */
#define RELAXED 0.7 /* of the way to the new impulse, where plain sweeps go round in circles too */

/* ---- blocks, stage by stage ---- */

typedef struct task {
  frix_bed *bed;
  void (*run)(frix_bed *bed, int32_t block);
  int32_t first, end, count;
} task;

static void run_part(int32_t k, void *user) {
  const task *t = user;
  int32_t all = t->end - t->first;
  int32_t from = t->first + (int32_t)((int64_t)all * k / t->count);
  int32_t to = t->first + (int32_t)((int64_t)all * (k + 1) / t->count);
  for (int32_t b = from; b < to; b++) t->run(t->bed, t->bed->stage_block[b]);
}

static void run_blocks(frix_bed *bed, int32_t first, int32_t end, fx_bed_work *run) {
  int32_t threads = bed->config.thread_count;
  task t = {bed, run, first, end, threads > 1 ? 4 * threads : 1};
  fx_parallel(bed->context, threads, t.count, run_part, &t);
}

void fx_bed_for_all(frix_bed *bed, fx_bed_work *run) { run_blocks(bed, 0, bed->stage_start[bed->stage_count], run); }

/* ---- grains ---- */

typedef void grain_work(frix_bed *bed, int32_t first, int32_t end);

typedef struct grain_task {
  frix_bed *bed;
  grain_work *run;
  int32_t first;
} grain_task;

static void run_grains(int32_t part, int32_t first, int32_t end, void *user) {
  const grain_task *t = user;
  (void)part;
  t->run(t->bed, t->first + first, t->first + end);
}

enum { LEAST_GRAINS = 4096 }; /* worth a thread */

static void for_grains(frix_bed *bed, int32_t first, int32_t end, grain_work *run) {
  grain_task t = {bed, run, first};
  if (bed->config.thread_count == 1)
    run_grains(0, 0, end - first, &t);
  else
    fx_parallel_range((fx_threads){bed->context, bed->config.thread_count}, end - first, LEAST_GRAINS, run_grains, &t);
}

static void for_halo(frix_bed *bed, grain_work *run) {
  for (int32_t k = 0; k < bed->halo_count; k++) run(bed, bed->halo[k], bed->halo[k] + 1);
}

/* Blocks in the order of stages, each after `begin` for all grains that it touches; ranks tell each other what has
 * changed. */
static frix_status for_stages(frix_bed *bed, grain_work *begin, fx_bed_work *run, bool energy) {
  int32_t cells = bed->cells * bed->cells * bed->cells, done = 0;
  frix_status status = FRIX_OK;
  for_halo(bed, begin);
  for (int32_t s = 0; s < bed->stage_count && !status; s++) {
    int32_t ready = bed->cell_start[(size_t)bed->stage_ready[s] * (size_t)cells];
    for_grains(bed, done, ready, begin);
    done = ready;
    run_blocks(bed, bed->stage_start[s], bed->stage_start[s + 1], run);
    if (fx_bed_ranks(bed) > 1) status = fx_bed_share(bed, s, energy);
  }
  return status;
}

void fx_bed_grains_of(const frix_bed *bed, int32_t block, int32_t *first, int32_t *end) {
  int32_t cells = bed->cells * bed->cells * bed->cells, slot = bed->slot[block];
  *first = bed->cell_start[slot * cells];
  *end = bed->cell_start[(slot + 1) * cells];
}

/* ---- impulses act ---- */

static inline bool is_zero(frix_vec3 x) { return x.x == 0.0 && x.y == 0.0 && x.z == 0.0; }

/* An impulse dr on the first body of a contact. */
static inline void push(fx_bed_speed *a, fx_bed_speed *b, frix_vec3 n, frix_vec3 dr) {
  frix_vec3 turn = fx_cross(n, dr);
  a->v = fx_mad(a->v, a->inverse_mass, dr);
  a->s = fx_mad(a->s, -2.5 * a->inverse_mass, turn);
  if (!b) return;
  b->v = fx_mad(b->v, -b->inverse_mass, dr);
  b->s = fx_mad(b->s, -2.5 * b->inverse_mass, turn);
}

/* What a contact adds to the energies that its bodies carry (problem/row_speeds.c): roots of 3 r' J M^-1 J' r. */
static void add_energy(double *energy, double inverse_mass, double normal, double across) {
  double root = sqrt(3.0 * inverse_mass);
  energy[0] += root * (normal + across);
  energy[1] += root * sqrt(2.5) * across;
}

static void push_with_arms(frix_bed *bed, int64_t k) {
  const fx_bed_contact *c = &bed->contact[k];
  const fx_bed_arm *arm = &bed->arm[k];
  frix_vec3 r = bed->load[k].r, normal = fx_scale(fx_dot(r, c->n), c->n), across = fx_sub(r, normal);
  fx_bed_arm_push(bed, k, r);
  fx_bed_arm_energy(bed, c->grain, arm->a, normal, across, bed->energy + 2 * (size_t)c->grain);
  if (c->other >= 0) fx_bed_arm_energy(bed, c->other, arm->b, normal, across, bed->energy + 2 * (size_t)c->other);
}

static void push_block(frix_bed *bed, int32_t block) {
  int32_t first, end;
  fx_bed_grains_of(bed, block, &first, &end);
  if (bed->bind_count) fx_bed_bind_push(bed, block);
  for (int32_t i = first; i < end; i++)
    for (int64_t k = bed->contact_start[i]; k < bed->contact_start[i + 1]; k++) {
      const fx_bed_contact *c = &bed->contact[k];
      frix_vec3 r = bed->load[k].r;
      if (is_zero(r)) continue;
      int32_t j = c->other;
      if (bed->has_arms) {
        push_with_arms(bed, k);
        continue;
      }
      push(&bed->speed[i], j >= 0 ? &bed->speed[j] : NULL, c->n, r);
      double normal = fx_dot(r, c->n), across = fx_norm(fx_mad(r, -normal, c->n));
      add_energy(bed->energy + 2 * (size_t)i, bed->speed[i].inverse_mass, normal, across);
      if (j >= 0) add_energy(bed->energy + 2 * (size_t)j, bed->speed[j].inverse_mass, normal, across);
    }
}

static void begin_freely(frix_bed *bed, int32_t first, int32_t end) {
  for (int32_t k = first; k < end; k++) {
    fx_bed_speed *a = &bed->speed[k];
    a->v = bed->free[k].v;
    a->s = bed->free[k].s;
    bed->energy[2 * k] = sqrt(fx_norm2(a->v) / a->inverse_mass);
    bed->energy[2 * k + 1] = sqrt(fx_bed_spin_energy(bed, k, a->s));
  }
}

frix_status fx_bed_refresh(frix_bed *bed) { return for_stages(bed, begin_freely, push_block, true); }

/* ---- sweeps ---- */

/* Velocities of the impulses y. */
static void extrapolate(frix_bed *bed, int32_t first, int32_t end) {
  double beta = bed->momentum;
  for (int32_t k = first; k < end; k++) {
    fx_bed_speed *a = &bed->speed[k];
    fx_bed_motion was = {a->v, a->s};
    a->v = fx_mad(a->v, beta, fx_sub(a->v, bed->last[k].v));
    a->s = fx_mad(a->s, beta, fx_sub(a->s, bed->last[k].s));
    bed->last[k] = was;
  }
}

/* There is nothing to extrapolate from. */
static void begin_again(frix_bed *bed, int32_t first, int32_t end) {
  for (int32_t k = first; k < end; k++) bed->last[k] = (fx_bed_motion){bed->speed[k].v, bed->speed[k].s};
}

static frix_status sweep(frix_bed *bed, double momentum) {
  bed->momentum = momentum;
  frix_status status = for_stages(bed, extrapolate, bed->has_arms ? fx_bed_arm_sweep : fx_bed_sweep_block(), false);
  return status ? status : fx_bed_total(bed, FX_SUM_UPHILL, FX_SUM_SIZE + 1);
}

/* The change by a sweep, relative; an answer of tolerance e changes by about `part` e. */
static double change_of(const frix_bed *bed) {
  double size = bed->total[FX_SUM_SIZE];
  return size > 0.0 ? sqrt(bed->total[FX_SUM_STEP] / size) : 0.0;
}

/* The largest momentum. Where all contacts are springs the problem is strongly monotone, with R / (W + R) at least, and
 * more would overshoot. Friction that follows its normal impulse is no gradient, so that momentum may go round in
 * circles: where the change is not halved within a window, there is to be half as much. In stacks of convex grains and
 * in chains progress is slow and steady, and momentum is what it lives by: there it is halved only where the change
 * grew.
 */
#define LEAST_PART 0.2
#define LITTLE 0.02 /* momentum below which it is not the cause */

typedef struct momentum {
  double most, mark; /* mark: the change at the beginning of the window */
  int32_t window;
} momentum;

enum { WINDOW = 25, PATIENCE = 50 }; /* sweeps after which an answer is judged however much it changes */

static momentum momentum_of(const frix_bed *bed) {
  const fx_bed_law *law = &bed->law[0];
  double root = sqrt(law->R * law->inverse[0]);
  return (momentum){.most = (1.0 - root) / (1.0 + root), .mark = INFINITY};
}

static void watch(frix_bed *bed, momentum *m, double change) {
  if (++m->window < WINDOW) return;
  bool circles = change > (bed->has_shapes || bed->next_joint > 0 ? 1.0 : 0.5) * m->mark;
  if (circles && m->most < LITTLE) bed->part = fx_max(RELAXED * bed->part, LEAST_PART);
  if (circles) m->most *= 0.5;
  m->mark = change;
  m->window = 0;
}

frix_status fx_bed_solve(frix_bed *bed, frix_bed_report *report) {
  double tolerance = bed->config.tolerance, due = EARLY * tolerance;
  momentum m = momentum_of(bed);
  int64_t judged = 0;
  bed->part = 1.0;
  frix_status status = fx_bed_refresh(bed);
  for_halo(bed, begin_again);
  for_grains(bed, 0, bed->own, begin_again);
  report->certificate.residual = INFINITY;
  for (int32_t k = 0; !status && report->certificate.residual > tolerance && report->sweeps < bed->config.max_sweeps;) {
    status = sweep(bed, fx_min((double)k / (k + LATE), m.most));
    report->sweeps++;
    k = bed->total[FX_SUM_UPHILL] > 0.0 ? 0 : k + 1;
    double change = change_of(bed);
    watch(bed, &m, change);
    bool look = change <= due || report->sweeps - judged == PATIENCE || report->sweeps == bed->config.max_sweeps;
    if (status || !look) continue;
    judged = report->sweeps;
    status = fx_bed_judge(bed, &report->certificate);
    if (change <= due) due = change * fx_clamp(0.7 * tolerance / report->certificate.residual, 0.02, 0.7);
  }
  report->certified = report->certificate.residual <= tolerance;
  return status;
}
