/* The form of spheres, from the numbers of their rows (round_rows.h): four contacts at once, compiled once for every
 * machine and, on x86, once more for AVX2; both give the same bits. Vectors go by pointer, since their calling
 * convention depends on the target, though all of this is inlined. */
#include "problem/round_rows.h"
#include "solver/sweeps.h"

#include <math.h>

enum { DOF = FX_BODY_DOF, LANES = 4 };

#define INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));
typedef float narrow __attribute__((vector_size(LANES * sizeof(float))));

/* ---- bodies ---- */

/* scale / sqrt(mass) and scale / sqrt(inertia) of a body that has one of each. */
typedef struct ball {
  double mass, inertia;
} ball;

static bool find_masses(const fx_pile *p, ball *out) {
  const fx_system *s = p->system;
  for (int32_t body = 1; body < p->body_count; body++) {
    int32_t m = p->body_mover[body];
    const double *inverse = s->inverse_mass + s->dof[m];
    if (s->dof[m + 1] - s->dof[m] != DOF) return false;
    bool good = inverse[0] > 0 && inverse[3] > 0;
    for (int k = 1; k < 3; k++) good &= inverse[k] == inverse[0] && inverse[3 + k] == inverse[3];
    if (!good) return false;
    out[body] = (ball){p->scale * sqrt(inverse[0]), p->scale * sqrt(inverse[3])};
  }
  return true;
}

frix_status fx_round_begin(fx_arena *arena, fx_pile *p, bool *fits) {
  const fx_system *s = p->system;
  ball *balls = FX_TAKE(arena, ball, p->body_count + 1); /* those of the world, the first and the last, are zero */
  p->number = s->round;
  if (!s->round) p->number = p->own_number = FX_TAKE_RAW(arena, double, (size_t)s->contact_count *FX_ROUND_NUMBERS);
  if (!balls || !p->number) return FRIX_ERROR_MEMORY;
  p->roots = balls;
  *fits = find_masses(p, balls) && fx_round_more(p, 0, p->count);
  return FRIX_OK;
}

bool fx_round_more(const fx_pile *p, int32_t from, int32_t end) {
  return p->system->round || fx_round_find(p->system, p->order + from, end - from, p->own_number);
}

/* ---- fields ---- */

/* What is read of one contact. */
typedef struct rest {
  const double *number, *q, *W, *R;
  const ball *ball[2];
  double mu;
} rest;

INLINE rest find_rest(const fx_pile *p, int32_t i) {
  const fx_system *s = p->system;
  int32_t row = s->row[i], slot = p->slot[i];
  const int32_t *body = p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
  const ball *balls = p->roots;
  bool friction = s->contact[i].cone == FRIX_CONE_CIRCULAR;
  return (rest){p->number + (size_t)i * FX_ROUND_NUMBERS,
                s->q + row,
                s->W_diag + row,
                s->R + (p->compliant ? row : 0),
                {balls + body[0] / FX_RECORD, balls + body[FX_BATCH] / FX_RECORD},
                friction ? s->contact[i].mu : 0};
}

#define EACH(member) ((lanes){r[0].member, r[1].member, r[2].member, r[3].member})

/* Numbers of four contacts in the order of the fields. Where mu is 0 whatever friction would be is cut to nothing. */
INLINE void four_fields(const fx_pile *p, const rest r[LANES], lanes *field) {
  lanes normal = EACH(W[0]), one = EACH(W[1]), two = EACH(W[2]);
  for (int k = 0; k < 3; k++) {
    field[FX_Q + k] = EACH(q[k]);
    if (p->compliant) field[FX_ROUND_END + k] = p->system->rho * EACH(R[k]);
  }
  if (p->compliant) {
    normal += EACH(R[0]);
    one += EACH(R[1]);
    two += EACH(R[2]);
  }
  bits first = one > two;
  lanes largest = (lanes)(((bits)one & first) | ((bits)two & ~first));
  field[FX_INVERSE_N] = (lanes)((bits)(p->step[0] / (p->system->rho * normal)) & (normal > 0));
  field[FX_INVERSE_T] = (lanes)((bits)(p->step[1] / (p->system->rho * largest)) & (largest > 0));
  field[FX_MU] = EACH(mu);
  for (int k = 0; k < 9; k++) field[FX_H + k] = EACH(number[FX_ROUND_Q + k]);
  for (int side = 0; side < 2; side++) {
    field[FX_ROUND_A + side] = EACH(number[FX_ROUND_LINEAR + side]) * EACH(ball[side]->mass);
    field[FX_ROUND_C + side] = EACH(number[FX_ROUND_ANGULAR + side]) * EACH(ball[side]->inertia);
  }
}

/* What the next contacts need, so that it is there when they come. */
INLINE void fetch_ahead(const fx_pile *p, int32_t k) {
  enum { AHEAD = 24, LINE = 8 };
  for (int32_t e = k + AHEAD; e < k + AHEAD + LANES && e < p->count; e++) {
    const double *from = p->number + (size_t)p->order[e] * FX_ROUND_NUMBERS;
    __builtin_prefetch(from);
    __builtin_prefetch(from + LINE);
  }
}

/* Contacts from .. n - 1 in their order; the last group repeats its last contact. */
INLINE void pack(const fx_pile *p, bool full, int32_t from, int32_t n, int32_t count) {
  for (int32_t k = from; k < n; k += LANES) {
    lanes field[FX_ROUND_END + FX_COMPLIANCE_SIZE];
    rest r[LANES];
    size_t to[LANES];
    fetch_ahead(p, k);
    for (int lane = 0; lane < LANES; lane++) {
      int32_t i = p->order[k + lane < n ? k + lane : n - 1];
      to[lane] = fx_slot_at(p->slot[i], full ? 4 : 8, count, 0);
      r[lane] = find_rest(p, i);
    }
    four_fields(p, r, field);
    for (int32_t e = 0; e < count; e++) {
      narrow value = __builtin_convertvector(field[e], narrow);
      for (int lane = 0; lane < LANES; lane++)
        if (full)
          ((double *)p->full.field)[to[lane] + 4 * (size_t)e] = field[e][lane];
        else
          ((float *)p->single.field)[to[lane] + 8 * (size_t)e] = value[lane];
    }
  }
}

INLINE void pack_some(const fx_pile *p, bool full, int32_t from, int32_t end) {
  if (p->compliant && full)
    pack(p, true, from, end, FX_ROUND_END + FX_COMPLIANCE_SIZE);
  else if (p->compliant)
    pack(p, false, from, end, FX_ROUND_END + FX_COMPLIANCE_SIZE);
  else if (full)
    pack(p, true, from, end, FX_ROUND_END);
  else
    pack(p, false, from, end, FX_ROUND_END);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void pack_avx2(const fx_pile *p, bool full, int32_t from, int32_t end) {
  pack_some(p, full, from, end);
}
#endif

void fx_round_pack(const fx_pile *p, bool full, int32_t from, int32_t end) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    pack_avx2(p, full, from, end);
    return;
  }
#endif
  pack_some(p, full, from, end);
}
