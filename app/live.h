/* frix run --live: a page on localhost that shows a run while it is computed. */
#ifndef FX_LIVE_H
#define FX_LIVE_H

#include "run.h"

typedef struct fx_live fx_live;

/* Listens on 127.0.0.1; port 0: any that is free. NULL after a message. */
fx_live *fx_live_open(const fx_run *run, int64_t port);
/* http://127.0.0.1:PORT/ */
const char *fx_live_address(const fx_live *live);
/* Until the first page asks for frames, or Ctrl-C: then false. */
bool fx_live_wait(fx_live *live);
/* After a step: shows its frame, and goes on no sooner than real time has. */
void fx_live_show(fx_live *live, const fx_run *run, const frix_step_report *report);
/* Says that the run is over and ends all connections. NULL is allowed. */
void fx_live_close(fx_live *live);

#endif
