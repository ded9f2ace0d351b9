/* Free bodies whose frame is that of their inertia: <freejoint align="true">, or <compiler alignfree="true">.
 *
 * The frame moves to the centre of mass, along the principal axes; what the body holds stays where it is. Only bodies
 * that carry no other are moved. Keyframes and qpos speak of the new frame, as in MuJoCo. */
#include "io/mjcf_internal.h"

static frix_status asked(const fx_mjcf_reader *r, const fx_mjcf_joint *j, bool *out) {
  int word = 2;
  fx_mjcf_item item = {j->item.element, NULL};
  frix_status status = fx_mjcf_word(r, &item, "align", "false true auto", &word);
  *out = word == 1 || (word == 2 && fx_mjcf_source_of(j->item.element)->align_free);
  return status;
}

static frix_pose inertial_frame(const fx_mjcf_body *body) {
  double value[3];
  frix_vec3 axis[3];
  fx_sym3_eigen(body->mass.inertia, value, axis);
  return (frix_pose){body->mass.center,
                     body->has_axes ? body->axes : fx_quat_of_axes(axis[2], axis[1], fx_cross(axis[2], axis[1]))};
}

static void move_frame(fx_mjcf_reader *r, int32_t k) {
  fx_mjcf_body *body = &r->body[k];
  frix_pose frame = inertial_frame(body), back = fx_pose_inverse(frame);
  body->place = fx_pose_mul(body->place, frame);
  body->mass.center = fx_vec(0.0, 0.0, 0.0);
  body->mass.inertia = fx_sym3_turn(back.q, body->mass.inertia);
  body->has_axes = true, body->axes = (frix_quat){1.0, 0.0, 0.0, 0.0};
  for (int32_t n = 0; n < r->geom_count; n++)
    if (r->geom[n].body == k) r->geom[n].pose = fx_pose_mul(back, r->geom[n].pose);
  for (int32_t n = 0; n < r->site_count; n++)
    if (r->site[n].body == k) r->site[n].pose = fx_pose_mul(back, r->site[n].pose);
  for (int32_t n = 0; n < r->camera_count; n++)
    if (r->camera[n].body == k) r->camera[n].pose = fx_pose_mul(back, r->camera[n].pose);
}

frix_status fx_mjcf_align(fx_mjcf_reader *r) {
  for (int32_t k = 0; k < r->joint_count; k++) {
    const fx_mjcf_joint *j = &r->joint[k];
    bool wanted = false, carries = false;
    if (j->type != FX_JOINT_FREE) continue;
    frix_status status = asked(r, j, &wanted);
    if (status) return status;
    for (int32_t b = j->body + 1; b < r->body_count && wanted; b++) carries |= r->body[b].parent == j->body;
    if (wanted && !carries) move_frame(r, j->body);
  }
  return FRIX_OK;
}
