/* Sleep of trees.
 *
 * A tree is one island, with the trees that equalities and tendons tie it to. It falls asleep as bodies do (sleep.c),
 * when no link has moved for long: its coordinates stop, and what it remembers of impulses stays, so that it goes on
 * where it stopped. What an actuator acts on, a mocap body holds or an applied force pushes stays awake; coordinates
 * and velocities that are set by hand wake their tree. */
#include "sim/mechanism.h"

#include <string.h>

bool fx_part_sleeps(const frix_sim *sim, int32_t part) {
  int32_t slot = sim->mechanism->part[part].slot;
  return slot >= 0 && sim->state.asleep[slot];
}

/* ---- what is tied to what ---- */

static int32_t root_of(const fx_mechanism *x, int32_t part) {
  while (x->part[part].tied != part) part = x->part[part].tied;
  return part;
}

static void tie(fx_mechanism *x, int32_t *first, int32_t dof) {
  int32_t part = dof >= 0 ? x->part_of_dof[dof] : -1;
  if (part < 0) return;
  part = root_of(x, part);
  if (*first < 0) *first = part;
  if (part < *first)
    x->part[*first].tied = part, *first = part;
  else
    x->part[part].tied = *first;
}

static void tie_span(fx_mechanism *x, int32_t *first, fx_tree_span span) {
  for (int32_t n = span.first; n < span.first + span.count; n++) tie(x, first, x->tree.list[n]);
}

static void tie_equality(fx_mechanism *x, const fx_tree_equality *e) {
  const fx_tree *t = &x->tree;
  int32_t first = -1;
  bool held = false;
  for (int side = 0; side < 2; side++) {
    int32_t k = side ? e->second : e->first;
    if (k < 0 || !e->active) continue;
    if (e->kind == FX_EQUAL_JOINT) tie(x, &first, t->joint[k].v);
    if (e->kind == FX_EQUAL_TENDON) tie_span(x, &first, t->tendon[k].dofs);
    if (e->kind > FX_EQUAL_WELD) continue;
    tie(x, &first, t->body[k].dof_last);
    for (int32_t b = k; b >= 0; b = t->body[b].parent) held |= t->body[b].mocap >= 0;
  }
  if (first >= 0) x->part[first].driven |= held;
}

void fx_mechanism_tie(fx_mechanism *x) {
  const fx_tree *t = &x->tree;
  for (int32_t k = 0; k < x->part_count; k++) x->part[k].tied = k;
  for (int32_t k = 0; k < t->tendon_count; k++) {
    int32_t first = -1;
    tie_span(x, &first, t->tendon[k].dofs);
  }
  for (int32_t k = 0; k < t->equality_count; k++) tie_equality(x, &t->equality[k]);
  for (int32_t k = 0; k < t->actuator_count; k++) {
    int32_t first = -1;
    tie_span(x, &first, t->actuator[k].dofs);
    if (first >= 0) x->part[first].driven = true;
  }
  for (int32_t k = 0; k < x->part_count; k++) x->part[k].tied = root_of(x, k);
  for (int32_t k = 0; k < x->part_count; k++) x->part[x->part[k].tied].driven |= x->part[k].driven;
}

int32_t fx_mechanism_island(const frix_sim *sim, int32_t slot) {
  const fx_mechanism *x = sim->mechanism;
  if (!fx_is_link(sim, slot)) return -1;
  return x->part[x->part[x->part_of_body[x->body_of_slot[slot]]].tied].slot;
}

/* ---- falling asleep, waking ---- */

bool fx_mechanism_rests(const frix_sim *sim, int32_t slot) {
  const fx_mechanism *x = sim->mechanism;
  if (!fx_is_link(sim, slot)) return true;
  const fx_part *p = &x->part[x->part_of_body[x->body_of_slot[slot]]];
  for (int32_t i = p->first; i < p->first + p->count; i++)
    if (x->state->applied[i] != 0.0) return false;
  return !x->part[p->tied].driven;
}

void fx_mechanism_stop(frix_sim *sim) {
  fx_mechanism *x = sim->mechanism;
  if (!x) return;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    if (!fx_part_sleeps(sim, k)) continue;
    memset(x->state->qvel + p->first, 0, (size_t)p->count * sizeof(double));
    memset(x->acceleration + p->first, 0, (size_t)p->count * sizeof(double));
    for (int32_t b = p->root; b < p->body_end; b++)
      memset(sim->state.robot + x->at.flown + 6 * (size_t)b, 0, 6 * sizeof(double));
  }
  fx_tree_velocities(x->state);
  fx_mechanism_remember(x);
}

void fx_mechanism_wake(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t k = 0; k < x->part_count; k++) {
    const fx_part *p = &x->part[k];
    bool moved = false;
    for (int32_t i = p->first; i < p->first + p->count && fx_part_sleeps(sim, k); i++)
      moved |= x->state->qvel[i] != 0.0 || x->state->applied[i] != 0.0;
    if (moved) fx_wake(sim, p->slot);
  }
}
