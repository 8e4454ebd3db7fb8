/** The state that a closed conversation is opened again with: its whole content, with references to its blobs. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { applyAll } from '../../../../src/core/apply/apply.js';
import { fromCarryOver, offloadPlan } from '../../../../src/core/context/carry-over.js';
import {
  chunkIdsIn,
  chunksOf,
  offloadedEvent,
  piecesOf,
} from '../../../../src/core/context/offloaded.js';
import { wholeMessages } from '../../../../src/core/state/transcript.js';
import { restoreStateOf } from '../../../../src/projection/reading/restore-state.js';
import { TranscriptChunks } from '../../../../src/projection/reading/transcript-chunks.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  isStoredPart,
  OFFLOAD_BOUNDS,
} from '../../../../src/protocol/conversation/offloaded-messages.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_STORED_TRANSCRIPT_BYTES,
  OFFLOAD_KEEP_BYTES,
} from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import type { CarriedState } from '../../../../src/protocol/workflow/messaging.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { modelCalls, modelSays, plannedCall } from '../../../support/builders/core-builders.js';
import { closeConversation } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { KEY } from '../../../support/samples/log-events.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

async function stores() {
  const { log, blobs } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const warned: string[] = [];
  const logger = { info: () => undefined, warn: (text: string) => warned.push(text) };
  /** The first pages of the log that were read: one for each time that it is read. */
  const read = vi.spyOn(log, 'read');
  const timesRead = () => read.mock.calls.filter(([, { generation } = {}]) => !generation).length;
  return { log, blobs, warned, timesRead, chunks: new TranscriptChunks({ log, blobs, logger }) };
}

type Stores = Awaited<ReturnType<typeof stores>>;

/** Turns of a quarter of a megabyte each. */
function says(m: MachineUnderTest, turns: number): void {
  for (let turn = 0; turn < turns; turn += 1) {
    m.send(`${turn}: `.padEnd(250 * 1024, 'x'));
    m.model(modelSays('I see.'));
  }
}

/** Acts as a run before it ends; `put` absent: its store is away. */
async function rollsOver(m: MachineUnderTest, put?: TranscriptChunks): Promise<void> {
  const plan = offloadPlan(m.state, OFFLOAD_BOUNDS);
  if (plan === undefined) throw new Error('nothing to store');
  const ids: string[] = [];
  for (const messages of chunksOf(plan)) {
    const id = await put?.put(KEY, messages);
    if (id !== undefined) ids.push(id);
  }
  if (ids.length > 0) m.machine.offloaded(offloadedEvent(plan, ids));
  m.machine.rolledOver('requested');
}

/** The whole restored transcript, read as a worker reads it. */
async function readBack(
  { log, chunks }: Stores,
  m: MachineUnderTest,
  seed: CarriedState,
): Promise<readonly Message[]> {
  await log.append({ ...KEY, runId: 'run-1', events: m.events });
  const pieces = piecesOf(fromCarryOver(seed).transcript);
  const read: Message[] = [];
  for (const piece of pieces)
    if (!isStoredPart(piece)) read.push(...piece.messages);
    else read.push(...(await chunks.get(KEY, piece.id)).slice(piece.from, piece.to));
  return read;
}

async function idsIn({ blobs }: Stores): Promise<readonly string[]> {
  return (await blobs.list({ limit: 100 })).map(({ ref }) => ref.id).toSorted();
}

async function seedIn(m: MachineUnderTest): Promise<CarriedState> {
  closeConversation(m.machine);
  const seed = await restoreStateOf(m.events);
  if (seed === undefined) throw new Error('the log is empty');
  return JSON.parse(JSON.stringify(seed)) as CarriedState;
}

/** Replaces the first two turns by a summary. */
function summarizes(m: MachineUnderTest, throughMessageId: string): void {
  m.summarized(1, {
    version: 1,
    throughMessageId,
    text: 'In short.',
    tokensBefore: 9,
    tokensAfter: 2,
    model: 'scripted',
    usage: { inputTokens: 1, outputTokens: 1 },
  });
  expect(m.last('summary').messages).toBe(4);
}

/** Ids of the chunks that a restored state refers to. */
const named = (seed: CarriedState): readonly string[] => [
  ...chunkIdsIn(fromCarryOver(seed).transcript),
];

/** Every message that entered the transcript. */
const said = (m: MachineUnderTest): readonly Message[] =>
  wholeMessages(m.state.transcript).map(
    (message) => JSON.parse(JSON.stringify(message)) as Message,
  );

describe('the state that a closed conversation is opened again with', () => {
  it('is empty without a log, and complete while that is no more than a roll-over carries', async () => {
    expect(await restoreStateOf([])).toBeUndefined();
    const m = aMachine();
    says(m, 3);
    const seed = await seedIn(m);
    expect(seed).toMatchObject({ version: 1 });
    expect(named(seed)).toEqual([]);
    expect(seed.events).toEqual([]);
    expect(fromCarryOver(seed).transcript).toHaveLength(6);
  });

  it('names megabytes as its runs have stored them: nothing is dropped, stored again or read from the log', {
    ...promise('G186'),
  }, async () => {
    const all = await stores();
    const m = aMachine();
    const whole: Message[] = [];
    for (let run = 0; run < 4; run += 1) {
      says(m, 4);
      whole.push(...said(m).slice(-8));
      if (run < 3) await rollsOver(m, all.chunks);
    }
    expect(m.state.transcriptBytes).toBeGreaterThan(3 * MAX_CARRIED_TRANSCRIPT_BYTES);
    const before = await idsIn(all);
    const seed = await seedIn(m);
    expect(utf8Bytes(JSON.stringify(seed))).toBeLessThan(2 * OFFLOAD_KEEP_BYTES);
    const ids = named(seed);
    expect(before.filter((id) => !ids.includes(id))).toEqual([]);
    for (const id of before) await all.chunks.get(KEY, id);
    expect(all.timesRead()).toBe(0);
    // The last run did not roll over, so none of its messages were stored: all are made when one is missed.
    expect(ids.length - before.length).toBeGreaterThan(1);
    expect(await readBack(all, m, seed)).toEqual(whole);
    expect([all.timesRead(), all.warned.length]).toEqual([1, 1]);
    expect(await idsIn(all)).toEqual(ids.toSorted());
  });

  it('is made from the log where nothing was ever stored', promise('G186'), async () => {
    const all = await stores();
    const m = aMachine();
    says(m, 8);
    const whole = said(m);
    const seed = await seedIn(m);
    expect(named(seed).length).toBeGreaterThan(1);
    expect(await readBack(all, m, seed)).toEqual(whole);
    expect([all.timesRead(), all.warned.length]).toEqual([1, 1]);
    expect(await idsIn(all)).toEqual(named(seed).toSorted());
  });

  it('is the fold of its log with the event that names the chunks, which the next run records first', async () => {
    const all = await stores();
    const m = aMachine();
    says(m, 8);
    const seed = await seedIn(m);
    expect(seed.events).toMatchObject([
      { type: 'transcript_offloaded', seq: m.state.lastSeq + 1, at: m.state.updatedAt },
    ]);
    expect(applyAll([...m.events, ...seed.events])).toEqual(fromCarryOver(seed));
    // The chunks are made from the log with the event as well as without it.
    const first = await readBack(all, m, seed);
    await all.blobs.delete(KEY);
    await all.log.append({ ...KEY, runId: 'run-2', events: seed.events });
    expect(await readBack(all, m, seed)).toEqual(first);
    expect(all.timesRead()).toBe(2);
  });

  it('is made in the same way the second time, and omits turns beyond the bounds of a conversation', async () => {
    const all = await stores();
    const m = aMachine();
    says(m, 16);
    const first = await seedIn(m);
    m.reopen();
    says(m, 16);
    const second = await seedIn(m);
    for (const id of named(first)) expect(named(second)).toContain(id);
    expect(await readBack(all, m, second)).toHaveLength(64);
    m.reopen();
    says(m, 8);
    m.machine.rolledOver('requested');
    const third = fromCarryOver(await seedIn(m));
    expect(third.transcriptBytes).toBeLessThanOrEqual(MAX_STORED_TRANSCRIPT_BYTES);
  });

  it('names the chunks of its last run that are unused', async () => {
    const all = await stores();
    const m = aMachine();
    says(m, 8);
    const throughMessageId = m.state.transcript[3]?.id ?? '';
    await rollsOver(m, all.chunks);
    says(m, 2);
    summarizes(m, throughMessageId);
    const seed = await seedIn(m);
    const unused = seed.unusedChunks ?? [];
    expect(unused.length).toBeGreaterThan(0);
    expect(named(seed)).not.toContain(unused[0]);
    for (const id of unused) expect(await idsIn(all)).toContain(id);
  });

  it('names the chunks with which the last run was reopened, and that are unused', async () => {
    const m = aMachine();
    says(m, 8);
    const throughMessageId = m.state.transcript[3]?.id ?? '';
    const first = await seedIn(m);
    m.events.push(...first.events);
    m.reopen();
    summarizes(m, throughMessageId);
    const second = await seedIn(m);
    expect(named(second)).not.toContain(named(first)[0]);
    expect(second.unusedChunks).toContain(named(first)[0]);
  });

  it('never has a step without its results as a blob: they are written at the opening', async () => {
    const m = aMachine();
    says(m, 5);
    m.send('go');
    m.model(modelCalls([plannedCall('c1')], 'y'.repeat(300 * 1024)));
    const seed = await restoreStateOf(m.events);
    const last = seed === undefined ? undefined : fromCarryOver(seed).transcript.at(-1);
    expect(last).toMatchObject({ role: 'assistant' });
    expect(last && wholeMessages([last])[0]?.parts.at(-1)).toMatchObject({
      type: 'tool_call',
      name: 'server.tool',
    });
  });
});
