// The page of two embeddings: wait until neighbours are computed.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const LOOK_MS = 1000;
  const preparing = document.getElementById("preparing");
  async function look() {
    const status = await Phcle.get("/api/status");
    const stages = [status.labels, status.other].filter(Boolean);
    if (stages.every(({ ready }) => ready)) root.location.reload();
    else {
      const now = stages.find(({ ready }) => !ready);
      preparing.textContent = `Computing: ${now.stage}, ${now.done} of ${now.total}`;
      if (!now.failed) setTimeout(look, LOOK_MS);
    }
  }
  if (preparing) look();
})(window);
