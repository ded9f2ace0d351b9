/* Fuzzes the readers of tetrahedral meshes and their checks: the first byte chooses the format. */
#include "fuzz.h"
#include "io/tet_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  frix_context *context = NULL;
  if (count < 2 || frix_context_create(NULL, &context)) return 0;
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_tets tets = {.name = "a"};
  const char *text = (const char *)bytes + 1, *end = (const char *)bytes + count;
  /* TetGen has two files: the second begins after a zero byte */
  const char *split = memchr(text, 0, count - 1);
  fx_draft draft = {.context = context, .name = "a"};
  fx_scan first = {&draft, text, split ? split : end, 1}, second = {&draft, split ? split + 1 : end, end, 1};
  frix_status status = bytes[0] % 3 == 0   ? fx_tets_read_gmsh(&arena, &first, &tets)
                       : bytes[0] % 3 == 1 ? fx_tets_read_vtk(&arena, &first, &tets)
                                           : fx_tets_read_tetgen(&arena, &first, &second, &tets);
  if (!status) status = fx_tets_check(&arena, &tets);
  if (status && status != FRIX_ERROR_MEMORY)
    fuzz_demand(strncmp(frix_error_text(context), "a:", 2) == 0, "message without place", context);
  for (int32_t k = 0; !status && k < 4 * tets.tet_count; k++)
    fuzz_demand(tets.tet[k] >= 0 && tets.tet[k] < tets.vertex_count, "a corner that is not there", context);
  if (!status) fuzz_demand(fx_tets_volume(&tets) > 0.0, "no volume", context);
  fx_arena_free(&arena);
  frix_context_destroy(context);
  return 0;
}
