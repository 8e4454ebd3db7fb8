/**
 * Two independent settings of a call: which executor makes its result, and whether the turn waits for it. Scenarios
 * S2, S24 and S39; the other half of S24, tools that are an address, comes with them.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { defineAgent, defineTool } from '../../../src/index.js';
import type { ScriptedCall } from '../../../src/model/scripted/types.js';
import {
  calls,
  callsAll,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const base = { description: 'Does what the test says.', input: z.object({ n: z.int() }) };
const runs: number[] = [];
const TOOLS = {
  'work.server': defineTool({
    ...base,
    name: 'work.server',
    run: ({ n }) => {
      runs.push(n);
      return { worked: n };
    },
  }),
  'work.server_detached': defineTool({
    ...base,
    name: 'work.server_detached',
    mode: 'detach',
    run: ({ n }) => ({ worked: n }),
  }),
  'work.internal': defineTool({ ...base, name: 'work.internal', executor: 'internal' }),
  'work.human': defineTool({ ...base, name: 'work.human', executor: 'human' }),
  'work.human_detached': defineTool({
    ...base,
    name: 'work.human_detached',
    executor: 'human',
    mode: 'detach',
  }),
  'work.client': defineTool({ ...base, name: 'work.client', executor: 'client' }),
  'work.external': defineTool({ ...base, name: 'work.external', executor: 'external' }),
  'work.external_detached': defineTool({
    ...base,
    name: 'work.external_detached',
    executor: 'external',
    mode: 'detach',
  }),
} satisfies Readonly<Record<string, AnyTool>>;
type Name = keyof typeof TOOLS;

async function asked(
  ...scripted: readonly ScriptedCall[]
): Promise<TestConversation<unknown> & { readonly reads: () => unknown }> {
  const model = script(callsAll(scripted), says('And?'), says('So.'));
  const agent = defineAgent({
    name: 'worker',
    model,
    instructions: 'Work.',
    tools: Object.values<AnyTool>(TOOLS),
  });
  const t = testConversation(agent);
  await t.send('work');
  return Object.assign(t, { reads: () => model.requests.at(-1)?.messages.at(-1) });
}

const pending = (id: string) => ({
  ok: true,
  result: { status: 'pending', pendingToolCallId: id },
});

describe('a call', () => {
  const table: readonly [Name, result: unknown, waits: string | undefined, turn: string][] = [
    ['work.internal', { ok: true, result: { success: true, args: { n: 1 } } }, undefined, 'idle'],
    ['work.server', { ok: true, result: { worked: 1 } }, undefined, 'idle'],
    ['work.server_detached', pending('call_1'), undefined, 'idle'],
    ['work.human', undefined, 'elicitation', 'awaiting_input'],
    ['work.human_detached', pending('call_1'), 'elicitation', 'awaiting_input'],
    ['work.client', undefined, 'client_execution', 'awaiting_input'],
    ['work.external', undefined, 'external_execution', 'awaiting_input'],
    ['work.external_detached', pending('call_1'), 'external_execution', 'awaiting_input'],
  ];
  it.each(table)(
    'of %s gets its result where its executor says, and the turn waits where its mode says',
    promise(
      'S24',
      'A1',
      'A2',
      'A6',
      'A7',
      'A22',
      'A24',
      'A54',
      'H8',
      'H17',
      'H18',
      'H19',
      'H24',
      'H25',
      'H30',
      'H45',
      'H57',
      'X3',
      'X12',
      'X17',
      'X19',
      'X29',
      'X35',
      'X39',
    ),
    async (name, result, waits, status) => {
      const t = await asked({ name, input: { n: 1 } });
      expect(t.result(name)).toEqual(result);
      expect(t.pending.map(({ kind }) => kind)).toEqual(waits === undefined ? [] : [waits]);
      expect(t.snapshot.status).toBe(status);
      // The outcome of a detached call is new input; that of an awaited one never is.
      const isDetached = name.endsWith('_detached');
      if (waits !== undefined)
        await t.resolve(
          name,
          waits === 'elicitation' ? { type: 'answer', value: 'x' } : { type: 'result', value: 'x' },
        );
      const delivered = t.events.filter(({ type }) => type === 'inbox_event');
      expect(delivered).toHaveLength(isDetached ? 1 : 0);
      expect(t.events.filter(({ type }) => type === 'tool_result')).toHaveLength(1);
    },
  );

  it.each(Object.keys(TOOLS) as Name[])(
    'of %s with bad arguments is never offered: the model reads their faults',
    promise('H57', 'X13'),
    async (name) => {
      const before = runs.length;
      const t = await asked({ name, input: { n: 'one' } });
      expect(t.result(name)).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
      expect(t.eventTypes).not.toContain('suspension');
      expect(runs).toHaveLength(before);
      expect(t.snapshot.status).toBe('idle');
    },
  );
});

describe('the calls of one step', () => {
  it('are read by the model together, in its order, when the last of them has come', {
    ...promise('S2', 'A26'),
  }, async () => {
    const t = await asked(
      { name: 'work.server', input: { n: 1 } },
      { name: 'work.human', input: { n: 2 } },
      { name: 'work.server', input: { n: 3 } },
    );
    expect(t.snapshot).toMatchObject({
      status: 'awaiting_input',
      inFlightTools: [],
      pending: [{ toolCallId: 'call_2' }],
    });
    expect(t.text).toBe('');
    await t.resolve('work.human', { type: 'answer', value: 'two' });
    expect(t.reads()).toMatchObject({
      role: 'tool',
      parts: [
        { toolCallId: 'call_1', envelope: { result: { worked: 1 } } },
        { toolCallId: 'call_2', envelope: { result: 'two' } },
        { toolCallId: 'call_3', envelope: { result: { worked: 3 } } },
      ],
    });
    expect(t.text).toBe('And?');
  });
});

describe('a model that only calls server tools', () => {
  it('loops without outside input, and is stopped at the safeguard with the text that says so', {
    ...promise('S39', 'C38', 'X12', 'X36'),
  }, async () => {
    const answers = Array.from({ length: 30 }, (_, n) => calls('work.server', { n }));
    const model = script(...answers);
    const agent = defineAgent({
      name: 'looper',
      model,
      instructions: 'Work.',
      tools: [TOOLS['work.server']],
    });
    const t = testConversation(agent);
    const before = runs.length;
    await t.send('work');
    expect(model.requests).toHaveLength(25);
    expect(runs.length - before).toBe(25);
    expect(t.eventTypes).not.toContain('suspension');
    expect(t.text).toBe('Exceeded maximum number of rounds (25). Stopping.');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'completed' });
    expect(t.snapshot.status).toBe('idle');
  });
});
