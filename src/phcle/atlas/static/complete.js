// The section Complete: predicted cells and suspicious known ones, to accept, change or refuse.
// Decisions stay in this browser (localStorage), apart for each embedding, until they are
// saved, in the form that `phcle complete --decisions` reads, or cleared.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const { html, count } = Phcle;
  const N_ON_PAGE = 25;
  const MOST_SUSPICIOUS = 200;
  const MOST_LIKELY = 5;

  // -- Decisions

  class Decisions {
    constructor(digest, changed) {
      Object.assign(this, { key: `phcle-decisions-${digest}`, changed });
      this.load();
    }

    load() {
      try {
        this.all = new Map(JSON.parse(root.localStorage.getItem(this.key) || "[]"));
      } catch {
        this.all = new Map(); // storage may be blocked, or hold something else
      }
    }

    store() {
      try {
        root.localStorage.setItem(this.key, JSON.stringify([...this.all]));
      } catch {
        // Storage may be blocked; then decisions last until the page is left.
      }
      this.changed();
    }

    id({ kind, label, context, column }) {
      return JSON.stringify([kind, label, context, column]);
    }

    of(cell) {
      return this.all.get(this.id(cell));
    }

    // The same again takes a decision back.
    decide(cell, decision, value = cell.value) {
      const before = this.of(cell);
      const is_same = before?.decision === decision && before.value === value;
      const time = new Date().toISOString();
      if (is_same) this.all.delete(this.id(cell));
      else this.all.set(this.id(cell), { ...cell, value, decision, time });
      this.store();
    }

    rows() {
      return [...this.all.values()].map((each) => ({
        kind: each.kind,
        label: each.label,
        name: each.name,
        context: each.context,
        column: each.column,
        value: each.value,
        known: each.known ?? "",
        confidence: each.confidence ?? "",
        low: each.low ?? "",
        high: each.high ?? "",
        decision: each.decision,
        time: each.time,
      }));
    }

    panel() {
      const all = [...this.all.values()];
      const n = (decision) => all.filter((each) => each.decision === decision).length;
      const clear = () => {
        if (!root.confirm(`Forget all ${all.length} decisions?`)) return;
        this.all.clear();
        this.store();
      };
      return [
        html`<strong>${n("accept")} accepted, ${n("reject")} refused</strong>`,
        html`<span class="quiet">Save decisions for <code>phcle complete --decisions</code></span>`,
        Phcle.downloads(() => this.rows(), "decisions"),
        Phcle.button("Clear", clear, { class: "button" }),
      ];
    }
  }

  // -- One cell to decide about

  // What a cell may be changed to: its values, or a box for a number.
  function changer(cell, own, take) {
    const name = `Another value for ${cell.column} of ${cell.name}`;
    const now = own?.decision === "accept" ? own.value : cell.value;
    if (cell.values?.length) {
      const options = cell.values.map((value) => html`<option selected=${value === now}>${value}</option>`);
      return html`<select aria-label=${name} onchange=${({ target }) => take(target.value)}>${options}</select>`;
    }
    const typed = ({ target }) => {
      if (target.value !== "") take(String(Number(target.value)));
    };
    return html`<input type="number" step="any" value=${now} aria-label=${name} onchange=${typed} />`;
  }

  function draw_buttons(item) {
    const { cell, decisions } = item;
    const own = decisions.of(cell);
    const { kind, name, column, value, known } = cell;
    item.classList.toggle("accepted", own?.decision === "accept");
    item.classList.toggle("rejected", own?.decision === "reject");
    const what = `${column} of ${name}`;
    const decide = (decision, text) => () => decisions.decide(cell, decision, text);
    const button = (decision, words, told) =>
      Phcle.button(words, decide(decision), {
        class: `button decide-${decision}`,
        "aria-pressed": own?.decision === decision,
        "aria-label": told,
      });
    const both =
      kind === "gap"
        ? [button("accept", "Accept", `Accept ${value} as ${what}`), button("reject", "Refuse", `Refuse ${value} as ${what}`)]
        : [button("accept", `Use ${value}`, `Use ${value} as ${what}`), button("reject", "Keep", `Keep ${known} as ${what}`)];
    const place = item.querySelector(".gap-decide");
    const focused = place.contains(document.activeElement) ? document.activeElement.ariaLabel : null;
    const other = changer(cell, own, (text) => decisions.decide(cell, "accept", text));
    place.replaceChildren(...both, other);
    [...place.children].find((each) => each.ariaLabel === focused)?.focus();
  }

  // The reasons of a prediction are asked for when they are opened.
  function reasons({ label, context, column }) {
    const body = html`<div></div>`;
    const ask = async () => {
      const { cells } = await Phcle.label_answer(label);
      const own = cells.find((each) => each.context === context && each.column === column) ?? {};
      const likely = Object.entries(own.probabilities ?? {})
        .sort((a, b) => b[1] - a[1])
        .slice(0, MOST_LIKELY)
        .map(([value, share]) => `${value} ${Phcle.percent(share)}`);
      const family = Phcle.value_text(own.family);
      return [
        likely.length > 1 && html`<p>${likely.join(" · ")}</p>`,
        family && html`<p>family: <bdi>${family}</bdi></p>`,
        html`<p>${own.why || "No reasons are stored for this cell."}</p>`,
      ];
    };
    const toggle = ({ target }) => target.open && !body.firstChild && Phcle.show(body, ask());
    return html`<details class="gap-why quiet" ontoggle=${toggle}><summary>why</summary>${body}</details>`;
  }

  function listed(cell, decisions, what, told, why) {
    const item = html`<li class="gap" tabindex="-1">
      <div class="gap-what">${what}</div><div class="gap-value">${told}</div>${why}
      <div class="gap-decide"></div>
    </li>`;
    Object.assign(item, { cell, decisions });
    draw_buttons(item);
    return item;
  }

  const field_name = ({ column, context }) => html`<span>
    <span class="attribute-name"><bdi>${column}</bdi></span> <span class="quiet"><bdi>${context}</bdi></span>
  </span>`;

  function gap(cell, decisions, what) {
    const { value, confidence, low, high } = cell;
    const sure = Phcle.sure_text({ confidence, low, high });
    const is_share = confidence !== null && confidence !== undefined;
    const told = [
      html`<strong><bdi>${value}</bdi></strong>`,
      is_share && Phcle.bar(confidence, "faint"),
      html`<span class="near-value">${is_share ? `${sure} sure` : sure}</span>`,
    ];
    return listed({ kind: "gap", ...cell }, decisions, what, told, reasons(cell));
  }

  function suspicious(each, decisions, values) {
    const { label, name, context, column, value, expected, chance, low, high, family, why } = each;
    const odd = chance === null; // read as unknown, such as a word among numbers
    const text = Phcle.value_text;
    const cell = {
      kind: odd ? "gap" : "suspicious", label, name, context, column, values,
      value: text(expected), known: text(value), confidence: odd ? "" : (1 - chance).toFixed(4),
    };
    const about = odd ? why : `chance of the known value: ${(100 * chance).toPrecision(2)} %`;
    const reason = html`<div class="gap-why quiet"><p>${about}</p>
      ${low !== null && html`<p>interval: ${text(low)} to ${text(high)}</p>`}
      ${family !== null && html`<p>family: <bdi>${text(family)}</bdi></p>`}</div>`;
    const what = [Phcle.label_link(each), " ", field_name(cell)];
    const told = html`is <strong><bdi>${text(value)}</bdi></strong>, expected <strong><bdi>${text(expected)}</bdi></strong>`;
    return listed(cell, decisions, what, told, reason);
  }

  // -- Lists of cells

  const keys = () => html`<p class="quiet keys">
    Keys: <kbd>a</kbd> accept, <kbd>r</kbd> refuse, <kbd>↓</kbd> <kbd>↑</kbd> next and previous.
  </p>`;

  function pager(page, pages, asked) {
    const leaf = (number, words) => {
      const address = Phcle.address("/complete", { ...asked, page: number });
      if (number < 1 || number > pages) return html`<span class="button off" aria-hidden="true">${words}</span>`;
      return html`<a class="button" href=${address}>${words}</a>`;
    };
    return pages > 1 && html`<nav class="pager" aria-label="Pages">
      ${leaf(page - 1, "Previous")}<span>Page ${count(page)} of ${count(pages)}</span>${leaf(page + 1, "Next")}
    </nav>`;
  }

  const values_of = ({ kind, values }) => (kind === "truth" ? ["yes", "no"] : kind === "category" ? values : null);

  async function gaps_of_column(columns, decisions, asked) {
    const [context, title] = [asked.get("context"), asked.get("column")];
    const column = await columns.load(context, title);
    const field = columns.fields.find((each) => each.context === context && each.title === title);
    const is_turned = asked.get("order") === "least";
    const rows = is_turned ? column.gaps().reverse() : column.gaps();
    const pages = Math.ceil(rows.length / N_ON_PAGE);
    const page = Math.min(Math.max(1, Number(asked.get("page")) || 1), Math.max(1, pages));
    const on_page = rows.subarray((page - 1) * N_ON_PAGE, page * N_ON_PAGE);
    const named = await columns.named(on_page);
    const items = named.map((each, i) => {
      const row = on_page[i];
      const how = column.how[row];
      const cell = {
        ...each, context, column: title, values: values_of(column), value: column.text(row),
        confidence: column.is_number || how > 100 ? null : how / 100,
        low: column.is_number && !Number.isNaN(column.low[row]) ? column.low[row] : null,
        high: column.is_number ? column.high[row] : null,
      };
      return gap(cell, decisions, Phcle.label_link(each));
    });
    const own = { context, column: title };
    const turned = Phcle.address("/complete", is_turned ? own : { ...own, order: "least" });
    const { skill } = field ?? {};
    const order = is_turned ? { order: "least" } : {};
    return Phcle.section(
      `${Phcle.count(rows.length, "gap")} of ${title}`,
      [
        skill && html`<p class="quiet">On hidden cells of this column the predictions are
          ${` ${skill.words}: ${skill.measure} ${skill.score?.toFixed(2)}`}.</p>`,
        column.is_number && html`<p class="quiet">An interval holds the truth in 80 of 100 cases.</p>`,
        keys(),
        items.length > 0 ? html`<ol class="gaps">${items}</ol>` : html`<p>Every cell is known, or nothing can be said about the others.</p>`,
        pager(page, pages, { ...own, ...order }),
      ],
      html`<a href=${turned}>${is_turned ? "Surest first" : "Least sure first"}</a>`,
    );
  }

  async function gaps_of_label(columns, decisions, label) {
    const answer = await Phcle.label_answer(label);
    const gaps = answer.cells.filter(({ observed, value }) => !observed && value !== null);
    gaps.sort((a, b) => (b.confidence ?? -1) - (a.confidence ?? -1));
    const items = await Promise.all(
      gaps.map(async (each) => {
        const own = await columns.load(each.context, each.column);
        const cell = {
          label: answer.label, name: answer.name, context: each.context, column: each.column,
          values: values_of(own), value: Phcle.value_text(each.value),
          confidence: each.confidence, low: each.low, high: each.high,
        };
        return gap(cell, decisions, field_name(cell));
      }),
    );
    const content = items.length > 0 ? [keys(), html`<ol class="gaps">${items}</ol>`] : html`<p>Every cell of this label is known.</p>`;
    return Phcle.section(`${Phcle.count(gaps.length, "gap")} of ${answer.name}`, content, Phcle.label_link(answer));
  }

  async function suspicious_cells(columns, decisions) {
    const { message, cells } = await Phcle.get("/api/suspicious");
    const told = cells.length ? `${Phcle.count(cells.length, "cell")}, the most suspicious first.` : "None stands out.";
    const items = await Promise.all(
      cells.slice(0, MOST_SUSPICIOUS).map(async (each) => {
        const own = await columns.load(each.context, each.column);
        return suspicious(each, decisions, values_of(own));
      }),
    );
    return Phcle.section("Suspicious known cells", [
      html`<p class="quiet" role="status">${message || told}</p>`,
      html`<ol class="gaps">${items}</ol>`,
    ]);
  }

  function all_columns(fields) {
    const lines = fields.map(({ context, title, kind, gaps, skill }) => {
      const address = Phcle.address("/complete", { context, column: title });
      const score = skill && html` <span class="quiet">${skill.measure} ${skill.score?.toFixed(2)}</span>`;
      return html`<tr>
        <th scope="row"><a href=${address}><bdi>${title}</bdi></a></th>
        <td><bdi>${context}</bdi></td><td>${kind}</td><td class="number">${count(gaps)}</td>
        <td>${skill ? skill.words : html`<span class="quiet">not measured</span>`}${score}</td>
      </tr>`;
    });
    return Phcle.section("Columns with gaps", html`<div class="scroll" tabindex="0"><table>
      <thead><tr><th scope="col">Column</th><th scope="col">Context</th><th scope="col">Kind</th>
        <th scope="col" class="number">Gaps</th><th scope="col">Predictions of hidden cells are</th></tr></thead>
      <tbody>${lines}</tbody>
    </table></div>`);
  }

  // -- The page

  let decisions = null;
  let bar = null;
  const items = () => [...document.querySelectorAll(".gap")];

  function show_decisions() {
    bar.hidden = !decisions.all.size;
    bar.replaceChildren(...decisions.panel());
    items().forEach(draw_buttons);
  }

  Phcle.pages["/complete"] = async function (asked) {
    const [info, columns] = await Promise.all([Phcle.once("/api/info"), Phcle.columns()]);
    const fields = columns.fields
      .map((each) => ({ ...each, gaps: columns.n - each.known }))
      .filter(({ gaps }) => gaps > 0);
    const head = Phcle.page_head(
      "Complete the table",
      "Go through predicted values and accept, change or refuse them. Your browser keeps the decisions until you save or clear them; the embedding does not change.",
    );
    if (!fields.length) {
      const none = html`<p class="card">This embedding has no table with gaps that can be predicted.</p>`;
      return { title: "Complete", content: [head, none] };
    }
    decisions ??= new Decisions(info.digest, () => show_decisions());
    const box = html`<input id="gaps-label" type="search" />`;
    const take = ({ label }) => Phcle.open("/complete", { label });
    const options = fields.map(({ title, context, gaps }, i) => {
      const is_now = asked.get("context") === context && asked.get("column") === title;
      return html`<option value=${i} selected=${is_now}>${title} (${context}): ${count(gaps)} gaps</option>`;
    });
    const pick = ({ target }) => {
      const { context, title } = fields[Number(target.value)];
      Phcle.open("/complete", { context, column: title });
    };
    bar = html`<section class="card decisions" aria-label="Your decisions" hidden></section>`;
    let list = () => all_columns(fields);
    if (asked.get("suspicious")) list = () => suspicious_cells(columns, decisions);
    else if (asked.get("label")) list = () => gaps_of_label(columns, decisions, asked.get("label"));
    else if (asked.get("column")) list = () => gaps_of_column(columns, decisions, asked);
    const content = [
      head,
      html`<section class="card chooser choose-gaps" aria-label="What to complete">
        <div><label for="gaps-label">Gaps of a label</label>${Phcle.suggest_labels(box, take)}</div>
        <div><label for="gaps-column">Gaps of a column</label>
          <select id="gaps-column" onchange=${pick}><option value="" disabled selected>choose a column</option>${options}</select></div>
        <div><span class="choose-title">Suspicious known cells</span>
          <a class="button" href=${Phcle.address("/complete", { suspicious: 1 })}>Look for them</a></div>
      </section>`,
      !info.is_predicted && html`<p class="card">The fit predicted no gaps: values come from the vectors alone, without intervals and probabilities.</p>`,
      bar,
      await list(),
    ];
    return { title: "Complete", content, shown: show_decisions };
  };

  // Keys: a and r decide and go on, arrows move.
  document.addEventListener("keydown", (event) => {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = items();
    const now = all.indexOf(event.target.closest(".gap"));
    const go = (i) => {
      const next = all[Math.min(Math.max(i, 0), all.length - 1)];
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    };
    const decision = { a: "accept", r: "reject" }[event.key];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!all.length || !(step || (decision && now >= 0))) return;
    event.preventDefault();
    if (decision) decisions.decide(all[now].cell, decision);
    go(now < 0 ? 0 : now + (step ?? 1));
  });

  // Another tab may decide, too.
  root.addEventListener("storage", ({ key }) => {
    if (key !== decisions?.key) return;
    decisions.load();
    show_decisions();
  });
})(window);
