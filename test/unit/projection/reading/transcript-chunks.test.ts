/**
 * Messages in the blob store: lost ones are made again from the event log, and no other content is ever taken for
 * them.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { offloadedEvent } from '../../../../src/core/context/offloaded.js';
import { wholeMessages } from '../../../../src/core/state/transcript.js';
import { TranscriptChunks } from '../../../../src/projection/reading/transcript-chunks.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import { openFolderBlobStore } from '../../../../src/store/folder/blobs.js';
import type { BlobStore } from '../../../../src/store/ports/blobs.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { modelCalls, modelSays, plannedCall } from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { temporaryFolder } from '../../../support/temporary.js';

const KEY = { tenant: 'default', conversationId: 'order-42' };

/** Eight turns with a tool each, rolled over in between. */
function aTalk(): MachineUnderTest {
  const m = aMachine();
  for (let turn = 1; turn <= 8; turn += 1) {
    m.send(`question ${turn}: wie geht’s?`);
    m.model(modelCalls([plannedCall(`call_${turn}`)], 'I shall look.')).tool(`call_${turn}`, {
      b: turn,
      a: ['x', null],
    });
    m.model(modelSays(`answer ${turn}`));
    if (turn === 4) m.rollOver();
  }
  return m;
}

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
}

async function setUp(given?: BlobStore) {
  const { log, blobs: own } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const blobs = given ?? own;
  const said: string[] = [];
  const logger = { info: () => undefined, warn: (text: string) => said.push(text) };
  const talk = aTalk();
  const append = async () => {
    await log.append({ ...KEY, runId: 'run-1', events: talk.events });
  };
  const transcript = wholeMessages(talk.state.transcript);
  const from = transcript.findIndex(({ turnId }) => turnId.endsWith('_2'));
  const to = transcript.findIndex(({ turnId }) => turnId.endsWith('_6'));
  const messages = transcript.slice(from, to);
  const chunks = new TranscriptChunks({ blobs, log, logger });
  /** Stores messages as a run does before it rolls over, and records that. */
  const offload = async (some: readonly Message[]): Promise<string> => {
    const id = (await chunks.put(KEY, some)) ?? '';
    talk.machine.offloaded(offloadedEvent({ messages: some, chunks: [some.length] }, [id]));
    return id;
  };
  return {
    log,
    blobs,
    chunks,
    append,
    offload,
    said,
    talk,
    messages,
    all: transcript,
  };
}

/** The same with turns 2 to 5 offloaded. */
async function setUpOffloaded(given?: BlobStore) {
  const all = await setUp(given);
  return { ...all, id: await all.offload(all.messages) };
}

describe('messages in the blob store', () => {
  it('are read as they were put', async () => {
    const { chunks, messages, id } = await setUpOffloaded();
    expect(await chunks.get(KEY, id)).toEqual(messages);
  });

  it('are not there for another conversation', async () => {
    const { chunks, id } = await setUpOffloaded();
    const other = { ...KEY, conversationId: 'order-43' };
    await expect(chunks.get(other, id)).rejects.toMatchObject({ code: 'transcript_lost' });
  });

  it('that are lost are made again from the log, to the byte, and are there again', {
    ...promise('G183'),
  }, async () => {
    const { chunks, blobs, append, messages, id, said } = await setUpOffloaded();
    await append();
    await blobs.delete(KEY);
    expect(await chunks.get(KEY, id)).toEqual(messages);
    expect(said).toHaveLength(1);
    expect((await blobs.get(KEY, id))?.ref.id).toBe(id);
    await chunks.get(KEY, id);
    expect(said).toHaveLength(1);
  });

  it.each([
    ['in the middle of a turn, to the middle of another', 2, 15],
    ['at the beginning of a turn, to its middle', 4, 6],
    ['in the middle of a turn, to its end', 6, 8],
    ['and end within one turn', 5, 7],
  ])('that begin %s are made again as well', promise('G189'), async (_where, from, to) => {
    const { chunks, blobs, append, all, offload } = await setUp();
    const messages = all.slice(from, to);
    const id = await offload(messages);
    await append();
    await blobs.delete(KEY);
    expect(await chunks.get(KEY, id)).toEqual(messages);
    expect((await blobs.get(KEY, id))?.ref.id).toBe(id);
  });

  it('that follow others of the same log in a chunk are made again, and those before them, too', {
    ...promise('G183'),
  }, async () => {
    const { chunks, blobs, append, all, offload, said } = await setUp();
    const ids = [await offload(all.slice(0, 6)), await offload(all.slice(6, 13))];
    await append();
    await blobs.delete(KEY);
    expect(await chunks.get(KEY, ids[1] ?? '')).toEqual(all.slice(6, 13));
    expect(await chunks.get(KEY, ids[0] ?? '')).toEqual(all.slice(0, 6));
    // The first miss has made them all.
    expect(said).toHaveLength(1);
  });

  it('are made again without those that a summary has replaced', async () => {
    const { chunks, blobs, append, all, offload, talk } = await setUp();
    const [old, next] = [await offload(all.slice(0, 4)), await offload(all.slice(4, 12))];
    summarizes(talk, all[3]?.id ?? '');
    expect(talk.last('summary').messages).toBe(4);
    await append();
    await blobs.delete(KEY);
    await chunks.get(KEY, next);
    expect(await blobs.get(KEY, old)).toBeUndefined();
    // A reader that does not know of the summary yet may still ask for them.
    expect(await chunks.get(KEY, old)).toEqual(all.slice(0, 4));
  });

  it('that were changed are never used: they are made again', {
    ...promise('G183'),
  }, async () => {
    const folder = temporaryFolder();
    const { chunks, append, messages, id, said } = await setUpOffloaded(
      await openFolderBlobStore({ folder }),
    );
    await append();
    const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.includes(id),
    );
    writeFileSync(join(folder, file ?? ''), '{"messages":[]}');
    expect(await chunks.get(KEY, id)).toEqual(messages);
    expect(await chunks.get(KEY, id)).toEqual(messages);
    expect(said).toHaveLength(1);
  });

  it('are read from the log by a worker that has no blob store', async () => {
    const { log, append, messages, id } = await setUpOffloaded();
    await append();
    const without = new TranscriptChunks({ log });
    expect(await without.get(KEY, id)).toEqual(messages);
    expect(await without.put(KEY, messages)).toBeUndefined();
  });

  it('that neither blob store nor log has are lost, and the error names them', {
    ...promise('G183'),
  }, async () => {
    const { chunks, blobs, id } = await setUpOffloaded();
    await blobs.delete(KEY);
    await expect(chunks.get(KEY, id)).rejects.toMatchObject({
      code: 'transcript_lost',
      message: expect.stringContaining(`chunk ${id} is neither`) as string,
    });
  });

  it('are lost where the log has other messages in their place: they are not taken for them', {
    ...promise('G183'),
  }, async () => {
    const { chunks, append, messages, talk } = await setUp();
    const plan = { messages, chunks: [messages.length] };
    const id = 'f'.repeat(64);
    talk.machine.offloaded(offloadedEvent(plan, [id]));
    await append();
    await expect(chunks.get(KEY, id)).rejects.toMatchObject({ code: 'transcript_lost' });
  });

  it('that have no reference any more are removed, twice if need be', async () => {
    const { chunks, blobs, id } = await setUpOffloaded();
    await chunks.remove(KEY, [id]);
    await chunks.remove(KEY, [id]);
    expect(await blobs.get(KEY, id)).toBeUndefined();
  });
});
