/** The shorthands of the test kit: their effects, and their errors. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import {
  calls,
  callsAll,
  ResolutionRefused,
  says,
  script,
  testConversation,
} from '../../../src/testing/index.js';

const pay = defineTool({
  name: 'pay',
  description: 'd',
  input: z.object({ cents: z.int() }),
  approval: 'required',
  run: ({ cents }) => cents,
});
const ask = defineTool({ name: 'ask', description: 'd', executor: 'human', input: z.object({}) });
const read = defineTool({
  name: 'read',
  description: 'd',
  executor: 'client',
  input: z.object({}),
});
const find = defineTool({
  name: 'find',
  description: 'd',
  executor: 'external',
  mode: 'detach',
  input: z.object({}),
});

function talk(...names: readonly ('pay' | 'ask' | 'read' | 'find')[]) {
  const requests = names.map((name) => ({ name, input: name === 'pay' ? { cents: 5 } : {} }));
  const model = script(callsAll(requests), says('done'), says('later'));
  const tools = [pay, ask, read, find];
  return testConversation(defineAgent({ name: 'a', instructions: 'i', model, tools }));
}

describe('a shorthand', () => {
  it('approves, with an edit where there is one', async () => {
    const t = talk('pay', 'pay');
    await t.send('go');
    expect(await t.approve('pay')).toMatchObject({ verdict: 'accepted', toolCallId: 'call_1' });
    await t.approve('pay', { input: { cents: 3 }, actor: { id: 'lena' } });
    expect(t.calls('pay')).toMatchObject([
      { toolCallId: 'call_1', input: { cents: 5 }, result: { ok: true, result: 5 } },
      { toolCallId: 'call_2', input: { cents: 3 }, result: { ok: true, result: 3 } },
    ]);
    expect(t.calls('pay')[1]?.actor?.id).toBe('lena');
  });

  it('remembers a decision', async () => {
    const t = talk('pay', 'pay', 'ask');
    await t.send('go');
    await t.approve('pay', { remember: { for: 'conversation' } });
    await t.deny('pay', 'too much', { remember: { for: 'turn', match: { '/cents': 5 } } });
    expect(t.snapshot.rules).toMatchObject([
      { decision: 'approve', for: 'conversation' },
      { decision: 'deny', for: 'turn', match: { '/cents': 5 }, reason: 'too much' },
    ]);
  });

  it('denies, with the reason that the model reads', async () => {
    const t = talk('pay');
    await t.send('go');
    await t.deny('pay', 'too much');
    expect(t.result('pay')).toEqual({ ok: false, error: { code: 'denied', message: 'too much' } });
    expect(t.calls()).toMatchObject([{ status: 'denied' }]);
  });

  it('answers a call of any kind', async () => {
    const t = talk('ask', 'read', 'find');
    await t.send('go');
    await t.answer('ask', 'yes');
    await t.answer('read', [1]);
    expect(t.calls().map(({ status }) => status)).toEqual(['resolved', 'resolved', 'detached']);
    await t.answer('find', { owner: 'bob' });
    expect(t.calls('find')).toMatchObject([
      { status: 'resolved', result: { ok: true, result: { owner: 'bob' } } },
    ]);
    t.expectNothingOpen();
  });

  it('throws the verdict when it is not accepted', async () => {
    const t = talk('pay');
    await t.send('go');
    await t.approve('pay');
    const refused = await t.deny('pay').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ResolutionRefused);
    expect(refused).toMatchObject({ verdict: { verdict: 'stale', why: 'already_resolved' } });
    await expect(t.answer('nothing', 1)).rejects.toThrow(/nothing was not resolved.*unknown/);
  });
});

it('the calls of a step can be answered as one batch', async () => {
  const t = talk('read', 'ask', 'read');
  await t.send('go');
  const [first, , last] = t.calls();
  const results = [first, last].map((call) => ({
    toolCallId: call?.toolCallId ?? '',
    resultJson: '1',
  }));
  expect(await t.resolveBatch(results.toReversed())).toMatchObject({ verdict: 'invalid' });
  expect(await t.resolveBatch(results)).toMatchObject({ verdict: 'accepted' });
  expect(t.pending).toMatchObject([{ name: 'ask' }]);
});

describe('the list of open work', () => {
  it('names pending calls, running calls, and a turn that has not ended', async () => {
    const t = talk('pay', 'ask');
    t.expectNothingOpen();
    await t.send('go');
    expect(() => {
      t.expectNothingOpen();
    }).toThrow('still open: pay waits for approval, ask waits for elicitation');
    await t.cancel();
    t.expectNothingOpen();
  });
});

it('events are found by type, with the fields of that type', async () => {
  const model = script(calls('pay', { cents: 'x' }), says('done'));
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [pay] });
  const t = testConversation(agent);
  await t.send('go');
  expect(t.eventsOf('tool_result').map(({ result }) => result.status)).toEqual(['errored']);
  expect(t.eventsOf('suspension')).toEqual([]);
  // A refused call has no input.
  expect(t.calls()).toMatchObject([{ name: 'pay', status: 'errored' }]);
  expect(t.calls()[0]).not.toHaveProperty('input');
});
