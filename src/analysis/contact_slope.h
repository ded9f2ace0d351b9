/* How point, normal and gap of a contact follow its two bodies, in closed form. */
#ifndef FX_ANALYSIS_CONTACT_SLOPE_H
#define FX_ANALYSIS_CONTACT_SLOPE_H

#include "collision/collision.h"

/* By unit twist of body a about the contact's point, b at rest: shifts along x, y, z, then turns about them. The point
 * is the middle of the two witnesses. */
typedef struct fx_contact_slope {
  frix_vec3 point[6], normal[6];
  double gap[6];
} fx_contact_slope;

/* placed: of the two shapes, when the contact was found. False: no closed form is known for this pair. */
bool fx_contact_slope_find(const fx_contact *c, const fx_shape *const shape[2], const frix_pose placed[2],
                           fx_contact_slope *out);

#endif
