/* The base of sweeps in single precision. */
#include "solver/sweeps_base.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

bool fx_base_fits(const fx_pile *p) {
  const fx_system *s = p->system;
  if (p->wide || !p->compliant) return false;
  for (int32_t c = 0; c < p->count; c++) {
    int32_t i = p->order[c];
    if (s->contact[i].dim == 3 && s->R[s->row[i] + 1] != s->R[s->row[i] + 2]) return false;
  }
  return true;
}

frix_status fx_base_take(fx_arena *arena, const fx_pile *p, fx_base *b) {
  int32_t n = p->batch_room * FX_BATCH;
  *b =
      (fx_base){.number = FX_TAKE(arena, float, (size_t)n *FX_BASE), .contact = FX_TAKE_RAW(arena, fx_base_contact, n)};
  if (!b->number || !b->contact) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) b->contact[i] = (fx_base_contact){.frame = {1, 0}};
  return FRIX_OK;
}

static double friction_of(const frix_contact *c) {
  return c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR ? c->mu : 0;
}

/* Numbers a and b of a contact, by the angle with this cosine and sine. */
static void turn(float *field, int32_t a, int32_t b, double cosine, double sine) {
  double x = (double)field[a * LANES], y = (double)field[b * LANES];
  field[a * LANES] = (float)(cosine * x + sine * y);
  field[b * LANES] = (float)(cosine * y - sine * x);
}

/* The rows of friction of a contact: of Q where round, else of both blocks and of the coupling. */
static void turn_rows(const fx_pile *p, float *field, double cosine, double sine) {
  if (p->round) {
    for (int32_t k = 0; k < 3; k++) turn(field, FX_H + 3 + k, FX_H + 6 + k, cosine, sine);
    return;
  }
  for (int32_t k = 0; k < FX_BODY_DOF; k++) {
    turn(field, FX_H + 6 + k, FX_H + 12 + k, cosine, sine);
    turn(field, FX_H + 24 + k, FX_H + 30 + k, cosine, sine);
  }
  turn(field, FX_COUPLING, FX_COUPLING + 1, cosine, sine);
}

/* One contact: its base, its tangents along z0_T, its velocity in them; returns |z0|^2. */
static double move_contact(const fx_base *b, const fx_pile *p, int32_t c, const double *r, const double *u) {
  const fx_system *s = p->system;
  int32_t i = p->order[c], slot = p->slot[i], row = s->row[i], dim = s->contact[i].dim;
  float *field = (float *)p->single.field + fx_slot_at(slot, LANES, p->field_count, 0);
  float *number = b->number + fx_slot_at(slot, LANES, FX_BASE, 0);
  double *z = b->contact[c].z0, *frame = b->contact[c].frame, velocity[3] = {0, 0, 0}, inverse = 1 / s->rho;
  for (int32_t k = 0; k < 3; k++) {
    z[k] = k < dim ? inverse * r[row + k] : 0;
    velocity[k] = k < dim ? u[row + k] : 0;
  }
  double reach = sqrt(z[1] * z[1] + z[2] * z[2]);
  if (reach > 0) {
    double next[2] = {z[1] / reach, z[2] / reach};
    turn_rows(p, field, frame[0] * next[0] + frame[1] * next[1], frame[0] * next[1] - frame[1] * next[0]);
    frame[0] = next[0];
    frame[1] = next[1];
  }
  double per = 1 / b->unit;
  field[FX_Q * LANES] = (float)(per * velocity[0]);
  field[(FX_Q + 1) * LANES] = (float)(per * (frame[0] * velocity[1] + frame[1] * velocity[2]));
  field[(FX_Q + 2) * LANES] = (float)(per * (frame[0] * velocity[2] - frame[1] * velocity[1]));
  number[FX_LOW * LANES] = (float)(-per * z[0]);
  number[FX_REACH * LANES] = (float)(per * reach);
  number[FX_GAP * LANES] = (float)(per * (friction_of(&s->contact[i]) * z[0] - reach));
  return per * per * (z[0] * z[0] + reach * reach);
}

/* Contacts that threads move or store, each in its place. */
typedef struct contacts {
  fx_base *base;
  const fx_pile *pile;
  const double *given, *u;
  double *r, size[FX_PARTS];
} contacts;

static void move_part(int32_t part, int32_t first, int32_t end, void *user) {
  contacts *t = user;
  for (int32_t c = first; c < end; c++) t->size[part] += move_contact(t->base, t->pile, c, t->given, t->u);
}

/* Velocities and impulses of the pile are of order 1 in its units, most often, and single precision holds the squares
 * of what is 1e15 times larger. */
void fx_base_move(fx_base *b, fx_pile *p, double residual, const double *r, const double *u) {
  enum { SMALLEST = -50 };
  int power = residual > 0 && residual < 1 ? ilogb(residual) : 0;
  b->unit = ldexp(1, power > SMALLEST ? power : SMALLEST);
  contacts t = {.base = b, .pile = p, .given = r, .u = u};
  int32_t parts = fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, move_part, &t);
  b->size = 0;
  for (int32_t k = 0; k < parts; k++) b->size += t.size[k];
  p->single.base = b->number;
  memset(p->single.z, 0, (size_t)p->batch_count * FX_BATCH * 3 * sizeof(float));
  memset(p->single.d, 0, (size_t)p->body_count * FX_RECORD * sizeof(float));
}

/* A normal impulse at its bound is zero, whatever single precision made of that bound. */
static void store_part(int32_t part, int32_t first, int32_t end, void *user) {
  const contacts *t = user;
  const fx_base *b = t->base;
  const fx_pile *p = t->pile;
  const fx_system *s = p->system;
  (void)part;
  for (int32_t c = first; c < end; c++) {
    int32_t i = p->order[c];
    size_t at = fx_slot_at(p->slot[i], LANES, 3, 0);
    const float *dz = (const float *)p->single.z + at, *number = b->number + fx_slot_at(p->slot[i], LANES, FX_BASE, 0);
    const double *z0 = b->contact[c].z0, *frame = b->contact[c].frame;
    double along = b->unit * (double)dz[LANES], across = b->unit * (double)dz[2 * LANES], z[3];
    z[0] = dz[0] > number[FX_LOW * LANES] ? fmax(z0[0] + b->unit * (double)dz[0], 0) : 0;
    z[1] = z0[1] + frame[0] * along - frame[1] * across;
    z[2] = z0[2] + frame[1] * along + frame[0] * across;
    double reach = sqrt(z[1] * z[1] + z[2] * z[2]), radius = friction_of(&s->contact[i]) * z[0];
    double factor = reach > radius ? radius / reach : 1;
    for (int32_t k = 0; k < s->contact[i].dim; k++) t->r[s->row[i] + k] = s->rho * z[k] * (k ? factor : 1);
  }
}

void fx_base_store(fx_base *b, const fx_pile *p, double *r) {
  contacts t = {.base = b, .pile = p, .r = r};
  fx_parallel_range(p->system->threads, p->count, FX_LEAST_CONTACTS, store_part, &t);
}
