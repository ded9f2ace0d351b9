/* Numbers as text, independent of the process locale. */
#ifndef FX_BASE_NUMBER_H
#define FX_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* The whole of text[0..length) must be one decimal number (also inf, nan); correctly rounded. */
bool fx_parse_real(const char *text, size_t length, double *out);
/* Shortest-safe "%.17g" with a point, whatever the locale; returns the length. buffer holds at least 32 bytes. */
int fx_print_real(char *buffer, double value);

#endif
