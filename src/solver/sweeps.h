/* sweeps, its parts: the packed pile and the kernels that sweep it.
 *
 *   M = L L',   Hh = sqrt(rho) L^-1 H,   r = rho z,   d = L' (v - v_free) / sqrt(rho)
 *   d = Hh z,   u = Hh' d + q + rho R z
 *
 * In these units W has the mean diagonal 1 and z is a velocity; the same Hh reads u and writes d, and single precision
 * suffers neither from small masses nor from a fast common motion. Contacts stand in batches of FX_BATCH, no two of a
 * batch on the same body, so that a batch is swept at once. Slot = 8 batch + lane; empty slots and the fixed world are
 * body 0, or body_count in segments 1 and 3 of a large pile, whose records stay zero. */
#ifndef FX_SOLVER_SWEEPS_H
#define FX_SOLVER_SWEEPS_H

#include "problem/system.h"
#include "solver/sweeps_cut.h"

/* Contacts per batch; numbers per body, of which 6 are used; batches whose sums stay in one precision; degrees of
 * freedom of the largest body. */
enum { FX_BATCH = 8, FX_RECORD = 8, FX_FLUSH = 64, FX_BODY_DOF = 6 };

/* Numbers of a contact that a sweep reads, in this order. A round contact (two spheres, or a sphere and the world) has
 * Hh = (a Q, c Q~) for each body with Q = [n t1 t2], Q~ = [0 t2 -t1] and numbers a and c. */
enum {
  FX_Q = 0,         /* 3: velocity without impulses */
  FX_INVERSE_N = 3, /* step / D_NN */
  FX_INVERSE_T = 4, /* step / largest eigenvalue of D_TT */
  FX_MU = 5,
  FX_H = 6,        /* general: two 3 x 6 blocks, row-major; round: Q (9) */
  FX_ROUND_A = 15, /* round: a of both bodies */
  FX_ROUND_C = 17, /* round: c of both bodies */
  FX_ROUND_END = 19,
  FX_COUPLING = 42, /* general: D_TN (2) */
  FX_GENERAL_END = 44,
  FX_COMPLIANCE_SIZE = 3 /* after the end, where compliant: rho R */
};

/* Rows and numbers of a contact in the wide form (sweeps_wide.c): with rolling friction, double precision alone. */
enum { FX_WIDE_ROWS = 5, FX_WIDE_END = 2 * FX_WIDE_ROWS + 13 + 2 * FX_WIDE_ROWS * FX_BODY_DOF };

/* Numbers of a contact's base (sweeps_base.h): -z0_N, |z0_T|, and mu z0_N - |z0_T|. */
enum { FX_LOW, FX_REACH, FX_GAP, FX_BASE };

/* The pile in one precision: LANES contacts stand together, 8 in single and 4 in double, number by number. */
typedef struct fx_pile_data {
  void *field;      /* field_count per slot */
  void *z, *z_last; /* row_count per slot: impulses after the last sweep and the one before */
  void *d, *d_last; /* FX_RECORD per body: d after the last sweep (z) and the one before (z_last) */
  void *base;       /* FX_BASE per slot, single precision: z and d are relative to it; NULL: to zero */
} fx_pile_data;

typedef struct fx_pile {
  const fx_system *system;
  int32_t count;                   /* contacts that are swept */
  int32_t batch_count, batch_room; /* batches, and those that there is room for */
  int32_t body_count;              /* body 0 included */
  bool round, wide, compliant;
  int32_t field_count, row_count; /* per slot */
  int32_t *order;                 /* contacts in the order in which they were given their slots */
  int32_t *slot;                  /* slot of each contact, -1 where it is not swept */
  int32_t *empty, empty_count;    /* slots that hold none */
  int32_t *slot_body;             /* by batch: 8 first bodies, 8 second, each times FX_RECORD */
  uint8_t *couple;                /* by batch: it shares no body with the next, and both are swept at once */
  uint8_t *again;                 /* by batch or couple, and 0 after the last: it meets the bodies of the one before */
  int32_t *body_mover, *body_of;  /* mover of each body, -1 for body 0; body of each mover */
  int32_t *body_end;              /* by FX_FLUSH batches: no body from here on has been met when they are done */
  int32_t segment_count;          /* 1, or FX_SEGMENTS of a large compliant pile (sweeps_cut.h) */
  int32_t segment_end[FX_SEGMENTS], body_cut; /* batches; bodies of segment 0 end there */
  double scale;                               /* sqrt(rho) */
  double step[2];       /* of normal and friction impulses, relative to what solves the contact alone */
  const void *roots;    /* L^-1 of each body */
  const double *number; /* of contacts of spheres: those of the system, or own ones of the contacts that are swept */
  double *own_number;
  fx_pile_data single, full;
} fx_pile;

/* Whether the kernels can take this system: velocity form, at most two movers of at most 6 degrees of freedom per
 * contact, cones that are a disc, an interval or no friction around one normal, or two discs (rolling friction). */
bool fx_pile_fits(const fx_system *system);
/* Whether it takes the wide form: some contact has rolling friction. */
bool fx_pile_is_wide(const fx_system *system);
/* Sweeps within which a system of compliant contacts is solved, most often; 0 where many are rigid or nearly
 * so, small, or does not fit. */
int64_t fx_pile_spring_sweeps(const fx_system *system);

/* Order, batches and fields in single precision of the contacts that `swept` marks (NULL: all); with `full` also room
 * for double precision, not read before its turn comes. A pile with rolling friction takes the wide form,
 * which has double precision alone. UNSUPPORTED, without a text, where a block of M is not symmetric and positive. */
frix_status fx_pile_build(fx_arena *arena, const fx_system *system, const uint8_t *swept, bool full, fx_pile *out);
/* Order and batches alone: batch_count, body_count, order, slot, empty, slot_body, couple, again,
 * body_mover. */
frix_status fx_pile_order(fx_arena *arena, const fx_system *system, const uint8_t *swept, fx_pile *pile);
/* Takes in the contacts that `swept` marks by now, in batches of their own after all others; z and d are then to be
 * loaded again. False where they do not fit: no room, another form, or double precision is in use. */
bool fx_pile_grow(fx_pile *pile, const uint8_t *swept);
/* The same without fields: their places alone. */
bool fx_pile_order_more(fx_pile *pile, const uint8_t *swept);
/* Fields in double precision, where room was taken. */
void fx_pile_pack_full(const fx_pile *pile);

/* Fields where q of the system has changed. */
void fx_pile_shift(fx_pile *pile, bool full);

/* z from r, and r from z. */
void fx_pile_load(const fx_pile *pile, bool full, const double *r);
void fx_pile_store(const fx_pile *pile, bool full, double *r);

/* ---- parts of packing ---- */

/* Index of number k of `count` in a slot, where `lanes` slots stand together. */
static inline size_t fx_slot_at(int32_t slot, int32_t lanes, int32_t count, int32_t k) {
  return ((size_t)(slot / lanes) * (size_t)count + (size_t)k) * (size_t)lanes + (size_t)(slot % lanes);
}

/* The form of spheres: what the bodies are scaled with, and numbers of the contacts (round_rows.h); *fits is false
 * where a body or a contact has another form. The numbers of contacts that came later, false likewise; fields. */
frix_status fx_round_begin(fx_arena *arena, fx_pile *pile, bool *fits);
bool fx_round_more(const fx_pile *pile, int32_t from, int32_t end); /* some contacts, in their order */
void fx_round_pack(const fx_pile *pile, bool full, int32_t from, int32_t end);

/* Hh of contact i at H: first body, second body, `rows` rows of 6 each; zero where there is none. */
void fx_pile_blocks(const fx_pile *pile, int32_t i, int32_t rows, double *H);
/* The wide form: all fields. */
void fx_wide_pack(const fx_pile *pile);

/* ---- sweeping ---- */

/* What a sweep measures, in units of z. */
typedef struct fx_sweep_sums {
  double step, size; /* without momentum: squares of |z - z_last| and |z| */
  double uphill;     /* with momentum: (y - z) . (z - z_last), y = where the sweep began: > 0 where momentum points the
                        wrong way */
} fx_sweep_sums;

/* Instruction sets: the same bits from each. SCALAR is the reference, written without vectors. */
typedef enum fx_sweep_target { FX_SWEEP_SCALAR, FX_SWEEP_PLAIN, FX_SWEEP_AVX2 } fx_sweep_target;
fx_sweep_target fx_sweep_best_target(void);

/* One sweep over all batches from y = z + momentum (z - z_last). */
fx_sweep_sums fx_sweep(fx_pile *pile, bool full, fx_sweep_target target, double momentum);
/* One segment of a sweep: 0 and 1 may run side by side, and so may then 2 and 3. Sums add up in the order of the
 * segments; z and d are exchanged with those before when all are swept. */
fx_sweep_sums fx_sweep_segment(const fx_pile *pile, bool full, fx_sweep_target target, double momentum,
                               int32_t segment);
void fx_sweep_exchange(fx_pile *pile, bool full);
/* d = Hh z from scratch, against drift by rounding; the next sweep has to be one without momentum. */
void fx_sweep_refresh(const fx_pile *pile, bool full, fx_sweep_target target);
/* Its parts: d = 0, and the impulses of one segment after the other, which may run side by side as in a sweep. */
void fx_sweep_clear(const fx_pile *pile, bool full);
void fx_refresh_segment(const fx_pile *pile, bool full, fx_sweep_target target, int32_t segment);

/* The wide form: what fx_sweep and fx_sweep_refresh do with it. */
fx_sweep_sums fx_wide_sweep(const fx_pile *pile, fx_sweep_target target, double momentum);
void fx_wide_refresh(const fx_pile *pile, fx_sweep_target target);

/* What one call of a kernel sweeps: batches first .. end - 1; before them it extrapolates d of the bodies first_body ..
 * end_body - 1, as it meets them where that is known. */
typedef struct fx_sweep_part {
  int32_t first, end, first_body, end_body;
} fx_sweep_part;

/* Records of all bodies, of numbers of this size; only those of the second world are zeroed. */
void *fx_pile_take_records(fx_arena *arena, const fx_pile *p, size_t size);

/* The reference, scalar; leaves what it swept in z_last, as the others do before fx_sweep exchanges the two. */
fx_sweep_sums fx_sweep_scalar(const fx_pile *pile, bool full, const fx_sweep_part *part, double momentum);
void fx_refresh_scalar(const fx_pile *pile, bool full, int32_t first, int32_t end); /* batches */

#endif
