/** The size of the state that a closed conversation is reopened with: it is one payload. */
import { describe, expect, it } from 'vitest';
import { fromCarryOver, toCarryOver } from '../../../../src/core/context/carry-over.js';
import { offloadedEvent, withOffloaded } from '../../../../src/core/context/offloaded.js';
import { messageBytes } from '../../../../src/core/context/transcript.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import {
  boundedState,
  NotReopenable,
  restoreState,
} from '../../../../src/projection/reading/reopening.js';
import type { WorkflowSource } from '../../../../src/projection/source/workflow-source.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { CarriedState } from '../../../../src/protocol/workflow/messaging.js';
import type { EventLog, ReadOptions } from '../../../../src/store/ports/log.js';
import { KEY } from '../../../support/samples/log-events.js';
import { aConversationState } from '../../../support/samples/transcripts.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

function messages(turns: number, bytesOfTurn: number): readonly Message[] {
  return Array.from({ length: turns }, (_, index) => ({
    role: 'user',
    id: `m_${index}`,
    turnId: `turn_abc_${index}`,
    parts: [{ type: 'text', text: 'x'.repeat(bytesOfTurn) }],
  }));
}

function carriedOf(state: ConversationState): CarriedState {
  return { ...toCarryOver(state), events: [] };
}

describe('the state that a closed conversation is reopened with', () => {
  it('has a transcript of 1.8 MB whole', () => {
    const carried = carriedOf(aConversationState(messages(17, 100_000)));
    expect(boundedState('c-1', carried)).toBe(carried);
  });

  it('lacks the oldest turns of a larger transcript, so that the server accepts it', () => {
    const carried = boundedState('c-1', carriedOf(aConversationState(messages(40, 100_000))));
    const { transcript, transcriptBytes } = fromCarryOver(carried);
    expect(JSON.stringify(carried).length).toBeLessThan(1_900_000);
    expect(transcript.at(-1)).toMatchObject({ id: 'm_39' });
    // The run writes it into the log.
    expect(carried.droppedMessages).toBe(40 - transcript.length);
    expect(transcript.length).toBeGreaterThan(5);
    const left = transcript.reduce((sum, message) => sum + messageBytes(message), 0);
    expect(transcriptBytes).toBe(left);
  });

  it('names the chunks of dropped turns as unused, so that they are removed', () => {
    const transcript = messages(25, 100_000);
    const ids = ['chunk-1', 'chunk-2'];
    const plan = { messages: transcript.slice(0, 3), chunks: [2, 1] };
    const stored = withOffloaded(aConversationState(transcript), offloadedEvent(plan, ids));
    const carried = { ...carriedOf(stored), unusedChunks: ['older'] };
    expect(JSON.stringify(carried.state)).toContain('offloaded');
    const bounded = boundedState('c-1', carried);
    expect(JSON.stringify(bounded.state)).not.toContain('offloaded');
    expect(bounded.unusedChunks).toEqual(['older', ...ids]);
  });

  it('is refused when the rest alone is too large for the server', () => {
    const inbox = [{ eventId: 'e', text: 'x'.repeat(2_000_000), requester: { id: 'a' } }];
    const state = { ...aConversationState(messages(1, 10)), inbox } as unknown as ConversationState;
    const tried = () => boundedState('c-1', carriedOf(state));
    expect(tried).toThrow(NotReopenable);
    expect(tried).toThrow('Begin another one');
  });
});

describe('the log of a conversation that is reopened', () => {
  it('is folded page by page, so that the worker can send heartbeats in between', async () => {
    const m = aMachine();
    m.send('hi');
    let turnsOfLoop = 0;
    const seen: number[] = [];
    // A store that answers at once.
    const log = {
      read: (_key: unknown, { afterSeq = 0 }: ReadOptions = {}) => {
        seen.push(turnsOfLoop);
        setImmediate(() => {
          turnsOfLoop += 1;
        });
        const events = m.events.slice(afterSeq, afterSeq + 1);
        const { length } = m.events;
        return Promise.resolve({
          generation: 1,
          lastSeq: length,
          events,
          more: afterSeq + 1 < length,
        });
      },
    } as unknown as EventLog;
    const deps = { log, source: {} as WorkflowSource };
    const { state } = await restoreState(deps, { ...KEY, chain: 'next' });
    expect(state).toEqual(m.state);
    expect(seen).toEqual(m.events.map((_event, index) => index));
  });

  it('is read again later when it is removed while it is read: a part of it is no state', async () => {
    const m = aMachine();
    m.send('hi');
    const page = { generation: 1, lastSeq: 9, events: m.events, more: true };
    const log = {
      read: (_key: unknown, { generation }: ReadOptions = {}) =>
        Promise.resolve(generation === undefined ? page : undefined),
    } as unknown as EventLog;
    const deps = { log, source: {} as WorkflowSource };
    await expect(restoreState(deps, { ...KEY, chain: 'next' })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});
