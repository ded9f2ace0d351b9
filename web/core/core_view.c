/* What a page shows of a world: the model and frames in the layout of replay pages (app/page_columns.c), and the state
 * of the run as text. Addresses are those of the module's memory. */
#include "core.h"

#include <stdlib.h>

extern const char *fx_replay_page; /* of app/page.c */
const char *fx_replay_page = "";

/* The replay page without a run, which stays in memory from then on: `frix view` makes pages of runs with it. */
FX_EXPORT void core_page(const char *text) { fx_replay_page = text; }

void fx_world_view_free(fx_world *w) {
  fx_page_live_free(w->live);
  fx_page_free(&w->model_bytes);
  free(w->slot);
}

typedef struct reply {
  char *text;
  size_t size;
  fx_json json;
} reply;

static void begin(reply *r) {
  *r = (reply){0};
  r->json.file = open_memstream(&r->text, &r->size);
  fx_put_open(&r->json, NULL, '{');
}

static const char *end(fx_world *w, reply *r) {
  fx_put_close(&r->json, '}');
  fclose(r->json.file);
  return fx_world_answer(w, r->text);
}

/* The columns as {"columns": {name: [type, address, count]}}. */
FX_EXPORT const char *core_model(fx_world *w) {
  reply r;
  fx_page_free(&w->model_bytes);
  fx_page_begin(&w->model_bytes, NULL);
  fx_page_put_model(&w->model_bytes, fx_world_model(w));
  begin(&r);
  fx_put_integer(&r.json, "at", (int64_t)(uintptr_t)w->model_bytes.piece);
  fx_put_live_model(&r.json, &w->model_bytes, fx_world_model(w), &w->config, w->h);
  return end(w, &r);
}

static void note_slots(fx_world *w, const fx_live_frame *f) {
  w->slot = fx_grow(w->slot, (size_t)f->last.slot_count + 1, sizeof *w->slot);
  w->slot_count = f->last.slot_count;
  for (uint32_t i = 0; i < f->last.body_count; i++) w->slot[f->last.slot[i]] = f->frame.body[i].id;
}

/* Frames as in pages that were made small; before the first one. */
FX_EXPORT void core_layout(fx_world *w, int coarse, int rounded) { w->layout = (fx_page_layout){coarse, rounded}; }

/* The present frame: addresses of its parts, and the state as numbers. */
FX_EXPORT const char *core_frame(fx_world *w) {
  reply r;
  fx_live_frame f;
  if (!w->live) w->live = fx_page_live_create(fx_world_model(w), w->layout);
  fx_page_live_look(w->live, w->sim, &w->report, w->h, &f);
  note_slots(w, &f);
  begin(&r);
  fx_put_integer(&r.json, "poses", (int64_t)(uintptr_t)f.bytes + f.last.poses);
  fx_put_integer(&r.json, "contacts", (int64_t)(uintptr_t)f.bytes + f.last.contacts);
  fx_put_integer(&r.json, "body_count", f.last.body_count);
  fx_put_integer(&r.json, "contact_count", f.last.contact_count);
  fx_put_integer(&r.json, "slot_count", f.last.slot_count);
  fx_put_integer(&r.json, "slots", (int64_t)(uintptr_t)f.last.slot);
  fx_put_integer(&r.json, "slot_pattern", (int64_t)(uintptr_t)f.last.slot_pattern);
  fx_put_live_state(&r.json, &f.frame, &w->tally);
  return end(w, &r);
}
