/* Worlds for the closed forms: a builder with shorthand, then a sim that is stepped and watched. */
#include "form.h"

#include <stdio.h>
#include <string.h>

bool fx_lab_do(fx_lab *lab, frix_status status, const char *what) {
  if (status == FRIX_OK) return true;
  if (!lab->tally->failure[0])
    snprintf(lab->tally->failure, sizeof lab->tally->failure, "%.40s: %.50s", what, frix_error_text(lab->context));
  return false;
}

fx_lab fx_lab_new(const fx_form *form, double mu, double restitution, fx_tally *tally) {
  fx_lab lab = {.tally = tally, .config = frix_sim_default()};
  lab.config.contact = form->stiff ? FRIX_CONTACT_KIND_STIFF : FRIX_CONTACT_KIND_RIGID;
  if (form->poisson) lab.config.restitution = FRIX_RESTITUTION_POISSON;
  if (form->integrator) lab.config.integrator = form->integrator;
  frix_material_config material = frix_material_default();
  material.mu = mu, material.restitution = restitution;
  if (FX_DO(&lab, frix_context_create(NULL, &lab.context)) &&
      FX_DO(&lab, frix_builder_create(lab.context, &lab.builder)))
    lab.material = fx_lab_material(&lab, material);
  return lab;
}

bool fx_lab_start(fx_lab *lab) {
  return !lab->tally->failure[0] && FX_DO(lab, frix_builder_compile(lab->builder, &lab->model)) &&
         FX_DO(lab, frix_sim_create(lab->context, lab->model, &lab->config, &lab->sim));
}

void fx_lab_step(fx_lab *lab, double h) {
  frix_step_report report = {0};
  if (lab->tally->failure[0] || !FX_DO(lab, frix_sim_step(lab->sim, h, &report))) return;
  lab->tally->steps++;
  if (!report.certified)
    lab->tally->uncertified++;
  else if (report.certificate.residual <= lab->config.tolerance && report.certificate.residual > lab->tally->residual)
    lab->tally->residual = report.certificate.residual;
}

int64_t fx_steps_in(double time, double h) { return (int64_t)(time / h + 0.5); }

void fx_lab_run(fx_lab *lab, double h, double time) {
  for (int64_t k = fx_steps_in(time, h); k > 0; k--) fx_lab_step(lab, h);
}

/* How far the ledger is from closing, over the energies it adds up. */
static double ledger_gap(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  double sum = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  double scale = fabs(e.start) + fabs(e.kinetic) + fabs(e.potential) + fabs(e.work) + fabs(e.friction) + fabs(e.impact);
  return fabs(e.kinetic + e.potential - sum) / (scale > 0 ? scale : 1);
}

double fx_lab_end(fx_lab *lab, double value) {
  if (lab->sim) {
    double gap = ledger_gap(lab->sim);
    if (!(gap <= lab->tally->ledger)) lab->tally->ledger = gap;
  }
  frix_sim_destroy(lab->sim);
  frix_model_destroy(lab->model);
  frix_builder_destroy(lab->builder);
  frix_context_destroy(lab->context);
  return lab->tally->failure[0] ? (double)NAN : value;
}

/* ---- parts ---- */

frix_vec3 fx_xyz(double x, double y, double z) { return (frix_vec3){x, y, z}; }
frix_pose fx_at(double x, double y, double z) { return (frix_pose){{x, y, z}, {1, 0, 0, 0}}; }

static frix_shape_config shape_of(frix_shape_kind kind) {
  frix_shape_config s = frix_shape_default();
  s.kind = kind;
  return s;
}

frix_shape_config fx_box(double x, double y, double z) {
  frix_shape_config s = shape_of(FRIX_SHAPE_BOX);
  s.half = fx_xyz(x, y, z);
  return s;
}

frix_shape_config fx_ball(double radius) {
  frix_shape_config s = shape_of(FRIX_SHAPE_SPHERE);
  s.radius = radius;
  return s;
}

frix_shape_config fx_disc(double radius) {
  frix_shape_config s = shape_of(FRIX_SHAPE_DISC);
  s.radius = radius;
  return s;
}

frix_body_config fx_body(frix_pose pose) {
  frix_body_config b = frix_body_default();
  b.pose = pose;
  return b;
}

frix_body_id fx_lab_put(fx_lab *lab, frix_body_config body, frix_shape_config shape) {
  frix_body_id id = {0, 0};
  if (!lab->tally->failure[0] && FX_DO(lab, frix_builder_add_body(lab->builder, &body, &id)))
    fx_lab_shape(lab, id, shape);
  return id;
}

void fx_lab_shape(fx_lab *lab, frix_body_id body, frix_shape_config shape) {
  if (!shape.material.index) shape.material = lab->material;
  if (!lab->tally->failure[0]) FX_DO(lab, frix_builder_add_shape(lab->builder, body, &shape, NULL));
}

void fx_lab_slope(fx_lab *lab, double angle) {
  frix_shape_config s = shape_of(FRIX_SHAPE_PLANE);
  s.pose.q = frix_quat_turn(fx_xyz(0, 1, 0), angle);
  fx_lab_shape(lab, (frix_body_id){0, 0}, s);
}

void fx_lab_line(fx_lab *lab) {
  fx_lab_shape(lab, (frix_body_id){0, 0}, shape_of(FRIX_SHAPE_HALF_PLANE));
  if (!lab->tally->failure[0]) FX_DO(lab, frix_builder_set_gravity(lab->builder, fx_xyz(0, -FX_GRAVITY, 0)));
}

frix_material_id fx_lab_material(fx_lab *lab, frix_material_config config) {
  frix_material_id id = {0, 0};
  if (!lab->tally->failure[0]) FX_DO(lab, frix_builder_add_material(lab->builder, &config, &id));
  return id;
}

frix_body_state fx_lab_state(const fx_lab *lab, frix_body_id body) {
  frix_body_state s = {0};
  if (lab->sim) frix_sim_body(lab->sim, body, &s);
  return s;
}

frix_joint_id fx_lab_joint(fx_lab *lab, frix_joint_config joint, frix_vec3 anchor, frix_vec3 axis) {
  frix_joint_id id = {0, 0};
  frix_vec3 none = {0, 0, 0};
  if (!lab->tally->failure[0] && FX_DO(lab, frix_joint_place(lab->builder, &joint, anchor, axis, none, none)))
    FX_DO(lab, frix_builder_add_joint(lab->builder, &joint, &id));
  return id;
}

double fx_threshold(const fx_form *form, fx_holds holds, double low, double high, double width, double h,
                    fx_tally *tally) {
  if (!holds(form, low, h, tally) || holds(form, high, h, tally)) return NAN;
  while (high - low > width * high) {
    double middle = 0.5 * (low + high);
    *(holds(form, middle, h, tally) ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}
