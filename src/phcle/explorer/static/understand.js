// Upload a dropped or chosen file, and show related labels and attributes.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const MOST_BYTES = 16 * 1024 * 1024;
  const drop = document.getElementById("drop");
  const input = document.getElementById("file");
  const place = document.getElementById("understood");

  function card({ picture, related, attributes }, name) {
    const near = related.map(({ label, name: text, share }) =>
      element(
        "li",
        {},
        element(
          "div",
          { class: "near-head" },
          Phcle.label_link({ label: label, name: text }),
          element("span", { class: "near-value" }, `${Math.round(100 * share)}%`),
        ),
        Phcle.bar(share),
      ),
    );
    const like = attributes.map(({ name: text, context, value }) =>
      element(
        "li",
        {},
        element("span", { class: "attribute-name" }, text),
        element("span", { class: "quiet" }, context),
        element("span", { class: "near-value" }, value.toPrecision(3)),
      ),
    );
    const parts = [
      element("h2", {}, `${name}, ${picture}`),
      element("h3", {}, "Related labels"),
      element("ol", { class: "neighbours" }, ...near),
    ];
    if (like.length) {
      const list = { class: "attributes observed" };
      parts.push(element("h3", {}, "Attributes"), element("ul", list, ...like));
    }
    return element("section", { class: "card" }, ...parts);
  }

  function as_rows(pictures) {
    return pictures.flatMap(({ picture, related, attributes }) => [
      ...related.map((x) => ({
        picture: picture, kind: "label", context: "", name: x.name, value: x.share,
      })),
      ...attributes.map((x) => ({
        picture: picture, kind: "attribute", context: x.context, name: x.name, value: x.value,
      })),
    ]);
  }

  async function send(file) {
    if (!file) return;
    if (file.size > MOST_BYTES) {
      place.replaceChildren(Phcle.failure(new Error("the file is larger than 16 megabytes.")));
      return;
    }
    place.replaceChildren(element("p", { class: "quiet" }, `Reading ${file.name}…`));
    try {
      const answer = await Phcle.post("/api/understand", file, "application/octet-stream");
      const cards = answer.pictures.map((each) => card(each, file.name));
      const left = answer.rows - answer.pictures.length;
      const more = left ? [element("p", { class: "quiet" }, `and ${left} more rows`)] : [];
      place.replaceChildren(
        element("div", { class: "columns" }, ...cards),
        ...more,
        Phcle.downloads(as_rows(answer.pictures), "understood"),
      );
    } catch (error) {
      place.replaceChildren(Phcle.failure(error));
    }
  }

  input.addEventListener("change", () => send(input.files[0]));
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("is-over");
    send(event.dataTransfer.files[0]);
  });
})(window);
