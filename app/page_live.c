#include "page_live.h"

#include <stdlib.h>

struct fx_page_live {
  const frix_model *model;
  fx_page_bytes bytes;
  fx_page_frames *frames;
  frix_frame_body *body;
  frix_contact_report *contact;
};

fx_page_live *fx_page_live_create(const frix_model *model, fx_page_layout layout) {
  fx_page_live *live = fx_grow(NULL, 1, sizeof *live);
  *live = (fx_page_live){.model = model};
  fx_page_begin(&live->bytes, NULL);
  live->frames = fx_page_frames_create(&live->bytes, model, layout);
  return live;
}

void fx_page_live_free(fx_page_live *live) {
  if (!live) return;
  fx_page_frames_free(live->frames);
  fx_page_free(&live->bytes);
  free(live->body);
  free(live->contact);
  free(live);
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
static int32_t fill_bodies(fx_page_live *live, const frix_sim *sim) {
  int32_t n = 0;
  live->body = fx_grow(live->body, (size_t)frix_sim_body_count(sim) + 1, sizeof *live->body);
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.generation;
       id = frix_sim_body_next(sim, id)) {
    frix_frame_body *b = &live->body[n];
    frix_body_config body;
    b->id = id;
    if (frix_sim_pattern(sim, id, &b->pattern) == FRIX_OK && frix_sim_body(sim, id, &b->state) == FRIX_OK &&
        frix_model_body(live->model, b->pattern, &body) == FRIX_OK && body.kind != FRIX_BODY_STATIC)
      n++;
  }
  return n;
}

void fx_page_live_look(fx_page_live *live, const frix_sim *sim, const frix_step_report *report, double h,
                       fx_live_frame *out) {
  int32_t contacts = frix_sim_contact_count(sim);
  live->contact = fx_grow(live->contact, (size_t)contacts + 1, sizeof *live->contact);
  for (int32_t k = 0; k < contacts; k++) {
    frix_sim_contact(sim, k, &live->contact[k]);
    round_contact(&live->contact[k], h);
  }
  out->frame = (frix_frame){.size = sizeof out->frame,
                            .step = frix_sim_step_count(sim),
                            .time = frix_sim_time(sim),
                            .h = h,
                            .report = *report,
                            .energy = frix_sim_energy(sim),
                            .body_count = fill_bodies(live, sim),
                            .contact_count = contacts,
                            .body = live->body,
                            .contact = live->contact};
  live->bytes.filled = 0;
  live->bytes.count = 0;
  fx_page_frames_add(live->frames, &out->frame);
  fx_page_frames_last(live->frames, &out->last);
  out->bytes = live->bytes.piece;
  out->size = live->bytes.filled;
}

/* ---- as text */

void fx_put_live_model(fx_json *json, const fx_page_bytes *bytes, const frix_model *model,
                       const frix_sim_config *config, double h) {
  frix_vec3 gravity = frix_model_gravity(model);
  fx_put_integer(json, "bytes", bytes->count);
  fx_put_real(json, "h", h);
  fx_put_real(json, "tolerance", config->tolerance);
  fx_put_text(json, "solver", config->solver);
  fx_put_text(json, "integrator", config->integrator);
  fx_put_text(json, "law", frix_law_name(config->law));
  fx_put_open(json, "gravity", '[');
  fx_put_real(json, NULL, gravity.x);
  fx_put_real(json, NULL, gravity.y);
  fx_put_real(json, NULL, gravity.z);
  fx_put_close(json, ']');
  fx_page_put_rows(bytes, json);
}

void fx_put_live_state(fx_json *json, const frix_frame *frame, const frix_tally *tally) {
  const frix_energy *e = &frame->energy;
  const frix_step_report *report = &frame->report;
  const struct {
    const char *name;
    double value;
  } row[] = {{"step", (double)frame->step},
             {"time", frame->time},
             {"residual", report->certificate.residual},
             {"certified", report->certified},
             {"approximate", report->approximate},
             {"iterations", (double)report->iterations},
             {"touching", report->touching_count},
             {"penetration", report->penetration},
             {"seconds", report->seconds},
             {"steps", (double)tally->steps},
             {"certified_steps", (double)tally->certified},
             {"worst", tally->residual_max},
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
