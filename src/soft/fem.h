/* Linear and quadratic tetrahedra of an isotropic material: consistent mass, stiffness, forces of second order.
 *
 *   rho u'' = div P,   W = lambda/2 tr(E)^2 + mu E:E,   E = (D + D' + D'D)/2,   D = grad u      (St.Venant-Kirchhoff)
 *   lambda = E nu / ((1 + nu)(1 - 2 nu)),   mu = E / (2 (1 + nu))
 *
 * Displacements are listed node by node, three numbers each. */
#ifndef FX_SOFT_FEM_H
#define FX_SOFT_FEM_H

#include "linalg/block_lu.h"
#include "soft/tets.h"

enum { FX_MOST_NODES = 10, FX_MOST_POINTS = 14 };

typedef struct fx_elements {
  int32_t node_count, element_count;
  int32_t nodes;  /* of an element: 4 or 10 */
  int32_t points; /* of its quadrature: 1 or 14, exact for the energy of every displacement it can have */
  frix_vec3 *node;
  int32_t *index; /* corners, then middles of the edges 01 02 03 12 13 23 */
} fx_elements;

typedef struct fx_fem {
  fx_elements e;
  double lambda, mu, density;
  int32_t *row;       /* partition: 3 k */
  fx_block_matrix K;  /* stiffness, 3 by 3 blocks */
  double *mass;       /* one number per block of K: the block is that times the unit matrix */
  double *rigid[6];   /* rigid motions, orthonormal in the mass */
  double total;       /* mass */
  frix_vec3 center;   /* of mass; nodes are given about it */
  fx_block_lu factor; /* of K on six springs, see fx_fem_static */
} fx_fem;

/* order 1: the corners are the nodes; 2: with nodes on the middles of edges. */
frix_status fx_elements_make(fx_arena *arena, const fx_tets *t, int32_t order, fx_elements *out);
/* Boundary triangles of the nodes: those of the mesh, each cut into four where elements are quadratic. */
frix_status fx_elements_skin(fx_arena *arena, const fx_tets *t, const fx_elements *e, fx_skin *out);

/* Gradients of the element's shape functions at a point of its quadrature; returns the weight, a volume. */
double fx_element_gradients(const fx_elements *e, int32_t element, int32_t point, frix_vec3 *gradient);

/* Integrals of products of shape functions (density 1); returns the volume. */
double fx_element_mass(const fx_elements *e, int32_t element, double mass[FX_MOST_NODES * FX_MOST_NODES]);

/* Mass, stiffness, rigid motions, and the factors of fx_fem_static. Nodes are moved so that the centre of mass is the
 * origin; center keeps where it was. */
frix_status fx_fem_make(fx_arena *arena, const fx_elements *e, double young, double poisson, double density,
                        fx_fem *out);

/* y := K x, y := M x */
void fx_fem_stiffness(const fx_fem *f, const double *x, double *y);
void fx_fem_mass(const fx_fem *f, const double *x, double *y);
double fx_fem_dot(int32_t n, const double *x, const double *y);
static inline int32_t fx_fem_size(const fx_fem *f) { return 3 * f->e.node_count; }

/* load := displacement orthogonal to the rigid motions that the load makes, once the part that accelerates the body as
 * a whole is taken off: inertia relief. The body stands on six springs that carry nothing then. scratch: twice as long.
 */
void fx_fem_static(const fx_fem *f, double *load, double *scratch);
/* x := x without rigid motion; scratch of the same length. */
void fx_fem_relax(const fx_fem *f, double *x, double *scratch);

/* out := f2(u, v), the symmetric bilinear part of the internal force: f(u) = K u + f2(u, u) + f3(u, u, u). */
void fx_fem_second_order(const fx_fem *f, const double *u, const double *v, double *out);

/* D = grad u of a displacement at a point of an element; row-major, D[3 i + j] = du_i / dx_j. */
void fx_fem_gradient(const fx_elements *e, int32_t element, const frix_vec3 *gradient, const double *u, double D[9]);

#endif
