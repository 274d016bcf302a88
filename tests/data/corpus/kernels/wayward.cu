/* wayward.cu - irregular and control-heavy programs: searches in graphs, hash tables, trees and tries, parsers, decoders, interpreters, backtracking, queues, locks. */
#include <cstdint>
#include <cuda_runtime.h>
#define K extern "C" __global__ void

//! hops_from_many_roots_in_shared_queues 48 256 | u8:4096:0:7 | u16:32768:0:4096 | out u8:196608
K hops_from_many_roots_in_shared_queues(const uint8_t *__restrict__ degree, const uint16_t *__restrict__ edges, uint8_t *hops)
{
    constexpr int V = 4096;
    __shared__ uint16_t queue[2][V];
    __shared__ unsigned seen[V / 32];
    __shared__ int count[2];
    uint8_t *mine = hops + blockIdx.x * V;
    for (int v = threadIdx.x; v < V; v += blockDim.x) mine[v] = 255;
    if (threadIdx.x < V / 32) seen[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int root = (blockIdx.x * 127 + 5) & (V - 1);
        queue[0][0] = root;
        seen[root >> 5] = 1u << (root & 31);
        count[0] = 1;
        mine[root] = 0;
    }
    int cur = 0;
    for (int level = 1; ; level++) {
        __syncthreads();
        int n = count[cur];
        if (n == 0) break;
        if (threadIdx.x == 0) count[cur ^ 1] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int v = queue[cur][i];
            int d = degree[v];
            for (int e = 0; e < d; e++) {
                int w = edges[v * 8 + e];
                unsigned bit = 1u << (w & 31);
                if (atomicOr(&seen[w >> 5], bit) & bit) continue;
                mine[w] = level;
                queue[cur ^ 1][atomicAdd(&count[cur ^ 1], 1)] = w;
            }
        }
        cur ^= 1;
    }
}

//! roads_relaxed_from_a_list_of_changes 66 128 | u16:4096:0:1024 | u16:4096:1:100 | out u32:67584
struct Roads {
    unsigned best[1024];
    unsigned listed[32];
    uint16_t list[2][1024];
    unsigned length[2];
};
K roads_relaxed_from_a_list_of_changes(const ushort4 *to, const ushort4 *cost, unsigned *out)
{
    __shared__ Roads s;
    const unsigned t = threadIdx.x;
    for (unsigned v = t; v < 1024; v += 128) s.best[v] = 0x7fffffff;
    __syncthreads();
    if (t == 0) {
        unsigned source = blockIdx.x * 15 % 1024;
        s.best[source] = 0;
        s.list[0][0] = source;
        s.length[0] = 1;
        s.length[1] = 0;
    }
    __syncthreads();
    auto relax = [&](unsigned there, unsigned length, int next) {
        if (length < atomicMin(&s.best[there], length)) {
            unsigned bit = 1u << (there % 32);
            if (!(atomicOr(&s.listed[there / 32], bit) & bit)) {
                unsigned place = atomicAdd(&s.length[next], 1u);
                s.list[next][place] = there;
            }
        }
    };
    int now = 0;
    while (s.length[now]) {
        unsigned n = s.length[now];
        if (t < 32) s.listed[t] = 0;
        if (t == 32) s.length[now ^ 1] = 0;
        __syncthreads();
        for (unsigned i = t; i < n; i += 128) {
            unsigned v = s.list[now][i];
            unsigned d = atomicAdd(&s.best[v], 0u);
            ushort4 w = to[v], c = cost[v];
            relax(w.x, d + c.x, now ^ 1);
            relax(w.y, d + c.y, now ^ 1);
            relax(w.z, d + c.z, now ^ 1);
            relax(w.w, d + c.w, now ^ 1);
        }
        now ^= 1;
        __syncthreads();
    }
    for (unsigned v = t; v < 1024; v += 128) out[blockIdx.x * 1024 + v] = s.best[v];
}

//! robin_hood_books_of_a_thread 66 64 | u32:185856:1:3000 | u32:33792:1:3000 | out u32:4224 | out u32:4224
__device__ __forceinline__ unsigned home_of(unsigned key) { return key * 2654435769u >> 26; }
K robin_hood_books_of_a_thread(const unsigned *keys, const unsigned *asked, unsigned *found, unsigned *farthest)
{
    unsigned book[64];
    for (int i = 0; i < 64; i++) book[i] = 0;
    int me = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
    unsigned longest = 0;
    for (int k = 0; k < 44; k++) {
        unsigned key = keys[k * total + me], at = home_of(key), far = 0;
        while (true) {
            unsigned there = book[at];
            if (there == 0) { book[at] = key; break; }
            if (there == key) break;
            unsigned theirs = (at - home_of(there)) & 63;
            if (theirs < far) {
                longest = max(longest, far);
                book[at] = key;
                key = there;
                far = theirs;
            }
            at = (at + 1) & 63;
            far++;
        }
        if (far > longest) longest = far;
    }
    unsigned hits = 0;
    for (int q = 0; q < 8; q++) {
        unsigned key = asked[q * total + me];
        unsigned at = home_of(key);
        for (unsigned far = 0; far <= longest; far++, at = (at + 1) & 63) {
            if (book[at] == 0) break;
            if (book[at] == key) { hits |= 1u << q | at << (8 + q % 3 * 6); break; }
        }
    }
    found[me] = hits;
    farthest[me] = longest;
}

//! keys_put_by_swaps_then_asked_for 132 256 | u32:67584:1:50000 | u32:33792:1:60000 | scratch u64:131072 | scratch u32:1 | out s32:33792 | zero u32:1 | cooperative
typedef unsigned long long Pair;
static __device__ void put(Pair *table, unsigned mask, unsigned key, unsigned value, unsigned *fresh)
{
    Pair entry = (Pair)key << 32 | value;
    unsigned at = (key ^ key >> 7) * 0x85ebca6b >> 8 & mask;
    for (;;) {
        Pair old = atomicCAS(table + at, 0ull, entry);
        if (old == 0) { atomicAdd(fresh, 1u); return; }
        if ((unsigned)(old >> 32) == key) { atomicMin(table + at, entry); return; }
        at = (at + 1) & mask;
    }
}
K keys_put_by_swaps_then_asked_for(const unsigned *keys, const unsigned *queries, Pair *table, unsigned *arrived, int *answers, unsigned *distinct)
{
    const unsigned mask = 131071;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    put(table, mask, keys[i], i, distinct);
    put(table, mask, keys[i + n], i + n, distinct);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) __nanosleep(100);
        __threadfence();
    }
    __syncthreads();
    unsigned key = queries[i], at = (key ^ key >> 7) * 0x85ebca6b >> 8 & mask;
    int answer = -1;
    Pair p;
    while ((p = __ldcg(table + at)) != 0) {
        if (p >> 32 == key) { answer = (int)(p & 0xffffffff); break; }
        at = (at + 1) & mask;
    }
    answers[i] = answer;
}

//! ranks_from_a_tree_grown_by_swaps 64 256 | u32:32768:0:4000000 | out u16:32768
K __launch_bounds__(256) ranks_from_a_tree_grown_by_swaps(const unsigned *__restrict__ in, uint16_t *__restrict__ rank)
{
    __shared__ unsigned key[512];
    __shared__ int child[512][2];
    __shared__ int size[512];
    for (int i = threadIdx.x; i < 512; i += 256) {
        key[i] = in[blockIdx.x * 512 + i] << 9 | i;
        child[i][0] = child[i][1] = -1;
        size[i] = 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) {
        if (i == 0) continue;
        int at = 0;
        do {
            atomicAdd(&size[at], 1);
            at = atomicCAS(&child[at][key[i] > key[at]], -1, i);
        } while (at >= 0);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) {
        int at = 0, r = 0;
        unsigned k = key[i];
        while (key[at] != k) {
            int left = child[at][0];
            if (k < key[at]) at = left;
            else {
                r += 1 + (left < 0 ? 0 : size[left]);
                at = child[at][1];
            }
        }
        int left = child[at][0];
        if (left >= 0) r += size[left];
        rank[blockIdx.x * 512 + i] = r;
    }
}

//! prefixes_counted_in_a_trie_of_words 40 192 | u16:7680 | u16:7680 | out u32:7680
K prefixes_counted_in_a_trie_of_words(const unsigned short *words, const unsigned short *asked, unsigned *out)
{
    enum { Nodes = 192 * 8 + 2 };
    __shared__ unsigned short child[Nodes * 4];
    __shared__ int passed[Nodes];
    __shared__ int next;
    for (int i = threadIdx.x; i < Nodes; i += blockDim.x) {
        for (int c = 0; c < 4; c++) child[i * 4 + c] = 0;
        passed[i] = 0;
    }
    if (threadIdx.x == 0) next = 1;
    __syncthreads();
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    {
        unsigned word = words[gid];
        unsigned short node = 0, spare = 0;
        for (int depth = 0; depth < 8; depth++, word >>= 2) {
            if (!spare) spare = atomicAdd(&next, 1);
            unsigned short old = atomicCAS(&child[node * 4 + (word & 3)], (unsigned short)0, spare);
            if (old == 0) {
                node = spare;
                spare = 0;
            } else
                node = old;
            atomicAdd(&passed[node], 1);
        }
    }
    __syncthreads();
    unsigned query = asked[gid], sum = 0;
    int node = 0, depth = 0;
    while (depth < 8) {
        node = child[node * 4 + (query & 3)];
        if (!node) break;
        sum += passed[node];
        query >>= 2;
        ++depth;
    }
    out[gid] = sum << 4 | depth;
}

//! lines_searched_by_their_last_letter 132 64 | u8:1056:0:4 | u8:2162688:0:4 | out u32:8448
K lines_searched_by_their_last_letter(const unsigned char *patterns, const unsigned char *text, unsigned *out)
{
    const int m = 5, n = 256;
    __shared__ unsigned char pattern[8];
    __shared__ int shift[4];
    if (threadIdx.x < m) pattern[threadIdx.x] = patterns[blockIdx.x * 8 + threadIdx.x];
    if (threadIdx.x < 4) shift[threadIdx.x] = m;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int j = 0; j < m - 1; j++) shift[pattern[j]] = m - 1 - j;
    __syncthreads();
    const unsigned char *line = text + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * n;
    int pos = 0, matches = 0, first = -1;
    while (pos <= n - m) {
        int j = m - 1;
        while (j >= 0 && line[pos + j] == pattern[j]) j--;
        if (j < 0) {
            if (first < 0) first = pos;
            matches++;
        }
        pos += shift[line[pos + m - 1]];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = matches << 16 | (first & 0xffff);
}

//! spellings_compared_with_neighbours_swapped 48 96 | u8:110592:0:4 | u8:110592:0:4 | u8:4608:6:24 | u8:4608:6:24 | out u8:4608 | s s32 9
K spellings_compared_with_neighbours_swapped(const uint8_t *a, const uint8_t *b, const uint8_t *la, const uint8_t *lb, uint8_t *distance, int limit)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    uint8_t rows[3][24];
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    int n = la[id], m = lb[id];
    if (abs(n - m) > limit) { distance[id] = 255; return; }
    a += id * 24;
    b += id * 24;
    for (int j = 0; j <= m; j++) { last[j] = j; before[j] = 0; }
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        int least = i;
        for (int j = 1; j <= m; j++) {
            int same = a[i - 1] == b[j - 1];
            int v = last[j - 1] + !same;
            v = min(v, last[j] + 1);
            v = min(v, row[j - 1] + 1);
            if (!same && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) v = min(v, before[j - 2] + 1);
            row[j] = v;
            least = min(least, v);
        }
        if (least > limit) { distance[id] = 254; return; }
        uint8_t *t = before;
        before = last;
        last = row;
        row = t;
    }
    distance[id] = last[m];
}

//! local_alignment_with_costly_openings 32 128 | u8:4096:0:4 | u8:9600:0:4 | out u32:32 | s s32 5 | s s32 -4 | s s32 8 | s s32 2
K local_alignment_with_costly_openings(const uint8_t *query, const uint8_t *reference, unsigned *best, int match, int mismatch, int open, int extend)
{
    const int Q = 128, R = 300, LOW = -100000;
    __shared__ int passH[2][Q], passF[2][Q];
    __shared__ uint8_t ref[R];
    __shared__ unsigned top;
    int i = threadIdx.x;
    for (int j = i; j < R; j += Q) ref[j] = reference[blockIdx.x * R + j];
    if (i == 0) top = 0;
    uint8_t q = query[blockIdx.x * Q + i];
    __syncthreads();
    int left = 0, e = LOW, diagonal = 0;
    unsigned mine = 0;
    for (int d = 0; d < Q + R - 1; d++) {
        int j = d - i;
        if (j >= 0 && j < R) {
            int up = 0, f = LOW;
            if (i > 0) {
                up = passH[(d - 1) & 1][i - 1];
                f = passF[(d - 1) & 1][i - 1];
            }
            e = max(e - extend, left - open);
            f = max(f - extend, up - open);
            int h = diagonal + (q == ref[j] ? match : mismatch);
            h = max(max(h, 0), max(e, f));
            diagonal = up;
            left = h;
            passH[d & 1][i] = h;
            passF[d & 1][i] = f;
            mine = max(mine, (unsigned)h << 16 | (65535 - (i * R + j)));
        }
        __syncthreads();
    }
    atomicMax(&top, mine);
    __syncthreads();
    if (i == 0) best[blockIdx.x] = top;
}

//! fields_between_commas_read_by_a_machine 56 64 | u8:688128:0:16 | out u32:3584 | out s64:3584
__constant__ char letters_met[17] = "0123456789.,-\"\n ";
enum Reading { Start, Whole, Fraction, Quoted, AfterQuote, Spoilt };
K fields_between_commas_read_by_a_machine(const uint8_t *bytes, unsigned *counts, long long *sums)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = bytes + id * 192, *end = p + 192;
    Reading state = Start;
    bool minus = false;
    unsigned fields = 0, spoilt = 0, lines = 0, places = 0;
    long long value = 0, sum = 0;
    for (; p != end; ++p) {
        char c = letters_met[*p];
        if (state == Quoted) {
            if (c == '"') state = AfterQuote;
            continue;
        }
        switch (c) {
        case ',':
        case '\n':
            if (state == Whole || state == Fraction) {
                while (places < 2) { value *= 10; places++; }
                sum += minus ? -value : value;
            }
            if (state == Spoilt) spoilt++;
            fields++;
            if (c == '\n') lines++;
            state = Start;
            minus = false;
            value = 0;
            places = 0;
            break;
        case '"':
            state = state == Start ? Quoted : state == AfterQuote ? Quoted : Spoilt;
            break;
        case '-':
            if (state == Start && !minus) minus = true;
            else state = Spoilt;
            break;
        case '.':
            state = state == Start || state == Whole ? Fraction : Spoilt;
            break;
        case ' ':
            break;
        default:
            if (state == Start) state = Whole;
            if (state == Whole) value = (value * 10 + (c - '0')) % 1000000007;
            else if (state == Fraction && places < 2) {
                value = value * 10 + (c - '0');
                places++;
            } else if (state == AfterQuote) state = Spoilt;
        }
    }
    counts[id] = fields << 20 | lines << 10 | spoilt;
    sums[id] = sum;
}

//! literals_and_copies_unpacked_by_each_thread 48 64 | u8:589824 | out u8:786432 | out u16:3072
K literals_and_copies_unpacked_by_each_thread(const uint8_t *packed, uint8_t *unpacked, uint16_t *used)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *src = packed + id * 192;
    uint8_t *dst = unpacked + id * 256;
    int in = 0, out = 0;
    while (in < 190 && out < 256) {
        unsigned control = src[in++];
        if (out == 0 || control < 128) {
            int run = (control & 15) + 1;
            run = min(run, min(192 - in, 256 - out));
            for (int k = 0; k < run; k++) dst[out++] = src[in++];
        } else {
            int length = (control & 31) + 3;
            int back = src[in++] % out + 1;
            if (length > 256 - out) length = 256 - out;
            while (length--) {
                dst[out] = dst[out - back];
                out++;
            }
        }
    }
    used[id] = in << 8 | (out & 255);
}

//! quotients_in_unary_read_back 64 128 | u32:262144 | out u32:196608
class Bits {
    const unsigned *p;
    int left, have;
    unsigned long long hold;
public:
    __device__ Bits(const unsigned *from, int words) : p(from), left(words), have(0), hold(0) {}
    __device__ void fill()
    {
        if (have <= 32) {
            unsigned w = 0x55555555;
            if (left > 0) { w = *p++; left--; }
            hold |= (unsigned long long)w << (32 - have);
            have += 32;
        }
    }
    __device__ unsigned zeros(unsigned most)
    {
        fill();
        unsigned z = __clzll(hold);
        if (z >= most) { drop(most); return most; }
        drop(z + 1);
        return z;
    }
    __device__ unsigned take(int n)
    {
        if (n == 0) return 0;
        fill();
        unsigned v = (unsigned)(hold >> (64 - n));
        drop(n);
        return v;
    }
private:
    __device__ void drop(int n) { hold <<= n; have -= n; }
};
K quotients_in_unary_read_back(const unsigned *stream, unsigned *numbers)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    Bits bits(stream + id * 32, 32);
    int k = 3;
    for (int n = 0; n < 24; n++) {
        unsigned q = bits.zeros(24), v;
        if (q == 24) v = bits.take(20);
        else v = q << k | bits.take(k);
        numbers[n * 8192 + id] = v >> 1 ^ -(v & 1);
        if (q == 0) { if (k > 0) k--; }
        else if (q > 1 && k < 12) k++;
    }
}

//! spheres_under_a_tree_made_by_the_block 40 128 | f32:40960:0:1 | out f32:10240 | out s32:10240
struct Box { float3 lo, hi; };
__device__ inline unsigned spread3(unsigned v)
{
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}
__device__ inline bool enters(const Box &b, float3 o, float3 inv, float limit, float &t)
{
    float ax = (b.lo.x - o.x) * inv.x, bx = (b.hi.x - o.x) * inv.x;
    float ay = (b.lo.y - o.y) * inv.y, by = (b.hi.y - o.y) * inv.y;
    float az = (b.lo.z - o.z) * inv.z, bz = (b.hi.z - o.z) * inv.z;
    float in = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fminf(az, bz));
    float out = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fmaxf(az, bz));
    t = fmaxf(in, 0.f);
    return out >= t && t < limit;
}
K spheres_under_a_tree_made_by_the_block(const float4 *scene, float *depth, int *hit)
{
    __shared__ float4 ball[256];
    __shared__ Box box[512];
    __shared__ unsigned code[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 128) {
        float4 s = scene[blockIdx.x * 256 + i];
        s.w = 0.01f + 0.05f * s.w;
        ball[i] = s;
        code[i] = ((spread3(s.x * 255.f) << 2 | spread3(s.y * 255.f) << 1 | spread3(s.z * 255.f)) & 0xffffff) << 8 | i;
    }
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int a = 2 * t - (t & (j - 1)), b = a + j;
            unsigned x = code[a], y = code[b];
            if ((x > y) == ((a & k) == 0)) {
                code[a] = y;
                code[b] = x;
            }
        }
    __syncthreads();
    for (int i = t; i < 256; i += 128) {
        float4 s = ball[code[i] & 255];
        box[256 + i].lo = make_float3(s.x - s.w, s.y - s.w, s.z - s.w);
        box[256 + i].hi = make_float3(s.x + s.w, s.y + s.w, s.z + s.w);
    }
    for (int n = 128; n >= 1; n /= 2) {
        __syncthreads();
        if (t < n) {
            const Box &l = box[2 * (n + t)], &r = box[2 * (n + t) + 1];
            Box b;
            b.lo = make_float3(fminf(l.lo.x, r.lo.x), fminf(l.lo.y, r.lo.y), fminf(l.lo.z, r.lo.z));
            b.hi = make_float3(fmaxf(l.hi.x, r.hi.x), fmaxf(l.hi.y, r.hi.y), fmaxf(l.hi.z, r.hi.z));
            box[n + t] = b;
        }
    }
    __syncthreads();
    for (int ray = t; ray < 256; ray += 128) {
        float3 o = make_float3(0.5f, 0.5f, -1.f);
        float3 d = make_float3((ray % 16 + 0.5f) / 16 - 0.5f, (ray / 16 + 0.5f) / 16 - 0.5f, 1.3f);
        float norm = 1.f / sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
        d.x *= norm; d.y *= norm; d.z *= norm;
        float3 inv = make_float3(1.f / d.x, 1.f / d.y, 1.f / d.z);
        float nearest = 1e30f, enter;
        int which = -1, top = 0, stack[16];
        if (enters(box[1], o, inv, nearest, enter)) stack[top++] = 1;
        while (top > 0) {
            int node = stack[--top];
            if (node >= 256) {
                int id = code[node - 256] & 255;
                float4 s = ball[id];
                float3 c = make_float3(s.x - o.x, s.y - o.y, s.z - o.z);
                float along = c.x * d.x + c.y * d.y + c.z * d.z;
                float off = c.x * c.x + c.y * c.y + c.z * c.z - along * along;
                float under = s.w * s.w - off;
                if (under > 0) {
                    float at = along - sqrtf(under);
                    if (at > 0 && at < nearest) { nearest = at; which = id; }
                }
                continue;
            }
            float tl, tr;
            bool l = enters(box[2 * node], o, inv, nearest, tl), r = enters(box[2 * node + 1], o, inv, nearest, tr);
            if (l && r) {
                int first = tl <= tr ? 2 * node : 2 * node + 1;
                stack[top++] = first ^ 1;
                stack[top++] = first;
            } else if (l) stack[top++] = 2 * node;
            else if (r) stack[top++] = 2 * node + 1;
        }
        depth[blockIdx.x * 256 + ray] = nearest;
        hit[blockIdx.x * 256 + ray] = which;
    }
}

//! formulas_held_as_trees_by_recursion 40 32 | u8:162560 | out u32:1280 | out u32:1280
__device__ __noinline__ unsigned worth(const uint8_t *node, int i, unsigned x, int *visits)
{
    ++*visits;
    unsigned op = node[i];
    if (i >= 63 || op % 9 == 0) return op & 1 ? op : x + op;
    unsigned a = worth(node, 2 * i + 1, x, visits);
    switch (op % 6) {
    case 0: return a + worth(node, 2 * i + 2, x, visits);
    case 1: return a - worth(node, 2 * i + 2, x + 1, visits);
    case 2: return a * worth(node, 2 * i + 2, x, visits);
    case 3: return ~a;
    case 4: {
        unsigned b = worth(node, 2 * i + 2, a & 255, visits);
        return b ? a % b : a;
    }
    default: return a & 1 ? worth(node, 2 * i + 2, x, visits) : a >> 1;
    }
}
K formulas_held_as_trees_by_recursion(const uint8_t *trees, unsigned *value, unsigned *steps)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int visits = 0;
    value[id] = worth(trees + id * 127, 0, threadIdx.x, &visits);
    steps[id] = visits;
}

//! prices_changed_by_rules_of_a_table 132 128 | u8:270336:0:6 | f32:16896:1:50 | out f32:16896
struct Basket { float price; int pieces; int rules_used; };
typedef void (*Rule)(Basket &);
static __device__ void nothing_off(Basket &b) { b.pieces++; }
static __device__ void tenth_off(Basket &b) { b.price *= 0.9f; b.rules_used++; }
static __device__ void third_piece_free(Basket &b)
{
    if (b.pieces % 3 == 0) b.price -= b.price / (3 + b.rules_used);
    b.rules_used++;
}
static __device__ void rounded(Basket &b) { b.price = rintf(b.price * 20.f) * 0.05f; }
static __device__ void with_postage(Basket &b)
{
    float left = b.price;
    int parcels = 0;
    while (left > 10.f && parcels < 6) { left -= 10.f; parcels++; }
    b.price += 0.25f * parcels;
}
static __device__ void taxed(Basket &b) { b.price = b.rules_used > 4 ? b.price * 1.07f : b.price * 1.19f; }
__device__ Rule rules[6] = {nothing_off, tenth_off, third_piece_free, rounded, with_postage, taxed};
K prices_changed_by_rules_of_a_table(const uint8_t *codes, const float *price, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Basket b = {price[i], i % 7, 0};
    for (int r = 0; r < 16; r++) rules[codes[r * 16896 + i]](b);
    out[i] = b.price;
}

//! lifts_as_virtual_states 40 96 | u32:30720 | out u32:3840 | s s32 96
struct Lift {
    int floor, wish, travelled, riders;
    unsigned dice;
    __device__ unsigned roll() { dice ^= dice << 13; dice ^= dice >> 17; dice ^= dice << 5; return dice; }
};
struct State {
    __device__ virtual int step(Lift &l) const = 0;
    __device__ virtual int weight() const { return 1; }
};
struct Waiting : State {
    __device__ int step(Lift &l) const override
    {
        unsigned r = l.roll();
        if (r % 3) return 0;
        l.wish = r / 3 % 12;
        return l.wish > l.floor ? 1 : l.wish < l.floor ? 2 : 3;
    }
};
struct Climbing : State {
    __device__ int step(Lift &l) const override { l.travelled++; return ++l.floor == l.wish ? 3 : 1; }
    __device__ int weight() const override { return 5; }
};
struct Sinking : State {
    int brake;
    __device__ Sinking(int b) : brake(b) {}
    __device__ int step(Lift &l) const override
    {
        l.travelled++;
        if ((int)(l.roll() & 15) < brake) return 2;
        return --l.floor == l.wish ? 3 : 2;
    }
    __device__ int weight() const override { return 2 + brake; }
};
struct Opened : State {
    __device__ int step(Lift &l) const override
    {
        l.riders += (l.roll() >> 8) % 4;
        if (l.riders > 6) { l.riders -= 5; return 3; }
        return 0;
    }
};
K lifts_as_virtual_states(const unsigned *seeds, unsigned *out, int ticks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Waiting w;
    Climbing c;
    Sinking s(threadIdx.x % 5);
    Opened o;
    const State *states[4] = {&w, &c, &s, &o};
    Lift l = {(int)(seeds[i * 8] % 12u), 0, 0, 0, seeds[i * 8 + 1] | 1};
    int now = 0;
    unsigned energy = 0;
    for (int t = 0; t < ticks; t++) {
        energy += states[now]->weight();
        now = states[now]->step(l);
    }
    out[i] = energy << 16 | l.travelled << 8 | l.floor << 4 | l.riders;
}

//! tape_machines_of_eight_orders 24 64 | u8:2304:0:8 | u8:49152 | out u8:49152 | out u32:1536
K tape_machines_of_eight_orders(const uint8_t *programs, const uint8_t *inputs, uint8_t *tapes, uint32_t *ends)
{
    __shared__ uint8_t code[96];
    __shared__ int8_t partner[96];
    for (int i = threadIdx.x; i < 96; i += blockDim.x) {
        code[i] = programs[blockIdx.x * 96 + i];
        partner[i] = -1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int8_t open[96];
        int depth = 0;
        for (int i = 0; i < 96; i++)
            if (code[i] == 4) open[depth++] = i;
            else if (code[i] == 5 && depth) {
                int o = open[--depth];
                partner[o] = i;
                partner[i] = o;
            }
    }
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    uint8_t tape[32] = {};
    int pc = 0, head = 0, steps = 0, read = 0;
    uint32_t printed = 0;
    while (pc < 96 && steps < 500) {
        steps++;
        switch (code[pc]) {
        case 0: head = (head + 1) & 31; break;
        case 1: head = (head - 1) & 31; break;
        case 2: tape[head]++; break;
        case 3: tape[head]--; break;
        case 4: if (tape[head] == 0 && partner[pc] >= 0) pc = partner[pc]; break;
        case 5: if (tape[head] != 0 && partner[pc] >= 0) pc = partner[pc]; break;
        case 6: printed = printed * 31 + tape[head]; break;
        case 7: tape[head] = inputs[id * 32 + (read++ & 31)] & 7; break;
        }
        pc++;
    }
    for (int k = 0; k < 32; k++) tapes[id * 32 + k] = tape[k];
    ends[id] = printed ^ (uint32_t)steps << 20 ^ pc;
}

//! knights_led_to_the_fewest_exits 32 64 | u32:2048 | out u8:131072 | out u8:2048
__constant__ int knight_dx[8] = {1, 2, 2, 1, -1, -2, -2, -1};
__constant__ int knight_dy[8] = {2, 1, -1, -2, -2, -1, 1, 2};
K knights_led_to_the_fewest_exits(const unsigned *seed, unsigned char *path, unsigned char *length)
{
    __shared__ unsigned long long reach[64];
    int t = threadIdx.x;
    unsigned long long r = 0;
    for (int k = 0; k < 8; k++) {
        int x = t % 8 + knight_dx[k], y = t / 8 + knight_dy[k];
        if (x < 0 || x > 7 || y < 0 || y > 7) continue;
        r |= 1ull << (y * 8 + x);
    }
    reach[t] = r;
    __syncthreads();
    int id = blockIdx.x * 64 + t;
    unsigned luck = seed[id] | 1;
    int at = t, n = 0;
    unsigned long long been = 0;
    while (true) {
        been |= 1ull << at;
        path[n * 2048 + id] = at;
        n++;
        unsigned long long open = reach[at] & ~been;
        if (!open) break;
        int fewest = 9, ties = 0, chosen = -1;
        while (open) {
            int to = __ffsll(open) - 1;
            open &= open - 1;
            int exits = __popcll(reach[to] & ~been);
            if (exits < fewest) { fewest = exits; chosen = to; ties = 1; }
            else if (exits == fewest) {
                luck = luck * 1103515245u + 12345u;
                if ((luck >> 16) % ++ties == 0) chosen = to;
            }
        }
        at = chosen;
    }
    length[id] = n;
}

//! grids_of_nine_filled_by_trial_and_return 33 32 | u32:3168 | u32:1056 | out u8:85536 | out s32:1056
struct Grid {
    uint8_t cell[81];
    uint16_t row[9], column[9], square[9];
    __device__ void toggle(int p, int digit)
    {
        uint16_t bit = 1 << (digit - 1);
        row[p / 9] ^= bit;
        column[p % 9] ^= bit;
        square[p / 27 * 3 + p % 9 / 3] ^= bit;
    }
    __device__ unsigned used(int p) const { return row[p / 9] | column[p % 9] | square[p / 27 * 3 + p % 9 / 3]; }
};
K grids_of_nine_filled_by_trial_and_return(const unsigned *holes, const unsigned *mixed, uint8_t *filled, int *trials)
{
    int id = blockIdx.x * 32 + threadIdx.x;
    Grid g;
    for (int k = 0; k < 9; k++) g.row[k] = g.column[k] = g.square[k] = 0;
    uint8_t blank[81];
    int blanks = 0;
    unsigned m = mixed[id] % 9;
    for (int p = 0; p < 81; p++) {
        int r = p / 9, c = p % 9;
        int digit = ((r % 3 * 3 + r / 3 + c) * 2 + m) % 9u + 1;
        if (holes[id * 3 + p / 27] >> (p % 27) & 1) {
            g.cell[p] = 0;
            blank[blanks++] = p;
        } else {
            g.cell[p] = digit;
            g.toggle(p, digit);
        }
    }
    int k = 0, steps = 0;
    while (k >= 0 && k < blanks && steps < 400) {
        int p = blank[k], was = g.cell[p];
        if (was) g.toggle(p, was);
        unsigned free = ~g.used(p) & (0x1ffu << was) & 0x1ffu;
        if (free) {
            int digit = __ffs(free);
            g.cell[p] = digit;
            g.toggle(p, digit);
            k++;
        } else {
            g.cell[p] = 0;
            k--;
        }
        steps++;
    }
    for (int p = 0; p < 81; p++) filled[id * 81 + p] = g.cell[p];
    trials[id] = k == blanks ? steps : -steps;
}

//! points_parted_into_quarters_until_few 24 128 | u32:24576 | out u32:24576 | out u8:24576 | s s32 24
K points_parted_into_quarters_until_few(const unsigned *points, unsigned *ordered, unsigned char *depth, int few)
{
    __shared__ unsigned here[1024], there[1024];
    __shared__ unsigned char level_of[1024];
    __shared__ short3 stack[48];
    __shared__ int total[4], base[4], of_warp[4][4], top;
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    for (int i = t; i < 1024; i += 128) here[i] = points[blockIdx.x * 1024 + i];
    if (t == 0) {
        stack[0] = make_short3(0, 1024, 0);
        top = 1;
    }
    __syncthreads();
    while (top > 0) {
        short3 node = stack[top - 1];
        int start = node.x, count = node.y, level = node.z;
        if (count <= few || level == 9) {
            for (int i = t; i < count; i += 128) level_of[start + i] = level;
            __syncthreads();
            if (t == 0) top--;
            __syncthreads();
            continue;
        }
        if (t < 4) total[t] = 0;
        __syncthreads();
        auto quarter = [=](unsigned p) { return (p >> (15 - level) & 1) | (p >> (31 - level) & 1) << 1; };
        for (int i = t; i < count; i += 128) atomicAdd(&total[quarter(here[start + i])], 1);
        __syncthreads();
        if (t == 0) {
            int at = start;
            top--;
            for (int q = 0; q < 4; q++) {
                base[q] = at;
                if (total[q]) stack[top++] = make_short3(at, total[q], level + 1);
                at += total[q];
            }
        }
        for (int from = 0; from < count; from += 128) {
            int i = from + t;
            unsigned p = i < count ? here[start + i] : 0;
            int mine = i < count ? (int)quarter(p) : 4, rank = 0;
            for (int q = 0; q < 4; q++) {
                unsigned votes = __ballot_sync(~0u, mine == q);
                if (mine == q) rank = __popc(votes & ((1u << lane) - 1));
                if (lane == 0) of_warp[warp][q] = __popc(votes);
            }
            __syncthreads();
            if (mine < 4) {
                int at = base[mine] + rank;
                for (int w = 0; w < warp; w++) at += of_warp[w][mine];
                there[at] = p;
            }
            __syncthreads();
            if (t < 4)
                for (int w = 0; w < 4; w++) base[t] += of_warp[w][t];
            __syncthreads();
        }
        for (int i = t; i < count; i += 128) here[start + i] = there[start + i];
        __syncthreads();
    }
    for (int i = t; i < 1024; i += 128) {
        ordered[blockIdx.x * 1024 + i] = here[i];
        depth[blockIdx.x * 1024 + i] = level_of[i];
    }
}

//! diagonals_kept_apart_times_a_vector 256 256 | f32:720896:-1:1 | s32:11:-700:700 | f32:65536:-1:1 | out f32:65536 | s s32 65536 | s s32 11
K diagonals_kept_apart_times_a_vector(const float *__restrict__ data, const int *__restrict__ offsets, const float *__restrict__ x,
                                      float *__restrict__ y, int n, int diagonals)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0.0f;
    for (int d = 0; d < diagonals; ++d) {
        int column = row + __ldg(&offsets[d]);
        if (column >= 0 && column < n) sum += data[d * n + row] * __ldg(&x[column]);
    }
    y[row] = sum;
}

//! squares_of_the_set_split_through_a_queue 132 64 | scratch u32:2048 | scratch s32:2 | out u8:65536 | s f32 -2.05 | s f32 -1.27 | s f32 0.01 | cooperative
__device__ int escapes(float cx, float cy)
{
    float x = 0, y = 0;
    int n = 0;
    while (n < 128) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.f) break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        n++;
    }
    return n;
}
K squares_of_the_set_split_through_a_queue(unsigned *slots, int *control, uint8_t *image, float x0, float y0, float step)
{
    int *taken = control, *unfinished = control + 1; /* starts at 0 and means 64 more */
    __shared__ int task;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            int ticket = atomicAdd(taken, 1);
            if (ticket < 64) task = (ticket / 8 * 4) << 5 | ticket % 8 * 4;
            else {
                unsigned got;
                while ((got = atomicAdd(&slots[ticket], 0u)) == 0)
                    if (atomicAdd(unfinished, 0) == -64) break;
                    else __nanosleep(200);
                task = (int)got - 1;
            }
        }
        __syncthreads();
        int now = task;
        if (now < 0) return;
        int level = now >> 10, side = 32 >> level, px = (now & 31) * 8, py = (now >> 5 & 31) * 8;
        if (level < 2) {
            int corner = escapes(x0 + px * step, y0 + py * step);
            bool same = true;
            for (int k = threadIdx.x; k < 4 * side - 4 && same; k += blockDim.x) {
                int edge = k / (side - 1), along = k % (side - 1), x, y;
                switch (edge) {
                case 0: x = along; y = 0; break;
                case 1: x = side - 1; y = along; break;
                case 2: x = side - 1 - along; y = side - 1; break;
                default: x = 0; y = side - 1 - along;
                }
                same = escapes(x0 + (px + x) * step, y0 + (py + y) * step) == corner;
            }
            if (__syncthreads_and(same)) {
                for (int k = threadIdx.x; k < side * side; k += blockDim.x) image[(py + k / side) * 256 + px + k % side] = corner;
                if (threadIdx.x == 0) atomicSub(unfinished, 1);
            } else if (threadIdx.x < 4) {
                int half = side / 16;
                unsigned sub = (level + 1) << 10 | ((now >> 5 & 31) + half * (threadIdx.x >> 1)) << 5 | ((now & 31) + half * (threadIdx.x & 1));
                if (threadIdx.x == 0) atomicAdd(unfinished, 3);
                __syncwarp(15);
                /* the last slot counts those given out */
                unsigned place = atomicAdd(&slots[2047], 1u) + 64;
                atomicExch(&slots[place], sub + 1);
            }
        } else {
            for (int k = threadIdx.x; k < side * side; k += blockDim.x) {
                int x = px + k % side, y = py + k / side;
                image[y * 256 + x] = escapes(x0 + x * step, y0 + y * step);
            }
            if (threadIdx.x == 0) atomicSub(unfinished, 1);
        }
    }
}

//! purses_changed_under_two_locks 33 64 | u16:4224:0:1024 | u16:4224:0:1024 | u8:4224:1:100 | scratch s32:1024 | inout s32:1024:0:10000 | unordered
K purses_changed_under_two_locks(const uint16_t *giver, const uint16_t *taker, const uint8_t *amount, int *locks, volatile int *purse)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4224; i += gridDim.x * blockDim.x) {
        int from = giver[i], to = taker[i], sum = amount[i];
        if (from == to) continue;
        int *first = locks + min(from, to), *second = locks + max(from, to);
        bool done = false;
        while (!done) {
            if (atomicCAS(first, 0, 1) == 0) {
                if (atomicCAS(second, 0, 1) == 0) {
                    __threadfence();
                    purse[from] = purse[from] - sum;
                    purse[to] = purse[to] + sum;
                    __threadfence();
                    atomicExch(second, 0);
                    done = true;
                }
                atomicExch(first, 0);
            }
        }
    }
}

//! sparks_along_wires_for_sixteen_ticks 40 16,16 | inout u8:40960:0:4 | s s32 16
template <int W, int H> struct Board {
    uint8_t at[H + 2][W + 2];
    __device__ int heads(int y, int x) const
    {
        int n = 0;
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++) n += at[y + dy][x + dx] == 1;
        return n;
    }
};
K sparks_along_wires_for_sixteen_ticks(uint8_t *cells, int ticks)
{
    enum { Empty, Head, Tail, Wire };
    __shared__ Board<32, 32> boards[2];
    int t = threadIdx.y * 16 + threadIdx.x;
    for (int k = t; k < (int)sizeof boards; k += 256) ((uint8_t *)boards)[k] = 0;
    __syncthreads();
    cells += blockIdx.x * 1024;
    for (int y = threadIdx.y; y < 32; y += 16)
        for (int x = threadIdx.x; x < 32; x += 16) boards[0].at[y + 1][x + 1] = cells[y * 32 + x];
    __syncthreads();
    for (int tick = 0; tick < ticks; tick++) {
        const Board<32, 32> &old = boards[tick & 1];
        Board<32, 32> &now = boards[~tick & 1];
        for (int y = threadIdx.y; y < 32; y += 16)
            for (int x = threadIdx.x; x < 32; x += 16) {
                uint8_t c = old.at[y + 1][x + 1], next = Empty;
                if (c == Head) next = Tail;
                else if (c == Tail) next = Wire;
                else if (c == Wire) {
                    int n = old.heads(y, x);
                    next = n == 1 || n == 2 ? Head : Wire;
                }
                now.at[y + 1][x + 1] = next;
            }
        __syncthreads();
    }
    const Board<32, 32> &last = boards[ticks & 1];
    for (int y = threadIdx.y; y < 32; y += 16)
        for (int x = threadIdx.x; x < 32; x += 16) cells[y * 32 + x] = last.at[y + 1][x + 1];
}
