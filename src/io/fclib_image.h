/* A part of fclib.c: bytes in memory as a file the HDF5 library can read, without copying them.
 *
 * The library's own driver for images copies the file twice and lets the library merge small reads in a buffer; on
 * damaged files that buffer is read where it was never filled (1.10.8, found by fuzz/raw_fclib.c). A driver without
 * features is asked for every read, and each is checked against the size of the file. The interface of drivers changes
 * with 1.13, so later versions get the library's own. fclib.c includes this after the library's header. */
#ifndef FX_IO_FCLIB_IMAGE_H
#define FX_IO_FCLIB_IMAGE_H

#include <stdlib.h>
#include <string.h>

/* What the library holds of an open image; *handle is NULL when it holds nothing. */
typedef struct image_file image_file;

/* What an open image keeps: the library's own file, and the driver, which the library uses until the file is closed. */
typedef struct image_door {
  image_file *file;
  hid_t driver;
} image_door;

#if !H5_VERSION_GE(1, 13, 0)

typedef struct image {
  const char *bytes;
  size_t count;
  image_file **handle;
} image;

/* The library sees the first member only. */
struct image_file {
  H5FD_t base;
  image image;
  haddr_t end; /* of what the library considers allocated */
};

static H5FD_t *image_open(const char *name, unsigned flags, hid_t access, haddr_t limit) {
  (void)name, (void)limit;
  const image *given = H5Pget_driver_info(access);
  if (!given || flags & H5F_ACC_RDWR) return NULL;
  image_file *file = calloc(1, sizeof *file); /* the library's side of the wall: not the context's memory */
  if (!file) return NULL;
  file->image = *given;
  *given->handle = file;
  return (H5FD_t *)file;
}

static herr_t image_close(H5FD_t *file) {
  image_file **handle = ((image_file *)file)->image.handle;
  if (handle) *handle = NULL;
  free(file);
  return 0;
}

static herr_t image_query(const H5FD_t *file, unsigned long *flags) {
  (void)file;
  *flags = 0;
  return 0;
}

static haddr_t image_get_end(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const image_file *)file)->end;
}

static herr_t image_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end) {
  (void)type;
  ((image_file *)file)->end = end;
  return 0;
}

static haddr_t image_size(const H5FD_t *file, H5FD_mem_t type) {
  (void)type;
  return ((const image_file *)file)->image.count;
}

static herr_t image_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *out) {
  (void)type, (void)transfer;
  const image *from = &((const image_file *)file)->image;
  if (at > from->count || size > from->count - at) return -1;
  if (size) memcpy(out, from->bytes + at, size);
  return 0;
}

static herr_t image_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *x) {
  (void)file, (void)type, (void)transfer, (void)at, (void)size, (void)x;
  return -1;
}

static const H5FD_class_t image_class = {
    .name = "frix_image",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(image),
    .open = image_open,
    .close = image_close,
    .query = image_query,
    .get_eoa = image_get_end,
    .set_eoa = image_set_end,
    .get_eof = image_size,
    .read = image_read,
    .write = image_write,
    .fl_map = H5FD_FLMAP_SINGLE,
};

static hid_t image_open_file(const char *bytes, size_t count, image_door *door) {
  image from = {bytes, count, &door->file};
  *door = (image_door){NULL, H5FDregister(&image_class)};
  hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
  if (door->driver >= 0 && access >= 0 && H5Pset_driver(access, door->driver, &from) >= 0)
    file = H5Fopen("frix", H5F_ACC_RDONLY, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

/* On a damaged file the library may fail to let go; what it keeps must not point to our bytes any more. */
static void image_close_file(hid_t file, image_door *door) {
  if (file >= 0) H5Fclose(file);
  if (door->file) door->file->image = (image){NULL, 0, NULL};
  if (door->driver >= 0) H5FDunregister(door->driver);
}

#else

static hid_t image_open_file(const char *bytes, size_t count, image_door *door) {
  *door = (image_door){NULL, -1};
  hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
  /* With the core driver and an image the name is only a label; degree strong closes what was left open. */
  if (access >= 0 && H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
      H5Pset_file_image(access, (void *)(uintptr_t)bytes, count) >= 0)
    file = H5Fopen("frix", H5F_ACC_RDONLY, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

static void image_close_file(hid_t file, image_door *door) {
  (void)door;
  if (file >= 0) H5Fclose(file);
}

#endif

#endif
