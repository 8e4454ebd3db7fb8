/** Packages that npx has fetched to run `colloquy init`: the new project needs the same ones. */
import { copyFileSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Written by npm: what the folder holds. npm trusts it while no package in the folder is newer. */
const INDEX = '.package-lock.json';

/**
 * Copies them into the project, where the folder is one of npx, so that `npm install` fetches and unpacks only what is
 * missing: a copy takes 7 s, and npm some 17. Without the copy `npm install` does the same from nothing, so a failure
 * is no error; a copy that is not whole is removed.
 */
export function copyFetched(modules: string, project: string): void {
  if (basename(modules) !== 'node_modules' || basename(dirname(dirname(modules))) !== '_npx')
    return;
  if (!existsSync(join(modules, INDEX))) return;
  const partial = join(project, '.node_modules.partial');
  try {
    cpSync(modules, partial, { recursive: true, verbatimSymlinks: true });
    copyFileSync(join(modules, INDEX), join(partial, INDEX));
    renameSync(partial, join(project, 'node_modules'));
  } catch {
    rmSync(partial, { recursive: true, force: true });
  }
}
