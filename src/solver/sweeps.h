/* sweeps, its parts: the packed pile, the kernels that sweep it, and the mixing of rounds.
 *
 *   M = L L',   Hh = sqrt(rho) L^-1 H,   vh = L' v / sqrt(rho),   r = rho s
 *   vh = vh_free + Hh s,   u = Hh' vh + w + rho R s
 *
 * In these units W has the mean diagonal 1 and s is a velocity; the same Hh reads u and writes vh. Contacts stand in
 * batches of FX_BATCH, no two of a batch on the same body, so that a batch is swept at once and in any order of its
 * lanes with the same result. Slot = 8 batch + lane; empty slots and the fixed world are body 0, whose record stays
 * zero. */
#ifndef FX_SOLVER_SWEEPS_H
#define FX_SOLVER_SWEEPS_H

#include "problem/system.h"

enum { FX_BATCH = 8, FX_RECORD = 8 }; /* contacts per batch; numbers per body */

/* Numbers of a contact that a sweep reads, in this order. A round contact (two spheres, or a sphere and the world) has
 * Hh = (a Q, c Q~) per body with Q = [n t1 t2] and Q~ = [0 t2 -t1]. */
enum {
  FX_W = 0,         /* 3: free velocity */
  FX_INVERSE_N = 3, /* 1 / D_NN */
  FX_INVERSE_T = 4, /* 1 / largest eigenvalue of D_TT */
  FX_MU = 5,
  FX_H = 6, /* general: two 3 x 6 blocks, row-major; round: Q (9) */
  FX_ROUND_A = 15, /* round: a of both bodies */
  FX_ROUND_C = 17, /* round: c of both bodies */
  FX_ROUND_END = 19,
  FX_COUPLING = 42, /* general: D_TN (2) */
  FX_GENERAL_END = 44,
  FX_COMPLIANCE_SIZE = 3 /* after the end, where compliant: rho R */
};

/* The pile in one precision: LANES contacts stand together, 8 in float and 4 in double, field by field. */
typedef struct fx_pile_data {
  void *field, *z, *y, *v, *v_last, *v_free;
} fx_pile_data;

typedef struct fx_pile {
  const fx_system *system;
  int32_t batch_count, body_count; /* body 0 included */
  bool round, compliant;
  int32_t field_count;
  int32_t *slot_contact; /* contact in each slot, -1: empty */
  int32_t *slot_body;    /* two per slot, by batch: 8 first bodies, 8 second; times FX_RECORD */
  int32_t *body_mover;   /* mover of each body, -1 for body 0 */
  double scale;          /* sqrt(rho) */
  const void *roots;     /* L^-1 of each body, while fields are packed */
  fx_pile_data single, full;
} fx_pile;

/* What one sweep measures, in units of s. */
typedef struct fx_sweep_sums {
  double step, size; /* squares of |z - z_old| and |z| */
  double uphill;     /* (y - z) . (z - z_old): > 0 where momentum points the wrong way */
} fx_sweep_sums;

/* Instruction sets: the same bits from each. */
typedef enum fx_sweep_target { FX_SWEEP_SCALAR, FX_SWEEP_PLAIN, FX_SWEEP_AVX2 } fx_sweep_target;
fx_sweep_target fx_sweep_best_target(void);

/* One sweep over all batches: z = local solution at y, y = z + momentum (z - z_old), v follows y. */
fx_sweep_sums fx_sweep(const fx_pile *pile, bool full, fx_sweep_target target, double momentum);
/* v = v_free + Hh y, from scratch. */
void fx_sweep_refresh(const fx_pile *pile, bool full, fx_sweep_target target);

/* Whether the pile kernels can take this system: velocity form with symmetric M, at most two movers of at most 6
 * degrees of freedom per contact, cones that are discs of friction around one normal. */
bool fx_pile_fits(const fx_system *system);
/* Order, batches, fields in single precision, and room for everything that sweeping needs. */
frix_status fx_pile_build(fx_arena *arena, const fx_system *system, bool full, fx_pile *out);
/* Fields in double precision; the rest of `full` is there already. */
void fx_pile_pack_full(const fx_pile *pile);

/* z and y from r, and r from z. */
void fx_pile_load(const fx_pile *pile, bool full, const double *r);
void fx_pile_store(const fx_pile *pile, bool full, double *r);
#endif
