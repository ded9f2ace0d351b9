/* frix: status codes, context, allocator, log.
 *
 * Every call that can fail returns a frix_status; frix_error_text(context) explains the last failure, with file and
 * line if there is one. The library never prints, exits or keeps mutable statics: all state belongs to objects that the
 * caller creates. */
#ifndef FRIX_BASE_H
#define FRIX_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRIX_VERSION_MAJOR 0
#define FRIX_VERSION_MINOR 1
#define FRIX_VERSION_PATCH 0
#define FRIX_VERSION_TEXT "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define FRIX_API __attribute__((visibility("default")))
#else
#define FRIX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frix_status {
  FRIX_OK = 0,
  FRIX_ERROR_MEMORY,      /* the allocator returned NULL */
  FRIX_ERROR_INPUT,       /* an argument, or the data it points to, is invalid */
  FRIX_ERROR_FILE,        /* a file cannot be opened, read or written */
  FRIX_ERROR_FORMAT,      /* a file was read and is malformed */
  FRIX_ERROR_UNSUPPORTED, /* valid, but not supported by this build or method */
  FRIX_ERROR_CERTIFICATE, /* a step of a strict simulation is not certified */
  FRIX_ERROR_CANCELLED,   /* a cancel callback ended the step, which was undone */
} frix_status;

typedef enum frix_log_level { FRIX_LOG_WARNING, FRIX_LOG_INFO } frix_log_level;

/* A context holds the allocator, the log sink and the last error text. Use one per thread of your own; frix locks it
 * when its own worker threads share it. */
typedef struct frix_context frix_context;

typedef struct frix_context_config {
  uint32_t size; /* set by frix_context_default */
  void *(*allocate)(size_t bytes, void *user);
  void (*release)(void *pointer, size_t bytes, void *user);
  void (*log)(frix_log_level level, const char *text, void *user);
  void *user;       /* passed to the three callbacks */
  bool keep_inputs; /* outputs never replace a file that was read through this context; default false */
} frix_context_config;

FRIX_API void frix_context_init(frix_context_config *out, size_t size);
static inline frix_context_config frix_context_default(void) {
  frix_context_config out;
  frix_context_init(&out, sizeof out);
  return out;
}
/* config may be NULL: malloc, no log. */
FRIX_API frix_status frix_context_create(const frix_context_config *config, frix_context **out);
FRIX_API void frix_context_destroy(frix_context *context);

/* The text of the last failure in this context; "" when nothing failed yet. Valid until the next failing call. */
FRIX_API const char *frix_error_text(const frix_context *context);
FRIX_API const char *frix_status_name(frix_status status);
FRIX_API const char *frix_version(void);

/* A typed option of a method, as listed in the method's table row. frix_options_set takes values as text. */
typedef enum frix_option_kind {
  FRIX_OPTION_REAL,
  FRIX_OPTION_INTEGER,
  FRIX_OPTION_BOOLEAN,
  FRIX_OPTION_CHOICE,
} frix_option_kind;

typedef struct frix_option_info {
  const char *name;
  frix_option_kind kind;
  double initial; /* default; for a choice the index into choices */
  double minimum; /* inclusive range of numbers */
  double maximum;
  const char *choices; /* "first|second|third", NULL unless kind is FRIX_OPTION_CHOICE */
  const char *summary;
} frix_option_info;

#ifdef __cplusplus
}
#endif
#endif
