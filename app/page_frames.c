/* Frames in a replay page. A body that is ever there has a slot; a frame names a list of slots (shared by frames with
 * the same bodies) and two places in the row of bytes:
 *   poses     fine:   position f32 x 3, speed f32, quaternion i16 x 4 (x y z w), each for all bodies
 *             coarse: box f32 x 6 (corner, size), then for all bodies quaternion u32 (which of the four is largest,
 *                     2 bits; the others, 10 bits each), position u16 x 3 within the box
 *   contacts  point f32 x 3, force f32 x 3, gap, mu, margin, slip f32, a, b, id u32, normal i16 x 3, state u8, each for
 *             all contacts; an end is a slot, STATIC + body of the model, or WORLD
 * Amplitudes of soft bodies, f32, stand in one column, frame after frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

#define STATIC_END 0x80000000u
#define WORLD_END 0xffffffffu

/* The strongest contacts of a frame are kept. */
enum { FINE_CONTACTS = 20000, COARSE_CONTACTS = 5000 };
enum { FINE_BODY = 24, COARSE_BODY = 10, CONTACT = 59 /* 10 f32, 3 u32, 3 i16, 1 u8 */, HEAD = 48 };

static const char *const series_name[] = {"residual",   "contacts", "stick",     "slip",     "open",   "penetration",
                                          "iterations", "kinetic",  "potential", "friction", "impact", "work",
                                          "damping",    "joint",    "contact",   "scheme",   "error"};
enum { SERIES = sizeof series_name / sizeof series_name[0] };

typedef struct numbers {
  void *data;
  size_t count, room;
} numbers;

/* Which slot an id has: ids of one index follow each other in time. */
typedef struct holder {
  uint32_t generation, slot;
} holder;

struct fx_page_frames {
  fx_page_bytes *bytes;
  bool coarse;
  double grid;  /* of positions; 0: as they are */
  double light; /* step of forces, 0: none */
  int32_t *body_map;
  uint32_t body_map_count;
  holder *holder;
  uint32_t holder_count;
  numbers slot_pattern, list_start, list_slot, gone_start, gone_body; /* u32 */
  numbers time, step, poses, contacts;                                /* f64 */
  numbers kept, list, gone, hash;                                     /* u32; hash: two each, the lower one first */
  numbers series[SERIES], amplitude, robot;                           /* f32 */
  uint32_t *slot;
  void *scratch;
};

static void append(numbers *n, const void *value, size_t size) {
  if (n->count == n->room) n->data = fx_grow(n->data, n->room = 2 * n->room + 256, size);
  memcpy((char *)n->data + n->count++ * size, value, size);
}

static void append_u32(numbers *n, uint32_t value) { append(n, &value, sizeof value); }
static void append_f64(numbers *n, double value) { append(n, &value, sizeof value); }

static double length(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/* ---- rounding, which makes a run small: positions to a grid of a power of two below 1/500 of the smallest shape that
 * moves, gaps to a quarter of it, margins to 1/128, forces to a step below 1/64 of the mean weight of a body; binary
 * digits of forces, of speeds and slip, which below a micrometre a second and where nothing slips are none; parts of 1
 * of quaternions and normals. */
enum { FORCE = 8, SPEED = 7, TURN = 2048, NORMAL = 256 };

static double smallest_side(const frix_shape_config *s) {
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE:
    case FRIX_SHAPE_CAPSULE:
    case FRIX_SHAPE_DISC: return s->radius;
    case FRIX_SHAPE_CYLINDER: return fmin(s->radius, s->half_length);
    case FRIX_SHAPE_BOX:
    case FRIX_SHAPE_ELLIPSOID: return fmin(s->half.x, fmin(s->half.y, s->half.z));
    case FRIX_SHAPE_RECTANGLE:
    case FRIX_SHAPE_ELLIPSE: return fmin(s->half.x, s->half.y);
    default: return 0;
  }
}

/* The smallest side of the box of a hull or polygon, leaving out what is flat. */
static double side_of_points(const frix_model *model, const frix_shape_config *s) {
  frix_geometry_config g = frix_geometry_default();
  if (frix_model_geometry(model, s->geometry, &g) != FRIX_OK || g.point_count < 1) return 0;
  double low[3] = {0}, high[3] = {0}, least = 0;
  for (int32_t k = 0; k < g.point_count; k++) {
    const double p[3] = {g.point[k].x, g.point[k].y, g.point[k].z};
    for (int c = 0; c < 3; c++) {
      if (k == 0 || p[c] < low[c]) low[c] = p[c];
      if (k == 0 || p[c] > high[c]) high[c] = p[c];
    }
  }
  for (int c = 0; c < 3; c++) {
    double side = 0.5 * (high[c] - low[c]);
    if (side > 0 && (least == 0 || side < least)) least = side;
  }
  return least;
}

/* 0 where there is no shape whose size is known. */
static double grid_for(const frix_model *model) {
  double least = HUGE_VAL;
  for (int32_t k = 0; k < frix_model_count(model).shape_count; k++) {
    frix_shape_config shape;
    frix_body_id id;
    frix_body_config body;
    if (frix_model_shape(model, frix_model_shape_at(model, k), &shape, &id) != FRIX_OK || !id.generation ||
        frix_model_body(model, id, &body) != FRIX_OK || body.kind == FRIX_BODY_STATIC)
      continue;
    double side = shape.kind == FRIX_SHAPE_HULL || shape.kind == FRIX_SHAPE_POLYGON ? side_of_points(model, &shape)
                                                                                    : smallest_side(&shape);
    if (side > 0 && side < least) least = side;
  }
  int exponent;
  if (!(least < HUGE_VAL)) return 0;
  frexp(least / 500, &exponent);
  return ldexp(1, exponent - 1);
}

/* A power of two below 1/64 of the mean weight of a body; 0 without weight. */
static double light_for(const frix_model *model) {
  double mass = 0;
  int32_t count = 0;
  for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
    frix_body_config body;
    if (frix_model_body(model, frix_model_body_at(model, k), &body) != FRIX_OK || body.kind != FRIX_BODY_DYNAMIC)
      continue;
    mass += body.mass;
    count++;
  }
  double weight = count ? mass / count * length(frix_model_gravity(model)) : 0;
  int exponent;
  if (!(weight > 0)) return 0;
  frexp(weight / 64, &exponent);
  return ldexp(1, exponent - 1);
}

static float placed(const fx_page_frames *f, double x) {
  return (float)(f->grid > 0 ? rint(x / f->grid) * f->grid + 0.0 : x); /* + 0.0: no -0 */
}

static float shortened(const fx_page_frames *f, double x, int digits) {
  int exponent;
  if (!(f->grid > 0) || !isfinite(x)) return (float)x;
  double part = frexp(x, &exponent);
  return (float)ldexp(rint(ldexp(part, digits)), exponent - digits);
}

static float speed_of(const fx_page_frames *f, double x) {
  return f->grid > 0 && x < 1e-6 ? 0 : shortened(f, x, SPEED);
}

static float force_of(const fx_page_frames *f, double x) {
  return shortened(f, f->light > 0 && isfinite(x) ? rint(x / f->light) * f->light + 0.0 : x, FORCE);
}

/* To a multiple of a step, a power of two. */
static float stepped(const fx_page_frames *f, double x, double step) {
  return (float)(f->grid > 0 && isfinite(x) ? rint(x / step) * step + 0.0 : x);
}

static int16_t turned(const fx_page_frames *f, double x, double parts) {
  double inside = fmax(-1, fmin(1, x));
  return (int16_t)(f->grid > 0 ? fmin(32767, 32768 / parts * rint(parts * inside)) : lrint(32767 * inside));
}

fx_page_frames *fx_page_frames_create(fx_page_bytes *bytes, const frix_model *model, fx_page_layout layout) {
  fx_page_frames *f = fx_grow(NULL, 1, sizeof *f);
  *f = (fx_page_frames){.bytes = bytes, .coarse = layout.coarse, .grid = layout.rounded ? grid_for(model) : 0};
  if (f->grid > 0) f->light = light_for(model);
  f->body_map = fx_page_body_map(model, &f->body_map_count);
  append_u32(&f->list_start, 0);
  append_u32(&f->gone_start, 0);
  return f;
}

int64_t fx_page_frame_size(int32_t body_count, int32_t contact_count, bool coarse) {
  int32_t most = coarse ? COARSE_CONTACTS : FINE_CONTACTS;
  int64_t kept = contact_count < most ? contact_count : most;
  return HEAD + 4 * SERIES + (int64_t)body_count * (coarse ? COARSE_BODY : FINE_BODY) + kept * CONTACT;
}

/* ---- bodies */

static int32_t model_body(const fx_page_frames *f, frix_body_id id) {
  return id.generation && id.index < f->body_map_count ? f->body_map[id.index] : -1;
}

static uint32_t slot_of(fx_page_frames *f, const frix_frame_body *body) {
  if (body->id.index >= f->holder_count) {
    uint32_t count = 2 * body->id.index + 64;
    f->holder = fx_grow(f->holder, count, sizeof *f->holder);
    memset(f->holder + f->holder_count, 0, (count - f->holder_count) * sizeof *f->holder);
    f->holder_count = count;
  }
  holder *h = &f->holder[body->id.index];
  if (h->generation != body->id.generation) {
    int32_t pattern = model_body(f, body->pattern);
    *h = (holder){body->id.generation, (uint32_t)f->slot_pattern.count};
    append_u32(&f->slot_pattern, pattern < 0 ? 0 : (uint32_t)pattern);
  }
  return h->slot;
}

/* A list of numbers, or the last one where it is the same; which one it is goes to `use`. */
static void put_list(const uint32_t *value, size_t n, numbers *start, numbers *all, numbers *use) {
  size_t lists = start->count - 1;
  const uint32_t *from = start->data, *before = all->data;
  bool same = lists > 0 && from[lists] - from[lists - 1] == n &&
              (n == 0 || !memcmp(before + from[lists - 1], value, n * sizeof *value));
  if (!same) {
    for (size_t i = 0; i < n; i++) append_u32(all, value[i]);
    append_u32(start, (uint32_t)all->count);
  }
  append_u32(use, (uint32_t)start->count - 2);
}

/* Who is there, and which static bodies were taken away. */
static void put_lists(fx_page_frames *f, const frix_frame *frame) {
  size_t n = (size_t)frame->body_count, gone = 0;
  f->slot = fx_grow(f->slot, n + (size_t)frame->gone_count + 1, sizeof *f->slot);
  for (size_t i = 0; i < n; i++) f->slot[i] = slot_of(f, &frame->body[i]);
  put_list(f->slot, n, &f->list_start, &f->list_slot, &f->list);
  for (int32_t i = 0; i < frame->gone_count; i++)
    if (model_body(f, frame->gone[i]) >= 0) f->slot[gone++] = (uint32_t)model_body(f, frame->gone[i]);
  put_list(f->slot, gone, &f->gone_start, &f->gone_body, &f->gone);
}

static void put_fine(fx_page_frames *f, const frix_frame *frame) {
  size_t n = (size_t)frame->body_count;
  float *out = f->scratch = fx_grow(f->scratch, n + 1, FINE_BODY);
  int16_t *turn = (void *)(out + 4 * n);
  for (size_t i = 0; i < n; i++) {
    const frix_body_state *s = &frame->body[i].state;
    const double p[3] = {s->pose.p.x, s->pose.p.y, s->pose.p.z};
    const double q[4] = {s->pose.q.x, s->pose.q.y, s->pose.q.z, s->pose.q.w};
    for (int c = 0; c < 3; c++) out[3 * i + c] = placed(f, p[c]);
    for (int c = 0; c < 4; c++) turn[4 * i + c] = turned(f, q[c], TURN);
    out[3 * n + i] = speed_of(f, length(s->velocity));
  }
  fx_page_put(f->bytes, out, n * FINE_BODY);
}

static uint32_t small_turn(frix_quat quat) {
  const double q[4] = {quat.x, quat.y, quat.z, quat.w};
  uint32_t largest = 0, out = 0;
  for (uint32_t c = 1; c < 4; c++)
    if (fabs(q[c]) > fabs(q[largest])) largest = c;
  double sign = q[largest] < 0 ? -1 : 1;
  for (uint32_t c = 0, shift = 2; c < 4; c++) {
    if (c == largest) continue;
    double value = fmax(-1, fmin(1, sign * q[c] * 1.4142135623730951));
    out |= (uint32_t)(lrint(511 * value) + 511) << shift;
    shift += 10;
  }
  return out | largest;
}

static void put_coarse(fx_page_frames *f, const frix_frame *frame) {
  size_t n = (size_t)frame->body_count;
  double low[3] = {0}, high[3] = {0};
  for (size_t i = 0; i < n; i++) {
    frix_vec3 v = frame->body[i].state.pose.p;
    const double p[3] = {v.x, v.y, v.z};
    for (int c = 0; c < 3; c++) {
      if (i == 0 || p[c] < low[c]) low[c] = p[c];
      if (i == 0 || p[c] > high[c]) high[c] = p[c];
    }
  }
  float box[6];
  for (int c = 0; c < 3; c++) box[c] = (float)low[c], box[3 + c] = (float)(high[c] - low[c]);
  uint32_t *turn = f->scratch = fx_grow(f->scratch, n + 1, COARSE_BODY);
  uint16_t *place = (uint16_t *)(turn + n);
  for (size_t i = 0; i < n; i++) {
    const frix_pose *pose = &frame->body[i].state.pose;
    const double p[3] = {pose->p.x, pose->p.y, pose->p.z};
    turn[i] = small_turn(pose->q);
    for (int c = 0; c < 3; c++) {
      double part = high[c] > low[c] ? (p[c] - low[c]) / (high[c] - low[c]) : 0;
      place[3 * i + c] = (uint16_t)lrint(65535 * fmax(0, fmin(1, part)));
    }
  }
  fx_page_put(f->bytes, box, sizeof box);
  fx_page_put(f->bytes, turn, n * COARSE_BODY);
}

/* ---- contacts */

static uint32_t end_of(const fx_page_frames *f, frix_body_id id) {
  if (id.generation && id.index < f->holder_count && f->holder[id.index].generation == id.generation)
    return f->holder[id.index].slot;
  int32_t body = model_body(f, id);
  return body < 0 ? WORLD_END : STATIC_END + (uint32_t)body;
}

typedef struct ranked {
  double force;
  int32_t at;
} ranked;

static int stronger(const void *a, const void *b) {
  const ranked *p = a, *q = b;
  return p->force != q->force ? (p->force > q->force ? -1 : 1) : (p->at > q->at) - (p->at < q->at);
}

static int earlier(const void *a, const void *b) {
  const ranked *p = a, *q = b;
  return (p->at > q->at) - (p->at < q->at);
}

/* Those that still touch, at most the strongest ones, in their order. */
static size_t choose(const frix_frame *frame, size_t most, ranked *out) {
  size_t count = 0;
  for (int32_t i = 0; i < frame->contact_count; i++)
    if (frame->contact[i].phase != FRIX_CONTACT_END) out[count++] = (ranked){length(frame->contact[i].force), i};
  if (count <= most) return count;
  qsort(out, count, sizeof *out, stronger);
  qsort(out, most, sizeof *out, earlier);
  return most;
}

static size_t put_contacts(fx_page_frames *f, const frix_frame *frame) {
  ranked *chosen = fx_grow(NULL, (size_t)frame->contact_count + 1, sizeof *chosen);
  size_t n = choose(frame, f->coarse ? COARSE_CONTACTS : FINE_CONTACTS, chosen);
  float *real = f->scratch = fx_grow(f->scratch, n + 1, CONTACT);
  uint32_t *name = (void *)(real + 10 * n);
  int16_t *normal = (int16_t *)(name + 3 * n);
  uint8_t *state = (uint8_t *)(normal + 3 * n);
  for (size_t i = 0; i < n; i++) {
    const frix_contact_report *c = &frame->contact[chosen[i].at];
    const double v[6] = {c->point.x, c->point.y, c->point.z, c->force.x, c->force.y, c->force.z};
    const double scalar[4] = {c->gap, c->mu, c->margin, 0}, axis[3] = {c->normal.x, c->normal.y, c->normal.z};
    const double u[3] = {c->velocity.x, c->velocity.y, c->velocity.z};
    double away = u[0] * axis[0] + u[1] * axis[1] + u[2] * axis[2], slip = 0;
    for (int k = 0; k < 3; k++) {
      real[3 * i + k] = placed(f, v[k]);
      real[3 * n + 3 * i + k] = force_of(f, v[3 + k]);
      normal[3 * i + k] = turned(f, axis[k], NORMAL);
      real[6 * n + k * n + i] = k == 0   ? stepped(f, scalar[k], f->grid / 4)
                                : k == 1 ? (float)scalar[k]
                                         : stepped(f, scalar[k], 0x1p-7);
      slip += (u[k] - away * axis[k]) * (u[k] - away * axis[k]);
    }
    real[9 * n + i] = f->grid > 0 && c->state != FRIX_CONTACT_SLIP ? 0 : speed_of(f, sqrt(slip));
    name[i] = end_of(f, c->a);
    name[n + i] = end_of(f, c->b);
    name[2 * n + i] = (uint32_t)(c->id ^ c->id >> 32);
    state[i] = (uint8_t)c->state;
  }
  fx_page_put(f->bytes, real, n * CONTACT);
  free(chosen);
  return n;
}

/* ---- frames */

static void put_series(fx_page_frames *f, const frix_frame *frame) {
  int64_t by_state[3] = {0}, all = 0;
  for (int32_t i = 0; i < frame->contact_count; i++) {
    if (frame->contact[i].phase == FRIX_CONTACT_END) continue;
    by_state[frame->contact[i].state]++;
    all++;
  }
  const frix_energy *e = &frame->energy;
  const double value[SERIES] = {frame->report.certificate.residual,
                                (double)all,
                                (double)by_state[FRIX_CONTACT_STICK],
                                (double)by_state[FRIX_CONTACT_SLIP],
                                (double)by_state[FRIX_CONTACT_OPEN],
                                frame->report.penetration,
                                (double)frame->report.iterations,
                                e->kinetic,
                                e->potential,
                                e->friction,
                                e->impact,
                                e->work,
                                e->damping,
                                e->joint,
                                e->contact,
                                e->scheme,
                                e->error};
  for (int k = 0; k < SERIES; k++) {
    float small = (float)value[k];
    append(&f->series[k], &small, sizeof small);
  }
}

void fx_page_frames_add(fx_page_frames *f, const frix_frame *frame) {
  append_f64(&f->time, frame->time);
  append_f64(&f->step, (double)frame->step);
  append_u32(&f->hash, (uint32_t)frame->hash);
  append_u32(&f->hash, (uint32_t)(frame->hash >> 32));
  put_lists(f, frame);
  fx_page_align(f->bytes);
  append_f64(&f->poses, (double)f->bytes->count);
  if (f->coarse)
    put_coarse(f, frame);
  else
    put_fine(f, frame);
  fx_page_align(f->bytes);
  append_f64(&f->contacts, (double)f->bytes->count);
  append_u32(&f->kept, (uint32_t)put_contacts(f, frame));
  put_series(f, frame);
  for (int32_t k = 0; k < frame->amplitude_count; k++) {
    float small = (float)frame->amplitude[k];
    append(&f->amplitude, &small, sizeof small);
  }
  for (int32_t k = 0; k < frame->robot_count; k++) {
    float small = (float)frame->robot[k];
    append(&f->robot, &small, sizeof small);
  }
}

static void put_numbers(fx_page_bytes *bytes, const char *name, fx_column_type type, const numbers *n) {
  fx_page_column(bytes, name, type, n->data, (int64_t)n->count);
}

/* The last list of a frame, and how long it is. */
static const uint32_t *last_list(const numbers *start, const numbers *all, const numbers *use, uint32_t *count) {
  const uint32_t *from = start->data, k = ((const uint32_t *)use->data)[use->count - 1];
  *count = from[k + 1] - from[k];
  return *count ? (const uint32_t *)all->data + from[k] : NULL;
}

void fx_page_frames_last(const fx_page_frames *f, fx_page_last *out) {
  size_t k = f->time.count - 1;
  *out = (fx_page_last){.poses = (int64_t)((const double *)f->poses.data)[k],
                        .contacts = (int64_t)((const double *)f->contacts.data)[k],
                        .contact_count = ((const uint32_t *)f->kept.data)[k],
                        .slot_count = (uint32_t)f->slot_pattern.count,
                        .slot_pattern = f->slot_pattern.data};
  out->slot = last_list(&f->list_start, &f->list_slot, &f->list, &out->body_count);
  out->gone = last_list(&f->gone_start, &f->gone_body, &f->gone, &out->gone_count);
}

void fx_page_frames_end(fx_page_frames *f) {
  put_numbers(f->bytes, "slot.pattern", FX_U32, &f->slot_pattern);
  put_numbers(f->bytes, "list.start", FX_U32, &f->list_start);
  put_numbers(f->bytes, "list.slot", FX_U32, &f->list_slot);
  put_numbers(f->bytes, "gone.start", FX_U32, &f->gone_start);
  put_numbers(f->bytes, "gone.body", FX_U32, &f->gone_body);
  put_numbers(f->bytes, "frame.gone", FX_U32, &f->gone);
  put_numbers(f->bytes, "frame.time", FX_F64, &f->time);
  put_numbers(f->bytes, "frame.step", FX_F64, &f->step);
  put_numbers(f->bytes, "frame.hash", FX_U32, &f->hash);
  put_numbers(f->bytes, "frame.list", FX_U32, &f->list);
  put_numbers(f->bytes, "frame.poses", FX_F64, &f->poses);
  put_numbers(f->bytes, "frame.contacts", FX_F64, &f->contacts);
  put_numbers(f->bytes, "frame.contacts_kept", FX_U32, &f->kept);
  put_numbers(f->bytes, "frame.amplitudes", FX_F32, &f->amplitude);
  put_numbers(f->bytes, "frame.robot", FX_F32, &f->robot);
  for (int k = 0; k < SERIES; k++) {
    char name[48];
    snprintf(name, sizeof name, "series.%s", series_name[k]);
    put_numbers(f->bytes, name, FX_F32, &f->series[k]);
  }
}

void fx_page_frames_free(fx_page_frames *f) {
  if (!f) return;
  numbers *all[] = {&f->slot_pattern, &f->list_start, &f->list_slot, &f->time,      &f->step,
                    &f->poses,        &f->contacts,   &f->kept,      &f->list,      &f->gone,
                    &f->gone_start,   &f->gone_body,  &f->hash,      &f->amplitude, &f->robot};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]->data);
  for (int k = 0; k < SERIES; k++) free(f->series[k].data);
  free(f->body_map);
  free(f->holder);
  free(f->slot);
  free(f->scratch);
  free(f);
}
