/* Trajectories as HDF5 datasets, one per column, in the root group. */
#include "io/fclib.h"
#include "io/fclib_module.h"

#include "io/fclib_sink.h"

typedef struct file {
  frix_context *context;
  const char *path;
  sink sink;
  hid_t file, set, type;
  int dims;
  hsize_t dim[3], at;
} file;

static frix_status fail(file *f) {
  return fx_fail(f->context, FRIX_ERROR_FILE, "%s: cannot write: %s", f->path,
                 f->sink.error ? strerror(f->sink.error) : "HDF5 gives no reason");
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
  bool created = sink_good(&f->sink, f->set);
  H5Pclose(plan);
  H5Sclose(space);
  return created ? FRIX_OK : fail(f);
}

static frix_status rows(void *user, const unsigned char *bytes, size_t size, int64_t count) {
  file *f = user;
  hsize_t from[3] = {f->at, 0, 0}, block[3] = {(hsize_t)count, f->dim[1], f->dim[2]};
  (void)size;
  hid_t here = H5Dget_space(f->set), mine = H5Screate_simple(f->dims, block, NULL);
  herr_t code = H5Sselect_hyperslab(here, H5S_SELECT_SET, from, NULL, block, NULL);
  if (code >= 0) code = H5Dwrite(f->set, f->type, mine, here, H5P_DEFAULT, bytes);
  bool written = sink_good(&f->sink, code);
  H5Sclose(here);
  H5Sclose(mine);
  f->at += (hsize_t)count;
  return written ? FRIX_OK : fail(f);
}

static frix_status end(void *user) {
  file *f = user;
  bool closed = sink_good(&f->sink, H5Dclose(f->set));
  H5Tclose(f->type);
  f->set = f->type = -1;
  return closed ? FRIX_OK : fail(f);
}

static frix_status write_file(file *f, const fx_export *e) {
  fx_array_sink arrays = {begin, rows, end, f};
  f->file = sink_create_file(&f->sink);
  frix_status status = sink_good(&f->sink, f->file) ? fx_export_arrays(e, &arrays) : fail(f);
  if (f->set >= 0) H5Dclose(f->set);
  if (f->type >= 0) H5Tclose(f->type);
  if (f->file >= 0 && !sink_good(&f->sink, H5Fclose(f->file)) && !status) status = fail(f);
  sink_release(&f->sink);
  return status;
}

frix_status fx_hdf5_export(const fx_export *e, const char *path) {
  file f = {.context = e->context, .path = path, .sink = {.driver = -1}, .file = -1, .set = -1, .type = -1};
  fx_hdf5_guard guard;
  frix_output *output = NULL;
  frix_status status = frix_output_open(e->context, path, &output);
  if (!status) status = fx_output_has_places(output);
  if (!status) {
    f.sink.descriptor = fx_output_descriptor(output);
    f.sink.name = frix_output_temporary(output);
    fx_hdf5_enter(&guard);
    status = write_file(&f, e);
    fx_hdf5_leave(&guard);
  }
  frix_status closed = frix_output_close(output, status == FRIX_OK);
  return status ? status : closed;
}
