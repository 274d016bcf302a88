/* call_graph.h - determines the functions of a module that follow the calling convention. */
#ifndef PL_PTX_LOWER_CALL_GRAPH_H
#define PL_PTX_LOWER_CALL_GRAPH_H

#include "ptx/ast.h"

enum { PL_CALLED_BY_ADDRESS = 2 };

/* Fills linked[k] for function k: nonzero if its callers cannot know its register usage, because it
 * is external, its address is taken or it may be recursive. All call sites of the other functions
 * are known, and they share registers with their callers as is best for both. */
void pl_find_linked(const pl_ast *ast, pl_arena *scratch, uint8_t *linked);

/* True if lanes may diverge in a function whose address is taken. */
bool pl_linked_part(const pl_ast *ast, const uint8_t *linked);

#endif
