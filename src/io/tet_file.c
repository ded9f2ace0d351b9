/* Tetrahedral meshes from files: which reader; VTK legacy and TetGen; surfaces that are filled. */
#include "io/tet_file.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "io/file.h"
#include "io/mesh_file.h"

enum { MOST = INT32_MAX / 32, TETRA = 10, QUADRATIC_TETRA = 24 };
static const int64_t most_bytes = (int64_t)1 << 31;

/* ---- shared by the readers ---- */

bool fx_token_is(const char *token, size_t length, const char *word) {
  if (length != strlen(word)) return false;
  for (size_t k = 0; k < length; k++) {
    char a = token[k], b = word[k];
    if ((a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) != (b >= 'a' && b <= 'z' ? b - 'a' + 'A' : b)) return false;
  }
  return true;
}

static int compare_tags(int32_t a, int32_t b, const void *user) {
  const int64_t *tag = user;
  return tag[a] < tag[b] ? -1 : tag[a] > tag[b];
}

frix_status fx_tags_sort(fx_arena *arena, fx_scan *scan, fx_tags *tags) {
  int32_t *scratch = FX_TAKE_RAW(arena, int32_t, tags->count);
  tags->order = FX_TAKE_RAW(arena, int32_t, tags->count);
  if (!scratch || !tags->order) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < tags->count; k++) tags->order[k] = k;
  fx_sort_by(tags->order, scratch, (size_t)tags->count, compare_tags, tags->tag);
  for (int32_t k = 1; k < tags->count; k++)
    if (tags->tag[tags->order[k]] == tags->tag[tags->order[k - 1]])
      return fx_scan_fail(scan, "vertex %lld is given twice", (long long)tags->tag[tags->order[k]]);
  return FRIX_OK;
}

int32_t fx_tags_find(const fx_tags *tags, int64_t tag) {
  int32_t low = 0, high = tags->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (tags->tag[tags->order[middle]] < tag)
      low = middle + 1;
    else
      high = middle;
  }
  return low < tags->count && tags->tag[tags->order[low]] == tag ? tags->order[low] : -1;
}

/* ---- VTK legacy ---- */

static frix_status vtk_points(fx_arena *arena, fx_scan *scan, fx_tets *out) {
  int64_t count;
  const char *type;
  size_t length;
  frix_status status = fx_scan_integer(scan, "number of POINTS", 4, MOST, &count);
  if (!status && !fx_scan_token(scan, &type, &length)) status = fx_scan_fail(scan, "POINTS without a type");
  if (!status) status = fx_scan_room(scan, "POINTS", 3 * count);
  if (status) return status;
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, count);
  if (!out->vertex) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count && !status; k++) {
    double p[3];
    status = fx_scan_reals(scan, "a point", -INFINITY, 3, p);
    if (!status) out->vertex[k] = fx_vec(p[0], p[1], p[2]);
  }
  out->vertex_count = (int32_t)count;
  return status;
}

typedef struct vtk_cells {
  int64_t count;
  int32_t *first, *size, *line; /* of each cell in corner */
  int32_t *corner;
} vtk_cells;

static frix_status vtk_corners(fx_scan *scan, vtk_cells *cells, int64_t total, int32_t vertex_count) {
  int64_t used = 0, n, v;
  for (int64_t k = 0; k < cells->count; k++) {
    frix_status status = fx_scan_integer(scan, "corners of a cell", 0, total - used - (cells->count - k), &n);
    if (status) return status;
    cells->line[k] = (int32_t)scan->line, cells->first[k] = (int32_t)used, cells->size[k] = (int32_t)n;
    for (int64_t c = 0; c < n; c++) {
      status = fx_scan_integer(scan, "corner of a cell", 0, vertex_count - 1, &v);
      if (status) return status;
      cells->corner[used++] = (int32_t)v;
    }
  }
  if (used + cells->count != total)
    return fx_scan_fail(scan, "CELLS has a size of %lld, its cells take %lld", (long long)total,
                        (long long)(used + cells->count));
  return FRIX_OK;
}

static frix_status vtk_read_cells(fx_arena *arena, fx_scan *scan, int32_t vertex_count, vtk_cells *cells) {
  int64_t total;
  frix_status status = fx_scan_integer(scan, "number of CELLS", 1, MOST, &cells->count);
  if (!status) status = fx_scan_integer(scan, "size of CELLS", cells->count, 16 * (int64_t)MOST, &total);
  if (!status) status = fx_scan_room(scan, "CELLS", total);
  if (status) return status;
  fx_scan ahead = *scan;
  const char *token;
  size_t length;
  if (fx_scan_token(&ahead, &token, &length) && fx_token_is(token, length, "OFFSETS"))
    return fx_scan_fail(scan, "VTK legacy files of version 5 (OFFSETS) are not read: write version 4.2 or older");
  cells->first = FX_TAKE_RAW(arena, int32_t, cells->count);
  cells->size = FX_TAKE_RAW(arena, int32_t, cells->count);
  cells->line = FX_TAKE_RAW(arena, int32_t, cells->count);
  cells->corner = FX_TAKE_RAW(arena, int32_t, total);
  if (!cells->first || !cells->size || !cells->line || !cells->corner) return FRIX_ERROR_MEMORY;
  return vtk_corners(scan, cells, total, vertex_count);
}

/* Tetrahedra among the cells; a quadratic one by its corners. */
static frix_status vtk_types(fx_arena *arena, fx_scan *scan, const vtk_cells *cells, fx_tets *out) {
  int64_t count, type;
  frix_status status = fx_scan_integer(scan, "number of CELL_TYPES", cells->count, cells->count, &count);
  out->tet = FX_TAKE_RAW(arena, int32_t, 4 * (size_t)cells->count);
  out->line = FX_TAKE_RAW(arena, int32_t, cells->count);
  if (!out->tet || !out->line) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < cells->count && !status; k++) {
    status = fx_scan_integer(scan, "type of a cell", 0, 1000, &type);
    if (status || (type != TETRA && type != QUADRATIC_TETRA)) continue;
    if (cells->size[k] != (type == TETRA ? 4 : 10))
      return fx_scan_fail(scan, "cell %lld is a tetrahedron of %d corners", (long long)k, (int)cells->size[k]);
    memcpy(out->tet + 4 * (size_t)out->tet_count, cells->corner + cells->first[k], 4 * sizeof *out->tet);
    out->line[out->tet_count++] = cells->line[k];
  }
  return status;
}

frix_status fx_tets_read_vtk(fx_arena *arena, fx_scan *scan, fx_tets *out) {
  const char *token, *line;
  size_t length;
  vtk_cells cells = {0};
  fx_scan_line(scan, &line, &length); /* signature */
  if (length < 5 || memcmp(line, "# vtk", 5)) return fx_scan_fail(scan, "not a VTK legacy file");
  fx_scan_line(scan, &line, &length); /* title */
  if (!fx_scan_token(scan, &token, &length) || !fx_token_is(token, length, "ASCII"))
    return fx_scan_fail(scan, "only ASCII files are read, not '%s'", fx_word_of(token, length).text);
  while (fx_scan_token(scan, &token, &length)) {
    frix_status status = FRIX_OK;
    if (fx_token_is(token, length, "DATASET")) {
      if (!fx_scan_token(scan, &token, &length) || !fx_token_is(token, length, "UNSTRUCTURED_GRID"))
        return fx_scan_fail(scan, "the data set is '%s', expected UNSTRUCTURED_GRID", fx_word_of(token, length).text);
    } else if (fx_token_is(token, length, "POINTS")) {
      status = vtk_points(arena, scan, out);
    } else if (fx_token_is(token, length, "CELLS")) {
      status = vtk_read_cells(arena, scan, out->vertex_count, &cells);
    } else if (fx_token_is(token, length, "CELL_TYPES")) {
      if (!cells.corner) return fx_scan_fail(scan, "CELL_TYPES before CELLS");
      return vtk_types(arena, scan, &cells, out);
    } else if (strchr("+-.0123456789", token[0])) {
      return fx_scan_fail(scan, "expected a keyword, found '%s': a section holds more than it says",
                          fx_word_of(token, length).text);
    } else {
      fx_scan_line(scan, &line, &length);
    }
    if (status) return status;
  }
  return fx_scan_fail(scan, "the file ends before CELL_TYPES");
}

/* ---- TetGen ---- */

/* A file holds what its first line says, and no more. */
static frix_status tetgen_end(fx_scan *scan, const char *what, int64_t count) {
  const char *token;
  size_t length;
  if (!fx_scan_token(scan, &token, &length)) return FRIX_OK;
  return fx_scan_fail(scan, "expected the end after %lld %s, found '%s'", (long long)count, what,
                      fx_word_of(token, length).text);
}

static frix_status tetgen_nodes(fx_arena *arena, fx_scan *scan, fx_tags *tags, fx_tets *out) {
  int64_t count, dimension, attributes, marker;
  frix_status status = fx_scan_integer(scan, "number of nodes", 4, MOST, &count);
  if (!status) status = fx_scan_integer(scan, "dimension", 3, 3, &dimension);
  if (!status) status = fx_scan_integer(scan, "attributes of a node", 0, 1000, &attributes);
  if (!status) status = fx_scan_integer(scan, "markers of a node", 0, 1, &marker);
  if (!status) status = fx_scan_room(scan, "nodes", count * (4 + attributes + marker));
  if (status) return status;
  *tags = (fx_tags){.count = (int32_t)count, .tag = FX_TAKE_RAW(arena, int64_t, count)};
  out->vertex = FX_TAKE_RAW(arena, frix_vec3, count);
  if (!tags->tag || !out->vertex) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count; k++) {
    double p[3], skipped;
    status = fx_scan_integer(scan, "number of a node", INT32_MIN, INT32_MAX, &tags->tag[k]);
    if (!status) status = fx_scan_reals(scan, "a node", -INFINITY, 3, p);
    for (int64_t a = 0; a < attributes + marker && !status; a++)
      status = fx_scan_reals(scan, "attribute of a node", -INFINITY, 1, &skipped);
    if (status) return status;
    out->vertex[k] = fx_vec(p[0], p[1], p[2]);
  }
  out->vertex_count = (int32_t)count;
  status = tetgen_end(scan, "nodes", count);
  return status ? status : fx_tags_sort(arena, scan, tags);
}

frix_status fx_tets_read_tetgen(fx_arena *arena, fx_scan *nodes, fx_scan *scan, fx_tets *out) {
  fx_tags tags;
  int64_t count, corners, attributes, number, tag;
  frix_status status = tetgen_nodes(arena, nodes, &tags, out);
  if (!status) status = fx_scan_integer(scan, "number of tetrahedra", 1, MOST, &count);
  if (!status) status = fx_scan_integer(scan, "corners of a tetrahedron", 4, 10, &corners);
  if (!status) status = fx_scan_integer(scan, "attributes of a tetrahedron", 0, 1000, &attributes);
  if (!status) status = fx_scan_room(scan, "tetrahedra", count * (1 + corners + attributes));
  if (status) return status;
  out->tet = FX_TAKE_RAW(arena, int32_t, 4 * (size_t)count);
  out->line = FX_TAKE_RAW(arena, int32_t, count);
  if (!out->tet || !out->line) return FRIX_ERROR_MEMORY;
  for (int64_t k = 0; k < count; k++) {
    status = fx_scan_integer(scan, "number of a tetrahedron", INT32_MIN, INT32_MAX, &number);
    for (int64_t c = 0; c < corners && !status; c++) {
      status = fx_scan_integer(scan, "corner of a tetrahedron", INT32_MIN, INT32_MAX, &tag);
      if (status || c >= 4) continue;
      int32_t v = fx_tags_find(&tags, tag);
      if (v < 0) return fx_scan_fail(scan, "there is no node %lld", (long long)tag);
      out->tet[4 * k + c] = v;
    }
    double skipped;
    for (int64_t a = 0; a < attributes && !status; a++)
      status = fx_scan_reals(scan, "attribute of a tetrahedron", -INFINITY, 1, &skipped);
    if (status) return status;
    out->line[k] = (int32_t)scan->line;
  }
  out->tet_count = (int32_t)count;
  return tetgen_end(scan, "tetrahedra", count);
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end) {
  size_t m = strlen(text), n = strlen(end);
  return m >= n && fx_token_is(text + m - n, n, end);
}

/* Comments of TetGen files become spaces. */
static void blank_comments(char *bytes, size_t count) {
  bool inside = false;
  for (size_t k = 0; k < count; k++) {
    inside = bytes[k] != '\n' && (inside || bytes[k] == '#');
    if (inside) bytes[k] = ' ';
  }
}

static frix_status read_tetgen(fx_arena *arena, const char *path, fx_tets *out) {
  size_t length = strlen(path), counts[2];
  char *name[2] = {FX_TAKE(arena, char, length + 3), FX_TAKE(arena, char, length + 3)}, *bytes[2] = {NULL, NULL};
  if (!name[0] || !name[1]) return FRIX_ERROR_MEMORY;
  size_t stem = length - (ends_with(path, ".node") ? 5 : 4);
  frix_status status = FRIX_OK;
  for (int k = 0; k < 2; k++) {
    memcpy(name[k], path, stem);
    strcpy(name[k] + stem, k ? ".ele" : ".node");
    if (!status) status = fx_file_read(arena->context, name[k], most_bytes, &bytes[k], &counts[k]);
    if (!status) blank_comments(bytes[k], counts[k]);
  }
  if (!status) {
    fx_draft draft[2] = {{.context = arena->context, .name = name[0]}, {.context = arena->context, .name = name[1]}};
    fx_scan nodes = {&draft[0], bytes[0], bytes[0] + counts[0], 1};
    fx_scan elements = {&draft[1], bytes[1], bytes[1] + counts[1], 1};
    out->name = name[1];
    status = fx_tets_read_tetgen(arena, &nodes, &elements, out);
  }
  fx_free(arena->context, bytes[0]);
  fx_free(arena->context, bytes[1]);
  return status;
}

static frix_status fill_surface(fx_arena *arena, const char *path, const char *bytes, size_t count, int32_t cells,
                                fx_tets *out) {
  fx_mesh mesh;
  frix_status status = fx_mesh_read(arena, path, bytes, count, &mesh);
  if (status) return status;
  fx_skin skin = {mesh.vertex_count, mesh.triangle_count, mesh.vertex, mesh.triangle, NULL};
  status = fx_skin_check(arena, path, &skin);
  return status ? status : fx_tets_of_skin(arena, path, &skin, cells, out);
}

frix_status fx_tets_read(fx_arena *arena, const char *path, int32_t cells, fx_tets *out, bool *surface) {
  *out = (fx_tets){.name = path};
  *surface = ends_with(path, ".obj") || ends_with(path, ".stl");
  if (ends_with(path, ".node") || ends_with(path, ".ele")) return read_tetgen(arena, path, out);
  bool gmsh = ends_with(path, ".msh"), vtk = ends_with(path, ".vtk");
  if (!*surface && !gmsh && !vtk)
    return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED,
                   "%s: soft bodies are made from .msh, .vtk, .node, .ele, .obj and .stl files", path);
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_file_read(arena->context, path, most_bytes, &bytes, &count);
  if (status) return status;
  fx_draft draft = {.context = arena->context, .name = path};
  fx_scan scan = {&draft, bytes, bytes + count, 1};
  if (*surface)
    status = fill_surface(arena, path, bytes, count, cells, out);
  else
    status = gmsh ? fx_tets_read_gmsh(arena, &scan, out) : fx_tets_read_vtk(arena, &scan, out);
  fx_free(arena->context, bytes);
  return status;
}
