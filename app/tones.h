/* Colours of bodies by what they are or do; the same in pictures and in replay pages (web/src/colours.js). */
#ifndef FX_APP_TONES_H
#define FX_APP_TONES_H

#include "raster.h"

#include <frix/frix.h>

#define FX_TONE_NAMES "body|size|name|speed|force|state"
typedef enum fx_tone_mode {
  FX_TONE_BODY,
  FX_TONE_SIZE,
  FX_TONE_NAME,
  FX_TONE_SPEED,
  FX_TONE_FORCE,
  FX_TONE_STATE
} fx_tone_mode;

enum {
  FX_TONE_LOOKS = 9
}; /* frames, evenly spread over a run, whose largest speed and force are the ends of the scales */

typedef struct fx_tones {
  fx_tone_mode mode;
  bool dark;
  int32_t body_count, moving_count; /* of the model, with the world at 0 */
  int32_t *slot, *kind;             /* by body: its number among those that are not static; of its name */
  float *size;                      /* by body: the largest side of its shapes */
  float least, most;                /* sizes of bodies that are moved by forces */
  double speed, force;              /* ends of the scales */
} fx_tones;

void fx_tones_create(fx_tones *tones, const frix_model *model, fx_tone_mode mode, bool dark);
void fx_tones_free(fx_tones *tones);
/* A frame whose speeds and forces the scales must hold. */
void fx_tones_see(fx_tones *tones, const frix_frame *frame);
/* The colour of every body of a frame, by its place there; sRGB, 0 .. 1. */
void fx_tones_of(const fx_tones *tones, const frix_frame *frame, fx_v3 *out);

/* 0: dark blue, over green to yellow: 1. */
fx_v3 fx_tone_ramp(double part);
fx_v3 fx_hex(uint32_t rgb);

#endif
