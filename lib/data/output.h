/* output.h - declarations shared by the files of lib/ that write files for the user. */
#ifndef PL_LIB_DATA_OUTPUT_H
#define PL_LIB_DATA_OUTPUT_H

#include "base/outfile.h"
#include "lib/internal.h"

/* Reports that a file could not be written. why: an errno value, as from pl_outfile_close.
 * PL_INVALID: the path is wrong; PL_NOMEM; else PL_IO. */
pl_status pl_output_failed(pl_gpu *gpu, const char *path, int why, pl_output_kind kind);

#endif
