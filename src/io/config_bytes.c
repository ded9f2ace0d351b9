/* How a run is simulated, as bytes: the sim's config, options by name so that other builds understand them. */
#include "io/trajectory_internal.h"

#include "solver/solver.h"

#include <stdio.h>
#include <string.h>

enum { VERSION = 2 };
enum { KINDS = FRIX_CONTACT_KIND_RIGID + 1 }; /* of contact; the coordinates count in multiples of them */

static void pack_config(fx_pack *p, frix_sim_config *c) {
  int law = (int)c->law, policy = (int)c->policy, restitution = (int)c->restitution;
  int contact = (int)c->contact + KINDS * (int)c->coordinates;
  fx_pack_text(p, &c->integrator);
  fx_pack_text(p, &c->solver);
  fx_pack_choice(p, &law, FRIX_LAW_ASSOCIATED + 1);
  fx_pack_choice(p, &policy, FRIX_POLICY_STRICT + 1);
  fx_pack_choice(p, &restitution, FRIX_RESTITUTION_BOUNDED + 1);
  fx_pack_choice(p, &contact, 2 * KINDS);
  c->law = (frix_law)law, c->policy = (frix_policy)policy, c->restitution = (frix_restitution)restitution;
  c->contact = (frix_contact_kind)(contact % KINDS), c->coordinates = (frix_coordinates)(contact / KINDS);
  fx_pack_bool(p, &c->seek_rest);
  fx_pack_bool(p, &c->sleep);
  double *part[] = {&c->tolerance,           &c->polish, &c->restitution_speed, &c->stabilisation,
                    &c->joint_stabilisation, &c->margin, &c->sleep_speed,       &c->sleep_time};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) fx_pack_f64(p, part[k]);
  fx_pack_i64(p, &c->max_iterations);
  fx_pack_i32(p, &c->thread_count);
  fx_pack_i32(p, &c->projections);
}

/* ---- options: "method.option" and its value as text, those that differ from the default ---- */

static void option_text(const frix_option_info *row, double value, char *text, size_t size) {
  if (row->kind == FRIX_OPTION_BOOLEAN) {
    snprintf(text, size, "%s", value != 0.0 ? "true" : "false");
  } else if (row->kind == FRIX_OPTION_CHOICE) {
    const char *at = row->choices;
    for (int k = (int)value; k > 0 && strchr(at, '|'); k--) at = strchr(at, '|') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(at, "|"), at);
  } else {
    snprintf(text, size, "%.17g", value);
  }
}

static void write_options(fx_pack *p, const frix_options *options) {
  const char *name, *none = NULL;
  for (int32_t k = 0; options && fx_solver_at(k); k++) {
    const frix_solver_info *info = &fx_solver_at(k)->info;
    double value[FX_MAX_OPTIONS];
    fx_options_values(options, k, value);
    for (int32_t o = 0; o < info->option_count; o++) {
      if (value[o] == info->option[o].initial) continue;
      char full[128], text[64];
      snprintf(full, sizeof full, "%s.%s", info->name, info->option[o].name);
      option_text(&info->option[o], value[o], text, sizeof text);
      fx_pack_text(p, (name = full, &name));
      fx_pack_text(p, (name = text, &name));
    }
  }
  fx_pack_text(p, &none);
}

static frix_status read_options(fx_pack *p, frix_options *options) {
  frix_status status = FRIX_OK;
  for (;;) {
    const char *name = NULL, *text = NULL;
    fx_pack_text(p, &name);
    if (name) fx_pack_text(p, &text);
    bool more = name && text && !p->failed;
    if (more) status = frix_options_set(options, name, text);
    fx_free(p->context, (void *)name);
    fx_free(p->context, (void *)text);
    if (!more || status) return status;
  }
}

/* ---- both ways ---- */

void fx_config_write(fx_buffer *out, const frix_sim_config *config) {
  fx_pack p = fx_pack_writer(out);
  frix_sim_config c = *config;
  int32_t version = VERSION;
  fx_pack_i32(&p, &version);
  pack_config(&p, &c);
  write_options(&p, c.options);
}

void fx_config_free(frix_context *context, frix_sim_config *c) {
  fx_free(context, (void *)c->integrator);
  fx_free(context, (void *)c->solver);
  frix_options_destroy((frix_options *)c->options);
  *c = (frix_sim_config){0};
}

frix_status fx_config_read(frix_context *context, const unsigned char *bytes, size_t size, frix_sim_config *out) {
  fx_pack p = fx_pack_reader(context, bytes, size);
  int32_t version = 0;
  frix_options *options = NULL;
  *out = frix_sim_default();
  out->integrator = out->solver = NULL;
  fx_pack_i32(&p, &version);
  pack_config(&p, out);
  frix_status status = frix_options_create(context, &options);
  out->options = options;
  if (!status) status = read_options(&p, options);
  if (!status) status = fx_pack_status(&p, version == VERSION && p.at == p.end, "its bytes are damaged");
  if (status) fx_config_free(context, out);
  return status;
}
