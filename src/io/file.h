/* Whole files: read at once, written whole or not at all, and the growing text buffer writers fill. */
#ifndef FX_IO_FILE_H
#define FX_IO_FILE_H

#include "base/context.h"

/* Reads a file (or pipe) of at most max_bytes into *out, freed with fx_free. Errors name the path. */
frix_status fx_file_read(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count);

/* Writes through a temporary file in the same folder and a rename, so that a reader or a crash never sees a part of it.
 * A symbolic link at path is replaced; a device or pipe is written to directly. */
frix_status fx_file_write(frix_context *context, const char *path, const void *bytes, size_t count);

/* Text that grows. After a failed allocation every call does nothing; ask fx_buffer_status once at the end. */
typedef struct fx_buffer {
  frix_context *context;
  char *bytes;
  size_t count, capacity;
  bool failed;
} fx_buffer;

void fx_buffer_init(fx_buffer *buffer, frix_context *context);
void fx_buffer_free(fx_buffer *buffer);
frix_status fx_buffer_status(const fx_buffer *buffer);
/* Room for count more bytes, NULL when memory runs out; the caller adds what it used to buffer->count. */
char *fx_buffer_reserve(fx_buffer *buffer, size_t count);
void fx_buffer_text(fx_buffer *buffer, const char *text);
void fx_buffer_integer(fx_buffer *buffer, int64_t value);
void fx_buffer_real(fx_buffer *buffer, double value); /* %.17g: reads back as the same bits */

#endif
