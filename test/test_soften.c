/* The commands soften, swing and info of soft bodies, and their file. */
#include <stdio.h>

#include "shell.h"
#include "soft_tools.h"

static void check_code(fx_test *t, shell_result r, int code, const char *said) {
  if (r.code != code || (said && !strstr(r.out, said) && !strstr(r.err, said)))
    fx_test_fail(t, __FILE__, __LINE__, "exit code %d, not %d, or without '%s': %s%s", r.code, code, said ? said : "",
                 r.out, r.err);
  shell_free(&r);
}

static void makes_and_shows(fx_test *t) {
  check_code(t, shell(t, "$frix soften bar --size 1,0.1,0.1 --order 1 --modes 5 --out bar.frixsoft"), 0, "5 modes");
  shell_result r = shell(t, "$frix info bar.frixsoft --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"coordinates\": 5") && strstr(r.out, "\"hertz\""));
  shell_free(&r);
  check_code(t, shell(t, "$frix info bar.frixsoft"), 0, "frequency");
  r = shell(t, "$frix swing bar.frixsoft --bend 1=0.02 --spin 0,2,0.5 --step 5e-4 --time 0.5 --json --csv a.csv");
  CHECK(t, r.code == 0 && shell_json(r.out));
  const char *spin = strstr(r.out, "\"spin_change\":"), *energy = strstr(r.out, "\"energy_change\":");
  CHECK(t, spin && strtod(spin + 14, NULL) < 1e-12);
  CHECK(t, energy && strtod(energy + 16, NULL) < 1e-3);
  shell_free(&r);
  r = shell(t, "wc -l <a.csv && head -1 a.csv");
  CHECK(t, r.code == 0 && strstr(r.out, "1002") && strstr(r.out, "time,kinetic,elastic,gravity,x,y,z,q1"));
  shell_free(&r);
  r = shell(t, "$frix swing bar.frixsoft --gravity 1,0,-9.81 --floor -0.05,0.5 --time 0.1 --json");
  CHECK(t, r.code == 0 && shell_json(r.out) && strstr(r.out, "\"certified\": 100"));
  shell_free(&r);
  check_code(t, shell(t, "$frix swing bar.frixsoft --floor 1"), 2, "--floor");
  check_code(t, shell(t, "$frix swing bar.frixsoft --integrator implicit --gravity 0,0,-9.81"), 0, "implicit");
}

/* Reading gives back what was written, to the bit. */
static void reads_what_it_wrote(fx_test *t) {
  lab l;
  frix_soft *a = NULL, *b = NULL;
  REQUIRE(t, lab_open(&l));
  frix_soft_config c = frix_soft_default();
  c.material = FRIX_SOFT_STVK, c.modes = 4, c.order = 1, c.damping_ratio = 0.1;
  const char *path = fx_test_scratch(t, "b.frixsoft");
  REQUIRE(t, !frix_soft_make(l.context, "blob", &c, &a));
  CHECK(t, !frix_soft_write(a, path) && !frix_soft_read(l.context, path, &b));
  if (b) {
    frix_soft_info x = frix_soft_view(a), y = frix_soft_view(b);
    double q[8] = {0.01, -0.02, 0.03, 0.01, 0.02, -0.01, 0.005, 0.01}, f[8], g[8];
    CHECK(t, x.coordinates == y.coordinates && x.point_count == y.point_count && x.mass == y.mass);
    CHECK(t, frix_soft_elastic(a, q, f, NULL) == frix_soft_elastic(b, q, g, NULL) && !memcmp(f, g, sizeof f));
    CHECK(t, !memcmp(x.shape, y.shape, 3 * (size_t)x.point_count * (size_t)x.coordinates * sizeof *x.shape));
    CHECK(t, !memcmp(x.damping, y.damping, (size_t)x.coordinates * sizeof *x.damping));
  }
  frix_soft_destroy(a);
  frix_soft_destroy(b);
  lab_close(&l);
}

/* Every byte counts, and so does the length. */
static void refuses_damaged_files(fx_test *t) {
  lab l;
  frix_soft *a = NULL, *b = NULL;
  REQUIRE(t, lab_open(&l));
  frix_soft_config c = frix_soft_default();
  c.modes = 2, c.order = 1;
  const char *path = fx_test_scratch(t, "b.frixsoft");
  REQUIRE(t, !frix_soft_make(l.context, "bar", &c, &a) && !frix_soft_write(a, path));
  FILE *file = fopen(path, "rb");
  REQUIRE(t, file != NULL);
  char *bytes = malloc(1 << 20);
  size_t count = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  for (size_t k = 0; k < 60; k++) {
    size_t at = k < 40 ? k : k * count / 61, cut = k % 2 ? count : count - 1;
    bytes[at] ^= 4;
    file = fopen(path, "wb");
    CHECK(t, file && fwrite(bytes, 1, cut, file) == cut && !fclose(file));
    CHECK(t, frix_soft_read(l.context, path, &b) == FRIX_ERROR_FORMAT && !b);
    CHECK(t, strstr(frix_error_text(l.context), "b.frixsoft") != NULL);
    bytes[at] ^= 4;
  }
  free(bytes);
  frix_soft_destroy(a);
  lab_close(&l);
}

static void refuses_nonsense(fx_test *t) {
  static const struct {
    const char *words, *said;
  } row[] = {
      {"soften", "MESH"},
      {"soften nosuch.msh", "nosuch.msh"},
      {"soften inverted.vtk", "inverted.vtk:12: tetrahedron 1 is inverted"},
      {"soften counts.ele", "counts.ele:3: expected the end after 1 tetrahedra"},
      {"soften bar.step", "soft bodies are made from"},
      {"soften bar --modes -1", "--modes"},
      {"soften bar --poisson 0.5", "--poisson"},
      {"soften bar --young -1", "--young"},
      {"soften bar --size 1,2", "--size"},
      {"soften bar --size 1,0,1", "no body has sides"},
      {"soften bar --order 1 --size 1,1,1 --modes 30", "modes"},
      {"soften bar --material rubber", "rubber"},
      {"soften bar --cells 1000", "too many"},
      {"swing nosuch.frixsoft", "nosuch"},
      {"swing empty.frixsoft", "not a soft body"},
  };
  shell_result r =
      shell(t,
            ": >empty.frixsoft; printf '4 3 0 0\\n1 0 0 0\\n2 1 0 0\\n3 0 1 0\\n4 0 0 1\\n' >counts.node;"
            "printf '1 4 0\\n1 1 2 3 4\\n2 1 2 3 4\\n' >counts.ele;"
            "printf '# vtk DataFile Version 3.0\\nt\\nASCII\\nDATASET UNSTRUCTURED_GRID\\nPOINTS 5 float\\n"
            "0 0 0 1 0 0\\n0 1 0\\n0 0 1\\n1 1 1\\nCELLS 2 10\\n4 0 1 2 3\\n4 1 2 4 3\\nCELL_TYPES 2\\n"
            "10 10\\n' >inverted.vtk");
  shell_free(&r);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    check_code(t, shell(t, "$frix %s", row[k].words), 2, row[k].said);
}

static bool stop_soon(const char *stage, double share, void *user) {
  (void)stage, (void)share;
  return ++*(int *)user > 2;
}

/* The same bits however often it is made; an end on demand; shapes by name. */
static void is_repeatable(fx_test *t) {
  lab l;
  frix_soft *a = NULL, *b = NULL;
  REQUIRE(t, lab_open(&l));
  frix_soft_config c = frix_soft_default();
  c.modes = 6, c.order = 1;
  CHECK(t, !frix_soft_make(l.context, "chair", &c, &a) && !frix_soft_make(l.context, "chair", &c, &b));
  frix_soft_info x = frix_soft_view(a), y = frix_soft_view(b);
  if (a && b) CHECK(t, !memcmp(x.shape, y.shape, 3 * (size_t)x.point_count * 6 * sizeof *x.shape));
  frix_soft_destroy(a);
  frix_soft_destroy(b);
  int calls = 0;
  c.progress = stop_soon, c.user = &calls;
  CHECK(t, frix_soft_make(l.context, "chair", &c, &a) == FRIX_ERROR_INPUT && !a && calls == 3);
  for (int k = 0; frix_soft_shape(k); k++) CHECK(t, frix_soft_shape(k)[0] != 0);
  lab_close(&l);
}

const fx_test_row test_soften[] = {{"soften/makes_and_shows", makes_and_shows},
                                   {"soften/reads_what_it_wrote", reads_what_it_wrote},
                                   {"soften/refuses_damaged_files", refuses_damaged_files},
                                   {"soften/refuses_nonsense", refuses_nonsense},
                                   {"soften/is_repeatable", is_repeatable},
                                   {0}};
