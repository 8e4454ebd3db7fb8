/** A server lists another input for its tool while an approved call waits: by change, in a worker that lists it anew. */
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpServer } from '../../../src/define/mcp-server.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { startMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { ARGUMENTS, BEFORE, INPUT_CHANGES } from '../../unit/definitions/deploys.js';
import { environment, modelInput } from '../tools/fixtures.js';
import { mcpWorker, runInput } from './setup.js';

/** A server whose tool takes the input that is set, and workers of it. */
async function changing() {
  const given: Json[] = [];
  let input: z.ZodObject = BEFORE;
  const http = await startMcpServer(() => {
    const server = new McpServer({ name: 'shop', version: '1' });
    server.registerTool('order', { description: 'Orders.', inputSchema: input }, (args) => {
      given.push(args as Json);
      return { content: [{ type: 'text', text: 'done' }] };
    });
    return server;
  });
  const server = mcpServer({ name: 'shop', url: http.url, approval: 'required' });
  const worker = () => mcpWorker({ mcpServers: [server] });
  return {
    given,
    worker,
    /** The plan of a call before the change. */
    plan: () => worker().plan('shop.order', ARGUMENTS),
    change: (now: z.ZodType) => {
      input = now as z.ZodObject;
    },
  };
}

/** The check that follows a run which was refused for a change. */
async function checked({ activities }: ReturnType<typeof mcpWorker>, plan: PlannedCall) {
  const { toolCallId, name, executor, definition = '', mcp, input = null } = plan;
  const { turnId, step, requester, tenant, conversationId, agent } = modelInput();
  const about = { tenant, conversationId, agent, turnId, step, requester };
  const call = { toolCallId, name, executor, definition, input };
  const given = { ...about, call: mcp === undefined ? call : { ...call, mcp } };
  return await environment().run(activities.checkDefinition, given);
}

describe.each(INPUT_CHANGES)('when $what', ({ input, runs, runsBySchema = runs }) => {
  it('a call of an MCP tool that was approved after it is sent with arguments that the listed schema names, or ends', {
    ...promise('G215'),
  }, async () => {
    const { given, worker, plan: planned, change } = await changing();
    const plan = await planned();
    expect(plan.approval).toMatchObject({ needed: true });
    change(input);
    const now = worker();
    const end = await now.run(plan);
    if (!runsBySchema) {
      expect(end).toMatchObject({ changed: {} });
      expect(await checked(now, plan)).toMatchObject({
        outcome: 'ended',
        error: { code: 'definition_changed' },
      });
      expect(given).toEqual([]);
      return;
    }
    // The server applies its own defaults, transforms and checks, which no listing shows.
    const own = input.safeParse(ARGUMENTS);
    expect(end).toMatchObject({
      envelope: own.success
        ? { ok: true, result: 'done' }
        : { ok: false, error: { code: 'tool_error' } },
    });
    expect(given).toEqual(own.success ? [own.data] : []);
  });

  it('a call of an MCP tool that may have begun is not sent again with arguments that the listed schema does not name', {
    ...promise('G216'),
  }, async () => {
    const { given, worker, plan: planned, change } = await changing();
    const plan = { ...(await planned()), effects: 'idempotent' as const };
    change(input);
    const { activities } = worker();
    const end = await environment({ attempt: 2 }).run(activities.runTool, runInput(plan));
    if (!runsBySchema) {
      expect(end).toMatchObject({ envelope: { error: { code: 'outcome_unknown' } } });
      expect(given).toEqual([]);
    } else if (input.safeParse(ARGUMENTS).success) expect(given).toHaveLength(1);
  });
});

describe('a call of an MCP tool that was approved', () => {
  it('is sent where an open object is admitted on purpose, also with fields that have no name any more', async () => {
    const { given, worker, plan: planned, change } = await changing();
    const plan = await planned();
    change(z.looseObject({ count: z.int() }));
    expect(await worker().run(plan)).toMatchObject({ envelope: { ok: true } });
    expect(given).toEqual([ARGUMENTS]);
  });
});
