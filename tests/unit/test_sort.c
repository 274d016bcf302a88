/* test_sort.c - sorting by numbers is correct and stable. */
#include "tests/unit/unit.h"

#include "base/sort.h"

enum { MOST = 700 };

START_TEST(in_order_and_stable)
{
    static pl_key at[2 * MOST];
    uint32_t seed = 9;
    for (size_t n = 0; n <= MOST; n += 1 + n / 20) {
        for (uint32_t kinds = 1; kinds <= 1u << 20; kinds <<= 5) {
            for (uint32_t k = 0; k < n; k++) {
                seed = seed * 1664525u + 1013904223u;
                at[k] = (pl_key){(uint64_t)((seed >> 8) % kinds) << 30, k};
            }
            uint64_t sum = 0, after = 0;
            for (size_t k = 0; k < n; k++)
                sum += at[k].key ^ at[k].what * UINT64_C(0x9e3779b97f4a7c15);
            pl_sort_keys(at, n, at + MOST);
            for (size_t k = 0; k < n; k++)
                after += at[k].key ^ at[k].what * UINT64_C(0x9e3779b97f4a7c15);
            ck_assert(sum == after); /* the same elements */
            for (size_t k = 1; k < n; k++)
                ck_assert(at[k - 1].key < at[k].key ||
                          (at[k - 1].key == at[k].key && at[k - 1].what < at[k].what));
        }
    }
}
END_TEST

UNIT_MAIN("sort", in_order_and_stable)
