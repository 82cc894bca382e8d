// The section About: contexts, profiles of columns, and how the embedding was learned.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const { html, count } = Phcle;
  const MOST_DRAWN = 60; // profiles that are drawn without being asked for

  function contexts(rows) {
    if (!rows.length) return html`<p>The file holds vectors without contexts.</p>`;
    const lines = rows.map(({ name, kind, labels, coverage, columns, weight }) => html`<tr>
      <th scope="row"><bdi>${name}</bdi></th><td>${kind}</td><td class="number">${count(labels)}</td>
      <td class="fit">${Phcle.bar(coverage)}<span class="near-value">${Phcle.percent(coverage)}</span></td>
      <td class="number">${count(columns)}</td><td class="number">${Phcle.number(weight)}</td>
    </tr>`);
    return html`<div class="scroll" tabindex="0"><table>
      <thead><tr><th scope="col">Context</th><th scope="col">Kind</th><th scope="col" class="number">Labels</th>
        <th scope="col">Coverage</th><th scope="col" class="number">Columns</th><th scope="col" class="number">Weight</th></tr></thead>
      <tbody>${lines}</tbody>
    </table></div>`;
  }

  // The values of a column: a histogram, or bars of the most common ones.
  async function drawn(columns, field) {
    const { context, title } = field;
    const facet = await columns.facet({ context, field: title }, columns.passing([]));
    if (facet.kind === "bins") return facet.bars.length ? Phcle.histogram(facet.bars, title) : "";
    const most = Math.max(...facet.bars.map(({ all }) => all), 1);
    const bars = facet.bars.slice(0, 5).map(({ name, all }) => html`<li>
      <span class="near-head"><bdi>${name}</bdi><span class="near-value">${count(all)}</span></span>
      ${Phcle.bar(all / most)}</li>`);
    return html`<ul class="profile-bars">${bars}</ul>`;
  }

  // How much of a column is known, how well the rest is predicted, and on what.
  function profile(columns, field, i) {
    const { context, title, kind, known, predicted, skill, readers } = field;
    const share = known / Math.max(1, columns.n);
    const on = readers.slice(0, 3).map(({ name, weight }) => `${name} ${Phcle.percent(weight)}`);
    const score = (name) => (skill[name] === null ? "–" : skill[name].toFixed(2));
    const place = html`<div class="profile-values"></div>`;
    const show = () => !place.firstChild && Phcle.show(place, drawn(columns, field));
    if (i < MOST_DRAWN && columns.n <= 200_000) show();
    else place.append(Phcle.button("Values", () => (place.replaceChildren(), show()), { class: "button" }));
    return html`<li class="profile">
      <h3 class="file"><bdi>${title}</bdi> <span class="quiet">${kind} · <bdi>${context}</bdi></span></h3>
      ${place}
      ${Phcle.bar(share)}
      <p>${Phcle.percent(share)} known, ${count(predicted)} predicted</p>
      <p class="quiet">${
        skill
          ? `On hidden cells ${skill.words}: ${skill.measure} ${score("score")}, usual value ${score("usual")}, family ${score("family")}.`
          : "How well it is predicted was not measured."
      }${on.length > 0 && ` It rests on ${on.join(", ")}.`}</p>
    </li>`;
  }

  function learned({ chosen, options }) {
    const rows = Object.entries(options ?? {}).map(
      ([key, value]) => html`<div><dt>${key}</dt><dd>${String(value)}</dd></div>`,
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
    const [info, columns] = await Promise.all([Phcle.once("/api/info"), Phcle.columns()]);
    const { title, labels, dim, compared_with, left_out = [], completion, version } = info;
    const other = compared_with ? `, compared with ${compared_with}` : "";
    const keys = KEYS.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`);
    const profiles = columns.fields.map((field, i) => profile(columns, field, i));
    return {
      title: "About",
      content: [
        Phcle.page_head(title, `${Phcle.count(labels, "label")} × ${dim} dimensions${other}`),
        left_out.length > 0 && html`<p class="card">This report had no room for ${left_out.join(", ")}.</p>`,
        Phcle.section("Contexts", contexts(info.contexts), Phcle.downloads(() => info.contexts, "contexts")),
        profiles.length > 0 && Phcle.section("Columns", [
          completion?.summary && html`<p>${completion.summary}</p>`,
          html`<ul class="profiles">${profiles}</ul>`,
        ], Phcle.downloads(() => columns.fields.map(({ skill, readers, ...rest }) => ({ ...rest, score: skill?.score })), "columns")),
        Phcle.section("How it was learned", learned(info)),
        Phcle.section("Keys", [
          html`<dl class="options">${keys}</dl>`,
          html`<p class="quiet">The address bar holds what you see: copy it to share the view. phcle ${version}</p>`,
        ]),
      ],
    };
  };
})(window);
