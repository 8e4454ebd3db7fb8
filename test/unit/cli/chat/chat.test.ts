/** A chat in the terminal: the words that a person types, and the lines that are printed. */
import { describe, expect, it } from 'vitest';
import { AnswerPrinter } from '../../../../src/cli/chat/answer-printer.js';
import { typedLine, wordsFor } from '../../../../src/cli/chat/typed-line.js';
import { SUSPENSION_KINDS } from '../../../../src/protocol/calls/suspensions.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../../src/protocol/log/live-events.js';
import { promise } from '../../../support/promise.js';

describe('a typed line', () => {
  const answer = (resolution: object, ref?: string) => ({
    type: 'answer',
    resolution,
    ...(ref === undefined ? {} : { ref }),
  });

  it.each([
    ['', { type: 'nothing' }],
    ['   ', { type: 'nothing' }],
    ['hello there', { type: 'message', text: 'hello there' }],
    ['//etc/hosts is empty', { type: 'message', text: '/etc/hosts is empty' }],
    ['/quit', { type: 'quit' }],
    ['/approve', answer({ type: 'approve' })],
    ['/approve default~order-42~call_2', answer({ type: 'approve' }, 'default~order-42~call_2')],
    ['/approve --input {"cents": 5}', answer({ type: 'approve', input: { cents: 5 } })],
    ['/deny', answer({ type: 'deny' })],
    ['/deny too much money', answer({ type: 'deny', reason: 'too much money' })],
    [
      '/deny default~c~call_1 too much',
      answer({ type: 'deny', reason: 'too much' }, 'default~c~call_1'),
    ],
    ['/answer {"size": 43}', answer({ type: 'answer', value: { size: 43 } })],
    ['/answer 43', answer({ type: 'answer', value: 43 })],
    ['/answer forty three', answer({ type: 'answer', value: 'forty three' })],
    ['/decline', answer({ type: 'decline' })],
    ['/result [1]', answer({ type: 'result', value: [1] })],
    ['/error no such page', answer({ type: 'error', message: 'no such page' })],
  ])('%j is read', (line, typed) => {
    expect(typedLine(line)).toEqual(typed);
  });

  it.each([
    ['/aprove', '/aprove is not known'],
    ['/', '/ is not known'],
    ['/answer', '/answer needs a value'],
    ['/error', '/error needs a value'],
    ['/approve --input {', '--input must be JSON'],
  ])('%j is refused by name', (line, message) => {
    expect(() => typedLine(line)).toThrow(message);
  });

  it('answers each kind of waiting call, by words that are known', () => {
    for (const kind of SUSPENSION_KINDS)
      for (const [word] of wordsFor({ kind }).matchAll(/\/\w+/g))
        expect(() => typedLine(`${word} 1`)).not.toThrow();
  });
});

describe('the printed conversation', promise('G350'), () => {
  const turn = { turnId: 'turn_a_1', step: 1, attempt: 1, messageId: 'm1' } as const;
  const delta = (offset: number, text: string, attempt = 1): LiveEvent => ({
    ...turn,
    attempt,
    type: 'text_delta',
    offset,
    text,
  });
  const logged = (event: object): CanonicalEvent =>
    ({ seq: 1, at: '2026-01-01T00:00:00.000Z', turnId: turn.turnId, ...event }) as CanonicalEvent;
  const message = (text: string): CanonicalEvent =>
    logged({ type: 'assistant_message', step: 1, parts: [{ type: 'text', text }] });
  const result = logged({
    type: 'tool_result',
    toolCallId: 'call_1',
    name: 'lookup',
    result: { status: 'succeeded', envelope: { ok: true, result: 1 }, provenance: 'trusted' },
  });
  const printed = (...events: readonly (LiveEvent | CanonicalEvent)[]): string => {
    let text = '';
    const write = (more: string): void => {
      text += more;
    };
    const printer = new AnswerPrinter(write);
    printer.typed('r1');
    for (const event of events)
      if ('seq' in event) printer.event(event);
      else printer.live(event);
    return text;
  };

  it('has the text of an answer once, as it is written', () => {
    expect(printed(delta(0, 'You '))).toBe('You ');
    expect(printed(delta(0, 'You '), delta(4, 'get'), message('You get it.'))).toBe(
      'You get it.\n',
    );
    expect(printed(message('You get it.'))).toBe('You get it.\n');
  });

  it('goes on after a line of a result that came late', () => {
    expect(printed(delta(0, 'You get it.'), result, message('You get it.'))).toBe(
      'You get it.\n  lookup returned 1\n',
    );
    expect(printed(delta(0, 'You '), result, message('You get it.'))).toBe(
      'You \n  lookup returned 1\nget it.\n',
    );
  });

  it('begins anew with another attempt, and with a message that is another one', () => {
    expect(printed(delta(0, 'Yes'), delta(0, 'No', 2), message('No.'))).toBe('Yes\nNo.\n');
    expect(printed(delta(0, 'Yes'), message('No.'))).toBe('Yes\nNo.\n');
  });

  it('skips text with a gap, which the message has', () => {
    expect(printed(delta(0, 'You '), delta(7, 'it.'), message('You get it.'))).toBe(
      'You get it.\n',
    );
  });

  it('shows messages that were not typed there', () => {
    const said = (id: string, requestId: string): CanonicalEvent =>
      logged({
        ...{ type: 'user_message', requestId, actor: { id } },
        parts: [{ type: 'text', text: 'hi' }],
      });
    expect(printed(said('ann', 'r0'), said('ann', 'r1'), said('ben', 'r2'))).toBe(
      'ann: hi\nben: hi\n',
    );
  });

  it('lets no text move the cursor', () => {
    expect(printed(message('a\u001b[2Jb'))).toBe('a\\u001b[2Jb\n');
  });
});
