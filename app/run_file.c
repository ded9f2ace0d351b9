#include "run.h"
fx_run_file *fx_run_file_create(const fx_run *run, const fx_args *args) { (void)run; (void)args; fx_error("no files yet"); return NULL; }
bool fx_run_file_add(fx_run_file *file, const fx_run *run, const frix_step_report *report) { (void)file; (void)run; (void)report; return true; }
bool fx_run_file_close(fx_run_file *file, const fx_run *run) { (void)file; (void)run; return true; }
fx_run_file *fx_run_file_resume(fx_run *run, const char *path, const fx_args *args) { (void)run; (void)path; (void)args; fx_error("no files yet"); return NULL; }
void fx_run_file_free(fx_run_file *file) { (void)file; }
