/* Charts as SVG. */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "svg.h"

/* The picture, in pixels; the legend stands right of the axes. */
enum { WIDTH = 960, HEIGHT = 460, LEFT = 84, RIGHT = 650, TOP = 70, BOTTOM = 390, LEGEND = 672 };

typedef struct axis {
  double low, high; /* in the axis' own measure: powers of ten where it is logarithmic */
  bool log;
} axis;

static double measure(const axis *a, double value) { return a->log ? log10(value) : value; }

static bool shown(const fx_chart *c, double x, double y) {
  return isfinite(x) && isfinite(y) && (!c->log_x || x > 0) && (!c->log_y || y > 0);
}

/* ---- limits */

static void include(axis *a, double value) {
  value = measure(a, value);
  a->low = fmin(a->low, value);
  a->high = fmax(a->high, value);
}

/* From data limits to those of the axis: a little room, whole powers where it is logarithmic. */
static void settle(axis *a, double low, double high, bool from_zero) {
  if (low != high) {
    *a = (axis){measure(a, low), measure(a, high), a->log};
    return;
  }
  if (!(a->low <= a->high)) a->low = 0, a->high = 1;
  if (a->log) {
    a->low = floor(a->low + 1e-9), a->high = ceil(a->high - 1e-9);
    if (a->low == a->high) a->high += 1;
    return;
  }
  if (from_zero && a->low > 0) a->low = 0;
  double room = 0.04 * (a->high - a->low);
  if (room == 0) room = fabs(a->low) > 0 ? 0.1 * fabs(a->low) : 1;
  if (!from_zero || a->low < 0) a->low -= room;
  a->high += room;
}

static void find_limits(const fx_chart *c, axis *x, axis *y) {
  *x = (axis){INFINITY, -INFINITY, c->log_x};
  *y = (axis){INFINITY, -INFINITY, c->log_y};
  for (int k = 0; k < c->curve_count; k++)
    for (int i = 0; i < c->curve[k].count; i++) {
      if (!shown(c, c->curve[k].x[i], c->curve[k].y[i])) continue;
      include(x, c->curve[k].x[i]);
      include(y, c->curve[k].y[i]);
    }
  if (c->mark_text && (!c->log_y || c->mark > 0)) include(y, c->mark);
  settle(x, c->x_low, c->x_high, false);
  settle(y, c->y_low, c->y_high, c->from_zero);
  if (!c->equal) return;
  double scale = fmin((RIGHT - LEFT) / (x->high - x->low), (BOTTOM - TOP) / (y->high - y->low));
  double wide = 0.5 * ((RIGHT - LEFT) / scale - (x->high - x->low));
  double high = (BOTTOM - TOP) / scale - (y->high - y->low);
  x->low -= wide, x->high += wide, y->high += high;
}

static double place_x(const axis *a, double value) {
  return LEFT + (RIGHT - LEFT) * (measure(a, value) - a->low) / (a->high - a->low);
}

static double place_y(const axis *a, double value) {
  return BOTTOM - (BOTTOM - TOP) * (measure(a, value) - a->low) / (a->high - a->low);
}

/* ---- axes */

/* 1, 2 or 5 times a power of ten: five to ten of them in the range. */
static double tick_step(const axis *a) {
  double rough = (a->high - a->low) / 6, power = pow(10, floor(log10(rough))), part = rough / power;
  return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

static void draw_tick(FILE *file, const axis *a, double value, bool along_x, double step) {
  double at = a->log ? pow(10, value) : value, p = along_x ? place_x(a, at) : place_y(a, at);
  double x = along_x ? p : LEFT - 10, y = along_x ? BOTTOM + 20 : p + 4;
  const char *anchor = along_x ? "middle" : "end";
  if (along_x)
    fprintf(file, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", p, TOP, p, BOTTOM);
  else
    fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT, p, RIGHT, p);
  if (a->log) return fx_svg_power(file, x, y, anchor, (int)lround(value), a->low > -3);
  char text[32], attributes[64];
  if (fabs(value) < 1e-9 * step) value = 0;
  snprintf(text, sizeof text, "%s%g", value < 0 ? "\xe2\x88\x92" : "", fabs(value));
  snprintf(attributes, sizeof attributes, "class=\"tick\" text-anchor=\"%s\"", anchor);
  fx_svg_text(file, x, y, attributes, text);
}

static void draw_axis(FILE *file, const axis *a, bool along_x) {
  double step = a->log ? ceil((a->high - a->low) / 10) : tick_step(a);
  for (double k = ceil(a->low / step - 1e-9); k * step <= a->high + 1e-9 * step; k++)
    draw_tick(file, a, k * step, along_x, step);
}

static void draw_frame(FILE *file, const fx_chart *c, const axis *x, const axis *y) {
  draw_axis(file, x, true);
  draw_axis(file, y, false);
  fprintf(file, "<path d=\"M%d %dV%dH%d\" class=\"axis\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
  fx_svg_text(file, (LEFT + RIGHT) / 2.0, BOTTOM + 46, "class=\"label\" text-anchor=\"middle\"", c->x_label);
  fprintf(file, "<g transform=\"translate(22 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
  fx_svg_text(file, 0, 0, "class=\"label\" text-anchor=\"middle\"", c->y_label);
  fputs("</g>\n", file);
  if (!c->mark_text) return;
  double p = place_y(y, c->mark);
  fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"mark\"/>\n", LEFT, p, RIGHT, p);
  fx_svg_text(file, RIGHT - 6, p - 6, "class=\"tick\" text-anchor=\"end\"", c->mark_text);
}

/* ---- curves */

static void draw_line(FILE *file, const fx_chart *c, const fx_curve *curve, const axis *x, const axis *y,
                      const char *colour) {
  bool open = false;
  fprintf(file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\"%s d=\"", colour,
          curve->style == FX_CURVE_DASHED ? " stroke-dasharray=\"7 4\"" : "");
  for (int i = 0; i < curve->count; i++) {
    bool good = shown(c, curve->x[i], curve->y[i]);
    if (good) fprintf(file, "%s%.1f %.1f", open ? "L" : "M", place_x(x, curve->x[i]), place_y(y, curve->y[i]));
    open = good;
  }
  fputs("\"/>\n", file);
}

static void draw_curve(FILE *file, const fx_chart *c, const fx_curve *curve, const axis *x, const axis *y, int colour) {
  const char *paint = fx_svg_colour(colour);
  if (curve->style != FX_CURVE_POINTS) draw_line(file, c, curve, x, y, paint);
  if (curve->style != FX_CURVE_POINTS && curve->style != FX_CURVE_BOTH) return;
  double radius = curve->count > 200 ? 1.6 : 3.2;
  for (int i = 0; i < curve->count; i++)
    if (shown(c, curve->x[i], curve->y[i]))
      fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", place_x(x, curve->x[i]),
              place_y(y, curve->y[i]), radius, paint);
}

static void draw_legend(FILE *file, const fx_curve *curve, int line) {
  double y = TOP + 14 + 22.0 * line;
  const char *colour = fx_svg_colour(line);
  if (curve->style == FX_CURVE_POINTS)
    fprintf(file, "<circle cx=\"%d\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n", LEGEND + 13, y, colour);
  else
    fprintf(file, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2.4\"%s/>\n", LEGEND,
            y, LEGEND + 26, y, colour, curve->style == FX_CURVE_DASHED ? " stroke-dasharray=\"7 4\"" : "");
  fx_svg_text(file, LEGEND + 34, y + 4, "class=\"legend\"", curve->name);
}

void fx_chart_write(FILE *file, const fx_chart *c) {
  axis x, y;
  find_limits(c, &x, &y);
  fx_svg_begin(file, WIDTH, HEIGHT, LEFT, c->title, c->subtitle);
  draw_frame(file, c, &x, &y);
  fprintf(file, "<clipPath id=\"area\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT - 4,
          TOP - 4, RIGHT - LEFT + 8, BOTTOM - TOP + 8);
  int colour = -1;
  for (int k = 0; k < c->curve_count; k++) {
    if (c->curve[k].name) draw_legend(file, &c->curve[k], ++colour);
    fputs("<g clip-path=\"url(#area)\">\n", file);
    draw_curve(file, c, &c->curve[k], &x, &y, colour < 0 ? 0 : colour);
    fputs("</g>\n", file);
  }
  fx_svg_end(file);
}
