/* What a person sees: messages, aligned tables, colour and a progress line on terminals only. */
#include "app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool terminal_with_colour(int descriptor) {
  const char *term = getenv("TERM"), *refused = getenv("NO_COLOR");
  return isatty(descriptor) && !(refused && refused[0]) && !(term && !strcmp(term, "dumb"));
}

/* ---- messages */

static void message(const char *kind, const char *format, va_list list) {
  char text[2048];
  vsnprintf(text, sizeof text, format, list);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127) *c = '?';
  fx_progress_clear();
  fflush(stdout);
  bool colour = terminal_with_colour(STDERR_FILENO);
  fprintf(stderr, "%sfrix:%s %s%s\n", colour ? "\033[1m" : "", colour ? "\033[0m" : "", kind, text);
}

void fx_error(const char *format, ...) {
  va_list list;
  va_start(list, format);
  message("", format, list);
  va_end(list);
}

void fx_remark(const char *format, ...) {
  va_list list;
  va_start(list, format);
  message("note: ", format, list);
  va_end(list);
}

void fx_warning(const char *format, ...) {
  va_list list;
  va_start(list, format);
  message("warning: ", format, list);
  va_end(list);
}

/* ---- colour and tables */

const char *fx_colour_on(fx_colour colour) {
  static const char *const code[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
  return terminal_with_colour(STDOUT_FILENO) ? code[colour] : "";
}

const char *fx_colour_off(void) { return terminal_with_colour(STDOUT_FILENO) ? "\033[0m" : ""; }

int fx_text_width(const char *text) {
  int width = 0;
  for (; *text; text++) width += (*text & 0xc0) != 0x80;
  return width;
}

static void put_cell(const char *text, int width, bool left, bool last) {
  int pad = width - fx_text_width(text);
  if (pad < 0) pad = 0;
  if (!left) printf("%*s", pad, "");
  for (const char *c = text; *c; c++) putchar((unsigned char)*c < 32 || *c == 127 ? '?' : *c);
  if (left && !last) printf("%*s", pad, "");
}

void fx_table_header(fx_column *column, int count) {
  for (int k = 0; k < count; k++) {
    int width = fx_text_width(column[k].title);
    if (column[k].width < width) column[k].width = width;
  }
  printf("%s", fx_colour_on(FX_BOLD));
  while (count > 1 && !column[count - 1].title[0]) count--; /* no blanks at the end of a line */
  for (int k = 0; k < count; k++) {
    if (k) printf("  ");
    put_cell(column[k].title, column[k].width, column[k].left, k == count - 1);
  }
  printf("%s\n", fx_colour_off());
}

void fx_table_row(const fx_column *column, const fx_cell *cell, int count) {
  int last = count - 1; /* no blanks at the end of a line */
  while (last > 0 && !cell[last].text[0]) last--;
  for (int k = 0; k <= last; k++) {
    if (k) printf("  ");
    if (cell[k].colour) printf("%s", fx_colour_on(cell[k].colour));
    put_cell(cell[k].text, column[k].width, column[k].left, k == last);
    if (cell[k].colour) printf("%s", fx_colour_off());
  }
  printf("\n");
}

void fx_cell_set(fx_cell *cell, fx_colour colour, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(cell->text, sizeof cell->text, format, list);
  va_end(list);
  cell->colour = colour;
}

void fx_format_seconds(double seconds, char *out, size_t size) {
  if (seconds < 1e-3) {
    snprintf(out, size, "%.1f us", seconds * 1e6);
  } else if (seconds < 1) {
    snprintf(out, size, "%.2f ms", seconds * 1e3);
  } else {
    snprintf(out, size, "%.2f s", seconds);
  }
}

/* ---- progress */

/* Whether a line is standing; solves report from one thread at a time (verb_solve.c holds the lock). */
static bool progress_shown;

bool fx_progress_wanted(void) { return terminal_with_colour(STDERR_FILENO); }

void fx_progress(const char *format, ...) {
  if (!fx_progress_wanted()) return;
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fflush(stdout);
  fprintf(stderr, "\r\033[2m%.100s\033[0m\033[K", text);
  fflush(stderr);
  progress_shown = true;
}

void fx_progress_clear(void) {
  if (!progress_shown) return;
  fprintf(stderr, "\r\033[K");
  fflush(stderr);
  progress_shown = false;
}

bool fx_output_alive(int *reason) {
  static int first_reason; /* the flush that failed knows why; later ones only that */
  errno = 0;
  bool alive = fflush(stdout) == 0 && !ferror(stdout);
  if (!alive && errno && !first_reason) first_reason = errno;
  if (reason) *reason = first_reason;
  return alive;
}
