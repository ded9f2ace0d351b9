/* Soft bodies in contact: what the files of the world share.
 *
 *   soft_world.c    making, and the step
 *   soft_meet.c     contacts with obstacles and between bodies
 *   soft_problem.c  the contact problem of a step, and what follows from its answer */
#ifndef FX_SIM_SOFT_WORLD_H
#define FX_SIM_SOFT_WORLD_H

#include <frix/problem.h>
#include <frix/solve.h>

#include "soft/soft_internal.h"

enum { FX_SOFT_BODIES = 1000, FX_SOFT_OBSTACLES = 64 };

/* A body's share in a contact: points of its surface with weights, which have the sign of the body's side. */
typedef struct fx_soft_side {
  int32_t body, count, point[3];
  double weight[3];
} fx_soft_side;

typedef struct fx_touch {
  int32_t body, point, other; /* its name; other: an obstacle, or FX_SOFT_OBSTACLES and a body */
  int32_t side_count;
  fx_soft_side side[2]; /* by ascending body */
  double gap, natural, mu;
  frix_vec3 normal, along, across, drive; /* drive: velocity of the obstacle */
} fx_touch;

typedef struct fx_touches {
  fx_touch *touch; /* by ascending name */
  int32_t count, room;
  double deepest; /* overlap, m */
} fx_touches;

/* What a contact carried in the last step, world axes. */
typedef struct fx_soft_memory {
  int32_t body, point, other;
  frix_vec3 impulse;
  double natural; /* gap at which the spring has no force */
} fx_soft_memory;

struct frix_soft_world {
  frix_context *context;
  fx_arena arena; /* bodies, obstacles, handles */
  int32_t body_count, obstacle_count, handle_count, handle_room;
  frix_soft_state **body;
  double *size;         /* of each body, m */
  double mu;            /* between bodies; negative: they do not meet */
  fx_soft_memory *kept; /* in the order of the contacts */
  int32_t kept_count, kept_room;
  frix_soft_obstacle obstacle[FX_SOFT_OBSTACLES];
  frix_soft_handle *handle;
};

/* Contacts of a step, in the arena. */
frix_status fx_soft_meet(const frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, fx_touches *out);

/* Solves the step's problem and moves the bodies to its end. */
frix_status fx_soft_answer(frix_soft_world *w, fx_arena *arena, double h, frix_vec3 gravity, const fx_touches *l,
                           frix_soft_report *out);

#endif
