/* Velocity scales of rows of spheres: the sums of row_speeds.c where J_m M_m^-1 J_m' of a motion is a multiple of the
 * identity, a^2 / m for all three rows and c^2 / I for the tangents (round_rows.h). The roots of 3 / m and 3 / I of
 * each body take the place of twelve weights for each block of a contact. */
#include "problem/round_rows.h"
#include "problem/row_errors.h"

#include <math.h>

frix_status fx_row_balls_take(fx_arena *arena, const fx_system *s, fx_row_scales *out) {
  if (!s->round || s->motion) return FRIX_OK;
  double *ball = FX_TAKE_RAW(arena, double, 2 * (size_t)s->mover_count);
  if (!ball) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    const double *inverse = s->inverse_mass + s->dof[m];
    bool alike = s->dof[m + 1] - s->dof[m] == 6;
    for (int k = 1; k < 3 && alike; k++) alike = inverse[k] == inverse[0] && inverse[3 + k] == inverse[3];
    if (!alike) return FRIX_OK;
    ball[2 * m] = sqrt(3 * inverse[0]);
    ball[2 * m + 1] = sqrt(3 * inverse[3]);
  }
  out->ball = ball;
  return FRIX_OK;
}

/* A contact of a set: its rows, blocks and numbers. */
typedef struct place {
  const double *number;
  const int32_t *mover;
  int32_t row, count;
} place;

static inline place place_of(const fx_system *s, int32_t i) {
  int32_t start = s->Ht.start[i], count = s->Ht.start[i + 1] - start;
  return (place){s->round + (size_t)i * FX_ROUND_NUMBERS + 2 - count, s->Ht.index + start, s->row[i], count};
}

static inline double length_of(const double *x) {
  double square = x[0] * x[0] + x[1] * x[1];
  return square > 1e-280 && square < 1e280 ? sqrt(square) : fx_safe_norm(2, x);
}

/* Each thread has some of the bodies and looks at all contacts, so that a body adds its contacts in the same order
 * however many threads there are. */
typedef struct loading {
  const fx_system *s;
  const fx_row_set *set;
  const double *r;
  fx_row_scales *t;
  int32_t parts;
} loading;

static void load_balls(int32_t part, void *user) {
  const loading *l = user;
  int32_t first = (int32_t)((int64_t)l->s->mover_count * part / l->parts);
  int32_t end = (int32_t)((int64_t)l->s->mover_count * (part + 1) / l->parts);
  for (int32_t c = 0; c < l->set->count; c++) {
    place p = place_of(l->s, fx_row_at(l->set, c));
    const double *r = l->r + p.row;
    if (r[0] == 0 && r[1] == 0 && r[2] == 0) continue;
    double across = length_of(r + 1), all = fabs(r[0]) + across;
    for (int32_t b = 0; b < p.count; b++) {
      int32_t m = p.mover[b];
      if (m < first || m >= end) continue;
      const double *ball = l->t->ball + 2 * (size_t)m;
      double *to = l->t->energy + 2 * (size_t)m;
      to[0] += ball[0] * fabs(p.number[FX_ROUND_LINEAR + b]) * all;
      to[1] += ball[1] * fabs(p.number[FX_ROUND_ANGULAR + b]) * across;
    }
  }
}

static void find_speeds(int32_t part, int32_t begin, int32_t end, void *user) {
  const loading *l = user;
  const fx_system *s = l->s;
  (void)part;
  for (int32_t c = begin; c < end; c++) {
    place p = place_of(s, fx_row_at(l->set, c));
    const double *w = s->w + p.row, *r = l->r + p.row, *R = s->R ? s->R + p.row : NULL;
    double normal = w[0] > 0 ? 0 : fabs(w[0]), tangent = fx_larger(fabs(w[2]), fabs(w[1]));
    if (R) normal += R[0] * fabs(r[0]), tangent += fx_larger(R[2] * fabs(r[2]), R[1] * fabs(r[1]));
    for (int32_t b = 0; b < p.count; b++) {
      const double *ball = l->t->ball + 2 * (size_t)p.mover[b], *from = l->t->energy + 2 * (size_t)p.mover[b];
      double linear = ball[0] * fabs(p.number[FX_ROUND_LINEAR + b]) * (from[0] + FX_ROW_SHARED * from[1]);
      double angular = ball[1] * fabs(p.number[FX_ROUND_ANGULAR + b]) * (from[1] + FX_ROW_SHARED * from[0]);
      normal += linear;
      tangent += linear + angular;
    }
    double *speed = l->t->speed + p.row;
    speed[0] = normal;
    speed[1] = speed[2] = tangent;
  }
}

void fx_row_ball_speeds(const fx_system *s, const fx_row_set *set, const double *r, fx_row_scales *t) {
  bool divided = s->threads.count > 1 && set->count >= 2 * FX_LEAST_CONTACTS;
  loading l = {s, set, r, t, divided ? s->threads.count : 1};
  fx_parallel(s->threads.context, l.parts, l.parts, load_balls, &l);
  fx_parallel_range(s->threads, set->count, FX_LEAST_CONTACTS, find_speeds, &l);
}
