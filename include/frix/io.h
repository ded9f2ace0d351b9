/* frix: contact problems in files. */
#ifndef FRIX_IO_H
#define FRIX_IO_H

#include <frix/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frix_format_info {
  const char *name; /* "text", "fclib", "json" */
  const char *summary;
  const char *extension; /* ".dat", ".hdf5 .h5", ".json" */
  bool available;        /* false if this build lacks its library */
} frix_format_info;

/* Row k of the format table, NULL past its end. */
FRIX_API const frix_format_info *frix_format_table(int32_t k);

/* Kind of problem in a text file, if the file does not determine it. */
typedef enum frix_text_kind {
  FRIX_TEXT_DETECT,
  FRIX_TEXT_LOCAL,
  FRIX_TEXT_GLOBAL,
  FRIX_TEXT_LCP,
  FRIX_TEXT_MLCP
} frix_text_kind;

typedef struct frix_read_config {
  uint32_t size;      /* set by frix_read_default */
  const char *format; /* name in the table, NULL: by content */
  frix_text_kind kind;
  int64_t max_bytes;      /* reject problems that need more memory; default 16 GiB */
  int64_t max_file_bytes; /* reject larger files; default 1 GiB, for a pipe at most 256 MiB */
} frix_read_config;

FRIX_API void frix_read_init(frix_read_config *out, size_t size);
static inline frix_read_config frix_read_default(void) {
  frix_read_config out;
  frix_read_init(&out, sizeof out);
  return out;
}

/* Reads and checks a problem from a regular file, or from a pipe that is a descriptor of this process (/dev/stdin).
 * Errors name the file and the line (text, JSON) or the path inside it (HDF5). */
FRIX_API frix_status frix_problem_read(frix_context *context, const char *path, const frix_read_config *config,
                                       frix_problem **out);
/* The same from memory; name is used in messages. */
FRIX_API frix_status frix_problem_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                              const frix_read_config *config, frix_problem **out);

/* Writes a problem; the extension chooses the format unless it is given. A file is written completely or not at all. */
FRIX_API frix_status frix_problem_write(const frix_problem *problem, const char *path, const char *format);

/* Writes a problem with its solution (fclib's solution group), or, to .json, {"r":[...],"u":[...],"v":[...]}. */
FRIX_API frix_status frix_solution_write(const frix_problem *problem, const frix_solution *solution, const char *path);

/* Reads r (row_count) from a .json solution or from the solution or guess group of an fclib file. */
FRIX_API frix_status frix_guess_read(frix_context *context, const frix_problem *problem, const char *path, double *r);

#ifdef __cplusplus
}
#endif
#endif
