/* Closed forms of a step against differences of its assembly: one direction of all states, random multipliers. */
#include "analysis/step_record.h"

#include <math.h>
#include <string.h>

#define AGREES 1e-6   /* of the slope */
#define ROUNDING 4e-9 /* of what the bodies carry: rounding of the values over the nudge */

/* Numbers in [-1, 1], the same in every run. */
static double next(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-52 - 1;
}

static frix_vec3 next_vec(uint64_t *state) {
  double x = next(state), y = next(state), z = next(state);
  return fx_vec(x, y, z);
}

static void find_direction(const fx_step_record *r, uint64_t *state, frix_sensitivity_motion *out) {
  memset(out, 0, (size_t)r->slots * sizeof *out);
  for (int32_t k = 0; k < r->body_count; k++) {
    frix_sensitivity_motion *m = &out[r->body[k].slot];
    m->place = next_vec(state), m->turn = next_vec(state);
    m->velocity = next_vec(state), m->spin = next_vec(state);
    if (!r->body[k].body->planar) continue;
    m->place.z = m->velocity.z = 0;
    m->turn.x = m->turn.y = m->spin.x = m->spin.y = 0;
  }
}

typedef struct values {
  double *group, *mover;
} values;

/* Multipliers under which momenta and rows weigh alike. */
static bool find_worth(fx_sensitivity_step *t, uint64_t *state, fx_worth *out, double **scratch, values v[2]) {
  frix_sensitivity_motion *free = FX_TAKE(&t->arena, frix_sensitivity_motion, t->s->slots);
  double *f = FX_TAKE(&t->arena, double, t->dofs + 1), *w = FX_TAKE(&t->arena, double, t->rows + 1);
  double *none = FX_TAKE(&t->arena, double, t->rows + t->contacts + t->joints + 1);
  *scratch = FX_TAKE(&t->arena, double, 6 * (size_t)t->s->slots);
  if (!free || !f || !w || !none || !*scratch) return false;
  for (int32_t k = 0; k < t->s->slots; k++) free[k].velocity = next_vec(state), free[k].spin = next_vec(state);
  for (int32_t k = 0; k < t->dofs; k++) f[k] = next(state);
  for (int32_t k = 0; k < t->rows; k++) w[k] = t->momentum / t->speed * next(state);
  *out = (fx_worth){.free = free, .rows = t->rows};
  if (t->gradient) out->f = f, out->w = w, out->b = out->mu = out->R = out->r_c = none;
  for (int k = 0; k < 2; k++) {
    v[k].group = FX_TAKE(&t->arena, double, t->s->sim->rows.group_count + 1);
    v[k].mover = FX_TAKE(&t->arena, double, t->s->sim->mover_count + 1);
    if (!v[k].group || !v[k].mover) return false;
  }
  return true;
}

/* The slope along the direction, and what it is a sum of. */
static void add_slope(const frix_sensitivity_motion *a, const frix_sensitivity_motion *d, double *sum, double *size) {
  *sum += fx_tangent_product(a, d);
  *size += fx_norm(a->place) + fx_norm(a->turn) + fx_norm(a->velocity) + fx_norm(a->spin);
}

static bool close_to(double found, double expected, double size, double carried) {
  return fabs(found - expected) <= AGREES * size + ROUNDING * carried;
}

frix_status fx_record_check(fx_sensitivity_step *t, const fx_step_record *record, bool *agrees) {
  frix_sensitivity *s = t->s;
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)s->result.step;
  fx_worth worth;
  double *scratch;
  values v[2];
  *agrees = false;
  if (!find_worth(t, &state, &worth, &scratch, v)) return FRIX_ERROR_MEMORY;
  find_direction(record, &state, s->change);
  for (int side = 0; side < 2; side++) {
    fx_places_move(s->before, s->change, side ? FX_NUDGE : -FX_NUDGE, s->slots, s->moved);
    frix_status status = fx_sensitivity_look(s, s->side[side], s->moved, -1, 0);
    if (status != FRIX_OK) return status;
    if (!fx_worth_find(&t->answer, s->side[side], &worth, scratch, v[side].group, v[side].mover)) return FRIX_OK;
  }
  for (int32_t k = 0; k < record->contact_count; k++) {
    const fx_record_contact *c = &record->contact[k];
    frix_sensitivity_motion by[2];
    double expected = 0, size = 0, found = (v[1].group[c->group] - v[0].group[c->group]) / (2 * FX_NUDGE);
    fx_record_contact_back(record, c, &worth, by);
    for (int side = 0; side < 2; side++)
      if (c->body[side] >= 0) add_slope(&by[side], &s->change[c->slot[side]], &expected, &size);
    if (!close_to(found, expected, size, t->momentum)) return FRIX_OK;
  }
  for (int32_t k = 0; k < record->body_count; k++) {
    const fx_record_body *b = &record->body[k];
    frix_sensitivity_motion by;
    double expected = 0, size = 0;
    if (b->mover < 0) continue;
    fx_record_body_back(record, b, &worth, &by);
    add_slope(&by, &s->change[b->slot], &expected, &size);
    double found = (v[1].mover[b->mover] - v[0].mover[b->mover]) / (2 * FX_NUDGE);
    if (!close_to(found, expected, size, b->first < 0 ? t->speed : t->momentum)) return FRIX_OK;
  }
  *agrees = true;
  return FRIX_OK;
}
