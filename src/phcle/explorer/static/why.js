// Load an explanation when its section is opened. The URL holds which one is open.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;

  function remember(details) {
    const address = new URL(root.location);
    if (details.open) address.searchParams.set("why", details.dataset.b);
    else if (address.searchParams.get("why") === details.dataset.b) {
      address.searchParams.delete("why");
    }
    root.history.replaceState(null, "", address);
  }

  async function tell(details) {
    const body = details.querySelector(".why-body");
    if (details.dataset.told) return;
    details.dataset.told = "yes";
    const { a, b } = details.dataset;
    try {
      const answer = await Phcle.get("/api/explain", [["a", a], ["b", b], ["k", 5]]);
      const both = Phcle.query([["label", a], ["label", b]]);
      body.replaceChildren(
        Phcle.explanation(answer),
        Phcle.element("a", { href: `/compare?${both}` }, "Compare the two"),
      );
    } catch (error) {
      delete details.dataset.told;
      body.replaceChildren(Phcle.failure(error));
    }
  }

  const wanted = new URL(root.location).searchParams.get("why");
  for (const details of document.querySelectorAll("details.why")) {
    details.addEventListener("toggle", () => {
      remember(details);
      if (details.open) tell(details);
    });
    if (wanted !== null && details.dataset.b === wanted) details.open = true;
  }
})(window);
