/* Tables of frix batch: one row per run, kept as CSV while they grow. */
#ifndef FX_BATCH_TABLE_H
#define FX_BATCH_TABLE_H

#include "app.h"

enum { FX_BATCH_COLUMNS = 32 };

typedef struct fx_batch_table {
  char settings[1024]; /* what was asked for: files that go together agree in it */
  int column_count;
  char name[FX_BATCH_COLUMNS][48];
  int64_t row_count, room;
  double *cell; /* row_count x column_count, the number of the run first */
} fx_batch_table;

void fx_batch_table_free(fx_batch_table *table);
/* Room for one more row, NULL after a message. */
double *fx_batch_table_add(fx_batch_table *table);
/* Reads a CSV that was written here; a last line that is cut short is left out. False after a message. */
bool fx_batch_table_read(const char *path, fx_batch_table *out);
/* Appends rows to an open file; the head with the first ones. */
void fx_batch_table_print(FILE *file, const fx_batch_table *table, int64_t first);
/* By the number of the run. */
void fx_batch_table_sort(fx_batch_table *table);
/* Writes it whole, as CSV or NPZ by its extension; false after a message. */
bool fx_batch_table_write(frix_context *context, const char *path, const fx_batch_table *table);

#endif
