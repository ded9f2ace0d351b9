/* Pictures of convergence domains: maps over the predictor plane with the geometry of the contact on top, and the
 * switch between sticking and sliding. */
#include "painleve.h"

#include <math.h>
#include <stdlib.h>

#include "app.h"
#include "heatmap.h"

/* In pixels. */
enum {
  PANEL_WIDTH = 230,
  PANEL_HEIGHT = 161,
  GAP_X = 26,
  GAP_Y = 48,
  LEFT = 72,
  TOP = 96,
  BAR_SPACE = 110,
  BOTTOM = 96
};

static const double degree = 3.14159265358979323846 / 180;

static void begin(FILE *file, int width, int height, const char *title, const char *subtitle) {
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
          "<style>text{font-family:system-ui,'DejaVu Sans',sans-serif;fill:#24292f}"
          ".title{font-size:18px;font-weight:600}.sub{font-size:12px;fill:#57606a}.label{font-size:12px}"
          ".tick{font-size:11px;fill:#57606a}.panel{font-size:12.5px;font-weight:600}.legend{font-size:12px}"
          ".under{fill:none;stroke:#111;stroke-opacity:.55;stroke-width:4;stroke-linecap:round}"
          ".normal{fill:none;stroke:#fff;stroke-width:2;stroke-linecap:round}"
          ".border{fill:none;stroke:#fff;stroke-width:1.4;stroke-dasharray:2 4}"
          ".cone{fill:none;stroke:#ffd400;stroke-width:1.8;stroke-dasharray:7 4}"
          ".set{fill:none;stroke:#ff3b30;stroke-width:2.6}.grid{stroke:#e6e8eb;stroke-width:1}"
          ".axis{fill:none;stroke:#57606a;stroke-width:1}.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}"
          ".mark{stroke:#57606a;stroke-width:1.2;stroke-dasharray:4 3}</style>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
          "<text x=\"%d\" y=\"34\" class=\"title\">%s</text>\n<text x=\"%d\" y=\"56\" class=\"sub\">%s</text>\n",
          width, height, width, height, width, height, LEFT, title, LEFT, subtitle);
}

/* ---- one panel */

typedef struct frame {
  double x, y; /* top left corner, pixels */
} frame;

static double place_x(frame f, double x) {
  return f.x + PANEL_WIDTH * (x - DOMAIN_LEFT) / (DOMAIN_RIGHT - DOMAIN_LEFT);
}
static double place_y(frame f, double y) {
  return f.y + PANEL_HEIGHT * (DOMAIN_TOP - y) / (DOMAIN_TOP - DOMAIN_BOTTOM);
}

/* A line of the plane, drawn twice so that it shows on light and on dark ground. */
static void line(FILE *file, frame f, double x0, double y0, double x1, double y1, const char *class) {
  double a = place_x(f, x0), b = place_y(f, y0), c = place_x(f, x1), d = place_y(f, y1);
  fprintf(file, "<path class=\"under\" d=\"M%.1f %.1fL%.1f %.1f\"/><path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
          a, b, c, d, class, a, b, c, d);
}

/* Normal, border of the feasible half space, friction set and the edges of the friction cone. */
static void draw_geometry(FILE *file, frame f, const domain *d, int id) {
  double s = sin(d->angle * degree), c = cos(d->angle * degree), far = 10;
  fprintf(file, "<clipPath id=\"c%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/></clipPath>\n", id, f.x,
          f.y, PANEL_WIDTH, PANEL_HEIGHT);
  fprintf(file, "<g clip-path=\"url(#c%d)\">\n", id);
  line(file, f, DOMAIN_LEFT, 0, DOMAIN_RIGHT, 0, "border");
  line(file, f, 0, 0, far * d->mu * s, far * (1 + d->mu * c), "cone");
  line(file, f, 0, 0, -far * d->mu * s, far * (1 - d->mu * c), "cone");
  double unit =
      0.35; /* the set alpha {t d : |t| <= mu} for a normal impulse alpha of this size, as long as the arrow */
  line(file, f, -unit * d->mu * s, -unit * d->mu * c, unit * d->mu * s, unit * d->mu * c, "set");
  line(file, f, 0, 0, 0, unit, "normal");
  line(file, f, -0.035, unit - 0.06, 0, unit, "normal");
  line(file, f, 0.035, unit - 0.06, 0, unit, "normal");
  fputs("</g>\n", file);
}

static void draw_axes(FILE *file, frame f, bool left, bool below) {
  fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"axis\"/>\n", f.x, f.y, PANEL_WIDTH,
          PANEL_HEIGHT);
  for (int k = -2; k <= 2; k++) {
    double x = place_x(f, 0.5 * k);
    fprintf(file, "<path d=\"M%.1f %.1fv4\" class=\"axis\"/>\n", x, f.y + PANEL_HEIGHT);
    if (below)
      fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\" text-anchor=\"middle\">%s%g</text>\n", x,
              f.y + PANEL_HEIGHT + 17, k < 0 ? "\xe2\x88\x92" : "", fabs(0.5 * k));
  }
  for (int k = 0; k <= 2; k++) {
    double y = place_y(f, 0.5 * k);
    fprintf(file, "<path d=\"M%.1f %.1fh-4\" class=\"axis\"/>\n", f.x, y);
    if (left)
      fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\" text-anchor=\"end\">%g</text>\n", f.x - 8, y + 4,
              0.5 * k);
  }
}

static void draw_panel(FILE *file, frame f, const domain *d, const fx_heat_scale *scale, const double *value, bool left,
                       bool below, int id) {
  size_t count = (size_t)d->columns * (size_t)d->rows;
  unsigned char *index = fx_grow(NULL, count, 1);
  for (size_t k = 0; k < count; k++) index[k] = fx_heat_index(scale, value[k]);
  fx_heat_image(file, f.x, f.y, PANEL_WIDTH, PANEL_HEIGHT, scale->palette, d->columns, d->rows, index);
  free(index);
  draw_geometry(file, f, d, id);
  draw_axes(file, f, left, below);
}

/* ---- legend */

static void legend(FILE *file, double y, double width, double limit) {
  static const struct {
    const char *class, *text;
  } row[] = {{"normal", "normal n"},
             {"border", "below: the contact opens"},
             {"set", "friction set, along d"},
             {"cone", "edges of the friction cone: between them it sticks"}};
  char grey[8], failed[64];
  snprintf(failed, sizeof failed, "not solved within %g iterations", limit);
  fx_heat_colour(FX_PALETTE_COUNT, FX_HEAT_NONE, grey);
  double x = LEFT;
  for (int k = 0; k < 5; k++) {
    const char *text = k < 4 ? row[k].text : failed;
    double needed = 64 + 6.6 * fx_text_width(text);
    if (x + needed > width && x > LEFT) {
      x = LEFT;
      y += 22;
    }
    if (k < 4)
      fprintf(file, "<path class=\"under\" d=\"M%.1f %.1fh26\"/><path class=\"%s\" d=\"M%.1f %.1fh26\"/>", x, y,
              row[k].class, x, y);
    else
      fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"12\" fill=\"%s\" stroke=\"#57606a\"/>", x, y - 6,
              grey);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"legend\">%s</text>\n", x + 34, y + 4, text);
    x += needed;
  }
}

/* ---- a figure */

/* The end of the scale: 1, 2 or 5 times a power of ten, at least 10. */
static double most_iterations(const domain *panel, int count) {
  double most = 10, end = 10;
  for (int p = 0; p < count; p++)
    for (int k = 0; k < panel[p].columns * panel[p].rows; k++)
      if (isfinite(panel[p].iterations[k])) most = fmax(most, panel[p].iterations[k]);
  for (int k = 0; end < most; k++) end *= k % 3 == 1 ? 2.5 : 2;
  return end;
}

void fx_domain_plot(FILE *file, const domain_figure *figure, const domain *panel, const domain_text *text) {
  int count = figure->mu_count * figure->angle_count, maps = figure->residual ? 2 : 1;
  int down = (count + figure->across - 1) / figure->across * maps;
  int inner_width = figure->across * (PANEL_WIDTH + GAP_X) - GAP_X,
      inner_height = down * (PANEL_HEIGHT + GAP_Y) - GAP_Y;
  int width = LEFT + inner_width + BAR_SPACE, height = TOP + inner_height + BOTTOM;
  char title[160], subtitle[240];
  snprintf(title, sizeof title, "Painlev\xc3\xa9's rod: iterations of %s over the predictor plane", text->solver);
  snprintf(subtitle, sizeof subtitle, "As figure %s of Kaufman 2009: %s. Certified residual %g.", figure->number,
           figure->subtitle, text->tolerance);
  begin(file, width, height, title, subtitle);

  fx_heat_scale scale[2] = {{FX_PALETTE_COUNT, 1, most_iterations(panel, count)}, {FX_PALETTE_ERROR, 1e-10, 1}};
  for (int k = 0; k < count; k++) {
    const domain *d = &panel[k];
    for (int map = 0; map < maps; map++) {
      int row = k / figure->across * maps + map, column = k % figure->across;
      frame f = {LEFT + column * (PANEL_WIDTH + GAP_X), TOP + row * (PANEL_HEIGHT + GAP_Y)};
      draw_panel(file, f, d, &scale[map], map ? d->residual : d->iterations, column == 0, row == down - 1,
                 k * maps + map);
      fprintf(file,
              "<text x=\"%.1f\" y=\"%.1f\" class=\"panel\">\xce\xbc = %g, \xce\xb8 = %g\xc2\xb0 "
              "<tspan font-weight=\"400\">(cos \xce\xb8 = %s%.2f)</tspan></text>\n",
              f.x, f.y - 8, d->mu, d->angle, cos(d->angle * degree) < 0 ? "\xe2\x88\x92" : "",
              fabs(cos(d->angle * degree)));
    }
  }
  double right = LEFT + inner_width + 24;
  int rows_per_bar = maps == 2 ? 1 : down;
  for (int map = 0; map < maps; map++)
    fx_heat_bar(file, right, TOP + map * (PANEL_HEIGHT + GAP_Y), rows_per_bar * (PANEL_HEIGHT + GAP_Y) - GAP_Y,
                &scale[map], map ? "residual" : "iterations");
  fprintf(file, "<text x=\"%.1f\" y=\"%d\" class=\"label\" text-anchor=\"middle\">p across the normal</text>\n",
          LEFT + inner_width / 2.0, TOP + inner_height + 36);
  fprintf(file,
          "<text transform=\"translate(26 %.1f) rotate(-90)\" class=\"label\" text-anchor=\"middle\">"
          "p along the normal (predictor velocity = \xe2\x88\x92p)</text>\n",
          TOP + inner_height / 2.0);
  legend(file, TOP + inner_height + 58, width, text->limit);
  fputs("</svg>\n", file);
}

/* ---- the switch */

enum { SWITCH_WIDTH = 240, SWITCH_HEIGHT = 230 };

static double switch_x(frame f, double mu) { return f.x + SWITCH_WIDTH * log(mu / 0.05) / log(60); }
static double switch_y(frame f, double value, double limit) {
  return f.y + SWITCH_HEIGHT * (1 - log(value) / log(limit));
}

static void switch_curve(FILE *file, frame f, const domain_switch *point, int count, bool inside, double limit) {
  bool open = false;
  fprintf(file, "<path class=\"curve\" stroke=\"%s\" d=\"", inside ? "#0072b2" : "#d55e00");
  for (int k = 0; k < count; k++) {
    double value = inside ? point[k].inside : point[k].outside;
    if (!isfinite(value)) continue;
    fprintf(file, "%c%.1f %.1f", open ? 'L' : 'M', switch_x(f, point[k].mu), switch_y(f, value, limit));
    open = true;
  }
  fprintf(file, "%s\"/>\n", open ? "" : "M0 0");
}

static void switch_axes(FILE *file, frame f, double limit, bool left) {
  static const double mu[] = {0.05, 0.1, 0.2, 0.5, 1, 2, 3}, level[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
  for (int k = 0; k < 7; k++)
    fprintf(file,
            "<path class=\"grid\" d=\"M%.1f %.1fv%d\"/><text x=\"%.1f\" y=\"%.1f\" class=\"tick\" "
            "text-anchor=\"middle\">%s</text>\n",
            switch_x(f, mu[k]), f.y, SWITCH_HEIGHT, switch_x(f, mu[k]), f.y + SWITCH_HEIGHT + 17,
            k == 0   ? "0.05"
            : k == 1 ? "0.1"
            : k == 2 ? "0.2"
            : k == 3 ? "0.5"
            : k == 4 ? "1"
            : k == 5 ? "2"
                     : "3");
  for (int k = 0; k < 9 && level[k] <= limit; k++) {
    double y = switch_y(f, level[k], limit);
    fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fh%d\"/>\n", f.x, y, SWITCH_WIDTH);
    if (left)
      fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\" text-anchor=\"end\">%g</text>\n", f.x - 8, y + 4,
              level[k]);
  }
  fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"axis\"/>\n", f.x, f.y, SWITCH_WIDTH,
          SWITCH_HEIGHT);
}

void fx_domain_switch_plot(FILE *file, const double *angle, int angle_count, const domain_switch *point, int count,
                           const domain_text *text) {
  int inner = angle_count * (SWITCH_WIDTH + GAP_X) - GAP_X, width = LEFT + inner + 30, bottom = TOP + SWITCH_HEIGHT;
  char title[160], subtitle[240];
  snprintf(title, sizeof title, "Painlev\xc3\xa9's rod: %s where it sticks and where it slides", text->solver);
  snprintf(subtitle, sizeof subtitle,
           "Mean iterations over directions of the predictor; failures count as %g. Certified residual %g.",
           text->limit, text->tolerance);
  begin(file, width, bottom + 84, title, subtitle);
  for (int a = 0; a < angle_count; a++) {
    frame f = {LEFT + a * (SWITCH_WIDTH + GAP_X), TOP};
    double cosine = fabs(cos(angle[a] * degree));
    switch_axes(file, f, text->limit, a == 0);
    fprintf(file, "<path class=\"mark\" d=\"M%.1f %.1fv%d\"/>\n", switch_x(f, cosine), f.y, SWITCH_HEIGHT);
    switch_curve(file, f, point + a * count, count, true, text->limit);
    switch_curve(file, f, point + a * count, count, false, text->limit);
    fprintf(file,
            "<text x=\"%.1f\" y=\"%.1f\" class=\"panel\">\xce\xb8 = %g\xc2\xb0 <tspan font-weight=\"400\">"
            "(|cos \xce\xb8| = %.2f, dashed)</tspan></text>\n",
            f.x, f.y - 8, angle[a], cosine);
  }
  fprintf(file, "<text x=\"%.1f\" y=\"%d\" class=\"label\" text-anchor=\"middle\">friction \xce\xbc</text>\n",
          LEFT + inner / 2.0, bottom + 38);
  fprintf(file,
          "<text transform=\"translate(26 %.1f) rotate(-90)\" class=\"label\" text-anchor=\"middle\">mean iterations"
          "</text>\n",
          TOP + SWITCH_HEIGHT / 2.0);
  fprintf(file,
          "<path class=\"curve\" stroke=\"#0072b2\" d=\"M%d %dh26\"/><text x=\"%d\" y=\"%d\" class=\"legend\">sticking "
          "(predictor inside the friction cone)</text>\n"
          "<path class=\"curve\" stroke=\"#d55e00\" d=\"M%d %dh26\"/><text x=\"%d\" y=\"%d\" class=\"legend\">sliding "
          "(outside)</text>\n",
          LEFT, bottom + 62, LEFT + 34, bottom + 66, LEFT + 330, bottom + 62, LEFT + 364, bottom + 66);
  fputs("</svg>\n", file);
}
