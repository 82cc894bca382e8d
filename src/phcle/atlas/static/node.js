// What a set of labels shares: a node of the taxonomy with its page,
// a cluster, a filter or what was encircled on the map.
(function (root) {
  "use strict";
  const { html, count } = Phcle;

  function shared({ column, context, value, inside, outside, n_known, is_number }) {
    const beside = is_number
      ? html`<span class="near-value">elsewhere ${Phcle.number(outside)}</span>`
      : html`<span class="two-bars">${Phcle.bar(inside)}${Phcle.bar(outside, "faint")}</span>
          <span class="near-value">${Phcle.percent(inside)} here, ${Phcle.percent(outside)} elsewhere</span>`;
    return html`<li>
      <span class="attribute-name"><bdi>${column}</bdi>
        ${value !== "yes" && html` <span class="value"><bdi>${value}</bdi></span>`}</span>
      <span class="quiet"><bdi>${context}</bdi> · ${count(n_known)} known</span>${beside}
    </li>`;
  }

  Phcle.shared_list = (answer) =>
    answer.shared.length
      ? [
          html`<p class="quiet">Common here, rare elsewhere; observed values only.</p>`,
          html`<ul class="shared">${answer.shared.map(shared)}</ul>`,
        ]
      : html`<p class="quiet">Nothing observed sets these labels apart from the others.</p>`;

  async function node_page(asked) {
    const answer = await Phcle.get("/api/node", { node: asked.get("node") ?? "" });
    const { node, name, context, n_labels, labels, children, n_children, path, is_label } = answer;
    const on_map = { filter: JSON.stringify(["", "branch", "in", [node]]), panel: "table" };
    const tools = html`<p class="actions">
      <a class="button" href=${Phcle.address("/", on_map)}>Show on the map</a>
      ${is_label && html`<a class="button" href=${Phcle.label_address(node)}>Its own page as a label</a>`}
    </p>`;
    const branches = children.filter((each) => !(each.is_label && each.n_labels === 1));
    const most = Math.max(1, branches[0]?.n_labels ?? 1);
    const below = branches.map((each) => html`<li>
      ${Phcle.node_link({ ...each, is_label: false })}
      <span class="near-value">${count(each.n_labels)}</span>${Phcle.bar(each.n_labels / most)}
    </li>`);
    const left = n_children - branches.length;
    const typical = labels.map((each) => html`<li>${Phcle.label_link(each)}</li>`);
    const about = [
      `A node of ${context} with ${Phcle.count(n_labels, "label")}`,
      name !== node && html` · <code>${node}</code>`,
    ];
    return {
      title: name,
      content: [
        Phcle.crumbs(path),
        Phcle.page_head(name, about, tools),
        html`<div class="columns">
          ${Phcle.section("What its labels share", Phcle.shared_list(answer))}
          <div>
            ${below.length > 0 && Phcle.section("Children", [
              html`<ul class="branches">${below}</ul>`,
              left > 0 && html`<p class="quiet">and ${count(left)} more, most with a single label</p>`,
            ])}
            ${Phcle.section("Labels", [
              html`<p class="quiet">The most typical first.</p><ul class="chips">${typical}</ul>`,
              n_labels > labels.length && html`<p><a href=${Phcle.address("/", on_map)}>All ${count(n_labels)} labels</a></p>`,
            ])}
          </div>
        </div>`,
      ],
    };
  }

  Phcle.pages["/node"] = node_page;
})(window);
