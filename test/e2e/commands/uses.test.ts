/** The examples of the README, unchanged, against a running installation. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort, temporalDev } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';
import { call } from '../support/api.js';
import { ROOT, start } from '../support/processes.js';
import { startWorld, type World } from '../support/world.js';

const run = promisify(execFile);
const SUMMARY =
  'Here is where we are. It is 18 degrees in Berlin. Your refund re_p_1 is on its way. You answered: Size 42. Your cart holds 0 items.';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('a job that starts a conversation', () => {
  it('prints the waiting calls; a second run finds the same turn, and its result once there is one', {
    ...promise('G243', 'A43'),
  }, async () => {
    const talk = world.talk('order-7');
    const first = await runJob('job-7', '7');
    expect(first).toMatch(/^turn_\w+ waits for:$/m);
    expect(first).toContain('approval of payments.refund  ref default~order-7~call_2');
    expect(first).toContain('elicitation of customer.ask  ref default~order-7~call_3');
    expect(first).toContain('client_execution of cart.read  ref default~order-7~call_4');
    expect(await runJob('job-7', '7')).toBe(first);
    await talk.resolve('call_2', { type: 'approve' });
    await answerTheRest('order-7');
    await talk.ended();
    const turn = /^turn_\w+/.exec(first)?.[0] ?? '';
    expect(await runJob('job-7', '7')).toBe(`${turn} completed: ${SUMMARY}\n`);
    expect(await talk.eventsOf('user_message')).toMatchObject([
      { requestId: 'job-7', actor: { id: 'nightly-job', verified: true, channel: 'client' } },
    ]);
    expect(world.model.asked(MESSAGE)).toBe(2);
    // The conversation rolls over, so the current run no longer knows the turn.
    const handle = world.temporal.workflow.getHandle(talk.workflowId);
    const { runId } = await handle.describe();
    await handle.signal('rollOver');
    await until('the run has rolled over', () => handle.describe(), {
      holds: (run) => run.runId !== runId,
    });
    expect(await runJob('job-7', '7')).toBe(`${turn} completed: ${SUMMARY}\n`);
  });
});

describe('a webhook that decides an approval', () => {
  it('decides it once, for any number of callers and calls', {
    ...promise('A42', 'A43', 'C22'),
  }, async () => {
    await runJob('job-8', '8');
    const hook = start(process.execPath, [exampleAt('resolve-from-a-webhook.js'), '0'], {
      env: { TEMPORAL_ADDRESS: world.server.address, COLLOQUY_DATA: world.folder },
    });
    const url = /http:\S+/.exec(await hook.prints(/^webhook http/m))?.[0] ?? '';
    const event = { eventId: 'evt-1', ref: 'default~order-8~call_2', approved: false, by: 'ada' };
    expect(await call(url, { body: event })).toMatchObject({
      status: 200,
      body: { verdict: 'accepted', requestId: 'evt-1' },
    });
    expect(await call(url, { body: event })).toMatchObject({
      status: 200,
      body: { verdict: 'duplicate' },
    });
    const other = { ...event, eventId: 'evt-2', approved: true, by: 'bob' };
    expect(await call(url, { body: other })).toMatchObject({
      status: 409,
      body: { verdict: 'stale', by: 'ada' },
    });
    const gone = { ...event, eventId: 'evt-3', ref: 'default~order-9~call_2' };
    expect(await call(url, { body: gone })).toMatchObject({
      status: 404,
      body: { verdict: 'unknown', what: 'conversation' },
    });
    const talk = world.talk('order-8');
    const [result] = await until('the refusal is a result', () => talk.eventsOf('tool_result'), {
      holds: (results) => results.some(({ name }) => name === 'payments.refund'),
    }).then((results) => results.filter(({ name }) => name === 'payments.refund'));
    expect(result?.result.envelope).toEqual({
      ok: false,
      error: { code: 'denied', message: 'Rejected by user' },
    });
  });
});

describe('an operator with only the temporal command', () => {
  it('sees the waiting conversations, their calls and deadlines', async () => {
    await runJob('job-42', '42');
    const said = await until('order 42 is listed', () => sh('inspect.sh'), {
      holds: (text) => text.indexOf('order-42') < text.indexOf('Execution Info'),
    });
    expect(said).toContain('conversation:default:order-42');
    expect(said).toContain('ColloquyStatus');
    expect(said).toContain('payments.refund');
    expect(said).toContain('Money leaves the house');
    expect(said).toMatch(/"kind":\s*"approval"/);
    expect(said).toMatch(/"deadline":\s*"20/);
    expect(said).toMatch(/"status":\s*"awaiting_input"/);
  });

  it('approves a call by a plain signal while no worker runs', promise('A42'), async () => {
    await runJob('job-42', '42');
    const before = (await world.lines('refunds.jsonl')).length;
    await world.stack.worker().kill();
    await sh('resolve-by-signal.sh');
    await world.stack.startWorker();
    const talk = world.talk('order-42');
    await talk.waiting(2);
    await answerTheRest('order-42');
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: SUMMARY });
    expect(await world.lines('refunds.jsonl')).toHaveLength(before + 1);
    const [approval] = await talk.eventsOf('resolution');
    expect(approval).toMatchObject({
      kind: 'approval',
      actor: { id: 'ops', verified: false, channel: 'temporal' },
    });
    expect(approval).not.toHaveProperty('receivedAt');
  });
});

describe.each(['start-from-a-job.js', 'resolve-from-a-webhook.js'])('the example %s', (name) => {
  const runWith = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const example = start(process.execPath, [exampleAt(name), '0'], {
      env: { COLLOQUY_DATA: world.folder, ...env },
    });
    expect(await example.ended).toBe(1);
    expect(example.stdout()).toBe('');
    return example.stderr();
  };

  it('ends with one line that names the address, if no Temporal server answers there', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    expect(await runWith({ TEMPORAL_ADDRESS: address })).toMatch(
      new RegExp(`^No Temporal server answers at ${address} .*\\n$`),
    );
  });

  it('ends with one line that names the variable, if one of Temporal’s is wrong', async () => {
    const { address } = world.server;
    const name = 'TEMPORAL_TLS_SERVER_CA_CERT_PATH';
    expect(await runWith({ TEMPORAL_ADDRESS: address, [name]: '/nowhere/ca.pem' })).toMatch(
      new RegExp(`^${name} names /nowhere/ca\\.pem, which cannot be read .*\\n$`),
    );
  });

  it('ends with one line that names the namespace, if the server does not have it', async () => {
    const { address } = world.server;
    expect(await runWith({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'nowhere' })).toMatch(
      new RegExp(`^The Temporal server at ${address} has no namespace "nowhere"\\..*\\n$`),
    );
  });
});

const MESSAGE = 'My order arrived broken: please refund 75.00 for payment p_1.';

function exampleAt(name: string): string {
  return join(ROOT, 'dist', 'examples', 'uses', name);
}

/** The output of the job. */
async function runJob(id: string, order: string): Promise<string> {
  const job = start(process.execPath, [exampleAt('start-from-a-job.js'), id, order], {
    env: { TEMPORAL_ADDRESS: world.server.address, COLLOQUY_DATA: world.folder },
  });
  expect([await job.ended, job.stderr()]).toEqual([0, '']);
  return job.stdout();
}

/** Runs a script of the examples, with the pinned Temporal command line as `temporal`. */
async function sh(script: string): Promise<string> {
  const bin = join(temporaryFolder(), 'bin');
  mkdirSync(bin);
  symlinkSync(temporalDev('--print-binary'), join(bin, 'temporal'));
  const { stdout } = await run('sh', [join(ROOT, 'examples', 'uses', script)], {
    env: {
      ...process.env,
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      TEMPORAL_ADDRESS: world.server.address,
    },
  });
  return stdout;
}

async function answerTheRest(id: string): Promise<void> {
  const talk = world.talk(id);
  await talk.resolve('call_3', { type: 'answer', value: { answer: 'Size 42' } });
  await talk.resolve('call_4', { type: 'result', value: { items: [] } });
}
