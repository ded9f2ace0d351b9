/* Anderson mixing of sweeps: the ring of the last results, least squares over their steps, and the mixed start. */
#include "solver/sweeps_blend.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Vectors of 32 bytes, which the compiler splits where the machine has shorter ones: the same bits. */
#define REAL float
#define LANES 8
#define NAME(x) x##_single
#include "solver/sweeps_blend_kernel.h"

#define REAL double
#define LANES 4
#define NAME(x) x##_full
#include "solver/sweeps_blend_kernel.h"

static const double regularisation = 1e-7; /* of the least squares, relative to the diagonal: rounding of single sums */

/* Largest momentum where steps grow, and how far they may, squared, before it begins again. */
static const double most_momentum = 0.98, most_growth = 100;

/* Part of the step that rounding of d may come to before d is found from scratch, and roundings of the d of a body in a
 * sweep, two for each of its contacts. */
static const double drift_limit = 0.3, roundings = 16;

/* Mixed numbers are rounded to the last bit of 2^-34 times their mean size: contacts that are solved come to zero,
 * where they would else get ever smaller, down to numbers that the machine is slow with. */
static const int grain_power = -34;

/* ---- arrays ---- */

static size_t real_size(bool full) { return full ? sizeof(double) : sizeof(float); }

/* Numbers of z, a multiple of 8, and of d. */
static size_t count_z(const fx_pile *p) { return (size_t)p->batch_count * FX_BATCH * (size_t)p->row_count; }
static size_t room_z(const fx_pile *p) { return (size_t)p->batch_room * FX_BATCH * (size_t)p->row_count; }
static size_t count_d(const fx_pile *p) { return (size_t)p->body_count * FX_RECORD; }

frix_status fx_blend_take(fx_arena *arena, const fx_pile *p, bool full, fx_blend *b) {
  size_t size = real_size(full);
  *b = (fx_blend){.x = fx_arena_take_raw(arena, room_z(p), size), .d_x = fx_pile_take_records(arena, p, size)};
  bool good = b->x && b->d_x;
  for (int k = 0; k < FX_BLEND_ROOM; k++) {
    b->g[k] = fx_arena_take_raw(arena, room_z(p), size);
    b->f[k] = fx_arena_take_raw(arena, room_z(p), size);
    b->d[k] = fx_pile_take_records(arena, p, size);
    good = good && b->g[k] && b->f[k] && b->d[k];
  }
  return good ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_blend_begin(fx_blend *b, fx_pile *p, bool full, double size) {
  b->grain = size > 0 && size < INFINITY ? ldexp(1, ilogb(size) + grain_power) : 0;
  fx_pile_data *data = full ? &p->full : &p->single;
  memcpy(b->x, data->z, count_z(p) * real_size(full));
  memcpy(b->d_x, data->d, count_d(p) * real_size(full));
  b->error_x = 0;
  b->count = 0;
  b->last = INFINITY;
  b->runs = false;
}

/* ---- products, compiled for each target ---- */

/* History j, from the newest at 0. */
static int32_t place(const fx_blend *b, int32_t j) { return (b->newest - j + FX_BLEND_ROOM) % FX_BLEND_ROOM; }

/* Vectors of one of two halves, which two threads may take: numbers in vectors of `lanes`. */
typedef struct range {
  size_t begin, end;
} range;

static range half_of(size_t numbers, size_t lanes, int32_t half) {
  size_t count = numbers / lanes, middle = count / 2;
  return half == 0 ? (range){0, middle} : (range){middle, count};
}

enum { ADVANCE = 2 }; /* where the product of a sweep with momentum stands, behind those with two steps */

INLINE void products(const fx_blend *b, const fx_pile *p, bool full, int32_t half, double *sum) {
  const void *other[FX_BLEND_ROOM];
  int32_t n = b->newest;
  range r = half_of(count_z(p), full ? 4 : 8, half);
  for (int32_t j = 1; j < b->count; j++) other[j - 1] = b->f[place(b, j)];
  if (full)
    products_full(r.begin, r.end, b->g[n], b->x, b->f[n], (const vec_full *const *)other, b->count - 1, sum);
  else
    products_single(r.begin, r.end, b->g[n], b->x, b->f[n], (const vec_single *const *)other, b->count - 1, sum);
  if (!b->runs || b->count < 2) return;
  if (full)
    advance_full(r.begin, r.end, b->f[n], b->g[n], b->g[place(b, 1)], &sum[ADVANCE]);
  else
    advance_single(r.begin, r.end, b->f[n], b->g[n], b->g[place(b, 1)], &sum[ADVANCE]);
}

INLINE void mix(const fx_blend *b, const fx_pile *p, bool full, int32_t half, const double *weight, double *square) {
  const void *g[FX_BLEND_ROOM] = {NULL}, *d[FX_BLEND_ROOM] = {NULL};
  range z = half_of(count_z(p), full ? 4 : 8, half), r = half_of(count_d(p), full ? 4 : 8, half);
  for (int32_t j = 0; j < b->count; j++) {
    g[j] = b->g[place(b, j)];
    d[j] = b->d[place(b, j)];
  }
  if (full) {
    mix_full(z.begin, z.end, (const vec_full *const *)g, weight, b->count, b->grain, b->x);
    mix_full(r.begin, r.end, (const vec_full *const *)d, weight, b->count, b->grain, b->d_x);
    square_full(r.end - r.begin, (const vec_full *)d[0] + r.begin, square);
  } else {
    mix_single(z.begin, z.end, (const vec_single *const *)g, weight, b->count, (float)b->grain, b->x);
    mix_single(r.begin, r.end, (const vec_single *const *)d, weight, b->count, (float)b->grain, b->d_x);
    square_single(r.end - r.begin, (const vec_single *)d[0] + r.begin, square);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void products_avx2(const fx_blend *b, const fx_pile *p, bool full, int32_t half,
                                                          double *sum) {
  products(b, p, full, half, sum);
}

__attribute__((target("avx2"))) static void mix_avx2(const fx_blend *b, const fx_pile *p, bool full, int32_t half,
                                                     const double *weight, double *square) {
  mix(b, p, full, half, weight, square);
}
#else
#define products_avx2 products
#define mix_avx2 mix
#endif

/* ---- least squares ---- */

/* Cholesky's factorisation of the n x n matrix A in place and the solution of A y = y; false where A is not positive.
 */
static bool solve_small(int32_t n, double (*A)[FX_BLEND_ROOM], double *y) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j <= i; j++) {
      double sum = A[i][j];
      for (int32_t k = 0; k < j; k++) sum -= A[i][k] * A[j][k];
      if (i == j && !(sum > 0)) return false;
      A[i][j] = i == j ? sqrt(sum) : sum / A[j][j];
    }
    for (int32_t k = 0; k < i; k++) y[i] -= A[i][k] * y[k];
    y[i] /= A[i][i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < n; k++) y[i] -= A[k][i] * y[k];
    y[i] /= A[i][i];
  }
  return true;
}

/* Weights of the history from the newest on, which make the mixed step least; the newest alone where that fails.
 * Unknown are the weights of all but the newest, on differences to its step. */
static void find_weights(const fx_blend *b, double *weight) {
  int32_t n = b->count - 1;
  double A[FX_BLEND_ROOM][FX_BLEND_ROOM], rest = 1;
  const double *newest = b->gram[b->newest];
  for (int32_t i = 0; i < n; i++) {
    int32_t at = place(b, i + 1);
    for (int32_t j = 0; j < n; j++) {
      int32_t other = place(b, j + 1);
      A[i][j] = b->gram[at][other] - newest[at] - newest[other] + newest[b->newest];
    }
    A[i][i] += regularisation * (b->gram[at][at] + newest[b->newest]);
    weight[i + 1] = newest[b->newest] - newest[at];
  }
  bool good = solve_small(n, A, weight + 1);
  for (int32_t i = 1; i <= n; i++) {
    if (!good) weight[i] = 0;
    rest -= weight[i];
  }
  weight[0] = rest;
}

/* ---- the sweep ---- */

/* One sweep with its mixing, in pieces of two parts. */
typedef struct piece {
  fx_blend *blend;
  fx_pile *pile;
  bool full;
  fx_sweep_target target;
  double sum[2][FX_BLEND_ROOM], weight[FX_BLEND_ROOM];
  double square[2]; /* of d of the newest result */
} piece;

static void products_part(int32_t part, void *user) {
  piece *w = user;
  if (w->target == FX_SWEEP_AVX2)
    products_avx2(w->blend, w->pile, w->full, part, w->sum[part]);
  else
    products(w->blend, w->pile, w->full, part, w->sum[part]);
}

static void mix_part(int32_t part, void *user) {
  piece *w = user;
  if (w->target == FX_SWEEP_AVX2)
    mix_avx2(w->blend, w->pile, w->full, part, w->weight, &w->square[part]);
  else
    mix(w->blend, w->pile, w->full, part, w->weight, &w->square[part]);
}

static void run_two(const fx_threads *team, void (*work)(int32_t part, void *user), void *user) {
  fx_parallel(team ? team->context : NULL, team ? team->count : 1, 2, work, user);
}

/* A sweep in segments: two of them side by side, then two others, then the one between. */
typedef struct segments {
  const fx_pile *pile;
  bool full;
  fx_sweep_target target;
  double momentum;
  int32_t first; /* of two */
  fx_sweep_sums sums[FX_SEGMENTS];
} segments;

static void sweep_segment(int32_t part, void *user) {
  segments *w = user;
  int32_t segment = w->first + part;
  w->sums[segment] = fx_sweep_segment(w->pile, w->full, w->target, w->momentum, segment);
}

fx_sweep_sums fx_sweep_by_two(fx_pile *p, bool full, fx_sweep_target target, double momentum, const fx_threads *team) {
  fx_sweep_sums total = {0, 0, 0};
  segments w = {.pile = p, .full = full, .target = target, .momentum = momentum};
  if (p->segment_count == 1) return fx_sweep(p, full, target, momentum);
  for (; w.first < FX_SEGMENTS - 1; w.first += 2) run_two(team, sweep_segment, &w);
  sweep_segment(0, &w);
  for (int k = 0; k < FX_SEGMENTS; k++) {
    total.step += w.sums[k].step;
    total.size += w.sums[k].size;
    total.uphill += w.sums[k].uphill;
  }
  fx_sweep_exchange(p, full);
  return total;
}

static void refresh_segment(int32_t part, void *user) {
  segments *w = user;
  fx_refresh_segment(w->pile, w->full, w->target, w->first + part);
}

void fx_refresh_by_two(fx_pile *p, bool full, fx_sweep_target target, const fx_threads *team) {
  segments w = {.pile = p, .full = full, .target = target};
  if (p->segment_count == 1 || p->wide) {
    fx_sweep_refresh(p, full, target);
    return;
  }
  fx_sweep_clear(p, full);
  for (; w.first < FX_SEGMENTS - 1; w.first += 2) run_two(team, refresh_segment, &w);
  refresh_segment(0, &w);
}

/* Products of the newest step go to the matrix of least squares; where the step grew its history is dropped. */
static void remember(fx_blend *b, double (*sum)[FX_BLEND_ROOM]) {
  double size = sum[0][b->count - 1] + sum[1][b->count - 1];
  bool grows = !b->runs && size > b->last, ends = b->runs && size < b->mark;
  if (grows) {
    b->runs = true;
    b->mark = size;
    b->theta = 1;
  }
  if (ends) b->runs = false;
  if (grows || ends) b->count = 1;
  b->last = size;
  b->gram[b->newest][b->newest] = size;
  for (int32_t j = 1; j < b->count; j++)
    b->gram[b->newest][place(b, j)] = b->gram[place(b, j)][b->newest] = sum[0][j - 1] + sum[1][j - 1];
}

/* Weights of the two newest. */
static void find_momentum(fx_blend *b, double advance, double *weight) {
  double theta = 0.5 * (1 + sqrt(1 + 4 * b->theta * b->theta)), beta = fmin(most_momentum, (b->theta - 1) / theta);
  bool far = b->last > most_growth * b->mark, again = far || advance < 0;
  if (far) b->mark = b->last;
  b->theta = again ? 1 : theta;
  weight[0] = 1;
  if (again || b->count < 2) return;
  weight[0] += beta;
  weight[1] = -beta;
}

/* ---- rounding of d ---- */

/* d of the next start from scratch. */
static void refresh(const fx_blend *b, fx_pile *p, bool full, fx_sweep_target target, const fx_threads *team) {
  fx_pile_data *data = full ? &p->full : &p->single, kept = *data;
  data->z = b->x;
  data->d = b->d_x;
  fx_refresh_by_two(p, full, target, team);
  *data = kept;
}

/* Errors of the newest result and of the start that was mixed with these weights, and whether d of that start is to be
 * found from scratch; `square`: |d|^2 of the result, `size`: |g|, whose rounding is what a d from scratch has. */
static bool has_drifted(fx_blend *b, bool full, double square, double size, const double *weight) {
  double unit = full ? 0x1p-53 : 0x1p-24, motion = unit * sqrt(square), sum = 0;
  b->error[b->newest] = sqrt(b->error_x * b->error_x + roundings * motion * motion);
  for (int32_t j = 0; j < b->count; j++) {
    double error = weight[j] * (b->error[place(b, j)] + motion);
    sum += error * error;
  }
  b->error_x = sqrt(sum);
  double step = sqrt(b->gram[b->newest][b->newest]), fresh = unit * size;
  if (!(b->error_x > drift_limit * step) || !(fresh < 0.5 * b->error_x)) return false;
  b->error_x = fresh;
  return true;
}

/* ---- one sweep ---- */

fx_sweep_sums fx_blend_sweep(fx_blend *b, fx_pile *p, bool full, fx_sweep_target target, const fx_threads *team) {
  fx_pile_data *data = full ? &p->full : &p->single, kept = *data;
  piece w = {.blend = b, .pile = p, .full = full, .target = target};
  if (p->segment_count == 1) team = NULL;
  b->newest = (b->newest + 1) % FX_BLEND_ROOM;
  if (b->count < (b->runs ? 2 : FX_BLEND_ROOM)) b->count++;
  data->z = b->x;
  data->d = b->d_x;
  data->z_last = b->g[b->newest];
  data->d_last = b->d[b->newest];
  fx_sweep_sums sums = fx_sweep_by_two(p, full, target, 0, team);
  data->z_last = kept.z_last;
  data->d_last = b->d[place(b, b->count > 1 ? 1 : 0)];
  run_two(team, products_part, &w);
  remember(b, w.sum);
  if (b->runs)
    find_momentum(b, w.sum[0][ADVANCE] + w.sum[1][ADVANCE], w.weight);
  else
    find_weights(b, w.weight);
  run_two(team, mix_part, &w);
  if (has_drifted(b, full, w.square[0] + w.square[1], sqrt(sums.size), w.weight)) refresh(b, p, full, target, team);
  return sums;
}
