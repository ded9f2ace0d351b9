/* sweeps: batches, the same bits from every kernel, agreement with nsgs and newton on piles, and its limits. */
#include "answer.h"
#include "base/threads.h"
#include "bench/settling.h"
#include "bench/spheres.h"
#include "problem/certificate.h"
#include "solver/monitor.h"
#include "solver/springs.h"
#include "solver/sweeps_base.h"
#include "solver/sweeps_blend.h"

/* ---- piles ---- */

typedef struct pile {
  frix_context *context;
  spheres *spheres;
  frix_problem *problem;
  frix_problem_data data;
} pile;

static void pile_free(pile *p) {
  frix_problem_destroy(p->problem);
  spheres_destroy(p->spheres);
  frix_context_destroy(p->context);
}

static bool pile_next(pile *p) {
  frix_problem_destroy(p->problem);
  p->problem = NULL;
  return spheres_problem(p->spheres, &p->data) && frix_problem_create(p->context, &p->data, &p->problem) == FRIX_OK;
}

static frix_solution *pile_solve(const pile *p, const char *solver, double tolerance, frix_result *result) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  config.solver = solver;
  config.tolerance = tolerance;
  if (frix_solve(p->context, p->problem, &config, &solution) == FRIX_OK) frix_solution_view(solution, result);
  return solution;
}

/* The problem after some steps of a trajectory; to be freed in any case. */
static bool pile_make(pile *p, int32_t count, double compliance, bool shuffle, int32_t steps) {
  *p = (pile){0};
  spheres_config config = spheres_default(count);
  config.compliance = compliance;
  config.shuffle = shuffle;
  p->spheres = spheres_create(&config);
  bool good = frix_context_create(NULL, &p->context) == FRIX_OK && p->spheres && pile_next(p);
  for (int32_t k = 0; good && k < steps; k++) {
    frix_result result;
    frix_solution *solution = pile_solve(p, "sweeps", 1e-4, &result);
    good = solution != NULL;
    if (good) spheres_advance(p->spheres, result.r, result.v);
    frix_solution_destroy(solution);
    good = good && pile_next(p);
  }
  return good;
}

static double distance(const double *a, const double *b, int32_t n) {
  double sum = 0, size = 0;
  for (int32_t k = 0; k < n; k++) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
    size += a[k] * a[k];
  }
  return sqrt(sum / (size > 0 ? size : 1));
}

/* ---- batches ---- */

/* Every contact once, no body twice in a batch (but the world), batches nearly full. */
static void check_batches(fx_test *t, const fx_pile *p, double fill) {
  int32_t slots = p->batch_count * FX_BATCH, n = p->system->contact_count;
  int32_t *seen = calloc((size_t)slots + 1, sizeof *seen), twice = 0, outside = 0;
  REQUIRE(t, seen);
  for (int32_t k = 0; k < slots; k++) {
    int32_t slot = k < n ? p->slot[p->order[k]] : p->empty[k - n];
    outside += slot < 0 || slot >= slots;
    if (slot >= 0 && slot < slots) twice += seen[slot]++ > 0;
  }
  CHECK(t, twice == 0 && outside == 0 && p->empty_count == slots - n);
  int32_t shared = 0;
  for (int32_t b = 0; b < p->batch_count; b++) {
    const int32_t *body = p->slot_body + 2 * FX_BATCH * b;
    for (int i = 0; i < 2 * FX_BATCH; i++)
      for (int j = 0; j < i; j++) shared += body[i] != 0 && body[i] == body[j];
  }
  CHECK(t, shared == 0);
  CHECK(t, n >= fill * slots);
  free(seen);
}

static void batches(fx_test *t) {
  static const struct {
    int32_t count;
    bool shuffle;
    double fill;
  } row[] = {{2, false, 0}, {50, false, 0.5}, {300, true, 0.9}, {6000, false, 0.97}, {6000, true, 0.97}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    pile p;
    fx_arena arena;
    fx_system system;
    fx_pile packed;
    bool good = pile_make(&p, row[k].count, 0, row[k].shuffle, row[k].count > 1000 ? 45 : 70);
    CHECK(t, good);
    if (good) {
      fx_arena_init(&arena, p.context);
      CHECK(t, fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK);
      CHECK(t, fx_pile_fits(&system));
      CHECK(t, fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK);
      CHECK(t, packed.round);
      check_batches(t, &packed, row[k].fill);
      fx_arena_free(&arena);
    }
    pile_free(&p);
  }
}

/* Fields and bodies of a contact, wherever its slot is. */
static bool same_contact(const fx_pile *a, const fx_pile *b, int32_t i) {
  bool same = true;
  for (int32_t k = 0; k < a->field_count; k++)
    same &= ((float *)a->single.field)[fx_slot_at(a->slot[i], 8, a->field_count, k)] ==
            ((float *)b->single.field)[fx_slot_at(b->slot[i], 8, b->field_count, k)];
  for (int side = 0; side < 2; side++)
    same &= a->slot_body[(a->slot[i] / FX_BATCH * 2 + side) * FX_BATCH + a->slot[i] % FX_BATCH] ==
            b->slot_body[(b->slot[i] / FX_BATCH * 2 + side) * FX_BATCH + b->slot[i] % FX_BATCH];
  return same;
}

/* A pile that took in some of its contacts later has them all, each as a pile of all has it; where there is no room it
 * says so. */
static void grows(fx_test *t, const frix_problem *problem) {
  fx_arena arena;
  fx_system system;
  fx_pile whole, part;
  fx_arena_init(&arena, problem->context);
  uint8_t *swept = NULL;
  bool good = fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
              (swept = FX_TAKE(&arena, uint8_t, system.contact_count)) &&
              fx_pile_build(&arena, &system, NULL, false, &whole) == FRIX_OK;
  for (int32_t i = 0; good && i < system.contact_count; i++) swept[i] = i % 20 != 3;
  good = good && fx_pile_build(&arena, &system, swept, false, &part) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    CHECK(t, part.count < system.contact_count && part.slot[3] < 0);
    for (int32_t i = 0; i < system.contact_count; i++) swept[i] = 1;
    CHECK(t, fx_pile_grow(&part, swept) && part.count == system.contact_count);
    check_batches(t, &part, 0);
    int32_t different = 0;
    for (int32_t i = 0; i < system.contact_count; i++) different += !same_contact(&whole, &part, i);
    CHECK(t, different == 0);
    for (int32_t i = 0; i < system.contact_count; i++) swept[i] = i % 2 == 0;
    CHECK(t, fx_pile_build(&arena, &system, swept, false, &part) == FRIX_OK);
    for (int32_t i = 0; i < system.contact_count; i++) swept[i] = 1;
    CHECK(t, !fx_pile_grow(&part, swept));
  }
  fx_arena_free(&arena);
}

static void growth(fx_test *t) {
  pile p;
  answer a;
  if (pile_make(&p, 700, 1e-2, false, 70))
    grows(t, p.problem);
  else
    CHECK(t, false);
  pile_free(&p);
  if (answer_build(t, &a, "wall", NULL)) grows(t, a.problem);
  answer_free(&a);
}

/* ---- bits ---- */

typedef struct snapshot {
  fx_sweep_sums sums;
  void *z, *d;
} snapshot;

/* Six sweeps from the guess, three with momentum. */
static snapshot sweep_some(fx_pile *p, bool full, fx_sweep_target target, const double *r) {
  static const double momentum[] = {0, 0.25, 0, 0.5, 0.75, 0};
  const fx_pile_data *data = full ? &p->full : &p->single;
  size_t size = full ? sizeof(double) : sizeof(float),
         z = (size_t)p->batch_count * FX_BATCH * (size_t)p->row_count * size;
  size_t d = (size_t)p->body_count * FX_RECORD * size;
  snapshot s = {{0, 0, 0}, malloc(z), malloc(d)};
  memset(data->z_last, 0, z);
  memset(data->d_last, 0, d);
  fx_pile_load(p, full, r);
  fx_sweep_refresh(p, full, target);
  for (size_t k = 0; k < sizeof momentum / sizeof *momentum; k++) {
    fx_sweep_sums one = fx_sweep(p, full, target, momentum[k]);
    s.sums = (fx_sweep_sums){s.sums.step + one.step, s.sums.size + one.size, s.sums.uphill + one.uphill};
  }
  if (s.z) memcpy(s.z, data->z, z);
  if (s.d) memcpy(s.d, data->d, d);
  return s;
}

static void check_kernels(fx_test *t, const char *name, const frix_problem *problem, const double *r) {
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_system system;
  fx_pile p;
  bool good = fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK && fx_pile_fits(&system) &&
              fx_pile_build(&arena, &system, NULL, true, &p) == FRIX_OK;
  CHECK(t, good);
  if (good) fx_pile_pack_full(&p);
  for (int full = good && p.wide; good && full < 2; full++) { /* with rolling friction there is one precision */
    size_t size = full ? sizeof(double) : sizeof(float);
    snapshot scalar = sweep_some(&p, full, FX_SWEEP_SCALAR, r);
    CHECK(t, scalar.sums.size > 0 && scalar.sums.step > 0);
    for (int target = FX_SWEEP_PLAIN; target <= (int)fx_sweep_best_target(); target++) {
      snapshot other = sweep_some(&p, full, (fx_sweep_target)target, r);
      bool same = memcmp(&scalar.sums, &other.sums, sizeof scalar.sums) == 0 &&
                  memcmp(scalar.z, other.z, (size_t)p.batch_count * FX_BATCH * (size_t)p.row_count * size) == 0 &&
                  memcmp(scalar.d, other.d, (size_t)p.body_count * FX_RECORD * size) == 0;
      if (!same) fx_test_fail(t, __FILE__, __LINE__, "%s: target %d, full %d: other bits", name, target, full);
      free(other.z);
      free(other.d);
    }
    free(scalar.z);
    free(scalar.d);
  }
  fx_arena_free(&arena);
}

/* Round and general contacts, rigid and compliant, planar bodies, rolling friction: scalar, plain and the best the
 * machine has. */
static void bits(fx_test *t) {
  for (int compliant = 0; compliant < 2; compliant++) {
    pile p;
    if (pile_make(&p, 700, compliant ? 1e-2 : 0, false, 70))
      check_kernels(t, compliant ? "compliant pile" : "pile", p.problem, p.data.guess);
    else
      CHECK(t, false);
    pile_free(&p);
  }
  static const char *const name[] = {"cardhouse", "wall", "discs", "arch", "rolling"};
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    answer a;
    if (answer_build(t, &a, name[k], NULL)) {
      double *r = calloc((size_t)a.data.row_count, sizeof *r);
      for (int32_t i = 0; r && i < a.data.row_count; i++) r[i] = 0.1 * fx_test_random(t);
      if (r) check_kernels(t, name[k], a.problem, r);
      free(r);
    }
    answer_free(&a);
  }
}

/* ---- mixing ---- */

/* Twenty mixed sweeps, a refresh among them: z and the sums of the steps. */
static snapshot blend_some(fx_test *t, fx_arena *arena, fx_pile *p, bool full, fx_sweep_target target,
                           const double *r) {
  fx_blend blend;
  fx_pile_data *data = full ? &p->full : &p->single, kept = *data;
  size_t z = (size_t)p->batch_count * FX_BATCH * (size_t)p->row_count * (full ? sizeof(double) : sizeof(float));
  snapshot s = {{0, 0, 0}, malloc(z), NULL};
  fx_pile_load(p, full, r);
  fx_sweep_refresh(p, full, target);
  bool good = s.z && fx_blend_take(arena, p, full, &blend) == FRIX_OK;
  CHECK(t, good);
  if (good) fx_blend_begin(&blend, p, full, 0.1);
  for (int k = 0; good && k < 20; k++) {
    fx_sweep_sums one = fx_blend_sweep(&blend, p, full, target, NULL);
    s.sums = (fx_sweep_sums){s.sums.step + one.step, s.sums.size + one.size, one.step};
    if (k == 12) fx_blend_refresh(&blend, p, full, target);
  }
  if (good) memcpy(s.z, data->z, z);
  *data = kept;
  return s;
}

/* Every target mixes to the same bits, and twenty mixed sweeps come nearer than twenty plain ones. */
static void blend(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 300, 1e-2, false, 70);
  CHECK(t, good);
  fx_arena arena;
  fx_system system;
  fx_pile packed;
  fx_arena_init(&arena, p.context);
  good = good && fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
         fx_pile_build(&arena, &system, NULL, true, &packed) == FRIX_OK;
  CHECK(t, good);
  if (good) fx_pile_pack_full(&packed);
  for (int full = 0; good && full < 2; full++) {
    snapshot plain = blend_some(t, &arena, &packed, full, FX_SWEEP_SCALAR, p.data.guess);
    for (int target = FX_SWEEP_PLAIN; target <= (int)fx_sweep_best_target(); target++) {
      snapshot other = blend_some(t, &arena, &packed, full, (fx_sweep_target)target, p.data.guess);
      CHECK(t, memcmp(&plain.sums, &other.sums, sizeof plain.sums) == 0);
      CHECK(t, plain.z && other.z &&
                   memcmp(plain.z, other.z,
                          (size_t)packed.batch_count * FX_BATCH * 3 * (full ? sizeof(double) : sizeof(float))) == 0);
      free(other.z);
    }
    fx_pile_load(&packed, full, p.data.guess);
    fx_sweep_refresh(&packed, full, FX_SWEEP_PLAIN);
    fx_sweep_sums last = {0, 0, 0};
    for (int k = 0; k < 20; k++) last = fx_sweep(&packed, full, FX_SWEEP_PLAIN, 0);
    CHECK(t, plain.sums.uphill < 0.25 * last.step);
    fx_test_note(t, "%s: step %.1e mixed, %.1e plain;", full ? "double" : "single", sqrt(plain.sums.uphill),
                 sqrt(last.step));
    free(plain.z);
  }
  fx_arena_free(&arena);
  pile_free(&p);
}

/* Plain sweeps from a base after as many from zero: z, d and sums. */
static snapshot sweep_from_base(fx_test *t, fx_arena *arena, fx_pile *p, fx_sweep_target target, const double *r,
                                double *found) {
  const fx_system *system = p->system;
  fx_base base;
  double *u = FX_TAKE(arena, double, system->row_count), *v = FX_TAKE(arena, double, system->dof_count);
  size_t z = (size_t)p->batch_count * FX_BATCH * 3 * sizeof(float),
         d = (size_t)p->body_count * FX_RECORD * sizeof(float);
  snapshot s = {{0, 0, 0}, malloc(z), malloc(d)};
  bool good = u && v && s.z && s.d && fx_base_take(arena, p, &base) == FRIX_OK;
  CHECK(t, good);
  memcpy(found, r, (size_t)system->row_count * sizeof *r);
  for (int round = 0; good && round < 4; round++) {
    double residual = fx_residual_of(system, FRIX_LAW_COULOMB, found, u, v);
    fx_base_move(&base, p, residual, found, u);
    for (int k = 0; k < 300; k++) {
      fx_sweep_sums one = fx_sweep(p, false, target, 0);
      s.sums = (fx_sweep_sums){s.sums.step + one.step, s.sums.size + one.size, one.step};
    }
    fx_base_store(&base, p, found);
  }
  if (good) memcpy(s.z, p->single.z, z);
  if (good) memcpy(s.d, p->single.d, d);
  p->single.base = NULL;
  return s;
}

/* Single precision from a base: the same bits from every target, and the digits of double precision. */
static void check_base(fx_test *t, const char *name, const frix_problem *problem, const double *r) {
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_system system;
  fx_pile p;
  double *found = calloc((size_t)problem->row_count, sizeof *found);
  bool good = found && fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK;
  CHECK(t, good);
  for (int target = FX_SWEEP_SCALAR; good && target <= (int)fx_sweep_best_target(); target++) {
    static snapshot scalar;
    good = fx_pile_build(&arena, &system, NULL, false, &p) == FRIX_OK && fx_base_fits(&p);
    CHECK(t, good);
    if (!good) break;
    snapshot s = sweep_from_base(t, &arena, &p, (fx_sweep_target)target, r, found);
    if (target == FX_SWEEP_SCALAR) {
      double *u = FX_TAKE(&arena, double, system.row_count), *v = FX_TAKE(&arena, double, system.dof_count);
      double residual = fx_residual_of(&system, FRIX_LAW_COULOMB, found, u, v);
      scalar = s;
      CHECK(t, residual < 1e-12);
      fx_test_note(t, "%s: %.1e;", name, residual);
      continue;
    }
    bool same = memcmp(&scalar.sums, &s.sums, sizeof s.sums) == 0 &&
                memcmp(scalar.z, s.z, (size_t)p.batch_count * FX_BATCH * 3 * sizeof(float)) == 0 &&
                memcmp(scalar.d, s.d, (size_t)p.body_count * FX_RECORD * sizeof(float)) == 0;
    if (!same) fx_test_fail(t, __FILE__, __LINE__, "%s: target %d: other bits", name, target);
    free(s.z);
    free(s.d);
    if (target == (int)fx_sweep_best_target()) {
      free(scalar.z);
      free(scalar.d);
    }
  }
  free(found);
  fx_arena_free(&arena);
}

/* The problem of this name with springs so soft that plain sweeps converge within some dozens. */
static void base_of(fx_test *t, const char *name) {
  answer a;
  if (answer_build(t, &a, name, NULL)) {
    frix_problem_data data = a.data;
    frix_problem *soft = NULL;
    double *R = calloc((size_t)data.row_count, sizeof *R), *r = calloc((size_t)data.row_count, sizeof *r), size = 0;
    for (int32_t k = 0; k < data.H.p[data.H.col_count]; k++) size += data.H.x[k] * data.H.x[k];
    for (int32_t k = 0; R && k < data.row_count; k++) R[k] = 0.3 * size / data.row_count;
    data.R = R;
    CHECK(t, R && r && frix_problem_create(a.context, &data, &soft) == FRIX_OK);
    if (soft) check_base(t, name, soft, r);
    frix_problem_destroy(soft);
    free(R);
    free(r);
  }
  answer_free(&a);
}

static void base(fx_test *t) {
  pile p;
  if (pile_make(&p, 300, 1, false, 70))
    check_base(t, "pile", p.problem, p.data.guess);
  else
    CHECK(t, false);
  pile_free(&p);
  base_of(t, "wall");
  base_of(t, "discs");
}

/* Islands of all sizes and one large one with springs: solved as one by sweeps or newton on their velocities, to the
 * answer of newton. */
static void springs_together(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 400, 1e-2, false, 25);
  CHECK(t, good);
  if (good) {
    frix_result swept = {0}, newton = {0};
    frix_solution *a = pile_solve(&p, "auto", 1e-10, &swept), *b = pile_solve(&p, "newton", 1e-10, &newton);
    CHECK(t, a && b && swept.island_count > 10 && swept.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, a && (!strcmp(swept.finisher, "sweeps") || !strcmp(swept.finisher, "spring_newton")));
    if (a && b) CHECK(t, distance(swept.v, newton.v, swept.dof_count) < 1e-7);
    if (a && b) fx_test_note(t, "%d islands, %d sweeps", swept.island_count, (int)swept.iterations);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
  }
  pile_free(&p);
}

/* A start under which closed contacts look open, and open ones closed: those left out at first come back, and the
 * answer is that of a good start, in fewer sweeps than islands one by one would be tried with. */
static void springs_misled(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 400, 1e-2, false, 45);
  double *wrong = good ? calloc(3 * (size_t)p.data.contact_count, sizeof *wrong) : NULL;
  CHECK(t, good && wrong);
  if (good && wrong) {
    frix_solve_config config = frix_solve_default();
    frix_result well = {0}, misled = {0};
    frix_solution *a = pile_solve(&p, "auto", 1e-10, &well), *b = NULL;
    for (int32_t i = 0; i < p.data.contact_count; i += 7) wrong[3 * i] = 50 * fabs(well.r ? well.r[3 * i] : 1) + 1;
    config.tolerance = 1e-10;
    config.guess_r = wrong;
    CHECK(t, frix_solve(p.context, p.problem, &config, &b) == FRIX_OK);
    frix_solution_view(b, &misled);
    CHECK(t, misled.outcome == FRIX_OUTCOME_SOLVED && misled.certificate.residual <= 1e-10);
    CHECK(t, a && (!strcmp(misled.finisher, "sweeps") || !strcmp(misled.finisher, "spring_newton")));
    if (a && b) CHECK(t, distance(well.v, misled.v, well.dof_count) < 1e-7);
    if (a && b) fx_test_note(t, "%d iterations, misled %d", (int)well.iterations, (int)misled.iterations);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
  }
  free(wrong);
  pile_free(&p);
}

/* A light body between two springs that both press on it, beside a heavy one that carries most of all impulses, so that
 * the start is near the answer: it throws the light body away from one of the springs, which is left out at first and
 * must come back. */
static void springs_left_out(fx_test *t) {
  enum { CONTACTS = 3, ROWS = 3 * CONTACTS, DOFS = 6 };
  const double mass[2] = {1e6, 1}, way[CONTACTS] = {1, 1, -1};
  const int body[CONTACTS] = {0, 1, 1};
  double M[DOFS * DOFS] = {0}, H[DOFS * ROWS] = {0}, f[DOFS] = {0}, w[ROWS] = {0}, R[ROWS], guess[ROWS] = {0};
  frix_contact contact[CONTACTS];
  for (int k = 0; k < DOFS; k++) M[DOFS * k + k] = mass[k / 3];
  for (int b = 0; b < 2; b++) f[3 * b] = -mass[b];
  for (int i = 0; i < CONTACTS; i++) {
    contact[i] = frix_contact_of_dim(3, 0.5, 0);
    for (int k = 0; k < 3; k++) {
      H[DOFS * (3 * i + k) + 3 * body[i] + k] = k ? 1 : way[i];
      R[3 * i + k] = 0.04 / mass[body[i]];
    }
  }
  w[3] = -0.2, w[6] = 0.1;               /* the light body cannot do what both ask for */
  guess[0] = 1e6 / 1.04, guess[3] = 0.5; /* it moves away from the third contact by 0.5 */
  frix_problem_data d = frix_problem_data_default();
  d.form = FRIX_FORM_GLOBAL;
  d.contact_count = CONTACTS, d.contact = contact;
  d.dof_count = DOFS;
  d.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = DOFS, .x = M};
  d.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = DOFS, .col_count = ROWS, .x = H};
  d.f = f, d.w = w, d.R = R;
  frix_context *context = NULL;
  frix_problem *problem = NULL;
  fx_arena arena;
  fx_system system;
  fx_monitor monitor;
  fx_limits limits = {.tolerance = 1e-8, .max_iterations = 2000};
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  fx_arena_init(&arena, context);
  bool good = frix_problem_create(context, &d, &problem) == FRIX_OK &&
              fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
              fx_monitor_init(&monitor, &arena, &system, FRIX_LAW_COULOMB, &limits, false) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    fx_call call = {.system = &system,
                    .law = FRIX_LAW_COULOMB,
                    .arena = &arena,
                    .monitor = &monitor,
                    .r = guess,
                    .thread_count = 1};
    CHECK(t, fx_solver_springs.solve(&call) == FRIX_OK);
    CHECK(t, monitor.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, monitor.best_r[3] > 0.1 && monitor.best_r[6] > 0.1);
    fx_test_note(t, "%d iterations", (int)(monitor.before + monitor.iteration));
  }
  fx_arena_free(&arena);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
}

/* ---- answers ---- */

/* Consecutive rigid steps: certified like nsgs, to the same tolerance. */
static void against_nsgs(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 80, 0, false, 50);
  CHECK(t, good);
  for (int step = 0; good && step < 10; step++) {
    frix_result sweeps = {0}, nsgs = {0};
    frix_solution *a = pile_solve(&p, "sweeps", 1e-6, &sweeps), *b = pile_solve(&p, "nsgs", 1e-6, &nsgs);
    CHECK(t, a && sweeps.outcome == FRIX_OUTCOME_SOLVED && sweeps.certificate.residual <= 1e-6);
    CHECK(t, b && nsgs.certificate.contact_residual <= 1e-6);
    if (a) spheres_advance(p.spheres, sweeps.r, sweeps.v);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
    good = a && b && pile_next(&p);
  }
  pile_free(&p);
}

/* With stiffness there is one answer: newton and sweeps agree, also from nothing. */
static void against_newton(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 80, 5e-2, false, 60);
  CHECK(t, good);
  double worst = 0;
  for (int step = 0; good && step < 5; step++) {
    frix_result sweeps = {0}, newton = {0}, cold = {0};
    frix_solution *a = pile_solve(&p, "sweeps", 1e-10, &sweeps), *b = pile_solve(&p, "newton", 1e-10, &newton);
    double *zero = calloc((size_t)p.data.contact_count * 3, sizeof *zero);
    frix_solve_config config = frix_solve_default();
    config.solver = "sweeps";
    config.tolerance = 1e-10;
    config.guess_r = zero;
    frix_solution *c = NULL;
    if (frix_solve(p.context, p.problem, &config, &c) == FRIX_OK) frix_solution_view(c, &cold);
    good = a && b && c && zero;
    CHECK(t, good);
    if (good) {
      CHECK(t, sweeps.outcome == FRIX_OUTCOME_SOLVED && newton.outcome == FRIX_OUTCOME_SOLVED &&
                   cold.outcome == FRIX_OUTCOME_SOLVED);
      worst = fmax(worst, distance(sweeps.v, newton.v, sweeps.dof_count));
      worst = fmax(worst, distance(sweeps.v, cold.v, sweeps.dof_count));
      spheres_advance(p.spheres, sweeps.r, sweeps.v);
    }
    free(zero);
    frix_solution_destroy(a);
    frix_solution_destroy(b);
    frix_solution_destroy(c);
    good = good && pile_next(&p);
  }
  CHECK(t, worst < 1e-7);
  fx_test_note(t, "velocities differ by %.1e", worst);
  pile_free(&p);
}

/* Bodies that are no spheres, planar bodies, and what the kernels do not know: nsgs then. */
static void other_contacts(fx_test *t) {
  static const struct {
    const char *name;
    bool kernel;
  } row[] = {{"cardhouse", true}, {"wall", true},         {"discs", true},   {"slope", true},
             {"chain", false},    {"anisotropic", false}, {"rolling", true}, {"limit", false}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    answer a;
    if (answer_build(t, &a, row[k].name, NULL)) {
      frix_solve_config config = frix_solve_default();
      config.solver = "sweeps";
      config.tolerance = 1e-4;
      CHECK(t, frix_solve(a.context, a.problem, &config, &a.solution) == FRIX_OK);
      if (a.solution) frix_solution_view(a.solution, &a.result);
      if (a.result.outcome != FRIX_OUTCOME_SOLVED)
        fx_test_fail(t, __FILE__, __LINE__, "%s: %s, residual %.1e", row[k].name, frix_outcome_name(a.result.outcome),
                     a.result.certificate.residual);
      if (a.result.iterations > 0 && !strcmp(a.result.finisher, "sweeps") != row[k].kernel)
        fx_test_fail(t, __FILE__, __LINE__, "%s: solved by %s", row[k].name, a.result.finisher);
    }
    answer_free(&a);
  }
}

/* Rolling friction, and drilling friction beside it: the answer of newton. */
static void rolling(fx_test *t) {
  settling s;
  REQUIRE(t, settling_new(
                 &s, (settling_config){.spheres = 80, .stiffness = 1e6, .rolling = 1e-3, .spinning = 1e-3, .seed = 3}));
  answer a = {.context = s.context};
  frix_solution *other = NULL;
  bool good = settling_run(&s, 0.5) && frix_sim_problem(s.sim, &a.problem) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    frix_solve_config config = frix_solve_default();
    frix_result newton = {0};
    config.tolerance = 1e-10;
    config.solver = "newton";
    CHECK(t, frix_solve(s.context, a.problem, &config, &other) == FRIX_OK);
    config.solver = "sweeps";
    CHECK(t, frix_solve(s.context, a.problem, &config, &a.solution) == FRIX_OK);
    frix_solution_view(other, &newton);
    frix_solution_view(a.solution, &a.result);
    CHECK(t, newton.outcome == FRIX_OUTCOME_SOLVED && a.result.outcome == FRIX_OUTCOME_SOLVED);
    CHECK(t, a.result.row_count > 300 && !strcmp(a.result.finisher, "sweeps"));
    double apart = distance(newton.v, a.result.v, newton.dof_count);
    CHECK(t, apart < 1e-6);
    fx_test_note(t, "%d rows, velocities differ by %.1e", a.result.row_count, apart);
  }
  frix_solution_destroy(other);
  frix_solution_destroy(a.solution);
  frix_problem_destroy(a.problem);
  settling_end(&s);
}

/* Segments 0 and 1 share no body, nor do 2 and 3; batches of all segments hold every contact once. */
static void check_segments(fx_test *t, const fx_pile *p) {
  int8_t *owner = calloc((size_t)p->body_count, sizeof *owner);
  int32_t shared = 0, size[FX_SEGMENTS];
  REQUIRE(t, owner);
  for (int k = 0; k < FX_SEGMENTS; k++) {
    int32_t first = k ? p->segment_end[k - 1] : 0;
    if (k % 2 == 0) memset(owner, 0, (size_t)p->body_count);
    size[k] = p->segment_end[k] - first;
    for (int32_t at = first * 2 * FX_BATCH; at < p->segment_end[k] * 2 * FX_BATCH; at++) {
      int32_t body = p->slot_body[at] / FX_RECORD;
      shared += body && owner[body] && owner[body] != k + 1;
      shared += body && k < 2 && (body < p->body_cut) != (k == 0);
      owner[body] = (int8_t)(k + 1);
    }
  }
  CHECK(t, shared == 0);
  CHECK(t, p->segment_end[FX_SEGMENTS - 1] == p->batch_count);
  int32_t longest = (size[0] > size[1] ? size[0] : size[1]) + (size[2] > size[3] ? size[2] : size[3]) + size[4];
  CHECK(t, p->batch_count > 1.7 * longest);
  fx_test_note(t, "%d contacts: %d batches, %d one after the other on two threads", p->system->contact_count,
               p->batch_count, longest);
  free(owner);
}

/* A large compliant pile is cut for two threads; 1, 2 and 3 threads give the same bits. */
static void two_threads(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 3000, 1e-2, false, 80);
  CHECK(t, good);
  frix_result result[3];
  frix_solution *solution[3] = {NULL, NULL, NULL};
  if (good) {
    fx_arena arena;
    fx_system system;
    fx_pile packed;
    fx_arena_init(&arena, p.context);
    CHECK(t, fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
                 fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK);
    CHECK(t, packed.segment_count == FX_SEGMENTS);
    if (packed.segment_count == FX_SEGMENTS) {
      check_batches(t, &packed, 0.85);
      check_segments(t, &packed);
    }
    fx_arena_free(&arena);
  }
  for (int k = 0; good && k < 3; k++) {
    frix_solve_config config = frix_solve_default();
    config.solver = "sweeps";
    config.thread_count = 1 + k;
    CHECK(t, frix_solve(p.context, p.problem, &config, &solution[k]) == FRIX_OK);
    if (solution[k]) frix_solution_view(solution[k], &result[k]);
    CHECK(t, solution[k] && result[k].outcome == FRIX_OUTCOME_SOLVED);
    if (k && solution[0] && solution[k])
      CHECK(t, memcmp(result[0].r, result[k].r, (size_t)result[0].row_count * sizeof(double)) == 0);
  }
  for (int k = 0; k < 3; k++) frix_solution_destroy(solution[k]);
  pile_free(&p);
}

/* 1, 2 and 4 threads on many islands and on one. */
static void threads(fx_test *t) {
  pile p;
  for (int32_t steps = 20; steps <= 80; steps += 60) {
    if (!pile_make(&p, 400, 0, false, steps)) CHECK(t, false);
    frix_result result[3];
    frix_solution *solution[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) {
      frix_solve_config config = frix_solve_default();
      config.solver = "sweeps";
      config.tolerance = 1e-5;
      config.max_iterations = 200;
      config.thread_count = 1 << k;
      CHECK(t, frix_solve(p.context, p.problem, &config, &solution[k]) == FRIX_OK);
      if (solution[k]) frix_solution_view(solution[k], &result[k]);
    }
    for (int k = 1; k < 3 && solution[0] && solution[k]; k++)
      CHECK(t, memcmp(result[0].r, result[k].r, (size_t)result[0].row_count * sizeof(double)) == 0);
    for (int k = 0; k < 3; k++) frix_solution_destroy(solution[k]);
    pile_free(&p);
  }
}

/* ---- the stepper, and speed ---- */

/* Loaded contacts of each sphere. */
static void count_loads(const frix_problem_data *data, const double *r, int32_t *loads) {
  for (int32_t i = 0; i < data->contact_count; i++)
    for (int32_t k = data->H.p[3 * i], last = -1; r[3 * i] > 0 && k < data->H.p[3 * i + 1]; k++) {
      int32_t body = data->H.i[k] / 6;
      if (body != last) loads[body]++;
      last = body;
    }
}

/* With stiffness and memory a pile comes to rest: no sphere that three contacts hold moves. Those on top, which fewer
 * hold, may roll on for long. */
static void comes_to_rest(fx_test *t) {
  enum { SPHERES = 60 };
  pile p;
  frix_result result;
  CHECK(t, pile_make(&p, SPHERES, 1e-2, false, 700));
  frix_solution *solution = pile_solve(&p, "sweeps", 1e-4, &result);
  CHECK(t, solution != NULL);
  int32_t loads[SPHERES] = {0}, held = 0;
  double fastest = 0;
  if (solution) count_loads(&p.data, result.r, loads);
  for (int32_t b = 0; solution && b < SPHERES; b++) {
    const double *v = result.v + 6 * b;
    if (loads[b] < 3) continue;
    held++;
    fastest = fmax(fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
  }
  CHECK(t, held > 0.8 * SPHERES && fastest < 1e-3);
  fx_test_note(t, "%d held, the fastest %.1e m/s after %.1f s, overlap %.2f %% of the radius", held, fastest,
               spheres_time(p.spheres), 100 * spheres_overlap(p.spheres));
  frix_solution_destroy(solution);
  pile_free(&p);
}

/* Figures, not a verdict: machines differ and are busy. */
static void speed(fx_test *t) {
  pile p;
  fx_arena arena;
  fx_system system;
  fx_pile packed;
  CHECK(t, pile_make(&p, 1000, 0, false, 70));
  fx_arena_init(&arena, p.context);
  if (fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
      fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK) {
    double best[2] = {1, 1};
    fx_pile_load(&packed, false, p.data.guess);
    for (int k = 0; k < 40; k++)
      for (int scalar = 0; scalar < 2; scalar++) {
        double start = fx_seconds();
        fx_sweep(&packed, false, scalar ? FX_SWEEP_SCALAR : fx_sweep_best_target(), 0);
        best[scalar] = fmin(best[scalar], fx_seconds() - start);
      }
    fx_test_note(t, "%.1f ns per contact and sweep, scalar %.1f", 1e9 * best[0] / system.contact_count,
                 1e9 * best[1] / system.contact_count);
  }
  fx_arena_free(&arena);
  pile_free(&p);
}

/* ---- the start ---- */

/* Judged up to a limit, the residual of the start is the same to the bit, or known to lie above the limit. */
static void start_judged_briefly(fx_test *t) {
  for (int compliant = 0; compliant < 2; compliant++)
    for (int shuffle = 0; shuffle < 2; shuffle++) {
      pile p;
      fx_arena arena;
      fx_system s;
      bool good = pile_make(&p, 400, compliant ? 1e-2 : 0, shuffle, 80);
      CHECK(t, good);
      if (good) {
        fx_arena_init(&arena, p.context);
        CHECK(t, fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &s) == FRIX_OK);
        double *u = FX_TAKE(&arena, double, s.row_count), *v = FX_TAKE(&arena, double, s.dof_count);
        double *u_brief = FX_TAKE(&arena, double, s.row_count), *v_brief = FX_TAKE(&arena, double, s.dof_count);
        int32_t *last = FX_TAKE(&arena, int32_t, s.mover_count);
        fx_system_velocity(&s, p.data.guess, u, v);
        double whole = fx_residual(&s, FRIX_LAW_COULOMB, p.data.guess, u);
        static const double factor[] = {1e-3, 0.5, 0.999, 1.001, 10, INFINITY};
        for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
          double most = factor[k] * whole;
          double brief = fx_residual_up_to(&s, FRIX_LAW_COULOMB, most, p.data.guess, u_brief, v_brief, last);
          CHECK(t, factor[k] < 1 ? brief == INFINITY : brief == whole);
        }
        CHECK(t, memcmp(u, u_brief, (size_t)s.row_count * sizeof *u) == 0);
        CHECK(t, memcmp(v, v_brief, (size_t)s.dof_count * sizeof *v) == 0);
        fx_arena_free(&arena);
      }
      pile_free(&p);
    }
}

/* ---- four contacts at once ---- */

static double larger(double a, double b) { return a > b ? a : b; }

/* The certificate of a pile beside those of its contacts, each alone as a system of one. */
static void check_certificate(fx_test *t, const fx_system *s, const double *r, const double *u, const double *v) {
  frix_certificate whole, most = {.worst_contact = -1};
  fx_certificate_compute(NULL, s, FRIX_LAW_COULOMB, r, u, v, NULL, &whole);
  CHECK(t, whole.residual == fx_residual(s, FRIX_LAW_COULOMB, r, u));
  for (int32_t i = 0; i < s->contact_count; i++) {
    fx_system alone = *s;
    frix_certificate one;
    alone.contact += i;
    alone.row += i;
    alone.contact_count = alone.joint_first = 1;
    fx_certificate_compute(NULL, &alone, FRIX_LAW_COULOMB, r, u, v, NULL, &one);
    if (one.worst_velocity > most.worst_velocity) most.worst_contact = i;
    most.worst_velocity = larger(one.worst_velocity, most.worst_velocity);
    most.signorini = larger(one.signorini, most.signorini);
    most.cone = larger(one.cone, most.cone);
    most.dissipation = larger(one.dissipation, most.dissipation);
  }
  CHECK(t, whole.worst_velocity == most.worst_velocity && whole.worst_contact == most.worst_contact);
  CHECK(t, whole.signorini == most.signorini && whole.signorini > 0);
  CHECK(t, whole.cone == most.cone && whole.cone > 0);
  CHECK(t, whole.dissipation == most.dissipation && whole.dissipation > 0);
}

/* D = H' Y + R and q = w + H' v_free, number by number. */
static void check_diagonal(fx_test *t, const fx_system *s) {
  const fx_block_matrix *Y = fx_system_response(s);
  int32_t wrong = !Y;
  for (int32_t i = 0; Y && i < s->contact_count; i++)
    for (int a = 0; a < 3; a++) {
      double q = s->w[3 * i + a];
      for (int b = 0; b < 3; b++) {
        double sum = 0;
        for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
          for (int c = 0; c < 6; c++) sum += fx_block(&s->Ht, k)[6 * a + c] * fx_block(Y, k)[6 * b + c];
        if (s->R && a == b) sum += s->R[3 * i + a];
        wrong += s->D[9 * i + 3 * a + b] != sum;
      }
      for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
        double sum = 0;
        for (int c = 0; c < 6; c++) sum += fx_block(&s->Ht, k)[6 * a + c] * s->v_free[s->dof[s->Ht.index[k]] + c];
        q += sum;
      }
      wrong += s->q[3 * i + a] != q;
    }
  CHECK(t, wrong == 0);
}

/* Reading and judging four contacts at once gives the same bits as one after the other. */
static void lanes(fx_test *t) {
  for (int compliant = 0; compliant < 2; compliant++) {
    pile p;
    fx_arena arena;
    fx_system s;
    bool good = pile_make(&p, 300, compliant ? 1e-2 : 0, false, 70);
    CHECK(t, good);
    if (good) {
      fx_arena_init(&arena, p.context);
      CHECK(t, fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &s) == FRIX_OK);
      CHECK(t, s.diagonal_mass && s.contact_count > 100);
      double *r = FX_TAKE(&arena, double, s.row_count), *u = FX_TAKE(&arena, double, s.row_count);
      double *v = FX_TAKE(&arena, double, s.dof_count);
      for (int32_t k = 0; k < s.row_count; k++) r[k] = p.data.guess[k] * (k % 7 ? 1 : 1.5); /* some leave the cone */
      fx_system_velocity(&s, r, u, v);
      check_diagonal(t, &s);
      check_certificate(t, &s, r, u, v);
      /* Nothing is far from the answer, as far as its residual says. */
      double *zero = FX_TAKE(&arena, double, s.row_count), nothing = fx_residual(&s, FRIX_LAW_COULOMB, zero, s.q);
      CHECK(t, fx_nothing_is_far(&s, FRIX_LAW_COULOMB, 0.99 * nothing));
      CHECK(t, !fx_nothing_is_far(&s, FRIX_LAW_COULOMB, nothing));
      fx_arena_free(&arena);
    }
    pile_free(&p);
  }
}

/* A start that was not judged in full is still returned where the sweeps do not better it. */
static void start_is_kept(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 300, 1e-2, false, 80);
  CHECK(t, good);
  frix_result best;
  frix_solution *solution = good ? pile_solve(&p, "sweeps", 1e-11, &best) : NULL;
  CHECK(t, solution != NULL);
  if (solution) {
    frix_solve_config config = frix_solve_default();
    frix_solution *other = NULL;
    frix_result result;
    config.solver = "sweeps";
    config.tolerance = 1e-15;
    config.max_iterations = 2; /* in single precision */
    config.guess_r = best.r;
    CHECK(t, frix_solve(p.context, p.problem, &config, &other) == FRIX_OK);
    frix_solution_view(other, &result);
    CHECK(t, result.outcome == FRIX_OUTCOME_MAX_ITERATIONS);
    CHECK(t, result.certificate.residual == best.certificate.residual);
    CHECK(t, memcmp(result.r, best.r, (size_t)result.row_count * sizeof *best.r) == 0);
    frix_solution_destroy(other);
  }
  frix_solution_destroy(solution);
  pile_free(&p);
}

const fx_test_row test_sweeps[] = {
    {"sweeps/batches", batches},
    {"sweeps/growth", growth},
    {"sweeps/bits", bits},
    {"sweeps/blend", blend},
    {"sweeps/base", base},
    {"sweeps/springs_together", springs_together},
    {"sweeps/springs_misled", springs_misled},
    {"sweeps/springs_left_out", springs_left_out},
    {"sweeps/against_nsgs", against_nsgs},
    {"sweeps/against_newton", against_newton},
    {"sweeps/other_contacts", other_contacts},
    {"sweeps/rolling", rolling},
    {"sweeps/threads", threads},
    {"sweeps/two_threads", two_threads},
    {"sweeps/comes_to_rest", comes_to_rest},
    {"sweeps/speed", speed},
    {"sweeps/start_judged_briefly", start_judged_briefly},
    {"sweeps/start_is_kept", start_is_kept},
    {"sweeps/lanes", lanes},
    {0},
};
