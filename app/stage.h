/* A frame of a trajectory as a picture: bodies, camera and light, shading. */
#ifndef FX_APP_STAGE_H
#define FX_APP_STAGE_H

#include "raster.h"
#include "solid.h"
#include "tones.h"

typedef struct fx_picture {
  int width, height;
  uint8_t *rgb;
} fx_picture;

typedef struct fx_theme {
  fx_v3 sky[2];              /* background, top and bottom; sRGB, 0 .. 1 */
  fx_v3 ground, line, still; /* floor, its grid, bodies that do not move */
  float sun, ambient;
} fx_theme;

extern const fx_theme fx_theme_light, fx_theme_dark;

typedef struct fx_look {
  const fx_theme *theme;
  double azimuth, elevation; /* radians, from where the camera looks */
  bool forces;
  fx_tone_mode tone;
  int width, height;
  int fineness; /* samples per pixel and direction */
} fx_look;

typedef struct fx_ball {
  fx_v3 center;
  float radius;
} fx_ball;

/* A shape of the model, ready to be drawn many times. */
typedef struct fx_prop {
  frix_shape_kind kind;
  frix_pose pose; /* in its body's frame */
  fx_solid solid;
  frix_vec3 middle; /* of the ball around it, in its own frame */
  float radius;
} fx_prop;

typedef struct fx_stage {
  const frix_model *model;
  fx_look look;
  bool planar;   /* everything that moves is flat: seen straight on */
  int up;        /* axis */
  fx_prop *prop; /* by body */
  int32_t *prop_start;
  frix_body_kind *kind; /* by body, with the world at 0 */
  frix_pose *pose;      /* of static bodies */
  bool *stands;         /* static bodies that are there from the start */
  int32_t *amplitude;   /* of soft bodies: their first in a frame; -1: rigid */
  int32_t body_count;
  double strongest; /* force of the longest arrow, N */
  fx_tones tones;
  /* what the camera must show */
  fx_ball *seen;
  int32_t seen_count, seen_room;
  fx_v3 low, high, middle;
  float extent;
  fx_camera camera, sun_camera;
  fx_v3 sun;
} fx_stage;

void fx_stage_create(fx_stage *stage, const frix_model *model, const fx_look *look);
void fx_stage_free(fx_stage *stage);
/* Bodies of this frame are to be in the picture. After the last one: fx_stage_aim. */
void fx_stage_see(fx_stage *stage, const frix_frame *frame);
void fx_stage_aim(fx_stage *stage);
void fx_stage_draw(const fx_stage *stage, const frix_frame *frame, fx_raster *raster);
void fx_stage_arrows(const fx_stage *stage, const frix_frame *frame, fx_raster *raster);

/* Draws and shades; the picture's rgb is its caller's, by free. (shade.c) */
fx_picture fx_stage_picture(const fx_stage *stage, const frix_frame *frame);

/* False after a message. (png_write.c) */
bool fx_png_write(frix_context *context, const char *path, const fx_picture *picture);

#endif
