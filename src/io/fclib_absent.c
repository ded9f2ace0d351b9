/* fclib problems in a build without HDF5: recognised, and refused with a reason. */
#include "io/format.h"

#ifndef FRIX_HAVE_HDF5

static bool matches(const char *bytes, size_t count) {
  return count >= 8 && bytes[0] == '\x89' && bytes[1] == 'H' && bytes[2] == 'D' && bytes[3] == 'F';
}

static frix_status unavailable(frix_context *context, const char *name) {
  return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: this build of frix has no HDF5; use .json or .dat", name);
}

static frix_status read_fclib(fx_draft *draft, const char *bytes, size_t count, const frix_read_config *config) {
  (void)bytes, (void)count, (void)config;
  return unavailable(draft->context, draft->name);
}

static frix_status read_guess(fx_draft *draft, const char *bytes, size_t count, int32_t row_count, double *r) {
  (void)bytes, (void)count, (void)row_count, (void)r;
  return unavailable(draft->context, draft->name);
}

static frix_status write_fclib(const char *path, const frix_problem_data *data, const frix_result *result,
                               fx_buffer *buffer) {
  (void)data, (void)result;
  return unavailable(buffer->context, path);
}

const fx_format fx_format_fclib = {
    .info = {.name = "fclib",
             .summary = "fclib's HDF5: local, global and rolling problems with guesses and solutions",
             .extension = ".hdf5 .h5",
             .available = false},
    .matches = matches,
    .read = read_fclib,
    .write = write_fclib,
    .read_guess = read_guess,
};

#endif
