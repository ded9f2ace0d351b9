/* Exact pairs in the plane. */
#ifndef FX_COLLISION_FLAT_H
#define FX_COLLISION_FLAT_H

#include "collision/narrow.h"

fx_narrow fx_disc_disc, fx_disc_polygon, fx_disc_ellipse, fx_disc_half_plane;
fx_narrow fx_polygon_polygon, fx_polygon_half_plane; /* rectangles too */
fx_narrow fx_ellipse_half_plane;
fx_narrow fx_flat_smooth; /* an ellipse and anything bounded */

#endif
