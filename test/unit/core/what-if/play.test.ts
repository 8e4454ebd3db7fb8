/** Recorded turns that are played again: the result of each call, the end, and the comparison of steps. */
import { describe, expect, it } from 'vitest';
import { played, stepShown } from '../../../../src/core/what-if/play.js';
import { type RecordedTurn, recordedTurnOf } from '../../../../src/core/what-if/recorded.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import type { WhatIfAnswer } from '../../../../src/protocol/workflow/what-if.js';
import {
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
  USAGE,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

async function* read(events: readonly CanonicalEvent[]): AsyncGenerator<CanonicalEvent> {
  yield* await Promise.resolve(events);
}

const call = (
  id: string,
  item: string,
  fields: { readonly name?: string; readonly endsTurn?: true } = {},
) => plannedCall(id, { name: 'stock', input: { item, of: 1 }, ...fields });

/** An earlier turn; then two calls of `stock` for tea, one for milk, in two steps; then a text. */
function aLog(): readonly CanonicalEvent[] {
  const m = aMachine();
  m.send('Hello');
  m.model(modelSays('Hi'));
  m.send('How much?');
  m.model(modelCalls([call('a', 'tea'), call('b', 'milk')], 'Let me look'))
    .tool('b', 20)
    .tool('a', 10);
  m.model(modelCalls([call('c', 'tea')])).tool('c', 11);
  m.model(modelSays('Tea 11, milk 20'));
  return m.events;
}

async function recorded(events = aLog(), turnId?: string): Promise<RecordedTurn> {
  const found = await recordedTurnOf(read(events), { turnId });
  if (found === undefined) throw new Error('no such turn');
  return found;
}

let ids = 0;
const asks = (...calls: readonly (readonly [string, Json])[]): WhatIfAnswer => ({
  parts: calls.map(([name, input]) => ({
    ...{ type: 'tool_call' as const, name, toolCallId: `new_${(ids += 1)}` },
    argumentsJson: JSON.stringify(input),
  })),
});
const says = (text: string): WhatIfAnswer => ({ parts: [{ type: 'text', text }] });
const TEA = { item: 'tea', of: 1 };
const MILK = { of: 1, item: 'milk' };
const ENDED = { state: 'ended', reason: 'answered' };
const diverged = (step: number, name: string, input: Json, reason = 'not_recorded') => ({
  state: 'diverged',
  diverged: { step, name, arguments: JSON.stringify(input), reason },
});

/** The results that the next model call reads, step by step. */
function results(turnRead: RecordedTurn, answers: readonly WhatIfAnswer[]): readonly Json[][] {
  return played(turnRead, answers).messages.flatMap((message) =>
    message.role === 'tool'
      ? [message.parts.map(({ envelope }) => (envelope.ok ? envelope.result : null))]
      : [],
  );
}

describe('a recorded turn', () => {
  it('has the messages that its first model call read, and its steps with their results', async () => {
    const { before, steps, agent, turnId } = await recorded();
    expect({ agent, turnId }).toEqual({ agent: 'support', turnId: turn(2) });
    expect(before.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(steps.map(({ results: of }) => of?.parts.map(({ toolCallId }) => toolCallId))).toEqual([
      ['a', 'b'],
      ['c'],
      undefined,
    ]);
    expect(steps[2]).toMatchObject({ called: { model: 'scripted', usage: USAGE } });
  });

  it('is the newest in which a model has answered, unless another is named', async () => {
    const m = aMachine();
    m.send('one');
    m.model(modelSays('first'));
    m.send('two');
    expect(await recorded(m.events)).toMatchObject({ turnId: turn(1) });
    expect(await recorded(aLog(), turn(1))).toMatchObject({ steps: [{ added: [] }] });
    await expect(recorded(m.events, turn(2))).rejects.toThrow();
  });

  it('is read no further than it is asked for', async () => {
    const log = aLog();
    const seq = log.findLast(({ type }) => type === 'tool_result')?.seq ?? 0;
    const found = await recordedTurnOf(read(log), { throughSeq: seq - 1 });
    expect(found?.steps).toHaveLength(2);
    expect(found?.steps[1]?.results).toBeUndefined();
  });

  it('has messages that a roll-over has stored elsewhere, since the log has them', async () => {
    const log = aLog();
    const stored = {
      ...{ type: 'transcript_offloaded' as const, seq: 0, at: '' },
      ...{ fromMessageId: '', throughMessageId: '', chunks: [] },
    };
    expect(await recorded([...log.slice(0, 8), stored, ...log.slice(8)])).toEqual(await recorded());
  });
});

describe('a call of a what-if gets', promise('G389'), () => {
  it.each([
    ['the same calls', [asks(['stock', TEA], ['stock', MILK])], [[10, 20]]],
    ['another order, of fields as well', [asks(['stock', MILK], ['stock', TEA])], [[20, 10]]],
    ['the same call twice at once', [asks(['stock', TEA], ['stock', TEA])], [[10, 11]]],
    ['calls of later steps', [asks(['stock', TEA]), asks(['stock', TEA])], [[10], [11]]],
  ] as const)('the recorded result of its tool and arguments: %s', async (_, answers, given) => {
    expect(results(await recorded(), answers)).toEqual(given);
    expect(played(await recorded(), answers).end).toBeUndefined();
  });

  it.each([
    ['another tool', [asks(['price', TEA])], diverged(1, 'price', TEA)],
    ['other arguments', [asks(['stock', { item: 'tea' }])], diverged(1, 'stock', { item: 'tea' })],
    [
      'a call more often than it was made',
      [asks(['stock', TEA], ['stock', TEA]), asks(['stock', TEA])],
      diverged(2, 'stock', TEA),
    ],
    ['one of several calls', [asks(['stock', TEA], ['price', MILK])], diverged(1, 'price', MILK)],
  ])('no other result, and ends the what-if: %s', async (_, answers, end) => {
    expect(played(await recorded(), answers).end).toEqual(end);
  });

  it('the recorded result also where those of the step are too large for one message', async () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([call('a', 'tea'), call('b', 'milk')]));
    for (const id of ['a', 'b']) m.tool(id, id.repeat(300_000));
    m.model(modelSays('Much'));
    const read = results(await recorded(m.events), [asks(['stock', TEA], ['stock', MILK])]);
    expect(read.flat().map((result) => JSON.stringify(result)[1])).toEqual(['a', 'b']);
  });

  it('none where the recorded call waits, and says so', async () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g', { name: 'pay', input: 5 })]));
    const end = diverged(1, 'pay', 5, 'no_result');
    expect(played(await recorded(m.events), [asks(['pay', 5])]).end).toEqual(end);
  });
});

describe('a what-if ends', () => {
  it('with an answer without calls, in any step', async () => {
    expect(played(await recorded(), [says('None')]).end).toEqual(ENDED);
    const later = [asks(['stock', TEA]), asks(['stock', TEA]), asks(['stock', MILK]), says('x')];
    expect(played(await recorded(), later).end).toEqual(ENDED);
  });

  it('with the calls that ended the recorded turn, in any company, and not where it went on', async () => {
    const ending = (id: string, name: string) => call(id, 'tea', { name, endsTurn: true });
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([call('a', 'milk'), ending('b', 'finish')]))
      .tool('a', 1)
      .tool('b', 2);
    const both = asks(['stock', MILK], ['finish', TEA]);
    expect(played(await recorded(m.events), [both]).end).toEqual(ENDED);
    const steered = aMachine();
    steered.send('one');
    steered.model(modelCalls([ending('b', 'finish')]));
    steered.send('and two', { onBusy: 'steer' });
    steered.tool('b', 2).model(modelSays('both'));
    expect(played(await recorded(steered.events), [asks(['finish', TEA])]).end).toBeUndefined();
  });

  it('not with an answer that a message to the running turn followed, which it reads as well', async () => {
    const m = aMachine();
    m.send('one');
    m.send('and two', { onBusy: 'steer' });
    m.model(modelSays('first')).model(modelSays('both'));
    const steered = await recorded(m.events);
    const { end, messages } = played(steered, [says('else')]);
    expect(end).toBeUndefined();
    expect(messages).toMatchObject([{ role: 'assistant' }, { parts: [{ text: 'and two' }] }]);
    expect(played(steered, [says('else'), says('more')]).end).toEqual(ENDED);
  });
});

describe('a step is shown beside the recorded one', () => {
  const shown = async (step: number, answer: WhatIfAnswer) =>
    stepShown(await recorded(), step, { ...answer, model: 'other', usage: USAGE });

  it.each([
    ['the same calls', 1, asks(['stock', TEA], ['stock', MILK]), 'same'],
    ['one call less', 1, asks(['stock', TEA]), 'differs'],
    ['the same text', 3, says('Tea 11, milk 20'), 'same'],
    ['another text', 3, says('Enough'), 'differs'],
    ['a text in place of calls', 2, says('Enough'), 'differs'],
    ['a step more', 4, says('Enough'), 'added'],
  ])('compared: %s', async (_, step, answer, compared) => {
    expect(await shown(step, answer)).toMatchObject({ step, compared });
  });

  it('with text, calls, model and usage of both', async () => {
    expect(await shown(1, says('None'))).toEqual({
      ...{ step: 1, compared: 'differs' },
      recorded: {
        text: 'Let me look',
        calls: [
          { name: 'stock', arguments: JSON.stringify(TEA) },
          { name: 'stock', arguments: JSON.stringify({ item: 'milk', of: 1 }) },
        ],
        ...{ model: 'scripted', usage: USAGE },
      },
      answer: { text: 'None', calls: [], model: 'other', usage: USAGE },
    });
  });

  it('with long texts cut, so that twenty steps fit into one payload', async () => {
    const huge = await shown(3, {
      parts: [
        ...says('\u4e16'.repeat(100_000)).parts,
        ...asks(...Array.from({ length: 64 }, (): [string, Json] => ['x'.repeat(500), 'y'])).parts,
      ],
    });
    expect(JSON.stringify(huge).length).toBeLessThan(48 * 1024);
    expect(huge.answer.calls).toHaveLength(64);
  });
});
