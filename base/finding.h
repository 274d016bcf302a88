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
#define PL_CHECK_TOOLS(X) X(MEM, "mem") X(RACE, "race") X(INIT, "init") X(SYNC, "sync")

#define PL_KERNEL_FINDING_KINDS(X)                                                                 \
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
    X(RACE_PROXY, RACE, "proxy", ERROR,                                                            \
      "Threads write bytes with loads and stores, and a bulk or tensor copy, wgmma, a texture or " \
      "a "                                                                                         \
      "surface accesses them by another proxy: another path to memory. Barriers order threads, "   \
      "not paths; the access may see the old bytes.\n\n"                                           \
      "    tile[t] = v;\n"                                                                         \
      "    __syncthreads();\n"                                                                     \
      "    if (t == 0) cp_async_bulk(out, tile, sizeof tile);   // may copy the old tile\n\n"      \
      "Three ways to mend it: let each thread that wrote execute fence.proxy.async "               \
      "(cuda::ptx::fence_proxy_async) in front of the barrier; access the bytes with loads and "   \
      "stores on both sides; or, for textures and surfaces, which no fence helps, write in one "   \
      "launch and fetch in the next.")                                                             \
    X(RACE_ASYNC, RACE, "async", ERROR,                                                            \
      "An asynchronous copy reads or writes bytes that a thread accesses before anybody has "      \
      "waited for the copy.\n\n"                                                                   \
      "    __pipeline_memcpy_async(&tile[t], &in[t], 16);\n"                                       \
      "    __pipeline_commit();\n"                                                                 \
      "    __syncthreads();              // orders threads, does not wait for copies\n"            \
      "    use(tile[t]);\n\n"                                                                      \
      "Three ways to mend it: wait first (__pipeline_wait_prior, cp.async.wait_group), then "      \
      "put a barrier if other threads read; wait at the mbarrier that the copy completes at; or "  \
      "copy with plain loads and stores.")                                                         \
    X(RACE_CLUSTER, RACE, "cluster", ERROR,                                                        \
      "A thread accesses the shared memory of another block of its cluster, and nothing says "     \
      "that that "                                                                                 \
      "block has begun, or that it has not ended: its shared memory may not be there.\n\n"         \
      "    int *theirs = cluster.map_shared_rank(tile, 1);\n"                                      \
      "    theirs[t] = 1;\n"                                                                       \
      "    return;                       // block 1 may have ended in front of the store\n\n"      \
      "Three ways to mend it: call cluster.sync() before the first access to another block and "   \
      "behind "                                                                                    \
      "the last one; let the other block wait at an mbarrier that the access completes at; or "    \
      "pass the "                                                                                  \
      "data through global memory.")                                                               \
    X(MEM_BOUNDS, MEM, "bounds", ERROR,                                                            \
      "An access lies outside of what it may touch: buffers, variables, shared and local memory "  \
      "and "                                                                                       \
      "blocks of malloc end at the byte that was asked for.\n\n"                                   \
      "    out[i] = in[i];   // without if (i < n): the last block reaches beyond the end\n\n"     \
      "Three ways to mend it: test the index; allocate up to a multiple of the block; or launch "  \
      "as "                                                                                        \
      "many threads as there are elements and let each one stride.")                               \
    X(MEM_MISALIGNED, MEM, "misaligned", ERROR,                                                    \
      "The address of an access is not a multiple of its size.\n\n"                                \
      "    float4 v = *(float4 *)(p + 1);   // p + 1 is a multiple of 4, not of 16\n\n"            \
      "Three ways to mend it: read the elements one by one; move the start to a multiple and "     \
      "treat "                                                                                     \
      "the rest apart; or pad rows to a multiple of the vector.")                                  \
    X(MEM_FREED, MEM, "freed", ERROR,                                                              \
      "An access to memory that has been freed, or a second free of it.\n\n"                       \
      "    free(p);\n"                                                                             \
      "    x = p[0];\n\n"                                                                          \
      "Three ways to mend it: free after the last use; set the pointer to NULL and test it; or "   \
      "allocate once for the launch and let nobody free it inside.")                               \
    X(MEM_LEAK, MEM, "leak", WARNING,                                                              \
      "Blocks that kernels took with malloc are still there at the end. The device heap is small " \
      "(8 MiB unless cudaDeviceSetLimit changes it), and malloc returns NULL when it is full.\n\n" \
      "    int *p = (int *)malloc(4 * n);   // and no free(p)\n\n"                                 \
      "Three ways to mend it: free each block in the thread that took it; let one thread free "    \
      "what "                                                                                      \
      "the block shares, behind a barrier; or pass buffers to the kernel instead.")                \
    X(INIT_BRANCH, INIT, "branch", ERROR,                                                          \
      "What the thread does next depends on a value that comes from memory nobody has written: a " \
      "buffer without initial values, shared memory, a local variable. Such memory holds what "    \
      "was there before, which may be zero today.\n\n"                                             \
      "    __shared__ int best;\n"                                                                 \
      "    if (in[i] > best) best = in[i];   // best has no value yet\n\n"                         \
      "Three ways to mend it: give the variable a value before its first use, and put a barrier "  \
      "behind that if it is shared; fill the buffer (cudaMemset, cudaMemcpy); or test the index "  \
      "so that nobody looks at elements that are not there.")                                      \
    X(INIT_ADDRESS, INIT, "address", ERROR,                                                        \
      "An address depends on a value that comes from memory nobody has written: the access may "   \
      "go anywhere.\n\n"                                                                           \
      "    int bin[8];\n"                                                                          \
      "    table[bin[threadIdx.x & 7]] = 1;   // bin was never filled\n\n"                         \
      "Three ways to mend it: fill the index array first; compute the index; or test it against "  \
      "the bounds after it has been given a value.")                                               \
    X(INIT_ATOMIC, INIT, "atomic", ERROR,                                                          \
      "An atomic operation changes memory that nobody has written, or by a value that depends on " \
      "such memory. The sum is as undefined as what it began with.\n\n"                            \
      "    cudaMalloc(&count, 4);             // without cudaMemset(count, 0, 4)\n"                \
      "    atomicAdd(count, 1);\n\n"                                                               \
      "Three ways to mend it: set the counter to its first value in the host (cudaMemset); let "   \
      "one thread set a shared counter, behind which all meet at a barrier; or begin with an "     \
      "exchange.")                                                                                 \
    X(INIT_OUTPUT, INIT, "output", ERROR,                                                          \
      "A kernel has stored a value that depends on memory nobody has written, and the host reads " \
      "it.\n\n"                                                                                    \
      "    __shared__ float tile[64];\n"                                                           \
      "    if (i < n) tile[threadIdx.x] = in[i];\n"                                                \
      "    __syncthreads();\n"                                                                     \
      "    out[i] = tile[63 - threadIdx.x];   // the last block: some were never set\n\n"          \
      "Three ways to mend it: give the rest a neutral value (else tile[t] = 0); guard the read "   \
      "like the write; or let the host ignore these elements and not copy them.")                  \
    X(SYNC_BARRIER, SYNC, "barrier", ERROR,                                                        \
      "A barrier is used in a way that no thread count can satisfy: different numbers of threads " \
      "for "                                                                                       \
      "one barrier, a number that is no multiple of the warp, lanes of a warp that name "          \
      "different "                                                                                 \
      "barriers, or bar.red and bar.sync at once.\n\n"                                             \
      "    if (t < 32) asm(\"bar.sync 1, 64;\");\n"                                                \
      "    else        asm(\"bar.sync 1, 96;\");   // one barrier, two numbers\n\n"                \
      "Three ways to mend it: pass the same number at every use of the barrier; count whole "      \
      "warps; or "                                                                                 \
      "use __syncthreads(), which counts by itself.")                                              \
    X(SYNC_DIVERGENT, SYNC, "divergent", WARNING,                                                  \
      "Threads of a block meet at different __syncthreads() of the program, or some lanes of a "   \
      "warp come to one and the others go past it. Hardware counts arrivals "                      \
      "and lets them go; CUDA C++ allows a barrier in conditional code only if all threads of "    \
      "the "                                                                                       \
      "block take the same way.\n\n"                                                               \
      "    if (threadIdx.x < 32) { load(); __syncthreads(); }\n"                                   \
      "    else { __syncthreads(); }\n\n"                                                          \
      "Three ways to mend it: move the barrier out of the branch; use a named barrier (bar.sync "  \
      "1, n) "                                                                                     \
      "for the roles; or use cuda::barrier.")                                                      \
    X(SYNC_MASK, SYNC, "mask", ERROR,                                                              \
      "A lane executes a _sync instruction with a mask that does not name it. What it gets is "    \
      "undefined.\n\n"                                                                             \
      "    v = __shfl_sync(0x0000ffff, v, 0);   // by all 32 lanes\n\n"                            \
      "Three ways to mend it: name all lanes that come here (0xffffffff); keep the others away "   \
      "with a "                                                                                    \
      "branch; or take the mask from __ballot_sync in front of the branch.")                       \
    X(SYNC_SHUFFLE, SYNC, "shuffle", WARNING,                                                      \
      "A lane reads a register of a lane that does not take part in the shuffle: it has left, or " \
      "its "                                                                                       \
      "guard is false. The value is undefined; a reduction may never use it.\n\n"                  \
      "    if (t >= 16) return;\n"                                                                 \
      "    v += __shfl_down_sync(0xffff, v, 8);   // lane 8 reads lane 16, which has left\n\n"     \
      "Three ways to mend it: let all lanes of the warp come; set the width of the shuffle to "    \
      "the "                                                                                       \
      "lanes that come; or let inactive lanes bring a neutral value.")                             \
    X(SYNC_MBARRIER, SYNC, "mbarrier", ERROR,                                                      \
      "An mbarrier object is used without mbarrier.init, or its counts leave their range: more "   \
      "arrivals than a phase expects, or too many bytes.\n\n"                                      \
      "    __shared__ uint64_t bar;\n"                                                             \
      "    mbarrier_arrive(&bar);   // and nobody has executed mbarrier.init\n\n"                  \
      "Three ways to mend it: let one thread initialise it and put a barrier behind that; "        \
      "initialise "                                                                                \
      "it with the number of arrivals that there will be; or expect as many bytes as the copies "  \
      "bring.")                                                                                    \
    X(SYNC_WGMMA, SYNC, "wgmma", ERROR,                                                            \
      "wgmma.mma_async only starts a product. Its sum is in the registers when wgmma.wait_group "  \
      "has "                                                                                       \
      "waited for the group of the product; before, they hold anything, and what is written to "   \
      "them may be lost.\n\n"                                                                      \
      "    wgmma_m64n8k16(sum, a, b);    // wgmma.mma_async\n"                                     \
      "    wgmma_commit_group();\n"                                                                \
      "    out[t] = sum[0];              // the product may not have come so far\n\n"              \
      "Three ways to mend it: put wgmma.wait_group 0 in front of the first use; with several "     \
      "groups "                                                                                    \
      "under way, let wgmma.wait_group leave only those that are not used yet; or go on with "     \
      "other "                                                                                     \
      "products that add to the same registers, which need no wait.")                              \
    X(SYNC_WGMMA_OPERAND, SYNC, "wgmma-operand", ERROR,                                            \
      "wgmma.mma_async only starts a product. It takes matrix A out of registers some time after " \
      "the instruction; until wgmma.wait_group has waited for the product, nobody may change "     \
      "these registers, and PTX calls reading them undefined, too.\n\n"                            \
      "    wgmma_m64n8k16(sum, a, b);    // a: four registers\n"                                   \
      "    wgmma_commit_group();\n"                                                                \
      "    a[0] = tile[t];               // the product may not have read a[0] yet\n\n"            \
      "Three ways to mend it: put wgmma.wait_group in front of the change; load the next matrix "  \
      "into registers of its own, and use the two sets in turn; or leave matrix A in shared "      \
      "memory.")                                                                                   \
    X(SYNC_WGMMA_FENCE, SYNC, "wgmma-fence", ERROR,                                                \
      "A warp executes wgmma.mma_async and has not executed wgmma.fence before. Only that fence "  \
      "orders what a thread does with registers before the product that uses them; without it "    \
      "the "                                                                                       \
      "product may start with what they held earlier.\n\n"                                         \
      "    sum[0] = 0;\n"                                                                          \
      "    wgmma_m64n8k16(sum, a, b);    // and nobody has executed wgmma.fence\n\n"               \
      "Three ways to mend it: put wgmma.fence in front of the first product "                      \
      "(warpgroup_arrive()); "                                                                     \
      "put it behind each change of a register that a product adds to or takes its matrix from; "  \
      "or let all warps of the warpgroup take the branch that has it.")                            \
    X(HANG, DEADLOCK, "hang", ERROR,                                                               \
      "Nothing can go on: every thread waits for another one, or looks at memory that nobody "     \
      "changes. "                                                                                  \
      "The message says who waits for whom.\n\n"                                                   \
      "    if (threadIdx.x < 16) __syncthreads();   // the others of the warp never come\n\n"      \
      "Three ways to mend it: move the barrier to where all threads pass; give each role a "       \
      "barrier of "                                                                                \
      "its own with its number of threads; or write the flag that is waited for.")

/* Of programs (`ptxloom exec`): what calls of the host take part in. */
#define PL_PROGRAM_FINDING_KINDS(X)                                                                \
    X(INIT_COPY, INIT, "copy", WARNING,                                                            \
      "The program copies device memory to the host that neither a kernel nor a call of the host " \
      "has "                                                                                       \
      "written. What arrives is what was there before.\n\n"                                        \
      "    cudaMalloc(&d, 4 * n);\n"                                                               \
      "    k<<<n / 256, 256>>>(d);                      // n is no multiple of 256\n"              \
      "    cudaMemcpy(h, d, 4 * n, cudaMemcpyDefault);  // the rest was never written\n\n"         \
      "Three ways to mend it: let the kernel write all of it (one block more, and if (i < n)); "   \
      "copy "                                                                                      \
      "only what has been written; or fill the memory first (cudaMemset).")                        \
    X(MEM_STREAM, MEM, "stream", ERROR,                                                            \
      "Memory of cudaMallocAsync exists from its allocation to its release in the order of "       \
      "streams. "                                                                                  \
      "Something in another stream accesses it, and nothing orders that behind the allocation, "   \
      "or "                                                                                        \
      "in front of the release.\n\n"                                                               \
      "    cudaMallocAsync(&d, 4 * n, a);\n"                                                       \
      "    k<<<1, 256, 0, b>>>(d);   // stream b may be ahead of stream a\n\n"                     \
      "Three ways to mend it: use one stream; let the other stream wait for an event that is "     \
      "recorded behind the allocation, and the releasing stream for one behind the last access "   \
      "(cudaEventRecord, cudaStreamWaitEvent); or wait in the host (cudaStreamSynchronize).")      \
    X(RACE_STREAM, RACE, "stream", ERROR,                                                          \
      "Two kernels or copies in different streams access the same bytes, one of them writes, and " \
      "nothing orders the two: they may run at the same time, or in either order.\n\n"             \
      "    fill<<<n / 256, 256, 0, a>>>(d);\n"                                                     \
      "    cudaMemcpyAsync(h, d, 4 * n, cudaMemcpyDeviceToHost, b);   // may copy before "         \
      "that\n\n"                                                                                   \
      "Three ways to mend it: use one stream; record an event behind the first "                   \
      "(cudaEventRecord) and let the other stream wait for it (cudaStreamWaitEvent); or wait in "  \
      "the host (cudaStreamSynchronize).")

#define PL_FINDING_KINDS(X) PL_KERNEL_FINDING_KINDS(X) PL_PROGRAM_FINDING_KINDS(X)

typedef enum pl_finding_kind {
#define X(name, tool, word, severity, text) PL_FK_##name,
    PL_FINDING_KINDS(X)
#undef X
        PL_FK_COUNT
} pl_finding_kind;

#endif
