/** Large payloads are compressed in Temporal's history, transparently for readers and writers. */
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { Client } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import {
  CompressionCodec,
  type Conversation,
  ConversationClient,
} from '../../../src/client/index.js';
import { manifestOf } from '../../../src/define/define-agent.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import { MAX_INFLATED_BYTES } from '../../../src/protocol/limits/service-limits.js';
import type { EventsPage } from '../../../src/protocol/workflow/messaging.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { payloadsIn } from '../../support/engine/history.js';
import { replay } from '../../support/engine/replay.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const CONVERTER = fileURLToPath(
  new URL('../../../src/workflows/sandbox/payload-converter.ts', import.meta.url),
);
const LONG = 'A long story. '.repeat(4_000);
const ASK = calls('customer.ask', { question: 'A?' });

async function stored(engine: Engine, talk: Pick<Conversation, 'id'>): Promise<readonly Payload[]> {
  const id = engine.workflowId(talk);
  const runs = await engine.history.runs(id);
  return (await Promise.all(runs.map((run) => engine.history.storedEvents(id, run)))).flatMap(
    payloadsIn,
  );
}

function isCompressed({ metadata }: Payload): boolean {
  return Buffer.from(metadata?.['encoding'] ?? []).toString() === 'binary/zlib';
}

async function replays(engine: Engine, talk: Pick<Conversation, 'id'>): Promise<void> {
  const id = engine.workflowId(talk);
  for (const run of await engine.history.runs(id)) {
    const history = await engine.temporal.workflow.getHandle(id, run).fetchHistory();
    const json: unknown = JSON.parse(historyToJSON(history));
    await replay({ codePath: inject('workflowBundlePath') }, json);
  }
}

test('a long message is compressed in history; the model, the log and a replay see it whole, also after a roll-over', {
  ...promise('G281'),
}, async () => {
  const model = script(says('I see.'), says('Still here.'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask(LONG);
  await engine.signal(talk, 'rollOver');
  expect(await engine.say(talk, 'and now?')).toMatchObject({ text: 'Still here.' });
  expect(JSON.stringify(model.requests[1]?.messages[0])).toContain(LONG);
  const [said] = (await engine.log(talk)).filter(({ type }) => type === 'user_message');
  expect(JSON.stringify(said)).toContain(LONG);
  const payloads = await stored(engine, talk);
  // The message, the inputs of the model calls, and the input of the second run.
  expect(payloads.filter(isCompressed).length).toBeGreaterThanOrEqual(4);
  const bytes = payloads.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0);
  expect(bytes).toBeLessThan(LONG.length);
  await replays(engine, talk);
});

test('when switched off, payloads are plain, and those compressed before are still read', {
  ...promise('G282'),
}, async () => {
  const eventLog = `${temporaryFolder()}/log.db`;
  const taskQueue = 'compression-switched-off';
  const model = script(says('one'), says('two'));
  const common = { agents: [shop(model)], services: ledger(), eventLog, taskQueue };
  const on = await startEngine(common);
  const { talk } = await on.ask(LONG);
  await on.stopWorker();
  const before = (await stored(on, talk)).filter(isCompressed).length;
  expect(before).toBeGreaterThanOrEqual(2);
  const off = await startEngine({ ...common, compression: false });
  const again = off.client.conversation(talk.id, { agent: 'shop' });
  // The server may try the first worker for some seconds; then the message waits for the second.
  const turn = await again.send(`Again: ${LONG}`);
  expect(await turn.result({ timeout: '25s' })).toMatchObject({ text: 'two' });
  expect(model.requests[1]?.messages).toHaveLength(3);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain(`Again: ${LONG}`);
  expect((await stored(off, talk)).filter(isCompressed)).toHaveLength(before);
  await replays(off, talk);
});

test('a client without a codec sends long messages, resolves, and reads long replies', {
  ...promise('G283'),
}, async () => {
  const agent = shop(script(ASK, says('Thanks.')));
  const engine = await startEngine({ agents: [agent], services: ledger() });
  const plain = new Client({ connection: engine.temporal.connection });
  const client = new ConversationClient({
    temporal: plain,
    agents: [manifestOf(agent)],
    taskQueue: engine.taskQueue,
    actor: { id: 'foreign' },
  });
  const talk = client.conversation(`foreign-${engine.taskQueue}`, { agent: agent.name });
  expect(await talk.send(LONG)).toMatchObject({ status: 'admitted' });
  await engine.reaches(talk, 'awaiting_input');
  const handle = plain.workflow.getHandle(engine.workflowId(talk));
  const { events } = await handle.query<EventsPage, [object]>('events', { after: 0 });
  expect(JSON.stringify(events)).toContain(LONG);
  await handle.signal('resolveToolCall', {
    toolCallId: 'call_1',
    requestId: 'by-hand',
    resolution: { type: 'answer', value: { answer: LONG } },
  });
  await engine.idle(talk);
  const snapshot = await handle.query<ConversationSnapshot>('snapshot');
  expect(snapshot).toMatchObject({ status: 'idle' });
  expect(JSON.stringify(await engine.log(talk))).toContain('Thanks.');
  await replays(engine, talk);
});

test('a payload that is marked as compressed but is not, or that would fill the memory, fails no task', {
  ...promise('G284'),
}, async () => {
  const engine = await startEngine({
    agents: [shop(script(ASK, says('Thanks.')))],
    services: ledger(),
  });
  const { talk } = await engine.ask();
  const encoding = new TextEncoder().encode('binary/zlib');
  const bomb = deflateSync(Buffer.alloc(2 * MAX_INFLATED_BYTES));
  for (const data of [Buffer.from('no zlib'), bomb])
    for (const signalName of ['resolveToolCall', 'sendMessage'])
      await engine.temporal.workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: engine.workflowId(talk) },
        signalName,
        input: { payloads: [{ metadata: { encoding }, data }] },
      });
  expect(await talk.resolve('call_1', { type: 'answer', value: { answer: 'yes' } })).toMatchObject({
    verdict: 'accepted',
  });
  await engine.idle(talk);
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
  await replays(engine, talk);
});

/** Stands for encryption. */
class FlippingCodec implements PayloadCodec {
  readonly flipped: Payload[] = [];

  async encode(payloads: Payload[]): Promise<Payload[]> {
    this.flipped.push(...payloads);
    const flipped = Buffer.from('binary/flipped');
    return payloads.map(({ metadata, data }) => ({
      metadata: { ...metadata, inner: metadata?.['encoding'] ?? flipped, encoding: flipped },
      data: flip(data),
    }));
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const inner = payload.metadata?.['inner'];
      if (inner === undefined) return payload;
      return { metadata: { ...payload.metadata, encoding: inner }, data: flip(payload.data) };
    });
  }
}

function flip(data: Uint8Array | null | undefined): Uint8Array {
  return (data ?? new Uint8Array()).map((byte) => byte ^ 0xff);
}

test('a codec of the application receives compressed payloads, and the log is still written', async () => {
  const codec = new FlippingCodec();
  const agent = shop(script(calls('weather.lookup', {}), says('Cold.')));
  const engine = await startEngine({
    agents: [agent],
    services: ledger({ 'weather.lookup': () => ({ report: LONG }) }),
    tuning: { dataConverter: { payloadConverterPath: CONVERTER, payloadCodecs: [codec] } },
  });
  const client = new ConversationClient({
    temporal: new Client({
      connection: engine.temporal.connection,
      dataConverter: { payloadCodecs: [new CompressionCodec(), codec] },
    }),
    agents: [manifestOf(agent)],
    taskQueue: engine.taskQueue,
  });
  const talk = client.conversation(`flipped-${engine.taskQueue}`, { agent: agent.name });
  const turn = await talk.send('hello');
  expect(await turn.result({ timeout: '20s' })).toMatchObject({ text: 'Cold.' });
  expect(codec.flipped.some(isCompressed)).toBe(true);
  const key = { tenant: 'default', conversationId: talk.id };
  const { log } = engine.opened;
  await until('the log has the whole turn', () => log.read(key, { afterSeq: 0 }), {
    holds: (page) => page?.events.at(-1)?.type === 'turn_ended',
  });
  const id = engine.workflowId(talk);
  const payloads = payloadsIn(await engine.history.storedEvents(id));
  expect(
    Buffer.concat(payloads.map(({ data }) => data ?? Buffer.alloc(0))).toString(),
  ).not.toContain('weather.lookup');
});
