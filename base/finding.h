/* finding.h - kinds of findings of the checkers of `ptxloom run --check`: the one list of them.
 *
 * X(name, tool, word, severity, explanation): a finding is called TOOL-WORD, and `ptxloom explain
 * TOOL-WORD` prints the explanation. */
#ifndef PL_BASE_FINDING_H
#define PL_BASE_FINDING_H

typedef enum pl_check_tool {
    PL_CHECK_MEM = 1,
    PL_CHECK_RACE = 2,
    PL_CHECK_INIT = 4,
    PL_CHECK_SYNC = 8,
    PL_CHECK_DEADLOCK = 16, /* found by every tool */
    PL_CHECK_ALL = 31
} pl_check_tool;

/* X(tool, word): the tools that can be asked for. */
#define PL_CHECK_TOOLS(X) X(RACE, "race")

#define PL_FINDING_KINDS(X)                                                                        \
    X(RACE_RAW, RACE, "raw", ERROR,                                                                \
      "A thread writes, another one reads the same bytes, and nothing orders the two: the read "   \
      "may return the old value or the new one.\n\n"                                               \
      "    tile[threadIdx.x] = in[i];\n"                                                           \
      "    out[i] = tile[63 - threadIdx.x];   // may read before the other thread has written\n\n" \
      "Three ways to mend it: put a barrier between the two lines, __syncthreads() for threads "   \
      "of a block or __syncwarp() for lanes of a warp; let each thread read only what it wrote "   \
      "itself; or pass the value on through a flag that the writer releases and the reader "       \
      "acquires (cuda::atomic_ref with memory_order_release and memory_order_acquire).")           \
    X(RACE_WAR, RACE, "war", ERROR,                                                                \
      "A thread reads, another one writes the same bytes, and nothing orders the two: the write "  \
      "may come first. Loops that reuse a buffer often lack this barrier at their end.\n\n"        \
      "    for (int k = 0; k < n; k++) {\n"                                                        \
      "        tile[threadIdx.x] = in[k * 64 + threadIdx.x];\n"                                    \
      "        __syncthreads();\n"                                                                 \
      "        sum += tile[63 - threadIdx.x];   // a faster thread writes the next round's "       \
      "value\n"                                                                                    \
      "    }\n\n"                                                                                  \
      "Three ways to mend it: put a second barrier at the end of the loop; use two buffers in "    \
      "turn; or keep the value in a register and shuffle it.")                                     \
    X(RACE_WAW, RACE, "waw", ERROR,                                                                \
      "Two threads write different values to the same bytes, and nothing orders the two: either "  \
      "value may stay.\n\n"                                                                        \
      "    histogram[bin] = histogram[bin] + 1;   // two threads with the same bin\n\n"            \
      "Three ways to mend it: use an atomic operation (atomicAdd); give each thread bytes of its " \
      "own and combine them behind a barrier; or let one thread write.")                           \
    X(RACE_SAME_VALUE, RACE, "same-value", WARNING,                                                \
      "Several threads write the same value to the same bytes, and nothing orders them. The "      \
      "result is the same in any order, as long as no thread reads meanwhile; the PTX memory "     \
      "model and CUDA C++ still call it a data race, and a compiler may rely on there being "      \
      "none.\n\n"                                                                                  \
      "    if (distance[v] > d) changed = 1;   // by many threads\n\n"                             \
      "Three ways to mend it: let one thread write; write with an atomic operation "               \
      "(cuda::atomic_ref, memory_order_relaxed); or collect the votes of a warp or block first "   \
      "(__any_sync, __syncthreads_or).")                                                           \
    X(RACE_MIXED, RACE, "mixed", ERROR,                                                            \
      "One thread accesses bytes with an atomic, volatile or relaxed operation, another one with " \
      "a plain load or store, and nothing orders the two. Atomicity is a promise among atomic "    \
      "operations only.\n\n"                                                                       \
      "    atomicAdd(&count, 1);\n"                                                                \
      "    if (count == n) finish();   // a plain read: may be old, or never change in a loop\n\n" \
      "Three ways to mend it: use the value that the atomic operation returns; make the other "    \
      "access atomic, too (cuda::atomic_ref, atomicExch, atomicAdd of 0); or put a barrier or "    \
      "the end of the launch between them.")                                                       \
    X(RACE_SCOPE, RACE, "scope", ERROR,                                                            \
      "Two threads access the same bytes with atomic operations whose scope does not reach the "   \
      "other: the scope of a block says nothing to other blocks.\n\n"                              \
      "    atomicAdd_block(&total, sum);   // threads of all blocks add to one variable\n\n"       \
      "Three ways to mend it: use the scope of the device (atomicAdd, "                            \
      "cuda::thread_scope_device); give each block a variable of its own and combine them in a "   \
      "second launch; or keep the operation to one block.")                                        \
    X(RACE_VOLATILE, RACE, "volatile", WARNING,                                                    \
      "Threads of different warps access the same bytes with volatile loads and stores, nothing "  \
      "orders them, and no fence makes a flag of them. PTX performs each access as written, so "   \
      "this is no data race to its memory model; CUDA C++ calls it one, and which access comes "   \
      "first is chance.\n\n"                                                                       \
      "    while (atomicCAS(&lock, 0, 1) != 0) {}\n"                                               \
      "    data[0] = 1;                  // volatile int *data\n"                                  \
      "    atomicExch(&lock, 0);         // no __threadfence(): nothing passes the write on\n\n"   \
      "Three ways to mend it: put __threadfence() before the write that hands over and after the " \
      "read that takes over; use cuda::atomic_ref with release and acquire; or put a barrier "     \
      "between the accesses.")                                                                     \
    X(RACE_ASYNC, RACE, "async", ERROR,                                                            \
      "An asynchronous copy reads or writes bytes that a thread accesses before anybody has "      \
      "waited for the copy.\n\n"                                                                   \
      "    __pipeline_memcpy_async(&tile[t], &in[t], 16);\n"                                       \
      "    __pipeline_commit();\n"                                                                 \
      "    __syncthreads();              // orders threads, does not wait for copies\n"            \
      "    use(tile[t]);\n\n"                                                                      \
      "Three ways to mend it: wait first (__pipeline_wait_prior, cp.async.wait_group), then "      \
      "put a barrier if other threads read; wait at the mbarrier that the copy completes at; or "  \
      "copy with plain loads and stores.")

typedef enum pl_finding_kind {
#define X(name, tool, word, severity, text) PL_FK_##name,
    PL_FINDING_KINDS(X)
#undef X
        PL_FK_COUNT
} pl_finding_kind;

#endif
