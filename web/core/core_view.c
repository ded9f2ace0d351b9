/* What a page shows of a world: the model and frames in the layout of replay pages (app/page_columns.c), and the state
 * of the run as text. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fx_world_view_free(fx_world *w) {
  fx_page_frames_free(w->frames);
  fx_page_free(&w->bytes);
  fx_page_free(&w->model_bytes);
  free(w->body);
  free(w->slot);
  free(w->contact);
}

/* ---- the model */

/* The columns as {"columns": {name: [type, address, count]}}; addresses are those of the module's memory. */
FX_EXPORT const char *core_model(fx_world *w) {
  fx_page_free(&w->model_bytes);
  fx_page_begin(&w->model_bytes, NULL);
  fx_page_put_model(&w->model_bytes, fx_world_model(w));
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  frix_vec3 gravity = frix_model_gravity(fx_world_model(w));
  fx_json json = {memory, false};
  fx_put_open(&json, NULL, '{');
  fx_put_integer(&json, "at", (int64_t)(uintptr_t)w->model_bytes.piece);
  fx_put_integer(&json, "bytes", w->model_bytes.count);
  fx_put_real(&json, "h", w->h);
  fx_put_real(&json, "tolerance", w->config.tolerance);
  fx_put_text(&json, "solver", w->config.solver);
  fx_put_text(&json, "integrator", w->config.integrator);
  fx_put_text(&json, "law", frix_law_name(w->config.law));
  fx_put_open(&json, "gravity", '[');
  fx_put_real(&json, NULL, gravity.x);
  fx_put_real(&json, NULL, gravity.y);
  fx_put_real(&json, NULL, gravity.z);
  fx_put_close(&json, ']');
  fx_page_put_rows(&w->model_bytes, &json);
  fx_put_close(&json, '}');
  fclose(memory);
  return fx_world_answer(w, text);
}

/* ---- a frame */

static frix_vec3 single(frix_vec3 v) { return (frix_vec3){(float)v.x, (float)v.y, (float)v.z}; }

/* A contact as a file of the run holds it: single precision, force from the impulse (docs/formats.md). */
static void round_contact(frix_contact_report *c, double h) {
  c->point = single(c->point), c->normal = single(c->normal);
  c->impulse = single(c->impulse), c->velocity = single(c->velocity);
  c->gap = (float)c->gap, c->mu = (float)c->mu, c->margin = (float)c->margin;
  double scale = 1.0 / h;
  c->force = (frix_vec3){scale * c->impulse.x, scale * c->impulse.y, scale * c->impulse.z};
}

/* As the recorder sees it: everything but static bodies. */
static void fill(fx_world *w, frix_frame *frame) {
  int32_t bodies = frix_sim_body_count(w->sim), contacts = frix_sim_contact_count(w->sim), n = 0;
  w->body = fx_grow(w->body, (size_t)bodies + 1, sizeof *w->body);
  w->contact = fx_grow(w->contact, (size_t)contacts + 1, sizeof *w->contact);
  for (frix_body_id id = frix_sim_body_next(w->sim, (frix_body_id){0, 0}); id.generation;
       id = frix_sim_body_next(w->sim, id)) {
    frix_frame_body *b = &w->body[n];
    frix_body_config body;
    b->id = id;
    if (frix_sim_pattern(w->sim, id, &b->pattern) != FRIX_OK || frix_sim_body(w->sim, id, &b->state) != FRIX_OK ||
        frix_model_body(fx_world_model(w), b->pattern, &body) != FRIX_OK || body.kind == FRIX_BODY_STATIC)
      continue;
    n++;
  }
  for (int32_t k = 0; k < contacts; k++) {
    frix_sim_contact(w->sim, k, &w->contact[k]);
    round_contact(&w->contact[k], w->h);
  }
  *frame = (frix_frame){.size = sizeof *frame,
                        .step = frix_sim_step_count(w->sim),
                        .time = frix_sim_time(w->sim),
                        .h = w->h,
                        .report = w->report,
                        .energy = frix_sim_energy(w->sim),
                        .body_count = n,
                        .contact_count = contacts,
                        .body = w->body,
                        .contact = w->contact};
}

static void note_slots(fx_world *w, const fx_page_last *last) {
  w->slot = fx_grow(w->slot, (size_t)last->slot_count + 1, sizeof *w->slot);
  w->slot_count = last->slot_count;
  for (uint32_t i = 0; i < last->body_count; i++) w->slot[last->slot[i]] = w->body[i].id;
}

static void put_state(fx_json *json, const fx_world *w, const frix_frame *frame) {
  const frix_energy *e = &frame->energy;
  const struct {
    const char *name;
    double value;
  } row[] = {{"step", (double)frame->step},
             {"time", frame->time},
             {"residual", w->report.certificate.residual},
             {"certified", w->report.certified},
             {"approximate", w->report.approximate},
             {"iterations", (double)w->report.iterations},
             {"touching", w->report.touching_count},
             {"penetration", w->report.penetration},
             {"seconds", w->report.seconds},
             {"steps", (double)w->tally.steps},
             {"certified_steps", (double)w->tally.certified},
             {"worst", w->tally.residual_max},
             {"start", e->start},
             {"kinetic", e->kinetic},
             {"potential", e->potential},
             {"work", e->work},
             {"friction", e->friction},
             {"impact", e->impact},
             {"damping", e->damping},
             {"joint", e->joint},
             {"contact", e->contact},
             {"scheme", e->scheme},
             {"error", e->error}};
  fx_put_open(json, "state", '{');
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) fx_put_real(json, row[k].name, row[k].value);
  fx_put_close(json, '}');
}

/* Frames as in pages that were made small; before the first one. */
FX_EXPORT void core_layout(fx_world *w, int coarse, int rounded) { w->layout = (fx_page_layout){coarse, rounded}; }

/* The present frame: addresses of its parts in the module's memory, and the state as numbers. */
FX_EXPORT const char *core_frame(fx_world *w) {
  frix_frame frame;
  fx_page_last last;
  fill(w, &frame);
  if (!w->frames) {
    fx_page_begin(&w->bytes, NULL);
    w->frames = fx_page_frames_create(&w->bytes, fx_world_model(w), w->layout);
  }
  w->bytes.filled = 0;
  w->bytes.count = 0;
  fx_page_frames_add(w->frames, &frame);
  fx_page_frames_last(w->frames, &last);
  note_slots(w, &last);
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  fx_json json = {memory, false};
  fx_put_open(&json, NULL, '{');
  fx_put_integer(&json, "poses", (int64_t)(uintptr_t)w->bytes.piece + last.poses);
  fx_put_integer(&json, "contacts", (int64_t)(uintptr_t)w->bytes.piece + last.contacts);
  fx_put_integer(&json, "body_count", last.body_count);
  fx_put_integer(&json, "contact_count", last.contact_count);
  fx_put_integer(&json, "slot_count", last.slot_count);
  fx_put_integer(&json, "slots", (int64_t)(uintptr_t)last.slot);
  fx_put_integer(&json, "slot_pattern", (int64_t)(uintptr_t)last.slot_pattern);
  put_state(&json, w, &frame);
  fx_put_close(&json, '}');
  fclose(memory);
  return fx_world_answer(w, text);
}
