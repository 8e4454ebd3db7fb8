/** The texts of `colloquy what-if` and `colloquy what-ifs`. */
import { expect, it } from 'vitest';
import {
  cancelledText,
  whatIfsText,
  whatIfText,
} from '../../../src/cli/conversations/what-if-command.js';
import type { WhatIfReport } from '../../../src/client/index.js';

const about = {
  ...{ whatIfId: 'w-1', conversationId: 'c-1', turnId: 'turn_a_1', generation: 1, agent: 'shop' },
};
const usage = { inputTokens: 30, outputTokens: 4 };
const side = (text: string, name?: string) => ({
  text,
  calls: name === undefined ? [] : [{ name, arguments: '{"item":"tea"}' }],
});

it.each<[string, WhatIfReport, string]>([
  [
    'that diverged',
    {
      ...{ ...about, state: 'diverged', usage },
      diverged: {
        step: 2,
        name: 'pay',
        arguments: '{"cents":\u001b[31m1}',
        reason: 'not_recorded',
      },
      steps: [
        { step: 1, compared: 'same', recorded: side('', 'stock'), answer: side('', 'stock') },
        { step: 2, compared: 'differs', recorded: side('7\nleft'), answer: side('Well', 'pay') },
      ],
    },
    [
      'what if, turn turn_a_1, agent shop: diverged at step 2: pay {"cents":\\u001b[31m1} was not recorded',
      'step 1: same',
      '  recorded  stock {"item":"tea"}',
      '  now       stock {"item":"tea"}',
      'step 2: differs',
      '  recorded  7 left',
      '  now       Well | pay {"item":"tea"}',
      'used: 30 tokens in, 4 out',
    ].join('\n'),
  ],
  [
    'that ended with a step more',
    {
      ...{ ...about, state: 'ended', reason: 'answered', usage },
      steps: [{ step: 1, compared: 'added', answer: side('Hi') }],
    },
    [
      'what if, turn turn_a_1, agent shop: ended',
      'step 1: added',
      '  recorded  -',
      '  now       Hi',
      'used: 30 tokens in, 4 out',
    ].join('\n'),
  ],
  [
    'that failed',
    { ...about, state: 'failed', error: { code: 'internal', message: 'no' }, steps: [], usage },
    'what if, turn turn_a_1, agent shop: failed: no\nused: 30 tokens in, 4 out',
  ],
  [
    'that runs',
    { ...about, state: 'running', warning: 'No worker polls' },
    'what if, turn turn_a_1, agent shop: running as w-1: No worker polls',
  ],
])('shows a what-if %s', (_title, report, text) => {
  expect(whatIfText(report)).toBe(text);
});

it('lists what-ifs, with steps and tokens of those that have ended', () => {
  const begunAt = '2026-01-01T00:00:00.000Z';
  const { conversationId: _, ...listed } = about;
  const ended = { state: 'ended', reason: 'answered', stepCount: 2, usage, endedAt: begunAt };
  const running = { ...listed, whatIfId: 'w-2', begunAt, state: 'running' } as const;
  expect(whatIfsText([running, { ...listed, begunAt, ...ended } as never])).toBe(
    [
      'ID   TURN      AGENT  STATE    STEPS  TOKENS  BEGUN',
      'w-2  turn_a_1  shop   running  -      -       2026-01-01T00:00:00.000Z',
      'w-1  turn_a_1  shop   ended    2      34      2026-01-01T00:00:00.000Z',
    ].join('\n'),
  );
});

it.each([
  [{ whatIfId: 'w-1', status: 'over', state: 'ended' }, 'w-1 is over: ended'],
  [{ whatIfId: 'w-1', status: 'stopping' }, 'stopping w-1'],
  [{ whatIfId: 'w-1', status: 'stopping', warning: 'No worker' }, 'stopping w-1: No worker'],
] as const)('says what became of a cancel: %j', (cancelled, text) => {
  expect(cancelledText(cancelled)).toBe(text);
});
