// Removes build output without a source: a stale migration would be run, a stale module would be published.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const OUTPUT = /\.(?:js|d\.ts)(?:\.map)?$/;
/** Folders of `dist` whose sources are outside of `src`. */
const OWN_ROOTS = ['bench/', 'examples/', 'test/'];
/** Files of the web page, which have names of their own. */
const PAGE = /^ui[\\/]/;

if (existsSync(at('dist')))
  for (const file of readdirSync(at('dist'), { recursive: true })) {
    if (!OUTPUT.test(file) || file === 'workflow-bundle.js' || PAGE.test(file)) continue;
    const root = OWN_ROOTS.some((folder) => file.startsWith(folder)) ? '' : 'src/';
    const source = at(`${root}${file.replace(OUTPUT, '.ts')}`);
    if (!existsSync(source) && !existsSync(`${source}x`))
      rmSync(at(`dist/${file}`), { force: true });
  }
