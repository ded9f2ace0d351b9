/* Context: allocator, log and error text. */
#include "base/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, TEXT_SIZE = 1024, SPARE_BLOCKS = 16 };

struct frix_context {
  frix_context_config config;
  pthread_mutex_t lock; /* worker threads share allocator, log and error text */
  char text[TEXT_SIZE];
  void *spare[SPARE_BLOCKS]; /* blocks that wait for the next arena; NULL: none */
};

/* Stands just below every block frix hands out. */
typedef struct header {
  void *base;
  size_t bytes;
} header;

static void *default_allocate(size_t bytes, void *user) {
  (void)user;
  return malloc(bytes);
}

static void default_release(void *pointer, size_t bytes, void *user) {
  (void)bytes;
  (void)user;
  free(pointer);
}

frix_context_config frix_context_default(void) {
  frix_context_config config = {0};
  config.size = sizeof config;
  config.allocate = default_allocate;
  config.release = default_release;
  return config;
}

frix_status frix_context_create(const frix_context_config *config, frix_context **out) {
  if (!out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_context_config chosen = frix_context_default();
  if (config) {
    if (config->size != sizeof chosen || !config->allocate != !config->release) return FRIX_ERROR_INPUT;
    void *(*allocate)(size_t, void *) = chosen.allocate;
    void (*release)(void *, size_t, void *) = chosen.release;
    chosen = *config;
    if (!chosen.allocate) {
      chosen.allocate = allocate;
      chosen.release = release;
    }
  }
  frix_context *context = chosen.allocate(sizeof *context, chosen.user);
  if (!context) return FRIX_ERROR_MEMORY;
  memset(context, 0, sizeof *context);
  context->config = chosen;
  pthread_mutex_init(&context->lock, NULL);
  *out = context;
  return FRIX_OK;
}

void frix_context_destroy(frix_context *context) {
  if (!context) return;
  frix_context_config config = context->config;
  for (int k = 0; k < SPARE_BLOCKS; k++) fx_free(context, context->spare[k]);
  pthread_mutex_destroy(&context->lock);
  config.release(context, sizeof *context, config.user);
}

const char *frix_error_text(const frix_context *context) { return context ? context->text : ""; }

const char *frix_status_name(frix_status status) {
  switch (status) {
    case FRIX_OK: return "ok";
    case FRIX_ERROR_MEMORY: return "out of memory";
    case FRIX_ERROR_INPUT: return "bad input";
    case FRIX_ERROR_FILE: return "file error";
    case FRIX_ERROR_FORMAT: return "bad format";
    case FRIX_ERROR_UNSUPPORTED: return "unsupported";
    case FRIX_ERROR_CERTIFICATE: return "not certified";
  }
  return "unknown status";
}

const char *frix_version(void) { return FRIX_VERSION_TEXT; }

static size_t bytes_of(const void *pointer) { return ((const header *)pointer - 1)->bytes; }

void *fx_alloc_raw(frix_context *context, size_t count, size_t size) {
  size_t extra = sizeof(header) + ALIGNMENT;
  void *base = NULL;
  size_t bytes = 0;
  if (size == 0 || count <= (SIZE_MAX - extra) / size) {
    bytes = count * size + extra;
    pthread_mutex_lock(&context->lock);
    base = context->config.allocate(bytes, context->config.user);
    pthread_mutex_unlock(&context->lock);
  }
  if (!base) {
    fx_fail(context, FRIX_ERROR_MEMORY, "out of memory: %zu x %zu bytes", count, size);
    return NULL;
  }
  uintptr_t start = ((uintptr_t)base + sizeof(header) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  header *h = (header *)(start - sizeof(header));
  h->base = base;
  h->bytes = bytes;
  return (void *)start;
}

void *fx_alloc(frix_context *context, size_t count, size_t size) {
  void *pointer = fx_alloc_raw(context, count, size);
  if (pointer) memset(pointer, 0, count * size);
  return pointer;
}

void fx_free(frix_context *context, void *pointer) {
  if (!pointer) return;
  header h = *((header *)pointer - 1);
  pthread_mutex_lock(&context->lock);
  context->config.release(h.base, h.bytes, context->config.user);
  pthread_mutex_unlock(&context->lock);
}

/* ---- spare blocks ---- */

/* The smallest that is large enough. */
void *fx_block_take(frix_context *context, size_t bytes, size_t *size) {
  void *found = NULL;
  int at = -1;
  pthread_mutex_lock(&context->lock);
  for (int k = 0; k < SPARE_BLOCKS; k++) {
    void *block = context->spare[k];
    if (!block || bytes_of(block) - sizeof(header) - ALIGNMENT < bytes) continue;
    if (!found || bytes_of(block) < bytes_of(found)) {
      found = block;
      at = k;
    }
  }
  if (found) context->spare[at] = NULL;
  pthread_mutex_unlock(&context->lock);
  if (!found) found = fx_alloc_raw(context, bytes, 1);
  if (found) *size = bytes_of(found) - sizeof(header) - ALIGNMENT;
  return found;
}

/* Where there is no room the smallest goes. */
void fx_block_give(frix_context *context, void *pointer) {
  pthread_mutex_lock(&context->lock);
  for (int k = 0; k < SPARE_BLOCKS && pointer; k++) {
    void *block = context->spare[k];
    if (block && bytes_of(block) >= bytes_of(pointer)) continue;
    context->spare[k] = pointer;
    pointer = block;
  }
  pthread_mutex_unlock(&context->lock);
  fx_free(context, pointer);
}

void *fx_realloc(frix_context *context, void *pointer, size_t old_count, size_t new_count, size_t size) {
  void *grown = fx_alloc(context, new_count, size);
  if (!grown) return NULL;
  size_t kept = old_count < new_count ? old_count : new_count;
  if (pointer && kept) memcpy(grown, pointer, kept * size);
  fx_free(context, pointer);
  return grown;
}

char *fx_copy_text(frix_context *context, const char *text) {
  size_t length = strlen(text) + 1;
  char *copy = FX_NEW(context, char, length);
  if (copy) memcpy(copy, text, length);
  return copy;
}

frix_status fx_fail(frix_context *context, frix_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  pthread_mutex_lock(&context->lock);
  vsnprintf(context->text, sizeof context->text, format, list);
  pthread_mutex_unlock(&context->lock);
  va_end(list);
  return status;
}

void fx_log(frix_context *context, frix_log_level level, const char *format, ...) {
  if (!context->config.log) return;
  char text[TEXT_SIZE];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  pthread_mutex_lock(&context->lock);
  context->config.log(level, text, context->config.user);
  pthread_mutex_unlock(&context->lock);
}
