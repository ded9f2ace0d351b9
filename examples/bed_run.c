/* Runs of beds.
 *
 * On several ranks each writes its frames to OUT.RANK, and OUT is the index that names them (frix_trajectory_open reads
 * it as one run). A state is one file per rank, OUT.state.STEP.RANK; when all are written, OUT.state names them, and
 * those of the state before go. So a whole state exists at any moment, whichever rank is killed. */
#include "bed_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 1024 };

ex_bed_job ex_bed_job_of(const ex_bed_scene *scene) {
  ex_bed_job job = {.scene = scene, .seed = 1, .h = scene->step, .time = scene->time, .tolerance = 1e-4, .threads = 1};
  job.every = 20, job.contacts = true;
  ex_bed_values(scene, job.value);
  return job;
}

const char *ex_bed_set(ex_bed_job *job, const char *setting) {
  const char *sign = strchr(setting, '=');
  for (int32_t k = 0; sign && k < job->scene->parameter_count; k++) {
    const frix_option_info *p = &job->scene->parameter[k];
    if (strlen(p->name) != (size_t)(sign - setting) || strncmp(p->name, setting, (size_t)(sign - setting)) != 0)
      continue;
    char *end;
    double value = strtod(sign + 1, &end);
    if (end == sign + 1 || *end) return "its value is no number";
    if (!(value >= p->minimum && value <= p->maximum)) return "its value is out of range";
    if (p->kind == FRIX_OPTION_INTEGER && value != (double)(int64_t)value) return "its value is no whole number";
    job->value[k] = value;
    return NULL;
  }
  return sign ? "the scene has no such parameter" : "it should read name=value";
}

const char *ex_bed_law(const ex_bed_job *job) {
  bool rigid = frix_bed_default().stiffness == 0.0;
  for (int32_t k = 0; k < job->scene->parameter_count; k++)
    if (!strcmp(job->scene->parameter[k].name, "stiffness")) rigid = job->value[k] == 0.0;
  return rigid ? "rigid contact" : "springs";
}

/* ---- files ---- */

static int32_t rank_of(const ex_bed_job *job) { return job->link ? job->link->rank : 0; }
static int32_t ranks_of(const ex_bed_job *job) { return job->link ? job->link->rank_count : 1; }

/* All ranks have come here. */
static bool meet(const ex_bed_job *job) {
  double nothing = 0.0;
  return !job->link || job->link->sum(job->link->user, &nothing, 1);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static frix_status write_file(frix_context *context, const char *path, const void *bytes, size_t size) {
  frix_output *output = NULL;
  frix_status status = frix_output_open(context, path, &output);
  if (!status) status = frix_output_write(output, bytes, size);
  frix_status closed = frix_output_close(output, status == FRIX_OK);
  return status ? status : closed;
}

/* PATH, naming PREFIX.0, PREFIX.1, ... beside it. */
static frix_status write_index(frix_context *context, const char *path, const char *head, const char *prefix,
                               int32_t count) {
  size_t room = strlen(head) + (size_t)count * (strlen(prefix) + 16) + 1, at = 0;
  char *text = malloc(room);
  if (!text) return FRIX_ERROR_MEMORY;
  at += (size_t)snprintf(text, room, "%s", head);
  for (int32_t k = 0; k < count; k++) at += (size_t)snprintf(text + at, room - at, "%s.%d\n", prefix, (int)k);
  frix_status status = write_file(context, path, text, at);
  free(text);
  return status;
}

static frix_status begin_frames(frix_context *context, const ex_bed_job *job, const frix_model *model,
                                frix_recorder **out) {
  char name[NAME], meta[NAME];
  snprintf(meta, sizeof meta, "{\"bed\":\"%s\",\"seed\":%llu,\"h\":%.17g,\"tolerance\":%.17g,\"ranks\":%d}",
           job->scene->name, (unsigned long long)job->seed, job->h, job->tolerance, (int)ranks_of(job));
  if (ranks_of(job) == 1) return frix_recorder_create(context, job->out, model, meta, out);
  snprintf(name, sizeof name, "%s.%d", job->out, (int)rank_of(job));
  frix_status status = frix_recorder_create(context, name, model, meta, out);
  if (!status && rank_of(job) == 0)
    status = write_index(context, job->out, "frix parts 1\n", base_of(job->out), ranks_of(job));
  return status;
}

/* ---- states ---- */

static frix_status save_state(frix_context *context, const ex_bed_job *job, const frix_bed *bed, int64_t *before) {
  char name[NAME], prefix[NAME], old[NAME];
  unsigned char *bytes = NULL;
  size_t size = 0;
  long long step = (long long)frix_bed_step_count(bed);
  snprintf(prefix, sizeof prefix, "%s.state.%lld", base_of(job->out), step);
  snprintf(name, sizeof name, "%s.state.%lld.%d", job->out, step, (int)rank_of(job));
  frix_status status = frix_bed_save(bed, &bytes, &size);
  if (!status) status = write_file(context, name, bytes, size);
  frix_bed_bytes_free(bed, bytes);
  if (status || !meet(job)) return status ? status : FRIX_ERROR_CANCELLED;
  snprintf(name, sizeof name, "%s.state", job->out);
  if (rank_of(job) == 0) status = write_index(context, name, "frix bed state 1\n", prefix, ranks_of(job));
  if (status || !meet(job)) return status ? status : FRIX_ERROR_CANCELLED;
  snprintf(old, sizeof old, "%s.state.%lld.%d", job->out, (long long)*before, (int)rank_of(job));
  if (*before >= 0) remove(old);
  *before = step;
  return FRIX_OK;
}

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  unsigned char *bytes = NULL;
  long length = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length >= 0 && fseek(file, 0, SEEK_SET) == 0 && (bytes = malloc((size_t)length + 1))) {
    *size = fread(bytes, 1, (size_t)length, file);
    bytes[*size] = 0;
  }
  if (file) fclose(file);
  return bytes;
}

/* Every rank reads all parts and keeps what lies in its blocks. */
static frix_status load_state(const char *path, frix_bed *bed, char *trouble, size_t room) {
  static const char head[] = "frix bed state 1\n";
  size_t size = 0, folder = (size_t)(base_of(path) - path);
  char *text = (char *)read_file(path, &size);
  frix_status status = FRIX_OK;
  snprintf(trouble, room, "%s: is no saved state of a bed", path);
  if (!text || strncmp(text, head, sizeof head - 1) != 0) status = FRIX_ERROR_FILE;
  bool first = true;
  for (char *line = status ? NULL : text + sizeof head - 1; line && *line && !status; first = false) {
    char name[NAME], *end = strchr(line, '\n');
    if (end) *end = 0;
    snprintf(name, sizeof name, "%.*s%s", (int)folder, path, line);
    unsigned char *bytes = read_file(name, &size);
    snprintf(trouble, room, "%s: cannot be read", name);
    status = bytes ? frix_bed_load(bed, bytes, size, first) : FRIX_ERROR_FILE;
    if (bytes && status) *trouble = 0; /* the context tells */
    free(bytes);
    line = end ? end + 1 : NULL;
  }
  if (!status && first) {
    snprintf(trouble, room, "%s: names no parts", path);
    status = FRIX_ERROR_FILE;
  }
  free(text);
  return status;
}

/* ---- the run ---- */

static void count(ex_bed_outcome *o, const frix_bed_report *r) {
  o->steps++, o->certified += r->certified, o->sweeps += r->sweeps, o->came += r->came, o->left += r->left;
  o->grains = r->grain_count, o->seconds += r->seconds, o->last = *r;
  if (!(r->certificate.residual <= o->worst)) o->worst = r->certificate.residual;
}

static frix_status go(frix_context *context, const ex_bed_job *job, frix_bed *bed, frix_recorder *frames,
                      ex_bed_outcome *o) {
  double left = job->time - frix_bed_time(bed); /* a state may come from steps of another length */
  int64_t before = -1, last = frix_bed_step_count(bed) + (left > 0.0 ? (int64_t)(left / job->h + 0.5) : 0);
  frix_status status = frames ? frix_recorder_add_bed(frames, bed, NULL, job->contacts) : FRIX_OK;
  while (!status && frix_bed_step_count(bed) < last) {
    frix_bed_report r;
    if (job->scene->drive) status = job->scene->drive(bed, job->value, job->h);
    if (!status) status = frix_bed_step(bed, job->h, &r);
    if (status) break;
    count(o, &r);
    if (job->tell) job->tell(bed, &r, job->user);
    int64_t step = frix_bed_step_count(bed);
    if (frames && step % job->every == 0) status = frix_recorder_add_bed(frames, bed, &r, job->contacts);
    if (!status && job->save && job->out && step % job->save == 0) status = save_state(context, job, bed, &before);
  }
  return status;
}

frix_status ex_bed_run(frix_context *context, const ex_bed_job *job, ex_bed_outcome *out) {
  frix_bed_config config = frix_bed_default();
  frix_bed *bed = NULL;
  frix_model *model = NULL;
  frix_recorder *frames = NULL;
  char trouble[2 * NAME] = "";
  *out = (ex_bed_outcome){0};
  config.tolerance = job->tolerance, config.thread_count = job->threads, config.link = job->link;
  if (job->max_sweeps) config.max_sweeps = job->max_sweeps;
  frix_status status = job->scene->build(context, &config, job->value, job->seed, &bed);
  if (!status && job->resume) status = load_state(job->resume, bed, trouble, sizeof trouble);
  if (status && trouble[0]) fprintf(stderr, "frix: %s\n", trouble);
  if (!status && job->out) status = frix_bed_model(bed, &model);
  if (!status && job->out) status = begin_frames(context, job, model, &frames);
  if (!status) status = go(context, job, bed, frames, out);
  frix_status closed = frix_recorder_close(frames);
  if (!status) status = closed;
  if (!status) status = frix_bed_hash(bed, &out->hash);
  out->bytes = frix_bed_bytes(bed);
  frix_model_destroy(model);
  frix_bed_destroy(bed);
  return status;
}
