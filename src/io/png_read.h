/* PNG pictures as heights. */
#ifndef FX_IO_PNG_H
#define FX_IO_PNG_H

#include "base/arena.h"

bool fx_png_is(const char *bytes, size_t count);
/* One byte a pixel, the top row first, in the arena: grey, or the red of coloured pictures; of 16 bits the upper 8, as
 * MuJoCo takes them. Messages start with the file. */
frix_status fx_png_read(fx_arena *arena, const char *file, const char *bytes, size_t count, int32_t *width,
                        int32_t *height, uint8_t **out);

#endif
