/* What becomes of runs: pictures that can be read back, tables, problems of single steps. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

/* ---- a PNG reader, to judge the writer: inflate after RFC 1951, five filters */

typedef struct reader {
  const uint8_t *at, *end;
  uint32_t bits;
  int count;
  bool bad;
} reader;

static uint32_t take(reader *r, int count) {
  while (r->count < count) {
    if (r->at == r->end) r->bad = true;
    r->bits |= (uint32_t)(r->at < r->end ? *r->at++ : 0) << r->count;
    r->count += 8;
  }
  uint32_t value = r->bits & ((1u << count) - 1);
  r->bits >>= count, r->count -= count;
  return value;
}

typedef struct tree {
  int count[16], symbol[288];
} tree;

static void plant(tree *t, const int *length, int n) {
  int offset[16] = {0};
  memset(t, 0, sizeof *t);
  for (int k = 0; k < n; k++) t->count[length[k]]++;
  t->count[0] = 0;
  for (int k = 1; k < 15; k++) offset[k + 1] = offset[k] + t->count[k];
  for (int k = 0; k < n; k++)
    if (length[k]) t->symbol[offset[length[k]]++] = k;
}

static int decode(reader *r, const tree *t) {
  int code = 0, first = 0, index = 0;
  for (int k = 1; k < 16; k++) {
    code |= (int)take(r, 1);
    if (code - first < t->count[k]) return t->symbol[index + code - first];
    index += t->count[k], first = (first + t->count[k]) << 1, code <<= 1;
  }
  r->bad = true;
  return 256;
}

static void read_trees(reader *r, tree *symbols, tree *distances) {
  static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int n = (int)take(r, 5) + 257, m = (int)take(r, 5) + 1, c = (int)take(r, 4) + 4, length[320] = {0};
  tree lengths;
  for (int k = 0; k < c; k++) length[order[k]] = (int)take(r, 3);
  plant(&lengths, length, 19);
  memset(length, 0, sizeof length);
  for (int k = 0; k < n + m && !r->bad; k++) { /* the writer uses no repeats */
    length[k] = decode(r, &lengths);
    if (length[k] > 15) r->bad = true, length[k] = 0;
  }
  plant(symbols, length, n);
  plant(distances, length + n, m);
}

/* Bytes that came out. */
static size_t inflate(reader *r, uint8_t *out, size_t room) {
  size_t n = 0;
  for (bool last = false; !last && !r->bad;) {
    tree symbols, distances;
    last = take(r, 1);
    if (take(r, 2) != 2) r->bad = true;
    read_trees(r, &symbols, &distances);
    for (int s = 0; !r->bad && (s = decode(r, &symbols)) != 256;) {
      if (s < 256) {
        if (n < room) out[n] = (uint8_t)s;
        n++;
        continue;
      }
      int bits = s < 265 || s == 285 ? 0 : (s - 261) / 4;
      int length = s == 285 ? 258 : bits ? ((4 + (s - 265) % 4) << bits) + 3 + (int)take(r, bits) : s - 254;
      int d = decode(r, &distances), far = d < 4 ? 0 : d / 2 - 1;
      size_t distance = (size_t)(far ? ((2 + d % 2) << far) + 1 + (int)take(r, far) : d + 1);
      if (distance > n) r->bad = true;
      for (; length > 0 && !r->bad; length--, n++)
        if (n < room) out[n] = out[n - distance];
    }
  }
  return n;
}

static uint32_t big(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int predict(int kind, int a, int b, int c) {
  int p = a + b - c, x = abs(p - a), y = abs(p - b), z = abs(p - c);
  return kind == 1   ? a
         : kind == 2 ? b
         : kind == 3 ? (a + b) / 2
         : kind == 4 ? (x <= y && x <= z ? a
                        : y <= z         ? b
                                         : c)
                     : 0;
}

/* The pixels of a file that frix wrote, NULL where it is no picture. */
static uint8_t *read_png(fx_test *t, const char *name, int width, int height) {
  FILE *file = fopen(fx_test_scratch(t, name), "rb");
  uint8_t *bytes = calloc(1, 1 << 22), *raw = NULL;
  size_t size = file ? fread(bytes, 1, 1 << 22, file) : 0, row = 3 * (size_t)width + 1;
  if (file) fclose(file);
  bool good = size > 57 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) && big(bytes + 16) == (uint32_t)width &&
              big(bytes + 20) == (uint32_t)height && !memcmp(bytes + 37, "IDAT", 4);
  if (good) {
    reader r = {.at = bytes + 43, .end = bytes + 41 + big(bytes + 33) - 4};
    raw = calloc((size_t)height, row);
    good = inflate(&r, raw, row * (size_t)height) == row * (size_t)height && !r.bad;
  }
  for (int y = 0; good && y < height; y++)
    for (size_t k = 1; k < row; k++) {
      uint8_t *p = raw + row * (size_t)y + k;
      int a = k > 3 ? p[-3] : 0, b = y ? *(p - row) : 0, c = y && k > 3 ? *(p - row - 3) : 0;
      *p = (uint8_t)(*p + predict(raw[row * (size_t)y], a, b, c));
    }
  free(bytes);
  if (good) return raw;
  free(raw);
  return NULL;
}

static int colours(const uint8_t *raw, int width, int height) {
  static const int shift[3] = {10, 5, 0};
  uint8_t *seen = calloc(1, 1 << 15);
  int count = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const uint8_t *p = raw + (3 * (size_t)width + 1) * (size_t)y + 1 + 3 * (size_t)x;
      int key = 0;
      for (int k = 0; k < 3; k++) key |= (p[k] >> 3) << shift[k];
      count += !seen[key];
      seen[key] = 1;
    }
  free(seen);
  return count;
}

static int changed(const uint8_t *a, const uint8_t *b, int width, int height) {
  int count = 0;
  for (size_t k = 0; k < (3 * (size_t)width + 1) * (size_t)height; k++) count += a[k] != b[k];
  return count;
}

/* ---- tests */

static bool run(fx_test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool run(fx_test *t, const char *format, ...) {
  char command[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(command, sizeof command, format, list);
  va_end(list);
  shell_result r = shell(t, "%s", command);
  if (r.code) fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d: %s", command, r.code, r.err);
  bool good = r.code == 0;
  shell_free(&r);
  return good;
}

static void refused(fx_test *t, const char *command, const char *part) {
  shell_result r = shell(t, "%s", command);
  if (r.code != 2 || !strstr(r.err, part) || shell_lines(r.err) != 1)
    fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d: %s", command, r.code, r.err);
  shell_free(&r);
}

#define SMALL "--size 160x90"
enum { WIDTH = 160, HEIGHT = 90 };

static void show_frames(fx_test *t) {
  REQUIRE(t, run(t, "$frix run dominoes --set n=8 --time 0.3 --every 30 --out tiles.frx --quiet"));
  REQUIRE(t, run(t, "$frix render tiles.frx --frame 0 " SMALL " --out a.png"));
  REQUIRE(t, run(t, "$frix render tiles.frx " SMALL " --out b.png"));
  REQUIRE(t, run(t, "$frix render tiles.frx --frame -1 " SMALL " --out b2.png && cmp b.png b2.png"));
  REQUIRE(t, run(t, "$frix render tiles.frx --frame 0 --theme dark --forces " SMALL " --out c.png"));
  uint8_t *a = read_png(t, "a.png", WIDTH, HEIGHT), *b = read_png(t, "b.png", WIDTH, HEIGHT),
          *c = read_png(t, "c.png", WIDTH, HEIGHT);
  CHECK(t, a && b && c);
  if (a && b && c) {
    CHECK(t, colours(a, WIDTH, HEIGHT) > 60 && colours(c, WIDTH, HEIGHT) > 60);
    CHECK(t, changed(a, b, WIDTH, HEIGHT) > 2000 && changed(a, c, WIDTH, HEIGHT) > 20000);
    fx_test_note(t, "%d colours", colours(a, WIDTH, HEIGHT));
  }
  free(a);
  free(b);
  free(c);
}

/* Pixels with so much more of one primary colour than of another. */
static int pixels_with(const uint8_t *raw, int width, int height, int more, int less, int by) {
  int count = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const uint8_t *p = raw + (3 * (size_t)width + 1) * (size_t)y + 1 + 3 * (size_t)x;
      count += p[more] > p[less] + by;
    }
  return count;
}

/* Small and large discs are told apart by name (blue, orange) and by size (dark blue, yellow), not one after the other.
 */
static void show_tones(fx_test *t) {
  static const char *by[] = {"body", "name", "size", "speed", "force", "state"};
  uint8_t *picture[6] = {NULL};
  REQUIRE(t, run(t, "$frix run segregation --time 0.2 --out mixed.frx --quiet"));
  for (int k = 0; k < 6; k++) {
    char name[16];
    snprintf(name, sizeof name, "by%d.png", k);
    CHECK(t, run(t, "$frix render mixed.frx --colour %s " SMALL " --out %s", by[k], name));
    picture[k] = read_png(t, name, WIDTH, HEIGHT);
    CHECK(t, picture[k]);
    if (k && picture[k] && picture[k - 1]) CHECK(t, changed(picture[k], picture[k - 1], WIDTH, HEIGHT) > 500);
  }
  enum { RED, BLUE = 2 };
  for (int k = 1; k < 3; k++)
    if (picture[0] && picture[k]) {
      int warm = pixels_with(picture[k], WIDTH, HEIGHT, RED, BLUE, 70),
          cold = pixels_with(picture[k], WIDTH, HEIGHT, BLUE, RED, 40);
      CHECK(t, warm > 100 && cold > 100 && pixels_with(picture[0], WIDTH, HEIGHT, RED, BLUE, 70) == 0);
      fx_test_note(t, "%s: %d pixels of large discs, %d of small ones", by[k], warm, cold);
    }
  CHECK(t, run(t, "! $frix render mixed.frx --colour mass " SMALL " --out no.png 2>/dev/null"));
  for (int k = 0; k < 6; k++) free(picture[k]);
}

/* Middle row of what is blue, as first bodies are, in a column; negative: nothing is. */
static double blue_row(const uint8_t *raw, int width, int height, int x) {
  double sum = 0;
  int count = 0;
  for (int y = 0; y < height; y++) {
    const uint8_t *p = raw + (3 * (size_t)width + 1) * (size_t)y + 1 + 3 * (size_t)x;
    if (p[2] > p[0] + 20 && p[2] > p[1] + 20) sum += y, count++;
  }
  return count ? sum / count : -1;
}

/* A soft beam that is held at one end is bent in its picture: its middle lies above the line between its ends. */
static void show_soft(fx_test *t) {
  enum { WIDE = 320, HIGH = 180 };
  REQUIRE(t, run(t, "$frix run cantilever --time 1 --every 50 --out beam.frx --quiet"));
  REQUIRE(t, run(t, "$frix render beam.frx --view=-90,0 --size 320x180 --out e.png"));
  uint8_t *e = read_png(t, "e.png", WIDE, HIGH);
  REQUIRE(t, e);
  int first = WIDE, last = 0;
  for (int x = 0; x < WIDE; x++)
    if (blue_row(e, WIDE, HIGH, x) >= 0) first = x < first ? x : first, last = x;
  CHECK(t, last - first > 60);
  if (last - first > 60) {
    first += 5, last -= (last - first) / 6; /* beside the slanted end */
    double chord = 0.5 * (blue_row(e, WIDE, HIGH, first) + blue_row(e, WIDE, HIGH, last));
    double above = chord - blue_row(e, WIDE, HIGH, (first + last) / 2);
    CHECK(t, above > 2);
    fx_test_note(t, "bent by %.1f of %d pixels", above, last - first);
  }
  free(e);
}

/* Seen straight on: the ground fills the lower part, in one colour. */
static void show_planar(fx_test *t) {
  REQUIRE(t, run(t, "$frix run cannonball --set levels=4 --time 0.1 --out discs.frx --quiet"));
  REQUIRE(t, run(t, "$frix render discs.frx " SMALL " --out d.png"));
  uint8_t *d = read_png(t, "d.png", WIDTH, HEIGHT);
  REQUIRE(t, d);
  const uint8_t *low = d + (3 * WIDTH + 1) * (HEIGHT - 1) + 1;
  for (int x = 1; x < WIDTH; x++) CHECK(t, !memcmp(low, low + 3 * (size_t)x, 3));
  CHECK(t, colours(d, WIDTH, HEIGHT) > 20);
  free(d);
}

static void show_film(fx_test *t) {
  shell_result r = shell(t, "command -v ffmpeg");
  bool there = r.code == 0;
  shell_free(&r);
  REQUIRE(t, run(t, "$frix run stack --time 0.1 --out stack.frx --quiet"));
  if (!there) {
    refused(t, "$frix render stack.frx --video x.mp4", "films need ffmpeg");
    return;
  }
  REQUIRE(t, run(t, "$frix render stack.frx --video x.mp4 --size 64x48 && test -s x.mp4"));
}

static void render_refuses(fx_test *t) {
  REQUIRE(t, run(t, "$frix run stack --time 0.05 --out s.frx --quiet"));
  refused(t, "$frix render s.frx", "give --out");
  refused(t, "$frix render s.frx --out x.png --size 10", "WIDTHxHEIGHT");
  refused(t, "$frix render s.frx --out x.png --view 10", "AZIMUTH,ELEVATION");
  refused(t, "$frix render s.frx --out x.png --frame 1000", "--frame");
  refused(t, "$frix render s.frx --out /nowhere/x.png", "/nowhere/x.png");
  refused(t, "$frix render missing.frx --out x.png", "missing.frx: cannot open");
  refused(t, "echo hello > h.frx && $frix render h.frx --out x.png", "h.frx: is not a trajectory");
  refused(t, "head -c 100 s.frx > h.frx && $frix render h.frx --out x.png", "holds no model");
}

static void tables(fx_test *t) {
  REQUIRE(t, run(t, "$frix run stack --set n=3 --time 0.1 --dt 0.01 --out e.frx --checkpoint 4 --quiet"));
  REQUIRE(t, run(t, "$frix export e.frx --out e.csv && $frix export e.frx --out e.npz"));
  char *steps = shell_read(fx_test_scratch(t, "e_steps.csv")), *bodies = shell_read(fx_test_scratch(t, "e_bodies.csv"));
  CHECK(t, shell_lines(steps) == 12 && shell_lines(bodies) == 1 + 11 * 3);
  CHECK(t,
        !strncmp(steps, "time,step,h,hash,", 17) && strstr(bodies, ",position_x,position_y,position_z,quaternion_w"));
  free(steps);
  free(bodies);
  REQUIRE(t, run(t, "$frix export e.frx --out f.csv --frames 2:9:3"));
  steps = shell_read(fx_test_scratch(t, "f_steps.csv"));
  CHECK(t, shell_lines(steps) == 1 + 3);
  free(steps);
  /* Python judges the archive, numpy where it is there */
  REQUIRE(t, run(t,
                 "command -v python3 >/dev/null || exit 0; python3 -c \"import zipfile; z = zipfile.ZipFile('e.npz'); "
                 "assert z.testzip() is None and len(z.namelist()) == 45\""));
  REQUIRE(t, run(t,
                 "python3 -c 'import numpy' 2>/dev/null || exit 0; python3 -c \"import numpy; d = numpy.load('e.npz'); "
                 "assert d['position'].shape == (11, 3, 3) and d['contact_force'].shape[1] == 3\""));
  refused(t, "$frix export e.frx --out e.xyz", "choose csv, npz or hdf5");
  refused(t, "$frix export e.frx --out e.npz --frames 3:2", "frames 3 to 2");
  refused(t, "$frix export e.frx --out e.npz --frames a", "FIRST:LAST:EVERY");
#ifdef FRIX_HAVE_HDF5
  REQUIRE(t, run(t, "$frix export e.frx --out e.h5 && head -c 4 e.h5 | grep -q HDF"));
#else
  refused(t, "$frix export e.frx --out e.h5", "no HDF5");
#endif
}

static void problems(fx_test *t) {
  REQUIRE(t, run(t,
                 "$frix run stack --set n=3 --time 0.1 --dt 0.01 --every 2 --out p.frx --checkpoint 4 --quiet "
                 "--export-problems all"));
  for (int step = 1; step <= 10; step += 3)
    REQUIRE(t, run(t, "$frix export p.frx --problem %d --out p%d.json && $frix solve p%d.json", step, step, step));
  refused(t, "$frix export p.frx --problem 11 --out q.json", "ends before step 11");
  refused(t, "$frix export p.frx --problem 0 --out q.json", "--problem");
}

/* Whoever reads the file of a killed run is told once, and sees what is whole. */
static void cut_files(fx_test *t) {
  REQUIRE(t, run(t, "$frix run stack --time 0.1 --out w.frx --quiet"));
  REQUIRE(t, run(t, "head -c $(($(wc -c < w.frx) - 10)) w.frx > cut.frx"));
  shell_result r = shell(t, "$frix export cut.frx --out cut.npz");
  CHECK(t, r.code == 0 && strstr(r.err, "ends inside a block") && shell_lines(r.err) == 1);
  shell_free(&r);
}

const fx_test_row test_pictures[] = {{"pictures/frames", show_frames},  {"pictures/planar", show_planar},
                                     {"pictures/film", show_film},      {"pictures/refuses", render_refuses},
                                     {"pictures/tables", tables},       {"pictures/problems", problems},
                                     {"pictures/cut_files", cut_files}, {"pictures/soft", show_soft},
                                     {"pictures/tones", show_tones},    {0}};
