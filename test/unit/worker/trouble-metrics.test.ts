/**
 * The gauges of conversations in trouble, as Temporal's runtime exports them. Each process has one runtime, so
 * another process exports them.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { FAILING_GAUGE, SLOW_GAUGE } from '../../../src/worker/watch/trouble-metrics.js';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';

const HOOKS = fileURLToPath(new URL('../../support/typescript-hooks.mjs', import.meta.url));
const METRICS = new URL('../../../src/worker/watch/trouble-metrics.ts', import.meta.url).href;

it('gauges have the newest counts of conversations whose workflow fails, and is slow', {
  ...promise('G20'),
}, async () => {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  const program = `
    const { Runtime } = await import('@temporalio/worker');
    const prometheus = { bindAddress: ${JSON.stringify(bindAddress)} };
    Runtime.install({ telemetryOptions: { metrics: { prometheus } } });
    const { countTroubles } = await import(${JSON.stringify(METRICS)});
    const count = countTroubles();
    const shown = async () => await (await fetch('http://${bindAddress}/metrics')).text();
    const all = [];
    for (const counts of [{ failing: 3, slow: 1 }, { failing: 0, slow: 2 }]) {
      count(counts);
      all.push(await shown());
    }
    process.stdout.write(JSON.stringify(all), () => process.exit(0));`;
  const args = ['--import', HOOKS, '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const values = (JSON.parse(stdout) as readonly string[]).map((text) =>
    [FAILING_GAUGE, SLOW_GAUGE].map(
      (name) => new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1],
    ),
  );
  expect(values).toEqual([
    ['3', '1'],
    ['0', '2'],
  ]);
});
