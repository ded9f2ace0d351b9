/* Which contacts of an island Newton looks at.
 *
 * Surfaces of many points have many contacts that a step could reach and does not: at the velocities before it a = J v
 * + w is above what gravity changes it by. A solve leaves them out; those that its answer closes join the next one,
 * which begins at that answer. So the answer is that of all contacts, and the certificate judges all of them. What a
 * blow could close is not looked at before: in a falling pile that would be a hundred contacts for one that closes. */
#include "sim/soft_island.h"

#include "linalg/product.h"

static const double falls = 4.0; /* h g: what a step changes velocities by without any contact, and some more */

/* a_N of a group at velocities by mover. */
static double normal_of(const fx_island *t, const fx_group *g, double *const *v) {
  const double *J = t->a->J + g->value;
  double sum = t->a->w[g->row] - t->a->R[g->row] * t->a->r_c[g->row];
  for (int32_t b = 0; b < g->body_count; b++) {
    int32_t dof = t->sim->mover[g->mover[b]].dof;
    fx_add_products(1, dof, J, v[g->mover[b]], &sum);
    J += g->dim * dof;
  }
  return sum;
}

/* Those within `reach`, or that carry something, to the front; the order is kept on both sides. */
static void divide(fx_island *t, int32_t from, double reach, const double *normal, int32_t *far) {
  int32_t near = from, rest = 0;
  for (int32_t k = from; k < t->all; k++) {
    int32_t row = t->a->group[t->group[k]].row;
    if (normal[k] < reach || t->a->guess[row] > 0.0 || t->a->r[row] > 0.0)
      t->group[near++] = t->group[k];
    else
      far[rest++] = t->group[k];
  }
  for (int32_t k = 0; k < rest; k++) t->group[near + k] = far[k];
  t->count = near;
}

static bool take(const fx_island *t, fx_arena *arena, double ***v, double **normal, int32_t **far) {
  *v = FX_TAKE_RAW(arena, double *, t->sim->mover_count), *normal = FX_TAKE_RAW(arena, double, t->all);
  *far = FX_TAKE_RAW(arena, int32_t, t->all);
  return *v && *normal && *far;
}

bool fx_island_choose(fx_island *t, fx_arena *arena) {
  double **v, *normal, *room = FX_TAKE_RAW(arena, double, t->n);
  int32_t *far;
  if (!room || !take(t, arena, &v, &normal, &far)) return false;
  for (int32_t k = 0; k < t->mover_count; k++) {
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    fx_island_before(m, room);
    v[t->mover[k]] = room, room += m->dof;
  }
  for (int32_t k = 0; k < t->all; k++) normal[k] = normal_of(t, &t->a->group[t->group[k]], v);
  divide(t, 0, falls * t->sim->h * fx_norm(t->sim->state.gravity), normal, far);
  if (t->count == 0) t->count = 1; /* all are far: one stands for them */
  return true;
}

bool fx_island_add_closed(fx_island *t, fx_arena *arena) {
  double **v, *normal;
  int32_t *far, before = t->count;
  if (before == t->all || !take(t, arena, &v, &normal, &far)) return false;
  for (int32_t k = 0; k < t->mover_count; k++) v[t->mover[k]] = t->v + t->first[t->mover[k]];
  for (int32_t k = before; k < t->all; k++) normal[k] = normal_of(t, &t->a->group[t->group[k]], v);
  divide(t, before, 0.0, normal, far);
  return t->count > before;
}
