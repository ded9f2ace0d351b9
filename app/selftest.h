/* What the verb selftest shares with its page. */
#ifndef FX_APP_SELFTEST_H
#define FX_APP_SELFTEST_H

#include "app.h"
#include "form.h"

/* The observed order as text: "1.0", "exact" where all errors are below the floor. */
void fx_selftest_order(const fx_measured *m, char *out, size_t size);
/* The report as a Markdown page; false after a message. */
bool fx_selftest_page(frix_context *context, const char *path, const fx_measured *all, int count);

#endif
