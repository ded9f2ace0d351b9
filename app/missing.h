/* What a scene file asks for and frix does not do: kept from the reading of the file to the summary, the JSON, the file
 * of a run and the exit code. */
#ifndef FX_MISSING_H
#define FX_MISSING_H

#include "app.h"

typedef struct fx_missing_row {
  char *name, *text, *file; /* file: where it was met first */
  int32_t line, count;
  bool changes; /* it changes the motion; otherwise it tunes what is exact here */
} fx_missing_row;

typedef struct fx_missing {
  fx_missing_row *row;
  int32_t row_count;
  bool from_file; /* the world is from a file; a scene of frix's own lacks nothing */
  bool allowed;   /* --allow-missing */
  int32_t moving; /* bodies that can move, of a world from a file */
} fx_missing;

#define FX_MISSING_FLAG \
  { "--allow-missing", NULL, NULL, "exit with 0 although the file uses unsupported features; they are still listed" }

/* Of a file that was read. */
fx_missing fx_missing_of(const frix_mjcf_info *info, bool allowed);
/* Of the text about a run, as fx_missing_put wrote it there. */
fx_missing fx_missing_read(const char *meta);
void fx_missing_free(fx_missing *missing);

/* "ignored": [{"name", "kind", "text", "file", "line", "count"}...], "missing_allowed", "moving_bodies" */
void fx_missing_put(fx_json *json, const fx_missing *missing);
/* Lines of a summary whose names take up `width`; nothing where nothing is missing. */
void fx_missing_print(const fx_missing *missing, int width);
/* The exit code of work that ended with `code`: FX_EXIT_MISSING in place of FX_EXIT_SOLVED where the file asks for
 * more, or for a world in which nothing can move, and this was not allowed. */
int fx_missing_code(const fx_missing *missing, int code);

/* A JSON string at *at, which begins with its quote, as fx_put_text wrote it; NULL when there is none. Free it. */
char *fx_read_json_text(const char **at);

#endif
