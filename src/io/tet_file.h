/* Tetrahedral meshes from files: Gmsh (.msh, ASCII 2.2 and 4.1), VTK legacy (.vtk, ASCII), TetGen (.node with .ele);
 * and closed surfaces (.obj, .stl), which are filled with tetrahedra. */
#ifndef FX_IO_TET_FILE_H
#define FX_IO_TET_FILE_H

#include "io/scan.h"
#include "soft/tets.h"

/* By the name's ending. Not checked yet: see fx_tets_check. cells: along the longest side of a surface. *surface tells
 * whether it was one. */
frix_status fx_tets_read(fx_arena *arena, const char *path, int32_t cells, fx_tets *out, bool *surface);

/* From bytes; scan->draft has the context and the name. */
frix_status fx_tets_read_gmsh(fx_arena *arena, fx_scan *scan, fx_tets *out);
frix_status fx_tets_read_vtk(fx_arena *arena, fx_scan *scan, fx_tets *out);
frix_status fx_tets_read_tetgen(fx_arena *arena, fx_scan *nodes, fx_scan *elements, fx_tets *out);

/* Vertices that a file numbers as it likes. */
typedef struct fx_tags {
  int32_t count;
  int64_t *tag;   /* of each vertex */
  int32_t *order; /* ascending tags */
} fx_tags;
/* Sorts tag[0 .. count), or fails where one comes twice. */
frix_status fx_tags_sort(fx_arena *arena, fx_scan *scan, fx_tags *tags);
/* The vertex of a tag, -1: none. */
int32_t fx_tags_find(const fx_tags *tags, int64_t tag);

/* The token is `word`, in capitals or not. */
bool fx_token_is(const char *token, size_t length, const char *word);

#endif
