/* Is there a `smooth` step whose derivative is wrong? Certified steps of random worlds of all classes of the adversary
 * (integrators, laws of restitution, shapes, joints, trees, rolling, springs, stacks), each along random directions of
 * all data, against central differences of answers to 30 digits (exact_answer.h) whose error is known:
 *
 *   d(t) = (x(t) - x(-t)) / 2t,   e(t) = (4 d(t / 2) - d(t)) / 3,   (16 e(t / 2) - e(t)) / 15,
 *   error: its distance from e(t / 2)
 *
 * A derivative is wrong where it differs by more than 1e-6 of the largest term of its row. Steps that are told to be
 * kinks or not unique, and changes that are refused, are not wrong. */
#include "adversary/random_world.h"
#include "exact_answer.h"
#include "test.h"

#include <stdio.h>
#include <time.h>

#define ALLOWED 1e-6
#define ZERO 1e-5 /* of the largest term or speed counts as nothing: an error of 1e-11 of it */
#define MASS 1e-9 /* an error of M by 1e-15 */

#define COARSE 1e-2 /* differences with a larger error of their own say nothing */

enum { MOST_ROWS = 72, DIRECTIONS = 5, WIDTHS = 9 };

typedef struct count {
  long worlds, steps, smooth, kinks, not_unique, too_large, no_answer, directions, refused, coarse, undecided, wrong;
  double worst, adjoint;
} count;

static double chance_of(uint64_t *state) { /* -1 .. 1 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((int64_t)(z ^ (z >> 31)) >> 11) * 0x1p-52;
}

static double most_of(const double *x, int32_t n) {
  double most = 0;
  for (int32_t k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
  return most;
}

/* ---- directions ---- */

typedef struct direction_data {
  double *f, *w, *b, *mu, *R, *r_c;
} direction_data;

/* Kinds: forces; friction; both; forces, shifts and joints; compliance and memory with forces. */
static void random_direction(const frix_problem_data *p, int kind, uint64_t *random, direction_data *out) {
  double drive = 0, carried = most_of(p->w, p->row_count);
  for (int32_t c = 0; c < p->dof_count; c++)
    for (int32_t k = p->M.p[c]; k < p->M.p[c + 1]; k++)
      if (p->M.i[k] == c) drive = fmax(drive, fabs(p->f[c]) / sqrt(p->M.x[k]));
  for (int32_t c = 0; kind != 1 && c < p->dof_count; c++)
    for (int32_t k = p->M.p[c]; k < p->M.p[c + 1]; k++)
      if (p->M.i[k] == c) out->f[c] = drive * sqrt(p->M.x[k]) * chance_of(random);
  for (int32_t i = 0; (kind == 1 || kind == 2) && i < p->contact_count; i++)
    if (p->contact[i].cone == FRIX_CONE_CIRCULAR || p->contact[i].cone == FRIX_CONE_PLANAR)
      out->mu[i] = p->contact[i].mu * chance_of(random);
  for (int32_t k = 0; kind == 3 && k < p->row_count; k++) out->w[k] = carried * chance_of(random);
  for (int32_t k = 0; kind == 3 && k < p->joint_count; k++) out->b[k] = carried * chance_of(random);
  for (int32_t k = 0; kind == 4 && p->R && k < p->row_count; k++) {
    out->R[k] = 0.5 * p->R[k] * chance_of(random);
    out->r_c[k] = p->r_c ? p->r_c[k] * chance_of(random) : 0;
  }
}

/* ---- one direction ---- */

/* Differences at the width t: of u, v and r. *same: on both sides, contacts are in the modes of the answer. */
static bool differ(exact *x, const exact_change *by, real t, quad *const room[4], real *du, real *dv, real *dr,
                   bool *same) {
  for (int s = 0; s < 2; s++) {
    if (!exact_beside(x, by, s ? t : -t, room[s], room[2 + s])) return false;
    *same &= x->same;
  }
  for (int32_t k = 0; k < x->n; k++) du[k] = (real)((room[3][k] - room[2][k]) / (2 * t));
  for (int32_t k = 0; k < x->n; k++) dr[k] = (real)((room[1][k] - room[0][k]) / (2 * t));
  exact_velocity(x, by, dr, dv);
  return true;
}

/* The largest term of every row of u: what it is the sum of. Rows of du, then of dv. */
static void find_terms(exact *x, const exact_change *by, const real *dr, real *term, real *of_v) {
  const frix_problem_data *p = &x->o.data;
  for (int32_t i = 0; i < x->n; i++) {
    term[i] = i < x->o.row_count && by->w ? fabsl((real)by->w[i]) : 0;
    if (i >= x->o.row_count && by->b) term[i] = fabsl((real)by->b[i - x->o.row_count]);
    for (int32_t j = 0; j < x->n; j++)
      term[i] = fmaxl(term[i], fabsl(x->W[(size_t)i * (size_t)x->n + (size_t)j] * dr[j]));
  }
  memset(of_v, 0, (size_t)p->dof_count * sizeof *of_v);
  for (int32_t k = 0; k < p->dof_count; k++) x->o.v[k] = by->f ? by->f[k] : 0;
  oracle_mass_solve(&x->o.mass, x->o.v, x->o.work);
  for (int32_t k = 0; k < p->dof_count; k++) of_v[k] = fabsl(x->o.v[k]);
  for (int32_t i = 0; i < x->n; i++) {
    int32_t column;
    real constant;
    const frix_matrix *A = oracle_column(&x->o, i, &column, &constant);
    memset(x->o.v, 0, (size_t)p->dof_count * sizeof *x->o.v);
    real along = 0;
    for (int32_t q = A->p[column]; q < A->p[column + 1]; q++)
      x->o.v[A->i[q]] = A->x[q] * dr[i], along = fmaxl(along, fabsl(A->x[q]) * of_v[A->i[q]]);
    oracle_mass_solve(&x->o.mass, x->o.v, x->o.work);
    for (int32_t k = 0; k < p->dof_count; k++) of_v[k] = fmaxl(of_v[k], fabsl(x->o.v[k]));
    term[i] = fmaxl(term[i], along);
  }
}

typedef struct verdict_of {
  double error; /* -1: undecided */
  bool row;
  int32_t at;
  double width, mine, limit, term, sure;
} verdict_of;

/* Rows that nothing changes are zero up to the rounding of others; and what rounding of M does cannot be asked for. */
static void add_rounding(exact *x, const real *dv, real *term, real *of_v) {
  const frix_problem_data *p = &x->o.data;
  real largest = 1e-300L, *mass = calloc((size_t)p->dof_count + 1, sizeof *mass);
  for (int32_t i = 0; i < x->n; i++) largest = fmaxl(largest, fmaxl(term[i], x->sum[i]));
  for (int32_t k = 0; k < p->dof_count; k++) largest = fmaxl(largest, of_v[k]);
  exact_mass_rounding(x, dv, mass);
  for (int32_t k = 0; k < p->dof_count; k++) of_v[k] = fmaxl(of_v[k], fmaxl(ZERO * largest, MASS * mass[k]));
  for (int32_t i = 0; i < x->n; i++) {
    int32_t column;
    real constant;
    const frix_matrix *A = oracle_column(&x->o, i, &column, &constant);
    term[i] = fmaxl(term[i], ZERO * largest);
    for (int32_t q = A->p[column]; q < A->p[column + 1]; q++)
      term[i] = fmaxl(term[i], MASS * fabsl(A->x[q]) * mass[A->i[q]]);
  }
  free(mass);
}

/* The distance of (du, dv) from the differences, over the terms of their rows, at the width whose own error is least.
 * Where a limit opens on one side, differences are as straight as within one mode: widths that leave the modes of the
 * answer count only where all do. */
static verdict_of compare(exact *x, const exact_change *by, double distance, const double *du, const double *dv) {
  int32_t n = x->n, dofs = x->o.data.dof_count;
  size_t m = (size_t)(n > dofs ? n : dofs) + 1;
  quad *wide_room = calloc(4 * m, sizeof *wide_room);
  real *room = calloc(15 * m, sizeof *room), *a[15];
  for (int k = 0; k < 15; k++) a[k] = room + (size_t)k * m;
  quad *const side[4] = {wide_room, wide_room + m, wide_room + 2 * m, wide_room + 3 * m};
  verdict_of best = {.error = -1};
  double sure = INFINITY;
  bool within = false; /* the width of `best` */
  int start = ilogb(0.02 * fmin(distance, 1));
  for (int k = 0; k < WIDTHS && !(within && sure <= 1e-9); k++) {
    real t = ldexpl(1, start - 5 * k);
    bool found = true, same = true;
    real left = 0; /* rows that depend on each other leave some of the law */
    for (int part = 0; part < 3 && found; part++)
      found = differ(x, by, ldexpl(t, -part), side, a[6 + 2 * part], a[7 + 2 * part], a[14], &same),
      left = fmaxl(left, x->beside);
    if (!found) continue;
    find_terms(x, by, a[14], a[12], a[13]);
    add_rounding(x, a[11], a[12], a[13]);
    double own = 0, off = 0;
    real moves = 0; /* the same of velocities */
    for (int32_t i = 0; i < n; i++) moves = fmaxl(moves, x->sum[i]);
    verdict_of now = {.width = (double)t};
    for (int pass = 0; pass < 2; pass++) {
      const real *wide = a[6 + pass], *half = a[8 + pass], *narrow = a[10 + pass], *term = a[12 + pass];
      const double *mine = pass ? dv : du;
      for (int32_t i = 0; i < (pass ? dofs : x->o.row_count); i++) {
        real near = (4 * narrow[i] - half[i]) / 3, limit = (16 * near - (4 * half[i] - wide[i]) / 3) / 15;
        real over = term[i], rounding = left * (pass ? moves : x->sum[i]) / t;
        double e = (double)(fabsl(mine[i] - limit) / over);
        own = fmax(own, (double)((fabsl(limit - near) + rounding) / over));
        if (!(e <= off))
          off = e, now.row = !pass, now.at = i, now.mine = mine[i], now.limit = (double)limit,
          now.term = (double)term[i];
      }
    }
    if (same < within || (same == within && !(own < sure))) continue;
    within = same;
    sure = own;
    now.error = off;
    best = now;
  }
  best.sure = sure;
  if (!(sure <= COARSE)) best.error = -1;
  free(wide_room);
  free(room);
  return best;
}

/* ---- one step ---- */

typedef struct place {
  const char *name;
  uint64_t seed, index;
  int step;
} place;

static void report(fx_test *t, const place *at, int kind, const frix_gradient_result *g, const verdict_of *v,
                   const exact *x) {
  fx_test_fail(t, __FILE__, __LINE__,
               "%s %llu %llu step %d, kind %d: derivative wrong by %.2g of its terms in %s %d (distance %.2e at "
               "contact %d, rank %d of %d, width %.1e, residual %.1e; %.12g, not %.12g, term %.3g, sure %.1e)",
               at->name, (unsigned long long)at->seed, (unsigned long long)at->index, at->step, kind, v->error,
               v->row ? "row" : "degree of freedom", v->at, g->distance, g->contact, x->rank, x->n, v->width,
               g->certificate.residual, v->mine, v->limit, v->term, v->sure);
}

static void attack_direction(fx_test *t, const place *at, exact *x, const frix_gradient *g,
                             const frix_gradient_result *view, int kind, uint64_t *random, count *sum) {
  const frix_problem_data *p = &x->o.data;
  size_t n = (size_t)(p->row_count > p->dof_count ? p->row_count : p->dof_count) + (size_t)p->joint_count + 1;
  double *room = calloc(8 * n, sizeof *room), *a[8];
  for (int k = 0; k < 8; k++) a[k] = room + (size_t)k * n;
  direction_data by = {a[0], a[1], a[2], a[3], a[4], a[5]};
  random_direction(p, kind, random, &by);
  frix_gradient_data along = {.size = sizeof along, .f = by.f, .w = by.w, .b = by.b, .mu = by.mu};
  if (kind == 4 && p->R) along.R = by.R, along.r_c = by.r_c;
  exact_change change = {along.f, along.w, along.b, along.mu, along.R, along.r_c};
  if (frix_gradient_forward(g, &along, a[6], a[7], NULL) != FRIX_OK) {
    sum->refused++;
  } else {
    verdict_of v = compare(x, &change, view->distance, a[7], a[6]);
    sum->directions++;
    sum->undecided += v.error < 0;
    sum->coarse += v.error >= 0 && v.sure > 0.1 * ALLOWED;
    if (v.error >= 0 && v.sure <= 0.1 * ALLOWED) sum->worst = fmax(sum->worst, v.error);
    if (v.error > ALLOWED + v.sure || isnan(v.error))
      sum->wrong++, report(t, at, kind, view, &v, x);
    else if (v.error < 0 && getenv("FRIX_ATTACK_SAY"))
      fprintf(stderr, "undecided: %s %llu %llu step %d kind %d distance %.2e rank %d of %d residual %.1e sure %.1e\n",
              at->name, (unsigned long long)at->seed, (unsigned long long)at->index, at->step, kind, view->distance,
              x->rank, x->n, view->certificate.residual, v.sure);
  }
  free(room);
}

static void attack_step(fx_test *t, const place *at, const world *w, count *sum) {
  frix_problem *problem = NULL;
  frix_gradient *g = NULL;
  frix_problem_data data;
  uint64_t random = at->seed * 77 + at->index * 13 + (uint64_t)at->step;
  if (frix_sim_problem(w->sim, &problem) != FRIX_OK) return;
  frix_problem_view(problem, &data);
  int32_t rows = data.row_count + data.joint_count;
  if (rows == 0 || rows > MOST_ROWS || data.form != FRIX_FORM_GLOBAL) {
    sum->too_large += rows > MOST_ROWS;
  } else if (sum->steps++, frix_gradient_of_step(w->sim, NULL, &g) != FRIX_OK) {
    sum->no_answer++;
  } else {
    frix_gradient_result view = {.size = sizeof view};
    frix_gradient_view(g, &view);
    sum->smooth += view.verdict == FRIX_GRADIENT_SMOOTH;
    sum->kinks += view.verdict == FRIX_GRADIENT_KINK;
    sum->not_unique += view.verdict == FRIX_GRADIENT_NOT_UNIQUE;
    exact x;
    if (view.verdict == FRIX_GRADIENT_SMOOTH) {
      if (exact_open(&x, problem, view.r, view.lambda)) {
        for (int k = 0; k < DIRECTIONS; k++) attack_direction(t, at, &x, g, &view, k, &random, sum);
      } else {
        sum->undecided += DIRECTIONS, sum->directions += DIRECTIONS;
        if (getenv("FRIX_ATTACK_SAY"))
          fprintf(stderr, "no base: %s %llu %llu step %d distance %.2e residual %.1e -> %.1Le rank %d of %d\n",
                  at->name, (unsigned long long)at->seed, (unsigned long long)at->index, at->step, view.distance,
                  view.certificate.residual, x.residual, x.rank, x.n);
      }
      exact_close(&x);
    }
  }
  frix_gradient_destroy(g);
  frix_problem_destroy(problem);
}

/* only: the step to look at, -1: all. */
static void attack_world(fx_test *t, const world_class *class, uint64_t seed, uint64_t index, int only, count *sum) {
  world w;
  if (!world_open(&w, class, seed, index, (units){1, 1, 1}) || !w.sim) {
    world_close(&w);
    return;
  }
  sum->worlds++;
  for (int k = 0; k < w.steps; k++) {
    frix_step_report r = {.size = sizeof r};
    if (w.edit) w.edit(&w);
    for (int i = 0; i < w.push_count; i++) frix_sim_add_force(w.sim, w.push[i].body, w.push[i].force, w.push[i].torque);
    if (frix_sim_step(w.sim, w.h, &r) != FRIX_OK) break;
    place at = {class->name, seed, index, k};
    if (r.certified && (only < 0 || only == k)) attack_step(t, &at, &w, sum);
  }
  world_close(&w);
}

static void note(fx_test *t, const count *c) {
  fx_test_note(t,
               "%ld worlds, %ld steps: %ld smooth, %ld kinks, %ld not unique, %ld refused, %ld too large; %ld "
               "directions to %.1e, %ld "
               "refused, %ld coarse, %ld undecided, %ld wrong",
               c->worlds, c->steps, c->smooth, c->kinks, c->not_unique, c->no_answer, c->too_large, c->directions,
               c->worst, c->refused, c->coarse, c->undecided, c->wrong);
}

/* Steps whose derivatives were wrong by more than allowed before answers were corrected and pivots doubted. */
static void kept(fx_test *t) {
  static const place list[] = {{"units", 7, 4, 0},
                               {"planar", 7, 5, 5},
                               {"planar_stiff", 7, 1, 7},
                               {"edited", 7, 0, 2},
                               {"edited_stiff", 7, 10, 1},
                               {"rough", 7, 9, 3},
                               {"tree_chain_stiff", 1, 0, 4},
                               {"tree_chain_stiff", 1, 0, 1},
                               {"tree_chain_stiff", 1, 0, 2},
                               {"pile", 77, 1, 2},
                               {"pile", 77, 1, 3},
                               {"units", 77, 36, 0},
                               {"rough", 77, 35, 3},
                               {"rough_stiff", 77, 11, 1},
                               {"rough_stiff", 1, 1, 1},
                               {"giant", 2001, 43, 1},
                               {"size_ratio", 2001, 36, 2},
                               {"edited", 3001, 8, 7},
                               {"tree_chain_stiff", 3001, 35, 3},
                               {"tree_ratio", 4001, 36, 0},
                               {"stack", 5001, 24, 0},
                               {"stack", 5001, 24, 3}};
  count sum = {0};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    attack_world(t, world_class_find(list[k].name), list[k].seed, list[k].index, list[k].step, &sum);
  note(t, &sum);
}

static void attack(fx_test *t) {
  const char *more = getenv("FRIX_ATTACK"), *which = getenv("FRIX_ATTACK_CLASS"), *from = getenv("FRIX_ATTACK_SEED");
  int each = more ? atoi(more) : 2;
  uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
  count sum = {0};
  for (int k = 0; world_class_at(k); k++) {
    const world_class *class = world_class_at(k);
    if (!class->fill || class->make || class->run || (which && strcmp(which, class->name) != 0)) continue;
    count own = {0};
    clock_t begin = clock();
    for (int i = 0; i < each; i++) attack_world(t, class, seed, (uint64_t)i, -1, &own);
    if (more)
      fprintf(stderr,
              "%-22s %5.1f s: %ld steps, %ld smooth, %ld kinks, %ld not unique, %ld large; %ld directions, %ld "
              "refused, %ld coarse, %ld undecided, %ld wrong, worst %.1e\n",
              class->name, (double)(clock() - begin) / CLOCKS_PER_SEC, own.steps, own.smooth, own.kinks, own.not_unique,
              own.too_large, own.directions, own.refused, own.coarse, own.undecided, own.wrong, own.worst);
    sum.worlds += own.worlds, sum.steps += own.steps, sum.smooth += own.smooth, sum.kinks += own.kinks,
        sum.not_unique += own.not_unique, sum.too_large += own.too_large, sum.no_answer += own.no_answer,
        sum.directions += own.directions, sum.refused += own.refused, sum.coarse += own.coarse,
        sum.undecided += own.undecided, sum.wrong += own.wrong;
    sum.worst = fmax(sum.worst, own.worst);
  }
  note(t, &sum);
}

const fx_test_row test_gradient_attack[] = {{"gradient_attack/random", attack}, {"gradient_attack/kept", kept}, {0}};
