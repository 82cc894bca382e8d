// The section About: contexts, and how the embedding was learned.
(function (root) {
  "use strict";
  const { html, count } = Phcle;

  function contexts(rows) {
    if (!rows.length) return html`<p>The file holds vectors without contexts.</p>`;
    const lines = rows.map(({ name, kind, labels, coverage, columns, weight }) => html`<tr>
      <th scope="row"><bdi>${name}</bdi></th><td>${kind}</td><td class="number">${count(labels)}</td>
      <td class="fit">${Phcle.bar(coverage)}<span class="near-value">${Phcle.percent(coverage)}</span></td>
      <td class="number">${count(columns)}</td><td class="number">${Phcle.number(weight)}</td>
    </tr>`);
    const titles = ["Context", "Kind", "Labels", "Coverage", "Columns", "Weight"];
    return Phcle.table(titles, lines, ["Labels", "Columns", "Weight"]);
  }

  function learned({ chosen, options }) {
    const rows = Object.entries(options ?? {}).map(
      ([key, value]) => html`<div><dt>${key}</dt><dd>${String(value ?? "none")}</dd></div>`,
    );
    const words = (chosen?.words ?? []).map((sentence) => html`<li>${sentence}</li>`);
    return [
      words.length > 0 && html`<ul>${words}</ul>`,
      rows.length ? html`<dl class="options">${rows}</dl>` : html`<p class="quiet">The file holds no options.</p>`,
    ];
  }

  const KEYS = [
    ["/", "search"],
    ["↑ ↓ Enter", "choose a suggestion"],
    ["arrows", "go from label to label on the map"],
    ["Shift arrows, + − 0", "move and zoom the map"],
    ["a, r", "accept or refuse a cell"],
    ["Esc", "clear the selection"],
  ];

  Phcle.pages["/about"] = async function () {
    const { info } = Phcle;
    const { title, labels, dim, compared_with, left_out = [], version } = info;
    const other = compared_with ? `, compared with ${compared_with}` : "";
    const keys = KEYS.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`);
    return {
      title: "About",
      content: [
        Phcle.page_head(title, `${Phcle.count(labels, "label")} × ${dim} dimensions${other}`),
        left_out.length > 0 && html`<p class="card">This report had no room for ${left_out.join(", ")}.</p>`,
        Phcle.section("Contexts", contexts(info.contexts), Phcle.downloads(() => info.contexts, "contexts")),
        Phcle.section("How it was learned", learned(info)),
        Phcle.section("Keys", [
          html`<dl class="options">${keys}</dl>`,
          html`<p class="quiet">The address bar holds what you see: copy it to share the view. phcle ${version}</p>`,
        ]),
      ],
    };
  };
})(window);
