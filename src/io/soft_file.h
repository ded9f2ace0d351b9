/* Soft bodies as bytes, those of a .frixsoft file. */
#ifndef FX_IO_SOFT_FILE_H
#define FX_IO_SOFT_FILE_H

#include "io/pack.h"
#include "soft/soft_internal.h"

/* Appends the bytes of a body. */
frix_status fx_soft_encode(const frix_soft *soft, fx_buffer *out);
/* name: of where the bytes come from, for messages. */
frix_status fx_soft_decode(frix_context *context, const char *name, const char *bytes, size_t count, frix_soft **out);

#endif
