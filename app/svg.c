/* What all pictures share. */
#include "svg.h"

#include <math.h>
#include <stdlib.h>

static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#7a5195", "#8a6d3b", "#444444", "#b3b300"};
enum { PALETTE_COUNT = sizeof palette / sizeof palette[0] };

const char *fx_svg_colour(int k) { return palette[k % PALETTE_COUNT]; }

static void put_escaped(FILE *file, const char *text) {
  for (; *text; text++) {
    switch (*text) {
      case '<': fputs("&lt;", file); break;
      case '>': fputs("&gt;", file); break;
      case '&': fputs("&amp;", file); break;
      case '"': fputs("&quot;", file); break;
      default: putc((unsigned char)*text < 32 ? ' ' : *text, file);
    }
  }
}

void fx_svg_text(FILE *file, double x, double y, const char *attributes, const char *text) {
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  put_escaped(file, text);
  fputs("</text>\n", file);
}

void fx_svg_power(FILE *file, double x, double y, const char *anchor, int exponent, int plain) {
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\" text-anchor=\"%s\">", x, y, anchor);
  if (plain && exponent < 4) {
    fprintf(file, "%g", pow(10, exponent));
  } else {
    fprintf(file, "10<tspan dy=\"-6\" font-size=\"9\">%s%d</tspan>", exponent < 0 ? "\xe2\x88\x92" : "", abs(exponent));
  }
  fputs("</text>\n", file);
}

void fx_svg_begin(FILE *file, int width, int height, int left, const char *title, const char *subtitle) {
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
          "<style>text{font-family:system-ui,'DejaVu Sans',sans-serif;fill:#24292f}"
          ".title{font-size:18px;font-weight:600}.sub{font-size:12px;fill:#57606a}.label{font-size:13px}"
          ".tick{font-size:12px;fill:#57606a}.legend{font-size:12px}.grid{stroke:#e6e8eb;stroke-width:1}"
          ".axis{fill:none;stroke:#57606a;stroke-width:1.2}"
          ".mark{stroke:#57606a;stroke-width:1;stroke-dasharray:3 3}</style>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
          width, height, width, height, width, height);
  fx_svg_text(file, left, 30, "class=\"title\"", title);
  fx_svg_text(file, left, 50, "class=\"sub\"", subtitle);
}

void fx_svg_end(FILE *file) { fputs("</svg>\n", file); }
