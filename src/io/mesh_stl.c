/* STL: triangles with their own corners, binary or ASCII. Corners at the same place are made one by sorting, so that a
 * mesh has the vertices its author saw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "io/draft.h"
#include "io/mesh_file.h"

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

enum { MOST_TRIANGLES = INT32_MAX / 16 };

typedef struct corner {
  frix_vec3 at;
  int32_t place;
} corner;

static int compare(const void *x, const void *y) {
  const corner *a = x, *b = y;
  if (a->at.x != b->at.x) return a->at.x < b->at.x ? -1 : 1;
  if (a->at.y != b->at.y) return a->at.y < b->at.y ? -1 : 1;
  if (a->at.z != b->at.z) return a->at.z < b->at.z ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static frix_status weld(fx_arena *arena, corner *c, int32_t count, fx_mesh *out) {
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, count);
  out->triangle = FX_TAKE_RAW(arena, int32_t, count);
  if (!out->vertex || !out->triangle) return FRIX_ERROR_MEMORY;
  qsort(c, (size_t)count, sizeof *c, compare);
  for (int32_t k = 0; k < count; k++) {
    bool same = k && c[k].at.x == c[k - 1].at.x && c[k].at.y == c[k - 1].at.y && c[k].at.z == c[k - 1].at.z;
    if (!same) out->vertex[out->vertex_count++] = c[k].at;
    out->triangle[c[k].place] = out->vertex_count - 1;
  }
  out->triangle_count = count / 3;
  return FRIX_OK;
}

static frix_status read_binary(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  uint64_t triangles = fx_mesh_integer(bytes + 80), wanted = 84 + 50 * triangles;
  if (triangles < 1 || triangles > MOST_TRIANGLES)
    FAIL("%s: an STL file of %llu triangles", file, (unsigned long long)triangles);
  if (count < wanted)
    FAIL("%s: ends after %zu bytes; its %llu triangles need %llu", file, count, (unsigned long long)triangles,
         (unsigned long long)wanted);
  corner *c = FX_TAKE_RAW(arena, corner, 3 * triangles);
  if (!c) return FRIX_ERROR_MEMORY;
  for (uint64_t k = 0; k < 3 * triangles; k++) {
    const char *at = bytes + 84 + 50 * (k / 3) + 12 * (1 + k % 3);
    frix_vec3 v = {fx_mesh_float(at), fx_mesh_float(at + 4), fx_mesh_float(at + 8)};
    if (!isfinite(v.x + v.y + v.z))
      FAIL("%s: triangle %llu has a corner that is not finite", file, (unsigned long long)(k / 3));
    c[k] = (corner){v, (int32_t)k};
  }
  return weld(arena, c, (int32_t)(3 * triangles), out);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

typedef struct words {
  const char *at, *end;
  int line;
} words;

static size_t next_word(words *w, const char **word) {
  while (w->at < w->end && is_space(*w->at)) w->line += *w->at++ == '\n';
  *word = w->at;
  while (w->at < w->end && !is_space(*w->at)) w->at++;
  return (size_t)(w->at - *word);
}

/* Only "vertex x y z" counts; three of them are a triangle. */
static frix_status read_ascii(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  corner *c = FX_TAKE_RAW(arena, corner, count / 8 + 3); /* "vertex 0 0 0" is longer than that */
  if (!c) return FRIX_ERROR_MEMORY;
  words w = {bytes, bytes + count, 1};
  int32_t found = 0;
  bool ended = false;
  const char *word;
  for (size_t length; (length = next_word(&w, &word));) {
    if (length == 8 && !memcmp(word, "endsolid", 8)) ended = true;
    if (length != 6 || memcmp(word, "vertex", 6)) continue;
    double v[3];
    for (int k = 0; k < 3; k++) {
      length = next_word(&w, &word);
      if (!fx_parse_real(word, length, &v[k]) || !isfinite(v[k]))
        FAIL("%s:%d: 'vertex' wants three numbers, not '%s'", file, w.line, fx_word_of(word, length).text);
    }
    if (found >= 3 * MOST_TRIANGLES) FAIL("%s:%d: too many triangles", file, w.line);
    c[found] = (corner){{v[0], v[1], v[2]}, found};
    found++;
  }
  if (found == 0 || found % 3 || !ended)
    FAIL("%s:%d: the STL file is cut off: %d vertices%s", file, w.line, (int)found, ended ? "" : ", no 'endsolid'");
  return weld(arena, c, found, out);
}

/* Binary files may start with "solid" too; their size tells. */
frix_status fx_mesh_read_stl(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  bool solid = count >= 5 && !memcmp(bytes, "solid", 5);
  if (count >= 84) {
    uint64_t wanted = 84 + 50 * (uint64_t)fx_mesh_integer(bytes + 80);
    if (!solid || wanted == count) return read_binary(arena, file, bytes, count, out);
  }
  if (solid) return read_ascii(arena, file, bytes, count, out);
  FAIL("%s: %zu bytes are too few for an STL file", file, count);
}
