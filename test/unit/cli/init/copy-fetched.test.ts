/** Packages that npx has fetched, in a new project. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyFetched } from '../../../../src/cli/init/copy-fetched.js';
import { temporaryFolder } from '../../../support/temporary.js';

const INDEX = '.package-lock.json';

/** Modules as npm installs them, in a folder below the given path, and an empty project. */
function installed(path: string, files: readonly string[] = [INDEX]) {
  const folder = temporaryFolder();
  const modules = join(folder, path, 'node_modules');
  mkdirSync(join(modules, 'colloquy', 'dist'), { recursive: true });
  mkdirSync(join(modules, '.bin'));
  writeFileSync(join(modules, 'colloquy', 'dist', 'main.js'), 'main');
  symlinkSync('../colloquy/dist/main.js', join(modules, '.bin', 'colloquy'));
  for (const name of files) writeFileSync(join(modules, name), '{}');
  const project = join(folder, 'my-app');
  mkdirSync(project);
  return { modules, project };
}

describe('a project that npx begins', () => {
  it('has the packages that npx has fetched, with their commands, and an index that npm trusts', () => {
    const { modules, project } = installed('_npx/0a1b');
    copyFetched(modules, project);
    const copied = join(project, 'node_modules');
    expect(readFileSync(join(copied, '.bin', 'colloquy'), 'utf8')).toBe('main');
    expect(lstatSync(join(copied, '.bin', 'colloquy')).isSymbolicLink()).toBe(true);
    expect(readdirSync(project)).toEqual(['node_modules']);
    const writtenAt = (name: string): number => statSync(join(copied, name)).mtimeMs;
    expect(writtenAt(INDEX)).toBeGreaterThanOrEqual(writtenAt('colloquy'));
    // Its command stays one of its own packages, and those of npx stay as they are.
    writeFileSync(join(copied, '.bin', 'colloquy'), 'another');
    expect(readFileSync(join(modules, 'colloquy', 'dist', 'main.js'), 'utf8')).toBe('main');
  });

  it.each([
    ['another folder', 'work/app', [INDEX]],
    ['a folder that npm has not completed', '_npx/0a1b', []],
  ])('has no packages of %s', (_, path, files) => {
    const { modules, project } = installed(path, files);
    copyFetched(modules, project);
    expect(readdirSync(project)).toEqual([]);
  });

  it('has no part of a copy that fails', () => {
    const { modules, project } = installed('_npx/0a1b');
    mkdirSync(join(project, 'node_modules', 'zod'), { recursive: true });
    copyFetched(modules, project);
    expect(readdirSync(project)).toEqual(['node_modules']);
    expect(existsSync(join(project, 'node_modules', 'colloquy'))).toBe(false);
  });
});
