/* HDF5 files made to order in memory, good and broken, for tests and fuzzing of the fclib reader. */
#ifndef FX_TEST_FCLIB_FILE_H
#define FX_TEST_FCLIB_FILE_H

#include <hdf5.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct fclib_file {
  hid_t file;
  H5E_auto2_t print;
  void *print_user;
} fclib_file;

static inline fclib_file fclib_file_begin(void) {
  fclib_file f;
  H5Eget_auto2(H5E_DEFAULT, &f.print, &f.print_user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 4096, 0);
  f.file = H5Fcreate("made", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  return f;
}

/* A dataset of any type; groups on the way are created, an older dataset of the name is replaced. */
static inline void fclib_file_put(fclib_file *f, const char *path, hid_t type, hid_t given, int64_t count,
                                  const void *x) {
  hsize_t size = (hsize_t)count;
  hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(1, &size, NULL);
  H5Pset_create_intermediate_group(links, 1);
  H5Ldelete(f->file, path, H5P_DEFAULT);
  hid_t set = H5Dcreate2(f->file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0 && x) H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  H5Pclose(links);
}

static inline void fclib_file_reals(fclib_file *f, const char *path, int64_t count, const double *x) {
  fclib_file_put(f, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, x);
}

static inline void fclib_file_integers(fclib_file *f, const char *path, int64_t count, const int32_t *x) {
  fclib_file_put(f, path, H5T_STD_I32LE, H5T_NATIVE_INT32, count, x);
}

static inline void fclib_file_integer(fclib_file *f, const char *path, int32_t x) {
  fclib_file_integers(f, path, 1, &x);
}

/* The bytes, freed with free. */
static inline char *fclib_file_end(fclib_file *f, size_t *count) {
  H5Fflush(f->file, H5F_SCOPE_GLOBAL);
  ssize_t size = H5Fget_file_image(f->file, NULL, 0);
  char *bytes = size > 0 ? malloc((size_t)size) : NULL;
  *count = bytes && H5Fget_file_image(f->file, bytes, (size_t)size) == size ? (size_t)size : 0;
  H5Fclose(f->file);
  H5Eset_auto2(H5E_DEFAULT, f->print, f->print_user);
  return bytes;
}

#endif
