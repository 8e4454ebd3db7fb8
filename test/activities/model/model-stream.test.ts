/** The stream of a model call, with fake timers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ModelStream } from '../../../src/activities/model/model-stream.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { promise } from '../../support/promise.js';

const origin = { turnId: 'turn_1', step: 1, attempt: 1, messageId: 'turn_1.1' };

describe('a stream of deltas', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function streaming() {
    const live: LiveEvent[] = [];
    const stream = new ModelStream(origin, (event) => live.push(event));
    const seen = () =>
      live.map((event) =>
        'text' in event ? `${event.type} ${event.offset ?? 0} ${event.text}` : event.type,
      );
    return { live, stream, seen };
  }

  it('shows the first piece at once and joins those that follow closely', () => {
    const { stream, seen, live } = streaming();
    stream.take({ type: 'reasoning', text: 'Hm' });
    expect(seen()).toEqual(['reasoning_delta 0 Hm']);
    stream.take({ type: 'reasoning', text: 'm.' });
    stream.take({ type: 'text', text: 'He' });
    vi.advanceTimersByTime(29);
    stream.take({ type: 'text', text: 'llo' });
    expect(seen()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(seen().slice(1)).toEqual(['reasoning_delta 2 m.', 'text_delta 0 Hello']);
    vi.advanceTimersByTime(100);
    stream.take({ type: 'text', text: ' you' });
    expect(seen().slice(3)).toEqual(['text_delta 5  you']);
    expect(live[3]).toEqual({ type: 'text_delta', ...origin, offset: 5, text: ' you' });
  });

  it('shows no half of a character: a character that the provider split is shown with the next piece', {
    ...promise('G246'),
  }, () => {
    const { stream, live } = streaming();
    const [cat, high, low] = ['🐱', '\ud83d', '\ude3a'];
    stream.take({ type: 'text', text: `a${high}` });
    stream.take({ type: 'reasoning', text: `b${high}` });
    vi.advanceTimersByTime(100);
    stream.take({ type: 'text', text: high });
    vi.advanceTimersByTime(100);
    stream.take({ type: 'text', text: `${low}${cat}` });
    stream.take({ type: 'reasoning', text: `${low}${low}c${high}` });
    vi.advanceTimersByTime(100);
    stream.close();
    expect(live.map((event) => ('text' in event ? [event.offset, event.text] : []))).toEqual([
      [0, 'a'],
      [0, 'b'],
      // The first of two high surrogates lacks its low surrogate.
      [1, '\ufffd'],
      [2, '😺🐱'],
      [1, '😺\ufffdc'],
    ]);
  });

  it('keeps the arguments of several calls apart', promise('H52'), () => {
    const { stream, seen, live } = streaming();
    stream.take({ type: 'tool_arguments', index: 0, name: 'work', text: '{"a"' });
    stream.take({ type: 'tool_arguments', index: 1, text: '{' });
    stream.take({ type: 'tool_arguments', index: 0, text: ':1}' });
    stream.close();
    expect(seen()).toEqual([
      'tool_arguments_delta 0 {"a"',
      'tool_arguments_delta 0 {',
      'tool_arguments_delta 4 :1}',
    ]);
    expect(live[0]).toMatchObject({ index: 0, name: 'work' });
    expect(live[1]).not.toHaveProperty('name');
  });

  it('repeats the text so far for new watchers, once for many, and not after its end', () => {
    const again: LiveEvent[] = [];
    const live: LiveEvent[] = [];
    const stream = new ModelStream(
      origin,
      (event) => live.push(event),
      (event) => again.push(event),
    );
    stream.begin('gpt');
    stream.take({ type: 'reasoning', text: 'Hm.' });
    stream.take({ type: 'text', text: 'Hel' });
    stream.take({ type: 'provider_call', id: 'ws_1', name: 'web' });
    stream.take({ type: 'tool_arguments', index: 0, name: 'work', text: '{' });
    stream.take({ type: 'text', text: 'lo' });
    stream.joined();
    stream.joined();
    vi.advanceTimersByTime(100);
    expect(again).toEqual([
      { type: 'model_call_started', ...origin, model: 'gpt' },
      { type: 'provider_call_started', ...origin, providerCallId: 'ws_1', name: 'web' },
      { type: 'reasoning_delta', ...origin, offset: 0, text: 'Hm.' },
      { type: 'text_delta', ...origin, offset: 0, text: 'Hello' },
      { type: 'tool_arguments_delta', ...origin, index: 0, name: 'work', offset: 0, text: '{' },
    ]);
    // Earlier watchers have each piece once.
    expect(live.filter(({ type }) => type === 'text_delta')).toMatchObject([
      { offset: 0, text: 'Hel' },
      { offset: 3, text: 'lo' },
    ]);
    stream.joined();
    stream.close();
    stream.joined();
    vi.advanceTimersByTime(100);
    expect(again).toHaveLength(5);
  });

  it("shows the progress of a provider's call, with its code in pieces with offsets", () => {
    const { stream, live } = streaming();
    const call = { id: 'ci_1', name: 'python' };
    stream.take({ type: 'provider_call', ...call });
    const code = { type: 'provider_call_progress', ...call, status: 'writing_code' } as const;
    stream.take({ ...code, text: 'print(' });
    stream.take({ ...code, text: '1+' });
    stream.take({ ...code, text: '1)' });
    stream.take({ type: 'provider_call_progress', ...call, status: 'completed' });
    const at = { ...origin, providerCallId: 'ci_1', name: 'python' };
    const type = 'provider_call_progress';
    expect(live).toEqual([
      { type: 'provider_call_started', ...at },
      { type, ...at, status: 'writing_code', offset: 0, text: 'print(' },
      { type, ...at, status: 'writing_code', offset: 6, text: '1+1)' },
      { type, ...at, status: 'completed' },
    ]);
    expect(stream.partsSoFar()).toEqual([]);
  });

  it('sends pending pieces when it closes, and none afterwards', () => {
    const { stream, seen } = streaming();
    stream.take({ type: 'text', text: 'a' });
    stream.take({ type: 'text', text: 'b' });
    stream.close();
    stream.take({ type: 'text', text: 'c' });
    stream.close();
    vi.advanceTimersByTime(100);
    expect(seen()).toEqual(['text_delta 0 a', 'text_delta 1 b']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps text and reasoning in the order of arrival, without unfinished calls', () => {
    const { stream } = streaming();
    stream.take({ type: 'reasoning', text: '' });
    stream.take({ type: 'text', text: 'a' });
    stream.take({ type: 'tool_arguments', index: 0, text: '{' });
    stream.take({ type: 'text', text: 'b' });
    stream.take({ type: 'reasoning', text: 'c' });
    expect(stream.partsSoFar()).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'reasoning', text: 'c' },
    ]);
  });
});
