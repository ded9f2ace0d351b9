/* An attempt at another answer: rows and answer as they are, to come back to where it fails. */
#include "sim/solving.h"

#include <string.h>

static void *copied(fx_arena *arena, const void *from, int32_t count, size_t size) {
  void *to = fx_arena_take_raw(arena, (size_t)count, size);
  return to && count ? memcpy(to, from, (size_t)count * size) : to;
}

static void put_back(double *to, const double *from, int32_t count) {
  if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

frix_status fx_attempt_begin(frix_sim *sim, const fx_assembly *a, fx_attempt *t) {
  fx_arena *arena = &sim->arena;
  t->report = sim->report;
  t->w = copied(arena, a->w, a->row_count, sizeof *a->w);
  t->R = copied(arena, a->R, a->row_count, sizeof *a->R);
  t->r_c = copied(arena, a->r_c, a->row_count, sizeof *a->r_c);
  t->r = copied(arena, a->r, a->row_count, sizeof *a->r);
  t->expected = a->expected ? copied(arena, a->expected, a->row_count, sizeof *a->expected) : NULL;
  if (a->expected && !t->expected) return FRIX_ERROR_MEMORY;
  t->group = copied(arena, a->group, a->group_count, sizeof *a->group);
  t->mover = fx_movers_save(sim);
  return t->w && t->R && t->r_c && t->r && t->group && t->mover ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_attempt_keep_unset(frix_sim *sim, fx_assembly *a) {
  if (a->unset) return FRIX_OK;
  fx_attempt *t = FX_TAKE(&sim->arena, fx_attempt, 1);
  frix_status status = t ? fx_attempt_begin(sim, a, t) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) a->unset = t;
  return status;
}

void fx_attempt_restore_rows(fx_assembly *a, const fx_attempt *t) {
  put_back(a->w, t->w, a->row_count);
  put_back(a->R, t->R, a->row_count);
  put_back(a->r_c, t->r_c, a->row_count);
  if (t->expected) put_back(a->expected, t->expected, a->row_count);
  if (a->expected && !t->expected) memset(a->expected, 0, (size_t)a->row_count * sizeof *a->expected);
  if (a->group_count) memcpy(a->group, t->group, (size_t)a->group_count * sizeof *a->group);
}

void fx_attempt_restore_answer(frix_sim *sim, fx_assembly *a, const fx_attempt *t) {
  int64_t iterations = sim->report.iterations;
  put_back(a->r, t->r, a->row_count);
  fx_movers_restore(sim, t->mover);
  sim->report = t->report;
  sim->report.iterations = iterations;
}
