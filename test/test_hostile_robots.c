/* Robot files that mean harm or make no sense: a clear error with exit code 2, a list of what is left out with 3, or a
 * run whose every step is certified; never another ending. Each is read by `frix run` and by `frix robot`. */
#include <frix/frix.h>
#include <stdio.h>
#include <string.h>

#include "shell.h"
#include "test.h"

#define WORLD(head, world, rest) "<mujoco>" head "<worldbody>" world "</worldbody>" rest "</mujoco>"
#define ARM                                                                                                           \
  "<body name='a'><joint name='j'/><geom name='g' size='.1' pos='.3 0 0'/><site name='s' pos='.5 0 0'/>"              \
  "<body name='b' pos='.5 0 0'><joint name='k' axis='0 1 0'/><geom size='.1' pos='.3 0 0'/><site name='t' pos='.2 0 " \
  "0'/>"                                                                                                              \
  "</body></body>"
#define ROBOT(inside) "<robot name='r'>" inside "</robot>"
#define LINK(name)                                                                             \
  "<link name='" name                                                                          \
  "'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/>" \
  "</inertial></link>"
#define JOINT(name, parent, child, more)                                                  \
  "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child \
  "'/>"                                                                                   \
  "<limit lower='-1' upper='1' effort='1' velocity='1'/>" more "</joint>"

typedef struct hostile {
  const char *name, *ending, *text; /* NULL: the command makes it */
  const char *make, *flags;
  int code;
  const char *says;
} hostile;

static const hostile rows[] = {
    {"singular inertia zero", "xml",
     WORLD("", "<body name='a'><joint/><inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/></body>", ""), NULL, "", 2,
     "no mass or inertia along it"},
    {"inertia without mass", "xml",
     WORLD("", "<body name='a'><joint/><inertial pos='0 0 0' mass='0' diaginertia='1 1 1'/></body>", ""), NULL, "", 0,
     ""},
    {"tiny inertia", "xml",
     WORLD("", "<body name='a'><joint/><inertial pos='0 0 0' mass='1e-300' diaginertia='1e-300 1e-300 1e-300'/></body>",
           ""),
     NULL, "", 2, "no mass or inertia"},
    {"a grain of 10 um", "xml", WORLD("", "<body name='a'><freejoint/><geom type='sphere' size='1e-5'/></body>", ""),
     NULL, "", 0, ""},
    {"one axis without inertia", "xml",
     WORLD("",
           "<body name='a'><joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/>"
           "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1e-300'/></body>",
           ""),
     NULL, "", 2, "no mass or inertia"},
    {"huge inertia", "xml",
     WORLD("", "<body name='a'><joint/><inertial pos='0 0 0' mass='1e300' diaginertia='1e300 1e300 1e300'/></body>",
           ""),
     NULL, "", 0, ""},
    {"not positive full inertia", "xml",
     WORLD("", "<body name='a'><joint/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 5 0 0'/></body>", ""), NULL,
     "", 2, "must not be negative"},
    {"singular two same hinges", "xml",
     WORLD("", "<body name='a'><joint/><joint/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "repeat each other"},
    {"slide along and along", "xml",
     WORLD("", "<body name='a'><joint type='slide'/><joint type='slide'/><geom size='.1' pos='1 0 0'/></body>", ""),
     NULL, "", 2, "repeat each other"},
    {"four slides", "xml",
     WORLD("",
           "<body name='a'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide' "
           "axis='0 0 1'/><joint type='slide' axis='1 1 1'/><geom size='.1' pos='1 0 0'/></body>",
           ""),
     NULL, "", 2, "repeat each other"},
    {"two balls", "xml",
     WORLD("", "<body name='a'><joint type='ball'/><joint type='ball'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL,
     "", 2, "followed by another"},
    {"free and hinge", "xml", WORLD("", "<body name='a'><freejoint/><joint/><geom size='.1' pos='1 0 0'/></body>", ""),
     NULL, "", 2, "stands alone"},
    {"range reversed", "xml",
     WORLD("", "<body name='a'><joint range='30 -30'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "is not below"},
    {"range equal", "xml",
     WORLD("", "<body name='a'><joint range='0 0' limited='true'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "",
     2, "0 is not below 0"},
    {"ctrlrange reversed", "xml", WORLD("", ARM, "<actuator><motor joint='j' ctrlrange='1 -1'/></actuator>"), NULL, "",
     2, "ctrlrange: 1 is not below -1"},
    {"forcerange reversed", "xml", WORLD("", ARM, "<actuator><motor joint='j' forcerange='1 -1'/></actuator>"), NULL,
     "", 2, "forcerange"},
    {"actuatorfrcrange reversed", "xml",
     WORLD("", "<body name='a'><joint actuatorfrcrange='1 -1'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "actuatorfrcrange"},
    {"actrange reversed", "xml",
     WORLD("", ARM, "<actuator><general joint='j' dyntype='integrator' actrange='1 -1'/></actuator>"), NULL, "", 2,
     "actrange"},
    {"limited without range", "xml",
     WORLD("", "<body name='a'><joint limited='true'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "joint range"},
    {"negative armature", "xml",
     WORLD("", "<body name='a'><joint armature='-1'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "is negative"},
    {"negative frictionloss", "xml",
     WORLD("", "<body name='a'><joint frictionloss='-1'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "is negative"},
    {"negative stiffness", "xml",
     WORLD("", "<body name='a'><joint stiffness='-1'/><geom size='.1' pos='1 0 0'/></body>", ""), NULL, "", 2,
     "is negative"},
    {"nan armature", "xml", WORLD("", "<body name='a'><joint armature='nan'/><geom size='.1' pos='1 0 0'/></body>", ""),
     NULL, "", 2, "not a finite number"},
    {"kp negative", "xml", WORLD("", ARM, "<actuator><position joint='j' kp='-1'/></actuator>"), NULL, "", 2,
     "must not be negative"},
    {"gear zero", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j' gear='0'/></actuator>"), NULL,
     "--ctrl m=1", 0, ""},
    {"actuator twice attached", "xml", WORLD("", ARM, "<actuator><motor joint='j' site='s'/></actuator>"), NULL, "", 2,
     "at a joint and at a site"},
    {"actuator without transmission", "xml", WORLD("", ARM, "<actuator><motor/></actuator>"), NULL, "", 2,
     "needs a joint"},
    {"actuator of a free joint", "xml",
     WORLD("", "<body><freejoint name='j'/><geom size='.1'/></body>",
           "<actuator><motor name='m' joint='j' gear='1 0 0 0 0 0'/></actuator>"),
     NULL, "--ctrl m=1", 0, ""},
    {"position at a free joint", "xml",
     WORLD("", "<body><freejoint name='j'/><geom size='.1'/></body>",
           "<actuator><position name='m' joint='j' kp='10'/></actuator>"),
     NULL, "--ctrl m=1", 0, ""},
    {"refsite is own site", "xml",
     WORLD("", ARM, "<actuator><motor name='m' site='s' refsite='s' gear='1 0 0 0 0 0'/></actuator>"), NULL,
     "--ctrl m=1", 0, ""},
    {"cranksite without slider", "xml", WORLD("", ARM, "<actuator><motor name='m' cranksite='s'/></actuator>"), NULL,
     "", 2, "slidersite"},
    {"crank of no length", "xml",
     WORLD("", ARM, "<actuator><motor name='m' cranksite='t' slidersite='s' cranklength='0'/></actuator>"), NULL,
     "--ctrl m=1", 2, "positive cranklength"},
    {"crank that cannot reach", "xml",
     WORLD("", ARM, "<actuator><motor name='m' cranksite='t' slidersite='s' cranklength='1e-9'/></actuator>"), NULL,
     "--ctrl m=1", 0, ""},
    {"muscle without range", "xml",
     WORLD("", "<body><joint name='j'/><geom size='.1' pos='1 0 0'/></body>",
           "<actuator><muscle name='m' joint='j'/></actuator>"),
     NULL, "--ctrl m=1", 3, "lengthrange"},
    {"muscle timeconst zero", "xml",
     WORLD("", "<body><joint name='j' range='-90 90'/><geom size='.1' pos='1 0 0'/></body>",
           "<actuator><muscle name='m' joint='j' timeconst='0 0'/></actuator>"),
     NULL, "--ctrl m=1", 0, ""},
    {"filter with no time", "xml",
     WORLD("", ARM, "<actuator><general name='m' joint='j' dyntype='filter' dynprm='0'/></actuator>"), NULL,
     "--ctrl m=1", 0, ""},
    {"filterexact negative time", "xml",
     WORLD("", ARM, "<actuator><general name='m' joint='j' dyntype='filterexact' dynprm='-1'/></actuator>"), NULL,
     "--ctrl m=1", 0, ""},
    {"tendon through its own site", "xml",
     WORLD("", ARM,
           "<tendon><spatial name='x'><site site='s'/><site site='s'/></spatial></tendon><actuator><motor name='m' "
           "tendon='x'/></actuator>"),
     NULL, "--ctrl m=1", 0, ""},
    {"tendon of one site", "xml", WORLD("", ARM, "<tendon><spatial><site site='s'/></spatial></tendon>"), NULL, "", 2,
     "two sites"},
    {"empty tendon", "xml", WORLD("", ARM, "<tendon><spatial name='x'/></tendon>"), NULL, "", 2, "without a path"},
    {"empty fixed tendon", "xml", WORLD("", ARM, "<tendon><fixed name='x'/></tendon>"), NULL, "", 2, "without a path"},
    {"tendon with site inside the wrap", "xml",
     WORLD("", ARM "<geom name='ball' type='sphere' size='2'/><site name='o' pos='0 0 1'/>",
           "<tendon><spatial stiffness='10'><site site='o'/><geom geom='ball'/><site site='t'/></spatial></tendon>"),
     NULL, "", 0, ""},
    {"wrap ends tendon", "xml", WORLD("", ARM, "<tendon><spatial><site site='s'/><geom geom='g'/></spatial></tendon>"),
     NULL, "", 2, "between two sites"},
    {"two wraps in a row", "xml",
     WORLD("", ARM,
           "<tendon><spatial><site site='s'/><geom geom='g'/><geom geom='g'/><site site='t'/></spatial></tendon>"),
     NULL, "", 2, "between two sites"},
    {"wrap around a box", "xml",
     WORLD("", ARM "<geom name='bx' type='box' size='1 1 1'/>",
           "<tendon><spatial><site site='s'/><geom geom='bx'/><site site='t'/></spatial></tendon>"),
     NULL, "", 2, "spheres and cylinders"},
    {"pulley divisor zero", "xml",
     WORLD("", ARM,
           "<tendon><spatial><site site='s'/><site site='t'/><pulley divisor='0'/><site site='s'/><site "
           "site='t'/></spatial></tendon>"),
     NULL, "", 2, "not positive"},
    {"pulley negative", "xml",
     WORLD("", ARM,
           "<tendon><spatial><site site='s'/><site site='t'/><pulley divisor='-2'/><site site='s'/><site "
           "site='t'/></spatial></tendon>"),
     NULL, "", 2, "not positive"},
    {"tendon range reversed", "xml",
     WORLD("", ARM, "<tendon><fixed range='1 0' limited='true'><joint joint='j' coef='1'/></fixed></tendon>"), NULL, "",
     2, "tendon range"},
    {"fixed tendon twice a joint", "xml",
     WORLD("", ARM,
           "<tendon><fixed name='x'><joint joint='j' coef='1'/><joint joint='j' "
           "coef='-1'/></fixed></tendon><actuator><position name='m' tendon='x' kp='100'/></actuator>"),
     NULL, "--ctrl m=1", 0, ""},
    {"fixed tendon of a ball", "xml",
     WORLD("", "<body><joint name='j' type='ball'/><geom size='.1' pos='1 0 0'/></body>",
           "<tendon><fixed name='x'><joint joint='j' coef='1'/></fixed></tendon>"),
     NULL, "", 2, "hinges and slides"},
    {"joint equality with itself", "xml", WORLD("", ARM, "<equality><joint joint1='j' joint2='j'/></equality>"), NULL,
     "", 2, "with itself"},
    {"joint equality cycle", "xml",
     WORLD("", ARM,
           "<equality><joint joint1='j' joint2='k' polycoef='0 2 0 0 0'/><joint joint1='k' joint2='j' polycoef='0 2 0 "
           "0 0'/></equality>"),
     NULL, "", 0, ""},
    {"contradicting equalities", "xml",
     WORLD("", ARM,
           "<equality><joint joint1='j' polycoef='1 0 0 0 0'/><joint joint1='j' polycoef='-1 0 0 0 0'/></equality>"),
     NULL, "", 0, ""},
    {"huge polycoef", "xml",
     WORLD("", ARM, "<equality><joint joint1='j' joint2='k' polycoef='0 1e30 1e30 1e30 1e30'/></equality>"), NULL, "",
     0, ""},
    {"connect to itself", "xml", WORLD("", ARM, "<equality><connect body1='a' body2='a' anchor='0 0 0'/></equality>"),
     NULL, "", 0, ""},
    {"weld parent and child", "xml", WORLD("", ARM, "<equality><weld body1='a' body2='b'/></equality>"), NULL, "", 0,
     ""},
    {"weld out of reach", "xml",
     WORLD("", ARM "<body name='z' pos='100 0 0'><joint/><geom size='.1' pos='.3 0 0'/></body>",
           "<equality><weld body1='b' body2='z' relpose='0 0 0 1 0 0 0'/></equality>"),
     NULL, "", 0, ""},
    {"connect far away", "xml", WORLD("", ARM, "<equality><connect body1='b' anchor='1e6 0 0'/></equality>"), NULL, "",
     0, ""},
    {"mocap with joints below", "xml",
     WORLD("",
           "<body mocap='true' name='m'><geom size='.1'/><body><joint/><geom size='.1' pos='.3 0 0'/></body></body>",
           ""),
     NULL, "", 0, ""},
    {"keyframe qpos too long", "xml", WORLD("", ARM, "<keyframe><key name='k' qpos='0 0 0'/></keyframe>"), NULL,
     "--key k", 2, "3 numbers"},
    {"keyframe ctrl too long", "xml",
     WORLD("", ARM, "<actuator><motor joint='j'/></actuator><keyframe><key name='k' ctrl='0 0'/></keyframe>"), NULL,
     "--key k", 2, "2 numbers"},
    {"keyframe nan", "xml", WORLD("", ARM, "<keyframe><key name='k' qpos='nan 0'/></keyframe>"), NULL, "--key k", 2,
     "not a finite"},
    {"keyframe zero quat", "xml",
     WORLD("", "<body><freejoint/><geom size='.1'/></body>",
           "<keyframe><key name='k' qpos='0 0 0 0 0 0 0'/></keyframe>"),
     NULL, "--key k", 0, ""},
    {"keyframe huge", "xml",
     WORLD("", ARM, "<keyframe><key name='k' qpos='1e300 1e300' qvel='1e300 1e300'/></keyframe>"), NULL, "--key k", 2,
     "would not be finite"},
    {"keyframe fast", "xml", WORLD("", ARM, "<keyframe><key name='k' qvel='1e12 1e12'/></keyframe>"), NULL, "--key k",
     0, ""},
    {"sensor of nothing", "xml", WORLD("", ARM, "<sensor><jointpos joint='nope'/></sensor>"), NULL, "", 2,
     "no joint 'nope'"},
    {"million replicas of joints", "xml",
     WORLD("",
           "<replicate count='1000000' offset='1 0 0'><body><joint/><geom size='.1' pos='.3 0 0'/></body></replicate>",
           ""),
     NULL, "", 2, "more than 1000000"},
    {"replicas nested", "xml",
     WORLD("",
           "<replicate count='1000' offset='1 0 0'><replicate count='1000' offset='0 1 0'><body><freejoint/><geom "
           "size='.1'/></body></replicate></replicate>",
           ""),
     NULL, "", 2, "more than 1000000"},
    {"deep chain", "xml", NULL,
     "{ echo '<mujoco><worldbody>'; for i in $(seq 3000); do echo \"<body><joint/><geom size='.1'/>\"; done; } > f.xml",
     "", 2, "200 deep"},
    {"attach cycle", "xml",
     "<mujoco><asset><model name='m' file='g.xml'/></asset><worldbody><attach model='m' body='a' "
     "prefix='x'/></worldbody></mujoco>",
     "echo \"<mujoco><asset><model name='m' file='f.xml'/></asset><worldbody><body name='a'><attach model='m' "
     "prefix='y' body='a'/></body></worldbody></mujoco>\" > g.xml",
     "", 2, "no body 'a'"},
    {"attach same names", "xml",
     "<mujoco><asset><model name='m' file='g.xml'/></asset><worldbody><attach model='m' body='a' prefix='x'/><attach "
     "model='m' body='a' prefix='x'/></worldbody></mujoco>",
     "echo \"<mujoco><worldbody><body name='a'><joint/><geom size='.1' pos='.2 0 0'/></body></worldbody></mujoco>\" > "
     "g.xml",
     "", 2, "'xa'"},
    {"gravity huge", "xml", WORLD("<option gravity='0 0 -1e300'/>", ARM, ""), NULL, "", 2, "would not be finite"},
    {"timestep huge", "xml", WORLD("<option timestep='1e10'/>", ARM, ""), NULL, "", 2, "half a step"},
    {"timestep tiny", "xml", WORLD("<option timestep='1e-300'/>", ARM, ""), NULL, "", 2, "too many steps"},
    {"density huge", "xml", WORLD("<option density='1e300'/>", ARM, ""), NULL, "", 2, "would not be finite"},
    {"mass ratio 1e18", "xml",
     WORLD("",
           "<body name='a'><joint/><geom size='.1' pos='.3 0 0' mass='1e9'/><body pos='1 0 0'><joint axis='0 1 "
           "0'/><geom size='.1' pos='.3 0 0' mass='1e-9'/></body></body>",
           ""),
     NULL, "", 0, ""},
    {"ctrl nan", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), NULL, "--ctrl m=nan", 2,
     "not a finite number"},
    {"ctrl huge", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), NULL, "--ctrl m=1e300", 2,
     "would not be finite"},
    {"ctrl unknown", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), NULL, "--ctrl q=1", 2,
     "no actuator 'q'"},
    {"ctrl csv nan", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "printf 'time,m\\n0,nan\\n' > c.csv", "--ctrl-file c.csv", 2, "not a finite number"},
    {"ctrl csv text", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "printf 'time,m\\n0,hello\\n' > c.csv", "--ctrl-file c.csv", 2, "'hello'"},
    {"ctrl csv empty", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), ": > c.csv",
     "--ctrl-file c.csv", 2, "is empty"},
    {"ctrl csv directory", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), "mkdir -p c.csv",
     "--ctrl-file c.csv", 2, "cannot be read"},
    {"ctrl csv missing", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"), NULL,
     "--ctrl-file nope.csv", 2, "No such file"},
    {"ctrl csv binary", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "head -c 100000 /dev/urandom > c.csv", "--ctrl-file c.csv", 2, "first column"},
    {"ctrl csv huge", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "{ echo time,m; seq 1 3000000 | sed 's/$/,1/'; } > c.csv", "--ctrl-file c.csv", 0, ""},
    {"ctrl csv long line", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "{ echo time,m; printf '0,'; yes 1 | head -c 20000000 | tr -d '\\n'; } > c.csv", "--ctrl-file c.csv", 2,
     "not a finite number"},
    {"ctrl csv same column twice", "xml", WORLD("", ARM, "<actuator><motor name='m' joint='j'/></actuator>"),
     "printf 'time,m,m\\n0,1,2\\n' > c.csv", "--ctrl-file c.csv", 2, "two columns are called 'm'"},
    {"shell without size", "xml",
     WORLD("", "<body><joint/><geom type='box' size='0 0 0' shellinertia='true'/></body>", ""), NULL, "", 2,
     "wants three half widths"},
    {"huge shell", "xml",
     WORLD("", "<body><freejoint/><geom type='ellipsoid' size='1e150 1e150 1e150' shellinertia='true'/></body>", ""),
     NULL, "", 2, "no mass or inertia"},
    {"tiny shell", "xml",
     WORLD("", "<body><freejoint/><geom type='ellipsoid' size='1e-150 1e-150 1e-150' shellinertia='true'/></body>", ""),
     NULL, "", 2, "no mass or inertia"},
    {"shell of another word", "xml", WORLD("", "<body><freejoint/><geom size='.1' shellinertia='maybe'/></body>", ""),
     NULL, "", 2, "none of: false true"},
    {"mesh in one place", "xml",
     WORLD("<asset><mesh name='m' vertex='1 1 1 1 1 1 1 1 1 1 1 1'/></asset>",
           "<body><freejoint/><geom type='mesh' mesh='m'/></body>", ""),
     NULL, "", 2, "in one place"},
    {"mesh like a needle", "xml",
     WORLD("<asset><mesh name='m' vertex='0 0 0 1e-9 0 0 0 1e-9 0 0 0 1'/></asset>",
           "<body><freejoint/><geom type='mesh' mesh='m'/></body>", ""),
     NULL, "", 2, "hull"},
    {"mesh of 1e60 m", "xml",
     WORLD("<asset><mesh name='m' scale='1e60 1e60 1e60' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>",
           "<body><freejoint/><geom type='mesh' mesh='m'/></body>", ""),
     NULL, "", 2, "would not be finite"},
    {"mesh with three equal moments", "xml",
     WORLD("<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1'/></asset>",
           "<body><freejoint/><geom type='mesh' mesh='m'/></body>", ""),
     NULL, "", 0, ""},
    {"mirrored mesh of a later class", "xml",
     WORLD("<asset><mesh class='late' name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><default><default "
           "class='late'><mesh scale='1 1 -1'/></default></default>",
           "<body><freejoint/><geom type='mesh' mesh='m'/></body>", ""),
     NULL, "", 0, ""},
    {"builtin mesh of 1e16 faces", "xml",
     WORLD("<asset><mesh name='m' builtin='supertorus' params='99999999 99999999 1 1'/></asset>",
           "<body><freejoint/><geom type='mesh' mesh='m'/><geom size='.1'/></body>", ""),
     NULL, "", 2, "3 to 1000"},
    {"full inertia below all numbers", "xml",
     WORLD("", "<body><joint/><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 1e-320 1e-320 1e-320'/></body>", ""),
     NULL, "", 0, ""},
    {"pid without inputs", "xml", WORLD("", ARM, "<actuator><pid joint='j' kp='1' input=''/></actuator>"), NULL, "", 2,
     "at least one of"},
    {"pid with inputs turned round", "xml",
     WORLD("", ARM, "<actuator><pid joint='j' kp='1' input='ff pos'/></actuator>"), NULL, "", 2, "in this order"},
    {"pid with the same input twice", "xml",
     WORLD("", ARM, "<actuator><pid joint='j' kp='1' input='pos pos'/></actuator>"), NULL, "", 2, "in this order"},
    {"pid integral without setpoint", "xml", WORLD("", ARM, "<actuator><pid joint='j' ki='1' input='vel'/></actuator>"),
     NULL, "", 2, "need the input pos"},
    {"pid gains of 1e300 at rest", "xml",
     WORLD("", ARM,
           "<actuator><pid joint='j' kp='1e300' kv='1e300' ki='1e300' input='pos'/></actuator><keyframe><key "
           "ctrl='1'/></keyframe>"),
     NULL, "", 0, ""},
    {"pid with a reversed range", "xml", WORLD("", ARM, "<actuator><pid joint='j' kp='1' velrange='1 -1'/></actuator>"),
     NULL, "", 2, "velrange"},
    {"pid with a delay", "xml", WORLD("", ARM, "<actuator><pid joint='j' kp='1' delay='.1' nsample='5'/></actuator>"),
     NULL, "", 0, ""},
    {"damping ratio of a negative kp", "xml",
     WORLD("<default><general gainprm='-2'/></default>", ARM,
           "<actuator><position joint='j' dampratio='1'/></actuator>"),
     NULL, "", 2, "is not negative"},
    {"delays of 1e9 numbers", "xml", NULL,
     "{ echo \"<mujoco><worldbody><body><joint name='j'/><geom size='.1' pos='.3 0 "
     "0'/></body></worldbody><actuator>\"; "
     "for i in $(seq 600); do echo \"<motor joint='j' delay='.1' nsample='100000'/>\"; done; echo "
     "'</actuator></mujoco>'; } > f.xml",
     "", 2, "remember more than"},
    {"pid key of one control", "xml",
     WORLD("", ARM, "<actuator><pid joint='j' kp='1'/></actuator><keyframe><key ctrl='1'/></keyframe>"), NULL, "", 2,
     "the model has 2"},
    {"user dynamics beside a key", "xml",
     WORLD("", ARM,
           "<actuator><general joint='j' dyntype='user'/><motor "
           "joint='k'/></actuator><keyframe><key ctrl='1 2' act='1 2 3'/></keyframe>"),
     NULL, "", 3, "general actuator"},
    {"plugin with a huge state", "xml",
     WORLD(
         "<extension><plugin plugin='x'><instance name='i'><config key='k' value='v'/></instance></plugin></extension>",
         ARM, "<actuator><plugin instance='i' joint='j' actdim='999999999'/></actuator>"),
     NULL, "", 3, "plugin actuator"},
    {"state of 2e9 numbers", "xml",
     WORLD("", ARM, "<actuator><general joint='j' dyntype='user' actdim='2000000000'/></actuator>"), NULL, "", 2,
     "actdim"},
    {"gear of 1e200", "xml", WORLD("", ARM, "<actuator><position joint='j' gear='1e200' kp='1e200'/></actuator>"), NULL,
     "", 2, "no mass or inertia"},
    {"fluid of density 1e300", "xml", WORLD("<option density='1e300' viscosity='1e300'/>", ARM, ""), NULL, "", 2,
     "would not be finite"},
    {"free body in a fluid of 1e300", "xml",
     WORLD("<option density='1' viscosity='1'/>",
           "<body><freejoint/><geom type='ellipsoid' size='1e-12 1 1' fluidshape='ellipsoid' fluidcoef='1e300 1 1 1 "
           "1'/></body>",
           ""),
     NULL, "", 2, "would not be finite"},
    {"polynomial of 1e308", "xml",
     WORLD("", ARM, "<equality><joint joint1='j' joint2='k' polycoef='0 1e308 1e308 1e308 1e308'/></equality>"), NULL,
     "", 0, ""},
    {"gravity of 1e300", "xml", WORLD("<option gravity='0 0 -1e300'/>", ARM, ""), NULL, "", 2, "would not be finite"},
    {"key of 3 numbers for 2", "xml", WORLD("", ARM, "<keyframe><key qpos='1 2 3'/></keyframe>"), NULL, "", 2,
     "the model has 2"},
    {"cable that is not a number", "xml",
     WORLD("", "<composite type='cable' vertex='nan 0 0 1 0 0 2 0 0'><geom type='capsule' size='.005'/></composite>",
           ""),
     NULL, "", 2, "not a finite number"},
    {"mimic itself", "urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "<mimic joint='j'/>")), NULL, "", 2,
     "mimics itself"},
    {"mimic cycle", "urdf",
     ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "a", "b", "<mimic joint='k' multiplier='2'/>")
               JOINT("k", "b", "c", "<mimic joint='j' multiplier='2'/>")),
     NULL, "", 2, "mimics itself"},
    {"mimic chain", "urdf",
     ROBOT(LINK("l0") LINK("l1") LINK("l2") LINK("l3") LINK("l4") LINK("l5") JOINT("j0", "l0", "l1", )
               JOINT("j1", "l1", "l2", "<mimic joint='j0' multiplier='1'/>")
                   JOINT("j2", "l2", "l3", "<mimic joint='j1' multiplier='1'/>")
                       JOINT("j3", "l3", "l4", "<mimic joint='j2' multiplier='1'/>")
                           JOINT("j4", "l4", "l5", "<mimic joint='j3' multiplier='1'/>")),
     NULL, "", 0, ""},
    {"mimic nobody", "urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", "<mimic joint='q'/>")), NULL, "", 2,
     "no joint 'q'"},
    {"mimic of floating", "urdf",
     ROBOT(LINK("a") LINK("b")
               LINK("c") "<joint name='f' type='floating'><parent link='a'/><child link='b'/></joint>" JOINT(
                   "k", "b", "c", "<mimic joint='f'/>")),
     NULL, "", 3, "does not turn or slide"},
    {"urdf limits reversed", "urdf",
     ROBOT(LINK("a") LINK("b") "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit lower='1' "
                               "upper='-1' effort='1' velocity='1'/></joint>"),
     NULL, "", 2, "reversed"},
    {"urdf loop", "urdf", ROBOT(LINK("a") LINK("b") JOINT("j", "a", "b", ) JOINT("k", "b", "a", )), NULL, "", 2,
     "loop of joints"},
    {"urdf two parents", "urdf", ROBOT(LINK("a") LINK("b") LINK("c") JOINT("j", "a", "c", ) JOINT("k", "b", "c", )),
     NULL, "", 2, "hangs on joint"},
    {"urdf two roots", "urdf", ROBOT(LINK("a") LINK("b")), NULL, "", 2, "no parent"},
    {"urdf self joint", "urdf", ROBOT(LINK("a") JOINT("j", "a", "a", )), NULL, "", 2, "loop of joints"},
    {"urdf bad inertia", "urdf",
     ROBOT(LINK("a") "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='-1' ixy='0' ixz='0' "
                     "iyz='0'/></inertial></link>" JOINT("j", "a", "b", )),
     NULL, "", 2, "must not be negative"},
    {"urdf triangle inertia", "urdf",
     ROBOT(LINK("a") "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9' ixy='0' ixz='0' "
                     "iyz='0'/></inertial></link>" JOINT("j", "a", "b", )),
     NULL, "", 2, "exceeds"},
    {"urdf massless chain", "urdf", ROBOT("<link name='a'/><link name='b'/>" JOINT("j", "a", "b", )), NULL, "", 2,
     "no mass or inertia"},
    {"urdf no links", "urdf", ROBOT(""), NULL, "", 2, "without a link"},
    {"urdf missing link", "urdf", ROBOT(LINK("a") JOINT("j", "a", "zz", )), NULL, "", 2, "no link 'zz'"},
    {"urdf package escapes", "urdf",
     ROBOT(
         LINK("a") "<link name='b'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' "
                   "iyz='0'/></inertial><collision><geometry><mesh "
                   "filename='package://x/../../../etc/passwd'/></geometry></collision></link>" JOINT("j", "a", "b", )),
     NULL, "", 3, "left out"},
    {"urdf huge scale", "urdf",
     ROBOT(LINK("a") "<link name='b'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' "
                     "iyz='0'/></inertial><collision><geometry><box size='1e300 1 "
                     "1'/></geometry></collision></link>" JOINT("j", "a", "b", )),
     NULL, "", 0, ""},
    {"urdf xacro", "urdf",
     "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include filename='x'/></robot>", NULL, "", 2,
     "without a link"},
};

static void write_text(fx_test *t, const char *name, const char *text) {
  FILE *file = fopen(fx_test_scratch(t, name), "w");
  REQUIRE(t, file);
  fputs(text, file);
  fclose(file);
}

/* One process reads many files faster than many tests would. */
static void endings(fx_test *t) {
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const hostile *h = &rows[k];
    char name[16];
    snprintf(name, sizeof name, "f.%s", h->ending);
    if (h->text) write_text(t, name, h->text);
    shell_result r =
        shell(t, "%s && timeout 60 \"$frix\" run %s --time 0.02 --quiet %s", h->make ? h->make : ":", name, h->flags);
    if (r.code != h->code || !strstr(r.err, h->says))
      fx_test_fail(t, __FILE__, __LINE__, "%s: exit %d, not %d with '%s': %.300s", h->name, r.code, h->code, h->says,
                   r.err);
    shell_free(&r);
    r = shell(t, "timeout 60 \"$frix\" robot %s >/dev/null; code=$?; rm -rf c.csv; exit $code", name);
    if (r.code != 0 && r.code != 2)
      fx_test_fail(t, __FILE__, __LINE__, "%s: frix robot: exit %d: %.300s", h->name, r.code, r.err);
    shell_free(&r);
  }
}

const fx_test_row test_hostile_robots[] = {{"hostile_robots/endings", endings}, {0}};
