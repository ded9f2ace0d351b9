/* Actuators of MuJoCo's plugin mujoco.pid:
 *
 *   <plugin plugin="mujoco.pid" joint="j" instance="i"/>   with <config key="kp" value="40"/> ... in the <instance> of
 *   <extension><plugin plugin="mujoco.pid">, or in the actuator itself
 *
 *   force = kp (u - L) - kd dL/dt + ki I,   I = clamp(I + h (u - L)) with the error of the step itself,
 *   |ki I| <= imax,   u within h slewmax of the last one from the second step on
 *
 * Activations: I where ki > 0, then u where there is a slewmax. Other plugins are listed. */
#include <float.h>
#include <string.h>

#include "base/number.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

static bool is_pid(const fx_xml_element *e) {
  const char *plugin = fx_xml_value(e, "plugin");
  return plugin && !strcmp(plugin, "mujoco.pid");
}

/* The <instance> of that name in the file of the actuator. */
static const fx_xml_element *find_instance(const fx_xml_element *actuator, const char *name) {
  const fx_mjcf_source *source = fx_mjcf_source_of(actuator);
  for (const fx_xml_element *e = NULL; (e = fx_mjcf_next(source, "extension", e));)
    for (const fx_xml_element *i = is_pid(e) ? e->first : NULL; i; i = i->next) {
      const char *own = fx_xml_value(i, "name");
      if (!strcmp(i->name, "instance") && own && !strcmp(own, name)) return i;
    }
  return NULL;
}

typedef struct pid_config {
  double kp, ki, kd, force, slew; /* force: bound of ki I */
  bool has_force, has_slew;
} pid_config;

static frix_status read_config(const fx_mjcf_reader *r, const fx_xml_element *in, pid_config *c) {
  const struct {
    const char *key;
    double *value;
    bool *given;
  } known[] = {{"kp", &c->kp, NULL},
               {"ki", &c->ki, NULL},
               {"kd", &c->kd, NULL},
               {"imax", &c->force, &c->has_force},
               {"slewmax", &c->slew, &c->has_slew}};
  enum { KNOWN = sizeof known / sizeof *known };
  for (const fx_xml_element *e = in->first; e; e = e->next) {
    fx_mjcf_item item = {e, NULL};
    const char *key = fx_xml_value(e, "key"), *value = fx_xml_value(e, "value");
    size_t k = 0;
    if (strcmp(e->name, "config") || !key) return fx_mjcf_fail(r, e, "mujoco.pid holds <config key= value=> only");
    while (k < KNOWN && strcmp(known[k].key, key)) k++;
    if (k == KNOWN)
      return fx_mjcf_fail(r, e, "mujoco.pid has no '%s': kp, ki, kd, imax, slewmax", fx_word_of(key, strlen(key)).text);
    if (!value || !*value) continue; /* as not given */
    frix_status status = fx_mjcf_real(r, &item, "value", known[k].value);
    if (status) return status;
    if (*known[k].value < 0.0) return fx_mjcf_fail(r, e, "mujoco.pid %s: %g is negative", key, *known[k].value);
    if (known[k].given) *known[k].given = true;
  }
  return FRIX_OK;
}

frix_status fx_mjcf_read_plugin(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_actuator *a) {
  const fx_xml_element *e = item->element, *from = e;
  const char *instance = fx_xml_value(e, "instance"), *dynamics = fx_xml_value(e, "dyntype");
  pid_config c = {0};
  a->dynamics = FX_DYN_OF_OTHER, a->gain_form = a->bias_form = FX_FORM_OTHER; /* listed, unless it is known */
  if (dynamics && strcmp(dynamics, "none")) return FRIX_OK;
  if (instance) from = find_instance(e, instance);
  if (!from || (!instance && !is_pid(e))) return FRIX_OK;
  frix_status status = fx_mjcf_integer(r, item, "actdim", -1, 1000, &a->act_dim);
  if (!status) status = read_config(r, from, &c);
  if (status) return status;
  memset(a->bias, 0, sizeof a->bias);
  a->gain[0] = c.kp, a->bias[1] = -c.kp, a->bias[2] = -c.kd, a->damp_ratio = 0.0;
  a->gain_form = FX_FORM_PLAIN, a->bias_form = FX_FORM_AFFINE, a->dynamics = FX_DYN_OF_PID;
  a->ki = c.ki;
  /* bounds of 0 are bounds here */
  a->most = c.has_force && c.ki > 0.0 ? fx_max(c.force / c.ki, DBL_MIN) : 0.0;
  a->slew = c.has_slew ? fx_max(c.slew, DBL_MIN) : 0.0;
  a->inputs[0] = true, a->inputs[1] = a->inputs[2] = false;
  a->pid = a->plugin = true;
  int32_t count = (a->ki > 0.0) + (a->slew > 0.0);
  if (a->act_dim >= 0 && a->act_dim != count)
    return fx_mjcf_fail(r, e, "actdim: %d, this controller has %d", (int)a->act_dim, (int)count);
  return FRIX_OK;
}
