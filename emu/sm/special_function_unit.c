/* special_function_unit.c - arithmetic whose results return through the queue of the exchange unit,
 * with variable latency: special functions (MUFU), conversions, shuffles, special registers. */
#include "emu/sm/units.h"

void pl_special_function_issue(pl_issue_slot *x)
{
    const pl_sm *s = x->s;
    pl_scoreboard_result(x->t, x->d, x->start + x->latency, PL_SB_SHORT);
    pl_scoreboard_read(x->t, x->d, x->start + s->m->issue.read, PL_SB_SHORT);
    pl_mio_queue_push(s, x->c, x->start);
}
