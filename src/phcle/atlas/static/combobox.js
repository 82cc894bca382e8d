// An input with a list of suggestions, usable with the keyboard.
//
//   Phcle.combobox(id, {input, find, show, take, placeholder, none, name}) -> the list
//
// find(typed) returns items or a promise of them; show(item) returns an item's content;
// take(item, input) is called with the chosen item.
// Text is inserted as text, never as HTML.
(function (root) {
  "use strict";
  const { html } = Phcle;

  Phcle.combobox = function (id, options) {
    const box = options.input;
    Object.assign(box, { role: "combobox", ariaExpanded: "false", ariaAutoComplete: "list" });
    Object.assign(box, { autocomplete: "off", placeholder: options.placeholder || "" });
    box.setAttribute("aria-controls", `${id}-found`);
    const list = html`<ul
      id=${`${id}-found`} role="listbox" aria-label=${options.name || "Labels found"}
      class="map-found" hidden
    ></ul>`;
    let found = [];
    let active = -1;
    let asked = 0;
    let is_waiting = false; // for an answer to what is typed now
    let takes_first = false; // Enter was pressed meanwhile

    function close() {
      list.hidden = true;
      box.setAttribute("aria-expanded", "false");
      box.removeAttribute("aria-activedescendant");
    }

    function highlight() {
      list.querySelectorAll("li:not(.map-none)").forEach((item, i) => {
        item.setAttribute("aria-selected", String(i === active));
        if (i === active) item.scrollIntoView({ block: "nearest" });
      });
      if (active < 0) box.removeAttribute("aria-activedescendant");
      else box.setAttribute("aria-activedescendant", `${list.id}-${active}`);
    }

    function take(i) {
      const item = found[i];
      if (item === undefined) return;
      close();
      asked += 1; // ignore an answer that is still pending
      is_waiting = takes_first = false;
      options.take(item, box);
    }

    function draw(typed) {
      active = found.length ? 0 : -1;
      const items = found.map((item, i) => {
        // Not "click": by then the input has lost focus and closed the list.
        const pressed = (event) => {
          event.preventDefault();
          take(i);
        };
        const option = html`<li role="option" id=${`${list.id}-${i}`} onpointerdown=${pressed}>${options.show(item)}</li>`;
        option.title = option.textContent;
        return option;
      });
      list.replaceChildren(...items);
      if (typed.trim() && !found.length) {
        list.append(html`<li class="map-none" role="option" aria-disabled="true">${options.none || "no such label"}</li>`);
      }
      list.hidden = !list.children.length;
      box.setAttribute("aria-expanded", String(!list.hidden));
      highlight();
    }

    function suggest() {
      asked += 1;
      takes_first = false;
      const mine = asked;
      const typed = box.value;
      const answer = options.find(typed);
      const shown = (items) => {
        if (mine !== asked) return; // the text has changed since
        const is_taken = takes_first;
        is_waiting = takes_first = false;
        found = items;
        draw(typed);
        if (is_taken && found.length) take(0);
        else if (is_taken && box.form) box.form.requestSubmit();
      };
      is_waiting = answer instanceof Promise;
      if (is_waiting) answer.then(shown, () => shown([]));
      else shown(answer);
    }

    box.addEventListener("input", suggest);
    box.addEventListener("blur", close);
    box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && found.length && !list.hidden) {
        event.preventDefault();
        active = (active + step + found.length) % found.length;
        highlight();
      } else if (event.key === "Enter" && is_waiting && !event.isComposing) {
        // The list, if any, belongs to an earlier text: wait for the one that is typed.
        event.preventDefault();
        takes_first = true;
      } else if (event.key === "Enter" && !list.hidden) {
        event.preventDefault();
        take(active);
      } else if (event.key === "Escape") {
        close();
      }
    });
    return list;
  };
})(window);
