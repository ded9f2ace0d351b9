/* Tables of runs in files. Numbers are written so that they read back as they are. */
#include "batch_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fx_batch_table_free(fx_batch_table *table) {
  free(table->cell);
  *table = (fx_batch_table){.row_count = 0};
}

double *fx_batch_table_add(fx_batch_table *table) {
  if (table->row_count == table->room) {
    int64_t room = table->room ? 2 * table->room : 64;
    double *grown = realloc(table->cell, (size_t)room * (size_t)table->column_count * sizeof *grown);
    if (!grown) {
      fx_error("no memory for %lld runs", (long long)room);
      return NULL;
    }
    table->cell = grown, table->room = room;
  }
  return table->cell + table->row_count++ * table->column_count;
}

/* ---- reading */

static bool read_head(fx_batch_table *t, char *line) {
  for (char *word = strtok(line, ",\n"); word; word = strtok(NULL, ",\n")) {
    if (t->column_count == FX_BATCH_COLUMNS || strlen(word) >= sizeof t->name[0]) return false;
    strcpy(t->name[t->column_count++], word);
  }
  return t->column_count > 0 && !strcmp(t->name[0], "run");
}

/* False where the line does not hold as many numbers as there are columns. */
static bool read_row(const fx_batch_table *t, const char *line, double *cell) {
  for (int k = 0; k < t->column_count; k++) {
    char *end;
    cell[k] = strtod(line, &end);
    if (end == line || *end != (k + 1 < t->column_count ? ',' : '\n')) return false;
    line = end + 1;
  }
  return true;
}

bool fx_batch_table_read(const char *path, fx_batch_table *out) {
  char line[4096];
  *out = (fx_batch_table){.row_count = 0};
  FILE *file = fopen(path, "r");
  if (!file) {
    fx_error("%s: %s", path, strerror(errno));
    return false;
  }
  bool good = fgets(out->settings, sizeof out->settings, file) && !strncmp(out->settings, "# frix batch ", 13) &&
              fgets(line, sizeof line, file) && read_head(out, line);
  if (good) out->settings[strcspn(out->settings, "\n")] = 0;
  if (!good) fx_error("%s: not a table of frix batch", path);
  while (good && fgets(line, sizeof line, file)) {
    double *cell = fx_batch_table_add(out);
    if (!cell) {
      good = false;
    } else if (!read_row(out, line, cell)) {
      out->row_count--;
      break; /* a run that was killed while it wrote */
    }
  }
  fclose(file);
  if (!good) fx_batch_table_free(out);
  return good;
}

/* ---- writing */

void fx_batch_table_print(FILE *file, const fx_batch_table *table, int64_t first) {
  if (first == 0) {
    fprintf(file, "%s\n", table->settings);
    for (int k = 0; k < table->column_count; k++) fprintf(file, "%s%s", k ? "," : "", table->name[k]);
    fputc('\n', file);
  }
  for (int64_t row = first; row < table->row_count; row++)
    for (int k = 0; k < table->column_count; k++)
      fprintf(file, "%s%.17g%s", k ? "," : "", table->cell[row * table->column_count + k],
              k + 1 == table->column_count ? "\n" : "");
}

static int by_run(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void fx_batch_table_sort(fx_batch_table *table) {
  if (table->row_count)
    qsort(table->cell, (size_t)table->row_count, (size_t)table->column_count * sizeof *table->cell, by_run);
}

static bool write_npz(frix_context *context, const char *path, const fx_batch_table *t) {
  frix_column column[FX_BATCH_COLUMNS];
  size_t rows = (size_t)t->row_count;
  double *value = malloc((rows * (size_t)t->column_count + 1) * sizeof *value);
  if (!value) {
    fx_error("no memory for the columns of %s", path);
    return false;
  }
  for (int k = 0; k < t->column_count; k++) {
    for (size_t row = 0; row < rows; row++)
      value[(size_t)k * rows + row] = t->cell[row * (size_t)t->column_count + (size_t)k];
    column[k] = (frix_column){t->name[k], value + (size_t)k * rows};
  }
  bool good = frix_columns_write(context, path, column, t->column_count, t->row_count) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(context));
  free(value);
  return good;
}

bool fx_batch_table_write(frix_context *context, const char *path, const fx_batch_table *table) {
  size_t length = strlen(path);
  if (length > 4 && !strcmp(path + length - 4, ".npz")) return write_npz(context, path, table);
  frix_output *output = NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory) fx_batch_table_print(memory, table, 0);
  bool good = memory && !fclose(memory) && frix_output_open(context, path, &output) == FRIX_OK;
  if (good) good = frix_output_write(output, text, size) == FRIX_OK;
  if (frix_output_close(output, good) != FRIX_OK) good = false;
  if (!good) fx_error("%s: %s", path, frix_error_text(context));
  free(text);
  return good;
}
