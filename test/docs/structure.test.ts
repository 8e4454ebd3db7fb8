/** The structure that docs/architecture.md describes: files that can be read one after the other. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

type Imports = ReadonlyMap<string, readonly string[]>;

const ROOT = fileURLToPath(new URL('../../src', import.meta.url));

/** The files that each file of `src` imports: values and types, exports from a file, and dynamic imports. */
function importsOfSource(): Imports {
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'));
      const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
      const paths = own.map(({ fileName }) =>
        normalize(join(dirname(file), fileName)).replace(/\.js$/, '.ts'),
      );
      return [file, paths];
    }),
  );
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
    const imports = importsOfSource();
    const unknown = [...imports.values()].flat().filter((file) => !imports.has(file));
    expect(unknown).toEqual([]);
    // A type only, and a module that is loaded when it is needed.
    expect(imports.get('worker/plugin.ts')).toContain('worker/options.ts');
    expect(imports.get('engine/open-colloquy.ts')).toContain('http/app.ts');
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
