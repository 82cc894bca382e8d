// Search for names, with help for misspelled ones.
//
//   Phcle.search(names, labels, typed) -> rows; `is_guess` is true if nothing has the text,
//                                         and these are names that are spelled alike
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const MOST_FOUND = 12;
  const MOST_GUESSES = 6;

  const plain = (text) =>
    text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();

  // Typing errors between two texts: letters put in, left out, replaced or swapped with the
  // next. More than `most` is not counted.
  function errors_between(a, b, most) {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      let least = i;
      for (let j = 1; j <= b.length; j++) {
        const is_other = a[i - 1] === b[j - 1] ? 0 : 1;
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + is_other);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
          row[j] = Math.min(row[j], before[j - 2] + 1);
        }
        least = Math.min(least, row[j]);
      }
      if (least > most) return most + 1;
      [before, last] = [last, row];
    }
    return last[b.length];
  }

  // Rows of names that are spelled like the text, or begin like it, or have such a word.
  function spelled_alike(names, typed) {
    const text = plain(typed.trim());
    const most = Math.min(3, Math.floor(text.length / 3));
    if (!most) return [];
    const found = [];
    names.forEach((own, i) => {
      const name = plain(own);
      let least = errors_between(text, name, most);
      if (least && name.length > text.length) {
        const parts = [name.slice(0, text.length), ...name.split(/[\s,_-]+/)];
        for (const part of new Set(parts)) {
          least = Math.min(least, errors_between(text, part, most) + 0.5);
        }
      }
      if (least <= most) found.push([least, name.length, i]);
    });
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return found.slice(0, MOST_GUESSES).map(([, , i]) => i);
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
