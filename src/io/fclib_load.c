/* fclib problems and HDF5 exports, for a library that is not linked with HDF5: both live in the module frix-hdf5.so,
 * which is opened when the first such file is asked for. HDF5 brings some thirty other libraries with it (Debian's:
 * curl, ssl, ldap, kerberos), which a program that reads no such file should not load.
 *
 * The dynamic linker finds the module beside libfrix or the command (their RUNPATH), else where it finds any library.
 * The module holds its own copies of the functions of frix it calls, so it needs nothing from its host but the same
 * version of frix. It stays in memory, since the HDF5 library does not survive being unloaded. */
#define _GNU_SOURCE /* dladdr */
#include "io/fclib_module.h"

#ifdef FRIX_HAVE_HDF5

#include <dlfcn.h>
#include <stdio.h>

/* Asked for by its path first: a sanitizer stands between us and the dynamic linker, which then looks at the
 * sanitizer's RUNPATH and not at ours. */
static void *open_module(void) {
  enum { FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };
  char path[4096];
  Dl_info here;
  const char *own = dladdr(&fx_format_fclib, &here) ? here.dli_fname : NULL, *slash = own ? strrchr(own, '/') : NULL;
  int size = slash ? snprintf(path, sizeof path, "%.*s/frix-hdf5.so", (int)(slash - own), own) : 0;
  void *handle = size > 0 && size < (int)sizeof path ? dlopen(path, FLAGS) : NULL;
  return handle ? handle : dlopen("frix-hdf5.so", FLAGS);
}

/* NULL with the error text set where there is none. */
static const fx_hdf5_module *load(frix_context *context, const char *path) {
  void *handle = open_module();
  if (!handle) {
    fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: HDF5 files need the module frix-hdf5.so: %s", path, dlerror());
    return NULL;
  }
  const fx_hdf5_module *module = dlsym(handle, FX_HDF5_SYMBOL);
  if (!module || module->size != sizeof *module || strcmp(module->version, FRIX_VERSION_TEXT) != 0 ||
      module->draft_size != sizeof(fx_draft) || module->export_size != sizeof(fx_export)) {
    fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: the module frix-hdf5.so is of another version of frix", path);
    module = NULL;
  }
  dlclose(handle);
  return module;
}
#define HDF5_HERE true

#else

static const fx_hdf5_module *load(frix_context *context, const char *path) {
  fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: this build of frix has no HDF5", path);
  return NULL;
}
#define HDF5_HERE false

#endif

static frix_status read_fclib(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config) {
  const fx_hdf5_module *module = load(draft->context, draft->name);
  return module ? module->fclib->read(draft, bytes, count, config) : FRIX_ERROR_UNSUPPORTED;
}

static frix_status read_guess(fx_draft *draft, const char *bytes, size_t count, int32_t row_count, double *r) {
  const fx_hdf5_module *module = load(draft->context, draft->name);
  return module ? module->fclib->read_guess(draft, bytes, count, row_count, r) : FRIX_ERROR_UNSUPPORTED;
}

static frix_status write_fclib(const char *path, const frix_problem_data *data, const frix_result *result,
                               fx_buffer *buffer) {
  const fx_hdf5_module *module = load(buffer->context, path);
  return module ? module->fclib->write(path, data, result, buffer) : FRIX_ERROR_UNSUPPORTED;
}

frix_status fx_export_hdf5(const fx_export *e, const char *path) {
  const fx_hdf5_module *module = load(e->context, path);
  return module ? module->export_hdf5(e, path) : FRIX_ERROR_UNSUPPORTED;
}

const fx_format fx_format_fclib = {
    .info = {.name = "fclib",
             .summary = "fclib's HDF5: local, global and rolling problems with guesses and solutions",
             .extension = ".hdf5 .h5",
             .available = HDF5_HERE},
    .matches = fx_is_hdf5,
    .read = read_fclib,
    .write = write_fclib,
    .read_guess = read_guess,
};
