/* Verdicts on tables: a block on slopes against the closed form up to the margin of the table, grasps whose friction is
 * taken away to the least that holds, tables that are cut off and gone on with, parts that make up the whole. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

/* A block on a slope stands where tan(angle) <= mu; the least part of its friction is tan(angle) / mu. */
static void slopes(fx_test *t) {
  enum { ROWS = 200 };
  double least[ROWS];
  int wrong = 0, near = 0;
  const double pi = 3.14159265358979323846;
  double worst = 0;
  const char *path = fx_test_scratch(t, "slopes.csv");
  FILE *file = fopen(path, "w");
  REQUIRE(t, file != NULL);
  fprintf(file, "mu,angle\n");
  for (int k = 0; k < ROWS; k++) {
    double mu = 0.5 + 0.3 * fx_test_random(t), off = pow(10, -8.0 * k / ROWS) * (k % 2 ? 1 : -1) * 0.3;
    double angle = atan(mu * (1 + off));
    least[k] = tan(angle) / mu;
    fprintf(file, "%.17g,%.17g\n", mu, 180 / pi * angle);
  }
  fclose(file);
  shell_result r = shell(t,
                         "$frix label '%s' incline --out v.csv && $frix label '%s' incline --tol 1e-4 --out w.csv && "
                         "cmp v.csv w.csv && cat v.csv",
                         path, path);
  CHECK(t, r.code == 0 || r.code == 1);
  const char *line = strchr(r.out, '\n');
  line = line ? strchr(line + 1, '\n') : NULL;
  for (int k = 0; k < ROWS && line; k++, line = strchr(line + 1, '\n')) {
    char verdict[16] = "";
    double margin, friction;
    if (sscanf(line + 1, "%*d,%15[a-z],%lf,%lf", verdict, &margin, &friction) < 2) break;
    bool stands = !strcmp(verdict, "stands"), should = least[k] <= 1;
    if (fabs(least[k] - 1) < 1e-6) {
      near++;
      continue;
    }
    wrong += stands != should || !strcmp(verdict, "undecided");
    if (stands) worst = fmax(worst, fabs(friction - least[k]));
  }
  fx_test_note(t, "%d rows, %d within 1e-6 of the limit, %d wrong; least friction off by %.1e", ROWS, near, wrong,
               worst);
  CHECK(t, wrong == 0);
  CHECK(t, worst < 1e-6);
  CHECK(t, line && !line[1]);
  shell_free(&r);
}

static const char grasp[] =
    "<mujoco><worldbody>\n"
    "<body name=\"object\"><freejoint/><geom type=\"box\" size=\"0.04 0.04 0.06\" mass=\"0.5\" "
    "friction=\"0.6\"/></body>\n"
    "<body name=\"left\" mocap=\"true\" pos=\"-0.0599999 0 0\"><geom type=\"sphere\" size=\"0.02\" "
    "friction=\"0.6\"/></body>\n"
    "<body name=\"right\" mocap=\"true\" pos=\"0.0599999 0 0\"><geom type=\"sphere\" size=\"0.02\" "
    "friction=\"0.6\"/></body>\n"
    "<body name=\"third\" mocap=\"true\" pos=\"0 0.0599999 0\"><geom type=\"sphere\" size=\"0.02\" "
    "friction=\"0.6\"/></body>\n"
    "</worldbody></mujoco>\n";

static bool write_grasps(fx_test *t, int rows) {
  FILE *world = fopen(fx_test_scratch(t, "grasp.xml"), "w"), *table = fopen(fx_test_scratch(t, "grasps.csv"), "w");
  if (world) fputs(grasp, world), fclose(world);
  if (!world || !table) return false;
  fprintf(table, "name,left.y,left.z,right.y,right.z,third.x,third.z\n");
  for (int k = 0; k < rows; k++) {
    fprintf(table, "g%d", k);
    for (int e = 0; e < 6; e++) fprintf(table, ",%.6f", 0.035 * fx_test_random(t));
    fprintf(table, "\n");
  }
  fclose(table);
  return true;
}

static void grasps(fx_test *t) {
  enum { ROWS = 300 };
  REQUIRE(t, write_grasps(t, ROWS));
  char where[1024];
  snprintf(where, sizeof where, "%s", fx_test_scratch(t, "grasps.csv"));
  shell_result r = shell(t, "$frix label '%s' '%s' --out all.csv --json", where, fx_test_scratch(t, "grasp.xml"));
  CHECK(t, r.code == 0 && strstr(r.out, "\"rows\": 300"));
  const char *rate = strstr(r.out, "\"rate\": ");
  fx_test_note(t, "%.0f rows a second of CPU time", rate ? strtod(rate + 8, NULL) : 0);
  shell_free(&r);
  /* cut off within a line, and gone on with */
  r = shell(t, "head -c 5000 all.csv > cut.csv && $frix label '%s' '%s' --out cut.csv && cmp all.csv cut.csv", where,
            fx_test_scratch(t, "grasp.xml"));
  CHECK(t, r.code == 0);
  shell_free(&r);
  /* two parts are the whole */
  r = shell(t,
            "for k in 1 2; do $frix label '%s' '%s' --out part$k.csv --part $k/2 || exit 9; done; "
            "grep -hv '^[#r]' part1.csv part2.csv | sort -n > parts.txt; grep -v '^[#r]' all.csv > whole.txt; "
            "cmp parts.txt whole.txt",
            where, fx_test_scratch(t, "grasp.xml"));
  CHECK(t, r.code == 0);
  shell_free(&r);
  r = shell(t, "echo other > all.csv; $frix label '%s' '%s' --out all.csv", where, fx_test_scratch(t, "grasp.xml"));
  CHECK(t, r.code == 2 && strstr(r.err, "not the output of this table"));
  shell_free(&r);
  r = shell(t, "printf 'charm\\n1\\n' > bad.csv; $frix label bad.csv incline --out bad_out.csv");
  CHECK(t, r.code == 2 && strstr(r.err, "charm"));
  shell_free(&r);
}

const fx_test_row test_label[] = {{"label/slopes", slopes}, {"label/grasps", grasps}, {0}};
