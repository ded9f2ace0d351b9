/* Context: allocator, log and error text, and which files were read. */
#if defined(__linux__)
#define _DEFAULT_SOURCE 1 /* madvise */
#include <sys/mman.h>
#endif

#include "base/abi.h"
#include "base/context.h"

#include "base/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, TEXT_SIZE = 1024, SPARE_BLOCKS = 32 };

static const size_t large = 1 << 16, spare_limit = (size_t)1 << 28, huge_page = (size_t)1 << 21;

/* Stands just below every block of memory. */
typedef struct header {
  void *base;
  size_t bytes;
} header;

struct frix_context {
  frix_context_config config;
  pthread_mutex_t lock; /* worker threads share allocator, log and error text */
  pthread_mutex_t crew_lock;
  fx_crew *crew;
  char text[TEXT_SIZE];
  header spare[SPARE_BLOCKS]; /* large blocks that wait for the next that asks, those that wait longest first */
  int spare_count;
  size_t spare_bytes, used_bytes, most_bytes; /* of large blocks: spare, in use, and the most that ever were in use */
  fx_file_id *input;                          /* files that were read, where they are kept */
  size_t input_count, input_room;
};

/* Very large blocks come in huge pages where the system has them: to touch a gigabyte page by page takes longer than
 * to sweep over it. */
static void *default_allocate(size_t bytes, void *user) {
  (void)user;
#if defined(MADV_HUGEPAGE)
  if (bytes >= 2 * huge_page && bytes < SIZE_MAX / 2) {
    size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    void *pointer = aligned_alloc(huge_page, whole);
    if (pointer) madvise(pointer, whole, MADV_HUGEPAGE);
    return pointer;
  }
#endif
  return malloc(bytes);
}

static void default_release(void *pointer, size_t bytes, void *user) {
  (void)bytes;
  (void)user;
  free(pointer);
}

static frix_context_config default_context(void) {
  frix_context_config config = {0};
  config.size = sizeof config;
  config.allocate = default_allocate;
  config.release = default_release;
  return config;
}

void frix_context_init(frix_context_config *out, size_t size) {
  frix_context_config all = default_context();
  fx_give_struct(out, size, &all, sizeof all);
}

frix_status frix_context_create(const frix_context_config *config, frix_context **out) {
  if (!out) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_context_config, config, frix_context_default());
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
  pthread_mutex_init(&context->crew_lock, NULL);
  *out = context;
  return FRIX_OK;
}

void frix_context_destroy(frix_context *context) {
  if (!context) return;
  frix_context_config config = context->config;
  fx_crew_destroy(context, context->crew);
  fx_free(context, context->input);
  for (int k = 0; k < context->spare_count; k++)
    config.release(context->spare[k].base, context->spare[k].bytes, config.user);
  pthread_mutex_destroy(&context->crew_lock);
  pthread_mutex_destroy(&context->lock);
  config.release(context, sizeof *context, config.user);
}

fx_crew *fx_context_crew(frix_context *context) {
  pthread_mutex_lock(&context->crew_lock);
  if (!context->crew) context->crew = fx_crew_create(context);
  fx_crew *crew = context->crew;
  pthread_mutex_unlock(&context->crew_lock);
  return crew;
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
    case FRIX_ERROR_CANCELLED: return "cancelled";
  }
  return "unknown status";
}

const char *frix_version(void) { return FRIX_VERSION_TEXT; }

/* ---- memory ---- */

/* Large blocks come in eight sizes per doubling, so that one that has grown a little still fits. */
static size_t rounded(size_t bytes) {
  if (bytes < large) return bytes;
  size_t step = large / 8;
  while (step < bytes / 16) step *= 2;
  return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static void release(frix_context *context, header block) {
  context->config.release(block.base, block.bytes, context->config.user);
}

static header remove_spare(frix_context *context, int k) {
  header block = context->spare[k];
  context->spare_count--;
  context->spare_bytes -= block.bytes;
  memmove(context->spare + k, context->spare + k + 1, (size_t)(context->spare_count - k) * sizeof block);
  return block;
}

/* The smallest spare block that is large enough and not much too large; bytes 0 where there is none. */
static header take_spare(frix_context *context, size_t bytes) {
  int found = -1;
  for (int k = 0; k < context->spare_count; k++) {
    size_t has = context->spare[k].bytes;
    if (has >= bytes && has / 2 <= bytes && (found < 0 || has < context->spare[found].bytes)) found = k;
  }
  return found < 0 ? (header){NULL, 0} : remove_spare(context, found);
}

/* Spare blocks that have waited longest make room for so many bytes. What may wait: as much as was in use at once
 * before, so that no more is ever held than was needed. */
static void make_room(frix_context *context, size_t bytes) {
  size_t unused = context->most_bytes - context->used_bytes, room = unused > spare_limit ? unused : spare_limit;
  while (context->spare_count && context->spare_bytes + bytes > room) release(context, remove_spare(context, 0));
}

/* Keeps a block, where all places are taken in that of the smallest. */
static void give_spare(frix_context *context, header block) {
  int least = 0;
  context->used_bytes -= block.bytes;
  make_room(context, block.bytes);
  for (int k = 1; k < context->spare_count; k++)
    if (context->spare[k].bytes < context->spare[least].bytes) least = k;
  bool full = context->spare_count == SPARE_BLOCKS;
  if (full && context->spare[least].bytes >= block.bytes) {
    release(context, block);
    return;
  }
  if (full) release(context, remove_spare(context, least));
  context->spare[context->spare_count++] = block;
  context->spare_bytes += block.bytes;
}

/* A large block, spare or new. New ones take the room of spare ones that are not in use. */
static header take_large(frix_context *context, size_t bytes) {
  header block = take_spare(context, bytes);
  context->used_bytes += block.base ? block.bytes : bytes;
  if (context->used_bytes > context->most_bytes) context->most_bytes = context->used_bytes;
  if (block.base) return block;
  make_room(context, 0);
  block = (header){context->config.allocate(bytes, context->config.user), bytes};
  if (!block.base) context->used_bytes -= bytes;
  return block;
}

void *fx_alloc_raw(frix_context *context, size_t count, size_t size) {
  size_t extra = sizeof(header) + ALIGNMENT;
  header block = {NULL, 0};
  if (size == 0 || count <= (SIZE_MAX - extra) / size) {
    size_t bytes = rounded(count * size + extra);
    pthread_mutex_lock(&context->lock);
    if (bytes >= large)
      block = take_large(context, bytes);
    else
      block = (header){context->config.allocate(bytes, context->config.user), bytes};
    pthread_mutex_unlock(&context->lock);
  }
  if (!block.base) {
    fx_fail(context, FRIX_ERROR_MEMORY, "out of memory: %zu x %zu bytes", count, size);
    return NULL;
  }
  uintptr_t start = ((uintptr_t)block.base + sizeof(header) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  *(header *)(start - sizeof(header)) = block;
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
  if (h.bytes >= large)
    give_spare(context, h);
  else
    release(context, h);
  pthread_mutex_unlock(&context->lock);
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

/* ---- inputs ---- */

bool fx_input_noted(const frix_context *context, fx_file_id file) {
  for (size_t k = 0; k < context->input_count; k++)
    if (context->input[k].device == file.device && context->input[k].inode == file.inode) return true;
  return false;
}

frix_status fx_input_note(frix_context *context, fx_file_id file) {
  if (!context->config.keep_inputs || fx_input_noted(context, file)) return FRIX_OK;
  if (context->input_count == context->input_room) {
    size_t wanted = 2 * context->input_room + 8;
    fx_file_id *grown = fx_realloc(context, context->input, context->input_count, wanted, sizeof *grown);
    if (!grown) return FRIX_ERROR_MEMORY;
    context->input = grown, context->input_room = wanted;
  }
  context->input[context->input_count++] = file;
  return FRIX_OK;
}

/* ---- error text and log ---- */

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
