/** The structure that docs/architecture.md describes: files that can be read one after the other. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

type Imports = ReadonlyMap<string, readonly string[]>;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The files that each file of these folders imports: values and types, exports from a file, and dynamic imports. */
function importsIn(...folders: readonly string[]): Imports {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(tsx?|mjs)$/.test(file))
      .map((file) => join(folder, file)),
  );
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'));
      const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
      const paths = own.map(({ fileName }) => {
        const path = normalize(join(dirname(file), fileName));
        const typed = path.replace(/\.js$/, '.ts');
        return files.includes(`${typed}x`) ? `${typed}x` : typed;
      });
      return [file, paths];
    }),
  );
}

/** The folders whose files each folder imports; a sub-folder is a folder of its own. */
function importsOfFolders(imports: Imports): Imports {
  const folders = new Map<string, readonly string[]>();
  for (const [file, own] of imports) {
    const folder = dirname(file);
    const others = own.map((one) => dirname(one)).filter((one) => one !== folder);
    folders.set(folder, [...(folders.get(folder) ?? []), ...others]);
  }
  return folders;
}

/** Files that lead back to themselves: what is left after files without open imports were taken away, again and again. */
function filesInCircles(imports: Imports): readonly string[] {
  const left = new Map(imports);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const isOpen = (file: string): boolean => left.has(file);
    for (const [file, own] of left) if (!own.some(isOpen)) left.delete(file);
    // A file that no open file imports leads into a circle, and is in none.
    const imported = new Set([...left.values()].flat());
    for (const file of left.keys()) if (!imported.has(file)) left.delete(file);
  }
  return [...left.keys()].sort();
}

describe('the files of src', () => {
  it('are in no circle of imports, type imports included', () => {
    const imports = importsIn('src');
    const unknown = [...imports.values()].flat().filter((file) => !imports.has(file));
    expect(unknown).toEqual([]);
    // A type only, and a module that is loaded when it is needed.
    expect(imports.get('src/worker/plugin.ts')).toContain('src/worker/options.ts');
    expect(imports.get('src/engine/open-colloquy.ts')).toContain('src/http/app.ts');
    expect(filesInCircles(imports)).toEqual([]);
  });

  it('would be found in a circle of any length, without the files that lead to it or from it', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c', 'below']],
      ['c', ['a']],
      ['above', ['a']],
      ['below', []],
      ['self', ['self']],
    ]);
    expect(filesInCircles(circle)).toEqual(['a', 'b', 'c', 'self']);
  });
});

describe('the folders of src, tests and benchmarks', () => {
  it.each([[['src']], [['test', 'bench']]])('import each other in no circle: %j', (folders) => {
    const imports = importsOfFolders(importsIn(...folders));
    expect(imports.size).toBeGreaterThan(20);
    expect(filesInCircles(imports)).toEqual([]);
  });

  it('would be found in a circle that no files are in', () => {
    const files = new Map([
      ['a/one', ['b/one']],
      ['b/one', []],
      ['b/two', ['a/two']],
      ['a/two', ['a/one']],
    ]);
    expect(filesInCircles(importsOfFolders(files))).toEqual(['a', 'b']);
    expect(filesInCircles(files)).toEqual([]);
  });
});
