/* call_graph.h - which functions of a module keep to the calling convention. */
#ifndef PL_PTX_LOWER_CALL_GRAPH_H
#define PL_PTX_LOWER_CALL_GRAPH_H

#include "ptx/ast.h"

enum { PL_CALLED_BY_ADDRESS = 2 };

/* Fills linked[k] for function k: not 0 when its callers cannot know how it uses registers, because
 * it is elsewhere, its address is taken or it may call itself. The others are called from places
 * that were all seen, and share registers with their callers as suits both. */
void pl_find_linked(const pl_ast *ast, pl_arena *scratch, uint8_t *linked);

/* True if lanes may diverge in one whose address is taken. */
bool pl_linked_part(const pl_ast *ast, const uint8_t *linked);

#endif
