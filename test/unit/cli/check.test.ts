/** `colloquy check`: the effect of a deploy on pending calls, before the deploy. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type CheckReport,
  checkAgents,
  finder,
  runCheck,
  tableOf,
} from '../../../src/cli/check/check-command.js';
import { hsafaAgentCatalog } from '../../../src/compat/hsafa/index.js';
import { DefinitionError } from '../../../src/define/checks/problems.js';
import type { Agent } from '../../../src/define/define-agent.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { jsonSchema } from '../../../src/define/schemas/schema.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import {
  ARGUMENTS,
  agentOf,
  BEFORE,
  MODEL,
  Runs,
  serverTool,
  waiting,
} from '../definitions/deploys.js';

const RENAMED = z.object({ orderId: z.string().optional(), count: z.int() });
const code = new Runs();
const server = (input: z.ZodType, more: object = {}) => serverTool(code, input, more);
const human = (output: z.ZodType) =>
  defineTool({ name: 'order', description: 'Orders.', executor: 'human', input: BEFORE, output });
const openHuman = defineTool({
  ...{ name: 'order', description: 'Orders.', executor: 'human', input: BEFORE },
  output: jsonSchema({ type: 'object' }),
});
const hosted = (address: string): AnyTool =>
  defineTool({
    ...{ name: 'order', executor: 'provider' },
    provider: { type: 'mcp', server_label: 'gh', server_url: address },
  } as never);
const asking = (input: z.ZodType) =>
  defineTool({
    ...{ name: 'order', description: 'Orders.', input },
    run: (_input: unknown, ctx: { ask: (it: object) => never }) => ctx.ask({ form: z.boolean() }),
  } as never) as AnyTool;

type Talk = Awaited<ReturnType<typeof waiting>>;

async function logOf(t: Pick<Talk, 'events'>, file = ':memory:') {
  const log = await openSqliteEventLog({ file });
  await log.append({ tenant: 'default', conversationId: 'test', runId: 'r1', events: t.events });
  return log;
}

async function reportOf(
  before: readonly AnyTool[] | Talk,
  agents: readonly Agent<never>[],
): Promise<CheckReport> {
  const log = await logOf('events' in before ? before : await waiting(before));
  try {
    return await checkAgents({ agents }, log);
  } finally {
    await log.close();
  }
}

describe('colloquy check', () => {
  it('looks up agents that are documents by the catalog of the module', async () => {
    const log = await logOf(await waiting([server(BEFORE)]));
    const asked: unknown[] = [];
    const find = (tools: readonly AnyTool[]) => (of: object) => {
      asked.push(of);
      return Promise.resolve(agentOf(tools));
    };
    const reports = [find([server(BEFORE)]), find([]), undefined].map(async (found) => {
      const module = found === undefined ? { agents: [] } : { agents: [], find: found };
      return (await checkAgents(module, log)).breaks;
    });
    expect(await Promise.all(reports)).toEqual([0, 1, 1]);
    expect(asked).toMatchObject([{ tenant: 'default' }, { tenant: 'default' }]);
    await log.close();
  });

  it.each<[string, readonly AnyTool[], number]>([
    ['the open answers', [openHuman], 0],
    ['no call of code', [server(BEFORE)], 1],
  ])('lets %s of a deleted agent go on', async (_title, tools, breaks) => {
    const log = await logOf(await waiting(tools));
    const catalog = { find: () => Promise.resolve('deleted') };
    const find = finder(catalog as never, { documents: {} as never });
    expect((await checkAgents({ agents: [], find }, log)).breaks).toBe(breaks);
    await log.close();
  });

  it('reports the calls of an agent that cannot be read any more, and goes on with the others', async () => {
    const log = await logOf(await waiting([server(BEFORE)]));
    const twice: Parameters<typeof checkAgents>[1] = {
      list: async (options) => {
        const page = await log.list(options);
        const conversations = page.conversations.flatMap((one) => [
          one,
          { ...one, tenant: 'other' },
        ]);
        return { ...page, conversations };
      },
      readTurn: (key, turnId) => log.readTurn({ ...key, tenant: 'default' }, turnId),
    };
    const problems = [{ field: 'model', rule: 'no model "fast"' }];
    const catalog = {
      find: ({ tenant }: { tenant: string }) =>
        tenant === 'other'
          ? Promise.resolve(agentOf([server(BEFORE)]))
          : Promise.reject(new DefinitionError('the stored agent', problems)),
    };
    const find = finder(catalog as never, { documents: {} as never });
    const { checked, calls } = await checkAgents({ agents: [], find }, twice);
    expect(checked).toBe(2);
    expect(calls).toMatchObject([
      {
        tenant: 'default',
        outcome: 'breaks',
        why: expect.stringContaining('no model "fast"') as string,
      },
    ]);
    await log.close();
  });

  it('takes an event log that keeps no documents', async () => {
    const log = await logOf(await waiting([server(BEFORE)]));
    const catalog = hsafaAgentCatalog({ model: () => MODEL() });
    const find = finder(catalog, {});
    expect(await checkAgents({ agents: [], find }, log)).toMatchObject({ breaks: 1 });
    await log.close();
  });

  it.each<[string, string, readonly AnyTool[]]>([
    ['is as it was', 'goes on', [server(BEFORE)]],
    ['is wider', 'goes on', [server(BEFORE.extend({ note: z.string().optional() }))]],
    ['is renamed', 'breaks', [server(RENAMED)]],
    ['carries its calls over', 'migrates', [server(RENAMED, { migrate: () => ({ count: 5 }) })]],
    ['is gone', 'breaks', []],
  ])(
    'says of an approval whose tool %s that it %s',
    promise('G219'),
    async (_what, outcome, tools) => {
      const report = await reportOf([server(BEFORE)], [agentOf(tools)]);
      expect(report).toMatchObject({ checked: 1, breaks: outcome === 'breaks' ? 1 : 0 });
      const found = report.calls.map((call) => call.outcome);
      expect(found).toEqual(outcome === 'goes on' ? [] : [outcome]);
      expect(code.inputs).toEqual([]);
    },
  );

  it('reports the effect on calls that wait for an answer, in mid-run, or behind another', {
    ...promise('G219'),
  }, async () => {
    const was = human(z.strictObject({ day: z.string() }));
    const now = human(z.strictObject({ date: z.string() }));
    expect(await reportOf([was], [agentOf([was])])).toMatchObject({ checked: 1, calls: [] });
    expect(await reportOf([was], [agentOf([now])])).toMatchObject({
      breaks: 0,
      calls: [{ outcome: 'offered_again', waits: 'elicitation' }],
    });
    expect(await reportOf([asking(BEFORE)], [agentOf([asking(RENAMED)])])).toMatchObject({
      calls: [{ outcome: 'breaks', why: expect.stringMatching(/begun to run/) as string }],
    });
    const two = [server(BEFORE), server(BEFORE, { name: 'second' })];
    const input = ARGUMENTS;
    const model = script(
      callsAll([
        { name: 'order', input },
        { name: 'second', input },
      ]),
      says('.'),
    );
    const sequential = { toolExecution: 'sequential' } as const;
    const about = { name: 'shop', model, instructions: 'Help.', settings: sequential };
    const t = testConversation(defineAgent({ ...about, tools: two }));
    await t.send('Order both');
    const after = agentOf([
      server(BEFORE),
      server(z.object({ id: z.string() }), { name: 'second' }),
    ]);
    expect(await reportOf(t as unknown as Talk, [after])).toMatchObject({
      checked: 2,
      calls: [{ outcome: 'breaks', tool: 'second', waits: 'behind' }],
    });
  });

  it.each<[string, string, readonly AnyTool[]]>([
    ['has another address', 'goes on', [hosted('https://b.example')]],
    ['is gone', 'breaks', []],
    ['is run by this engine', 'breaks', [server(BEFORE)]],
  ])(
    'says of a call that its provider will run, and whose tool %s, that it %s, as its approval shows',
    promise('G219'),
    async (_what, outcome, tools) => {
      const input = { tool: 'merge' };
      const asks = callsAll([{ name: 'order', input, id: 'mcpr_1', hosted: true }]);
      const model = script(asks, says('Done.'));
      const t = testConversation(agentOf([hosted('https://a.example')], model)) as Talk;
      await t.send('Merge it');
      const report = await reportOf(t, [agentOf(tools, model)]);
      expect(report).toMatchObject({ checked: 1, breaks: outcome === 'breaks' ? 1 : 0 });
      await t.deploy(agentOf(tools, model));
      await t.approve('mcpr_1');
      expect(t.result('mcpr_1')?.ok).toBe(outcome === 'goes on');
    },
  );

  it('says of a question whose tool does not ask any more that it breaks only where that tool would judge', {
    ...promise('G219'),
  }, async () => {
    const plain = human(z.strictObject({ day: z.string() }));
    const checked = human(z.strictObject({ day: z.string().refine((it) => it !== '') }));
    for (const was of [plain, checked]) {
      const t = await waiting([was]);
      const report = await reportOf(t, [agentOf([server(BEFORE)])]);
      expect(report).toMatchObject({ checked: 1, breaks: was === plain ? 0 : 1 });
      await t.deploy(agentOf([server(BEFORE)]));
      await t.answer('order', { day: 'monday' });
      expect(t.result('order')?.ok).toBe(was === plain);
    }
  });

  it('judges a call that was edited or carried over by its present state', async () => {
    const t = await waiting([server(BEFORE)]);
    const migrate = () => ({ orderId: 'a7', count: 5 });
    const now = agentOf([server(RENAMED, { migrate })]);
    await t.deploy(now);
    await t.approve('order');
    expect(await reportOf(t, [now])).toMatchObject({ checked: 1, calls: [] });
    expect(await reportOf(t, [agentOf([server(BEFORE)])])).toMatchObject({ breaks: 1 });
  });

  it('names an agent that is gone', async () => {
    const report = await reportOf([server(BEFORE)], []);
    expect(report.calls).toMatchObject([
      { outcome: 'breaks', why: 'agent "shop" is not defined any more' },
    ]);
    expect(tableOf(report)).toMatch(
      /breaks {3}shop .* agent "shop" is not defined any more\n\n1 waiting calls: 1 break/,
    );
    expect(tableOf({ checked: 3, breaks: 0, calls: [] })).toBe(
      '3 waiting calls: 0 break, 0 change, 3 go on',
    );
  });
});

describe('the command', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('prints a table, and ends with code 1 when a call breaks', promise('G219'), async () => {
    const folder = temporaryFolder();
    const log = await logOf(await waiting([server(BEFORE)]), join(folder, 'log.db'));
    await log.close();
    const agents = join(folder, 'agents.mjs');
    writeFileSync(
      agents,
      "const model = { name: 'm', generate: () => undefined };\nexport const shop = { kind: 'agent', name: 'shop', model, tools: [] };\nexport const services = () => { throw new Error('not to be made'); };\n",
    );
    const said: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    await runCheck({ agents, against: folder });
    expect(exit).toHaveBeenLastCalledWith(1);
    expect(said.join('')).toContain('tool "order" is not defined any more');
    await runCheck({ agents, against: join(folder, 'log.db'), json: true });
    expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({ checked: 1, breaks: 1 });
  });

  it('makes no event log where there is none', async () => {
    const folder = temporaryFolder();
    const agents = join(folder, 'agents.mjs');
    writeFileSync(agents, "export const shop = { kind: 'agent', name: 'shop', tools: [] };\n");
    const against = join(folder, 'typo');
    await expect(runCheck({ agents, against })).rejects.toThrow(`No event log at ${against}`);
  });
});
