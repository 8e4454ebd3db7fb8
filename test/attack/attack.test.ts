/** Schemathesis with requests made from the API's description: a short form of `npm run attack:api`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ROOT } from '../e2e/support/processes.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

const PHASES = ['--phases', 'examples,fuzzing', '--cases', '720'];

test('every operation succeeds, and no answer is a 5xx, undescribed or of another form', {
  ...promise('G340'),
  timeout: patient(600_000),
}, async () => {
  const script = join(ROOT, 'scripts', 'attack', 'run.mjs');
  const attack = spawn(process.execPath, [script, ...PHASES], { cwd: ROOT });
  const ended = once(attack, 'exit');
  const [said, faults] = await Promise.all([text(attack.stdout), text(attack.stderr)]);
  await ended;
  expect(attack.exitCode, `${said}\n${faults}`).toBe(0);
  expect(said).toMatch(/\d{3,} answers of \d+ operations/);
});
