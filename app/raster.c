/* A small rasteriser. Depth is kept as 1/z (parallel rays: 1 - z/far), which is linear over a triangle on the screen.
 */
#include "raster.h"

#include <stdlib.h>
#include <string.h>

static float near_of(const fx_camera *c, float z) { return c->flat ? 1.0f - z / c->far : 1.0f / z; }

bool fx_camera_project(const fx_camera *c, fx_v3 view, float *x, float *y, float *near) {
  float scale = c->focal;
  if (view.z < 1e-4f) return false;
  if (!c->flat) scale /= view.z;
  *near = near_of(c, view.z);
  *x = c->shift_x + scale * view.x;
  *y = c->shift_y - scale * view.y;
  return true;
}

float fx_camera_depth(const fx_camera *c, float near) { return c->flat ? c->far * (1.0f - near) : 1.0f / near; }

void fx_camera_ray(const fx_camera *c, float x, float y, fx_v3 *origin, fx_v3 *direction) {
  float sx = (x - c->shift_x) / c->focal, sy = (c->shift_y - y) / c->focal;
  fx_v3 across = fx_v3_mad(fx_v3_scale(sx, c->right), sy, c->up);
  *origin = c->flat ? fx_v3_add(c->eye, across) : c->eye;
  *direction = c->flat ? c->forward : fx_v3_add(c->forward, across);
}

bool fx_raster_create(fx_raster *r, const fx_camera *camera, bool depth_only) {
  size_t count = (size_t)camera->width * (size_t)camera->height;
  *r = (fx_raster){.camera = *camera};
  if (depth_only) {
    r->near = malloc(count * sizeof *r->near);
  } else {
    r->sample = malloc(count * sizeof *r->sample);
  }
  if (!r->near && !r->sample) return false;
  fx_raster_clear(r); /* pages that are read before they are written to would be fetched twice */
  return true;
}

void fx_raster_free(fx_raster *r) {
  free(r->near);
  free(r->sample);
  *r = (fx_raster){0};
}

void fx_raster_clear(fx_raster *r) {
  size_t count = (size_t)r->camera.width * (size_t)r->camera.height;
  if (r->near) memset(r->near, 0, count * sizeof *r->near);
  if (r->sample) memset(r->sample, 0, count * sizeof *r->sample);
}

/* ---- samples */

static int16_t to_short(float x) {
  float scaled = 32767.0f * (x > 1.0f ? 1.0f : x < -1.0f ? -1.0f : x);
  return (int16_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f);
}

/* All of a sample but its depth; the normal is a unit vector. */
static fx_sample sample_of(fx_v3 normal, fx_ink ink) {
  fx_sample s = {.normal = {to_short(normal.x), to_short(normal.y), to_short(normal.z)}, .paint = ink.paint};
  memcpy(s.rgb, ink.rgb, 3);
  return s;
}

static bool behind(const fx_raster *r, size_t at, float near) {
  return near <= (r->near ? r->near[at] : r->sample[at].near);
}

static void put(fx_raster *r, size_t at, float near, fx_sample s) {
  s.near = near;
  r->sample[at] = s;
}

static int clamp_int(float x, int low, int high) { return x < (float)low ? low : x > (float)high ? high : (int)x; }

/* ---- triangles */

/* A quantity that is linear over a face: i samples right and j down from its upper left it is at + i * x + j * y. (From
 * the picture's own corner small faces would lose all digits.) */
typedef struct plane {
  float at, x, y;
} plane;

/* With the values 1, 0, 0 in the corners, times `inverse` of twice the area; at the middles of samples. */
static plane weight_of(float ax, float ay, float bx, float by, float inverse) {
  plane w = {(ax * by - bx * ay) * inverse, (ay - by) * inverse, (bx - ax) * inverse};
  w.at += 0.5f * (w.x + w.y);
  return w;
}

/* Cuts the samples of a row to those where a weight is not negative. */
static void cut_row(float at, float slope, int *from, int *to) {
  if (slope == 0.0f) {
    if (at < 0.0f) *to = *from;
    return;
  }
  float zero = -at / slope; /* a sample's width is left for rounding: each is asked again */
  if (slope > 0.0f && zero - 1.0f > (float)*from) *from = zero - 1.0f < (float)*to ? (int)(zero - 1.0f) : *to;
  if (slope < 0.0f && zero + 2.0f < (float)*to) *to = zero + 2.0f > (float)*from ? (int)(zero + 2.0f) : *from;
}

typedef struct face {
  const fx_corner *corner;
  int left, top;
  plane weight[3], near;
  fx_ink ink;
  bool flat; /* one normal for all */
  fx_sample same;
} face;

static void face_sample(fx_raster *r, const face *f, const float w[3], int i, int j, size_t at, float near) {
  if (r->near) {
    r->near[at] = near;
  } else if (f->flat) {
    put(r, at, near, f->same);
  } else {
    fx_v3 normal = fx_v3_mad(fx_v3_mad(fx_v3_scale(w[0], f->corner[0].normal), w[1], f->corner[1].normal), w[2],
                             f->corner[2].normal);
    fx_v3 origin, ray;
    fx_camera_ray(&r->camera, (float)i + 0.5f, (float)j + 0.5f, &origin, &ray);
    if (fx_v3_dot(normal, ray) > 0.0f) normal = fx_v3_scale(-1.0f, normal); /* surfaces have two sides */
    put(r, at, near, sample_of(fx_v3_unit(normal), f->ink));
  }
}

/* Row j of a face that is `to` samples wide. */
static void face_row(fx_raster *r, const face *f, int j, int to) {
  float start[3], down = (float)(j - f->top);
  int from = 0;
  for (int k = 0; k < 3; k++) {
    start[k] = f->weight[k].at + down * f->weight[k].y;
    cut_row(start[k], f->weight[k].x, &from, &to);
  }
  float near = f->near.at + down * f->near.y;
  size_t at = (size_t)j * (size_t)r->camera.width + (size_t)(f->left + from);
  for (int i = from; i < to; i++, at++) {
    float n = near + (float)i * f->near.x;
    if (behind(r, at, n)) continue;
    float w[3];
    for (int k = 0; k < 3; k++) w[k] = start[k] + (float)i * f->weight[k].x;
    if (w[0] >= 0.0f && w[1] >= 0.0f && w[2] >= 0.0f) face_sample(r, f, w, f->left + i, j, at, n);
  }
}

static bool same(fx_v3 a, fx_v3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void fx_raster_triangle(fx_raster *r, const fx_corner corner[3], fx_ink ink) {
  const fx_camera *c = &r->camera;
  float x[3], y[3], near[3];
  for (int k = 0; k < 3; k++)
    if (!fx_camera_project(c, fx_camera_view(c, corner[k].place), &x[k], &y[k], &near[k])) return;
  float area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  if (area == 0.0f || !isfinite(area)) return;
  int left = clamp_int(fminf(x[0], fminf(x[1], x[2])) - 0.5f, 0, c->width);
  int right = clamp_int(fmaxf(x[0], fmaxf(x[1], x[2])) + 1.5f, 0, c->width);
  int top = clamp_int(fminf(y[0], fminf(y[1], y[2])) - 0.5f, 0, c->height);
  int bottom = clamp_int(fmaxf(y[0], fmaxf(y[1], y[2])) + 1.5f, 0, c->height);
  if (left >= right || top >= bottom) return;
  face f = {.corner = corner, .ink = ink, .left = left, .top = top};
  f.flat = same(corner[0].normal, corner[1].normal) && same(corner[0].normal, corner[2].normal);
  for (int k = 0; k < 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    float dx = (float)left, dy = (float)top;
    f.weight[k] = weight_of(x[a] - dx, y[a] - dy, x[b] - dx, y[b] - dy, 1.0f / area);
    f.near.at += near[k] * f.weight[k].at, f.near.x += near[k] * f.weight[k].x, f.near.y += near[k] * f.weight[k].y;
  }
  if (f.flat) { /* the side that is seen is the same everywhere */
    fx_v3 to = c->flat ? c->forward : fx_v3_sub(corner[0].place, c->eye), normal = corner[0].normal;
    f.same = sample_of(fx_v3_unit(fx_v3_dot(normal, to) > 0.0f ? fx_v3_scale(-1.0f, normal) : normal), ink);
  }
  for (int j = top; j < bottom; j++) face_row(r, &f, j, right - left);
}

/* ---- spheres: the ray of each sample meets them */

void fx_raster_ball(fx_raster *r, fx_v3 center, float radius, fx_ink ink) {
  const fx_camera *c = &r->camera;
  fx_v3 view = fx_camera_view(c, center);
  float x, y, near, size;
  if (!fx_camera_project(c, view, &x, &y, &near)) return;
  if (!c->flat && view.z <= 1.05f * radius) return;
  /* the outline of a sphere off the axis is an ellipse: a circle of the sphere's distance covers it */
  float slope = c->flat ? 0.0f : fmaxf(fabsf(view.x), fabsf(view.y)) / view.z;
  size = c->flat ? c->focal * radius : c->focal * radius * (1.0f + slope) / (view.z - radius);
  float unit = 1.0f / c->focal;
  int top = clamp_int(y - size, 0, c->height), bottom = clamp_int(y + size + 2.0f, 0, c->height);
  float most = near_of(c, view.z - radius); /* no part of it is nearer */
  for (int j = top; j < bottom; j++) {
    float sy = (c->shift_y - (float)j - 0.5f) * unit, down = fmaxf(0.0f, fabsf((float)j + 0.5f - y) - 1.0f);
    float half = sqrtf(fmaxf(0.0f, size * size - down * down));
    int left = clamp_int(x - half, 0, c->width), right = clamp_int(x + half + 2.0f, 0, c->width);
    size_t at = (size_t)j * (size_t)c->width + (size_t)left;
    for (int i = left; i < right; i++, at++) {
      if (behind(r, at, most)) continue;
      float sx = ((float)i + 0.5f - c->shift_x) * unit;
      fx_v3 from = c->flat ? (fx_v3){sx, sy, 0.0f} : (fx_v3){0.0f, 0.0f, 0.0f};
      fx_v3 ray = c->flat ? (fx_v3){0.0f, 0.0f, 1.0f} : (fx_v3){sx, sy, 1.0f};
      fx_v3 d = fx_v3_sub(view, from);
      float length2 = fx_v3_dot(ray, ray), along = fx_v3_dot(d, ray) / length2;
      fx_v3 off = fx_v3_mad(d, -along, ray);
      float rest = radius * radius - fx_v3_dot(off, off);
      if (rest < 0.0f) continue;
      float t = along - sqrtf(rest / length2);
      float n = near_of(c, t);
      if (t <= 0.0f || behind(r, at, n)) continue;
      if (r->near) {
        r->near[at] = n;
        continue;
      }
      fx_v3 v = fx_v3_scale(1.0f / radius, fx_v3_sub(fx_v3_mad(from, t, ray), view));
      fx_v3 normal = fx_v3_mad(fx_v3_mad(fx_v3_scale(v.x, c->right), v.y, c->up), v.z, c->forward);
      put(r, at, n, sample_of(normal, ink));
    }
  }
}

/* ---- planes */

static bool between(fx_v3 p, fx_v3 low, fx_v3 high) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

/* Where in the picture a box can be. */
typedef struct screen {
  int left, right, top, bottom;
} screen;

static screen screen_of(const fx_camera *c, fx_v3 low, fx_v3 high) {
  float left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
  for (int k = 0; k < 8; k++) {
    fx_v3 corner = {k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z};
    float x, y, near;
    if (!fx_camera_project(c, fx_camera_view(c, corner), &x, &y, &near)) return (screen){0, c->width, 0, c->height};
    left = fminf(left, x), right = fmaxf(right, x), top = fminf(top, y), bottom = fmaxf(bottom, y);
  }
  return (screen){clamp_int(left - 1.0f, 0, c->width), clamp_int(right + 2.0f, 0, c->width),
                  clamp_int(top - 1.0f, 0, c->height), clamp_int(bottom + 2.0f, 0, c->height)};
}

/* One row of samples of a plane: their rays begin at origin + i * move and go along first + i * turn. */
typedef struct plane_row {
  fx_v3 origin, move, first, turn;
  float height, climb, slope, bend; /* of the plane over the ray's origin, of the ray against it, and how they change */
} plane_row;

static plane_row row_of(const fx_camera *c, int j, fx_v3 point, fx_v3 normal) {
  plane_row p;
  fx_v3 origin, ray;
  fx_camera_ray(c, 0.5f, (float)j + 0.5f, &p.origin, &p.first);
  fx_camera_ray(c, 1.5f, (float)j + 0.5f, &origin, &ray);
  p.move = fx_v3_sub(origin, p.origin), p.turn = fx_v3_sub(ray, p.first);
  p.height = fx_v3_dot(fx_v3_sub(point, p.origin), normal), p.climb = -fx_v3_dot(p.move, normal);
  p.slope = fx_v3_dot(p.first, normal), p.bend = fx_v3_dot(p.turn, normal);
  return p;
}

/* Whether sample i sees the plane from its outside, between the corners. */
static bool row_meets(const plane_row *p, int i, fx_v3 low, fx_v3 high) {
  float across = (float)i, s = p->slope + across * p->bend, h = p->height + across * p->climb;
  if (s > -1e-6f || h > 1e-4f * s) return false; /* from below, or behind the eye */
  fx_v3 from = fx_v3_mad(p->origin, across, p->move);
  return between(fx_v3_mad(from, h / s, fx_v3_mad(p->first, across, p->turn)), low, high);
}

/* Samples of one stretch that sees nothing but the plane, or bodies in front of it. */
static void fill_stretch(fx_sample *to, int count, float near, float step, fx_sample all) {
  for (int i = 0; i < count; i++) {
    float n = near + (float)i * step;
    if (n <= to[i].near) continue;
    to[i] = all;
    to[i].near = n;
  }
}

/* What is seen is convex: a stretch whose ends are seen is seen whole, and 1/z is linear over it. */
void fx_raster_plane(fx_raster *r, fx_v3 point, fx_v3 normal, fx_v3 low, fx_v3 high, fx_ink ink) {
  enum { STRETCH = 32 };
  const fx_camera *c = &r->camera;
  fx_sample all = sample_of(fx_v3_unit(normal), ink);
  screen box = screen_of(c, low, high);
  for (int j = box.top; j < box.bottom; j++) {
    plane_row p = row_of(c, j, point, normal);
    float unit = 1.0f / p.height;
    for (int start = box.left; start < box.right; start += STRETCH) {
      int end = start + STRETCH < box.right ? start + STRETCH : box.right;
      if (p.slope + (float)start * p.bend > -1e-6f && p.slope + (float)(end - 1) * p.bend > -1e-6f) continue;
      bool whole = row_meets(&p, start, low, high) && row_meets(&p, end - 1, low, high);
      size_t at = (size_t)j * (size_t)c->width + (size_t)start;
      if (whole && r->sample && !c->flat) {
        fill_stretch(r->sample + at, end - start, (p.slope + (float)start * p.bend) * unit, p.bend * unit, all);
        continue;
      }
      for (int i = start; i < end; i++, at++) {
        float s = p.slope + (float)i * p.bend;
        float n = c->flat ? near_of(c, (p.height + (float)i * p.climb) / s) : s * unit;
        if (behind(r, at, n) || (!whole && !row_meets(&p, i, low, high))) continue;
        if (r->near)
          r->near[at] = n;
        else
          put(r, at, n, all);
      }
    }
  }
}
