/* What the files that know HDF5 share: its lock. */
#ifndef FX_IO_FCLIB_H
#define FX_IO_FCLIB_H

#include <hdf5.h>

/* The caller's error printing, put back at the end. */
typedef struct fx_hdf5_guard {
  H5E_auto2_t print;
  void *user;
} fx_hdf5_guard;

/* One thread at a time inside the library, and nothing printed. */
void fx_hdf5_enter(fx_hdf5_guard *guard);
void fx_hdf5_leave(fx_hdf5_guard *guard);

#endif
