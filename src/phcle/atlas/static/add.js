// The section Add: enter a new label and see where it lands after every change. The address
// holds the form.
(function (root) {
  "use strict";
  const { html } = Phcle;
  const MOST_PREDICTED = 8;
  const N_AROUND = 5; // nearest labels that are shown on the map

  class NewLabel {
    constructor(columns, asked) {
      this.columns = columns;
      const form = JSON.parse(asked.get("form") ?? "{}");
      const { name = "", parents = [], values = [], texts = {} } = form;
      Object.assign(this, { name, parents, values, texts });
      this.ask_soon = Phcle.settled(() => this.ask());
      this.build();
    }

    build() {
      const typed = ({ target }) => {
        this.name = target.value;
        this.changed();
      };
      const parent = html`<input id="new-parent" type="search" placeholder="a node of the taxonomy" />`;
      const add_parent = ({ node, name }, box) => {
        box.value = "";
        if (!this.parents.some((each) => each.node === node)) this.parents.push({ node, name });
        this.changed();
      };
      const attribute = html`<input id="new-attribute" type="search" />`;
      this.chips = { parents: html`<ul class="chips" id="parents"></ul>`, values: html`<ul class="chips" id="values"></ul>` };
      this.landing = html`<section class="card" id="landing" aria-live="polite" aria-label="Where it lands"></section>`;
      this.small = html`<div class="map-small" hidden></div>`;
      const { hierarchy, attributes } = Phcle.info;
      const has_values = attributes.some(({ sort }) => sort !== "text");
      const words = attributes.filter(({ sort }) => sort === "text").map(({ context }, i) => {
        const write = ({ target }) => {
          this.texts[context] = target.value;
          this.changed();
        };
        return html`<label for=${`text-${i}`}>Words about it <span class="quiet">${context}</span></label>
          <textarea id=${`text-${i}`} rows="2" maxlength="10000" oninput=${write}>${this.texts[context]}</textarea>`;
      });
      const submit = (event) => {
        event.preventDefault();
        this.ask();
      };
      this.whole = html`<div class="columns">
        <div>
          <form class="card" id="new" aria-label="The new label" onsubmit=${submit}>
            <label for="new-label">Id or name</label>
            <input id="new-label" required maxlength="200" placeholder="moka pot" value=${this.name} oninput=${typed} />
            ${hierarchy && html`<label for="new-parent">Parents <span class="quiet">in ${hierarchy}</span></label>
              ${this.chips.parents}${Phcle.suggest_nodes(parent, add_parent)}`}
            ${has_values && html`<label for="new-attribute">Attributes</label>
              ${this.chips.values}${Phcle.suggest_attributes(attribute, this.columns, (each, box) => this.add_value(each, box))}`}
            ${words}
            <p class="actions"><button type="submit" class="button main">See where it lands</button></p>
          </form>
          ${this.small}
        </div>
        ${this.landing}
      </div>`;
      this.draw();
    }

    async add_value({ context, title, kind }, box) {
      box.value = "";
      const { values } = kind === "category" ? await this.columns.load(context, title) : { values: ["yes"] };
      const others = this.values.filter((each) => each.context !== context || each.title !== title);
      this.values = [...others, { context, title, kind, value: kind === "number" ? 1 : values[0] }];
      this.changed();
    }

    chip(content, remove, name) {
      const off = { class: "chip-off", "aria-label": `Remove ${name}` };
      return html`<li class="chip">${content}${Phcle.button("×", remove, off)}</li>`;
    }

    // A number to type, a value to pick, or a switch between "has" and "not".
    control(each) {
      const set = (value) => {
        each.value = value;
        this.changed();
      };
      const name = `Value of ${each.title}`;
      const typed = ({ target }) => set(Number(target.value));
      const pick = ({ target }) => set(target.value);
      if (each.kind === "number") {
        return html`<input type="number" step="any" value=${each.value} aria-label=${name} onchange=${typed} />`;
      }
      if (each.kind === "category") {
        const values = this.columns.column(each.context, each.title)?.values ?? [each.value];
        const options = values.map((value) => html`<option selected=${value === each.value}>${value}</option>`);
        return html`<select aria-label=${name} onchange=${pick}>${options}</select>`;
      }
      const state = each.value === "yes" ? "has" : "not";
      const turn = () => set(each.value === "yes" ? "no" : "yes");
      return Phcle.button(state, turn, { class: "chip-turn", "aria-label": `${each.title}: ${state}; switch` });
    }

    draw() {
      const drop = (kind, item) => () => {
        this[kind] = this[kind].filter((each) => each !== item);
        this.changed();
      };
      this.chips.parents.replaceChildren(
        ...this.parents.map((each) => this.chip(Phcle.name(each.name), drop("parents", each), each.name)),
      );
      this.chips.values.replaceChildren(
        ...this.values.map((each) => {
          const note = html`<span class="quiet">${each.context}</span>`;
          return this.chip([this.control(each), Phcle.name(each.title), note], drop("values", each), each.title);
        }),
      );
    }

    changed() {
      this.draw();
      const { name, parents, values, texts } = this;
      const form = JSON.stringify({ name, parents, values, texts });
      Phcle.remember("/add", { form }, { is_step: false });
      this.ask_soon();
    }

    // A value of a category is a column of its own.
    body() {
      const values = this.values.map(({ context, title, kind, value }) => {
        if (kind === "category") return { context, column: `${title}=${value}`, value: 1 };
        return { context, column: title, value: kind === "number" ? value : Number(value === "yes") };
      });
      const parents = this.parents.map(({ node }) => node);
      return { label: this.name, parents, values, texts: this.texts };
    }

    has_something() {
      const known = this.parents.length + this.values.length;
      return this.name.trim() && (known || Object.values(this.texts).some((text) => text.trim()));
    }

    // Nothing that belongs to other inputs may stay.
    forget(...instead) {
      this.landing.replaceChildren(...instead);
      delete this.landing.dataset.landed;
      this.small.hidden = true;
    }

    async ask() {
      const asked = (this.asked = {});
      if (!this.has_something()) {
        this.forget(html`<p class="quiet">Enter its name and what you know about it. Its nearest labels and predicted attributes appear here.</p>`);
        return;
      }
      this.landing.setAttribute("aria-busy", "true");
      try {
        const answer = await Phcle.post("/api/add", this.body());
        if (asked !== this.asked) return;
        await this.show(answer);
        await this.show_on_map(answer);
      } catch (error) {
        if (asked === this.asked) this.forget(Phcle.failure(error));
      }
      if (asked === this.asked) this.landing.removeAttribute("aria-busy");
    }

    async show({ label, name, neighbours, why, predicted, notes }) {
      const reasons = why.map((each) => html`<details class="why">
        <summary>why ${Phcle.name(each.b.name)}</summary>
        <div class="why-body">${Phcle.explanation(each)}</div>
      </details>`);
      const more = predicted.slice(0, MOST_PREDICTED);
      const parts = html`<h2>${Phcle.name(name)} lands near</h2>
        ${Phcle.near_list(neighbours)}${reasons}
        ${more.length > 0 && html`<h3>Predicted</h3>${Phcle.attribute_list(more, "predicted")}`}
        ${notes.map((note) => html`<p class="warning">${note}</p>`)}
        <p class="quiet">To keep it, write what you know into files, and run <code>phcle add</code>.</p>
        ${Phcle.downloads(() => neighbours, "neighbours")}`;
      await Phcle.show(this.landing, parts);
      this.landing.dataset.landed = label;
    }

    async show_on_map({ neighbours, place, name }) {
      this.small.hidden = false;
      this.map ??= Phcle.open_map(this.small, this.columns.map, { is_bare: true });
      const near = neighbours.slice(0, N_AROUND).map(({ label }) => this.map.point_of(label));
      this.map.pin(...place, name, near);
    }
  }

  Phcle.pages["/add"] = async function (asked) {
    const columns = await Phcle.columns();
    const head = Phcle.page_head(
      "Add a label",
      "Enter what you know about it to see where it lands. The model is not trained again, and your file does not change.",
    );
    const none = html`<p class="card">Labels cannot be added to this embedding: it holds vectors without contexts. Embeddings learned by PHCLE have contexts.</p>`;
    const form = Phcle.info.explains ? new NewLabel(columns, asked) : null;
    return { title: "Add a label", content: [head, form?.whole ?? none], shown: () => form?.ask() };
  };
})(window);
