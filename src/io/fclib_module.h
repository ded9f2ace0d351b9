/* What the module frix-hdf5.so offers its host: fclib.c and fclib_export.c, found by fclib_load.c. */
#ifndef FX_IO_FCLIB_MODULE_H
#define FX_IO_FCLIB_MODULE_H

#include "io/export.h"
#include "io/format.h"

#include <string.h>

static inline bool fx_is_hdf5(const char *bytes, size_t count) {
  return count >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

typedef struct fx_hdf5_module {
  size_t size; /* of this struct; with what follows it tells a module of another build */
  const char *version;
  size_t draft_size, export_size;
  const fx_format *fclib; /* read, write, read_guess; the rest of the row is the host's */
  frix_status (*export_hdf5)(const fx_export *e, const char *path);
} fx_hdf5_module;

#define FX_HDF5_SYMBOL "frix_hdf5_module"

/* Of fclib_export.c, within the module. */
frix_status fx_hdf5_export(const fx_export *e, const char *path);

#endif
