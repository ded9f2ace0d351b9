/* Charts as SVG: curves and points over linear or logarithmic axes. */
#ifndef FX_APP_CHART_H
#define FX_APP_CHART_H

#include <stdbool.h>
#include <stdio.h>

typedef enum fx_curve_style { FX_CURVE_LINE, FX_CURVE_DASHED, FX_CURVE_POINTS, FX_CURVE_BOTH } fx_curve_style;

typedef struct fx_curve {
  const char *name; /* NULL: the colour and legend line of the curve before */
  const double *x, *y;
  int count; /* a point that is not finite breaks the line */
  fx_curve_style style;
} fx_curve;

typedef struct fx_chart {
  const char *title, *subtitle, *x_label, *y_label;
  bool log_x, log_y;
  bool equal;                          /* the same scale along x and y */
  bool from_zero;                      /* the y axis begins at zero */
  double x_low, x_high, y_low, y_high; /* limits; both equal: those of the curves */
  double mark;                         /* a horizontal line with mark_text; mark_text NULL: none */
  const char *mark_text;
  const fx_curve *curve;
  int curve_count;
} fx_chart;

void fx_chart_write(FILE *file, const fx_chart *chart);

#endif
