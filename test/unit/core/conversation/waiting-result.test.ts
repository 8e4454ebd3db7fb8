/** When the caller of a turn learns that only outside input can continue it. */
import { expect, it } from 'vitest';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import { waitingResult } from '../../../../src/protocol/conversation/waiting.js';

const parked: ConversationSnapshot = {
  tenant: 'default',
  conversationId: 'c',
  agent: 'a',
  status: 'awaiting_input',
  seq: 9,
  startedAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  turn: { turnId: 't1', step: 1, stepId: 't-1.1', startedAt: '2026-01-01T00:00:00.000Z' },
  queued: ['t2'],
  pending: [],
  inFlightTools: [],
  usage: { inputTokens: 0, outputTokens: 0 },
};

it.each([
  ['the turn that waits', parked, 't1', 'waiting'],
  ['a turn queued behind one that waits', parked, 't2', 'waiting'],
  ['a turn that is not known', parked, 't3', undefined],
  [
    'a turn of which a tool still runs',
    {
      ...parked,
      inFlightTools: [{ toolCallId: 'x', name: 'n', executor: 'server', turnId: 't1' }],
    } satisfies ConversationSnapshot,
    't1',
    undefined,
  ],
  ['a turn whose model call runs', { ...parked, status: 'streaming' as const }, 't1', undefined],
])('the caller of %s gets that reply, or waits on', (_which, snapshot, turnId, status) => {
  expect(waitingResult(snapshot, turnId)?.status).toBe(status);
});
