/* A page has no sockets: frix run --live is for the command alone. */
#include "live.h"

fx_live *fx_live_open(const fx_run *run, int64_t port) {
  (void)run, (void)port;
  fx_error("--live: there is no server within a page");
  return NULL;
}

const char *fx_live_address(const fx_live *live) { return (void)live, ""; }
bool fx_live_wait(fx_live *live) { return (void)live, false; }
void fx_live_show(fx_live *live, const fx_run *run, const frix_step_report *report) {
  (void)live, (void)run, (void)report;
}
void fx_live_close(fx_live *live) { (void)live; }
