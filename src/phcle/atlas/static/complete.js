// The section Complete: predicted cells and suspicious known ones, to accept, change or refuse.
// Decisions stay in this browser (localStorage), apart for each embedding, until they are
// saved, in the form that `phcle complete --decisions` reads, or cleared.
//
// A cell has label, name, context, column, the `value` to accept as text, and `values` it may
// have instead. Its kind is "gap", or "suspicious" if its value is `known`.
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const N_ON_PAGE = 25;
  const MOST_SUSPICIOUS = 200;
  const MOST_LIKELY = 5;
  const MOST_DRAWN = 60; // profiles that are drawn without being asked for
  const MANY = 200_000; // labels from which on none is
  // Numbers that are rounded to zero lose their sign.
  const hundredths = (number) =>
    number === null ? "–" : (Math.round(100 * number) / 100).toFixed(2);
  const SAVED = [
    ...["kind", "label", "name", "context", "column", "value", "known"],
    ...["confidence", "low", "high", "decision", "time"],
  ];

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
      const row = (each) => Object.fromEntries(SAVED.map((key) => [key, each[key] ?? ""]));
      return [...this.all.values()].map(row);
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
    if (cell.values) {
      const option = (value) => html`<option selected=${value === now}>${value}</option>`;
      const pick = ({ target }) => take(target.value);
      return html`<select aria-label=${name} onchange=${pick}>${cell.values.map(option)}</select>`;
    }
    const typed = ({ target }) => target.value !== "" && take(String(Number(target.value)));
    return html`<input type="number" step="any" value=${now} aria-label=${name} onchange=${typed} />`;
  }

  function draw_buttons(item) {
    const { cell } = item;
    const own = decisions.of(cell);
    item.classList.toggle("accepted", own?.decision === "accept");
    item.classList.toggle("rejected", own?.decision === "reject");
    const is_gap = cell.kind === "gap";
    const button = (decision, words, value, title = words) => {
      const about = { class: `button decide-${decision}`, "aria-pressed": own?.decision === decision };
      const name = `${title} ${value} as ${cell.column} of ${cell.name}`;
      const decide = () => decisions.decide(cell, decision);
      return Phcle.button(words, decide, { ...about, "aria-label": name });
    };
    const place = item.querySelector(".gap-decide");
    const focused = place.contains(document.activeElement) && document.activeElement.ariaLabel;
    place.replaceChildren(
      is_gap ? button("accept", "Accept", cell.value) : button("accept", `Use ${cell.value}`, cell.value, "Use"),
      is_gap ? button("reject", "Refuse", cell.value) : button("reject", "Keep", cell.known),
      changer(cell, own, (value) => decisions.decide(cell, "accept", value)),
    );
    [...place.children].find((each) => each.ariaLabel === focused)?.focus();
  }

  // What speaks for a predicted value.
  function reasons({ label, context, column }) {
    const ask = async () => {
      const { cells } = await Phcle.row_of(label);
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
    return Phcle.unfolding("why", ask, "gap-why quiet");
  }

  function listed(cell, what, why = reasons(cell)) {
    const { kind, value, known, confidence } = cell;
    const is_share = typeof confidence === "number";
    const sure = Phcle.sure_text(cell);
    const shown =
      kind === "gap"
        ? html`<strong><bdi>${value}</bdi></strong>${is_share && Phcle.bar(confidence, "faint")}
            <span class="near-value">${is_share ? `${sure} sure` : sure}</span>`
        : html`is <strong><bdi>${known}</bdi></strong>, expected <strong><bdi>${value}</bdi></strong>`;
    const item = html`<li class="gap" tabindex="-1">
      <div class="gap-what">${what}</div><div class="gap-value">${shown}</div>${why}
      <div class="gap-decide"></div>
    </li>`;
    item.cell = cell;
    draw_buttons(item);
    return item;
  }

  const field_name = ({ column, context }) => html`<span>
    <span class="attribute-name"><bdi>${column}</bdi></span> <span class="quiet"><bdi>${context}</bdi></span>
  </span>`;

  const list_of = (items) => [
    html`<p class="quiet keys">
      Keys: <kbd>a</kbd> accept, <kbd>r</kbd> refuse, <kbd>↓</kbd> <kbd>↑</kbd> next and previous.
    </p>`,
    items.length
      ? html`<ol class="gaps">${items}</ol>`
      : html`<p>Every cell is known, or nothing can be said about the others.</p>`,
  ];

  // Values that cells of a column may have; numbers may have any.
  const values_of = ({ kind, values }) => (kind === "number" ? null : values);

  async function gaps_of_column(columns, asked) {
    const [context, title] = [asked.get("context"), asked.get("column")];
    const column = await columns.load(context, title);
    const { skill } = columns.fields.find((each) => each.context === context && each.title === title) ?? {};
    const is_turned = asked.get("order") === "least";
    const rows = is_turned ? column.gaps().reverse() : column.gaps();
    const pages = Math.max(1, Math.ceil(rows.length / N_ON_PAGE));
    const page = Math.min(Math.max(1, Number(asked.get("page")) || 1), pages);
    const on_page = rows.subarray((page - 1) * N_ON_PAGE, page * N_ON_PAGE);
    const named = await columns.named(on_page);
    const items = named.map((each, i) => {
      const cell = { kind: "gap", ...each, context, column: title, values: values_of(column) };
      const predicted = { value: column.text(on_page[i]), ...column.sure(on_page[i]) };
      return listed({ ...cell, ...predicted }, Phcle.label_link(each));
    });
    const own = { context, column: title };
    const order = is_turned ? { order: "least" } : {};
    const turned = Phcle.address("/complete", is_turned ? own : { ...own, order: "least" });
    const turn_to = (number) => Phcle.open("/complete", { ...own, ...order, page: number });
    return Phcle.section(
      `${Phcle.count(rows.length, "gap")} of ${title}`,
      [
        skill && html`<p class="quiet">On hidden cells of this column the predictions are
          ${` ${skill.words}: ${skill.measure} ${hundredths(skill.score)}`}.</p>`,
        column.is_number && Phcle.info.is_predicted && html`<p class="quiet">An interval holds the truth in 80 of 100 cases.</p>`,
        list_of(items),
        Phcle.pager(page, pages, turn_to),
      ],
      html`<a href=${turned}>${is_turned ? "Surest first" : "Least sure first"}</a>`,
    );
  }

  async function gaps_of_label(columns, label) {
    const answer = await Phcle.label_answer(label);
    const gaps = answer.cells.filter(({ observed, value }) => !observed && value !== null);
    gaps.sort((a, b) => (b.confidence ?? -1) - (a.confidence ?? -1));
    const items = gaps.map(async (each) => {
      const values = values_of(await columns.load(each.context, each.column));
      const { name } = answer;
      const value = Phcle.value_text(each.value);
      return listed({ ...each, kind: "gap", label: answer.label, name, values, value }, field_name(each));
    });
    const title = `${Phcle.count(gaps.length, "gap")} of ${answer.name}`;
    return Phcle.section(title, list_of(await Promise.all(items)), Phcle.label_link(answer));
  }

  async function suspicious_cells(columns) {
    const text = Phcle.value_text;
    const { message, cells } = await Phcle.get("/api/suspicious");
    const summary = cells.length ? `${Phcle.count(cells.length, "cell")}, the most suspicious first.` : "None stands out.";
    const items = cells.slice(0, MOST_SUSPICIOUS).map(async (each) => {
      const { chance, low, high, family, why } = each;
      const odd = chance === null; // read as unknown, such as a word among numbers
      const values = values_of(await columns.load(each.context, each.column));
      const made = { kind: odd ? "gap" : "suspicious", value: text(each.expected), known: text(each.value) };
      const confidence = odd ? "" : (1 - chance).toFixed(4);
      const reason = html`<div class="gap-why quiet">
        <p>${odd ? why : `chance of the known value: ${(100 * chance).toPrecision(2)} %`}</p>
        ${low !== null && html`<p>interval: ${text(low)} to ${text(high)}</p>`}
        ${family !== null && html`<p>family: <bdi>${text(family)}</bdi></p>`}
      </div>`;
      const what = [Phcle.label_link(each), " ", field_name(each)];
      return listed({ ...each, ...made, values, confidence }, what, reason);
    });
    const note = html`<p class="quiet" role="status">${message || summary}</p>`;
    return Phcle.section("Suspicious known cells", [note, items.length > 0 && list_of(await Promise.all(items))]);
  }

  // The values of a column: a histogram, or bars of the most common ones.
  async function drawn(columns, field) {
    const { context, title } = field;
    const facet = await columns.facet({ context, field: title }, columns.passing([]));
    if (facet.kind === "bins") return facet.bars.length ? Phcle.histogram(facet.bars, title) : "";
    const most = Math.max(...facet.bars.map(({ all }) => all), 1);
    const bars = facet.bars.slice(0, 5).map(({ name, all }) => html`<li>
      ${Phcle.near_head(html`<bdi>${name}</bdi>`, count(all))}${Phcle.bar(all / most)}
    </li>`);
    return html`<ul class="profile-bars">${bars}</ul>`;
  }

  // How much of a column is known, how well the rest is predicted, and on what.
  function profile(columns, field, i) {
    const { context, title, kind, known, skill, readers } = field;
    const share = known / Math.max(1, columns.n);
    const on = readers.slice(0, 3).map(({ name, weight }) => `${name} ${Phcle.percent(weight)}`);
    const place = html`<div class="profile-values"></div>`;
    const show = () => Phcle.show(place, drawn(columns, field));
    if (i < MOST_DRAWN && columns.n <= MANY) show();
    else place.append(Phcle.button("Values", show, { class: "button" }));
    const gaps = Phcle.address("/complete", { context, column: title });
    return html`<li class="profile">
      <h3 class="file"><a href=${gaps}><bdi>${title}</bdi></a> <span class="quiet">${kind} · <bdi>${context}</bdi></span></h3>
      ${place}${Phcle.bar(share, "faint")}
      <p>${Phcle.percent(share)} known, <a href=${gaps}>${Phcle.count(columns.n - known, "gap")}</a></p>
      <p class="quiet">${
        skill
          ? `On hidden cells ${skill.words}: ${skill.measure} ${hundredths(skill.score)}, usual value ${hundredths(skill.usual)}, family ${hundredths(skill.family)}.`
          : "How well it is predicted was not measured."
      }${on.length > 0 && ` It rests on ${on.join(", ")}.`}</p>
    </li>`;
  }

  function profiles(columns) {
    const rows = () => columns.fields.map(({ skill, readers, ...rest }) => ({ ...rest, score: skill?.score }));
    const items = columns.fields.map((field, i) => profile(columns, field, i));
    const list = html`<ul class="profiles">${items}</ul>`;
    return Phcle.section("Columns", list, Phcle.downloads(rows, "columns"));
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

  function list(columns, asked) {
    if (asked.get("suspicious")) return suspicious_cells(columns);
    if (asked.get("label")) return gaps_of_label(columns, asked.get("label"));
    return asked.get("column") ? gaps_of_column(columns, asked) : profiles(columns);
  }

  Phcle.pages["/complete"] = async function (asked) {
    const columns = await Phcle.columns();
    const head = Phcle.page_head(
      "Complete the table",
      "Go through predicted values and accept, change or refuse them. Your browser keeps the decisions until you save or clear them; the embedding does not change.",
    );
    const note = (text) => html`<p class="card">${text}</p>`;
    const none = note("This embedding has no table with gaps that can be predicted.");
    if (!columns.fields.some(({ known }) => known < columns.n)) return { title: "Complete", content: [head, none] };
    decisions ??= new Decisions(Phcle.info.digest, show_decisions);
    const box = html`<input id="gaps-label" type="search" placeholder="name or id" />`;
    const take = ({ label }) => Phcle.open("/complete", { label });
    bar = html`<section class="card decisions" aria-label="Your decisions" hidden></section>`;
    const content = [
      head,
      html`<section class="card chooser choose-gaps" aria-label="What to complete">
        <div><label for="gaps-label">Gaps of a label</label>${Phcle.suggest_labels(box, take)}</div>
        <div><span class="choose-title">Gaps of a column</span>
          <a class="button" href="#/complete">Choose a column</a></div>
        <div><span class="choose-title">Suspicious known cells</span>
          <a class="button" href=${Phcle.address("/complete", { suspicious: 1 })}>Look for them</a></div>
      </section>`,
      !Phcle.info.is_predicted && note("The fit predicted no gaps: values come from the vectors alone, without intervals and probabilities."),
      bar,
      await list(columns, asked),
    ];
    return { title: "Complete", content, shown: show_decisions };
  };

  // Keys: a and r decide and go on, arrows move.
  document.addEventListener("keydown", (event) => {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = items();
    const now = all.indexOf(event.target.closest(".gap"));
    const decision = { a: "accept", r: "reject" }[event.key];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!all.length || !(step || (decision && now >= 0))) return;
    event.preventDefault();
    if (decision) decisions.decide(all[now].cell, decision);
    const next = all[Math.min(Math.max(now < 0 ? 0 : now + (step ?? 1), 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  });

  // Another tab may decide, too.
  root.addEventListener("storage", ({ key }) => {
    if (key !== decisions?.key) return;
    decisions.load();
    show_decisions();
  });
})(window);
