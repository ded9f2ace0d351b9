/* Moving scenes as text: one item per line, SI units, quaternions w x y z.
 *
 *   name S | mu F | gravity x y z | T seconds | h step | size typical
 *   container HX HY HZ         static walls round a floor: half extents in x and y, height
 *   body NAME DYN MASS IX IY IZ  X Y Z  QW QX QY QZ  VX VY VZ  WX WY WZ  SHAPE PARAMETERS
 *   at TIME BODY  X Y Z QW QX QY QZ VX VY VZ WX WY WZ     dynamic body BODY (from 0) is put there at that time
 *   push T0 T1 BODY FX FY FZ   a force on its centre of mass between two times
 *
 * SHAPE: plane (the half space below z = 0), box hx hy hz, sphere r, capsule r half_length, cylinder r half_length
 * (both along z). DYN 0: static. IX IY IZ: diagonal of the inertia about the centre of mass, in body axes. One friction
 * for all, no restitution. A container whose walls are listed as bodies too is only a note; else its walls are added.
 * Text behind # is skipped. */
#ifndef FRIX_BENCH_MOTION_SCENE_H
#define FRIX_BENCH_MOTION_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum motion_shape { MOTION_PLANE, MOTION_BOX, MOTION_SPHERE, MOTION_CAPSULE, MOTION_CYLINDER } motion_shape;

typedef struct motion_state {
  double p[3], q[4]; /* centre of mass; q = w, x, y, z */
  double v[3], w[3]; /* world frame */
} motion_state;

typedef struct motion_body {
  bool dynamic;
  double mass, inertia[3];
  motion_state start;
  motion_shape shape;
  double size[3]; /* box: half sides; sphere: radius; capsule, cylinder: radius, half length */
} motion_body;

typedef struct motion_put {
  double time;
  int32_t body; /* among the dynamic ones */
  motion_state state;
} motion_put;

typedef struct motion_push {
  double from, to;
  int32_t body; /* among the dynamic ones */
  double force[3];
} motion_push;

typedef struct motion_scene {
  char name[64];
  double mu, gravity[3], time, h, size;
  double container[3]; /* zero: none */
  int32_t body_count, dynamic_count, put_count, push_count;
  motion_body *body;
  motion_put *put;
  motion_push *push;
} motion_scene;

/* An empty scene: mu 0.5, gravity 9.81 m/s^2 downwards, 4 s in steps of 0.01 s. */
motion_scene motion_scene_new(const char *name);
void motion_scene_end(motion_scene *scene);
/* These return false without memory. */
bool motion_add_body(motion_scene *scene, const motion_body *body);
bool motion_add_put(motion_scene *scene, const motion_put *put);
bool motion_add_push(motion_scene *scene, const motion_push *push);
/* Four walls of the container as static boxes. */
bool motion_add_walls(motion_scene *scene);

/* False with a message of the form "file:line: what is wrong"; the scene is then empty. */
bool motion_scene_read(motion_scene *scene, FILE *file, const char *file_name, char *message, size_t room);
bool motion_scene_write(const motion_scene *scene, FILE *file);

/* Steps of the scene's own length. */
int64_t motion_step_count(const motion_scene *scene);
/* Body put there in the step that begins at this time. */
bool motion_put_now(const motion_put *put, double time, double h);
/* Force that acts during the step that begins at this time. */
bool motion_push_now(const motion_push *push, double time, double h);
/* What a standing scene must do by its name: pyramids stay where they are. */
bool motion_must_stand(const motion_scene *scene);

#ifdef __cplusplus
}
#endif
#endif
