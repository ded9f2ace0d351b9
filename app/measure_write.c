/* Sheets as CSV, NPZ, VTK and SVG, and the summary of what was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "measure.h"

static const char *const sheet_name[FX_SHEETS] = {"series", "grid", "forces", "correlation", "grains"};

/* Whether a format shows a sheet. */
static bool shows(const char *format, int sheet) {
  if (!strcmp(format, "vtk")) return sheet == FX_SHEET_GRID || sheet == FX_SHEET_GRAINS;
  return strcmp(format, "svg") != 0 || sheet != FX_SHEET_GRAINS;
}

static char *path_of(const char *prefix, int sheet, const char *format) {
  char ending[64];
  snprintf(ending, sizeof ending, "_%s.%s", sheet_name[sheet], format);
  return fx_join(prefix, ending);
}

bool fx_measured_check(frix_context *context, const char *format, const char *prefix) {
  bool good = true;
  for (int k = 0; k < FX_SHEETS && good; k++) {
    if (!shows(format, k)) continue;
    char *path = path_of(prefix, k, format);
    good = fx_check_output(context, path);
    free(path);
  }
  return good;
}

/* ---- CSV, NPZ */

static void write_csv(FILE *file, const fx_sheet *s) {
  for (int k = 0; k < s->columns; k++) fprintf(file, "%s%s", k ? "," : "", s->column[k]);
  putc('\n', file);
  for (int64_t row = 0; row < s->rows; row++)
    for (int k = 0; k < s->columns; k++) {
      double value = s->value[row * s->columns + k];
      if (isfinite(value)) fprintf(file, "%.9g", value);
      putc(k < s->columns - 1 ? ',' : '\n', file);
    }
}

static bool write_npz(frix_context *context, const char *path, const fx_sheet *s) {
  frix_column *column = fx_grow(NULL, (size_t)s->columns, sizeof *column);
  for (int k = 0; k < s->columns; k++) column[k] = (frix_column){s->column[k], fx_sheet_column(s, s->column[k])};
  bool good = frix_columns_write(context, path, column, s->columns, s->rows) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(context));
  for (int k = 0; k < s->columns; k++) free((void *)column[k].value);
  free(column);
  return good;
}

/* ---- VTK, legacy format, ASCII */

static void vtk_number(FILE *file, double value) { fprintf(file, "%.9g\n", isfinite(value) ? value : 0.0); }

static void vtk_column(FILE *file, const fx_sheet *s, int k) {
  fprintf(file, "SCALARS %s double 1\nLOOKUP_TABLE default\n", s->column[k]);
  for (int64_t row = 0; row < s->rows; row++) vtk_number(file, s->value[row * s->columns + k]);
}

static void vtk_grid(FILE *file, const fx_measured *m) {
  const fx_grid *grid = &m->grid;
  const fx_sheet *s = &m->sheet[FX_SHEET_GRID];
  fprintf(file, "# vtk DataFile Version 3.0\nfrix measure\nASCII\nDATASET RECTILINEAR_GRID\nDIMENSIONS %d %d %d\n",
          (int)grid->cells[0] + 1, (int)grid->cells[1] + 1, (int)grid->cells[2] + 1);
  for (int a = 0; a < 3; a++) {
    double low = grid->region.low[a], high = grid->region.high[a];
    if (grid->region.round && a == 1) low = 0, high = 0; /* a half plane: x is the radius */
    fprintf(file, "%c_COORDINATES %d double\n", "XYZ"[a], (int)grid -> cells[a] + 1);
    for (int32_t k = 0; k <= grid->cells[a]; k++) vtk_number(file, low + (high - low) * k / grid->cells[a]);
  }
  fprintf(file, "CELL_DATA %lld\n", (long long)s->rows);
  for (int k = 6; k < s->columns; k++) vtk_column(file, s, k);
}

static void vtk_grains(FILE *file, const fx_measured *m) {
  const fx_sheet *s = &m->sheet[FX_SHEET_GRAINS];
  fprintf(file, "# vtk DataFile Version 3.0\nfrix measure\nASCII\nDATASET POLYDATA\nPOINTS %lld double\n",
          (long long)s->rows);
  for (int64_t row = 0; row < s->rows; row++) {
    const double *p = s->value + row * s->columns;
    fprintf(file, "%.9g %.9g %.9g\n", p[0], p[1], p[2]);
  }
  fprintf(file, "VERTICES %lld %lld\n", (long long)s->rows, 2 * (long long)s->rows);
  for (int64_t row = 0; row < s->rows; row++) fprintf(file, "1 %lld\n", (long long)row);
  fprintf(file, "POINT_DATA %lld\n", (long long)s->rows);
  for (int k = 3; k < s->columns; k++) vtk_column(file, s, k);
}

/* ---- SVG */

/* One or two columns of a sheet over another. */
static void draw(FILE *file, const fx_sheet *s, const char *x, const char *y, const char *z, fx_chart chart) {
  double *at = fx_sheet_column(s, x), *value = fx_sheet_column(s, y), *other = z ? fx_sheet_column(s, z) : NULL;
  for (int64_t k = 0; chart.log_y && k < s->rows; k++)
    if (!(value[k] > 0)) value[k] = NAN;
  fx_curve curve[] = {{y, at, value, (int)s->rows, FX_CURVE_BOTH}, {z, at, other, (int)s->rows, FX_CURVE_LINE}};
  chart.curve = curve, chart.curve_count = other ? 2 : 1;
  chart.y_label = chart.y_label ? chart.y_label : y;
  fx_chart_write(file, &chart);
  free(at);
  free(value);
  free(other);
}

/* Mean packing fraction of layers along the axis with most cells. */
static void draw_profile(FILE *file, const fx_measured *m) {
  static const char *const axis_name[] = {"x, m", "y, m", "z, m"};
  int axis = 0;
  for (int a = 1; a < 3; a++)
    if (m->grid.cells[a] >= m->grid.cells[axis] && m->grid.cells[a] > 1) axis = a;
  int32_t count = m->grid.cells[axis];
  double *at = fx_grow(NULL, (size_t)count, sizeof *at), *solid = fx_grow(NULL, (size_t)count, sizeof *solid),
         *space = fx_grow(NULL, (size_t)count, sizeof *space), low[3], high[3];
  for (int32_t k = 0; k < count; k++) solid[k] = space[k] = 0;
  for (int32_t cell = 0; cell < m->cells.count; cell++) {
    int32_t step[3] = {1, m->grid.cells[0], m->grid.cells[0] * m->grid.cells[1]}, k = cell / step[axis] % count;
    fx_grain_cell c = fx_state_cell(&m->cells, &m->grid, cell);
    fx_grid_ends(&m->grid, cell, low, high);
    at[k] = 0.5 * (low[axis] + high[axis]);
    solid[k] += c.packing * c.volume, space[k] += c.volume;
  }
  for (int32_t k = 0; k < count; k++) solid[k] /= space[k];
  fx_curve curve = {"packing", at, solid, (int)count, FX_CURVE_BOTH};
  fx_chart chart = {.title = "Packing fraction of layers",
                    .subtitle = "mean over the frames",
                    .x_label = m->grid.region.round && axis == 0 ? "radius, m" : axis_name[axis],
                    .y_label = "packing fraction",
                    .from_zero = true,
                    .curve = &curve,
                    .curve_count = 1};
  fx_chart_write(file, &chart);
  free(at);
  free(solid);
  free(space);
}

static void write_svg(FILE *file, const fx_measured *m, int sheet) {
  const fx_sheet *s = &m->sheet[sheet];
  if (sheet == FX_SHEET_GRID)
    draw_profile(file, m);
  else if (sheet == FX_SHEET_SERIES)
    draw(file, s, "time", "packing", "rattlers",
         (fx_chart){.title = "Packing over time",
                    .subtitle = "of the region",
                    .x_label = "time, s",
                    .y_label = "share",
                    .from_zero = true});
  else if (sheet == FX_SHEET_FORCES)
    draw(file, s, "force", "density", NULL,
         (fx_chart){.title = "Distribution of normal forces",
                    .subtitle = "over the mean of each frame",
                    .x_label = "force over the mean",
                    .y_label = "probability density",
                    .log_y = true});
  else
    draw(file, s, "r", "radial", "two_point",
         (fx_chart){.title = "Correlations",
                    .subtitle = "radial: of centres; two_point: both points in grains",
                    .x_label = "r, m",
                    .y_label = "g(r), S2(r)",
                    .from_zero = true,
                    .mark = 1,
                    .mark_text = "no order"});
}

/* ---- all of a format */

static bool write_text(const fx_measured *m, frix_context *context, const char *format, const char *path, int k) {
  fx_output *out = fx_output_open(context, path);
  if (!out) return false;
  if (!strcmp(format, "csv"))
    write_csv(out->file, &m->sheet[k]);
  else if (!strcmp(format, "svg"))
    write_svg(out->file, m, k);
  else if (k == FX_SHEET_GRID)
    vtk_grid(out->file, m);
  else
    vtk_grains(out->file, m);
  return fx_output_close(out, true);
}

bool fx_measured_write(const fx_measured *m, frix_context *context, const char *format, const char *prefix) {
  bool good = true;
  for (int k = 0; k < FX_SHEETS && good; k++) {
    if (!shows(format, k) || m->sheet[k].rows == 0) continue;
    char *path = path_of(prefix, k, format);
    good = !strcmp(format, "npz") ? write_npz(context, path, &m->sheet[k]) : write_text(m, context, format, path, k);
    free(path);
  }
  return good;
}
