/* crossroads.cu - roads that part: state machines, small machines, parsers, trees, heaps, tables with probing, backtracking, boards and games, one of each. */
#include <cstdint>
#include <new>
#define K extern "C" __global__ void

// ---------------------------------------------------------------- a state machine whose states are 0..9

//! turnstile_of_ten_states_by_dense_switch 132 128 | u8:540672 | out u32:16896 | s s32 32
enum Gate { SHUT, COIN1, COIN2, OPENING, OPEN, PASSING, CLOSING, JAMMED, ALARM, RESET };
K turnstile_of_ten_states_by_dense_switch(const unsigned char *__restrict__ events, unsigned *__restrict__ log, int steps)
{
    const int who = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    Gate state = SHUT;
    unsigned paid = 0, passed = 0, jams = 0, seen = 0;
    for (int k = 0; k < steps; ++k) {
        const unsigned e = events[k * all + who];
        switch (state) {
        case SHUT:
            if (e & 1) state = COIN1;
            else if (e > 250) state = ALARM;
            break;
        case COIN1:
            paid += 5;
            state = e & 2 ? COIN2 : e & 4 ? SHUT : COIN1;
            break;
        case COIN2:
            paid += 10 + (e & 3);
            state = OPENING;
            break;
        case OPENING:
            state = e % 7 == 0 ? JAMMED : OPEN;
            break;
        case OPEN:
            if (e < 40) { state = CLOSING; break; }
            state = PASSING;
            /* fall through */
        case PASSING:
            passed++;
            seen = seen * 31 + e;
            if (e & 8) state = CLOSING;
            break;
        case CLOSING:
            state = e % 5 == 1 ? JAMMED : SHUT;
            break;
        case JAMMED:
            jams += 1 + (jams > 3);
            state = jams > 5 ? ALARM : RESET;
            break;
        case ALARM:
            seen ^= 0x9e3779b9u * (k + 1);
            if ((e & 3) == 3) state = RESET;
            break;
        case RESET:
            paid >>= 1;
            state = SHUT;
            break;
        }
    }
    log[who] = (seen & 0xffff) ^ paid << 8 ^ passed << 20 ^ jams << 26 ^ (unsigned)state << 28;
}

// ---------------------------------------------------------------- a switch of codes that are far apart

__constant__ int reply_codes[16] = {100, 200, 204, 301, 302, 304, 400, 401, 403, 404, 418, 429, 500, 503, 7777, -40};

__device__ __forceinline__ int answer(int code, int left, int &state)
{
    switch (code) {
    case 100: return left;
    case 200: state |= 1; return left - 1;
    case 204: return left >> 1;
    case 301: state ^= left; return left * 3;
    case 302: state += 7; return left + state;
    case 304: return state;
    case 400: return -left;
    case 401: if (state & 4) return 401; state |= 4; return left + 11;
    case 403: state = 0; return left;
    case 404: return left ^ 0x404;
    case 418: state <<= 1; return 418 - left;
    case 429: return left - (left >> 3);
    case 500: state = ~state; return 0;
    case 7777: return __popc(left) + 7777;
    default: return left + code;
    }
}

//! replies_by_codes_far_apart 132 256 | u32:67584 | out s32:33792 | out s32:132
K __launch_bounds__(256) replies_by_codes_far_apart(const uint32_t *messages, int *replies, int *most)
{
    __shared__ int top;
    if (threadIdx.x == 0) top = -2147483647;
    __syncthreads();
    const int i = blockIdx.x * 256 + threadIdx.x;
    uint32_t m = messages[2 * i];
    int left = messages[2 * i + 1] & 0xfff, state = i & 15;
    do {
        left = answer(reply_codes[m & 15], left, state);
        m >>= 4;
    } while (m);
    replies[i] = left + state * 5;
    atomicMax(&top, left);
    __syncthreads();
    if (threadIdx.x == 0) most[blockIdx.x] = top;
}

// ---------------------------------------------------------------- a machine of eight registers with jumps

//! register_machine_with_jumps_and_fuel 33 64 | u32:64 | u32:2112 | out u32:2112 | out u32:2112 | s s32 90
K register_machine_with_jumps_and_fuel(const uint32_t *program, const uint32_t *seeds, uint32_t *results, uint32_t *where, int fuel)
{
    __shared__ uint32_t code[64];
    code[threadIdx.x] = program[threadIdx.x];
    __syncthreads();

    uint32_t r[8];
    const int me = blockIdx.x * 64 + threadIdx.x;
    for (int q = 0; q < 8; q++) r[q] = seeds[me] >> (4 * q);

    unsigned pc = 0;
    while (fuel-- > 0) {
        const uint32_t w = code[pc];
        const int d = w >> 4 & 7, a = w >> 8 & 7, b = w >> 12 & 7;
        const uint32_t imm = w >> 16;
        pc = (pc + 1) & 63;
        switch (w & 15) {
        case 0: case 1: r[d] = r[a] + r[b]; break;
        case 2: r[d] = r[a] - r[b]; break;
        case 3: r[d] = r[a] * (r[b] | 1); break;
        case 4: r[d] = r[a] ^ imm; break;
        case 5: r[d] = r[a] << (r[b] & 7); break;
        case 6: r[d] = r[a] >> (r[b] & 7); break;
        case 7: r[d] = imm; break;
        case 8: if (r[a] & 1) pc = imm & 63; break;
        case 9: if (r[a] < r[b]) pc = (pc + (imm & 7)) & 63; break;
        case 10: { uint32_t t = r[a]; r[a] = r[b]; r[b] = t; } break;
        case 11: r[d] = r[r[a] & 7]; break;
        case 12: if (--r[d] == 0) fuel = 0; break;
        case 13: r[d] = __brev(r[a]); break;
        case 14: r[d] = r[a] & r[b]; break;
        default: r[d]++; break;
        }
    }
    uint32_t h = 0;
    for (int q = 0; q < 8; q++) h = h * 16777619u ^ r[q];
    results[me] = h;
    where[me] = pc;
}

// ---------------------------------------------------------------- two functions that call each other

__device__ int hof_male(int n);
__device__ __noinline__ int hof_female(int n)
{
    return n == 0 ? 1 : n - hof_male(hof_female(n - 1));
}
__device__ __noinline__ int hof_male(int n)
{
    return n == 0 ? 0 : n - hof_female(hof_male(n - 1));
}

//! hofstadter_pair_calling_each_other 8 96 | s32:768:2:10 | out s32:768
K hofstadter_pair_calling_each_other(const int *n, int *out)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (n[i] & 1)
        out[i] = 100 + hof_male(n[i]);
    else
        out[i] = 200 + hof_female(n[i]);
}

// ---------------------------------------------------------------- functions in a table

typedef int (*Remedy)(int, int);
static __device__ __noinline__ int salve(int a, int b) { return a + (b << 2); }
static __device__ __noinline__ int tonic(int a, int b) { return a > b ? a - b : b - a; }
static __device__ __noinline__ int draught(int a, int b) { int s = 0; while (b) { s += a & b; b &= b - 1; if (s > 1 << 20) break; } return s; }
static __device__ __noinline__ int poultice(int a, int b) { return (a ^ b) * 37; }
static __device__ __noinline__ int pill(int a, int b) { return a / ((b & 15) + 1); }
__device__ Remedy cupboard[5] = {salve, tonic, draught, poultice, pill};

//! remedies_taken_from_a_cupboard_of_functions 132 192 | u32:25344 | out s32:25344
K remedies_taken_from_a_cupboard_of_functions(const unsigned *complaints, int *health)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = complaints[i];
    int h = i & 1023;
    for (int dose = 0; dose < 9; dose++) {
        Remedy r = cupboard[c % 5];
        c /= 5;
        h = r(h, (int)(c & 255)) & 0xffff;
    }
    health[i] = h;
}

// ---------------------------------------------------------------- objects with virtual methods, one class below another

struct Beast {
    int place;
    __device__ explicit Beast(int p) : place(p) {}
    __device__ virtual void move(unsigned dice) = 0;
    __device__ virtual int worth() const { return place; }
};
struct Crab : Beast {
    __device__ explicit Crab(int p) : Beast(p) {}
    __device__ void move(unsigned dice) override { place += dice & 1 ? 1 : -1; }
};
struct Frog : Beast {
    int leaps;
    __device__ explicit Frog(int p) : Beast(p), leaps(0) {}
    __device__ void move(unsigned dice) override
    {
        if (dice % 3) { place += (int)(dice & 7); leaps++; }
    }
    __device__ int worth() const override { return place * 10 + leaps; }
};
struct Toad : Frog {
    __device__ explicit Toad(int p) : Frog(p + 1) {}
    __device__ void move(unsigned dice) override
    {
        Frog::move(dice >> 1);
        if (place > 60) place -= 60;
    }
};
struct Heron : Beast {
    unsigned eaten;
    __device__ explicit Heron(int p) : Beast(p), eaten(0) {}
    __device__ void move(unsigned dice) override { eaten = eaten * 5 + (dice & 3); place ^= (int)(eaten & 31); }
    __device__ int worth() const override { return -(int)(eaten & 0xffff); }
};

//! pond_of_beasts_with_virtual_moves 96 128 | u32:12288 | out s32:12288 | s s32 14
K pond_of_beasts_with_virtual_moves(const unsigned *start, int *worths, int turns)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    alignas(8) unsigned char room[32];
    unsigned seed = start[i];
    Beast *b;
    switch (seed >> 30) {
    case 0: b = new (room) Crab(i & 7); break;
    case 1: b = new (room) Frog(i & 15); break;
    case 2: b = new (room) Toad(i & 3); break;
    default: b = new (room) Heron(5); break;
    }
    for (int t = 0; t < turns; t++) {
        seed = seed * 1664525u + 1013904223u;
        b->move(seed >> 20);
    }
    worths[i] = b->worth();
}

// ---------------------------------------------------------------- a crit-bit tree

//! crit_bit_tree_of_forty_eight_keys 24 256 | u16:1152 | u16:24576 | out s32:24576
K crit_bit_tree_of_forty_eight_keys(const uint16_t *keys, const uint16_t *asked, int *found)
{
    __shared__ int child[48][2];
    __shared__ int bit[48];
    __shared__ int key[48];
    __shared__ int root;
    const int t = threadIdx.x;
    if (t < 48) key[t] = keys[blockIdx.x * 48 + t];
    __syncthreads();
    if (t == 0) {
        int nodes = 0;
        root = ~0;
        for (int k = 1; k < 48; k++) {
            int at = root;
            while (at >= 0) at = child[at][key[k] >> bit[at] & 1];
            const int differ = key[k] ^ key[~at];
            if (!differ) continue;
            const int b = 31 - __clz(differ);
            int *link = &root;
            while (*link >= 0 && bit[*link] > b) link = &child[*link][key[k] >> bit[*link] & 1];
            const int side = key[k] >> b & 1;
            child[nodes][side] = ~k;
            child[nodes][side ^ 1] = *link;
            bit[nodes] = b;
            *link = nodes++;
        }
    }
    __syncthreads();
    for (int q = t; q < 1024; q += 256) {
        const int want = asked[blockIdx.x * 1024 + q];
        int at = root, steps = 0;
        do {
            at = child[at][want >> bit[at] & 1];
            ++steps;
        } while (at >= 0);
        const int near = key[~at];
        found[blockIdx.x * 1024 + q] = near == want ? 1 << 30 | ~at : (~at << 16) | (__clz(near ^ want) << 8) | steps;
    }
}

// ---------------------------------------------------------------- leftist heaps

struct Leftist {
    unsigned key[14];
    signed char left[14], right[14], rank[14];
};

__device__ __noinline__ int meld(Leftist *h, int a, int b)
{
    if (a < 0) return b;
    if (b < 0) return a;
    if (h->key[b] < h->key[a]) { int c = a; a = b; b = c; }
    h->right[a] = (signed char)meld(h, h->right[a], b);
    const int l = h->left[a], r = h->right[a];
    if (l < 0 || h->rank[l] < h->rank[r]) {
        h->left[a] = (signed char)r;
        h->right[a] = (signed char)l;
    }
    h->rank[a] = (signed char)(h->right[a] < 0 ? 1 : h->rank[h->right[a]] + 1);
    return a;
}

//! leftist_heaps_melded_by_recursion 132 32 | u32:59136 | out u32:59136
K leftist_heaps_melded_by_recursion(const unsigned *in, unsigned *out)
{
    Leftist h;
    const int n = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
    int top = -1;
    for (int k = 0; k < 14; k++) {
        h.key[k] = in[k * n + id];
        h.left[k] = h.right[k] = -1;
        h.rank[k] = 1;
        top = meld(&h, top, k);
    }
    for (int k = 0; top >= 0; k++) {
        out[k * n + id] = h.key[top];
        top = meld(&h, h.left[top], h.right[top]);
    }
}

// ---------------------------------------------------------------- robin hood hashing

template <int SLOTS>
struct Sherwood {
    uint16_t *slot; /* 0 is empty; the slots of one thread lie blockDim.x apart */
    int stride;
    __device__ uint16_t &at(int k) { return slot[(k & (SLOTS - 1)) * stride]; }
    static __device__ int home(unsigned key) { return (int)(key * 40503u >> 7 & (SLOTS - 1)); }
    __device__ int poverty(unsigned key, int place) { return (place - home(key)) & (SLOTS - 1); }
    __device__ bool add(unsigned key)
    {
        for (int place = home(key), poor = 0; poor < SLOTS; place++, poor++) {
            const unsigned lives = at(place);
            if (lives == key) return false;
            if (lives == 0) { at(place) = (uint16_t)key; return true; }
            const int rich = poverty(lives, place & (SLOTS - 1));
            if (rich < poor) {
                at(place) = (uint16_t)key;
                key = lives;
                poor = rich;
            }
        }
        return false;
    }
    __device__ int seek(unsigned key)
    {
        int place = home(key);
        for (int poor = 0; poor < SLOTS; poor++, place++) {
            const unsigned lives = at(place);
            if (lives == key) return poor;
            if (!lives || poverty(lives, place & (SLOTS - 1)) < poor) break;
        }
        return -1;
    }
};

//! robin_hood_tables_a_thread_each 40 64 4096 | u16:51200:1:200 | out s32:2560
K robin_hood_tables_a_thread_each(const uint16_t *keys, int *score)
{
    extern __shared__ uint16_t forest[];
    Sherwood<32> table{forest + threadIdx.x, (int)blockDim.x};
    for (int k = 0; k < 32; k++) table.at(k) = 0;
    const uint16_t *mine = keys + 20 * (blockIdx.x * blockDim.x + threadIdx.x);
    int added = 0, sum = 0;
    for (int k = 0; k < 20; k++) added += table.add(mine[k]);
    for (unsigned q = 3; q < 200; q += 11) {
        const int steps = table.seek(q);
        sum = sum * 3 + steps;
    }
    score[blockIdx.x * blockDim.x + threadIdx.x] = sum ^ added << 24;
}

// ---------------------------------------------------------------- a ring by index

//! counting_out_of_a_ring_by_next_index 132 64 | u8:8448:1:9 | out u8:8448 | out u32:8448
K counting_out_of_a_ring_by_next_index(const uint8_t *song, uint8_t *last, uint32_t *order)
{
    unsigned char next[24];
    unsigned id = blockIdx.x * 64u + threadIdx.x;
    const int size = 16 + (id & 7);
    for (int k = 0; k < size - 1; k++) next[k] = (unsigned char)(k + 1);
    next[size - 1] = 0;
    int before = size - 1, alive = size, words = song[id];
    uint32_t trail = 0;
    while (alive > 1) {
        for (int w = 1; w < words; w++) before = next[before];
        const int gone = next[before];
        next[before] = next[gone];
        trail = (trail << 5 | trail >> 27) ^ (uint32_t)gone;
        alive--;
        if (gone == 3) words = words / 2 + 1;
    }
    last[id] = (uint8_t)before;
    order[id] = trail;
}

// ---------------------------------------------------------------- recursive descent

struct Reader {
    const uint8_t *text;
    int at, end, faults;
    __device__ char peek() const { return at < end ? "0123456789+-*()("[text[at] & 15] : '$'; }
};

__device__ int read_sum(Reader &r, int depth);

__device__ __forceinline__ int read_atom(Reader &r, int depth)
{
    char c = r.peek();
    if (c >= '0' && c <= '9') {
        int v = 0;
        do {
            v = (v * 10 + (c - '0')) % 1000003;
            r.at++;
            c = r.peek();
        } while (c >= '0' && c <= '9');
        return v;
    }
    if (c == '(' && depth < 4) {
        r.at++;
        int v = read_sum(r, depth + 1);
        if (r.peek() == ')') r.at++;
        else r.faults++;
        return v;
    }
    r.faults++;
    if (c != '$') r.at++;
    return 1;
}

__device__ __noinline__ int read_sum(Reader &r, int depth)
{
    int total = 0, sign = 1;
    for (;;) {
        int product = read_atom(r, depth);
        while (r.peek() == '*') {
            r.at++;
            product *= read_atom(r, depth);
        }
        total += sign * product;
        const char c = r.peek();
        if (c == '+') sign = 1;
        else if (c == '-') sign = -1;
        else return total;
        r.at++;
    }
}

//! sums_with_brackets_by_recursive_descent 40 128 | u8:122880 | out s32:5120 | out s32:5120
K sums_with_brackets_by_recursive_descent(const uint8_t *texts, int *values, int *faults)
{
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    Reader r{texts + line * 24, 0, 24, 0};
    int v = 0;
    while (r.at < r.end) {
        v = v * 17 + read_sum(r, 0);
        if (r.peek() == ')') r.at++;
    }
    values[line] = v;
    faults[line] = r.faults;
}

// ---------------------------------------------------------------- a tokeniser by labels

//! words_numbers_and_quotes_told_apart_by_goto 160 64 | u8:409600:32:127 | out u32:10240 | out u32:10240
K words_numbers_and_quotes_told_apart_by_goto(const unsigned char *__restrict__ text, unsigned *__restrict__ counts, unsigned *__restrict__ hash)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *p = text + row * 40, *const stop = p + 40;
    unsigned words = 0, numbers = 0, quotes = 0, marks = 0, h = 2166136261u, v;
    unsigned char c;

between:
    if (p == stop) goto finished;
    c = *p++;
    if ((c | 32) >= 'a' && (c | 32) <= 'z') goto word;
    if (c >= '0' && c <= '9') goto number;
    if (c == '"' || c == '\'' || c == '`') goto quote;
    if (c != ' ') marks++;
    goto between;

word:
    words++;
    h = (h ^ (c | 32u)) * 16777619u;
    while (p < stop) {
        c = *p;
        if (!((c | 32) >= 'a' && (c | 32) <= 'z') && c != '_') goto between;
        h = (h ^ (c | 32u)) * 16777619u;
        p++;
    }
    goto finished;

number:
    numbers++;
    v = c - '0';
    while (p < stop && (c = *p, (c >= '0' && c <= '9') || c == '.')) {
        p++;
        if (c == '.') { h += v; v = 0; continue; }
        v = v * 10 + (c - '0');
    }
    h ^= v * 2654435761u;
    goto between;

quote:
    {
        const unsigned char opened = c;
        int length = 0;
        for (; p < stop; length++) {
            c = *p++;
            if (c == opened) { quotes++; h += length; goto between; }
            if (c == '\\' && p < stop) p++;
        }
    }
    marks |= 128;

finished:
    counts[row] = words | numbers << 8 | quotes << 16 | marks << 24;
    hash[row] = h;
}

// ---------------------------------------------------------------- runs unrolled

template <int IN, int OUT>
__device__ int unroll_runs(const int8_t *src, uint8_t *dst)
{
    int i = 0, o = 0;
    while (i < IN) {
        const int head = src[i++];
        if (head >= 0) {
            int n = (head & 7) + 1;
            while (n-- && i < IN && o < OUT) dst[o++] = (uint8_t)src[i++];
        } else {
            if (head == -128) continue;
            if (i == IN) break;
            const uint8_t v = (uint8_t)src[i++];
            for (int n = (-head & 15) + 2; n > 0; n--) {
                if (o >= OUT) return o;
                dst[o++] = v;
            }
        }
    }
    return o;
}

//! runs_and_literals_unrolled_row_by_row 132 128 | s8:540672 | out u8:1081344 | out s32:16896
K runs_and_literals_unrolled_row_by_row(const int8_t *packed, uint8_t *rows, int *lengths)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    lengths[r] = unroll_runs<32, 64>(packed + 32 * r, rows + 64 * r);
}

// ---------------------------------------------------------------- a code tree grown and walked

//! code_tree_grown_from_counts_then_walked_bit_by_bit 132 128 | u32:2112:1:1000 | u64:16896 | out u32:16896 | out u32:132
K code_tree_grown_from_counts_then_walked_bit_by_bit(const unsigned *counts, const unsigned long long *bits, unsigned *decoded, unsigned *costs)
{
    __shared__ unsigned weight[31];
    __shared__ unsigned char zero[31], one[31];
    if (threadIdx.x < 16) weight[threadIdx.x] = counts[16 * blockIdx.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned alive = 0xffff, cost = 0;
        for (int made = 16; made < 31; made++) {
            int pick[2];
#pragma unroll
            for (int side = 0; side < 2; side++) {
                unsigned least = ~0u;
                int which = 0;
                for (unsigned m = alive; m; m &= m - 1) {
                    const int j = __ffs(m) - 1;
                    if (weight[j] < least) { least = weight[j]; which = j; }
                }
                alive &= ~(1u << which);
                pick[side] = which;
            }
            zero[made] = (unsigned char)pick[0];
            one[made] = (unsigned char)pick[1];
            cost += weight[made] = weight[pick[0]] + weight[pick[1]];
            alive |= 1u << made;
        }
        costs[blockIdx.x] = cost;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long w = bits[i];
    unsigned sum = 0, letters = 0;
    int node = 30;
    for (int k = 0; k < 64; k++, w >>= 1) {
        if (w & 1) node = one[node];
        else node = zero[node];
        if (node >= 16) continue;
        letters++;
        sum = sum * 29 + node;
        node = 30;
    }
    decoded[i] = (sum & 0xffffff) | letters << 24;
}

// ---------------------------------------------------------------- branch and bound with a stack

struct Choice { short item, weight, value; };

//! sacks_filled_by_branch_and_bound_with_a_stack 30 64 | u8:17280:1:30 | u8:17280:1:50 | out s32:1920 | out s32:1920 | s s32 60
K sacks_filled_by_branch_and_bound_with_a_stack(const uint8_t *weights, const uint8_t *values, int *best, int *visited, int capacity)
{
    const int items = 9;
    Choice stack[12];
    short rest[10];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *w = weights + id * items, *v = values + id * items;
    rest[items] = 0;
    for (int k = items - 1; k >= 0; k--) rest[k] = rest[k + 1] + v[k];
    int top = 0, record = 0, nodes = 0;
    stack[top++] = {0, 0, 0};
    while (top > 0) {
        const Choice c = stack[--top];
        nodes++;
        if (c.value + rest[c.item] <= record) continue;
        if (c.value > record) record = c.value;
        if (c.item == items) continue;
        stack[top++] = {(short)(c.item + 1), c.weight, c.value};
        const int heavier = c.weight + __ldg(w + c.item);
        if (heavier <= capacity) stack[top++] = {(short)(c.item + 1), (short)heavier, (short)(c.value + __ldg(v + c.item))};
    }
    best[id] = record;
    visited[id] = nodes;
}

// ---------------------------------------------------------------- queens

//! eight_queens_on_boards_with_holes_by_goto 32 64 | u32:4096 | u32:4096 | out s32:2048 | out u32:2048
K eight_queens_on_boards_with_holes_by_goto(const uint32_t *h1, const uint32_t *h2, int *ways, uint32_t *first)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    int queen[8], row = 2, count = 0;
    uint32_t shown = 0;
    const uint32_t upper = (h1[2 * id] | (h2[2 * id] & 0xf0f00000u)) & ~0xffffu, lower = h1[2 * id + 1] & h2[2 * id + 1];
    queen[0] = id & 7;
    queen[1] = id >> 3 & 7;
    if (abs(queen[0] - queen[1]) < 2) {
        ways[id] = -1;
        return;
    }
    queen[row] = -1;
again:
    if (++queen[row] == 8) goto back;
    {
        const int q = queen[row], hole = row * 8 + q;
        if ((hole < 32 ? upper >> hole : lower >> (hole - 32)) & 1) goto again;
        for (int r = 0; r < row; r++) {
            if (queen[r] == q) goto again;
            const int far = row - r;
            if (queen[r] + far == q || queen[r] - far == q) goto again;
        }
    }
    if (row < 7) {
        queen[++row] = -1;
        goto again;
    }
    if (count++ == 0)
        for (int r = 0; r < 8; r++) shown |= (uint32_t)queen[r] << (3 * r);
    goto again;
back:
    if (--row > 1) goto again;
    ways[id] = count;
    first[id] = shown;
}

// ---------------------------------------------------------------- subset sums

__device__ __noinline__ int purses(const short *coins, int left, int from)
{
    if (left == 0) return 1;
    if (left < 0 || from == 8) return 0;
    const int taken = purses(coins, left - coins[from], from + 1);
    return taken + purses(coins, left, from + 1);
}

//! purses_that_make_a_sum_by_recursion 66 32 | s16:16896:1:20 | s32:2112:20:50 | out s32:2112
K purses_that_make_a_sum_by_recursion(const short *coins, const int *sums, int *ways)
{
    const int k = blockIdx.x * 32 + threadIdx.x;
    ways[k] = purses(coins + 8 * k, sums[k], 0);
}

// ---------------------------------------------------------------- the order of a chain of products

//! brackets_of_a_matrix_chain_four_threads_a_cell 100 16,4 | u16:3300:2:40 | out u32:100 | out u8:3100
K brackets_of_a_matrix_chain_four_threads_a_cell(const uint16_t *dims, uint32_t *cost, uint8_t *splits)
{
    constexpr int N = 32;
    __shared__ uint32_t best[N][N + 1]; /* the cost above, the place of the split in the five low bits */
    __shared__ int d[N + 1];
    const int tid = threadIdx.y * 16 + threadIdx.x;
    for (int k = tid; k < N * (N + 1); k += 64) {
        const int i = k / (N + 1), j = k % (N + 1);
        best[i][j] = i == j ? 0u : ~0u;
    }
    if (tid <= N) d[tid] = dims[blockIdx.x * (N + 1) + tid];
    __syncthreads();
    for (int span = 1; span < N; span++) {
        for (int i = threadIdx.x; i + span < N; i += 16) {
            const int j = i + span;
            uint32_t least = ~0u;
            for (int k = i + threadIdx.y; k < j; k += 4) {
                const uint32_t c = (best[i][k] >> 5) + (best[k + 1][j] >> 5) + (uint32_t)(d[i] * d[k + 1] * d[j + 1]);
                least = min(least, c << 5 | (uint32_t)k);
            }
            if (least != ~0u) atomicMin(&best[i][j], least);
        }
        __syncthreads();
    }
    if (tid) return;
    cost[blockIdx.x] = best[0][N - 1] >> 5;
    uint16_t todo[N];
    int top = 0, written = 0;
    todo[top++] = N - 1;
    while (top) {
        const int i = todo[--top] >> 8, j = todo[top] & 255;
        if (i == j) continue;
        const int k = best[i][j] & 31;
        splits[blockIdx.x * (N - 1) + written++] = (uint8_t)k;
        todo[top++] = (uint16_t)((k + 1) << 8 | j);
        todo[top++] = (uint16_t)(i << 8 | k);
    }
}

// ---------------------------------------------------------------- misspellings

//! misspellings_with_neighbours_swapped 132 64 | u8:101376:0:4 | u8:101376:0:4 | out u8:8448
K misspellings_with_neighbours_swapped(const uint8_t *__restrict__ said, const uint8_t *__restrict__ meant, uint8_t *__restrict__ distance)
{
    const int id = threadIdx.x + blockIdx.x * blockDim.x;
    auto a = [=](int k) { return said[id * 12 + k]; };
    auto b = [=](int k) { return meant[id * 12 + k]; };
    uint8_t rows[3][13];
    for (int j = 0; j <= 12; j++) {
        rows[0][j] = (uint8_t)j;
        rows[1][j] = rows[2][j] = 0;
    }
    int now = 0;
#pragma unroll 1
    for (int i = 1; i <= 12; i++) {
        const int up = now, up2 = (now + 2) % 3;
        now = (now + 1) % 3;
        rows[now][0] = (uint8_t)i;
#pragma unroll 1
        for (int j = 1; j <= 12; j++) {
            int m = rows[up][j - 1] + (a(i - 1) != b(j - 1));
            if (rows[up][j] + 1 < m) m = rows[up][j] + 1;
            if (rows[now][j - 1] + 1 < m) m = rows[now][j - 1] + 1;
            if (i > 1 && j > 1 && a(i - 1) == b(j - 2) && a(i - 2) == b(j - 1) && rows[up2][j - 2] + 1 < m) m = rows[up2][j - 2] + 1;
            rows[now][j] = (uint8_t)m;
        }
    }
    distance[id] = rows[now][12];
}

// ---------------------------------------------------------------- four in a row

class Board {
    signed char cell[42];
    unsigned char height[7];
public:
    __device__ Board()
    {
        for (int k = 0; k < 42; k++) cell[k] = 0;
        for (int k = 0; k < 7; k++) height[k] = 0;
    }
    __device__ bool full(int c) const { return height[c] == 6; }
    __device__ bool drop(int c, signed char who)
    {
        const int r = height[c]++;
        cell[r * 7 + c] = who;
        const int dx[4] = {1, 0, 1, 1}, dy[4] = {0, 1, 1, -1};
        for (int way = 0; way < 4; way++) {
            int line = 1;
            for (int s = -1; s <= 1; s += 2)
                for (int k = 1; k < 4; k++) {
                    const int x = c + s * k * dx[way], y = r + s * k * dy[way];
                    if (x < 0 || x > 6 || y < 0 || y > 5 || cell[y * 7 + x] != who) break;
                    if (++line == 4) return true;
                }
        }
        return false;
    }
};

//! four_in_a_row_played_by_dice 50 64 | u32:3200 | out s32:3200
K four_in_a_row_played_by_dice(const unsigned *dice, int *result)
{
    const int game = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned d = dice[game] | 1;
    Board board;
    int ended = 0;
    for (int move = 0; move < 42; move++) {
        d ^= d << 13;
        d ^= d >> 17;
        d ^= d << 5;
        int column = d % 7;
        while (board.full(column))
            if (++column == 7) column = 0;
        if (board.drop(column, move & 1 ? 2 : 1)) {
            ended = move & 1 ? -(move + 1) : move + 1;
            break;
        }
    }
    result[game] = ended;
}

// ---------------------------------------------------------------- islands

__device__ static int chief(uint8_t *of, int x)
{
    while (of[x] != x) {
        of[x] = of[of[x]];
        x = of[x];
    }
    return x;
}

//! islands_of_a_six_by_six_board_joined 132 96 | u64:12672 | out s32:12672 | out s32:12672
K islands_of_a_six_by_six_board_joined(const uint64_t *boards, int *islands, int *largest)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t land = boards[b] & ((1ull << 36) - 1);
    uint8_t of[36], size[36];
    int count = 0, big = 0;
    for (int k = 0; k < 36; k++) {
        of[k] = (uint8_t)k;
        size[k] = 1;
    }
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++) {
            const int k = y * 6 + x;
            if (!(land >> k & 1)) continue;
            count++;
            if (big == 0) big = 1;
            for (int side = 0; side < 2; side++) {
                if (side == 0 ? x == 0 : y == 0) continue;
                const int n = side == 0 ? k - 1 : k - 6;
                if (!(land >> n & 1)) continue;
                int p = chief(of, k), q = chief(of, n);
                if (p == q) break;
                if (size[p] < size[q]) { int s = p; p = q; q = s; }
                of[q] = (uint8_t)p;
                size[p] += size[q];
                if (size[p] > big) big = size[p];
                count--;
            }
        }
    islands[b] = count;
    largest[b] = big;
}

// ---------------------------------------------------------------- rays in a tree of boxes

struct Box { float3 lo, hi; };

__device__ inline Box around(const Box &a, const Box &b)
{
    Box c;
    c.lo = make_float3(fminf(a.lo.x, b.lo.x), fminf(a.lo.y, b.lo.y), fminf(a.lo.z, b.lo.z));
    c.hi = make_float3(fmaxf(a.hi.x, b.hi.x), fmaxf(a.hi.y, b.hi.y), fmaxf(a.hi.z, b.hi.z));
    return c;
}

__device__ inline bool meets(const Box &b, float3 o, float3 inv)
{
    float in = 0.0f, out = 1e30f, p, q;
    p = (b.lo.x - o.x) * inv.x, q = (b.hi.x - o.x) * inv.x;
    in = fmaxf(in, fminf(p, q)), out = fminf(out, fmaxf(p, q));
    if (in > out) return false;
    p = (b.lo.y - o.y) * inv.y, q = (b.hi.y - o.y) * inv.y;
    in = fmaxf(in, fminf(p, q)), out = fminf(out, fmaxf(p, q));
    if (in > out) return false;
    p = (b.lo.z - o.z) * inv.z, q = (b.hi.z - o.z) * inv.z;
    in = fmaxf(in, fminf(p, q)), out = fminf(out, fmaxf(p, q));
    return in <= out;
}

//! rays_sent_down_a_tree_of_boxes_until_any_hit 132 64 | f32:256:0:1 | f32:33792:-1:1 | out s32:8448 | out s32:8448
K __launch_bounds__(64) rays_sent_down_a_tree_of_boxes_until_any_hit(const float4 *leaves, const float4 *rays, int *hit, int *tests)
{
    __shared__ Box tree[128];
    const int t = threadIdx.x;
    const float4 l = leaves[t];
    const float half = 0.01f + 0.03f * l.w, cx = 0.125f * (t >> 3) + 0.1f * l.x;
    tree[64 + t] = {make_float3(cx - half, l.y - half, l.z - half), make_float3(cx + half, l.y + half, l.z + half)};
    for (int s = 32; s; s >>= 1) {
        __syncthreads();
        if (t < s) tree[s + t] = around(tree[2 * (s + t)], tree[2 * (s + t) + 1]);
    }
    __syncthreads();
    const int i = blockIdx.x * 64 + t;
    const float4 r = rays[i];
    const float3 o = make_float3(-1.0f, 0.5f + 0.5f * r.w, 0.5f);
    const float3 inv = make_float3(1.0f / (1.01f + r.x), 1.0f / (r.y + (r.y < 0 ? -0.01f : 0.01f)), 1.0f / (r.z + (r.z < 0 ? -0.01f : 0.01f)));
    int stack[10], top = 0, tried = 0, struck = -1;
    int node = 1;
    for (;;) {
        tried++;
        if (meets(tree[node], o, inv)) {
            if (node >= 64) {
                struck = node - 64;
                break;
            }
            stack[top++] = 2 * node + 1;
            node = 2 * node;
        } else {
            if (top == 0) break;
            node = stack[--top];
        }
    }
    hit[i] = struck;
    tests[i] = tried;
}

// ---------------------------------------------------------------- conditions cut short

struct Order { int customer, goods, amount, due; };

//! orders_sifted_by_conditions_cut_short 528 128 | s32:270336:0:4096 | s32:4096:0:5000 | s32:4096:0:3000 | u8:4096 | out u8:67584 | out s32:1
K orders_sifted_by_conditions_cut_short(const Order *orders, const int *credit, const int *stock, const uint8_t *flags, uint8_t *verdict, int *accepted)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Order o = orders[i];
    uint8_t v = 0;
    auto trusted = [&](int who) { return (flags[who] & 3) == 3 || (credit[who] > 4000 && flags[who] < 200); };
    if (o.amount > 0 && stock[o.goods] >= o.amount && (trusted(o.customer) || credit[o.customer] > o.amount))
        v = 1;
    else if ((o.due < 100 || flags[o.goods] > 250) && trusted(o.customer))
        v = 2;
    if (!v && o.customer != o.goods && !(flags[o.due] & 1 && stock[o.due] < 1500) && stock[o.customer] + credit[o.goods] > 6000)
        v = 3;
    verdict[i] = v;
    const unsigned ballot = __ballot_sync(0xffffffffu, v == 1 || v == 3);
    if ((threadIdx.x & 31) == 0 && ballot) atomicAdd(accepted, __popc(ballot));
}

// ---------------------------------------------------------------- loads in both arms

//! whichever_table_the_branches_name 264 256 | u32:67584 | f32:4096:-2:2 | f32:4096:-2:2 | s32:4096:0:4096 | inout f32:67584:-1:1
K whichever_table_the_branches_name(const uint32_t *pick, const float *north, const float *south, const int *link, float *field)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t p = pick[i];
    const int k = p & 4095;
    float x = field[i];
    if (x > 0.0f) {
        const float a = north[k];
        if (a > x) {
            x = south[link[k]] - a;
            if (p & 0x10000) x += north[(k + 1) & 4095];
            else x *= south[k ^ 7];
        } else if (a < -1.0f) {
            const int far = link[link[k]];
            x = north[far] + south[far];
        } else {
            x -= a;
        }
    } else {
        int at = k, hops = 0;
        while (hops < 6 && south[at] < 0.5f) {
            at = link[at];
            if (at == k) break;
            hops++;
        }
        if (hops == 0) x = south[at];
        else if (hops < 3) x = north[at] * 0.5f;
        else x = (float)hops - x;
    }
    field[i] = x;
}
