/* Whole files: read at once within a limit of size; and the growing text buffer. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "io/output_internal.h"

enum { PIECE = 1 << 16 };
/* A pipe does not tell its size; this bounds what an endless one may cost. */
static const int64_t PIPE_LIMIT = (int64_t)1 << 28;

static frix_status fail_errno(frix_context *context, const char *path, const char *what) {
  return fx_fail(context, FRIX_ERROR_FILE, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- descriptors ---- */

int fx_descriptor_of(const char *path) {
  static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
  for (int k = 0; k < 3; k++)
    if (strcmp(path, standard[k]) == 0) return k;
  for (int k = 0; k < 2; k++) {
    size_t length = strlen(folder[k]);
    if (strncmp(path, folder[k], length) != 0) continue;
    const char *digits = path + length;
    size_t count = strspn(digits, "0123456789");
    int value = 0;
    for (size_t c = 0; c < count; c++) value = 10 * value + (digits[c] - '0');
    if (count > 0 && count < 9 && !digits[count]) return value;
  }
  return -1;
}

bool fx_write_fully(int file, const void *bytes, size_t count) {
  const char *at = bytes;
  while (count) {
    ssize_t put = write(file, at, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    count -= (size_t)put;
  }
  return true;
}

/* Fills bytes[0..wanted) as far as the file goes; -1 with errno on failure. */
static int64_t read_fully(int file, char *bytes, size_t wanted) {
  size_t done = 0;
  while (done < wanted) {
    ssize_t got = read(file, bytes + done, wanted - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

/* ---- reading ---- */

static frix_status read_regular(frix_context *context, const char *path, int file, size_t size, char **out,
                                size_t *count) {
  char *bytes = fx_alloc_raw(context, size + 1, 1);
  if (!bytes) return FRIX_ERROR_MEMORY;
  int64_t got = read_fully(file, bytes, size);
  if (got < 0) {
    fx_free(context, bytes);
    return fail_errno(context, path, "cannot read");
  }
  bytes[got] = 0;
  *out = bytes;
  *count = (size_t)got;
  return FRIX_OK;
}

/* Room for another piece, at most a piece more than the limit in all. */
static bool grow(frix_context *context, char **bytes, size_t count, size_t *room, size_t limit) {
  if (*room - count >= PIECE) return true;
  size_t wanted = 2 * *room < limit ? 2 * *room : limit;
  if (wanted < count) wanted = count;
  wanted += PIECE;
  char *grown = fx_alloc_raw(context, wanted, 1);
  if (!grown) return false;
  if (count) memcpy(grown, *bytes, count);
  fx_free(context, *bytes);
  *bytes = grown, *room = wanted;
  return true;
}

static frix_status read_stream(frix_context *context, const char *path, int file, int64_t limit, char **out,
                               size_t *count) {
  char *bytes = NULL;
  size_t used = 0, room = 0;
  frix_status status = FRIX_OK;
  for (;;) {
    if (!grow(context, &bytes, used, &room, (size_t)limit)) {
      status = FRIX_ERROR_MEMORY;
      break;
    }
    int64_t got = read_fully(file, bytes + used, PIECE);
    if (got < 0) status = fail_errno(context, path, "cannot read");
    if (got <= 0) break;
    used += (size_t)got;
    if ((int64_t)used > limit) {
      status = fx_fail(context, FRIX_ERROR_FILE, "%s: more than the limit of %lld bytes", path, (long long)limit);
      break;
    }
  }
  if (status) {
    fx_free(context, bytes);
    return status;
  }
  *out = bytes;
  *count = used;
  return FRIX_OK;
}

static frix_status read_open(frix_context *context, const char *path, int file, bool own, int64_t max_bytes, char **out,
                             size_t *count) {
  struct stat info;
  if (fstat(file, &info) != 0) return fail_errno(context, path, "cannot open");
  bool regular = S_ISREG(info.st_mode), stream = S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || isatty(file);
  if (S_ISDIR(info.st_mode)) return fx_fail(context, FRIX_ERROR_FILE, "%s: is a directory", path);
  if (!regular && !(own && stream)) return fx_fail(context, FRIX_ERROR_FILE, "%s: is not a regular file", path);
  if (regular && info.st_size > max_bytes)
    return fx_fail(context, FRIX_ERROR_FILE, "%s: %lld bytes, more than the limit of %lld", path,
                   (long long)info.st_size, (long long)max_bytes);
  if (regular) {
    frix_status status = fx_input_note(context, (fx_file_id){(uint64_t)info.st_dev, (uint64_t)info.st_ino});
    if (status) return status;
  }
  if (regular && !own) return read_regular(context, path, file, (size_t)info.st_size, out, count);
  return read_stream(context, path, file, regular || max_bytes < PIPE_LIMIT ? max_bytes : PIPE_LIMIT, out, count);
}

static frix_status read_path(frix_context *context, const char *path, bool named, int64_t max_bytes, char **out,
                             size_t *count) {
  *out = NULL;
  *count = 0;
  int own = named ? -1 : fx_descriptor_of(path);
  /* a pipe is opened without waiting for the one who writes, then refused */
  int file = own >= 0 ? dup(own) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return fail_errno(context, path, "cannot open");
  frix_status status = read_open(context, path, file, own >= 0, max_bytes, out, count);
  close(file);
  return status;
}

frix_status fx_file_read(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count) {
  return read_path(context, path, false, max_bytes, out, count);
}

frix_status fx_file_read_named(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count) {
  return read_path(context, path, true, max_bytes, out, count);
}

frix_status fx_file_write(frix_context *context, const char *path, const void *bytes, size_t count) {
  frix_output *output = NULL;
  frix_status status = frix_output_open(context, path, &output);
  if (!status) status = frix_output_write(output, bytes, count);
  frix_status closed = frix_output_close(output, status == FRIX_OK);
  return status ? status : closed;
}

/* ---- text that grows ---- */

void fx_buffer_init(fx_buffer *buffer, frix_context *context) { *buffer = (fx_buffer){.context = context}; }

void fx_buffer_free(fx_buffer *buffer) {
  fx_free(buffer->context, buffer->bytes);
  fx_buffer_init(buffer, buffer->context);
}

frix_status fx_buffer_status(const fx_buffer *buffer) { return buffer->failed ? FRIX_ERROR_MEMORY : FRIX_OK; }

char *fx_buffer_reserve(fx_buffer *buffer, size_t count) {
  if (buffer->failed) return NULL;
  if (buffer->capacity - buffer->count < count) {
    size_t wanted = 2 * buffer->capacity;
    if (wanted < buffer->count + count) wanted = buffer->count + count;
    if (wanted < 4096) wanted = 4096;
    char *grown = fx_realloc(buffer->context, buffer->bytes, buffer->count, wanted, 1);
    if (!grown) {
      buffer->failed = true;
      return NULL;
    }
    buffer->bytes = grown;
    buffer->capacity = wanted;
  }
  return buffer->bytes + buffer->count;
}

void fx_buffer_text(fx_buffer *buffer, const char *text) {
  size_t length = strlen(text);
  char *room = fx_buffer_reserve(buffer, length);
  if (!room) return;
  memcpy(room, text, length);
  buffer->count += length;
}

void fx_buffer_integer(fx_buffer *buffer, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  fx_buffer_text(buffer, text);
}

void fx_buffer_real(fx_buffer *buffer, double value) {
  char *room = fx_buffer_reserve(buffer, 32);
  if (room) buffer->count += (size_t)fx_print_real(room, value);
}
