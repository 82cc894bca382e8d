// The table of all labels that pass the filters: ordered by a click on a column's title, page
// by page.
//
//   const table = Phcle.label_table(columns, {chosen, changed})
//   table.show(found)   `found` is what columns.passing(filters) gives
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const N_ROWS = 50;
  const MOST_SHOWN = 6; // columns at first: more do not fit

  class LabelTable {
    constructor(columns, options) {
      Object.assign(this, { columns, options, page: 1, sort: "", is_turned: false, found: null });
      this.fields = columns.fields;
      this.shown = this.fields.slice(0, MOST_SHOWN);
      this.whole = html`<div class="label-table"></div>`;
    }

    async show(found) {
      this.page = 1;
      this.found = found;
      const has_scores = found.filters.some(([, , kind]) => kind === "like");
      if (has_scores && !this.had_scores) [this.sort, this.is_turned] = ["match", false];
      if (!has_scores && this.sort === "match") this.sort = "";
      this.had_scores = has_scores;
      await this.draw();
    }

    async draw() {
      const { columns, found } = this;
      if (!found) return;
      const asked = (this.asked = {});
      const shown = await Promise.all(this.shown.map(({ context, title }) => columns.load(context, title)));
      const scores = columns.scores(found.filters);
      const rows = columns.rows(found, this.sort, this.is_turned);
      const pages = Math.max(1, Math.ceil(rows.length / N_ROWS));
      this.page = Math.min(this.page, pages);
      const on_page = rows.subarray((this.page - 1) * N_ROWS, this.page * N_ROWS);
      const named = await columns.named(on_page);
      if (asked !== this.asked) return; // the visitor has gone on
      const lines = named.map((each, i) => this.line(each, on_page[i], shown, scores));
      const number = (column) => (column.is_number ? "number" : false);
      const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Labels">
        <table class="labels">
          <thead><tr>
            ${this.title("Label", "name")}
            ${scores && this.title("Match", "match", "number")}
            ${shown.map((column, at) => this.title(column.title, [column.context, column.title], number(column), () => this.show_columns(this.shown.filter((_, i) => i !== at))))}
          </tr></thead>
          <tbody>${lines}</tbody>
        </table>
      </div>`;
      const total = found.n < columns.n ? ` of ${count(columns.n)}` : "";
      this.whole.replaceChildren(
        html`<div class="card-head">
          <p role="status">${count(found.n)}${total} labels</p>
          ${this.adder()}
          ${Phcle.downloads(() => this.as_rows(rows, shown, scores), "labels")}
        </div>`,
        found.n ? table : html`<p>No label passes all filters. Remove one of them.</p>`,
        Phcle.pager(this.page, pages, (page) => Object.assign(this, { page }).draw()),
      );
    }

    title(text, key, kind, hide) {
      const is_now = JSON.stringify(key) === JSON.stringify(this.sort);
      const arrow = html`<span aria-hidden="true">${this.is_turned ? " ↓" : " ↑"}</span>`;
      const sort = () => {
        this.is_turned = is_now && !this.is_turned;
        this.sort = key;
        this.draw();
      };
      const order = this.is_turned ? "descending" : "ascending";
      const off = { class: "chip-off", "aria-label": `Hide ${text}` };
      return html`<th scope="col" class=${kind} aria-sort=${is_now ? order : null}>
        ${Phcle.button([Phcle.name(text), is_now && arrow], sort, { class: "sorting" })}
        ${hide && Phcle.button("×", hide, off)}
      </th>`;
    }

    // Show a column first that the file does not hold.
    add(field) {
      this.fields = [field, ...this.fields];
      this.show_columns([field, ...this.shown]);
    }

    show_columns(shown) {
      this.shown = shown;
      this.draw();
    }

    // A column may be added that is not shown yet.
    adder() {
      const left = this.fields.filter((each) => !this.shown.includes(each));
      const add = ({ target }) => this.show_columns([...this.shown, left[Number(target.value)]]);
      const options = left.map(({ title, context }, i) => html`<option value=${i}>${title}${context && ` (${context})`}</option>`);
      return left.length > 0 && html`<select aria-label="Add a column" onchange=${add}>
        <option value="" selected disabled>Add a column</option>${options}
      </select>`;
    }

    line(each, row, shown, scores) {
      const choose = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.options.chosen(each.label);
      };
      const link = Phcle.label_link(each);
      link.addEventListener("click", choose);
      const match = scores && html`<td class="number">${Phcle.percent(scores[row])}</td>`;
      return html`<tr><th scope="row">${link}</th>${match}${shown.map((column) => this.cell(column, row))}</tr>`;
    }

    cell(column, row) {
      const number = column.is_number ? "number" : "";
      if (!column.present[row]) return html`<td class=${number}><span class="quiet">–</span></td>`;
      const is_known = column.known[row];
      return html`<td class=${`${number} ${is_known ? "seen" : "guessed"}`}>
        <span class=${`mark ${is_known ? "solid" : "pale"}`} aria-hidden="true"></span>
        <bdi>${column.text(row)}</bdi>
        ${!is_known && html` <span class="quiet">${Phcle.sure_text(column.sure(row))}</span>`}
        <span class="unseen">${is_known ? " observed" : " predicted"}</span>
      </td>`;
    }

    // All rows as shown, and where each value comes from.
    async as_rows(rows, shown, scores) {
      const named = await this.columns.named(rows);
      return named.map((each, i) => {
        const row = rows[i];
        const cells = shown.flatMap((column) => {
          const sure = Phcle.sure_text(column.sure(row));
          const origin = column.known[row] ? "observed" : `predicted ${sure}`.trimEnd();
          return [
            [column.title, column.is_number ? (column.value(row) ?? "") : column.text(row)],
            [`${column.title}: known`, column.present[row] ? origin : ""],
          ];
        });
        const match = scores ? { match: scores[row] } : {};
        return { ...each, ...match, ...Object.fromEntries(cells) };
      });
    }
  }

  // Buttons that turn to other pages; a single page has none.
  Phcle.pager = function (page, pages, turn_to) {
    const leaf = (number, words) => {
      const is_there = number >= 1 && number <= pages && number !== page;
      return Phcle.button(words, () => turn_to(number), { class: "button", disabled: !is_there });
    };
    return html`<nav class="pager" aria-label="Pages" hidden=${pages < 2}>
      ${leaf(1, "First")}${leaf(page - 1, "Previous")}
      <span>Page ${count(page)} of ${count(pages)}</span>
      ${leaf(page + 1, "Next")}${leaf(pages, "Last")}
    </nav>`;
  };

  Phcle.label_table = (columns, options) => new LabelTable(columns, options);
})(window);
