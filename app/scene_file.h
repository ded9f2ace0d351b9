/* Scenes from files, shared by the verbs that take one. */
#ifndef FX_APP_SCENE_H
#define FX_APP_SCENE_H

#include "app.h"

/* Whether the name ends like a scene file. */
bool fx_is_scene_file(const char *path);
/* Reads an MJCF file with the verb's --strict, --allow-outside and --key, where it has them, every friction times a
 * factor; NULL after a message. */
frix_mjcf *fx_read_scene(frix_context *context, const char *path, const fx_args *args, double friction);
/* What the file asks for and the model does not have, as lines on stderr: unsupported names in full, the others in one
 * line each. */
void fx_print_notes(const frix_mjcf_info *info, bool quiet);
/* What fx_missing_put writes, and the names of what is looks only. */
void fx_put_notes(fx_json *json, const frix_mjcf_info *info);

/* frix info of a scene; false after a message. */
bool fx_info_scene(frix_context *context, const char *path, const fx_args *args);
/* The same of a run: its exit code, FX_EXIT_UNSOLVED where some frames cannot be read. */
int fx_info_run(frix_context *context, const char *path, bool as_json);

#endif
