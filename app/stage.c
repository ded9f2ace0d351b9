/* Places of bodies in a frame, and the camera. */
#include "stage.h"

#include "app.h"

#include <stdlib.h>
#include <string.h>

/* ---- poses in double, pictures in single precision */

static frix_vec3 rotate(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return (frix_vec3){v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                     v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

static frix_pose compose(frix_pose a, frix_pose b) {
  frix_vec3 p = rotate(a.q, b.p);
  frix_quat q = {a.q.w * b.q.w - a.q.x * b.q.x - a.q.y * b.q.y - a.q.z * b.q.z,
                 a.q.w * b.q.x + a.q.x * b.q.w + a.q.y * b.q.z - a.q.z * b.q.y,
                 a.q.w * b.q.y - a.q.x * b.q.z + a.q.y * b.q.w + a.q.z * b.q.x,
                 a.q.w * b.q.z + a.q.x * b.q.y - a.q.y * b.q.x + a.q.z * b.q.w};
  return (frix_pose){{a.p.x + p.x, a.p.y + p.y, a.p.z + p.z}, q};
}

typedef struct frame3 {
  fx_v3 x, y, z, origin;
} frame3;

static frame3 frame_of(frix_pose pose) {
  frix_vec3 x = rotate(pose.q, (frix_vec3){1, 0, 0}), y = rotate(pose.q, (frix_vec3){0, 1, 0}),
            z = rotate(pose.q, (frix_vec3){0, 0, 1});
  return (frame3){fx_v3_of(x.x, x.y, x.z), fx_v3_of(y.x, y.y, y.z), fx_v3_of(z.x, z.y, z.z),
                  fx_v3_of(pose.p.x, pose.p.y, pose.p.z)};
}

static fx_v3 turn(const frame3 *f, fx_v3 v) {
  return fx_v3_mad(fx_v3_mad(fx_v3_scale(v.x, f->x), v.y, f->y), v.z, f->z);
}

/* ---- colours */

const fx_theme fx_theme_light = {
    .sky = {{0.93f, 0.95f, 0.975f}, {0.985f, 0.985f, 0.98f}},
    .ground = {0.90f, 0.90f, 0.885f},
    .line = {0.78f, 0.78f, 0.77f},
    .still = {0.70f, 0.71f, 0.73f},
    .sun = 0.80f,
    .ambient = 0.52f,
};

const fx_theme fx_theme_dark = {
    .sky = {{0.085f, 0.10f, 0.13f}, {0.13f, 0.15f, 0.185f}},
    .ground = {0.20f, 0.22f, 0.26f},
    .line = {0.29f, 0.32f, 0.37f},
    .still = {0.42f, 0.45f, 0.50f},
    .sun = 0.85f,
    .ambient = 0.36f,
};

static fx_ink ink_of(fx_v3 colour, fx_paint paint) {
  fx_ink ink = {.paint = (uint8_t)paint};
  float part[3] = {colour.x, colour.y, colour.z};
  for (int k = 0; k < 3; k++) ink.rgb[k] = (uint8_t)lrintf(255.0f * fminf(1.0f, fmaxf(0.0f, part[k])));
  return ink;
}

/* ---- the model */

static void read_bodies(fx_stage *s) {
  int32_t planar = 0, moving = 0, amplitudes = 0;
  for (int32_t k = 0; k < s->body_count; k++) {
    frix_body_config body = frix_body_default();
    body.kind = FRIX_BODY_STATIC;
    if (k) frix_model_body(s->model, frix_model_body_at(s->model, k - 1), &body);
    s->kind[k] = body.kind;
    s->pose[k] = body.pose;
    s->stands[k] = body.kind == FRIX_BODY_STATIC && !body.spawn_only;
    const frix_soft *soft = k ? frix_model_soft(s->model, frix_model_body_at(s->model, k - 1)) : NULL;
    s->amplitude[k] = soft ? amplitudes : -1;
    amplitudes += soft ? frix_soft_view(soft).coordinates : 0;
    moving += body.kind == FRIX_BODY_DYNAMIC;
    planar += body.kind == FRIX_BODY_DYNAMIC && body.planar;
  }
  s->planar = moving > 0 && planar == moving;
  frix_vec3 g = frix_model_gravity(s->model);
  double most = fmax(fabs(g.x), fmax(fabs(g.y), fabs(g.z)));
  s->up = most == 0.0 || fabs(g.z) == most ? 2 : fabs(g.y) == most ? 1 : 0;
}

/* The ball about the middle of its corners, which may lie far from the shape's origin. */
static void surround(fx_prop *p) {
  const fx_solid *solid = &p->solid;
  p->radius = solid->radius;
  if (solid->corner_count == 0) return;
  fx_v3 low = solid->corner[0].place, high = low;
  for (int32_t k = 1; k < solid->corner_count; k++) {
    fx_v3 c = solid->corner[k].place;
    low = (fx_v3){fminf(low.x, c.x), fminf(low.y, c.y), fminf(low.z, c.z)};
    high = (fx_v3){fmaxf(high.x, c.x), fmaxf(high.y, c.y), fmaxf(high.z, c.z)};
  }
  fx_v3 middle = fx_v3_mix(low, high, 0.5f);
  p->middle = (frix_vec3){middle.x, middle.y, middle.z};
  p->radius = 0.0f;
  for (int32_t k = 0; k < solid->corner_count; k++)
    p->radius = fmaxf(p->radius, fx_v3_norm(fx_v3_sub(solid->corner[k].place, middle)));
}

static void read_shapes(fx_stage *s) {
  int32_t count = frix_model_count(s->model).shape_count;
  int segments = count > 3000 ? 16 : 64;
  s->prop = fx_grow(NULL, (size_t)count + 1, sizeof *s->prop);
  s->prop_start = fx_grow(NULL, (size_t)s->body_count + 2, sizeof *s->prop_start);
  memset(s->prop_start, 0, ((size_t)s->body_count + 2) * sizeof *s->prop_start);
  frix_shape_config shape;
  frix_body_id body;
  for (int32_t k = 0; k < count; k++)
    if (frix_model_shape(s->model, frix_model_shape_at(s->model, k), &shape, &body) == FRIX_OK)
      s->prop_start[body.index + 2]++;
  for (int32_t k = 0; k < s->body_count; k++) s->prop_start[k + 2] += s->prop_start[k + 1];
  for (int32_t k = 0; k < count; k++) {
    if (frix_model_shape(s->model, frix_model_shape_at(s->model, k), &shape, &body) != FRIX_OK) continue;
    fx_prop *p = &s->prop[s->prop_start[body.index + 1]++];
    *p = (fx_prop){.kind = shape.kind, .pose = shape.pose, .solid = fx_solid_of(s->model, &shape, segments)};
    surround(p);
  }
}

void fx_stage_create(fx_stage *s, const frix_model *model, const fx_look *look) {
  *s = (fx_stage){.model = model, .look = *look};
  s->body_count = frix_model_count(model).body_count + 1;
  s->kind = fx_grow(NULL, (size_t)s->body_count, sizeof *s->kind);
  s->pose = fx_grow(NULL, (size_t)s->body_count, sizeof *s->pose);
  s->stands = fx_grow(NULL, (size_t)s->body_count, sizeof *s->stands);
  s->amplitude = fx_grow(NULL, (size_t)s->body_count, sizeof *s->amplitude);
  read_bodies(s);
  read_shapes(s);
  fx_tones_create(&s->tones, model, look->tone, look->theme == &fx_theme_dark);
}

void fx_stage_free(fx_stage *s) {
  for (int32_t k = 0; k < frix_model_count(s->model).shape_count; k++) fx_solid_free(&s->prop[k].solid);
  void *owned[] = {s->prop, s->prop_start, s->kind, s->pose, s->stands, s->amplitude, s->seen};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  fx_tones_free(&s->tones);
  *s = (fx_stage){0};
}

/* ---- camera */

static void see_body(fx_stage *s, int32_t body, frix_pose pose, float most) {
  for (int32_t k = s->prop_start[body]; k < s->prop_start[body + 1]; k++) {
    const fx_prop *p = &s->prop[k];
    if (!(p->radius > 0.0f) || p->radius > most) continue;
    if (s->seen_count == s->seen_room) {
      s->seen_room = 2 * s->seen_room + 64;
      s->seen = fx_grow(s->seen, (size_t)s->seen_room, sizeof *s->seen);
    }
    frix_pose at = compose(compose(pose, p->pose), (frix_pose){p->middle, {1.0, 0.0, 0.0, 0.0}});
    s->seen[s->seen_count++] = (fx_ball){fx_v3_of(at.p.x, at.p.y, at.p.z), p->radius};
  }
}

void fx_stage_see(fx_stage *s, const frix_frame *frame) {
  for (int32_t k = 0; k < frame->body_count; k++)
    see_body(s, (int32_t)frame->body[k].pattern.index, frame->body[k].state.pose, INFINITY);
  for (int32_t k = 0; k < frame->contact_count; k++) {
    frix_vec3 f = frame->contact[k].force;
    s->strongest = fmax(s->strongest, sqrt(f.x * f.x + f.y * f.y + f.z * f.z));
  }
}

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

static float median(float *value, int32_t count) {
  qsort(value, (size_t)count, sizeof *value, compare_floats);
  return value[count / 2];
}

/* Bodies that flew far away do not shrink the picture. */
static void drop_strays(fx_stage *s) {
  if (s->seen_count < 4) return;
  float *value = fx_grow(NULL, (size_t)s->seen_count, sizeof *value);
  fx_v3 middle = {0, 0, 0};
  float *part[3] = {&middle.x, &middle.y, &middle.z};
  for (int axis = 0; axis < 3; axis++) {
    for (int32_t k = 0; k < s->seen_count; k++) {
      fx_v3 c = s->seen[k].center;
      value[k] = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
    }
    *part[axis] = median(value, s->seen_count);
  }
  for (int32_t k = 0; k < s->seen_count; k++)
    value[k] = fx_v3_norm(fx_v3_sub(s->seen[k].center, middle)) + s->seen[k].radius;
  float limit = 3.0f * median(value, s->seen_count);
  int32_t kept = 0;
  for (int32_t k = 0; k < s->seen_count; k++)
    if (fx_v3_norm(fx_v3_sub(s->seen[k].center, middle)) - s->seen[k].radius <= limit) s->seen[kept++] = s->seen[k];
  s->seen_count = kept;
  free(value);
}

static void find_extent(fx_stage *s) {
  fx_v3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t k = 0; k < s->seen_count; k++) {
    fx_v3 c = s->seen[k].center;
    float r = s->seen[k].radius;
    low = (fx_v3){fminf(low.x, c.x - r), fminf(low.y, c.y - r), fminf(low.z, c.z - r)};
    high = (fx_v3){fmaxf(high.x, c.x + r), fmaxf(high.y, c.y + r), fmaxf(high.z, c.z + r)};
  }
  if (s->seen_count == 0) low = (fx_v3){-1, -1, -1}, high = (fx_v3){1, 1, 1};
  s->low = low, s->high = high;
  s->middle = fx_v3_mix(low, high, 0.5f);
  s->extent = 0.0f;
  for (int32_t k = 0; k < s->seen_count; k++)
    s->extent = fmaxf(s->extent, fx_v3_norm(fx_v3_sub(s->seen[k].center, s->middle)) + s->seen[k].radius);
  if (!(s->extent > 0.0f)) s->extent = 1.0f;
}

/* Unit vector in direction (azimuth, elevation) of the world whose vertical is `up`. */
static fx_v3 direction(int up, double azimuth, double elevation) {
  double c = cos(elevation), x = c * cos(azimuth), y = c * sin(azimuth), z = sin(elevation);
  return up == 2 ? fx_v3_of(x, y, z) : up == 1 ? fx_v3_of(y, z, x) : fx_v3_of(z, x, y);
}

static fx_camera camera_towards(fx_v3 back, int up, int width, int height) {
  fx_v3 vertical = {up == 0, up == 1, up == 2};
  fx_camera c = {.forward = fx_v3_scale(-1.0f, back), .width = width, .height = height};
  fx_v3 right = fx_v3_cross(c.forward, vertical);
  if (fx_v3_norm(right) < 1e-3f) right = fx_v3_cross(c.forward, (fx_v3){up == 1, up == 2, up == 0});
  c.right = fx_v3_unit(right);
  c.up = fx_v3_cross(c.right, c.forward);
  c.shift_x = 0.5f * (float)width, c.shift_y = 0.5f * (float)height;
  return c;
}

typedef struct window {
  float left, right, bottom, top; /* slopes, or metres */
} window;

static window window_of(const fx_stage *s, const fx_camera *c, float scale) {
  window w = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (int32_t k = 0; k < s->seen_count; k++) {
    fx_v3 v = fx_camera_view(c, s->seen[k].center);
    float r = scale * s->seen[k].radius, z = c->flat ? 1.0f : fmaxf(v.z - s->seen[k].radius, 1e-3f);
    w.left = fminf(w.left, (v.x - r) / z), w.right = fmaxf(w.right, (v.x + r) / z);
    w.bottom = fminf(w.bottom, (v.y - r) / z), w.top = fmaxf(w.top, (v.y + r) / z);
  }
  if (s->seen_count == 0) w = (window){-1, 1, -1, 1};
  return w;
}

/* From a distance of a long lens, then as large as everything still fits. */
static void aim_camera(fx_stage *s) {
  int width = s->look.width * s->look.fineness, height = s->look.height * s->look.fineness;
  fx_v3 back = s->planar ? (fx_v3){0, 0, 1} : direction(s->up, s->look.azimuth, s->look.elevation);
  fx_camera c = camera_towards(back, s->planar ? 1 : s->up, width, height);
  c.flat = s->planar;
  float distance = 4.0f * s->extent;
  c.far = 2.0f * distance;
  c.eye = fx_v3_mad(s->middle, distance, back);
  window w = window_of(s, &c, 1.0f);
  const float margin = 0.86f;
  float across = fmaxf(w.right - w.left, 1e-6f), high = fmaxf(w.top - w.bottom, 1e-6f);
  c.focal = margin * fminf((float)width / across, (float)height / high);
  c.shift_x -= 0.5f * c.focal * (w.left + w.right);
  c.shift_y += 0.5f * c.focal * (w.bottom + w.top);
  if (s->planar) c.shift_y += 0.6f * fmaxf(0.0f, 0.5f * ((float)height - c.focal * high) - 0.1f * (float)height);
  s->camera = c;
}

enum { SUN_SIZE = 2048 };

static void aim_sun(fx_stage *s) {
  s->sun = direction(s->up, s->look.azimuth + 0.75, 0.95);
  fx_camera c = camera_towards(s->sun, s->up, SUN_SIZE, SUN_SIZE);
  c.flat = true;
  float reach = 1.6f * s->extent;
  c.far = 8.0f * reach;
  c.eye = fx_v3_mad(s->middle, 4.0f * reach, s->sun);
  c.focal = 0.5f * (float)SUN_SIZE / reach;
  s->sun_camera = c;
}

void fx_stage_aim(fx_stage *s) {
  drop_strays(s);
  find_extent(s);
  /* bodies that do not move belong to the picture, unless one is a landscape */
  for (int32_t k = 0; k < s->body_count; k++)
    if (s->stands[k]) see_body(s, k, s->pose[k], 2.5f * s->extent);
  find_extent(s);
  aim_camera(s);
  aim_sun(s);
}

/* ---- drawing */

static void draw_half_plane(const fx_stage *s, const frame3 *f, fx_raster *r) {
  float far = 30.0f * s->extent;
  fx_v3 up = {0, 0, 1}, back = {0, 0, -0.05f * s->extent};
  fx_v3 v[4];
  for (int k = 0; k < 4; k++) {
    fx_v3 corner = {k == 0 || k == 3 ? -far : far, k < 2 ? 0.0f : -far, 0.0f};
    v[k] = fx_v3_add(fx_v3_add(f->origin, turn(f, corner)), back);
  }
  fx_ink ink = ink_of(s->look.theme->ground, FX_PAINT_PLAIN), rim = ink_of(s->look.theme->line, FX_PAINT_PLAIN);
  fx_raster_triangle(r, (fx_corner[]){{v[0], up}, {v[1], up}, {v[2], up}}, ink);
  fx_raster_triangle(r, (fx_corner[]){{v[0], up}, {v[2], up}, {v[3], up}}, ink);
  fx_v3 thick = fx_v3_mad(fx_v3_scale(-0.008f * s->extent, f->y), 0.01f * s->extent, up);
  fx_v3 low[2] = {fx_v3_add(v[0], thick), fx_v3_add(v[1], thick)};
  fx_raster_triangle(r, (fx_corner[]){{v[0], up}, {v[1], up}, {low[1], up}}, rim);
  fx_raster_triangle(r, (fx_corner[]){{v[0], up}, {low[1], up}, {low[0], up}}, rim);
}

static void draw_solid(const fx_stage *s, const fx_solid *solid, const frame3 *f, fx_v3 colour, fx_raster *r) {
  fx_paint paint = s->planar ? FX_PAINT_PLAIN : FX_PAINT_LIT;
  fx_ink ink = ink_of(colour, paint), dark = ink_of(fx_v3_scale(0.62f, colour), paint);
  for (int32_t k = 0; k < solid->corner_count; k += 3) {
    fx_corner corner[3];
    for (int i = 0; i < 3; i++)
      corner[i] =
          (fx_corner){fx_v3_add(f->origin, turn(f, solid->corner[k + i].place)), turn(f, solid->corner[k + i].normal)};
    fx_raster_triangle(r, corner, solid->edge[k / 3] ? dark : ink);
  }
}

/* Floors go far; walls end a little beyond the bodies between them, or they would be all there is to see. */
static void draw_plane(const fx_stage *s, const frame3 *f, fx_raster *r) {
  fx_v3 vertical = {s->up == 0, s->up == 1, s->up == 2};
  bool wall = fabsf(fx_v3_dot(f->z, vertical)) < 0.3f;
  float beyond = wall ? 0.05f * s->extent : 14.0f * s->extent;
  fx_v3 more = {beyond, beyond, beyond};
  fx_raster_plane(r, f->origin, f->z, fx_v3_sub(s->low, more), fx_v3_add(s->high, more),
                  ink_of(s->look.theme->ground, FX_PAINT_GROUND));
}

static void draw_soft(const fx_stage *s, int32_t body, const frix_frame *frame, const frame3 *f, fx_v3 colour,
                      fx_raster *r) {
  const frix_soft *soft = frix_model_soft(s->model, frix_model_body_at(s->model, body - 1));
  bool known = s->amplitude[body] + frix_soft_view(soft).coordinates <= frame->amplitude_count;
  fx_solid solid = fx_solid_of_soft(soft, known ? frame->amplitude + s->amplitude[body] : NULL);
  draw_solid(s, &solid, f, colour, r);
  fx_solid_free(&solid);
}

static void draw_body(const fx_stage *s, int32_t body, fx_v3 colour, frix_pose pose, const frix_frame *frame,
                      fx_raster *r) {
  if (s->kind[body] == FRIX_BODY_STATIC) colour = s->look.theme->still;
  if (s->kind[body] == FRIX_BODY_KINEMATIC) colour = fx_hex(0x7f8ea3);
  for (int32_t k = s->prop_start[body]; k < s->prop_start[body + 1]; k++) {
    const fx_prop *p = &s->prop[k];
    frame3 f = frame_of(compose(pose, p->pose));
    if (p->kind == FRIX_SHAPE_SPHERE) {
      fx_raster_ball(r, f.origin, p->radius, ink_of(colour, FX_PAINT_LIT));
    } else if (p->kind == FRIX_SHAPE_PLANE) {
      if (!r->near) draw_plane(s, &f, r); /* a plane throws no shadow worth seeing */
    } else if (p->kind == FRIX_SHAPE_HALF_PLANE) {
      draw_half_plane(s, &f, r);
    } else if (s->amplitude[body] >= 0) {
      draw_soft(s, body, frame, &f, colour, r);
    } else {
      draw_solid(s, &p->solid, &f, colour, r);
    }
  }
}

/* A body of the frame, by how far from the eye it is. */
typedef struct ranked {
  float depth;
  int32_t place;
} ranked;

static int compare_depths(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return x->depth < y->depth ? -1 : x->depth > y->depth ? 1 : x->place < y->place ? -1 : x->place > y->place;
}

/* Near ones first: they hide most of the others. */
void fx_stage_draw(const fx_stage *s, const frix_frame *frame, fx_raster *r) {
  bool *moved = fx_grow(NULL, (size_t)s->body_count, sizeof *moved);
  ranked *order = fx_grow(NULL, (size_t)frame->body_count, sizeof *order);
  fx_v3 *colour = fx_grow(NULL, (size_t)frame->body_count + 1, sizeof *colour);
  fx_tones_of(&s->tones, frame, colour);
  memset(moved, 0, (size_t)s->body_count * sizeof *moved);
  for (int32_t k = 0; k < frame->gone_count; k++) moved[frame->gone[k].index] = true;
  for (int32_t k = 0; k < frame->body_count; k++) {
    frix_vec3 p = frame->body[k].state.center;
    order[k] = (ranked){fx_camera_view(&r->camera, fx_v3_of(p.x, p.y, p.z)).z, k};
  }
  qsort(order, (size_t)frame->body_count, sizeof *order, compare_depths);
  for (int32_t k = 0; k < frame->body_count; k++) {
    const frix_frame_body *b = &frame->body[order[k].place];
    if (b->id.index == b->pattern.index) moved[b->pattern.index] = true;
    draw_body(s, (int32_t)b->pattern.index, colour[order[k].place], b->state.pose, frame, r);
  }
  for (int32_t k = 0; k < s->body_count; k++)
    if (s->stands[k] && !moved[k]) draw_body(s, k, s->look.theme->still, s->pose[k], frame, r);
  free(order);
  free(colour);
  free(moved);
}

/* ---- contact forces */

static void draw_arrow(const fx_stage *s, fx_v3 from, fx_v3 along, float width, fx_ink ink, fx_raster *r) {
  float length = fx_v3_norm(along), head = fminf(3.2f * width, 0.6f * length);
  if (!(length > 0.0f)) return;
  fx_v3 d = fx_v3_scale(1.0f / length, along), x = fx_v3_unit(fx_v3_cross(d, s->camera.forward));
  fx_v3 y = fx_v3_cross(x, d), neck = fx_v3_mad(from, length - head, d), tip = fx_v3_add(from, along);
  enum { SIDES = 12 };
  for (int k = 0; k < SIDES; k++) {
    fx_v3 n[2];
    for (int i = 0; i < 2; i++) {
      float angle = 6.2831853f * (float)(k + i) / SIDES;
      n[i] = fx_v3_mad(fx_v3_scale(cosf(angle), x), sinf(angle), y);
    }
    fx_corner a = {fx_v3_mad(from, 0.5f * width, n[0]), n[0]}, b = {fx_v3_mad(from, 0.5f * width, n[1]), n[1]};
    fx_corner c = {fx_v3_mad(neck, 0.5f * width, n[1]), n[1]}, e = {fx_v3_mad(neck, 0.5f * width, n[0]), n[0]};
    fx_raster_triangle(r, (fx_corner[]){a, b, c}, ink);
    fx_raster_triangle(r, (fx_corner[]){a, c, e}, ink);
    fx_corner g = {fx_v3_mad(neck, 1.3f * width, n[0]), n[0]}, h = {fx_v3_mad(neck, 1.3f * width, n[1]), n[1]};
    fx_raster_triangle(r, (fx_corner[]){g, h, {tip, n[0]}}, ink);
    fx_raster_triangle(r, (fx_corner[]){g, h, {neck, fx_v3_scale(-1.0f, d)}}, ink);
  }
}

/* The force on the upper body of each pair; blue sticks, orange slides. */
void fx_stage_arrows(const fx_stage *s, const frix_frame *frame, fx_raster *r) {
  fx_v3 vertical = s->planar ? (fx_v3){0, 1, 0} : (fx_v3){s->up == 0, s->up == 1, s->up == 2};
  float longest = 0.32f * s->extent, width = 0.012f * s->extent;
  for (int32_t k = 0; k < frame->contact_count; k++) {
    const frix_contact_report *c = &frame->contact[k];
    if (c->phase == FRIX_CONTACT_END || !(s->strongest > 0.0)) continue;
    fx_v3 force = fx_v3_of(c->force.x, c->force.y, c->force.z);
    if (fx_v3_dot(force, vertical) < 0.0f) force = fx_v3_scale(-1.0f, force);
    float share = fx_v3_norm(force) / (float)s->strongest;
    if (share < 1e-4f) continue;
    fx_v3 from = fx_v3_of(c->point.x, c->point.y, c->point.z);
    if (s->planar) from.z += 0.2f * s->extent;
    fx_ink ink = ink_of(fx_hex(c->state == FRIX_CONTACT_SLIP ? 0xe0631b : 0x1f6fd1), FX_PAINT_PLAIN);
    draw_arrow(s, from, fx_v3_scale(longest * sqrtf(share), fx_v3_unit(force)), width * (0.4f + 0.6f * sqrtf(share)),
               ink, r);
    fx_raster_ball(r, from, 0.8f * width, ink);
  }
}
