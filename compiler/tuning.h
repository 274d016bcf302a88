/* tuning.h - heuristics and facts of the compile target as data: what arch/sm_90.target says.
 *
 * Passes read pl_program.tuning. The keys are the list compiler/tuning.def. */
#ifndef PL_COMPILER_TUNING_H
#define PL_COMPILER_TUNING_H

#include "base/conf.h"
#include "base/status.h"

typedef struct pl_tuning {
#define TUNING_SECTION(section, about)                  struct pl_tuning_##section {
#define TUNE(section, key, type, unit, min, max, about) type key;
#define TUNE_LIST(section, key, min, max, about)        pl_conf_list key;
#define TUNING_END(section)                                                                        \
    }                                                                                              \
    section;
#include "compiler/tuning.def"
} pl_tuning;

/* The values of arch/sm_90.target, made by the build. */
extern const pl_tuning pl_target_tuning;

/* Reads the target's file with its units, kinds and sources. changes: "SECTION.KEY=VALUE,...", or
 * NULL; they take the place of the file's values. PL_INVALID: reported. *out lies in the arena. */
pl_status pl_tuning_read(pl_arena *a, pl_diags *d, const char *changes, const pl_tuning **out);

#endif
