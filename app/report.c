/* Problems and results on their way in and out of the command: reading with a message on failure, what makes an answer
 * approximate, certificates as text and JSON. */
#include "app.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- memory, time, interrupts */

void *fx_grow(void *pointer, size_t count, size_t size) {
  void *grown = size && count > SIZE_MAX / size ? NULL : realloc(pointer, count * size + 1);
  if (grown) return grown;
  fx_error("out of memory");
  exit(FX_EXIT_USAGE);
}

char *fx_join(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  char *joined = fx_grow(NULL, n + m + 1, 1);
  memcpy(joined, a, n);
  memcpy(joined + n, b, m + 1);
  return joined;
}

double fx_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
  interrupted = 1;
  signal(signal_number, SIG_DFL); /* a second Ctrl-C ends the program at once */
}

void fx_catch_interrupt(void) { signal(SIGINT, interrupt); }

bool fx_interrupted(void *unused) {
  (void)unused;
  return interrupted != 0;
}

/* ---- reading */

static void show_log(frix_log_level level, const char *text, void *user) {
  bool verbose = user != NULL;
  if (level == FRIX_LOG_WARNING) {
    fx_warning("%s", text);
  } else if (verbose) {
    fx_remark("%s", text);
  }
}

frix_context *fx_context(bool verbose) {
  static char yes; /* its address is the flag */
  frix_context_config config = frix_context_default();
  config.log = show_log;
  config.user = verbose ? &yes : NULL;
  config.keep_inputs = true;
  frix_context *context = NULL;
  if (frix_context_create(&config, &context) == FRIX_OK) return context;
  fx_error("out of memory");
  exit(FX_EXIT_USAGE);
}

const char *fx_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

frix_problem *fx_read_problem(frix_context *context, const char *path, const char *text_kind) {
  frix_read_config config = frix_read_default();
  if (text_kind && !strcmp(text_kind, "local")) config.kind = FRIX_TEXT_LOCAL;
  if (text_kind && !strcmp(text_kind, "global")) config.kind = FRIX_TEXT_GLOBAL;
  if (text_kind && !strcmp(text_kind, "lcp")) config.kind = FRIX_TEXT_LCP;
  if (text_kind && !strcmp(text_kind, "mlcp")) config.kind = FRIX_TEXT_MLCP;
  frix_problem *problem = NULL;
  if (frix_problem_read(context, path, &config, &problem) == FRIX_OK) return problem;
  fx_error("%s", frix_error_text(context));
  return NULL;
}

/* ---- what an answer is worth */

void fx_approximation(const frix_problem *problem, const frix_solver_info *solver, frix_law law, char *out,
                      size_t size) {
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  int32_t facets = 0;
  for (int32_t k = 0; k < data.contact_count; k++)
    if (data.contact[k].cone == FRIX_CONE_PYRAMID) facets = data.contact[k].facets;
  size_t used = 0;
  if (size) out[0] = 0;
  if (solver && solver->approximate) used += (size_t)snprintf(out, size, "solver %s", solver->name);
  if (law != FRIX_LAW_COULOMB && used < size)
    used += (size_t)snprintf(out + used, size - used, "%slaw %s", used ? ", " : "", frix_law_name(law));
  if (facets && used < size) snprintf(out + used, size - used, "%spyramid:%d", used ? ", " : "", (int)facets);
}

bool fx_supported(const char *path, const frix_problem *problem, const frix_solver_info *solver, frix_law law,
                  bool quiet) {
  if (law == FRIX_LAW_COULOMB ? !solver->coulomb : !solver->associated) {
    if (!quiet) fx_error("solver %s does not solve law %s", solver->name, frix_law_name(law));
    return false;
  }
  frix_problem_data data = frix_problem_data_default();
  frix_problem_view(problem, &data);
  for (int32_t k = 0; k < data.contact_count; k++) {
    if (solver->cones >> data.contact[k].cone & 1) continue;
    if (!quiet)
      fx_error("%s: solver %s does not take the %s cone of contact %d", path, solver->name,
               frix_cone_table((int32_t)data.contact[k].cone)->name, (int)k);
    return false;
  }
  return true;
}

/* One list of the certificate's numbers, for every output. */
static const struct {
  const char *name, *unit, *summary;
  size_t offset;
} parts[] = {
    {"residual", "", "the verdict: largest of the three relative residuals", offsetof(frix_certificate, residual)},
    {"contact_residual", "", "natural map over all contacts, relative", offsetof(frix_certificate, contact_residual)},
    {"joint_residual", "", "bilateral rows, relative", offsetof(frix_certificate, joint_residual)},
    {"row_residual", "", "worst single contact or joint, relative to the load of its bodies",
     offsetof(frix_certificate, row_residual)},
    {"floor", "", "accepted rounding, on the same scale", offsetof(frix_certificate, floor)},
    {"rho", "kg", "1 / mean diagonal of W", offsetof(frix_certificate, rho)},
    {"worst_velocity", "m/s", "largest natural map of one contact", offsetof(frix_certificate, worst_velocity)},
    {"signorini", "m/s", "approach at a closed contact, tension, or force across a gap",
     offsetof(frix_certificate, signorini)},
    {"cone", "m/s", "distance of an impulse from its cone", offsetof(frix_certificate, cone)},
    {"dissipation", "J", "gap in maximum dissipation", offsetof(frix_certificate, dissipation)},
    {"bilateral", "m/s", "velocity error of joints", offsetof(frix_certificate, bilateral)},
    {"motion", "", "equation of motion, relative", offsetof(frix_certificate, motion)},
    {"power", "J", "work of the contacts, negative when they dissipate", offsetof(frix_certificate, power)},
};
enum { PART_COUNT = sizeof parts / sizeof parts[0] };

static double part(const frix_certificate *c, int k) {
  double value;
  memcpy(&value, (const char *)c + parts[k].offset, sizeof value);
  return value;
}

void fx_put_certificate(fx_json *json, const char *key, const frix_certificate *c) {
  fx_put_open(json, key, '{');
  for (int k = 0; k < PART_COUNT; k++) fx_put_real(json, parts[k].name, part(c, k));
  fx_put_integer(json, "worst_contact", c->worst_contact);
  fx_put_integer(json, "worst_row", c->worst_row);
  fx_put_close(json, '}');
}

void fx_print_certificate(const frix_certificate *c) {
  for (int k = 0; k < PART_COUNT; k++)
    printf("  %-16s  %12.4e %-4s %s\n", parts[k].name, part(c, k), parts[k].unit, parts[k].summary);
  printf("  %-16s  %12d %-4s %s\n", "worst_contact", (int)c->worst_contact, "", "where worst_velocity was found");
  printf("  %-16s  %12d %-4s %s\n", "worst_row", (int)c->worst_row, "", "first row of the contact of row_residual");
}

/* ---- writing */

void fx_csv_text(FILE *file, const char *text) {
  putc('"', file);
  for (; *text; text++) {
    if (*text == '"') putc('"', file);
    putc(*text, file);
  }
  putc('"', file);
}

void fx_put_base64(FILE *file, const unsigned char *data, size_t size) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t k = 0; k < size; k += 3) {
    size_t left = size - k;
    uint32_t v = (uint32_t)data[k] << 16;
    if (left > 1) v |= (uint32_t)data[k + 1] << 8;
    if (left > 2) v |= data[k + 2];
    putc(digit[v >> 18 & 63], file);
    putc(digit[v >> 12 & 63], file);
    putc(left > 1 ? digit[v >> 6 & 63] : '=', file);
    putc(left > 2 ? digit[v & 63] : '=', file);
  }
}
