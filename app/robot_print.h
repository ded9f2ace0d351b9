/* What frix robot prints. */
#ifndef FX_APP_ROBOT_H
#define FX_APP_ROBOT_H

#include <frix/robot.h>

#include "app.h"

/* The values of --package. */
int fx_packages(const fx_args *args, const char **out, int most);
/* Of a state that was evaluated. */
void fx_robot_text(const char *path, const frix_robot *robot, frix_robot_state *state);
void fx_robot_json(const char *path, const frix_robot *robot, frix_robot_state *state);

#endif
