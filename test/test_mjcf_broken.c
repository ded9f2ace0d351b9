/* Hostile and broken MJCF files through the command: exit code 2, one line with file, line and hint, nothing on stdout,
 * under a second and 64 MB. */
#include <stdio.h>
#include <string.h>

#include "shell.h"

typedef struct broken {
  const char *name;
  const char *text;  /* of f.xml; NULL: setup makes it */
  const char *setup; /* shell line that makes other files */
  const char *place; /* file:line of the message */
  const char *hint;  /* part of the message */
} broken;

#define WORLD(inside) "<mujoco>\n<worldbody>\n" inside "\n</worldbody>\n</mujoco>\n"
#define FREE(geom) WORLD("<body><freejoint/>\n" geom "\n</body>")
#define MESH(mesh)           \
  "<mujoco>\n<asset>\n" mesh \
  "\n</asset>\n<worldbody>\n<body><freejoint/>\n<geom type='mesh' mesh='m'/></body>\n</worldbody>\n</mujoco>\n"

static const broken rows[] = {
    {"billion laughs",
     "<!DOCTYPE lolz [\n<!ENTITY a 'aaaaaaaaaa'>\n<!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>\n<!ENTITY c "
     "'&b;&b;&b;&b;&b;&b;'>\n]>\n<mujoco model='&c;'/>\n",
     NULL, "f.xml:2", "entity"},
    {"outside entity", "<!DOCTYPE x [\n<!ENTITY a SYSTEM '/etc/passwd'>]>\n<mujoco model='&a;'/>\n", NULL, "f.xml:2",
     "entity"},
    {"undefined entity", "<mujoco\nmodel='&what;'/>\n", NULL, "f.xml:1", "&amp;"},
    {"deep nesting", NULL, "{ echo '<mujoco><worldbody>'; for i in $(seq 20000); do echo '<frame>'; done; } > f.xml",
     "f.xml:200", "nested"},
    {"deep in one line", NULL, "{ printf '<mujoco>'; yes '<body>' | head -c 7000000 | tr -d '\\n'; } > f.xml",
     "f.xml:1", "nested"},
    {"includes itself", "<mujoco>\n<include file='f.xml'/>\n</mujoco>\n", NULL, "f.xml:2", "second time"},
    {"circle of includes", "<mujoco>\n<include file='a.xml'/>\n</mujoco>\n",
     "echo '<mujoco><include file=\"b.xml\"/></mujoco>' > a.xml; echo '<x>\n<include file=\"a.xml\"/></x>' > b.xml",
     "b.xml:2", "a.xml"},
    {"missing include", "<mujoco>\n\n<include file='nowhere.xml'/>\n</mujoco>\n", NULL, "f.xml:3", "nowhere.xml"},
    {"include above", "<mujoco>\n<include file='../../../etc/passwd'/>\n</mujoco>\n", NULL, "f.xml:2",
     "--allow-outside"},
    {"include absolute", "<mujoco>\n<include file='/etc/passwd'/>\n</mujoco>\n", NULL, "f.xml:2", "--allow-outside"},
    {"include a folder", "<mujoco>\n<include file='d'/>\n</mujoco>\n", "mkdir -p d", "f.xml:2", "directory"},
    {"link outside", MESH("<mesh name='m' file='link.stl'/>"), "ln -sf /etc/passwd link.stl", "f.xml:3",
     "--allow-outside"},
    {"mesh above", MESH("<mesh name='m' file='a/../../../x.obj'/>"), NULL, "f.xml:3", "--allow-outside"},
    {"meshdir above",
     "<mujoco><compiler meshdir='../..'/>\n<asset>\n<mesh name='m' file='x.obj'/></asset>\n"
     "<worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>",
     NULL, "f.xml:3", "--allow-outside"},
    {"missing mesh", MESH("<mesh name='m' file='gone.obj'/>"), NULL, "f.xml:3", "gone.obj"},
    {"no such mesh", MESH("<mesh name='mm' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>"), NULL, "f.xml:7", "'mm'"},
    {"device as mesh", MESH("<mesh name='m' file='z.stl'/>"), "ln -sf /dev/zero z.stl", "f.xml:3", "--allow-outside"},
    {"truncated STL", MESH("<mesh name='m' file='t.stl'/>"),
     "{ head -c 80 /dev/zero; printf '\\377\\0\\0\\0'; head -c 500 /dev/zero; } > t.stl", "f.xml:3",
     "t.stl: ends after"},
    {"huge STL", MESH("<mesh name='m' file='h.stl'/>"),
     "{ head -c 80 /dev/zero; printf '\\377\\377\\377\\377'; head -c 500 /dev/zero; } > h.stl", "f.xml:3", "triangles"},
    {"cut ASCII STL", MESH("<mesh name='m' file='c.stl'/>"),
     "printf 'solid x\\nfacet normal 0 0 1\\nouter loop\\nvertex 0 0 0\\nvertex 1 0 0\\n' > c.stl", "f.xml:3",
     "c.stl:6: the STL file is cut off"},
    {"NaN in STL", MESH("<mesh name='m' file='n.stl'/>"),
     "{ head -c 80 /dev/zero; printf '\\1\\0\\0\\0'; yes '\\377' | head -c 100 | tr -d '\\n' | tr '\\\\37' "
     "'\\377\\377\\377'; "
     "} > n.stl",
     "f.xml:3", "not finite"},
    {"OBJ corner", MESH("<mesh name='m' file='o.obj'/>"), "printf 'v 0 0 0\\nv 1 0 0\\nf 1 2 9\\n' > o.obj", "f.xml:3",
     "o.obj:3: face corner '9'"},
    {"OBJ word", MESH("<mesh name='m' file='w.obj'/>"), "printf 'v 0 zero 0\\n' > w.obj", "f.xml:3", "w.obj:1"},
    {"empty OBJ", MESH("<mesh name='m' file='e.obj'/>"), ": > e.obj", "f.xml:3", "without vertices"},
    {"MSH counts", MESH("<mesh name='m' file='m.msh'/>"), "yes | head -c 64 > m.msh", "f.xml:3", "counts"},
    {"mesh format", MESH("<mesh name='m' file='p.ply'/>"), "echo ply > p.ply", "f.xml:3", ".stl, .obj"},
    {"flat mesh", MESH("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/>"), NULL, "f.xml:3", ""},
    {"vertex count", MESH("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1'/>"), NULL, "f.xml:3", "three each"},
    {"face index", MESH("<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 7'/>"), NULL, "f.xml:3",
     "7 is not one"},
    {"mesh with no scale", MESH("<mesh name='m' scale='0 1 1' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>"), NULL, "f.xml:3",
     "scale"},
    {"unknown attribute", FREE("<geom size='1' frction='0.5'/>"), NULL, "f.xml:4", "did you mean 'friction'"},
    {"unknown element", WORLD("<bdy/>"), NULL, "f.xml:3", "did you mean <body>"},
    {"unknown type", FREE("<geom type='spere' size='1'/>"), NULL, "f.xml:4", "did you mean 'sphere'"},
    {"unknown class", FREE("<geom class='clas' size='1'/>"), NULL, "f.xml:4", "no class 'clas'"},
    {"misplaced element", "<mujoco>\n<geom size='1'/>\n</mujoco>\n", NULL, "f.xml:2", "in <body>"},
    {"NaN size", FREE("<geom size='nan'/>"), NULL, "f.xml:4", "'nan' is not a finite number"},
    {"infinite place", FREE("<geom size='1' pos='0 inf 0'/>"), NULL, "f.xml:4", "'inf'"},
    {"word for a number", FREE("<geom size='big'/>"), NULL, "f.xml:4", "'big'"},
    {"overflow", FREE("<geom size='1e400'/>"), NULL, "f.xml:4", "1e400"},
    {"too few numbers", FREE("<geom size='1' pos='0 0'/>"), NULL, "f.xml:4", "2 numbers, wants 3"},
    {"negative size", FREE("<geom size='-1'/>"), NULL, "f.xml:4", "positive"},
    {"no size", FREE("<geom type='box' size='1'/>"), NULL, "f.xml:4", "three half widths"},
    {"negative mass", FREE("<geom size='1' mass='-2'/>"), NULL, "f.xml:4", "negative"},
    {"negative friction", FREE("<geom size='1' friction='-1'/>"), NULL, "f.xml:4", "negative"},
    {"condim", FREE("<geom size='1' condim='2'/>"), NULL, "f.xml:4", "1, 3, 4, 6"},
    {"no mass", FREE("<geom size='1' mass='0'/>"), NULL, "f.xml:3", "no mass"},
    {"zero quaternion", FREE("<geom size='1' quat='0 0 0 0'/>"), NULL, "f.xml:4", "no length"},
    {"two orientations", FREE("<geom size='1' quat='1 0 0 0' euler='0 0 0'/>"), NULL, "f.xml:4", "more than one"},
    {"parallel axes", FREE("<geom size='1' xyaxes='1 0 0 1 0 0'/>"), NULL, "f.xml:4", "xyaxes"},
    {"pos and fromto", FREE("<geom type='capsule' size='1' pos='0 0 0' fromto='0 0 0 1 0 0'/>"), NULL, "f.xml:4",
     "fromto"},
    {"turned full inertia", FREE("<inertial mass='1' fullinertia='1 1 1 0 0 0' quat='1 1 0 0'/>"), NULL, "f.xml:4",
     "without quat"},
    {"impossible inertia", FREE("<inertial mass='1' diaginertia='1 1 5'/>"), NULL, "f.xml:4", "balanceinertia"},
    {"nested free joint", WORLD("<body><body>\n<freejoint/></body></body>"), NULL, "f.xml:4", "directly in"},
    {"plane on a free body", FREE("<geom type='plane' size='1 1 1'/>"), NULL, "f.xml:4", "plane"},
    {"same name", WORLD("<body name='a'/>\n<body name='a'/>"), NULL, "f.xml:4", "line 3"},
    {"a billion replicas", WORLD("<replicate count='1000000000'>\n<geom size='1'/></replicate>"), NULL, "f.xml:3",
     "more than"},
    {"replicas of replicas",
     WORLD("<replicate count='99999'>\n<replicate count='99999'>\n<geom size='1'/></replicate></replicate>"), NULL,
     "f.xml:3", "more than"},
    {"empty replicas", WORLD("<replicate count='2000000000'>\n</replicate>"), NULL, "f.xml:3", "more than"},
    {"negative replicas", WORLD("<replicate count='-4'>\n<geom size='1'/></replicate>"), NULL, "f.xml:3", "-4"},
    {"key length",
     "<mujoco>\n<worldbody><body><freejoint/><geom size='1'/></body></worldbody>\n<keyframe>\n<key "
     "qpos='0 0 0'/></keyframe></mujoco>",
     NULL, "f.xml:4", "the model has 7"},
    {"exclude nobody",
     "<mujoco>\n<worldbody><body name='cup'/></worldbody>\n<contact>\n<exclude body1='cupp' "
     "body2='world'/></contact></mujoco>",
     NULL, "f.xml:4", "did you mean 'cup'"},
    {"hfield size",
     "<mujoco>\n<asset>\n<hfield name='h' nrow='60000' ncol='60000' size='1 1 1 1'/></asset>\n"
     "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
     NULL, "f.xml:3", "too large"},
    {"euler order", "<mujoco>\n<compiler eulerseq='abc'/>\n</mujoco>\n", NULL, "f.xml:2", "xyzXYZ"},
    {"timestep", "<mujoco>\n<option timestep='0'/>\n</mujoco>\n", NULL, "f.xml:2", "not positive"},
    {"range", WORLD("<body>\n<joint range='2 1'/><geom size='1'/></body>"), NULL, "f.xml:4", "not below"},
    {"axis", WORLD("<body>\n<joint axis='0 0 0'/><geom size='1'/></body>"), NULL, "f.xml:4", "no length"},
    {"negative damping", WORLD("<body>\n<joint damping='-1'/><geom size='1'/></body>"), NULL, "f.xml:4", "negative"},
    {"joint of a mocap body", WORLD("<body mocap='true'>\n<joint/></body>"), NULL, "f.xml:4", "mocap"},
    {"joint of the world", WORLD("<joint/>"), NULL, "f.xml:3", "world"},
    {"massless link", WORLD("<body name='l'><joint/>\n</body>"), NULL, "f.xml:3", "no mass"},
    {"actuator of nothing",
     "<mujoco>\n<worldbody><body><joint name='knee'/><geom size='1'/></body></worldbody>\n<actuator>\n<motor "
     "joint='kneee'/></actuator></mujoco>",
     NULL, "f.xml:4", "did you mean 'knee'"},
    {"coupled with itself",
     "<mujoco>\n<worldbody><body><joint name='k'/><geom size='1'/></body></worldbody>\n<equality>\n<joint joint1='k' "
     "joint2='k'/></equality></mujoco>",
     NULL, "f.xml:4", "itself"},
    {"unknown drive attribute", "<mujoco>\n<actuator>\n<motor jont='k'/></actuator></mujoco>", NULL, "f.xml:3",
     "'joint'"},
    {"attach nothing", WORLD("<attach model='m' body='b'/>"), NULL, "f.xml:3", "no model 'm'"},
    {"attach no body",
     "<mujoco>\n<asset><model name='m' file='s.xml'/></asset><worldbody>\n<attach model='m' "
     "body='b'/></worldbody></mujoco>",
     "echo '<mujoco/>' > s.xml", "f.xml:3", "no body 'b'"},
    {"attaches itself",
     "<mujoco>\n<asset><model name='m' file='f.xml'/></asset><worldbody>\n<attach model='m' "
     "prefix='x'/></worldbody></mujoco>",
     NULL, "f.xml:3", "to themselves"},
    {"attached replicas",
     "<mujoco>\n<asset><model name='m' file='s.xml'/></asset><worldbody>\n<attach model='m'/></worldbody></mujoco>",
     "echo '<mujoco><worldbody><replicate count=\"1000000000\"><geom size=\"1\"/></replicate></worldbody></mujoco>' > "
     "s.xml",
     "s.xml:1", "more than"},
    {"attached outside",
     "<mujoco>\n<asset>\n<model name='m' file='../s.xml'/></asset><worldbody><attach model='m'/></worldbody>"
     "</mujoco>",
     NULL, "f.xml:3", "--allow-outside"},
    {"attached twice",
     "<mujoco>\n<asset><model name='m' file='s.xml'/></asset><worldbody><attach model='m'/>\n<attach "
     "model='m'/></worldbody></mujoco>",
     "echo '<mujoco><worldbody><body name=\"b\"/></worldbody></mujoco>' > s.xml", "s.xml:1", "a second body"},
    {"cut picture",
     "<mujoco>\n<asset>\n<hfield name='h' file='h.png' size='1 1 1 1'/></asset>\n<worldbody><geom type='hfield' "
     "hfield='h'/></worldbody></mujoco>",
     "printf '\\211PNG\\r\\n\\032\\n\\0\\0\\0\\rIHDR' > h.png", "f.xml:3", "cut off"},
    {"open tag", "<mujoco>\n<worldbody>\n<body>\n</worldbody>\n</mujoco>\n", NULL, "f.xml:4", "<body> of line 3"},
    {"two documents", "<mujoco>\n</mujoco>\n<mujoco/>\n", NULL, "f.xml:3", "ended before"},
    {"cut file", "<mujoco>\n<worldbody>\n<geom si", NULL, "f.xml:3", "<worldbody> of line 2"},
    {"URDF", "<robot name='r'>\n</robot>\n", NULL, "f.xml:1", "URDF"},
    {"no XML", "hello\n", NULL, "f.xml:1", "<mujoco>"},
    {"empty file", "", NULL, "f.xml:1", "<mujoco>"},
    {"noise", NULL, "head -c 100000 /dev/urandom > f.xml", "f.xml:", ""},
    {"zeros", NULL, "head -c 1000000 /dev/zero > f.xml", "f.xml:1", ""},
};

/* Whoever needs more than 64 MB of memory of their own or a second of the processor does not end with exit code 2
 * and their message. (Peak memory of a child says nothing here: it begins with that of the process it was forked from.)
 */
#ifdef FRIX_SANITIZED
#define LIMITS ""
#else
#define LIMITS "ulimit -d 65536 && ulimit -t 1 && "
#endif

static void hostile(fx_test *t) {
#ifdef FRIX_HAVE_EXPAT
  int count = 0;
  for (const broken *b = rows; b < rows + sizeof rows / sizeof *rows; b++, count++) {
    const char *path = fx_test_scratch(t, "f.xml");
    remove(path);
    FILE *file = b->text ? fopen(path, "w") : NULL;
    if (file) fputs(b->text, file), fclose(file);
    if (b->setup) {
      shell_result made = shell(t, "%s", b->setup);
      shell_free(&made);
    }
    shell_result r = shell(t, LIMITS "$frix info f.xml");
    if (r.code != 2 || r.out[0] || shell_lines(r.err) != 1 || !strstr(r.err, b->place) || !strstr(r.err, b->hint))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit code %d, stdout '%.80s', stderr '%s'", b->name, r.code, r.out,
                   r.err);
    shell_free(&r);
  }
  fx_test_note(t, "%d files", count);
#else
  (void)rows;
  fx_test_skip(t, "built without expat");
#endif
}

const fx_test_row test_mjcf_broken[] = {{"mjcf/hostile", hostile}, {0}};
