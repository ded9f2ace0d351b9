/* One contact, exactly: given its block D (nonsymmetric allowed) and the velocity q it would have without its own
 * impulse, find r with u = D r + q that obeys Coulomb's law on the contact's cone. Prepared once per block, which must
 * stay. */
#ifndef FX_SOLVER_ONE_CONTACT_H
#define FX_SOLVER_ONE_CONTACT_H

#include "base/arena.h"

#include <frix/problem.h>
#include <math.h>

/* Normal and two tangents, friction disc of radius mu. Tangents after the normal is eliminated: S = D_TT - D_TN D_NT /
 * D_NN. */
typedef struct fx_disc3 {
  double normal_inverse; /* 1 / D_NN, 0 where the contact cannot be moved */
  double nt[2], tn[2];   /* D_NT, and D_TN / D_NN */
  double S[4], S_inverse[4];
  bool can_stick;
  double mu, scale;
  double alpha; /* slip factor of the last solve: u_T = -alpha r_T; the next one starts from it */
} fx_disc3;

typedef struct fx_one_contact {
  const frix_contact *contact;
  fx_disc3 disc;   /* circular; elliptic in its own axes, with unit friction */
  double turn[4];  /* elliptic: r_T = turn z */
  const double *D; /* the caller's block, dim x dim row-major */
  double *lu;      /* bilateral */
  int32_t pivot[FRIX_MAX_DIM];
  double *corner; /* pyramid: mu times the corners, 2 per corner */
  int32_t last;   /* pyramid: candidate that was right last time */
} fx_one_contact;

frix_status fx_one_contact_prepare(fx_arena *arena, const frix_contact *contact, const double *D, fx_one_contact *out);

/* r from q for any cone. r holds the previous impulse and is used only as a start. */
void fx_one_contact_solve(fx_one_contact *one, const double *q, double *r);

void fx_disc3_prepare(const double *D, int32_t stride, double mu, fx_disc3 *out);
/* Slipping part of fx_disc3_solve: root of mu r_N / |r_T| - 1 in the slip factor. */
void fx_disc3_slip(fx_disc3 *c, const double q[3], const double b[2], double r[3]);

/* The impulse that brings the contact to rest, with b = q_T - D_TN q_N / D_NN; it need not lie in the cone. */
static inline void fx_disc3_stick(const fx_disc3 *c, const double q[3], const double b[2], double r[3]) {
  r[1] = -(c->S_inverse[0] * b[0] + c->S_inverse[1] * b[1]);
  r[2] = -(c->S_inverse[2] * b[0] + c->S_inverse[3] * b[1]);
  r[0] = -(q[0] + c->nt[0] * r[1] + c->nt[1] * r[2]) * c->normal_inverse;
}

/* Separate, stick, or slip. */
static inline void fx_disc3_solve(fx_disc3 *c, const double q[3], double r[3]) {
  if (q[0] >= 0 || c->normal_inverse == 0) {
    r[0] = r[1] = r[2] = 0;
    return;
  }
  double b[2] = {q[1] - c->tn[0] * q[0], q[2] - c->tn[1] * q[0]};
  if (c->can_stick) {
    fx_disc3_stick(c, q, b, r);
    if (r[0] >= 0 && r[1] * r[1] + r[2] * r[2] <= c->mu * c->mu * r[0] * r[0]) return;
  }
  fx_disc3_slip(c, q, b, r);
}

#endif
