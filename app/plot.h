/* Profiles as SVG: for each method the share of problems at or below a value, on a logarithmic axis. */
#ifndef FX_APP_PLOT_H
#define FX_APP_PLOT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct fx_series {
  const char *name;
  const double *value; /* one per problem; infinite where the method failed */
  bool dashed;         /* approximate methods */
} fx_series;

typedef struct fx_plot {
  const char *title, *subtitle, *x_label;
  int low, high; /* axis from 10^low to 10^high */
  bool ratio;    /* ticks 1, 10, 100 instead of powers */
  double mark;   /* a vertical line with mark_text, 0: none */
  const char *mark_text;
  const fx_series *series;
  int series_count, value_count;
} fx_plot;

void fx_plot_write(FILE *file, const fx_plot *plot);

#endif
