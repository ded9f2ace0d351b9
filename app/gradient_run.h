/* Derivatives of whole runs, and of steps by named inputs, for frix gradient. */
#ifndef FX_GRADIENT_RUN_H
#define FX_GRADIENT_RUN_H

#include "app.h"

/* The exit code. */
int fx_gradient_of_run(const fx_args *args);
/* --list: what runs and steps can be differentiated by. */
int fx_gradient_list(const fx_args *args);
/* Of the step that ends at --at, by any input that has a name; and whether these inputs or outputs need that. */
int fx_gradient_of_named_step(const fx_args *args);
bool fx_gradient_by_name(const char *wrt, const char *of, bool stiff);

#endif
