/* app_nvtx.c - a test of ranges: the tables of NVTX as created by its header, with the numbers
 * of the functions used here. */
#include "tests/cudart/app.h"

typedef void function(void);
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));

static int (*push)(const char *text);
static int (*pop)(void);
static void (*mark)(const char *text);
static uint64_t (*start)(const char *text);
static void (*end)(uint64_t id);

static int table_of(int module, function ****table, unsigned *n)
{
    static function **core[] = {
        [2] = (function **)&mark, [5] = (function **)&start, [7] = (function **)&end,
        [9] = (function **)&push, [11] = (function **)&pop,  [15] = NULL};
    if (module != 1) return 0;
    *table = core;
    *n = sizeof core / sizeof *core;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*table_of)(int module, function ****table, unsigned *n);
    } callbacks = {sizeof callbacks, table_of};
    return id == 1 ? &callbacks : NULL;
}

/* A nested range, one that overlaps both, and a mark. */
void ranges(void)
{
    void *d;
    EXPECT(InitializeInjectionNvtx2(export_table), 1);
    EXPECT(push("outer"), 0);
    EXPECT(cudaMalloc(&d, 4), 0);
    const uint64_t id = start("beside");
    EXPECT(push("inner"), 1);
    EXPECT(cudaFree(d), 0);
    EXPECT(pop(), 1);
    EXPECT(pop(), 0);
    EXPECT(pop() < 0, 1);
    mark("here");
    end(id);
    end(id);
}
