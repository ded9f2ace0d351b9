/* PNG files (RFC 2083): rows filtered by what predicts them best, packed by deflate. */
#include "stage.h"

#include "app.h"
#include "deflate.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows */

static int paeth(int a, int b, int c) {
  int p = a + b - c, x = abs(p - a), y = abs(p - b), z = abs(p - c);
  return x <= y && x <= z ? a : y <= z ? b : c;
}

static void filter_row(const uint8_t *row, const uint8_t *above, size_t size, int kind, uint8_t *out) {
  for (size_t k = 0; k < size; k++) {
    int a = k >= 3 ? row[k - 3] : 0, b = above ? above[k] : 0, c = above && k >= 3 ? above[k - 3] : 0;
    int guess = kind == 1 ? a : kind == 2 ? b : kind == 3 ? (a + b) / 2 : kind == 4 ? paeth(a, b, c) : 0;
    out[k] = (uint8_t)(row[k] - guess);
  }
}

/* The filter with the smallest differences. */
static void put_row(fx_packed *b, const uint8_t *row, const uint8_t *above, size_t size, uint8_t *work) {
  long best = -1;
  int kind = 0;
  for (int k = 0; k < 5; k++) {
    long sum = 0;
    filter_row(row, above, size, k, work);
    for (size_t i = 0; i < size; i++) sum += work[i] < 128 ? work[i] : 256 - work[i];
    if (best < 0 || sum < best) best = sum, kind = k;
  }
  fx_packed_byte(b, (uint8_t)kind);
  filter_row(row, above, size, kind, work);
  for (size_t i = 0; i < size; i++) fx_packed_byte(b, work[i]);
}

static uint32_t adler(const uint8_t *data, size_t size) {
  enum { SAFE = 5552 }; /* so many sums fit 32 bits */
  uint32_t a = 1, b = 0;
  for (size_t k = 0; k < size;) {
    for (size_t end = size - k < SAFE ? size : k + SAFE; k < end; k++) a += data[k], b += a;
    a %= 65521, b %= 65521;
  }
  return b << 16 | a;
}

static void put_chunk(fx_packed *b, const char *name, const fx_packed *data) {
  fx_packed_big(b, (uint32_t)data->count);
  size_t from = b->count;
  for (int k = 0; k < 4; k++) fx_packed_byte(b, (uint8_t)name[k]);
  for (size_t k = 0; k < data->count; k++) fx_packed_byte(b, data->at[k]);
  fx_packed_big(b, frix_crc32(0, b->at + from, b->count - from));
}

bool fx_png_write(frix_context *context, const char *path, const fx_picture *p) {
  static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  fx_packed out = {0}, head = {0}, rows = {0}, packed = {0}, none = {0};
  size_t size = 3 * (size_t)p->width;
  uint8_t *work = fx_grow(NULL, size, 1);
  fx_packed_big(&head, (uint32_t)p->width);
  fx_packed_big(&head, (uint32_t)p->height);
  for (int k = 0; k < 5; k++) fx_packed_byte(&head, (const uint8_t[]){8, 2, 0, 0, 0}[k]); /* 8 bits of r, g, b */
  for (int y = 0; y < p->height; y++) {
    const uint8_t *row = p->rgb + size * (size_t)y;
    put_row(&rows, row, y ? row - size : NULL, size, work);
  }
  fx_packed_byte(&packed, 0x78);
  fx_packed_byte(&packed, 0x9c);
  fx_deflate(&packed, rows.at, rows.count, FX_DEFLATE_FAST);
  fx_packed_big(&packed, adler(rows.at, rows.count));
  for (int k = 0; k < 8; k++) fx_packed_byte(&out, signature[k]);
  put_chunk(&out, "IHDR", &head);
  put_chunk(&out, "IDAT", &packed);
  put_chunk(&out, "IEND", &none);
  fx_output *file = fx_output_open(context, path);
  if (file) fwrite(out.at, 1, out.count, file->file);
  bool good = file && fx_output_close(file, true);
  void *owned[] = {out.at, head.at, rows.at, packed.at, work};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  return good;
}
