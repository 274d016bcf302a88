/* output.h - what the files of lib/ that write files for the user share. */
#ifndef PL_LIB_DATA_OUTPUT_H
#define PL_LIB_DATA_OUTPUT_H

#include "base/outfile.h"
#include "lib/internal.h"

/* Reports that a file could not be written, and why (as pl_outfile_close says). PL_INVALID when the
 * path is wrong, PL_NOMEM, else PL_IO. */
pl_status pl_output_failed(pl_gpu *gpu, const char *path, int why, pl_output_kind kind);

#endif
