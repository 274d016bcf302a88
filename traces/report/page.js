// page.js - the frame: launches, navigation, keys, theme, advice, comparison and the long tables.

panel({
    id: 'compare', title: 'Comparison', query: 'facts', about: 'This launch compared with the same launch of the baseline trace.',
    isAvailable: () => L.baseline !== null, needs: 'a corresponding launch in the baseline',
    draw(body) {
        const b = table(L.baseline.facts)[0], bm = Object.fromEntries(table(L.baseline.metrics).map(r => [r.name, r.value]));
        const ratio = b.cycles / L.facts.cycles, word = !Number.isFinite(ratio) ? '' : ratio > 1.005 ? `speedup ${format(ratio, 2)}x` : ratio < 0.995 ? `slowdown ${format(1 / ratio, 2)}x` : 'unchanged';
        const metrics = L.metrics.filter(m => bm[m.name] !== undefined && bm[m.name] !== m.value).map(m => ({...m, base: bm[m.name], change: (m.value - bm[m.name]) / Math.max(Math.abs(m.value), Math.abs(bm[m.name]))}))
            .sort((x, y) => Math.abs(y.change) - Math.abs(x.change)).slice(0, 40);
        const lines = L.baseline.lines.map(r => ({text: r[0], a: {line: r[1], issues: r[2], stall: r[3], sectors: r[4]}, b: {line: r[5], issues: r[6], stall: r[7], sectors: r[8]}}));
        const cost = s => s.stall + s.issues, changed = lines.filter(x => cost(x.a) !== cost(x.b) || x.a.sectors !== x.b.sectors).sort((x, y) => Math.abs(cost(y.b) - cost(y.a)) - Math.abs(cost(x.b) - cost(x.a))).slice(0, 40);
        const delta = v => `<span class="${v > 0 ? 'worse' : v < 0 ? 'better' : ''}">${v > 0 ? '+' : ''}${format(v)}</span>`;
        body.innerHTML = `<p class="big">${num(L.facts.cycles, {q: 'facts', c: 'cycles'})} cycles; baseline (${esc(DATA.baseline_file)}, ${esc(b.name)}): ${num(b.cycles, {q: 'facts', c: 'cycles', about: 'of the baseline'})} cycles, <strong>${word}</strong>.</p>
            <h3>Lines</h3>${changed.length ? grid(changed, [['line', x => x.b.line ? `<button class="link" data-line="${x.b.line}">${x.b.line}</button>` : '–', 'r'], ['baseline', x => x.a.line || '–', 'r'],
                ['Δ warp cycles', x => delta(cost(x.b) - cost(x.a)), 'r'], ['issues', x => format(x.b.issues), 'r'], ['baseline', x => format(x.a.issues), 'r'], ['stalls', x => format(x.b.stall), 'r'], ['baseline', x => format(x.a.stall), 'r'], ['sectors', x => format(x.b.sectors), 'r'], ['baseline', x => format(x.a.sectors), 'r'], ['PTX', x => `<code>${esc(x.text)}</code>`]], 'Lines whose cost differs from the baseline') : '<p>No line differs.</p>'}
            <h3>Metrics</h3>${metrics.length ? grid(metrics, [['metric', m => esc(m.name)], ['current', m => num(m.value, {m: m.name}), 'r'], ['baseline', m => format(m.base), 'r'], ['change', m => m.base ? `${m.value > m.base ? '+' : ''}${format(100 * (m.value - m.base) / Math.abs(m.base), 1)} %` : '–', 'r']], 'Metrics that differ, largest change first') : '<p>No metric differs.</p>'}`;
        body.onclick = e => { const l = e.target.closest('[data-line]'); if (l) go(+l.dataset.line); };
    },
});

panel({
    id: 'metrics', title: 'Metrics', query: 'metrics', about: 'All metrics of the launch, with their nvprof and Nsight Compute names. Hover over a value to see its formula.',
    draw(body) {
        body.innerHTML = `<div class="tools"><label>search <input id="find" type="search" placeholder="hit_rate, stall, dram …"></label><span class="note" id="found"></span></div><div id="list"></div>`;
        const show = () => {
            const w = $('#find', body).value.toLowerCase(), rows = L.metrics.filter(m => !w || m.name.toLowerCase().includes(w) || m.meaning.toLowerCase().includes(w));
            $('#found', body).textContent = `${rows.length} of ${L.metrics.length}`;
            $('#list', body).innerHTML = grid(rows, [['metric', m => `<code>${esc(m.name).replace(/_/g, '_<wbr>')}</code>`], ['value', m => num(m.value, {m: m.name}), 'r'], ['unit', m => esc(m.unit)], ['description', m => esc(m.meaning)]], 'Metrics of the launch');
        };
        $('#find', body).oninput = show;
        show();
    },
});

panel({
    id: 'machine', title: 'Machine', query: 'machine_values', about: 'The machine parameters of the model, with the provenance of each value.',
    draw(body) {
        body.innerHTML = `<details><summary>${L.machine.length} values, ${L.machine.filter(r => r.provenance === 'guessed').length} of them guessed</summary>${grid(L.machine, [['section', r => esc(r.section)], ['key', r => esc(r.key)], ['value', r => num(r.value, {q: 'machine_values', c: 'value'}), 'r'], ['unit', r => esc(r.unit)], ['provenance', r => esc(r.provenance)], ['source', r => esc(r.source)]], 'Machine description')}</details>`;
    },
});

// ---- launches ----

function prepare(d) {
    const facts = table(d.facts)[0], metrics = table(d.metrics), program = table(d.program), reasons = table(d.reasons), lines = table(d.lines), sources = table(d.sources);
    const ptx = sources.find(s => s.language === 'ptx'), texts = new Map(lines.filter(l => ptx && l.source === ptx.id).map(l => [l.line, l.text]));
    const readMaps = m => {
        const cells = new Reader(m.sectors).sparse(m.addresses.length * m.levels.length * m.windows);
        return {...m, at: (row, level, window) => cells[(row * m.levels.length + level) * m.windows + window]};
    };
    let time, maps; // unpacked when a panel requests them
    return {
        id: d.id, facts, metrics, program, reasons, lines, sources,
        hasTime: Boolean(d.timeline) && Number.isSafeInteger(facts.span), get time() { return d.timeline ? time ??= readTimeline(d.timeline) : null; },
        hasMaps: Boolean(d.maps && d.maps.addresses.length), get maps() { return d.maps ? maps ??= readMaps(d.maps) : null; },
        metric: Object.fromEntries(metrics.map(m => [m.name, m.value])), metricInfo: Object.fromEntries(metrics.map(m => [m.name, m])),
        reason: Object.fromEntries(reasons.map(r => [r.id, r.name])), byPc: new Map(program.map(r => [r.pc, r])), text: line => texts.get(line) ?? '',
        speed: table(d.speed_of_light), flops: table(d.flops), roofs: table(d.roofs), occupancy: table(d.occupancy)[0], stalls: table(d.stalls), waits: table(d.program_stalls),
        traffic: table(d.traffic), levels: table(d.levels)[0], branches: table(d.branches), windows: table(d.windows), units: table(d.units), events: table(d.events), findings: table(d.findings), machine: table(d.machine_values),
        lanes: d.lanes ?? null, accesses: d.accesses ?? [], baseline: d.baseline ?? null, advice: table(d.advice),
    };
}

const ready = new Map();
function show(k) {
    const d = DATA.launches[k];
    if (!ready.has(k)) ready.set(k, prepare(d));
    L = ready.get(k);
    timeline = null;
    source.line = null;
    document.title = `${L.facts.name} – ptxloom`;
    $('#title').innerHTML = `<h1>${esc(L.facts.name)}</h1><p>${esc(L.facts.entry)} on ${esc(L.facts.machine)}, ${esc(L.facts.mode)}: <span class="status ${L.facts.status === 'ok' ? 'ok' : 'bad'}">${esc(L.facts.status)}</span></p>`;
    const main = $('main'), nav = $('nav ol');
    main.innerHTML = '';
    nav.innerHTML = '';
    for (const p of PANELS) {
        const has = !p.isAvailable || p.isAvailable(), el = createElement(`<section id="panel-${p.id}" class="panel" aria-labelledby="h-${p.id}" tabindex="-1"><header><h2 id="h-${p.id}">${p.title}</h2>
            <button class="sql" aria-expanded="false" aria-label="SQL of ${p.title}">SQL</button></header><p class="about">${p.about}</p><pre class="query" hidden></pre><div class="body"></div></section>`);
        if (!has && (p.id === 'application' || p.id === 'findings' || (p.id === 'compare' && !DATA.baseline_file))) continue;
        main.append(el);
        nav.append(createElement(`<li><a href="#panel-${p.id}">${p.title}</a></li>`));
        $('.sql', el).onclick = e => {
            const pre = $('.query', el);
            pre.hidden = !pre.hidden;
            e.currentTarget.setAttribute('aria-expanded', !pre.hidden);
            pre.textContent = command((DATA.queries[p.query] ?? DATA.application.queries[p.query]).sql);
        };
        p.el = el;
        p.drawn = false;
        if (!has) $('.body', el).innerHTML = `<p class="note">No data for this launch${p.needs ? ': requires ' + esc(p.needs) : ''}.</p>`;
        else visibilityObserver.observe(el);
    }
    drawVisible();
}

// Panels are drawn when they approach the viewport, so that the first screen appears at once.
const visibilityObserver = new IntersectionObserver(list => { for (const e of list) if (e.isIntersecting) drawPanel(PANELS.find(p => p.el === e.target)); }, {rootMargin: '600px'});
function drawPanel(p) {
    if (!p || p.drawn || !p.el || (p.isAvailable && !p.isAvailable())) return;
    p.drawn = true;
    try {
        p.draw($('.body', p.el));
    } catch (e) { // inconsistent numbers of a damaged trace; the other panels may still be valid
        console.error(e);
        $('.body', p.el).innerHTML = '<p class="note">The data of this panel is inconsistent.</p>';
    }
    /* Tab reaches standalone numbers; those in tables have the panel's SQL button. */
    for (const e of $$('.num', p.el)) if (!e.closest('table, .listing, button')) e.tabIndex = 0;
}
function drawVisible() {
    for (const p of PANELS) if (p.el && p.el.getBoundingClientRect().top < innerHeight) drawPanel(p);
}
function drawAll() {
    for (const p of PANELS) if (p.el && p.el.isConnected) drawPanel(p);
}

// ---- keys and theme ----

const KEYS = [['j / k', 'next, previous panel'], ['1 … 9', 'panel by number'], ['[ / ]', 'previous, next launch'], ['h', 'next hot line'], ['t', 'toggle dark and light theme'], ['/', 'search metrics'], ['?', 'this list'],
    ['in maps and masks', '← → ↑ ↓ select a cell'], ['in the timeline', '← → pan, ↑ ↓ select a row, + − 0 zoom, Enter expand or collapse, i issue slots, , . step through issues'], ['Tab', 'moves to numbers and buttons; a focused number shows its SQL']];

function toggleTheme() {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    recolour();
}

// Canvas content must be redrawn after a change of colours.
function recolour() {
    for (const p of PANELS) if (p.drawn && p.el.isConnected && ['application', 'timeline', 'divergence', 'maps', 'accesses'].includes(p.id)) p.draw($('.body', p.el));
    if (source.body && source.body.isConnected) source.paint();
}

function goToPanel(by, absolute) {
    const list = PANELS.filter(p => p.el && p.el.isConnected), y = list.findIndex(p => p.el.getBoundingClientRect().bottom > 90);
    const p = list[absolute ?? Math.max(0, Math.min(list.length - 1, y + by))];
    if (!p) return;
    drawPanel(p);
    p.el.scrollIntoView({block: 'start'});
    p.el.focus({preventScroll: true});
}

function start() {
    $('#app').innerHTML = `<header id="top"><div id="title"></div><div class="controls">
        ${DATA.kernels.rows.length > 1 ? '<label>launch <select id="launch"></select></label>' : ''}
        <button id="theme" aria-label="toggle dark and light theme">◐</button><button id="help" aria-label="keyboard shortcuts">?</button></div></header>
        <nav aria-label="panels"><ol></ol><p class="note">${esc(DATA.file)}</p></nav><main></main>
        <dialog id="keys"><h2>Keyboard shortcuts</h2><dl>${KEYS.map(k => `<dt><kbd>${k[0]}</kbd></dt><dd>${k[1]}</dd>`).join('')}</dl><form method="dialog"><button>close</button></form></dialog>`;
    tip.start();
    const select = $('#launch');
    if (select) {
        const shown = new Map(DATA.launches.map((l, i) => [l.id, i]));
        select.innerHTML = table(DATA.kernels).map(k => `<option value="${shown.get(k.id) ?? ''}" ${shown.has(k.id) ? '' : 'disabled'}>${k.id}: ${esc(k.name)}${k.cycles ? `, ${counted(k.cycles, 'cycle')}` : ''}${shown.has(k.id) ? '' : ` (ptxloom report --launch ${k.id})`}</option>`).join('');
        select.onchange = () => show(+select.value);
    }
    $('#theme').onclick = () => toggleTheme();
    $('#help').onclick = () => $('#keys').showModal();
    const step = by => { if (select) { const k = +select.value + by; if (k >= 0 && k < DATA.launches.length) { select.value = k; show(k); } } };
    const keys = {j: () => goToPanel(1), k: () => goToPanel(-1), '[': () => step(-1), ']': () => step(1), t: () => toggleTheme(), '?': () => $('#keys').showModal(),
        h: () => { drawPanel(PANELS.find(p => p.id === 'source')); source.hot(); $('#panel-source').scrollIntoView({block: 'start'}); },
        '/': () => { const p = PANELS.find(q => q.id === 'metrics'); drawPanel(p); p.el.scrollIntoView(); $('#find').focus(); }};
    document.addEventListener('keydown', e => {
        if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches('input, select, textarea') || $('#keys').open) return;
        if (/^[1-9]$/.test(e.key)) goToPanel(0, +e.key - 1);
        else if (keys[e.key]) keys[e.key]();
        else return;
        e.preventDefault();
    });
    const seen = new IntersectionObserver(list => { for (const e of list) $(`nav a[href="#${e.target.id}"]`)?.classList.toggle('here', e.isIntersecting); }, {rootMargin: '-20% 0px -60% 0px'});
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
    let wait = 0;
    addEventListener('resize', () => { clearTimeout(wait); wait = setTimeout(() => { for (const p of PANELS) if (p.drawn && p.el.isConnected) p.resize ? p.resize() : ['divergence', 'maps'].includes(p.id) && p.draw($('.body', p.el)); }, 120); });
    if (DATA.launches.length) {
        show(0);
        if (select) select.value = 0;
        for (const s of $$('main > section')) seen.observe(s);
    } else {
        $('main').innerHTML = '<p>The trace contains no launches.</p>';
    }
    document.documentElement.dataset.loaded = Math.round(performance.now());
}
start();
