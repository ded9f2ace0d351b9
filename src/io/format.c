/* The format table and the calls that go through it: read, write, solution, guess. */
#include "io/format.h"
#include "base/abi.h"

#include <stdio.h>
#include <string.h>

#include "problem/problem_internal.h"

/* Formats with a signature come first; text is what remains. */
static const fx_format *const table[] = {&fx_format_fclib, &fx_format_json, &fx_format_text};
enum { FORMAT_COUNT = sizeof table / sizeof table[0] };

const frix_format_info *frix_format_table(int32_t k) {
  return k >= 0 && k < (int32_t)FORMAT_COUNT ? &table[k]->info : NULL;
}

static frix_read_config default_read(void) {
  frix_read_config config = {0};
  config.size = sizeof config;
  config.kind = FRIX_TEXT_DETECT;
  config.max_bytes = (int64_t)16 << 30;
  config.max_file_bytes = (int64_t)1 << 30;
  return config;
}

void frix_read_init(frix_read_config *out, size_t size) {
  frix_read_config all = default_read();
  fx_give_struct(out, size, &all, sizeof all);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether path ends in one of the space-separated extensions. */
static bool has_extension(const char *path, const char *list) {
  size_t path_length = strlen(path);
  while (*list) {
    size_t length = strcspn(list, " ");
    if (path_length > length) {
      size_t k = 0;
      while (k < length && lower(path[path_length - length + k]) == list[k]) k++;
      if (k == length) return true;
    }
    list += length;
    list += strspn(list, " ");
  }
  return false;
}

static const fx_format *by_extension(const char *path) {
  for (int32_t k = 0; k < (int32_t)FORMAT_COUNT; k++)
    if (has_extension(path, table[k]->info.extension)) return table[k];
  return NULL;
}

/* "fclib, json, text", or the extensions, for messages. */
typedef struct name_list {
  char text[128];
} name_list;

static name_list known(bool extensions) {
  name_list list = {""};
  for (int32_t k = 0; k < (int32_t)FORMAT_COUNT; k++) {
    size_t used = strlen(list.text);
    snprintf(list.text + used, sizeof list.text - used, "%s%s", k ? ", " : "",
             extensions ? table[k]->info.extension : table[k]->info.name);
  }
  return list;
}

static frix_status by_name(frix_context *context, const char *name, const fx_format **out) {
  for (int32_t k = 0; k < (int32_t)FORMAT_COUNT; k++)
    if (strcmp(table[k]->info.name, name) == 0) {
      *out = table[k];
      return FRIX_OK;
    }
  return fx_fail(context, FRIX_ERROR_INPUT, "unknown format '%s' (known: %s)", name, known(false).text);
}

/* A signature decides, then the name of the file, then text. */
static const fx_format *by_content(const char *path, const char *bytes, size_t count) {
  for (int32_t k = 0; k < (int32_t)FORMAT_COUNT; k++)
    if (table[k]->matches && table[k]->matches(bytes, count)) return table[k];
  const fx_format *format = by_extension(path);
  return format ? format : &fx_format_text;
}

/* The configuration the caller means; NULL is the default one. */
static frix_status check_config(frix_context *context, const frix_read_config *config, frix_read_config *out) {
  *out = frix_read_default();
  if (!config) return FRIX_OK;
  FX_WHOLE(frix_read_config, config, frix_read_default());
  if (config->size != sizeof *out)
    return fx_fail(context, FRIX_ERROR_INPUT, "read config: make it with frix_read_default");
  *out = *config;
  if (out->max_bytes <= 0) out->max_bytes = frix_read_default().max_bytes;
  if (out->max_file_bytes <= 0) out->max_file_bytes = frix_read_default().max_file_bytes;
  if (out->kind < FRIX_TEXT_DETECT || out->kind > FRIX_TEXT_MLCP)
    return fx_fail(context, FRIX_ERROR_INPUT, "read config: unknown kind %d", (int)out->kind);
  return FRIX_OK;
}

frix_status frix_problem_read_memory(frix_context *context, const char *name, const void *bytes, size_t count,
                                     const frix_read_config *config, frix_problem **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!name) name = "memory";
  frix_read_config chosen;
  frix_status status = check_config(context, config, &chosen);
  if (status) return status;
  if (!bytes || count == 0) return fx_fail(context, FRIX_ERROR_FORMAT, "%s: is empty", name);
  const fx_format *format = NULL;
  if (chosen.format)
    status = by_name(context, chosen.format, &format);
  else
    format = by_content(name, bytes, count);
  if (status) return status;
  fx_draft draft;
  fx_draft_init(&draft, context, name, chosen.max_bytes);
  status = format->read(&draft, bytes, count, &chosen);
  if (status == FRIX_OK) status = fx_draft_finish(&draft, out);
  fx_draft_free(&draft);
  return status;
}

frix_status frix_problem_read(frix_context *context, const char *path, const frix_read_config *config,
                              frix_problem **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "frix_problem_read: no path");
  frix_read_config chosen;
  frix_status status = check_config(context, config, &chosen);
  if (status) return status;
  char *bytes = NULL;
  size_t count = 0;
  status = fx_file_read(context, path, chosen.max_file_bytes, &bytes, &count);
  if (status == FRIX_OK) status = frix_problem_read_memory(context, path, bytes, count, &chosen, out);
  fx_free(context, bytes);
  return status;
}

/* Renders in memory first, so that nothing is written unless all of it can be. */
static frix_status write_file(const frix_problem *problem, const frix_result *result, const fx_format *format,
                              const char *path) {
  frix_context *context = problem->context;
  frix_problem_data data;
  frix_problem_view(problem, &data);
  fx_buffer buffer;
  fx_buffer_init(&buffer, context);
  frix_status status = format->write(path, &data, result, &buffer);
  if (status == FRIX_OK) status = fx_buffer_status(&buffer);
  if (status == FRIX_OK) status = fx_file_write(context, path, buffer.bytes, buffer.count);
  fx_buffer_free(&buffer);
  return status;
}

static frix_status format_for_writing(frix_context *context, const char *path, const char *name,
                                      const fx_format **out) {
  if (!path) return fx_fail(context, FRIX_ERROR_INPUT, "no path to write to");
  if (name) return by_name(context, name, out);
  *out = by_extension(path);
  if (*out) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_INPUT, "%s: unknown file extension (known: %s)", path, known(true).text);
}

frix_status frix_problem_write(const frix_problem *problem, const char *path, const char *format) {
  if (!problem) return FRIX_ERROR_INPUT;
  const fx_format *chosen = NULL;
  frix_status status = format_for_writing(problem->context, path, format, &chosen);
  return status ? status : write_file(problem, NULL, chosen, path);
}

frix_status frix_solution_write(const frix_problem *problem, const frix_solution *solution, const char *path) {
  if (!problem || !solution) return FRIX_ERROR_INPUT;
  const fx_format *chosen = NULL;
  frix_status status = format_for_writing(problem->context, path, NULL, &chosen);
  if (status) return status;
  frix_result result;
  frix_solution_view(solution, &result);
  frix_problem_data data;
  frix_problem_view(problem, &data);
  if (result.row_count != data.row_count)
    return fx_fail(problem->context, FRIX_ERROR_INPUT, "%s: the solution has %d rows, the problem %d", path,
                   (int)result.row_count, (int)data.row_count);
  return write_file(problem, &result, chosen, path);
}

frix_status frix_guess_read(frix_context *context, const frix_problem *problem, const char *path, double *r) {
  if (!context || !problem) return FRIX_ERROR_INPUT;
  if (!path || !r) return fx_fail(context, FRIX_ERROR_INPUT, "frix_guess_read: no path or no place for r");
  frix_problem_data data;
  frix_problem_view(problem, &data);
  frix_read_config limit = frix_read_default();
  char *bytes = NULL;
  size_t count = 0;
  frix_status status = fx_file_read(context, path, limit.max_file_bytes, &bytes, &count);
  if (status) return status;
  const fx_format *format = by_content(path, bytes, count);
  fx_draft draft;
  fx_draft_init(&draft, context, path, limit.max_bytes);
  if (count == 0)
    status = fx_fail(context, FRIX_ERROR_FORMAT, "%s: is empty", path);
  else if (!format->read_guess)
    status = fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: a %s file holds no solution; use .json or .hdf5", path,
                     format->info.name);
  else
    status = format->read_guess(&draft, bytes, count, data.row_count, r);
  fx_draft_free(&draft);
  fx_free(context, bytes);
  return status;
}
