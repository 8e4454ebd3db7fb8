/**
 * A worker is killed while calls of every kind wait, and its successor has changed definitions. Each call ends as
 * `colloquy check` predicted.
 */
import { type Child, startChild } from 'colloquy/dev';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckReport } from '../../src/cli/check/check-command.js';
import type { PendingCall } from '../../src/protocol/calls/suspensions.js';
import { replay } from '../support/engine/replay.js';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import { promise } from '../support/promise.js';
import { until } from '../support/until.js';
import { colloquy } from './support/processes.js';
import type { Talk } from './support/talk.js';
import { startWorld, type World } from './support/world.js';

const AGENTS = new URL('./fixtures/deploys.ts', import.meta.url).pathname;
const INPUT = { order: 'a7', count: 5 };
const NAMES = [
  ...['gate.wider', 'gate.renamed', 'gate.carried', 'gate.internal', 'gate.client', 'gate.gone'],
  ...['form.human', 'form.client', 'form.external', 'asks.form', 'asks.input', 'lost'],
];
const AFTER = { DEFINITIONS: 'after' };

let world: World;
let talk: Talk;
let next: Child;
let before: ReadonlyMap<string, PendingCall>;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS, env: { DEFINITIONS: 'before' } });
  world.model.answer('order', ({ results }) =>
    results.length === 0
      ? { calls: NAMES.map((name) => ({ name, input: INPUT })) }
      : { text: 'all have ended' },
  );
  talk = world.talk('deployed');
  await talk.begin('shop', 'order');
  // All calls except the one that runs.
  await talk.waitingCalls(NAMES.length - 1);
  await until('the tool that will be lost runs', () => world.lines('runs.jsonl'), {
    holds: (runs) => runs.some(({ name }) => name === 'lost'),
  });
});
afterAll(() => world.stop());

const pendingOf = async (name: string): Promise<PendingCall | undefined> => {
  const { body } = await talk.call('/pending');
  return (body['pending'] as readonly PendingCall[]).find((call) => call.name === name);
};

async function resolve(name: string, resolution: object, more: object = {}): Promise<unknown> {
  const body = { resolution, actor: { id: 'ann' }, ...more };
  const reply = await talk.resolve(before.get(name)?.toolCallId ?? '', resolution, { body });
  return reply.body['verdict'];
}

const ends = async (name: string): Promise<unknown> =>
  await until(`${name} has ended`, () => talk.eventsOf('tool_result'), {
    holds: (results) => results.some((event) => event.name === name),
    timeoutMs: 60_000,
  }).then((results) => results.find((event) => event.name === name)?.result.envelope);

/** The call with its new form, once it is offered with that. */
const anew = async (name: string): Promise<PendingCall | undefined> =>
  await until(`${name} is offered anew`, () => pendingOf(name), {
    holds: (call) => JSON.stringify(call?.answerSchema ?? '').includes('date'),
    timeoutMs: 60_000,
  });

const failed = (code: string) => ({ ok: false, error: { code } });

it('colloquy check predicts the outcome of each call', promise('G220'), async () => {
  const args = ['check', '--agents', AGENTS, '--against', world.folder];
  const checking = colloquy([...args, '--json'], AFTER);
  expect(await checking.ended).toBe(1);
  const report = JSON.parse(checking.stdout()) as CheckReport;
  expect(report).toMatchObject({ checked: NAMES.length - 1, breaks: 5 });
  expect(Object.fromEntries(report.calls.map(({ tool, outcome }) => [tool, outcome]))).toEqual({
    'gate.renamed': 'breaks',
    'gate.carried': 'migrates',
    'gate.internal': 'breaks',
    'gate.client': 'breaks',
    'gate.gone': 'breaks',
    'form.human': 'offered_again',
    'form.client': 'offered_again',
    'form.external': 'offered_again',
    'asks.input': 'breaks',
  });
  const harmless = colloquy(args, { DEFINITIONS: 'before' });
  expect(await harmless.ended).toBe(0);
  expect(harmless.stdout()).toContain('0 break');
});

describe('a deploy that follows a kill', () => {
  beforeAll(async () => {
    await world.stack.worker().kill();
    next = await startChild({
      name: 'worker with other definitions',
      args: ['worker', '--agents', AGENTS],
      env: { ...world.env, ...AFTER },
    });
    // The server times the lost run out after ten seconds without a heartbeat.
    before = await talk.waiting(NAMES.length);
  });
  afterAll(() => next.stop());

  it('runs the approved call if its arguments mean the same', async () => {
    expect(await resolve('gate.wider', { type: 'approve' })).toBe('accepted');
    expect(await ends('gate.wider')).toEqual({ ok: true, result: 'done' });
  });

  it.each(['gate.renamed', 'gate.internal', 'gate.client'])(
    'ends %s, whose arguments have a new meaning, with an error that says so',
    promise('G220'),
    async (name) => {
      expect(await resolve(name, { type: 'approve' })).toBe('accepted');
      expect(await ends(name)).toMatchObject(failed('definition_changed'));
      expect(await resolve(name, { type: 'deny' })).toBe('stale');
    },
  );

  it('ends a call whose tool was removed', async () => {
    expect(await resolve('gate.gone', { type: 'approve' })).toBe('accepted');
    expect(await ends('gate.gone')).toMatchObject(failed('not_available'));
  });

  it('requires a new approval, under its new digest, for a migrated call', {
    ...promise('G220'),
  }, async () => {
    expect(await resolve('gate.carried', { type: 'approve' })).toBe('accepted');
    const carried = await until('it waits again', () => pendingOf('gate.carried'), {
      holds: (call) =>
        call !== undefined && call.argsDigest !== before.get('gate.carried')?.argsDigest,
      timeoutMs: 60_000,
    });
    expect(carried?.prompt).toEqual({ orderId: 'a7', count: 5 });
    const argsDigest = carried?.argsDigest;
    expect(await resolve('gate.carried', { type: 'approve' })).toBe('invalid');
    expect(await resolve('gate.carried', { type: 'approve' }, { argsDigest })).toBe('accepted');
    expect(await ends('gate.carried')).toEqual({ ok: true, result: 'done' });
  });

  it('accepts an answer to the displayed form while a worker with the old definition may be alive', async () => {
    const value = { day: 'monday' };
    expect(await resolve('form.human', { type: 'answer', value })).toBe('accepted');
    expect(await ends('form.human')).toEqual({ ok: true, result: value });
  });

  it.each(['form.client', 'form.external'])(
    'offers %s again if only a worker can judge its answer',
    promise('G220'),
    async (name) => {
      expect(await resolve(name, { type: 'result', value: { day: 'monday' } })).toBe('accepted');
      const { argsDigest } = (await anew(name)) ?? {};
      const value = { date: 'monday' };
      expect(await resolve(name, { type: 'result', value }, { argsDigest })).toBe('accepted');
      expect(await ends(name)).toEqual({ ok: true, result: value });
    },
  );

  it('asks again with the new form of a question from the old code', async () => {
    const old = { type: 'answer', value: { day: 'monday' } };
    expect(await resolve('asks.form', old)).toBe('accepted');
    const { argsDigest } = (await anew('asks.form')) ?? {};
    const value = { date: 'monday' };
    expect(await resolve('asks.form', { type: 'answer', value }, { argsDigest })).toBe('accepted');
    expect(await ends('asks.form')).toEqual({ ok: true, result: value });
  });

  it('does not re-enter a tool whose arguments have a new meaning', async () => {
    expect(await resolve('asks.input', { type: 'answer', value: 'yes' })).toBe('accepted');
    expect(await ends('asks.input')).toMatchObject(failed('outcome_unknown'));
  });

  it('leaves the outcome of a lost run to an operator', async () => {
    expect(before.get('lost')?.kind).toBe('outcome');
    expect(await resolve('lost', { type: 'outcome', value: 'it was paid' })).toBe('accepted');
    expect(await ends('lost')).toEqual({ ok: true, result: 'it was paid' });
  });

  it('passed tools only arguments that match their schema, ran nothing twice, and leaves a run that replays', {
    ...promise('G220'),
  }, async () => {
    expect(await talk.ended()).toMatchObject({ status: 'completed', text: 'all have ended' });
    const runs = (await world.lines('runs.jsonl')).map(({ name, input, pid }) => [
      ...[name, pid === next.pid ? 'after' : 'before'],
      input,
    ]);
    expect(runs.sort()).toEqual([
      ['asks.form', 'after', INPUT],
      ['asks.form', 'after', INPUT],
      ['asks.form', 'before', INPUT],
      ['asks.input', 'before', INPUT],
      ['gate.carried', 'after', { orderId: 'a7', count: 5 }],
      ['gate.wider', 'after', INPUT],
      ['lost', 'before', INPUT],
    ]);
    const handle = world.temporal.workflow.getHandle(talk.workflowId);
    await replay({ code: await bundleFromSource() }, await handle.fetchHistory());
  });
});
