// timeline.js - the launch over time: from windows of all multiprocessors down to single issue slots of one warp.
//
// Rows are multiprocessors; an expanded one shows its warp slots below. The drawing of a row
// depends on the time span of a pixel:
// precomputed window sums, the state of a warp at the pixel's cycle, or single cycles with the
// instruction as text.

// Unpacks "timeline" of the data (traces/report/timeline.c).
function readTimeline(t, reasons) {
    const n = t.sms * t.windows, time = {
        width: t.width, windows: t.windows, sms: t.sms, rows: t.rows, warpsTotal: t.warps_total, until: t.slots.until, kept: t.slots.rows,
        issues: new Reader(t.issues).sparse(n), main: new Reader(t.main).sparse(n), mix: new Reader(t.mix).sparse(t.reasons * t.windows),
        warps: [], bySm: [], detailed: new Set(t.slots.sms),
    };
    const r = new Reader(t.lives);
    for (let i = 0, sm = 0, block = 0, first = 0; i < t.warps; i++) {
        const step = r.number();
        if (step) first = 0;
        sm += step;
        first += r.number();
        block += r.signed();
        const w = {sm, first, block, warp: r.number(), subcore: r.number()};
        w.last = first + r.number();
        w.executed = r.number();
        w.lanes = r.number();
        time.warps.push(w);
        (time.bySm[sm] = time.bySm[sm] || []).push(w);
    }
    const s = new Reader(t.slots.data), latency = new Map();
    while (!s.done) {
        const w = time.warps[s.number()], count = s.number();
        const cycle = new Float64Array(count), pc = new Uint32Array(count), stall = new Uint8Array(count), wait = new Uint32Array(count);
        const wide = L.facts.lanes > 32, mask = new Uint32Array(count), upper = new Uint32Array(wide ? count : 0), lat = new Uint32Array(count);
        for (let i = 0, c = w.first, p = -1, m = 0xffffffff, u = 0; i < count; i++) {
            const head = s.byte();
            c += s.number();
            wait[i] = s.number();
            p = p + 1 + (head & 0x20 ? 0 : s.signed());
            if (!(head & 0x40)) m = s.number();
            if (!(head & 0x40) && wide) u = s.number();
            if (!(head & 0x80)) latency.set(p, s.number());
            cycle[i] = c;
            pc[i] = p;
            stall[i] = head & 0x1f;
            mask[i] = m;
            if (wide) upper[i] = u;
            lat[i] = latency.get(p) || 0;
        }
        w.slots = {count, cycle, pc, stall, wait, mask, upper, latency: lat};
    }
    for (const list of time.bySm) if (list) assignSlots(list);
    return time;
}

// Assigns a row to every warp of a multiprocessor: the lowest one of its sub-core that is free when
// it starts.
function assignSlots(list) {
    const free = [], rows = [];
    for (const w of list) {
        const f = free[w.subcore] = free[w.subcore] || [];
        let k = f.findIndex(until => until < w.first);
        if (k < 0) k = f.length;
        f[k] = w.last;
        w.slot = k;
    }
    const bySlot = new Map();
    for (const w of list) {
        const key = `${w.subcore} ${w.slot}`, row = bySlot.get(key) || {subcore: w.subcore, slot: w.slot, warps: []};
        if (!row.warps.length) rows.push(row);
        bySlot.set(key, row);
        row.warps.push(w);
    }
    rows.sort((a, b) => a.subcore - b.subcore || a.slot - b.slot);
    list.rows = rows;
}

// First index of a sorted array whose value is at least v.
function lowerBound(a, v) {
    let lo = 0, hi = a.length;
    while (lo < hi) {
        const m = (lo + hi) >> 1;
        if (a[m] < v) lo = m + 1;
        else hi = m;
    }
    return lo;
}

class Timeline {
    constructor(body) {
        this.t = L.time;
        this.body = body;
        this.label = 120;
        this.x0 = 0;
        this.x1 = Math.max(1, L.facts.span);
        this.top = 0;
        this.row = 0;
        this.cursor = null;
        this.used = this.t.bySm.map((x, i) => x ? i : -1).filter(i => i >= 0);
        this.open = new Set(this.used.filter(sm => this.t.detailed.has(sm)).slice(0, 1));
        body.innerHTML = `<div class="tools"><button data-do="all">whole launch <kbd>0</kbd></button><button data-do="in">zoom in <kbd>+</kbd></button>
            <button data-do="out">zoom out <kbd>−</kbd></button><button data-do="open">expand / collapse row <kbd>Enter</kbd></button>
            <button data-do="slots">issue slots <kbd>i</kbd></button><span id="scale" class="note" aria-live="polite"></span></div>
            <canvas id="strip" height="70"></canvas>
            <canvas id="rows" height="430" tabindex="0" role="application" aria-label="Warp timeline. Arrow keys pan, plus and minus zoom, Enter expands a multiprocessor, comma and full stop step through issues."></canvas>
            <div id="issue" class="detail" aria-live="polite">Hover over the timeline, or focus it and use the arrow keys; <kbd>,</kbd> and <kbd>.</kbd> step through the issues of a warp.</div>
            <div class="legend">${L.reasons.filter(r => L.stalls.some(s => s.id === r.id)).map(r =>
                `<span data-tip="${esc(r.meaning)}"><i class="dot" style="background:${REASON[r.name]}"></i>${esc(r.name)}</span>`).join('')}
                <span><i class="dot" style="background:${REASON.selected}"></i>issues</span></div>
            <p class="note">${num(this.t.rows, {c: 'rows of inst', about: 'SELECT count(*) FROM inst WHERE kernel = ' + L.id}, format(this.t.rows))} executed instructions; ${
            format(this.t.kept)} of them are included as single issues${this.t.detailed.size < this.used.length || this.t.until !== null
                ? ` (multiprocessor ${[...this.t.detailed].slice(0, 8).join(', ')}${this.t.detailed.size > 8 ? ' …' : ''}${this.t.until !== null ? `, up to cycle ${format(this.t.until)}` : ''}): <code>ptxloom report ${esc(DATA.file)} --issue-slots N</code> includes more` : ''}.</p>`;
        this.strip = $('#strip', body);
        this.canvas = $('#rows', body);
        this.info = $('#issue', body);
        this.addListeners();
        this.resize();
    }

    // ---- layout ----

    layout() {
        const rows = [];
        for (const sm of this.used) {
            rows.push({sm, h: 20});
            if (this.open.has(sm)) for (const r of this.t.bySm[sm].rows) rows.push({sm, slot: r, h: 18});
        }
        let y = 0;
        for (const r of rows) {
            r.y = y;
            y += r.h;
        }
        this.total = y;
        return this.lines = rows;
    }

    resize() {
        const w = Math.max(320, this.body.clientWidth - 2), d = devicePixelRatio || 1;
        for (const c of [this.strip, this.canvas]) {
            const h = c === this.strip ? 70 : 430;
            c.style.height = h + 'px';
            c.width = w * d;
            c.height = h * d;
            c.style.width = w + 'px';
            c.getContext('2d').setTransform(d, 0, 0, d, 0, 0);
        }
        this.w = w;
        this.layout();
        this.draw();
    }

    x(cycle) { return this.label + (cycle - this.x0) / (this.x1 - this.x0) * (this.w - this.label); }
    cycle(x) { return this.x0 + (x - this.label) / (this.w - this.label) * (this.x1 - this.x0); }

    view(x0, x1) {
        const all = Math.max(1, L.facts.span), span = Math.max(12, Math.min(all, x1 - x0));
        this.x0 = Math.max(0, Math.min(all - span, x0));
        this.x1 = this.x0 + span;
        this.draw();
    }

    zoom(factor, at) {
        const c = at ?? (this.cursor ? this.cursor.cycle : (this.x0 + this.x1) / 2);
        this.view(c - (c - this.x0) * factor, c + (this.x1 - c) * factor);
    }

    // ---- drawing ----

    draw() {
        this.colour = {ink: css('--ink'), dim: css('--dim'), line: css('--line'), card: css('--card'), sunk: css('--sunk'), accent: css('--accent')};
        this.drawStrip();
        this.drawRows();
        const per = (this.x1 - this.x0) / (this.w - this.label);
        const level = per > this.t.width / 2 ? 'whole launch' : per > 2 ? 'warps' : per > 0.2 ? 'issues' : 'issue slots';
        $('#scale', this.body).textContent = `${level}: cycles ${format(Math.round(this.x0))} to ${format(Math.round(this.x1))}, ${
            per >= 1 ? format(per, 1) + ' cycles per pixel' : format(1 / per, 1) + ' pixels per cycle'}`;
    }

    // The whole launch: stall reasons of warps, and instructions issued.
    drawStrip() {
        const g = this.strip.getContext('2d'), t = this.t, w = this.w - this.label, h = 56;
        g.clearRect(0, 0, this.w, 70);
        const X = i => this.label + i * t.width / L.facts.span * w, sums = new Float64Array(t.windows);
        for (let r = 1; r * t.windows < t.mix.length; r++) for (let i = 0; i < t.windows; i++) sums[i] += t.mix[r * t.windows + i];
        const most = Math.max(1, ...sums), order = L.stalls.map(s => s.id);
        for (let i = 0; i < t.windows; i++) {
            let y = h;
            for (const r of order) {
                const v = t.mix[r * t.windows + i] / most * (h - 6);
                if (!v) continue;
                g.fillStyle = REASON[L.reason[r]];
                g.fillRect(X(i), y - v, X(i + 1) - X(i) + 0.5, v);
                y -= v;
            }
        }
        const issues = new Float64Array(t.windows);
        for (let s = 0; s < t.sms; s++) for (let i = 0; i < t.windows; i++) issues[i] += t.issues[s * t.windows + i];
        const top = Math.max(1, ...issues);
        g.strokeStyle = this.colour.ink;
        g.lineWidth = 1.3;
        g.beginPath();
        issues.forEach((v, i) => g[i ? 'lineTo' : 'moveTo'](X(i + 0.5), h - v / top * (h - 6)));
        g.stroke();
        g.fillStyle = this.colour.dim;
        g.font = '11px system-ui';
        g.fillText('stalled warps', 4, 20);
        g.fillText('— issues', 4, 36);
        const a = this.label + this.x0 / L.facts.span * w, b = this.label + this.x1 / L.facts.span * w;
        g.fillStyle = 'rgba(128,128,128,.28)';
        g.fillRect(this.label, 0, a - this.label, h);
        g.fillRect(b, 0, this.w - b, h);
        g.strokeStyle = this.colour.accent;
        g.strokeRect(a, 0.5, Math.max(2, b - a), h);
        g.fillStyle = this.colour.dim;
        for (let i = 0; i <= 8; i++) {
            g.textAlign = i === 8 ? 'right' : i ? 'center' : 'left';
            g.fillText(format(Math.round(L.facts.span * i / 8)), this.label + w * i / 8, 68);
        }
        g.textAlign = 'left';
    }

    drawRows() {
        const g = this.canvas.getContext('2d'), H = 430, w = this.w;
        g.clearRect(0, 0, w, H);
        g.font = '11px system-ui';
        this.ruler(g, H);
        for (let i = 0; i < this.lines.length; i++) {
            const r = this.lines[i], y = r.y - this.top;
            if (y + r.h < 0 || y > H - 18) continue;
            if (i === this.row && document.activeElement === this.canvas) {
                g.fillStyle = this.colour.sunk;
                g.fillRect(0, y, w, r.h);
            }
            g.fillStyle = r.slot ? this.colour.dim : this.colour.ink;
            g.fillText(r.slot ? `   ${r.slot.subcore} · ${r.slot.slot}` : `${this.open.has(r.sm) ? '▾' : '▸'} SM ${r.sm}${this.t.detailed.has(r.sm) ? '' : ' ·'}`, 6, y + 14);
            g.save();
            g.beginPath();
            g.rect(this.label, Math.max(0, y), w - this.label, Math.min(r.h, H - 18 - y));
            g.clip();
            if (r.slot) this.drawSlot(g, r, y);
            else this.drawSm(g, r, y);
            g.restore();
        }
        g.fillStyle = this.colour.card;
        g.fillRect(0, H - 17, w, 17);
        this.axis(g, H);
        if (this.total > H - 18) {
            const h = (H - 18) * (H - 18) / this.total;
            g.fillStyle = this.colour.line;
            g.fillRect(w - 5, this.top / this.total * (H - 18), 4, Math.max(12, h));
        }
    }

    step() {
        const rough = (this.x1 - this.x0) / 8, p = 10 ** Math.floor(Math.log10(rough));
        return Math.max(1, [1, 2, 5, 10].map(k => k * p).find(v => v >= rough));
    }

    ruler(g, H) {
        const step = this.step();
        g.fillStyle = this.colour.line;
        for (let c = Math.ceil(this.x0 / step) * step; c <= this.x1; c += step) g.fillRect(this.x(c), 0, 1, H - 18);
    }

    axis(g, H) {
        const step = this.step();
        g.fillStyle = this.colour.dim;
        g.fillText('cycle', 6, H - 5);
        for (let c = Math.ceil(this.x0 / step) * step; c <= this.x1; c += step) g.fillText(format(c), this.x(c) + 3, H - 5);
    }

    // A multiprocessor: utilisation of its schedulers (height) and the main stall reason of its
    // warps (colour).
    drawSm(g, r, y) {
        const t = this.t, first = Math.max(0, Math.floor(this.x0 / t.width)), last = Math.min(t.windows - 1, Math.floor(this.x1 / t.width));
        for (let i = first; i <= last; i++) {
            const at = r.sm * t.windows + i, x = this.x(i * t.width), w = this.x((i + 1) * t.width) - x + 0.4;
            if (t.main[at]) {
                g.fillStyle = REASON[L.reason[t.main[at]]];
                g.globalAlpha = 0.35;
                g.fillRect(x, y + 2, w, r.h - 4);
                g.globalAlpha = 1;
            }
            const busy = t.issues[at] / (t.width * L.facts.subcores);
            if (busy) {
                g.fillStyle = REASON.selected;
                const h = Math.max(1, Math.min(1, busy) * (r.h - 4));
                g.fillRect(x, y + r.h - 2 - h, w, h);
            }
        }
    }

    drawSlot(g, r, y) {
        const per = (this.x1 - this.x0) / (this.w - this.label);
        for (const w of r.slot.warps) {
            if (w.last < this.x0 || w.first > this.x1) continue;
            const a = Math.max(this.label, this.x(w.first)), b = Math.min(this.w, this.x(w.last + 1));
            if (!w.slots) {
                g.fillStyle = w.block % 2 ? '#8fa3b8' : '#b3c0cd';
                g.fillRect(a, y + 4, Math.max(1, b - a), r.h - 8);
            } else if (per > 0.5) {
                this.sampled(g, w.slots, a, b, y, r.h);
            } else {
                this.single(g, w.slots, y, r.h, 1 / per);
            }
            if (b - a > 70 && per > 0.5) {
                const text = `block ${w.block} warp ${w.warp}`;
                g.globalAlpha = 0.82;
                g.fillStyle = this.colour.card;
                g.fillRect(a + 2, y + 3, g.measureText(text).width + 8, r.h - 6);
                g.globalAlpha = 1;
                g.fillStyle = this.colour.ink;
                g.fillText(text, a + 6, y + 13);
            }
        }
    }

    // A pixel covers several cycles: the colour of the warp's longest stall, and from below the
    // share of cycles in which it issued.
    sampled(g, s, a, b, y, h) {
        let i = lowerBound(s.cycle, this.cycle(a));
        for (let x = a; x < b; x++) {
            const from = this.cycle(x), to = this.cycle(x + 1), first = i;
            let wait = 0, reason = 0;
            while (i < s.count && s.cycle[i] < to) i++;
            for (let k = first; k <= i && k < s.count; k++) {
                const w = Math.min(s.cycle[k], to) - Math.max(s.cycle[k] - s.wait[k], from);
                if (w > wait) [wait, reason] = [w, s.stall[k]];
            }
            if (reason) {
                g.fillStyle = REASON[L.reason[reason]];
                g.fillRect(x, y + 2, 1.2, h - 4);
            }
            const busy = Math.min(1, (i - first) / (to - from)) * (h - 4);
            if (busy > 0) {
                g.fillStyle = REASON.selected;
                g.fillRect(x, y + h - 2 - busy, 1.2, busy);
            }
        }
    }

    // Single cycles, with the instruction as text if there is space.
    single(g, s, y, h, pixels) {
        for (let i = Math.max(0, lowerBound(s.cycle, this.x0) - 1); i < s.count && s.cycle[i] - s.wait[i] <= this.x1; i++) {
            const x = this.x(s.cycle[i]);
            if (s.wait[i]) {
                g.fillStyle = REASON[L.reason[s.stall[i]]];
                g.globalAlpha = 0.55;
                g.fillRect(this.x(s.cycle[i] - s.wait[i]), y + 4, s.wait[i] * pixels - 0.5, h - 8);
                g.globalAlpha = 1;
            }
            g.fillStyle = REASON.selected;
            g.fillRect(x, y + 1, Math.max(1.5, pixels - 1), h - 2);
            if (this.cursor && this.cursor.slots === s && this.cursor.i === i) {
                g.strokeStyle = this.colour.ink;
                g.lineWidth = 2;
                g.strokeRect(x, y + 1, Math.max(2, pixels - 1), h - 2);
            }
            if (pixels > 44) {
                g.save();
                g.beginPath();
                g.rect(x, y, pixels - 2, h);
                g.clip();
                g.fillStyle = '#fff';
                g.fillText(L.byPc.get(s.pc[i])?.text ?? '', x + 3, y + 13);
                g.restore();
            }
        }
    }

    // ---- hit testing ----

    hit(x, y) {
        const r = this.lines.find(q => y + this.top >= q.y && y + this.top < q.y + q.h), c = this.cycle(x);
        if (!r || x < this.label) return r ? {r} : null;
        if (!r.slot) return {r, cycle: c};
        const w = r.slot.warps.find(q => c >= q.first - 1 && c <= q.last + 1);
        if (!w || !w.slots) return {r, cycle: c, w};
        return {r, cycle: c, w, slots: w.slots, i: Math.min(w.slots.count - 1, lowerBound(w.slots.cycle, Math.floor(c)))};
    }

    describe(h) {
        if (!h) return '';
        if (!h.w) {
            const t = this.t, at = h.r.sm * t.windows + Math.floor((h.cycle || 0) / t.width);
            return `<strong>multiprocessor ${h.r.sm}</strong>, cycles ${format(Math.floor((h.cycle || 0) / t.width) * t.width)} to ${format((Math.floor((h.cycle || 0) / t.width) + 1) * t.width - 1)}: ${
                format(t.issues[at] || 0)} issues; main stall reason: ${esc(t.main[at] ? L.reason[t.main[at]] : 'none')}.`;
        }
        const head = `<strong>block ${h.w.block}, warp ${h.w.warp}</strong> on multiprocessor ${h.w.sm}, sub-core ${h.w.subcore}: cycles ${format(h.w.first)} to ${format(h.w.last)}, ${counted(h.w.executed, 'instruction')}, ${format(h.w.lanes / h.w.executed, 1)} lanes on average.`;
        if (!h.slots) return head + ' Its single issues are not included in this report.';
        const s = h.slots, i = h.i, ins = L.byPc.get(s.pc[i]);
        const lanes = Array.from({length: L.facts.lanes}, (_, k) => `<i class="${(k < 32 ? s.mask : s.upper)[i] >>> k % 32 & 1 ? 'on' : ''}"></i>`).join('');
        return `${head}<br><strong>cycle ${format(s.cycle[i])}</strong> <code>${esc(ins?.text ?? '?')}</code> ${
            s.wait[i] ? `after ${counted(s.wait[i], 'cycle')} of <i class="dot" style="background:${REASON[L.reason[s.stall[i]]]}"></i>${esc(L.reason[s.stall[i]])}` : 'without stall'}${
            s.latency[i] ? `, latency ${counted(s.latency[i], 'cycle')}` : ''}. <span class="lanes" aria-label="active lanes">${lanes}</span> line ${ins?.ptx_line ?? '–'}: <code>${esc(L.text(ins?.ptx_line).trim())}</code>`;
    }

    point(h) {
        this.cursor = h && h.cycle !== undefined ? h : null;
        this.info.innerHTML = this.describe(h) || '&nbsp;';
    }

    toggle(r) {
        if (!r) return;
        if (this.open.has(r.sm)) this.open.delete(r.sm);
        else this.open.add(r.sm);
        this.layout();
        this.scroll(0);
    }

    scroll(dy) {
        this.top = Math.max(0, Math.min(Math.max(0, this.total - 412), this.top + dy));
        this.draw();
    }

    // Zooms to single issue slots, around the cursor or the first issue of an expanded row.
    slots() {
        let c = this.cursor && this.cursor.slots ? this.cursor : null;
        if (!c) {
            const r = this.lines.find(q => q.slot && q.slot.warps[0].slots);
            if (!r) return;
            const w = r.slot.warps[0];
            c = {r, w, slots: w.slots, i: 0, cycle: w.slots.cycle[0]};
        }
        this.row = this.lines.indexOf(c.r);
        const at = c.slots.cycle[c.i];
        this.point({...c, cycle: at});
        const span = (this.w - this.label) / 90;
        this.view(at - span / 4, at + span * 3 / 4);
    }

    // Moves to the next or previous issue of the warp in the selected row.
    move(by) {
        const r = this.lines[this.row];
        if (!r || !r.slot) return;
        let c = this.cursor && this.cursor.r === r && this.cursor.slots ? this.cursor : null;
        if (!c) {
            const w = r.slot.warps.find(q => q.slots && q.last >= this.x0);
            if (!w) return;
            c = {r, w, slots: w.slots, i: Math.max(0, lowerBound(w.slots.cycle, this.x0) - (by > 0 ? 1 : 0))};
        }
        const i = Math.max(0, Math.min(c.slots.count - 1, c.i + by));
        const at = c.slots.cycle[i];
        this.point({...c, i, cycle: at});
        if (at < this.x0 || at > this.x1) this.view(at - (this.x1 - this.x0) / 2, at + (this.x1 - this.x0) / 2);
        else this.draw();
    }

    addListeners() {
        const c = this.canvas, pos = (e, el) => { const r = el.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
        let drag = null;
        c.onwheel = e => {
            const [x] = pos(e, c);
            if (e.ctrlKey || e.metaKey) this.zoom(e.deltaY > 0 ? 1.25 : 0.8, this.cycle(x));
            else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { const d = (e.deltaX || e.deltaY) / this.w * (this.x1 - this.x0); this.view(this.x0 + d, this.x1 + d); }
            else if (this.total > 412) this.scroll(e.deltaY);
            else return;
            e.preventDefault();
        };
        c.onmousedown = e => { drag = {x: pos(e, c)[0], x0: this.x0, x1: this.x1, moved: false}; };
        c.onmousemove = e => {
            const [x, y] = pos(e, c);
            if (drag) {
                const d = (drag.x - x) / (this.w - this.label) * (drag.x1 - drag.x0);
                if (Math.abs(drag.x - x) > 3) drag.moved = true;
                if (drag.moved) return this.view(drag.x0 + d, drag.x1 + d);
            }
            this.point(this.hit(x, y));
        };
        c.onmouseup = e => {
            const [x, y] = pos(e, c), h = this.hit(x, y), moved = drag && drag.moved;
            drag = null;
            if (moved || !h) return;
            this.row = this.lines.indexOf(h.r);
            if (x < this.label || !h.r.slot) this.toggle(h.r);
            else if (h.slots) { this.point(h); go(L.byPc.get(h.slots.pc[h.i])?.ptx_line, true); this.draw(); }
        };
        c.ondblclick = e => this.zoom(0.25, this.cycle(pos(e, c)[0]));
        c.onmouseleave = () => { drag = null; };
        c.onfocus = c.onblur = () => this.draw();
        let brush = null;
        const strip = x => (x - this.label) / (this.w - this.label) * L.facts.span;
        this.strip.onmousedown = e => { brush = strip(pos(e, this.strip)[0]); };
        this.strip.onmousemove = e => { if (brush !== null && Math.abs(strip(pos(e, this.strip)[0]) - brush) > L.facts.span / 400) { const to = strip(pos(e, this.strip)[0]); this.view(Math.min(brush, to), Math.max(brush, to)); } };
        this.strip.onmouseup = e => { const at = strip(pos(e, this.strip)[0]); if (brush !== null && Math.abs(at - brush) <= L.facts.span / 400) { const s = (this.x1 - this.x0) / 2; this.view(at - s, at + s); } brush = null; };
        const keys = {
            ArrowLeft: () => this.view(this.x0 - (this.x1 - this.x0) / 8, this.x1 - (this.x1 - this.x0) / 8),
            ArrowRight: () => this.view(this.x0 + (this.x1 - this.x0) / 8, this.x1 + (this.x1 - this.x0) / 8),
            ArrowUp: () => this.choose(-1), ArrowDown: () => this.choose(1), '+': () => this.zoom(0.6), '=': () => this.zoom(0.6), '-': () => this.zoom(1.6),
            0: () => this.view(0, L.facts.span), Enter: () => this.toggle(this.lines[this.row]), ',': () => this.move(-1), '.': () => this.move(1), i: () => this.slots(),
        };
        c.onkeydown = e => {
            if (!keys[e.key] || e.ctrlKey || e.altKey || e.metaKey) return;
            keys[e.key]();
            e.preventDefault();
            e.stopPropagation();
        };
        $('.tools', this.body).onclick = e => {
            const what = e.target.closest('[data-do]')?.dataset.do;
            if (what === 'all') this.view(0, L.facts.span);
            if (what === 'in') this.zoom(0.5);
            if (what === 'out') this.zoom(2);
            if (what === 'open') this.toggle(this.lines[this.row]);
            if (what === 'slots') this.slots();
        };
    }

    choose(by) {
        this.row = Math.max(0, Math.min(this.lines.length - 1, this.row + by));
        const r = this.lines[this.row];
        if (r.y < this.top) this.top = r.y;
        if (r.y + r.h > this.top + 412) this.top = r.y + r.h - 412;
        this.point({r, cycle: (this.x0 + this.x1) / 2, w: r.slot ? r.slot.warps.find(q => q.last >= this.x0) : undefined});
        this.draw();
    }
}

let timeline = null;
panel({
    id: 'timeline', title: 'Timeline', query: 'windows', about: 'Activity of multiprocessors and warps, from the whole launch down to single issue slots. Drag to pan, Ctrl + wheel (or + and −) to zoom, click a multiprocessor to show its warps, click an issue to show its line.',
    isAvailable: () => L.hasTime, needs: '--trace-level inst (timing mode)',
    draw(body) { timeline = new Timeline(body); },
    resize() { if (timeline) timeline.resize(); },
});
