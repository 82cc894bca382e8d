// The section Understand: a dropped picture, or features of pictures, and its related labels.
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const MOST_BYTES = 16 * 1024 * 1024;

  function card({ picture, related, attributes }, name) {
    const near = related.map((each) => html`<li>
      ${Phcle.near_head(Phcle.label_link(each), Phcle.percent(each.share))}
      ${Phcle.bar(each.share)}
    </li>`);
    return Phcle.section(`${name}, ${picture}`, [
      html`<h3>Related labels</h3><ol class="neighbours">${near}</ol>`,
      attributes.length > 0 && html`<h3>Attributes</h3>${Phcle.attribute_list(attributes, "predicted")}`,
    ]);
  }

  async function understood(file) {
    if (file.size > MOST_BYTES) throw new Error("the file is larger than 16 megabytes.");
    const { pictures, n } = await Phcle.post("/api/understand", file);
    return [
      html`<div class="columns">${pictures.map((each) => card(each, file.name))}</div>`,
      n > pictures.length && html`<p class="quiet">and ${count(n - pictures.length)} more rows</p>`,
      Phcle.downloads(() => pictures.flatMap(({ related }) => related), "related"),
    ];
  }

  Phcle.pages["/understand"] = async function () {
    const { takes_pictures, takes_features } = Phcle.info;
    if (!takes_features) throw new Error("There is no map of pictures: start the explorer with --model.");
    const about = takes_pictures
      ? "Drop a picture, or its features as an .npy file, to see related labels and attributes."
      : "Drop an .npy file with features of pictures. Make the features with the network that the map was learned with.";
    const place = html`<section aria-live="polite" aria-label="Related labels and attributes"></section>`;
    const send = (file) => file && Phcle.show(place, understood(file));
    const over = (event) => {
      event.preventDefault();
      event.currentTarget.classList.toggle("is-over", event.type === "dragenter" || event.type === "dragover");
      if (event.type === "drop") send(event.dataTransfer.files[0]);
    };
    const accept = takes_pictures ? ".npy,image/*" : ".npy";
    const form = html`<form class="card drop" ondragenter=${over} ondragover=${over} ondragleave=${over} ondrop=${over}>
      <label class="drop-label" for="file"><strong>Drop a file here</strong>
        <span class="quiet">or choose one, up to 16 megabytes</span></label>
      <input type="file" id="file" accept=${accept} onchange=${({ target }) => send(target.files[0])} />
    </form>`;
    return { title: "Understand", content: [Phcle.page_head("Understand a picture", about), form, place] };
  };
})(window);
