/* make_template.c - part of the build: writes the pages of an empty trace (db_template.c) as a C
 * array.
 *
 *     maketemplate FILE >gen_template.c
 *
 * FILE is created, read and removed. */
#include "traces/tracedb.h"
#include <stdio.h>
#include <stdlib.h>

static int make(const char *path)
{
    sqlite3 *db = NULL;
    char sql[160];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA application_id = %d; PRAGMA journal_mode = OFF; PRAGMA "
             "synchronous = OFF",
             PL_TRACEDB_SMALL_PAGE, PL_TRACEDB_APPLICATION);
    int code = pl_tracedb_open_file(path, PL_TRACEDB_CREATE, &db);
    if (code == SQLITE_OK) code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code == SQLITE_OK) code = pl_tracedb_create_tables(db);
    if (code != SQLITE_OK) fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return code;
}

int main(int argc, char **argv)
{
    if (argc != 2) return EXIT_FAILURE;
    remove(argv[1]);
    if (make(argv[1]) != SQLITE_OK) return EXIT_FAILURE;
    FILE *f = fopen(argv[1], "rb");
    if (!f) return EXIT_FAILURE;
    printf("/* Written by traces/make_template.c: the pages of an empty trace. */\n#include "
           "\"traces/tracedb.h\"\n\n"
           "const unsigned char pl_tracedb_template[] = {");
    size_t n = 0;
    for (int c; (c = getc(f)) != EOF; n++) printf("%s%d,", n % 64 == 0 ? "\n" : "", c);
    printf("\n};\nconst size_t pl_tracedb_template_bytes = %zu;\n", n);
    fclose(f);
    remove(argv[1]);
    return n > 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
