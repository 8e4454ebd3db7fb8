/** Which calls a space shows while the model of an agent writes them. */
import { expect, it } from 'vitest';
import type { CallHookContext } from '../../../../src/define/plugin/call-hooks.js';
import type { AgentState } from '../../../../src/spaces/plugin/state.js';
import { writerOf } from '../../../../src/spaces/plugin/writing.js';
import type { SpaceWriting } from '../../../../src/store/ports/live.js';
import { promise } from '../../../support/promise.js';

const STEP = { turnId: 't1', step: 2, attempt: 1 };
const chart = { name: 'chart', executor: 'internal', metadata: { visible: true } } as const;
const hidden = { name: 'lookUp', executor: 'server', metadata: { visible: false } } as const;
const plain = { name: 'plain', executor: 'server' } as const;
const builtIn = (name: string) => ({ ...hidden, name });

function writer(active: AgentState['active'] | null = { spaceId: 'sp_a', name: 'A' }) {
  const sent: (readonly [string, SpaceWriting])[] = [];
  const port = {
    writes: (_caller: unknown, spaceId: string, writing: SpaceWriting) => {
      sent.push([spaceId, writing]);
    },
  };
  const ctx = {
    ...{ agent: 'bot', tenant: 'default', conversationId: 'desk' },
    getState: () => (active === null ? {} : { active }),
    port: () => port,
  } as unknown as CallHookContext;
  return { writer: writerOf({ id: 'spaces' }, STEP, ctx), sent };
}

it('shows visible calls in the active space, and their end; no others', promise('H52'), () => {
  const { writer: own, sent } = writer();
  own?.piece({ tool: hidden, index: 0, offset: 0, text: '{"secret":1}' });
  own?.piece({ tool: plain, index: 1, offset: 0, text: '{"secret":2}' });
  own?.piece({ tool: chart, index: 2, toolCallId: 'call_c', offset: 0, text: '{"ba' });
  own?.piece({ tool: chart, index: 2, offset: 4, text: 'rs":' });
  own?.end?.();
  const of = {
    ...{ id: 't1.2.2', author: { kind: 'agent', id: 'desk~bot' }, toolName: 'chart' },
    ...{ attempt: 1, toolCallId: 'call_c' },
  };
  expect(sent).toEqual([
    ['sp_a', { answer: 't1.2', piece: { ...of, offset: 0, text: '{"ba' } }],
    ['sp_a', { answer: 't1.2', piece: { ...of, offset: 4, text: 'rs":' } }],
    ['sp_a', { answer: 't1.2', attempt: 1 }],
  ]);
});

it.each(['enter_space', 'leave_space'])(
  'shows nothing of the calls behind a call of %s in the same answer: they are not for this space',
  promise('H52'),
  (name) => {
    const { writer: own, sent } = writer();
    own?.piece({ tool: chart, index: 0, offset: 0, text: '{' });
    own?.piece({ tool: builtIn(name), index: 1, offset: 0, text: '{"spaceId":"sp_b"}' });
    own?.piece({ tool: chart, index: 2, offset: 0, text: '{"for":"b"}' });
    own?.piece({ tool: chart, index: 0, offset: 1, text: '}' });
    expect(sent.map(([, writing]) => 'piece' in writing && writing.piece.text)).toEqual(['{', '}']);
  },
);

it('shows nothing outside of a space, and the beginning of long arguments', promise('H52'), () => {
  expect(writer(null).writer).toBeUndefined();
  const { writer: own, sent } = writer();
  for (let n = 0; n < 30; n += 1)
    own?.piece({ tool: chart, index: 0, offset: n * 1_000, text: 'x'.repeat(1_000) });
  for (let index = 1; index < 30; index += 1)
    own?.piece({ tool: chart, index, offset: 0, text: '{' });
  const texts = sent.flatMap(([, writing]) => ('piece' in writing ? [writing.piece] : []));
  expect(texts.filter(({ id }) => id === 't1.2.0')).toHaveLength(24);
  expect(new Set(texts.map(({ id }) => id)).size).toBe(20);
});
