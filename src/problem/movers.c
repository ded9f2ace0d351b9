/* Movers: runs of degrees of freedom that no entry of M crosses. */
#include "problem/movers.h"

#include <math.h>
#include <string.h>

#define EQUAL 1e-9 /* masses that rounding makes different */

enum { LARGEST_MOVER = 4096 }; /* factorised densely */

/* reach[k] = last degree of freedom tied to one at or before k by an entry of M. */
static void spread(const fx_sparse *m, int32_t *reach) {
  for (int32_t c = 0; c < m->col_count; c++) reach[c] = c;
  for (int32_t c = 0; c < m->col_count; c++)
    for (int32_t k = m->p[c]; k < m->p[c + 1]; k++) {
      if (m->i[k] == c || m->x[k] == 0) continue;
      int32_t low = m->i[k] < c ? m->i[k] : c, high = m->i[k] < c ? c : m->i[k];
      if (high > reach[low]) reach[low] = high;
    }
  for (int32_t c = 1; c < m->col_count; c++)
    if (reach[c - 1] > reach[c]) reach[c] = reach[c - 1];
}

/* No run crosses a multiple of size. */
static bool bodies_of(int32_t size, int32_t n, const int32_t *reach) {
  if (n % size) return false;
  for (int32_t c = size - 1; c < n; c += size)
    if (reach[c] > c) return false;
  return true;
}

/* Whether columns of M stay within bodies of this size as stored, which most do: then there is nothing to search for.
 */
static bool are_bodies(int32_t size, const fx_sparse *m) {
  if (m->col_count % size) return false;
  bool good = true;
  for (int32_t first = 0; first < m->col_count; first += size)
    for (int32_t c = first; c < first + size; c++)
      if (m->p[c] < m->p[c + 1]) good &= m->i[m->p[c]] >= first && m->i[m->p[c + 1] - 1] < first + size;
  return good;
}

/* Whether the first `equal` of every `size` degrees of freedom have the same mass, as those of a body's translation do.
 */
static bool look_like_bodies(int32_t size, int32_t equal, const fx_sparse *m) {
  if (m->col_count % size) return false;
  for (int32_t first = 0; first < m->col_count; first += size) {
    double mass[3] = {0, 0, 0};
    for (int32_t c = first; c < first + equal; c++)
      for (int32_t k = m->p[c]; k < m->p[c + 1]; k++)
        if (m->i[k] == c) mass[c - first] += m->x[k];
    for (int32_t c = 1; c < equal; c++)
      if (!(fabs(mass[c] - mass[0]) <= EQUAL * fabs(mass[0]))) return false;
  }
  return true;
}

/* Degrees of freedom of a body; 0: these are no rigid bodies. Only contacts in space have more than two rows; joints
 * have rows of all sizes in both, and then the masses tell. */
static int32_t body_size(const frix_problem *p) {
  bool space = false;
  for (int32_t i = 0; i < p->contact_count && !space; i++) space = p->contact[i].dim > 2;
  if (look_like_bodies(6, 3, &p->M)) return 6;
  return !space && look_like_bodies(3, 2, &p->M) ? 3 : 0;
}

frix_status fx_movers_find(fx_arena *arena, const frix_problem *p, int32_t **mover_of, const int32_t **dof,
                           int32_t *count) {
  int32_t n = p->dof_count, movers = 0;
  int32_t *owner = FX_TAKE_RAW(arena, int32_t, n), *first = FX_TAKE_RAW(arena, int32_t, (size_t)n + 1);
  if (!owner || !first) return FRIX_ERROR_MEMORY;
  int32_t body = body_size(p), *reach = NULL;
  first[0] = 0;
  if (!body || !are_bodies(body, &p->M)) {
    if (!(reach = FX_TAKE_RAW(arena, int32_t, n))) return FRIX_ERROR_MEMORY;
    spread(&p->M, reach);
    if (body && !bodies_of(body, n, reach)) body = 0;
  }
  for (int32_t c = 0; c < n; c++) {
    owner[c] = movers;
    bool last = body ? c + 1 - first[movers] == body : reach[c] == c;
    if (last) first[++movers] = c + 1;
    if (last && first[movers] - first[movers - 1] > LARGEST_MOVER)
      return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "M couples %d degrees of freedom in one block; at most %d",
                     first[movers] - first[movers - 1], LARGEST_MOVER);
  }
  *mover_of = owner;
  *dof = first;
  *count = movers;
  return FRIX_OK;
}
