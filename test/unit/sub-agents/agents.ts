/** A sub-agent with a gated tool, and an agent that calls it. */
import { z } from 'zod';
import type { AgentToolSpec } from '../../../src/define/agent-tool.js';
import type { Schema } from '../../../src/define/schemas/schema.js';
import { agentTool, defineAgent, defineTool } from '../../../src/index.js';
import {
  type script,
  type TestConversation,
  testConversation,
} from '../../../src/testing/index.js';

const remove = defineTool({
  name: 'files.remove',
  description: 'Removes a file.',
  input: z.object({ path: z.string() }),
  effects: 'once',
  approval: 'required',
  timeouts: { approval: '7 days' },
  run: ({ path }) => ({ removed: path }),
});

type Spec = Partial<AgentToolSpec<never, Schema, Schema, string>>;

export function research(model: ReturnType<typeof script>, spec: Spec = {}, agent: object = {}) {
  const researcher = defineAgent({
    name: 'researcher',
    model,
    instructions: 'Research.',
    tools: [remove],
    ...agent,
  });
  return agentTool(researcher, { name: 'research', description: 'Researches.', ...spec } as never);
}

export function lead(
  tools: readonly ReturnType<typeof research>[],
  model: ReturnType<typeof script>,
  settings = {},
) {
  return testConversation(
    defineAgent({
      name: 'lead',
      model,
      instructions: 'Lead.',
      tools: [...tools] as never,
      settings,
    }),
  ) as unknown as TestConversation<never>;
}
