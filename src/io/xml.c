/* XML by expat (the only file that knows it). */
#include "io/xml.h"

#include <string.h>

#include "io/draft.h"

const char *fx_xml_value(const fx_xml_element *element, const char *name) {
  for (int32_t k = 0; k < element->attribute_count; k++)
    if (!strcmp(element->attribute[k].name, name)) return element->attribute[k].value;
  return NULL;
}

void fx_xml_append(fx_xml_element *parent, fx_xml_element *child) {
  child->parent = parent;
  child->next = NULL;
  if (parent->last) {
    parent->last->next = child;
  } else {
    parent->first = child;
  }
  parent->last = child;
}

#ifdef FRIX_HAVE_EXPAT
#include <expat.h>
#include <stdlib.h>

typedef struct parse {
  XML_Parser parser;
  fx_arena *arena;
  const char *file;
  fx_xml_element *root, *open;
  int depth;
  int32_t told; /* line that <?line N?> gives to what follows; 0: none */
  frix_status status;
} parse;

static int32_t line_of(const parse *p) { return p->told ? p->told : (int32_t)XML_GetCurrentLineNumber(p->parser); }

static void stop(parse *p, frix_status status) {
  p->status = status;
  XML_StopParser(p->parser, XML_FALSE);
}

static char *put(char **at, const char *text) {
  char *start = *at;
  size_t size = strlen(text) + 1;
  memcpy(start, text, size);
  *at += size;
  return start;
}

/* One block per element: itself, its attributes, all their texts. */
static fx_xml_element *make(parse *p, const char *name, const char **pair) {
  size_t count = 0, texts = strlen(name) + 1;
  for (; pair[2 * count]; count++) texts += strlen(pair[2 * count]) + strlen(pair[2 * count + 1]) + 2;
  size_t head = sizeof(fx_xml_element) + count * sizeof(fx_xml_attribute);
  char *block = fx_arena_take(p->arena, head + texts, 1);
  if (!block) return NULL;
  fx_xml_element *e = (fx_xml_element *)(void *)block;
  char *at = block + head;
  e->attribute = (fx_xml_attribute *)(void *)(block + sizeof *e);
  e->attribute_count = (int32_t)count;
  e->name = put(&at, name);
  e->file = p->file;
  e->line = line_of(p);
  for (size_t k = 0; k < count; k++) {
    e->attribute[k].name = put(&at, pair[2 * k]);
    e->attribute[k].value = put(&at, pair[2 * k + 1]);
  }
  return e;
}

static void on_start(void *user, const char *name, const char **pair) {
  parse *p = user;
  if (p->status) return;
  if (++p->depth > FX_XML_DEPTH) {
    stop(p, fx_fail(p->arena->context, FRIX_ERROR_FORMAT, "%s:%d: elements are nested more than %d deep", p->file,
                    (int)line_of(p), FX_XML_DEPTH));
    return;
  }
  fx_xml_element *e = make(p, name, pair);
  if (!e) {
    stop(p, FRIX_ERROR_MEMORY);
    return;
  }
  if (p->open) {
    fx_xml_append(p->open, e);
  } else {
    p->root = e;
  }
  p->open = e;
}

static void on_end(void *user, const char *name) {
  parse *p = user;
  (void)name;
  if (p->status) return;
  p->depth--;
  p->open = p->open->parent;
}

static void on_instruction(void *user, const char *target, const char *data) {
  parse *p = user;
  long line = strcmp(target, "line") ? 0 : strtol(data, NULL, 10);
  if (line > 0 && line < INT32_MAX) p->told = (int32_t)line;
}

static void on_entity(void *user, const char *name, int parameter, const char *value, int length, const char *base,
                      const char *system, const char *public, const char *notation) {
  parse *p = user;
  (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
  if (p->status) return;
  stop(p, fx_fail(p->arena->context, FRIX_ERROR_FORMAT,
                  "%s:%d: declares the entity '%s'; entities are not read, write out what it stands for", p->file,
                  (int)line_of(p), fx_word_of(name, strlen(name)).text));
}

/* What is open tells most about where a tag is missing. */
static frix_status syntax_error(parse *p) {
  frix_context *context = p->arena->context;
  enum XML_Error code = XML_GetErrorCode(p->parser);
  if (code == XML_ERROR_NO_MEMORY) return fx_fail(context, FRIX_ERROR_MEMORY, "%s: out of memory", p->file);
  const char *what = XML_ErrorString(code);
  if (code == XML_ERROR_UNDEFINED_ENTITY)
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s:%d: XML: undefined entity; write & as &amp;", p->file,
                   (int)line_of(p));
  if (!p->root) {
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s:%d: not XML: %s; an MJCF file starts with <mujoco>", p->file,
                   (int)line_of(p), what);
  }
  if (p->open)
    return fx_fail(context, FRIX_ERROR_FORMAT, "%s:%d: XML: %s; <%s> of line %d is open here", p->file, (int)line_of(p),
                   what, fx_word_of(p->open->name, strlen(p->open->name)).text, (int)p->open->line);
  return fx_fail(context, FRIX_ERROR_FORMAT, "%s:%d: XML: %s; the document ended before", p->file, (int)line_of(p),
                 what);
}

frix_status fx_xml_parse(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_xml_element **root) {
  *root = NULL;
  parse p = {.arena = arena, .file = file, .parser = XML_ParserCreate(NULL)};
  if (!p.parser) return fx_fail(arena->context, FRIX_ERROR_MEMORY, "%s: out of memory", file);
  XML_SetUserData(p.parser, &p);
  XML_SetElementHandler(p.parser, on_start, on_end);
  XML_SetProcessingInstructionHandler(p.parser, on_instruction);
  XML_SetEntityDeclHandler(p.parser, on_entity);
  /* in parts, so that a hostile file is stopped early and sizes fit an int */
  const size_t part = 1 << 20;
  for (size_t at = 0; !p.status; at += part) {
    size_t size = count - at < part ? count - at : part;
    bool last = at + size == count;
    if (XML_Parse(p.parser, bytes + at, (int)size, last) == XML_STATUS_ERROR && !p.status) p.status = syntax_error(&p);
    if (last) break;
  }
  XML_ParserFree(p.parser);
  if (!p.status) *root = p.root;
  return p.status;
}

bool fx_xml_available(void) { return true; }

#else

frix_status fx_xml_parse(fx_arena *arena, const char *file, const char *bytes, size_t count, fx_xml_element **root) {
  (void)bytes, (void)count;
  *root = NULL;
  return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "%s: this build of frix has no expat, so it reads no XML",
                 file);
}

bool fx_xml_available(void) { return false; }

#endif
