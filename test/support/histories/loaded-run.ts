/**
 * A conversation that is about to roll over, under load: one call of each way to wait, a store that can be held, a
 * storm of inputs, and queries from outside all the time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { startOptions } from '../../../src/client/temporal/start-options.js';
import { type Agent, defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type {
  ConversationInput,
  RollOverBounds,
} from '../../../src/protocol/workflow/messaging.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { type Engine, startEngine } from '../engine/engine.js';
import { openSqliteEventLog } from '../event-logs.js';
import { type HeldLog, held } from '../fakes/held-log.js';
import { until } from '../until.js';
import { askFromOutside } from './asked-from-outside.js';

const Work = z.object({ label: z.string() });
const Answer = z.object({ answer: z.string() });
export const YES = { type: 'answer', value: { answer: 'yes' } } as const;
export const ANN = { actor: { id: 'ann' } };
export const [ASK, WAIT, SLIP, PAY, CART] = [
  'call_1',
  'call_2',
  'call_3',
  'call_4',
  'call_5',
] as const;
/** Expires while the run rolls over. */
const SLIP_MS = 4_000;

/** The first message asks for one call of each way to wait; every other message is answered. */
const model = scriptedBy(({ messages }) => {
  const last = messages.at(-1);
  const text = last?.role === 'user' && last.parts[0]?.type === 'text' ? last.parts[0].text : '';
  if (text !== 'first') return says(text === '' ? 'all done' : `heard ${text}`);
  const names = ['ask', 'ask', 'slip', 'pay', 'cart'];
  return callsAll(names.map((name) => ({ name, input: { label: name } })));
});

type Workflow = (given: unknown) => Promise<void>;

export interface LoadedRun {
  readonly engine: Engine;
  readonly talk: ReturnType<Engine['begin']>;
  readonly store: HeldLog;
  /** Approved calls that ran. */
  readonly paid: readonly string[];
}

function agentOf(paid: string[]): Agent {
  const common = { input: Work, description: 'Part of a test.' };
  return defineAgent({
    name: 'clerk',
    model,
    instructions: 'Use the tools.',
    settings: { onBusy: 'queue', whileWaiting: 'block' },
    tools: [
      defineTool({ ...common, name: 'ask', executor: 'human', output: Answer }),
      defineTool({
        ...common,
        name: 'slip',
        executor: 'human',
        output: Answer,
        timeouts: { answer: SLIP_MS },
        onExpire: { default: { answer: 'silence' } },
      }),
      defineTool({
        ...common,
        name: 'pay',
        effects: 'once',
        approval: 'required',
        run: ({ label }, ctx) => {
          paid.push(ctx.idempotencyKey);
          return `${label} done`;
        },
      }),
      defineTool({
        ...common,
        name: 'cart',
        executor: 'client',
        output: z.object({ items: z.array(z.string()) }),
        timeouts: { claim: '30 minutes', answer: '30 minutes' },
      }),
    ],
  });
}

/**
 * A conversation with these bounds whose first turn waits for five answers. `name`: part of its id and task queue.
 */
export async function startLoadedRun(
  address: string,
  rollOver: RollOverBounds,
  name?: string,
): Promise<LoadedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-loaded-'));
  const log = await openSqliteEventLog({ file: join(folder, 'log.db') });
  const paid: string[] = [];
  const agent = agentOf(paid);
  const store = held(log);
  const live = createLocalLiveChannel();
  const engine = await startEngine({
    agents: [agent],
    services: undefined,
    address,
    ...(name === undefined ? {} : { taskQueue: name }),
    eventLog: { log, live },
    workerLog: { log: store.log, live },
  });
  onTestFinished(async () => {
    store.release();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const talk = engine.begin(name);
  const input = { text: 'first', requestId: 'm1', actor: { id: 'tester' } };
  const key = { tenant: 'default', conversationId: talk.id };
  const options = startOptions(
    {
      key,
      manifest: manifestOf(agent),
      input,
      updateId: 'm1',
      start: { reuse: 'REJECT_DUPLICATE' },
    },
    { taskQueue: engine.taskQueue, searchAttributes: true },
  );
  const [argument] = options.args as [ConversationInput];
  const start = new WithStartWorkflowOperation<Workflow>('conversation', {
    ...options,
    args: [{ ...argument, rollOver }],
    workflowIdConflictPolicy: 'FAIL',
  });
  await engine.temporal.workflow.executeUpdateWithStart<Workflow, unknown, [unknown]>(
    'sendMessage',
    { args: [input], startWorkflowOperation: start },
  );
  askFromOutside(engine, engine.workflowId(talk));
  await until('five calls wait', () => engine.snapshot(talk), {
    holds: ({ pending }) => pending.length === 5,
  });
  return { engine, talk, store, paid };
}

async function isFlushing({ engine, talk }: LoadedRun): Promise<boolean> {
  const lines = await engine.history.lines(engine.workflowId(talk));
  return lines.some((line) => line.includes('flushLog') || line.includes('ContinuedAsNew'));
}

/** Holds the store, and sends one small input after the other until the run is about to end. */
export async function pushUntilRollOver(
  loaded: LoadedRun,
  push: (count: number) => Promise<unknown>,
): Promise<void> {
  loaded.store.hold();
  const giveUpAt = Date.now() + 30_000;
  for (let count = 1; !(await isFlushing(loaded)); count += 1) {
    if (Date.now() > giveUpAt) throw new Error('the run does not roll over');
    await push(count);
  }
}

/** Sends every kind of input at once. Returns the replies to the senders. */
export async function sendEveryInput({ engine, talk }: LoadedRun): Promise<readonly unknown[]> {
  const replies = [
    talk.resolve(ASK, YES, { requestId: 'a1', ...ANN }),
    talk.resolve(ASK, YES, { requestId: 'a2', actor: { id: 'bob' } }),
    talk.extend(CART, { by: '5 minutes', requestId: 'e1' }),
    talk.claim(CART, { requestId: 'c1', ...ANN }),
    talk.send('second', { requestId: 'm2' }),
    engine.update(talk, 'inboxEvent', { eventId: 'i1', kind: 'note', payload: { about: 1 } }),
  ];
  const approval = { toolCallId: PAY, resolution: { type: 'approve' }, requestId: 'p1' };
  await engine.signal(talk, 'resolveToolCall', { ...approval, actor: { id: 'boss' } });
  await engine.signal(talk, 'resolveToolCall', { ...approval, requestId: 'p2' });
  await engine.signal(talk, 'sendMessage', { text: 'third', requestId: 'm3' });
  await engine.signal(talk, 'noSuchSignal', { any: 'thing' });
  return await Promise.all(replies);
}
