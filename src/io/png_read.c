/* PNG (RFC 2083): chunks with their checksums, deflate (RFC 1951) in a zlib stream (RFC 1950), five filters. Interlaced
 * pictures are refused. Nothing a file says is believed: counts are limited by its own header, and what is packed must
 * come out as exactly as many bytes as the header asks for. */
#include "io/png_read.h"

#include <frix/trajectory.h>
#include <string.h>

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

static const char signature[] = "\x89PNG\r\n\x1a\n";

bool fx_png_is(const char *bytes, size_t count) { return count >= 8 && !memcmp(bytes, signature, 8); }

/* ---- deflate ---- */

typedef struct stream {
  const uint8_t *at, *end;
  uint32_t bits;
  int bit_count;
  uint8_t *out;
  size_t used, room;
  bool bad;
} stream;

static uint32_t take(stream *s, int count) {
  while (s->bit_count < count) {
    if (s->at == s->end) s->bad = true;
    s->bits |= (uint32_t)(s->at < s->end ? *s->at++ : 0) << s->bit_count;
    s->bit_count += 8;
  }
  uint32_t value = s->bits & ((1u << count) - 1u);
  s->bits >>= count, s->bit_count -= count;
  return value;
}

static void put(stream *s, uint8_t byte) {
  if (s->used < s->room)
    s->out[s->used++] = byte;
  else
    s->bad = true;
}

/* Canonical codes: how many there are of each length, and their symbols in order. */
typedef struct code {
  int count[16], symbol[288];
} code;

static void make_code(code *c, const uint8_t *length, int symbols) {
  int place[16] = {0};
  memset(c, 0, sizeof *c);
  for (int k = 0; k < symbols; k++) c->count[length[k]]++;
  c->count[0] = 0;
  for (int k = 1; k < 15; k++) place[k + 1] = place[k] + c->count[k];
  for (int k = 0; k < symbols; k++)
    if (length[k]) c->symbol[place[length[k]]++] = k;
}

/* Bit by bit; a code that is not there is an error. */
static int next_symbol(stream *s, const code *c) {
  int word = 0, first = 0, index = 0;
  for (int k = 1; k < 16 && !s->bad; k++) {
    word |= (int)take(s, 1);
    if (word - first < c->count[k]) return c->symbol[index + word - first];
    index += c->count[k], first = (first + c->count[k]) << 1, word <<= 1;
  }
  s->bad = true;
  return 256;
}

static void read_codes(stream *s, code *symbols, code *distances) {
  static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int n = (int)take(s, 5) + 257, m = (int)take(s, 5) + 1, given = (int)take(s, 4) + 4;
  uint8_t length[320] = {0};
  code lengths;
  if (n > 288 || m > 32) s->bad = true;
  for (int k = 0; k < given; k++) length[order[k]] = (uint8_t)take(s, 3);
  make_code(&lengths, length, 19);
  memset(length, 0, sizeof length);
  for (int k = 0; k < n + m && !s->bad;) {
    int symbol = next_symbol(s, &lengths), times = 1;
    uint8_t value = (uint8_t)symbol;
    if (symbol >= 16) {
      value = symbol == 16 && k ? length[k - 1] : 0;
      if (symbol == 16 && !k) s->bad = true;
      times = symbol == 16 ? 3 + (int)take(s, 2) : symbol == 17 ? 3 + (int)take(s, 3) : 11 + (int)take(s, 7);
    }
    if (k + times > n + m) s->bad = true;
    for (; times > 0 && k < n + m; times--) length[k++] = value;
  }
  make_code(symbols, length, s->bad ? 0 : n);
  make_code(distances, length + (s->bad ? 0 : n), s->bad ? 0 : m);
}

static void fixed_codes(code *symbols, code *distances) {
  uint8_t length[288];
  for (int k = 0; k < 288; k++) length[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
  make_code(symbols, length, 288);
  memset(length, 5, 30);
  make_code(distances, length, 30);
}

static void read_block(stream *s, const code *symbols, const code *distances) {
  static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                           31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t way_base[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  while (!s->bad) {
    int symbol = next_symbol(s, symbols);
    if (symbol == 256) return;
    if (symbol < 256) {
      put(s, (uint8_t)symbol);
      continue;
    }
    if (symbol > 285) {
      s->bad = true;
      return;
    }
    /* cppcheck-suppress negativeIndex */
    size_t length = length_base[symbol - 257] + take(s, length_bits[symbol - 257]);
    int code_of_way = next_symbol(s, distances);
    if (code_of_way > 29) {
      s->bad = true;
      return;
    }
    size_t way = way_base[code_of_way] + take(s, code_of_way < 2 ? 0 : (code_of_way - 2) / 2);
    if (way > s->used) s->bad = true;
    for (; length && !s->bad; length--) put(s, s->out[s->used - way]);
  }
}

static void read_stored(stream *s) {
  s->bits = 0, s->bit_count = 0; /* to the next whole byte */
  uint32_t size = take(s, 16), check = take(s, 16);
  if ((size ^ check) != 0xffff) s->bad = true;
  for (; size && !s->bad; size--) put(s, (uint8_t)take(s, 8));
}

/* All blocks behind the two bytes of zlib; the length of what comes out is its own check. */
static bool unpack(stream *s) {
  code symbols, distances;
  uint32_t head = take(s, 16);
  if ((head & 15) != 8 || (head >> 13 & 1)) return false;
  for (bool last = false; !last && !s->bad;) {
    last = take(s, 1);
    uint32_t kind = take(s, 2);
    if (kind == 0) {
      read_stored(s);
    } else if (kind == 1) {
      fixed_codes(&symbols, &distances);
      read_block(s, &symbols, &distances);
    } else if (kind == 2) {
      read_codes(s, &symbols, &distances);
      read_block(s, &symbols, &distances);
    } else {
      return false;
    }
  }
  return !s->bad && s->used == s->room;
}

/* ---- the picture ---- */

typedef struct picture {
  int32_t width, height;
  int depth, colour, channels;
  size_t stride; /* bytes of a row, without the one that names its filter */
  uint8_t red[256];
} picture;

static uint32_t big(const char *bytes) {
  const uint8_t *b = (const uint8_t *)bytes;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static frix_status read_head(fx_arena *arena, const char *file, const char *data, uint32_t size, picture *p) {
  static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
  if (size != 13 || p->width) FAIL("%s: its PNG header is damaged", file);
  uint32_t width = big(data), height = big(data + 4);
  p->depth = (uint8_t)data[8], p->colour = (uint8_t)data[9];
  bool deep = p->depth == 8 || p->depth == 16, shallow = p->depth == 1 || p->depth == 2 || p->depth == 4;
  p->channels = p->colour < 7 ? channels[p->colour] : 0;
  if (!p->channels || !(deep || (shallow && p->channels == 1)) || (p->colour == 3 && p->depth == 16) || data[10] ||
      data[11] || width < 1 || height < 1)
    FAIL("%s: its PNG header is damaged", file);
  if (data[12]) FAIL("%s: interlaced PNG is not read", file);
  if (width > 1 << 16 || height > 1 << 16 || (uint64_t)width * height > 1 << 26)
    FAIL("%s: %u x %u pixels are too many", file, width, height);
  p->width = (int32_t)width, p->height = (int32_t)height;
  p->stride = ((size_t)width * (size_t)p->channels * (size_t)p->depth + 7) / 8;
  return FRIX_OK;
}

static uint8_t paeth(int a, int b, int c) {
  int p = a + b - c, x = p > a ? p - a : a - p, y = p > b ? p - b : b - p, z = p > c ? p - c : c - p;
  return (uint8_t)(x <= y && x <= z ? a : y <= z ? b : c);
}

/* Rows as they were, in place; false where a filter is unknown. */
static bool unfilter(const picture *p, uint8_t *rows) {
  size_t pixel = ((size_t)p->channels * (size_t)p->depth + 7) / 8;
  for (int32_t y = 0; y < p->height; y++) {
    uint8_t *row = rows + (size_t)y * (p->stride + 1), filter = *row++, *above = row - p->stride - 1;
    if (filter > 4) return false;
    for (size_t k = 0; k < p->stride; k++) {
      uint8_t a = k >= pixel ? row[k - pixel] : 0, b = y ? above[k] : 0, c = y && k >= pixel ? above[k - pixel] : 0;
      uint8_t guess = filter == 1   ? a
                      : filter == 2 ? b
                      : filter == 3 ? (uint8_t)((a + b) / 2)
                      : filter == 4 ? paeth(a, b, c)
                                    : 0;
      row[k] = (uint8_t)(row[k] + guess);
    }
  }
  return true;
}

static uint8_t pixel_at(const picture *p, const uint8_t *row, int32_t x) {
  if (p->depth >= 8) {
    uint8_t value = row[(size_t)x * (size_t)p->channels * (size_t)(p->depth / 8)];
    return p->colour == 3 ? p->red[value] : value;
  }
  int bit = x * p->depth, most = (1 << p->depth) - 1, value = row[bit / 8] >> (8 - p->depth - bit % 8) & most;
  return p->colour == 3 ? p->red[value] : (uint8_t)(value * 255 / most);
}

/* Chunks in turn: the header, a palette, and the packed rows, put together in *packed. */
static frix_status read_chunks(fx_arena *arena, const char *file, const char *bytes, size_t count, picture *p,
                               uint8_t **packed, size_t *size) {
  *packed = fx_arena_take_raw(arena, count, 1);
  if (!*packed) return FRIX_ERROR_MEMORY;
  for (size_t at = 8; at + 12 <= count;) {
    uint32_t length = big(bytes + at);
    const char *kind = bytes + at + 4, *data = bytes + at + 8;
    if (length > count - at - 12) FAIL("%s: the PNG file is cut off", file);
    if (frix_crc32(0, kind, length + 4) != big(data + length)) FAIL("%s: a chunk of the PNG file is damaged", file);
    frix_status status = FRIX_OK;
    if (!memcmp(kind, "IHDR", 4)) status = read_head(arena, file, data, length, p);
    if (status) return status;
    if (!p->width) FAIL("%s: the PNG file does not start with its header", file);
    for (uint32_t k = 0; !memcmp(kind, "PLTE", 4) && k < length / 3 && k < 256; k++) p->red[k] = (uint8_t)data[3 * k];
    if (!memcmp(kind, "IDAT", 4)) memcpy(*packed + *size, data, length), *size += length;
    if (!memcmp(kind, "IEND", 4)) return FRIX_OK;
    at += 12 + (size_t)length;
  }
  FAIL("%s: the PNG file is cut off", file);
}

frix_status fx_png_read(fx_arena *arena, const char *file, const char *bytes, size_t count, int32_t *width,
                        int32_t *height, uint8_t **out) {
  picture p = {0};
  uint8_t *packed;
  size_t size = 0;
  frix_status status = read_chunks(arena, file, bytes, count, &p, &packed, &size);
  if (status) return status;
  stream s = {.at = packed, .end = packed + size, .room = (p.stride + 1) * (size_t)p.height};
  if (s.room / 1032 > size) FAIL("%s: the PNG file holds too little for its size", file); /* no packing is denser */
  s.out = fx_arena_take_raw(arena, s.room, 1);
  *out = fx_arena_take_raw(arena, (size_t)p.width * (size_t)p.height, 1);
  if (!s.out || !*out) return FRIX_ERROR_MEMORY;
  if (!unpack(&s) || !unfilter(&p, s.out)) FAIL("%s: the pixels of the PNG file are damaged", file);
  *width = p.width, *height = p.height;
  for (int32_t y = 0; y < p.height; y++)
    for (int32_t x = 0; x < p.width; x++)
      (*out)[(size_t)y * (size_t)p.width + (size_t)x] = pixel_at(&p, s.out + (size_t)y * (p.stride + 1) + 1, x);
  return FRIX_OK;
}
