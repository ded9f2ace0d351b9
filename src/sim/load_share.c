/* Which forces, where the rigid law has several: those of equal, vanishing compliance.
 *
 * A rigid body on more than three feet has many pressures that hold it, and while it slides each of them has another
 * friction and another motion. With a compliance e in all rows of contacts there is one,
 *
 *   u = H' v + w + e (r - r_c)
 *
 * r_c = 0 gives the least forces but for O(e), which are not yet rigid; then r_c := r, again and again (the proximal
 * point method), lets the compliance go: what r has in directions that move nothing stays as r_c = 0 made it, and the
 * rest becomes rigid by a factor e / (e + eigenvalue of W) a time. The answer is certified as rigid, or is not taken.
 * Islands of contacts that carry something are answered one by one, so that one without an answer holds up no other.
 * The answer depends neither on the method nor on its start. Reference: R. T. Rockafellar, Monotone operators and the
 * proximal point algorithm, 1976. */
#include "sim/step.h"

#include <math.h>
#include <string.h>

#define SLIDING 1e-6 /* friction is at its bound but for this part */

/* Iterations of newton without half the residual, after which a round is given up. Heaps of 40 boxes: 524 of 790
 * islands have an answer, 640 of 820 with 400, at .6 of the time. */
#define PATIENCE "10"

/* MOST_BODIES: of an island. Heaps of 40 to 60 boxes, 50 capsules and 50 mixed bodies, toppling stacks and struck card
 * houses: of islands of one body 67 % have an answer, of 2 to 8 44 %, of 9 to 24 23 %, and of 634 larger ones none. */
enum { MOST_CONTACTS = 1000, MOST_BODIES = 24, MOST_STEPS = 10, NEWTON_STEPS = 60 };

/* Compliances, of the mean weight of the rows: first those from r_c = 0 on, each from the answer of the one before,
 * then the last one again and again from r_c = r. */
static const double compliance[] = {1e-1, 1e-3, 1e-5, 1e-6};

enum { COMPLIANCES = sizeof compliance / sizeof *compliance };

/* ---- is there a choice? ---- */

/* A velocity below is rounding of a step. */
static double noise_of(const frix_sim *sim) { return 1e-9 * sim->h * (1e-3 + fx_norm(sim->state.gravity)); }

/* Whether a rigid contact carries something, or could: it stays closed. */
static bool is_closed(const frix_sim *sim, const fx_assembly *a, const fx_group *g, double noise) {
  if (g->kind != FX_GROUP_CONTACT || sim->surface[g->source].stiffness > 0.0) return false; /* springs have no choice */
  return a->r[g->row] > 0.0 || a->u[g->row] + a->w[g->row] - a->drive[g->row] <= noise;
}

/* Islands of too many bodies are not asked. */
static void skip_large(const frix_sim *sim, const fx_step_islands *islands, int32_t *bodies, uint8_t *island) {
  for (int32_t m = 0; m < sim->mover_count; m++)
    if (islands->of_mover[m] >= 0) bodies[islands->of_mover[m]]++;
  for (int32_t k = 0; k < islands->count; k++)
    if (bodies[k] > MOST_BODIES) island[k] = 0;
}

/* At the bound, and moving. */
static bool slides(const fx_assembly *a, const fx_group *g, double noise) {
  const double *r = a->r + g->row, *u = a->u + g->row;
  double friction = 0.0, slip = 0.0;
  for (int32_t k = 1; k < g->dim && k < 3; k++) friction += r[k] * r[k], slip += u[k] * u[k];
  return g->dim > 1 && r[0] > 0.0 && sqrt(slip) > noise &&
         sqrt(friction) >= (1.0 - SLIDING) * a->law[g - a->group].mu * r[0];
}

/* By island: whether a contact slides, and whether two bodies share more closed contacts than a plane between them
 * needs. Contacts of a pair stand together. */
enum { SLIDES = 1, REDUNDANT = 2, CHOICE = SLIDES | REDUNDANT };

static bool find_choices(const frix_sim *sim, const fx_assembly *a, const fx_step_islands *islands, uint8_t *island) {
  int32_t pair[2] = {-1, -1}, count = 0;
  double noise = noise_of(sim);
  bool any = false;
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    if (!is_closed(sim, a, g, noise)) continue;
    const fx_contact *c = &sim->contact[g->source];
    bool same = c->body_a == pair[0] && c->body_b == pair[1];
    count = same ? count + 1 : 1;
    pair[0] = c->body_a, pair[1] = c->body_b;
    uint8_t *flags = &island[fx_island_of(islands, g)];
    if (count > (g->dim == 2 ? 2 : 3)) *flags |= REDUNDANT;
    if (!(*flags & SLIDES) && slides(a, g, noise)) *flags |= SLIDES;
    any |= *flags == CHOICE;
  }
  return any;
}

static bool applies(const frix_sim *sim, const fx_assembly *a) {
  return sim->config.law == FRIX_LAW_COULOMB && !sim->springs && !a->rolls && sim->deadline == 0.0 &&
         sim->report.certified && !sim->report.approximate && sim->problem.contact_count <= MOST_CONTACTS;
}

/* Groups of an island; a group that touches another one and carries nothing is left out. */
static void mark_island(const fx_assembly *a, const fx_step_islands *islands, int32_t island, uint8_t *mark) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    mark[k] = g->body_count > 0;
    for (int32_t b = 0; b < g->body_count; b++) mark[k] &= islands->of_mover[g->mover[b]] == island;
  }
}

/* ---- the rule ---- */

/* An island with compliance, and the answer at hand. */
typedef struct share {
  frix_sim *sim;
  fx_assembly rows;
  frix_problem problem;
  double *R, *r_c, *r, *u, *v;
  double weight; /* mean of the rows of contacts */
  const frix_options *options;
} share;

static frix_status take(share *s, const fx_assembly *whole, const uint8_t *mark, fx_arena *arena) {
  frix_sim *sim = s->sim;
  fx_assembly *a = &s->rows;
  frix_status status = fx_assembly_select(whole, mark, arena, a);
  if (status == FRIX_OK) status = fx_rows_count(sim, a);
  if (status == FRIX_OK) status = fx_rows_build(sim, a, arena, &sim->problem);
  if (status != FRIX_OK) return status;
  s->problem = sim->problem;
  s->R = FX_TAKE(arena, double, a->row_count);
  s->r_c = FX_TAKE(arena, double, a->row_count);
  s->r = FX_TAKE(arena, double, a->row_count);
  s->u = FX_TAKE(arena, double, a->row_count);
  s->v = FX_TAKE(arena, double, sim->problem.dof_count);
  if (!s->R || !s->r_c || !s->r || !s->u || !s->v) return FRIX_ERROR_MEMORY;
  double sum = 0.0;
  int32_t rows = 0;
  for (int32_t k = 0; k < a->joint_first; k++)
    for (int32_t j = 0; j < a->group[k].dim && a->group[k].kind == FX_GROUP_CONTACT; j++, rows++)
      sum += fx_group_weight(sim, a, &a->group[k], j);
  s->weight = rows ? sum / rows : 0.0;
  memcpy(s->R, a->R, (size_t)a->row_count * sizeof *s->R);
  memcpy(s->r_c, a->r_c, (size_t)a->row_count * sizeof *s->r_c);
  memcpy(s->r, a->r, (size_t)a->row_count * sizeof *s->r);
  s->problem.R = s->R;
  s->problem.r_c = s->r_c;
  return FRIX_OK;
}

/* One solution of the compliant problem from r, into r. */
static frix_status solve(share *s, bool *good) {
  frix_sim *sim = s->sim;
  frix_solve_config config = frix_solve_default();
  config.solver = "newton";
  config.tolerance = fmax(1e-3 * sim->config.tolerance, 1e-13);
  config.max_iterations = NEWTON_STEPS;
  config.options = s->options;
  config.thread_count = sim->config.thread_count;
  config.guess_r = s->r;
  config.guess_lambda = s->r + s->problem.row_count;
  frix_solution *solution;
  frix_result result;
  frix_status status = frix_solve(sim->inner, &s->problem, &config, &solution);
  *good = false;
  if (status == FRIX_ERROR_MEMORY) return fx_fail(sim->context, status, "out of memory");
  if (status != FRIX_OK) return FRIX_OK;
  frix_solution_view(solution, &result);
  sim->report.iterations += result.iterations;
  *good = result.certificate.residual <= sim->config.tolerance;
  if (*good) memcpy(s->r, result.r, (size_t)s->rows.row_count * sizeof *s->r);
  frix_solution_destroy(solution);
  return FRIX_OK;
}

/* Compliance of step k; later ones go on from the answer. */
static void set_compliance(share *s, int step) {
  double R = s->weight * compliance[step < COMPLIANCES ? step : COMPLIANCES - 1];
  for (int32_t k = 0; k < s->rows.joint_first; k++) {
    const fx_group *g = &s->rows.group[k];
    for (int32_t j = g->row; j < g->row + g->dim && g->kind == FX_GROUP_CONTACT; j++) {
      s->R[j] = R;
      s->r_c[j] = step < COMPLIANCES ? 0.0 : s->r[j];
    }
  }
}

/* The answer of one island into r; left as it was where none is certified. */
static frix_status share_island(share *s, const fx_assembly *whole, const uint8_t *mark, fx_arena *arena, double *r) {
  frix_sim *sim = s->sim;
  bool good = true, rigid = false;
  frix_certificate certificate;
  frix_status status = take(s, whole, mark, arena);
  for (int step = 0; status == FRIX_OK && good && !rigid && step < MOST_STEPS; step++) {
    set_compliance(s, step);
    status = solve(s, &good);
    if (status != FRIX_OK || !good || step < COMPLIANCES) continue;
    status = fx_rows_judge(sim, &s->rows, s->r, s->u, s->v, &certificate);
    rigid = status == FRIX_OK && certificate.residual <= sim->config.tolerance;
  }
  for (int32_t k = 0, row = 0; rigid && k < whole->group_count; k++) {
    const fx_group *g = &whole->group[k];
    if (!mark[k]) continue;
    memcpy(r + g->row, s->r + row, (size_t)g->dim * sizeof *r);
    row += g->dim;
  }
  return status;
}

frix_status fx_retry_loads(frix_sim *sim, fx_round round, fx_redo *redo) {
  fx_assembly *a = &sim->rows;
  fx_arena *arena = &sim->arena;
  fx_step_islands islands;
  (void)round, (void)redo;
  if (!applies(sim, a)) return FRIX_OK;
  frix_status status = fx_step_islands_find(sim, a, &islands);
  if (status != FRIX_OK) return status;
  uint8_t *island = FX_TAKE(arena, uint8_t, islands.count);
  int32_t *bodies = FX_TAKE(arena, int32_t, islands.count);
  if (!island || !bodies) return FRIX_ERROR_MEMORY;
  if (!find_choices(sim, a, &islands, island)) return FRIX_OK;
  skip_large(sim, &islands, bodies, island);
  uint8_t *mark = FX_TAKE_RAW(arena, uint8_t, a->group_count);
  double *r = FX_TAKE_RAW(arena, double, a->row_count), *u = FX_TAKE_RAW(arena, double, a->row_count);
  double *v = FX_TAKE_RAW(arena, double, sim->problem.dof_count);
  if (!mark || !r || !u || !v) return FRIX_ERROR_MEMORY;
  memcpy(r, a->r, (size_t)a->row_count * sizeof *r);
  frix_options *options;
  status = frix_options_create(sim->inner, &options);
  if (status == FRIX_OK) status = frix_options_set(options, "newton.patience", PATIENCE);
  for (int32_t k = 0; k < islands.count && status == FRIX_OK; k++) {
    if (island[k] != CHOICE) continue;
    share s = {.sim = sim, .options = options};
    mark_island(a, &islands, k, mark);
    status = share_island(&s, a, mark, arena, r);
  }
  frix_options_destroy(options);
  if (status == FRIX_OK) status = fx_rows_count(sim, a);
  if (status != FRIX_OK || !memcmp(r, a->r, (size_t)a->row_count * sizeof *r)) return status;
  frix_certificate certificate;
  status = fx_rows_judge(sim, a, r, u, v, &certificate);
  bool rigid = status == FRIX_OK && certificate.residual <= sim->config.tolerance;
  return rigid ? fx_take_answer(sim, a, r, v, &certificate) : status;
}
