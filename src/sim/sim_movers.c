/* What bodies, trees and soft bodies answer as movers of a step. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

void fx_slot_motion(const frix_sim *sim, int32_t slot, fx_when when, frix_vec3 *v, frix_vec3 *w) {
  int32_t k = sim->mover_of[slot];
  if (k < 0) {
    *v = sim->state.velocity[slot], *w = sim->state.spin[slot];
    return;
  }
  const fx_mover *m = &sim->mover[k];
  if (m->tree) {
    fx_tree_motion(sim, m, slot, when, v, w);
    return;
  }
  *v = when == FX_BEFORE ? m->v0 : when == FX_FREE ? m->v_free : m->v1;
  *w = when == FX_BEFORE ? m->w0 : when == FX_FREE ? m->w_free : m->w1;
}

double fx_body_way(const frix_sim *sim, int32_t slot, frix_vec3 v, frix_vec3 w) {
  double radius = fx_slot_body(sim, slot)->radius;
  return sim->h * (fx_norm(v) + (isfinite(radius) ? radius : 0.0) * fx_norm(w));
}

void fx_ways_raise(const frix_sim *sim, fx_when when, double *reach, double *inner) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 v, w;
    if (m->tree && !m->tree->soft) {
      fx_tree_ways_raise(sim, m, when, reach, inner);
      continue;
    }
    fx_slot_motion(sim, m->slot, when, &v, &w);
    reach[m->slot] = fx_max(reach[m->slot], fx_body_way(sim, m->slot, v, w));
  }
}

/* Numbers of a tree mover from one to another of the same tree. */
static void copy_tree(const fx_tree_mover *from, fx_tree_mover *to) {
  size_t bytes = (size_t)from->count * sizeof *from->v0;
  memcpy(to->v0, from->v0, bytes);
  memcpy(to->v_free, from->v_free, bytes);
  memcpy(to->v1, from->v1, bytes);
}

fx_mover *fx_movers_save(frix_sim *sim) {
  fx_mover *saved = FX_TAKE_RAW(&sim->arena, fx_mover, sim->mover_count);
  if (!saved) return NULL;
  memcpy(saved, sim->mover, (size_t)sim->mover_count * sizeof *saved);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_tree_mover *own = sim->mover[k].tree;
    if (!own) continue;
    fx_tree_mover *tree = FX_TAKE(&sim->arena, fx_tree_mover, 1);
    double *numbers = FX_TAKE_RAW(&sim->arena, double, 3 * (size_t)own->count);
    if (!tree || !numbers) return NULL;
    *tree = *own;
    tree->v0 = numbers, tree->v_free = numbers + own->count, tree->v1 = numbers + 2 * (size_t)own->count;
    copy_tree(own, tree);
    saved[k].tree = tree;
  }
  return saved;
}

void fx_movers_restore(frix_sim *sim, const fx_mover *saved) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_tree_mover *own = sim->mover[k].tree;
    sim->mover[k] = saved[k];
    if (!own) continue;
    copy_tree(saved[k].tree, own);
    sim->mover[k].tree = own;
  }
}

void fx_mover_kick(fx_mover *m, const double *J, double impulse) {
  if (m->tree) {
    double y[FX_TREE_MOST];
    fx_tree_respond(m, J, y);
    for (int32_t i = 0; i < m->dof; i++) m->tree->v_free[i] += impulse * y[i];
    return;
  }
  frix_vec3 lin = {J[0], J[1], m->dof == 3 ? 0.0 : J[2]};
  frix_vec3 ang = m->dof == 3 ? fx_vec(0.0, 0.0, J[2]) : fx_vec(J[3], J[4], J[5]);
  m->v_free = fx_mad(m->v_free, impulse, fx_sym3_mul(m->A_inverse, lin));
  m->w_free = fx_mad(m->w_free, impulse, fx_spin_change(m, ang));
}

void fx_mover_rebase(fx_mover *m) {
  m->v_free = m->v1, m->w_free = m->w1;
  if (m->tree) memcpy(m->tree->v_free, m->tree->v1, (size_t)m->dof * sizeof *m->tree->v1);
}

void fx_mover_free_again(fx_mover *m, const fx_mover *saved) {
  m->v_free = saved->v_free, m->w_free = saved->w_free;
  if (m->tree) memcpy(m->tree->v_free, saved->tree->v_free, (size_t)m->dof * sizeof *m->tree->v_free);
}

size_t fx_row_values(const frix_sim *sim, int32_t bodies) {
  size_t most = 6 * (size_t)bodies;
  const fx_mechanism *x = sim->mechanism;
  if (!x && !sim->softs) return most;
  /* the largest trees and soft bodies fill it */
  int32_t widest = sim->softs ? sim->softs->widest : 6;
  for (int32_t k = 0; x && k < x->part_count; k++)
    if (x->part[k].count > widest) widest = x->part[k].count;
  return (size_t)widest * (size_t)bodies;
}
