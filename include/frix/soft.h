/* frix: soft bodies with few coordinates.
 *
 *   frix_soft_config config = frix_soft_default();
 *   frix_soft *soft = NULL;
 *   if (frix_soft_make(context, "bar", &config, &soft)) puts(frix_error_text(context));
 *   frix_soft_write(soft, "bar.frixsoft");
 *
 * A body is a frame (6 numbers of velocity) and k amplitudes of deformation: x = p + R (X + sum_i q_i U_i(X)). U_i are
 * vibration modes of the free body, and modal derivatives where the material is St.Venant-Kirchhoff; both are
 * normalised by the mass and move neither the centre of mass nor, to first order, the body's axes. docs/soft.md. */
#ifndef FRIX_SOFT_H
#define FRIX_SOFT_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_soft_material {
  FRIX_SOFT_LINEAR, /* forces linear in the amplitudes: small deformation, arbitrary motion of the frame */
  FRIX_SOFT_STVK,   /* St.Venant-Kirchhoff: forces cubic in the amplitudes */
} frix_soft_material;

typedef struct frix_soft frix_soft;
typedef struct frix_soft_state frix_soft_state;

/* ---- making ---- */

typedef struct frix_soft_config {
  uint32_t size; /* set by frix_soft_default */
  frix_soft_material material;
  int32_t modes;            /* of vibration; 12. 0: a rigid body */
  int32_t derivatives;      /* modal derivatives beside them; -1: as many as modes with STVK, none with LINEAR */
  double young, poisson;    /* Pa; 1e6 and 0.3 */
  double density;           /* kg/m^3; 1000 */
  double damping_mass;      /* Rayleigh: C = damping_mass M + damping_stiffness K */
  double damping_stiffness; /* seconds */
  double damping_ratio;     /* of critical, added to every mode */
  int32_t order;            /* 1: linear tetrahedra, 2: quadratic ones, which bend without locking; 2 */
  int32_t cells;            /* of generated shapes and filled surfaces, see docs/soft.md; 0: chosen */
  frix_vec3 sides;          /* of generated shapes; zero: those of the table */
  bool strains;             /* six uniform strains join the basis: for bodies with flat faces in contact; false */
  frix_vec3 hold_low;       /* a box of the mesh in which the body will be held: six shapes that forces and torques */
  frix_vec3 hold_high;      /* there make join the basis; equal corners: none */
  /* Progress callback; share of the stage from 0 to 1. True ends the work (FRIX_ERROR_INPUT). */
  bool (*progress)(const char *stage, double share, void *user);
  void *user;
  int32_t waves; /* generated shapes are bent along z by wave sin(pi waves (x / side + 1/2)): strands of a weave; 0 */
  double wave;   /* m; 0 */
} frix_soft_config;

FRIX_API void frix_soft_init(frix_soft_config *out, size_t size);
static inline frix_soft_config frix_soft_default(void) {
  frix_soft_config out;
  frix_soft_init(&out, sizeof out);
  return out;
}

/* From a tetrahedral mesh (.msh of Gmsh 2.2 or 4.1, .vtk legacy, .node with .ele), a closed surface (.obj, .stl), or
 * the name of a generated shape ("bar", "plate", "strand", "chair", "blob"). NULL config: the default. */
FRIX_API frix_status frix_soft_make(frix_context *context, const char *mesh, const frix_soft_config *config,
                                    frix_soft **out);
FRIX_API void frix_soft_destroy(frix_soft *soft);
/* Name k of a generated shape, NULL past the end. */
FRIX_API const char *frix_soft_shape(int32_t k);

/* Files (.frixsoft) with a checksum. */
FRIX_API frix_status frix_soft_write(const frix_soft *soft, const char *path);
FRIX_API frix_status frix_soft_read(frix_context *context, const char *path, frix_soft **out);

/* ---- properties of a body ---- */

typedef struct frix_soft_info {
  frix_soft_material material;
  int32_t coordinates; /* k: modes and derivatives */
  int32_t modes;
  int32_t tets, nodes, order;          /* of the mesh it was made from */
  int32_t point_count, triangle_count; /* of its surface */
  double young, poisson, density, mass, volume;
  frix_vec3 center;        /* of mass, in the axes of the mesh; everything below is about it */
  frix_sym3 inertia;       /* undeformed */
  const double *omega;     /* angular frequencies of the k coordinates, ascending */
  const double *damping;   /* diagonal of C */
  double mode_residual;    /* largest |x - w^2 K^+ M x| of a mode x, in the mass */
  const frix_vec3 *point;  /* of the surface, undeformed */
  const int32_t *triangle; /* outward seen counter-clockwise */
  const double *shape;     /* of the surface: U of point i, axis a, coordinate j at [(3 i + a) k + j] */
} frix_soft_info;

FRIX_API frix_soft_info frix_soft_view(const frix_soft *soft);

/* Elastic energy of amplitudes; force (may be NULL): its gradient, k numbers; tangent (may be NULL,
 * and wants a force): k by k. */
FRIX_API double frix_soft_elastic(const frix_soft *soft, const double *amplitude, double *force, double *tangent);

/* ---- motion without contact ---- */

/* Undeformed, at rest at the origin. The body must outlive it. */
FRIX_API frix_status frix_soft_state_create(const frix_soft *soft, frix_soft_state **out);
FRIX_API void frix_soft_state_destroy(frix_soft_state *state);

typedef struct frix_soft_frame {
  frix_pose pose;           /* of the centre of mass and the body's axes */
  frix_vec3 velocity, spin; /* world axes */
} frix_soft_frame;

FRIX_API frix_soft_frame frix_soft_get_frame(const frix_soft_state *state);
FRIX_API frix_status frix_soft_set_frame(frix_soft_state *state, const frix_soft_frame *frame);
/* k numbers each. */
FRIX_API const double *frix_soft_amplitude(const frix_soft_state *state);
FRIX_API const double *frix_soft_rate(const frix_soft_state *state);
FRIX_API frix_status frix_soft_set(frix_soft_state *state, const double *amplitude, const double *rate);

typedef enum frix_soft_integrator {
  FRIX_SOFT_IMPLICIT,    /* linearly implicit in elastic and damping forces; never adds elastic energy */
  FRIX_SOFT_VARIATIONAL, /* symmetric and symplectic: no energy drift */
} frix_soft_integrator;

/* One step of length h under gravity. */
FRIX_API frix_status frix_soft_step(frix_soft_state *state, frix_soft_integrator integrator, double h,
                                    frix_vec3 gravity);

typedef struct frix_soft_energy {
  double kinetic, elastic, gravity;  /* gravity: -m g.p */
  frix_vec3 momentum, spin_momentum; /* the latter about the origin */
} frix_soft_energy;

FRIX_API frix_soft_energy frix_soft_energy_of(const frix_soft_state *state, frix_vec3 gravity);
/* Where a point of the surface is, and its velocity (may be NULL). */
FRIX_API frix_vec3 frix_soft_point(const frix_soft_state *state, int32_t point, frix_vec3 *velocity);
/* Rows of the velocity of a point: 3 by (6 + k), columns velocity, spin (world axes), rates. */
FRIX_API frix_status frix_soft_jacobian(const frix_soft_state *state, int32_t point, double *out);
/* (6 + k) squared: mass alone, or M + h C + h^2 K of an implicit step. */
FRIX_API frix_status frix_soft_mass_matrix(const frix_soft_state *state, double h, double *out);

/* Points of the surface at a pose of the frame (centre of mass, body's axes) and amplitudes; point_count of them. */
FRIX_API void frix_soft_deform(const frix_soft *soft, frix_pose pose, const double *amplitude, frix_vec3 *out);

/* ---- as part of a model: movers of the same step as rigid bodies, joints and trees ---- */

/* A body of the model that is soft: one mover of 6 + k coordinates. body: name, pose (of the axes of the mesh it was
 * made from), velocities and gravity_scale; shape: material, group and mask; NULL: the defaults. Points of its surface
 * collide with all shapes. The model shares the soft body, which may be destroyed. Soft bodies do not sleep and are not
 * spawned. */
FRIX_API frix_status frix_builder_add_soft(frix_builder *builder, const frix_soft *soft, const frix_body_config *body,
                                           const frix_shape_config *shape, frix_body_id *out);
/* The context of a builder, for creating soft bodies for it. */
FRIX_API frix_context *frix_builder_context(const frix_builder *builder);
/* The soft body of a body, NULL: it is rigid, or there is none. */
FRIX_API const frix_soft *frix_model_soft(const frix_model *model, frix_body_id body);
FRIX_API const frix_soft *frix_sim_soft(const frix_sim *sim, frix_body_id body);
/* Amplitudes and rates of a soft body, k numbers each; NULL: it is rigid. They live until the state changes. */
FRIX_API const double *frix_sim_amplitude(const frix_sim *sim, frix_body_id body);
FRIX_API const double *frix_sim_rate(const frix_sim *sim, frix_body_id body);
/* NULL: unchanged. The ledger books the change as work. */
FRIX_API frix_status frix_sim_set_amplitude(frix_sim *sim, frix_body_id body, const double *amplitude,
                                            const double *rate);
/* Positions of the points of its surface; point_count of them. */
FRIX_API frix_status frix_sim_surface(const frix_sim *sim, frix_body_id body, frix_vec3 *out);

/* A spring between a point of the surface and a place, in the next step only, like frix_sim_add_force; implicit, so any
 * stiffness is stable. */
typedef struct frix_soft_pull {
  int32_t point;
  frix_vec3 place, velocity; /* present position and velocity of the place */
  double stiffness, damping; /* N/m, N s/m */
} frix_soft_pull;
FRIX_API frix_status frix_sim_pull(frix_sim *sim, frix_body_id body, const frix_soft_pull *pull);

/* ---- motion in contact ---- */

/* Soft bodies among fixed obstacles, with handles: every step one contact problem with the exact cone over all bodies,
 * M + h C + h^2 K as its mass, solved and certified like every other. Points of the surfaces collide with the obstacles
 * and, after frix_soft_world_friction, with the surfaces of other bodies. */
typedef struct frix_soft_world frix_soft_world;

typedef enum frix_soft_obstacle_kind {
  FRIX_SOFT_PLANE, /* fills the half space behind its normal */
  FRIX_SOFT_BALL,
  FRIX_SOFT_DRUM, /* a cylinder without ends */
} frix_soft_obstacle_kind;

typedef struct frix_soft_obstacle {
  frix_soft_obstacle_kind kind;
  frix_vec3 point;     /* of the plane or the drum's axis; the ball's centre */
  frix_vec3 direction; /* the plane's normal, the drum's axis; any length */
  double radius, mu;
  frix_vec3 velocity; /* of the whole obstacle; its point moves with the steps */
} frix_soft_obstacle;

/* A spring between a surface point and a place; implicit, so any stiffness is stable. */
typedef struct frix_soft_handle {
  int32_t body, point;
  frix_vec3 place;
  double stiffness, damping; /* N/m, N s/m */
} frix_soft_handle;

typedef struct frix_soft_report {
  int32_t contacts, active; /* contacts of the problem, and those with an impulse */
  int32_t coordinates;      /* 6 + k of all bodies */
  bool certified;           /* residual within 1e-8 */
  double residual;
  int64_t iterations;
  double seconds;      /* of the solve */
  double deepest;      /* overlap before the step, in m */
  frix_vec3 impulse;   /* of all obstacles on all bodies */
  double contact_work; /* impulses times velocities at the end of the step, J: loss by friction; above 0 only if
                          overlaps are pushed out or obstacles move */
  double handle_work;
} frix_soft_report;

FRIX_API frix_status frix_soft_world_create(frix_context *context, frix_soft_world **out);
FRIX_API void frix_soft_world_destroy(frix_soft_world *world);
/* A body, undeformed at the origin; number gets which (may be NULL). The body must outlive the world. */
FRIX_API frix_status frix_soft_world_add(frix_soft_world *world, const frix_soft *soft, int32_t *number);
FRIX_API frix_status frix_soft_world_obstacle(frix_soft_world *world, const frix_soft_obstacle *obstacle);
FRIX_API frix_status frix_soft_world_handle(frix_soft_world *world, const frix_soft_handle *handle);
/* Friction between bodies; negative (default): they do not collide. */
FRIX_API frix_status frix_soft_world_friction(frix_soft_world *world, double mu);
/* A body's state, which the caller may set between steps; NULL past the end. */
FRIX_API frix_soft_state *frix_soft_world_state(frix_soft_world *world, int32_t body);
FRIX_API frix_status frix_soft_world_step(frix_soft_world *world, double h, frix_vec3 gravity, frix_soft_report *out);

#ifdef __cplusplus
}
#endif
#endif
