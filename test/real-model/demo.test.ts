/** The demo with a real model behind it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, start, untilNoneLeft } from '../e2e/support/processes.js';
import { freePort } from '../support/servers/dev-server.js';

test('the demo with the model on this machine prints how tiny it is, survives the kill of its worker, and leaves no process', async () => {
  const mark = `COLLOQUY_E2E_MARK=${randomUUID()}`;
  const script = join(ROOT, 'dist', 'examples', 'demo', 'run.js');
  const args = [script, '--local-model', '--temporal-port', String(await freePort())];
  const env = Object.fromEntries([mark.split('=')]) as NodeJS.ProcessEnv;
  const demo = start(process.execPath, args, { env });
  expect([await demo.ended, demo.stderr()]).toEqual([0, '']);
  const said = demo.stdout();
  expect(said).toMatch(/model: gemma3-270m, REAL but TINY: .* its words are nonsense/);
  expect(said).toMatch(/SIGKILL for the worker \(pid \d+\) while calls wait/);
  expect(said).toMatch(/a plain Temporal signal resolves \S+; no worker is running/);
  expect(said).toContain('turn_ended completed');
  await untilNoneLeft(mark);
});
