/* The wide form: contacts of up to five rows, normal, a disc of friction and a disc of rolling friction, in double
 * precision.
 *
 * From y = z + beta (z - z_last), for four contacts at once:
 *   u    = Hh' d + q + C y                               C = rho R
 *   z_N  = max(0, y_N - u_N / D_NN)
 *   z_T  = P(y_T - (u_T + D_TN x_N) / lambda_T)          on the disc of radius mu z_N,    x = z - y
 *   z_R  = P(y_R - (u_R + D_RN x_N + D_RT x_T) / lambda_R)   on the disc of radius mu_r z_N
 *   d   += Hh x
 * Rows that a contact does not have are zero. The fixed point is the exact law whatever the lambdas, the largest
 * eigenvalues of D_TT and D_RR. Compiled once for every machine and, on x86, once more for AVX2; both give the same
 * bits. Vectors go by pointer, since their calling convention depends on the target, though all of this is inlined. */
#include "solver/sweeps.h"

#include "linalg/lane_roots.h"

#include <math.h>

enum { ROWS = FX_WIDE_ROWS, DOF = FX_BODY_DOF, LANES = 4 };

/* Numbers of a contact, in this order. */
enum {
  Q = 0,
  COMPLIANCE = Q + ROWS,
  INVERSE = COMPLIANCE + ROWS, /* of D_NN and of the two lambdas */
  MU = INVERSE + 3,            /* of both discs */
  FROM_NORMAL = MU + 2,        /* D_TN, D_RN */
  FROM_SLIP = FROM_NORMAL + 4, /* D_RT, row-major */
  H = FROM_SLIP + 4,           /* two blocks of ROWS x DOF, row-major */
  END = H + 2 * ROWS * DOF
};

_Static_assert((int)END == (int)FX_WIDE_END, "room for the fields");

#define INLINE static inline __attribute__((always_inline))
#define MIX __builtin_shufflevector
#define NUMBER(pointer, k) (*(const lanes *)((pointer) + (k)*LANES))

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double)), may_alias));

/* ---- fields ---- */

static double largest_of(double a, double b, double off) {
  double half = 0.5 * (a + b), apart = 0.5 * (a - b);
  return half + sqrt(apart * apart + off * off);
}

/* 1 / lambda of the two rows from `first` on, of which the contact may have one or none. */
static double inverse_of(const double *D, int32_t dim, int32_t first, double rho) {
  double largest = 0;
  if (dim == first + 1) largest = D[first * dim + first];
  if (dim >= first + 2) {
    const double *a = D + first * dim + first, *b = a + dim;
    largest = largest_of(a[0], b[1], 0.5 * (a[1] + b[0]));
  }
  return largest > 0 ? 1 / (rho * largest) : 0;
}

static void laws(const fx_pile *p, int32_t i, double *field) {
  const fx_system *s = p->system;
  const frix_contact *contact = &s->contact[i];
  const double *D = s->D + s->diagonal[i];
  int32_t dim = contact->dim, row = s->row[i];
  bool rolls = contact->cone == FRIX_CONE_ROLLING;
  bool slides = rolls || contact->cone == FRIX_CONE_CIRCULAR || contact->cone == FRIX_CONE_PLANAR;
  for (int32_t k = 0; k < ROWS; k++) {
    field[Q + k] = k < dim ? s->q[row + k] : 0;
    field[COMPLIANCE + k] = k < dim && s->R ? s->rho * s->R[row + k] : 0;
  }
  for (int32_t k = 1; k < ROWS; k++) field[FROM_NORMAL + k - 1] = k < dim ? s->rho * D[k * dim] : 0;
  for (int32_t k = 0; k < 4; k++) field[FROM_SLIP + k] = rolls ? s->rho * D[(3 + k / 2) * dim + 1 + k % 2] : 0;
  field[INVERSE] = D[0] > 0 ? 1 / (s->rho * D[0]) : 0;
  field[INVERSE + 1] = slides ? inverse_of(D, dim, 1, s->rho) : 0;
  field[INVERSE + 2] = rolls ? inverse_of(D, dim, 3, s->rho) : 0;
  field[MU] = slides ? contact->mu : 0;
  field[MU + 1] = rolls ? contact->mu_r : 0;
}

void fx_wide_pack(const fx_pile *p) {
  double field[END];
  for (int32_t k = 0; k < p->count; k++) {
    int32_t i = p->order[k], slot = p->slot[i];
    double *to = (double *)p->full.field + fx_slot_at(slot, LANES, END, 0);
    laws(p, i, field);
    fx_pile_blocks(p, i, ROWS, field + H);
    for (int32_t e = 0; e < END; e++) to[e * LANES] = field[e];
  }
}

/* ---- bodies ---- */

INLINE void transpose(lanes r[LANES]) {
  lanes a = MIX(r[0], r[1], 0, 4, 2, 6), b = MIX(r[0], r[1], 1, 5, 3, 7);
  lanes c = MIX(r[2], r[3], 0, 4, 2, 6), d = MIX(r[2], r[3], 1, 5, 3, 7);
  r[0] = MIX(a, c, 0, 1, 4, 5);
  r[1] = MIX(b, d, 0, 1, 4, 5);
  r[2] = MIX(a, c, 2, 3, 6, 7);
  r[3] = MIX(b, d, 2, 3, 6, 7);
}

/* Number k of the bodies of four lanes; the last two of a record are zero. */
INLINE void gather(const double *d, const int32_t *body, lanes x[FX_RECORD]) {
  for (int half = 0; half < FX_RECORD; half += LANES) {
    for (int k = 0; k < LANES; k++) x[half + k] = *(const lanes *)(d + body[k] + half);
    transpose(x + half);
  }
}

INLINE void scatter(double *d, const int32_t *body, lanes x[FX_RECORD]) {
  for (int half = 0; half < FX_RECORD; half += LANES) {
    transpose(x + half);
    for (int k = 0; k < LANES; k++) *(lanes *)(d + body[k] + half) = x[half + k];
  }
}

INLINE void read(const double *f, const lanes a[DOF], const lanes b[DOF], lanes u[ROWS]) {
  for (int row = 0; row < ROWS; row++) {
    const double *g = f + (H + DOF * row) * LANES, *h = g + ROWS * DOF * LANES;
    lanes one = NUMBER(g, 0) * a[0], two = NUMBER(h, 0) * b[0];
    for (int k = 1; k < DOF; k++) {
      one += NUMBER(g, k) * a[k];
      two += NUMBER(h, k) * b[k];
    }
    u[row] = one + two;
  }
}

INLINE void write(const double *f, const lanes x[ROWS], lanes a[DOF], lanes b[DOF]) {
  for (int k = 0; k < DOF; k++) {
    const double *g = f + (H + k) * LANES, *h = g + ROWS * DOF * LANES;
    for (int row = 0; row < ROWS; row++) {
      a[k] += NUMBER(g, DOF * row) * x[row];
      b[k] += NUMBER(h, DOF * row) * x[row];
    }
  }
}

/* ---- one group of contacts ---- */

/* z = P(y - u inverse) on the disc of this radius. */
INLINE void slide(const lanes y[2], const lanes u[2], const lanes *inverse, const lanes *radius, lanes z[2]) {
  lanes s = y[0] - u[0] * *inverse, t = y[1] - u[1] * *inverse, length = s * s + t * t, one = (lanes){0} + 1;
  FX_ROOTS(length, LANES, sqrt);
  bits outside = length > *radius;
  lanes factor = (lanes)(((bits)(*radius / length) & outside) | ((bits)one & ~outside));
  z[0] = s * factor;
  z[1] = t * factor;
}

INLINE void local(const double *f, const lanes y[ROWS], lanes u[ROWS], lanes z[ROWS]) {
  for (int k = 0; k < ROWS; k++) u[k] += NUMBER(f, Q + k) + NUMBER(f, COMPLIANCE + k) * y[k];
  lanes normal = y[0] - u[0] * NUMBER(f, INVERSE), inverse, radius;
  z[0] = (lanes)((bits)normal & (normal > 0));
  for (int k = 1; k < ROWS; k++) u[k] += NUMBER(f, FROM_NORMAL + k - 1) * (z[0] - y[0]);
  inverse = NUMBER(f, INVERSE + 1);
  radius = NUMBER(f, MU) * z[0];
  slide(y + 1, u + 1, &inverse, &radius, z + 1);
  for (int k = 0; k < 2; k++)
    u[3 + k] += NUMBER(f, FROM_SLIP + 2 * k) * (z[1] - y[1]) + NUMBER(f, FROM_SLIP + 2 * k + 1) * (z[2] - y[2]);
  inverse = NUMBER(f, INVERSE + 2);
  radius = NUMBER(f, MU + 1) * z[0];
  slide(y + 3, u + 3, &inverse, &radius, z + 3);
}

typedef struct sums {
  lanes step, size, uphill;
} sums;

INLINE void visit(const double *f, bool plain, double beta, const int32_t *body, const double *now, double *last,
                  double *d, sums *total) {
  lanes a[FX_RECORD], b[FX_RECORD], u[ROWS], y[ROWS], z[ROWS], x[ROWS];
  gather(d, body, a);
  gather(d, body + FX_BATCH, b);
  for (int k = 0; k < ROWS; k++) {
    y[k] = NUMBER(now, k);
    if (!plain) y[k] += (NUMBER(now, k) - NUMBER(last, k)) * beta;
  }
  read(f, a, b, u);
  local(f, y, u, z);
  for (int k = 0; k < ROWS; k++) {
    x[k] = z[k] - y[k];
    total->step += x[k] * x[k];
    total->size += z[k] * z[k];
    total->uphill -= x[k] * (z[k] - NUMBER(now, k));
    *(lanes *)(last + k * LANES) = z[k];
  }
  write(f, x, a, b);
  scatter(d, body, a);
  scatter(d, body + FX_BATCH, b);
}

/* ---- all batches ---- */

INLINE double added(const lanes *x) { return (((*x)[0] + (*x)[1]) + (*x)[2]) + (*x)[3]; }

INLINE const int32_t *bodies_of(const fx_pile *p, int32_t group) {
  int32_t slot = group * LANES;
  return p->slot_body + slot / FX_BATCH * 2 * FX_BATCH + slot % FX_BATCH;
}

INLINE fx_sweep_sums sweep(const fx_pile *p, bool plain, double beta) {
  double *d = p->full.d, *d_last = p->full.d_last, *z = p->full.z, *last = p->full.z_last;
  const double *f = p->full.field;
  sums total = {{0}, {0}, {0}};
  for (int32_t k = 0; k < p->body_count * FX_RECORD; k++) d_last[k] = plain ? d[k] : d[k] + (d[k] - d_last[k]) * beta;
  for (int32_t g = 0; g < p->batch_count * (FX_BATCH / LANES); g++)
    visit(f + (size_t)g * END * LANES, plain, beta, bodies_of(p, g), z + (size_t)g * ROWS * LANES,
          last + (size_t)g * ROWS * LANES, d_last, &total);
  return (fx_sweep_sums){added(&total.step), added(&total.size), plain ? 0 : added(&total.uphill)};
}

INLINE fx_sweep_sums sweep_some(const fx_pile *p, double beta) {
  return beta == 0 ? sweep(p, true, beta) : sweep(p, false, beta);
}

INLINE void refresh(const fx_pile *p) {
  const double *f = p->full.field, *z = p->full.z;
  double *d = p->full.d;
  for (int32_t g = 0; g < p->batch_count * (FX_BATCH / LANES); g++) {
    lanes a[FX_RECORD], b[FX_RECORD], x[ROWS];
    const int32_t *body = bodies_of(p, g);
    for (int k = 0; k < ROWS; k++) x[k] = NUMBER(z + (size_t)g * ROWS * LANES, k);
    gather(d, body, a);
    gather(d, body + FX_BATCH, b);
    write(f + (size_t)g * END * LANES, x, a, b);
    scatter(d, body, a);
    scatter(d, body + FX_BATCH, b);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static fx_sweep_sums sweep_avx2(const fx_pile *p, double beta) {
  return sweep_some(p, beta);
}

__attribute__((target("avx2"))) static void refresh_avx2(const fx_pile *p) { refresh(p); }
#else
#define sweep_avx2 sweep_some
#define refresh_avx2 refresh
#endif

fx_sweep_sums fx_wide_sweep(const fx_pile *p, fx_sweep_target target, double beta) {
  return target == FX_SWEEP_AVX2 ? sweep_avx2(p, beta) : sweep_some(p, beta);
}

void fx_wide_refresh(const fx_pile *p, fx_sweep_target target) {
  if (target == FX_SWEEP_AVX2)
    refresh_avx2(p);
  else
    refresh(p);
}
