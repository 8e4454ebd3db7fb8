/** The text of `colloquy what-if`. */
import { expect, it } from 'vitest';
import { whatIfText } from '../../../src/cli/conversations/what-if-command.js';
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
