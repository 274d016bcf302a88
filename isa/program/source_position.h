/* source_position.h - positions in CUDA source files, from .loc: one format for faults, hangs,
 * traces and listings. */
#ifndef PL_ISA_PROGRAM_SOURCE_POSITION_H
#define PL_ISA_PROGRAM_SOURCE_POSITION_H

#include "isa/program/program.h"

enum { PL_POSITION_TEXT = 200 };

/* "k.cu:12", or "k.cu:12 (inlined at k.cu:30, k.cu:44)" with the innermost call first. `line` is an
 * index into p->lines (pl_insn.line). Returns false and an empty text if .loc gives no position
 * there. */
bool pl_cuda_position(const pl_program *p, uint32_t line, char *buf, size_t size);
/* File and line in the user's code: for code inlined from a toolkit header, those of the call.
 * Returns false if .loc gives no position there. */
bool pl_cuda_user_line(const pl_program *p, uint32_t line, const char **path, uint32_t *src_line);

#endif
