// The page of a label, and of several to compare: nearest labels and why, the rows of tables
// with the reasons of what is predicted, the place in the taxonomy.
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const MOST_LISTED = 8; // cells on a card; the rest is folded
  const MOST_COMPARED = 8;
  const MOST_ATTRIBUTES = 40;

  // -- Parts that other pages show too

  Phcle.section = (title, content, tools) => html`<section class="card" aria-label=${title}>
    <div class="card-head"><h2>${title}</h2>${tools}</div>${content}
  </section>`;

  Phcle.page_head = (title, text, tools) => html`<div class="page-head">
    <h1><bdi>${title}</bdi></h1>${text && html`<p class="quiet">${text}</p>`}${tools}
  </div>`;

  Phcle.table = (titles, lines, numbers = [], kind = null) => html`<div class="scroll" tabindex="0">
    <table class=${kind}>
      <thead><tr>
        ${titles.map((title) => html`<th scope="col" class=${numbers.includes(title) && "number"}><bdi>${title}</bdi></th>`)}
      </tr></thead>
      <tbody>${lines}</tbody>
    </table>
  </div>`;

  // The way from the root to a node, of which the last is left out.
  Phcle.crumbs = (path) =>
    path.length > 1 &&
    html`<nav class="crumbs" aria-label="Place in the taxonomy">
      <ol>${path.slice(0, -1).map((each) => html`<li>${Phcle.node_link(each)}</li>`)}</ol>
    </nav>`;

  // How sure a cell is: the interval of a number, or the probability of another value.
  Phcle.sure_text = function ({ observed, confidence, low, high }) {
    if (observed) return "";
    const is_open = low === null || low === undefined;
    if (!is_open) return `${Phcle.number(low)} to ${Phcle.number(high)}`;
    return confidence === null || confidence === undefined ? "" : Phcle.percent(Math.min(confidence, 0.99));
  };

  function cell(each) {
    const { column, value, observed, why } = each;
    const kind = observed ? "solid" : "pale";
    const sure = Phcle.sure_text(each);
    return html`<div>
      <dt><bdi>${column}</bdi></dt>
      <dd>
        <span class=${`mark ${kind}`} aria-hidden="true"></span>
        <span class="unseen">${observed ? "observed" : "predicted"} </span>
        <bdi class=${observed ? "" : "guessed"}>${Phcle.value_text(value, observed) || "–"}</bdi>
        ${sure && html` <span class="quiet">${sure}</span>`}
      </dd>
      ${why && html`<dd class="reason quiet">${why}</dd>`}
    </div>`;
  }

  // The cells of a label by table. Those that are folded are what it lacks, then unsure ones.
  Phcle.cell_lists = function (cells, most = Infinity) {
    const rank = ({ observed, confidence, value }) =>
      (observed ? 2 : (confidence ?? 0.5)) - (value === false ? 10 : 0);
    const shown = cells.filter(({ value }) => value !== null);
    const contexts = [...new Set(shown.map(({ context }) => context))];
    return contexts.map((context) => {
      const own = shown.filter((each) => each.context === context);
      if (own.length > most) own.sort((a, b) => rank(b) - rank(a));
      const [first, more] = [own.slice(0, most), own.slice(most)];
      return html`<h3 class="file"><bdi>${context}</bdi></h3>
        <dl class="cells">${first.map(cell)}</dl>
        ${more.length > 0 && html`<details>
          <summary>${count(more.length)} more</summary><dl class="cells">${more.map(cell)}</dl>
        </details>`}`;
    });
  };

  // Tags, words and columns that stand out, with their values.
  Phcle.attribute_list = (rows, kind) => html`<ul class=${`attributes ${kind}`}>
    ${rows.map(({ name, context, value, confidence, low, high }) => {
      const sure = Phcle.sure_text({ confidence, low, high });
      const is_share = confidence !== null && confidence !== undefined;
      return html`<li>
        <span class="attribute-name"><bdi>${name}</bdi></span>
        <span class="quiet"><bdi>${context}</bdi></span>
        ${is_share && Phcle.bar(confidence, "faint")}
        <span class="near-value">${sure || (value === 1 ? "" : Phcle.number(value))}</span>
      </li>`;
    })}
  </ul>`;

  // The parts of a similarity by context and group of columns. Lines come rounded.
  Phcle.explanation = function ({ parts, lines, similarity }) {
    const size = new Map(parts.map(({ context, part }) => [context, part]));
    const made = lines.map(({ part, context, group_part, words, columns }) => {
      const own = size.get(context) ?? 0;
      const whole = html`<div class="why-context">
        <strong>${context}</strong>${Phcle.bar(Math.abs(own), own < 0 ? "against" : "")}
        <span class="near-value">${part}</span>
      </div>`;
      const group = html`<div class="why-group">
        <span>${words}</span>
        <ul class="why-columns">${columns.map((text) => html`<li>${text}</li>`)}</ul>
        <span class="near-value">${group_part}</span>
      </div>`;
      return [context && whole, words && group];
    });
    const shared = parts.map((part) => part.shared).find((nodes) => nodes.length);
    const names = (shared ?? []).slice(0, 6).map(({ name }) => name);
    return html`<div>
      ${shared && html`<p><span class="quiet">both are </span>${names.join(" › ")}</p>`}${made}
      <p class="quiet">adds up to a similarity of ${similarity.toFixed(3)}</p>
    </div>`;
  };

  // Why two labels are similar.
  Phcle.why = function (a, b, name) {
    const ask = async () => {
      const link = html`<a href=${Phcle.address("/label", { label: [a, b] })}>Compare the two</a>`;
      const found = await Phcle.get("/api/explain", { a, b });
      return [Phcle.explanation(found), !Phcle.is_report && link];
    };
    return Phcle.unfolding(["why", html`<span class="unseen"> ${name}</span>`], ask, "why");
  };

  // Why a label is near. A report holds the reasons of the nearest ones alone.
  Phcle.reason = function (label, near) {
    const made = Phcle.why(label, near.label, near.name);
    made.hidden = Phcle.is_report;
    const show = () => (made.hidden = false);
    if (made.hidden) Phcle.get("/api/explain", { a: label, b: near.label }).then(show, () => {});
    return made;
  };

  // Something at the left, and a value at the right.
  Phcle.near_head = (left, value) =>
    html`<div class="near-head">${left}<span class="near-value">${value}</span></div>`;

  Phcle.near_list = (neighbours, label = null) => html`<ol class="neighbours">
    ${neighbours.map((near) => html`<li>
      ${Phcle.near_head(Phcle.label_link(near), Phcle.similarity(near))}
      ${near.similarity !== undefined && Phcle.bar(near.similarity)}
      ${label !== null && Phcle.info.explains && Phcle.reason(label, near)}
    </li>`)}
  </ol>`;

  // Pictures stand in the folder of the file. Addresses are shown, and nothing is loaded.
  Phcle.pictures = ({ pictures = [], links = [], name }) => [
    ...pictures.map(({ src, column }) => html`<img class="picture" src=${src} alt=${`${name}: ${column}`} loading="lazy" />`),
    ...links
      .filter(({ href }) => /^https?:\/\//i.test(href))
      .map(({ href, column }) => html`<p><span class="quiet">${column} </span>
        <a href=${href} rel="noopener noreferrer" target="_blank">${href}</a></p>`),
  ];

  // The row of a label in the tables. A report without it has the columns of all labels.
  Phcle.row_of = async function (label) {
    try {
      return await Phcle.get("/api/row", { label });
    } catch (error) {
      if (!error.is_left_out) throw error;
      const columns = await Phcle.columns();
      const row = columns.map.labels.indexOf(label);
      const own = await Promise.all(columns.fields.map((x) => columns.load(x.context, x.title)));
      const cells = own.map((column) => ({
        context: column.context,
        column: column.title,
        value: column.value(row),
        observed: Boolean(column.known[row]),
        ...column.sure(row),
      }));
      return { cells, observed: [], predicted: [] };
    }
  };

  // What is near a label and above it, and its row; a report may know its name alone.
  Phcle.label_answer = async function (label) {
    const answer = await Phcle.get("/api/label", { label }).catch(async (error) => {
      const { names, labels } = (await Phcle.columns()).map;
      const row = labels.indexOf(label);
      if (!error.is_left_out || row < 0) throw error;
      return { label, name: names[row], neighbours: null };
    });
    return { ...answer, ...(await Phcle.row_of(answer.label)) };
  };

  // -- The page of a label

  function relatives({ parents, siblings, n_siblings, children, n_children }) {
    const kinds = [
      ["Parents", parents, parents.length],
      ["Siblings", siblings, n_siblings],
      ["Children", children, n_children],
    ];
    return kinds
      .filter(([, nodes]) => nodes.length)
      .map(([title, nodes, n]) => html`<h3>${title} <span class="quiet">${count(n)}</span></h3>
        <ul class="chips">
          ${nodes.map((each) => html`<li>${Phcle.node_link(each)}</li>`)}
          ${n > nodes.length && html`<li class="quiet">and ${count(n - nodes.length)} more</li>`}
        </ul>`);
  }

  function attributes({ cells, observed, predicted, not_predictable = [] }) {
    const tables = new Set(cells.map(({ context }) => context));
    const is_other = ({ context }) => !tables.has(context);
    const kinds = [
      ["observed", observed.filter(is_other)],
      ["predicted", predicted.filter(is_other)],
    ];
    const unknown = not_predictable.filter((context) => !tables.has(context));
    return [
      tables.size > 0 && html`<p class="quiet legend">
        <span class="mark solid" aria-hidden="true"></span> observed
        <span class="mark pale" aria-hidden="true"></span> predicted, with its confidence or interval
      </p>`,
      Phcle.cell_lists(cells),
      kinds
        .filter(([, rows]) => rows.length)
        .map(([kind, rows]) => html`<h3>${tables.size ? `Tags and words, ${kind}` : kind}</h3>
          ${Phcle.attribute_list(rows, kind)}`),
      unknown.length > 0 && html`<p class="quiet">Too little is known to predict ${unknown.join(", ")}.</p>`,
    ];
  }

  async function one_label(label) {
    const answer = await Phcle.label_answer(label);
    const { name, taxonomy, neighbours } = answer;
    const own = answer.label;
    const box = html`<input id="another" type="search" placeholder="compare with" aria-label="Compare with another label" />`;
    const compare = Phcle.suggest_labels(box, (other) =>
      Phcle.open("/label", { label: [own, other.label] }),
    );
    const has_node = taxonomy?.children.length > 0;
    const tools = html`<div class="actions">
      <a class="button" href=${Phcle.address("/", { label: own })}>Show on the map</a>
      ${has_node && html`<a class="button" href=${Phcle.address("/node", { node: own })}>What is below it</a>`}
      ${!Phcle.is_report && compare}
    </div>`;
    const near = neighbours && Phcle.near_list(neighbours, own);
    return {
      title: name,
      content: [
        Phcle.crumbs(taxonomy?.path ?? []),
        Phcle.page_head(name, own !== name && html`<code>${own}</code>`, tools),
        html`<div class="columns">
          ${near && Phcle.section("Nearest labels", near, Phcle.downloads(() => neighbours, "neighbours"))}
          <div>
            ${Phcle.section("Attributes", [Phcle.pictures(answer), attributes(answer)], Phcle.downloads(() => answer.cells, "attributes"))}
            ${taxonomy && Phcle.section("In the taxonomy", relatives(taxonomy))}
          </div>
        </div>`,
      ],
    };
  }

  // -- Several labels

  function similarities(labels, near) {
    const heat = (x) => ({ "--share": `${Math.round(38 * Math.max(0, Math.min(1, x)))}%` });
    const cell = (pair) => {
      const rank = pair.percentile && `nearer than ${pair.percentile.toFixed(1)} % of pairs`;
      return html`<td style=${heat(pair.similarity)} title=${rank}>${pair.similarity.toFixed(2)}</td>`;
    };
    const lines = labels.map((a) => html`<tr>
      <th scope="row"><bdi>${a.name}</bdi></th>${labels.map((b) => cell(near(a, b)))}
    </tr>`);
    const paths = labels.map(({ taxonomy }) => taxonomy?.path ?? []);
    const is_shared = ({ node }) => paths.every((path) => path.some((each) => each.node === node));
    const above = paths[0].filter(is_shared).reverse();
    return [
      Phcle.table(["Label", ...labels.map(({ name }) => name)], lines, [], "heat"),
      above.length > 0 && html`<p><span class="quiet">All are </span>
        ${above.map((each, i) => [i > 0 && " · ", Phcle.node_link(each)])}</p>`,
    ];
  }

  // What tables know of labels, side by side; tags and words that any of them has.
  function compared(labels) {
    const lines = new Map();
    labels.forEach(({ cells, observed, predicted }, i) => {
      const is_other = ({ context }) => !cells.some((each) => each.context === context);
      const tags = [...observed.map((x) => ({ ...x, observed: true })), ...predicted].filter(is_other);
      for (const each of [...cells, ...tags.map((x) => ({ ...x, column: x.name }))]) {
        const key = JSON.stringify([each.context, each.column]);
        if (!lines.has(key)) lines.set(key, { ...each, own: [] });
        lines.get(key).own[i] = each;
      }
    });
    const shown = (each) =>
      each
        ? html`<td><span class=${`mark ${each.observed ? "solid" : "pale"}`} aria-hidden="true"></span>
            ${each.name && each.value === 1 ? "yes" : Phcle.value_text(each.value, each.observed)}
            <span class="quiet"> ${Phcle.sure_text(each)}</span></td>`
        : html`<td class="quiet">unknown</td>`;
    return [...lines.values()].slice(0, MOST_ATTRIBUTES).map(({ column, context, own }) => html`<tr>
      <th scope="row"><bdi>${column}</bdi> <span class="quiet"><bdi>${context}</bdi></span></th>
      ${labels.map((_, i) => shown(own[i]))}
    </tr>`);
  }

  async function several(asked) {
    const ask = async (label) => {
      const answer = await Phcle.get("/api/label", { label, among: asked });
      return { ...answer, ...(await Phcle.row_of(answer.label)) };
    };
    const found = await Promise.all(asked.map(ask));
    const labels = found.filter((a, i) => found.findIndex((b) => b.label === a.label) === i);
    const own = labels.map(({ label }) => label);
    const near = (a, b) => a.neighbours.find(({ label }) => label === b.label) ?? { similarity: 1 };
    const chips = labels.map((each) => {
      const rest = own.filter((label) => label !== each.label);
      const off = Phcle.address("/label", { label: rest });
      return html`<li class="chip">${Phcle.label_link(each)}
        <a class="chip-off" href=${off} aria-label=${`Remove ${each.name}`}>×</a></li>`;
    });
    const box = html`<input id="another" type="search" placeholder="another label" aria-label="Add a label" />`;
    const add = ({ label }) => !own.includes(label) && Phcle.open("/label", { label: [...own, label] });
    const reasons = labels.flatMap((a, i) => labels.slice(i + 1).map((b) => html`<li>
      ${Phcle.near_head(html`<span><bdi>${a.name}</bdi> – <bdi>${b.name}</bdi></span>`, Phcle.similarity(near(a, b)))}
      ${Phcle.why(a.label, b.label, `${a.name} and ${b.name}`)}
    </li>`));
    const lines = compared(labels);
    const as_rows = () =>
      labels.map(({ label, name, neighbours }) => {
        return { label, name, ...Object.fromEntries(neighbours.map((each) => [each.label, each.similarity])) };
      });
    return {
      title: "Compare",
      content: [
        Phcle.page_head("Compare labels", "How similar they are, why, and how their attributes differ."),
        html`<section class="card chooser" aria-label="Labels to compare">
          <ul class="chips">${chips}</ul>
          ${own.length < MOST_COMPARED && Phcle.suggest_labels(box, add)}
        </section>`,
        Phcle.section("Similarity", similarities(labels, near), Phcle.downloads(as_rows, "similarities")),
        Phcle.info.explains && Phcle.section("Why", html`<ul class="pairs">${reasons}</ul>`),
        lines.length > 0 && Phcle.section("Attributes", Phcle.table(["Attribute", ...labels.map(({ name }) => name)], lines)),
      ],
    };
  }

  Phcle.pages["/label"] = (asked) => {
    const labels = asked.getAll("label");
    if (Phcle.is_report && labels.length > 1) throw Phcle.left_out();
    return labels.length > 1 ? several(labels.slice(0, MOST_COMPARED)) : one_label(labels[0] ?? "");
  };
})(window);
