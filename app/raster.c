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
    r->near = calloc(count, sizeof *r->near);
  } else {
    r->sample = calloc(count, sizeof *r->sample);
  }
  return r->near || r->sample;
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

static int16_t to_short(float x) { return (int16_t)lrintf(32767.0f * fminf(1.0f, fmaxf(-1.0f, x))); }

static void put(fx_raster *r, size_t at, float near, fx_v3 normal, fx_ink ink) {
  fx_sample *s = &r->sample[at];
  if (near <= s->near) return;
  s->near = near;
  normal = fx_v3_unit(normal);
  s->normal[0] = to_short(normal.x), s->normal[1] = to_short(normal.y), s->normal[2] = to_short(normal.z);
  memcpy(s->rgb, ink.rgb, 3);
  s->paint = ink.paint;
}

static bool behind(const fx_raster *r, size_t at, float near) {
  return near <= (r->near ? r->near[at] : r->sample[at].near);
}

static int clamp_int(float x, int low, int high) { return x < (float)low ? low : x > (float)high ? high : (int)x; }

/* ---- triangles */

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
  float inverse = 1.0f / area;
  for (int j = top; j < bottom; j++)
    for (int i = left; i < right; i++) {
      float px = (float)i + 0.5f, py = (float)j + 0.5f;
      float a = ((x[1] - px) * (y[2] - py) - (x[2] - px) * (y[1] - py)) * inverse;
      float b = ((x[2] - px) * (y[0] - py) - (x[0] - px) * (y[2] - py)) * inverse;
      float d = 1.0f - a - b;
      if (a < 0.0f || b < 0.0f || d < 0.0f) continue;
      float n = a * near[0] + b * near[1] + d * near[2];
      size_t at = (size_t)j * (size_t)c->width + (size_t)i;
      if (behind(r, at, n)) continue;
      if (r->near) {
        r->near[at] = n;
        continue;
      }
      fx_v3 normal = fx_v3_mad(fx_v3_mad(fx_v3_scale(a, corner[0].normal), b, corner[1].normal), d, corner[2].normal);
      fx_v3 origin, ray;
      fx_camera_ray(c, px, py, &origin, &ray);
      if (fx_v3_dot(normal, ray) > 0.0f) normal = fx_v3_scale(-1.0f, normal); /* surfaces have two sides */
      put(r, at, n, normal, ink);
    }
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
  int left = clamp_int(x - size, 0, c->width), right = clamp_int(x + size + 2.0f, 0, c->width);
  int top = clamp_int(y - size, 0, c->height), bottom = clamp_int(y + size + 2.0f, 0, c->height);
  for (int j = top; j < bottom; j++)
    for (int i = left; i < right; i++) {
      float sx = ((float)i + 0.5f - c->shift_x) / c->focal, sy = (c->shift_y - (float)j - 0.5f) / c->focal;
      fx_v3 from = c->flat ? (fx_v3){sx, sy, 0.0f} : (fx_v3){0.0f, 0.0f, 0.0f};
      fx_v3 ray = c->flat ? (fx_v3){0.0f, 0.0f, 1.0f} : (fx_v3){sx, sy, 1.0f};
      fx_v3 d = fx_v3_sub(view, from);
      float length2 = fx_v3_dot(ray, ray), along = fx_v3_dot(d, ray) / length2;
      fx_v3 off = fx_v3_mad(d, -along, ray);
      float rest = radius * radius - fx_v3_dot(off, off);
      if (rest < 0.0f) continue;
      float t = along - sqrtf(rest / length2);
      float n = near_of(c, t);
      size_t at = (size_t)j * (size_t)c->width + (size_t)i;
      if (t <= 0.0f || behind(r, at, n)) continue;
      if (r->near) {
        r->near[at] = n;
        continue;
      }
      fx_v3 v = fx_v3_sub(fx_v3_mad(from, t, ray), view);
      fx_v3 normal = fx_v3_mad(fx_v3_mad(fx_v3_scale(v.x, c->right), v.y, c->up), v.z, c->forward);
      put(r, at, n, normal, ink);
    }
}

/* ---- planes */

static bool between(fx_v3 p, fx_v3 low, fx_v3 high) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

void fx_raster_plane(fx_raster *r, fx_v3 point, fx_v3 normal, fx_v3 low, fx_v3 high, fx_ink ink) {
  const fx_camera *c = &r->camera;
  for (int j = 0; j < c->height; j++)
    for (int i = 0; i < c->width; i++) {
      fx_v3 origin, ray;
      fx_camera_ray(c, (float)i + 0.5f, (float)j + 0.5f, &origin, &ray);
      float slope = fx_v3_dot(ray, normal);
      if (slope > -1e-6f) continue;
      float t = fx_v3_dot(fx_v3_sub(point, origin), normal) / slope;
      if (t <= 1e-4f) continue;
      float n = near_of(c, t);
      size_t at = (size_t)j * (size_t)c->width + (size_t)i;
      if (behind(r, at, n)) continue;
      fx_v3 place = fx_v3_mad(origin, t, ray);
      if (!between(place, low, high)) continue;
      if (r->near) {
        r->near[at] = n;
      } else {
        put(r, at, n, normal, ink);
      }
    }
}
