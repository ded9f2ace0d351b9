/* Joints seen at one moment: frames, coordinates and the rows that act along them. */
#ifndef FX_SIM_JOINTS_H
#define FX_SIM_JOINTS_H

#include "sim/sim_internal.h"

typedef struct fx_joint_view {
  int32_t slot[2]; /* a, b */
  frix_vec3 point[2], center[2];
  fx_mat3 axes[2];     /* columns: x, y, z of the two frames in the world */
  frix_vec3 direction; /* distance: from a to b */
  double length;
  int32_t held[2]; /* points of soft surfaces, -1: none */
} fx_joint_view;

/* Whether both bodies are there, as the model placed them. */
bool fx_joint_active(const frix_sim *sim, int32_t j);
fx_joint_view fx_joint_look(const frix_sim *sim, int32_t j);
double fx_joint_coordinate(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis, double near);
/* The direction along which coordinate `axis` moves, whether it is an angle, and where it acts on a. */
bool fx_joint_direction(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis, frix_vec3 *d,
                        frix_vec3 *at_a);
/* Its rate of change at the present velocities. */
double fx_joint_rate(const frix_sim *sim, int32_t j, const fx_joint_view *v, int32_t axis);
/* Adds scale * rate of the coordinate to row k. */
void fx_joint_rate_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, int32_t j, const fx_joint_view *v,
                       int32_t axis, double scale);
/* Bilateral rows of joint j (not of a coupling): direction and error of row k. */
typedef struct fx_joint_row {
  bool angular;
  frix_vec3 direction;
  frix_vec3 point_a; /* where a's velocity is taken (linear rows) */
  double error;
} fx_joint_row;
/* Row k of a group: its terms of both bodies. */
void fx_joint_bilateral_row(frix_sim *sim, fx_assembly *a, fx_group *g, int32_t k, const fx_joint_view *v,
                            const fx_joint_row *row);
int32_t fx_joint_rows(const frix_sim *sim, int32_t j, const fx_joint_view *v, fx_joint_row row[FRIX_MAX_DIM]);

/* tension.c: rows across a rod (a distance joint) whose swing the step cannot follow. */
void fx_tension_rows(frix_sim *sim, fx_assembly *a, int32_t j, const fx_joint_view *v);

#endif
