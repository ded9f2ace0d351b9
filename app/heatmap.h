/* Heat maps as SVG: an image of colour indices (a PNG inside the SVG, so that a map stays small), and its colour bar.
 */
#ifndef FX_APP_HEATMAP_H
#define FX_APP_HEATMAP_H

#include <stdio.h>

typedef enum fx_palette { FX_PALETTE_COUNT, FX_PALETTE_ERROR } fx_palette;

/* Index of what has no value: drawn in a grey of its own. */
enum { FX_HEAT_LEVELS = 255, FX_HEAT_NONE = 255 };

typedef struct fx_heat_scale {
  fx_palette palette;
  double low, high; /* on a logarithmic scale */
} fx_heat_scale;

/* Colour index of a value, clipped to the scale. */
unsigned char fx_heat_index(const fx_heat_scale *scale, double value);
/* Colour of an index as "#rrggbb". */
void fx_heat_colour(fx_palette palette, int index, char out[8]);

/* columns x rows indices, row 0 at the bottom, stretched over a rectangle. */
void fx_heat_image(FILE *file, double x, double y, double width, double height, fx_palette palette, int columns,
                   int rows, const unsigned char *index);
/* A vertical bar with ticks at powers of ten (also at 2 and 5 where there is room) and a label. */
void fx_heat_bar(FILE *file, double x, double y, double height, const fx_heat_scale *scale, const char *label);

#endif
