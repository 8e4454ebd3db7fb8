/** The built `colloquy/react` with React 18; test/components has its sources, in a browser. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** A project with the parts of the package that pages import, React 18, and the page. */
function project(): string {
  const folder = temporaryFolder();
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const part of ['browser', 'core', 'net', 'protocol', 'react'])
    cpSync(`${ROOT}dist/${part}`, join(packages, 'colloquy/dist', part), { recursive: true });
  cpSync(`${ROOT}package.json`, join(packages, 'colloquy/package.json'));
  for (const name of ['react', 'react-dom'])
    symlinkSync(`${ROOT}test/support/react18/node_modules/${name}`, join(packages, name));
  symlinkSync(`${ROOT}node_modules/eventsource-parser`, join(packages, 'eventsource-parser'));
  cpSync(`${ROOT}test/bundle/react/all-parts.mjs`, join(folder, 'page.mjs'));
  return folder;
}

it('the built hooks and parts import only names of React 18, which renders them without a warning', async () => {
  // Modules that import a name that React 18 does not have cannot be linked.
  const { stdout, stderr } = await run(process.execPath, ['page.mjs'], { cwd: project() });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^React 18\./);
  for (const text of ['Approval: refund', 'As on the label', 'bulb', '7500', '0 calls wait'])
    expect(stdout).toContain(text);
});
