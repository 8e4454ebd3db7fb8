/** Calls that the model's provider runs after an approval, as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { callsAll, saysAfter, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const github = defineTool({
  name: 'github',
  executor: 'provider',
  provider: { type: 'mcp', server_label: 'gh', server_url: 'https://example.com/mcp' },
});
const MERGE = { server: 'gh', tool: 'merge', arguments: { pr: 7 } };

async function asked(toolExecution: 'parallel' | 'sequential' = 'parallel') {
  const model = script(
    callsAll([
      { name: 'github', input: MERGE, id: 'mcpr_1', hosted: true },
      { name: 'github', input: { ...MERGE, tool: 'close' }, id: 'mcpr_2', hosted: true },
    ]),
    saysAfter({ name: 'github', input: MERGE, output: 'merged' }, 'Merged.'),
  );
  const agent = defineAgent({
    name: 'coder',
    model,
    instructions: 'Help.',
    tools: [github],
    settings: { toolExecution },
  });
  const t = testConversation(agent);
  await t.send('Merge it');
  return { t, model };
}

describe('a call that needs an approval for its provider', () => {
  it.each(['parallel', 'sequential'] as const)(
    'waits for an approval that shows the call; the provider reads the decisions (%s)',
    promise('G96'),
    async (toolExecution) => {
      const { t, model } = await asked(toolExecution);
      expect(t.pending[0]).toMatchObject({
        kind: 'approval',
        name: 'github',
        reason: 'The model\'s provider asks for approval before it runs "merge" of github',
      });
      await t.approve('mcpr_1');
      await t.deny('mcpr_2', 'Not on a Friday');
      expect(t.result('mcpr_1')).toEqual({
        ok: true,
        result: { success: true, args: MERGE },
      });
      expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([
        { toolCallId: 'mcpr_1', envelope: { ok: true } },
        {
          toolCallId: 'mcpr_2',
          envelope: { error: { code: 'denied', message: 'Not on a Friday' } },
        },
      ]);
      expect(t.text).toBe('Merged.');
      t.expectNothingOpen();
    },
  );

  it("cannot be changed by its approver: the provider would run the model's arguments", {
    ...promise('G96'),
  }, async () => {
    const { t } = await asked();
    await t.resolve('mcpr_1', { type: 'approve', input: { ...MERGE, arguments: { pr: 8 } } });
    expect(t.events.findLast(({ type }) => type === 'resolution_reverted')).toMatchObject({
      problems: [{ message: expect.stringContaining('cannot be changed') as unknown }],
    });
    expect(t.pending.map(({ toolCallId }) => toolCallId)).toContain('mcpr_1');
  });

  it('is denied without a decision in time', async () => {
    const { t } = await asked();
    await t.advance('25 hours');
    expect(t.result('mcpr_1')).toMatchObject({ ok: false, error: { code: 'expired' } });
    expect(t.text).toBe('Merged.');
  });
});
