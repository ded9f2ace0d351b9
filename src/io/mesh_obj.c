/* Wavefront OBJ: "v x y z" and "f a b c ..." count. A face of four corners is cut along its shorter diagonal, one of
 * more corners as a fan. Everything else (normals, texture coordinates, groups, materials) is passed over. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "io/draft.h"
#include "io/mesh_file.h"

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

enum { MOST = INT32_MAX / 16 };

typedef struct cursor {
  const char *at, *end; /* of the present line */
} cursor;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static size_t next_word(cursor *c, const char **word) {
  while (c->at < c->end && is_blank(*c->at)) c->at++;
  *word = c->at;
  while (c->at < c->end && !is_blank(*c->at)) c->at++;
  return (size_t)(c->at - *word);
}

/* "7", "7/1", "7//3", "-1": the vertex, from 0; -1 where it is none. */
static int32_t corner_of(const char *word, size_t length, int32_t vertex_count) {
  bool negative = length && *word == '-';
  int64_t value = 0;
  size_t k = negative;
  for (; k < length && word[k] >= '0' && word[k] <= '9' && value < MOST; k++) value = 10 * value + (word[k] - '0');
  if (k == (size_t)negative || (k < length && word[k] != '/')) return -1;
  value = negative ? vertex_count - value : value - 1;
  return value >= 0 && value < vertex_count ? (int32_t)value : -1;
}

/* Squared, in single precision, as programs that read the format have it: which of two equal diagonals is the shorter
 * one must not depend on digits they do not keep. */
static float distance2(frix_vec3 a, frix_vec3 b) {
  float x = (float)b.x - (float)a.x, y = (float)b.y - (float)a.y, z = (float)b.z - (float)a.z;
  return x * x + y * y + z * z;
}

/* The last two triangles of a fan are a b c and a c d: as a b d and b c d where b d is not longer than a c. */
static void cut_quad(fx_mesh *out) {
  int32_t *t = out->triangle + 3 * (size_t)(out->triangle_count - 2), b = t[1], d = t[5];
  const frix_vec3 *v = out->vertex;
  if (distance2(v[t[0]], v[t[2]]) < distance2(v[b], v[d])) return;
  t[3] = b, t[4] = t[2], t[2] = d;
}

static frix_status read_face(fx_arena *arena, const char *file, int line, cursor c, fx_mesh *out) {
  int32_t first = -1, last = -1, corners = 0;
  const char *word;
  for (size_t length; (length = next_word(&c, &word));) {
    int32_t corner = corner_of(word, length, out->vertex_count);
    if (corner < 0)
      FAIL("%s:%d: face corner '%s' is not one of the %d vertices before it", file, line, fx_word_of(word, length).text,
           (int)out->vertex_count);
    if (corners == 0) first = corner;
    if (corners >= 2) {
      int32_t *t = out->triangle + 3 * (size_t)out->triangle_count++;
      t[0] = first, t[1] = last, t[2] = corner;
    }
    last = corner;
    corners++;
  }
  if (corners < 3) FAIL("%s:%d: a face of %d corners", file, line, (int)corners);
  if (corners == 4) cut_quad(out);
  return FRIX_OK;
}

static frix_status read_vertex(fx_arena *arena, const char *file, int line, cursor c, fx_mesh *out) {
  double v[3];
  const char *word;
  for (int k = 0; k < 3; k++) {
    size_t length = next_word(&c, &word);
    if (!fx_parse_real(word, length, &v[k]) || !isfinite(v[k]))
      FAIL("%s:%d: 'v' wants three numbers, not '%s'", file, line, fx_word_of(word, length).text);
  }
  out->vertex[out->vertex_count++] = (frix_vec3){v[0], v[1], v[2]};
  return FRIX_OK;
}

/* The rest of the next line that holds a vertex or a face; its kind 'v' or 'f', 0 at the end of the file. */
static char next_line(const char **at, const char *end, int *line, cursor *rest) {
  while (*at < end) {
    const char *stop = memchr(*at, '\n', (size_t)(end - *at)), *word;
    cursor c = {*at, stop ? stop : end};
    size_t length = next_word(&c, &word);
    ++*line;
    *at = stop ? stop + 1 : end;
    *rest = c;
    if (length == 1 && (*word == 'v' || *word == 'f')) return *word;
  }
  return 0;
}

/* How much memory the file needs, at most. */
static frix_status take_room(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  size_t vertices = 0, corners = 0;
  const char *at = bytes, *word;
  int line = 0;
  cursor rest;
  for (char kind; (kind = next_line(&at, bytes + count, &line, &rest));) {
    vertices += kind == 'v';
    while (kind == 'f' && next_word(&rest, &word)) corners++;
  }
  if (vertices < 1) FAIL("%s: an OBJ file without vertices", file);
  if (vertices > MOST || corners > MOST) FAIL("%s: too many vertices or faces", file);
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, vertices);
  out->triangle = FX_TAKE_RAW(arena, int32_t, 3 * corners);
  return out->vertex && out->triangle ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_mesh_read_obj(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  frix_status status = take_room(arena, file, bytes, count, out);
  const char *at = bytes;
  int line = 0;
  cursor rest;
  for (char kind; !status && (kind = next_line(&at, bytes + count, &line, &rest));)
    status = kind == 'v' ? read_vertex(arena, file, line, rest, out) : read_face(arena, file, line, rest, out);
  return status;
}
