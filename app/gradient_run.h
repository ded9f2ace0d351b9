/* Derivatives of whole runs, for frix gradient --run. */
#ifndef FX_GRADIENT_RUN_H
#define FX_GRADIENT_RUN_H

#include "app.h"

/* The exit code. */
int fx_gradient_of_run(const fx_args *args);

#endif
