// What stands on every page: the search at the top, light and dark, sections, and which part
// of the page an address shows.
(function (root) {
  "use strict";
  const { html } = Phcle;
  const SECTIONS = [
    ["/", "Explore"],
    ["/complete", "Complete"],
    ["/add", "Add"],
    ["/understand", "Understand"],
    ["/about", "About"],
  ];
  const NOT_IN_REPORTS = ["/add", "/understand"];
  const place = (id) => document.getElementById(id);
  const [explore, content] = [place("explore"), place("content")];
  let drawn = null;

  function draw_sections(path) {
    const has_section = (own) =>
      Phcle.is_report ? !NOT_IN_REPORTS.includes(own) : own !== "/understand" || Phcle.info.takes_features;
    const shown = SECTIONS.filter(([own]) => has_section(own));
    const links = shown.map(([own, name]) => {
      const current = own === path ? "page" : null;
      return html`<li><a href=${Phcle.address(own)} aria-current=${current}>${name}</a></li>`;
    });
    place("sections").replaceChildren(...links);
    // On a phone not all sections are in view: the current one should be.
    const current = place("sections").querySelector("[aria-current]");
    const { parentElement: bar } = place("sections");
    if (current) bar.scrollLeft = current.offsetLeft + current.offsetWidth / 2 - bar.clientWidth / 2;
  }

  // Draw what the address says. The focus goes to the new page, for screen readers.
  async function draw() {
    const { path, asked } = Phcle.here();
    const mine = (drawn = {});
    const is_map = path === "/";
    document.body.dataset.shown = "";
    explore.hidden = !is_map;
    content.hidden = is_map;
    document.body.classList.toggle("is-map", is_map);
    Phcle.info ??= await Phcle.get("/api/info");
    draw_sections(path);
    const { title } = Phcle.info;
    place("brand").textContent = title;
    document.title = `${title} · phcle`;
    if (is_map) {
      content.replaceChildren();
      await Phcle.show_explore(explore, asked);
      document.body.dataset.shown = root.location.hash;
      return;
    }
    content.setAttribute("aria-busy", "true");
    if (!Phcle.pages[path]) throw new Error("There is no such page.");
    if (Phcle.is_report && NOT_IN_REPORTS.includes(path)) throw Phcle.left_out();
    const made = await Phcle.pages[path](asked);
    if (mine !== drawn) return; // the visitor has gone on
    document.title = `${made.title} · ${title} · phcle`;
    await Phcle.show(content, made.content);
    made.shown?.();
    root.scrollTo(0, 0);
    place("main").focus({ preventScroll: true });
    document.body.dataset.shown = root.location.hash;
  }

  function redraw() {
    draw().catch((error) => {
      content.hidden = false;
      Phcle.show(content, [Phcle.page_head("Not found"), Phcle.failure(error)]);
      document.body.dataset.shown = root.location.hash;
    });
  }

  const { dataset } = document.documentElement;
  place("theme").addEventListener("click", () => {
    const is_dark = dataset.theme ? dataset.theme === "dark" : root.matchMedia("(prefers-color-scheme: dark)").matches;
    const next = (dataset.theme = is_dark ? "light" : "dark");
    try {
      localStorage.setItem("phcle-theme", next);
    } catch {
      // Storage may be blocked; then the choice lasts until the page is left.
    }
    document.dispatchEvent(new Event("phcle-theme"));
  });

  // On the map the search moves it; elsewhere it opens the page of a label.
  const finder = place("finder");
  const take = ({ label, name }, box) => {
    box.value = name;
    if (explore.hidden || !Phcle.map) Phcle.open("/label", { label });
    else Phcle.map.go_to_label(label).catch((error) => Phcle.map.tell(error.message));
  };
  finder.replaceWith(Phcle.suggest_labels(finder.cloneNode(), take));
  place("search").addEventListener("submit", (event) => {
    event.preventDefault();
    Phcle.open("/label", { label: place("finder").value });
  });
  document.addEventListener("keydown", (event) => {
    const is_typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key !== "/" || is_typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    place("finder").focus();
    place("finder").select();
  });

  // Inside another page, such as a notebook, the browser would take links to parts of this
  // page for links to that one.
  document.addEventListener("click", (event) => {
    const address = event.target.closest('a[href^="#"]')?.getAttribute("href");
    if (!address || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (address.startsWith("#/")) root.location.hash = address;
    else place(address.slice(1)).focus();
  });

  root.addEventListener("popstate", redraw);
  redraw();
})(window);
