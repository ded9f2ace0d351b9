/* The sweep over one block of a bed, in vectors of four numbers.
 *
 *   y = r + beta (r - r_last);   r_N := max(0, y_N - u_N / (W_N + R)),   r_T := P_{mu r_N}(y_T - u_T / (W_T + R))
 *
 * Three lanes are the directions of space. The fourth is the inverse mass or the radius in the lines of a grain and
 * zero in all that is added to them, so that it stays. Lanes are multiplied and added one by one: the bits do not
 * depend on whether the machine has vectors of four (the second copy of the function), of two, or none. */
#include "bed/bed_internal.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi" /* all that take vectors are inlined */

typedef double four __attribute__((vector_size(32)));
typedef int64_t mask4 __attribute__((vector_size(32)));

_Static_assert(offsetof(fx_bed_speed, inverse_mass) == 24 && offsetof(fx_bed_speed, s) == 32 &&
                   offsetof(fx_bed_speed, radius) == 56 && offsetof(fx_bed_contact, w) == 24,
               "lines of four");

INLINE four load(const void *from) {
  four x;
  memcpy(&x, from, sizeof x);
  return x;
}

INLINE void store(void *to, four x) { memcpy(to, &x, sizeof x); }

INLINE four three_of(four x) {
  const mask4 keep = {-1, -1, -1, 0};
  return (four)((mask4)x & keep);
}

INLINE void store_three(frix_vec3 *to, four x) { to->x = x[0], to->y = x[1], to->z = x[2]; }

INLINE four all_of(double x) { return (four){x, x, x, x}; }

INLINE double dot(four a, four b) {
  four p = a * b;
  return p[0] + p[1] + p[2];
}

INLINE four cross(four a, four b) {
  return __builtin_shufflevector(a, a, 1, 2, 0, 3) * __builtin_shufflevector(b, b, 2, 0, 1, 3) -
         __builtin_shufflevector(a, a, 2, 0, 1, 3) * __builtin_shufflevector(b, b, 1, 2, 0, 3);
}

/* Whether the contact carried nothing, now and before the last sweep. */
INLINE bool carried_nothing(const fx_bed_load *load) {
  uint64_t x[6];
  _Static_assert(offsetof(fx_bed_load, last) == sizeof(frix_vec3), "r, last");
  memcpy(x, &load->r, sizeof x);
  return !(x[0] | x[1] | x[2] | x[3] | x[4] | x[5]);
}

/* The new impulse of a contact that had y, at velocity u without compliance. One contact of spheres is solved exactly
 * by this, since its normal and its friction do not couple. */
INLINE four solve_contact(const fx_bed_law *law, four n, double w, four memory, four y, four u) {
  double y_normal = dot(y, n), u_normal = dot(u, n);
  double normal = y_normal - (u_normal + w + law->R * y_normal) * law->inverse[0];
  if (!(normal > 0.0)) return all_of(0.0);
  four y_across = y - y_normal * n, u_across = u - u_normal * n + law->R * (y_across - memory);
  four across = y_across - law->inverse[1] * u_across;
  double bound = law->mu * normal, size = sqrt(dot(across, across));
  double keep = bound / fx_max(fx_max(bound, size), 1e-300); /* without a branch that the processor cannot predict */
  return normal * n + keep * across;
}

/* The partner of a grain in a contact: another grain, or a wall. */
typedef struct partner {
  four v, s;
} partner;

INLINE partner partner_of(const frix_bed *bed, int32_t other) {
  if (other >= 0) return (partner){load(&bed->speed[other].v), load(&bed->speed[other].s)};
  frix_vec3 v = bed->wall[-1 - other].velocity;
  return (partner){{v.x, v.y, v.z, 0.0}, {0.0, 0.0, 0.0, 0.0}};
}

typedef struct tally {
  four uphill, step, size;
} tally;

INLINE void sweep_contact(frix_bed *bed, int64_t k, tally *sum) {
  const fx_bed_contact *c = &bed->contact[k];
  fx_bed_load *own = &bed->load[k];
  fx_bed_speed *a = &bed->speed[c->grain];
  four v = load(&a->v), s = load(&a->s), n = load(&c->n);
  int32_t j = c->other;
  partner b = partner_of(bed, j);
  four apart = three_of(v - b.v);
  double w = n[3], part = bed->part;
  n = three_of(n);
  /* most contacts of a loose bed open, and go on to carry nothing */
  if (carried_nothing(own) && dot(n, apart) + w >= 0.0) return;
  four was = three_of(load(&own->r)), y = was + bed->momentum * (was - three_of(load(&own->last)));
  four r = solve_contact(&bed->law[c->law], n, w, three_of(load(&c->c)), y, apart - cross(three_of(s + b.s), n));
  if (part < 1.0) r = y + part * (r - y); /* cones are convex */
  four dr = r - y, turn = cross(n, dr);
  store_three(&own->last, was);
  store_three(&own->r, r);
  sum->uphill -= dr * (r - was);
  sum->step += dr * dr;
  sum->size += r * r;
  store(&a->v, v + v[3] * dr);
  store(&a->s, s - 2.5 * v[3] * turn);
  if (j < 0) return;
  store(&bed->speed[j].v, b.v - b.v[3] * dr);
  store(&bed->speed[j].s, b.s - 2.5 * b.v[3] * turn);
}

INLINE double sum_of(four x) { return x[0] + x[1] + x[2]; }

/* Contacts of one grain follow each other, and each waits for the one before. The contacts of a block are taken in
 * turn from STREAMS parts of it, so that the processor has others to work on meanwhile. */
enum { STREAMS = 4, AHEAD = 3 };

INLINE void sweep(frix_bed *bed, int32_t block) {
  int32_t first, end;
  tally all = {all_of(0.0), all_of(0.0), all_of(0.0)};
  fx_bed_grains_of(bed, block, &first, &end);
  int64_t from = bed->contact_start[first], count = bed->contact_start[end] - from,
          length = (count + STREAMS - 1) / STREAMS;
  for (int64_t k = 0; k < length; k++)
    for (int64_t at = k; at < count; at += length) {
      int32_t next = bed->contact[at + AHEAD < count ? from + at + AHEAD : from].other;
      __builtin_prefetch(&bed->speed[next < 0 ? 0 : next], 1);
      sweep_contact(bed, from + at, &all);
    }
  double *sum = fx_bed_sums_of(bed, block);
  sum[FX_SUM_UPHILL] = sum_of(all.uphill), sum[FX_SUM_STEP] = sum_of(all.step), sum[FX_SUM_SIZE] = sum_of(all.size);
}

static void sweep_plain(frix_bed *bed, int32_t block) { sweep(bed, block); }

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void sweep_wide(frix_bed *bed, int32_t block) { sweep(bed, block); }
fx_bed_work *fx_bed_sweep_block(void) { return __builtin_cpu_supports("avx2") ? sweep_wide : sweep_plain; }
#else
fx_bed_work *fx_bed_sweep_block(void) { return sweep_plain; }
#endif
