/* Belts, sensors and callbacks of a sim. */
#ifndef FX_SIM_HOOKS_H
#define FX_SIM_HOOKS_H

#include "sim/sim_internal.h"

#include <frix/hooks.h>

typedef struct fx_sensed {
  int32_t sensor_slot, slot, sensor, shape; /* shapes: places in the model */
  uint32_t sensor_generation, generation;
} fx_sensed;

/* How a surface moves against its body, in the axes of its shape: velocity at the shape's origin, and spin. */
typedef struct fx_belt {
  frix_vec3 flow, turn;
} fx_belt;

/* What a contact sees of two belts: a against b. */
typedef struct fx_slip {
  frix_vec3 velocity;
  double spin; /* about the normal */
} fx_slip;

typedef struct fx_hooks {
  frix_contact_hooks user;
  fx_belt *belt;   /* by shape, NULL: none */
  uint8_t *sensor; /* by shape, NULL: none */
  fx_slip *slip;   /* by contact of the step, in its arena; NULL: none */
  fx_sensed *sensed[2];
  int32_t sensed_count[2], sensed_room[2];
  int now;             /* which of them is of the last step */
  int64_t sensed_step; /* that began with this count of steps */
} fx_hooks;

/* After contacts were found: those of sensors and those that the filter refuses go. notes: sensors take note. */
frix_status fx_contacts_sift(frix_sim *sim, bool notes);
/* After surfaces were described: laws are changed. */
frix_status fx_contacts_modify(frix_sim *sim);
/* Velocities of belts, added to what drives the rows of a contact group. */
void fx_belts_drive(const frix_sim *sim, const fx_group *g, double *drive);
/* Velocity of the belt of a shape (its place in the model) on a body at a point, world frame; zero: none. */
frix_vec3 fx_belt_velocity(const frix_sim *sim, int32_t shape, int32_t slot, frix_vec3 point);
/* Belts that the model's file asks for. */
frix_status fx_hooks_begin(frix_sim *sim);
/* The same for the shapes of another model (change.c). */
frix_status fx_hooks_move(frix_sim *sim, const frix_model *from, const frix_model *to);
/* Copies of belts and sensors, NULL where there are none; and back. */
frix_status fx_hooks_save(const frix_sim *sim, fx_belt **belt, uint8_t **sensor);
frix_status fx_hooks_restore(frix_sim *sim, const fx_belt *belt, const uint8_t *sensor);
void fx_hooks_free(frix_sim *sim);

#endif
