/* Context: allocator, log and error text, shared by everything frix creates. */
#ifndef FX_BASE_CONTEXT_H
#define FX_BASE_CONTEXT_H

#include <frix/base.h>
#include <stdarg.h>

/* The context's threads, made at the first call; NULL without memory. */
typedef struct fx_crew fx_crew;
fx_crew *fx_context_crew(frix_context *context);

/* A file by what it is, not by its name: device and inode. Where the config has keep_inputs, files that were read are
 * noted, and outputs ask whether they would replace one of them. */
typedef struct fx_file_id {
  uint64_t device, inode;
} fx_file_id;
frix_status fx_input_note(frix_context *context, fx_file_id file);
bool fx_input_noted(const frix_context *context, fx_file_id file);

/* Large blocks that are freed wait in the context for the next that asks, up to a limit, until the context is
 * destroyed: a simulation that solves every step then pays for fresh pages once.
 *
 * Memory is zeroed and aligned to 64 bytes. Overflow of count * size is a failure like any other. NULL sets the error
 * text. */
void *fx_alloc(frix_context *context, size_t count, size_t size);
/* The same without zeroing. */
void *fx_alloc_raw(frix_context *context, size_t count, size_t size);
void fx_free(frix_context *context, void *pointer);
/* Keeps the first old_count elements; the old block is freed on success only. */
void *fx_realloc(frix_context *context, void *pointer, size_t old_count, size_t new_count, size_t size);
char *fx_copy_text(frix_context *context, const char *text);

#define FX_NEW(context, type, count) ((type *)fx_alloc((context), (size_t)(count), sizeof(type)))

/* Sets the error text and returns status, so that a failing line reads `return fx_fail(ctx, STATUS, "...")`. */
frix_status fx_fail(frix_context *context, frix_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fx_log(frix_context *context, frix_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
