/** The part of the transcript that a model call sees, and the part that a roll-over carries. */
import { describe, expect, it } from 'vitest';
import {
  carriedBytes,
  droppedAtRollOver,
  droppedToFit,
  MAX_CARRIED_STATE_BYTES,
} from '../../../../src/core/context/carry-over.js';
import { visibleFrom, visibleTranscript } from '../../../../src/core/context/request-window.js';
import { bytesOf, messageBytes, withoutOldest } from '../../../../src/core/context/transcript.js';
import type { TranscriptItem } from '../../../../src/core/state/transcript.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  MAX_CARRIED_TRANSCRIPT_BYTES,
  MAX_TRANSCRIPT_BYTES,
} from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import {
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const KB = 1024;

/** A conversation of turns whose answers have these sizes. */
function talk(sizes: readonly number[], settings: Partial<AgentSettings> = {}): MachineUnderTest {
  const m = aMachine({ settings: { onBusy: 'queue', ...settings } });
  for (const bytes of sizes) {
    m.send('q');
    m.model(modelSays('x'.repeat(bytes)));
  }
  return m;
}

function turnsOf(messages: readonly TranscriptItem[]): readonly string[] {
  return [...new Set(messages.map((message) => message.turnId))];
}

describe('the transcript', () => {
  it('is measured as the JSON of its messages', () => {
    const m = talk([10, 20]);
    const bytes = m.messages.reduce((sum, message) => sum + utf8Bytes(JSON.stringify(message)), 0);
    expect(m.state.transcriptBytes).toBe(bytes);
  });

  it('reaches the model whole while it fits, and then as the newest whole turns', () => {
    const small = talk([1, 2, 3]);
    expect(visibleTranscript(small.state)).toBe(small.state.transcript);

    const m = talk([500 * KB, 500 * KB, 500 * KB, 500 * KB]);
    m.send('and?');
    const visible = visibleTranscript(m.state);
    expect(turnsOf(visible)).toEqual([turn(3), turn(4), turn(5)]);
    expect(visible[0]).toMatchObject({ role: 'user', turnId: turn(3) });
    expect(visible.reduce((sum, message) => sum + messageBytes(message), 0)).toBeLessThanOrEqual(
      MAX_TRANSCRIPT_BYTES,
    );
  });

  it('is cut in leaps: calls begin at the same message until half a payload is new', () => {
    const m = aMachine({ settings: { onBusy: 'queue' } });
    const begins: number[] = [];
    for (let index = 0; index < 40; index += 1) {
      m.send('q');
      begins.push(visibleFrom(m.state));
      expect(bytesOf(visibleTranscript(m.state))).toBeLessThanOrEqual(MAX_TRANSCRIPT_BYTES);
      m.model(modelSays('x'.repeat(100 * KB)));
    }
    const leaps = [...new Set(begins)];
    expect(leaps).toEqual(begins.filter((from, index) => from !== begins[index - 1]));
    expect(leaps).toHaveLength(1 + Math.floor((40 - 14) / 7) + 1);
  });

  it('is cut behind its summary', () => {
    const big = talk([500 * KB, 500 * KB, 500 * KB]).state;
    const [first] = big.transcript;
    const summary = { ...first, id: 'summary_1', turnId: 'turn_0', summary: 1 } as Message;
    const state = { ...big, transcript: [summary, ...big.transcript] };
    const visible = visibleTranscript(state);
    expect(visible[0]).toBe(summary);
    expect(turnsOf(visible)).toEqual(['turn_0', turn(3)]);
    expect(withoutOldest(state, 2).transcript).toEqual([summary, ...big.transcript.slice(2)]);
    expect(droppedAtRollOver({ ...state, transcriptBytes: 2 ** 21 })).toBe(2);
  });

  it('is cut only between turns: a call is never shown without its result', () => {
    const m = talk([600 * KB]);
    m.send('use tools');
    m.model(modelCalls([plannedCall('c1')])).tool('c1', 'y'.repeat(900 * KB));
    expect(turnsOf(visibleTranscript(m.state))).toEqual([turn(2)]);
    expect(visibleTranscript(m.state).map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('of one turn that is itself too long fails that turn where steps of it cannot be stored, and the next continues without it', () => {
    const m = talk([1]);
    m.send('use tools');
    m.model(modelCalls([plannedCall('a'), plannedCall('b')]));
    m.tool('a', 'y'.repeat(800 * KB));
    m.mark();
    m.tool('b', 'y'.repeat(800 * KB));
    expect(m.effectTypes()).toEqual(['offload_transcript']);
    m.machine.endForCapacity();
    expect(m.types()).toEqual(['tool_result', 'turn_ended']);
    expect(m.last('turn_ended')).toMatchObject({
      status: 'failed',
      error: { code: 'model_context_too_long' },
    });

    m.send('still there?');
    expect(m.effectTypes()).toEqual(['call_model']);
    // The end of an offload that is no longer wanted.
    m.machine.endForCapacity();
    expect(m.effectTypes()).toEqual(['call_model']);
    expect(turnsOf(visibleTranscript(m.state))).toEqual([turn(3)]);
    m.model(modelSays('yes'));
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', text: 'yes' });
  });

  it('keeps at least the newest turn, and may be empty', () => {
    const { transcript } = talk([10, 10]).state;
    expect(droppedToFit(transcript, 0)).toBe(2);
    expect(droppedToFit(transcript, 1e9)).toBe(0);
    expect(droppedToFit([], 0)).toBe(0);
  });
});

describe('a roll-over', () => {
  it('drops nothing of a small conversation', () => {
    const m = talk([10, 20]).rollOver();
    expect(m.last('rolled_over')).toMatchObject({ reason: 'requested', droppedMessages: 0 });
    expect(m.messages).toHaveLength(4);
  });

  it('drops the oldest whole turns, and measures the rest', () => {
    const m = talk([400 * KB, 400 * KB, 400 * KB]).rollOver();
    expect(m.last('rolled_over').droppedMessages).toBe(2);
    expect(turnsOf(m.messages)).toEqual([turn(2), turn(3)]);
    const bytes = m.messages.reduce((sum, message) => sum + messageBytes(message), 0);
    expect(m.state.transcriptBytes).toBe(bytes);
    expect(bytes).toBeLessThanOrEqual(MAX_CARRIED_TRANSCRIPT_BYTES);
  });

  it('never carries more than one payload holds: a finished turn that is too large is dropped, too', () => {
    const m = talk([10]);
    m.send('use tools');
    const calls = Array.from({ length: 12 }, (_, index) => plannedCall(`c${index}`));
    m.model(modelCalls(calls));
    for (const call of calls) m.tool(call.toolCallId, 'y'.repeat(200 * KB));
    m.machine.endForCapacity();
    expect(m.state.turn).toBeUndefined();
    expect(carriedBytes(m.state)).toBeLessThan(MAX_CARRIED_STATE_BYTES);
    m.rollOver();
    expect(m.messages).toEqual([]);
    expect(utf8Bytes(JSON.stringify(m.state))).toBeLessThan(MAX_CARRIED_STATE_BYTES);
    m.send('next');
    expect(visibleTranscript(m.state)).toHaveLength(1);
  });

  it('leaves capacity for the rest of its state', () => {
    const m = talk([500 * KB, 480 * KB]);
    m.send('now');
    for (const text of ['a', 'b']) m.send(text.repeat(250 * KB));
    m.model(modelCalls([plannedCall('a'), plannedCall('q', { executor: 'human' })])).tool(
      'a',
      'y'.repeat(200 * KB),
    );
    expect(droppedAtRollOver(m.state)).toBe(2);
    expect(carriedBytes(m.state)).toBeLessThan(MAX_CARRIED_STATE_BYTES);
  });

  it('keeps the turn in progress whole, of any size, and reports to its driver that it is too large', () => {
    const m = talk([10]);
    m.send('use tools');
    const calls = Array.from({ length: 12 }, (_, index) => plannedCall(`c${index}`));
    m.model(modelCalls([...calls, plannedCall('q', { executor: 'human' })]));
    for (const call of calls) m.tool(call.toolCallId, 'y'.repeat(200 * KB));
    expect(droppedAtRollOver(m.state)).toBe(2);
    expect(carriedBytes(m.state)).toBeGreaterThan(MAX_CARRIED_STATE_BYTES);
  });
});

describe('a long conversation', () => {
  it('grows by the same with a turn at its end as at its start', () => {
    const m = aMachine();
    const sizes = [sizeOf(m)];
    for (let turn = 1_000; turn < 2_000; turn += 1) {
      m.send(`message ${turn}`);
      m.model(modelCalls([plannedCall(`c${turn}`)]))
        .tool(`c${turn}`)
        .model(modelSays('ok'));
      if (turn < 1_020 || turn >= 1_979) sizes.push(sizeOf(m));
    }
    const [first, second] = [grown(sizes, 1, 20), grown(sizes, -20, -1)];
    expect(second.events).toBe(first.events);
    // Numbers have more digits at the end.
    expect(second.bytes / first.bytes).toBeLessThan(1.05);
  });
});

interface Size {
  readonly events: number;
  readonly bytes: number;
}

function sizeOf({ events, state }: MachineUnderTest): Size {
  return { events: events.length, bytes: utf8Bytes(JSON.stringify(state)) };
}

function grown(sizes: readonly Size[], from: number, to: number): Size {
  const [before, after] = [sizes.at(from), sizes.at(to)];
  if (before === undefined || after === undefined) throw new Error('unreachable');
  return { events: after.events - before.events, bytes: after.bytes - before.bytes };
}
