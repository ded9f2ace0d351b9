/* Soft bodies of few coordinates: from a mesh to reduced forces, and their motion.
 *
 *   tets.h, fem.h       meshes, finite elements
 *   eigenmodes.c        lowest modes of the free body by block Lanczos on the static answer
 *   derivatives.c       modal derivatives, shapes of held regions, the basis
 *   soft_reduce.c       inertia and elastic energy as polynomials of the amplitudes
 *   soft_make.c         all of it; the public interface of the body
 *   soft_elastic.c      energy, force, tangent
 *   soft_inertia.c      mass block, momenta, rows of a point
 *   soft_motion.c       steps without contact; soft_variational.c the symplectic one
 *   soft_tree.c         the deformed surface: a tree of spheres, places, normals
 *   soft_surface.c      its nearest triangles
 *   soft_model.c        a body as part of a model
 */
#ifndef FX_SOFT_SOFT_H
#define FX_SOFT_SOFT_H

#include <frix/soft.h>

#include <stdatomic.h>

#include "model/model_internal.h"
#include "soft/fem.h"

enum { FX_MOST_MODES = 100, FX_MOST_COORDINATES = 132 };

/* ---- from finite elements to a basis ---- */

typedef struct fx_basis {
  int32_t count;
  double *shape;      /* count vectors of the size of the finite elements, orthonormal in the mass, not rigid */
  double *value;      /* squared angular frequencies, ascending */
  double residual;    /* largest |x - value S M x| of a mode in the mass, S: the static answer */
  int32_t iterations; /* static answers taken */
} fx_basis;

/* Reports; true: the user wants an end. */
typedef struct fx_soft_watch {
  bool (*progress)(const char *stage, double share, void *user);
  void *user;
} fx_soft_watch;
static inline bool fx_watch(const fx_soft_watch *w, const char *stage, double share) {
  return w->progress && w->progress(stage, share, w->user);
}

/* The lowest modes that are not rigid. */
frix_status fx_modes_find(fx_arena *arena, const fx_fem *f, int32_t count, const fx_soft_watch *watch, fx_basis *out);
/* Adds the strongest directions of the modal derivatives; the basis is then turned so that stiffness is diagonal. */
frix_status fx_basis_derive(fx_arena *arena, const fx_fem *f, int32_t derivatives, const fx_soft_watch *watch,
                            fx_basis *basis);

/* Adds the six uniform strains. */
frix_status fx_basis_strain(fx_arena *arena, const fx_fem *f, fx_basis *basis);
/* Adds six shapes of a region that will be held, a box in the axes of the mesh; nothing where its corners agree. */
frix_status fx_basis_hold(fx_arena *arena, const fx_fem *f, frix_vec3 low, frix_vec3 high, fx_basis *basis);

/* ---- the body ---- */

/* A node of the tree over the surface: its triangles, and of a leaf the points that belong to it. */
typedef struct fx_soft_node {
  int32_t child; /* and child + 1; -1: a leaf */
  int32_t triangle, triangle_count, point, point_count, edge, edge_count;
  frix_vec3 center; /* without deformation */
  double radius;
} fx_soft_node;

/* A sharp edge: its ends, its triangles, and the corner of each that is not on it. */
typedef struct fx_soft_edge {
  int32_t point[2], triangle[2], across[2];
} fx_soft_edge;

typedef struct fx_soft_tree {
  int32_t node_count;
  fx_soft_node *node;
  int32_t *triangle, *point;      /* in the order of the leaves */
  double *shift, *growth;         /* by node: 3 x k, what a coordinate moves its center by, and k, its radius */
  int32_t *around_start, *around; /* triangles around points */
  int32_t edge_count;
  fx_soft_edge *edge; /* in the order of the leaves */
} fx_soft_tree;

struct frix_soft {
  frix_context *context;
  atomic_int holders; /* the last one to let go frees it: the user, geometries of models */
  fx_arena arena;
  frix_soft_info info; /* with the arrays that the user sees */
  double second[9];    /* integral of rho X X' */
  double *first;       /* 9 each: of rho (X U_i' ), row-major */
  double *cross;       /* 9 each: of rho U_i U_j', at [i k + j] */
  double *plane;       /* the same number of all i and j together (soft_inertia.c) */
  double *stiffness;   /* diagonal: omega^2 */
  double *cubic;       /* coefficients of q_i q_j q_l, i <= j <= l in this order; NULL: linear */
  double *quartic;     /* of q_i q_j q_l q_m */
  fx_soft_tree tree;
};

int64_t fx_cubic_count(int32_t k);
int64_t fx_quartic_count(int32_t k);

frix_soft *fx_soft_new(frix_context *context);
/* Arrays for info.coordinates, point_count and triangle_count. */
frix_status fx_soft_take(frix_soft *soft);
/* What follows from the surface and its shapes. */
frix_status fx_soft_measure(frix_soft *soft);
frix_status fx_soft_tree_make(frix_soft *soft);
/* Polynomials and surface from a basis. */
frix_status fx_soft_reduce(frix_soft *soft, fx_arena *arena, const fx_fem *f, const fx_basis *basis,
                           const fx_skin *skin, const fx_soft_watch *watch);
/* Everything from a checked mesh. */
frix_status fx_soft_build(frix_context *context, const fx_tets *t, const frix_soft_config *config, frix_soft **out);
/* Refuses settings that make no sense. */
frix_status fx_soft_check_config(frix_context *context, const frix_soft_config *config);

/* Energy; force (may be NULL) and, where there is a force, tangent (may be NULL). */
double fx_soft_elastic(const frix_soft *soft, const double *q, double *force, double *tangent);

/* ---- motion ---- */

struct frix_soft_state {
  const frix_soft *soft;
  frix_pose pose;
  frix_vec3 velocity;
  frix_vec3 spin_momentum; /* about the centre of mass, world axes: what a step changes by impulses alone */
  double *amplitude, *rate;
  double *momentum; /* of the amplitudes, dT/d rate */
  /* workspace */
  double *block, *force, *tangent, *spare, *work;
  int32_t *pivot;
  /* inertia and coupling of the amplitudes `seen` (fx_soft_spread_of) */
  double *seen;
  frix_sym3 *inertia;
  frix_vec3 *coupling;
};

/* What the next three need, once. */
void fx_soft_split_inertia(frix_soft *s);
/* Inertia about the centre of mass in the body's axes. */
frix_sym3 fx_soft_inertia(const frix_soft *s, const double *q);
/* Columns g_j of the coupling of spin and rates: spin momentum = I w + sum_j g_j rate_j; body's axes. */
void fx_soft_coupling(const frix_soft *s, const double *q, frix_vec3 *g);
/* Both of the state's amplitudes, found once for them: a step asks several times. */
typedef struct fx_soft_spread {
  frix_sym3 inertia;
  const frix_vec3 *coupling; /* until the next call */
} fx_soft_spread;

fx_soft_spread fx_soft_spread_of(const frix_soft_state *x);
/* Finds them anew. */
void fx_soft_spread_find(const frix_soft_state *x);
/* dT/dq of spin (body's axes) and rates. */
void fx_soft_centrifugal(const frix_soft *s, const double *q, frix_vec3 spin, const double *rate, double *out);
/* What the spin of the state's amplitudes and rates needs, whatever its orientation: w = I^-1 (R' L - sum g_j rate_j).
 */
typedef struct fx_soft_spinner {
  frix_sym3 inverse;
  frix_vec3 carried;
} fx_soft_spinner;
fx_soft_spinner fx_soft_spinner_of(const frix_soft_state *state);
frix_vec3 fx_soft_spin_at(const fx_soft_spinner *s, frix_quat q, frix_vec3 momentum);
/* Spin in the body's axes and momenta of the amplitudes from the state's spin momentum and rates. */
frix_vec3 fx_soft_spin(const frix_soft_state *state);
void fx_soft_set_momenta(frix_soft_state *state, frix_vec3 spin_body);
void fx_soft_set_rates(frix_soft_state *state);
/* Force and tangent of the state's amplitudes in its workspace; the tangent is made positive where it is not. */
void fx_soft_stiffness(const frix_soft_state *state);
/* Where a surface point is, and its velocity (may be NULL) for the spin of fx_soft_spin. */
frix_vec3 fx_soft_place(const frix_soft_state *state, int32_t point, frix_vec3 spin, frix_vec3 *velocity);
/* Rows of a surface point, 3 by (6 + k), and the mass block M (h = 0) or M + h C + h t K; world axes. */
void fx_soft_rows(const frix_soft_state *state, int32_t point, double *out);
void fx_soft_block(const frix_soft_state *state, double h, double t, double *out);
/* Where a step takes elastic forces: at the amplitudes q + ahead s1 - back s0 of its rates s0 before and s1 after. */
typedef struct fx_soft_when {
  double ahead, back;
} fx_soft_when;
/* Matrix and right side of an implicit step, A v1 = b + rows' impulses, (6 + k) squared and 6 + k; world axes. */
void fx_soft_load(frix_soft_state *state, double h, fx_soft_when when, frix_vec3 gravity, double *A, double *b);
/* The step's end from its velocities and the momenta of the frame (linear, then spin about the centre). */
void fx_soft_finish(frix_soft_state *state, double h, const double *velocity, const double *frame);
/* Velocities and momenta after impulses, where the body is. */
void fx_soft_take_velocities(frix_soft_state *state, const double *velocity, const double *frame);
/* Time h goes by with the momenta it has. */
void fx_soft_drift(frix_soft_state *state, double h);
/* The same with the rates of the end: the way back of the other, so that both together are symmetric in time. */
void fx_soft_drift_to(frix_soft_state *state, double h);
/* A turn by spin h, world axes. */
frix_quat fx_soft_turn(frix_quat q, frix_vec3 spin, double h);
frix_sym3 fx_soft_inverse(frix_sym3 s);

/* ---- the deformed surface ---- */

typedef struct fx_soft_sphere {
  frix_vec3 center;
  double radius;
} fx_soft_sphere;

/* What of it is known is that of `now`; the rest is found where it is asked for (soft_tree.c). */
typedef struct fx_soft_skin {
  const struct frix_soft_state *state; /* that it is the surface of, and its spin in the body's axes */
  frix_vec3 spin;
  frix_vec3 low, high; /* a box around it */
  double fastest;      /* no point is faster */
  uint32_t now;
  frix_vec3 *place, *outward; /* by point; outward: sum of the normals around it */
  frix_vec3 *normal;          /* of triangles */
  fx_soft_sphere *sphere;     /* of nodes of the tree */
  uint32_t *placed, *faced, *turned, *bounded;
  int32_t *list, *edges; /* of fx_soft_points_near, fx_soft_edges_near */
} fx_soft_skin;

/* What lies in front of a plane (low: a point of it) or outside of a box by no more than reach. */
typedef struct fx_soft_region {
  bool bounded;
  frix_vec3 normal, low, high;
  double reach;
} fx_soft_region;

frix_status fx_soft_skin_take(const frix_soft *soft, fx_arena *arena, fx_soft_skin *out);
/* The state has changed. */
void fx_soft_skin_find(const frix_soft_state *state, fx_soft_skin *out);
const fx_soft_sphere *fx_soft_skin_sphere(fx_soft_skin *skin, int32_t node);
frix_vec3 fx_soft_skin_place(fx_soft_skin *skin, int32_t point);
frix_vec3 fx_soft_skin_normal(fx_soft_skin *skin, int32_t triangle);
frix_vec3 fx_soft_skin_outward(fx_soft_skin *skin, int32_t point);
frix_vec3 fx_soft_skin_velocity(const fx_soft_skin *skin, int32_t point);
/* No point is faster at these velocities: of the frame, its spin in the body's axes, rates. */
double fx_soft_fastest(const frix_soft_state *x, frix_vec3 v, frix_vec3 spin, const double *rate);
/* How many points of the surface lie in a region; they stand in skin->list. */
int32_t fx_soft_points_near(fx_soft_skin *skin, const fx_soft_region *region);

/* ---- skin_edges.c ---- */
frix_status fx_soft_edges_make(frix_soft *soft);
/* How many sharp edges there are about a box; they stand in skin->edges. */
int32_t fx_soft_edges_near(fx_soft_skin *skin, const fx_soft_region *region);
/* Where an edge of a passes one of b: points of both, the normal from b to a, parts of their lengths, the gap, and the
 * length of the shorter one. */
typedef struct fx_soft_crossing {
  frix_vec3 point_a, point_b, normal;
  double part_a, part_b, gap, length;
} fx_soft_crossing;
/* An edge with a point of each face beside it, and the sum of their normals. */
typedef struct fx_edge_line {
  frix_vec3 end[2], across[2], outward;
} fx_edge_line;
fx_edge_line fx_soft_edge_line(fx_soft_skin *skin, int32_t edge);
bool fx_edges_cross(const fx_edge_line *a, const fx_edge_line *b, fx_soft_crossing *out);

/* The place of a surface that is nearest to a point. */
typedef struct fx_soft_near {
  double square, weight[3], facing; /* facing: how much the triangle looks against the point's own surface */
  int32_t triangle;
  bool inside; /* the nearest place lies inside the triangle */
  bool under;  /* the point is inside the body */
  bool beside; /* the triangle does not look against the point's own surface: the point is beside an edge of it */
} fx_soft_near;

/* Whether a point is outside of the surface. */
bool fx_soft_outside(fx_soft_skin *skin, frix_vec3 p);
/* Among triangles that look against `outward`, the normal of the surface that p belongs to; p lies before the place by
 * no more than reach, and behind it by no more than deep. false: there is none. */
bool fx_soft_nearest(fx_soft_skin *skin, frix_vec3 p, frix_vec3 outward, double reach, double deep, fx_soft_near *best);
/* Its gap, below 0 inside, the place, and the normal of the contact there. */
double fx_soft_gap(fx_soft_skin *skin, frix_vec3 p, double reach, const fx_soft_near *near, frix_vec3 *place,
                   frix_vec3 *normal);
/* Barycentric weights of the place of a triangle that is nearest to p; true: inside. */
bool fx_nearest_weights(frix_vec3 p, frix_vec3 a, frix_vec3 b, frix_vec3 c, double weight[3]);

/* ---- as part of a model ---- */

/* The soft body of a body of a model, NULL: it is rigid. */
const frix_soft *fx_soft_of(const frix_model *model, int32_t body);
/* A mesh is the surface of a soft body from now on; refused where it has other points. */
frix_status fx_geometry_soften(fx_geometry *geometry, const frix_soft *soft);
/* One more who needs it; frix_soft_destroy lets go. */
frix_soft *fx_soft_hold(const frix_soft *soft);

frix_status fx_soft_step_implicit(frix_soft_state *state, double h, frix_vec3 gravity);
frix_status fx_soft_step_variational(frix_soft_state *state, double h, frix_vec3 gravity);

#endif
