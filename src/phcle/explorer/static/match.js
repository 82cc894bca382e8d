// Choose wanted and unwanted attributes. The URL holds them all.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const input = document.getElementById("attribute");
  if (!input) return;
  const chips = [...document.querySelectorAll("#wanted .chip")];
  const wanted = chips.map(({ dataset }) => ({
    key: dataset.present === "yes" ? "has" : "not",
    value: Phcle.pack([dataset.context, dataset.name]),
  }));

  function open(list) {
    const query = Phcle.query(list.map(({ key, value }) => [key, value]));
    root.location.assign(`/match?${query}`);
  }

  chips.forEach((chip, i) => {
    chip.querySelector(".chip-turn").addEventListener("click", () => {
      const turned = { ...wanted[i], key: wanted[i].key === "has" ? "not" : "has" };
      open(wanted.with(i, turned));
    });
    chip.querySelector(".chip-off").addEventListener("click", () =>
      open(wanted.toSpliced(i, 1)),
    );
  });
  Phcle.suggest_attributes(input, ({ context, name }) => {
    const value = Phcle.pack([context, name]);
    if (wanted.some((each) => each.value === value)) return;
    open([...wanted, { key: "has", value: value }]);
  });
})(window);
