/** How a Temporal dev server is started from here, in words: the script lies in the package, and that in `node_modules` of whoever installed it. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = 'temporal-dev.sh';

/** The script as a shell here finds it, such as `./node_modules/colloquy/temporal-dev.sh`; its name alone where that is not below. Never throws. */
export function devServerScript(from = process.cwd()): string {
  const url = new URL(`../../${SCRIPT}`, import.meta.url);
  if (url.protocol !== 'file:') return SCRIPT;
  const file = fileURLToPath(url);
  const path = relative(from, file);
  // The text may be shown to others: no path of this machine is for them.
  return path.startsWith('..') || !existsSync(file) ? `${SCRIPT} of this package` : `./${path}`;
}
