import { expect, it } from 'vitest';
import { titleOf } from '../../../../src/core/view/title.js';
import { foldView } from '../../../../src/core/view/view.js';
import type { UserPart } from '../../../../src/protocol/conversation/messages.js';
import { asks, stamped } from '../../../support/samples/log-events.js';
import { sampleLog } from '../../../support/samples/sample-log.js';

const title = (...texts: readonly string[]): string | undefined => {
  const parts: readonly UserPart[] = texts.map((text) => ({ type: 'text', text }));
  const [event] = stamped(asks('t'));
  if (event?.type !== 'user_message') throw new Error('not a message');
  return titleOf({ ...event, parts });
};

it.each([
  [['hello'], 'hello'],
  [['  two\n\nlines\t '], 'two lines'],
  [['a', 'b'], 'ab'],
  [[], undefined],
  [['\n \u0007'], undefined],
  [['a\u202eb'], 'a b'],
  [['y'.repeat(80)], 'y'.repeat(80)],
  [['y'.repeat(81)], `${'y'.repeat(79)}…`],
  [['😀'.repeat(80)], '😀'.repeat(80)],
  [['😀'.repeat(500)], `${'😀'.repeat(79)}…`],
  [[`${'word '.repeat(16)}more`], `${'word '.repeat(15)}word…`],
  [[`short${' '.repeat(500)}`], 'short…'],
])('the title of a message %j is %j', (texts, expected) => {
  expect(title(...texts)).toBe(expected);
});

it('other events have no title', () => {
  for (const event of stamped(asks('t')).slice(1)) expect(titleOf(event)).toBeUndefined();
});

it('a reader that folds the start of a fork or of a reopened conversation keeps the title', () => {
  const [started] = sampleLog('c-1');
  if (started?.type !== 'conversation_started') throw new Error('not a start');
  const view = foldView(undefined, started);
  if (view === undefined) throw new Error('no view');
  const again = { ...started, seq: 9 };
  const origin = { conversationId: 'c-0', generation: 1, seq: 4 };
  for (const start of [again, { ...again, origin }])
    expect(foldView({ ...view, title: 'Hello' }, start)).toMatchObject({ title: 'Hello', seq: 9 });
});
