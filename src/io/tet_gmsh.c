/* Gmsh meshes (.msh), ASCII, versions 2.2 and 4.1: nodes and tetrahedra (types 4 and 11, the latter by its corners).
 *
 *   $MeshFormat  version 0 size  $EndMeshFormat
 *   2.2:  $Nodes  n  (tag x y z)*  $EndNodes    $Elements  m  (tag type tags tag* corner*)*  $EndElements
 *   4.1:  $Nodes  blocks n low high  (dim entity parametric k  tag*k  (x y z)*k)*  $EndNodes
 *         $Elements  blocks m low high  (dim entity type k  (tag corner*)*k)*  $EndElements
 *
 * Other sections and elements are passed over. */
#include <math.h>

#include "io/tet_file.h"

enum { MOST = INT32_MAX / 32, TETRA = 4, TETRA10 = 11 };
static const int64_t far = (int64_t)1 << 60;

/* Corners of the element types 1 to 19, 0 where it is not known. */
static int corners_of(int64_t type) {
  static const int corner[20] = {0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13};
  return type > 0 && type < 20 ? corner[type] : 0;
}

typedef struct reader {
  fx_arena *arena;
  fx_scan *scan;
  fx_tets *out;
  fx_tags tags;
  bool four; /* version 4.1 */
} reader;

static frix_status take_nodes(reader *r, int64_t count, int64_t tokens) {
  frix_status status = fx_scan_room(r->scan, "nodes", tokens);
  if (status) return status;
  r->tags = (fx_tags){.tag = FX_TAKE_RAW(r->arena, int64_t, count)};
  r->out->vertex = FX_TAKE_RAW(r->arena, frix_vec3, count);
  return r->tags.tag && r->out->vertex ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status read_place(reader *r, int32_t k) {
  double p[3];
  frix_status status = fx_scan_reals(r->scan, "a node", -INFINITY, 3, p);
  if (!status) r->out->vertex[k] = fx_vec(p[0], p[1], p[2]);
  return status;
}

static frix_status nodes_2(reader *r) {
  int64_t count;
  frix_status status = fx_scan_integer(r->scan, "number of nodes", 4, MOST, &count);
  if (!status) status = take_nodes(r, count, 4 * count);
  for (int32_t k = 0; k < count && !status; k++) {
    status = fx_scan_integer(r->scan, "number of a node", 0, far, &r->tags.tag[k]);
    if (!status) status = read_place(r, k);
  }
  if (!status) r->tags.count = (int32_t)count;
  return status;
}

static frix_status nodes_4(reader *r) {
  int64_t blocks, count, low, high, dim, entity, parametric, size;
  frix_status status = fx_scan_integer(r->scan, "number of blocks of nodes", 1, MOST, &blocks);
  if (!status) status = fx_scan_integer(r->scan, "number of nodes", 4, MOST, &count);
  if (!status) status = fx_scan_integer(r->scan, "lowest number of a node", 0, far, &low);
  if (!status) status = fx_scan_integer(r->scan, "highest number of a node", 0, far, &high);
  if (!status) status = take_nodes(r, count, 4 * count);
  for (int64_t b = 0; b < blocks && !status; b++) {
    status = fx_scan_integer(r->scan, "dimension of a block", 0, 3, &dim);
    if (!status) status = fx_scan_integer(r->scan, "entity of a block", -far, far, &entity);
    if (!status) status = fx_scan_integer(r->scan, "parametric flag of a block", 0, 1, &parametric);
    if (!status) status = fx_scan_integer(r->scan, "nodes of a block", 0, count - r->tags.count, &size);
    if (status) return status;
    int32_t first = r->tags.count;
    for (int32_t k = 0; k < size && !status; k++)
      status = fx_scan_integer(r->scan, "number of a node", 0, far, &r->tags.tag[first + k]);
    for (int32_t k = 0; k < size && !status; k++) {
      double skipped[3];
      status = read_place(r, first + k);
      if (!status && parametric) status = fx_scan_reals(r->scan, "parameters of a node", -INFINITY, dim, skipped);
    }
    r->tags.count += (int32_t)size;
  }
  if (!status && r->tags.count != count)
    return fx_scan_fail(r->scan, "the blocks hold %d nodes, the section says %lld", (int)r->tags.count,
                        (long long)count);
  return status;
}

/* After a section of `count` things: its end or another section, unless there are more of them. */
static frix_status end_section(fx_scan *scan, const char *end, int64_t count) {
  const char *token;
  size_t length;
  fx_scan ahead = *scan;
  if (!fx_scan_token(&ahead, &token, &length) || token[0] == '$') return FRIX_OK;
  return fx_scan_fail(&ahead, "expected %s after the %lld that the section says, found '%s'", end, (long long)count,
                      fx_word_of(token, length).text);
}

static frix_status read_nodes(reader *r) {
  frix_status status = r->four ? nodes_4(r) : nodes_2(r);
  if (!status) status = end_section(r->scan, "$EndNodes", r->tags.count);
  if (status) return status;
  r->out->vertex_count = r->tags.count;
  return fx_tags_sort(r->arena, r->scan, &r->tags);
}

static frix_status take_tets(reader *r, int64_t count) {
  frix_status status = fx_scan_room(r->scan, "elements", 2 * count);
  if (status) return status;
  r->out->tet = FX_TAKE_RAW(r->arena, int32_t, 4 * (size_t)count);
  r->out->line = FX_TAKE_RAW(r->arena, int32_t, count);
  return r->out->tet && r->out->line ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Corners of one element, kept where it is a tetrahedron. */
static frix_status read_corners(reader *r, int64_t type) {
  bool kept = type == TETRA || type == TETRA10;
  int corners = corners_of(type);
  int32_t *t = r->out->tet + 4 * (size_t)r->out->tet_count;
  for (int c = 0; c < corners; c++) {
    int64_t tag;
    frix_status status = fx_scan_integer(r->scan, "corner of an element", 0, far, &tag);
    if (status) return status;
    if (!kept || c >= 4) continue;
    t[c] = fx_tags_find(&r->tags, tag);
    if (t[c] < 0) return fx_scan_fail(r->scan, "there is no node %lld", (long long)tag);
  }
  if (kept) r->out->line[r->out->tet_count++] = (int32_t)r->scan->line;
  return FRIX_OK;
}

static frix_status known_type(reader *r, int64_t type) {
  if (corners_of(type)) return FRIX_OK;
  return fx_scan_fail(r->scan, "elements of type %lld are not known", (long long)type);
}

static frix_status elements_2(reader *r) {
  int64_t count, number, type, tags, tag;
  frix_status status = fx_scan_integer(r->scan, "number of elements", 1, MOST, &count);
  if (!status) status = take_tets(r, count);
  for (int64_t k = 0; k < count && !status; k++) {
    status = fx_scan_integer(r->scan, "number of an element", 0, far, &number);
    if (!status) status = fx_scan_integer(r->scan, "type of an element", 1, 1000, &type);
    if (!status) status = known_type(r, type);
    if (!status) status = fx_scan_integer(r->scan, "number of tags", 0, 1000, &tags);
    for (int64_t t = 0; t < tags && !status; t++) status = fx_scan_integer(r->scan, "a tag", -far, far, &tag);
    if (!status) status = read_corners(r, type);
  }
  return status ? status : end_section(r->scan, "$EndElements", count);
}

static frix_status elements_4(reader *r) {
  int64_t blocks, count = 0, low, high, dim, entity, type, size, number, left;
  frix_status status = fx_scan_integer(r->scan, "number of blocks of elements", 1, MOST, &blocks);
  if (!status) status = fx_scan_integer(r->scan, "number of elements", 1, MOST, &count);
  if (!status) status = fx_scan_integer(r->scan, "lowest number of an element", 0, far, &low);
  if (!status) status = fx_scan_integer(r->scan, "highest number of an element", 0, far, &high);
  if (!status) status = take_tets(r, count);
  left = count;
  for (int64_t b = 0; b < blocks && !status; b++) {
    status = fx_scan_integer(r->scan, "dimension of a block", 0, 3, &dim);
    if (!status) status = fx_scan_integer(r->scan, "entity of a block", -far, far, &entity);
    if (!status) status = fx_scan_integer(r->scan, "type of a block's elements", 1, 1000, &type);
    if (!status) status = known_type(r, type);
    if (!status) status = fx_scan_integer(r->scan, "elements of a block", 0, left, &size);
    if (status) return status;
    left -= size;
    for (int64_t k = 0; k < size && !status; k++) {
      status = fx_scan_integer(r->scan, "number of an element", 0, far, &number);
      if (!status) status = read_corners(r, type);
    }
  }
  if (!status && left > 0)
    return fx_scan_fail(r->scan, "the blocks hold %lld elements, the section says %lld", (long long)(count - left),
                        (long long)count);
  return status ? status : end_section(r->scan, "$EndElements", count);
}

static frix_status read_format(reader *r) {
  double version;
  int64_t binary, size;
  frix_status status = fx_scan_reals(r->scan, "version of the format", 0, 1, &version);
  if (!status) status = fx_scan_integer(r->scan, "whether the file is binary", 0, 1, &binary);
  if (!status) status = fx_scan_integer(r->scan, "size of a number", 1, 64, &size);
  if (status) return status;
  if (binary) return fx_scan_fail(r->scan, "binary Gmsh files are not read: write ASCII (Mesh.Binary = 0)");
  r->four = version == 4.1;
  if (version == 4.1 || version == 2.2 || version == 2.1 || version == 2.0) return FRIX_OK;
  return fx_scan_fail(r->scan, "Gmsh's format %g is not read: 2.2 and 4.1 are", version);
}

frix_status fx_tets_read_gmsh(fx_arena *arena, fx_scan *scan, fx_tets *out) {
  reader r = {.arena = arena, .scan = scan, .out = out};
  const char *token;
  size_t length;
  bool known = false;
  while (fx_scan_token(scan, &token, &length)) {
    frix_status status = FRIX_OK;
    if (fx_token_is(token, length, "$MeshFormat")) {
      status = read_format(&r);
      known = true;
    } else if (!known) {
      return fx_scan_fail(scan, "not an ASCII Gmsh file: it starts with '%s'", fx_word_of(token, length).text);
    } else if (fx_token_is(token, length, "$Nodes")) {
      status = read_nodes(&r);
    } else if (fx_token_is(token, length, "$Elements")) {
      if (!r.tags.order) return fx_scan_fail(scan, "elements before nodes");
      return r.four ? elements_4(&r) : elements_2(&r);
    }
    if (status) return status;
  }
  return fx_scan_fail(scan, "the file ends before $Elements");
}
