import { expect, test } from 'vitest';
import type { Conversation } from '../../src/client/index.js';
import { calls, callsAll, says, script } from '../../src/model/scripted/scripted.js';
import type { Json } from '../../src/protocol/values/json.js';
import { ledger, shop } from '../support/engine/agents.js';
import type { Engine } from '../support/engine/engine.js';
import { promise } from '../support/promise.js';
import { startTimedEngine } from '../support/started-engines/time.js';
import { until } from '../support/until.js';

const ASK = { question: 'A?' };
const REFUND = { paymentId: 'p1', cents: 900 };
const YES = { type: 'answer', value: { answer: 'yes' } } as const;

/** The end of each call, in order. */
async function ends(engine: Engine, talk: Conversation): Promise<readonly unknown[]> {
  return (await engine.log(talk)).flatMap((event) =>
    event.type === 'tool_result'
      ? [[event.toolCallId, event.result.status, event.result.envelope]]
      : [],
  );
}

const NO_ANSWER = { ok: false, error: { code: 'expired', message: 'user did not respond' } };

const unclaimed = (name: string, graceMs: number) => ({
  ok: false,
  error: {
    code: 'unclaimed',
    message: `No client is available to run tool "${name}": none took the call within ${graceMs}ms; it did not run`,
  },
});

test('an unclaimed browser call ends after its claim timeout; a claimed one keeps waiting (S16)', {
  ...promise('G69'),
}, async () => {
  const model = script(
    callsAll([
      { name: 'cart.count', input: {} },
      { name: 'cart.count', input: { again: 1 } },
    ]),
    says('done'),
  );
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await pass('10s');
  const { claimId } = await engine.update<{ claimId: string }>(talk, 'claimToolCall', {
    toolCallId: 'call_2',
    actor: { id: 'ann' },
  });
  await pass('10s');
  expect(await ends(engine, talk)).toEqual([
    ['call_1', 'expired', unclaimed('cart.count', 15_000)],
  ]);
  await pass('1 minute');
  const mine = { actor: { id: 'ann' }, claimId };
  expect(await talk.resolve('call_2', { type: 'result', value: 3 }, mine)).toMatchObject({
    verdict: 'accepted',
  });
  await engine.idle(talk);
});

test('an unanswered approval, question and browser call expire each at its own time, and the model reads that', async () => {
  const model = script(
    callsAll([
      { name: 'payments.refund', input: REFUND },
      { name: 'customer.ask', input: ASK },
      { name: 'cart.read', input: {} },
    ]),
    says('nobody there'),
  );
  const services = ledger();
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services });
  const { talk } = await engine.ask();
  await pass('29 minutes');
  expect((await engine.snapshot(talk)).pending).toHaveLength(3);
  await pass('2 minutes');
  expect((await engine.snapshot(talk)).pending.map(({ kind }) => kind)).toEqual([
    'approval',
    'elicitation',
  ]);
  await pass('2 days');
  expect((await engine.snapshot(talk)).pending.map(({ kind }) => kind)).toEqual(['elicitation']);
  await pass('1 day');
  await engine.idle(talk);
  expect(await ends(engine, talk)).toEqual([
    ['call_3', 'expired', unclaimed('cart.read', 1_800_000)],
    [
      'call_1',
      'expired',
      {
        ok: false,
        error: {
          code: 'expired',
          message: 'user did not respond: the approval expired, the tool did not run',
        },
      },
    ],
    ['call_2', 'expired', NO_ANSWER],
  ]);
  expect(services.runs).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)?.role).toBe('tool');
  const result = (await engine.log(talk)).find(({ type }) => type === 'tool_result');
  expect(result).toMatchObject({ result: { actor: { id: 'system' } } });
  const late = await talk.resolve('call_2', YES);
  expect(late).toMatchObject({ verdict: 'expired', httpStatus: 410 });
});

test('the second phase of a gated browser call has its own deadline', async () => {
  const model = script(calls('cart.clear', { reason: 'x' }), says('nobody there'));
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  await pass('23 hours');
  expect((await talk.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  await pass('29 minutes');
  expect((await engine.snapshot(talk)).pending).toMatchObject([{ kind: 'client_execution' }]);
  await pass('2 minutes');
  await engine.idle(talk);
  expect(await ends(engine, talk)).toEqual([
    ['call_1', 'expired', unclaimed('cart.clear', 1_800_000)],
  ]);
});

/** Signals an answer with the time at which it was given. */
async function signalAnswer(
  engine: Engine,
  talk: Conversation,
  receivedAt?: number,
): Promise<void> {
  await engine.signal(talk, 'resolveToolCall', {
    toolCallId: 'call_1',
    resolution: YES as unknown as Json,
    requestId: 'r1',
    actor: { id: 'ann' },
    ...(receivedAt === undefined ? {} : { receivedAt: new Date(receivedAt).toISOString() }),
  });
}

async function deadlineOf(engine: Engine, talk: Conversation): Promise<number> {
  return Date.parse((await engine.snapshot(talk)).pending[0]?.deadline ?? '');
}

const AFTER: readonly (readonly [string, number | undefined, string])[] = [
  ['given a minute before the deadline counts', -60_000, 'resolved'],
  ['given at the deadline counts', 0, 'resolved'],
  ['given within the clock tolerance counts', 1_000, 'resolved'],
  ['given later does not', 1_001, 'expired'],
  ['without a time does not', undefined, 'expired'],
];

for (const [what, offset, status] of AFTER)
  test(`the deadline passes while no worker runs: an answer ${what}`, {
    ...promise('A46', 'A48'),
  }, async () => {
    const model = script(calls('customer.ask', ASK), says('on we go'));
    const { engine, passUntil } = await startTimedEngine({
      agents: [shop(model)],
      services: ledger(),
    });
    const { talk } = await engine.ask();
    const deadline = await deadlineOf(engine, talk);
    await engine.stopWorker();
    await passUntil(deadline + 1_100);
    await signalAnswer(engine, talk, offset === undefined ? undefined : deadline + offset);
    await engine.startWorker();
    await until('the turn ends', async () => (await engine.snapshot(talk)).status === 'idle');
    expect((await ends(engine, talk)).map((end) => (end as unknown[])[1])).toEqual([status]);
    const types = (await engine.logTypes(talk)).slice(6, 9);
    expect(types).toEqual(
      status === 'resolved'
        ? ['suspension', 'resolution', 'tool_result']
        : ['suspension', 'expired', 'tool_result'],
    );
    const refused = (await engine.log(talk)).filter(({ type }) => type === 'resolution_refused');
    expect(refused).toHaveLength(status === 'resolved' ? 0 : 1);
    expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
  });

test('deadlines hold over a restart of the worker', promise('G259', 'S15', 'A48'), async () => {
  const model = script(calls('customer.ask', ASK), says('on we go'));
  const { engine, pass } = await startTimedEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const deadline = await deadlineOf(engine, talk);
  await engine.stopWorker();
  await pass('1 day');
  await engine.startWorker();
  expect(await deadlineOf(engine, talk)).toBe(deadline);
  await pass('2 days');
  await engine.idle(talk);
  expect(await ends(engine, talk)).toEqual([['call_1', 'expired', NO_ANSWER]]);
});

test('deadlines hold over a roll-over, and one that passes during it is not missed', {
  ...promise('A48'),
}, async () => {
  const model = script(calls('customer.ask', ASK), says('on we go'));
  const { engine, pass, passUntil } = await startTimedEngine({
    agents: [shop(model)],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const deadline = await deadlineOf(engine, talk);
  const rolled = async (count: number): Promise<void> => {
    await engine.signal(talk, 'rollOver');
    const runs = async (): Promise<number> =>
      (await engine.history.runs(engine.workflowId(talk))).length;
    await until('it rolled over', runs, { holds: (seen) => seen === count });
  };
  await pass('1 day');
  await rolled(2);
  expect(await deadlineOf(engine, talk)).toBe(deadline);
  await passUntil(deadline - 1_500);
  await engine.stopWorker();
  await engine.signal(talk, 'rollOver');
  await passUntil(deadline + 100);
  await engine.startWorker();
  await engine.idle(talk);
  expect(await ends(engine, talk)).toEqual([['call_1', 'expired', NO_ANSWER]]);
});
