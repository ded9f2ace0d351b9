/* Grains: what a granular packing is measured by. A fx_grains holds one moment, taken from a frame of a file or from a
 * living sim; a fx_region says where is measured, a fx_grid divides it into cells.
 *
 *   fx_grains_frame(grains, model, &frame);
 *   fx_grid_share(&grid, grains);                        how much of each grain lies in which cell
 *   fx_state_add(state, grains, &grid);                  packing, coordination, fabric, stress of each cell
 *
 * A grain is a dynamic body. Its volume (planar worlds: area) is that of its shapes, each counted by itself; where it
 * is not one sphere, the sphere of the same volume about its centre of mass stands for it in shares and correlations.
 */
#ifndef FX_APP_GRAINS_H
#define FX_APP_GRAINS_H

#include <frix/frix.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- one moment (grain_moment.c) */

typedef struct fx_grain {
  frix_body_id id;
  frix_vec3 center, velocity, spin;
  double radius, volume, mass;
  int32_t neighbours; /* bodies that press on it, itself and those that are no rattlers */
  bool rattler;
} fx_grain;

/* All points where the same two bodies touch, as one. a is a grain; b another, or -1: a wall. */
typedef struct fx_touch {
  int32_t a, b;
  frix_vec3 point;  /* mean of the points, weighted with their normal forces */
  frix_vec3 normal; /* from b to a */
  frix_vec3 force;  /* on a */
  double push;      /* sum of the normal forces */
  int32_t points;
  bool slips; /* at all of its points */
} fx_touch;

typedef struct fx_grains {
  int dim; /* 2: planar, volumes are areas */
  double time;
  fx_grain *grain;
  int32_t count, room;
  fx_touch *touch; /* sorted by a, b */
  int32_t touch_count, touch_room;
  int32_t *slot; /* index of a body to its grain, -1: none */
  int32_t slot_count;
  double largest;         /* radius of the largest grain */
  double mean;            /* mean radius */
  bool frictional, heavy; /* heavy: there is gravity */
} fx_grains;

fx_grains *fx_grains_new(void);
void fx_grains_free(fx_grains *grains);
void fx_grains_frame(fx_grains *grains, const frix_model *model, const frix_frame *frame);
/* The present state of a sim, with the contacts of its last step of length h. */
void fx_grains_sim(fx_grains *grains, const frix_model *model, const frix_sim *sim, double h);
/* Marks rattlers: grains on which fewer than `least` others press, taken away until none is left. least 0: 2 with
 * friction; without it dim under gravity, where a grain can lie on that many, dim + 1 else. */
void fx_grains_rattlers(fx_grains *grains, int32_t least);
double fx_grain_dot(frix_vec3 a, frix_vec3 b);
frix_vec3 fx_grain_minus(frix_vec3 a, frix_vec3 b);

/* ---- where (grain_region.c) */

/* A box, or an upright cylinder whose coordinates are radius, angle (not divided) and height. */
typedef struct fx_region {
  bool round;
  double low[3], high[3]; /* round: low[0], high[0] radii, [2] heights */
  double axis[2];         /* of a cylinder */
} fx_region;

typedef struct fx_share {
  int32_t grain, cell;
  double part; /* of the grain's volume */
} fx_share;

typedef struct fx_grid {
  fx_region region;
  int32_t cells[3];
  int dim;
  fx_share *share; /* by grain */
  int32_t share_count, share_room;
} fx_grid;

/* "X0:X1,Y0:Y1,Z0:Z1", ends optional; false after a message. What is left open is that of the grains. */
bool fx_region_box(fx_region *region, const char *text, const fx_grains *grains);
/* "X,Y,R,Z0:Z1" */
bool fx_region_cylinder(fx_region *region, const char *text, const fx_grains *grains);
/* "4,4,10", cylinder "RADIAL,HEIGHT"; NULL: one cell. False after a message. */
bool fx_grid_parse(fx_grid *grid, const char *text);
void fx_grid_free(fx_grid *grid);
int32_t fx_grid_count(const fx_grid *grid);
double fx_grid_volume(const fx_grid *grid, int32_t cell);
/* Ends of a cell in the region's coordinates. */
void fx_grid_ends(const fx_grid *grid, int32_t cell, double low[3], double high[3]);
/* The region's coordinates of a point. */
void fx_region_place(const fx_region *region, frix_vec3 point, double out[3]);
/* The cell a point lies in, -1: outside. */
int32_t fx_grid_cell(const fx_grid *grid, frix_vec3 point);
/* Distance to the boundary of the region, negative outside. */
double fx_region_depth(const fx_region *region, int dim, frix_vec3 point);
/* A vector along the region's axes at a point: cylinder: radial, tangential, upright. */
frix_vec3 fx_region_turn(const fx_region *region, frix_vec3 at, frix_vec3 v);
/* Parts of the grains by cell; cells without a part of a grain have no entry. */
void fx_grid_share(fx_grid *grid, const fx_grains *grains);

/* ---- state of cells, averaged over moments (grain_state.c) */

enum { FX_XX, FX_YY, FX_ZZ, FX_XY, FX_XZ, FX_YZ, FX_SYM };

/* Sums; fx_state_cell makes means of them. */
typedef struct fx_grain_cell_sum {
  double solid, mass, momentum[3], flux[FX_SYM], spin[3]; /* flux: m v v */
  double stress[FX_SYM];                                  /* sum of (x - x_c) f */
  double grains, bearing, contacts, contacts_bearing;     /* bearing: without rattlers */
  double fabric[FX_SYM], touches, slips;
} fx_grain_cell_sum;

typedef struct fx_state {
  int32_t count, moments;
  fx_grain_cell_sum *sum;
} fx_state;

typedef struct fx_grain_cell {
  double volume, grains, packing;
  double coordination, coordination_bearing, rattlers; /* rattlers: share of the grains */
  double fabric[FX_SYM], anisotropy;         /* of the fabric: dim/(dim-1) times its largest eigenvalue - 1/dim */
  double stress[FX_SYM], pressure, deviator; /* compression positive; deviator: largest less least */
  double kinetic;                            /* pressure of the fluctuations */
  double velocity[3], temperature, spin[3];  /* temperature: mean square of the fluctuation along one axis */
  double slipping;                           /* share of the contacts */
} fx_grain_cell;

void fx_state_new(fx_state *state, int32_t count);
void fx_state_free(fx_state *state);
void fx_state_add(fx_state *state, const fx_grains *grains, const fx_grid *grid);
fx_grain_cell fx_state_cell(const fx_state *state, const fx_grid *grid, int32_t cell);
/* Eigenvalues of a symmetric tensor in falling order (dim 2: xx, yy, xy) and the unit vector of the first. */
void fx_principal(const double a[FX_SYM], int dim, double value[3], frix_vec3 *first);

/* ---- forces and chains (grain_forces.c) */

enum { FX_FORCE_BINS = 50 };

typedef struct fx_forces {
  double count, push, push2, most;
  double bin[FX_FORCE_BINS]; /* f / mean of its moment, each 0.1 wide; the last holds all above */
  double mobilised;          /* sum of |f_T| / f_N */
  double chains, chained, longest, grains;
  int32_t moments;
} fx_forces;

/* member: NULL, or what is set to the chain of each grain (from 1, 0: none). */
void fx_forces_add(fx_forces *forces, const fx_grains *grains, const fx_grid *grid, int32_t *member);

/* ---- correlations (grain_pairs.c) */

enum { FX_PAIR_BINS = 200 };

typedef struct fx_pairs {
  double reach, width; /* m */
  double centers, pairs[FX_PAIR_BINS], density;
  double tried[FX_PAIR_BINS], both[FX_PAIR_BINS], points, solid;
  int32_t moments;
} fx_pairs;

void fx_pairs_new(fx_pairs *pairs, double reach);
/* False where no centre lies deeper than the reach within the region. */
bool fx_pairs_add(fx_pairs *pairs, const fx_grains *grains, const fx_region *region);
/* g(r) of bin k and S2(r); NaN where there is nothing. */
double fx_pairs_radial(const fx_pairs *pairs, int dim, int k);
double fx_pairs_two_point(const fx_pairs *pairs, int k);

/* ---- motion over time (grain_motion.c) */

typedef struct fx_motion {
  double time; /* of the last moment */
  int32_t moments;
  double plane; /* height whose crossings are counted */
  bool has_plane;
  struct fx_traveller *traveller;
  int32_t count;
  /* since the first moment */
  double crossed, crossed_mass; /* downwards less upwards */
  int32_t jumps, stays;         /* grains put elsewhere; those between two of which a residence is known */
  double stay_sum, stay_least, stay_most;
  /* of the present moment */
  double displacement2[3], drift[3], followed; /* mean square less drift, along the axes */
  double flow, flow_mass;                      /* per second since the moment before */
  int32_t grains;                              /* of the whole world */
} fx_motion;

void fx_grain_motion_free(fx_motion *motion);
void fx_grain_motion_add(fx_motion *motion, const fx_grains *grains, const fx_region *region);

/* ---- free surface (grain_surface.c) */

typedef struct fx_slope {
  double angle;  /* degrees; NaN where there is no slope to fit */
  double height; /* of the top above the lowest column */
  double foot;   /* radius of the cone at its foot */
  double spread; /* root mean square distance from the line, in grain diameters */
  int32_t columns;
} fx_slope;

fx_slope fx_surface_slope(const fx_grains *grains, const fx_region *region);

#endif
