/* A running sim as frames of a page: what live pages and the playground show. Layout: page_columns.c, page_frames.c. */
#ifndef FX_PAGE_LIVE_H
#define FX_PAGE_LIVE_H

#include "page.h"

typedef struct fx_page_live fx_page_live;

/* Frames of sims of this model, which must outlive it. */
fx_page_live *fx_page_live_create(const frix_model *model, fx_page_layout layout);
void fx_page_live_free(fx_page_live *live);

/* The present frame of a sim after a step of h; it lives until the next call. */
typedef struct fx_live_frame {
  frix_frame frame;
  fx_page_last last;          /* places in bytes */
  const unsigned char *bytes; /* poses and contacts */
  size_t size;
} fx_live_frame;
void fx_page_live_look(fx_page_live *live, const frix_sim *sim, const frix_step_report *report, double h,
                       fx_live_frame *out);

/* Keys of an object that describes the model: settings and columns. */
void fx_put_live_model(fx_json *json, const fx_page_bytes *bytes, const frix_model *model,
                       const frix_sim_config *config, double h);
/* The key "state": certificate, tally and energies of a frame. */
void fx_put_live_state(fx_json *json, const frix_frame *frame, const frix_tally *tally);

#endif
