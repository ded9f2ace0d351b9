/* Derivatives of whole runs, for frix gradient --run. */
#ifndef FX_GRADIENT_RUN_H
#define FX_GRADIENT_RUN_H

#include "app.h"

/* The exit code. */
int fx_gradient_of_run(const fx_args *args);
/* --list: what a run or its first step can be differentiated by. */
int fx_gradient_list(const fx_args *args);
/* Whether an input needs the assembly, as a run has it: a number of the model, or h. */
bool fx_gradient_by_number(const char *text);

#endif
