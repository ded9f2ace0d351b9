/* Whole files: read at once, written whole or not at all, and the growing text buffer writers fill. */
#ifndef FX_IO_FILE_H
#define FX_IO_FILE_H

#include "base/context.h"

/* Reads a regular file of at most max_bytes into *out, freed with fx_free, and notes it as an input. Errors name the
 * path. The process's own descriptors (/dev/stdin, /dev/fd/3) may be pipes; everything else that is no regular file is
 * refused without waiting for a writer. */
frix_status fx_file_read(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count);
/* The same for a file that another file names: regular files only. */
frix_status fx_file_read_named(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count);

/* Writes a file whole or not at all, see frix/output.h. */
frix_status fx_file_write(frix_context *context, const char *path, const void *bytes, size_t count);

/* N of /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N, -1 for every other path. */
int fx_descriptor_of(const char *path);
/* All of the bytes, or false with errno set. */
bool fx_write_fully(int file, const void *bytes, size_t count);

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
