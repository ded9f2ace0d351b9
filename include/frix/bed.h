/* frix: beds of grains, from thousands to millions, in little memory and on any number of ranks.
 *
 *   frix_bed_config config = frix_bed_default();
 *   config.lower = ..., config.upper = ..., config.radius[0] = 0.03;
 *   frix_bed_create(context, &config, &bed);
 *   frix_bed_add_plane(bed, &floor, NULL);
 *   for (...) frix_bed_add(bed, 0, position, velocity, NULL);
 *   for (...) frix_bed_step(bed, h, &report);
 *
 * The law is that of frix/sim.h (Signorini, Coulomb's exact cone, springs of a given stiffness or rigid contacts), and
 * so is the certificate. A bed of spheres needs less than 1 kB per grain, a sim 28 kB. Grains may also be clumps of
 * spheres or convex shapes, and joints may hold them together. Space is divided into blocks that depend on the config
 * only; sweeps visit the blocks by colour, so that the numbers of threads and ranks do not change any bit
 * (docs/scale.md).
 *
 * On several ranks, all ranks make every call with the same values. */
#ifndef FRIX_BED_H
#define FRIX_BED_H

#include <frix/model.h>
#include <frix/solve.h>
#include <frix/vec.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRIX_BED_SIZES 16 /* radii a bed may have */
#define FRIX_BED_WALLS 32
#define FRIX_BED_PARTS 8 /* spheres of a clump */

/* Communication between ranks; mpi/ implements it with MPI. All ranks make every call. Calls return false if a rank is
 * lost. */
typedef struct frix_bed_link {
  int32_t rank, rank_count;
  void *user;
  /* out[p], out_size[p] bytes go to rank p, and in_size[p] bytes come from it; both sides know the sizes, and messages
   * of 0 bytes are not sent. */
  bool (*exchange)(void *user, const void *const *out, const size_t *out_size, void *const *in, const size_t *in_size);
  /* x[k] becomes the sum over all ranks; each number is nonzero on one rank only, or whole
   * and below 2^53 on all, so that the order does not matter. */
  bool (*sum)(void *user, double *x, size_t count);
} frix_bed_link;

/* Spheres that are rigidly joined and move as one grain, in axes of their own. Mass, centre and inertia are those of
 * their union: exact where no two overlap, else to about 0.1 %. */
typedef struct frix_bed_clump {
  int32_t count; /* 0: the grain is one sphere */
  frix_vec3 center[FRIX_BED_PARTS];
  double radius[FRIX_BED_PARTS];
} frix_bed_clump;

/* A convex grain in axes of its own; its centre of mass becomes their origin. */
typedef struct frix_bed_form {
  frix_shape_kind kind;       /* capsule, box, cylinder, ellipsoid or hull; sphere: as radius and clump say */
  double radius, half_length; /* capsule, cylinder: along z, a capsule's without its round ends */
  frix_vec3 half;             /* box, ellipsoid */
  int32_t point_count;        /* hull */
  const frix_vec3 *point;
} frix_bed_form;

typedef struct frix_bed_config {
  uint32_t size;          /* set by frix_bed_default */
  frix_vec3 lower, upper; /* the space that is divided into blocks; grains may leave it if it is not periodic */
  bool periodic[3];
  frix_vec3 gravity; /* default 9.81 m/s^2 down */
  int32_t radius_count;
  double radius[FRIX_BED_SIZES]; /* polydisperse beds have several */
  double density;                /* default 2500 kg/m^3 */
  double mu;                     /* between grains, default 0.5; walls have their own */
  double stiffness;              /* of a contact, N/m; 0: rigid. Default 1e5 */
  double restitution;            /* of rigid contacts, Newton's */
  double tolerance;              /* of the certificate, default 1e-4 */
  int32_t max_sweeps;            /* default 2000 */
  int32_t thread_count;          /* default 1; results have the same bits for any number */
  int32_t block_cells;       /* cells along the edge of a block, 2 to 16, default 6; a cell is 1.2 largest diameters */
  const frix_bed_link *link; /* NULL: alone. Must outlive the bed */
  const frix_bed_clump *clump; /* NULL, or one by radius: grains of that number are clumps, and the radius becomes that
                                * of the sphere about the centre of mass that holds them. Is copied */
  const frix_bed_form *form;   /* NULL, or one by radius: grains of that number are convex shapes, and the radius
                                * becomes that of the sphere that holds them. Their walls are planes. Is copied */
} frix_bed_config;

FRIX_API void frix_bed_init(frix_bed_config *out, size_t size);
static inline frix_bed_config frix_bed_default(void) {
  frix_bed_config out;
  frix_bed_init(&out, sizeof out);
  return out;
}

typedef struct frix_bed frix_bed;

FRIX_API frix_status frix_bed_create(frix_context *context, const frix_bed_config *config, frix_bed **out);
FRIX_API void frix_bed_destroy(frix_bed *bed);

/* ---- walls ---- */
typedef enum frix_bed_wall_kind {
  FRIX_BED_PLANE,  /* grains stay on the side that the normal points to */
  FRIX_BED_TURNED, /* a segment (distance from the z axis, height) from a to b, rotated about the z axis: cylinder,
                    * cone, disc with a hole; grains cannot pass it from either side */
} frix_bed_wall_kind;

typedef struct frix_bed_wall {
  frix_bed_wall_kind kind;
  frix_vec3 point, normal; /* plane; the normal becomes a unit vector */
  double a[2], b[2];       /* turned: (distance, height) of both ends */
  double mu;               /* against grains */
  frix_vec3 velocity;      /* of its surface; the normal part moves a plane, the tangential part drags grains */
  bool servo;              /* plane: moves along its normal so that grains press it with `load` */
  double load;             /* N, > 0 */
  double servo_speed;      /* at most, m/s */
  double force;            /* output: normal force of the grains in the last step, N */
  frix_vec3 traction;      /* output: total force of the grains on the wall, N */
} frix_bed_wall;

/* index may be NULL. */
FRIX_API frix_status frix_bed_add_wall(frix_bed *bed, const frix_bed_wall *wall, int32_t *index);
FRIX_API int32_t frix_bed_wall_count(const frix_bed *bed);
FRIX_API frix_status frix_bed_wall_at(const frix_bed *bed, int32_t k, frix_bed_wall *out);
/* Sets velocity, load, servo and position of wall k; its kind does not change. */
FRIX_API frix_status frix_bed_set_wall(frix_bed *bed, int32_t k, const frix_bed_wall *wall);

/* ---- grains ---- */
/* Reserves memory for so many grains on this rank. */
FRIX_API frix_status frix_bed_reserve(frix_bed *bed, int64_t count);
/* A grain of radius number `size`; ids start at 0 and are never reused. id may be NULL. */
FRIX_API frix_status frix_bed_add(frix_bed *bed, int32_t size, frix_vec3 position, frix_vec3 velocity, int64_t *id);
/* The same with a turn and a spin. position is that of the centre of mass. */
FRIX_API frix_status frix_bed_add_turned(frix_bed *bed, int32_t size, frix_pose pose, frix_vec3 velocity,
                                         frix_vec3 spin, int64_t *id);

/* ---- joints ---- */
/* Holds two grains, or a grain and the world, which do not collide with each other then. The centres of both grains
 * must stay within one cell of each other (1.2 diameters of the largest grain); a bed with joints has no outlet. */
typedef struct frix_bed_joint {
  frix_joint_kind kind;       /* ball, distance, hinge (about z of both frames) or fixed */
  int64_t a, b;               /* ids; b = -1: the world */
  frix_pose frame_a, frame_b; /* in the axes of the grains, from their centres of mass */
  double length;              /* distance: between the origins of the frames, > 0 */
  int32_t row_count;          /* output */
  double impulse[6];          /* output, by row, of the last step: lambda of frix_bed_problem */
  frix_vec3 force;            /* output: on a, N */
} frix_bed_joint;

FRIX_API frix_status frix_bed_add_joint(frix_bed *bed, const frix_bed_joint *joint);
/* Joints whose grain with the lower id is on this rank, by that id; in the output it is `a`. */
FRIX_API int32_t frix_bed_joint_count(const frix_bed *bed);
FRIX_API frix_status frix_bed_joint_at(const frix_bed *bed, int32_t k, frix_bed_joint *out);

/* ---- outlet and inlet ---- */
typedef struct frix_bed_flow {
  uint32_t size;          /* set by frix_bed_flow_default */
  double outlet;          /* grains whose centre is below this height leave; -infinity (default): none */
  bool again;             /* they return through the inlet when a place is free; else they are removed */
  frix_vec3 lower, upper; /* the inlet: free places on a lattice 1.2 diameters wide, in random order */
  double rate;            /* new grains per second, in addition to returning ones; 0: none */
  frix_vec3 velocity;     /* initial velocity */
  int32_t radius;         /* number of the radius of new grains, -1: each in turn */
  uint64_t seed;
} frix_bed_flow;

FRIX_API void frix_bed_flow_init(frix_bed_flow *out, size_t size);
static inline frix_bed_flow frix_bed_flow_default(void) {
  frix_bed_flow out;
  frix_bed_flow_init(&out, sizeof out);
  return out;
}
FRIX_API frix_status frix_bed_set_flow(frix_bed *bed, const frix_bed_flow *flow);

/* ---- stepping ---- */
typedef struct frix_bed_report {
  uint32_t size;
  bool certified;
  frix_certificate certificate; /* residual, contact_residual, joint_residual, row_residual, rho; of the whole bed,
                                   whatever the ranks */
  int64_t sweeps;
  int64_t grain_count, contact_count, touching_count; /* of all ranks */
  int64_t left, came;                                 /* through outlet and inlet in this step */
  double penetration;                                 /* deepest, before the step, m */
  double kinetic;                                     /* J, after the step */
  double friction;                                    /* J, lost to sliding in this step */
  double seconds, sort_seconds, contact_seconds, solve_seconds;
} frix_bed_report;

/* report may be NULL. */
FRIX_API frix_status frix_bed_step(frix_bed *bed, double h, frix_bed_report *report);
FRIX_API double frix_bed_time(const frix_bed *bed);
FRIX_API int64_t frix_bed_step_count(const frix_bed *bed);
/* Bytes in use. */
FRIX_API size_t frix_bed_bytes(const frix_bed *bed);

/* ---- queries; on several ranks: for the grains of this rank ---- */
typedef struct frix_bed_grain {
  int64_t id;
  int32_t radius; /* its number */
  frix_vec3 position, velocity, spin;
  frix_quat turn;
} frix_bed_grain;

FRIX_API int32_t frix_bed_count(const frix_bed *bed);
FRIX_API frix_status frix_bed_at(const frix_bed *bed, int32_t k, frix_bed_grain *out);

typedef struct frix_bed_contact {
  int64_t a, b;            /* ids; b < 0: wall -1 - b */
  frix_vec3 point, normal; /* from b to a */
  frix_vec3 impulse;       /* on a, in the last step */
  double gap;              /* after the step */
} frix_bed_contact;

/* Contacts of the last step with a nonzero impulse; valid until grains are added. */
FRIX_API int32_t frix_bed_contact_count(const frix_bed *bed);
FRIX_API frix_status frix_bed_contact_at(const frix_bed *bed, int32_t k, frix_bed_contact *out);
/* Hash of the state of all ranks; the same for any number of ranks and threads. */
FRIX_API frix_status frix_bed_hash(frix_bed *bed, uint64_t *out);
/* The contact problem of the last step with its answer as guess, to write or to pass to frix_certify; on one rank only.
 */
FRIX_API frix_status frix_bed_problem(const frix_bed *bed, frix_problem **out);

/* ---- for files (frix/trajectory.h): walls, and for each radius a pattern that grains are instances of ---- */
FRIX_API frix_status frix_bed_model(const frix_bed *bed, frix_model **out);

/* ---- states as bytes: those of this rank's grains; *out by frix_bed_bytes_free ---- */
FRIX_API frix_status frix_bed_save(const frix_bed *bed, unsigned char **out, size_t *size);
FRIX_API void frix_bed_bytes_free(const frix_bed *bed, unsigned char *bytes);
/* Reads grains from the bytes of one rank of a bed with the same config; call it for the bytes of all ranks, on any
 * number of ranks. The first call removes the grains of the bed. */
FRIX_API frix_status frix_bed_load(frix_bed *bed, const unsigned char *bytes, size_t size, bool first);

#ifdef __cplusplus
}
#endif
#endif
