// Add a label to the comparison. The URL holds all labels.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  Phcle.suggest_labels(document.getElementById("another"), ({ label }) => {
    const address = new URL(root.location);
    address.searchParams.delete("why");
    if (!address.searchParams.getAll("label").includes(label)) {
      address.searchParams.append("label", label);
    }
    root.location.assign(address);
  });
})(window);
