// Before the page is drawn: the reader's own choice of light or dark, if there is one.
(function () {
  "use strict";
  let kept = null;
  try {
    kept = localStorage.getItem("phcle-theme");
  } catch {
    // Storage may be forbidden; then the system decides.
  }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
