/* node_field.h - the fields of a kernel node of a graph that a running kernel may change
 * (cudaGraphKernelNodeSetParam, SetGridDim, SetEnabled). */
#ifndef PL_BASE_NODE_FIELD_H
#define PL_BASE_NODE_FIELD_H

/* The numbers of cudaGraphKernelNodeField, with the value that pl_launch.update_node receives. The
 * value is valid during that call. */
typedef enum pl_node_field {
    PL_NODE_GRID = 1,   /* three uint32_t: the blocks of the grid in x, y and z */
    PL_NODE_PARAM = 2,  /* bytes of the parameter block, from a byte offset on */
    PL_NODE_ENABLED = 3 /* one byte: 1: the kernel runs with its graph; 0: it does not */
} pl_node_field;

#endif
