/* Devices that hold a body of a simulation by the hand: one interface, one file per back end, one table
 * (verb_haptic.c).
 *
 * A back end for a real device tells where its handle is and gets the force for its user, a thousand times
 * a second, from one thread. */
#ifndef FX_APP_DEVICE_H
#define FX_APP_DEVICE_H

#include "app.h"

/* Where the handle is, and how it moves. */
typedef struct fx_hand {
  frix_pose pose;
  frix_vec3 velocity, spin;
} fx_hand;

typedef struct fx_device {
  const char *name, *summary;
  /* argument: what the user gave for it, NULL: nothing; start: where the body is. NULL after a message. */
  void *(*open)(const char *argument, const fx_hand *start);
  void (*read)(void *device, double time, fx_hand *out);
  void (*feel)(void *device, frix_vec3 force, frix_vec3 torque); /* NULL: no output of forces */
  void (*close)(void *device);
} fx_device;

/* device_press.c: presses down and strokes along in circles. */
extern const fx_device fx_device_press;
/* device_path.c: follows a table of times and places. */
extern const fx_device fx_device_path;

#endif
