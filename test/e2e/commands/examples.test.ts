/** The folders of `examples/`, each run as its README says: an example checks itself, and ends with 1 where it fails. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { ROOT, start } from '../support/processes.js';

const EXAMPLES = readdirSync(join(ROOT, 'examples')).filter((name) =>
  existsSync(join(ROOT, 'examples', name, 'README.md')),
);

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

const runExample = (name: string) =>
  start(process.execPath, [join(ROOT, 'dist', 'examples', 'run.js'), name], {
    env: { TEMPORAL_ADDRESS: server.address },
  });

describe.each(EXAMPLES)('the example %s', (name) => {
  it('runs, and finds what it checks', async () => {
    const example = runExample(name);
    expect([await example.ended, example.stderr()]).toEqual([0, '']);
    expect(example.stdout()).toMatch(/ ok\n$/);
  });

  it('has a short README, which names its command', () => {
    const text = readFileSync(join(ROOT, 'examples', name, 'README.md'), 'utf8');
    expect(text.split('\n').length).toBeLessThan(40);
    expect(text).toContain(`npm run example -- ${name}\n`);
  });
});

it('an example that there is not is refused with the names of all', async () => {
  const command = runExample('helo');
  expect(await command.ended).toBe(2);
  expect(command.stderr()).toBe(
    `Usage: npm run example -- <name>\n\n${EXAMPLES.map((name) => `  ${name}`).join('\n')}\n`,
  );
});
