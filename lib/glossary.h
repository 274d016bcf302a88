/* glossary.h - the terms of doc/glossary.md. */
#ifndef PL_LIB_GLOSSARY_H
#define PL_LIB_GLOSSARY_H

typedef struct pl_glossary_entry {
    const char *term, *meaning; /* one or two sentences */
} pl_glossary_entry;

extern const pl_glossary_entry pl_glossary[]; /* terminated by NULL */

#endif
