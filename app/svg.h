/* What all pictures share: the SVG head, text, colours, tick marks. */
#ifndef FX_APP_SVG_H
#define FX_APP_SVG_H

#include <stdio.h>

/* The head with the common style and a white ground, up to title and subtitle at `left`. */
void fx_svg_begin(FILE *file, int width, int height, int left, const char *title, const char *subtitle);
void fx_svg_end(FILE *file);
/* Text at a point with attributes ("class=\"tick\""), escaped. */
void fx_svg_text(FILE *file, double x, double y, const char *attributes, const char *text);
/* 10 to a power as a tick label; plain: as a number while it is short. */
void fx_svg_power(FILE *file, double x, double y, const char *anchor, int exponent, int plain);
/* Colour k of a palette that is distinct for most eyes on light ground (after Okabe and Ito), repeating. */
const char *fx_svg_colour(int k);

#endif
