/* Fuzzes the readers of meshes: the first byte chooses the format. */
#include "fuzz.h"
#include "io/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const name[] = {"a.stl", "a.obj", "a.msh"};
  frix_context *context = NULL;
  if (count < 1 || frix_context_create(NULL, &context)) return 0;
  fx_arena arena;
  fx_mesh mesh;
  fx_arena_init(&arena, context);
  frix_status status = fx_mesh_read(&arena, name[bytes[0] % 3], (const char *)bytes + 1, count - 1, &mesh);
  if (status) fuzz_demand(strncmp(frix_error_text(context), "a.", 2) == 0, "message without place", context);
  for (int32_t k = 0; !status && k < 3 * mesh.triangle_count; k++)
    fuzz_demand(mesh.triangle[k] >= 0 && mesh.triangle[k] < mesh.vertex_count, "a corner that is not there", context);
  fx_arena_free(&arena);
  frix_context_destroy(context);
  return 0;
}
