/* Kernels of sweeps: batches that hold every contact once, piles that grow, the same bits from every kernel, mixing,
 * and certificates of four contacts at once. */
#include "base/threads.h"
#include "problem/certificate.h"
#include "solver/monitor.h"
#include "solver/springs.h"
#include "solver/sweeps_base.h"
#include "solver/sweeps_blend.h"
#include "sphere_pile.h"

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
      for (int j = 0; j < i; j++) shared += body[i] != 0 && body[i] < FX_RECORD * p->body_count && body[i] == body[j];
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

/* Whether two batches share a body that moves. */
static bool share_body(const fx_pile *p, int32_t a, int32_t b) {
  const int32_t *one = p->slot_body + (size_t)a * 2 * FX_BATCH, *other = p->slot_body + (size_t)b * 2 * FX_BATCH;
  for (int32_t j = 0; j < 2 * FX_BATCH; j++)
    for (int32_t k = 0; k < 2 * FX_BATCH; k++)
      if (one[j] && one[j] == other[k]) return true;
  return false;
}

/* Whether `count` batches from b on meet the bodies of as many before them, lane by lane. */
static bool meet_again(const fx_pile *p, int32_t b, int32_t count) {
  const int32_t *body = p->slot_body + (size_t)b * 2 * FX_BATCH;
  size_t size = (size_t)count * 2 * FX_BATCH;
  return b >= count && memcmp(body - size, body, size * sizeof *body) == 0;
}

/* Contacts of two bricks stand in batches in a row, which meet the same bodies lane by lane; two such rows that share
 * no body take turns. */
static void runs(fx_test *t) {
  answer a;
  if (answer_build(t, &a, "wall", NULL)) {
    fx_arena arena;
    fx_system system;
    fx_pile packed;
    int32_t again = 0, wrong = 0, coupled = 0;
    fx_arena_init(&arena, a.context);
    bool good = fx_system_build(&arena, a.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
                fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK;
    CHECK(t, good);
    if (good) check_batches(t, &packed, 0.4);
    for (int32_t b = 0, count, before = 0; good && b < packed.batch_count; b += count, before = count) {
      count = packed.couple[b] ? 2 : 1;
      bool outside = b + count > packed.batch_count || (count == 2 && b / FX_FLUSH != (b + 1) / FX_FLUSH);
      coupled += count == 2 ? 2 : 0;
      again += packed.again[b] ? count : 0;
      wrong += outside || (count == 2 && (share_body(&packed, b, b + 1) || packed.couple[b + 1]));
      wrong += packed.again[b] != (before == count && meet_again(&packed, b, count));
    }
    if (good) {
      CHECK(t, packed.segment_count == 1);
      CHECK(t, wrong == 0 && 2 * again >= packed.batch_count && coupled > 0);
      fx_test_note(t, "%d of %d batches meet the bodies of the one before, %d are coupled;", again, packed.batch_count,
                   coupled);
    }
    fx_arena_free(&arena);
  }
  answer_free(&a);
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

/* ---- two threads ---- */

/* Segments 0 and 1 share no record, nor do 2 and 3, of the world neither; batches of all segments hold every contact
 * once. */
static void check_segments(fx_test *t, const fx_pile *p) {
  int8_t *owner = calloc((size_t)p->body_count + 1, sizeof *owner);
  int32_t shared = 0, size[FX_SEGMENTS];
  REQUIRE(t, owner);
  for (int k = 0; k < FX_SEGMENTS; k++) {
    int32_t first = k ? p->segment_end[k - 1] : 0;
    if (k % 2 == 0) memset(owner, 0, (size_t)p->body_count + 1);
    size[k] = p->segment_end[k] - first;
    for (int32_t at = first * 2 * FX_BATCH; at < p->segment_end[k] * 2 * FX_BATCH; at++) {
      int32_t body = p->slot_body[at] / FX_RECORD;
      shared += owner[body] && owner[body] != k + 1;
      shared += body % p->body_count && k < 2 && (body < p->body_cut) != (k == 0);
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

/* Twenty mixed sweeps: z and the sums of the steps. */
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

/* |d - Hh z|, and d as it was. */
static double drift_of(fx_pile *p, fx_sweep_target target) {
  size_t count = (size_t)p->body_count * FX_RECORD;
  float *d = p->single.d, *kept = malloc(count * sizeof *kept);
  double sum = 0;
  if (!kept) return INFINITY;
  memcpy(kept, d, count * sizeof *d);
  fx_sweep_refresh(p, false, target);
  for (size_t k = 0; k < count; k++) sum += ((double)d[k] - (double)kept[k]) * ((double)d[k] - (double)kept[k]);
  memcpy(d, kept, count * sizeof *d);
  free(kept);
  return sqrt(sum);
}

/* Mixed sweeps keep d = Hh z: what rounding has made of it stays below the step. */
static void drift(fx_test *t) {
  pile p;
  bool good = pile_make(&p, 300, 1e-3, false, 70);
  fx_arena arena;
  fx_system system;
  fx_pile packed;
  fx_blend mixing;
  fx_sweep_target target = fx_sweep_best_target();
  REQUIRE(t, good);
  fx_arena_init(&arena, p.context);
  good = fx_system_build(&arena, p.problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK &&
         fx_pile_build(&arena, &system, NULL, false, &packed) == FRIX_OK &&
         fx_blend_take(&arena, &packed, false, &mixing) == FRIX_OK;
  CHECK(t, good);
  if (good) {
    fx_pile_data kept = packed.single;
    double worst = 0;
    fx_pile_load(&packed, false, p.data.guess);
    fx_sweep_refresh(&packed, false, target);
    fx_blend_begin(&mixing, &packed, false, 0.1);
    for (int k = 0; k < 400; k++) {
      fx_sweep_sums one = fx_blend_sweep(&mixing, &packed, false, target, NULL);
      if (one.step < 1e-12 * one.size) break; /* all that single precision has */
      worst = fmax(worst, drift_of(&packed, target) / sqrt(one.step));
    }
    CHECK(t, worst < 1);
    fx_test_note(t, "%.2f of the step at most;", worst);
    packed.single = kept;
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

const fx_test_row test_sweep_kernels[] = {
    {"sweeps/batches", batches},
    {"sweeps/runs", runs},
    {"sweeps/growth", growth},
    {"sweeps/bits", bits},
    {"sweeps/blend", blend},
    {"sweeps/drift", drift},
    {"sweeps/base", base},
    {"sweeps/lanes", lanes},
    {"sweeps/two_threads", two_threads},
    {0},
};
