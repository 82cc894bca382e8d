// What all scripts use: elements, files to save, numbers.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});

  // An element. Keys that begin with "on" are listeners; text is inserted as text.
  Phcle.element = function (kind, attributes, ...children) {
    const made = document.createElement(kind);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  // A name in its own direction of writing, cut by the style sheet; the title is whole.
  Phcle.name = (name, attributes) =>
    Phcle.element("bdi", { class: "name", title: name, ...attributes }, name);

  Phcle.save = function (content, name) {
    const address = URL.createObjectURL(content);
    Phcle.element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  // A number with three significant digits; digits before the point are never rounded away.
  Phcle.number = function (number) {
    return String(Math.abs(number) < 999.5 ? Number(number.toPrecision(3)) : Math.round(number));
  };
})(window);
