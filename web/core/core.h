/* Worlds of a page: what JavaScript calls in the WebAssembly module. A world is opened by the words of `frix run`, so
 * that a page, its link and the command line say the same; web/src/core.js is the other side. */
#ifndef FX_CORE_H
#define FX_CORE_H

#include <emscripten.h>

#include "page_live.h"
#include "subject.h"

#include <frix/trajectory.h>

#define FX_EXPORT EMSCRIPTEN_KEEPALIVE

/* A body held at a point by a critically damped spring to a place in space. */
typedef struct fx_hand {
  frix_body_id body; /* null: the hand is empty */
  frix_vec3 point;   /* in the body's frame */
  frix_vec3 target;
} fx_hand;

typedef struct fx_world {
  frix_context *context;
  char *text; /* the words, as one text */
  char **word;
  int word_count;
  fx_args args;
  fx_subject subject;
  frix_model *model; /* decoded from bytes, NULL: the subject's */
  frix_sim_config config;
  frix_options *options;
  frix_sim *sim;
  double h;
  fx_hand hand;
  frix_step_report report;
  frix_tally tally;
  frix_recorder *recorder;
  /* what is shown (core_view.c) */
  fx_page_bytes model_bytes;
  fx_page_live *live;
  fx_page_layout layout; /* of frames */
  frix_body_id *slot;    /* id of each slot */
  uint32_t slot_count;
  char *answer; /* the last text that was given out */
} fx_world;

const frix_model *fx_world_model(const fx_world *w);
/* Text that lives until the next call with this world. */
const char *fx_world_answer(fx_world *w, char *text);
void fx_world_view_free(fx_world *w);

#endif
