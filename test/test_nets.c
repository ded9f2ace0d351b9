/* Nets of more bodies than one tree may have: each is a tree of its own, with rows between them. */
#include <stdio.h>
#include <string.h>

#include "shell.h"

/* A string of 400 free balls, 2,400 coordinates, held at its first: merged into one tree they left the room of a tree's
 * arrays. */
static void string(fx_test *t) {
  FILE *file = fopen(fx_test_scratch(t, "string.xml"), "w");
  REQUIRE(t, file);
  fprintf(file, "<mujoco><option timestep='0.005'/><worldbody>\n");
  for (int k = 0; k < 400; k++)
    fprintf(file,
            "<body name='b%d' pos='0 0 %g'><freejoint/><geom type='sphere' size='.03' contype='0' conaffinity='0'/>"
            "</body>\n",
            k, -0.1 * k);
  fprintf(file, "</worldbody><equality><connect body1='b0' anchor='0 0 0.05'/>\n");
  for (int k = 0; k + 1 < 400; k++) fprintf(file, "<connect body1='b%d' body2='b%d' anchor='0 0 -0.05'/>\n", k, k + 1);
  fprintf(file, "</equality></mujoco>\n");
  fclose(file);
  shell_result r = shell(t, "$frix run string.xml --time 0.01 --tol 1e-8");
  CHECK(t, r.code == 0 && strstr(r.out, "2 of 2 steps"));
  shell_free(&r);
}

const fx_test_row test_nets[] = {{"nets/string", string}, {0}};
