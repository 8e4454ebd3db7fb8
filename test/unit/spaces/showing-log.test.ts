/** The log that shows visible calls: it reads no more than it must, and never shows by a log that is no more. */
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/index.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { showingLog } from '../../../src/spaces/calls/showing-log.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { calls, callsAll, says, script } from '../../../src/testing/index.js';
import { ANN, BOT, DESK, roomOf } from '../../support/spaces/room-of-agent.js';
import { storedRoom } from '../../support/spaces/stored-room.js';

const KEY = { tenant: 'default', conversationId: 'test' };
const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const ask = defineTool({
  ...{ name: 'ask', description: 'Ask', executor: 'human', metadata: { visible: true } },
  ...{ input: z.object({}), output: z.object({ size: z.number() }) },
});
const ASK = { name: 'ask', input: {} };

/** One batch, which begins with the newest stored event, as that of a catch-up. */
async function store(log: EventLog, events: readonly CanonicalEvent[], runId = 'run') {
  const { lastSeq = 0 } = (await log.head(KEY)) ?? {};
  return await log.append({ ...KEY, runId, events: events.filter(({ seq }) => seq >= lastSeq) });
}

it('a batch that begins with the newest stored event needs no read of the log', async () => {
  const { t, messages, deps } = await storedRoom([ask], callsAll([ENTER, ASK]), says('done'));
  const showing = showingLog(deps);
  await t.send('Go');
  await store(showing, t.events);
  const read = vi.spyOn(deps.log, 'read');
  await t.answer('ask', { size: 40 });
  await store(showing, t.events);
  expect(read).not.toHaveBeenCalled();
  expect(await messages()).toMatchObject([{ status: 'complete' }]);
});

it('a call is not shown by what a log had before another process rewrote it', async () => {
  const { t, messages, deps } = await storedRoom([ask], callsAll([ENTER, ASK]));
  const showing = showingLog(deps);
  await t.send('Go');
  await store(showing, t.events);
  // The conversation after a reset: it has entered another space. An id follows from the request, in every store.
  const second = { name: 'Second', requestId: 'second' };
  const { id: spaceId } = await (await roomOf(script())).spaces.create(ANN, second);
  const words = ['one', 'two', 'three', 'four'];
  const { t: other, spaces } = await storedRoom(
    [ask],
    calls('enter_space', { spaceId }),
    ...words.map((word) => says(word)),
    calls('ask', {}),
  );
  await spaces.create(ANN, second);
  await spaces.join(ANN, spaceId, { kind: 'agent', id: BOT });
  for (const word of words) await other.send(word);
  expect(other.events.length).toBeGreaterThan(t.events.length + 1);
  const rewritten = await deps.log.append({ ...KEY, runId: 'run-2', events: other.events });
  expect(rewritten.outcome).toBe('rewritten');
  await other.send('Go');
  expect(other.pending).toHaveLength(1);
  expect(await store(showing, other.events, 'run-2')).toMatchObject({ outcome: 'appended' });
  expect(await messages()).toHaveLength(1);
});
