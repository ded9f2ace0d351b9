/* Beds: what their parts share.
 *
 *   sort (blocks, cells, ranks) -> contacts -> sweeps by colour -> certificate -> integrate
 *
 * A solid sphere has I = 0.4 m r^2. With the spin scaled by the radius, s = r w, a contact of normal n (from j to i)
 *
 *   u = v_i - v_j - (s_i + s_j) x n + w,   M^-1 = 1/m for v and 2.5/m for s,   W_ii = diag(W_N, 3.5 W_N, 3.5 W_N)
 *
 * knows masses alone, and normal and friction of one contact do not couple.
 *
 * A contact belongs to its grain with the lower id, and stands with it; what it remembers does too. A grain belongs to
 * the block it is in, a block to one rank. Each rank also has the grains of others within one cell of its blocks. */
#ifndef FX_BED_BED_H
#define FX_BED_BED_H

#include "base/arena.h"
#include "collision/narrow.h"

#include <frix/bed.h>

/* Pairs farther apart than this, over the sum of their radii, are never in the problem. */
#define FX_BED_NEAR 1.2
/* Of what a translation carries counts for the rotation, and back: as in problem/row_speeds.c. */
#define FX_BED_SHARED 1e-3

enum { FX_COLOURS = 8, FX_NO_GRAIN = -1, FX_LOST = -2 };

/* One line of the cache: what sweeps read and write of a grain. */
typedef struct fx_bed_speed {
  frix_vec3 v;
  double inverse_mass;
  frix_vec3 s;
  double radius;
} fx_bed_speed;

/* Velocity and scaled spin. */
typedef struct fx_bed_motion {
  frix_vec3 v, s;
} fx_bed_motion;

typedef struct fx_bed_place {
  frix_vec3 p;
  frix_quat q;
  int64_t id;
  int32_t size; /* number of its radius */
  int32_t cell; /* in the table of this rank */
} fx_bed_place;

typedef struct fx_bed_contact {
  frix_vec3 n;
  double w;      /* velocity that the normal row asks for: gap / h, with restitution */
  frix_vec3 c;   /* remembered impulse of the tangential spring */
  int32_t other; /* grain; below 0: wall -1 - other */
  int32_t law;   /* in bed->law */
  int32_t grain; /* the first one */
} fx_bed_contact;

/* What sweeps change of a contact: apart from what they only read, which then need not be written back to memory. */
typedef struct fx_bed_load {
  frix_vec3 r, last; /* impulse on the first grain, and before the last sweep */
} fx_bed_load;

/* Grains of one radius, clumps of one form or convex shapes of one form: about the centre of mass, in their own axes.
 */
typedef struct fx_bed_kind {
  double mass, radius;        /* radius: of the sphere about the centre of mass that holds it */
  frix_sym3 inertia, inverse; /* inverse: of the inertia */
  frix_bed_clump clump;       /* one part: a sphere; none: `shape` */
  fx_shape shape;             /* its geometry is owned */
} fx_bed_kind;

/* Of contacts in beds with arms. */
typedef struct fx_bed_arm {
  frix_vec3 a, b;                           /* from the centres of mass to the contact */
  frix_vec3 Wn;                             /* W n */
  double W_normal, W_across, W_diagonal[2]; /* n W n, the largest tangential eigenvalue, t W t of both tangents */
  int64_t key;                              /* by what the contact is known from step to step */
} fx_bed_arm;

/* Rows of one joint: 1 (distance), 3 (ball), 5 (hinge) or 6 (fixed). */
enum { FX_BED_ROWS = FRIX_MAX_DIM };

typedef struct fx_bed_joint {
  int64_t a, b;   /* ids, a < b; b < 0: the world */
  int64_t number; /* in the order of adding */
  frix_joint_kind kind;
  int32_t rows;
  frix_pose frame[2];
  double length;
  double r[FX_BED_ROWS]; /* impulse of the last step */
  frix_vec3 push;        /* the same on a, in space */
} fx_bed_joint;

/* A joint in a step: u_k = t_k . (v_a - v_b) + turn_k . w_a - turn_k' . w_b + w_k, turned by a length where the row is
 * one of angles, so that all rows have the same units. */
typedef struct fx_bed_bind {
  int32_t grain, other; /* other < 0: the world, or FX_LOST */
  int32_t joint, rows;
  frix_vec3 t[FX_BED_ROWS], turn[2][FX_BED_ROWS];
  double w[FX_BED_ROWS], r[FX_BED_ROWS], last[FX_BED_ROWS];
  double diagonal[FX_BED_ROWS], factor[FX_BED_ROWS * FX_BED_ROWS]; /* of W: L L' */
} fx_bed_bind;

/* What two radii, or a radius and a wall, have in common. */
typedef struct fx_bed_law {
  double W[2];       /* normal, tangential */
  double R, mu;      /* compliance */
  double inverse[2]; /* 1 / (W + R) */
} fx_bed_law;

/* What a contact leaves for the next step. */
typedef struct fx_bed_memory {
  int64_t other; /* id of the other grain, or -1 - wall; with arms, which parts touch too */
  frix_vec3 r;
} fx_bed_memory;

/* Sums of a block. */
enum {
  FX_SUM_UPHILL,
  FX_SUM_STEP,
  FX_SUM_SIZE,
  FX_SUM_MAP, /* of contacts, then of joints */
  FX_SUM_JOINT_MAP,
  FX_SUM_R,
  FX_SUM_JOINT_R,
  FX_SUM_Q,
  FX_SUM_JOINT_Q,
  FX_SUM_DIAGONAL,
  FX_SUM_CARRIED,
  FX_SUM_JOINT_ROWS,
  FX_SUM_JOINT_DIAGONAL,
  FX_SUM_LOST,   /* joints whose grains are too far apart */
  FX_SUM_FAILED, /* searches without memory */
  FX_SUM_KINETIC,
  FX_SUM_FRICTION,
  FX_SUM_CONTACTS,
  FX_SUM_TOUCHING,
  FX_SUM_GRAINS,
  FX_SUM_WORST,
  FX_SUM_DEEPEST,
  FX_SUM_FLOOR,
  FX_SUMS
};

/* Grains whose velocities go to a rank, or come from it, after the sweep of a colour. */
typedef struct fx_bed_route {
  int32_t *grain; /* by rank and colour, one after the other */
  int32_t *start; /* rank_count x FX_COLOURS + 1 */
} fx_bed_route;

struct frix_bed {
  frix_context *context;
  frix_bed_config config;
  double time, h;
  int64_t step_count, next_id;
  size_t bytes, most;
  /* walls */
  int32_t wall_count;
  frix_bed_wall wall[FRIX_BED_WALLS];
  frix_bed_flow flow;
  double owed; /* new grains that are due */
  int64_t came, left;
  /* blocks and cells */
  int32_t blocks[3], block_count, cells; /* cells: along the edge of a block */
  double cell[3], period[3];             /* edges of a cell; lengths where periodic, else 0 */
  int32_t *owner;                        /* by block: its rank */
  int32_t *stage_block;                  /* blocks of this rank in the order of sweeps (bed_blocks.c) */
  int32_t stage_count, *stage_start;     /* blocks of one stage share no grain, or one thread takes them in turn */
  int32_t *stage_ready;          /* by stage: grains of slots below this are all that it and those before touch */
  int32_t *slot;                 /* by block: its place among those that this rank knows, -1: none */
  int32_t slot_count, own_slots; /* those of this rank first */
  int32_t *slot_block;
  int32_t *cell_start; /* by slot and cell: first grain; slot_count x cells^3 + 1 */
  size_t cell_room;
  /* grains: own ones, then those of others */
  int32_t own, count, room;
  fx_bed_place *place;
  fx_bed_speed *speed;
  fx_bed_motion *free, *last; /* without impulses; before the last sweep */
  double *energy;             /* two by grain: what its motions carry, for the errors of rows */
  int32_t *before;            /* by own grain: its number in the order of memory_start */
  int32_t *memory_start;      /* of own + 1 */
  int32_t memory_own;
  fx_bed_memory *memory;
  int64_t memory_count, memory_room;
  /* contacts by own grain */
  int64_t *contact_start;
  fx_bed_contact *contact;
  fx_bed_load *load; /* by contact, and one more */
  int64_t contact_count, contact_room, load_room;
  /* kinds of grains; with arms, which clumps, convex shapes and joints need: arms by contact, inverse inertia by grain
   */
  fx_bed_kind kind[FRIX_BED_SIZES];
  bool has_arms, has_shapes;
  fx_bed_arm *arm;
  int64_t arm_room;
  frix_sym3 *turn;
  int64_t turn_room;
  fx_bed_law law[FRIX_BED_SIZES * (FRIX_BED_SIZES + FRIX_BED_WALLS)];
  /* joints of own grains by (a, number), the first `settled` of them; those behind are new and known to all ranks */
  fx_bed_joint *joint;
  int64_t joint_count, joint_room, settled, next_joint;
  fx_bed_bind *bind; /* those of the step, in the order of their grains */
  int64_t bind_count, bind_room;
  double near;  /* distance of centres beyond which two grains are never in the problem: the least edge of a cell */
  double reach; /* gap below which contacts are in the problem, whatever the velocities */
  double *sums; /* FX_SUMS by own block */
  int64_t sums_room;
  double total[FX_SUMS];
  fx_bed_route send, receive;
  int32_t *halo, halo_count; /* grains of others that contacts or joints of this rank touch */
  unsigned char **buffer;    /* by rank: out, then in */
  size_t *buffer_size, *buffer_room;
  double momentum, part; /* of the present sweep: extrapolation, and share of the way to new impulses */
};

/* ---- bed.c ---- */
void *fx_bed_take(frix_bed *bed, size_t count, size_t size);
void fx_bed_give(frix_bed *bed, void *pointer, size_t count, size_t size);
/* Room for `wanted` elements, of which the first `used` are kept. */
bool fx_bed_grow(frix_bed *bed, void *list, int64_t used, int64_t *room, int64_t wanted, size_t size);
bool fx_bed_reserve(frix_bed *bed, int32_t wanted); /* grains */
void fx_bed_put(frix_bed *bed, int32_t at, int64_t id, int32_t size, frix_vec3 p, frix_quat q, frix_vec3 v,
                frix_vec3 s);
static inline int32_t fx_bed_ranks(const frix_bed *bed) { return bed->config.link ? bed->config.link->rank_count : 1; }
static inline double *fx_bed_sums_of(frix_bed *bed, int32_t block) {
  return bed->sums + (size_t)bed->slot[block] * FX_SUMS;
}
static inline fx_bed_load *fx_bed_load_of(const frix_bed *bed, const fx_bed_contact *c) {
  return bed->load + (c - bed->contact);
}
static inline int32_t fx_bed_rank(const frix_bed *bed) { return bed->config.link ? bed->config.link->rank : 0; }
frix_vec3 fx_bed_wrap(const frix_bed *bed, frix_vec3 p);
frix_status fx_bed_lost(frix_bed *bed);

/* ---- bed_blocks.c ---- */
frix_status fx_bed_cut(frix_bed *bed);
/* Blocks of each rank by the number of grains in them. */
frix_status fx_bed_balance(frix_bed *bed);
/* Cell coordinates of a place, within all cells. */
void fx_bed_cell_of(const frix_bed *bed, frix_vec3 p, int32_t at[3]);
int32_t fx_bed_block_of(const frix_bed *bed, const int32_t cell[3]);
/* Neighbour of a cell, wrapped; false where space ends. */
bool fx_bed_step_cell(const frix_bed *bed, const int32_t cell[3], const int32_t by[3], int32_t out[3]);
/* First and end of the grains in a cell that this rank knows. */
void fx_bed_grains_in(const frix_bed *bed, const int32_t cell[3], int32_t *first, int32_t *end);
/* Grains in the 27 cells around a cell, in runs of consecutive numbers. */
typedef struct fx_bed_runs {
  int32_t count, first[27], end[27];
} fx_bed_runs;
void fx_bed_around(const frix_bed *bed, const int32_t cell[3], fx_bed_runs *out);
frix_status fx_bed_sort(frix_bed *bed);

/* ---- bed_stages.c ---- */
frix_status fx_bed_order_stages(frix_bed *bed);

/* ---- bed_ranks.c ---- */
/* Grains that have left the blocks of this rank go to theirs. */
frix_status fx_bed_migrate(frix_bed *bed);
/* Copies of the grains near the blocks of this rank are appended. */
frix_status fx_bed_fetch(frix_bed *bed);
/* Which velocities go where after each colour. */
frix_status fx_bed_routes(frix_bed *bed);
frix_status fx_bed_share(frix_bed *bed, int32_t colour, bool energy);
/* Over all ranks: each number is whole, or zero on all ranks but one. */
frix_status fx_bed_add_sums(frix_bed *bed, double *x, size_t count);

/* ---- bed_contacts.c ---- */
void fx_bed_laws(frix_bed *bed);
/* Whether a gap that closes with this speed is in the problem. */
bool fx_bed_comes_near(const frix_bed *bed, double gap, double closing);
/* A contact with what it remembers; before: its normal velocity before the step. */
void fx_bed_begin_contact(frix_bed *bed, fx_bed_contact *c, int32_t i, int32_t other, frix_vec3 n, double gap,
                          double before, int64_t key);
/* Diagonal of W: normal, first and second tangent. */
void fx_bed_diagonal(const frix_bed *bed, int64_t k, double out[3]);
frix_status fx_bed_find_contacts(frix_bed *bed);
frix_status fx_bed_remember(frix_bed *bed);
frix_vec3 fx_bed_apart(const frix_bed *bed, frix_vec3 a, frix_vec3 b); /* a - b, by the nearest image */
/* Gap and normal of a grain at a wall. */
double fx_bed_wall_gap(const frix_bed_wall *wall, frix_vec3 p, double radius, frix_vec3 *normal);

/* ---- bed_clumps.c ---- */
/* Mass and inertia of all kinds; radii of clumps. */
frix_status fx_bed_kinds(frix_bed *bed);
frix_sym3 fx_bed_inverse(frix_sym3 s);

/* ---- bed_shapes.c ---- */
/* Mass, inertia and radius of a convex form. */
frix_status fx_bed_shape_kind(frix_bed *bed, const frix_bed_form *form, fx_bed_kind *out);
/* Half of the least width of a kind, about. */
double fx_bed_thickness(const fx_bed_kind *kind);

/* ---- bed_touch.c ---- */
/* Contacts of grain i with arms, from number `at` on where it is not below 0; their number, -1 without memory. */
int64_t fx_bed_arm_contacts(frix_bed *bed, int32_t i, const fx_bed_runs *near, int64_t at, fx_manifold *room);
/* The gap of a contact after the step. */
double fx_bed_arm_gap(const frix_bed *bed, int64_t k);

/* ---- bed_joints.c: which there are ---- */
/* Those of a grain, from *first on; their number. */
int32_t fx_bed_joints_of(const frix_bed *bed, int64_t id, int64_t *first);
frix_status fx_bed_put_joint(frix_bed *bed, const fx_bed_joint *joint);
/* Joints whose row count is 0 go, the others are sorted. */
void fx_bed_order_joints(frix_bed *bed);
/* New joints stay with the rank of their grain. */
frix_status fx_bed_settle_joints(frix_bed *bed);

/* ---- bed_binds.c: their rows in a step ---- */
frix_status fx_bed_find_binds(frix_bed *bed);
/* First and end of those of the grains first .. end - 1. */
void fx_bed_binds_of(const frix_bed *bed, int32_t first, int32_t end, int64_t out[2]);
bool fx_bed_is_joined(const frix_bed *bed, int32_t i, int64_t id);
void fx_bed_bind_block(frix_bed *bed, int32_t block); /* rows, and what they bring to the sums */
void fx_bed_bind_sweep(frix_bed *bed, int32_t block); /* goes on from the sums of the contacts */
void fx_bed_bind_push(frix_bed *bed, int32_t block);  /* all impulses, and the energies they bring */
/* Rates of the rows by motions of grains: the present ones, or without impulses. */
void fx_bed_bind_rates(const frix_bed *bed, const fx_bed_bind *bind, bool free, double *u);
/* Speeds that its rows are measured by (problem/row_speeds.c). */
void fx_bed_bind_speeds(const frix_bed *bed, const fx_bed_bind *bind, double *speed);
void fx_bed_remember_joints(frix_bed *bed);

/* ---- bed_arms.c ---- */
/* Inverse inertia of all grains as they lie. */
frix_status fx_bed_turn(frix_bed *bed);
/* s' M s: twice the energy of a spin. */
double fx_bed_spin_energy(const frix_bed *bed, int32_t k, frix_vec3 s);
/* The spin after a turn by which the angular momentum stays. */
frix_vec3 fx_bed_keep_momentum(const frix_bed *bed, int32_t k, frix_quat before, frix_vec3 s);
void fx_bed_arm_push(frix_bed *bed, int64_t k, frix_vec3 dr);
/* What an impulse adds to the energies that grain k carries, and the roots of the traces of its rotation by rows. */
void fx_bed_arm_energy(const frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 normal, frix_vec3 across,
                       double *energy);
void fx_bed_arm_roots(const frix_bed *bed, int32_t k, frix_vec3 arm, const frix_vec3 frame[3], double root[2]);
void fx_bed_arm_sweep(frix_bed *bed, int32_t block);

/* ---- bed_sweeps.c ---- */
typedef void fx_bed_work(frix_bed *bed, int32_t block);
/* run(block) of all blocks of this rank, on all threads, in any order. */
void fx_bed_for_all(frix_bed *bed, fx_bed_work *run);
void fx_bed_grains_of(const frix_bed *bed, int32_t block, int32_t *first, int32_t *end);
/* Velocities from impulses, from scratch. */
frix_status fx_bed_refresh(frix_bed *bed);
frix_status fx_bed_solve(frix_bed *bed, frix_bed_report *report);

/* u of a contact without its compliance: velocity of i against the other. */
static inline frix_vec3 fx_bed_slip(const frix_bed *bed, const fx_bed_contact *c, const frix_vec3 *v,
                                    const frix_vec3 *s, const frix_vec3 *v2, const frix_vec3 *s2) {
  if (bed->has_arms) {
    const fx_bed_arm *arm = &bed->arm[c - bed->contact];
    frix_vec3 own = fx_mad(*v, 1.0 / bed->speed[c->grain].radius, fx_cross(*s, arm->a));
    if (c->other < 0) return fx_sub(own, bed->wall[-1 - c->other].velocity);
    return fx_sub(own, fx_mad(*v2, 1.0 / bed->speed[c->other].radius, fx_cross(*s2, arm->b)));
  }
  if (c->other < 0) return fx_sub(fx_sub(*v, bed->wall[-1 - c->other].velocity), fx_cross(*s, c->n));
  return fx_sub(fx_sub(*v, *v2), fx_cross(fx_add(*s, *s2), c->n));
}

/* ---- bed_kernel.c ---- */
/* One sweep over the contacts of a block; the fastest form that the machine has, all with the same bits. */
fx_bed_work *fx_bed_sweep_block(void);

/* ---- bed_judge.c ---- */
/* Totals over all blocks of all ranks. */
frix_status fx_bed_total(frix_bed *bed, int32_t first, int32_t end);
/* The certificate of the present impulses; velocities are refreshed. rows: with the errors of single contacts where the
 * rest is within the tolerance. */
frix_status fx_bed_judge(frix_bed *bed, frix_certificate *out);

/* ---- bed_flow.c ---- */
frix_status fx_bed_drive(frix_bed *bed, double h);
frix_status fx_bed_move_walls(frix_bed *bed); /* and tells their forces */

#endif
