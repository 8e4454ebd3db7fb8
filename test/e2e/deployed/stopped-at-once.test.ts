/** Ctrl-C a second time, while the development stack stops: the end is at once, is said, and leaves no process. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freePort } from '../../support/servers/dev-server.js';
import { temporaryFolderForAll } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { processesWith, ROOT, start, untilNoneLeft } from '../support/processes.js';

const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
const AGENTS = join(ROOT, 'dist', 'examples', 'getting-started', 'agents.js');

it('a second Ctrl-C ends the development stack at once, with its server', async () => {
  const mark = randomUUID();
  const variable = `COLLOQUY_E2E_MARK=${mark}`;
  const data = temporaryFolderForAll();
  const args = ['dev', '--agents', AGENTS, '--port', '0', '--data', data, '--no-watch'];
  const stack = start(process.execPath, [MAIN, ...args], {
    env: { COLLOQUY_E2E_MARK: mark, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` },
    // A process group of its own, all of which a terminal signals.
    leads: true,
  });
  await stack.prints(/^Ctrl-C stops everything/m);
  const signalledAt = performance.now();
  process.kill(-stack.pid, 'SIGINT');
  // npm forwards the signal of the terminal to its child: this is no second Ctrl-C.
  process.kill(stack.pid, 'SIGINT');
  // Until the script stops the server, which takes seconds.
  await until('the server is stopped', () => processesWith(variable).join('\n'), {
    holds: (running) => running.includes('--stop'),
  });
  expect(stack.stdout()).not.toMatch(/at once/);
  await delay(Math.max(0, 600 - (performance.now() - signalledAt)));
  process.kill(-stack.pid, 'SIGINT');
  expect(await stack.ended).toBe(130);
  // The API may log that it drains.
  expect(stack.stderr()).not.toMatch(/^colloquy:/m);
  expect(stack.stdout()).toMatch(/^stopping {2}at once: work is cut off, and continues at/m);
  await untilNoneLeft(variable);
});
