/* Triangle meshes from files: STL (binary and ASCII), OBJ, MSH (MuJoCo's own). */
#ifndef FX_IO_MESH_FILE_H
#define FX_IO_MESH_FILE_H

#include <frix/vec.h>

#include "base/arena.h"

typedef struct fx_mesh {
  int32_t vertex_count, triangle_count;
  frix_vec3 *vertex; /* in the arena */
  int32_t *triangle; /* three each; checked against vertex_count */
} fx_mesh;

/* By the name's ending; messages start with the file, and its line where it has lines. */
frix_status fx_mesh_read(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out);

frix_status fx_mesh_read_stl(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out);
frix_status fx_mesh_read_obj(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out);
frix_status fx_mesh_read_msh(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_mesh *out);

/* Little-endian numbers of binary files. */
uint32_t fx_mesh_integer(const char *bytes);
double fx_mesh_single(double x); /* rounded to single precision, as MuJoCo keeps what is given as text */
double fx_mesh_float(const char *bytes);

#endif
