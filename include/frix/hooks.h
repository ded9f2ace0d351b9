/* frix: contact callbacks, belts and sensors.
 *
 *   frix_sim_set_belt(sim, shape, (frix_vec3){1, 0, 0});       // its surface moves at 1 m/s along its own x
 *   frix_sim_set_sensor(sim, shape, true);                     // reports what it overlaps, exerts no force
 *   frix_contact_hooks hooks = frix_contact_hooks_default();
 *   hooks.filter = one_way, hooks.modify = ice;
 *   frix_sim_set_hooks(sim, &hooks);
 *
 * Belts and sensors are part of snapshots; recorded files do not contain them, so set them again after resuming. Hooks
 * belong to the sim. Callbacks must depend only on their arguments, or runs are not repeatable. They are called from
 * the stepping thread, in the order of contacts, and may read but not change the sim. */
#ifndef FRIX_HOOKS_H
#define FRIX_HOOKS_H

#include <frix/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A contact candidate. */
typedef struct frix_contact_pair {
  frix_body_id a, b; /* null: the world */
  frix_shape_id shape_a, shape_b;
  void *user_a, *user_b;   /* of the shapes */
  frix_vec3 point, normal; /* the normal points from b to a */
  double gap;
} frix_contact_pair;

/* Its law, from the materials. */
typedef struct frix_contact_law {
  double mu;          /* at least 0; elliptic friction keeps the ratio of its axes */
  double restitution; /* 0 .. 1 */
  frix_vec3 slip;     /* velocity of the surface of a against that of b beyond the motion of the bodies, world frame;
                       * its normal part is ignored */
} frix_contact_law;

typedef struct frix_contact_hooks {
  uint32_t size; /* set by frix_contact_hooks_default */
  /* Whether to keep the contact; NULL: keep all. */
  bool (*filter)(const frix_sim *sim, const frix_contact_pair *pair, void *user);
  /* Changes the law; values out of range fail the step. NULL: use the law of the materials. */
  void (*modify)(const frix_sim *sim, const frix_contact_pair *pair, frix_contact_law *law, void *user);
  void *user;
} frix_contact_hooks;

FRIX_API void frix_contact_hooks_init(frix_contact_hooks *out, size_t size);
static inline frix_contact_hooks frix_contact_hooks_default(void) {
  frix_contact_hooks out;
  frix_contact_hooks_init(&out, sizeof out);
  return out;
}
/* NULL: none. */
FRIX_API frix_status frix_sim_set_hooks(frix_sim *sim, const frix_contact_hooks *hooks);

/* The surface of a shape moves with this velocity in the shape's own frame, on every instance of its body; the body
 * itself does not move. Zero: no belt. The ledger books the work of the belt as work. */
FRIX_API frix_status frix_sim_set_belt(frix_sim *sim, frix_shape_id shape, frix_vec3 velocity);

/* Contacts of a sensor exert no force; overlaps are listed after the step. */
FRIX_API frix_status frix_sim_set_sensor(frix_sim *sim, frix_shape_id shape, bool sensor);

typedef struct frix_sensor_event {
  frix_contact_phase phase; /* begins, lasts, or ended with this step */
  frix_body_id sensor_body, body;
  frix_shape_id sensor, shape;
  void *sensor_user, *user; /* of the shapes */
} frix_sensor_event;

/* Overlaps at the beginning of the last step, in a fixed order, followed by those that ended. Between two sensors: one
 * event each.
 */
FRIX_API int32_t frix_sim_sensor_event_count(const frix_sim *sim);
FRIX_API frix_status frix_sim_sensor_event(const frix_sim *sim, int32_t k, frix_sensor_event *out);

/* ---- impulses, user data, last report ---- */

/* Applies an impulse in N s at a point (world frame): changes the velocities immediately. */
FRIX_API frix_status frix_sim_add_impulse(frix_sim *sim, frix_body_id id, frix_vec3 impulse, frix_vec3 point);
/* User pointer of one body of this sim, also of spawned ones; not part of snapshots and hashes. If none was set: that
 * of the body's config. NULL for a body that does not exist. */
FRIX_API frix_status frix_sim_set_user(frix_sim *sim, frix_body_id id, void *user);
FRIX_API void *frix_sim_user(const frix_sim *sim, frix_body_id id);
/* Report of the last step; FRIX_ERROR_INPUT before the first. */
FRIX_API frix_status frix_sim_last_report_sized(const frix_sim *sim, frix_step_report *out, size_t size);
static inline frix_status frix_sim_last_report(const frix_sim *sim, frix_step_report *out) {
  return frix_sim_last_report_sized(sim, out, sizeof *out);
}
/* The model it was created with, or the changed one (frix/edit.h), which is valid until the next change. */
FRIX_API const frix_model *frix_sim_model(const frix_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
