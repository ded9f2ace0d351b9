/* Rows straight to the system solvers see, to judge a warm start without building a problem first.
 *
 *   Ht = J as assembled,  Yt = J M^-1 by the movers' own 3x3 inverses,  u = Ht (v_free + Yt' r) + R r + w
 *
 * A body at rest needs no more than this: the impulses of the last step, certified again. */
#include "sim/system.h"

#include <string.h>

static frix_status pattern(frix_sim *sim, const fx_assembly *a, const int32_t *place, fx_system *s) {
  fx_arena *arena = &sim->arena;
  int32_t n = a->group_count, blocks = 0;
  for (int32_t k = 0; k < n; k++) blocks += a->group[k].body_count;
  int32_t *row = FX_TAKE(arena, int32_t, (size_t)n + 1), *start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  int32_t *index = FX_TAKE(arena, int32_t, blocks);
  size_t *offset = FX_TAKE(arena, size_t, (size_t)blocks + 1);
  double *y = FX_TAKE(arena, double, a->value_count);
  if (!row || !start || !index || !offset || !y) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t k = 0; k < n; k++) {
    const fx_group *g = &a->group[k];
    row[k + 1] = row[k] + g->dim;
    for (int32_t b = 0; b < g->body_count; b++, at++) {
      index[at] = place[g->mover[b]];
      offset[at + 1] = offset[at] + (size_t)(g->dim * sim->mover[g->mover[b]].dof);
    }
    start[k + 1] = at;
  }
  s->row = row;
  s->Ht = (fx_block_matrix){n, s->mover_count, row, s->dof, start, index, offset, a->J};
  s->Yt = s->Ht;
  s->Yt.x = y;
  return FRIX_OK;
}

/* Y = J M^-1, block by block. */
static void spread(const frix_sim *sim, const fx_assembly *a, double *y) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    double *out = y + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      for (int32_t j = 0; j < g->dim; j++, J += m->dof, out += m->dof) {
        frix_vec3 lin = fx_sym3_mul(m->A_inverse, fx_vec(J[0], J[1], m->dof == 3 ? 0.0 : J[2]));
        out[0] = lin.x, out[1] = lin.y;
        if (m->dof == 3) {
          out[2] = m->B_inverse.zz * J[2];
          continue;
        }
        frix_vec3 ang = fx_sym3_mul(m->B_inverse, fx_vec(J[3], J[4], J[5]));
        out[2] = lin.z, out[3] = ang.x, out[4] = ang.y, out[5] = ang.z;
      }
    }
  }
}

frix_status fx_sim_system(frix_sim *sim, const fx_assembly *a, fx_system *s) {
  fx_arena *arena = &sim->arena;
  memset(s, 0, sizeof *s);
  s->contact_count = a->group_count;
  s->row_count = a->row_count;
  s->joint_first = a->joint_first;
  s->contact = a->law;
  s->dof_count = sim->problem.dof_count;
  s->has_velocity = true;
  int32_t *place = FX_TAKE(arena, int32_t, sim->mover_count),
          *dof = FX_TAKE(arena, int32_t, (size_t)sim->mover_count + 1);
  double *v_free = FX_TAKE(arena, double, s->dof_count), *w = FX_TAKE(arena, double, s->row_count);
  double *q = FX_TAKE(arena, double, s->row_count);
  if (!place || !dof || !v_free || !w || !q) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    double x[6] = {m->v_free.x, m->v_free.y, m->v_free.z, m->w_free.x, m->w_free.y, m->w_free.z};
    if (m->dof == 3) x[2] = m->w_free.z;
    memcpy(v_free + m->first, x, (size_t)m->dof * sizeof *x);
    place[k] = s->mover_count++;
    dof[s->mover_count] = m->first + m->dof;
  }
  s->dof = dof;
  frix_status status = pattern(sim, a, place, s);
  if (status != FRIX_OK) return status;
  spread(sim, a, s->Yt.x);
  for (int32_t k = 0; k < s->row_count; k++) w[k] = a->compliant ? a->w[k] - a->R[k] * a->r_c[k] : a->w[k];
  memcpy(q, w, (size_t)s->row_count * sizeof *q);
  fx_block_multiply_add(&s->Ht, v_free, q);
  s->R = a->compliant ? a->R : NULL;
  s->v_free = v_free;
  s->w = w;
  s->q = q;
  return fx_system_diagonal(arena, s);
}
