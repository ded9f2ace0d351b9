/* Rows of spheres: whether H has their form, number by number, and the motion that impulses make.
 *
 * Four contacts at once, compiled once for every machine and, on x86, once more for AVX2; both give the same bits.
 * Vectors go by pointer, since their calling convention depends on the target, though all of this is inlined. */
#include "problem/round_rows.h"

#include "linalg/lane_roots.h"

#include <math.h>

enum { DOF = 6, BLOCK = 3 * DOF, LANES = 4 };

static const double round_error = 1e-11; /* relative: how exactly a contact must have the form of spheres */

#define INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double anywhere __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef double pair __attribute__((vector_size(2 * sizeof(double)), aligned(8)));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));

#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define MIX __builtin_shufflevector
#define MAGNITUDE(x) ((lanes)((bits)(x)&INT64_MAX))

/* ---- frames ---- */

/* Blocks of four contacts; the first is one of zeros where a contact has one body. */
typedef struct four {
  const double *block[2][LANES];
  lanes Q[9], a[2], c[2];
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

bool fx_round_sample(const fx_system *s) {
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

/* ---- numbers ---- */

/* What the next contacts need of H, so that it is there when they come. */
INLINE void fetch_ahead(const fx_system *s, const int32_t *list, int32_t k, int32_t count) {
  enum { AHEAD = 24, LINE = 8 };
  if (k + AHEAD >= count) return;
  int32_t i = list ? list[k + AHEAD] : k + AHEAD;
  const double *from = fx_block(&s->Ht, s->Ht.start[i]);
  for (int e = 0; e < LANES * 2 * BLOCK; e += LINE) __builtin_prefetch(from + e);
}

typedef struct finding {
  const fx_system *s;
  const int32_t *list;
  int32_t count;
  double *out;
  bool unfit[FX_PARTS];
} finding;

/* The last group repeats its last contact. */
INLINE bool find(const finding *t, int32_t first, int32_t end) {
  for (int32_t k = first; k < end; k += LANES) {
    four f;
    int32_t contact[LANES];
    fetch_ahead(t->s, t->list, k, t->count);
    for (int lane = 0; lane < LANES; lane++) {
      int32_t at = k + lane < end ? k + lane : end - 1;
      contact[lane] = t->list ? t->list[at] : at;
      if (t->s->contact[contact[lane]].dim != 3 || !find_blocks(t->s, contact[lane], lane, &f)) return false;
    }
    if (!find_frames(&f)) return false;
    for (int lane = 0; lane < LANES; lane++) {
      double *out = t->out + (size_t)contact[lane] * FX_ROUND_NUMBERS;
      for (int e = 0; e < 9; e++) out[FX_ROUND_Q + e] = f.Q[e][lane];
      for (int side = 0; side < 2; side++) {
        out[FX_ROUND_LINEAR + side] = f.a[side][lane];
        out[FX_ROUND_ANGULAR + side] = f.c[side][lane];
      }
    }
  }
  return true;
}

/* ---- motion ---- */

/* Bodies of contact i add what its impulses r bring; rows of Q are read as four numbers. */
INLINE void add_impulse(const fx_system *s, int32_t i, fx_mover_range movers, const double *r, double *v) {
  const double *number = s->round + (size_t)i * FX_ROUND_NUMBERS;
  int32_t start = s->Ht.start[i], count = s->Ht.start[i + 1] - start;
  const lanes n = *(const anywhere *)number, t1 = *(const anywhere *)(number + 3), t2 = *(const anywhere *)(number + 6);
  lanes push = n * r[0] + t1 * r[1] + t2 * r[2], turn = t2 * r[1] - t1 * r[2], both = MIX(push, turn, 0, 1, 2, 4);
  pair rest = MIX(turn, turn, 1, 2);
  for (int32_t k = start; k < start + count; k++) {
    int32_t mover = s->Ht.index[k], side = 2 - count + k - start;
    if (mover < movers.first || mover >= movers.end) continue;
    double a = number[FX_ROUND_LINEAR + side], c = number[FX_ROUND_ANGULAR + side];
    double *to = v + s->dof[mover];
    *(anywhere *)to += both * (lanes){a, a, a, c};
    *(pair *)(to + 4) += rest * (pair){c, c};
  }
}

INLINE void add_motion(const fx_system *s, int32_t first, int32_t end, fx_mover_range movers, const double *r,
                       double *v) {
  for (int32_t i = first; i < end; i++) {
    const double *ri = r + s->row[i];
    if (ri[0] == 0 && ri[1] == 0 && ri[2] == 0) continue; /* about half of the contacts of a heap in motion are open */
    add_impulse(s, i, movers, ri, v);
  }
}

/* ---- targets ---- */

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool find_avx2(const finding *t, int32_t first, int32_t end) {
  return find(t, first, end);
}

__attribute__((target("avx2"))) static void add_motion_avx2(const fx_system *s, int32_t first, int32_t end,
                                                            fx_mover_range movers, const double *r, double *v) {
  add_motion(s, first, end, movers, r, v);
}
#endif

static void find_part(int32_t part, int32_t first, int32_t end, void *user) {
  finding *t = user;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    t->unfit[part] = !find_avx2(t, first, end);
    return;
  }
#endif
  t->unfit[part] = !find(t, first, end);
}

bool fx_round_find(const fx_system *s, const int32_t *list, int32_t count, double *out) {
  finding t = {.s = s, .list = list, .count = count, .out = out};
  int32_t parts = fx_parallel_range(s->threads, count, FX_LEAST_CONTACTS, find_part, &t);
  for (int32_t k = 0; k < parts; k++)
    if (t.unfit[k]) return false;
  return true;
}

void fx_round_motion(const fx_system *s, int32_t first, int32_t end, fx_mover_range movers, const double *r,
                     double *v) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    add_motion_avx2(s, first, end, movers, r, v);
    return;
  }
#endif
  add_motion(s, first, end, movers, r, v);
}

void fx_round_add_velocity(const fx_system *s, int32_t i, const double *v, double *u) {
  const double *Q = s->round + (size_t)i * FX_ROUND_NUMBERS, *a = Q + FX_ROUND_LINEAR, *c = Q + FX_ROUND_ANGULAR;
  const double *x = v + s->dof[s->Ht.index[s->Ht.start[i]]], *y = v + s->dof[s->Ht.index[s->Ht.start[i + 1] - 1]];
  double p[3], t[3];
  for (int k = 0; k < 3; k++) {
    p[k] = a[0] * x[k] + a[1] * y[k];
    t[k] = c[0] * x[k + 3] + c[1] * y[k + 3];
  }
  u[0] += DOT(Q, p);
  u[1] += DOT(Q + 3, p) + DOT(Q + 6, t);
  u[2] += DOT(Q + 6, p) - DOT(Q + 3, t);
}
