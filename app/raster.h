/* A small rasteriser: triangles and spheres into a buffer of samples, sharp in depth, smooth in normals. */
#ifndef FX_APP_RASTER_H
#define FX_APP_RASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

/* ---- single precision vectors: pictures need no more */
typedef struct fx_v3 {
  float x, y, z;
} fx_v3;

static inline fx_v3 fx_v3_of(double x, double y, double z) { return (fx_v3){(float)x, (float)y, (float)z}; }
static inline fx_v3 fx_v3_add(fx_v3 a, fx_v3 b) { return (fx_v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline fx_v3 fx_v3_sub(fx_v3 a, fx_v3 b) { return (fx_v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline fx_v3 fx_v3_scale(float s, fx_v3 a) { return (fx_v3){s * a.x, s * a.y, s * a.z}; }
static inline fx_v3 fx_v3_mad(fx_v3 a, float s, fx_v3 b) {
  return (fx_v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline float fx_v3_dot(fx_v3 a, fx_v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline fx_v3 fx_v3_cross(fx_v3 a, fx_v3 b) {
  return (fx_v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float fx_v3_norm(fx_v3 a) { return sqrtf(fx_v3_dot(a, a)); }
static inline fx_v3 fx_v3_unit(fx_v3 a) {
  float n = fx_v3_norm(a);
  return n > 0.0f ? fx_v3_scale(1.0f / n, a) : (fx_v3){0.0f, 0.0f, 1.0f};
}
static inline fx_v3 fx_v3_mix(fx_v3 a, fx_v3 b, float t) { return fx_v3_mad(fx_v3_scale(1.0f - t, a), t, b); }

/* ---- cameras: right, up, forward are orthonormal */
typedef struct fx_camera {
  fx_v3 eye, right, up, forward;
  bool flat;   /* parallel rays */
  float far;   /* flat: nothing is seen beyond */
  float focal; /* samples per unit of slope; flat: samples per metre */
  int width, height;
  float shift_x, shift_y; /* the eye's place in the picture, samples */
} fx_camera;

/* x right, y up, z forward, seen from the eye. */
static inline fx_v3 fx_camera_view(const fx_camera *c, fx_v3 p) {
  fx_v3 d = fx_v3_sub(p, c->eye);
  return (fx_v3){fx_v3_dot(d, c->right), fx_v3_dot(d, c->up), fx_v3_dot(d, c->forward)};
}
/* Samples from the upper left; *near grows towards the eye and is linear on the screen. False: behind the eye. */
bool fx_camera_project(const fx_camera *c, fx_v3 view, float *x, float *y, float *near);
/* From a place in the picture: a point on its ray and the ray's direction (not unit: z forward is 1), in the world. */
void fx_camera_ray(const fx_camera *c, float x, float y, fx_v3 *origin, fx_v3 *direction);
float fx_camera_depth(const fx_camera *c, float near); /* along forward */

/* ---- samples */
typedef enum fx_paint { FX_PAINT_NONE, FX_PAINT_LIT, FX_PAINT_GROUND, FX_PAINT_PLAIN } fx_paint;

typedef struct fx_sample {
  float near; /* 0: nothing */
  int16_t normal[3];
  uint8_t rgb[3]; /* sRGB */
  uint8_t paint;
} fx_sample;

typedef struct fx_raster {
  fx_camera camera;
  fx_sample *sample; /* NULL: depth only */
  float *near;       /* NULL unless depth only */
} fx_raster;

typedef struct fx_ink {
  uint8_t rgb[3];
  uint8_t paint;
} fx_ink;

typedef struct fx_corner {
  fx_v3 place, normal;
} fx_corner;

/* False when memory runs out. */
bool fx_raster_create(fx_raster *raster, const fx_camera *camera, bool depth_only);
void fx_raster_free(fx_raster *raster);
void fx_raster_clear(fx_raster *raster);
void fx_raster_triangle(fx_raster *raster, const fx_corner corner[3], fx_ink ink);
void fx_raster_ball(fx_raster *raster, fx_v3 center, float radius, fx_ink ink);
/* The plane through `point`, seen from its outside only, where it lies between the corners `low` and `high`. */
void fx_raster_plane(fx_raster *raster, fx_v3 point, fx_v3 normal, fx_v3 low, fx_v3 high, fx_ink ink);

#endif
