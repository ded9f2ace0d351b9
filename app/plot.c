/* Profiles as SVG (Dolan and Moré 2002): step curves, the share of problems whose value is at or below x. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

/* The picture, in pixels; the legend stands right of the axes. */
enum { WIDTH = 900, HEIGHT = 460, LEFT = 74, RIGHT = 650, TOP = 70, BOTTOM = 390, LEGEND = 676 };

static double place_x(const fx_plot *p, double value) {
  double position = (log10(value) - p->low) / (p->high - p->low);
  return LEFT + (RIGHT - LEFT) * fmin(fmax(position, 0), 1);
}

static double place_y(double share) { return BOTTOM - (BOTTOM - TOP) * share; }

/* ---- axes */

static void draw_axes(FILE *file, const fx_plot *p) {
  int step = p->high - p->low > 10 ? 2 : 1;
  for (int e = p->low; e <= p->high; e++) {
    double x = place_x(p, pow(10, e));
    bool major = (e - p->low) % step == 0;
    fprintf(file, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", x, TOP, x, BOTTOM);
    if (major) fx_svg_power(file, x, BOTTOM + 20, "middle", e, p->ratio);
  }
  for (int k = 0; k <= 5; k++) {
    char text[16];
    double y = place_y(k / 5.0);
    snprintf(text, sizeof text, "%d %%", 20 * k);
    fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT, y, RIGHT, y);
    fx_svg_text(file, LEFT - 10, y + 4, "class=\"tick\" text-anchor=\"end\"", text);
  }
  fprintf(file, "<path d=\"M%d %dV%dH%d\" class=\"axis\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
  fx_svg_text(file, (LEFT + RIGHT) / 2.0, BOTTOM + 46, "class=\"label\" text-anchor=\"middle\"", p->x_label);
  fprintf(file,
          "<text transform=\"translate(22 %d) rotate(-90)\" class=\"label\" text-anchor=\"middle\">"
          "share of problems</text>\n",
          (TOP + BOTTOM) / 2);
  if (p->mark > 0) {
    double x = place_x(p, p->mark);
    fprintf(file, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"mark\"/>\n", x, TOP, x, BOTTOM);
    fx_svg_text(file, x + 5, BOTTOM - 8, "class=\"tick\"", p->mark_text);
  }
}

/* ---- curves */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void draw_curve(FILE *file, const fx_plot *p, int k) {
  const fx_series *s = &p->series[k];
  int n = p->value_count;
  double *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  if (!sorted) return; /* a curve less */
  if (n) memcpy(sorted, s->value, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, ascending);
  double edge = pow(10, p->high);
  double counted = p->mark > 0 ? p->mark : edge; /* what the legend counts */
  int reached = 0;
  fprintf(file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" stroke-linejoin=\"round\"%s d=\"M%d %d",
          fx_svg_colour(k), s->dashed ? " stroke-dasharray=\"7 4\"" : "", LEFT, BOTTOM);
  for (int i = 0; i < n && sorted[i] <= edge; i++) {
    if (sorted[i] <= counted) reached = i + 1;
    if (i + 1 < n && sorted[i + 1] == sorted[i]) continue;
    fprintf(file, "H%.1fV%.1f", place_x(p, sorted[i]), place_y((double)(i + 1) / n));
  }
  fprintf(file, "H%d\"/>\n", RIGHT);
  free(sorted);
  char text[160];
  double y = TOP + 14 + 24.0 * k;
  fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2.6\"%s/>\n", LEGEND, y,
          LEGEND + 28, y, fx_svg_colour(k), s->dashed ? " stroke-dasharray=\"7 4\"" : "");
  snprintf(text, sizeof text, "%s%s, %d/%d", s->name, s->dashed ? " (approximate)" : "", reached, n);
  fx_svg_text(file, LEGEND + 36, y + 4, "class=\"legend\"", text);
}

void fx_plot_write(FILE *file, const fx_plot *p) {
  int legend_bottom = TOP + 24 * p->series_count + 20;
  int height = legend_bottom > HEIGHT ? legend_bottom : HEIGHT;
  fx_svg_begin(file, WIDTH, height, LEFT, p->title, p->subtitle);
  draw_axes(file, p);
  for (int k = p->series_count - 1; k >= 0; k--) draw_curve(file, p, k); /* the first method on top */
  fx_svg_end(file);
}
