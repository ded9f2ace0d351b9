/* Wrong answers made on purpose.
 *
 * The certificate is asked directly: impulses of a step are moved along a random direction as far as frix_certify still
 * calls them good, r + a d with the largest a, and the judge says whether they are. No solver stands between. */
#include "attack.h"

#include "judge_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
  frix_context *context;
  frix_problem *problem;
  int rows, joints;
  double *r, *d, *moved; /* rows, then joints */
  problem_bodies bodies;
  double *size;
} answer;

static double residual_of(const answer *a, double way) {
  frix_certificate c = {.residual = INFINITY};
  for (int k = 0; k < a->rows + a->joints; k++) a->moved[k] = a->r[k] + way * a->d[k];
  frix_certify(a->context, a->problem, FRIX_LAW_COULOMB, a->moved, a->moved + a->rows, &c, NULL, NULL);
  return c.residual;
}

/* Along one row, one contact, or all; relative to the impulses there are, or to none. */
static void choose_direction(world *w, const frix_problem_data *p, answer *a) {
  int n = a->rows + a->joints, which = dice(w, 3), row = dice(w, n), contact = 0, end = 0;
  double most = 0;
  for (int k = 0; k < n; k++) most = fmax(most, fabs(a->r[k]));
  memset(a->d, 0, (size_t)n * sizeof *a->d);
  for (int i = 0; i < p->contact_count && end <= row; i++) contact = i, end += p->contact[i].dim;
  int first = end - p->contact[contact].dim;
  for (int k = 0; k < n; k++) {
    bool chosen = which == 0 ? k == row : which == 1 && row < a->rows ? k >= first && k < end : true;
    double size = chance(w, 0.5) ? fabs(a->r[k]) : most;
    if (chosen) a->d[k] = uniform(w, -1, 1) * (size > 0 ? size : 1);
  }
}

/* The largest a with a residual below the tolerance, by doubling and halving; 0: none. */
static double farthest(const answer *a, double tolerance) {
  double low = 0, high = 1e-16;
  if (!(residual_of(a, 0) <= tolerance)) return 0;
  while (high < 1e16 && residual_of(a, high) <= tolerance) low = high, high *= 8;
  for (int k = 0; k < 8 && high < 1e16; k++) {
    double middle = 0.5 * (low + high);
    *(residual_of(a, middle) <= tolerance ? &low : &high) = middle;
  }
  return low;
}

static void attack_answer(world *w, answer *a, tally *t, finding *f, FILE *log) {
  frix_problem_data p;
  frix_problem_view(a->problem, &p);
  for (int k = 0; k < 6; k++) {
    verdict v;
    choose_direction(w, &p, a);
    double way = farthest(a, 1e-8), residual = residual_of(a, way);
    if (!(residual <= 1e-8)) continue;
    judge_answer(a->problem, &a->bodies, FRIX_LAW_COULOMB, a->moved, a->moved + a->rows, &v);
    count_verdict(k, residual, &v, t, f, log);
  }
}

/* Sizes of the bodies that rows act on, in their order; left unknown where these are not all. */
static void find_sizes(const world *w, int dofs, answer *a) {
  frix_model_counts n = frix_model_count(w->model);
  judge *j = judge_new(w->model, &w->config);
  bool *used = calloc((size_t)n.body_count + 2, sizeof *used);
  int count = 0;
  a->size = calloc((size_t)n.body_count + 1, sizeof *a->size);
  for (int k = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report report;
    frix_sim_row(w->sim, k, &report);
    used[report.a.index] = used[report.b.index] = true;
  }
  for (int k = 0; k < n.body_count; k++) {
    frix_body_id body = frix_model_body_at(w->model, k);
    double size = judge_size(j, body);
    if (used[body.index] && size > 0) a->size[count++] = size;
  }
  if (count * a->bodies.dofs == dofs) a->bodies.size = a->size;
  free(used);
  judge_free(j);
}

/* The last step of the world, with its impulses. */
static bool answer_of_step(world *w, answer *out) {
  frix_problem_data p;
  *out = (answer){.context = w->context};
  if (frix_sim_row_count(w->sim) == 0 || frix_sim_problem(w->sim, &out->problem) != FRIX_OK) return false;
  frix_problem_view(out->problem, &p);
  out->rows = p.row_count, out->joints = p.joint_count;
  size_t n = (size_t)(p.row_count + p.joint_count);
  out->r = calloc(3 * n + 3, sizeof *out->r);
  out->d = out->r + n + 1;
  out->moved = out->d + n + 1;
  for (int k = 0, row = 0; k < frix_sim_row_count(w->sim); k++) {
    frix_row_report report;
    frix_sim_row(w->sim, k, &report);
    for (int i = 0; i < report.law.dim; i++) out->r[row++] = report.impulse[i];
  }
  out->bodies = (problem_bodies){.dofs = w->gravity.y != 0 ? 3 : 6, .h = w->h};
  find_sizes(w, p.dof_count, out);
  return p.row_count > 0;
}

void run_attack(world *w, tally *t, finding *f, FILE *log) {
  answer a = {0};
  frix_step_report r = {.size = sizeof r};
  *f = (finding){.step = -1};
  t->worlds++;
  if (!w->sim || w->config.restitution == FRIX_RESTITUTION_POISSON || frix_sim_step(w->sim, w->h, &r) != FRIX_OK)
    t->refused++;
  else if (r.certified && answer_of_step(w, &a))
    attack_answer(w, &a, t, f, log);
  if (a.problem) frix_problem_destroy(a.problem);
  free(a.r);
  free(a.size);
}

/* ---- classes ---- */

static void fill_any(world *w, bool extreme) {
  const world_class *list = extreme ? extreme_classes : ordinary_classes;
  int count = 0;
  while (list[count].name) count++;
  list[dice(w, count)].fill(w);
}

static void fill_attacked(world *w) { fill_any(w, false); }
static void fill_attacked_extreme(world *w) { fill_any(w, true); }

const world_class attack_classes[] = {
    {"attack", "answers of ordinary steps, moved as far as they stay certified", false, fill_attacked, NULL, run_attack,
     FRIX_CONTACT_KIND_RIGID},
    {"attack_extreme", "the same of extreme steps", true, fill_attacked_extreme, NULL, run_attack,
     FRIX_CONTACT_KIND_RIGID},
    {"attack_stiff", "answers of ordinary steps with stiff contacts, moved likewise", false, fill_attacked, NULL,
     run_attack, FRIX_CONTACT_KIND_STIFF},
    {0},
};
