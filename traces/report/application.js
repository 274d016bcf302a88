// application.js - the panel about a CUDA program as a whole: ranges, calls and streams on a common
// time axis, and the most expensive activities.

// The text, or its beginning where the canvas has less space; nothing if that is too short to read.
function fitted(d, text, width) {
    if (d.measureText(text).width <= width) return text;
    const n = Math.floor(text.length * width / d.measureText(text).width);
    for (let k = n; k >= 3; k--) if (d.measureText(`${text.slice(0, k)}…`).width <= width) return `${text.slice(0, k)}…`;
    return '';
}

const KIND = {copy: '--blue', set: '--dim', 'host function': '--orange', call: '--dim', range: '--accent'};

// A row of the diagram: a label and its bars, sorted by start time.
function applicationRows() {
    const rows = new Map(), columns = t => Object.fromEntries(t.columns.map((c, i) => [c, i]));
    const add = (order, label, bar) => {
        if (![bar.start, bar.us].every(Number.isFinite)) return; // a damaged trace
        if (!rows.has(label)) rows.set(label, {order, label, bars: []});
        rows.get(label).bars.push(bar);
    };
    const a = DATA.application, g = columns(a.gpu_trace), c = columns(a.api_trace), n = columns(a.ranges);
    for (const r of a.ranges.rows) add(`0 ${r[n.thread]} ${r[n.depth]}`, `NVTX ranges, thread ${r[n.thread]}${r[n.depth] ? `, level ${r[n.depth] + 1}` : ''}`,
        {start: r[n.start_us], us: r[n.us], kind: 'range', name: r[n.name], more: []});
    for (const r of a.api_trace.rows) add(`1 ${r[c.thread]}`, `API calls, thread ${r[c.thread]}`,
        {start: r[c.start_us], us: r[c.us], kind: 'call', name: r[c.name], more: r[c.error] ? [`returned ${r[c.error]}`] : []});
    for (const r of a.gpu_trace.rows) add(`2 ${String(r[g.device]).padStart(3, '0')} ${String(r[g.stream]).padStart(9, '0')}`,
        `${r[g.stream] ? `stream ${r[g.stream]}` : 'default stream'}${r[g.device] ? `, device ${r[g.device]}` : ''}`,
        {start: r[g.start_us], us: r[g.us], kind: r[g.kind], name: r[g.kind] === 'copy' ? `copy ${r[g.name]}` : r[g.name], launch: r[g.kernel], estimated: r[g.estimated], more: [
            r[g.grid] && `grid ${r[g.grid]}, block ${r[g.block]}`, Number.isFinite(r[g.bytes]) && `${bytes(r[g.bytes])}${Number.isFinite(r[g['GB/s']]) ? `, ${format(r[g['GB/s']])} GB/s` : ''}`,
            r[g.source] && r[g.destination] && `from ${r[g.source]} to ${r[g.destination]} memory`, r[g.graph] && `graph launch ${r[g.graph]}`, r[g.estimated] && `estimated: executed without the timing model${Number.isFinite(r[g.spread_us]) ? `; the timed launches like it differ by ${format(r[g.spread_us])} µs (standard deviation)` : ''}`]});
    const list = [...rows.values()].sort((x, y) => x.order < y.order ? -1 : x.order > y.order ? 1 : 0);
    for (const r of list) r.bars.sort((x, y) => x.start - y.start);
    return list;
}

class ApplicationView {
    constructor(body) {
        this.rows = applicationRows();
        this.last = Math.max(1e-3, ...this.rows.flatMap(r => r.bars.reduce((m, b) => Math.max(m, b.start + b.us), 0)));
        this.first = Math.min(this.last, ...this.rows.filter(r => r.label.includes('stream')).map(r => r.bars[0].start)); // skips the allocations before it
        this.canvas = $('canvas', body);
        this.note = $('.detail', body);
        this.height = 24;
        this.reset();
        const c = this.canvas;
        c.tabIndex = 0;
        c.setAttribute('role', 'img');
        c.setAttribute('aria-label', `${counted(this.rows.length, 'row')} over ${format(this.last)} microseconds: ${this.rows.map(r => r.label).join(', ')}`);
        c.onpointerdown = e => { this.drag = {x: e.offsetX, from: this.from, moved: false}; c.setPointerCapture(e.pointerId); };
        c.onpointerup = e => { if (this.drag && !this.drag.moved) this.open(this.at(e.offsetX, e.offsetY)); this.drag = null; };
        c.onpointermove = e => {
            if (this.drag) {
                this.drag.moved ||= Math.abs(e.offsetX - this.drag.x) > 3;
                this.move(this.drag.from - (e.offsetX - this.drag.x) / this.scale() - this.from);
            } else {
                this.showDetail(this.at(e.offsetX, e.offsetY));
            }
        };
        c.onwheel = e => { if (e.ctrlKey || e.shiftKey) { this.zoom(e.deltaY > 0 ? 1.25 : 0.8, e.offsetX); e.preventDefault(); } };
        c.onkeydown = e => {
            const act = {ArrowLeft: () => this.move(-(this.to - this.from) / 8), ArrowRight: () => this.move((this.to - this.from) / 8), '+': () => this.zoom(0.5), '-': () => this.zoom(2), 0: () => { this.reset(); this.draw(); }}[e.key];
            if (!act || e.ctrlKey || e.altKey || e.metaKey) return;
            act();
            e.preventDefault();
        };
        for (const b of $$('[data-zoom]', body)) b.onclick = () => +b.dataset.zoom ? this.zoom(+b.dataset.zoom) : (this.reset(), this.draw());
        this.draw();
    }
    reset() { const pad = (this.last - this.first) / 50; this.from = Math.max(0, this.first - pad); this.to = this.last + pad; }
    scale() { return Math.max(1, this.canvas.clientWidth - this.label) / (this.to - this.from); }
    move(by) { this.from += by; this.to += by; this.draw(); }
    zoom(f, x) {
        const at = x === undefined ? (this.from + this.to) / 2 : this.from + (x - this.label) / this.scale(), span = Math.max(1e-3, Math.min(4 * this.last, (this.to - this.from) * f)), part = (at - this.from) / (this.to - this.from);
        this.from = at - span * part;
        this.to = this.from + span;
        this.draw();
    }
    colour(b) {
        if (KIND[b.kind]) return css(b.kind === 'copy' && b.name.endsWith('DtoH') ? '--green' : KIND[b.kind]);
        let h = 7;
        for (const ch of b.name) h = (h * 31 + ch.charCodeAt(0)) % 360;
        return `hsl(${h} 55% ${isDark() ? 62 : 42}%)`;
    }
    at(x, y) {
        const row = this.rows[Math.floor((y - 22) / this.height)], us = this.from + (x - this.label) / this.scale(), near = 2 / this.scale();
        return x < this.label || !row ? null : row.bars.findLast(b => b.start - near <= us && us <= b.start + b.us + near) ?? null;
    }
    showDetail(b) {
        this.note.innerHTML = b ? `<p><b>${esc(b.name)}</b> start ${format(b.start)} µs, duration ${format(b.us)} µs</p>${b.more.filter(Boolean).map(m => `<p>${esc(m)}</p>`).join('')}` : '<p class="dim">Hover over a bar for details. Click a kernel to open its launch.</p>';
        this.canvas.style.cursor = b && this.place(b) >= 0 ? 'pointer' : 'grab';
    }
    place(b) { return b.launch ? DATA.launches.findIndex(l => l.id === b.launch) : -1; }
    open(b) {
        const k = b ? this.place(b) : -1;
        if (k < 0) return;
        const select = $('#launch');
        if (select) select.value = k;
        show(k);
        $('#panel-overview').scrollIntoView();
    }
    draw() {
        this.label = this.canvas.clientWidth < 500 ? 110 : 170;
        const c = this.canvas, ratio = devicePixelRatio || 1, w = c.clientWidth, h = 24 + this.rows.length * this.height, d = c.getContext('2d'), s = this.scale();
        c.style.height = `${h}px`;
        c.width = w * ratio;
        c.height = h * ratio;
        d.scale(ratio, ratio);
        d.font = '12px system-ui, sans-serif';
        const least = 70 / s, power = 10 ** Math.floor(Math.log10(least)), step = power * ([1, 2, 5].find(m => m * power >= least) ?? 10); // labels are at least 70 pixels apart
        d.fillStyle = css('--dim');
        for (let t = Math.ceil(this.from / step) * step; t < this.to; t += step) {
            const x = this.label + (t - this.from) * s;
            d.fillRect(x, 16, 1, h - 16);
            d.fillText(t >= 1e4 ? `${format(t / 1e3)} ms` : `${format(t)} µs`, x + 3, 12);
        }
        this.rows.forEach((r, i) => {
            const y = 22 + i * this.height;
            d.save();
            d.beginPath();
            d.rect(this.label, y, w - this.label, this.height);
            d.clip();
            let until = -1; // bars thinner than a pixel are drawn once
            for (const b of r.bars) {
                const x = this.label + (b.start - this.from) * s, width = Math.max(1, b.us * s);
                if (x > w || x + width < this.label || (width <= 1 && Math.floor(x) === until)) continue;
                until = Math.floor(x);
                d.globalAlpha = b.estimated ? 0.55 : 1;
                d.fillStyle = this.colour(b);
                d.fillRect(x, y + 3, width, this.height - 6);
                d.globalAlpha = 1;
                if (width > 40) {
                    d.fillStyle = css('--page');
                    const left = Math.max(x, this.label);
                    d.fillText(fitted(d, b.name, Math.min(x + width, w) - left - 8), left + 4, y + this.height / 2 + 4);
                }
            }
            d.restore();
            d.fillStyle = css('--ink');
            d.fillText(fitted(d, r.label, this.label - 6), 0, y + this.height / 2 + 4);
        });
    }
}

const application = {view: null};
panel({
    id: 'application', title: 'Application', query: 'gpu_trace', about: 'Timeline of the program: NVTX ranges, API calls and the activities of each stream. Paler kernels have estimated durations.',
    isAvailable: () => Boolean(DATA.application), needs: 'a trace from ptxloom exec',
    draw(body) {
        const a = DATA.application, sum = (t, caption) => {
            const at = Object.fromEntries(t.columns.map((c, i) => [c, i])), cellOf = k => r => format(r[at[k]]);
            return grid(t.rows.slice(0, 60), [['time %', cellOf('time %'), 'r'], ['µs', cellOf('us'), 'r'], ['calls', cellOf('calls'), 'r'], ['avg', cellOf('average'), 'r'], ['min', cellOf('least'), 'r'], ['max', cellOf('most'), 'r'], ['name', r => `<code>${esc(r[at.name])}</code>${r[at.estimated] ? ` <span class="dim">${format(r[at.estimated])} estimated${Number.isFinite(r[at.spread_us]) ? `, ± ${format(r[at.spread_us])} µs` : ''}</span>` : ''}`]], caption);
        };
        body.innerHTML = `<div class="tools"><button data-zoom="0.5" aria-label="zoom in">+</button><button data-zoom="2" aria-label="zoom out">−</button><button data-zoom="0">all</button><span class="note">drag to pan; Shift + wheel, or + and −, to zoom${a.cut ? '; the trace has more rows than shown' : ''}</span></div>
            <canvas id="application"></canvas><div class="detail"></div>
            <h3>Kernels and memory operations</h3>${sum(a.gpu_summary, 'by GPU time')}<h3>API calls</h3>${sum(a.api_summary, 'by host time')}`;
        application.view = new ApplicationView(body);
        application.view.showDetail(null);
    },
    resize() { application.view?.draw(); },
});
