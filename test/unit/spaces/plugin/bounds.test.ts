/** Bounds of what an agent of spaces keeps and reads, and hostile arguments of its tools. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../../src/index.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { MAX_HISTORY_BYTES } from '../../../../src/spaces/plugin/limits.js';
import { historyOf } from '../../../../src/spaces/plugin/space-tools.js';
import { type AgentState, contextOf, pointerOf } from '../../../../src/spaces/plugin/state.js';
import { calls, callsAll, says, script } from '../../../../src/testing/index.js';
import { DESK, roomOf } from '../../../support/spaces/room-of-agent.js';
import { watched } from '../../kit/plugins/watched.js';

const notes = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.nat({ max: 200 })), {
  selector: ([key]) => key,
  maxLength: 40,
});

it('the context has the newest notes that fit, and names the oldest that do not', () => {
  fc.assert(
    fc.property(notes, fc.nat({ max: 2_000 }), (given, maxBytes) => {
      const memories: AgentState['memories'] = Object.fromEntries(
        given.map(([key, length], index) => [
          key,
          { value: 'é'.repeat(length), at: new Date(index).toISOString() },
        ]),
      );
      const lines = contextOf({ goals: {}, memories }, maxBytes).split('\n');
      const kept = lines.filter((line) => line.startsWith('- '));
      expect(Buffer.byteLength(kept.join('\n'))).toBeLessThanOrEqual(maxBytes);
      const keys = given.map(([key]) => key);
      const cut = keys.length - kept.length;
      expect(kept.map((line) => line.slice(2, line.indexOf(':')))).toEqual(keys.slice(cut));
      // One more would not have fitted.
      if (cut > 0) {
        const next = `- ${keys[cut - 1] ?? ''}: ${'é'.repeat(given[cut - 1]?.[1] ?? 0)}`;
        expect(Buffer.byteLength([...kept, next].join('\n')) + 1).toBeGreaterThan(maxBytes);
        const named = keys.slice(0, Math.min(cut, 20)).map((key) => `memory ${key}`);
        expect(lines.at(-1)).toBe(
          `${cut} older notes are left out. The oldest: ${named.join(', ')}.`,
        );
      }
    }),
  );
});

it('any key is one part of a JSON Pointer', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      const parts = pointerOf(one, other).slice(1).split('/');
      const plain = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
      expect(plain).toEqual([one, other]);
    }),
  );
});

it('a page of messages has the newest that fit, and counts the others', () => {
  const message = (position: number, bytes: number) => ({
    ...({
      id: `m${position}`,
      position,
      change: position,
      kind: 'text',
      status: 'complete',
    } as const),
    author: { kind: 'person', id: 'ann' } as const,
    text: 'x'.repeat(bytes),
    ...{ createdAt: '2026-01-01T00:00:00Z', changedAt: '2026-01-01T00:00:00Z' },
  });
  const page = Array.from({ length: 100 }, (_, index) => message(index + 1, 32 * 1024));
  const { messages, omitted } = historyOf(page);
  expect(messages).toHaveLength(1);
  expect(omitted).toBe(99);
  expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThan(MAX_HISTORY_BYTES);
  expect(historyOf(page.map(({ position }) => message(position, 10)))).not.toHaveProperty(
    'omitted',
  );
});

describe('hostile arguments', () => {
  const long = 'x'.repeat(40 * 1024);
  const plan = { name: 'n', instruction: 'i', cron: '0 9 * * *' };
  const HOSTILE: readonly (readonly [string, string, Json])[] = [
    ['a space id that is no id', 'enter_space', { spaceId: '../x' }],
    ['a space id that is no text', 'enter_space', { spaceId: 7 }],
    ['a limit that is too large', 'enter_space', { spaceId: DESK, limit: 101 }],
    ['a limit that is no whole number', 'read_messages', { spaceId: DESK, limit: 1.5 }],
    ['an offset below zero', 'read_messages', { spaceId: DESK, offset: -1 }],
    ['a text that is too long', 'send_message', { text: long }],
    ['a text that is too long in bytes', 'send_message', { text: 'é'.repeat(20 * 1024) }],
    ['an empty text', 'send_message', { text: '' }],
    ['a key of prototypes', 'set_memories', { memories: [{ key: '__proto__', value: 'x' }] }],
    ['a key with a line break', 'set_memories', { memories: [{ key: 'a\nb', value: 'x' }] }],
    ['a value that is too long', 'set_memories', { memories: [{ key: 'a', value: long }] }],
    ['no memories', 'set_memories', { memories: [] }],
    ['too many goals', 'set_goals', { goals: Array(51).fill({ description: 'x' }) as Json }],
    ['a plan id that is no id', 'set_plans', { plans: [{ ...plan, id: '../x' }] }],
    [
      'two plans of one id',
      'set_plans',
      {
        plans: [
          { ...plan, id: 'a' },
          { ...plan, id: 'a' },
        ],
      },
    ],
    ['too many plans', 'set_plans', { plans: Array(11).fill(plan) as Json }],
    [
      'a plan in no time',
      'set_plans',
      { plans: [{ name: 'n', instruction: 'i', runAfter: 'soon' }] },
    ],
  ];

  it.each(HOSTILE)('are an error, and change nothing: %s', async (_what, tool, input) => {
    const { model, requests } = watched(
      callsAll([
        { name: 'enter_space', input: { spaceId: DESK } },
        { name: tool, input },
      ]),
      calls('get_plans', {}),
      says('done'),
    );
    const { t, messages } = await roomOf(model);
    await t.send('Go');
    const results = t.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result.envelope] : [],
    );
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(results[2]).toMatchObject({ result: { plans: [] } });
    expect(await messages()).toEqual([]);
    const context = JSON.stringify(requests.at(-1)?.messages.at(-1)?.parts);
    expect(context).not.toMatch(/Your (goals|memories)/);
  });

  it('and results of a visible call are shown without halves of characters, within the bound', async () => {
    const odd = defineTool({
      ...{ name: 'odd', description: 'Odd', input: z.object({}), metadata: { visible: true } },
      run: () => ({ half: '\ud83d', nul: '\0', markup: '<script>', long: 'x'.repeat(100_000) }),
    });
    const small = defineTool({
      ...{ name: 'small', description: 'Odd', input: z.object({}), metadata: { visible: true } },
      run: () => ({ half: '\ud83d', nul: '\0', markup: '<script>' }),
    });
    const { t, messages } = await roomOf(
      script(
        callsAll([
          { name: 'enter_space', input: { spaceId: DESK } },
          { name: 'odd', input: {} },
          { name: 'small', input: {} },
        ]),
        says('done'),
      ),
      [odd, small],
    );
    await t.send('Go');
    expect(await messages()).toMatchObject([
      { status: 'complete', metadata: { output: { cut: true } } },
      {
        status: 'complete',
        metadata: { output: { half: '\ufffd', nul: '\0', markup: '<script>' } },
      },
    ]);
  });
});
