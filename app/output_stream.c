/* Outputs of the command: streams into files that appear whole or not at all (frix/output.h), and whether they can be
 * written, asked before work begins. */
#define _GNU_SOURCE /* fopencookie */
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- streams */

#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
static int put_bytes(void *user, const char *bytes, int count) {
  fx_output *o = user;
  return frix_output_write(o->output, bytes, (size_t)count) == FRIX_OK ? count : -1;
}

static FILE *stream_into(fx_output *o) { return funopen(o, NULL, put_bytes, NULL, NULL); }
#else
static ssize_t put_bytes(void *user, const char *bytes, size_t count) {
  fx_output *o = user;
  return frix_output_write(o->output, bytes, count) == FRIX_OK ? (ssize_t)count : 0;
}

static FILE *stream_into(fx_output *o) { return fopencookie(o, "w", (cookie_io_functions_t){.write = put_bytes}); }
#endif

fx_output *fx_output_open(frix_context *context, const char *path) {
  fx_output *o = fx_grow(NULL, 1, sizeof *o);
  *o = (fx_output){.context = context};
  if (frix_output_open(context, path, &o->output) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    free(o);
    return NULL;
  }
  o->file = stream_into(o);
  if (o->file) return o;
  fx_error("out of memory");
  exit(FX_EXIT_USAGE);
}

bool fx_output_close(fx_output *o, bool keep) {
  if (!o) return true;
  fclose(o->file); /* what cannot be written is remembered by the output */
  bool good = frix_output_close(o->output, keep) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(o->context));
  free(o);
  return good;
}

/* ---- before work begins */

bool fx_check_output(frix_context *context, const char *path) {
  if (!path || frix_output_check(context, path) == FRIX_OK) return true;
  fx_error("%s", frix_error_text(context));
  return false;
}

/* The same name in the same folder, however it is spelt. */
static bool same_place(const char *a, const char *b) {
  struct stat here, there;
  if (strcmp(fx_base_name(a), fx_base_name(b))) return false;
  char *folder_a = fx_folder_of(a), *folder_b = fx_folder_of(b);
  bool same = stat(folder_a, &here) == 0 && stat(folder_b, &there) == 0 && here.st_dev == there.st_dev &&
              here.st_ino == there.st_ino;
  free(folder_a);
  free(folder_b);
  return same;
}

bool fx_check_outputs(frix_context *context, const char *const *path, int count) {
  for (int k = 0; k < count; k++) {
    if (!fx_check_output(context, path[k])) return false;
    for (int i = 0; i < k; i++)
      if (path[k] && path[i] && same_place(path[k], path[i])) {
        fx_error("%s: two outputs cannot have one name", path[k]);
        return false;
      }
  }
  return true;
}

char *fx_folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return fx_join(".", "");
  char *folder = fx_join(path, "");
  folder[slash - path + (slash == path)] = 0;
  return folder;
}

char *fx_new_file(const char *path, const char *ending) {
  char *stem = fx_join(path, ".XXXXXX"), *name = fx_join(stem, ending);
  int file = mkstemps(name, (int)strlen(ending));
  free(stem);
  if (file >= 0) {
    close(file);
    return name;
  }
  fx_error("%s: cannot write: %s", path, strerror(errno));
  free(name);
  return NULL;
}

bool fx_check_format(frix_context *context, const frix_problem *problem, const char *path) {
  const char *dot = strrchr(fx_base_name(path), '.');
  if (!dot || !strcmp(dot, ".json")) return true; /* holds r, u, v of any problem */
  char *probe = fx_new_file(path, "");
  if (!probe) return false;
  frix_status status = frix_problem_write(problem, probe, "fclib");
  unlink(probe);
  if (status != FRIX_OK) {
    /* the library's text names the probe: keep what follows it */
    const char *text = frix_error_text(context), *reason = strstr(text, probe);
    fx_error("%s%s%s", path, reason ? "" : ": ", reason ? reason + strlen(probe) : text);
  }
  free(probe);
  return status == FRIX_OK;
}
