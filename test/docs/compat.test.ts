/** The table of examples of other systems names tests that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROW =
  /^\| (agentic-core|Agentix|AGN-005|Hsafa) \| (.+?) \| `([^`]+\.test\.ts)`: `([^`]+)` \|$/;

it('each example of agentic-core, Agentix, AGN-005 and Hsafa has a test, by its file and title', () => {
  const rows = readFileSync('docs/compat.md', 'utf8')
    .split('\n')
    .filter(
      (line) =>
        /^\| (agentic-core|Agentix|AGN-005|Hsafa) \|/.test(line) && line.includes('.test.ts'),
    );
  const faults = rows.flatMap((line) => {
    const [, system, heading, file, title] = ROW.exec(line) ?? [];
    const path = `test/${file ?? ''}`;
    if (title === undefined || !existsSync(path)) return [`no such file: ${line}`];
    const isThere = readFileSync(path, 'utf8')
      .replaceAll(/'\s*\+\s*'/g, '')
      .includes(title);
    return isThere ? [] : [`${system ?? ''}, ${heading ?? ''}: no test "${title}" in ${path}`];
  });
  expect(faults).toEqual([]);
  expect(rows.length).toBeGreaterThan(30);
});
