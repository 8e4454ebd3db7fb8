// Bounds of what a browser loads, with gzip, after `npm run build`: for an address of the web page that is opened, the
// same with the parts that are loaded later, and all files. `npm run size` shows them; the tests of the bundle check
// them. The sizes are those of gzip at level 9. The bounds are a kilobyte below the promised ones, because servers send
// the files by level 6, which makes them up to 0.2 % larger.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(
  readFileSync(new URL('dist/ui/.vite/manifest.json', import.meta.url), 'utf8'),
);

/** The files of parts of the page, with those that they import; `later`: also those that they import when needed. */
function filesOf(names, { later = false, found = new Set() } = {}) {
  for (const name of names) {
    const { file, imports = [], dynamicImports = [], css = [] } = manifest[name] ?? {};
    if (file === undefined) throw new Error(`the page has no part ${name}`);
    if (found.has(file)) continue;
    for (const one of [file, ...css]) found.add(one);
    filesOf(later ? [...imports, ...dynamicImports] : imports, { later, found });
  }
  return found;
}

function face(name, limit, more = {}) {
  const files = filesOf([`${name}/${name}.tsx`], more);
  // The document of all faces imports each of them when it is opened.
  for (const file of filesOf(['index.html'])) files.add(file);
  const path = [...files].map((file) => `dist/ui/${file}`);
  return {
    name: more.later === true ? `${name}, with later parts` : name,
    path,
    gzip: true,
    limit,
  };
}

export default [
  face('inbox', '119 kB'),
  face('chat', '159 kB'),
  face('studio', '149 kB'),
  face('studio', '249 kB', { later: true }),
  { name: 'all files', path: 'dist/ui/assets/*', gzip: true, limit: '249 kB' },
];
