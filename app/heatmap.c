/* Heat maps: palettes, a PNG writer of the simplest kind (8-bit palette, stored blocks), the colour bar. */
#include "heatmap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

/* ---- palettes: equal steps of lightness (after viridis and magma) */

static const char *const stops[2][10] = {
    {"440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"},
    {"000004", "180f3d", "440f76", "721f81", "9e2f7f", "cd4071", "f1605d", "fd9668", "feca8d", "fcfdbf"},
};
static const unsigned char none[3] = {0xe4, 0xe4, 0xe8};

static void colour(fx_palette palette, int index, unsigned char rgb[3]) {
  memcpy(rgb, none, 3);
  if (index >= FX_HEAT_LEVELS) return;
  double position = 9.0 * index / (FX_HEAT_LEVELS - 1);
  int k = position >= 9 ? 8 : (int)position;
  unsigned long a = strtoul(stops[palette][k], NULL, 16), b = strtoul(stops[palette][k + 1], NULL, 16);
  for (int c = 0; c < 3; c++) {
    int shift = 16 - 8 * c, from = (int)(a >> shift & 255), to = (int)(b >> shift & 255);
    rgb[c] = (unsigned char)(from + (position - k) * (to - from) + 0.5);
  }
}

void fx_heat_colour(fx_palette palette, int index, char out[8]) {
  unsigned char rgb[3];
  colour(palette, index, rgb);
  snprintf(out, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

unsigned char fx_heat_index(const fx_heat_scale *s, double value) {
  if (!isfinite(value)) return FX_HEAT_NONE;
  if (!(value > s->low)) return 0;
  if (value >= s->high) return FX_HEAT_LEVELS - 1;
  return (unsigned char)((FX_HEAT_LEVELS - 1) * log(value / s->low) / log(s->high / s->low) + 0.5);
}

/* ---- bytes as PNG */

typedef struct bytes {
  unsigned char *data;
  size_t count;
} bytes;

static void put(bytes *b, const void *data, size_t count) {
  b->data = fx_grow(b->data, b->count + count, 1);
  memcpy(b->data + b->count, data, count);
  b->count += count;
}

static void put_u32(bytes *b, uint32_t value) {
  unsigned char out[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                          (unsigned char)value};
  put(b, out, 4);
}

static uint32_t crc32_of(const unsigned char *data, size_t count) {
  uint32_t crc = 0xffffffffu;
  for (size_t k = 0; k < count; k++) {
    crc ^= data[k];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

static void put_chunk(bytes *png, const char *type, const bytes *body) {
  put_u32(png, (uint32_t)body->count);
  size_t from = png->count;
  put(png, type, 4);
  if (body->count) put(png, body->data, body->count);
  put_u32(png, crc32_of(png->data + from, png->count - from));
}

/* A zlib stream of stored blocks. */
static void store(bytes *out, const bytes *raw) {
  uint32_t a = 1, b = 0;
  put(out, "\x78\x01", 2);
  for (size_t at = 0; at < raw->count;) {
    size_t part = raw->count - at < 65535 ? raw->count - at : 65535;
    unsigned char head[5] = {at + part == raw->count, (unsigned char)(part & 255), (unsigned char)(part >> 8),
                             (unsigned char)(~part & 255), (unsigned char)(~part >> 8 & 255)};
    put(out, head, 5);
    put(out, raw->data + at, part);
    at += part;
  }
  for (size_t k = 0; k < raw->count; k++) {
    a = (a + raw->data[k]) % 65521;
    b = (b + a) % 65521;
  }
  put_u32(out, b << 16 | a);
}

static bytes png_of(fx_palette palette, int columns, int rows, const unsigned char *index) {
  bytes png = {0}, header = {0}, plte = {0}, raw = {0}, idat = {0}, end = {0};
  put(&png, "\x89PNG\r\n\x1a\n", 8);
  put_u32(&header, (uint32_t)columns);
  put_u32(&header, (uint32_t)rows);
  put(&header, "\x08\x03\0\0\0", 5);
  for (int k = 0; k < 256; k++) {
    unsigned char rgb[3];
    colour(palette, k, rgb);
    put(&plte, rgb, 3);
  }
  for (int r = rows - 1; r >= 0; r--) { /* PNG begins at the top */
    put(&raw, "", 1);
    put(&raw, index + (size_t)r * (size_t)columns, (size_t)columns);
  }
  store(&idat, &raw);
  put_chunk(&png, "IHDR", &header);
  put_chunk(&png, "PLTE", &plte);
  put_chunk(&png, "IDAT", &idat);
  put_chunk(&png, "IEND", &end);
  free(header.data);
  free(plte.data);
  free(raw.data);
  free(idat.data);
  return png;
}

/* ---- what is drawn */

void fx_heat_image(FILE *file, double x, double y, double width, double height, fx_palette palette, int columns,
                   int rows, const unsigned char *index) {
  bytes png = png_of(palette, columns, rows, index);
  fprintf(file,
          "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" preserveAspectRatio=\"none\" "
          "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,",
          x, y, width, height);
  fx_put_base64(file, png.data, png.count);
  fputs("\"/>\n", file);
  free(png.data);
}

static void tick(FILE *file, double x, double y, double value) {
  fprintf(file, "<path d=\"M%.1f %.1fh4\" stroke=\"#57606a\"/><text x=\"%.1f\" y=\"%.1f\" class=\"tick\">", x, y, x + 8,
          y + 4);
  if (value >= 0.99)
    fprintf(file, "%.0f", value);
  else
    fprintf(file, "10<tspan dy=\"-5\" font-size=\"8\">\xe2\x88\x92%d</tspan>", (int)(0.5 - log10(value)));
  fputs("</text>\n", file);
}

void fx_heat_bar(FILE *file, double x, double y, double height, const fx_heat_scale *s, const char *label) {
  enum { WIDTH = 14 };
  fprintf(file, "<linearGradient id=\"bar%d\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", (int)s->palette);
  for (int k = 0; k < 10; k++)
    fprintf(file, "<stop offset=\"%.4f\" stop-color=\"#%s\"/>", k / 9.0, stops[s->palette][k]);
  fprintf(file, "</linearGradient>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"url(#bar%d)\"/>\n",
          x, y, WIDTH, height, (int)s->palette);
  fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"none\" stroke=\"#57606a\"/>\n", x, y,
          WIDTH, height);
  double decades = log10(s->high / s->low), per_decade = height / decades;
  int skip = per_decade < 20 ? (int)ceil(20 / per_decade) : 1;
  for (int e = (int)ceil(log10(s->low) - 1e-9), first = e; pow(10, e) <= s->high * 1.0001; e++) {
    static const double between[] = {1, 2, 5};
    for (int k = 0; k < 3 && (k == 0 || per_decade > 60); k++) {
      double value = between[k] * pow(10, e);
      if (value > s->high * 1.0001 || (e - first) % skip) continue;
      tick(file, x + WIDTH, y + height * (1 - log(value / s->low) / log(s->high / s->low)), value);
    }
  }
  fprintf(file,
          "<text transform=\"translate(%.1f %.1f) rotate(-90)\" class=\"label\" text-anchor=\"middle\">%s</text>\n",
          x + 66, y + height / 2, label);
}
