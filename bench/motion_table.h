/* Results of moving scenes as lines to read, CSV, JSON and Markdown. */
#ifndef FRIX_BENCH_MOTION_TABLE_H
#define FRIX_BENCH_MOTION_TABLE_H

#include "motion_engine.h"

enum { MOTION_CELLS = 16 };

typedef struct motion_table {
  FILE *csv, *json, *markdown; /* NULL: not wanted */
  bool parts;                  /* a line with the parts of a step */
  bool drift;                  /* Markdown: how far bodies moved in the last tenth of the steps, and how it ended */
  bool hashes;                 /* only what is the same on every machine */
  int64_t rows;
  /* Markdown: a line for each scene, a column for each engine, written when the next scene begins. */
  char scene[64], engine[MOTION_CELLS][40], cell[MOTION_CELLS][256];
  int cell_count;
  bool headed;
} motion_table;

void motion_table_begin(motion_table *table);
void motion_table_row(motion_table *table, const motion_scene *scene, const motion_result *result);
void motion_table_end(motion_table *table);

#endif
