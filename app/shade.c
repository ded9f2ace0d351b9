/* Samples to pixels: sun with soft shadows, light from the sky dimmed in corners, averaged in linear light.
 *
 * Shadows come from a depth picture taken from the sun; corners are found by looking at the depths around a pixel. */
#include "stage.h"

#include "app.h"

#include <stdlib.h>

static float linear_of(float srgb) { return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f); }

static uint8_t srgb_of(float linear) {
  float v = fminf(1.0f, fmaxf(0.0f, linear));
  v = v <= 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1.0f / 2.4f) - 0.055f;
  return (uint8_t)lrintf(255.0f * v);
}

enum { TAPS = 256 };

typedef struct lighting {
  const fx_stage *stage;
  const fx_raster *view, *shadow;
  float table[256];   /* sRGB byte -> linear */
  fx_v3 *sky;         /* by row of samples */
  fx_v3 line;         /* of the floor's grid */
  float cell;         /* its spacing */
  float tap[TAPS][2]; /* places around a sample of the shadow, by quarters of a disc in turn */
} lighting;

static fx_v3 linear_colour(fx_v3 srgb) { return (fx_v3){linear_of(srgb.x), linear_of(srgb.y), linear_of(srgb.z)}; }

static fx_v3 normal_of(const fx_sample *s) {
  return (fx_v3){(float)s->normal[0] / 32767.0f, (float)s->normal[1] / 32767.0f, (float)s->normal[2] / 32767.0f};
}

/* Scattered bits, the same in every picture. */
static uint32_t scatter(int i, int j, int k) {
  uint32_t h = (uint32_t)i * 374761393u + (uint32_t)j * 668265263u + (uint32_t)k * 2246822519u;
  h = (h ^ h >> 13) * 1274126177u;
  return h ^ h >> 16;
}

static float noise(int i, int j, int k) { return (float)(scatter(i, j, k) & 0xffff) / 65536.0f; }

/* What does not change over the picture. */
static void prepare(lighting *l) {
  const fx_stage *s = l->stage;
  const fx_theme *t = s->look.theme;
  int rows = l->view->camera.height;
  l->sky = fx_grow(NULL, (size_t)rows, sizeof *l->sky);
  for (int j = 0; j < rows; j++) l->sky[j] = linear_colour(fx_v3_mix(t->sky[0], t->sky[1], (float)j / (float)rows));
  for (int k = 0; k < 256; k++) l->table[k] = linear_of((float)k / 255.0f);
  for (int k = 0; k < TAPS; k++) {
    float angle = 1.5707963f * ((float)(k % 4) + noise(k, 1, 2)), far = 2.6f * sqrtf(noise(k, 5, 9));
    l->tap[k][0] = far * cosf(angle), l->tap[k][1] = far * sinf(angle);
  }
  l->line = linear_colour(t->line);
  l->cell = powf(10.0f, floorf(log10f(s->extent)));
  if (s->extent / l->cell < 2.0f) l->cell *= 0.5f;
}

/* ---- shadows */

/* Share of the sun that reaches a place, from four looks around it. */
static float sunlit(const lighting *l, fx_v3 place, fx_v3 normal, int i, int j) {
  const fx_camera *c = &l->shadow->camera;
  float texel = 1.0f / c->focal, x, y, near, lit = 0.0f;
  place = fx_v3_mad(place, 1.5f * texel, normal);
  if (!fx_camera_project(c, fx_camera_view(c, place), &x, &y, &near)) return 1.0f;
  float bias = 1.5f * texel / c->far;
  const float(*tap)[2] = l->tap + 4 * (scatter(i, j, 0) % (TAPS / 4));
  for (int k = 0; k < 4; k++) {
    int a = (int)(x + tap[k][0]), b = (int)(y + tap[k][1]);
    bool inside = a >= 0 && b >= 0 && a < c->width && b < c->height;
    lit += inside && l->shadow->near[(size_t)b * (size_t)c->width + (size_t)a] > near + bias ? 0.0f : 0.25f;
  }
  return lit;
}

/* ---- corners */

/* Light of the sky that reaches the middle of a pixel: 1 in the open. */
static float openness(const lighting *l, int i, int j) {
  const fx_camera *c = &l->view->camera;
  const fx_sample *s = &l->view->sample[(size_t)j * (size_t)c->width + (size_t)i];
  fx_v3 origin, ray, normal = normal_of(s);
  fx_camera_ray(c, (float)i + 0.5f, (float)j + 0.5f, &origin, &ray);
  float depth = fx_camera_depth(c, s->near);
  fx_v3 place = fx_v3_mad(origin, depth, ray);
  float reach = 0.16f * l->stage->extent, radius = c->focal * reach / depth, hidden = 0.0f;
  enum { LOOKS = 20 };
  for (int k = 0; k < LOOKS; k++) {
    float angle = 2.399963f * (float)k + 6.2831853f * noise(i, j, 3);
    float far = radius * sqrtf(((float)k + 0.5f) / LOOKS);
    int a = i + (int)(far * cosf(angle)), b = j + (int)(far * sinf(angle));
    if (a < 0 || b < 0 || a >= c->width || b >= c->height) continue;
    const fx_sample *o = &l->view->sample[(size_t)b * (size_t)c->width + (size_t)a];
    if (o->paint == FX_PAINT_NONE) continue;
    fx_camera_ray(c, (float)a + 0.5f, (float)b + 0.5f, &origin, &ray);
    fx_v3 to = fx_v3_sub(fx_v3_mad(origin, fx_camera_depth(c, o->near), ray), place);
    float length = fx_v3_norm(to);
    if (length > reach || length <= 0.0f) continue;
    float rise = fx_v3_dot(to, normal) / length;
    hidden += fmaxf(0.0f, rise - 0.08f) * (1.0f - length / reach);
  }
  return fmaxf(0.25f, 1.0f - 2.2f * hidden / LOOKS * 1.6f);
}

/* ---- the floor */

/* Distance to the nearest line of a grid, in cells. */
static float to_line(float x) { return fabsf(x - floorf(x + 0.5f)); }

static fx_v3 floor_colour(const lighting *l, fx_v3 place, fx_v3 normal, fx_v3 base) {
  fx_v3 x = fx_v3_unit(fx_v3_cross(fabsf(normal.y) < 0.9f ? (fx_v3){0, 1, 0} : (fx_v3){1, 0, 0}, normal));
  fx_v3 y = fx_v3_cross(normal, x);
  float line = fminf(to_line(fx_v3_dot(place, x) / l->cell), to_line(fx_v3_dot(place, y) / l->cell));
  return line < 0.012f ? l->line : base;
}

/* ---- one sample */

static fx_v3 shade(const lighting *l, int i, int j, float open) {
  const fx_stage *stage = l->stage;
  const fx_camera *c = &l->view->camera;
  const fx_sample *s = &l->view->sample[(size_t)j * (size_t)c->width + (size_t)i];
  if (s->paint == FX_PAINT_NONE) return l->sky[j];
  fx_v3 base = {l->table[s->rgb[0]], l->table[s->rgb[1]], l->table[s->rgb[2]]};
  if (s->paint == FX_PAINT_PLAIN && stage->planar) return base;
  fx_v3 origin, ray, normal = normal_of(s);
  fx_camera_ray(c, (float)i + 0.5f, (float)j + 0.5f, &origin, &ray);
  fx_v3 place = fx_v3_mad(origin, fx_camera_depth(c, s->near), ray);
  fx_v3 vertical = {stage->up == 0, stage->up == 1, stage->up == 2};
  float facing = fmaxf(0.0f, fx_v3_dot(normal, stage->sun));
  if (s->paint == FX_PAINT_PLAIN) return fx_v3_scale(0.75f + 0.3f * facing, base);
  if (s->paint == FX_PAINT_GROUND) base = floor_colour(l, place, normal, base);
  float sun = facing > 0.0f ? facing * sunlit(l, place, normal, i, j) : 0.0f;
  float above = 0.5f + 0.5f * fx_v3_dot(normal, vertical);
  float light = stage->look.theme->sun * sun + stage->look.theme->ambient * open * (0.45f + 0.55f * above);
  fx_v3 colour = fx_v3_scale(light, base);
  if (s->paint == FX_PAINT_GROUND) { /* the floor fades into the sky */
    float far = fx_v3_norm(fx_v3_sub(place, stage->middle)) / stage->extent;
    float fade = fminf(1.0f, fmaxf(0.0f, (far - 2.0f) / 9.0f));
    return fx_v3_mix(colour, l->sky[j], fade * (2.0f - fade));
  }
  fx_v3 half = fx_v3_unit(fx_v3_sub(stage->sun, fx_v3_unit(ray)));
  float mirror = sun > 0.0f ? fmaxf(0.0f, fx_v3_dot(normal, half)) : 0.0f;
  for (int k = 0; k < 5; k++) mirror *= mirror; /* to the power 32 */
  float gloss = 0.16f * mirror;
  return fx_v3_add(colour, (fx_v3){gloss, gloss, gloss});
}

static void shade_pixel(const lighting *l, int x, int y, uint8_t *out) {
  int fine = l->stage->look.fineness, ci = x * fine + fine / 2, cj = y * fine + fine / 2;
  const fx_sample *middle = &l->view->sample[(size_t)cj * (size_t)l->view->camera.width + (size_t)ci];
  bool lit = middle->paint == FX_PAINT_LIT || middle->paint == FX_PAINT_GROUND;
  float open = lit && !l->stage->planar ? openness(l, ci, cj) : 1.0f;
  fx_v3 sum = {0, 0, 0};
  for (int b = 0; b < fine; b++)
    for (int a = 0; a < fine; a++) sum = fx_v3_add(sum, shade(l, x * fine + a, y * fine + b, open));
  sum = fx_v3_scale(1.0f / (float)(fine * fine), sum);
  out[0] = srgb_of(sum.x), out[1] = srgb_of(sum.y), out[2] = srgb_of(sum.z);
}

/* Arrows stand before everything, whatever hides them. */
static void draw_over(const fx_stage *stage, const frix_frame *frame, fx_raster *view) {
  size_t count = (size_t)view->camera.width * (size_t)view->camera.height;
  fx_raster over;
  if (!fx_raster_create(&over, &view->camera, false)) return;
  fx_stage_arrows(stage, frame, &over);
  for (size_t k = 0; k < count; k++)
    if (over.sample[k].paint != FX_PAINT_NONE) view->sample[k] = over.sample[k];
  fx_raster_free(&over);
}

fx_picture fx_stage_picture(const fx_stage *stage, const frix_frame *frame) {
  fx_raster view, shadow;
  fx_picture p = {stage->look.width, stage->look.height, NULL};
  p.rgb = fx_grow(NULL, 3 * (size_t)p.width * (size_t)p.height, 1);
  if (!fx_raster_create(&view, &stage->camera, false) || !fx_raster_create(&shadow, &stage->sun_camera, true)) {
    fx_error("out of memory");
    exit(FX_EXIT_USAGE);
  }
  fx_stage_draw(stage, frame, &view);
  if (!stage->planar) fx_stage_draw(stage, frame, &shadow);
  if (stage->look.forces) draw_over(stage, frame, &view);
  lighting l = {.stage = stage, .view = &view, .shadow = &shadow};
  prepare(&l);
  for (int y = 0; y < p.height; y++)
    for (int x = 0; x < p.width; x++) shade_pixel(&l, x, y, p.rgb + 3 * ((size_t)y * (size_t)p.width + (size_t)x));
  free(l.sky);
  fx_raster_free(&view);
  fx_raster_free(&shadow);
  return p;
}
