/* rules.c - lengths of brace vectors that depend on several words of a form: `{@NAME}T` in the table calls pl_count_NAME. */
#include "isa/form.h"
