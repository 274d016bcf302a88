/* node_field.h - the parts of a kernel node of a graph that a running kernel may change. */
#ifndef PL_BASE_NODE_FIELD_H
#define PL_BASE_NODE_FIELD_H

/* The numbers of cudaGraphKernelNodeField, with the value that pl_launch.update_node receives. */
typedef enum pl_node_field {
    PL_NODE_GRID = 1,   /* three uint32_t: the blocks of the grid in x, y and z */
    PL_NODE_PARAM = 2,  /* bytes of the parameters, from a byte offset on */
    PL_NODE_ENABLED = 3 /* one byte: 0: the node does nothing when its graph runs */
} pl_node_field;

#endif
