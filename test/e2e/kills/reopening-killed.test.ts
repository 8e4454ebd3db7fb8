/**
 * One SIGKILL hits a worker in every step of a reopening at once: each conversation is held in another step, by a gate
 * between the worker and the server, while inputs of every kind arrive. The state is restored by another worker, and
 * every input is judged once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import type { Reply } from '../support/api.js';
import type { GatedCall, Held } from '../support/grpc-gate.js';
import {
  askAbout,
  expectWhole,
  isAbout,
  untilHeld,
  warmUp,
  wholeLog,
} from '../support/killed-talks.js';
import { juggle } from '../support/random/juggler-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/broken/crashing.ts', import.meta.url).pathname;

interface Step {
  readonly name: string;
  readonly side: 'request' | 'reply';
  /** Selects the call in which the worker is killed. Evaluated for every call of the worker, in order. */
  readonly wanted: (talk: Talk) => (call: GatedCall) => boolean;
}

const restoreOrdered = (talk: Talk) => (call: GatedCall) =>
  isAbout(talk, 'RespondWorkflowTaskCompleted')(call) && call.body.includes('restoreState');
const restoreDone = (talk: Talk) => (call: GatedCall) =>
  isAbout(talk, 'RespondActivityTaskCompleted')(call) && call.body.includes('restoreState');

const midRestore = (talk: Talk): ((call: GatedCall) => boolean) => {
  let isRestoring = false;
  return (call) => {
    isRestoring ||= restoreOrdered(talk)(call);
    return isRestoring && isAbout(talk, 'DescribeWorkflowExecution')(call);
  };
};

/** The workflow task in which the inputs that waited are judged. */
const taskAfterRestore = (talk: Talk): ((call: GatedCall) => boolean) => {
  let isRestored = false;
  return (call) => {
    isRestored ||= restoreDone(talk)(call);
    return isRestored && isAbout(talk, 'RespondWorkflowTaskCompleted')(call);
  };
};

const STEPS: readonly Step[] = [
  { name: 'before the restore is ordered', side: 'request', wanted: restoreOrdered },
  { name: 'while the state is restored', side: 'request', wanted: midRestore },
  {
    name: 'after the state is restored and before the server knows',
    side: 'request',
    wanted: restoreDone,
  },
  { name: 'before the waiting inputs are judged', side: 'request', wanted: taskAfterRestore },
  {
    name: 'after they are judged and before the worker knows',
    side: 'reply',
    wanted: taskAfterRestore,
  },
];

let world: World;
let code: string;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS, script: juggle, gated: true });
  code = await bundleFromSource();
  await warmUp(world);
});
afterAll(() => world.stop());

/** A conversation in whose reopening the worker is killed. */
interface Wreck {
  readonly talk: Talk;
  readonly held: Held;
  /** Seq of the end of its first life. */
  readonly seq: number;
  /** Replies to messages that were sent before the kill. */
  readonly replies: readonly Promise<Reply>[];
}

function send(talk: Talk, ordinal: number): Promise<Reply> {
  return talk.call('/messages', {
    body: { text: `do ${talk.id}.${ordinal}: glance`, reopen: true, onBusy: 'queue' },
    headers: { 'idempotency-key': `m${ordinal}` },
  });
}

async function statusOf(talk: Talk): Promise<string> {
  return (await world.temporal.workflow.getHandle(talk.workflowId).describe()).status.name;
}

async function beginReopening({ side, wanted }: Step, id: string): Promise<Wreck> {
  const talk = world.talk(id);
  await talk.begin('crasher', `do ${id}.1: glance`, { mayWait: true });
  await talk.ended();
  const closed = await talk.call('/close', { body: {} });
  expect(closed.status).toBe(200);
  await until(`${id} is closed`, () => statusOf(talk), { holds: (name) => name === 'COMPLETED' });
  const held = world.gate.hold(side, wanted(talk));
  const replies = [send(talk, 2)];
  await untilHeld(world, talk, held);
  replies.push(send(talk, 3));
  const text = `do ${id}.4: glance`;
  const left = { text, requestId: 'm4', onBusy: 'queue', actor: { id: 'http' } };
  await world.temporal.workflow.getHandle(talk.workflowId).signal('sendMessage', left);
  return { talk, held, seq: Number(closed.body['seq']), replies };
}

describe('a worker that is killed while closed conversations are reopened', () => {
  let wrecks: readonly Wreck[] = [];
  const ids = STEPS.map((_, index) => `r${index}`);
  // The function that it returns is called afterwards.
  beforeAll(() => askAbout(world, ids));

  it('is held in every step of a reopening, and killed', async () => {
    wrecks = await Promise.all(STEPS.map((step, index) => beginReopening(step, ids[index] ?? '')));
    await world.stack.worker().kill();
    for (const { held } of wrecks) held.drop();
    await world.stack.startWorker();
  });

  it.each(STEPS)('loses no input, and takes none twice: $name', promise('G297'), async (step) => {
    const { talk, seq, replies } = wrecks[STEPS.indexOf(step)] ?? {};
    if (talk === undefined || seq === undefined || replies === undefined)
      throw new Error('was not held');
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(202);
    const events = await wholeLog(world, talk, 4);
    const said = events.flatMap((event) => (event.type === 'user_message' ? [event] : []));
    expect(said.slice(1).map(({ requestId }) => requestId)).toHaveLength(3);
    expect(new Set(said.map(({ requestId }) => requestId))).toEqual(
      new Set([said[0]?.requestId, 'm2', 'm3', 'm4']),
    );
    // The first life is unchanged, and the second follows it.
    expect(events[seq]).toMatchObject({ type: 'conversation_started', reopened: true });
    const newest = said.at(-1)?.parts[0];
    const finale = newest?.type === 'text' ? newest.text : '';
    // The runs of the second life.
    const runs = await expectWhole(world, talk, { events, code, finale });
    expect(runs).toHaveLength(1);
    const ends = events.flatMap((event) => (event.type === 'turn_ended' ? [event] : []));
    expect(ends.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
    expect(ends.map(({ text }) => text).toSorted()).toEqual(
      [1, 2, 3, 4].map((ordinal) => `${talk.id}.${ordinal} is done`),
    );
    // A worker that is busy may confirm a repeat later.
    await until('a repeat is a duplicate', () => send(talk, 2), {
      holds: ({ body }) => body['duplicate'] === true,
    });
    expect(await wholeLog(world, talk, 4)).toHaveLength(events.length);
  });
});
