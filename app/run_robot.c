/* A robot in a run: controls by name or from a table, sensors into a table.
 *
 *   --ctrl NAME=X       the control of an actuator from the start on; '*' is all of them
 *   --ctrl-file FILE    time,NAME,NAME...: each row holds from its time on, to the next
 *   --sensors FILE      time and the data of every sensor after each step */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <frix/robot.h>

enum { MOST_COLUMNS = 4096, MOST_BYTES = 256 << 20 };

struct fx_run_robot {
  const frix_robot *robot;
  frix_robot_state *state; /* of the run; NULL: of any sim */
  double *first;           /* controls from the start on, NaN: as they are */
  char *text;              /* of the table */
  int32_t *column;         /* actuator of each */
  double *row;             /* time and values */
  int64_t row_count, next;
  int32_t column_count;
  fx_output *sensors;
};

/* ---- controls ---- */

/* Where its control stands, the first of several; -1: there is none. */
static int32_t find_control(const frix_robot *robot, const char *flag, const char *name) {
  frix_robot_actuator row;
  int32_t k = frix_robot_find(robot, FRIX_ROBOT_ACTUATOR, name);
  bool found = k >= 0 && !frix_robot_get_actuator(robot, k, &row);
  if (found && row.ctrl_count) return row.ctrl_first;
  if (found) fx_remark("'%s' has no control", name);
  fx_error("%s: the robot has no actuator '%s'", flag, name);
  frix_robot_info info = frix_robot_view(robot);
  for (int32_t i = 0; i < info.actuator_count && i < 40; i++)
    if (frix_robot_name(robot, FRIX_ROBOT_ACTUATOR, i))
      fx_remark("there is '%s'", frix_robot_name(robot, FRIX_ROBOT_ACTUATOR, i));
  return -1;
}

static bool read_number(const char *flag, const char *text, double *out) {
  char *end;
  errno = 0;
  *out = strtod(text, &end);
  while (*end == ' ' || *end == '\t' || *end == '\r') end++;
  if (end != text && !*end && isfinite(*out)) return true;
  fx_error("%s: '%.30s' is not a finite number", flag, text);
  return false;
}

static bool set_controls(const fx_run_robot *r, const fx_args *args, double *ctrl, int32_t count) {
  int cursor = 0;
  for (const char *text; (text = fx_arg_next(args, "--ctrl", &cursor));) {
    char *name = NULL;
    const char *value = NULL;
    if (!fx_split_setting(text, &name, &value)) return false;
    bool all = !strcmp(name, "*");
    double x = 0;
    int32_t k = all ? 0 : find_control(r->robot, "--ctrl", name);
    free(name);
    if (k < 0 || !read_number("--ctrl", value, &x)) return false;
    int32_t end = all ? count : k + 1;
    for (; k < end; k++) ctrl[k] = x;
  }
  return true;
}

/* ---- the table ---- */

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t count = 0, room = 0;
  if (!file) {
    fx_error("%s: %s", path, strerror(errno));
    return NULL;
  }
  for (;;) {
    if (count + 4096 > room) text = fx_grow(text, room = 2 * room + 8192, 1);
    size_t got = fread(text + count, 1, room - count - 1, file);
    count += got;
    if (got == 0 || count > MOST_BYTES) break;
  }
  bool good = !ferror(file) && count <= MOST_BYTES;
  fclose(file);
  if (!good) {
    fx_error("%s: cannot be read, or is larger than %d MB", path, MOST_BYTES >> 20);
    free(text);
    return NULL;
  }
  text[count] = 0;
  return text;
}

/* The next field of a line, and past it; NULL: the line is over. */
static char *next_field(char **at) {
  char *field = *at;
  if (!field) return NULL;
  char *comma = strchr(field, ',');
  if (comma) *comma = 0;
  *at = comma ? comma + 1 : NULL;
  while (*field == ' ' || *field == '\t') field++;
  for (char *end = field + strlen(field); end > field && strchr(" \t\r", end[-1]);) *--end = 0;
  return field;
}

static bool read_header(fx_run_robot *r, const char *path, char *line) {
  char *field = next_field(&line);
  if (!field || strcmp(field, "time")) {
    fx_error("%s: the first column is 'time', then names of actuators", path);
    return false;
  }
  r->column = fx_grow(NULL, MOST_COLUMNS, sizeof *r->column);
  while ((field = next_field(&line))) {
    if (r->column_count == MOST_COLUMNS) {
      fx_error("%s: more than %d columns", path, MOST_COLUMNS);
      return false;
    }
    int32_t k = find_control(r->robot, path, field);
    if (k < 0) return false;
    for (int32_t n = 0; n < r->column_count; n++)
      if (r->column[n] == k) {
        fx_error("%s: two columns are called '%s'", path, field);
        return false;
      }
    r->column[r->column_count++] = k;
  }
  return true;
}

static bool read_row(fx_run_robot *r, const char *path, char *line, int64_t *room) {
  int32_t width = r->column_count + 1, count = 0;
  if (r->row_count == *room) {
    *room = 2 * *room + 64;
    r->row = fx_grow(r->row, (size_t)*room * (size_t)width, sizeof *r->row);
  }
  double *row = r->row + r->row_count * width;
  for (char *field; (field = next_field(&line)); count++)
    if (count < width && !read_number(path, field, &row[count])) return false;
  if (count != width) {
    fx_error("%s: row %lld has %d numbers, the header %d", path, (long long)r->row_count + 1, (int)count, (int)width);
    return false;
  }
  if (r->row_count > 0 && !(row[0] > row[-width])) {
    fx_error("%s: row %lld: times do not ascend", path, (long long)r->row_count + 1);
    return false;
  }
  r->row_count++;
  return true;
}

static bool read_table(fx_run_robot *r, const char *path) {
  bool head = true;
  int64_t room = 0;
  if (!(r->text = read_text(path))) return false;
  for (char *line = r->text; line;) {
    char *end = strchr(line, '\n'), *next = end ? end + 1 : NULL;
    if (end) *end = 0;
    bool empty = line[strspn(line, " \t\r")] == 0;
    if (!empty && !(head ? read_header(r, path, line) : read_row(r, path, line, &room))) return false;
    head &= empty;
    line = next;
  }
  if (head) fx_error("%s: is empty", path);
  return !head;
}

/* ---- sensors ---- */

static bool open_sensors(fx_run_robot *r, frix_context *context, const char *path) {
  if (!(r->sensors = fx_output_open(context, path))) return false;
  frix_robot_info info = frix_robot_view(r->robot);
  fprintf(r->sensors->file, "time");
  for (int32_t k = 0; k < info.sensor_count; k++) {
    frix_robot_sensor sensor;
    char name[256];
    frix_robot_get_sensor(r->robot, k, &sensor);
    for (int32_t n = 0; n < sensor.count; n++) {
      snprintf(name, sizeof name, sensor.count > 1 ? "%s.%d" : "%s", sensor.name ? sensor.name : "sensor", (int)n);
      putc(',', r->sensors->file);
      fx_csv_text(r->sensors->file, name);
    }
  }
  putc('\n', r->sensors->file);
  return true;
}

/* ---- in a run ---- */

static bool wanted(const fx_args *begun, const fx_args *args) {
  int cursor = 0;
  if (!begun->verb) return fx_arg(args, "--sensors"); /* of a file that does not say how it began */
  return fx_arg_next(begun, "--ctrl", &cursor) || fx_arg(begun, "--ctrl-file") || fx_arg(args, "--sensors");
}

bool fx_run_robot_open(const fx_run *run, const fx_args *begun, const fx_args *args, fx_run_robot **out) {
  *out = NULL;
  if (!wanted(begun, args)) return true;
  frix_robot_state *state = frix_sim_robot(run->sim);
  if (!state || !frix_model_robot(run->subject.model)) { /* trees of joints have no controls */
    fx_error("--ctrl, --ctrl-file and --sensors are for robots in reduced coordinates; %s has none", run->subject.word);
    return false;
  }
  fx_run_robot *r = *out = fx_grow(NULL, 1, sizeof *r);
  *r = (fx_run_robot){.robot = frix_model_robot(run->subject.model), .state = state};
  const char *table = begun->verb ? fx_arg(begun, "--ctrl-file") : NULL;
  if (table && !read_table(r, table)) return false;
  int32_t count;
  double *ctrl = frix_robot_data(state, FRIX_ROBOT_CTRL, &count);
  if (begun->verb && frix_sim_step_count(run->sim) == 0 && !set_controls(r, begun, ctrl, count)) return false;
  return !fx_arg(args, "--sensors") || open_sensors(r, run->context, fx_arg(args, "--sensors"));
}

void fx_run_robot_drive(fx_run_robot *r, const frix_sim *sim) {
  int32_t width = r ? r->column_count + 1 : 0;
  while (r && r->next < r->row_count && r->row[r->next * width] <= frix_sim_time(sim) + 1e-12) {
    double *ctrl = frix_robot_data(r->state, FRIX_ROBOT_CTRL, NULL);
    for (int32_t k = 0; k < r->column_count; k++) ctrl[r->column[k]] = r->row[r->next * width + 1 + k];
    r->next++;
  }
}

/* ---- of any sim of the model ---- */

bool fx_run_controls_open(const frix_model *model, const char *word, const fx_args *begun, fx_run_robot **out) {
  int32_t count = 0, cursor = 0;
  *out = NULL;
  if (!begun->verb || (!fx_arg_next(begun, "--ctrl", &cursor) && !fx_arg(begun, "--ctrl-file"))) return true;
  const frix_robot *robot = frix_model_robot(model);
  if (!robot) {
    fx_error("--ctrl and --ctrl-file are for robots in reduced coordinates; %s has none", word);
    return false;
  }
  fx_run_robot *r = *out = fx_grow(NULL, 1, sizeof *r);
  *r = (fx_run_robot){.robot = robot};
  for (int32_t k = 0; k < frix_robot_view(robot).actuator_count; k++) {
    frix_robot_actuator row;
    if (!frix_robot_get_actuator(robot, k, &row) && row.ctrl_first + row.ctrl_count > count)
      count = row.ctrl_first + row.ctrl_count;
  }
  r->first = fx_grow(NULL, (size_t)count + 1, sizeof *r->first);
  for (int32_t k = 0; k < count; k++) r->first[k] = NAN;
  const char *table = fx_arg(begun, "--ctrl-file");
  return (!table || read_table(r, table)) && set_controls(r, begun, r->first, count);
}

void fx_run_controls_drive(const fx_run_robot *r, frix_sim *sim) {
  frix_robot_state *state = r ? frix_sim_robot(sim) : NULL;
  if (!state) return;
  int32_t count, width = r->column_count + 1;
  double *ctrl = frix_robot_data(state, FRIX_ROBOT_CTRL, &count);
  for (int32_t k = 0; k < count && frix_sim_step_count(sim) == 0; k++)
    if (!isnan(r->first[k])) ctrl[k] = r->first[k];
  int64_t row = -1;
  while (row + 1 < r->row_count && r->row[(row + 1) * width] <= frix_sim_time(sim) + 1e-12) row++;
  for (int32_t k = 0; k < r->column_count && row >= 0; k++) ctrl[r->column[k]] = r->row[row * width + 1 + k];
}

/* ---- the same robot ---- */

/* FNV over everything that is known of the robot where every coordinate moves and every control acts. */
bool fx_robot_mark(const frix_robot *robot, char out[FX_MARK_SIZE]) {
  frix_robot_state *state = NULL;
  if (frix_robot_state_create(robot, &state)) return false;
  int32_t count;
  double *qvel = frix_robot_data(state, FRIX_ROBOT_QVEL, &count);
  for (int32_t k = 0; k < count; k++) qvel[k] = 0.1 + 0.01 * k;
  double *ctrl = frix_robot_data(state, FRIX_ROBOT_CTRL, &count);
  for (int32_t k = 0; k < count; k++) ctrl[k] = 0.3 + 0.01 * k;
  double *act = frix_robot_data(state, FRIX_ROBOT_ACT, &count);
  for (int32_t k = 0; k < count; k++) act[k] = 0.2 + 0.01 * k;
  frix_robot_integrate(robot, frix_robot_data(state, FRIX_ROBOT_QPOS, NULL), qvel, 0.1);
  bool good = frix_robot_forward(state) == FRIX_OK;
  uint64_t hash = 14695981039346656037u;
  for (int a = 0; a < FRIX_ROBOT_ARRAY_COUNT; a++) {
    const unsigned char *bytes = (const unsigned char *)frix_robot_data(state, (frix_robot_array)a, &count);
    for (size_t k = 0; k < (size_t)count * sizeof(double); k++) hash = (hash ^ bytes[k]) * 1099511628211u;
  }
  frix_robot_state_destroy(state);
  snprintf(out, FX_MARK_SIZE, "%016" PRIx64, hash);
  return good;
}

bool fx_run_robot_sense(fx_run_robot *r, const fx_run *run) {
  if (!r || !r->sensors) return true;
  if (frix_sim_robot_sense(run->sim)) {
    fx_error("%s", frix_error_text(run->context));
    return false;
  }
  int32_t count;
  const double *data = frix_robot_data(r->state, FRIX_ROBOT_SENSOR_DATA, &count);
  fprintf(r->sensors->file, "%.17g", frix_sim_time(run->sim));
  for (int32_t k = 0; k < count; k++) fprintf(r->sensors->file, ",%.17g", data[k]);
  putc('\n', r->sensors->file);
  return true;
}

bool fx_run_robot_close(fx_run_robot *r, bool keep) {
  if (!r) return true;
  bool good = !r->sensors || fx_output_close(r->sensors, keep);
  free(r->first);
  free(r->text);
  free(r->column);
  free(r->row);
  free(r);
  return good;
}
