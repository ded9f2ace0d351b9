/* What frix measure found, as sheets: tables of numbers with named columns, one writer per format. */
#ifndef FX_APP_MEASURE_H
#define FX_APP_MEASURE_H

#include "app.h"
#include "grains.h"

typedef struct fx_sheet {
  const char *name;          /* "series": also the ending of its files */
  const char *const *column; /* names, up to a NULL */
  int columns;
  double *value; /* row by row */
  int64_t rows, room;
} fx_sheet;

void fx_sheet_new(fx_sheet *sheet, const char *name, const char *const *column);
void fx_sheet_add(fx_sheet *sheet, const double *row);
void fx_sheet_free(fx_sheet *sheet);
/* A column by name, to be freed; NULL where there is none. */
double *fx_sheet_column(const fx_sheet *sheet, const char *name);

enum { FX_SHEET_SERIES, FX_SHEET_GRID, FX_SHEET_FORCES, FX_SHEET_CORRELATION, FX_SHEET_GRAINS, FX_SHEETS };

/* All that is found in the frames of a run. */
typedef struct fx_measured {
  const char *path;
  fx_grid grid, whole; /* whole: the region as one cell */
  fx_state cells, mean;
  fx_forces forces;
  fx_pairs pairs;
  bool correlated;
  fx_motion motion;
  fx_slope slope; /* of the last moment */
  double diameter;
  int dim, frames;
  double first_time, last_time;
  frix_energy first, last; /* ledger of the first and last frame */
  fx_sheet sheet[FX_SHEETS];
} fx_measured;

/* measure_sheets.c */
void fx_measured_begin(fx_measured *m);
/* A row of the series: one moment with forces, or without (has_forces false: the start of a run). */
void fx_measured_moment(fx_measured *m, const fx_grains *grains, bool has_forces);
/* Sheets of what was summed up; grains: the last moment. */
void fx_measured_finish(fx_measured *m, const fx_grains *grains);
void fx_measured_free(fx_measured *m);

/* measure_write.c: the files PREFIX_SHEET.EXTENSION of a format; false after a message. */
bool fx_measured_write(const fx_measured *m, frix_context *context, const char *format, const char *prefix);
/* Whether they can be written, before work begins. */
bool fx_measured_check(frix_context *context, const char *format, const char *prefix);
void fx_measured_json(const fx_measured *m);
void fx_measured_print(const fx_measured *m);

#endif
