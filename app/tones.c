/* Colours of bodies. The scale is viridis in five pieces, mixed in sRGB; kinds of names have the colours of Okabe and
 * Ito; both are read by colour-blind eyes. Speeds and forces go by their root, so that small ones are told apart:
 *   colour = ramp(sqrt(x / largest)) */
#include "tones.h"

#include "page.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t ramp[] = {0x3b4a8c, 0x2f7e8e, 0x35b779, 0xa5db36, 0xfde725};
static const uint32_t kinds[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442, 0x7f7f7f};
static const uint32_t states[] = {0x8a94a3, 0x1f6fd1, 0xe0631b}; /* open, stick, slip */
static const uint32_t light[] = {0x7f9cc0, 0xc8b28c, 0x9bb28f, 0xc09a94, 0xa9a2c6, 0x8fb3b5};
static const uint32_t dark[] = {0x7d9ac2, 0xb9a37c, 0x86a37c, 0xb0877f, 0x9b93bd, 0x7aa3a6};

enum { RAMP = sizeof ramp / sizeof *ramp, KINDS = sizeof kinds / sizeof *kinds, BODIES = sizeof light / sizeof *light };

fx_v3 fx_hex(uint32_t rgb) {
  return (fx_v3){(float)(rgb >> 16 & 255) / 255.0f, (float)(rgb >> 8 & 255) / 255.0f, (float)(rgb & 255) / 255.0f};
}

fx_v3 fx_tone_ramp(double part) {
  double at = (part > 0 ? fmin(part, 1) : 0) * (RAMP - 1);
  int k = (int)fmin(at, RAMP - 2);
  return fx_v3_mix(fx_hex(ramp[k]), fx_hex(ramp[k + 1]), (float)(at - k));
}

/* ---- bodies of the model */

/* pebble_12 and pebble_7 are of one kind: how much of a name is before its number. */
static size_t stem_of(const char *name) {
  size_t end = strcspn(name, "0123456789");
  if (!name[end]) return end;
  while (end && (strchr("_#-", name[end - 1]) || isspace((unsigned char)name[end - 1]))) end--;
  return end;
}

/* Numbers of names in the order in which the model has them. */
static void name_kinds(fx_tones *t, const frix_model *model) {
  const char **stem = fx_grow(NULL, (size_t)t->body_count, sizeof *stem);
  size_t *length = fx_grow(NULL, (size_t)t->body_count, sizeof *length);
  int32_t count = 0;
  for (int32_t k = 1; k < t->body_count; k++) {
    frix_body_config body = frix_body_default();
    frix_model_body(model, frix_model_body_at(model, k - 1), &body);
    const char *name = body.name ? body.name : "";
    size_t size = stem_of(name);
    int32_t known = 0;
    while (known < count && (length[known] != size || strncmp(stem[known], name, size) != 0)) known++;
    if (known == count) stem[count] = name, length[count++] = size;
    t->kind[k] = known;
  }
  free(stem);
  free(length);
}

static void measure(fx_tones *t, const frix_model *model) {
  for (int32_t k = 0; k < frix_model_count(model).shape_count; k++) {
    frix_shape_config shape;
    frix_body_id body;
    if (frix_model_shape(model, frix_model_shape_at(model, k), &shape, &body) != FRIX_OK) continue;
    float size[3];
    fx_page_shape_size(size, &shape);
    for (int c = 0; c < 3; c++) t->size[body.index] = fmaxf(t->size[body.index], size[c]);
  }
}

void fx_tones_create(fx_tones *t, const frix_model *model, fx_tone_mode mode, bool is_dark) {
  *t = (fx_tones){.mode = mode, .dark = is_dark, .least = INFINITY};
  t->body_count = frix_model_count(model).body_count + 1;
  size_t room = (size_t)t->body_count;
  t->slot = fx_grow(NULL, room, sizeof *t->slot);
  t->kind = fx_grow(NULL, room, sizeof *t->kind);
  t->size = fx_grow(NULL, room, sizeof *t->size);
  memset(t->kind, 0, room * sizeof *t->kind);
  memset(t->size, 0, room * sizeof *t->size);
  if (mode == FX_TONE_NAME) name_kinds(t, model);
  measure(t, model);
  t->slot[0] = 0;
  for (int32_t k = 1; k < t->body_count; k++) {
    frix_body_config body = frix_body_default();
    frix_model_body(model, frix_model_body_at(model, k - 1), &body);
    t->slot[k] = t->moving_count;
    if (body.kind == FRIX_BODY_STATIC) continue;
    t->moving_count++;
    if (body.kind != FRIX_BODY_DYNAMIC) continue;
    t->least = fminf(t->least, t->size[k]);
    t->most = fmaxf(t->most, t->size[k]);
  }
}

void fx_tones_free(fx_tones *t) {
  free(t->slot);
  free(t->kind);
  free(t->size);
  *t = (fx_tones){0};
}

/* ---- frames */

static double speed_of(const frix_frame_body *b) {
  frix_vec3 v = b->state.velocity;
  return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

/* Sum of the forces on every body, and the last of open, stick, slip among its contacts; by index of the body. */
static uint32_t add_contacts(const frix_frame *frame, double **force, uint8_t **state) {
  uint32_t top = 1;
  for (int32_t k = 0; k < frame->body_count; k++)
    if (frame->body[k].id.index >= top) top = frame->body[k].id.index + 1;
  *force = fx_grow(NULL, top, sizeof **force);
  *state = fx_grow(NULL, top, sizeof **state);
  memset(*force, 0, top * sizeof **force);
  memset(*state, 0, top * sizeof **state);
  for (int32_t k = 0; k < frame->contact_count; k++) {
    const frix_contact_report *c = &frame->contact[k];
    if (c->phase == FRIX_CONTACT_END) continue;
    const uint32_t ends[] = {c->a.index, c->b.index};
    for (int e = 0; e < 2; e++) {
      if (!ends[e] || ends[e] >= top) continue;
      (*force)[ends[e]] += sqrt(c->force.x * c->force.x + c->force.y * c->force.y + c->force.z * c->force.z);
      if ((uint8_t)c->state > (*state)[ends[e]]) (*state)[ends[e]] = (uint8_t)c->state;
    }
  }
  return top;
}

void fx_tones_see(fx_tones *t, const frix_frame *frame) {
  if (t->mode == FX_TONE_SPEED)
    for (int32_t k = 0; k < frame->body_count; k++) t->speed = fmax(t->speed, speed_of(&frame->body[k]));
  if (t->mode != FX_TONE_FORCE) return;
  double *force;
  uint8_t *state;
  uint32_t top = add_contacts(frame, &force, &state);
  for (uint32_t k = 0; k < top; k++) t->force = fmax(t->force, force[k]);
  free(force);
  free(state);
}

static fx_v3 plain(const fx_tones *t, const frix_frame_body *b) {
  bool of_model = b->id.index == b->pattern.index;
  uint32_t slot = of_model ? (uint32_t)t->slot[b->pattern.index] : (uint32_t)t->moving_count + b->id.index;
  return fx_hex((t->dark ? dark : light)[slot % BODIES]);
}

void fx_tones_of(const fx_tones *t, const frix_frame *frame, fx_v3 *out) {
  double *force = NULL;
  uint8_t *state = NULL;
  if (t->mode == FX_TONE_FORCE || t->mode == FX_TONE_STATE) add_contacts(frame, &force, &state);
  for (int32_t k = 0; k < frame->body_count; k++) {
    const frix_frame_body *b = &frame->body[k];
    float range = t->most - t->least;
    switch (t->mode) {
      case FX_TONE_BODY: out[k] = plain(t, b); break;
      case FX_TONE_SIZE: out[k] = fx_tone_ramp(range > 0 ? (t->size[b->pattern.index] - t->least) / range : 0.5); break;
      case FX_TONE_NAME: out[k] = fx_hex(kinds[t->kind[b->pattern.index] % KINDS]); break;
      case FX_TONE_SPEED: out[k] = fx_tone_ramp(t->speed > 0 ? sqrt(speed_of(b) / t->speed) : 0); break;
      case FX_TONE_FORCE: out[k] = fx_tone_ramp(t->force > 0 ? sqrt(force[b->id.index] / t->force) : 0); break;
      case FX_TONE_STATE: out[k] = fx_hex(states[state[b->id.index]]); break;
    }
  }
  free(force);
  free(state);
}
