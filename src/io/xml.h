/* XML as a small tree: elements with attributes, each with its file and line. No text, no entities, limited depth. Text
 * that was made of another file says with <?line N?> which line of that what follows comes from. */
#ifndef FX_IO_XML_H
#define FX_IO_XML_H

#include "base/arena.h"

enum { FX_XML_DEPTH = 200 };

typedef struct fx_xml_attribute {
  const char *name, *value;
} fx_xml_attribute;

typedef struct fx_xml_element fx_xml_element;
struct fx_xml_element {
  const char *name, *file;
  int32_t line;
  int32_t attribute_count;
  fx_xml_attribute *attribute;
  fx_xml_element *parent, *first, *last, *next;
  const void *owner; /* left to who reads: the document it is part of */
};

/* Reads a document into the arena; file, which must live as long, stands in messages and in every element. Entity
 * declarations are refused: they have no use here, and a file of them can grow without end. FRIX_ERROR_UNSUPPORTED in
 * a build without expat. */
frix_status fx_xml_parse(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_xml_element **root);
bool fx_xml_available(void);

/* The value of an attribute, NULL where there is none. */
const char *fx_xml_value(const fx_xml_element *element, const char *name);
/* Puts child at the end of parent's children. */
void fx_xml_append(fx_xml_element *parent, fx_xml_element *child);

#endif
