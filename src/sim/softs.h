/* Soft bodies as part of a simulation: movers of 6 + k coordinates in the same contact problem as all others.
 *
 *   A v1 = b + J' r,   A = M + h C + h t K,   b = M v0 + h (gravity + dT/dq - V'(q))          (soft_motion.c)
 *
 * velocities are those of the frame, of its spin (world axes) and of the amplitudes. The slot of a soft body holds the
 * pose and velocities of the frame and its spin momentum; amplitudes, rates and their momenta stand in fx_state.robot.
 *
 *   softs.c          which there are, state to workspace and back, begin and end of a step
 *   soft_mover.c     mass, free motion, rows, ledger
 *   soft_contacts.c  contacts of surface points
 *   soft_ahead.c     overlaps at the end of the step
 *   soft_joints.c    joints on points of surfaces
 *   soft_api.c       what a user asks */
#ifndef FX_SIM_SOFTS_H
#define FX_SIM_SOFTS_H

#include "sim/mechanism.h"
#include "soft/soft_internal.h"

/* A spring from a surface point to a place, for one step. */
typedef struct fx_pull {
  int32_t slot, point;
  frix_vec3 place, velocity; /* where it is at the beginning of the step, and how it moves */
  double stiffness, damping;
} fx_pull;

typedef struct fx_soft_body {
  const frix_soft *soft;
  int32_t slot, shape;
  int32_t at;          /* its first number in fx_state.robot: k amplitudes, k rates, k momenta */
  int32_t mover;       /* of the step, -1: none */
  double size;         /* twice the radius */
  double contact_mass; /* what the stiff law takes for its mass at one point */
  frix_soft_state *x;  /* where the step sees it */
  fx_part part;        /* A and its factor */
  double *mass;        /* M alone */
  double *force;       /* V'(q), and dT/dq behind it, of the beginning */
  fx_soft_when when;
  frix_vec3 momentum; /* spin momentum before the step */
  fx_soft_skin skin;
  frix_soft_state *end; /* where the answer takes it (soft_ahead.c) */
  fx_soft_skin end_skin;
} fx_soft_body;

typedef struct fx_softs {
  fx_arena arena;
  int32_t count, widest; /* widest: coordinates of the largest */
  fx_soft_body *body;
  int32_t slot_count, *of_slot; /* by slot of the model: its body here, -1: rigid */
  int32_t *held;          /* by joint of the model and side: the point of the surface that it holds, -1: the frame */
  fx_pull *pull, *pulled; /* of this step; of the one before */
  int32_t pull_count, pull_room, pulled_count, pulled_room;
  double *row;               /* three rows of a point */
  double *weight;            /* of the rows of one assembly, in the arena of the step; NULL: of none */
  const fx_group *weight_of; /* its groups */
  int32_t weight_rows;
} fx_softs;

/* The soft body of a slot, NULL: it is rigid. */
static inline fx_soft_body *fx_soft_at(const frix_sim *sim, int32_t slot) {
  const fx_softs *s = sim->softs;
  return s && slot < s->slot_count && s->of_slot[slot] >= 0 ? &s->body[s->of_slot[slot]] : NULL;
}

/* ---- softs.c ---- */
/* Numbers they need in fx_state.robot, which begin at robot_count less that many. */
int32_t fx_softs_room(const frix_model *model);
frix_status fx_softs_create(frix_sim *sim);
void fx_softs_destroy(frix_sim *sim);
/* State to workspace and back. */
void fx_soft_fetch(const frix_sim *sim, const fx_soft_body *b);
void fx_soft_store(frix_sim *sim, const fx_soft_body *b);
bool fx_softs_finite(const frix_sim *sim);
/* Where contacts are seen, a part of the step on with the old momenta; and to its end with the new ones. */
void fx_softs_begin(frix_sim *sim, double part);
void fx_softs_finish(frix_sim *sim, double part);
/* x, where the step sees the body, goes on for a time with the velocities of the answer. */
void fx_soft_go_on(const frix_sim *sim, const fx_soft_body *b, frix_soft_state *x, double time);
/* Whether the pulls of the next step are those of the last one. */
bool fx_softs_pull_alike(const fx_softs *s);

/* ---- soft_mover.c ---- */
/* Points and weights of a place of the surface that is p on a skin. */
int32_t fx_soft_corners(const fx_soft_body *b, fx_soft_skin *skin, int32_t place, frix_vec3 p, int32_t point[3],
                        double weight[3]);
bool fx_soft_collect(frix_sim *sim, int32_t slot); /* false: no memory */
void fx_softs_load(frix_sim *sim);
double fx_soft_kinetic(const frix_sim *sim, const fx_soft_body *b);
double fx_soft_potential(const frix_sim *sim, const fx_soft_body *b); /* elastic */
double fx_soft_book(const frix_sim *sim, const fx_mover *m, frix_energy *e, double *booked);
/* Rows of a contact in the block of a soft side: sign (axis . velocity of its place at p). */
void fx_soft_fill(const frix_sim *sim, const fx_mover *m, int32_t place, int32_t dim, double sign, const fx_contact *c,
                  frix_vec3 p, double *J);

/* Weights of all rows of soft bodies in an assembly, by group, body and row, two each, found once since the movers were
 * loaded. NULL: they are not kept. */
const double *fx_softs_weights(const frix_sim *sim, const fx_assembly *a);
/* J A^-1 J' of one row, and of all rows of a contact. */
double fx_soft_weight(const fx_mover *m, const double *J);
void fx_soft_weights(const fx_mover *m, int32_t dim, const double *J, double *out);

/* ---- soft_joints.c ---- */
frix_status fx_softs_find_held(frix_sim *sim);
/* Their numbers stand so many places further on. */
void fx_softs_move(frix_sim *sim, int32_t places);
/* The point of the surface that a side of joint j holds, -1: none. */
int32_t fx_soft_held(const frix_sim *sim, int32_t j, int32_t side);
/* Where it is, and its velocity relative to the frame of the body. */
frix_vec3 fx_soft_held_place(const frix_sim *sim, int32_t slot, int32_t point);
frix_vec3 fx_soft_held_bending(const frix_sim *sim, int32_t slot, int32_t point);
/* Adds the columns of the amplitudes for a row along d. */
void fx_soft_held_row(const frix_sim *sim, int32_t slot, int32_t point, frix_vec3 d, double *J);

/* ---- edge_contacts.c ---- */
typedef struct fx_edge_touch {
  int32_t edge_a, edge_b, triangle_a, triangle_b;
  fx_soft_crossing at;
} fx_edge_touch;
/* Sharp edges of two bodies that touch, or may in this step. */
void fx_soft_meet_edges(double margin, double h, fx_soft_body *a, fx_soft_body *b,
                        void (*take)(void *user, const fx_edge_touch *touch), void *user);
/* The same with those of a rigid box or hull; triangle_b is -1. */
void fx_soft_meet_rigid_edges(frix_sim *sim, double margin, double h, fx_soft_body *a, int32_t slot,
                              const fx_shape *shape, frix_pose pose,
                              void (*take)(void *user, const fx_edge_touch *touch), void *user);

/* ---- soft_contacts.c ---- */
/* Of the smaller body: overlaps of edges that begin in a step are less deep where it begins. */
static const double fx_soft_deepest_new = 6e-4;
/* Adds contacts of soft surfaces to those of the step, in the order of the list. */
frix_status fx_softs_meet(frix_sim *sim, double margin);
/* The contacts become those of soft surfaces that overlap, where they are, by more than a part of the smaller body; of
 * bodies that the step moves further than that. What counted stands in `ahead`, below 0. */
frix_status fx_softs_overlap(frix_sim *sim, double deeper);

#endif
