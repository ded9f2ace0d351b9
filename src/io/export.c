/* Trajectories as tables: the columns, and the walk over frames that fills them. */
#include "io/export.h"
#include "base/abi.h"

#include "model/model_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

#define READER(name, what)                                                                           \
  static void name(const fx_export *e, const frix_frame *f, int32_t row, int32_t k, fx_value *out) { \
    (void)e, (void)f, (void)row, (void)k;                                                            \
    what;                                                                                            \
  }
#define REAL(name, what) READER(name, out->real[0] = (what))
#define INTEGER(name, what) READER(name, out->integer = (int64_t)(what))
#define WORD(name, what) READER(name, out->word = (what))
#define VECTOR(name, what) READER(name, set_vector(out, what))

static void set_vector(fx_value *out, frix_vec3 v) { out->real[0] = v.x, out->real[1] = v.y, out->real[2] = v.z; }

static void set_quat(fx_value *out, frix_quat q) {
  out->real[0] = q.w, out->real[1] = q.x, out->real[2] = q.y, out->real[3] = q.z;
}

REAL(get_time, f->time)
REAL(get_h, f->h)
INTEGER(get_step, f->step)
WORD(get_hash, f->hash)
INTEGER(get_certified, f->report.certified)
INTEGER(get_overlaps_left, f->report.overlaps_left)
REAL(get_residual, f->report.certificate.residual)
INTEGER(get_iterations, f->report.iterations)
INTEGER(get_contacts, f->report.contact_count)
INTEGER(get_touching, f->report.touching_count)
REAL(get_penetration, f->report.penetration)
REAL(get_worst_velocity, f->report.certificate.worst_velocity)
REAL(get_signorini, f->report.certificate.signorini)
REAL(get_bilateral, f->report.certificate.bilateral)
REAL(get_kinetic, f->energy.kinetic)
REAL(get_potential, f->energy.potential)
REAL(get_work, f->energy.work)
REAL(get_friction, f->energy.friction)
REAL(get_impact, f->energy.impact)
REAL(get_damping, f->energy.damping)
REAL(get_joint, f->energy.joint)
REAL(get_contact, f->energy.contact)
REAL(get_scheme, f->energy.scheme)
REAL(get_error, f->energy.error)

INTEGER(get_body_index, e->body[k].id.index)
INTEGER(get_body_generation, e->body[k].id.generation)
INTEGER(get_body_pattern, e->body[k].pattern.index)
READER(get_body_name, out->text = e->model->body[e->body[k].pattern.index].name)

VECTOR(get_position, f->body[k].state.pose.p)
READER(get_quaternion, set_quat(out, f->body[k].state.pose.q))
VECTOR(get_velocity, f->body[k].state.velocity)
VECTOR(get_spin, f->body[k].state.spin)

INTEGER(get_contact_frame, row)
WORD(get_contact_id, f->contact[k].id)
INTEGER(get_contact_a, fx_export_find(e, f->contact[k].a))
INTEGER(get_contact_b, fx_export_find(e, f->contact[k].b))
INTEGER(get_contact_phase, f->contact[k].phase)
INTEGER(get_contact_state, f->contact[k].state)
VECTOR(get_contact_point, f->contact[k].point)
VECTOR(get_contact_normal, f->contact[k].normal)
VECTOR(get_contact_force, f->contact[k].force)
VECTOR(get_contact_velocity, f->contact[k].velocity)
REAL(get_contact_gap, f->contact[k].gap)
REAL(get_contact_mu, f->contact[k].mu)
REAL(get_contact_margin, f->contact[k].margin)

/* One row per line: */
/* clang-format off */
static const fx_export_column table[] = {
    {"time", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_time},
    {"step", FX_SCOPE_FRAME, FX_I64, 1, NULL, get_step},
    {"h", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_h},
    {"hash", FX_SCOPE_FRAME, FX_U64, 1, NULL, get_hash},
    {"certified", FX_SCOPE_FRAME, FX_U8, 1, NULL, get_certified},
    {"overlaps_left", FX_SCOPE_FRAME, FX_U8, 1, NULL, get_overlaps_left},
    {"residual", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_residual},
    {"iterations", FX_SCOPE_FRAME, FX_I64, 1, NULL, get_iterations},
    {"contacts", FX_SCOPE_FRAME, FX_I32, 1, NULL, get_contacts},
    {"touching", FX_SCOPE_FRAME, FX_I32, 1, NULL, get_touching},
    {"penetration", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_penetration},
    {"worst_velocity", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_worst_velocity},
    {"signorini", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_signorini},
    {"bilateral", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_bilateral},
    {"kinetic", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_kinetic},
    {"potential", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_potential},
    {"work", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_work},
    {"friction_loss", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_friction},
    {"impact_loss", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_impact},
    {"damping_loss", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_damping},
    {"joint_gain", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_joint},
    {"contact_gain", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_contact},
    {"scheme_gain", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_scheme},
    {"error_gain", FX_SCOPE_FRAME, FX_F64, 1, NULL, get_error},
    {"body_name", FX_SCOPE_BODY, FX_TEXT, 1, NULL, get_body_name},
    {"body_index", FX_SCOPE_BODY, FX_I32, 1, NULL, get_body_index},
    {"body_generation", FX_SCOPE_BODY, FX_I32, 1, NULL, get_body_generation},
    {"body_pattern", FX_SCOPE_BODY, FX_I32, 1, NULL, get_body_pattern},
    {"position", FX_SCOPE_STATE, FX_F64, 3, "xyz", get_position},
    {"quaternion", FX_SCOPE_STATE, FX_F64, 4, "wxyz", get_quaternion},
    {"velocity", FX_SCOPE_STATE, FX_F64, 3, "xyz", get_velocity},
    {"spin", FX_SCOPE_STATE, FX_F64, 3, "xyz", get_spin},
    {"contact_frame", FX_SCOPE_CONTACT, FX_I32, 1, NULL, get_contact_frame},
    {"contact_id", FX_SCOPE_CONTACT, FX_U64, 1, NULL, get_contact_id},
    {"contact_a", FX_SCOPE_CONTACT, FX_I32, 1, NULL, get_contact_a},
    {"contact_b", FX_SCOPE_CONTACT, FX_I32, 1, NULL, get_contact_b},
    {"contact_phase", FX_SCOPE_CONTACT, FX_U8, 1, NULL, get_contact_phase},
    {"contact_state", FX_SCOPE_CONTACT, FX_U8, 1, NULL, get_contact_state},
    {"contact_point", FX_SCOPE_CONTACT, FX_F32, 3, "xyz", get_contact_point},
    {"contact_normal", FX_SCOPE_CONTACT, FX_F32, 3, "xyz", get_contact_normal},
    {"contact_force", FX_SCOPE_CONTACT, FX_F32, 3, "xyz", get_contact_force},
    {"contact_velocity", FX_SCOPE_CONTACT, FX_F32, 3, "xyz", get_contact_velocity},
    {"contact_gap", FX_SCOPE_CONTACT, FX_F32, 1, NULL, get_contact_gap},
    {"contact_mu", FX_SCOPE_CONTACT, FX_F32, 1, NULL, get_contact_mu},
    {"contact_margin", FX_SCOPE_CONTACT, FX_F32, 1, NULL, get_contact_margin},
};
/* clang-format on */

const fx_export_column *fx_export_column_at(int32_t k) {
  return k >= 0 && (size_t)k < sizeof table / sizeof *table ? &table[k] : NULL;
}

size_t fx_number_size(fx_number type) {
  static const size_t size[] = {8, 4, 8, 8, 4, 1, FX_NAME_SIZE};
  return size[type];
}

static void put_word(unsigned char *out, uint64_t word, size_t size) {
  for (size_t k = 0; k < size; k++) out[k] = (unsigned char)(word >> 8 * k);
}

void fx_export_put(const fx_export_column *c, const fx_value *value, unsigned char *out) {
  size_t size = fx_number_size(c->type);
  for (int k = 0; k < c->width; k++, out += size) {
    uint64_t word = value->word;
    float single = (float)value->real[k];
    uint32_t half;
    if (c->type == FX_F64) memcpy(&word, &value->real[k], 8);
    if (c->type == FX_F32) memcpy(&half, &single, 4), word = half;
    if (c->type == FX_TEXT) {
      memset(out, 0, size);
      if (value->text) snprintf((char *)out, size, "%s", value->text);
    } else {
      put_word(out, word, size);
    }
  }
}

/* ---- frames and bodies ---- */

frix_status fx_export_frame(const fx_export *e, int32_t row, frix_frame *out) {
  return frix_trajectory_frame(e->trajectory, e->frame[row], out);
}

int32_t fx_export_find(const fx_export *e, frix_body_id id) {
  int32_t at = id.index < (uint32_t)e->head_count ? e->head[id.index] : -1;
  while (at >= 0 && e->body[at].id.generation != id.generation) at = e->body[at].next;
  return at;
}

static frix_status note_body(fx_export *e, const frix_frame_body *b) {
  if (b->id.index >= INT32_MAX / 4)
    return fx_fail(e->context, FRIX_ERROR_FORMAT, "a body has the index %u", b->id.index);
  if (b->id.index >= (uint32_t)e->head_count) {
    int32_t wanted = 2 * (int32_t)b->id.index + 16;
    int32_t *grown = fx_realloc(e->context, e->head, (size_t)e->head_count, (size_t)wanted, sizeof *grown);
    if (!grown) return FRIX_ERROR_MEMORY;
    for (int32_t k = e->head_count; k < wanted; k++) grown[k] = -1;
    e->head = grown, e->head_count = wanted;
  }
  if (fx_export_find(e, b->id) >= 0) return FRIX_OK;
  if (e->body_count == e->body_room) {
    int32_t wanted = 2 * e->body_room + 16;
    fx_export_body *grown = fx_realloc(e->context, e->body, (size_t)e->body_count, (size_t)wanted, sizeof *grown);
    if (!grown) return FRIX_ERROR_MEMORY;
    e->body = grown, e->body_room = wanted;
  }
  e->body[e->body_count] = (fx_export_body){b->id, b->pattern, e->head[b->id.index]};
  e->head[b->id.index] = e->body_count++;
  return FRIX_OK;
}

/* Who was there, and how many contacts. Damaged frames are left out where *skipped counts them. */
static frix_status survey(fx_export *e, const frix_export_config *c) {
  e->frame = FX_NEW(e->context, int32_t, (c->last - c->first) / c->every + 1);
  if (!e->frame) return FRIX_ERROR_MEMORY;
  for (int32_t k = c->first;; k += c->every) {
    frix_frame frame;
    frix_status status = frix_trajectory_frame(e->trajectory, k, &frame);
    if (status == FRIX_ERROR_FORMAT && c->skipped) {
      fx_log(e->context, FRIX_LOG_WARNING, "%s; left out", frix_error_text(e->context));
      ++*c->skipped;
    } else {
      for (int32_t i = 0; !status && i < frame.body_count; i++) status = note_body(e, &frame.body[i]);
      if (status) return status;
      e->contact_count += frame.contact_count;
      e->frame[e->frame_count++] = k;
    }
    if (k > c->last - c->every) break;
  }
  return e->frame_count ? FRIX_OK : fx_fail(e->context, FRIX_ERROR_FORMAT, "export: no frame can be read");
}

/* ---- arrays ---- */

/* What column c has to say in a frame, row by row. */
static int32_t fill_rows(const fx_export *e, const fx_export_column *c, const frix_frame *f, int32_t row,
                         unsigned char *out) {
  size_t size = (size_t)c->width * fx_number_size(c->type);
  fx_value value = {{0}};
  if (c->scope == FX_SCOPE_STATE) { /* bodies that are not there are not a number */
    fx_value none = {{NAN, NAN, NAN, NAN}};
    for (int32_t k = 0; k < e->body_count; k++) fx_export_put(c, &none, out + size * (size_t)k);
    for (int32_t k = 0; k < f->body_count; k++) {
      int32_t at = fx_export_find(e, f->body[k].id);
      c->read(e, f, row, k, &value);
      if (at >= 0) fx_export_put(c, &value, out + size * (size_t)at);
    }
    return 1;
  }
  int32_t count = c->scope == FX_SCOPE_FRAME ? 1 : c->scope == FX_SCOPE_BODY ? e->body_count : f->contact_count;
  for (int32_t k = 0; k < count; k++) {
    c->read(e, f, row, k, &value);
    fx_export_put(c, &value, out + size * (size_t)k);
  }
  return count;
}

static frix_status write_array(const fx_export *e, const fx_export_column *c, const fx_array_sink *sink) {
  int64_t dim[3] = {e->frame_count, c->width, 0};
  int dims = c->width > 1 ? 2 : 1;
  size_t each = (size_t)c->width * fx_number_size(c->type), room = 0;
  if (c->scope == FX_SCOPE_BODY) dim[0] = e->body_count;
  if (c->scope == FX_SCOPE_CONTACT) dim[0] = e->contact_count;
  if (c->scope == FX_SCOPE_STATE) dims = 3, dim[1] = e->body_count, dim[2] = c->width;
  frix_status status = sink->begin(sink->user, c->name, c->type, dims, dim);
  unsigned char *bytes = NULL;
  int32_t passes = c->scope == FX_SCOPE_BODY ? 1 : e->frame_count;
  for (int32_t row = 0; !status && row < passes; row++) {
    frix_frame frame = {0};
    if (c->scope != FX_SCOPE_BODY) status = fx_export_frame(e, row, &frame);
    size_t wanted = each * (size_t)(frame.contact_count + e->body_count + 1);
    if (!status && wanted > room) {
      fx_free(e->context, bytes);
      bytes = fx_alloc_raw(e->context, room = wanted, 1);
      if (!bytes) status = FRIX_ERROR_MEMORY;
    }
    if (status) break;
    int32_t count = fill_rows(e, c, &frame, row, bytes);
    size_t size = c->scope == FX_SCOPE_STATE ? each * (size_t)e->body_count : each * (size_t)count;
    if (size) status = sink->rows(sink->user, bytes, size, count);
  }
  fx_free(e->context, bytes);
  return status ? status : sink->end(sink->user);
}

frix_status fx_export_arrays(const fx_export *e, const fx_array_sink *sink) {
  for (int32_t k = 0; fx_export_column_at(k); k++) {
    frix_status status = write_array(e, fx_export_column_at(k), sink);
    if (status) return status;
  }
  return FRIX_OK;
}

/* ---- formats ---- */

typedef struct export_row {
  frix_export_info info;
  frix_status (*write)(const fx_export *e, const char *path);
} export_row;

#ifdef FRIX_HAVE_HDF5
#define HDF5_HERE true
#else
#define HDF5_HERE false
#endif

static const export_row formats[] = {
    {{"csv", "three tables: PATH_steps.csv, PATH_bodies.csv, PATH_contacts.csv", ".csv", true}, fx_export_csv},
    {{"npz", "arrays for numpy.load", ".npz", true}, fx_export_npz},
    {{"hdf5", "datasets of the same names", ".h5 .hdf5", HDF5_HERE}, fx_export_hdf5},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const frix_export_info *frix_export_table(int32_t k) { return k >= 0 && k < FORMAT_COUNT ? &formats[k].info : NULL; }

static frix_export_config default_export(void) {
  return (frix_export_config){.size = sizeof(frix_export_config), .last = -1, .every = 1};
}

void frix_export_init(frix_export_config *out, size_t size) {
  frix_export_config all = default_export();
  fx_give_struct(out, size, &all, sizeof all);
}

static const export_row *find_format(frix_context *context, const char *path, const char *name) {
  const char *dot = strrchr(path, '.');
  for (int32_t k = 0; k < FORMAT_COUNT; k++) {
    if (name && strcmp(name, formats[k].info.name) == 0) return &formats[k];
    size_t length = dot ? strlen(dot) : 0;
    for (const char *at = formats[k].info.extension; !name && length > 1 && (at = strstr(at, dot)); at += length)
      if (at[length] == ' ' || !at[length]) return &formats[k];
  }
  fx_fail(context, FRIX_ERROR_INPUT, "%s: do not know how to write that; choose csv, npz or hdf5", name ? name : path);
  return NULL;
}

frix_status frix_trajectory_export(frix_trajectory *t, const char *path, const frix_export_config *config) {
  if (!t || !path) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_export_config, config, frix_export_default());
  frix_context *context = frix_trajectory_model(t)->context;
  frix_export_config c = config ? *config : frix_export_default();
  int32_t count = frix_trajectory_frame_count(t);
  if (c.size != sizeof c) return fx_fail(context, FRIX_ERROR_INPUT, "export: start from frix_export_default()");
  if (c.last == -1) c.last = count - 1;
  if (c.first < 0 || c.last < c.first || c.last >= count || c.every < 1)
    return fx_fail(context, FRIX_ERROR_INPUT, "export: frames %d to %d, every %d: there are frames 0 to %d", c.first,
                   c.last, c.every, count - 1);
  const export_row *row = find_format(context, path, c.format);
  if (!row) return FRIX_ERROR_INPUT;
  fx_export e = {.context = context, .trajectory = t, .model = frix_trajectory_model(t)};
  if (c.skipped) *c.skipped = 0;
  frix_status status = survey(&e, &c);
  if (!status) status = row->write(&e, path);
  fx_free(context, e.frame);
  fx_free(context, e.head);
  fx_free(context, e.body);
  return status;
}
