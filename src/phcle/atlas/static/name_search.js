// Search for names, with help for misspelled ones.
//
//   Phcle.search(names, labels, typed) -> rows; `is_guess` is true if nothing has the text,
//                                         and these are names that are spelled alike
(function (root) {
  "use strict";
  const MOST_FOUND = 12;
  const MOST_GUESSES = 6;
  const ALIKE = 0.15; // pairs of letters in common, among those of both names

  const plain = (text) =>
    text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();

  const pairs_of = (text) => new Set(Array.from(text.slice(1), (letter, i) => text[i] + letter));

  // Rows of names that share most pairs of letters with the text.
  function spelled_alike(names, typed) {
    const wanted = pairs_of(plain(typed.trim()));
    const found = names.map((own, i) => {
      const has = pairs_of(plain(own));
      const n = [...wanted].filter((pair) => has.has(pair)).length;
      return [n / (wanted.size + has.size || 1), i];
    });
    const alike = found.filter(([share]) => share > ALIKE).sort((a, b) => b[0] - a[0]);
    return alike.slice(0, MOST_GUESSES).map(([, i]) => i);
  }

  // Names that begin with the text, then names with a word that does, then the rest.
  Phcle.search = function (names, labels, typed) {
    const words = typed.trim().toLowerCase();
    if (!words) return [];
    const found = [[], [], []];
    for (let i = 0; i < names.length && found[0].length < MOST_FOUND; i++) {
      const name = names[i].toLowerCase();
      const at = name.indexOf(words);
      if (at === 0 || labels[i].toLowerCase() === words) found[0].push(i);
      else if (at > 0) found[name[at - 1] === " " ? 1 : 2].push(i);
    }
    found[0].sort((a, b) => names[a].length - names[b].length);
    const all = found.flat().slice(0, MOST_FOUND);
    if (all.length) return all;
    return Object.assign(spelled_alike(names, typed), { is_guess: true });
  };
})(window);
