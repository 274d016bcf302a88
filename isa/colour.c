/* colour.c - which registers of the machine the values of a function take. See colour.h.
 *
 * Linear scan with holes: values are visited in the order in which they begin to live, and each takes the first registers that are free
 * through all of its stretches (Traub, Holloway and Smith, "Quality and Speed in Linear-scan Register Allocation", 1998). A 64-bit value
 * begins at an even register and the parts of a vector stand behind each other, from a multiple of their number; so a function may need
 * more registers than live at once. R1 is the stack pointer. */
#include "isa/colour.h"

#include <string.h>

#include "base/sort.h"

/* Registers looked at; the stack pointer's. */
enum { MOST = 1024, STACK = 1, NONE = UINT32_MAX, BANKS = 2, SPREAD = 30, MOST_SORTED = 1 << 11 };

/* Threads get registers in units of 8, of which values of the first have OVER (live.c adds two); from how far an end of a unit is tried for,
 * and how often. */
enum { UNIT = 8, OVER = 6, NEAR = 4, ROUNDS = 12 };

typedef struct stretch {
    uint32_t from, to;
} stretch;

typedef struct life {
    uint32_t value;
    stretch s;
} life;

typedef struct value {
    uint32_t rows, start;
    uint32_t group;        /* first value of its vector, itself when it is in none */
    uint32_t next;         /* in the vector; NONE: the last */
    uint32_t offset;       /* from the vector's first register */
    uint32_t first, n;     /* its stretches, after sorting */
    uint32_t apart;        /* first of the values read together with it, index in `aparts` plus one */
    uint32_t at;           /* its first register; NONE: not chosen yet */
} value;

typedef struct apart {
    uint32_t value, next;
} apart;

/* What takes a register: stretches in order; those in front of `done` are over. */
typedef struct reg {
    struct { stretch *at; size_t n, cap; } s;
    size_t done;
} reg;

struct pl_colour {
    pl_arena *a;
    value *v;
    uint32_t n;
    struct { life *at; size_t n, cap; } lives, tails;
    struct { apart *at; size_t n, cap; } aparts;
    stretch *s; /* by value */
    reg *r;
    uint32_t used;   /* registers that some value has taken */
    uint32_t room;   /* `r` and `until` are for so many */
    uint32_t *until; /* by register: end of a stretch that began before the value at work, if it is known */
};

/* Most functions use few of the registers that there may be. */
static bool make_room(pl_colour *c, uint32_t room)
{
    reg *r = pl_arena_array(c->a, reg, room);
    uint32_t *until = pl_arena_array(c->a, uint32_t, room);
    if (!r || !until || !pl_arena_ok(c->a))
        return false;
    if (c->room) {
        memcpy(r, c->r, c->room * sizeof *r);
        memcpy(until, c->until, c->room * sizeof *until);
    }
    c->r = r;
    c->until = until;
    c->room = room;
    return true;
}

pl_colour *pl_colour_new(pl_arena *a, uint32_t values)
{
    pl_colour *c = pl_arena_new(a, pl_colour);
    c->a = a;
    c->n = values;
    c->v = pl_arena_array(a, value, values + 1);
    if (!c->v || !make_room(c, 64) || !pl_arena_ok(a))
        return NULL;
    for (uint32_t k = 0; k < values; k++)
        c->v[k] = (value){.group = k, .next = NONE, .start = NONE, .at = NONE};
    return c;
}

void pl_colour_value(pl_colour *c, uint32_t v, uint32_t rows)
{
    c->v[v].rows = rows;
}

void pl_colour_vector(pl_colour *c, const uint32_t *values, uint32_t n)
{
    uint32_t offset = 0;
    for (uint32_t k = 0; k < n; k++) {
        const value *v = &c->v[values[k]];
        if (!v->rows || v->group != values[k] || v->next != NONE)
            return;
        for (uint32_t m = 0; m < k; m++)
            if (values[m] == values[k])
                return;
    }
    for (uint32_t k = 0; k < n; k++) {
        value *v = &c->v[values[k]];
        v->group = values[0];
        v->next = k + 1 < n ? values[k + 1] : NONE;
        v->offset = offset;
        offset += v->rows;
    }
}

void pl_colour_apart(pl_colour *c, uint32_t a, uint32_t b)
{
    const uint32_t both[] = {a, b};
    for (unsigned k = 0; k < 2 && a != b; k++) {
        value *v = &c->v[both[k]];
        *pl_push(c->a, &c->aparts) = (apart){both[1 - k], v->apart};
        v->apart = (uint32_t)c->aparts.n;
    }
}

void pl_colour_life(pl_colour *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (from >= to || !c->v[v].rows)
        return;
    /* What touches the latest one joins it, and that perhaps the one in front of it: values live through many blocks, one after the other. */
    for (unsigned k = 0; k < 2 && c->lives.n; k++) {
        const life *l = &c->lives.at[c->lives.n - 1];
        if (l->value != v || (l->s.to != from && l->s.from != to))
            break;
        from = from < l->s.from ? from : l->s.from;
        to = to > l->s.to ? to : l->s.to;
        c->lives.n--;
    }
    *pl_push(c->a, &c->lives) = (life){v, {from, to}};
}

void pl_colour_tail(pl_colour *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (from < to && c->v[v].rows)
        *pl_push(c->a, &c->tails) = (life){v, {from, to}};
}

/* The stretches by where they begin (counting sort): numbers of `lives`. */
static uint32_t *by_start(pl_colour *c)
{
    uint32_t last = 0;
    for (size_t k = 0; k < c->lives.n; k++)
        last = c->lives.at[k].s.from > last ? c->lives.at[k].s.from : last;
    uint32_t *place = pl_arena_array(c->a, uint32_t, (size_t)last + 2), *order = pl_arena_array(c->a, uint32_t, c->lives.n + 1);
    if (!place || !order || !pl_arena_ok(c->a))
        return NULL;
    for (size_t k = 0; k < c->lives.n; k++)
        place[c->lives.at[k].s.from + 1]++;
    for (size_t k = 0; k < last; k++)
        place[k + 1] += place[k];
    for (size_t k = 0; k < c->lives.n; k++)
        order[place[c->lives.at[k].s.from]++] = (uint32_t)k;
    return order;
}

/* Puts the stretches of every value in order; those that touch become one. */
static bool gather(pl_colour *c)
{
    const uint32_t *order = by_start(c);
    c->s = pl_arena_array(c->a, stretch, c->lives.n + 1);
    if (!order || !c->s || !pl_arena_ok(c->a))
        return false;
    for (uint32_t v = 0; v < c->n; v++)
        c->v[v].n = 0;
    for (size_t k = 0; k < c->lives.n; k++)
        c->v[c->lives.at[k].value].n++;
    for (uint32_t v = 0, at = 0; v < c->n; v++) {
        c->v[v].first = at;
        at += c->v[v].n;
        c->v[v].n = 0;
    }
    for (size_t k = 0; k < c->lives.n; k++) {
        const life *l = &c->lives.at[order[k]];
        value *v = &c->v[l->value];
        stretch *last = c->s + v->first + v->n;
        if (v->n && l->s.from <= last[-1].to)
            last[-1].to = l->s.to > last[-1].to ? l->s.to : last[-1].to;
        else {
            *last = l->s;
            v->n++;
        }
    }
    for (uint32_t k = 0; k < c->n; k++) {
        const value *v = &c->v[k];
        value *group = &c->v[v->group];
        if (v->n && c->s[v->first].from < group->start)
            group->start = c->s[v->first].from;
    }
    return true;
}

static bool is_free(pl_colour *c, uint32_t row, const value *v, uint32_t now)
{
    if (row >= c->used)
        return true;
    reg *r = &c->r[row];
    while (r->done < r->s.n && r->s.at[r->done].to <= now)
        r->done++;
    if (r->done == r->s.n)
        return true;
    if (r->s.at[r->done].from <= now)
        c->until[row] = r->s.at[r->done].to;
    const stretch *t = r->s.at + r->done, *end = r->s.at + r->s.n, *s = c->s + v->first, *last = s + v->n;
    while (t < end && s < last) {
        if (t->to <= s->from)
            t++;
        else if (s->to <= t->from)
            s++;
        else
            return false;
    }
    return true;
}

static void take(pl_colour *c, uint32_t row, const value *v)
{
    if (row >= c->room && !make_room(c, 2 * row))
        return;
    reg *r = &c->r[row];
    c->used = row >= c->used ? row + 1 : c->used;
    for (uint32_t k = 0; k < v->n; k++) {
        stretch add = c->s[v->first + k];
        *pl_push(c->a, &r->s) = add;
        if (!pl_arena_ok(c->a))
            return;
        size_t at = r->s.n - 1;
        for (; at > r->done && r->s.at[at - 1].from > add.from; at--)
            r->s.at[at] = r->s.at[at - 1];
        r->s.at[at] = add;
    }
}

static bool fits(pl_colour *c, uint32_t base, uint32_t group)
{
    for (uint32_t m = group; m != NONE; m = c->v[m].next)
        for (uint32_t k = 0; k < c->v[m].rows; k++) {
            uint32_t row = base + c->v[m].offset + k;
            if (row == STACK || !is_free(c, row, &c->v[m], c->v[group].start))
                return false;
        }
    return true;
}

typedef struct start {
    uint32_t at, group, rows;
    uint32_t length; /* of its stretches together */
} start;

/* Orders in which values take their registers. */
enum { FIRST_BORN /* wide ones first */, FIRST_COME, LONGEST };

static uint64_t place_in(const start *s, int by)
{
    const uint32_t narrow = 4 - s->rows;
    return by == FIRST_BORN ? (uint64_t)narrow << 32 | s->at : by == FIRST_COME ? (uint64_t)s->at << 3 | narrow : UINT32_MAX - s->length;
}

/* What is equal stays in its order. `key` is for 2 n, `copy` for n. */
static void put_in_order(start *order, uint32_t n, int by, pl_key *key, start *copy)
{
    for (uint32_t k = 0; k < n; k++)
        key[k] = (pl_key){place_in(&order[k], by), k};
    pl_sort_keys(key, n, key + n);
    memcpy(copy, order, n * sizeof *order);
    for (uint32_t k = 0; k < n; k++)
        order[k] = copy[key[k].what];
}

/* How many of the values read together with v are in each bank. */
static void crowds(const pl_colour *c, const value *v, uint32_t *n)
{
    for (uint32_t k = 0; k < BANKS; k++)
        n[k] = 0;
    for (uint32_t k = v->apart; k; k = c->aparts.at[k - 1].next) {
        uint32_t at = c->v[c->aparts.at[k - 1].value].at;
        if (at != NONE)
            n[at % BANKS]++;
    }
}

/* The next value begins to live before the one in front of it. */
static void begin_again(pl_colour *c)
{
    for (uint32_t r = 0; r < c->used; r++)
        c->r[r].done = c->until[r] = 0;
}

/* Takes registers in this order; values of one register spread over the first `spread` to be apart from what is read with them. Ends as soon as
 * it takes more than `enough`. */
static uint32_t colour(pl_colour *c, const start *order, uint32_t n, uint32_t spread, uint32_t enough)
{
    uint32_t most = STACK + 1;
    for (uint32_t r = 0; r < c->used; r++)
        c->r[r].s.n = 0;
    begin_again(c);
    for (uint32_t k = 0; k < c->n; k++)
        c->v[k].at = NONE;
    for (uint32_t k = 0; k < n && most <= enough; k++) {
        uint32_t group = order[k].group, rows = 0, step = 1, base = 0, best = NONE, fewest = NONE;
        if (k && order[k].at < order[k - 1].at)
            begin_again(c);
        for (uint32_t m = group; m != NONE; m = c->v[m].next)
            rows += c->v[m].rows;
        while (step < rows && step < 4)
            step *= 2;
        uint32_t from = c->v[group].n ? c->s[c->v[group].first].from : NONE;
        while (base + rows < MOST && ((base < c->used && c->until[base] > from) || !fits(c, base, group)))
            base += step;
        uint32_t near[BANKS];
        if (rows == 1 && base < spread)
            crowds(c, &c->v[group], near);
        for (uint32_t row = base; rows == 1 && row < spread && fewest; row++)
            if (near[row % BANKS] < fewest && (row == base || fits(c, row, group))) {
                best = row;
                fewest = near[row % BANKS];
            }
        base = best != NONE ? best : base;
        for (uint32_t m = group; m != NONE; m = c->v[m].next) {
            c->v[m].at = base + c->v[m].offset;
            for (uint32_t r = 0; r < c->v[m].rows; r++)
                take(c, base + c->v[m].offset + r, &c->v[m]);
        }
        if (!pl_arena_ok(c->a))
            return 0;
        most = base + rows > most ? base + rows : most;
    }
    return most;
}

/* Where a few registers make the difference between two units: values that came out highest choose earlier, again and again. */
static uint32_t press(pl_colour *c, start *order, uint32_t n, uint32_t most)
{
    uint32_t best = most, step = (most - OVER) / UNIT * UNIT + OVER;
    if (most - step > NEAR)
        return most;
    for (unsigned round = 0; round < ROUNDS && best > step; round++) {
        uint32_t first = 0;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t m = order[k].group;
            while (c->v[m].next != NONE)
                m = c->v[m].next;
            if (c->v[m].at + c->v[m].rows <= step)
                continue;
            const start high = order[k];
            memmove(order + first + 1, order + first, (k - first) * sizeof *order);
            order[first++] = high;
        }
        most = colour(c, order, n, 0, MOST);
        best = most < best ? most : best;
    }
    return best;
}

/* No order comes to fewer: registers that hold something at one moment, and the stack pointer. 0: out of memory. */
static uint32_t fewest(const pl_colour *c)
{
    uint32_t last = 0, n = 0, most = 0;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->v[k].n && c->s[c->v[k].first + c->v[k].n - 1].to > last)
            last = c->s[c->v[k].first + c->v[k].n - 1].to;
    uint32_t *change = pl_arena_array(c->a, uint32_t, (size_t)last + 1);
    if (!change || !pl_arena_ok(c->a))
        return 0;
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t t = 0; t < c->v[k].n; t++) {
            change[c->s[c->v[k].first + t].from] += c->v[k].rows;
            change[c->s[c->v[k].first + t].to] -= c->v[k].rows;
        }
    for (uint32_t at = 0; at < last; at++) {
        n += change[at];
        most = n > most ? n : most;
    }
    return most + 1;
}

/* Values in the order in which they begin to live, wide ones first; returns how many. */
static uint32_t list_starts(const pl_colour *c, start *order, pl_key *key, start *copy)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->v[k].group == k && c->v[k].start != NONE) {
            uint32_t rows = 0, length = 0;
            for (uint32_t m = k; m != NONE; m = c->v[m].next) {
                rows += c->v[m].rows;
                for (uint32_t t = 0; t < c->v[m].n; t++)
                    length += c->s[c->v[m].first + t].to - c->s[c->v[m].first + t].from;
            }
            order[n++] = (start){c->v[k].start, k, rows > 4 ? 4 : rows, length};
        }
    put_in_order(order, n, FIRST_BORN, key, copy);
    return n;
}

/* With registers kept for those who have still to read them; 0: out of memory. */
static uint32_t with_tails(pl_colour *c, start *order, pl_key *key, start *copy)
{
    size_t lives = c->lives.n;
    for (size_t k = 0; k < c->tails.n; k++)
        *pl_push(c->a, &c->lives) = c->tails.at[k];
    if (!pl_arena_ok(c->a) || !gather(c))
        return 0;
    uint32_t n = list_starts(c, order, key, copy);
    c->lives.n = lives;
    return colour(c, order, n, SPREAD, SPREAD);
}

/* The fewest that several orders come to: where registers abound, the first will do, and readers in queues are heeded. */
uint32_t pl_colour_count(pl_colour *c, bool thorough)
{
    start *order = pl_arena_array(c->a, start, c->n + 1), *copy = pl_arena_array(c->a, start, c->n + 1);
    pl_key *key = pl_arena_array(c->a, pl_key, 2 * (size_t)c->n + 1);
    if (!order || !copy || !key)
        return 0;
    bool tails = thorough && c->tails.n;
    if (tails) {
        uint32_t most = with_tails(c, order, key, copy);
        if (most <= SPREAD)
            return most;
    }
    if (!gather(c))
        return 0;
    uint32_t n = list_starts(c, order, key, copy), most = colour(c, order, n, SPREAD, MOST);
    if (most <= SPREAD)
        return tails ? SPREAD : most;
    const uint32_t least = fewest(c), enough = least > SPREAD ? least : SPREAD;
    for (int by = FIRST_BORN; by <= (thorough ? LONGEST : FIRST_BORN) && most > enough && (by < LONGEST || n < MOST_SORTED); by++) {
        if (by == LONGEST)
            put_in_order(order, n, FIRST_BORN, key, copy);
        if (by != FIRST_BORN)
            put_in_order(order, n, by, key, copy);
        uint32_t other = colour(c, order, n, 0, MOST);
        most = other < most ? other : most;
    }
    return thorough && most > enough && n < MOST_SORTED ? press(c, order, n, most) : most;
}
