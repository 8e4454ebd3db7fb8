/**
 * Finished steps of the running turn that a roll-over in its middle offloads: decisions without them, and when
 * offloading is due.
 */

import { describe, expect, it, vi } from 'vitest';
import {
  carriedBytes,
  droppedAtRollOver,
  fromCarryOver,
  offloadPlan,
  toCarryOver,
} from '../../../../src/core/context/carry-over.js';
import { offloadedEnd, piecesOf } from '../../../../src/core/context/offloaded.js';
import {
  isCrowded,
  needsOffload,
  turnTooLong,
  visibleFrom,
} from '../../../../src/core/context/request-window.js';
import { bytesOf, withMessage } from '../../../../src/core/context/transcript.js';
import { turnResults } from '../../../../src/core/context/turn-results.js';
import { decide } from '../../../../src/core/decide/decide.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import { isOffloaded } from '../../../../src/core/state/transcript.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  isStoredPart,
  OFFLOAD_BOUNDS,
} from '../../../../src/protocol/conversation/offloaded-messages.js';
import {
  MAX_RESULTS_MESSAGE_BYTES,
  MAX_STORED_TRANSCRIPT_BYTES,
  MAX_TRANSCRIPT_BYTES,
  OFFLOAD_TURN_BYTES,
} from '../../../../src/protocol/limits/limits.js';
import { modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { aTurn, running, Shelf } from '../../../support/fakes/stored-transcripts.js';
import { promise } from '../../../support/promise.js';
import { aConversationState } from '../../../support/samples/transcripts.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const KB = 1024;
const BOUNDS = { fromBytes: 2_000, keepBytes: 500, chunkBytes: 2_000 };

/** Two turns that are over, and a running one of four steps. */
function inThird(): ConversationState {
  const said = [...aTurn(1, [1], 300), ...aTurn(2, [1], 300), ...aTurn(3, [2, 1, 1, 1], 300)];
  return running(aConversationState(said.slice(0, -1)), 't3');
}

/** A turn whose calls have had results of these sizes, step by step. */
function worked(steps: readonly (readonly number[])[]): MachineUnderTest {
  const m = aMachine();
  m.send('work');
  for (const [step, sizes] of steps.entries()) {
    const ids = sizes.map((_size, call) => `c${step}.${call}`);
    m.model(modelCalls(ids.map((id) => plannedCall(id))));
    for (const [call, id] of ids.entries()) m.tool(id, 'y'.repeat(sizes[call] ?? 0));
  }
  return m;
}

describe('the steps of a running turn that a roll-over offloads', () => {
  it('are finished ones, each with all results of its calls, after the turns before it', {
    ...promise('G189'),
  }, () => {
    const state = inThird();
    const plan = offloadPlan(state, BOUNDS);
    const stored = plan?.messages ?? [];
    expect(stored).toEqual(state.transcript.slice(0, stored.length));
    expect(stored.at(-1)?.role).toBe('tool');
    expect(stored.filter(({ turnId }) => turnId === 't3').length).toBeGreaterThan(2);
    let from = 0;
    for (const count of plan?.chunks ?? []) {
      from += count;
      expect(['tool', 'assistant', 'user']).toContain(stored[from - 1]?.role);
      // The following messages do not belong to the calls before.
      expect(stored[from]?.role).not.toBe('tool');
    }
    // Pending calls and all messages behind them stay.
    const ask = state.transcript.findLastIndex(({ role }) => role === 'assistant');
    const waiting = { ...state, transcript: state.transcript.slice(0, ask + 1) };
    const least = offloadPlan(waiting, { ...BOUNDS, fromBytes: 1, keepBytes: 1 });
    expect(least?.messages).toEqual(state.transcript.slice(0, ask));
  });

  it('lie in chunks that end within the turn, and the rest of the turn lies in those of a later roll-over', () => {
    const shelf = new Shelf();
    let state = shelf.rolledOver(inThird(), BOUNDS);
    const whole = [...shelf.whole(state.transcript)];
    expect(state.transcript.at(-1)).toMatchObject({ turnId: 't3', id: 't3.4.results' });
    expect(piecesOf(state.transcript).every(isStoredPart)).toBe(true);
    // The turn ends, and another follows.
    const answer = aTurn(3, [], 900).at(-1) as Message;
    const { turn: _over, ...rest } = state;
    const fourth = aTurn(4, [1], 900);
    state = [answer, ...fourth].reduce(withMessage, rest);
    whole.push(answer, ...fourth);
    const next = shelf.rolledOver(state, { ...BOUNDS, keepBytes: bytesOf(fourth) });
    expect(shelf.whole(next.transcript)).toEqual(whole);
    expect(offloadedEnd(next.transcript)).toBe(whole.findIndex(({ turnId }) => turnId === 't4'));
    expect(next.transcript.findLast(isOffloaded)).toMatchObject({ turnId: 't3', id: answer.id });
    expect(fromCarryOver(toCarryOver(next))).toEqual(next);
    expect(piecesOf(fromCarryOver(toCarryOver(next)).transcript)).toEqual(
      piecesOf(next.transcript),
    );
  });

  it('are still known to the policies of the calls to come, until the turn ends', {
    ...promise('G189'),
  }, () => {
    const state = inThird();
    const shelf = new Shelf();
    const next = shelf.rolledOver(shelf.rolledOver(state, BOUNDS), BOUNDS);
    expect(offloadedEnd(next.transcript)).toBeGreaterThan(8);
    expect(turnResults(next, 't3')).toEqual(turnResults(state, 't3'));
    expect(turnResults(next, 't3')).toHaveLength(5);
    const { turn: _over, ...over } = next;
    expect(turnResults(shelf.rolledOver(over, BOUNDS), 't3').length).toBeLessThan(5);
  });

  it('are due for offloading from half of the size that can be sent, and before the next model call from all of it', () => {
    const small = worked([[190 * KB, 190 * KB]]).state;
    expect([isCrowded(small, OFFLOAD_BOUNDS), needsOffload(small)]).toEqual([false, false]);
    const crowded = worked([
      [190 * KB, 190 * KB],
      [190 * KB, 190 * KB],
    ]);
    expect(crowded.state.transcriptBytes).toBeGreaterThan(OFFLOAD_TURN_BYTES);
    expect([isCrowded(crowded.state, OFFLOAD_BOUNDS), needsOffload(crowded.state)]).toEqual([
      true,
      false,
    ]);
    expect(isCrowded(crowded.state, BOUNDS)).toBe(false);
    expect(crowded.effectTypes()).toEqual(['call_model']);
    const steps = Array.from({ length: 4 }, () => [190 * KB, 190 * KB]);
    const over = worked(steps);
    expect(over.state.transcriptBytes).toBeGreaterThan(MAX_TRANSCRIPT_BYTES);
    expect(over.effectTypes()).toEqual(['offload_transcript']);
    const shelf = new Shelf();
    const next = shelf.rolledOver(over.state, OFFLOAD_BOUNDS);
    expect([isCrowded(next, OFFLOAD_BOUNDS), needsOffload(next)]).toEqual([false, false]);
    expect([droppedAtRollOver(next), visibleFrom(next)]).toEqual([0, 0]);
    expect(carriedBytes(next)).toBeLessThan(64 * KB);
    // Decisions measure no message, as long as those that are not offloaded are few.
    const turnId = next.turn?.turnId ?? '';
    const parts = [{ type: 'text', text: 'and quickly' }] as const;
    const steered = withMessage(next, { role: 'user', id: 'steered', turnId, parts });
    const measure = vi.spyOn(JSON, 'stringify');
    const types = decide(steered).map(({ type }) => type);
    expect([types, isCrowded(steered, OFFLOAD_BOUNDS)]).toEqual([['call_model'], false]);
    expect(measure).not.toHaveBeenCalled();
    measure.mockRestore();
    // A stop of the turn does not wait for a store.
    cancelTurn(over.machine, { actor: { id: 'ann' }, requestId: 'stop' });
    expect(over.effectTypes()).toEqual(['abort_model']);
    over.machine.endForCapacity();
    expect(over.state.turn?.cancel).toBeDefined();
  });

  it('count for the bound of a turn without the turns before it', () => {
    const bytes = MAX_STORED_TRANSCRIPT_BYTES;
    const at = { role: 'offloaded', chunk: 'c', from: 0, to: 1, bytes } as const;
    const [before, own] = ['t2', 't3'].map((turnId) => ({ ...at, turnId, id: turnId }));
    const state = inThird();
    const long = { ...state, transcriptBytes: state.transcriptBytes + bytes };
    const whole = { ...long, transcript: [before!, ...state.transcript] };
    expect(turnTooLong(whole)).toBe(false);
    expect(turnTooLong({ ...long, transcript: [...state.transcript, own!] })).toBe(true);
  });

  it('do not help when they cannot be stored: the turn fails with both sizes, the next goes on', {
    ...promise('G191'),
  }, () => {
    const m = worked(Array.from({ length: 4 }, () => [190 * KB, 190 * KB]));
    const { transcriptBytes } = m.state;
    m.machine.endForCapacity();
    expect(m.last('turn_ended').error).toEqual({
      code: 'model_context_too_long',
      message: `The messages of the turn have ${transcriptBytes} bytes; at most ${MAX_TRANSCRIPT_BYTES} can be sent to a model call, and the others could not be stored`,
    });
    m.send('and now?');
    expect(m.effectTypes()).toEqual(['call_model']);
    m.machine.endForCapacity();
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('do not help either while a detached call runs beside the turn: that call continues, and its result is read later', {
    ...promise('G192'),
  }, () => {
    const m = aMachine();
    m.send('work');
    const ids = Array.from({ length: 8 }, (_, call) => `c${call}`);
    const watch = plannedCall('watch', { mode: 'detach' });
    m.model(modelCalls([watch, ...ids.map((id) => plannedCall(id))]));
    for (const id of ids) m.tool(id, 'y'.repeat(190 * KB));
    expect(m.effectTypes()).toEqual(['offload_transcript', 'run_tool']);
    m.machine.endForCapacity();
    expect(m.last('turn_ended').error?.code).toBe('model_context_too_long');
    expect(m.effectTypes()).toEqual(['run_tool']);
    m.tool('watch', 'seen');
    expect(m.last('turn_started').inbox).toBeDefined();
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('are limited by the bounds of a conversation', promise('G190'), () => {
    const shelf = new Shelf();
    let state = running(aConversationState([]), 't1');
    const turn = aTurn(
      1,
      Array.from({ length: 70 }, () => 1),
      180 * KB,
    );
    for (const message of turn.slice(0, -1)) {
      state = withMessage(state, message);
      if (isCrowded(state, OFFLOAD_BOUNDS)) state = shelf.rolledOver(state, OFFLOAD_BOUNDS);
    }
    expect(state.transcriptBytes).toBeGreaterThan(MAX_STORED_TRANSCRIPT_BYTES);
    expect(droppedAtRollOver(state)).toBe(0);
    expect(shelf.whole(state.transcript)).toEqual(turn.slice(0, -1));
    const steps = (calls: number) =>
      Array.from({ length: 4 }, () => Array.from({ length: calls }, () => 190 * KB));
    const m = worked(steps(10));
    expect(m.effectTypes()).toEqual(['offload_transcript']);
    const over = worked(steps(12));
    expect(over.last('turn_ended').error?.message).toMatch(
      /have \d+ bytes; a conversation holds at most 8388608$/,
    );
  });

  it('have as many messages for their results as needed, in the order of the calls', () => {
    const m = worked([Array.from({ length: 7 }, () => 190 * KB), [10]]);
    const results = m.state.transcript.filter(({ role }) => role === 'tool');
    expect(results.map(({ id }) => id.replace(/^.*?\./, ''))).toEqual([
      '1.results',
      '1.results.2',
      '1.results.3',
      '1.results.4',
      '2.results',
    ]);
    const parts = results.flatMap((message) => (message.role === 'tool' ? message.parts : []));
    expect(parts.map(({ toolCallId }) => toolCallId)).toEqual([
      ...Array.from({ length: 7 }, (_, call) => `c0.${call}`),
      'c1.0',
    ]);
    for (const message of results)
      expect(JSON.stringify(message).length).toBeLessThan(MAX_RESULTS_MESSAGE_BYTES + KB);
  });
});
