/* test_host.c - the memory available on the host: limits of the process and of its control
 * groups. */
#include "base/host.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static uint64_t room(void)
{
    char list[256];
    snprintf(list, sizeof list, "%s/list", folder);
    return pl_host_cgroup_available(list, folder);
}

static void setup(void)
{
    strcpy(folder, "/tmp/ptxloom-host-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(cgroup_v2_least_limit)
{
    setup();
    write_file("list", "0::/a/b\n");
    make_folder("a");
    make_folder("a/b");
    write_file("a/b/memory.max", "max\n");
    write_file("a/memory.max", "1000000\n");
    write_file("a/memory.current", "300000\n");
    write_file("a/memory.stat", "anon 5\ninactive_file 100000\n");
    ck_assert_uint_eq(room(), 800000);
    write_file("a/b/memory.max", "500000\n");
    write_file("a/b/memory.current", "600000\n");
    ck_assert_uint_eq(room(), 0);
    teardown();
}
END_TEST

START_TEST(cgroup_v2_in_container)
{
    setup();
    write_file("list", "0::/outside/of/it\n");
    write_file("memory.max", "4096\n");
    write_file("memory.current", "96\n");
    ck_assert_uint_eq(room(), 4000);
    teardown();
}
END_TEST

START_TEST(cgroup_v1_limit)
{
    setup();
    write_file("list", "4:cpu,cpuacct:/x\n3:memory:/x\n");
    make_folder("memory");
    make_folder("memory/x");
    write_file("memory/x/memory.limit_in_bytes", "7000\n");
    write_file("memory/x/memory.usage_in_bytes", "2000\n");
    write_file("memory/x/memory.stat", "inactive_file 9\ntotal_inactive_file 500\n");
    ck_assert_uint_eq(room(), 5500);
    teardown();
}
END_TEST

START_TEST(no_cgroup_no_limit)
{
    setup();
    ck_assert_uint_eq(room(), UINT64_MAX);
    write_file("list", "0::/\nnonsense\n");
    ck_assert_uint_eq(room(), UINT64_MAX);
    teardown();
}
END_TEST

START_TEST(untouched_memory_counts_as_used)
{
    const pl_host_available now = pl_host_memory(0), none = pl_host_memory(UINT64_MAX);
    ck_assert_uint_gt(now.bytes, 0);
    ck_assert(now.bytes == UINT64_MAX || none.bytes == 0);
}
END_TEST

UNIT_MAIN("host", cgroup_v2_least_limit, cgroup_v2_in_container, cgroup_v1_limit,
          no_cgroup_no_limit, untouched_memory_counts_as_used)
