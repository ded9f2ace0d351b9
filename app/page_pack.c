/* The data of a page, packed: frames as differences to the frame before, then deflate.
 *
 * The row of bytes is head, frames, tail. Head and tail (model and columns) go as they are, frames filtered:
 *   poses     position and speed (u32 words), quaternions (u16), less those of the frame before where it has the same
 *             list of bodies; positions that are whole multiples of a step less 2 x(1) - x(2) of the two frames before
 *   contacts  first for each which contact of the frame before it is (1 + its place, 0: new) less one more than that of
 *             the contact before; then the ten numbers and three names (u32), normals (u16) and states (u8) less those
 *             of that contact
 * Positions, points, forces, gaps and margins that are all whole multiples of one power of two, their step, go as these
 * multiples; otherwise as the bits of their floats (step 0). Nothing is lost here: rounding is that of page_frames.c.
 * Differences d are written as 2d or -2d - 1 and cut into bytes, all lowest bytes of a field first, which then hold
 * long runs. Each field has a stream of its own over all frames. Head, tail and the streams, one after the other, are
 * cut into parts of PART bytes, each packed by deflate alone. web/src/unpack.js is the way back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "deflate.h"
#include "page.h"

enum { PART = 4 << 20, NEAR = 64, REALS = 10, NAMES = 3, STREAMS = 15, POSES = 3 };

/* The streams of poses, which contact it is, and the fields of contacts. */
static const struct layout {
  int width, bytes;
  bool counted; /* may go as multiples of a step */
} layout[STREAMS] = {
    {3, 4, true},  {1, 4, false}, {4, 2, false}, {1, 4, false}, {3, 4, true},
    {3, 4, true},  {1, 4, true},  {1, 4, false}, {1, 4, true},  {1, 4, false},
    {1, 4, false}, {1, 4, false}, {1, 4, false}, {3, 2, false}, {1, 1, false},
};

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

static double float_at(const unsigned char *from, size_t k) {
  float out;
  memcpy(&out, from + k * sizeof out, sizeof out);
  return (double)out;
}

static uint32_t folded(uint32_t word, uint32_t guess, int bytes) {
  uint32_t mask = bytes == 4 ? 0xffffffffu : (1u << 8 * bytes) - 1, d = (word - guess) & mask;
  bool negative = d >> (8 * bytes - 1) & 1;
  return (negative ? ~(d << 1) : d << 1) & mask;
}

/* A field of n things, and what it is like. */
typedef struct field {
  const unsigned char *at, *before, *earlier; /* before: in the frame before; earlier: in the one before that */
  const int32_t *like; /* which thing of the frame before thing i is like, -1: none. NULL: the one in its place */
  size_t n;
  struct layout layout;
  double step; /* 0: words as they are */
} field;

static uint32_t value_at(const field *f, const unsigned char *from, size_t k) {
  return f->step > 0 ? (uint32_t)(int32_t)(float_at(from, k) / f->step) : word_at(from, k, f->layout.bytes);
}

static uint32_t guess_at(const field *f, size_t k) {
  size_t width = (size_t)f->layout.width;
  int32_t twin = f->like ? f->like[k / width] : (int32_t)(k / width);
  if (!f->before || twin < 0) return 0;
  size_t at = (size_t)twin * width + k % width;
  uint32_t last = value_at(f, f->before, at);
  return f->earlier ? 2 * last - value_at(f, f->earlier, at) : last;
}

static void put_field(stream *s, const field *f) {
  int bytes = f->layout.bytes;
  size_t count = f->n * (size_t)f->layout.width;
  unsigned char *plane = fx_grow(NULL, count * (size_t)bytes + 1, 1);
  for (size_t k = 0; k < count; k++) {
    uint32_t d = folded(value_at(f, f->at, k), guess_at(f, k), bytes);
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

static void put_poses(stream *s, const double *step, const frame *now, const frame *before, const frame *earlier) {
  bool known = before && before->list == now->list, twice = known && earlier && earlier->list == now->list;
  size_t n = now->bodies, at = 0;
  for (int k = 0; k < POSES; k++) {
    field f = {.at = now->poses + at, .n = n, .layout = layout[k], .step = step[k]};
    if (known) f.before = before->poses + at;
    if (twice && step[k] > 0) f.earlier = earlier->poses + at;
    put_field(&s[k], &f);
    at += n * (size_t)(layout[k].width * layout[k].bytes);
  }
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

static void put_contacts(stream *s, const double *step, const frame *now, const frame *before) {
  int32_t *like = find_twins(now, before);
  size_t n = now->touching, m = before ? before->touching : 0, at = 0, other = 0;
  uint32_t *jump = fx_grow(NULL, n + 1, sizeof *jump), last = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t twin = (uint32_t)(like[i] + 1);
    jump[i] = twin - (last + 1);
    last = twin;
  }
  put_field(&s[POSES], &(field){.at = (const unsigned char *)jump, .n = n, .layout = layout[POSES]});
  for (int k = POSES + 1; k < STREAMS; k++) {
    size_t size = (size_t)(layout[k].width * layout[k].bytes);
    field f = {.at = now->contacts + at, .like = like, .n = n, .layout = layout[k], .step = step[k]};
    if (before) f.before = before->contacts + other;
    put_field(&s[k], &f);
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

/* ---- steps: the largest power of two of which all numbers of a field are whole multiples below 2^30 */

typedef struct grain {
  int lowest, highest; /* binary places of the last digit of all numbers and of the first one */
  bool some, broken;   /* broken: a number that is no such multiple */
} grain;

static void look_at(grain *g, double x) {
  int exponent, digits = 0;
  if (!isfinite(x) || (x == 0 && signbit(x))) g->broken = true;
  if (!isfinite(x) || x == 0) return;
  double part = frexp(x, &exponent);
  while (part != rint(part)) part *= 2, digits++;
  if (!g->some || exponent - digits < g->lowest) g->lowest = exponent - digits;
  if (!g->some || exponent > g->highest) g->highest = exponent;
  g->some = true;
}

static void find_steps(const fx_page_bytes *bytes, int64_t count, double *step) {
  grain of[STREAMS] = {0};
  for (int64_t k = 0; k < count; k++) {
    frame now = frame_at(bytes, k);
    const unsigned char *at = now.poses;
    for (int f = 0; f < STREAMS; f++) {
      size_t n = (f < POSES ? now.bodies : now.touching) * (size_t)layout[f].width;
      for (size_t i = 0; i < n && layout[f].counted && !of[f].broken; i++) look_at(&of[f], float_at(at, i));
      if (f != POSES) at += n * (size_t)layout[f].bytes; /* which contact it is stands in no frame */
      if (f == POSES) at = now.contacts;
    }
  }
  for (int f = 0; f < STREAMS; f++) {
    bool whole = layout[f].counted && !of[f].broken && of[f].highest - of[f].lowest < 30;
    step[f] = whole ? ldexp(1, of[f].some ? of[f].lowest : 0) : 0;
  }
}

static void put_list(FILE *file, const char *name, const double *value) {
  fprintf(file, ", \"%s\": [", name);
  for (int k = 0; k < STREAMS; k++) fprintf(file, "%s%.17g", k ? ", " : "", value[k]);
  fputc(']', file);
}

void fx_page_pack(const fx_page_bytes *bytes, FILE *file) {
  int64_t count = fx_page_find(bytes, "frame.time")->count;
  /* the columns behind the frames begin with the patterns of the slots */
  size_t first = (size_t)real_at(bytes, "frame.poses", 0), tail = (size_t)fx_page_find(bytes, "slot.pattern")->at;
  stream all = {0}, s[STREAMS] = {0};
  double step[STREAMS], size[STREAMS];
  put(&all, bytes->piece, first);
  put(&all, bytes->piece + tail, (size_t)bytes->count - tail);
  find_steps(bytes, count, step);
  frame before = {0}, earlier = {0};
  for (int64_t k = 0; k < count; k++) {
    frame now = frame_at(bytes, k);
    put_poses(s, step, &now, k ? &before : NULL, k > 1 ? &earlier : NULL);
    put_contacts(s, step, &now, k ? &before : NULL);
    earlier = before, before = now;
  }
  for (int k = 0; k < STREAMS; k++) {
    size[k] = (double)s[k].count;
    put(&all, s[k].at, s[k].count);
    free(s[k].at);
  }
  fprintf(file, "<script type=\"application/json\" id=\"frix-packed\">{\"head\": %zu, \"tail\": %zu", first, tail);
  put_list(file, "streams", size);
  put_list(file, "steps", step);
  fputs("}</script>\n", file);
  for (size_t at = 0; at < all.count; at += PART) {
    fx_packed packed = {0};
    fx_deflate(&packed, all.at + at, all.count - at < PART ? all.count - at : PART, FX_DEFLATE_SMALL);
    fx_page_put_piece(file, "frix-packed", packed.at, packed.count);
    free(packed.at);
  }
  free(all.at);
}
