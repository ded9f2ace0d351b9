/* Triangle meshes from files: which reader, and the two binary formats. */
#include "io/mesh_file.h"

#include <math.h>
#include <string.h>

#define FAIL(...) return fx_fail(arena->context, FRIX_ERROR_FORMAT, __VA_ARGS__)

uint32_t fx_mesh_integer(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

double fx_mesh_single(double x) {
  volatile float rounded = (float)x; /* gcc 12 leaves the conversion out where it works on two numbers at once */
  return rounded;
}

double fx_mesh_float(const char *bytes) {
  uint32_t bits = fx_mesh_integer(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool ends_with(const char *text, const char *end) {
  size_t m = strlen(text), n = strlen(end);
  if (m < n) return false;
  for (size_t k = 0; k < n; k++) {
    char c = text[m - n + k];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[k]) return false;
  }
  return true;
}

frix_status fx_mesh_read(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  *out = (fx_mesh){0};
  if (ends_with(file, ".stl")) return fx_mesh_read_stl(arena, file, bytes, count, out);
  if (ends_with(file, ".obj")) return fx_mesh_read_obj(arena, file, bytes, count, out);
  if (ends_with(file, ".msh")) return fx_mesh_read_msh(arena, file, bytes, count, out);
  return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "%s: meshes are read from .stl, .obj and .msh files", file);
}

/* Four counts (vertices, normals, texture coordinates, faces), then the vertices, the normals and texture coordinates,
 * which are passed over, and the faces. */
frix_status fx_mesh_read_msh(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out) {
  if (count < 16) FAIL("%s: too short for an MSH file", file);
  uint64_t vertices = fx_mesh_integer(bytes), normals = fx_mesh_integer(bytes + 4),
           coordinates = fx_mesh_integer(bytes + 8), faces = fx_mesh_integer(bytes + 12);
  uint64_t wanted = 16 + 12 * vertices + 12 * normals + 8 * coordinates + 12 * faces;
  if (wanted != count)
    FAIL("%s: %zu bytes, but its counts (%u vertices, %u faces) ask for %llu", file, count, (unsigned)vertices,
         (unsigned)faces, (unsigned long long)wanted);
  if (vertices > INT32_MAX / 4 || faces > INT32_MAX / 4) FAIL("%s: too many vertices or faces", file);
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, vertices);
  out->triangle = FX_TAKE_RAW(arena, int32_t, 3 * faces);
  if (!out->vertex || !out->triangle) return FRIX_ERROR_MEMORY;
  const char *at = bytes + 16;
  for (uint64_t k = 0; k < vertices; k++, at += 12) {
    frix_vec3 v = {fx_mesh_float(at), fx_mesh_float(at + 4), fx_mesh_float(at + 8)};
    if (!isfinite(v.x + v.y + v.z)) FAIL("%s: vertex %u is not finite", file, (unsigned)k);
    out->vertex[k] = v;
  }
  at += 12 * normals + 8 * coordinates;
  for (uint64_t k = 0; k < 3 * faces; k++, at += 4) {
    uint32_t corner = fx_mesh_integer(at);
    if (corner >= vertices)
      FAIL("%s: face %u names vertex %u of %u", file, (unsigned)(k / 3), corner, (unsigned)vertices);
    out->triangle[k] = (int32_t)corner;
  }
  out->vertex_count = (int32_t)vertices, out->triangle_count = (int32_t)faces;
  return FRIX_OK;
}
