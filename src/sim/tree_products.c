/* Responses of trees to all rows of an assembly at once.
 *
 *   J M~^-1 J' = Y' Z,   Y = L'^-1 J',   Z = D^-1 Y,   M~ = L'DL
 *
 * Columns of Y and Z are the rows that move a tree, in the order of the groups: what is done to a coordinate is done to
 * all of them in one pass. Weights of rows are the diagonal; they are those of the certificate (judge.c), and all of
 * the product is the matrix of tree_newton.c. */
#include "sim/softs.h"
#include "sim/tree_newton.h"

#include <string.h>

#include "linalg/scaled_row.h"

enum { MOST = 1 << 18 }; /* numbers of Y: beyond, rows are answered one by one */

#define INLINE static inline __attribute__((always_inline))

INLINE void eliminate(const fx_mover *m, int32_t n, double *Y) {
  const fx_part *p = m->tree->part;
  int32_t first = m->tree->first;
  for (int32_t i = m->dof - 1; i >= 0; i--) {
    const double *from = Y + (size_t)i * (size_t)n;
    if (p->dense) {
      const int32_t *list = p->column + i * m->dof;
      const double *L = p->factor + (size_t)i * (size_t)m->dof;
      for (int32_t k = 0; k < p->column_count[i]; k++)
        fx_subtract_scaled(n, L[list[k]], from, Y + (size_t)list[k] * (size_t)n);
      continue;
    }
    const fx_tree *t = &m->tree->mechanism->tree;
    const double *L = m->tree->mechanism->state->factor + t->dof[first + i].row + 1;
    for (int32_t j = t->dof[first + i].parent; j >= 0; j = t->dof[j].parent)
      fx_subtract_scaled(n, *L++, from, Y + (size_t)(j - first) * (size_t)n);
  }
}

INLINE void answer_all(const fx_mover *m, const fx_tree_products *p) {
  size_t n = (size_t)p->count, dof = (size_t)m->dof;
  eliminate(m, p->count, p->Y);
  memset(p->weight, 0, n * sizeof *p->weight);
  for (size_t i = 0; i < dof; i++) {
    const fx_part *part = m->tree->part;
    double inverse = part->dense ? 1.0 / part->factor[i * dof + i]
                                 : m->tree->mechanism->state->factor_diagonal[(size_t)m->tree->first + i];
    const double *restrict y = p->Y + i * n;
    double *restrict z = p->Z + i * n, *restrict weight = p->weight;
    for (size_t k = 0; k < n; k++) z[k] = inverse * y[k], weight[k] += y[k] * z[k];
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void answer_avx2(const fx_mover *m, const fx_tree_products *p) {
  answer_all(m, p);
}

/* Number by number: the bits do not depend on how wide the machine's registers are. */
static void answer(const fx_mover *m, const fx_tree_products *p) {
  if (__builtin_cpu_supports("avx2"))
    answer_avx2(m, p);
  else
    answer_all(m, p);
}
#else
static void answer(const fx_mover *m, const fx_tree_products *p) { answer_all(m, p); }
#endif

static frix_status take(fx_arena *arena, size_t dof, fx_tree_products *p) {
  size_t n = (size_t)p->count;
  p->row = FX_TAKE_RAW(arena, int32_t, n), p->weight = FX_TAKE_RAW(arena, double, n);
  p->Y = FX_TAKE_RAW(arena, double, dof *n), p->Z = FX_TAKE_RAW(arena, double, dof *n);
  return p->row && p->weight && p->Y && p->Z ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Columns of Y from the rows of J. */
static void put_rows(const frix_sim *sim, const fx_assembly *a, fx_tree_products *list) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      fx_tree_products *p = &list[g->mover[b]];
      int32_t dof = sim->mover[g->mover[b]].dof;
      for (int32_t j = 0; j < g->dim && p->Y; j++, p->filled++) {
        p->row[p->filled] = g->row + j;
        for (int32_t i = 0; i < dof; i++) p->Y[(size_t)i * (size_t)p->count + (size_t)p->filled] = J[j * dof + i];
      }
      J += g->dim * dof;
    }
  }
}

frix_status fx_tree_products_find(const frix_sim *sim, fx_assembly *a) {
  if (a->products || !sim->mechanism) return FRIX_OK;
  fx_tree_products *list = FX_TAKE(a->arena, fx_tree_products, sim->mover_count);
  if (!list) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < a->group_count; k++)
    for (int32_t b = 0; b < a->group[k].body_count; b++) list[a->group[k].mover[b]].count += a->group[k].dim;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    bool fits = m->tree && !m->tree->soft && list[k].count > 0 && list[k].count <= MOST / m->dof;
    if (fits && take(a->arena, (size_t)m->dof, &list[k]) != FRIX_OK) return FRIX_ERROR_MEMORY;
  }
  put_rows(sim, a, list);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (list[k].Y) answer(&sim->mover[k], &list[k]);
  a->products = list;
  return FRIX_OK;
}
