/** Tools whose result another backend submits, as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, says, script } from '../../../../src/model/scripted/scripted.js';
import {
  type TestConversation,
  testConversation,
} from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const lookup = {
  name: 'projects.lookup',
  description: 'Looks a project up in the planning system.',
  executor: 'external',
  input: z.object({ project: z.string() }),
  output: z.strictObject({ owner: z.string() }),
} as const;

async function asked(tool = defineTool(lookup)): Promise<TestConversation<unknown>> {
  const model = script(calls('projects.lookup', { project: 'p1' }), says('It is known.'));
  const agent = defineAgent({ name: 'planner', model, instructions: 'Help.', tools: [tool] });
  const t = testConversation(agent);
  await t.send('Who owns p1?');
  return t;
}

describe('a call that another backend executes', () => {
  it('waits for it, and its result is what the model reads', {
    ...promise('A50', 'H16', 'H43'),
  }, async () => {
    const t = await asked();
    expect(t.pending).toMatchObject([
      { kind: 'external_execution', executor: 'external', prompt: { project: 'p1' } },
    ]);
    const wrong = await t.resolve('projects.lookup', { type: 'result', value: { who: 'ada' } });
    expect(wrong.verdict).toBe('invalid');
    const taken = await t.resolve('projects.lookup', { type: 'result', value: { owner: 'ada' } });
    expect(taken.verdict).toBe('accepted');
    expect(t.result('projects.lookup')).toEqual({ ok: true, result: { owner: 'ada' } });
    expect(t.events.findLast((event) => event.type === 'tool_result')).toMatchObject({
      result: { provenance: 'untrusted', actor: { id: 'tester' } },
    });
    expect(t.text).toBe('It is known.');
  });

  it('may fail there, which the model reads as an error of that backend', {
    ...promise('H16'),
  }, async () => {
    const t = await asked();
    await t.resolve('projects.lookup', { type: 'error', message: 'no such project' });
    expect(t.result('projects.lookup')).toEqual({
      ok: false,
      error: { code: 'external_error', message: 'no such project' },
    });
  });

  it('has half a minute unless its tool sets another time, and then reports how long it waited', {
    ...promise('G68', 'H11', 'H19', 'H23'),
  }, async () => {
    const t = await asked();
    await t.advance('29s');
    expect(t.pending).toHaveLength(1);
    await t.advance('1s');
    expect(t.result('projects.lookup')).toEqual({
      ok: false,
      error: { code: 'expired', message: 'Tool timed out after 30000ms' },
    });
  });

  it('may be gated: two waits under one id, and an approval is never a result', {
    ...promise('G68'),
  }, async () => {
    const t = await asked(defineTool({ ...lookup, approval: 'required' }));
    expect(t.pending).toMatchObject([{ kind: 'approval' }]);
    const early = await t.resolve('projects.lookup', { type: 'result', value: { owner: 'eve' } });
    expect(early).toMatchObject({ verdict: 'stale', why: 'other_kind', openKind: 'approval' });
    const approved = await t.resolve('projects.lookup', { type: 'approve' });
    const again = await t.resolve('projects.lookup', { type: 'approve' });
    expect([approved.verdict, again.verdict]).toEqual(['accepted', 'stale']);
    expect(t.pending).toMatchObject([{ kind: 'external_execution' }]);
    await t.resolve('projects.lookup', { type: 'result', value: { owner: 'ada' } });
    expect(t.result('projects.lookup')).toMatchObject({ ok: true });
  });
});
