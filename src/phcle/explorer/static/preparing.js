// A page that is still being prepared: look again every second, and open it when it is there.
// Leaving the page ends this.
(function (root) {
  "use strict";
  const LOOK_MS = 1000;
  const told = document.getElementById("preparing");

  async function look() {
    const response = await fetch(root.location.href);
    if (response.status !== 503) {
      root.location.reload();
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    told.textContent = page.getElementById("preparing").textContent;
    setTimeout(look, LOOK_MS);
  }

  setTimeout(look, LOOK_MS);
})(window);
