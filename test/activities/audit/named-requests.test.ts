/** The definition that a model call names for its request. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createActivities } from '../../../src/activities/index.js';
import type { ActivityDeps } from '../../../src/activities/shared/deps.js';
import {
  type Agent,
  type AgentCatalog,
  type AgentSpec,
  defineAgent,
} from '../../../src/define/define-agent.js';
import { definePlugin } from '../../../src/define/define-plugin.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { DefinitionKey, ModelDefinition } from '../../../src/protocol/model/definitions.js';
import { usedDefinition } from '../../../src/tools/model-input/definition.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf } from '../tools/fixtures.js';

const look = defineTool({
  ...{ name: 'look', description: 'Looks.', input: z.object({}), effects: 'none' },
  run: () => 1,
});
const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function agentOf(spec: Partial<AgentSpec<undefined>> = {}): Agent<undefined> {
  const model = modelOf(() => Promise.resolve(answer()));
  return defineAgent<undefined>({ name: 'support', model, instructions: 'Help.', ...spec });
}

async function called(
  agents: readonly Agent<undefined>[],
  deps: Partial<ActivityDeps<undefined>> = {},
  input: Parameters<typeof modelInput>[0] = {},
) {
  const kept: [DefinitionKey, ModelDefinition][] = [];
  const activities = createActivities<undefined>({
    ...{ agents, services: undefined, publish: quiet, logger },
    restoreState: () => Promise.reject(new Error('no store')),
    flush: () => Promise.reject(new Error('no store')),
    keepDefinition: (...given) => void kept.push(given),
    ...deps,
  });
  const { context } = await environment().run(activities.callModel, modelInput(input));
  return { context, kept };
}

describe('a model call', promise('G423'), () => {
  it('names the definition of its agent, and has it kept for all tenants', async () => {
    const { context, kept } = await called([agentOf({ tools: [look] })]);
    const digest = expect.stringMatching(/^[0-9a-f]{16}$/) as string;
    expect(context?.definition).toEqual({ digest });
    const { usage, inputSchema } = look;
    const tool = { name: 'look', description: 'Looks.', inputSchema, strict: true };
    const system = `Help.\n\n# Tools\n\n## look\n${usage}`;
    expect(kept).toEqual([
      [
        { agent: 'support', digest: context?.definition?.digest },
        {
          system,
          tools: [expect.objectContaining({ ...tool, inputSchema: expect.anything() as unknown })],
        },
      ],
    ]);
    const other = await called([agentOf({ tools: [look], instructions: 'Do.' })]);
    expect(other.context?.definition?.digest).not.toBe(context?.definition?.digest);
    const same = await called([agentOf({ tools: [look] })]);
    expect(same.context?.definition).toEqual(context?.definition);
  });

  it('names the parts that a plugin or a server has changed for it', async () => {
    const hides = definePlugin<undefined>({
      ...{ id: 'hides', prepare: ({ tools }) => tools.hide('look') },
    });
    const { context, kept } = await called([agentOf({ tools: [look], plugins: [hides] })]);
    expect(context?.definition).toMatchObject({ changed: ['system', 'tools'] });
    expect(kept[0]?.[1]).toMatchObject({ tools: [{ name: 'look' }], prepares: true });
    const agent = agentOf({ tools: [look] });
    const listed = { ...look, name: 'listed', mcp: {} as never };
    const withListed = { ...agent, tools: [...agent.tools, listed] } as typeof agent;
    expect(usedDefinition(agent, withListed)).toMatchObject({ changed: ['tools'] });
  });
});

describe('the definition of an agent', promise('G424'), () => {
  it('is kept without the configuration of a provider tool, which may hold credentials', async () => {
    const provider = { type: 'mcp', server_url: 'https://x.example', authorization: 'S3CRET' };
    const hosted = defineTool({ name: 'hosted', executor: 'provider', provider });
    const generate = () => Promise.resolve(answer());
    const model = { ...modelOf(generate), providerToolProblem: () => undefined };
    const { kept } = await called([agentOf({ model, tools: [hosted] })]);
    expect(kept[0]?.[1].tools).toEqual([{ name: 'hosted', provider: { type: 'mcp' } }]);
    expect(JSON.stringify(kept)).not.toContain('S3CRET');
  });

  it('is kept for its tenant alone where the agent is a document', async () => {
    const stored = agentOf({ name: 'stored' });
    const catalog: AgentCatalog<undefined> = {
      ...{ kind: 'agent_catalog', template: agentOf({ name: 'template' }) },
      find: () => Promise.resolve(stored),
    };
    const given = { agent: 'stored', tenant: 'acme' };
    const { kept } = await called([agentOf()], { catalog }, given);
    expect(kept[0]?.[0]).toMatchObject(given);
  });
});
