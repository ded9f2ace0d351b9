/* Whole files: read at once, written whole or not at all. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

/* A pipe does not tell its size; this bounds what an endless one may cost. */
static const int64_t PIPE_LIMIT = (int64_t)1 << 30;

static frix_status fail_errno(frix_context *context, const char *path, const char *what) {
  return fx_fail(context, FRIX_ERROR_FILE, "%s: %s: %s", path, what, strerror(errno));
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

static frix_status read_regular(frix_context *context, const char *path, int file, size_t size, char **out,
                                size_t *count) {
  char *bytes = FX_NEW(context, char, size + 1);
  if (!bytes) return FRIX_ERROR_MEMORY;
  int64_t got = read_fully(file, bytes, size);
  if (got < 0) {
    fx_free(context, bytes);
    return fail_errno(context, path, "cannot read");
  }
  *out = bytes;
  *count = (size_t)got;
  return FRIX_OK;
}

static frix_status read_stream(frix_context *context, const char *path, int file, int64_t limit, char **out,
                               size_t *count) {
  fx_buffer buffer;
  fx_buffer_init(&buffer, context);
  frix_status status = FRIX_OK;
  for (;;) {
    char *room = fx_buffer_reserve(&buffer, 1 << 16);
    if (!room) {
      status = FRIX_ERROR_MEMORY;
      break;
    }
    int64_t got = read_fully(file, room, 1 << 16);
    if (got < 0) status = fail_errno(context, path, "cannot read");
    if (got <= 0) break;
    buffer.count += (size_t)got;
    if ((int64_t)buffer.count > limit) {
      status = fx_fail(context, FRIX_ERROR_FILE, "%s: longer than %lld bytes", path, (long long)limit);
      break;
    }
  }
  if (status) {
    fx_buffer_free(&buffer);
    return status;
  }
  *out = buffer.bytes;
  *count = buffer.count;
  return FRIX_OK;
}

frix_status fx_file_read(frix_context *context, const char *path, int64_t max_bytes, char **out, size_t *count) {
  *out = NULL;
  *count = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_errno(context, path, "cannot open");
  frix_status status = FRIX_OK;
  struct stat info;
  if (fstat(file, &info) != 0)
    status = fail_errno(context, path, "cannot open");
  else if (S_ISDIR(info.st_mode))
    status = fx_fail(context, FRIX_ERROR_FILE, "%s: is a directory", path);
  else if (!S_ISREG(info.st_mode))
    status = read_stream(context, path, file, max_bytes < PIPE_LIMIT ? max_bytes : PIPE_LIMIT, out, count);
  else if (info.st_size > max_bytes)
    status = fx_fail(context, FRIX_ERROR_FILE, "%s: %lld bytes, more than the limit of %lld", path,
                     (long long)info.st_size, (long long)max_bytes);
  else
    status = read_regular(context, path, file, (size_t)info.st_size, out, count);
  close(file);
  return status;
}

static bool write_fully(int file, const char *bytes, size_t count) {
  while (count) {
    ssize_t put = write(file, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes += put;
    count -= (size_t)put;
  }
  return true;
}

/* Opens a new file beside path; its name goes to the buffer. The process id keeps processes apart, O_EXCL threads. */
static int open_temporary(const char *path, char *name, size_t size) {
  for (int k = 0; k < 1000; k++) {
    int length = snprintf(name, size, "%s.%ld-%d.tmp", path, (long)getpid(), k);
    if (length < 0 || (size_t)length >= size) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

static frix_status write_direct(frix_context *context, const char *path, const void *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return fail_errno(context, path, "cannot open for writing");
  bool good = write_fully(file, bytes, count);
  frix_status status = good ? FRIX_OK : fail_errno(context, path, "cannot write");
  close(file);
  return status;
}

frix_status fx_file_write(frix_context *context, const char *path, const void *bytes, size_t count) {
  struct stat info;
  if (stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return fx_fail(context, FRIX_ERROR_FILE, "%s: is a directory", path);
    if (!S_ISREG(info.st_mode)) return write_direct(context, path, bytes, count);
  }
  char name[4096];
  int file = open_temporary(path, name, sizeof name);
  if (file < 0) return fail_errno(context, path, "cannot create");
  /* The data must be on disk before the name is, or a power cut leaves an empty file under the final name. */
  bool good = write_fully(file, bytes, count) && fsync(file) == 0;
  int error = errno;
  if (close(file) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(name, path) != 0) {
    good = false;
    error = errno;
  }
  if (good) return FRIX_OK;
  unlink(name);
  errno = error;
  return fail_errno(context, path, "cannot write");
}

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
