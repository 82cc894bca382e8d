// Runs columns.js outside a browser: reads {answers, asked} and writes what was asked.
const fs = require("node:fs");
const [, , folder, input] = process.argv;
globalThis.window = globalThis;
globalThis.document = { getElementById: () => null };
globalThis.htm = require(`${folder}/vendor/htm.umd.js`);
for (const name of ["core", "columns"]) require(`${folder}/${name}.js`);

const { answers, asked } = JSON.parse(fs.readFileSync(input, "utf8"));
const key = (path, given) => `${path} ${JSON.stringify(Object.values(given ?? {}))}`;
const get = async (path, given) => answers[key(path, given)];

function plain(value) {
  return JSON.parse(JSON.stringify(value, (_, x) => (ArrayBuffer.isView(x) ? Array.from(x) : x)));
}

async function main() {
  const { map, listed, n } = answers;
  const columns = Phcle.open_columns({ map, listed, n, get });
  const found = [];
  for (const { filters, facets = [], sort = "", is_turned = false } of asked) {
    await columns.prepare(filters);
    for (const { context, title } of columns.fields) await columns.load(context, title);
    const passing = columns.passing(filters);
    const made = await Promise.all(facets.map((facet) => columns.facet(facet, passing)));
    found.push({
      n: passing.n,
      rows: columns.rows(passing, sort, is_turned),
      scores: columns.scores(filters),
      facets: made,
    });
  }
  process.stdout.write(JSON.stringify(plain(found)));
}

main();
