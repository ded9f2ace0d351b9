/* What the parts share that make an articulated tree of an MJCF file. Lists of the tree live in the arena of the
 * result.
 */
#ifndef FX_IO_MJCF_ROBOT_H
#define FX_IO_MJCF_ROBOT_H

#include "io/mjcf_internal.h"
#include "tree/tree.h"

/* An element that stands for several, once per replica of what it names. */
typedef struct fx_robot_later {
  const fx_xml_element *element;
  int32_t instance, copy;
  int32_t replica; /* fx_mjcf_at.copy */
} fx_robot_later;

/* A growing list of the tree, copied to the arena of the result at its end. */
typedef struct fx_robot_maker {
  fx_mjcf_reader *r;
  fx_tree *tree;
  int32_t wrap_room, tendon_room, actuator_room, sensor_room, equality_room;
  fx_robot_later *later; /* what names something replicated */
  int32_t later_count, later_room;
  int32_t only; /* the copy to add; -1: all, or none yet where there are several */
} fx_robot_maker;

/* Room for one more entry; old entries move. False without memory. */
bool fx_robot_room(fx_robot_maker *m, void **list, int32_t count, int32_t *room, size_t size);
#define FX_ROBOT_ROOM(m, what) \
  fx_robot_room((m), (void **)&(m)->tree->what, (m)->tree->what##_count, &(m)->what##_room, sizeof *(m)->tree->what)

/* What an attribute names, none where it is absent; a reference to something replicated stands for each replica. */
typedef struct fx_robot_reference {
  fx_mjcf_named kind;
  fx_mjcf_found found;
} fx_robot_reference;
frix_status fx_robot_refer(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, fx_mjcf_named kind,
                           const char *key, fx_robot_reference *out);
/* The thing in copy k, -1: none. */
int32_t fx_robot_thing(const fx_robot_maker *m, const fx_robot_reference *x, int32_t k);
/* The name of an element in an instance, with the suffix of the copy of a reference; NULL: none. */
const char *fx_robot_name_of(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const fx_robot_reference *x,
                             int32_t copy);

/* The suffix and the replica of a copy. */
fx_mjcf_at fx_robot_at(const fx_robot_maker *m, int32_t instance, const fx_robot_reference *x, int32_t copy);
/* Elements of a section in MuJoCo's order: first those that stand for themselves, as the file has them; then, replica
 * by replica as they are made, those that name something in them. */
frix_status fx_robot_read_all(fx_robot_maker *m, const char *section,
                              frix_status (*read)(fx_robot_maker *m, int32_t instance, const fx_xml_element *e));
/* Whether the copies come later; otherwise those from *first to *end are to be added. */
frix_status fx_robot_copies(fx_robot_maker *m, int32_t instance, const fx_xml_element *e, const fx_robot_reference *x,
                            int32_t copies, int32_t *first, int32_t *end);

frix_status fx_robot_tendons(fx_robot_maker *m);
frix_status fx_robot_actuators(fx_robot_maker *m);
frix_status fx_robot_sensors(fx_robot_maker *m);
frix_status fx_robot_equalities(fx_robot_maker *m);
/* Once the tree is finished. */
frix_status fx_robot_keys(fx_robot_maker *m);

/* How many numbers a keyframe has for act and ctrl. */
void fx_robot_key_sizes(const fx_tree *tree, fx_mjcf_reader *r);

/* DC motors and orientation servos. */
void fx_robot_copy_motor(const fx_mjcf_actuator *a, fx_tree_actuator *out);
frix_status fx_robot_check_motor(const fx_mjcf_reader *r, const fx_mjcf_actuator *a);
frix_status fx_robot_check_turn(const fx_robot_maker *m, const fx_mjcf_actuator *a, const fx_tree_actuator *out);

#endif
