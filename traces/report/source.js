// source.js - the program: CUDA and PTX lines next to their machine instructions, with the cost of
// each.

const MEASURES = [
    ['stall_cycles', 'stall cycles', 'stall cycles of warps before the instruction'],
    ['issues', 'issues', 'warp instructions issued'],
    ['sectors', 'sectors', '32-byte sectors moved'],
    ['conflicts', 'conflicts', 'wavefronts in shared memory or L1 beyond the minimum'],
    ['idle', 'idle lanes', 'inactive lanes when the instruction issued'],
    ['divergent', 'diverged', 'branches at which the lanes of a warp diverged'],
    ['latency', 'latency', 'cycles from issue to result, summed'],
    ['from_dram', 'from DRAM', 'sectors served by DRAM'],
];

// Highlights the syntax of a line of PTX or of the machine program.
function highlight(text) {
    const at = text.indexOf('//'), code = at >= 0 ? text.slice(0, at) : text;
    return esc(code).replace(/(^|[;{}\s])(@!?%?\w+)/g, '$1<s class="g">$2</s>')
        .replace(/(%[a-zA-Z_][\w.]*)/g, '<s class="v">$1</s>')
        .replace(/\b(R\d+(?::\d+)?|P\d+)\b/g, '<s class="v">$1</s>')
        .replace(/(^|[\s;])(\.[a-z]\w*)/g, '$1<s class="d">$2</s>')
        .replace(/(^\s*|[;{}]\s*|<\/s>\s+)([a-z][a-z0-9_]*(?:\.[\w:]+)+|bra|ret|exit|mov|add|bar\.sync)\b/g, '$1<s class="o">$2</s>') +
        (at >= 0 ? `<s class="c">${esc(text.slice(at))}</s>` : '');
}

const source = {
    measure: 'stall_cycles', line: null, pc: null, body: null,
    value: (r, m) => m === 'idle' ? r.issues * L.facts.lanes - r.lanes : r[m],

    sums(key, keep) {
        const out = new Map();
        for (const r of L.program) {
            if (r[key] === null || !keep(r)) continue;
            const s = out.get(r[key]) || {issues: 0, executed: 0, lanes: 0, stall_cycles: 0, sectors: 0, conflicts: 0, divergent: 0, latency: 0, from_dram: 0, requests: 0};
            for (const k in s) s[k] += r[k];
            out.set(r[key], s);
        }
        return out;
    },

    draw(body) {
        this.body = body;
        const cuda = L.sources.filter(s => s.language === 'cuda' && L.program.some(r => r.src_source === s.id));
        this.ptxSums = this.sums('ptx_line', () => true);
        body.innerHTML = `<div class="tools" role="toolbar" aria-label="metric shown by the colours">${MEASURES.filter(m => L.program.some(r => this.value(r, m[0]) > 0)).map(m =>
            `<button data-measure="${m[0]}" aria-pressed="${m[0] === this.measure}" data-tip="${m[2]}">${m[1]}</button>`).join('')}
            <button data-hot>next hot line <kbd>h</kbd></button></div>
            <div class="code ${cuda.length ? 'three' : ''}">${cuda.length ? '<div class="pane" data-pane="cuda"></div>' : ''}<div class="pane" data-pane="ptx"></div><div class="pane" data-pane="machine"></div></div>
            <div class="detail" id="line" aria-live="polite">Select a line to see its instructions and their stall reasons.</div>`;
        const ptx = L.sources.find(s => s.language === 'ptx');
        const lines = L.lines.filter(l => ptx && l.source === ptx.id);
        const columns = '<div class="row head"><i></i><b>line</b><b>stalls</b><b>issues</b><b>text</b></div>';
        $('[data-pane=ptx]', body).innerHTML = `<h3>PTX</h3><div class="listing" tabindex="0" aria-label="PTX lines">${columns}` +
            lines.map(l => this.row(l.line, l.line, this.ptxSums.get(l.line), l.text, 'line', 'ptx_line')).join('') + '</div>';
        $('[data-pane=machine]', body).innerHTML = `<h3>Machine program</h3><div class="listing" tabindex="0" aria-label="machine instructions">${columns.replace('line<', 'pc<')}` +
            L.program.map((r, i) => (i === 0 || L.program[i - 1].function !== r.function ? `<div class="row fn"><i></i><b></b><b></b><b></b><code>${esc(r.function)}:</code></div>` : '') +
                this.row(r.pc, r.pc, r, r.text, 'pc', 'pc', r.ptx_line)).join('') + '</div>';
        if (cuda.length) {
            const sums = this.sums('src_line', r => r.src_source === cuda[0].id);
            $('[data-pane=cuda]', body).innerHTML = `<h3>${esc(cuda[0].name.replace(/.*\//, ''))}</h3><div class="listing" tabindex="0" aria-label="CUDA lines">${columns}` +
                L.lines.filter(l => l.source === cuda[0].id).map(l => this.row(l.line, l.line, sums.get(l.line), l.text ?? '(the file could not be read)', 'src', 'src_line')).join('') + '</div>';
        }
        this.paint();
        body.onclick = e => {
            const m = e.target.closest('[data-measure]'), r = e.target.closest('.row[data-kind]');
            if (m) { this.measure = m.dataset.measure; this.paint(); }
            else if (e.target.closest('[data-hot]')) this.hot();
            else if (r) this.choose(r.dataset.kind, +r.dataset.key, true);
        };
        $$('.listing', body).forEach(el => {
            el.onkeydown = e => {
                if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
                const rows = $$('.row[data-kind]', el), at = rows.findIndex(r => r.classList.contains('chosen')), next = rows[at < 0 ? 0 : at + (e.key === 'ArrowDown' ? 1 : -1)];
                if (next) this.choose(next.dataset.kind, +next.dataset.key, false);
                e.preventDefault();
            };
        });
    },

    row(key, label, s, text, kind) {
        const q = {q: 'program', c: 'stall_cycles', about: kind === 'pc' ? undefined : 'summed over the instructions of the line'};
        return `<div class="row" data-kind="${kind}" data-key="${key}"><i></i><b>${label}</b><b>${s && s.issues ? num(s.stall_cycles, q, short(s.stall_cycles)) : ''}</b><b>${
            s && s.issues ? num(s.issues, {...q, c: 'issues'}, short(s.issues)) : ''}</b><code>${highlight(text ?? '')}</code></div>`;
    },

    paint() {
        $$('[data-measure]', this.body).forEach(b => b.setAttribute('aria-pressed', b.dataset.measure === this.measure));
        const src = this.sums('src_line', () => true);
        const of = {line: k => this.ptxSums.get(k), pc: k => L.byPc.get(k), src: k => src.get(k)}, most = {};
        const rows = $$('.row[data-kind]', this.body).map(el => {
            const s = of[el.dataset.kind](+el.dataset.key), v = s ? this.value(s, this.measure) : 0;
            most[el.dataset.kind] = Math.max(most[el.dataset.kind] || 1, v);
            return [el, v];
        });
        for (const [el, v] of rows) {
            const x = v / most[el.dataset.kind], i = el.firstElementChild;
            i.style.background = v > 0 ? heat(Math.sqrt(x)) : '';
            i.style.setProperty('--w', (v > 0 ? Math.max(6, 100 * x) : 0) + '%');
            if (v > 0) i.dataset.tip = `${format(v)} ${MEASURES.find(m => m[0] === this.measure)[1]}`;
            else delete i.dataset.tip;
        }
    },

    // Marks a line and its counterparts; scroll: bring the counterparts into view.
    choose(kind, key, scroll) {
        const mine = kind === 'pc' ? L.program.filter(r => r.pc === key) : kind === 'line' ? L.program.filter(r => r.ptx_line === key) : L.program.filter(r => r.src_line === key);
        const pcs = new Set(mine.map(r => r.pc)), lines = new Set(mine.map(r => r.ptx_line)), src = new Set(mine.map(r => r.src_line));
        if (kind === 'line') lines.add(key);
        const hit = {pc: pcs, line: lines, src};
        $$('.row[data-kind]', this.body).forEach(el => {
            const own = el.dataset.kind === kind && +el.dataset.key === key;
            el.classList.toggle('chosen', own);
            el.classList.toggle('linked', !own && hit[el.dataset.kind].has(+el.dataset.key));
        });
        for (const pane of $$('.listing', this.body)) {
            const el = $('.row.chosen', pane) || $('.row.linked', pane);
            if (el && (scroll || el.classList.contains('chosen'))) {
                const top = el.offsetTop;
                if (top < pane.scrollTop + 30 || top > pane.scrollTop + pane.clientHeight - 40) pane.scrollTop = top - pane.clientHeight / 3;
            }
        }
        this.line = lines.size ? [...lines][0] : null;
        const waits = new Map();
        for (const w of L.waits) if (pcs.has(w.pc)) waits.set(w.reason, (waits.get(w.reason) || 0) + w.cycles);
        const sum = k => mine.reduce((s, r) => s + r[k], 0), total = [...waits.values()].reduce((a, b) => a + b, 0);
        const facts = [['issues', 'issues'], ['executed', 'executed'], ['stall_cycles', 'stall cycles'], ['requests', 'requests'], ['sectors', 'sectors'], ['wavefronts', 'wavefronts'],
            ['conflicts', 'conflicts'], ['l1_hits', 'L1 sectors'], ['from_l2', 'sectors from L2'], ['from_dram', 'sectors from DRAM'], ['branches', 'branches'], ['divergent', 'diverged']].filter(x => sum(x[0]) > 0);
        $('#line', this.body).innerHTML = !mine.length ? 'No machine instruction was generated from this line.' :
            `<p><strong>${kind === 'pc' ? 'pc' : 'line'} ${key}</strong> ${mine.slice(0, 3).map(r => `<code>${esc(r.text)}</code>`).join(' ')}${mine.length > 3 ? ` and ${mine.length - 3} more` : ''}</p>
            <p>${facts.map(x => `${x[1]} ${num(sum(x[0]), {q: 'program', c: x[0]})}`).join(' · ')} · lanes ${num(sum('lanes') / Math.max(1, sum('issues')), {q: 'program', c: 'lanes', about: 'active lanes per issue'})}</p>
            ${total ? `<div class="stack">${[...waits].sort((a, b) => b[1] - a[1]).map(([r, v]) => `<i style="flex:${v};background:${REASON[L.reason[r]]}" data-tip="${esc(L.reason[r])}: ${counted(v, 'cycle')}"></i>`).join('')}</div>
            <p>${[...waits].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([r, v]) => `<i class="dot" style="background:${REASON[L.reason[r]]}"></i>${esc(L.reason[r])} ${num(v, {q: 'program_stalls', c: 'cycles'})}`).join(' · ')}</p>` : ''}
            <p class="dim">${esc(mine[0].syntax)}</p>`;
    },

    hot() {
        const m = this.measure, order = [...this.ptxSums].filter(([, s]) => this.value(s, m) > 0).sort((a, b) => this.value(b[1], m) - this.value(a[1], m)).map(x => x[0]);
        const at = order.indexOf(this.line);
        if (order.length) this.choose('line', order[(at + 1) % order.length], true);
    },
};

// Shows a PTX line in the listing. quiet: without scrolling the page.
function go(line, quiet) {
    if (!line) return;
    drawPanel(PANELS.find(p => p.id === 'source'));
    source.choose('line', line, true);
    if (!quiet) $('#panel-source').scrollIntoView({behavior: 'auto', block: 'start'});
}

panel({
    id: 'source', title: 'Source', query: 'program', about: 'PTX (and CUDA, if the PTX has .loc directives) side by side with the machine program. Colour and bar show the selected metric; select a line to highlight the corresponding lines.',
    draw(body) { source.draw(body); },
});
