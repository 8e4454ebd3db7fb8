/** The event `transcript_offloaded`: what it changes in the state, and what it leaves to readers of the log. */
import { describe, expect, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import { offloadedEvent, piecesOf } from '../../../../src/core/context/offloaded.js';
import { bytesOf } from '../../../../src/core/context/transcript.js';
import { turnResults } from '../../../../src/core/context/turn-results.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import { isOffloaded, wholeMessages } from '../../../../src/core/state/transcript.js';
import { foldView } from '../../../../src/core/view/view.js';
import type { EventBody, TranscriptOffloaded } from '../../../../src/protocol/log/events.js';
import { modelCalls, modelSays, plannedCall } from '../../../support/builders/core-builders.js';
import { aTurn, running } from '../../../support/fakes/stored-transcripts.js';
import { promise } from '../../../support/promise.js';
import { aConversationState } from '../../../support/samples/transcripts.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const LATER = '2026-03-01T13:00:00.000Z';

/** Three turns with one call each: 4 messages a turn, the third without its answer. */
const THREE = [...aTurn(1, [1], 9), ...aTurn(2, [1], 9), ...aTurn(3, [1], 9).slice(0, -1)];

function after(state: ConversationState, body: EventBody): ConversationState {
  return apply(state, { ...body, seq: state.lastSeq + 1, at: LATER });
}

/** The event for these messages, in chunks of so many. */
function event(from: number, chunks: readonly number[]): TranscriptOffloaded {
  const count = chunks.reduce((sum, messages) => sum + messages, 0);
  const ids = chunks.map((_, index) => `chunk_${index + 1}`);
  return offloadedEvent({ messages: THREE.slice(from, from + count), chunks }, ids);
}

/** One line for each item. */
function outline({ transcript }: ConversationState): readonly string[] {
  return transcript.map((item) => {
    if (!isOffloaded(item)) return item.id;
    const { turnId, id, chunk, from, to, calls = [], results = [] } = item;
    const ids = results.map(({ toolCallId }) => toolCallId);
    return `${chunk}[${from}-${to}] ${turnId}..${id} calls ${calls.join()} results ${ids.join()}`;
  });
}

const WHOLE = THREE.map(({ id }) => id);

describe('the event that messages are offloaded', () => {
  it.each<[string, TranscriptOffloaded, readonly string[]]>([
    [
      'puts one item in the place of a turn',
      event(0, [4]),
      ['chunk_1[0-4] t1..t1.answer calls t1.1.0 results ', ...WHOLE.slice(4)],
    ],
    [
      'puts one item for each turn of a chunk',
      event(0, [8]),
      [
        'chunk_1[0-4] t1..t1.answer calls t1.1.0 results ',
        'chunk_1[4-8] t2..t2.answer calls t2.1.0 results ',
        ...WHOLE.slice(8),
      ],
    ],
    [
      'puts one item for each chunk of a turn, and keeps the results of the turn in progress',
      event(4, [4, 1, 2]),
      [
        ...WHOLE.slice(0, 4),
        'chunk_1[0-4] t2..t2.answer calls t2.1.0 results ',
        'chunk_2[0-1] t3..t3.q calls  results ',
        'chunk_3[0-2] t3..t3.1.results calls t3.1.0 results t3.1.0',
      ],
    ],
    ['changes nothing when a message has left', { ...event(0, [4]), fromMessageId: 'gone' }, WHOLE],
    [
      'changes nothing when other messages lie between its first and its last one',
      { ...event(0, [4]), throughMessageId: 't2.q' },
      WHOLE,
    ],
    [
      'changes nothing when it names more messages than there are',
      { ...event(8, [3]), chunks: [{ id: 'chunk_1', messages: 9 }] },
      WHOLE,
    ],
  ])('%s', promise('G179'), (_what, body, expected) => {
    const before = running(aConversationState(THREE), 't3');
    const state = after(before, body);
    expect(outline(state)).toEqual(expected);
    expect(bytesOf(state.transcript)).toBe(bytesOf(THREE));
    expect(state.transcriptBytes).toBe(before.transcriptBytes);
    expect(outline(after(state, body))).toEqual(expected);
  });

  it('is no activity, so that an idle conversation closes on time', () => {
    const before = aConversationState(THREE);
    expect(after(before, event(0, [4])).updatedAt).toBe(before.updatedAt);
  });

  it('names neighbours of one chunk as one part, and a part of one where others have left', () => {
    const state = after(running(aConversationState(THREE), 't3'), event(0, [8]));
    expect(piecesOf(state.transcript)).toEqual([
      { id: 'chunk_1', from: 0, to: 8 },
      { messages: THREE.slice(8) },
    ]);
    expect(piecesOf(state.transcript, 2, 9)).toEqual([
      { id: 'chunk_1', from: 2, to: 8 },
      { messages: [THREE[8]] },
    ]);
    const rolled = { type: 'rolled_over', reason: 'requested', droppedMessages: 4 } as const;
    const left = after(state, rolled);
    expect(piecesOf(left.transcript)).toEqual([
      { id: 'chunk_1', from: 4, to: 8 },
      { messages: THREE.slice(8) },
    ]);
    expect([left.forgotten, left.transcriptBytes]).toEqual([4, bytesOf(THREE.slice(4))]);
  });

  it('keeps results until the first roll-over after the end of their turn', promise('G189'), () => {
    const state = after(running(aConversationState(THREE), 't3'), event(0, [8, 3]));
    const rolled = { type: 'rolled_over', reason: 'requested', droppedMessages: 0 } as const;
    expect(turnResults(after(state, rolled), 't3')).toHaveLength(1);
    const { turn: _over, ...over } = state;
    expect(turnResults(over, 't3')).toHaveLength(1);
    expect(turnResults(after(over, rolled), 't3')).toEqual([]);
  });

  it('is recorded once, before the roll-over that it belongs to, and changes no snapshot', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([plannedCall('c')]))
      .tool('c')
      .model(modelSays('done'));
    const messages = wholeMessages(m.state.transcript);
    const body = offloadedEvent({ messages, chunks: [messages.length] }, ['chunk_1']);
    m.machine.offloaded(body);
    m.machine.offloaded(body);
    m.machine.offloaded({ ...body, fromMessageId: 'gone' });
    m.rollOver();
    const types = m.events.map(({ type }) => type);
    expect(types.slice(-3)).toEqual(['turn_ended', 'transcript_offloaded', 'rolled_over']);
    const [before, seen] = [-2, -1].map((end) =>
      m.events.slice(0, end).reduce<ReturnType<typeof foldView>>(foldView, undefined),
    );
    expect(seen).toEqual({ ...before, seq: (before?.seq ?? 0) + 1 });
  });
});
