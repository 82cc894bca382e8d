// Two embeddings as two maps that move together, and the list of changed labels beside them.
//
// Both maps have the same coordinates, so a label that did not move lies at the same place
// on both. The URL holds chosen labels, view, colours, switches and the list's filter.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const N_ARROWS = 60; // arrows of the most changed labels; more would hide the map
  const N_LISTED = 100;
  const MOST_KEPT = 200; // chosen labels that fit into a URL
  const NOT_COMPARED = 255;
  const SIDES = [0, 1];
  const PATH = "/embeddings";
  const LOOK_MS = 2000;

  const host = document.getElementById("two-maps");
  const chosen_host = document.getElementById("chosen");
  const list_host = document.getElementById("changed");
  const count = (n) => n.toLocaleString("en");
  const address_of = (label) => `${PATH}?${Phcle.query([["label", label]])}`;
  const button = (text, onclick, attributes) =>
    element("button", { type: "button", onclick, ...attributes }, text);

  // -- Labels and colours of both sides

  // All labels of both: {label, name, at: rows in both maps (-1: not there), changed (NaN if
  // not compared), far: how far it moved}, the most changed first, then the farthest.
  function all_entries({ one, other, changed }) {
    const sides = [one, other];
    const counts = Phcle.unpacked_array(changed);
    const places = sides.map(({ x, y }) => [x, y].map(Phcle.unpacked_array));
    const rows = new Map();
    const entries = [];
    for (const m of SIDES) {
      const { names, labels } = sides[m];
      (labels || names).forEach((label, i) => {
        if (m === 1 && rows.has(label)) rows.get(label).at[1] = i;
        else {
          const made = { label, name: names[i], at: [-1, -1], changed: NaN, far: 0 };
          made.at[m] = i;
          rows.set(label, made);
          entries.push(made);
        }
      });
    }
    for (const entry of entries) {
      const [i, j] = entry.at;
      if (i < 0 || counts[i] === NOT_COMPARED) continue;
      entry.changed = counts[i];
      entry.places = [i, j].map((row, m) => [places[m][0][row], places[m][1][row]]);
      const [[x, y], [new_x, new_y]] = entry.places;
      entry.far = Math.hypot(new_x - x, new_y - y);
    }
    const rank = ({ changed: own }) => (Number.isNaN(own) ? -1 : own);
    return entries.sort((a, b) => rank(b) - rank(a) || b.far - a.far);
  }

  // The colouring of one side, for the labels of the other.
  function carried(colouring, from, to, entries, n) {
    const made = { ...colouring };
    const { groups, codes, values } = colouring;
    const known = Phcle.unpacked_array(groups ? codes : values);
    const own = groups ? new Uint8Array(n).fill(groups.length - 1) : new Float32Array(n).fill(NaN);
    for (const { at } of entries) if (at[to] >= 0 && at[from] >= 0) own[at[to]] = known[at[from]];
    made[groups ? "codes" : "values"] = own;
    return made;
  }

  // The same colourings for both sides: the change, then those of each side.
  function colourings_of(data, entries) {
    const sides = [data.one, data.other];
    const made = SIDES.map((m) => {
      const values = new Float32Array(sides[m].names.length).fill(NaN);
      for (const { at, changed } of entries) if (at[m] >= 0) values[at[m]] = changed;
      const title = "changed neighbours";
      const unit = ` of ${data.k}`;
      const missing = "only in this file";
      return [{ title, values, low: 0, high: data.k, highest_above: true, missing, unit }];
    });
    for (const m of SIDES) {
      for (const colouring of sides[m].colourings) {
        const alike = (one) => one.title === colouring.title;
        const twin = sides[1 - m].colourings.find(alike);
        const is_same = twin && String(twin.groups) === String(colouring.groups);
        if (is_same && m === 1) continue;
        const title = is_same ? colouring.title : `${colouring.title} (${data.titles[m]})`;
        const own = { ...colouring, title };
        for (const region of sides[m].regions) {
          if (region.of === colouring.title) region.of = title;
        }
        made[m].push(own);
        made[1 - m].push(carried(own, m, 1 - m, entries, sides[1 - m].names.length));
      }
    }
    return made;
  }

  class TwoMaps {
    constructor(data) {
      this.data = data;
      this.entries = all_entries(data);
      this.by_label = new Map(this.entries.map((entry) => [entry.label, entry]));
      this.by_row = SIDES.map((m) => {
        const found = [];
        for (const entry of this.entries) if (entry.at[m] >= 0) found[entry.at[m]] = entry;
        return found;
      });
      this.chosen = [];
      this.is_linked = true;
      this.has_arrows = false;
      this.kind = "changed"; // what is listed
      this.is_restoring = true;
      this.n_listed = N_LISTED;
    }

    async open() {
      const { data } = this;
      delete host.dataset.ready;
      const colourings = colourings_of(data, this.entries);
      const hosts = SIDES.map((m) => element("div", { id: `map-${m + 1}`, class: "two-map" }));
      this.bar = element("div", { class: "two-bar" });
      host.replaceChildren(this.bar, element("div", { class: "two-pair" }, ...hosts));
      host.hidden = false;
      host.parentElement.classList.add("has-maps");
      const maps = [];
      for (const m of SIDES) {
        const side = { ...[data.one, data.other][m], colourings: colourings[m] };
        maps.push(await this.mount(hosts[m], m, side));
      }
      this.maps = maps;
      // One frame for both: what shows all of one shows all of the other.
      const [a, b] = maps.map(({ view }) => view.bounds);
      const least = (k) => Math.min(a[k], b[k]);
      const most = (k) => Math.max(a[k], b[k]);
      const whole = [least(0), least(1), most(2), most(3)];
      for (const { view } of maps) {
        view.bounds = whole;
        view.resize();
      }
      this.build_bar();
      this.build_list();
      Phcle.open_label = ({ label }) => this.go_to(label);
      this.restore();
      // The maps know their final size after the next frame.
      await new Promise((done) => root.requestAnimationFrame(() => setTimeout(done)));
      host.dataset.ready = "yes";
    }

    async mount(place, m, side) {
      const title = this.data.titles[m];
      const map = await Phcle.mount_map(place, { map: () => side }, {
        search: false,
        panels: false,
        about: `labels of ${title}`,
        file_name: `map-${m + 1}`,
        hollow: this.by_row[m].flatMap(({ at }, i) => (at[1 - m] < 0 ? [i] : [])),
        arrows: () => this.arrows(),
        moved: () => this.follow(m),
        hovered: (_, point) => this.hover(this.by_row[m][point] ?? null),
        changed: (_, what) => this.on_change(m, what),
        entered: (label) => this.open_page(label),
      });
      const rows = this.entries.map(({ at }) => at[m]).filter((i) => i >= 0);
      map.importance = Uint32Array.from(rows); // the most changed labels are named first
      place.append(
        element(
          "h2",
          { class: "map-title" },
          Phcle.name(title),
          element("span", { class: "quiet" }, ` ${count(map.n)} labels`),
        ),
        map.bar,
      );
      return map;
    }

    open_page(label) {
      if (this.find(label)?.at[0] >= 0) root.location.assign(Phcle.label_address(label));
    }

    // -- The two maps as one

    follow(from) {
      if (!this.maps || !this.is_linked || this.is_following) return;
      this.is_following = true;
      const { x, y, reach, is_home } = this.maps[from].view;
      this.maps[1 - from].view.go(x, y, reach, is_home);
      this.is_following = false;
    }

    hover(entry) {
      if (!this.maps || this.is_hovering) return;
      this.is_hovering = true;
      for (const m of SIDES) this.maps[m].hover(entry && entry.at[m] >= 0 ? entry.at[m] : null);
      this.is_hovering = false;
    }

    on_change(m, what) {
      if (!this.maps || this.is_telling) return;
      const [map, other] = [this.maps[m], this.maps[1 - m]];
      if (what === "choice") {
        const rows = map.chosen === null ? map.many : [map.chosen];
        this.choose(rows.map((i) => this.by_row[m][i]), m);
      } else if (what === "colours") {
        this.is_telling = true;
        other.colour_by(map.base.title);
        if (map.group !== null) other.show_group(map.group);
        this.is_telling = false;
        this.remember(what);
      } else this.remember(what);
    }

    // Mark labels on both maps, except on the one where they were chosen, and tell of them.
    choose(entries, source = null) {
      this.chosen = entries;
      for (const m of SIDES) {
        if (m === source) continue;
        const rows = entries.map(({ at }) => at[m]).filter((i) => i >= 0);
        if (entries.length === 1) this.maps[m].set_choice(rows[0] ?? null, []);
        else this.maps[m].set_choice(null, rows);
        this.maps[m].place_names();
      }
      for (const map of this.maps) map.view.draw_soon(); // arrows
      this.tell_chosen();
      this.list();
      this.remember("choice");
    }

    // A label by its id, or by its name, which an address may have instead.
    find(label) {
      return this.by_label.get(label) ?? this.entries.find(({ name }) => name === label);
    }

    go_to(label) {
      const entry = this.find(label);
      if (!entry) return;
      this.choose([entry]);
      host.querySelector(".two-pair").scrollIntoView({ block: "nearest" });
      const around = SIDES.map((m) => {
        if (entry.at[m] < 0) return [];
        return [entry.at[m], ...this.maps[m].nearest_to(entry.at[m])];
      });
      const places = SIDES.map((m) => {
        const { x, y } = this.maps[m].data;
        return around[m].map((i) => [x[i], y[i]]);
      });
      const each = this.is_linked ? [[[], places.flat()]] : around.map((rows) => [rows, []]);
      each.forEach((wanted, m) => {
        if (wanted.flat().length) this.maps[m].view.look_at(...wanted);
      });
    }

    arrows() {
      const made = [];
      const add = (is_strong) => ({ places }) =>
        places && made.push([...places[0], ...places[1], is_strong]);
      if (this.has_arrows) this.entries.slice(0, N_ARROWS).forEach(add(false));
      this.chosen.slice(0, MOST_KEPT).forEach(add(true));
      return made;
    }

    // -- The bar above the maps

    build_bar() {
      const [map] = this.maps;
      const label = element("label", { for: map.picker.id }, "Colour by");
      const { agreement } = this.data;
      const about =
        "Both maps have the same coordinates: the second is turned, mirrored and scaled to lie " +
        `on the first. Their places agree to ${Math.floor(100 * agreement)} %.`;
      this.bar.append(
        element("div", { class: "map-row" }, label, map.picker),
        map.legend,
        element(
          "div",
          { class: "two-switches" },
          this.switch("Move together", "is_linked"),
          this.switch("Arrows of most changed", "has_arrows"),
        ),
      );
      const told = element("p", { class: "quiet two-note" }, `${about} `);
      host.append(told);
      if (this.data.ready) return;
      this.note = element("span", { role: "status" });
      told.append(this.note);
      this.show_progress(0);
    }

    // The note takes a new text only now and then: it is read aloud.
    show_progress(share) {
      const percent = 10 * Math.floor(10 * share);
      this.note.textContent = `A second map that agrees better is being computed: ${percent} %.`;
    }

    switch(text, key) {
      const box = element("input", {
        type: "checkbox",
        onchange: () => this.turn(key, box.checked),
      });
      this.boxes = { ...this.boxes, [key]: box };
      return element("label", {}, box, ` ${text}`);
    }

    turn(key, on) {
      this[key] = on;
      this.boxes[key].checked = on;
      if (key === "is_linked" && on) this.follow(0);
      for (const { view } of this.maps) view.draw_soon();
      this.remember("colours");
    }

    // -- The list of labels, and what is chosen

    build_list() {
      const only = (m) => this.entries.filter(({ at }) => at[1 - m] < 0);
      this.kinds = {
        changed: this.entries.filter(({ changed }) => !Number.isNaN(changed)),
        one: only(0),
        other: only(1),
      };
      const { titles, k } = this.data;
      const text = {
        changed: `Most changed first (${count(this.kinds.changed.length)})`,
        one: `Only in ${titles[0]} (${count(this.kinds.one.length)})`,
        other: `Only in ${titles[1]} (${count(this.kinds.other.length)})`,
      };
      const again = () => {
        this.kind = this.kind_box.value;
        this.n_listed = N_LISTED;
        this.list();
        this.remember("view");
      };
      this.filter = element("input", {
        type: "search",
        placeholder: "Filter by name",
        "aria-label": "Filter the list by name",
        oninput: again,
      });
      this.kind_box = element(
        "select",
        { "aria-label": "Labels to list", onchange: again },
        ...Object.keys(text).map((x) => element("option", { value: x }, text[x])),
      );
      this.listed = element("ol", { class: "neighbours" });
      this.told = element("p", { class: "quiet", role: "status" });
      this.more = button("Show more", () => {
        this.n_listed += N_LISTED;
        this.list();
      }, { class: "button" });
      const about = `How many of the ${k} nearest labels that both files have are others.`;
      list_host.replaceChildren(
        list_host.querySelector(".card-head"),
        element("p", { class: "quiet" }, about),
        this.kind_box,
        this.filter,
        this.told,
        this.listed,
        this.more,
      );
    }

    link({ label, name }) {
      return element("a", { href: address_of(label), "data-label": label }, Phcle.name(name));
    }

    said({ changed, at }) {
      if (Number.isNaN(changed)) return `only in ${this.data.titles[at[0] < 0 ? 1 : 0]}`;
      return `${changed} of ${this.data.k}`;
    }

    list() {
      const wanted = this.filter.value.trim().toLowerCase();
      const has = (text) => text.toLowerCase().includes(wanted);
      const among = this.chosen.length > 1 ? new Set(this.chosen) : null;
      const found = this.kinds[this.kind].filter(
        (entry) => (!among || among.has(entry)) && (has(entry.name) || has(entry.label)),
      );
      const shown = found.slice(0, this.n_listed);
      this.told.textContent = found.length
        ? `${count(shown.length)} of ${count(found.length)}${among ? " chosen" : ""} labels`
        : "No such label.";
      this.more.hidden = shown.length === found.length;
      this.listed.replaceChildren(
        ...shown.map((entry) =>
          element(
            "li",
            this.chosen.length === 1 && this.chosen[0] === entry ? { class: "is-chosen" } : {},
            element(
              "div",
              { class: "near-head" },
              this.link(entry),
              element("span", { class: "near-value" }, this.said(entry)),
            ),
            ...(Number.isNaN(entry.changed) ? [] : [Phcle.bar(entry.changed / this.data.k)]),
          ),
        ),
      );
    }

    tell_chosen() {
      const { chosen } = this;
      chosen_host.hidden = !chosen.length;
      if (chosen.length > 1) this.tell_many();
      else if (chosen.length) this.tell_one(chosen[0]);
    }

    // The title of what is chosen, with a button that ends the choice.
    chosen_head(text) {
      const close = button("×", () => this.choose([]), {
        class: "map-close",
        "aria-label": "Close",
      });
      return element("div", { class: "card-head" }, element("h2", { id: "chosen-title" }, text), close);
    }

    tell_many() {
      const compared = this.chosen.filter(({ changed }) => !Number.isNaN(changed));
      const sum = compared.reduce((total, { changed }) => total + changed, 0);
      const mean = compared.length ? (sum / compared.length).toFixed(1) : "none";
      const parts = [`On average ${mean} of their ${this.data.k} nearest labels changed.`];
      const lack = this.chosen.length - compared.length;
      if (lack) parts.push(`${count(lack)} are in one file only.`);
      chosen_host.replaceChildren(
        this.chosen_head(`${count(this.chosen.length)} labels chosen`),
        element("p", {}, parts.join(" ")),
      );
    }

    async tell_one(entry) {
      const { titles, k } = this.data;
      const lists = SIDES.map(() => element("ol", { class: "neighbours" }));
      const text = Number.isNaN(entry.changed)
        ? `This label is ${this.said(entry)}, so it cannot be compared.`
        : `${this.said(entry)} nearest labels changed, of those that both files have.`;
      const head = this.chosen_head(Phcle.name(entry.name));
      const parts = [head, element("p", {}, text)];
      if (entry.at[0] >= 0) {
        const link = { class: "near-value", href: Phcle.label_address(entry.label) };
        head.lastChild.before(element("a", link, "Its page"));
      }
      const sides = SIDES.filter((m) => entry.at[m] >= 0).map((m) =>
        element("div", {}, element("h3", { class: "file" }, titles[m]), lists[m]),
      );
      chosen_host.replaceChildren(...parts, element("div", { class: "columns" }, ...sides));
      const query = [["label", entry.label], ["k", k]];
      const found = await Phcle.get("/api/side-by-side", query).catch((error) => {
        chosen_host.append(Phcle.failure(error));
        return { one: [], other: [] };
      });
      [found.one, found.other].forEach((near, m) => {
        lists[m].replaceChildren(...near.map((each) => this.neighbour(each, m)));
      });
    }

    neighbour({ label, name, similarity, in_both }, m) {
      const entry = this.by_label.get(label);
      const lacks = entry && entry.at[1 - m] < 0;
      const [sign, words] = lacks
        ? ["○", "only in this file"]
        : m
          ? ["+", "new"]
          : ["−", "gone"];
      const about = { class: `two-sign is-${words.split(" ")[0]}`, role: "img", "aria-label": words, title: words };
      return element(
        "li",
        { class: "near-head" },
        ...(in_both ? [] : [element("span", about, sign)]),
        entry ? this.link(entry) : Phcle.name(name), // a sample may lack it
        element("span", { class: "near-value" }, similarity.toFixed(2)),
      );
    }

    // -- The URL

    remember(what) {
      if (this.is_restoring) return;
      const before = new URLSearchParams(root.location.search);
      const pairs = [];
      const [one, other] = this.maps;
      const at = ({ view }) => view.where().map((value) => value.toFixed(4)).join(",");
      if (before.get("map")) pairs.push(["map", before.get("map")]);
      if (this.chosen.length <= MOST_KEPT) {
        for (const { label } of this.chosen) pairs.push(["label", label]);
      }
      if (one.base !== one.data.colourings[0]) pairs.push(["colour", one.base.title]);
      if (one.group !== null) pairs.push(["group", one.colouring.groups[one.group]]);
      if (!this.is_linked) pairs.push(["linked", "no"]);
      if (this.has_arrows) pairs.push(["arrows", "yes"]);
      if (!one.view.is_home) pairs.push(["at", at(one)]);
      if (!this.is_linked && !other.view.is_home) pairs.push(["other", at(other)]);
      if (this.kind !== "changed") pairs.push(["list", this.kind]);
      if (this.filter.value) pairs.push(["name", this.filter.value]);
      const query = Phcle.query(pairs);
      const address = query ? `${PATH}?${query}` : PATH;
      if (address === root.location.pathname + root.location.search) return;
      if (what === "view") root.history.replaceState(null, "", address);
      else root.history.pushState(null, "", address);
    }

    restore() {
      this.is_restoring = true;
      const kept = new URLSearchParams(root.location.search);
      const [one] = this.maps;
      const asked = kept.get("list");
      this.kind = this.kind_box.value = asked in this.kinds ? asked : "changed";
      this.filter.value = kept.get("name") ?? "";
      this.turn("has_arrows", kept.get("arrows") === "yes");
      this.turn("is_linked", kept.get("linked") !== "no");
      const colour = kept.get("colour");
      const titles = one.data.colourings.map(({ title }) => title);
      one.colour_by(titles.includes(colour) ? colour : titles[0]);
      const group = (one.colouring.groups || []).indexOf(kept.get("group"));
      if (group >= 0) one.show_group(group);
      const labels = kept.getAll("label");
      const found = labels.map((label) => this.find(label)).filter(Boolean);
      const views = ["at", "other"].map((key) => (kept.get(key) || "").split(",").map(Number));
      const is_view = (at) => at.length === 3 && at.every(Number.isFinite) && at[2] > 0;
      if (found.length === 1 && !is_view(views[0])) this.go_to(found[0].label);
      else {
        this.choose(found);
        const of_side = this.is_linked ? [views[0]] : views;
        of_side.forEach((at, m) => {
          if (is_view(at)) this.maps[m].view.go(...at);
          else this.maps[m].view.show_all();
        });
      }
      this.is_restoring = false;
    }
  }

  // Links of the list and of neighbours move the maps instead of loading the page.
  function listen(side) {
    const linked = ({ target }) => target.closest?.("a[data-label]")?.dataset.label;
    side.addEventListener("click", (event) => {
      const label = linked(event);
      if (label === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      Phcle.two_maps.go_to(label);
    });
    const point = (event) => {
      const label = linked(event);
      Phcle.two_maps?.hover(label === undefined ? null : Phcle.two_maps.find(label));
    };
    for (const kind of ["pointerover", "pointerleave", "focusin"]) {
      side.addEventListener(kind, point);
    }
    root.addEventListener("popstate", () => Phcle.two_maps?.restore());
  }

  async function open() {
    const data = await Phcle.get("/api/two-maps");
    Phcle.two_maps = new TwoMaps(data);
    await Phcle.two_maps.open();
    if (!data.ready) wait();
  }

  // Ask how far the better second map is, and show it once it is there.
  function wait() {
    setTimeout(async () => {
      try {
        const { second_map: now } = await Phcle.get("/api/status");
        if (now.ready) return void (await open());
        Phcle.two_maps.show_progress(now.done / now.total);
        wait();
      } catch (error) {
        fail(error);
      }
    }, LOOK_MS);
  }

  function fail(error) {
    host.hidden = false;
    host.replaceChildren(Phcle.failure(error));
  }

  if (host) {
    listen(list_host.parentElement);
    open().catch(fail);
  }
})(window);
