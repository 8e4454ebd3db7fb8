/** The places in which a model call names its request: the definition of its agent, and the audit. */
import { describe, expect, it, onTestFinished } from 'vitest';
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
import { modelCallAt } from '../../../src/projection/model-calls/model-call.js';
import type { ModelContext } from '../../../src/protocol/conversation/context.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { DefinitionKey, ModelDefinition } from '../../../src/protocol/model/definitions.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { usedDefinition } from '../../../src/tools/model-input/definition.js';
import { promise } from '../../support/promise.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { answer, environment, key, modelInput, modelOf } from '../tools/fixtures.js';

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

describe('a model call', promise('G421'), () => {
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

describe('the definition of an agent', promise('G422'), () => {
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

describe('the audit of a model call', promise('G423'), () => {
  it('is read where the log names it, without a look at any other value', async () => {
    const { log, blobs } = await openSqliteStores({ file: ':memory:' });
    onTestFinished(() => log.close());
    const full = { blobs, audit: 'full' as const };
    const { context } = await called([agentOf()], full, { turnId: TURN, step: 1 });
    expect(context?.audit).toMatch(/^[0-9a-f]{64}$/);
    const reads: string[] = [];
    const read = async (named: ModelContext | undefined, of = key) => {
      const sources = {
        definitions: undefined,
        blobs: {
          get: (...given: Parameters<typeof blobs.get>) => {
            reads.push(given[1]);
            return blobs.get(...given);
          },
          list: () => Promise.reject(new Error('listed')),
        },
      };
      return await modelCallAt(sources, logWith(named), { key: of, generation: 1, seq: 4 });
    };
    expect(await read(context)).toMatchObject({ source: 'audit', request: { system: 'Help.' } });
    expect(new Set(reads)).toEqual(new Set([context?.audit]));
    expect(await read(context, { ...key, conversationId: 'fork' })).toMatchObject({
      source: 'derived',
    });
    const { audit: _none, ...withoutAudit } = context as ModelContext;
    expect(await read(withoutAudit)).toMatchObject({ source: 'derived' });
    const { definition: _old, ...ofOldWorker } = withoutAudit;
    await expect(read(ofOldWorker)).rejects.toThrow('listed');
  });

  it('is not taken from the value of another call', async () => {
    const { log, blobs } = await openSqliteStores({ file: ':memory:' });
    onTestFinished(() => log.close());
    const full = { blobs, audit: 'full' as const };
    const { context } = await called([agentOf()], full, { turnId: 'turn_other', step: 1 });
    const sources = { blobs, definitions: undefined };
    const found = await modelCallAt(sources, logWith(context), { key, generation: 1, seq: 4 });
    expect(found).toMatchObject({ source: 'derived' });
  });
});

/** The sample log up to its first model call. */
async function* logWith(context: ModelContext | undefined): AsyncGenerator<CanonicalEvent> {
  yield* sampleLog('c-1').slice(0, 3);
  const usage = { inputTokens: 1, outputTokens: 1 };
  const of = { turnId: TURN, step: 1, attempt: 1, model: 'm', finishReason: 'stop' };
  const at = '2026-01-01T00:00:02.000Z';
  yield { type: 'model_call', seq: 4, at, ...of, usage, ...(context && { context }) };
}
