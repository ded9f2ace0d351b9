/* A device that follows a file: lines "time,x,y,z" with ascending times, straight between them, and where it was last
 * behind the end. Places are in metres from where the body starts. */
#include <math.h>
#include <stdlib.h>

#include "device.h"

typedef struct path {
  fx_hand start;
  double (*row)[4];
  int64_t count, at;
} path;

static bool read_rows(FILE *file, const char *name, path *p) {
  char line[256], rest;
  for (int64_t number = 1; fgets(line, sizeof line, file); number++) {
    double r[4];
    int found = sscanf(line, "%lf,%lf,%lf,%lf %c", &r[0], &r[1], &r[2], &r[3], &rest);
    if (number == 1 && found < 1) continue; /* names of the columns */
    bool later = !p->count || r[0] > p->row[p->count - 1][0];
    if (found != 4 || !isfinite(r[0] + r[1] + r[2] + r[3]) || !later) {
      fx_error("%s:%lld: expected time,x,y,z with a later time than before", name, (long long)number);
      return false;
    }
    p->row = fx_grow(p->row, (size_t)p->count + 1, sizeof *p->row);
    for (int k = 0; k < 4; k++) p->row[p->count][k] = r[k];
    p->count++;
  }
  if (!p->count) fx_error("%s: no line time,x,y,z", name);
  return p->count > 0;
}

static void path_close(void *device) {
  path *p = device;
  if (p) free(p->row);
  free(p);
}

static void *path_open(const char *argument, const fx_hand *start) {
  FILE *file = argument ? fopen(argument, "r") : NULL;
  if (!file) {
    fx_error("device path: %s", argument ? argument : "wants --path FILE.csv with lines time,x,y,z");
    return NULL;
  }
  path *p = fx_grow(NULL, 1, sizeof *p);
  *p = (path){.start = *start};
  bool good = read_rows(file, argument, p);
  fclose(file);
  if (good) return p;
  path_close(p);
  return NULL;
}

static void path_read(void *device, double time, fx_hand *out) {
  path *p = device;
  while (p->at + 1 < p->count && p->row[p->at + 1][0] <= time) p->at++;
  const double *a = p->row[p->at], *b = p->row[p->at + 1 < p->count ? p->at + 1 : p->at];
  double part = b > a && time > a[0] ? (time - a[0]) / (b[0] - a[0]) : 0,
         rate = b > a && time >= a[0] ? 1 / (b[0] - a[0]) : 0;
  double place[3], speed[3];
  for (int k = 0; k < 3; k++) {
    place[k] = a[k + 1] + part * (b[k + 1] - a[k + 1]);
    speed[k] = rate * (b[k + 1] - a[k + 1]);
  }
  *out = p->start;
  out->pose.p.x += place[0], out->pose.p.y += place[1], out->pose.p.z += place[2];
  out->velocity = (frix_vec3){speed[0], speed[1], speed[2]};
  out->spin = (frix_vec3){0, 0, 0};
}

const fx_device fx_device_path = {
    .name = "path",
    .summary = "FILE.csv of lines time,x,y,z, metres from where the body starts",
    .open = path_open,
    .read = path_read,
    .close = path_close,
};
