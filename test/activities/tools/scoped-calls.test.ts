/** Calls that use services of their tenant, and secrets of its users. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { initColloquy } from '../../../src/define/init.js';
import { perTenant } from '../../../src/define/services/per-tenant.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import type { Tool } from '../../../src/define/tool/types.js';
import type { Effects } from '../../../src/protocol/calls/executors.js';
import { promise } from '../../support/promise.js';
import { environment, setUp, toolInput } from './fixtures.js';

const SECRET = 'tok-7f3a91c2';
type Services = { readonly rate: number };

const { defineTool } = initColloquy<{ services: Services }>();

const toolOf = (run: (ctx: ToolContext<Services>) => unknown, extra: object = {}): Tool<Services> =>
  defineTool({
    ...{ name: 'orders.find', description: 'Finds.', input: z.object({}) },
    run: (_, ctx) => run(ctx),
    ...extra,
  });

const input = (effects: Effects = 'idempotent') => toolInput({ name: 'orders.find', effects });

describe('a call', () => {
  it('has the services of its tenant', promise('G333'), async () => {
    const services = perTenant((tenant) => ({ rate: tenant === 'default' ? 3 : 5 }));
    const { activities } = setUp({ tools: [toolOf((ctx) => ctx.services.rate)], services });
    const run = (tenant: string) => environment().run(activities.runTool, { ...input(), tenant });
    expect(await Promise.all([run('default'), run('other')])).toMatchObject([
      { envelope: { ok: true, result: 3 } },
      { envelope: { ok: true, result: 5 } },
    ]);
  });

  it.each<[Effects, object]>([
    ['idempotent', { rejects: { type: 'tool_lost', nonRetryable: false } }],
    ['once', { returns: { ok: false, error: { code: 'not_available' } } }],
  ])(
    'with effects %s has not run when those services cannot be made',
    promise('G333'),
    async (effects, expected) => {
      let ran = 0;
      const services = perTenant((): Services => {
        throw new Error('the vault is sealed');
      });
      const tools = [toolOf(() => (ran += 1), { effects })];
      const { activities } = setUp({ tools, services });
      const end = await environment()
        .run(activities.runTool, input(effects))
        .then(
          (result) => ({ returns: 'envelope' in result ? result.envelope : result }),
          (error: unknown) => ({ rejects: error }),
        );
      expect(end).toMatchObject(expected);
      expect(ran).toBe(0);
    },
  );

  it('shows watchers and logs nothing of a secret', promise('G334'), async () => {
    const lines: string[] = [];
    const tool = toolOf(
      async (ctx) => {
        const token = await ctx.secret('token');
        ctx.progress({ token });
        ctx.logger.warn(`asks with ${token}`, { token, error: new Error(token) });
        throw new Error(`refused ${token}`);
      },
      { streaming: true },
    );
    const { activities, live } = setUp({
      tools: [tool],
      secrets: () => SECRET,
      log: (line) => lines.push(line),
    });
    const result = await environment().run(activities.runTool, input());
    const left = JSON.stringify([result, live, lines]);
    expect(left).not.toContain(SECRET);
    expect(live).toMatchObject([
      { type: 'tool_call_started' },
      { type: 'tool_progress', payload: { token: '[redacted]' } },
    ]);
    expect(result).toMatchObject({
      envelope: {
        ok: false,
        error: { message: expect.stringContaining('refused [redacted]') as string },
      },
    });
    expect(lines.join()).toContain('asks with [redacted]');
  });
});
