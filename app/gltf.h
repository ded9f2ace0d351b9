/* A run as one file of glTF 2.0 (.glb), animated: Blender, three.js and other viewers read it. */
#ifndef FX_GLTF_H
#define FX_GLTF_H

#include "app.h"

#include <frix/trajectory.h>

/* Frames first, first + every, ... last (-1: to the end); false after a message. Damaged frames are left out and
 * counted. */
bool fx_gltf_write(frix_context *context, frix_trajectory *trajectory, const char *path,
                   const frix_export_config *config);

#endif
