// memory.js - the panels about memory and lanes: diagram of the levels, single accesses,
// divergence, maps over time.

panel({
    id: 'memory', title: 'Memory chart', query: 'traffic', about: 'Traffic and hit rate of each memory level. The width of a link is its bytes on a logarithmic scale.',
    isAvailable: () => L.traffic.length > 0,
    draw(body) {
        const v = L.levels, W = 980, H = 380, sum = (f, k) => L.traffic.filter(f).reduce((s, r) => s + (r[k] || 0), 0);
        const box = (x, y, w, h, title, lines, colour) => `<g><rect class="unit" x="${x}" y="${y}" width="${w}" height="${h}" rx="8" style="stroke:${colour || 'var(--line)'}"/>
            <text class="title" x="${x + w / 2}" y="${y + 22}" text-anchor="middle">${title}</text>${lines.map((t, i) => `<text x="${x + w / 2}" y="${y + 42 + 17 * i}" text-anchor="middle">${t}</text>`).join('')}</g>`;
        const link = (x1, y1, x2, y2, amount, label, tipText) => {
            if (!amount) return '';
            const w = Math.max(1.5, Math.log2(amount / 32 + 1) * 0.55), m = (x1 + x2) / 2;
            return `<g tabindex="0" data-tip="${esc(tipText.title)}" data-more="${esc(tipText.rows.join('\n'))}"><path class="link" style="stroke-width:${w.toFixed(1)}" d="M${x1},${y1} C${m},${y1} ${m},${y2} ${x2},${y2}" marker-end="url(#arrow)"/>
                <text class="amount" x="${m}" y="${(y1 + y2) / 2 - w / 2 - 5}" text-anchor="middle">${label}</text></g>`;
        };
        const text = (title, rows) => ({title, rows});
        const spaces = ['global', 'local', 'shared', 'const', 'param', 'generic'].filter(s => L.traffic.some(t => t.space === s && t.executed && (t.sectors || t.wavefronts || t.requests)));
        const at = {}, left = 150;
        spaces.forEach((s, i) => { at[s] = 20 + i * (H - 40) / Math.max(1, spaces.length); });
        const rate = (a, b) => a === null || !b ? '–' : format(100 * a / b, 1) + ' %';
        let s = '<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0L8,4L0,8z" class="arrowhead"/></marker></defs>';
        s += box(10, 20, 110, H - 60, 'Kernel', [`${short(L.facts.inst_executed)} instr.`, `${short(sum(() => true, 'executed'))} memory`]);
        const toL1 = r => r.space === 'global' || r.space === 'local' || r.space === 'generic';
        spaces.forEach(name => {
            const rows = L.traffic.filter(r => r.space === name), y = at[name] + 30;
            s += box(left + 40, at[name], 130, 70, name, rows.slice(0, 2).map(r => `${esc(r.kind)} ${short(r.executed)}`), name === 'shared' ? LEVEL.shared : undefined);
            s += link(120, y, left + 40, y, rows.reduce((a, r) => a + (r.executed || 0), 0) * 32, '', text(name, rows.map(r => `${r.kind}: ${counted(r.executed, 'instruction')}, ${counted(r.requests, 'request')}, ${counted(r.sectors, 'sector')}, ${counted(r.wavefronts, 'wavefront')}, ${counted(r.conflicts, 'conflict')}${r.efficiency !== null ? `; ${format(r.efficiency, 1)} % of the bytes were requested` : ''}`)));
        });
        const l1y = 40, shy = 230, l1 = sum(toL1, 'sectors'), other = v.shared_wavefronts - sum(r => r.space === 'shared', 'wavefronts');
        s += box(460, l1y, 120, 110, 'L1', [`load hits ${rate(v.l1_load_hits, v.l1_load_sectors)}`, `${short(l1)} sectors`]);
        if (spaces.includes('shared')) s += box(460, shy, 120, 110, 'Shared', [`${short(v.shared_wavefronts)} wavefronts`, `${short(v.shared_conflicts)} conflicts`], LEVEL.shared);
        spaces.forEach(name => {
            const rows = L.traffic.filter(r => r.space === name), sectors = rows.reduce((a, r) => a + (r.sectors || 0), 0), waves = rows.reduce((a, r) => a + (r.wavefronts || 0), 0), y = at[name] + 30;
            if (name === 'shared') s += link(left + 170, y, 460, shy + 55, waves * 128, `${short(waves)} wavefronts`, text('shared memory', rows.map(r => `${r.kind}: ${counted(r.wavefronts, 'wavefront')}, ${format(r.conflicts)} of them bank conflicts`)));
            else s += link(left + 170, y, 460, l1y + 55, sectors * 32, bytes(sectors * 32), text(name + ' traffic', rows.map(r => `${r.kind}: ${counted(r.sectors, 'sector')} of 32 bytes`)));
        });
        s += box(690, 40, 110, 230, 'L2', [`hits ${rate(v.l2_hits, v.l2_sectors)}`, `${short(v.l2_sectors)} for L1`, `${short(v.l2_other)} other`, `read ${short(v.l2_read)}`, `written ${short(v.l2_write)}`, `atomic ${short(v.l2_atom === null ? null : v.l2_atom + v.l2_red)}`]);
        s += link(690, 75, 580, 75, (v.l1_from_l2 || 0) * 32, bytes((v.l1_from_l2 || 0) * 32), text('L2 to L1', [`${counted(v.l1_from_l2, 'sector')} read (levels.l1_from_l2)`]));
        s += link(580, 120, 690, 120, (v.l1_to_l2 || 0) * 32, bytes((v.l1_to_l2 || 0) * 32), text('L1 to L2', [`${counted(v.l1_to_l2, 'sector')} written (levels.l1_to_l2)`]));
        s += box(880, 40, 90, 230, 'DRAM', ['read', bytes(v.dram_read), '', 'written', bytes(v.dram_write)]);
        s += link(880, 100, 800, 100, v.dram_read || 0, bytes(v.dram_read || 0), text('DRAM to L2', [`${counted(v.dram_read, 'byte')} read (levels.dram_read)`]));
        s += link(800, 200, 880, 200, v.dram_write || 0, bytes(v.dram_write || 0), text('L2 to DRAM', [`${counted(v.dram_write, 'byte')} written (levels.dram_write)`]));
        const n = (value, c, t) => num(value, {q: 'levels', c}, t);
        body.innerHTML = svg(W, H, 'Memory chart: kernel, state spaces, L1 and shared memory, L2, DRAM', s) +
            `<p class="note">L1 load hits ${n(v.l1_load_hits, 'l1_load_hits')} of ${n(v.l1_load_sectors, 'l1_load_sectors')} sectors; L2 hits ${n(v.l2_hits, 'l2_hits')} of ${n(v.l2_sectors, 'l2_sectors')} sectors for L1, and ${n(v.l2_other, 'l2_other')} other sectors at L2: code, constants, traffic between the L2 partitions, launch overhead; DRAM read ${
                n(v.dram_read, 'dram_read', bytes(v.dram_read))}, written ${n(v.dram_write, 'dram_write', bytes(v.dram_write))}.</p>` +
            (spaces.includes('shared') && other > 0 ? `<p class="note">${format(other)} shared-memory wavefronts are not from loads and stores: shuffles, barriers, special registers that differ by lane, operands of tensor instructions.</p>` : '') +
            '<p class="note">From L1, L2, DRAM: the level that served the sectors of an access. A sector counts as from DRAM for each access that waits for it, so the sum can exceed DRAM read.</p>' +
            grid(L.traffic, [['space', r => esc(r.space)], ['kind', r => esc(r.kind)], ...[['executed', 'instructions'], ['requests', 'requests'], ['sectors', 'sectors'], ['sectors_per_request', 'sectors per request'], ['wavefronts', 'wavefronts'],
                ['conflicts', 'conflicts'], ['efficiency', 'requested bytes %'], ['l1_hits', 'from L1'], ['from_l2', 'from L2'], ['from_dram', 'from DRAM']].map(c => [c[1], r => num(r[c[0]], {q: 'traffic', c: c[0]}), 'r'])], 'Traffic by state space and kind');
    },
});

// ---- one access, lane by lane ----

const laneColour = i => `hsl(${(i * 360 / 32).toFixed(0)} 62% 50%)`;

// The location of a lane's byte. Local memory is interleaved: word i of all lanes, then word i + 1,
// so that equal addresses are neighbours.
const byteOffset = (a, p, lane) => a.space === 'local' ? Math.floor(p / 4) * 128 + lane * 4 + p % 4 : p;

// Lanes above, 32-byte sectors of 128-byte lines below.
function coalescing(a) {
    const sectors = new Map();
    a.lanes.forEach((p, lane) => {
        if (p === null) return;
        for (let k = 0; k < a.size; k += Math.min(4, a.size)) {
            const s = Math.floor(byteOffset(a, p + k, lane) / 32);
            sectors.set(s, (sectors.get(s) || new Set()).add(lane));
        }
    });
    const keys = [...sectors.keys()].sort((x, y) => x - y), lines = [...new Set(keys.map(k => Math.floor(k / 4)))];
    const shown = lines.slice(0, 32), W = 980, lw = Math.min(160, (W - 20) / shown.length), H = 250;
    const X = lane => 24 + lane * (W - 48) / (a.lanes.length - 1), S = s => 10 + shown.indexOf(Math.floor(s / 4)) * lw + (s % 4 + 0.5) * lw / 4;
    let out = '';
    for (const [s, touching] of sectors) if (shown.includes(Math.floor(s / 4))) for (const lane of touching)
        out += `<path class="thread" stroke="${laneColour(lane)}" d="M${X(lane).toFixed(1)},42 C${X(lane).toFixed(1)},110 ${S(s).toFixed(1)},110 ${S(s).toFixed(1)},172"/>`;
    for (const l of shown) {
        const x = 10 + shown.indexOf(l) * lw;
        for (let k = 0; k < 4; k++) {
            const touching = sectors.get(l * 4 + k);
            out += `<rect class="cell" x="${x + k * lw / 4 + 0.5}" y="172" width="${lw / 4 - 1}" height="26" ${touching ? `style="fill:${heat(0.15 + 0.5 * Math.min(1, touching.size * a.size / 32))}" data-tip="sector 0x${((l * 4 + k) * 32).toString(16)}: lanes ${[...touching].join(', ')}"` : ''}/>`;
        }
        out += `<rect class="outline" x="${x}" y="171" width="${lw - 1}" height="28"/>` + (lw > 60 ? `<text x="${x + lw / 2}" y="216" text-anchor="middle">0x${(l * 128).toString(16)}</text>` : '');
    }
    a.lanes.forEach((p, lane) => {
        out += `<g data-tip="lane ${lane}${p === null ? ': inactive' : `: address 0x${p.toString(16)}`}"><circle cx="${X(lane)}" cy="30" r="12" fill="${p === null ? 'var(--sunk)' : laneColour(lane)}"/><text class="on" x="${X(lane)}" y="34" text-anchor="middle">${lane}</text></g>`;
    });
    const useful = a.lanes.filter(p => p !== null).length * a.size;
    return svg(W, H, `Lanes and the sectors they access: ${counted(a.sectors, 'sector')}`, out + '<text x="10" y="14">lanes</text>' + `<text x="10" y="240">32-byte sectors in 128-byte lines${lines.length > shown.length ? `, the first ${shown.length} of ${counted(lines.length, 'line')}` : ''}</text>`) +
        `<p>The lanes request <strong>${counted(useful, 'byte')}</strong> in ${counted(keys.length, 'sector')} (${keys.length * 32} bytes) of ${counted(lines.length, 'line')}. ${a.space === 'local' ? 'Local memory is interleaved by lane: equal addresses are contiguous. ' : ''}${
            keys.length > Math.ceil(useful / 32) ? `Contiguous addresses would need ${Math.max(1, Math.ceil(useful / 32))} sectors.` : 'This is the minimum: the access is fully coalesced.'}</p>`;
}

// The 32 banks as columns; a word that several lanes share counts once, further words of a bank
// need another pass.
function banks(a) {
    const words = Array.from({length: 32}, () => new Map());
    a.lanes.forEach((p, lane) => {
        if (p === null) return;
        for (let k = 0; k < Math.max(1, a.size / 4); k++) {
            const w = Math.floor(p / 4) + k, b = ((w % 32) + 32) % 32;
            words[b].set(w, [...(words[b].get(w) || []), lane]);
        }
    });
    const deepest = Math.max(1, ...words.map(m => m.size)), distinct = words.reduce((s, m) => s + m.size, 0), least = Math.max(1, Math.ceil(distinct / 32)), rows = Math.min(deepest, 32), W = 980, cw = (W - 60) / 32, ch = 22, H = 60 + rows * ch + 24;
    let out = '<text x="4" y="30">bank</text>';
    for (let b = 0; b < 32; b++) {
        out += `<text x="${56 + (b + 0.5) * cw}" y="30" text-anchor="middle">${b}</text>`;
        [...words[b].entries()].sort((x, y) => x[0] - y[0]).slice(0, rows).forEach(([w, lanes], i) => {
            out += `<g data-tip="bank ${b}, word at 0x${(w * 4).toString(16)}: lane${lanes.length > 1 ? 's' : ''} ${lanes.join(', ')}"><rect class="cell" x="${56 + b * cw + 1}" y="${40 + i * ch}" width="${cw - 2}" height="${ch - 2}" style="fill:${laneColour(lanes[0])}"/>
                <text class="on" x="${56 + (b + 0.5) * cw}" y="${40 + i * ch + 14}" text-anchor="middle">${lanes.length > 1 ? lanes.length + '×' : lanes[0]}</text></g>`;
        });
    }
    for (let i = 0; i < rows; i++) out += `<text x="4" y="${40 + i * ch + 14}">word ${i + 1}</text>`;
    return svg(W, H, `Shared-memory banks: ${counted(a.wavefronts, 'wavefront')}`, out + `<text x="4" y="${H - 6}">a number is a lane; n×: lanes that access the same word (served together)${deepest > rows ? `; ${deepest - rows} more words are omitted` : ''}</text>`) +
        `<p>The busiest bank serves <strong>${counted(deepest, 'word')}</strong>; the model counts <strong>${num(a.wavefronts, {c: `mem.wavefronts of row ${a.mem}`, about: `SELECT wavefronts FROM mem WHERE id = ${a.mem}`})} wavefront${a.wavefronts > 1 ? 's' : ''}</strong>${
            a.size > 4 ? ` (accesses of ${counted(a.size, 'byte')} per lane need ${distinct} distinct words, at least ${counted(least, 'wavefront')})` : ''}. ${deepest > least ? 'Padding each row by one word, or another mapping of lanes to words, would distribute the words over the banks.' : 'There are no bank conflicts.'}</p>`;
}

panel({
    id: 'accesses', title: 'Accesses', query: 'program', about: 'One memory access by lane: the 32-byte sectors of global memory, or the banks of shared memory, that the lanes of a warp access.',
    isAvailable: () => L.accesses.some(a => a.samples.length && a[a.measure]), needs: '--trace-level mem',
    draw(body) {
        const list = L.accesses.filter(a => a.samples.length && a[a.measure]).map(a => ({...a, ins: L.byPc.get(a.pc)})).sort((a, b) => (b.measure === 'sectors' ? b.sectors : b.wavefronts) - (a.measure === 'sectors' ? a.sectors : a.wavefronts));
        const mean = a => a[a.measure] / a.rows;
        body.innerHTML = `<div class="tools"><label>access <select id="which">${list.map((a, i) => `<option value="${i}">pc ${a.pc}: ${esc(a.ins?.text ?? '')} — ${format(mean(a), 1)} ${a.measure === 'sectors' ? 'sectors' : 'wavefronts'} on average</option>`).join('')}</select></label><span id="samples" class="tools"></span></div><div id="picture"></div>`;
        const show = (i, k) => {
            const a = list[i], s = a.samples[k], most = Math.max(...a.spread.map(x => x[1]));
            $('#samples', body).innerHTML = a.samples.map((x, n) => `<button data-k="${n}" aria-pressed="${n === k}">${x.which}</button>`).join('');
            $('#picture', body).innerHTML = `<p><code>${esc(a.ins?.text ?? '')}</code> in line <button class="link" data-line="${a.ins?.ptx_line}">${a.ins?.ptx_line}</button>, ${num(a.rows, {c: 'rows of mem', about: `SELECT count(*) FROM mem WHERE kernel = ${L.id} AND pc = ${a.pc}`})} accesses, ${
                num(a[a.measure], {c: a.measure, about: `SELECT sum(${a.measure}) FROM mem WHERE kernel = ${L.id} AND pc = ${a.pc}`})} ${a.measure === 'sectors' ? 'sectors' : 'wavefronts'} in total. Shown: the ${s.which} one, of block ${s.block} warp ${s.warp} at cycle ${format(s.cycle)} on multiprocessor ${s.sm}; ${esc(s.space)} ${esc(s.kind)} of ${counted(s.size, 'byte')} per lane, served by ${esc(s.level)}${s.latency ? ` after ${counted(s.latency, 'cycle')}` : ''}.</p>
                ${s.space === 'shared' ? banks(s) : coalescing(s)}
                <h3>Accesses of this instruction, by ${a.measure === 'sectors' ? 'sectors' : 'wavefronts'}</h3><div class="spread">${a.spread.map(([n, c]) => `<div data-tip="${format(c)} accesses with ${n}${n === 65 ? ' or more' : ''}"><i style="height:${Math.max(2, 70 * c / most)}px"></i><span>${n}${n === 65 ? '+' : ''}</span></div>`).join('')}</div>`;
            body.dataset.i = i;
        };
        $('#which', body).onchange = e => show(+e.target.value, 0);
        body.onclick = e => {
            const b = e.target.closest('[data-k]'), l = e.target.closest('[data-line]');
            if (b) show(+body.dataset.i, +b.dataset.k);
            if (l) go(+l.dataset.line);
        };
        show(0, 0);
    },
});

// ---- divergence ----

panel({
    id: 'divergence', title: 'Divergence', query: 'branches', about: 'Divergent branches, active lanes per instruction, and the active masks of the warps with the most inactive lanes.',
    draw(body) {
        const lanes = L.lanes, total = lanes ? lanes.histogram.reduce((a, b) => a + b, 0) : 0, most = lanes ? Math.max(1, ...lanes.histogram) : 1;
        const W = 480, H = 170, step = 428.8 / L.facts.lanes;
        const hist = lanes ? svg(W, H, 'Instructions by number of active lanes', lanes.histogram.map((v, i) => v ? `<rect x="${30 + i * step}" y="${H - 30 - v / most * (H - 50)}" width="${step - 2.4}" height="${Math.max(1, v / most * (H - 50))}" fill="${heat(1 - i * 0.8 / L.facts.lanes)}" tabindex="0" data-tip="${counted(v, 'instruction')} (${format(100 * v / total, 2)} %) with ${i} active lanes"/>` : '').join('') +
            [0, 8, 16, 24, 32, 48, 64].filter(i => i <= L.facts.lanes).map(i => `<text x="${35 + i * step}" y="${H - 14}" text-anchor="middle">${i}</text>`).join('') + `<text x="${W / 2}" y="${H - 1}" text-anchor="middle">active lanes</text>`) : '<p class="note">Needs a trace with --trace-level inst.</p>';
        const rows = L.branches.slice(0, 12);
        body.innerHTML = `<div class="two"><div><h3>Branches</h3>${rows.length ? grid(rows, [['pc', r => r.pc, 'r'], ['instruction', r => `<code>${esc(r.text)}</code>`], ['line', r => `<button class="link" data-line="${r.ptx_line}">${r.ptx_line}</button>`, 'r'],
            ['executed', r => num(r.branches, {q: 'branches', c: 'branches'}), 'r'], ['diverged', r => num(r.divergent, {q: 'branches', c: 'divergent'}), 'r'], ['%', r => num(r.percent, {q: 'branches', c: 'percent'}), 'r']], 'Most divergent branches') : '<p>No branches were executed.</p>'}</div>
            <div><h3>Active lanes per instruction</h3>${hist}<p class="note">${num(L.metric.warp_execution_efficiency, {m: 'warp_execution_efficiency'}, format(L.metric.warp_execution_efficiency, 1) + ' %')} of lanes active on average.</p></div></div>
            ${lanes && lanes.warps.length ? `<h3>Active masks over instructions</h3><div class="tools">${lanes.warps.map((w, i) => `<button data-w="${i}">block ${w.block} warp ${w.warp}: ${format(w.lanes / w.executed, 1)} lanes</button>`).join('')}</div>
            <canvas id="masks" height="228" role="application" aria-label="Active lanes of one warp: a column is an instruction, a row is a lane; arrow keys move"></canvas><div class="detail" id="mask" aria-live="polite">A column is an executed instruction, a row is a lane; filled: active.</div>` : ''}`;
        body.onclick = e => {
            const l = e.target.closest('[data-line]'), w = e.target.closest('[data-w]');
            if (l) go(+l.dataset.line);
            if (w) this.masks(body, lanes.warps[+w.dataset.w], +w.dataset.w);
        };
        if (lanes && lanes.warps.length) this.masks(body, lanes.warps[0], 0);
    },
    masks(body, w, at) {
        const c = $('#masks', body), g = c.getContext('2d'), r = new Reader(w.data), pcs = [], masks = [], d = devicePixelRatio || 1, halves = L.facts.lanes / 32;
        for (let pc = 0, m = [0, 0]; !r.done;) {
            pc += r.signed();
            m = m.map((v, h) => h < halves ? (v ^ r.number()) >>> 0 : 0);
            pcs.push(pc);
            masks.push(m);
        }
        const width = Math.max(320, body.clientWidth), step = Math.max(1, Math.min(14, width / masks.length)), n = Math.min(masks.length, Math.floor(width / step));
        c.style.width = width + 'px';
        c.style.height = '228px';
        c.width = width * d;
        c.height = 228 * d;
        g.scale(d, d);
        g.fillStyle = css('--sunk');
        g.fillRect(0, 0, n * step, 224);
        for (let i = 0; i < n; i++) {
            const full = masks[i].every((m, h) => h >= halves || m === 0xffffffff);
            for (let k = 0; k < L.facts.lanes; k++) {
                if (!(masks[i][k >> 5] >>> k % 32 & 1)) continue;
                g.fillStyle = full ? '#7da7d9' : laneColour(pcs[i] * 5 % 32);
                g.fillRect(i * step, k * 7 / halves, Math.max(0.6, step - (step > 3 ? 1 : 0)), 7 / halves - 1 / halves);
            }
        }
        $$('[data-w]', body).forEach(b => b.setAttribute('aria-pressed', +b.dataset.w === at));
        const showCell = i => {
            const ins = L.byPc.get(pcs[i]);
            if (i >= 0 && i < n) $('#mask', body).innerHTML = `instruction ${i + 1} of the warp: pc ${pcs[i]} <code>${esc(ins?.text ?? '')}</code>, line ${ins?.ptx_line}, ${masks[i].map(m => m.toString(2).replace(/0/g, '').length).reduce((a, b) => a + b)} lanes`;
        };
        c.onmousemove = e => showCell(Math.floor((e.clientX - c.getBoundingClientRect().left) / step));
        cursorKeys(c, () => [n, 1], showCell);
        $('#mask', body).innerHTML = `The first ${format(n)} of ${counted(w.executed, 'instruction')}. A column is an instruction, a row is a lane; blue: all lanes active; other colours: partial warp, one colour per pc.`;
    },
});

// ---- maps over time ----

panel({
    id: 'maps', title: 'Memory over time', query: 'windows', about: 'Global memory addresses requested over time, by the level that served them, and sectors per time window.',
    isAvailable: () => L.hasMaps, needs: '--trace-level mem (timing mode)',
    draw(body) {
        const m = L.maps, names = {l1: 'L1', l2: 'L2', dram: 'DRAM'}, sums = m.levels.map((_, k) => { let s = 0; for (let i = 0; i < m.addresses.length; i++) for (let t = 0; t < m.windows; t++) s += m.at(i, k, t); return s; });
        body.innerHTML = `<div class="tools">${m.levels.map((l, k) => `<button data-level="${k}" ${sums[k] ? '' : 'disabled'}>${names[l]}: ${counted(sums[k], 'sector')}</button>`).join('')}</div><canvas id="map" height="320" role="application" aria-label="Addresses over time; arrow keys move"></canvas>
            <div class="detail" id="cell" aria-live="polite">A row is ${bytes(m.page)} of memory, a column ${counted(m.width, 'cycle')}; gaps between buffers are omitted.</div><div id="series"></div>`;
        const draw = k => {
            const c = $('#map', body), g = c.getContext('2d'), d = devicePixelRatio || 1, width = Math.max(320, body.clientWidth), H = 320, l = 110;
            c.style.width = width + 'px';
            c.style.height = H + 'px';
            c.width = width * d;
            c.height = H * d;
            g.scale(d, d);
            const n = m.addresses.length, ch = (H - 22) / n, used = Math.min(m.windows, Math.ceil(L.facts.span / m.width)), cw = (width - l) / used;
            let most = 1;
            for (let i = 0; i < n; i++) for (let t = 0; t < used; t++) most = Math.max(most, m.at(i, k, t));
            g.fillStyle = css('--sunk');
            g.fillRect(l, 0, width - l, H - 22);
            g.font = '11px ui-monospace, monospace';
            let written = -20;
            for (let i = 0; i < n; i++) {
                const gap = i && m.addresses[i] !== m.addresses[i - 1] + m.page;
                for (let t = 0; t < used; t++) {
                    const v = m.at(i, k, t);
                    if (!v) continue;
                    g.fillStyle = heat(Math.sqrt(v / most) * 0.9 + 0.1);
                    g.fillRect(l + t * cw, i * ch, cw + 0.3, ch + 0.3);
                }
                if (gap) { g.fillStyle = css('--ink'); g.fillRect(l - 6, i * ch - 0.5, width - l + 6, 1); }
                if ((gap || i === 0 || i * ch - written > 60) && i * ch - written > 13) {
                    g.fillStyle = css('--dim');
                    g.fillText('0x' + m.addresses[i].toString(16), 2, i * ch + 10);
                    written = i * ch;
                }
            }
            g.fillStyle = css('--dim');
            for (let i = 0; i <= 6; i++) { g.textAlign = i === 6 ? 'right' : i ? 'center' : 'left'; g.fillText(format(Math.round(L.facts.span * i / 6)), l + (width - l) * i / 6, H - 6); }
            g.textAlign = 'left';
            $$('[data-level]', body).forEach(b => b.setAttribute('aria-pressed', +b.dataset.level === k));
            const showCell = (t, i) => {
                if (t >= 0 && t < used && i >= 0 && i < n) $('#cell', body).innerHTML = `address 0x${m.addresses[i].toString(16)}, cycles ${format(t * m.width)} to ${format((t + 1) * m.width - 1)}: ${m.levels.map((x, q) => `${names[x]} <strong>${format(m.at(i, q, t))}</strong>`).join(', ')} sectors`;
            };
            c.onmousemove = e => {
                const r = c.getBoundingClientRect();
                showCell(Math.floor((e.clientX - r.left - l) / cw), Math.floor((e.clientY - r.top) / ch));
            };
            cursorKeys(c, () => [used, n], showCell);
        };
        body.onclick = e => { const b = e.target.closest('[data-level]'); if (b) draw(+b.dataset.level); };
        draw(sums[2] ? 2 : sums[1] ? 1 : 0);
        $('#series', body).innerHTML = series();
    },
});

panel({
    id: 'units', title: 'Slices and channels', query: 'units', about: 'Sectors at each L2 slice and DRAM channel over time. Horizontal stripes: the addresses map to few units, which limit the throughput (partition camping).',
    isAvailable: () => L.units.length > 0, needs: '--trace-level inst (timing mode)',
    draw(body) {
        const groups = new Map();
        for (const u of L.units) {
            const key = `${u.component} ${u.name}`;
            if (!groups.has(key)) groups.set(key, []);
            groups.get(key).push(u);
        }
        const keys = [...groups.keys()], word = {hit_sectors: 'hits', miss_sectors: 'misses', read_sectors: 'reads', write_sectors: 'writes'};
        const title = k => { const u = groups.get(k)[0]; return `${u.component === 'l2 slice' ? 'L2 slices' : 'DRAM channels'}: ${word[u.name]}`; };
        body.innerHTML = `<div class="tools">${keys.map((k, i) => `<button data-units="${i}">${title(k)}</button>`).join('')}</div>
            <canvas id="unitmap" height="300" role="application" aria-label="Units of the memory system over time; arrow keys move"></canvas><div class="detail" id="unit" aria-live="polite"></div><p class="note" id="balance"></p>`;
        const draw = index => {
            const rows = groups.get(keys[index]), width = Math.max(...rows.map(u => u.cycles)), n = Math.min(4096, Math.max(...rows.map(u => u.unit)) + 1);
            const used = Math.min(4096, Math.max(1, Math.ceil(L.facts.span / width))), cells = Array.from({length: n}, () => new Float64Array(used));
            let most = 1;
            for (const u of rows) for (const part of u.windows.split(' ')) {
                const [t, v] = part.split(':').map(Number);
                if (t < used && cells[u.unit]) cells[u.unit][t] = v;
                most = Math.max(most, v);
            }
            const c = $('#unitmap', body), g = c.getContext('2d'), d = devicePixelRatio || 1, W = Math.max(320, body.clientWidth), H = 300, l = 60, cw = (W - l) / used, ch = (H - 22) / n;
            c.style.width = W + 'px';
            c.style.height = H + 'px';
            c.width = W * d;
            c.height = H * d;
            g.scale(d, d);
            g.fillStyle = css('--sunk');
            g.fillRect(l, 0, W - l, H - 22);
            cells.forEach((row, i) => row.forEach((v, t) => {
                if (!v) return;
                g.fillStyle = heat(Math.sqrt(v / most) * 0.9 + 0.1);
                g.fillRect(l + t * cw, i * ch, cw + 0.3, ch + 0.3);
            }));
            g.font = '11px ui-monospace, monospace';
            g.fillStyle = css('--dim');
            for (let i = 0; i < n; i += Math.max(1, Math.ceil(14 / ch / 8) * 8)) g.fillText(String(i), 30, i * ch + 10);
            for (let i = 0; i <= 6; i++) { g.textAlign = i === 6 ? 'right' : i ? 'center' : 'left'; g.fillText(format(Math.round(L.facts.span * i / 6)), l + (W - l) * i / 6, H - 6); }
            g.textAlign = 'left';
            $$('[data-units]', body).forEach(b => b.setAttribute('aria-pressed', +b.dataset.units === index));
            const what = rows[0].component === 'l2 slice' ? 'slice' : 'channel', busiest = rows.reduce((a, b) => b.sectors > a.sectors ? b : a), all = rows.reduce((s, u) => s + u.sectors, 0);
            $('#unit', body).textContent = `A row is a ${what}, a column ${counted(width, 'cycle')}; the label at the left is the ${what} number.`;
            $('#balance', body).innerHTML = `${num(all, {q: 'units', c: 'sectors', about: 'sum over all units'})} sectors at ${rows.length} of ${n} ${what}s; the busiest, ${what} ${format(busiest.unit)}, has ${num(busiest.sectors, {q: 'units', c: 'sectors'})}: ${format(busiest.sectors * n / all, 2)} times the average.`;
            const showCell = (t, i) => { if (t >= 0 && t < used && i >= 0 && i < n) $('#unit', body).innerHTML = `${what} ${i}, cycles ${format(t * width)} to ${format((t + 1) * width - 1)}: <strong>${format(cells[i][t])}</strong> sectors`; };
            c.onmousemove = e => {
                const r = c.getBoundingClientRect();
                showCell(Math.floor((e.clientX - r.left - l) / cw), Math.floor((e.clientY - r.top) / ch));
            };
            cursorKeys(c, () => [used, n], showCell);
        };
        body.onclick = e => { const b = e.target.closest('[data-units]'); if (b) draw(+b.dataset.units); };
        draw(0);
    },
});

// Line charts for every series of the trace's windows, a small chart for each component.
function series() {
    const groups = new Map(), length = Math.max(1, ...L.windows.map(w => w.cycles));
    for (const w of L.windows) {
        if (!groups.has(w.component)) groups.set(w.component, new Map());
        const g = groups.get(w.component);
        if (!g.has(w.name)) g.set(w.name, new Float64Array(Math.min(4096, Math.floor(L.facts.span / length) + 1)));
        g.get(w.name)[Math.floor(w.cycle / length)] = w.value; // windows with value 0 have no row
    }
    const colours = ['#3a6fd8', '#cf4257', '#2f9e77', '#e9a820', '#8a56cf', '#13808f', '#de86b0', '#80705c'];
    return '<div class="charts">' + [...groups].slice(0, 12).map(([component, names]) => {
        const W = 460, H = 150, list = [...names].slice(0, 8);
        const paths = list.map(([, ws], i) => {
            const most = Math.max(1, ...ws);
            return `<polyline class="series" stroke="${colours[i]}" points="${[...ws].map((v, k) => `${(10 + (k + 0.5) / ws.length * (W - 20)).toFixed(1)},${(H - 20 - v / most * (H - 34)).toFixed(1)}`).join(' ')}"/>`;
        }).join('');
        return `<figure>${svg(W, H, `${component} over time`, paths + `<text x="10" y="${H - 4}">0</text><text x="${W - 10}" y="${H - 4}" text-anchor="end">${counted(L.facts.span, 'cycle')}</text>`)}
            <figcaption class="legend"><strong>${esc(component)}</strong> ${list.map(([name, ws], i) => `<span><i class="dot" style="background:${colours[i]}"></i>${esc(name)} ${num(ws.reduce((s, v) => s + v, 0), {q: 'windows', c: 'value', about: `sum of ${name} over all windows; each series has its own scale`})}</span>`).join(' ')}</figcaption></figure>`;
    }).join('') + '</div><p class="note">Each series has its own scale; the number is its total.</p>';
}
