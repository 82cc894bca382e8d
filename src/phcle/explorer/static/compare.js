// Add a label to the comparison. The URL holds all labels.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const box = document.getElementById("another");
  if (!box) return; // no more labels fit
  Phcle.suggest_labels(box, ({ label }) => {
    const address = new URL(root.location);
    address.searchParams.delete("why");
    if (!address.searchParams.getAll("label").includes(label)) {
      address.searchParams.append("label", label);
    }
    root.location.assign(address);
  });
})(window);
