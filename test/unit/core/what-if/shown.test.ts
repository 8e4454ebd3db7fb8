/** Answers of a what-if beside the recorded steps, and the results that they get, without a log. */
import { describe, expect, it } from 'vitest';
import { played, stepShown } from '../../../../src/core/what-if/play.js';
import type { RecordedStep, RecordedTurn } from '../../../../src/core/what-if/recorded.js';
import type {
  AssistantPart,
  ToolResultPart,
  UserMessage,
} from '../../../../src/protocol/conversation/messages.js';

const turnId = 'turn_1';

const says = (text: string): AssistantPart => ({ type: 'text', text });
const call = (toolCallId: string, name: string, argumentsJson = '{}'): AssistantPart => ({
  ...{ type: 'tool_call', toolCallId, name, argumentsJson },
});
const result = (toolCallId: string, value: string): ToolResultPart => ({
  ...{ type: 'tool_result', toolCallId, name: 'look' },
  envelope: { ok: true, result: value },
});

function step(parts: readonly AssistantPart[], more: Partial<RecordedStep> = {}): RecordedStep {
  return { parts, added: [], ...more };
}

function withResults(...results: readonly ToolResultPart[]): Pick<RecordedStep, 'results'> {
  return { results: { role: 'tool', id: 'r', turnId, step: 1, parts: results } };
}

function turnOf(...steps: readonly RecordedStep[]): RecordedTurn {
  return {
    ...{ turnId, agent: 'support', startedAt: '', before: [], steps, lastSeq: 9 },
    ...{ endingCalls: new Set<string>(), isWhole: true, isHandedOver: false },
  };
}

const answer = (...parts: readonly AssistantPart[]) => ({
  ...{ parts, model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
});

const joined: UserMessage = {
  ...{ role: 'user', id: 'm2', turnId, parts: [{ type: 'text', text: 'and fast' }] },
};

describe('an answer is compared with the recorded one', () => {
  it.each<[string, readonly AssistantPart[], readonly AssistantPart[], string]>([
    ['the same text', [says('a')], [says('a')], 'same'],
    ['another text', [says('a')], [says('b')], 'differs'],
    [
      'the same call, whatever it says',
      [says('a'), call('1', 'look')],
      [call('2', 'look')],
      'same',
    ],
    [
      'fields in another order',
      [call('1', 'look', '{"a":1,"b":2}')],
      [call('2', 'look', '{"b":2,"a":1}')],
      'same',
    ],
    ['other arguments', [call('1', 'look', '{"a":1}')], [call('2', 'look', '{"a":2}')], 'differs'],
    ['arguments that are no JSON', [call('1', 'look', '{a')], [call('2', 'look', '{a')], 'same'],
    ['another tool', [call('1', 'look')], [call('2', 'see')], 'differs'],
    ['one call more', [call('1', 'look')], [call('2', 'look'), call('3', 'look')], 'differs'],
    ['one call less', [call('1', 'look'), call('2', 'look')], [call('3', 'look')], 'differs'],
    [
      'calls in another order',
      [call('1', 'a'), call('2', 'b')],
      [call('3', 'b'), call('4', 'a')],
      'differs',
    ],
  ])('%s', (_title, recorded, made, compared) => {
    expect(stepShown(turnOf(step(recorded)), 1, answer(...made))).toMatchObject({ compared });
  });

  it('and is added where the turn has no such step', () => {
    expect(stepShown(turnOf(step([says('a')])), 2, answer(says('b')))).toEqual({
      ...{ step: 2, compared: 'added' },
      answer: { text: 'b', calls: [], model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
    });
  });
});

describe('a step of a report', () => {
  const shown = (parts: readonly AssistantPart[]) =>
    stepShown(turnOf(), 1, answer(...parts)).answer;

  it('has 64 calls at most, and arguments that share the room', () => {
    const calls = Array.from({ length: 65 }, (_, index) =>
      call(`${index}`, 'look', 'x'.repeat(400)),
    );
    const side = shown(calls);
    expect(side.calls).toHaveLength(64);
    expect(side.calls[0]?.arguments.length).toBe(Math.floor(10_000 / 64));
  });

  it('has the whole of a text that fits, and less of one that makes the report too large', () => {
    expect(shown([says('x'.repeat(10_000))]).text).toHaveLength(10_000);
    expect(shown([says('x'.repeat(10_001))]).text.length).toBeLessThanOrEqual(10_000);
    // Each character has six bytes as JSON.
    const recorded = turnOf(step([says('\u0001'.repeat(10_000))]));
    const both = stepShown(recorded, 1, answer(says('\u0001'.repeat(10_000))));
    expect(both.answer.text.length).toBe(2_500);
    expect(both.recorded?.text.length).toBe(2_500);
  });

  it('keeps a step of exactly the most bytes', () => {
    const bytes = (text: string): number =>
      Buffer.byteLength(JSON.stringify(stepShown(turnOf(), 1, answer(says(text)))));
    const bare = bytes('');
    const room = 48 * 1024 - bare;
    // Characters of six bytes, and single ones for the rest.
    const text = '\u0001'.repeat(Math.floor(room / 6)) + 'x'.repeat(room % 6);
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(bytes(text)).toBe(48 * 1024);
    expect(stepShown(turnOf(), 1, answer(says(`${text}x`))).answer.text.length).toBe(2_500);
  });

  it('has names of tools of 128 characters at most', () => {
    expect(shown([call('1', 'n'.repeat(200))]).calls[0]?.name.length).toBeLessThanOrEqual(128);
  });
});

describe('answers are played against the recorded results', () => {
  it('which each call gets once, in their order', () => {
    const turn = turnOf(
      step([call('1', 'look'), call('2', 'look')], withResults(result('1', 'a'), result('2', 'b'))),
    );
    const { messages, end } = played(turn, [answer(call('x', 'look')), answer(call('y', 'look'))]);
    expect(end).toBeUndefined();
    expect(messages.map(({ role, id }) => [role, id])).toEqual([
      ['assistant', 'what_if.1'],
      ['tool', 'what_if.1.results'],
      ['assistant', 'what_if.2'],
      ['tool', 'what_if.2.results'],
    ]);
    expect(messages[1]?.parts).toEqual([{ ...result('1', 'a'), toolCallId: 'x' }]);
    expect(messages[3]?.parts).toEqual([{ ...result('2', 'b'), toolCallId: 'y' }]);
    const third = played(turn, [
      ...[answer(call('x', 'look')), answer(call('y', 'look')), answer(call('z', 'look'))],
    ]);
    expect(third.end).toEqual({
      state: 'diverged',
      diverged: { step: 3, name: 'look', arguments: '{}', reason: 'not_recorded' },
    });
  });

  it('and end at a call whose result was not recorded', () => {
    const turn = turnOf(step([call('1', 'look')]));
    expect(played(turn, [answer(call('x', 'look'))]).end).toMatchObject({
      ...{ state: 'diverged', diverged: { reason: 'no_result' } },
    });
  });

  it('and end with a text, unless a message had joined the turn there', () => {
    const answered = { state: 'ended', reason: 'answered' };
    const ended = (...steps: readonly RecordedStep[]) =>
      played(turnOf(...steps), [answer(says('x'))]);
    expect(ended().end).toEqual(answered);
    expect(ended(step([says('a')])).end).toEqual(answered);
    expect(ended(step([says('a')]), step([says('b')])).end).toEqual(answered);
    expect(ended(step([says('a')], { added: [joined] })).end).toEqual(answered);
    expect(ended(step([call('1', 'look')], { added: [joined] }), step([says('b')])).end).toEqual(
      answered,
    );
    const { end, messages } = ended(step([says('a')], { added: [joined] }), step([says('b')]));
    expect(end).toBeUndefined();
    expect(messages.at(-1)).toBe(joined);
    expect(messages).toHaveLength(2);
  });

  it('and end with a call that had ended the turn', () => {
    const parts = [call('1', 'look')];
    const ending = { ...withResults(result('1', 'a')), hasEndedTurn: true };
    const turn = { ...turnOf(step(parts, ending)), endingCalls: new Set(['1']) };
    expect(played(turn, [answer(call('x', 'look'))]).end).toMatchObject({ state: 'ended' });
    expect(played({ ...turn, endingCalls: new Set() }, [answer(call('x', 'look'))]).end).toBe(
      undefined,
    );
  });
});
