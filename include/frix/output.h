/* frix: output files that are written completely or not at all.
 *
 *   frix_output_open(context, "table.csv", &output);
 *   frix_output_write(output, text, length);
 *   frix_output_close(output, true);
 *
 * Bytes go to a new file in the same folder, which is renamed when it is complete and on the disk. Until then, and
 * after any failure, an existing file stays unchanged. A symbolic link at the path is replaced, not followed; the
 * permissions of a replaced file are kept. Character devices and the process's own descriptors (/dev/stdout, /dev/fd/3)
 * are written to directly. Directories, named pipes, sockets and block devices are rejected. */
#ifndef FRIX_OUTPUT_H
#define FRIX_OUTPUT_H

#include <frix/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_output frix_output;

/* Checks whether a file can be written there, without leaving anything behind. With frix_context_config.keep_inputs a
 * file that was read through this context is rejected (FRIX_ERROR_INPUT). */
FRIX_API frix_status frix_output_check(frix_context *context, const char *path);
FRIX_API frix_status frix_output_open(frix_context *context, const char *path, frix_output **out);
/* After a failure every later call returns the same error. */
FRIX_API frix_status frix_output_write(frix_output *output, const void *bytes, size_t count);
/* Path of the new file, for programs that write by name (with the extension of the path); NULL if bytes are written
 * directly. */
FRIX_API const char *frix_output_temporary(const frix_output *output);
/* Always frees the output. keep: the file gets its name, unless a write has failed; else it is removed. NULL is
 * allowed. */
FRIX_API frix_status frix_output_close(frix_output *output, bool keep);

/* A column of a table of numbers. */
typedef struct frix_column {
  const char *name;
  const double *value; /* row_count */
} frix_column;

/* Writes columns as arrays of an NPZ file for numpy.load, completely or not at all. */
FRIX_API frix_status frix_columns_write(frix_context *context, const char *path, const frix_column *column,
                                        int32_t column_count, int64_t row_count);

#ifdef __cplusplus
}
#endif
#endif
