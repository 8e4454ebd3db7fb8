/** Oversized tool results and model answers, on a real server. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, readResults } from '../../../src/index.js';
import { calls, responds, says, script } from '../../../src/model/scripted/scripted.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { BlobRef } from '../../../src/protocol/values/blobs.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

const WHOLE = `${'row of a table\n'.repeat(40_000)}total: 42\n`;

const dump = defineTool({
  name: 'table.dump',
  description: 'Dumps a table.',
  input: z.object({}),
  maxResultBytes: 2_048,
  run: () => WHOLE,
});

function blobIn(events: readonly CanonicalEvent[]): BlobRef {
  for (const event of events)
    if (event.type === 'tool_result' && event.result.envelope.ok) {
      const { blob } = event.result.envelope;
      if (blob !== undefined) return blob;
    }
  throw new Error('no result is stored');
}

test('a result of 600 KB is stored: its event names it, applications read it, and the model can read further parts of it', {
  ...promise('G271', 'S48', 'T13'),
}, async () => {
  const model = script(
    calls('table.dump', {}),
    responds(({ messages }) => {
      const id = /stored with id ([0-9a-f]{64})/.exec(JSON.stringify(messages.at(-1)))?.[1];
      return calls('results.read', { id, find: 'total: ' });
    }),
    says('42.'),
  );
  const tools = [dump, readResults];
  const agent = defineAgent({ name: 'tables', instructions: 'Read.', model, tools });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('What is the total?');
  expect(result).toMatchObject({ status: 'completed', text: '42.' });
  const blob = blobIn(await engine.log(talk));
  expect(blob).toMatchObject({ bytes: WHOLE.length, type: 'text/plain' });
  const stored = await talk.blob(blob.id);
  expect(Buffer.from(stored.content).toString()).toBe(WHOLE);
  const part = await talk.blob(blob.id, { offset: WHOLE.length - 3, length: 2 });
  expect(Buffer.from(part.content).toString()).toBe('42');
  const read = JSON.stringify(model.requests[2]?.messages.at(-1));
  expect(read).toContain('total: 42');
  expect(read.length).toBeLessThan(2_048);
  const history = JSON.stringify(await engine.history.events(engine.workflowId(talk)));
  expect(history.length).toBeLessThan(100_000);
  const other = engine.begin();
  await expect(other.blob(blob.id)).rejects.toMatchObject({ code: 'unknown_blob' });
});

test('a model answer of 5 MB fails its turn with a code, and the conversation continues', {
  ...promise('G278'),
}, async () => {
  const model = script(says('x'.repeat(5_000_000)), says('In short: yes.'));
  const agent = defineAgent({ name: 'talker', instructions: 'Talk.', model });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('Tell me everything');
  expect(result).toMatchObject({ status: 'failed', error: { code: 'model_answer_too_large' } });
  expect(await engine.say(talk, 'And in short?')).toMatchObject({
    status: 'completed',
    text: 'In short: yes.',
  });
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
