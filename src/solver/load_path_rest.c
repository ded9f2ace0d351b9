/* Problems whose bodies come to rest: walls, stacks and pyramids under their weight.
 *
 * Where v = 0 is the answer, u = w, and the impulses balance the momentum that the loads would bring,
 *
 *   H r + M v_free = 0,   r_i in K_i,   r_i = 0 where w_N > 0
 *
 * which is a problem of statics. Following the loads (load_path.c) takes as long as some sweeps; sweeps alone would
 * carry a load down by one course each, and an interior point method needs some tens of factorisations. */
#include "solver/load_path.h"
#include "solver/solver.h"

#include <string.h>

enum { FEW = 100 }; /* one in so many bodies may be left unbalanced */

/* Rigid bodies, contacts alone. */
static bool is_fit(const fx_call *call) {
  const fx_system *s = call->system;
  if (call->law != FRIX_LAW_COULOMB || !s->has_velocity || s->has_bounds || s->joint_first < s->contact_count)
    return false;
  if (s->mover_count < FX_LOAD_PATH_BODIES) return false;
  for (int32_t k = 0; s->R && k < s->row_count; k++)
    if (s->R[k] > 0) return false;
  return true;
}

/* f = M v_free. */
static void find_force(const fx_system *s, double *force) {
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t first = s->dof[m], n = s->dof[m + 1] - first;
    bool dense = s->M && (!s->inverse_mass || s->inverse_mass[first] == 0);
    for (int32_t c = 0; c < n; c++) {
      force[first + c] = dense ? 0 : s->mass[first + c] * s->v_free[first + c];
      for (int32_t d = 0; dense && d < n; d++)
        force[first + c] += s->M[s->M_offset[m] + (size_t)(c * n + d)] * s->v_free[first + d];
    }
  }
}

int32_t fx_load_path_rest(fx_call *call, frix_status *status) {
  const fx_system *s = call->system;
  *status = FRIX_OK;
  if (!is_fit(call)) return -1;
  fx_arena arena;
  fx_arena_init(&arena, call->arena->context);
  uint8_t *kind = FX_TAKE_RAW(&arena, uint8_t, s->contact_count);
  int32_t *contact = FX_TAKE_RAW(&arena, int32_t, s->contact_count);
  int32_t *mover = FX_TAKE_RAW(&arena, int32_t, s->mover_count);
  double *force = FX_TAKE_RAW(&arena, double, s->dof_count), *arm = FX_TAKE_RAW(&arena, double, s->dof_count);
  int32_t left = -1;
  bool enough = kind && contact && mover && force && arm;
  *status = enough ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int32_t i = 0; enough && i < s->contact_count; i++)
    contact[i] = i, kind[i] = s->w[s->row[i]] > 0 ? FX_STATICS_OPEN : FX_STATICS_CONE;
  for (int32_t m = 0; enough && m < s->mover_count; m++) mover[m] = m;
  if (enough) {
    fx_statics statics = {.s = s, .kind = kind, .force = force, .arm = arm};
    fx_statics_part all = {s->contact_count, s->mover_count, contact, mover};
    find_force(s, force);
    fx_statics_arms(&statics);
    *status = fx_load_path_find(&arena, &statics, &all, s->mover_count / FEW, call->r, &left);
  }
  if (left < 0) memset(call->r, 0, (size_t)s->row_count * sizeof *call->r);
  fx_arena_free(&arena);
  return left;
}
