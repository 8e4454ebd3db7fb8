// Removes what an earlier build wrote and no source makes any more: a migration that is gone would be run, a module would be published.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const OUTPUT = /\.(?:js|d\.ts)(?:\.map)?$/;
/** Folders of `dist` whose sources do not lie in `src`. */
const OWN_ROOTS = ['bench/', 'examples/', 'test/'];

if (existsSync(at('dist')))
  for (const file of readdirSync(at('dist'), { recursive: true })) {
    if (!OUTPUT.test(file) || file === 'workflow-bundle.js') continue;
    const root = OWN_ROOTS.some((folder) => file.startsWith(folder)) ? '' : 'src/';
    if (!existsSync(at(`${root}${file.replace(OUTPUT, '.ts')}`)))
      rmSync(at(`dist/${file}`), { force: true });
  }
