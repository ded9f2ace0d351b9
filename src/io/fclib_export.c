/* Trajectories as HDF5 datasets, one per column, in the root group. */
#include "io/export.h"
#include "io/fclib.h"

#ifdef FRIX_HAVE_HDF5
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct file {
  frix_context *context;
  const char *path;
  hid_t file, set, type;
  int dims;
  hsize_t dim[3], at;
} file;

static frix_status fail(file *f) {
  return fx_fail(f->context, FRIX_ERROR_FILE, "%s: HDF5 cannot write (disk full?)", f->path);
}

static hid_t type_of(fx_number type) {
  switch (type) {
    case FX_F64: return H5Tcopy(H5T_IEEE_F64LE);
    case FX_F32: return H5Tcopy(H5T_IEEE_F32LE);
    case FX_I64: return H5Tcopy(H5T_STD_I64LE);
    case FX_U64: return H5Tcopy(H5T_STD_U64LE);
    case FX_I32: return H5Tcopy(H5T_STD_I32LE);
    case FX_U8: return H5Tcopy(H5T_STD_U8LE);
    case FX_TEXT: break;
  }
  hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, FX_NAME_SIZE);
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  return text;
}

static frix_status begin(void *user, const char *name, fx_number type, int dims, const int64_t *dim) {
  file *f = user;
  f->dims = dims, f->at = 0;
  for (int k = 0; k < dims; k++) f->dim[k] = (hsize_t)dim[k];
  f->type = type_of(type);
  hid_t space = H5Screate_simple(dims, f->dim, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plan, 0); /* the same run, the same bytes */
  f->set = H5Dcreate2(f->file, name, f->type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  H5Pclose(plan);
  H5Sclose(space);
  return f->set >= 0 ? FRIX_OK : fail(f);
}

static frix_status rows(void *user, const unsigned char *bytes, size_t size, int64_t count) {
  file *f = user;
  hsize_t from[3] = {f->at, 0, 0}, block[3] = {(hsize_t)count, f->dim[1], f->dim[2]};
  (void)size;
  hid_t here = H5Dget_space(f->set), mine = H5Screate_simple(f->dims, block, NULL);
  herr_t code = H5Sselect_hyperslab(here, H5S_SELECT_SET, from, NULL, block, NULL);
  if (code >= 0) code = H5Dwrite(f->set, f->type, mine, here, H5P_DEFAULT, bytes);
  H5Sclose(here);
  H5Sclose(mine);
  f->at += (hsize_t)count;
  return code >= 0 ? FRIX_OK : fail(f);
}

static frix_status end(void *user) {
  file *f = user;
  herr_t code = H5Dclose(f->set);
  H5Tclose(f->type);
  f->set = f->type = -1;
  return code >= 0 ? FRIX_OK : fail(f);
}

frix_status fx_export_hdf5(const fx_export *e, const char *path) {
  file f = {.context = e->context, .path = path, .file = -1, .set = -1, .type = -1};
  fx_array_sink sink = {begin, rows, end, &f};
  fx_hdf5_guard guard;
  fx_stream stream; /* for its names: the library opens the file itself */
  frix_status status = fx_stream_open(e->context, path, &stream);
  if (status) {
    fx_stream_close(&stream, false);
    return status;
  }
  fx_hdf5_enter(&guard);
  f.file = H5Fcreate(stream.temporary, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  status = f.file >= 0 ? fx_export_arrays(e, &sink) : fail(&f);
  if (f.set >= 0) H5Dclose(f.set);
  if (f.type >= 0) H5Tclose(f.type);
  if (f.file >= 0 && H5Fclose(f.file) < 0 && !status) status = fail(&f);
  fx_hdf5_leave(&guard);
  frix_status closed = fx_stream_close(&stream, status == FRIX_OK);
  return status ? status : closed;
}

#else

frix_status fx_export_hdf5(const fx_export *e, const char *path) {
  return fx_fail(e->context, FRIX_ERROR_UNSUPPORTED, "%s: this build of frix has no HDF5; use .npz or .csv", path);
}

#endif
