/* Snapshots: a state that is not stepped. */
#ifndef FX_SIM_SNAPSHOT_H
#define FX_SIM_SNAPSHOT_H

#include "sim/hooks_internal.h"

struct frix_snapshot {
  frix_context *context;
  const frix_model *model; /* held where it is not the root */
  const frix_model *root;  /* of the sim it was taken from */
  bool marked;             /* it holds belts and sensors; those of files do not */
  fx_belt *belt;           /* by shape, NULL: none runs */
  uint8_t *sensor;         /* by shape, NULL: none is one */
  fx_state state;          /* its arrays are the snapshot's own, exactly as long as their counts */
};

/* With the counts and plain fields of `like`, all lists zero; NULL when memory runs out. */
frix_snapshot *fx_snapshot_new(frix_context *context, const frix_model *model, const fx_state *like);

#endif
