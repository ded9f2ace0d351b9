/* A part of fclib_export.c: a descriptor as a file the HDF5 library can write.
 *
 * A write that fails leaves the library with a file it can neither finish nor let go, and it crashes when the program
 * ends (1.10.8, disk full). This driver keeps the first error to itself and lets the library go on; the writer asks
 * for the error. The interface of drivers changes with 1.13, so later versions get the library's own, which opens the
 * file by its name and tells errno in the text of its error stack only. */
#ifndef FX_IO_FCLIB_SINK_H
#define FX_IO_FCLIB_SINK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where bytes go: a new, empty file by its descriptor and its name. */
typedef struct sink {
  int descriptor;
  const char *name;
  hid_t driver;
  int error; /* errno of the first failure */
} sink;

#if !H5_VERSION_GE(1, 13, 0)

/* The library sees the first member only. */
typedef struct sink_file {
  H5FD_t base;
  sink *sink;
  haddr_t end, size; /* of what the library considers allocated, and of what was written */
} sink_file;

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t limit) {
  (void)name, (void)limit;
  sink *const *given = H5Pget_driver_info(access);
  if (!given || !(flags & H5F_ACC_RDWR)) return NULL;
  sink_file *file = calloc(1, sizeof *file); /* the library's side of the wall: not the context's memory */
  if (file) file->sink = *given;
  return (H5FD_t *)file;
}

static herr_t sink_close(H5FD_t *file) {
  free(file);
  return 0;
}

static herr_t sink_query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t sink_get_end(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const sink_file *)file)->end;
}

static herr_t sink_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end) {
  (void)type;
  ((sink_file *)file)->end = end;
  return 0;
}

static haddr_t sink_size(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const sink_file *)file)->size;
}

/* What was not written reads as zero. */
static herr_t sink_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *out) {
  (void)type, (void)transfer;
  const sink *s = ((const sink_file *)file)->sink;
  char *to = out;
  while (size) {
    ssize_t got = pread(s->descriptor, to, size, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    to += got, at += (haddr_t)got, size -= (size_t)got;
  }
  memset(to, 0, size);
  return 0;
}

static herr_t sink_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *bytes) {
  (void)type, (void)transfer;
  sink_file *f = (sink_file *)file;
  const char *from = bytes;
  if (f->size < at + size) f->size = at + size;
  while (size && !f->sink->error) {
    ssize_t put = pwrite(f->sink->descriptor, from, size, (off_t)at);
    if (put < 0 && errno != EINTR) f->sink->error = errno;
    if (put > 0) from += put, at += (haddr_t)put, size -= (size_t)put;
  }
  return 0;
}

/* The file is as long as what was allocated in it, or it counts as cut short. */
static herr_t sink_truncate(H5FD_t *file, hid_t transfer, hbool_t closing) {
  (void)transfer, (void)closing;
  sink_file *f = (sink_file *)file;
  if (!f->sink->error && ftruncate(f->sink->descriptor, (off_t)f->end) != 0) f->sink->error = errno;
  f->size = f->end;
  return 0;
}

static const H5FD_class_t sink_class = {
    .name = "frix_sink",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(sink *),
    .open = sink_open,
    .close = sink_close,
    .query = sink_query,
    .get_eoa = sink_get_end,
    .set_eoa = sink_set_end,
    .get_eof = sink_size,
    .read = sink_read,
    .write = sink_write,
    .truncate = sink_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t sink_create_file(sink *s) {
  s->driver = H5FDregister(&sink_class);
  hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
  if (s->driver >= 0 && access >= 0 && H5Pset_driver(access, s->driver, &s) >= 0)
    file = H5Fcreate("frix", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

/* Whether a call went well. */
static bool sink_good(sink *s, int64_t outcome) { return outcome >= 0 && !s->error; }

static void sink_release(sink *s) {
  if (s->driver >= 0) H5FDunregister(s->driver);
}

#else

static hid_t sink_create_file(sink *s) { return H5Fcreate(s->name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

static herr_t sink_find_errno(unsigned depth, const H5E_error2_t *entry, void *user) {
  (void)depth;
  const char *found = entry->desc ? strstr(entry->desc, "errno = ") : NULL;
  if (found) sscanf(found, "errno = %d", (int *)user);
  return 0;
}

/* At once after the call, for the next one clears the error stack. */
static bool sink_good(sink *s, int64_t outcome) {
  if (outcome < 0 && !s->error) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, sink_find_errno, &s->error);
  return outcome >= 0;
}

static void sink_release(sink *s) { (void)s; }

#endif

#endif
