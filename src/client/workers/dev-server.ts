/** The command that starts or stops a Temporal dev server, as a user in the present folder types it; for messages. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = 'temporal-dev.sh';

/**
 * `./temporal-dev.sh` in a checkout of this repository, `npx colloquy temporal start` in a project that has installed
 * the package. Never throws, and names no absolute path: the text may be shown to others.
 */
export function devServerCommand(action: 'start' | 'stop' = 'start', from = process.cwd()): string {
  const path = scriptPath(from);
  if (path === undefined) return `npx colloquy temporal ${action}`;
  return action === 'start' ? path : `${path} --${action}`;
}

/** Undefined if the script is not below the folder, or lies in an installed package. */
function scriptPath(from: string): string | undefined {
  const url = new URL(`../../../${SCRIPT}`, import.meta.url);
  if (url.protocol !== 'file:') return undefined;
  const file = fileURLToPath(url);
  const path = relative(from, file);
  const isInstalled = file.split(/[\\/]/).includes('node_modules');
  return isInstalled || path.startsWith('..') || !existsSync(file) ? undefined : `./${path}`;
}
