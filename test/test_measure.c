/* frix measure against packings whose numbers are known: a column of balls, a lattice, a triangle of discs, free fall.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

static const double pi = 3.14159265358979323846;

/* The number behind "key": in a JSON text, NaN where there is none. */
static double number(const char *text, const char *key) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\": ", key);
  const char *at = strstr(text, wanted);
  char *end = NULL;
  double value = at ? strtod(at + strlen(wanted), &end) : NAN;
  return at && end != at + strlen(wanted) ? value : NAN;
}

/* A value of a table: row from 0, column by name. */
static double cell(fx_test *t, const char *file, int row, const char *column) {
  char *text = shell_read(fx_test_scratch(t, file)), *line = text, names[4096];
  double value = NAN;
  snprintf(names, sizeof names, "%.*s", (int)strcspn(text, "\n"), text);
  for (int k = -1; line && k < row; k++) line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
  for (char *name = names; line && name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
    if (!strncmp(name, column, strlen(column)) && strchr(",\r\n", name[strlen(column)])) value = strtod(line, NULL);
    line += strcspn(line, ",\n") + 1;
  }
  free(text);
  return value;
}

/* Ten balls one on the other: every ball but the top one has two contacts, forces are those of the weights above, and
 * sigma_zz averages to half of the weight over the section. */
static void column(fx_test *t) {
  const double r = 0.15, n = 10, mass = 1000 * 4.0 / 3.0 * pi * r * r * r, weight = 9.81 * mass;
  shell_result run = shell(t, "$frix run drop5 --set n=10 --set height=0 --time 0.05 --contact rigid --out c.frx");
  CHECK(t, run.code == 0);
  shell_free(&run);
  run = shell(t, "$frix measure c.frx --frames 5 --box -0.2:0.2,-0.2:0.2,0:3 --grid 1,1,10 --csv c --json");
  CHECK(t, run.code == 0 && shell_json(run.out));
  const char *o = run.out;
  CHECK_NEAR(t, number(o, "grains"), n, 1e-9);
  CHECK_NEAR(t, number(o, "packing"), n * 4.0 / 3.0 * pi * r * r * r / (0.4 * 0.4 * 3), 1e-9);
  CHECK_NEAR(t, number(o, "coordination"), 1.9, 1e-9);
  CHECK_NEAR(t, number(o, "rattlers"), 1, 1e-9); /* the top ball has one neighbour; without it the next, and so on */
  CHECK_NEAR(t, number(strstr(o, "\"fabric\""), "zz"), 1, 1e-6);
  CHECK_NEAR(t, number(o, "anisotropy"), 1, 1e-6);
  CHECK_NEAR(t, number(strstr(o, "\"stress\""), "zz"), n * weight * n * r / (0.4 * 0.4 * 3), 1e-3 * weight);
  CHECK_NEAR(t, number(o, "force_mean"), 5.5 * weight, 1e-3 * weight);
  CHECK_NEAR(t, number(o, "force_most"), n * weight, 1e-3 * weight);
  CHECK_NEAR(t, cell(t, "c_grid.csv", 0, "stress_zz"), (2 * n - 1) * weight * r / (0.4 * 0.4 * 0.3), 1e-2 * weight);
  CHECK_NEAR(t, cell(t, "c_grid.csv", 9, "stress_zz"), weight * r / (0.4 * 0.4 * 0.3), 1e-2 * weight);
  shell_free(&run);
  run = shell(t, "$frix measure c.frx --frames 5 --box :,:,0:3 --rattlers 1 --json");
  CHECK_NEAR(t, number(run.out, "rattlers"), 0, 0);
  CHECK_NEAR(t, number(run.out, "coordination_bearing"), 1.9, 1e-9);
  shell_free(&run);
}

/* Spheres on a face-centred cubic lattice, touching: 0.74048 of the space, 12 neighbours at the diameter. */
static void lattice(fx_test *t) {
  enum { SIDE = 8 };
  static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  FILE *file = fopen(fx_test_scratch(t, "fcc.xml"), "w");
  REQUIRE(t, file);
  fprintf(file, "<mujoco><option gravity='0 0 0' timestep='0.01'/><worldbody>\n");
  for (int k = 0; k < 4 * SIDE * SIDE * SIDE; k++) {
    const double *c = corner[k % 4];
    int n = k / 4;
    fprintf(file, "<body pos='%.12g %.12g %.12g'><freejoint/><geom type='sphere' size='%.15g'/></body>\n",
            n % SIDE + c[0], n / SIDE % SIDE + c[1], n / SIDE / SIDE + c[2], 0.9999 * sqrt(0.125));
  }
  fprintf(file, "</worldbody></mujoco>\n");
  fclose(file);
  shell_result r = shell(t,
                         "$frix run fcc.xml --time 0.02 --out f.frx && $frix measure f.frx --json --reach 2"
                         " --box 1.1:6.1,1.3:6.3,1.7:6.7 --grid 5,5,5 --csv f --npz f --vtk f --svg f");
  CHECK(t, r.code == 0);
  const char *o = strstr(r.out, "{\"file\"") ? strstr(r.out, "{\"file\"") : r.out;
  double fraction = pi / sqrt(18.0) * pow(0.9999, 3);
  CHECK_NEAR(t, number(o, "packing"), fraction, 2e-3);
  CHECK_NEAR(t, number(o, "grains"), 500, 1);
  CHECK_NEAR(t, number(o, "radial_peak_at"), 1, 0.01);
  double solid = number(o, "solid");
  CHECK_NEAR(t, solid, fraction, 0.01);
  CHECK_NEAR(t, cell(t, "f_grid.csv", 62, "packing"), fraction, 5e-3);
  double pairs = 0, far = 0;
  for (int k = 0; k < 200; k++) {
    double x = cell(t, "f_correlation.csv", k, "r"), d = sqrt(0.5), width = 2 * d / 200, a = x - width / 2,
           b = x + width / 2;
    if (x < 1.2 * d) pairs += 4 * cell(t, "f_correlation.csv", k, "radial") * 4.0 / 3.0 * pi * (b * b * b - a * a * a);
    if (k < 3) CHECK_NEAR(t, cell(t, "f_correlation.csv", k, "two_point"), fraction, 0.1);
    if (k >= 100) far += cell(t, "f_correlation.csv", k, "two_point") / 100;
  }
  CHECK_NEAR(t, pairs, 12, 0.05);
  CHECK_NEAR(t, far, fraction * fraction, 0.03);
  shell_free(&r);
  /* Nothing has moved, and another frame has other points all the same. */
  r = shell(t, "$frix measure f.frx --json --reach 2 --box 1.1:6.1,1.3:6.3,1.7:6.7 --frames 1:1");
  CHECK(t, number(r.out, "solid") != solid);
  shell_free(&r);
  r = shell(t, "head -1 f_grid.vtk f_grains.vtk; tail -1 f_grid.svg; ls f_*.npz");
  CHECK(t, strstr(r.out, "vtk DataFile") && strstr(r.out, "</svg>") && strstr(r.out, "f_correlation.npz"));
  shell_free(&r);
}

/* A triangle of discs has sides of 60 degrees. */
static void heap(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run cannonball --set levels=30 --time 0.1 --out h.frx && "
                         "$frix measure h.frx --frames 2 --json");
  CHECK(t, r.code == 0);
  const char *o = strstr(r.out, "{\"file\"") ? strstr(r.out, "{\"file\"") : r.out;
  CHECK_NEAR(t, number(o, "repose_angle"), 60, 2.5);
  CHECK_NEAR(t, number(o, "dimension"), 2, 0);
  CHECK_NEAR(t, number(o, "radial_peak_at"), 1, 0.02);
  shell_free(&r);
}

/* In free fall nothing spreads, all of it drifts, and what falls through a plane is counted once. */
static void falls(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run drop5 --set height=3 --time 0.5 --every 10 --out d.frx && "
                         "$frix measure d.frx --plane 3.5 --csv d --json --box -1:1,-1:1,0:9");
  CHECK(t, r.code == 0);
  const char *o = strstr(r.out, "{\"file\"") ? strstr(r.out, "{\"file\"") : r.out;
  CHECK_NEAR(t, number(o, "msd"), 0, 1e-14);
  CHECK_NEAR(t, number(o, "followed"), 5, 0);
  CHECK_NEAR(t, cell(t, "d_series.csv", 10, "drift_z"), -0.5 * 9.81 * 0.5 * 0.505, 1e-9);
  CHECK_NEAR(t, number(o, "flow"), 3 / 0.5, 1e-6); /* at 3.75, 4.05 and 4.35 before, below 3.5 at the end */
  CHECK_NEAR(t, number(o, "jumps"), 0, 0);
  shell_free(&r);
}

/* Fuel that comes back on top is no displacement; residence is the time between two returns. */
static void recirculates(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run pebbles --set n=60 --set outlet=20 --time 3 --every 4 --tol 1e-4 --out p.frx; "
                         "$frix measure p.frx --cylinder 0,0,0.18,-0.4:1 --grid 3,4 --plane -0.1 --json --csv p");
  CHECK(t, r.code == 0);
  const char *o = strstr(r.out, "{\"file\"") ? strstr(r.out, "{\"file\"") : r.out;
  double jumps = number(o, "jumps"), most = number(o, "residence_most");
  CHECK(t, jumps > 60);
  CHECK(t, number(o, "residence_least") > 0.2 && most < 3);
  CHECK(t, number(o, "flow") > 20 && number(o, "followed") == 0);
  CHECK(t, cell(t, "p_grid.csv", 0, "vz") < -0.1); /* it falls through the middle */
  double flow = number(o, "flow"), turnover = number(o, "turnover");
  CHECK_NEAR(t, turnover, 60 / flow, 1e-6 * turnover);
  shell_free(&r);
  /* frames ten times as far apart: who went through the plane and came back meanwhile counts */
  r = shell(t, "$frix measure p.frx --frames 0::10 --cylinder 0,0,0.18,-0.4:1 --plane -0.1 --json");
  CHECK(t, r.code == 0);
  CHECK_NEAR(t, number(r.out, "flow"), flow, 0.15 * flow);
  shell_free(&r);
}

static void refuses(fx_test *t) {
  static const struct {
    const char *words, *said;
  } row[] = {{"b.frx --box 1:0", "--box"},
             {"b.frx --box 1", "--box"},
             {"b.frx --box 0:1 --cylinder 0,0,1", "either"},
             {"b.frx --cylinder 0,0", "--cylinder"},
             {"b.frx --cylinder 0,0,-1", "--cylinder"},
             {"b.frx --grid 0,1,1", "--grid"},
             {"b.frx --grid 1,1", "--grid"},
             {"b.frx --frames 99:", "--frames"},
             {"b.frx --plane nan", "--plane"},
             {"b.frx --csv none/there", "none"},
             {"absent.frx", "absent.frx"}};
  shell_result r = shell(t, "$frix run balls --time 0.02 --out b.frx");
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
    r = shell(t, "$frix measure %s", row[k].words);
    if (r.code != 2 || !strstr(r.err, row[k].said))
      fx_test_fail(t, __FILE__, __LINE__, "measure %s: exit code %d, %s", row[k].words, r.code, r.err);
    shell_free(&r);
  }
}

/* Beds keep no ledger: what they lost is not told, instead of nothing lost. */
static void bed_losses(fx_test *t) {
  shell_result r = shell(t, "$frix bed box --set n=20 --time 0.02 --every 5 --out b.frx && $frix measure b.frx --json");
  CHECK(t, r.code == 0 && strstr(r.out, "\"lost\": null"));
  shell_free(&r);
}

const fx_test_row test_measure[] = {{"measure/column", column},
                                    {"measure/lattice", lattice},
                                    {"measure/heap", heap},
                                    {"measure/falls", falls},
                                    {"measure/recirculates", recirculates},
                                    {"measure/refuses", refuses},
                                    {"measure/bed_losses", bed_losses},
                                    {0}};
