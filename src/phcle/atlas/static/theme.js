// Apply the stored choice of light or dark before the page is drawn.
(function () {
  "use strict";
  let kept = null;
  try {
    kept = localStorage.getItem("phcle-theme");
  } catch {
    // Storage may be blocked; then the system's setting applies.
  }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
