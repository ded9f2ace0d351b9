/* Rows of a step that are changed and changed back: what an attempt at another answer leaves, what a search over
 * restitution asks contacts for, and which blows are no longer expected. */
#include "sim/solving.h"
#include "sim_world.h"

#include <stdlib.h>

/* 1e6 kg thrown on a box of 1 kg: its springs would be pressed through it. */
static bool start_pressed(world *w) {
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config c = body_at(at(0, 0, 0.1));
  c.mass = 1;
  world_body(w, c, box_shape(0.1, 0.1, 0.1));
  c.mass = 1e6, c.pose.p.z = 0.3;
  frix_body_id ball = world_body(w, c, sphere_shape(0.1));
  if (!world_start(w)) return false;
  MUST(w, frix_sim_set_velocity(w->sim, ball, vec(0, 0, -0.5), vec(0, 0, 0)));
  return true;
}

/* What contacts expect of a blow is that of before the attempt, also where nothing was expected. */
static void expectations_return(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  REQUIRE(t, start_pressed(&w));
  world_step(&w, 0.01);
  fx_assembly *a = &w.sim->rows;
  double *kept = a->expected, *mine = calloc((size_t)a->row_count + 1, sizeof *mine);
  CHECK(t, mine && a->row_count > 0);
  for (int32_t before = 0; mine && before < 2; before++) {
    fx_attempt attempt;
    for (int32_t k = 0; k < a->row_count; k++) mine[k] = k + 1;
    a->expected = before ? mine : NULL;
    CHECK(t, fx_attempt_begin(w.sim, a, &attempt) == FRIX_OK);
    a->expected = mine;
    for (int32_t k = 0; k < a->row_count; k++) mine[k] = -5;
    fx_attempt_restore_rows(a, &attempt);
    for (int32_t k = 0; k < a->row_count; k++) CHECK(t, mine[k] == (before ? k + 1 : 0));
  }
  a->expected = kept;
  free(mine);
  world_end(&w);
}

/* A contact that is rigid because its load would press it too far, asked with all of its restitution, asks for what it
 * asked for before: its gap. */
static void pressed_keeps_gap(fx_test *t) {
  world w = world_new(t, 0.5, 0.5);
  int found = 0;
  REQUIRE(t, start_pressed(&w));
  for (int n = 0; n < 10; n++) {
    world_step(&w, 0.01);
    fx_assembly *a = &w.sim->rows;
    for (int32_t k = 0; k < a->joint_first; k++) {
      fx_group *g = &a->group[k];
      double asked = a->w[g->row];
      if (g->kind != FX_GROUP_CONTACT || a->R[g->row] > 0 || asked == a->drive[g->row]) continue;
      fx_contact_keep(w.sim, a, g, g->kept);
      CHECK(t, a->w[g->row] == asked);
      found++;
    }
  }
  CHECK(t, found > 0);
  fx_test_note(t, "%d contacts", found);
  world_end(&w);
}

/* A row whose contact ends the step with this u. */
static void set_u(fx_assembly *a, int32_t row, double after, double u) {
  a->w[row] = u - after - a->R[row] * (a->r[row] - a->r_c[row]);
}

/* Two balls on a floor, each an island. An impulse that is expected of a blow and pushes along the motion after the
 * step brings energy, which the impulses of the step do not take: it is dropped, and only there. So does friction that
 * is expected against a slip that it does not act on. */
static void blows_bring_nothing(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < 2; k++) world_body(&w, body_at(at(k, 0, 0.1)), sphere_shape(0.1));
  REQUIRE(t, world_start(&w));
  world_step(&w, 0.01);
  fx_assembly *a = &w.sim->rows;
  double *kept = a->expected, *mine = calloc((size_t)a->row_count + 1, sizeof *mine);
  bool any = false;
  CHECK(t, mine && a->joint_first == 2);
  a->expected = mine;
  for (int32_t k = 0; mine && k < 2; k++) {
    const fx_group *g = &a->group[k];
    fx_mover *m = &w.sim->mover[g->mover[0]];
    double sign = a->J[g->value + 2]; /* of the normal row along z */
    m->v1 = vec(0, 0, k == 0 ? sign : -sign);
    a->group[k].held = false;
    mine[g->row] = 100, a->r_c[g->row] += 100;
    set_u(a, g->row, k == 0 ? 1 : -1, 0);
  }
  CHECK(t, mine && fx_drop_gains(w.sim, a, &any) == FRIX_OK && any);
  CHECK(t, mine && mine[a->group[0].row] == 0 && mine[a->group[1].row] == 100);
  CHECK(t, mine && fx_drop_gains(w.sim, a, &any) == FRIX_OK && !any);
  int32_t tangent = a->group[1].row + 1;
  if (mine) mine[tangent] = -300, a->r_c[tangent] -= 300;
  if (mine) set_u(a, tangent, 0, 1);
  CHECK(t, mine && fx_drop_gains(w.sim, a, &any) == FRIX_OK && any && mine[tangent] == 0);
  a->expected = kept;
  free(mine);
  world_end(&w);
}

const fx_test_row test_attempt[] = {
    {"attempt/expectations_return", expectations_return},
    {"attempt/pressed_keeps_gap", pressed_keeps_gap},
    {"attempt/blows_bring_nothing", blows_bring_nothing},
    {0},
};
