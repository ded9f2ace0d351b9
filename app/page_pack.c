/* The data of a page, packed: frames as differences to the frame before, then deflate.
 *
 * The row of bytes is head, frames, tail. Head and tail (model and columns) go as they are, frames filtered:
 *   poses     position and speed (u32 words), quaternions (u16), less those of the frame before where it has the same
 *             list of bodies
 *   contacts  first for each which contact of the frame before it is (1 + its place, 0: new) less one more than that of
 * the contact before; then the ten numbers and three names (u32), normals (u16) and states (u8) less those of that
 *             contact
 * Differences d are written as 2d or -2d - 1 and cut into bytes, all lowest bytes of a field first, which then hold
 * long runs. Each field has a stream of its own over all frames. Head, tail and the streams, one after the other, are
 * cut into parts of PART bytes, each packed by deflate alone. web/src/unpack.js is the way back. */
#include <stdlib.h>
#include <string.h>

#include "deflate.h"
#include "page.h"

enum { PART = 4 << 20, NEAR = 64, REALS = 10, NAMES = 3, STREAMS = 15 };

typedef struct stream {
  unsigned char *at;
  size_t count, room;
} stream;

static void put(stream *s, const void *data, size_t size) {
  if (s->count + size > s->room) s->at = fx_grow(s->at, s->room = 2 * (s->room + size), 1);
  if (size) memcpy(s->at + s->count, data, size);
  s->count += size;
}

/* ---- fields of words: u32, u16 or u8, `width` of them for each of n things */

static uint32_t word_at(const unsigned char *from, size_t k, int bytes) {
  uint32_t out = 0;
  memcpy(&out, from + k * (size_t)bytes, (size_t)bytes); /* little-endian, as the page itself */
  return out;
}

static uint32_t folded(uint32_t word, uint32_t guess, int bytes) {
  uint32_t mask = bytes == 4 ? 0xffffffffu : (1u << 8 * bytes) - 1, d = (word - guess) & mask;
  bool negative = d >> (8 * bytes - 1) & 1;
  return (negative ? ~(d << 1) : d << 1) & mask;
}

/* like[i]: which thing of the other field thing i is like, -1: none. NULL: all are like those in their place. */
static void put_field(stream *s, const unsigned char *field, const unsigned char *other, const int32_t *like, size_t n,
                      int width, int bytes) {
  size_t count = n * (size_t)width;
  unsigned char *plane = fx_grow(NULL, count * (size_t)bytes + 1, 1);
  for (size_t k = 0; k < count; k++) {
    int32_t twin = like ? like[k / (size_t)width] : (int32_t)(k / (size_t)width);
    uint32_t guess = other && twin >= 0 ? word_at(other, (size_t)twin * (size_t)width + k % (size_t)width, bytes) : 0;
    uint32_t d = folded(word_at(field, k, bytes), guess, bytes);
    for (int b = 0; b < bytes; b++) plane[(size_t)b * count + k] = (unsigned char)(d >> 8 * b);
  }
  put(s, plane, count * (size_t)bytes);
  free(plane);
}

/* ---- frames */

typedef struct frame {
  const unsigned char *poses, *contacts;
  size_t bodies, touching;
  uint32_t list;
} frame;

static void put_poses(stream *s, const frame *now, const frame *before) {
  const unsigned char *other = before && before->list == now->list ? before->poses : NULL;
  size_t n = now->bodies;
  put_field(&s[0], now->poses, other, NULL, n, 3, 4);
  put_field(&s[1], now->poses + 12 * n, other ? other + 12 * n : NULL, NULL, n, 1, 4);
  put_field(&s[2], now->poses + 16 * n, other ? other + 16 * n : NULL, NULL, n, 4, 2);
}

/* The names of contact i: a, b, id. */
static bool same_contact(const frame *f, size_t i, const frame *g, size_t j) {
  for (int k = 0; k < NAMES; k++)
    if (word_at(f->contacts + 4 * REALS * f->touching, (size_t)k * f->touching + i, 4) !=
        word_at(g->contacts + 4 * REALS * g->touching, (size_t)k * g->touching + j, 4))
      return false;
  return true;
}

/* Contacts keep their order, so the twin is looked for near where it should be. */
static int32_t *find_twins(const frame *now, const frame *before) {
  int32_t *like = fx_grow(NULL, now->touching + 1, sizeof *like), next = 0;
  int32_t most = before ? (int32_t)before->touching : 0;
  for (size_t i = 0; i < now->touching; i++) {
    like[i] = -1;
    for (int32_t step = 0; step < 2 * NEAR && like[i] < 0; step++) {
      int32_t j = next + (step % 2 ? -(step + 1) / 2 : step / 2);
      if (j >= 0 && j < most && same_contact(now, i, before, (size_t)j)) like[i] = j;
    }
    if (like[i] >= 0) next = like[i] + 1;
  }
  return like;
}

static void put_contacts(stream *s, const frame *now, const frame *before) {
  int32_t *like = find_twins(now, before);
  size_t n = now->touching, m = before ? before->touching : 0, at = 0, other = 0;
  uint32_t *jump = fx_grow(NULL, n + 1, sizeof *jump), last = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t twin = (uint32_t)(like[i] + 1);
    jump[i] = twin - (last + 1);
    last = twin;
  }
  put_field(&s[3], (const unsigned char *)jump, NULL, NULL, n, 1, 4);
  static const struct {
    int width, bytes;
  } field[] = {{3, 4}, {3, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {3, 2}, {1, 1}};
  for (size_t k = 0; k < sizeof field / sizeof field[0]; k++) {
    size_t size = (size_t)(field[k].width * field[k].bytes);
    put_field(&s[4 + k], now->contacts + at, before ? before->contacts + other : NULL, like, n, field[k].width,
              field[k].bytes);
    at += size * n;
    other += size * m;
  }
  free(jump);
  free(like);
}

static double real_at(const fx_page_bytes *b, const char *name, int64_t k) {
  double out;
  memcpy(&out, b->piece + fx_page_find(b, name)->at + 8 * k, sizeof out);
  return out;
}

static uint32_t whole_at(const fx_page_bytes *b, const char *name, int64_t k) {
  return word_at(b->piece + fx_page_find(b, name)->at, (size_t)k, 4);
}

static frame frame_at(const fx_page_bytes *b, int64_t k) {
  uint32_t list = whole_at(b, "frame.list", k);
  return (frame){.poses = b->piece + (size_t)real_at(b, "frame.poses", k),
                 .contacts = b->piece + (size_t)real_at(b, "frame.contacts", k),
                 .bodies = whole_at(b, "list.start", list + 1) - whole_at(b, "list.start", list),
                 .touching = whole_at(b, "frame.contacts_kept", k),
                 .list = list};
}

void fx_page_pack(const fx_page_bytes *bytes, FILE *file) {
  int64_t count = fx_page_find(bytes, "frame.time")->count;
  /* the columns behind the frames begin with the patterns of the slots */
  size_t first = (size_t)real_at(bytes, "frame.poses", 0), tail = (size_t)fx_page_find(bytes, "slot.pattern")->at;
  stream all = {0}, s[STREAMS] = {0};
  put(&all, bytes->piece, first);
  put(&all, bytes->piece + tail, (size_t)bytes->count - tail);
  frame before = {0};
  for (int64_t k = 0; k < count; k++) {
    frame now = frame_at(bytes, k);
    put_poses(s, &now, k ? &before : NULL);
    put_contacts(s, &now, k ? &before : NULL);
    before = now;
  }
  fprintf(file, "<script type=\"application/json\" id=\"frix-packed\">{\"head\": %zu, \"tail\": %zu, \"streams\": [",
          first, tail);
  for (int k = 0; k < STREAMS; k++) {
    fprintf(file, "%s%zu", k ? ", " : "", s[k].count);
    put(&all, s[k].at, s[k].count);
    free(s[k].at);
  }
  fputs("]}</script>\n", file);
  for (size_t at = 0; at < all.count; at += PART) {
    fx_packed packed = {0};
    fx_deflate(&packed, all.at + at, all.count - at < PART ? all.count - at : PART);
    fx_page_put_piece(file, "frix-packed", packed.at, packed.count);
    free(packed.at);
  }
  free(all.at);
}
