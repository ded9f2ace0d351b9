/* Broken and hostile parts of MJCF and URDF files: meshes whose indices lie outside, files that are cut, text that is
 * no UTF-8, classes and files that contain themselves, counts beyond all memory. Each ends with exit code 2 and one
 * line that names file and line. */
#include <frix/frix.h>
#include <stdio.h>
#include <string.h>

#include "shell.h"
#include "test.h"

#define WORLD(inside) "<mujoco>\n<worldbody>\n" inside "\n</worldbody>\n</mujoco>\n"
#define MESH(mesh)           \
  "<mujoco>\n<asset>\n" mesh \
  "\n</asset>\n<worldbody>\n<body><freejoint/>\n<geom type='mesh' mesh='m'/></body>\n</worldbody>\n</mujoco>\n"
#define CLASSES(inside) \
  "<mujoco>\n" inside "\n<worldbody><body><freejoint/><geom size='1'/></body></worldbody>\n</mujoco>\n"
#define FIELD(attributes)                           \
  "<mujoco>\n<asset>\n<hfield name='h' " attributes \
  "/></asset>\n<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>\n"
#define ROBOT(inside) "<robot name='r'>\n" inside "\n</robot>\n"
#define LINK(name, inside)                                                                     \
  "<link name='" name                                                                          \
  "'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/>" \
  "</inertial>" inside "</link>"
#define TETRAHEDRON "v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\n"
#define FOUR "vertex='0 0 0 1 0 0 0 1 0 0 0 1'"

typedef struct hostile {
  const char *name, *file, *text; /* text NULL: setup makes the file */
  const char *setup;              /* shell line that makes other files */
  const char *place, *hint;       /* file:line of the message, and part of it */
} hostile;

static const hostile rows[] = {
    /* meshes */
    {"OBJ index of 1e18", "f.xml", MESH("<mesh name='m' file='o.obj'/>"),
     "printf '" TETRAHEDRON "f 1 2 1000000000000000000\\n' > o.obj", "f.xml:3", "o.obj:5"},
    {"OBJ index from before the first", "f.xml", MESH("<mesh name='m' file='o.obj'/>"),
     "printf '" TETRAHEDRON "f 1 2 -5\\n' > o.obj", "f.xml:3", "o.obj:5"},
    {"OBJ index 0", "f.xml", MESH("<mesh name='m' file='o.obj'/>"), "printf '" TETRAHEDRON "f 0 1 2\\n' > o.obj",
     "f.xml:3", "o.obj:5"},
    {"OBJ face of two corners", "f.xml", MESH("<mesh name='m' file='o.obj'/>"),
     "printf '" TETRAHEDRON "f 1 2\\n' > o.obj", "f.xml:3", "o.obj:5"},
    {"OBJ vertex of two numbers", "f.xml", MESH("<mesh name='m' file='o.obj'/>"), "printf 'v 1 2\\n' > o.obj",
     "f.xml:3", "o.obj:1"},
    {"OBJ with NaN", "f.xml", MESH("<mesh name='m' file='o.obj'/>"), "printf 'v nan 0 0\\n' > o.obj", "f.xml:3",
     "o.obj:1"},
    {"OBJ face of a million corners", "f.xml", MESH("<mesh name='m' file='o.obj'/>"),
     "{ printf 'v 0 0 0\\nf'; yes ' 1' | head -c 3000000 | tr -d '\\n'; } > o.obj", "f.xml:7", "no volume"},
    {"MSH with too many vertices", "f.xml", MESH("<mesh name='m' file='m.msh'/>"),
     "printf '\\377\\377\\377\\177\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0' > m.msh", "f.xml:3", "m.msh"},
    {"MSH with a negative count", "f.xml", MESH("<mesh name='m' file='m.msh'/>"),
     "printf '\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\377\\377\\377\\377' > m.msh", "f.xml:3", "m.msh"},
    {"MSH index outside", "f.xml", MESH("<mesh name='m' file='m.msh'/>"),
     "{ printf '\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0'; head -c 48 /dev/zero; "
     "printf '\\0\\0\\0\\0\\1\\0\\0\\0\\11\\0\\0\\0'; } > m.msh",
     "f.xml:3", "m.msh"},
    {"MSH with NaN", "f.xml", MESH("<mesh name='m' file='m.msh'/>"),
     "{ printf '\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0'; printf '\\0\\0\\300\\177'; head -c 44 /dev/zero; "
     "printf '\\0\\0\\0\\0\\1\\0\\0\\0\\2\\0\\0\\0'; } > m.msh",
     "f.xml:3", "m.msh"},
    {"MSH cut in its faces", "f.xml", MESH("<mesh name='m' file='m.msh'/>"),
     "{ printf '\\4\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0'; head -c 60 /dev/zero; } > m.msh", "f.xml:3",
     "m.msh"},
    {"STL of 83 bytes", "f.xml", MESH("<mesh name='m' file='s.stl'/>"), "head -c 83 /dev/zero > s.stl", "f.xml:3",
     "s.stl"},
    {"STL without triangles", "f.xml", MESH("<mesh name='m' file='s.stl'/>"), "head -c 84 /dev/zero > s.stl", "f.xml:3",
     "s.stl"},
    {"ASCII STL with a word", "f.xml", MESH("<mesh name='m' file='s.stl'/>"),
     "printf 'solid x\\nfacet normal 0 0 1\\nouter loop\\nvertex 0 0 up\\n' > s.stl", "f.xml:3", "s.stl:4"},
    {"face with a negative index", "f.xml", MESH("<mesh name='m' " FOUR " face='0 1 -2'/>"), NULL, "f.xml:3", "-2"},
    {"face with half an index", "f.xml", MESH("<mesh name='m' " FOUR " face='0 1 1.5'/>"), NULL, "f.xml:3", "1.5"},
    {"face of 4 numbers", "f.xml", MESH("<mesh name='m' " FOUR " face='0 1 2 3'/>"), NULL, "f.xml:3", "face"},
    {"mesh turned by no quaternion", "f.xml", MESH("<mesh name='m' " FOUR " refquat='0 0 0 0'/>"), NULL, "f.xml:3",
     "refquat"},
    /* height fields */
    {"height field of -1 rows", "f.xml", FIELD("nrow='-1' ncol='4' size='1 1 1 1'"), NULL, "f.xml:3", "nrow"},
    {"height field of other size", "f.xml", FIELD("nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'"), NULL,
     "f.xml:3", "elevation"},
    {"height field, binary and cut", "f.xml", FIELD("file='h.bin' size='1 1 1 1'"),
     "printf '\\10\\0\\0\\0\\10\\0\\0\\0\\0\\0\\0\\0' > h.bin", "f.xml:3", "h.bin"},
    {"height field, huge counts", "f.xml", FIELD("file='h.bin' size='1 1 1 1'"),
     "printf '\\377\\377\\377\\177\\377\\377\\377\\177\\0\\0\\0\\0' > h.bin", "f.xml:3", "h.bin"},
    /* classes */
    {"class inside itself", "f.xml",
     CLASSES("<default>\n<default class='a'>\n<default class='a'><geom size='1'/></default></default></default>"), NULL,
     "f.xml:4", "class 'a'"},
    {"class main inside main", "f.xml", CLASSES("<default>\n<default class='main'/></default>"), NULL, "f.xml:3",
     "main"},
    {"classes 5000 deep", "f.xml", NULL,
     "{ echo '<mujoco><default>'; for i in $(seq 5000); do echo \"<default class='c$i'>\"; done; } > f.xml",
     "f.xml:", "nested"},
    {"childclass of nothing", "f.xml", WORLD("<body childclass='zz'>\n<geom size='1'/></body>"), NULL, "f.xml:3", "zz"},
    {"class of an inertial", "f.xml", CLASSES("<default>\n<inertial mass='1'/></default>"), NULL, "f.xml:3",
     "no defaults"},
    /* files */
    {"include of an included file", "f.xml", "<mujoco>\n<include file='a.xml'/>\n</mujoco>\n",
     "echo '<mujoco>\n<include file=\"c.xml\"/></mujoco>' > a.xml; echo '<mujoco>\n\n<include "
     "file=\"f.xml\"/></mujoco>' > c.xml",
     "c.xml:3", "f.xml"},
    {"include of a mesh", "f.xml", "<mujoco>\n<include file='x.stl'/>\n</mujoco>\n", "head -c 500 /dev/zero > x.stl",
     "x.stl:1", ""},
    {"attached file that includes itself", "f.xml",
     "<mujoco>\n<asset>\n<model name='m' file='a.xml'/></asset><worldbody><attach model='m' prefix='p'/></worldbody>\n"
     "</mujoco>\n",
     "echo '<mujoco>\n<include file=\"a.xml\"/></mujoco>' > a.xml", "a.xml:2", "second time"},
    /* text */
    {"bytes that are no UTF-8", "f.xml", "<mujoco>\n<worldbody>\n<body name='a\xff\xfe'/></worldbody></mujoco>\n", NULL,
     "f.xml:3", "invalid"},
    {"overlong UTF-8", "f.xml", "<mujoco>\n<worldbody>\n<body name='\xc0\xaf'/></worldbody></mujoco>\n", NULL,
     "f.xml:3", "invalid"},
    {"half a surrogate", "f.xml", "<mujoco>\n<worldbody>\n<body name='&#xD800;'/></worldbody></mujoco>\n", NULL,
     "f.xml:3", ""},
    {"another encoding than told", "f.xml", "<?xml version='1.0' encoding='UTF-16'?>\n<mujoco/>\n", NULL, "f.xml:1",
     ""},
    {"encoding of nobody", "f.xml", "<?xml version='1.0' encoding='KLINGON'?>\n<mujoco/>\n", NULL, "f.xml:1",
     "encoding"},
    {"NUL in an attribute", "f.xml", NULL, "printf '<mujoco>\\n<option timestep=\"0.\\00001\"/></mujoco>' > f.xml",
     "f.xml:2", ""},
    {"attribute twice", "f.xml", WORLD("<body name='a'\nname='b'/>"), NULL, "f.xml:", "duplicate"},
    {"attribute of 2 MB", "f.xml", NULL,
     "{ printf '<mujoco>\\n<worldbody>\\n<geom size=\"'; head -c 2000000 /dev/zero | tr '\\0' '9'; "
     "printf '\"/></worldbody></mujoco>'; } > f.xml",
     "f.xml:3", "not a finite number"},
    {"name of 2 MB", "f.xml", NULL,
     "{ printf '<mujoco>\\n<worldbody>\\n<body childclass=\"'; head -c 2000000 /dev/zero | tr '\\0' 'x'; "
     "printf '\"/></worldbody></mujoco>'; } > f.xml",
     "f.xml:3", "no class"},
    /* numbers */
    {"count of 1e30", "f.xml", WORLD("<replicate count='1e30'>\n<geom size='1'/></replicate>"), NULL, "f.xml:3",
     "count"},
    {"half a condim", "f.xml", WORLD("<body><freejoint/>\n<geom size='1' condim='3.5'/></body>"), NULL, "f.xml:4",
     "condim"},
    {"capsule of no length between ends", "f.xml",
     WORLD("<body><freejoint/>\n<geom type='capsule' size='.1' fromto='1 1 1 1 1 1'/></body>"), NULL, "f.xml:4",
     "fromto"},
    {"negative half length", "f.xml", WORLD("<body><freejoint/>\n<geom type='capsule' size='.1 -1'/></body>"), NULL,
     "f.xml:4", "positive"},
    {"cable of -3 links", "f.xml",
     WORLD("<composite type='cable' prefix='c' count='-3 1 1' curve='s' size='1'>\n<geom type='capsule' "
           "size='.01'/></composite>"),
     NULL, "f.xml:3", "count"},
    {"cable of 2e9 links", "f.xml",
     WORLD("<composite type='cable' prefix='c' count='2000000000 1 1' curve='s' size='1'>\n<geom type='capsule' "
           "size='.01'/></composite>"),
     NULL, "f.xml:3", "2000 vertices"},
    /* URDF */
    {"URDF entity bomb", "f.urdf",
     "<!DOCTYPE r [\n<!ENTITY a 'aaaaaaaaaa'>\n<!ENTITY b '&a;&a;&a;&a;'>\n]>\n<robot name='&b;'/>\n", NULL, "f.urdf:2",
     "entity"},
    {"URDF 5000 deep", "f.urdf", NULL,
     "{ echo '<robot name=\"r\">'; for i in $(seq 5000); do echo '<link>'; done; } > f.urdf", "f.urdf:", "nested"},
    {"URDF cut", "f.urdf", "<robot name='r'>\n<link name='a'>\n<inertial", NULL, "f.urdf:3", ""},
    {"URDF no UTF-8", "f.urdf", "<robot name='r'>\n<link name='\xff'/></robot>\n", NULL, "f.urdf:2", "invalid"},
    {"URDF radius NaN", "f.urdf",
     ROBOT(LINK("a", "<collision>\n<geometry><sphere radius='nan'/></geometry></collision>")), NULL, "f.urdf:3", "nan"},
    {"URDF negative radius", "f.urdf",
     ROBOT(LINK("a", "<collision>\n<geometry><sphere radius='-1'/></geometry></collision>")), NULL, "f.urdf:3",
     "positive"},
    {"URDF box of two numbers", "f.urdf",
     ROBOT(LINK("a", "<collision>\n<geometry><box size='1 2'/></geometry></collision>")), NULL, "f.urdf:3",
     "2 numbers"},
    {"URDF axis without length", "f.urdf",
     ROBOT(LINK("a", "") LINK("b", "") "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>\n"
                                       "<axis xyz='0 0 0'/></joint>"),
     NULL, "f.urdf:", "no length"},
    {"URDF joint of no type", "f.urdf",
     ROBOT(LINK("a", "") LINK("b", "") "\n<joint name='j' type='elastic'><parent link='a'/><child link='b'/></joint>"),
     NULL, "f.urdf:3", "elastic"},
    {"URDF two links of a name", "f.urdf", ROBOT(LINK("a", "") "\n" LINK("a", "")), NULL, "f.urdf:3", "'a'"},
    {"URDF mesh with a cut STL", "f.urdf",
     ROBOT(LINK("a", "<collision>\n<geometry><mesh filename='t.stl'/></geometry></collision>")),
     "{ head -c 80 /dev/zero; printf '\\377\\0\\0\\0'; } > t.stl", "f.urdf:3", "t.stl"},
    {"URDF ring of joints", "f.urdf",
     ROBOT(LINK("a", "") LINK("b", "")
               LINK("c", "") "<joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint>\n"
                             "<joint name='k' type='fixed'><parent link='c'/><child link='b'/></joint>"),
     NULL, "f.urdf:", ""},
};

static void check(fx_test *t, const hostile *h, const char *verb) {
  shell_result r = shell(t, "timeout 60 $frix %s %s", verb, h->file);
  if (r.code != 2 || r.out[0] || shell_lines(r.err) != 1 || !strstr(r.err, h->place) || !strstr(r.err, h->hint))
    fx_test_fail(t, __FILE__, __LINE__, "%s: frix %s: exit code %d, stdout '%.80s', stderr '%.300s'", h->name, verb,
                 r.code, r.out, r.err);
  shell_free(&r);
}

static void endings(fx_test *t) {
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  int count = 0;
  for (const hostile *h = rows; h < rows + sizeof rows / sizeof *rows; h++, count++) {
    const char *path = fx_test_scratch(t, h->file);
    remove(path);
    FILE *file = h->text ? fopen(path, "w") : NULL;
    if (file) fputs(h->text, file), fclose(file);
    if (h->setup) {
      shell_result made = shell(t, "%s", h->setup);
      shell_free(&made);
    }
    check(t, h, "info");
    check(t, h, "robot");
  }
  fx_test_note(t, "%d files", count);
}

const fx_test_row test_hostile_files[] = {{"hostile_files/endings", endings}, {0}};
