/** A worker process serves its metrics: those of conversations beside those of Temporal. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';
import { colloquy } from '../support/processes.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let address = '';
beforeAll(async () => {
  address = `127.0.0.1:${await freePort()}`;
  world = await startWorld({ env: { COLLOQUY_METRICS: address } });
});
afterAll(() => world.stop());

const shown = async (): Promise<string> => await (await fetch(`http://${address}/metrics`)).text();

describe('the metrics of a worker', promise('G343'), () => {
  it('count turns, model calls, tokens, tool results, and waits with their ends', async () => {
    const talk = world.talk('m1');
    await talk.begin('support', 'Refund 75.00 for payment p_1');
    await talk.waiting(3);
    await talk.resolve('call_2', { type: 'deny' });
    await talk.resolve('call_3', { type: 'answer', value: { answer: '42' } });
    await talk.resolve('call_4', { type: 'result', value: { items: [] } });
    await talk.ended();
    const has = (line: RegExp) => (text: string) => line.test(text);
    const text = await until('the turn is counted', shown, {
      holds: has(/^colloquy_turns_total\{[^}]*status="completed"[^}]*\} 1$/m),
    });
    expect(text).toMatch(/^colloquy_waits_opened_total\{[^}]*kind="approval"[^}]*\} 1$/m);
    expect(text).toMatch(/^colloquy_waits_answered_total\{[^}]*answer="deny"[^}]*\} 1$/m);
    expect(text).toMatch(/^colloquy_tool_results_total\{[^}]*status="denied"[^}]*\} 1$/m);
    expect(text).toMatch(/^colloquy_tool_results_total\{[^}]*tool="payments\.refund"[^}]*\} 1$/m);
    expect(text).toMatch(/^colloquy_model_request_seconds_count\{[^}]*\} [1-9]\d*$/m);
    expect(text).toMatch(/^colloquy_steps_total(\{[^}]*\})? [1-9]\d*$/m);
    expect(text).toMatch(/^colloquy_tokens_total\{[^}]*direction="in"[^}]*\} [1-9]\d*$/m);
    expect(text).toMatch(/^colloquy_conversations_failing(\{[^}]*\})? 0$/m);
    expect(text).toMatch(/^colloquy_log_lag_seconds_bucket\{[^}]*le="0\.25"[^}]*\} \d+$/m);
    expect(text).toMatch(/^temporal_/m);
  });

  it('are named when they cannot be served', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { readonly port: number };
    const args = ['worker', '--agents', 'dist/examples/getting-started/agents.js', '--retry', '0'];
    const taken = colloquy(args, { COLLOQUY_METRICS: `127.0.0.1:${port}` });
    expect(await taken.ended).toBe(1);
    expect(taken.stderr()).toContain(`127.0.0.1:${port}`);
    const wrong = colloquy(args, { COLLOQUY_METRICS: '9464' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.stderr()).toContain('COLLOQUY_METRICS: must be an address and a port');
    other.close();
  });
});
