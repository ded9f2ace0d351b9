/* Islands: connected sets of contacts, by union-find with the smallest contact as the root. */
#include "problem/system.h"

#include <frix/problem.h>

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

frix_status fx_system_islands(fx_arena *arena, const fx_system *s, int32_t *label, int32_t *count) {
  int32_t n = s->contact_count;
  int32_t *parent = FX_TAKE(arena, int32_t, n);
  if (!parent) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) parent[i] = i;
  if (s->has_velocity) {
    /* Contacts on the same mover: tie each to the first one seen there. */
    int32_t *seen = FX_TAKE(arena, int32_t, s->mover_count);
    if (!seen) return FRIX_ERROR_MEMORY;
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
        int32_t m = s->Ht.index[k];
        if (seen[m]) join(parent, i, seen[m] - 1);
        seen[m] = i + 1;
      }
  } else {
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) join(parent, i, s->W.index[k]);
  }
  *count = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t root = root_of(parent, i);
    label[i] = root == i ? (*count)++ : label[root];
  }
  return FRIX_OK;
}

frix_status frix_problem_island_count(const frix_problem *problem, int32_t *out) {
  if (!problem || !out) return FRIX_ERROR_INPUT;
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_system system;
  frix_form form = problem->form; /* no need to assemble W */
  frix_status status = fx_system_build(&arena, problem, form, &system);
  int32_t *label = status == FRIX_OK ? FX_TAKE(&arena, int32_t, system.contact_count) : NULL;
  if (status == FRIX_OK) status = label ? fx_system_islands(&arena, &system, label, out) : FRIX_ERROR_MEMORY;
  fx_arena_free(&arena);
  return status;
}
