/* Shapes as triangles, for drawing. */
#ifndef FX_APP_SOLID_H
#define FX_APP_SOLID_H

#include "raster.h"

#include <frix/frix.h>

typedef struct fx_solid {
  fx_corner *corner; /* three per triangle */
  int32_t corner_count;
  bool *edge;   /* per triangle: painted darker (rims of flat shapes); NULL: none is */
  float radius; /* about the shape's origin */
} fx_solid;

/* Triangles of a shape in its own frame; spheres, planes and half planes have none. segments: of a full turn. */
fx_solid fx_solid_of(const frix_model *model, const frix_shape_config *shape, int segments);
/* The surface of a soft body with these amplitudes, in the frame of its shape. */
fx_solid fx_solid_of_soft(const frix_soft *soft, const double *amplitude);
void fx_solid_free(fx_solid *solid);

#endif
