/* frix: the state of a sim as arrays, read in place and set in bulk.
 *
 *   frix_sim_arrays a = {.size = sizeof a};
 *   frix_sim_view(sim, &a);
 *   for (int32_t k = 1; k < a.slot_count; k++)                      // slot 0 is the world
 *     if (a.alive[k] >= 0) use(frix_array_at(&a.center, k)[2]);      // height of the centre of mass of body k
 *
 * A body's slot is the index of its id: slot k of a new sim is the k-th body of the model, counted from 1. Arrays keep
 * their address while `generation` is unchanged; it changes when a spawned body needs more memory. Older views stay
 * readable until the sim is destroyed, with the values before the change. */
#ifndef FRIX_VIEW_H
#define FRIX_VIEW_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `count` elements of `width` numbers. Element k begins `k * stride` bytes after data, its number j `j * step` bytes
 * later. */
typedef struct frix_array {
  double *data;
  int32_t count, width;
  int32_t stride, step;
} frix_array;

/* Element k; its numbers are contiguous if step is 8. */
static inline double *frix_array_at(const frix_array *array, int32_t k) {
  return (double *)(void *)((char *)array->data + (ptrdiff_t)k * array->stride);
}

/* By slot, or by joint in the order of the model. Read-only except force, torque, target and target_rate: values
 * written there act like frix_sim_add_force and frix_sim_set_axis, except that sleeping bodies are not woken. A step
 * fails if such a value is not finite. */
typedef struct frix_sim_arrays {
  uint32_t size; /* set by the caller: sizeof */
  int32_t slot_count, joint_count;
  uint64_t generation;
  const int32_t *alive;     /* slot_count: index of the model body in this slot, -1 where it is empty; 0: the world */
  const uint8_t *asleep;    /* slot_count */
  frix_array center;        /* 3: centres of mass, world frame */
  frix_array orientation;   /* 4: unit quaternions, scalar first */
  frix_array velocity;      /* 3: of the centre of mass */
  frix_array spin;          /* 3 */
  frix_array force, torque; /* 3: for the next step, which resets them to zero */
  frix_array coordinate;    /* FRIX_JOINT_AXES: of joints */
  frix_array rate;          /* FRIX_JOINT_AXES */
  frix_array target;        /* FRIX_JOINT_AXES: of motors */
  frix_array target_rate;   /* FRIX_JOINT_AXES: of servos */
} frix_sim_arrays;

/* out->size is the size of the caller's struct; nothing beyond it is written. */
FRIX_API frix_status frix_sim_view(frix_sim *sim, frix_sim_arrays *out);

/* States of many bodies, set at once. Arrays hold 3, 4, 3 and 3 numbers per body, one after the other; NULL leaves them
 * unchanged. */
typedef struct frix_bulk {
  uint32_t size; /* set by frix_bulk_default */
  int32_t count;
  const frix_body_id *id;    /* count; NULL: slots 1, 2, ... count, skipping empty ones */
  const double *center;      /* of mass, world frame */
  const double *orientation; /* quaternions, scalar first, of any length but zero */
  const double *velocity;    /* of the centre of mass */
  const double *spin;
} frix_bulk;

FRIX_API void frix_bulk_init(frix_bulk *out, size_t size);
static inline frix_bulk frix_bulk_default(void) {
  frix_bulk out;
  frix_bulk_init(&out, sizeof out);
  return out;
}
/* Sets all of them or, if one is invalid, none. The cost is one pass over the bodies, joints and contacts of the sim.
 * The ledger books the change of energy as work. Velocities of static bodies must be zero. */
FRIX_API frix_status frix_sim_set_bodies(frix_sim *sim, const frix_bulk *bulk);

#ifdef __cplusplus
}
#endif
#endif
