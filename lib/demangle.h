/* demangle.h - names of C++ functions, in the form of compute-sanitizer. */
#ifndef PL_LIB_DEMANGLE_H
#define PL_LIB_DEMANGLE_H

#include "base/arena.h"

/* Returns "void scale<(int)2>(float *, int)" for _Z5scaleILi2EEvPfi. A name that it cannot demangle
 * (lambdas, expressions, operators) is returned unchanged. */
const char *pl_demangle(pl_arena *a, const char *name);

#endif
