// overview.js - the panels about the performance of a launch and its limits: facts, speed of light,
// roofline, occupancy, stalls.

const tile = (label, value, unit, from) =>
    `<div class="tile"><span class="label">${esc(label)}</span><span class="value">${num(value, from, typeof value === 'number' ? short(value) : value)
    }<small>${esc(unit)}</small></span></div>`;

panel({
    id: 'overview', title: 'Overview', query: 'facts', about: 'The launch, its configuration and machine, and the main metrics.',
    draw(body) {
        const f = L.facts, m = name => L.metric[name];
        const shape = (x, y, z) => [x, y, z].filter((v, i) => i === 0 || v > 1 || (i === 1 && z > 1)).join(' × ');
        const tiles = [
            f.cycles || !f.span || f.status === 'ok' ? ['cycles', f.cycles, '', {q: 'facts', c: 'cycles'}] : ['cycles until failure', f.span, '', {q: 'facts', c: 'span'}],
            ['duration', f.duration_us || null, 'µs', {q: 'facts', c: 'duration_us'}],
            ['warp instructions', f.inst_executed, '', {q: 'facts', c: 'inst_executed'}],
            ['instructions per cycle', f.ipc, 'whole GPU', {q: 'facts', c: 'ipc'}],
            ['achieved occupancy', f.cycles ? m('sm__warps_active.avg.pct_of_peak_sustained_active') : null, '%', {m: 'sm__warps_active.avg.pct_of_peak_sustained_active'}],
            ['warp execution efficiency', m('warp_execution_efficiency'), '%', {m: 'warp_execution_efficiency'}],
            ['global load efficiency', m('gld_efficiency'), '%', {m: 'gld_efficiency'}],
            ['DRAM read', m('dram_read_throughput'), 'GB/s', {m: 'dram_read_throughput'}],
        ].filter(t => Number.isFinite(t[1]));
        const facts = [
            ['machine', `${num(f.machine, {q: 'facts', c: 'machine'})} ${esc(f.title && f.title !== f.machine ? f.title : '')}, ${num(f.sms, {q: 'facts', c: 'sms'})} multiprocessors at ${
                num(f.clock_mhz, {q: 'facts', c: 'clock_mhz'})} MHz`],
            ['grid', `${num(f.blocks, {q: 'facts', c: 'blocks'}, shape(f.grid_x, f.grid_y, f.grid_z))} block${f.blocks === 1 ? '' : 's'} of ${
                num(f.block_x * f.block_y * f.block_z, {q: 'facts', c: 'block_x * block_y * block_z'}, shape(f.block_x, f.block_y, f.block_z))} thread${f.threads === f.blocks ? '' : 's'}` +
                (f.blocks_ran > f.blocks ? `; including device-side launches, ${num(f.blocks_ran, {q: 'facts', c: 'blocks_ran'})} blocks executed` : '') +
                (f.cluster_x > 0 ? `, clusters of ${shape(f.cluster_x, f.cluster_y, f.cluster_z)}` : '')],
            ['per thread', `${num(f.registers, {q: 'facts', c: 'registers'})} registers, ${num(f.local_bytes, {q: 'facts', c: 'local_bytes'})} bytes of local memory`],
            ['per block', `${num(f.static_shared + f.dynamic_shared, {q: 'facts', c: 'static_shared + dynamic_shared'})} bytes of shared memory`],
            ['module', `${esc(f.module)} for ${esc(f.target)}, -O${esc(f.opt_level)}`],
            ['status', `${num(f.status, {q: 'facts', c: 'status'})}${f.error_text ? ': ' + esc(f.error_text) : ''}`],
            ['trace', `${esc(DATA.file)}, level ${esc(f.level)}${f.filter ? `, only ${esc(f.filter)}` : ''}${
                f.dropped ? `; ${num(f.dropped, {q: 'facts', c: 'dropped'})} events dropped at the size limit` : ''}${
                f.filtered ? `; ${num(f.filtered, {q: 'facts', c: 'filtered'})} events excluded by the filter` : ''}`],
            ['command', `<code>${esc(f.command)}</code>`],
        ];
        body.innerHTML = `<div class="tiles">${tiles.map(t => tile(...t)).join('')}</div>
            <dl class="facts">${facts.map(x => `<dt>${x[0]}</dt><dd>${x[1]}</dd>`).join('')}</dl>` +
            (L.events.length ? grid(L.events, [['event', e => esc(e.kind)], ['text', e => esc(e.text)]], 'Events') : '');
    },
});

// One thread of a finding: a time line with a mark where it executes the instruction.
const lane = (thread, line, cuda, at) => `<div class="lane"><span>${esc(thread)}</span><span class="track"><i style="left:${at}%"></i></span><span>${
    line ? `<button class="link" data-line="${line}">line ${line}</button> ` : ''}${cuda ? `${esc(cuda)} ` : ''}<code>${esc(line ? L.text(line).trim() : '')}</code></span></div>`;

panel({
    id: 'findings', title: 'Findings', query: 'findings',
    about: 'Findings of the checkers. A race shows both threads: the marked instructions are unordered, so either may execute first.',
    isAvailable: () => L.findings.length > 0, needs: 'a run with --check',
    draw(body) {
        body.innerHTML = `<div class="advice">${L.findings.map(f => `<article><h4>${esc(f.finding)} (${esc(f.severity)})</h4><p>${esc(f.text)}. Seen ${
            num(f.count, {q: 'findings', c: 'count'})} ${f.count === 1 ? 'time' : 'times'}${f.seed ? `, first with schedule random:${esc(f.seed)}` : ''}.</p>${
            f.other_thread ? lane(f.other_thread, f.other_ptx_line, f.other_cuda, 30) : ''}${lane(f.thread, f.ptx_line, f.cuda, 70)}${
            f.help ? `<p><strong>Fix:</strong> ${esc(f.help)}.</p>` : ''}</article>`).join('')}</div>`;
        body.onclick = e => { const l = e.target.closest('[data-line]'); if (l) go(+l.dataset.line); };
    },
});

panel({
    id: 'advice', title: 'Advice', query: 'advice', about: 'Rules that apply to this launch, the largest share first: evidence, suggested change, and how to verify it.',
    draw(body) {
        body.innerHTML = L.advice.length ? `<div class="advice">${L.advice.slice(0, 8).map(a => `<article><h4>${esc(a.advice)}</h4><p>${esc(a.evidence)}. Affects ${
            num(a['share %'], {q: 'advice', c: 'share %'}, format(a['share %'], 1) + ' %')} of ${esc(a.of)}.</p><p><strong>Suggestion:</strong> ${esc(a.check)}.${
            a.line ? ` <button class="link" data-line="${a.line}">show line ${a.line}</button>` : ''}</p></article>`).join('')}</div>` : '<p>No rule applies. See Speed of light: the longest bar limits the launch.</p>';
        body.onclick = e => { const l = e.target.closest('[data-line]'); if (l) go(+l.dataset.line); };
    },
});
panel({
    id: 'speed', title: 'Speed of light', query: 'speed_of_light',
    about: 'Utilization of each unit, in percent of its peak over the elapsed cycles. The longest bar is the bottleneck; if all bars are short, the launch is latency-bound (see Stalls) or the grid is too small.',
    isAvailable: () => L.speed.length > 0, needs: 'timing mode, and a launch that completed',
    draw(body) {
        const base = L.baseline ? Object.fromEntries(table(L.baseline.speed_of_light).map(r => [r.unit, r.percent])) : {};
        const side = (name, title, colour) => `<div><h3>${title}</h3>${L.speed.filter(r => r.side === name).map(r =>
            `<div class="sol"><span>${esc(r.unit)}</span><span class="bar wide"><i style="width:${Math.min(100, r.percent)}%;background:${colour}"></i>${
                base[r.unit] !== undefined ? `<b style="left:${Math.min(100, base[r.unit])}%" data-tip="baseline: ${format(base[r.unit])} %"></b>` : ''}</span>${
                num(r.percent, {q: 'speed_of_light', c: 'percent', about: `${format(r.used)} of ${format(r.peak)} ${r.measure}: ${r.about}`},
                    format(r.percent, 1) + ' %')}</div>`).join('')}</div>`;
        body.innerHTML = `<div class="two">${side('compute', 'Compute', 'var(--blue)')}${side('memory', 'Memory', 'var(--orange)')}</div>` +
            (L.baseline ? '<p class="note">The thin mark is the baseline.</p>' : '');
    },
});

panel({
    id: 'roofline', title: 'Roofline', query: 'roofs',
    about: 'Arithmetic intensity for each memory level, against the machine’s ceilings. Left of the ridge point the launch is memory-bound, right of it compute-bound. One dot per memory level.',
    needs: 'timing mode, and a launch that completed', isAvailable: () => L.facts.cycles > 0 && L.roofs.some(r => r.per_cycle),
    draw(body) {
        const clock = L.facts.clock_mhz * 1e6, time = L.facts.cycles / clock;
        const flops = L.flops.reduce((s, r) => s + r.operations, 0), integer = flops === 0;
        const work = integer ? L.facts.thread_inst_executed : flops, unit = integer ? 'thread instruction' : 'FLOP';
        const lanes = L.facts.lanes, peaks = integer
            ? [{kind: 'issue', per_cycle: L.facts.sms * L.facts.subcores * lanes}]
            : L.flops.map(r => ({kind: r.kind, per_cycle: r.per_cycle, operations: r.operations}));
        const points = L.roofs.filter(r => r.bytes > 0).map(r => ({level: r.level, x: work / r.bytes, y: work / time, bytes: r.bytes}));
        const top = Math.max(...peaks.map(p => p.per_cycle)) * clock * 2;
        const bottom = Math.min(...points.map(p => p.y), top / 1e4) / 3;
        const xs = points.map(p => p.x).concat(L.roofs.filter(r => r.per_cycle).map(r => top / 2 / (r.per_cycle * clock)));
        const x0 = Math.min(0.1, ...xs) / 2, x1 = Math.max(10, ...xs) * 3, W = 860, H = 400, l = 64, r = 150, t = 14, b = 44;
        const X = v => l + (Math.log(v / x0) / Math.log(x1 / x0)) * (W - l - r);
        const Y = v => H - b - (Math.log(v / bottom) / Math.log(top / bottom)) * (H - t - b);
        const decades = (a, z) => { const o = []; for (let e = Math.max(-40, Math.ceil(Math.log10(a))); e <= Math.min(40, Math.log10(z)); e++) o.push(10 ** e); return o; };
        let s = '';
        for (const v of decades(x0, x1)) s += `<line class="gridline" x1="${X(v)}" x2="${X(v)}" y1="${t}" y2="${H - b}"/><text x="${X(v)}" y="${H - b + 16}" text-anchor="middle">${v >= 0.01 ? v : v.toExponential()}</text>`;
        for (const v of decades(bottom, top)) s += `<line class="gridline" x1="${l}" x2="${W - r}" y1="${Y(v)}" y2="${Y(v)}"/><text x="${l - 6}" y="${Y(v) + 4}" text-anchor="end">${short(v)}</text>`;
        const peak = Math.max(...peaks.map(p => p.per_cycle)) * clock;
        L.roofs.filter(q => q.per_cycle).forEach((q, i) => {
            const bw = q.per_cycle * clock, from = Math.max(x0, bottom / bw), bend = peak / bw;
            s += `<line class="roof" stroke="${LEVEL[q.level.toLowerCase()]}" x1="${X(from)}" y1="${Y(from * bw)}" x2="${X(bend)}" y2="${Y(peak)}"/>
                <text class="tag" style="fill:${LEVEL[q.level.toLowerCase()]}" transform="translate(${X(from * 2 ** (1 + i))},${Y(from * 2 ** (1 + i) * bw) - 6}) rotate(${
                -Math.atan2((H - t - b) / Math.log(top / bottom), (W - l - r) / Math.log(x1 / x0)) * 180 / Math.PI})">${esc(q.level)} ${short(bw)}B/s</text>`;
        });
        for (const p of peaks) {
            const y = Y(p.per_cycle * clock), best = Math.max(...L.roofs.map(q => q.per_cycle || 0)) * clock;
            s += `<line class="roof" stroke="var(--ink)" x1="${X(Math.max(x0, p.per_cycle * clock / best))}" x2="${W - r}" y1="${y}" y2="${y}"/>
                <text x="${W - r + 6}" y="${y + 4}">${esc(p.kind)} ${short(p.per_cycle * clock)}/s</text>`;
        }
        points.sort((a, b) => a.x - b.x);
        for (const [i, p] of points.entries()) {
            const crowded = points.some((q, k) => k < i && Math.abs(X(q.x) - X(p.x)) < 60);
            const bw = L.roofs.find(q => q.level === p.level).per_cycle * clock, roof = Math.min(peak, p.x * bw);
            s += `<g tabindex="0" data-tip="${esc(p.level)}" data-more="${esc(`${format(work)} ${unit}s on ${bytes(p.bytes)}: ${format(p.x)} per byte, ${short(p.y)} per second, ${format(100 * p.y / roof)} % of the roofline.`)}">
                <line class="drop" x1="${X(p.x)}" x2="${X(p.x)}" y1="${Y(p.y)}" y2="${Y(roof)}"/>
                <circle cx="${X(p.x)}" cy="${Y(p.y)}" r="8" fill="${LEVEL[p.level.toLowerCase()]}"/>
                <text class="tag" x="${X(p.x) + (crowded ? 4 : -4)}" y="${Y(p.y) + 26}" text-anchor="${crowded ? 'start' : 'end'}">${esc(p.level)}</text></g>`;
        }
        s += `<text x="${(l + W - r) / 2}" y="${H - 6}" text-anchor="middle">arithmetic intensity (${unit}s per byte)</text>
            <text transform="translate(14,${H / 2}) rotate(-90)" text-anchor="middle">${unit}s per second</text>`;
        body.innerHTML = svg(W, H, 'Roofline: performance against arithmetic intensity', s) +
            `<p class="note">${integer ? 'The launch has no floating-point arithmetic: thread instructions are counted instead' :
                L.flops.map(q => `${num(q.operations, {q: 'flops', c: 'operations'})} ${esc(q.kind)} operations`).join(', ')}. Bytes transferred: ${
                L.roofs.map(q => `${esc(q.level)} ${num(q.bytes, {q: 'roofs', c: 'bytes'}, bytes(q.bytes))}`).join(', ')}.</p>`;
    },
});

// The occupancy of this kernel: warps resident on one multiprocessor, as a share of its slots.
// Follows the rules of the model (arch/occupancy.c) with the machine's values.
function occupancyOf(o, threads, registers, shared) {
    const up = (v, u) => Math.ceil(v / u) * u, warps = Math.ceil(threads / o.lanes), slots = Math.min(o.max_warps, Math.floor(o.max_threads / o.lanes));
    const held = Math.floor(o.registers_sm / o.subcores / up(Math.max(1, registers) * o.lanes, o.register_unit)) * o.subcores, share = up(shared + o.shared_reserved, o.shared_unit);
    const blocks = Math.min(o.max_blocks, Math.floor(slots / warps), registers > o.registers_thread ? 0 : Math.floor(held / up(warps, o.warp_unit)),
        shared > o.shared_block ? 0 : share ? Math.floor(o.shared / share) : o.max_blocks, Math.floor(o.by_barriers ?? o.max_blocks));
    return blocks * warps / o.max_warps;
}

panel({
    id: 'occupancy', title: 'Occupancy', query: 'occupancy',
    about: 'Theoretical occupancy with its limits, and achieved occupancy over time.',
    isAvailable: () => L.occupancy && L.occupancy.theoretical !== null,
    draw(body) {
        const o = L.occupancy, f = L.facts;
        const by = [['block slots', o.by_blocks, 'by_blocks'], ['warp slots', o.by_warps, 'by_warps'], ['registers', o.by_registers, 'by_registers'],
            ['shared memory', o.by_shared, 'by_shared'], ['barriers', o.by_barriers, 'by_barriers']].filter(r => r[1] !== null);
        const least = Math.min(...by.map(r => r[1])), most = Math.max(...by.map(r => r[1]));
        const rows = by.map(r => `<div class="sol"><span>${r[0]}${r[1] === least ? ' <em>limits</em>' : ''}</span>${
            bar(100 * r[1] / most, r[1] === least ? 'var(--red)' : 'var(--blue)').replace('"bar"', '"bar wide"')}${
            num(r[1], {q: 'occupancy', c: r[2], about: `block limit per multiprocessor: ${r[0]}`}, `${counted(r[1], 'block')}`)}</div>`).join('');
        body.innerHTML = `<div class="two"><div><h3>Blocks per multiprocessor, by limit</h3>${rows}
            <p>Theoretical: <strong>${num(o.theoretical, {q: 'occupancy', c: 'theoretical'}, format(100 * o.theoretical, 1) + ' %')}</strong>,
            achieved: <strong>${num(o.achieved, {q: 'occupancy', c: 'achieved'}, format(100 * o.achieved, 1) + ' %')}</strong>.
            ${o.waves < 1 ? `The grid is only ${num(o.waves, {q: 'occupancy', c: 'waves'})} of a wave: more blocks would increase achieved occupancy.`
                : `The grid is ${num(o.waves, {q: 'occupancy', c: 'waves'})} waves.`}</p></div>
            <div><h3>Active warps over time</h3><div id="alive"></div></div></div>
            <h3>Occupancy calculator</h3><div class="whatif"></div>`;
        $('#alive', body).innerHTML = alive();
        whatIf($('.whatif', body), o, f);
    },
});

function alive() {
    if (!L.hasTime) return '<p class="note">Needs a trace with --trace-level inst.</p>';
    const n = 200, step = L.facts.span / n, slots = L.facts.sms * L.facts.max_warps, warps = L.time.warps;
    const count = new Float64Array(n); // average number of live warps in a window
    for (const w of warps) {
        for (let i = Math.floor(w.first / step); i < n && i * step <= w.last; i++) count[i] += (Math.min((i + 1) * step, w.last + 1) - Math.max(i * step, w.first)) / step;
    }
    const begins = Float64Array.from(warps, w => w.first).sort(), ends = Float64Array.from(warps, w => w.last).sort();
    let peak = 0;
    for (let i = 0, k = 0; i < begins.length; i++) {
        while (ends[k] < begins[i]) k++;
        peak = Math.max(peak, i + 1 - k);
    }
    const most = Math.max(1, ...count), W = 400, H = 150;
    const path = [...count].map((v, i) => `${40 + i * (W - 50) / n},${H - 24 - v / most * (H - 40)}`).join(' ');
    return svg(W, H, 'Active warps over time', `<polygon class="area" points="40,${H - 24} ${path} ${W - 10},${H - 24}"/>
        <text x="36" y="20" text-anchor="end">${short(most)}</text><text x="36" y="${H - 22}" text-anchor="end">0</text>
        <text x="40" y="${H - 6}">0</text><text x="${W - 10}" y="${H - 6}" text-anchor="end">${counted(L.facts.span, 'cycle')}</text>`) +
        `<p class="note">At most ${counted(peak, 'warp')} at once, of ${format(slots)} slots${L.time.warpsTotal > L.time.warps.length ? ' (warps beyond the first ' + format(L.time.warps.length) + ' are omitted)' : ''}.</p>`;
}

function whatIf(body, o, f) {
    const shared = f.static_shared + f.dynamic_shared, threads = f.block_x * f.block_y * f.block_z, here = occupancyOf(o, threads, f.registers, shared);
    const now = {threads, registers: f.registers, shared}, ranges = {
        registers: ['registers per thread', Array.from({length: Math.min(o.registers_thread, 1024) + 1}, (_, i) => i).slice(16)],
        shared: ['shared memory bytes per block', Array.from({length: Math.min(o.shared_block / 1024, 4096) + 1}, (_, i) => i * 1024)],
        threads: ['threads per block', Array.from({length: 32}, (_, i) => (i + 1) * 32)],
    };
    body.innerHTML = Object.entries(ranges).map(([key, [title, xs]]) => {
        const W = 300, H = 150, l = 34, points = xs.map(x => occupancyOf(o, ...['threads', 'registers', 'shared'].map(k => k === key ? x : now[k])));
        const X = x => l + (Math.max(x, xs[0]) - xs[0]) / (xs[xs.length - 1] - xs[0]) * (W - l - 8), Y = y => H - 26 - y * (H - 44);
        const path = xs.map((x, i) => (i ? `H${X(x).toFixed(1)}V${Y(points[i]).toFixed(1)}` : `M${X(x)},${Y(points[i])}`)).join('');
        return `<figure>${svg(W, H, `Theoretical occupancy by ${title}`, `<path class="step" data-here="${here}" d="${path}"/><circle cx="${X(now[key])}" cy="${Y(here)}" r="5" fill="var(--red)"/>
            <text x="${l - 4}" y="${Y(1) + 4}" text-anchor="end">100</text><text x="${l - 4}" y="${Y(0) + 4}" text-anchor="end">0 %</text>
            <text x="${l}" y="${H - 8}">${short(xs[0])}</text><text x="${W - 8}" y="${H - 8}" text-anchor="end">${short(xs[xs.length - 1])}</text>
            <text x="${W / 2}" y="${H - 8}" text-anchor="middle">${title}</text>`)}
            <figcaption>theoretical occupancy by ${title}; current: ${format(now[key])}</figcaption></figure>`;
    }).join('');
}

panel({
    id: 'stalls', title: 'Stalls', query: 'stalls',
    about: 'Stall cycles by reason, summed over all warps. Select a reason to see its lines.',
    isAvailable: () => L.stalls.length > 0,
    draw(body) {
        const total = L.stalls.reduce((s, r) => s + r.cycles, 0);
        const base = L.baseline ? Object.fromEntries(table(L.baseline.stalls).map(r => [r.name, r.cycles])) : {};
        const most = Math.max(...L.stalls.map(r => r.cycles), ...Object.values(base));
        body.innerHTML = `<div class="stack" aria-hidden="true">${L.stalls.map(r => `<i style="flex:${r.cycles};background:${REASON[r.name]}" data-tip="${esc(r.name)}"></i>`).join('')}</div>
            <div class="reasons">${L.stalls.map(r => `<button class="sol" data-reason="${r.id}"><span><i class="dot" style="background:${REASON[r.name]}"></i>${esc(r.name)}</span>
            <span class="bar wide"><i style="width:${100 * r.cycles / most}%;background:${REASON[r.name]}"></i>${
                base[r.name] !== undefined ? `<b style="left:${100 * base[r.name] / most}%" data-tip="baseline: ${format(base[r.name])}"></b>` : ''}</span>
            ${num(r.cycles, {q: 'stalls', c: 'cycles', about: r.meaning}, format(r.percent, 1) + ' %')}</button>`).join('')}</div>
            <div class="note" id="reason" aria-live="polite">${format(total)} stall cycles in total.</div>`;
        const choose = id => {
            const r = L.stalls.find(x => x.id === id), lines = new Map();
            for (const s of L.waits) {
                if (s.reason !== id) continue;
                const i = L.byPc.get(s.pc);
                if (i) lines.set(i.ptx_line, (lines.get(i.ptx_line) || 0) + s.cycles);
            }
            const sorted = [...lines].sort((a, b) => b[1] - a[1]).slice(0, 8);
            $$('.reasons button', body).forEach(x => x.setAttribute('aria-pressed', x.dataset.reason == id));
            $('#reason', body).innerHTML = `<p><strong>${esc(r.name)}</strong>: ${esc(r.meaning)}.</p>` + grid(sorted, [
                ['line', x => `<button class="link" data-line="${x[0]}">${x[0]}</button>`, 'r'],
                ['cycles', x => num(x[1], {q: 'program_stalls', c: 'cycles'}), 'r'], ['', x => bar(100 * x[1] / r.cycles, REASON[r.name])],
                ['PTX', x => `<code>${esc(L.text(x[0]).trim())}</code>`]], `Lines with stall reason ${r.name}`);
        };
        body.onclick = e => {
            const b = e.target.closest('[data-reason]'), l = e.target.closest('[data-line]');
            if (b) choose(+b.dataset.reason);
            if (l) go(+l.dataset.line);
        };
        choose(L.stalls[0].id);
    },
});
