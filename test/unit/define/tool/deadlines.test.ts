/** Deadlines as numbers: `run: 30` is 30 milliseconds, which its author hardly ever meant. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentSettingsSpec } from '../../../../src/define/agent/settings.js';
import { agentTool } from '../../../../src/define/agent-tool.js';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { mcpServer } from '../../../../src/define/mcp-server.js';
import { says, script } from '../../../../src/model/scripted/scripted.js';

const tool = (timeouts: { readonly run: number | '30ms' }) =>
  defineTool({
    ...{ name: 'refund', description: 'Refund.', input: z.object({}), effects: 'once', timeouts },
    run: () => 1,
  });
const agent = (settings: AgentSettingsSpec) =>
  defineAgent({
    ...{ name: 'support', instructions: 'Help.', model: script(says('Hi')), tools: [], settings },
  });

it.each<[string, () => unknown]>([
  ['timeouts.run', () => tool({ run: 30 })],
  ['settings.timeouts.human', () => agent({ timeouts: { human: 30 } })],
  ['settings.idleClose', () => agent({ idleClose: 30 })],
  ['settings.budgets.time', () => agent({ budgets: { time: 30 } })],
  [
    'timeouts.run',
    () => mcpServer({ name: 'm', url: 'https://m.test/mcp', timeouts: { run: 30 } }),
  ],
  ['timeout', () => agentTool(agent({}), { name: 'ask', description: 'Ask.', timeout: 30 })],
])('%s: 30 is refused with the texts that say the unit', (field, define) => {
  expect(define).toThrow(
    `${field}: needs its unit, such as '30s' or '30ms': a number is milliseconds`,
  );
});

it('a text with its unit is taken, however short, and so is a number of a second or more', () => {
  expect(tool({ run: '30ms' }).declaredTimeouts).toEqual({ runMs: 30 });
  expect(tool({ run: 1_000 }).declaredTimeouts).toEqual({ runMs: 1_000 });
});
