/* finding.h - kinds of findings of the checkers of `ptxloom run --check`: the only list of them.
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

/* X(tool, word): the tools that can be requested. */
#define PL_CHECK_TOOLS(X) X(MEM, "mem") X(RACE, "race") X(INIT, "init") X(SYNC, "sync")

#define PL_KERNEL_FINDING_KINDS(X)                                                                 \
    X(RACE_RAW, RACE, "raw", ERROR,                                                                \
      "A thread writes bytes that another thread reads, and nothing orders the two accesses: "     \
      "the read may return the old value or the new one.\n\n"                                      \
      "    tile[threadIdx.x] = in[i];\n"                                                           \
      "    out[i] = tile[63 - threadIdx.x];   // may read before the other thread has "            \
      "written\n\n"                                                                                \
      "Three ways to fix it: put a barrier between the two lines, __syncthreads() for threads "    \
      "of a block or __syncwarp() for lanes of a warp; let each thread read only what it wrote "   \
      "itself; or pass the value through a flag that the writer releases and the reader "          \
      "acquires (cuda::atomic_ref with memory_order_release and memory_order_acquire).")           \
    X(RACE_WAR, RACE, "war", ERROR,                                                                \
      "A thread reads bytes that another thread writes, and nothing orders the two accesses: "     \
      "the write may come first. Loops that reuse a buffer often lack the barrier at the end "     \
      "of the body.\n\n"                                                                           \
      "    for (int k = 0; k < n; k++) {\n"                                                        \
      "        tile[threadIdx.x] = in[k * 64 + threadIdx.x];\n"                                    \
      "        __syncthreads();\n"                                                                 \
      "        sum += tile[63 - threadIdx.x];   // a faster thread writes the next value\n"        \
      "    }\n\n"                                                                                  \
      "Three ways to fix it: put a second barrier at the end of the loop body; alternate "         \
      "between two buffers; or keep the value in a register and shuffle it.")                      \
    X(RACE_WAW, RACE, "waw", ERROR,                                                                \
      "Two threads write different values to the same bytes, and nothing orders the two "          \
      "writes: either value may remain.\n\n"                                                       \
      "    histogram[bin] = histogram[bin] + 1;   // two threads with the same bin\n\n"            \
      "Three ways to fix it: use an atomic operation (atomicAdd); give each thread its own "       \
      "bytes and combine them after a barrier; or let one thread write.")                          \
    X(RACE_SAME_VALUE, RACE, "same-value", WARNING,                                                \
      "Several threads write the same value to the same bytes, and nothing orders the writes. "    \
      "The result is the same in any order, as long as no thread reads meanwhile. The PTX "        \
      "memory model and CUDA C++ still call it a data race, and a compiler may assume that "       \
      "there is none.\n\n"                                                                         \
      "    if (distance[v] > d) changed = 1;   // by many threads\n\n"                             \
      "Three ways to fix it: let one thread write; write with an atomic operation "                \
      "(cuda::atomic_ref, memory_order_relaxed); or combine the votes of a warp or block first "   \
      "(__any_sync, __syncthreads_or).")                                                           \
    X(RACE_MIXED, RACE, "mixed", ERROR,                                                            \
      "One thread accesses bytes with an atomic, volatile or relaxed operation, another one "      \
      "with a plain load or store, and nothing orders the two. An operation is atomic only "       \
      "with respect to other atomic operations.\n\n"                                               \
      "    atomicAdd(&count, 1);\n"                                                                \
      "    if (count == n) finish();   // a plain read: may be old, or never change in a "         \
      "loop\n\n"                                                                                   \
      "Three ways to fix it: use the value that the atomic operation returns; make the other "     \
      "access atomic as well (cuda::atomic_ref, atomicExch, atomicAdd of 0); or put a barrier "    \
      "or the end of the launch between them.")                                                    \
    X(RACE_SCOPE, RACE, "scope", ERROR,                                                            \
      "Two threads access the same bytes with atomic operations, and the scope of one of them "    \
      "does not include the other thread. An operation of block scope is not atomic with "         \
      "respect to other blocks.\n\n"                                                               \
      "    atomicAdd_block(&total, sum);   // threads of all blocks add to one variable\n\n"       \
      "Three ways to fix it: use device scope (atomicAdd, cuda::thread_scope_device); give "       \
      "each block its own variable and combine them in a second launch; or restrict the "          \
      "operation to one block.")                                                                   \
    X(RACE_VOLATILE, RACE, "volatile", WARNING,                                                    \
      "Threads of different warps access the same bytes with volatile loads and stores, "          \
      "nothing orders the accesses, and no fence makes one of them a flag. PTX performs each "     \
      "access as written, so its memory model does not call this a data race. CUDA C++ does, "     \
      "and the order of the accesses is left to chance.\n\n"                                       \
      "    while (atomicCAS(&lock, 0, 1) != 0) {}\n"                                               \
      "    data[0] = 1;                  // volatile int *data\n"                                  \
      "    atomicExch(&lock, 0);         // no __threadfence(): the write is not released\n\n"     \
      "Three ways to fix it: put __threadfence() before the write that releases the lock and "     \
      "after the read that acquires it; use cuda::atomic_ref with release and acquire; or put "    \
      "a barrier between the accesses.")                                                           \
    X(RACE_PROXY, RACE, "proxy", ERROR,                                                            \
      "Threads write bytes with loads and stores of the generic proxy, and a bulk or tensor "      \
      "copy, wgmma, a texture or a surface accesses them through another proxy. A barrier "        \
      "orders threads but not proxies: the access may read the old bytes.\n\n"                     \
      "    tile[t] = v;\n"                                                                         \
      "    __syncthreads();\n"                                                                     \
      "    if (t == 0) cp_async_bulk(out, tile, sizeof tile);   // may copy the old tile\n\n"      \
      "Three ways to fix it: let each thread that wrote execute fence.proxy.async "                \
      "(cuda::ptx::fence_proxy_async) before the barrier; access the bytes with loads and "        \
      "stores on both sides; or, for textures and surfaces, which have no such fence, write in "   \
      "one launch and fetch in the next.")                                                         \
    X(RACE_ASYNC, RACE, "async", ERROR,                                                            \
      "An asynchronous copy reads or writes bytes, and a thread accesses them before the copy "    \
      "has been waited for.\n\n"                                                                   \
      "    __pipeline_memcpy_async(&tile[t], &in[t], 16);\n"                                       \
      "    __pipeline_commit();\n"                                                                 \
      "    __syncthreads();              // orders threads, does not wait for copies\n"            \
      "    use(tile[t]);\n\n"                                                                      \
      "Three ways to fix it: wait first (__pipeline_wait_prior, cp.async.wait_group), then put "   \
      "a barrier if other threads read; wait on the mbarrier on which the copy completes; or "     \
      "copy with plain loads and stores.")                                                         \
    X(RACE_CLUSTER, RACE, "cluster", ERROR,                                                        \
      "A thread accesses the shared memory of another block of its cluster, and nothing "          \
      "guarantees that this block has started and has not ended: its shared memory may not "       \
      "exist.\n\n"                                                                                 \
      "    int *theirs = cluster.map_shared_rank(tile, 1);\n"                                      \
      "    theirs[t] = 1;\n"                                                                       \
      "    return;                       // block 1 may have ended before the store\n\n"           \
      "Three ways to fix it: call cluster.sync() before the first access to another block and "    \
      "after the last one; let the other block wait on the mbarrier on which the access "          \
      "completes; or pass the data through global memory.")                                        \
    X(MEM_BOUNDS, MEM, "bounds", ERROR,                                                            \
      "An access is out of bounds. Buffers, variables, shared and local memory and blocks of "     \
      "malloc end at the byte that was requested.\n\n"                                             \
      "    out[i] = in[i];   // without if (i < n): the last block accesses bytes past the "       \
      "end\n\n"                                                                                    \
      "Three ways to fix it: test the index; allocate up to a multiple of the block size; or "     \
      "launch as many threads as there are elements and use a grid-stride loop.")                  \
    X(MEM_MISALIGNED, MEM, "misaligned", ERROR,                                                    \
      "The address of an access is not a multiple of its size.\n\n"                                \
      "    float4 v = *(float4 *)(p + 1);   // p + 1 is a multiple of 4, not of 16\n\n"            \
      "Three ways to fix it: read the elements one by one; move the start to a multiple and "      \
      "treat the remainder separately; or pad rows to a multiple of the vector.")                  \
    X(MEM_FREED, MEM, "freed", ERROR,                                                              \
      "An access to memory that has been freed, or a second free of it.\n\n"                       \
      "    free(p);\n"                                                                             \
      "    x = p[0];\n\n"                                                                          \
      "Three ways to fix it: free after the last use; set the pointer to NULL and test it; or "    \
      "allocate once for the launch and free nothing inside it.")                                  \
    X(MEM_LEAK, MEM, "leak", WARNING,                                                              \
      "Kernels allocated blocks with malloc that were not freed. The device heap is small (8 "     \
      "MiB unless cudaDeviceSetLimit changes it), and malloc returns NULL when it is full.\n\n"    \
      "    int *p = (int *)malloc(4 * n);   // and no free(p)\n\n"                                 \
      "Three ways to fix it: free each block in the thread that allocated it; let one thread "     \
      "free what the block shares, after a barrier; or pass buffers to the kernel instead.")       \
    X(INIT_BRANCH, INIT, "branch", ERROR,                                                          \
      "A branch or predicate depends on uninitialised memory: a buffer without initial values, "   \
      "shared memory, a local variable. Such memory holds whatever was there before, which may "   \
      "be zero today.\n\n"                                                                         \
      "    __shared__ int best;\n"                                                                 \
      "    if (in[i] > best) best = in[i];   // best has no value yet\n\n"                         \
      "Three ways to fix it: initialise the variable before its first use, and put a barrier "     \
      "after that if it is shared; fill the buffer (cudaMemset, cudaMemcpy); or test the index "   \
      "so that elements without a value are not read.")                                            \
    X(INIT_ADDRESS, INIT, "address", ERROR,                                                        \
      "An address depends on uninitialised memory: the access may go anywhere.\n\n"                \
      "    int bin[8];\n"                                                                          \
      "    table[bin[threadIdx.x & 7]] = 1;   // bin was never filled\n\n"                         \
      "Three ways to fix it: fill the index array first; compute the index; or test it against "   \
      "the bounds after it has been given a value.")                                               \
    X(INIT_ATOMIC, INIT, "atomic", ERROR,                                                          \
      "An atomic operation modifies uninitialised memory, or its operand depends on such "         \
      "memory. The result is as undefined as the initial value.\n\n"                               \
      "    cudaMalloc(&count, 4);             // without cudaMemset(count, 0, 4)\n"                \
      "    atomicAdd(count, 1);\n\n"                                                               \
      "Three ways to fix it: set the counter to its initial value on the host (cudaMemset); "      \
      "let one thread initialise a shared counter before a barrier; or begin with an exchange.")   \
    X(INIT_OUTPUT, INIT, "output", ERROR,                                                          \
      "A kernel has stored a value that depends on uninitialised memory, and the host reads "      \
      "it.\n\n"                                                                                    \
      "    __shared__ float tile[64];\n"                                                           \
      "    if (i < n) tile[threadIdx.x] = in[i];\n"                                                \
      "    __syncthreads();\n"                                                                     \
      "    out[i] = tile[63 - threadIdx.x];   // the last block: some were never set\n\n"          \
      "Three ways to fix it: give the remaining elements a neutral value (else tile[t] = 0); "     \
      "guard the read like the write; or let the host ignore these elements and not copy them.")   \
    X(SYNC_BARRIER, SYNC, "barrier", ERROR,                                                        \
      "A barrier is used with thread counts that cannot be satisfied: different counts for one "   \
      "barrier, a count that is not a multiple of the warp size, lanes of a warp that name "       \
      "different barriers, or bar.red and bar.sync at once.\n\n"                                   \
      "    if (t < 32) asm(\"bar.sync 1, 64;\");\n"                                                \
      "    else        asm(\"bar.sync 1, 96;\");   // one barrier, two counts\n\n"                 \
      "Three ways to fix it: pass the same count at every use of the barrier; count whole "        \
      "warps; or use __syncthreads(), which counts by itself.")                                    \
    X(SYNC_DIVERGENT, SYNC, "divergent", WARNING,                                                  \
      "Threads of a block wait at different __syncthreads() of the program, or some lanes of a "   \
      "warp execute one and the others skip it. Hardware counts arrivals and releases the "        \
      "threads. CUDA C++ allows a barrier in conditional code only if all threads of the block "   \
      "take the same path.\n\n"                                                                    \
      "    if (threadIdx.x < 32) { load(); __syncthreads(); }\n"                                   \
      "    else { __syncthreads(); }\n\n"                                                          \
      "Three ways to fix it: move the barrier out of the branch; use a named barrier (bar.sync "   \
      "1, n) for each role; or use cuda::barrier.")                                                \
    X(SYNC_MASK, SYNC, "mask", ERROR,                                                              \
      "A lane executes a _sync instruction with a member mask that does not include it. Its "      \
      "result is undefined.\n\n"                                                                   \
      "    v = __shfl_sync(0x0000ffff, v, 0);   // by all 32 lanes\n\n"                            \
      "Three ways to fix it: name all lanes that execute the instruction (0xffffffff); exclude "   \
      "the others with a branch; or take the mask from __ballot_sync before the branch.")          \
    X(SYNC_SHUFFLE, SYNC, "shuffle", WARNING,                                                      \
      "A lane reads a register of a lane that does not take part in the shuffle: it has "          \
      "exited, or its predicate is false. The value is undefined; a reduction may never use "      \
      "it.\n\n"                                                                                    \
      "    if (t >= 16) return;\n"                                                                 \
      "    v += __shfl_down_sync(0xffff, v, 8);   // lane 8 reads lane 16, which has exited\n\n"   \
      "Three ways to fix it: let all lanes of the warp execute the shuffle; set its width to "     \
      "the lanes that execute it; or let inactive lanes contribute a neutral value.")              \
    X(SYNC_MBARRIER, SYNC, "mbarrier", ERROR,                                                      \
      "An mbarrier object is used without mbarrier.init, or after mbarrier.inval; it is "          \
      "initialised again or overwritten before mbarrier.inval; or its counts leave their range: "  \
      "more arrivals than a phase expects, or too many bytes.\n\n"                                 \
      "    __shared__ uint64_t bar;\n"                                                             \
      "    mbarrier_arrive(&bar);   // without mbarrier.init\n\n"                                  \
      "Three ways to fix it: let one thread initialise it before a barrier; initialise it with "   \
      "the number of arrivals that there will be; or expect as many bytes as the copies "          \
      "transfer.")                                                                                 \
    X(SYNC_WGMMA, SYNC, "wgmma", ERROR,                                                            \
      "wgmma.mma_async only starts a product. The accumulator registers hold the result once "     \
      "wgmma.wait_group has waited for the group of the product. Before that their values are "    \
      "undefined, and a write to them may be lost.\n\n"                                            \
      "    wgmma_m64n8k16(sum, a, b);    // wgmma.mma_async\n"                                     \
      "    wgmma_commit_group();\n"                                                                \
      "    out[t] = sum[0];              // the product may not have completed\n\n"                \
      "Three ways to fix it: put wgmma.wait_group 0 before the first use; with several groups "    \
      "in flight, let wgmma.wait_group leave only those that are not used yet; or continue "       \
      "with other products that accumulate into the same registers, which need no wait.")          \
    X(SYNC_WGMMA_OPERAND, SYNC, "wgmma-operand", ERROR,                                            \
      "wgmma.mma_async only starts a product. It reads matrix A from registers some time after "   \
      "the instruction. These registers must not change until wgmma.wait_group has waited for "    \
      "the product, and PTX leaves reads of them undefined as well.\n\n"                           \
      "    wgmma_m64n8k16(sum, a, b);    // a: four registers\n"                                   \
      "    wgmma_commit_group();\n"                                                                \
      "    a[0] = tile[t];               // the product may not have read a[0] yet\n\n"            \
      "Three ways to fix it: put wgmma.wait_group before the change; load the next matrix into "   \
      "other registers, and alternate between the two sets; or keep matrix A in shared memory.")   \
    X(SYNC_WGMMA_FENCE, SYNC, "wgmma-fence", ERROR,                                                \
      "A warp executes wgmma.mma_async without an earlier wgmma.fence. Only that fence orders "    \
      "accesses of the thread to registers before the product that uses them. Without it the "     \
      "product may start with their earlier values.\n\n"                                           \
      "    sum[0] = 0;\n"                                                                          \
      "    wgmma_m64n8k16(sum, a, b);    // without wgmma.fence\n\n"                               \
      "Three ways to fix it: put wgmma.fence before the first product (warpgroup_arrive()); "      \
      "put it after each change of a register that a product accumulates into or reads matrix "    \
      "A from; or let all warps of the warpgroup take the branch that has it.")                    \
    X(HANG, DEADLOCK, "hang", ERROR,                                                               \
      "No thread can make progress: each waits for another one, or polls memory that no thread "   \
      "changes. The message says who waits for whom.\n\n"                                          \
      "    if (threadIdx.x < 16) __syncthreads();   // the others of the warp never arrive\n\n"    \
      "Three ways to fix it: move the barrier to a place that all threads pass; give each role "   \
      "its own barrier with its number of threads; or write the flag that is polled.")

/* Findings of programs (`ptxloom exec`) that involve calls of the host. */
#define PL_PROGRAM_FINDING_KINDS(X)                                                                \
    X(INIT_COPY, INIT, "copy", WARNING,                                                            \
      "The program copies device memory to the host that neither a kernel nor a call of the "      \
      "host has written. The copy holds whatever was there before.\n\n"                            \
      "    cudaMalloc(&d, 4 * n);\n"                                                               \
      "    k<<<n / 256, 256>>>(d);                      // n is not a multiple of 256\n"           \
      "    cudaMemcpy(h, d, 4 * n, cudaMemcpyDefault);  // the rest was never written\n\n"         \
      "Three ways to fix it: let the kernel write all of it (one block more, and if (i < n)); "    \
      "copy only what has been written; or fill the memory first (cudaMemset).")                   \
    X(MEM_STREAM, MEM, "stream", ERROR,                                                            \
      "Memory of cudaMallocAsync exists from its allocation to its release in stream order. An "   \
      "operation in another stream accesses it, and nothing orders that operation after the "      \
      "allocation or before the release.\n\n"                                                      \
      "    cudaMallocAsync(&d, 4 * n, a);\n"                                                       \
      "    k<<<1, 256, 0, b>>>(d);   // stream b may be ahead of stream a\n\n"                     \
      "Three ways to fix it: use one stream; let the other stream wait for an event that is "      \
      "recorded after the allocation, and the releasing stream for one after the last access "     \
      "(cudaEventRecord, cudaStreamWaitEvent); or wait on the host (cudaStreamSynchronize).")      \
    X(RACE_STREAM, RACE, "stream", ERROR,                                                          \
      "Two kernels or copies in different streams access the same bytes, one of them writes, "     \
      "and nothing orders the two: they may run at the same time, or in either order.\n\n"         \
      "    fill<<<n / 256, 256, 0, a>>>(d);\n"                                                     \
      "    cudaMemcpyAsync(h, d, 4 * n, cudaMemcpyDeviceToHost, b);   // may copy before the "     \
      "kernel writes\n\n"                                                                          \
      "Three ways to fix it: use one stream; record an event after the first operation "           \
      "(cudaEventRecord) and let the other stream wait for it (cudaStreamWaitEvent); or wait "     \
      "on the host (cudaStreamSynchronize).")

#define PL_FINDING_KINDS(X) PL_KERNEL_FINDING_KINDS(X) PL_PROGRAM_FINDING_KINDS(X)

typedef enum pl_finding_kind {
#define X(name, tool, word, severity, text) PL_FK_##name,
    PL_FINDING_KINDS(X)
#undef X
        PL_FK_COUNT
} pl_finding_kind;

#endif
