/* Rows of spheres in few numbers: velocities and scales agree with those of H, and certificates are those of H. */
#include "problem/certificate.h"
#include "problem/round_rows.h"
#include "sphere_pile.h"

/* A pile as a system, with and without its numbers. */
typedef struct both {
  pile p;
  fx_arena arena;
  fx_system round, plain;
  double *u, *v, *u_plain, *v_plain;
} both;

static bool both_make(fx_test *t, both *b) {
  bool good = pile_make(&b->p, 300, 1e-2, false, 60);
  CHECK(t, good);
  if (!good) return false;
  fx_arena_init(&b->arena, b->p.context);
  CHECK(t, fx_system_build(&b->arena, b->p.problem, FRIX_FORM_GLOBAL, &b->round) == FRIX_OK);
  b->plain = b->round;
  b->plain.round = NULL;
  b->u = FX_TAKE(&b->arena, double, b->round.row_count);
  b->v = FX_TAKE(&b->arena, double, b->round.dof_count);
  b->u_plain = FX_TAKE(&b->arena, double, b->round.row_count);
  b->v_plain = FX_TAKE(&b->arena, double, b->round.dof_count);
  CHECK(t, b->round.round != NULL);
  return b->round.round && b->u && b->v && b->u_plain && b->v_plain;
}

static void both_free(both *b) {
  if (b->round.contact) fx_arena_free(&b->arena);
  pile_free(&b->p);
}

static double largest(const double *x, int32_t count) {
  double most = 0;
  for (int32_t k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
  return most;
}

static double difference(const double *x, const double *y, int32_t count) {
  double most = 0;
  for (int32_t k = 0; k < count; k++) most = fmax(most, fabs(x[k] - y[k]));
  return most;
}

static void velocities(fx_test *t) {
  both b = {0};
  if (both_make(t, &b)) {
    const double *r = b.p.data.guess;
    double own = fx_residual_of(&b.round, FRIX_LAW_COULOMB, r, b.u, b.v);
    double plain = fx_residual_of(&b.plain, FRIX_LAW_COULOMB, r, b.u_plain, b.v_plain);
    CHECK_NEAR(t, own, plain, 1e-12 * plain);
    CHECK(t, difference(b.u, b.u_plain, b.round.row_count) <= 1e-13 * largest(b.u_plain, b.round.row_count));
    CHECK(t, difference(b.v, b.v_plain, b.round.dof_count) <= 1e-13 * largest(b.v_plain, b.round.dof_count));
  }
  both_free(&b);
}

/* Also of a contact whose friction is stray, for which weights are made on the spot. */
static void scales(fx_test *t) {
  both b = {0};
  if (both_make(t, &b)) {
    fx_row_scales own, plain;
    const fx_system *s = &b.round;
    fx_row_set all = {.count = s->contact_count};
    double *r = FX_TAKE(&b.arena, double, s->row_count), stray[2] = {1, -2};
    memcpy(r, b.p.data.guess, (size_t)s->row_count * sizeof *r);
    CHECK(t, fx_row_scales_take(&b.arena, s, &own) == FRIX_OK);
    CHECK(t, fx_row_scales_take(&b.arena, &b.plain, &plain) == FRIX_OK && own.ball && !plain.ball);
    fx_row_scales_find(s, &all, r, &own);
    fx_row_scales_find(&b.plain, &all, r, &plain);
    for (int32_t k = 0; k < s->row_count; k++) CHECK_NEAR(t, own.speed[k], plain.speed[k], 1e-12 * plain.speed[k]);
    fx_row_measure by = fx_row_measure_of(s, &own), by_plain = fx_row_measure_of(&b.plain, &plain);
    for (int32_t i = 0; i < s->contact_count; i += 7) {
      double e = fx_row_stray(&b.plain, &by_plain, i, 1, stray);
      CHECK_NEAR(t, fx_row_stray(s, &by, i, 1, stray), e, 1e-12 * e);
    }
  }
  both_free(&b);
}

/* The velocities of an answer are found from H, to the bit. */
static void certificates(fx_test *t) {
  both b = {0};
  if (both_make(t, &b)) {
    frix_result result = {0};
    frix_solution *found = pile_solve(&b.p, "auto", 1e-10, &result);
    CHECK(t, found && result.outcome == FRIX_OUTCOME_SOLVED);
    if (found) {
      fx_system_velocity(&b.plain, result.r, b.u_plain, b.v_plain);
      CHECK(t, memcmp(result.u, b.u_plain, (size_t)b.plain.row_count * sizeof *result.u) == 0);
      CHECK(t, memcmp(result.v, b.v_plain, (size_t)b.plain.dof_count * sizeof *result.v) == 0);
    }
    frix_solution_destroy(found);
  }
  both_free(&b);
}

const fx_test_row test_round_rows[] = {{"round_rows/velocities", velocities},
                                       {"round_rows/scales", scales},
                                       {"round_rows/certificates", certificates},
                                       {0}};
