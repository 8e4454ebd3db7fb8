/** A tool is changed while its call waits for an approval: the input of the new code, by executor and by change. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { httpTool } from '../../../src/define/http-tool.js';
import { inputJsonSchema, jsonSchema } from '../../../src/define/schemas/schema.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { promise } from '../../support/promise.js';
import { json, startPeer } from '../../support/servers/http-peer.js';
import {
  ARGUMENTS,
  agentOf,
  BEFORE,
  expectViewsOfAll,
  INPUT_CHANGES,
  Runs,
  serverTool,
  waiting,
} from './deploys.js';

afterEach(expectViewsOfAll);

const CHANGED = { ok: false, error: { code: 'definition_changed' } };

/** Executors other than `server`: none of the engine's code runs the call. */
const OTHERS: Readonly<Record<string, (input: z.ZodType) => AnyTool>> = {
  client: (input) => toolOf('client', input),
  'client with a preflight': (input) =>
    toolOf('client', input, { preflight: (given: unknown) => ({ shaped: given }) }),
  external: (input) => toolOf('external', input),
  internal: (input) => toolOf('internal', input),
};

function toolOf(executor: string, input: z.ZodType, more: object = {}): AnyTool {
  const fields = { name: 'order', description: 'Orders.', approval: 'required', executor, input };
  return defineTool({ ...fields, ...more } as never);
}

describe.each(INPUT_CHANGES)('when $what', ({ input, runs, runsBySchema = runs }) => {
  it('a server call that was approved after it runs with arguments that mean the same, or not at all', {
    ...promise('G215'),
  }, async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    await t.deploy(agentOf([serverTool(code, input)]));
    await t.approve('order');
    if (runs) {
      expect(code.inputs).toEqual([ARGUMENTS]);
      expect(t.result('order')).toEqual({ ok: true, result: 'done' });
      expect(t.eventTypes).not.toContain('definition_changed');
    } else {
      expect(code.inputs).toEqual([]);
      expect(t.result('order')).toMatchObject(CHANGED);
    }
    expect(t.text).toBe('Done.');
    t.expectNothingOpen();
  });

  it('a server call of a tool with a JSON Schema that was approved after it runs with arguments that it names, or not at all', {
    ...promise('G215'),
  }, async () => {
    const code = new Runs();
    const tool = (schema: z.ZodType) =>
      serverTool(code, jsonSchema(inputJsonSchema(schema).jsonSchema));
    const t = await waiting([tool(BEFORE)]);
    await t.deploy(agentOf([tool(input)]));
    await t.approve('order');
    expect(code.inputs).toEqual(runsBySchema ? [ARGUMENTS] : []);
    expect(t.result('order')).toMatchObject(runsBySchema ? { ok: true } : CHANGED);
    t.expectNothingOpen();
  });

  it('an HTTP tool whose call was approved after it makes the request with arguments that mean the same, or none', {
    ...promise('G215'),
  }, async () => {
    await using peer = await startPeer(json('"done"'));
    const tool = (schema: z.ZodType) =>
      httpTool({
        ...{ name: 'order', description: 'Orders.', approval: 'required', input: schema },
        ...{ method: 'POST', url: peer.url, allowPrivate: ['127.0.0.1'] },
      } as never) as AnyTool;
    const t = await waiting([tool(BEFORE)]);
    await t.deploy(agentOf([tool(input)]));
    await t.approve('order');
    expect(peer.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
      runs ? [ARGUMENTS] : [],
    );
    if (!runs) expect(t.result('order')).toMatchObject(CHANGED);
    t.expectNothingOpen();
  });

  it.each(Object.keys(OTHERS))(
    'a call of another executor that was approved after it is offered with arguments that mean the same, or ends: %s',
    promise('G215'),
    async (executor) => {
      const make = OTHERS[executor]!;
      const t = await waiting([make(BEFORE)]);
      await t.deploy(agentOf([make(input)]));
      await t.approve('order');
      if (!runs) {
        expect(t.result('order')).toMatchObject(CHANGED);
        t.expectNothingOpen();
        return;
      }
      if (executor === 'internal') {
        expect(t.result('order')).toEqual({
          ok: true,
          result: { success: true, args: ARGUMENTS },
        });
        return;
      }
      const shaped = executor.includes('preflight') ? { shaped: ARGUMENTS } : ARGUMENTS;
      expect(t.snapshot.pending).toMatchObject([
        { kind: /client|external/.exec(executor)![0] + '_execution', prompt: shaped },
      ]);
      await t.answer('order', 'fetched');
      expect(t.result('order')).toEqual({ ok: true, result: 'fetched' });
    },
  );
});

describe('an approver of a call whose tool was changed', () => {
  it('learns so from the log, from the result and from the verdict on later answers', {
    ...promise('G215'),
  }, async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    const renamed = z.object({ orderId: z.string().optional(), count: z.int() });
    await t.deploy(agentOf([serverTool(code, renamed)]));
    const [call] = t.calls('order');
    await t.approve('order', { requestId: 'click-1', actor: { id: 'ann' } });
    expect(t.eventsOf('definition_changed')).toMatchObject([
      {
        toolCallId: call?.toolCallId,
        from: expect.stringMatching(/^sha256:/) as string,
        definition: expect.stringMatching(/^sha256:/) as string,
        approver: { id: 'ann' },
      },
    ]);
    expect(t.result('order')).toMatchObject({
      error: {
        message: expect.stringMatching(/was changed after it was called.*did not run/) as string,
      },
    });
    const again = await t.resolve('order', { type: 'approve' }, { requestId: 'click-2' });
    expect(again).toMatchObject({
      verdict: 'stale',
      by: 'ann',
      status: 'errored',
      code: 'definition_changed',
    });
    t.rollOver();
    expect(await t.resolve('order', { type: 'deny' })).toMatchObject({
      code: 'definition_changed',
    });
    expect(code.inputs).toEqual([]);
  });

  it('may still deny it, and let it expire', async () => {
    const code = new Runs();
    const renamed = z.object({ orderId: z.string() });
    for (const end of ['deny', 'expire'] as const) {
      const t = await waiting([serverTool(code, BEFORE)]);
      await t.deploy(agentOf([serverTool(code, renamed)]));
      if (end === 'deny') await t.deny('order', 'no');
      else await t.advance('2 days');
      expect(t.result('order')).toMatchObject({
        error: { code: end === 'deny' ? 'denied' : 'expired' },
      });
    }
    expect(code.inputs).toEqual([]);
  });

  it('may edit it into the new form', async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    const renamed = z.object({ orderId: z.string(), count: z.int() });
    await t.deploy(agentOf([serverTool(code, renamed)]));
    await t.approve('order', { input: { orderId: 'a7', count: 5 } });
    expect(code.inputs).toEqual([{ orderId: 'a7', count: 5 }]);
    expect(t.result('order')).toEqual({ ok: true, result: 'done' });
  });
});

describe('a call that waited in another way', () => {
  const renamed = z.object({ orderId: z.string().optional(), count: z.int() });

  it('is judged again after a roll-over', async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    t.rollOver();
    await t.deploy(agentOf([serverTool(code, renamed)]));
    t.rollOver();
    await t.approve('order');
    expect([code.inputs, t.result('order')]).toMatchObject([[], CHANGED]);
  });

  it('is not offered, also after a decision by a rule', async () => {
    const tool = (input: z.ZodType) => toolOf('client', input);
    const t = await waiting([tool(BEFORE)]);
    await t.deploy(agentOf([tool(renamed)]));
    await t.approve('order', { remember: { for: 'conversation' } });
    expect(t.result('order')).toMatchObject(CHANGED);
  });

  it('keeps the input of its offer, once it was offered', async () => {
    const tool = (input: z.ZodType) => toolOf('external', input);
    const t = await waiting([tool(BEFORE)]);
    await t.approve('order');
    const claim = t.claim('order', { actor: { id: 'backend' } });
    await t.deploy(agentOf([tool(renamed)]));
    expect(t.snapshot.pending).toMatchObject([{ prompt: ARGUMENTS, claim: { by: 'backend' } }]);
    const claimId = 'claimId' in claim ? claim.claimId : '';
    await t.answer('order', 'done', { claimId, actor: { id: 'backend' } });
    expect(t.result('order')).toEqual({ ok: true, result: 'done' });
  });
});
