/* Samples to pixels: sun with soft shadows, light from the sky dimmed in corners, averaged in linear light.
 *
 * Shadows come from a depth picture taken from the sun; corners are found by looking at the depths around a pixel. A
 * pixel whose samples are all of one smooth surface is shaded once, in its middle. */
#include "stage.h"

#include "app.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static float linear_of(float srgb) { return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f); }

static uint8_t srgb_of(float linear) {
  float v = fminf(1.0f, fmaxf(0.0f, linear));
  v = v <= 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1.0f / 2.4f) - 0.055f;
  return (uint8_t)lrintf(255.0f * v);
}

enum { TAPS = 256, LOOKS = 20, TURNS = 64, LEVELS = 4096, TILE = 16 };

/* The middle of a pixel, for those around it that ask what hides the sky. */
typedef struct spot {
  fx_v3 place;
  float open; /* light of the sky that reaches it: 1 in the open */
  bool solid;
} spot;

typedef struct lighting {
  const fx_stage *stage;
  const fx_raster *view, *shadow;
  float table[256];               /* sRGB byte -> linear */
  fx_v3 *sky;                     /* by row of samples */
  fx_v3 line;                     /* of the floor's grid */
  float cell;                     /* its spacing */
  float tap[TAPS][2];             /* places around a sample of the shadow, by quarters of a disc in turn */
  float look[TURNS][LOOKS][2];    /* places around a pixel, on a disc of radius 1, turned */
  spot *spot;                     /* by pixel */
  int *busy;                      /* tiles with something on the floor, summed over all above and to the left */
  int across;                     /* tiles of a row */
  fx_v3 normal, floor_x, floor_y; /* of the floor last seen, and the directions of its grid */
  uint8_t srgb[LEVELS + 1];       /* linear light to sRGB */
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
  for (int k = 0; k <= LEVELS; k++) l->srgb[k] = srgb_of((float)k / LEVELS);
  for (int k = 0; k < TAPS; k++) {
    float angle = 1.5707963f * ((float)(k % 4) + noise(k, 1, 2)), far = 2.6f * sqrtf(noise(k, 5, 9));
    l->tap[k][0] = far * cosf(angle), l->tap[k][1] = far * sinf(angle);
  }
  for (int k = 0; k < TURNS * LOOKS; k++) {
    float angle = 2.399963f * (float)(k % LOOKS) + 6.2831853f * noise(k / LOOKS, 7, 3);
    float far = sqrtf(((float)(k % LOOKS) + 0.5f) / LOOKS);
    l->look[k / LOOKS][k % LOOKS][0] = far * cosf(angle), l->look[k / LOOKS][k % LOOKS][1] = far * sinf(angle);
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

/* The same for a whole pixel where that is plain, by eight looks on a ring beyond those of its samples; -1: it is not.
 */
static float sun_of_pixel(const lighting *l, fx_v3 place, fx_v3 normal) {
  static const float ring[8][2] = {{3.6f, 0},  {2.5f, 2.5f},   {0, 3.6f},  {-2.5f, 2.5f},
                                   {-3.6f, 0}, {-2.5f, -2.5f}, {0, -3.6f}, {2.5f, -2.5f}};
  const fx_camera *c = &l->shadow->camera;
  float texel = 1.0f / c->focal, x, y, near;
  int dark = 0;
  place = fx_v3_mad(place, 1.5f * texel, normal);
  if (!fx_camera_project(c, fx_camera_view(c, place), &x, &y, &near)) return 1.0f;
  for (int k = 0; k < 8; k++) {
    int a = (int)(x + ring[k][0]), b = (int)(y + ring[k][1]);
    bool inside = a >= 0 && b >= 0 && a < c->width && b < c->height;
    dark += inside && l->shadow->near[(size_t)b * (size_t)c->width + (size_t)a] > near + 1.5f * texel / c->far;
  }
  return dark == 0 ? 1.0f : dark == 8 ? 0.0f : -1.0f;
}

/* Samples whose shades can hardly differ. */
static bool same_surface(const fx_sample *a, const fx_sample *b) {
  int turned = 0;
  for (int k = 0; k < 3; k++) turned += abs(a->normal[k] - b->normal[k]);
  return a->paint == b->paint && !memcmp(a->rgb, b->rgb, sizeof a->rgb) && turned <= 1600;
}

/* ---- corners */

static fx_v3 place_of(const fx_camera *c, const fx_sample *s, int i, int j) {
  fx_v3 origin, ray;
  fx_camera_ray(c, (float)i + 0.5f, (float)j + 0.5f, &origin, &ray);
  return fx_v3_mad(origin, fx_camera_depth(c, s->near), ray);
}

static const fx_sample *middle_of(const lighting *l, int x, int y) {
  int fine = l->stage->look.fineness;
  return &l->view
              ->sample[(size_t)(y * fine + fine / 2) * (size_t)l->view->camera.width + (size_t)(x * fine + fine / 2)];
}

static void find_spots(lighting *l) {
  int width = l->stage->look.width, height = l->stage->look.height, fine = l->stage->look.fineness;
  l->spot = fx_grow(NULL, (size_t)width * (size_t)height, sizeof *l->spot);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const fx_sample *s = middle_of(l, x, y);
      spot *to = &l->spot[(size_t)y * (size_t)width + (size_t)x];
      to->solid = s->paint != FX_PAINT_NONE;
      if (to->solid) to->place = place_of(&l->view->camera, s, x * fine + fine / 2, y * fine + fine / 2);
    }
}

/* Tiles that hold more than the sky and one floor; of a second floor every tile counts. */
static void find_busy(lighting *l) {
  int width = l->stage->look.width, height = l->stage->look.height, down = (height + TILE - 1) / TILE + 1;
  l->across = (width + TILE - 1) / TILE + 1;
  l->busy = fx_grow(NULL, (size_t)l->across * (size_t)down, sizeof *l->busy);
  memset(l->busy, 0, (size_t)l->across * (size_t)down * sizeof *l->busy);
  const fx_sample *floor_seen = NULL;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const fx_sample *s = middle_of(l, x, y);
      if (s->paint == FX_PAINT_GROUND && !floor_seen) floor_seen = s;
      bool other = s->paint == FX_PAINT_GROUND && memcmp(s->normal, floor_seen->normal, sizeof s->normal);
      if (s->paint == FX_PAINT_LIT || s->paint == FX_PAINT_PLAIN || other)
        l->busy[(y / TILE + 1) * l->across + x / TILE + 1] = 1;
    }
  for (int b = 1; b < down; b++)
    for (int a = 1; a < l->across; a++) {
      int *at = &l->busy[b * l->across + a];
      *at += at[-1] + at[-l->across] - at[-l->across - 1];
    }
}

/* Whether a piece of floor has nothing but itself within a radius. */
static bool lies_alone(const lighting *l, int x, int y, float radius) {
  int reach = (int)radius + 1, down = (l->stage->look.height + TILE - 1) / TILE;
  int left = x - reach < 0 ? 0 : (x - reach) / TILE, top = y - reach < 0 ? 0 : (y - reach) / TILE;
  int right = (x + reach) / TILE + 1, bottom = (y + reach) / TILE + 1;
  if (right >= l->across) right = l->across - 1;
  if (bottom > down) bottom = down;
  const int *busy = l->busy;
  return busy[bottom * l->across + right] - busy[bottom * l->across + left] - busy[top * l->across + right] +
             busy[top * l->across + left] ==
         0;
}

/* Light of the sky that reaches the middle of a pixel. */
static float openness(const lighting *l, int x, int y) {
  const fx_camera *c = &l->view->camera;
  const fx_sample *s = middle_of(l, x, y);
  int width = l->stage->look.width, height = l->stage->look.height;
  fx_v3 place = l->spot[(size_t)y * (size_t)width + (size_t)x].place, normal = normal_of(s);
  float reach = 0.16f * l->stage->extent, scale = c->focal / (float)l->stage->look.fineness;
  float radius = c->flat ? scale * reach : scale * reach * s->near, hidden = 0.0f, near2 = reach * reach;
  if (s->paint == FX_PAINT_GROUND && lies_alone(l, x, y, radius)) return 1.0f;
  const float(*look)[2] = l->look[scatter(x, y, 3) % TURNS];
  for (int k = 0; k < LOOKS; k++) {
    int a = x + (int)(radius * look[k][0]), b = y + (int)(radius * look[k][1]);
    if ((unsigned)a >= (unsigned)width || (unsigned)b >= (unsigned)height) continue;
    const spot *o = &l->spot[(size_t)b * (size_t)width + (size_t)a];
    fx_v3 to = fx_v3_sub(o->place, place);
    float rise = fx_v3_dot(to, normal), length2 = fx_v3_dot(to, to);
    if (!o->solid || rise <= 0.0f || length2 > near2 || length2 <= 0.0f) continue;
    float length = sqrtf(length2);
    rise = rise / length - 0.08f;
    if (rise > 0.0f) hidden += rise * (1.0f - length / reach);
  }
  return fmaxf(0.25f, 1.0f - 2.2f * hidden / LOOKS * 1.6f);
}

/* Where two pixels on either side of one are of the same surface, what they have says enough. */
static float openness_between(const lighting *l, int x, int y, int aside, int down) {
  int width = l->stage->look.width;
  const fx_sample *s = middle_of(l, x, y);
  const spot *at = &l->spot[(size_t)y * (size_t)width + (size_t)x];
  if (x < aside || y < down || x + aside >= width || y + down >= l->stage->look.height) return openness(l, x, y);
  for (int side = -1; side < 2; side += 2) {
    const fx_sample *o = middle_of(l, x + side * aside, y + side * down);
    if (!same_surface(o, s) || fabsf(o->near - s->near) > 0.01f * s->near) return openness(l, x, y);
  }
  ptrdiff_t step = (ptrdiff_t)down * width + aside;
  return 0.5f * (at[-step].open + at[step].open);
}

/* Every second pixel of every second row by itself, then those between them in their rows, then the rows between. */
static void find_open(lighting *l) {
  int width = l->stage->look.width, height = l->stage->look.height;
  for (int pass = 0; pass < 3; pass++)
    for (int y = pass == 2; y < height; y += 2)
      for (int x = pass == 1; x < width; x += pass == 2 ? 1 : 2) {
        int paint = middle_of(l, x, y)->paint;
        bool lit = (paint == FX_PAINT_LIT || paint == FX_PAINT_GROUND) && !l->stage->planar;
        float open = !lit ? 1.0f : pass ? openness_between(l, x, y, pass == 1, pass == 2) : openness(l, x, y);
        l->spot[(size_t)y * (size_t)width + (size_t)x].open = open;
      }
}

/* ---- the floor */

/* Distance to the nearest line of a grid, in cells. */
static float to_line(float x) { return fabsf(x - floorf(x + 0.5f)); }

static const float line_width = 0.012f;

static float floor_line(lighting *l, fx_v3 place, fx_v3 normal) {
  if (normal.x != l->normal.x || normal.y != l->normal.y || normal.z != l->normal.z) {
    l->normal = normal;
    l->floor_x = fx_v3_unit(fx_v3_cross(fabsf(normal.y) < 0.9f ? (fx_v3){0, 1, 0} : (fx_v3){1, 0, 0}, normal));
    l->floor_y = fx_v3_cross(normal, l->floor_x);
  }
  float x = to_line(fx_v3_dot(place, l->floor_x) / l->cell), y = to_line(fx_v3_dot(place, l->floor_y) / l->cell);
  return x < y ? x : y;
}

/* The floor fades into the sky. */
static float floor_fade(const lighting *l, fx_v3 place) {
  float far = fx_v3_norm(fx_v3_sub(place, l->stage->middle)) / l->stage->extent;
  return far <= 2.0f ? 0.0f : far >= 11.0f ? 1.0f : (far - 2.0f) / 9.0f;
}

/* ---- one sample */

/* lit: the share of the sun, -1: not known yet. */
static fx_v3 shade(lighting *l, int i, int j, float open, float lit) {
  const fx_stage *stage = l->stage;
  const fx_camera *c = &l->view->camera;
  const fx_sample *s = &l->view->sample[(size_t)j * (size_t)c->width + (size_t)i];
  if (s->paint == FX_PAINT_NONE) return l->sky[j];
  fx_v3 base = {l->table[s->rgb[0]], l->table[s->rgb[1]], l->table[s->rgb[2]]};
  if (s->paint == FX_PAINT_PLAIN && stage->planar) return base;
  fx_v3 normal = normal_of(s), place = place_of(c, s, i, j);
  fx_v3 vertical = {stage->up == 0, stage->up == 1, stage->up == 2};
  float facing = fx_v3_dot(normal, stage->sun) > 0.0f ? fx_v3_dot(normal, stage->sun) : 0.0f;
  if (s->paint == FX_PAINT_PLAIN) return fx_v3_scale(0.75f + 0.3f * facing, base);
  if (s->paint == FX_PAINT_GROUND && floor_line(l, place, normal) < line_width) base = l->line;
  float sun = facing > 0.0f ? facing * (lit < 0.0f ? sunlit(l, place, normal, i, j) : lit) : 0.0f;
  float above = 0.5f + 0.5f * fx_v3_dot(normal, vertical);
  float light = stage->look.theme->sun * sun + stage->look.theme->ambient * open * (0.45f + 0.55f * above);
  fx_v3 colour = fx_v3_scale(light, base);
  if (s->paint == FX_PAINT_GROUND) {
    float fade = floor_fade(l, place);
    return fx_v3_mix(colour, l->sky[j], fade * (2.0f - fade));
  }
  fx_v3 ray = c->flat ? c->forward : fx_v3_unit(fx_v3_sub(place, c->eye)),
        half = fx_v3_unit(fx_v3_sub(stage->sun, ray));
  float mirror = sun > 0.0f ? fmaxf(0.0f, fx_v3_dot(normal, half)) : 0.0f;
  for (int k = 0; k < 5; k++) mirror *= mirror; /* to the power 32 */
  float gloss = 0.16f * mirror;
  return fx_v3_add(colour, (fx_v3){gloss, gloss, gloss});
}

/* ---- one pixel */

/* Samples of one flat face differ in depth alone. */
static bool same_face(const fx_sample *a, const fx_sample *b) {
  enum { FROM = offsetof(fx_sample, normal), TO = offsetof(fx_sample, paint) + 1 };
  return !memcmp((const char *)a + FROM, (const char *)b + FROM, TO - FROM);
}

/* Whether all samples of a pixel are of one surface that is smooth there. */
static bool one_surface(const fx_sample *s, int stride, int fine) {
  const fx_sample *m = s + (size_t)(fine / 2) * (size_t)stride + fine / 2;
  float most = 1.01f * m->near, least = 0.99f * m->near;
  for (int b = 0; b < fine; b++, s += stride)
    for (int a = 0; a < fine; a++)
      if (s[a].near > most || s[a].near < least || (!same_face(&s[a], m) && !same_surface(&s[a], m))) return false;
  return true;
}

/* Whether a line of the floor may run through it. */
static bool has_line(lighting *l, int x, int y, fx_v3 place) {
  const fx_sample *m = middle_of(l, x, y);
  const fx_camera *c = &l->view->camera;
  int fine = l->stage->look.fineness, i = x * fine, j = y * fine;
  if (m->paint != FX_PAINT_GROUND) return false;
  fx_v3 off = fx_v3_sub(place, l->stage->middle);
  float pale = 10.4f * l->stage->extent; /* there a line has faded */
  if (fx_v3_dot(off, off) > pale * pale) return false;
  fx_v3 corner = place_of(c, &l->view->sample[(size_t)j * (size_t)c->width + (size_t)i], i, j);
  float size = fx_v3_norm(fx_v3_sub(corner, place)) / l->cell;
  return floor_line(l, place, normal_of(m)) <= line_width + 1.2f * size;
}

/* The sun on a pixel of one surface: the mean of its samples where it is not the same for all. */
static float sun_on(const lighting *l, int x, int y, fx_v3 place) {
  const fx_sample *m = middle_of(l, x, y);
  const fx_camera *c = &l->view->camera;
  int fine = l->stage->look.fineness;
  if (m->paint == FX_PAINT_NONE || m->paint == FX_PAINT_PLAIN) return 1.0f;
  fx_v3 normal = normal_of(m);
  float lit = fx_v3_dot(normal, l->stage->sun) > 0.0f ? sun_of_pixel(l, place, normal) : 0.0f, sum = 0.0f;
  if (lit >= 0.0f) return lit;
  int asked = 0; /* every second sample: each looks at four places */
  for (int k = 0; k < fine * fine; k += 2, asked++) {
    int i = x * fine + k % fine, j = y * fine + k / fine;
    const fx_sample *s = &l->view->sample[(size_t)j * (size_t)c->width + (size_t)i];
    sum += sunlit(l, place_of(c, s, i, j), normal, i, j);
  }
  return sum / (float)asked;
}

static uint8_t level_of(const lighting *l, float light) {
  float v = light < 0.0f ? 0.0f : light > 1.0f ? 1.0f : light;
  return l->srgb[(int)(v * LEVELS + 0.5f)];
}

static void shade_pixel(lighting *l, int x, int y, uint8_t *out) {
  int fine = l->stage->look.fineness, width = l->view->camera.width;
  const fx_sample *first = &l->view->sample[(size_t)(y * fine) * (size_t)width + (size_t)(x * fine)];
  const spot *at = &l->spot[(size_t)y * (size_t)l->stage->look.width + (size_t)x];
  fx_v3 place = at->place, sum = {0, 0, 0};
  float open = at->open;
  if (one_surface(first, width, fine) && !has_line(l, x, y, place)) {
    sum = shade(l, x * fine + fine / 2, y * fine + fine / 2, open, sun_on(l, x, y, place));
  } else {
    for (int b = 0; b < fine; b++)
      for (int a = 0; a < fine; a++) sum = fx_v3_add(sum, shade(l, x * fine + a, y * fine + b, open, -1.0f));
    sum = fx_v3_scale(1.0f / (float)(fine * fine), sum);
  }
  out[0] = level_of(l, sum.x), out[1] = level_of(l, sum.y), out[2] = level_of(l, sum.z);
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
  lighting *l = fx_grow(NULL, 1, sizeof *l); /* its tables are large for a stack */
  *l = (lighting){.stage = stage, .view = &view, .shadow = &shadow};
  prepare(l);
  find_spots(l);
  find_busy(l);
  find_open(l);
  for (int y = 0; y < p.height; y++)
    for (int x = 0; x < p.width; x++) shade_pixel(l, x, y, p.rgb + 3 * ((size_t)y * (size_t)p.width + (size_t)x));
  void *owned[] = {l->sky, l->spot, l->busy, l};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  fx_raster_free(&view);
  fx_raster_free(&shadow);
  return p;
}
