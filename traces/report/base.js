// base.js - shared by all panels: the data, numbers with their origin, tooltips, SVG, colours,
// keys.
'use strict';

const DATA = JSON.parse(document.getElementById('data').textContent);

// ---- data ----

// Columns that hold arbitrary text: it enters the page through esc() only. A value of any other
// column is a number or null;
// text in such a column of a damaged trace is dropped.
const TEXT = new Set(('name entry mode status error error_text machine module target version started command level filter title family unit ' +
    'meaning side measure about kind function text mnemonic syntax access space language component windows section key value provenance source ' +
    'rule advice evidence check of cuda finding severity help thread other_thread other_cuda').split(' '));
const cell = (column, v) => typeof v === 'string' && !TEXT.has(column) ? null : v;

// The rows of a query as objects keyed by column.
function table(t) {
    return t ? t.rows.map(r => Object.fromEntries(t.columns.map((c, i) => [c, cell(c, r[i])]))) : [];
}

// base64 with numbers of variable length (traces/report/bytes.h).
class Reader {
    constructor(text) {
        const s = atob(text || '');
        this.at = 0;
        this.bytes = new Uint8Array(s.length);
        for (let i = 0; i < s.length; i++) this.bytes[i] = s.charCodeAt(i);
    }
    get done() { return this.at >= this.bytes.length; }
    byte() { return this.bytes[this.at++]; }
    number() {
        let v = 0, scale = 1, b;
        do {
            b = this.bytes[this.at++];
            v += (b & 0x7f) * scale;
            scale *= 128;
        } while (b & 0x80);
        return v;
    }
    signed() {
        const v = this.number();
        return v % 2 ? -(v + 1) / 2 : v / 2;
    }
    sparse(n) {
        const out = new Float64Array(n);
        for (let i = 0; i < n && !this.done;) {
            const v = this.number();
            if (v) out[i++] = v;
            else i += this.number();
        }
        return out;
    }
}

// ---- numbers and text ----

const esc = s => String(s ?? '').replace(/[&<>"']/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'})[c]);

function format(v, digits) {
    if (v === null || v === undefined || Number.isNaN(v)) return '–';
    if (typeof v !== 'number') return esc(v);
    if (Number.isInteger(v) && digits === undefined) return v.toLocaleString('en-US');
    const a = Math.abs(v);
    return v.toLocaleString('en-US', {maximumFractionDigits: digits ?? (a >= 1000 ? 0 : a >= 100 ? 1 : a >= 1 ? 2 : 4)});
}

// 1 sector, 2 sectors: a number and its noun, which has a regular plural.
const counted = (n, noun) => `${format(n)} ${noun}${n === 1 ? '' : 's'}`;

// 1,234,567 -> 1.23 M: for axes and narrow cells; the tooltip shows the full number.
function short(v) {
    if (v === null || v === undefined) return '–';
    const a = Math.abs(v);
    for (const [n, u] of [[1e15, ' P'], [1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e4, ' k']])
        if (a >= n) return (v / (u === ' k' ? 1e3 : n)).toPrecision(3) + u;
    return Number.isInteger(v) ? String(v) : a >= 100 ? v.toFixed(0) : Number(v.toPrecision(3)).toString();
}

function bytes(v) {
    if (v === null || v === undefined) return '–';
    const a = Math.abs(v);
    for (const [n, u] of [[2 ** 30, ' GiB'], [2 ** 20, ' MiB'], [2 ** 10, ' KiB']])
        if (a >= n) return Number((v / n).toPrecision(3)) + u;
    return v + ' B';
}

// A number with its origin: the query and column (or the metric) that yields it.
function num(v, from, text) {
    return `<span class="num" data-q="${esc(from.q || '')}" data-c="${esc(from.c || '')}" data-m="${esc(from.m || '')}"` +
        ` data-v="${esc(v)}"${from.about ? ` data-about="${esc(from.about)}"` : ''}>${text === undefined ? format(v) : esc(text)}</span>`;
}

// The command line that runs a query for the current launch.
function command(sql) {
    const text = sql.trim().replace(/:kernel/g, L.id).replace(/"/g, '\\"').replace(/\$/g, '\\$');
    return `ptxloom query ${DATA.file} "${text}"`;
}

function originOf(el) {
    const d = el.dataset;
    if (d.m) return {name: d.m, about: L.metricInfo[d.m]?.meaning,
        sql: `SELECT value FROM "${d.m}" WHERE kernel = ${L.id}`, more: DATA.formulas[d.m]};
    const q = DATA.queries[d.q];
    if (!q) return {name: d.c, about: d.about};
    return {name: d.c ? `${d.q}.${d.c}` : d.q, about: d.about || q.title, sql: q.sql.trim().replace(/:kernel/g, L.id)};
}

// ---- elements ----

const $ = (s, from) => (from || document).querySelector(s);
const $$ = (s, from) => [...(from || document).querySelectorAll(s)];

function createElement(html) {
    const t = document.createElement('template');
    t.innerHTML = html.trim();
    return t.content.firstElementChild;
}

function svg(w, h, label, inside) {
    return `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${esc(label)}">${inside}</svg>`;
}

// A table with headings; each column is [heading, cell(row), 'r' for right].
function grid(rows, columns, caption, attributes) {
    return `<div class="scroll"><table><caption>${esc(caption)}</caption><thead><tr>` +
        columns.map(c => `<th scope="col"${c[2] ? ' class="r"' : ''}>${esc(c[0])}</th>`).join('') + '</tr></thead><tbody>' +
        rows.map((r, i) => `<tr${attributes ? attributes(r, i) : ''}>` +
            columns.map(c => `<td${c[2] ? ' class="r"' : ''}>${c[1](r)}</td>`).join('') + '</tr>').join('') + '</tbody></table></div>';
}

function bar(percent, colour) {
    const w = Math.max(0, Math.min(100, percent));
    return `<span class="bar"><i style="width:${w.toFixed(2)}%;background:${colour}"></i></span>`;
}

// Arrow keys in a cell diagram: calls move(column, row) with the cursor position, within the bounds
// of size().
function cursorKeys(canvas, size, move) {
    let x = 0, y = 0;
    canvas.tabIndex = 0;
    canvas.onkeydown = e => {
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-x, 0], End: [1e9, 0]}[e.key];
        if (!step || e.ctrlKey || e.altKey || e.metaKey) return;
        const [w, h] = size();
        x = Math.max(0, Math.min(w - 1, x + step[0]));
        y = Math.max(0, Math.min(h - 1, y + step[1]));
        move(x, y);
        e.preventDefault();
    };
}

// ---- colours ----

// Stall reasons; related ones have related colours, and a label is always next to them.
const REASON = {
    selected: '#21805e', not_selected: '#98a2ad', wait: '#e9a820', long_scoreboard: '#3a6fd8', short_scoreboard: '#7db3f2',
    barrier: '#8a56cf', membar: '#b790e6', branch_resolving: '#e2773a', math_pipe_throttle: '#cf4257', lg_throttle: '#13808f',
    mio_throttle: '#4bbcc4', tex_throttle: '#93d8cf', no_instruction: '#80705c', sleeping: '#c4bdb0', imc_miss: '#b3863f',
    drain: '#596a7c', dispatch_stall: '#de86b0',
};
const LEVEL = {l1: '#2f9e77', l2: '#3a6fd8', dram: '#cf4257', shared: '#8a56cf', none: '#98a2ad', const: '#b3863f', remote_shared: '#b790e6'};

const isDark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

// A colour-blind safe scale: lightness moves monotonically away from that of the page.
const RAMP = [[250, 236, 190], [248, 196, 110], [237, 139, 66], [204, 76, 70], [138, 38, 86], [74, 16, 78]];
function heat(x) {
    const v = Math.max(0, Math.min(1, x)), t = (isDark() ? 1 - v : v) * (RAMP.length - 1), i = Math.min(RAMP.length - 2, Math.floor(t)), f = t - i;
    return `rgb(${RAMP[i].map((c, k) => Math.round(c + (RAMP[i + 1][k] - c) * f)).join(',')})`;
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- tooltips ----

const tip = {
    el: null, pinned: false,
    show(html, x, y) {
        this.el.innerHTML = html;
        this.el.hidden = false;
        const r = this.el.getBoundingClientRect();
        this.el.style.left = Math.max(8, Math.min(x + 14, innerWidth - r.width - 8)) + 'px';
        this.el.style.top = (y + 18 + r.height > innerHeight ? Math.max(8, y - r.height - 12) : y + 18) + 'px';
    },
    hide() { if (!this.pinned) this.el.hidden = true; },
    // data-tip is text; data-more, if present, holds further lines of text, separated by newlines.
    text(el, x, y) {
        const more = el.dataset.more;
        this.show(more === undefined ? esc(el.dataset.tip) : `<b>${esc(el.dataset.tip)}</b>${more.split('\n').map(r => `<p>${esc(r)}</p>`).join('')}`, x, y);
    },
    origin(el, x, y) {
        const o = originOf(el), v = el.dataset.v;
        this.show(`<b>${esc(o.name)}</b>${v !== '' && v !== undefined ? ` = ${esc(Number.isFinite(+v) && v !== 'null' ? format(+v) : v)}` : ''}` +
            (o.about ? `<p>${esc(o.about)}</p>` : '') + (o.more ? `<p class="dim">${esc(o.more)}</p>` : '') +
            (o.sql ? `<pre>${esc(o.sql)}</pre>` : ''), x, y);
    },
    start() {
        this.el = createElement('<div id="tip" role="tooltip" hidden></div>');
        document.body.append(this.el);
        document.addEventListener('mouseover', e => {
            const el = e.target.closest?.('.num,[data-tip]');
            if (this.pinned) return;
            if (!el) this.hide();
            else if (el.dataset.tip) this.text(el, e.clientX, e.clientY);
            else this.origin(el, e.clientX, e.clientY);
        });
        document.addEventListener('focusin', e => {
            const el = e.target, r = el.getBoundingClientRect?.();
            if (this.pinned || !r) return;
            if (el.matches('.num')) this.origin(el, r.left, r.bottom - 10);
            else if (el.dataset?.tip) this.text(el, r.left, r.bottom - 10);
            else this.hide();
        });
        addEventListener('scroll', () => this.hide(), {passive: true});
    },
};

// ---- panels ----

const PANELS = []; // {id, title, about, query, draw(body), isAvailable(): true if the launch has the required data}
const panel = p => PANELS.push(p);
let L = null; // the current launch, see prepare() in page.js
