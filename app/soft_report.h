/* Soft bodies on the screen. */
#ifndef FX_APP_SOFT_REPORT_H
#define FX_APP_SOFT_REPORT_H

#include "app.h"

void fx_print_soft(const char *path, const frix_soft *soft, bool json);
/* False after a message. */
bool fx_info_soft(frix_context *context, const char *path, bool json);
/* "x,y,z" of a flag; *out keeps its value where the flag is absent; false after a message. */
bool fx_arg_vec(const fx_args *args, const char *name, frix_vec3 *out);

#endif
