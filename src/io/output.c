/* Outputs: a new file beside the path, written, brought to the disk (fsync), then moved to its place (rename, fsync of
 * the folder). rename replaces what stood there in one step, so that a reader, a crash or a power cut never sees a
 * part.
 */
#include "io/output_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

enum { BUFFER = 1 << 16, MOST_NAMES = 1000, LONGEST_STEM = 160 };

struct frix_output {
  frix_context *context;
  char *path, *folder, *temporary; /* temporary NULL: written directly */
  int file, error;                 /* error: errno of the first failure */
  char *buffer;
  size_t filled;
};

static frix_status fail_errno(frix_context *context, const char *path, int error) {
  return fx_fail(context, FRIX_ERROR_FILE, "%s: cannot write: %s", path, strerror(error));
}

/* ---- the file at a path ---- */

typedef struct target {
  bool direct;  /* a device or a descriptor: written as it is */
  bool present; /* a regular file, which will be replaced */
  mode_t mode;  /* its permissions */
} target;

static const char *kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "directory"
         : S_ISFIFO(mode) ? "named pipe"
         : S_ISBLK(mode)  ? "block device"
         : S_ISSOCK(mode) ? "socket"
                          : "special file";
}

/* Refuses what must not be replaced. */
static frix_status look_at(frix_context *context, const char *path, target *out) {
  struct stat info;
  *out = (target){.direct = fx_descriptor_of(path) >= 0};
  if (out->direct || stat(path, &info) != 0) return FRIX_OK; /* what is in the way shows when the file is created */
  out->direct = S_ISCHR(info.st_mode);
  if (out->direct) return FRIX_OK;
  if (!S_ISREG(info.st_mode))
    return fx_fail(context, FRIX_ERROR_FILE, "%s: cannot write: it is a %s", path, kind_of(info.st_mode));
  if (fx_input_noted(context, (fx_file_id){(uint64_t)info.st_dev, (uint64_t)info.st_ino}))
    return fx_fail(context, FRIX_ERROR_INPUT, "%s: is an input too: give the output a name of its own", path);
  if (access(path, W_OK) != 0) return fail_errno(context, path, errno);
  out->present = true;
  out->mode = info.st_mode & 0777;
  return FRIX_OK;
}

/* ---- the new file ---- */

/* Opens a new file beside path, its name and an extension like the path's in *name: the process id keeps processes
 * apart, O_EXCL everything else. -1: errno, or no memory where *name is NULL. */
static int open_beside(frix_context *context, const char *path, char **name) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  size_t stem = strlen(base), size = strlen(path) + 64;
  const char *extension = dot && dot != base && strlen(dot) < 16 ? dot : "";
  stem -= strlen(extension);
  if (stem > LONGEST_STEM) stem = LONGEST_STEM; /* the longer name must not be too long */
  *name = FX_NEW(context, char, size);
  for (int k = 0; *name && k < MOST_NAMES; k++) {
    snprintf(*name, size, "%.*s%.*s.%ld-%d.tmp%s", (int)(base - path), path, (int)stem, base, (long)getpid(), k,
             extension);
    int file = open(*name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

static int open_direct(const char *path) {
  int own = fx_descriptor_of(path);
  return own >= 0 ? dup(own) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

frix_status frix_output_check(frix_context *context, const char *path) {
  if (!context) return FRIX_ERROR_INPUT;
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "frix_output_check: path is NULL");
  target at;
  frix_status status = look_at(context, path, &at);
  if (status || at.direct) return status;
  char *name = NULL;
  int file = open_beside(context, path, &name), error = errno;
  if (file >= 0) {
    unlink(name);
    close(file);
  } else {
    status = name ? fail_errno(context, path, error) : FRIX_ERROR_MEMORY;
  }
  fx_free(context, name);
  return status;
}

static void release(frix_output *o) {
  frix_context *context = o->context;
  if (o->file >= 0) close(o->file);
  void *owned[] = {o->path, o->folder, o->temporary, o->buffer, o};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(context, owned[k]);
}

static char *folder_of(frix_context *context, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  char *folder = FX_NEW(context, char, length + 2);
  if (folder) memcpy(folder, length ? path : ".", length ? length : 1);
  return folder;
}

frix_status frix_output_open(frix_context *context, const char *path, frix_output **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "frix_output_open: path is NULL");
  target at;
  frix_status status = look_at(context, path, &at);
  if (status) return status;
  frix_output *o = FX_NEW(context, frix_output, 1);
  if (!o) return FRIX_ERROR_MEMORY;
  o->context = context, o->file = -1;
  o->path = fx_copy_text(context, path);
  o->folder = folder_of(context, path);
  o->buffer = fx_alloc_raw(context, BUFFER, 1);
  if (!o->path || !o->folder || !o->buffer) {
    release(o);
    return FRIX_ERROR_MEMORY;
  }
  o->file = at.direct ? open_direct(path) : open_beside(context, path, &o->temporary);
  if (o->file < 0) {
    int error = errno;
    status = at.direct || o->temporary ? fail_errno(context, path, error) : FRIX_ERROR_MEMORY;
    release(o);
    return status;
  }
  if (at.present && fchmod(o->file, at.mode) != 0) o->error = errno;
  *out = o;
  return FRIX_OK;
}

const char *frix_output_temporary(const frix_output *o) { return o ? o->temporary : NULL; }

int fx_output_descriptor(const frix_output *o) { return o->file; }

/* ---- bytes ---- */

static frix_status result(frix_output *o) { return o->error ? fail_errno(o->context, o->path, o->error) : FRIX_OK; }

static void put(frix_output *o, const void *bytes, size_t count) {
  if (!o->error && !fx_write_fully(o->file, bytes, count)) o->error = errno;
}

static void flush(frix_output *o) {
  put(o, o->buffer, o->filled);
  o->filled = 0;
}

frix_status frix_output_write(frix_output *o, const void *bytes, size_t count) {
  if (!o || (!bytes && count)) return FRIX_ERROR_INPUT;
  if (count > BUFFER - o->filled) flush(o);
  if (count >= BUFFER) {
    put(o, bytes, count);
  } else if (count) {
    memcpy(o->buffer + o->filled, bytes, count);
    o->filled += count;
  }
  return result(o);
}

frix_status fx_output_has_places(const frix_output *o) {
  if (o->temporary) return FRIX_OK;
  return fx_fail(o->context, FRIX_ERROR_FILE, "%s: cannot write: this format needs a regular file", o->path);
}

frix_status fx_output_patch(frix_output *o, int64_t at, const void *bytes, size_t count) {
  flush(o);
  for (const char *from = bytes; count && !o->error;) {
    ssize_t done = pwrite(o->file, from, count, (off_t)at);
    if (done < 0 && errno != EINTR) o->error = errno;
    if (done > 0) from += done, at += done, count -= (size_t)done;
  }
  return result(o);
}

/* ---- the end ---- */

/* Pipes and devices know no fsync. */
static void sync_to_disk(frix_output *o, int file) {
  if (!o->error && fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) o->error = errno;
}

/* The new name is on the disk once its folder is. A folder that may be written but not read is left to the system. */
static void sync_folder(frix_output *o) {
  int file = open(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  sync_to_disk(o, file);
  close(file);
}

/* link never replaces; where the file system has no links, the name is taken as it is. */
static bool take_place(frix_output *o, bool fresh) {
  if (fresh && link(o->temporary, o->path) == 0) {
    unlink(o->temporary);
    return true;
  }
  if (fresh && errno == EEXIST) return false;
  return rename(o->temporary, o->path) == 0;
}

static void move_to_place(frix_output *o, bool fresh) {
  flush(o);
  sync_to_disk(o, o->file);
  if (!o->temporary || o->error) return;
  if (!take_place(o, fresh)) {
    o->error = errno;
    return;
  }
  fx_free(o->context, o->temporary);
  o->temporary = NULL;
  sync_folder(o);
}

frix_status frix_output_close(frix_output *o, bool keep) {
  if (!o) return FRIX_OK;
  if (keep) move_to_place(o, false);
  if (o->temporary) unlink(o->temporary);
  int file = o->file;
  o->file = -1;
  if (close(file) != 0 && keep && !o->error) o->error = errno;
  frix_status status = keep ? result(o) : FRIX_OK;
  release(o);
  return status;
}

frix_status fx_output_settle(frix_output *o, bool fresh, int *file) {
  move_to_place(o, fresh);
  if (o->temporary) unlink(o->temporary);
  frix_status status = result(o);
  if (!status) *file = o->file, o->file = -1;
  release(o);
  return status;
}
