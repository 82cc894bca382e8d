"""Build the vendored plotting library, and the functions that it writes as it runs.

    npm install regl-scatterplot@1.16.0 esbuild@0.28.2     # in an empty folder
    python tools/vendor_scatterplot.py FOLDER

regl, which the library draws with, compiles small functions from text while it runs.
A strict content security policy forbids that. So the bundle looks each of them up by
its text in `regl-programs.js`, where they stand as plain code; the tool finds them by
drawing a map in Chromium in all the ways that maps are used. A function that is missing
there is compiled as ever, where the page's policy allows it, and else the map is drawn
on a plain canvas. The sums printed at the end belong into VENDOR.toml.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

STATIC = Path(__file__).parents[1] / "src/phcle/web/static"
VENDOR = STATIC / "vendor"

ENTRY = 'export { default as createScatterplot } from "regl-scatterplot";\n'

# Takes the place of Function.apply, whose second argument is names and then the body.
LOOK_UP = """
const key_of = (text) => {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  const hex = (x) => (x >>> 0).toString(16).padStart(8, "0");
  return hex(a) + hex(b) + text.length.toString(16);
};
export function compile_program(_this, parts) {
  const key = key_of(parts.join("\\n"));
  const known = globalThis.ReglPrograms && globalThis.ReglPrograms[key];
  if (known) return known;
  if (globalThis.ReglRecord) globalThis.ReglRecord[key] = parts;
  return new Function(...parts);
}
"""

HEAD = """\
// Functions that regl 2.1.1 (MIT, see LICENSES.txt) writes while it runs, by a key of
// their text. Made by tools/vendor_scatterplot.py; not to be edited.
"""

PAGE = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<div id="map" style="width: 900px"></div>
<script>globalThis.ReglRecord = {{}};</script>
{scripts}
"""

# What regl writes depends on nothing of a graphics card but this number.
N_ATTRIBUTES = (16, 32)
PRETEND = """{
  const ask = WebGLRenderingContext.prototype.getParameter;
  WebGLRenderingContext.prototype.getParameter = function (name) {
    return name === this.MAX_VERTEX_ATTRIBS ? %d : ask.call(this, name);
  };
}"""

USE = """async (n) => {
  const random = (i) => Math.sin(i * 12.9898) * 43758.5453 % 1;
  const pack = (array) => {
    let text = "";
    for (const byte of new Uint8Array(array.buffer)) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const names = Array.from({ length: n }, (_, i) => `label ${i}`);
  const x = Float32Array.from(names, (_, i) => random(i + 1));
  const y = Float32Array.from(names, (_, i) => random(2 * i + 5));
  const codes = Uint8Array.from(names, (_, i) => i % 3);
  const near = Uint32Array.from({ length: 2 * n }, (_, i) => (i + 7) % n);
  const colouring = { title: "a", groups: ["one", "two", "other"], codes: pack(codes) };
  const map = await Phcle.mount_map(
    document.getElementById("map"),
    {
      names, labels: null, x: pack(x), y: pack(y), neighbours: pack(near),
      colourings: [colouring, { ...colouring, title: "b", groups: ["1", "2", "3"] }],
    },
    { encircle: true },
  );
  if (map.view.kind !== "webgl") return false;
  const rest = () => new Promise((resolve) => setTimeout(resolve, 700));
  map.go_to(3);
  await rest();
  map.show_group(1);
  await rest();
  await map.colour_by("b");
  map.clear();
  await rest();
  return true;
}"""


def bundle(folder: Path) -> None:
    """Write regl-scatterplot.js."""
    (folder / "entry.js").write_text(ENTRY)
    (folder / "look_up.js").write_text(LOOK_UP)
    subprocess.run(
        [
            *("npx", "esbuild", "entry.js", "--bundle", "--minify", "--format=iife"),
            *("--target=es2020", "--global-name=ReglScatterplot"),
            *("--define:Function.apply=compile_program", "--inject:look_up.js"),
            *("--legal-comments=none", f"--outfile={VENDOR / 'regl-scatterplot.js'}"),
        ],
        cwd=folder,
        check=True,
    )


def record(folder: Path) -> dict[str, list[str]]:
    """Draw maps in Chromium; give the parts of every function that was compiled."""
    from playwright.sync_api import sync_playwright

    names = ("vendor/regl-scatterplot.js", "combobox.js", "map_views.js", "map.js")
    scripts = "".join(
        f"<script>{(STATIC / name).read_text()}</script>\n" for name in names
    )
    css = (STATIC / "page.css").read_text() + (STATIC / "map.css").read_text()
    page_file = folder / "page.html"
    page_file.write_text(PAGE.format(css=css, scripts=scripts))
    found: dict[str, list[str]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[
                "--no-sandbox",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
            ],
        )
        for n, n_attributes in product((40, 25_000), N_ATTRIBUTES):
            page = browser.new_page()
            page.add_init_script(PRETEND % n_attributes)
            page.goto(page_file.as_uri() + "?map=webgl")
            drawn = page.evaluate(USE, n)
            found |= page.evaluate("ReglRecord")
            if not drawn:
                if n_attributes == N_ATTRIBUTES[0]:
                    raise SystemExit("there is no WebGL here")
                continue  # with more than there are only the first steps go well
            stage = page.locator(".map-stage").bounding_box()
            if stage is None:
                raise SystemExit("the map did not open")
            page.get_by_role("button", name="Lasso").click()
            for turn in range(2):
                page.mouse.move(stage["x"] + 60, stage["y"] + 60)
                page.mouse.down()
                for x, y in ((400, 80), (420, 320), (80, 300 + turn)):
                    page.mouse.move(stage["x"] + x, stage["y"] + y, steps=8)
                page.mouse.up()
                page.wait_for_timeout(500)
            page.get_by_role("button", name="Lasso").click()
            for x in range(0, 500, 5):
                page.mouse.move(stage["x"] + x, stage["y"] + 200)
            page.mouse.wheel(0, -400)
            page.wait_for_timeout(500)
            found |= page.evaluate("ReglRecord")
        browser.close()
    return found


def write_programs(programs: dict[str, list[str]], folder: Path) -> None:
    """Write regl-programs.js."""
    lines = [
        f"{json.dumps(key)}: function ({', '.join(parts[:-1])}) {{{parts[-1]}}}"
        for key, parts in sorted(programs.items())
    ]
    text = "globalThis.ReglPrograms = {\n" + ",\n".join(lines) + ",\n};\n"
    (folder / "programs.js").write_text(text)
    done = subprocess.run(
        ["npx", "esbuild", "programs.js", "--minify", "--target=es2020"],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    (VENDOR / "regl-programs.js").write_text(HEAD + done.stdout)


def main() -> None:
    """Build both files and print their sums."""
    folder = Path(sys.argv[1])
    bundle(folder)
    write_programs(record(folder), folder)
    for name in ("regl-scatterplot.js", "regl-programs.js", "LICENSES.txt"):
        content = (VENDOR / name).read_bytes()
        print(f'"{name}" = "{hashlib.sha256(content).hexdigest()}"')


if __name__ == "__main__":
    main()
