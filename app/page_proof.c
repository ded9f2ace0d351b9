/* What a page needs to run its run again: the model's bytes, the words of `frix run` that say how it is stepped, and
 * the state's hash of every shown frame. web/src/prove_worker.js steps the same core in the browser and compares. */
#include "missing.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

static void put_word(FILE *out, const char *word) {
  for (; *word; word++) fputc(*word == '\n' ? ' ' : *word, out);
  fputc('\n', out);
}

static void put_pair(FILE *out, const char *flag, const char *value) {
  put_word(out, flag);
  put_word(out, value);
}

static void put_number(FILE *out, const char *flag, double value) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  put_pair(out, flag, text);
}

/* The words the run began with; the scene's own name where the file tells none. */
static void put_arguments(FILE *out, const char *meta) {
  static const char key[] = "\"arguments\": [";
  const char *at = meta ? strstr(meta, key) : NULL;
  for (at = at ? at + sizeof key - 1 : NULL; at && *at;) {
    char *word = fx_read_json_text(&at);
    if (!word) return;
    put_word(out, word);
    free(word);
    at += strspn(at, ", ");
  }
}

frix_status fx_page_put_proof(fx_page_bytes *bytes, frix_context *context, frix_trajectory *trajectory, double h) {
  unsigned char *model = NULL;
  size_t size = 0;
  char *words = NULL;
  size_t length = 0;
  frix_sim_config config = frix_sim_default();
  frix_status status = frix_trajectory_config(trajectory, &config);
  if (status == FRIX_OK) status = frix_model_encode(context, frix_trajectory_model(trajectory), &model, &size);
  FILE *out = status == FRIX_OK ? open_memstream(&words, &length) : NULL;
  if (status == FRIX_OK && !out) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) {
    put_arguments(out, frix_trajectory_meta(trajectory));
    /* every setting of frix run that decides a state */
    put_pair(out, "--solver", config.solver);
    put_pair(out, "--integrator", config.integrator);
    put_pair(out, "--law", frix_law_name(config.law));
    put_pair(out, "--restitution", frix_restitution_table((int32_t)config.restitution)->name);
    put_pair(out, "--contact", frix_contact_kind_table((int32_t)config.contact)->name);
    if (config.polish == 0 && !config.seek_rest) put_word(out, "--plain");
    put_number(out, "--tol", config.tolerance);
    put_number(out, "--dt", h);
    fclose(out);
    fx_page_column(bytes, "proof.words", FX_U8, words, length > 0 ? (int64_t)length - 1 : 0);
    fx_page_column(bytes, "proof.model", FX_U8, model, (int64_t)size);
  }
  frix_bytes_free(context, model);
  free(words);
  return status;
}
