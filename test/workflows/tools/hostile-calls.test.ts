import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { calls, ScriptedModel, says, script } from '../../../src/model/scripted/scripted.js';
import type { EventType } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ASK = calls('customer.ask', { question: 'A?' });
const YES = { type: 'answer', value: { answer: 'yes' } } as const;
const UPDATE_NAMES = [
  'sendMessage',
  'resolveToolCall',
  'cancelTurn',
  'closeConversation',
  'rollOver',
  'noSuchHandler',
];
const HARMLESS_SIGNALS = [
  'sendMessage',
  'resolveToolCall',
  'childEnded',
  'noSuchHandler',
  '__proto__',
];

const ANONYMOUS = { id: 'anonymous', verified: false };

const text = new TextEncoder();
/** `UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED` */
const COMPLETED = 3 as never;

interface RawPayload {
  readonly metadata: Readonly<Record<string, Uint8Array>>;
  readonly data: Uint8Array;
}

/** The SDK looks for a stored value in its place, and fails where the worker has no storage of the SDK. */
function storageReference(data: string): RawPayload {
  const messageType = text.encode('temporal.api.sdk.v1.ExternalStorageReference');
  const { metadata, ...rest } = payload('json/protobuf', data);
  return { ...rest, metadata: { ...metadata, messageType } };
}

function payload(encoding: string, data: string | Uint8Array): RawPayload {
  return {
    metadata: { encoding: text.encode(encoding) },
    data: typeof data === 'string' ? text.encode(data) : data,
  };
}

/** Deeper than the stack of any recursive parser. */
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

const GARBAGE: readonly (readonly [string, readonly RawPayload[]])[] = [
  ['no argument', []],
  ['null', [payload('json/plain', 'null')]],
  ['a number', [payload('json/plain', '7')]],
  ['a text', [payload('json/plain', '"hello"')]],
  ['a list', [payload('json/plain', '[1, [2]]')]],
  ['an empty object', [payload('json/plain', '{}')]],
  [
    'wrong types',
    [
      payload(
        'json/plain',
        '{"text": 7, "toolCallId": [], "resolution": null, "requestId": {}, "actor": 3}',
      ),
    ],
  ],
  [
    'names of the language',
    [
      payload(
        'json/plain',
        '{"__proto__": {"text": "x"}, "toolCallId": "__proto__", "resolution": {"type": "constructor"}}',
      ),
    ],
  ],
  [
    'halves of surrogate pairs',
    [
      payload(
        'json/plain',
        '{"\\ud83d": 1, "text": "\\ud83d", "toolCallId": "\\ud83d", "requestId": "\\ud83d"}',
      ),
    ],
  ],
  ['broken JSON', [payload('json/plain', '{"text": ')]],
  ['no bytes', [payload('json/plain', '')]],
  ['a null of its own encoding', [payload('binary/null', '')]],
  ['bytes', [payload('binary/plain', new Uint8Array([0, 255, 254]))]],
  ['a foreign encoding', [payload('binary/whatever', 'xyz')]],
  ['a protobuf', [payload('json/protobuf', '{"a": 1}')]],
  ['a reference to storage', [storageReference('{"driverName": "s3", "claimData": {"a": "b"}}')]],
  ['a reference that is none', [storageReference('{"driverName": ')]],
  ['no encoding', [{ metadata: {}, data: text.encode('{}') }]],
  ['a megabyte', [payload('json/plain', JSON.stringify('x'.repeat(1_000_000)))]],
  [
    'a megabyte as message and answer',
    [
      payload(
        'json/plain',
        JSON.stringify({
          text: 'x'.repeat(1_000_000),
          toolCallId: 'call_1',
          resolution: {
            type: 'answer',
            value: { answer: 'x'.repeat(10_000) + 'y'.repeat(900_000) },
          },
        }),
      ),
    ],
  ],
  ['a hundred thousand brackets', [payload('json/plain', DEEP)]],
  [
    'brackets as an answer',
    [
      payload(
        'json/plain',
        `{"toolCallId":"call_1","resolution":{"type":"answer","value":${DEEP}}}`,
      ),
    ],
  ],
  ['two arguments', [payload('json/plain', '{}'), payload('json/plain', '{}')]],
];

async function rawSignal(
  engine: Engine,
  id: string,
  name: string,
  payloads: readonly RawPayload[],
): Promise<void> {
  await engine.temporal.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: engine.workflowId({ id }) },
    signalName: name,
    input: { payloads: [...payloads] },
    requestId: randomUUID(),
  });
}

/** `refusal`: the type of the failure with which the update was refused; `reply`: of an update that was accepted. */
async function sentUpdate(
  engine: Engine,
  id: string,
  name: string,
  payloads: readonly RawPayload[],
): Promise<{ readonly refusal?: string; readonly reply?: unknown }> {
  const { outcome } = await engine.temporal.workflowService.updateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: engine.workflowId({ id }) },
    request: {
      meta: { updateId: randomUUID(), identity: 'test' },
      input: { name, args: { payloads: [...payloads] } },
    },
    waitPolicy: { lifecycleStage: COMPLETED },
  });
  if (outcome?.failure)
    return { refusal: outcome.failure.applicationFailureInfo?.type ?? 'failure' };
  const [reply] = outcome?.success?.payloads ?? [];
  return { reply: reply && defaultPayloadConverter.fromPayload(reply) };
}

/** The type of the failure with which the update was refused. */
async function rawUpdate(...sent: Parameters<typeof sentUpdate>): Promise<string> {
  return (await sentUpdate(...sent)).refusal ?? 'accepted';
}

test('the conversation survives any signal, and nothing is lost', {
  ...promise('G258'),
  timeout: patient(120_000),
}, async () => {
  const model = script(ASK, says('thanks'), says('still here'));
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  for (const name of HARMLESS_SIGNALS)
    for (const [, payloads] of GARBAGE) await rawSignal(engine, talk.id, name, payloads);
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
  const seen = await until('it answers', () => engine.snapshot(talk).catch(() => undefined));
  expect(seen).toMatchObject({ status: 'awaiting_input', queued: [] });
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await engine.idle(talk);
  expect(await engine.say(talk, 'and now?')).toMatchObject({
    status: 'completed',
    text: 'still here',
  });
  const log = await engine.log(talk);
  const strange = log.filter(({ type }) => type.endsWith('_refused'));
  // A few refusals of each call and of messages are recorded, and all are counted.
  const counted = log.reduce((sum, { unrecordedRefusals = 0 }) => sum + unrecordedRefusals, 0);
  expect(strange.length + counted).toBe(2 * GARBAGE.length);
  for (const type of ['resolution_refused', 'message_refused'])
    expect(log.filter((event) => event.type === type).length).toBeLessThan(GARBAGE.length / 2);
  for (const event of strange) expect(JSON.stringify(event).length).toBeLessThan(4_000);
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});

test('a roll-over with any garbage begins another run, a cancel among garbage cancels the turn, and the garbage breaks nothing', {
  ...promise('G258'),
  timeout: patient(120_000),
}, async () => {
  const model = script(ASK, says('still here'), ASK);
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const logged = async (type: EventType) =>
    (await engine.log(talk)).filter((event) => event.type === type);
  for (const [index, [what, payloads]] of GARBAGE.entries()) {
    await rawSignal(engine, talk.id, 'rollOver', payloads);
    await until(`the run rolls over: ${what}`, () => logged('rolled_over'), {
      holds: ({ length }) => length > index,
    });
  }
  // The other reason would be the size of the garbage.
  expect(await logged('rolled_over')).toMatchObject(GARBAGE.map(() => ({ reason: 'requested' })));
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await engine.idle(talk);
  expect(await engine.say(talk, 'again')).toMatchObject({ status: 'waiting' });
  for (const [, payloads] of GARBAGE) await rawSignal(engine, talk.id, 'cancelTurn', payloads);
  await engine.idle(talk);
  expect(await logged('turn_ended')).toMatchObject([
    { status: 'completed', text: 'still here' },
    { status: 'cancelled' },
  ]);
  const runs = await engine.history.runs(engine.workflowId(talk));
  expect(runs.length).toBeGreaterThan(GARBAGE.length);
  for (const runId of runs)
    expect(await engine.history.failedTasks(engine.workflowId(talk), runId)).toEqual([]);
});

test('any malformed update is refused, and a refusal leaves no history and no state', {
  ...promise('G258'),
  timeout: patient(120_000),
}, async () => {
  const model = script(ASK, says('thanks'));
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const before = await engine.history.lines(engine.workflowId(talk));
  const seen = await engine.snapshot(talk);
  const refusals = new Set<string>();
  for (const name of ['sendMessage', 'resolveToolCall', 'childEnded', 'noSuchHandler'])
    for (const [what, payloads] of GARBAGE) {
      const type = await rawUpdate(engine, talk.id, name, payloads);
      expect([name, what, type]).not.toContain('accepted');
      refusals.add(`${name} ${type}`);
    }
  expect([...refusals].sort()).toEqual([
    'childEnded invalid_request',
    'noSuchHandler Error',
    'resolveToolCall verdict',
    'sendMessage invalid_request',
  ]);
  expect(await engine.history.lines(engine.workflowId(talk))).toEqual(before);
  expect(await engine.snapshot(talk)).toEqual(seen);
  expect((await talk.resolve('call_1', YES)).verdict).toBe('accepted');
  await engine.idle(talk);
});

/** The garbage that `parseCancel` reads as a request without a turn, which cancels the running one. */
const CANCELS = [
  ...['no argument', 'null', 'an empty object', 'wrong types', 'names of the language'],
  ...['a null of its own encoding', 'a megabyte as message and answer'],
  ...['brackets as an answer', 'two arguments', 'halves of surrogate pairs'],
];

test('a cancel with garbage arguments either cancels for an anonymous actor, or is refused and changes nothing: as a signal in the log', {
  ...promise('G258'),
  timeout: patient(120_000),
}, async () => {
  const engine = await startEngine({
    agents: [shop(new ScriptedModel([], ASK))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const cancels: string[] = [];
  for (const [what, payloads] of GARBAGE) {
    const { length } = await engine.log(talk);
    const { reply, refusal } = await sentUpdate(engine, talk.id, 'cancelTurn', payloads);
    const after = (await engine.log(talk)).slice(length);
    if (after.length === 0) {
      expect([what, refusal]).toEqual([what, 'invalid_request']);
      await rawSignal(engine, talk.id, 'cancelTurn', payloads);
      await until('the signal is refused', () => engine.log(talk), {
        holds: (log) => log.at(-1)?.type === 'message_refused',
      });
      expect(await engine.snapshot(talk)).toMatchObject({ status: 'awaiting_input' });
      continue;
    }
    cancels.push(what);
    expect([what, reply]).toMatchObject([what, { cancelled: true, seq: length + 1 }]);
    // A megabyte of garbage in the history can make the run roll over behind the turn.
    expect(after.filter(({ type }) => type !== 'rolled_over')).toMatchObject([
      { type: 'cancel_requested', actor: ANONYMOUS },
      { type: 'tool_result', result: { status: 'cancelled' } },
      { type: 'turn_ended', status: 'cancelled' },
    ]);
    expect(await engine.idle(talk)).toMatchObject({ pending: [], queued: [] });
    expect(await engine.say(talk, 'again')).toMatchObject({ status: 'waiting' });
  }
  expect(cancels.sort()).toEqual([...CANCELS].sort());
});

test.each(['update', 'signal'])(
  'a close with garbage arguments is carried out for an anonymous actor: %s',
  {
    ...promise('G258'),
  },
  async (kind) => {
    const engine = await startEngine({
      agents: [shop(script(ASK))],
      services: ledger(),
    });
    const { talk } = await engine.ask();
    const name = 'closeConversation';
    const garbage = [payload('json/plain', 'null')];
    if (kind === 'signal') await rawSignal(engine, talk.id, name, garbage);
    else expect(await rawUpdate(engine, talk.id, name, garbage)).toBe('accepted');
    const last = async () => (await engine.log(talk)).at(-1);
    const closed = await until('it closes', last, {
      holds: (event) => event?.type === 'conversation_closed',
    });
    expect(closed).toMatchObject({ actor: ANONYMOUS });
  },
);

test('queries with garbage arguments are answered as well', async () => {
  const engine = await startEngine({
    agents: [shop(script(says('hi')))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  for (const argument of [
    null,
    7,
    'x',
    { after: 'x', maxBytes: -1, from: -5, to: 'x' },
    { after: -10, maxBytes: 1 },
  ])
    for (const name of [
      ...['snapshot', 'pending', 'toolCall', 'events', 'transcriptSlice', 'pluginStates'],
    ])
      await expect(engine.query(talk.id, name, argument)).resolves.toBeDefined();
});

test('ten simultaneous refused updates leave no history either', async () => {
  const engine = await startEngine({
    agents: [shop(script(ASK))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const before = await engine.history.count(engine.workflowId(talk));
  const refused = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      rawUpdate(engine, talk.id, UPDATE_NAMES[index % 2] ?? '', []),
    ),
  );
  expect(new Set(refused)).toEqual(new Set(['invalid_request', 'verdict']));
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);
});
