/* The form of spheres: H = (a Q, c Q~) for each body, Q = [n t1 t2], Q~ = [0 t2 -t1], numbers a and c.
 *
 * Packing has to read all of H and to see that it has this form, number by number: four contacts at once, compiled once
 * for every machine and, on x86, once more for AVX2; both give the same bits. Vectors go by pointer, since their
 * calling convention depends on the target, though all of this is inlined. */
#include "solver/sweeps.h"

#include "linalg/lane_roots.h"

#include <math.h>

enum { DOF = FX_BODY_DOF, BLOCK = 3 * DOF, LANES = 4 };

static const double round_error = 1e-11; /* relative: how exactly a contact must have the form of spheres */

#define INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double anywhere __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));
typedef float narrow __attribute__((vector_size(LANES * sizeof(float))));

#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define MIX __builtin_shufflevector
#define MAGNITUDE(x) ((lanes)((bits)(x)&INT64_MAX))

/* ---- bodies ---- */

/* scale / sqrt(mass) and scale / sqrt(inertia) of a body that has one of each. */
typedef struct ball {
  double mass, inertia;
} ball;

void *fx_round_take(fx_arena *arena, const fx_pile *p) { return FX_TAKE(arena, ball, p->body_count); }

bool fx_round_masses(const fx_pile *p, void *roots) {
  const fx_system *s = p->system;
  ball *out = roots;
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

/* ---- frames ---- */

/* Blocks of four contacts; the first is one of zeros where a contact has one body. */
typedef struct four {
  const double *block[2][LANES];
  lanes Q[9], a[2], c[2]; /* masses left out of a and c */
} four;

/* Blocks of contact i to a lane; false where they are not of two or one body with 6 degrees of freedom. */
INLINE bool find_blocks(const fx_system *s, int32_t i, int lane, four *f) {
  static const double nothing[BLOCK];
  int32_t first = s->Ht.start[i], last = s->Ht.start[i + 1] - 1;
  if (s->contact[i].dim < 3 || last < first || last > first + 1) return false;
  if (fx_block_cols(&s->Ht, first) != DOF || fx_block_cols(&s->Ht, last) != DOF) return false;
  f->block[0][lane] = last > first ? fx_block(&s->Ht, first) : nothing;
  f->block[1][lane] = fx_block(&s->Ht, last);
  return true;
}

/* Number k of each lane; columns of four are transposed, and the last begins at 14. */
INLINE void gather(const double *const from[LANES], lanes h[BLOCK]) {
  static const int column[] = {0, 4, 8, 12, 14};
  for (int e = 0; e < 5; e++) {
    lanes r[LANES], low[2], high[2];
    for (int lane = 0; lane < LANES; lane++) r[lane] = *(const anywhere *)(from[lane] + column[e]);
    for (int k = 0; k < 2; k++) {
      low[k] = MIX(r[2 * k], r[2 * k + 1], 0, 4, 2, 6);
      high[k] = MIX(r[2 * k], r[2 * k + 1], 1, 5, 3, 7);
    }
    lanes *to = h + column[e];
    if (e < 4) {
      to[0] = MIX(low[0], low[1], 0, 1, 4, 5);
      to[1] = MIX(high[0], high[1], 0, 1, 4, 5);
    }
    to[2] = MIX(low[0], low[1], 2, 3, 6, 7);
    to[3] = MIX(high[0], high[1], 2, 3, 6, 7);
  }
}

/* a and c of the bodies on one side, and whether H is what they make of Q. */
INLINE bool fit(const lanes h[BLOCK], const lanes Q[9], lanes *a_out, lanes *c_out) {
  lanes a = DOT(h, Q), c = DOT(h + DOF + 3, Q + 6), off = {0};
  for (int k = 0; k < 3; k++) {
    lanes left =
        MAGNITUDE(h[k] - a * Q[k]) + MAGNITUDE(h[DOF + k] - a * Q[3 + k]) + MAGNITUDE(h[2 * DOF + k] - a * Q[6 + k]);
    lanes right =
        MAGNITUDE(h[3 + k]) + MAGNITUDE(h[DOF + 3 + k] - c * Q[6 + k]) + MAGNITUDE(h[2 * DOF + 3 + k] + c * Q[3 + k]);
    off += left + right;
  }
  *a_out = a;
  *c_out = c;
  bits good = off <= round_error * (MAGNITUDE(a) + MAGNITUDE(c));
  return good[0] & good[1] & good[2] & good[3];
}

/* Q, a and c of four contacts; false where one of them has another form. */
INLINE bool find_frames(four *f) {
  lanes h[BLOCK], *Q = f->Q, length;
  gather(f->block[1], h);
  lanes square = DOT(h, h);
  length = square;
  FX_ROOTS(length, LANES, sqrt);
  lanes inverse = 1 / length;
  for (int k = 0; k < 3; k++) {
    Q[k] = h[k] * inverse;
    Q[3 + k] = h[DOF + k] * inverse;
    Q[6 + k] = h[2 * DOF + k] * inverse;
  }
  lanes error = MAGNITUDE(DOT(Q, Q + 3)) + MAGNITUDE(DOT(Q, Q + 6)) + MAGNITUDE(DOT(Q + 3, Q + 6)) +
                MAGNITUDE(DOT(Q + 3, Q + 3) - 1) + MAGNITUDE(DOT(Q + 6, Q + 6) - 1);
  bits good = (length > 0) & (error <= round_error);
  if (!(good[0] & good[1] & good[2] & good[3]) || !fit(h, Q, &f->a[1], &f->c[1])) return false;
  gather(f->block[0], h);
  return fit(h, Q, &f->a[0], &f->c[0]);
}

bool fx_pile_looks_round(const fx_system *s) {
  enum { SAMPLES = 16 };
  int32_t n = s->contact_count < SAMPLES ? s->contact_count : SAMPLES;
  for (int32_t k = 0; k < n; k += LANES) {
    four f;
    for (int lane = 0; lane < LANES; lane++) {
      int32_t sample = k + lane < n ? k + lane : n - 1, i = (int32_t)((int64_t)sample * s->contact_count / n);
      /* rows of drilling friction stand beside their contact */
      while (s->contact[i].dim < 3 && i + 1 < s->contact_count) i++;
      if (!find_blocks(s, i, lane, &f)) return false;
    }
    if (!find_frames(&f)) return false;
  }
  return true;
}

/* ---- fields ---- */

/* What is read of one contact besides H. */
typedef struct rest {
  const double *q, *W, *R;
  const ball *ball[2];
  double mu;
} rest;

INLINE rest find_rest(const fx_pile *p, int32_t i) {
  const fx_system *s = p->system;
  int32_t row = s->row[i], slot = p->slot[i];
  const int32_t *body = p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
  const ball *balls = p->roots;
  bool friction = s->contact[i].cone == FRIX_CONE_CIRCULAR;
  return (rest){s->q + row,
                s->W_diag + row,
                s->R + (p->compliant ? row : 0),
                {balls + body[0] / FX_RECORD, balls + body[FX_BATCH] / FX_RECORD},
                friction ? s->contact[i].mu : 0};
}

#define EACH(member) ((lanes){r[0].member, r[1].member, r[2].member, r[3].member})

/* Numbers of four contacts in the order of the fields. Where mu is 0 whatever friction would be is cut to nothing. */
INLINE void four_fields(const fx_pile *p, const rest r[LANES], const four *f, lanes *field) {
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
  for (int k = 0; k < 9; k++) field[FX_H + k] = f->Q[k];
  for (int side = 0; side < 2; side++) {
    field[FX_ROUND_A + side] = f->a[side] * EACH(ball[side]->mass);
    field[FX_ROUND_C + side] = f->c[side] * EACH(ball[side]->inertia);
  }
}

/* What the next contacts need of H, so that it is there when they come. */
INLINE void fetch_ahead(const fx_pile *p, int32_t k) {
  enum { AHEAD = 24, LINE = 8 };
  const fx_system *s = p->system;
  if (k + AHEAD >= p->count) return;
  int32_t i = p->order[k + AHEAD];
  const double *from = fx_block(&s->Ht, s->Ht.start[i]);
  for (int e = 0; e < LANES * 2 * BLOCK; e += LINE) __builtin_prefetch(from + e);
}

/* Contacts from .. n - 1 in their order; the last group repeats its last contact. */
INLINE bool pack(const fx_pile *p, bool full, int32_t from, int32_t n, int32_t count) {
  for (int32_t k = from; k < n; k += LANES) {
    four f;
    lanes field[FX_ROUND_END + FX_COMPLIANCE_SIZE];
    rest r[LANES];
    size_t to[LANES];
    fetch_ahead(p, k);
    for (int lane = 0; lane < LANES; lane++) {
      int32_t i = p->order[k + lane < n ? k + lane : n - 1];
      to[lane] = fx_slot_at(p->slot[i], full ? 4 : 8, count, 0);
      r[lane] = find_rest(p, i);
      if (!find_blocks(p->system, i, lane, &f)) return false;
    }
    if (!find_frames(&f)) return false;
    four_fields(p, r, &f, field);
    for (int32_t e = 0; e < count; e++) {
      narrow value = __builtin_convertvector(field[e], narrow);
      for (int lane = 0; lane < LANES; lane++)
        if (full)
          ((double *)p->full.field)[to[lane] + 4 * (size_t)e] = field[e][lane];
        else
          ((float *)p->single.field)[to[lane] + 8 * (size_t)e] = value[lane];
    }
  }
  return true;
}

INLINE bool pack_some(const fx_pile *p, bool full, int32_t from, int32_t end) {
  if (p->compliant)
    return full ? pack(p, true, from, end, FX_ROUND_END + FX_COMPLIANCE_SIZE)
                : pack(p, false, from, end, FX_ROUND_END + FX_COMPLIANCE_SIZE);
  return full ? pack(p, true, from, end, FX_ROUND_END) : pack(p, false, from, end, FX_ROUND_END);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool pack_avx2(const fx_pile *p, bool full, int32_t from, int32_t end) {
  return pack_some(p, full, from, end);
}
#endif

bool fx_round_pack(const fx_pile *p, bool full, int32_t from, int32_t end) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return pack_avx2(p, full, from, end);
#endif
  return pack_some(p, full, from, end);
}
