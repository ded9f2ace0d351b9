/* Convergence domains of Painleve's rod, between the measurement (reproduce_painleve.c) and its pictures
 * (painleve_plot.c). */
#ifndef FX_APP_PAINLEVE_H
#define FX_APP_PAINLEVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The part of the predictor plane that is shown. */
#define DOMAIN_LEFT (-1.0)
#define DOMAIN_RIGHT 1.0
#define DOMAIN_BOTTOM (-0.4)
#define DOMAIN_TOP 1.0

/* One solve at every point of a grid over that part; row 0 is the lowest. */
typedef struct domain {
  double angle, mu; /* degrees */
  int columns, rows;
  double *iterations; /* infinite where the limit was reached */
  double *residual;   /* certified */
} domain;

typedef struct domain_figure {
  const char *number; /* in the document */
  const char *subtitle;
  int across; /* panels in a row */
  int angle_count, mu_count;
  double angle[4], mu[6];
  bool residual; /* a second map for each panel */
} domain_figure;

/* Mean iterations over directions of the predictor, inside and outside the friction cone. */
typedef struct domain_switch {
  double mu, inside, outside;
} domain_switch;

typedef struct domain_text {
  const char *solver;
  double tolerance, limit; /* iterations */
} domain_text;

void fx_domain_plot(FILE *file, const domain_figure *figure, const domain *panel, const domain_text *text);
/* One panel per angle, count points each. */
void fx_domain_switch_plot(FILE *file, const double *angle, int angle_count, const domain_switch *point, int count,
                           const domain_text *text);

#endif
