/** A reader's view of the answer that is being streamed, with events that come late, twice, or not at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../../src/protocol/log/live-events.js';
import { LiveView } from '../../../../src/protocol/log/live-view.js';
import { turnIdFor } from '../../../../src/protocol/values/ids.js';
import { promise } from '../../../support/promise.js';
import { textDelta } from '../../../support/samples/live-messages.js';
import { answers, asks, stamped } from '../../../support/samples/log-events.js';

const of = (attempt: number, step = 1) =>
  ({ turnId: 't1', step, attempt, messageId: `t1.${step}` }) as const;
const begins = (attempt: number, step = 1): LiveEvent => ({
  type: 'model_call_started',
  ...of(attempt, step),
  model: 'gpt',
});
const fails = (attempt: number): LiveEvent => ({
  ...{ type: 'model_call_failed', ...of(attempt) },
  ...{ code: 'model_rate_limited', message: 'slow down', httpStatus: 429, nextInMs: 2_000 },
});
const written = (offset: number, text: string, index = 0): LiveEvent => ({
  ...{ type: 'tool_arguments_delta', ...of(1), index, offset, text },
  ...(offset === 0 ? { name: 'work' } : {}),
});

/** A turn as conversations name it: the third part distinguishes turns that a reset decides again. */
const turnOf = (ordinal: number, token = 'a1b2c3') => turnIdFor('456789abcdef', ordinal, token);
/** All events of the first attempt of a turn. */
const says = (turnId: string, ...words: readonly string[]): readonly LiveEvent[] => [
  { type: 'model_call_started', ...of(1), turnId, messageId: `${turnId}.1`, model: 'gpt' },
  ...words.map((text, index) =>
    textDelta(text, { turnId, offset: words.slice(0, index).join('').length }),
  ),
];

function viewOf(...events: readonly LiveEvent[]): LiveView {
  const view = new LiveView();
  for (const event of events) view.take(event);
  return view;
}

function note(view: LiveView, ...bodies: readonly EventBody[]): void {
  for (const event of stamped(bodies)) view.note(event);
}

describe('the streamed answer', () => {
  it('is put together from its pieces', promise('2.A.2'), () => {
    const reasoning: LiveEvent = { type: 'reasoning_delta', ...of(1), offset: 0, text: 'Hm' };
    const view = viewOf(
      ...[begins(1), reasoning, textDelta('Hel'), textDelta('lo', { offset: 3 })],
      ...[written(0, '{', 1), written(0, '['), written(1, '}', 1)],
    );
    expect(view.answer).toEqual({
      ...of(1),
      ...{ text: 'Hello', reasoning: 'Hm', isWhole: true },
      calls: [
        { index: 0, name: 'work', argumentsJson: '[' },
        { index: 1, name: 'work', argumentsJson: '{}' },
      ],
    });
    expect(new LiveView().answer).toBeUndefined();
  });

  it("is the newest attempt's: it replaces the text of those before, whose late pieces are dropped", {
    ...promise('G103'),
  }, () => {
    const view = viewOf(begins(1), textDelta('one two'), fails(1));
    expect(view.answer).toMatchObject({
      text: 'one two',
      failure: { code: 'model_rate_limited', httpStatus: 429, nextInMs: 2_000 },
    });
    expect(view.take(textDelta('eins', { attempt: 2 }))).toMatchObject({ text: 'eins' });
    for (const late of [textDelta(' three', { offset: 7 }), begins(1), fails(1), written(0, '{')]) {
      expect(view.isVoid(late)).toBe(true);
      expect(view.missingBefore(late)).toBe(0);
      expect(view.take(late)).toBeUndefined();
    }
    expect(view.answer).toEqual({
      ...of(2),
      text: 'eins',
      reasoning: '',
      calls: [],
      isWhole: true,
    });
  });

  it('is over once the log has its message, or the end of its turn', () => {
    const view = viewOf(begins(1), textDelta('hi'));
    note(view, ...asks('t1'));
    expect(view.answer?.text).toBe('hi');
    note(view, ...answers('t1').slice(0, 2));
    expect(view.answer).toBeUndefined();
    expect(view.take(textDelta('!', { offset: 2 }))).toBeUndefined();
    expect(view.take(textDelta('more', { step: 2 }))).toBeDefined();
    note(view, ...answers('t1').slice(2));
    expect(view.answer).toBeUndefined();
    expect(view.take(textDelta('x', { step: 3 }))).toBeUndefined();
  });

  it('is that of the newest step and turn', () => {
    const view = viewOf(textDelta('one'), textDelta('two', { step: 2 }));
    expect(view.take(textDelta('late', { offset: 3 }))).toBeUndefined();
    view.take(textDelta('next', { turnId: 't2' }));
    expect(view.take(textDelta('late', { step: 9 }))).toBeUndefined();
    expect(view.answer).toMatchObject({ turnId: 't2', text: 'next' });
  });

  it('begins anew when the log is rewritten', () => {
    const view = viewOf(textDelta('one', { attempt: 3 }));
    note(view, ...asks('t1'), ...answers('t1'));
    note(view, { type: 'log_rewritten', previousGeneration: 1, divergedAtSeq: 2 });
    expect(view.take(textDelta('again'))).toBeDefined();
  });

  it('stays that of the running turn when a lost worker still streams an earlier one', {
    ...promise('G104'),
  }, () => {
    const [late, running] = [says(turnOf(1), 'old', ' words'), says(turnOf(2), 'new', ' words')];
    const view = viewOf(...running.slice(0, 2));
    for (const event of late) {
      expect(view.isVoid(event)).toBe(true);
      expect(view.missingBefore(event)).toBe(0);
      expect(view.take(event)).toBeUndefined();
    }
    for (const event of running.slice(2)) expect(view.take(event)).toEqual(event);
    expect(view.answer).toMatchObject({ turnId: turnOf(2), text: 'new words', isWhole: true });
  });

  it('is of no turn before those in the log, with any number between', () => {
    const view = viewOf(...says(turnOf(1), 'old'));
    note(view, ...asks(turnOf(2)), ...answers(turnOf(2)).slice(0, 2));
    expect(view.answer).toBeUndefined();
    expect(view.take(textDelta(' words', { turnId: turnOf(1), offset: 3 }))).toBeUndefined();
    const watched = new LiveView();
    for (const ordinal of [1, 2, 3])
      note(watched, ...asks(turnOf(ordinal)), ...answers(turnOf(ordinal)));
    const joined = new LiveView();
    note(joined, ...answers(turnOf(3)).slice(2));
    for (const reader of [watched, joined]) {
      for (const event of says(turnOf(1), 'old')) expect(reader.take(event)).toBeUndefined();
      for (const event of says(turnOf(4), 'new')) expect(reader.take(event)).toEqual(event);
    }
  });

  it('is that of the latest turn, in any order of the turns (property)', {
    ...promise('G104'),
  }, () => {
    const turns = [1, 2, 3].map((ordinal) =>
      says(turnOf(ordinal), 'The ', `${ordinal}. `, 'turn.'),
    );
    fc.assert(
      fc.property(fc.array(fc.nat(2), { minLength: 1, maxLength: 12 }), (order) => {
        const view = new LiveView();
        const said = [0, 0, 0];
        let latest = 0;
        for (const which of order) {
          const event = turns[which]?.[said[which] ?? 0];
          if (event === undefined) continue;
          said[which] = (said[which] ?? 0) + 1;
          expect(view.take(event)).toEqual(which < latest ? undefined : event);
          latest = Math.max(latest, which);
        }
        const heard = turns[latest]?.slice(1, said[latest]) ?? [];
        expect(view.answer).toMatchObject({ turnId: turnOf(latest + 1), isWhole: true });
        expect(view.answer?.text).toBe(
          heard.map((event) => (event.type === 'text_delta' ? event.text : '')).join(''),
        );
      }),
    );
  });

  it('is not, after a reset, of a later turn that the new log does not have', () => {
    const marker: EventBody = { type: 'log_rewritten', previousGeneration: 1, divergedAtSeq: 9 };
    const [old, anew] = [says(turnOf(5), 'old'), says(turnOf(3, 'd4e5f6'), 'new')];
    const view = viewOf(...old);
    note(view, marker, marker, ...asks(turnOf(3, 'd4e5f6')));
    for (const event of old) expect(view.take(event)).toBeUndefined();
    for (const event of anew) expect(view.take(event)).toEqual(event);

    const kept = viewOf(...old);
    note(kept, marker, ...asks(turnOf(5)));
    for (const event of old) expect(kept.take(event)).toEqual(event);
  });

  it('knows which pieces it has missed, and continues without them', () => {
    const view = viewOf(begins(1), textDelta('one'));
    const after = textDelta('three', { offset: 8 });
    expect(view.missingBefore(after)).toBe(5);
    expect(view.take(after)).toEqual(after);
    expect(view.answer).toMatchObject({ text: 'onethree', isWhole: false });
    expect(view.missingBefore(textDelta('.', { offset: 13 }))).toBe(0);
  });

  it('leaves the events of tools as they are, until their call has its result', () => {
    const progress: LiveEvent = {
      ...{ type: 'tool_progress', turnId: 't1', toolCallId: 'c1', name: 'work' },
      payload: 1,
    };
    const view = new LiveView();
    expect([view.take(progress), view.take(progress)]).toEqual([progress, progress]);
    const result = {
      ...({ status: 'resolved', provenance: 'trusted' } as const),
      envelope: { ok: true, result: 1 },
    } as const;
    note(view, { type: 'tool_result', turnId: 't1', toolCallId: 'c1', name: 'work', result });
    expect(view.take(progress)).toBeUndefined();
  });

  it('is the same text with any repeats, in any pieces (property)', () => {
    const text = 'The quick brown fox jumps over the lazy dog.';
    const piece = fc.tuple(fc.nat(text.length), fc.nat(12));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const view = new LiveView();
        let news = '';
        for (const [from, length] of pieces) {
          const event = textDelta(text.slice(from, from + length), { offset: from });
          if (view.missingBefore(event) > 0) continue;
          const said = view.take(event);
          if (said?.type === 'text_delta') news += said.text;
        }
        expect(text.startsWith(news)).toBe(true);
        expect(view.answer?.text ?? '').toBe(news);
        expect(view.answer?.isWhole ?? true).toBe(true);
      }),
    );
  });
});
