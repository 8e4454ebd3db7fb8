/** What is in the package that is published, as npm says. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

it('the package holds the product: no tests, examples, benchmarks or build records', () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
  const said: unknown = JSON.parse(execFileSync('npm', args, options));
  // A list, or, in newer versions of npm, by the name of the package.
  const [packed] = Object.values(said as Record<string, Packed>);
  const paths = packed?.files.map(({ path }) => path) ?? [];
  expect(paths).toContain('temporal-dev.sh');
  expect(paths).toContain('src/index.ts');
  expect(paths.filter((path) => /^(dist\/)?((test|examples|bench)\/|\.)/.test(path))).toEqual([]);
});
