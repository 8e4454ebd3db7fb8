/** Calls that a tool's author carries over to its new definition: the approved call runs, in its new form. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { TestConversation } from '../../../src/testing/test-conversation.js';
import { definitionOf } from '../../../src/tools/definition/digest.js';
import { argsDigest } from '../../../src/tools/shared/arguments.js';
import { promise } from '../../support/promise.js';
import {
  ARGUMENTS,
  agentOf,
  BEFORE,
  expectViewsOfAll,
  Runs,
  serverTool,
  waiting,
} from './deploys.js';

afterEach(expectViewsOfAll);

const AFTER = z.object({
  orderId: z.string(),
  count: z.int(),
  express: z.boolean().default(false),
});
const CARRIED = { orderId: 'a7', count: 5, express: false };

type Migrate = (raw: unknown, from: string) => unknown;

const rename: Migrate = (raw) => {
  const { order, count } = raw as typeof ARGUMENTS;
  return { orderId: order, count };
};

async function deployed(migrate: Migrate, more: object = {}) {
  const code = new Runs();
  const t = await waiting([serverTool(code, BEFORE)]);
  await t.deploy(agentOf([serverTool(code, AFTER, { migrate, ...more })]));
  await t.approve('order', { requestId: 'click-1', actor: { id: 'ann' } });
  return { t, code };
}

function digestOf(t: TestConversation<never>): string {
  return t.snapshot.pending[0]?.argsDigest ?? '';
}

describe('a call that migrate carries over', () => {
  it('waits for another approval, in its new form and under a new digest, and then runs', {
    ...promise('G215'),
  }, async () => {
    const { t, code } = await deployed(rename);
    expect(code.inputs).toEqual([]);
    expect(t.snapshot.pending).toMatchObject([
      { kind: 'approval', prompt: CARRIED, argsDigest: argsDigest(CARRIED), revised: true },
    ]);
    const second = { requestId: 'click-2', actor: { id: 'bob' }, argsDigest: digestOf(t) };
    await t.approve('order', second);
    expect(code.inputs).toEqual([CARRIED]);
    expect(t.result('order')).toEqual({ ok: true, result: 'done' });
    t.expectNothingOpen();
  });

  it('stands in the log with both digests, the new input, and its approver', async () => {
    const { t } = await deployed(rename);
    const before = t.eventsOf('tool_call')[0]?.call.definition;
    expect(t.eventsOf('definition_changed')).toMatchObject([
      { from: before, approver: { id: 'ann' } },
    ]);
    expect(t.eventsOf('input_migrated')).toMatchObject([
      { from: before, input: CARRIED, argsDigest: argsDigest(CARRIED) },
    ]);
    expect(t.eventsOf('input_migrated')[0]?.definition).not.toBe(before);
  });

  it('gets the arguments as the model wrote them, and the digest that they were written for', async () => {
    const given: unknown[] = [];
    const code = new Runs();
    const withDefault = BEFORE.extend({ currency: z.string().default('EUR') });
    const tool = serverTool(code, withDefault);
    const t = await waiting([tool]);
    const migrate: Migrate = (...args) => {
      given.push(...args);
      return undefined;
    };
    await t.deploy(agentOf([serverTool(code, AFTER, { migrate })]));
    await t.approve('order');
    expect(given).toEqual([ARGUMENTS, definitionOf(tool).definition]);
  });

  it('cannot be approved by a client that has not seen its new form', promise('G215'), async () => {
    const { t, code } = await deployed(rename);
    const repeated = await t.resolve('order', { type: 'approve' }, { requestId: 'click-1' });
    const clicked = await t.resolve('order', { type: 'approve' }, { requestId: 'click-2' });
    const old = argsDigest(ARGUMENTS);
    const named = await t.resolve('order', { type: 'approve' }, { argsDigest: old });
    for (const verdict of [repeated, clicked, named])
      expect(verdict).toMatchObject({ verdict: 'invalid', problems: [{ path: '/argsDigest' }] });
    expect(code.inputs).toEqual([]);
    await t.deny('order');
    expect(t.result('order')).toMatchObject({ error: { code: 'denied' } });
  });

  it('is not approved by a rule that was made before it was carried over', async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    await t.deploy(agentOf([serverTool(code, AFTER, { migrate: rename })]));
    await t.approve('order', { remember: { for: 'conversation' } });
    expect([code.inputs, t.snapshot.pending.length]).toEqual([[], 1]);
  });

  it('is judged by the policies, whose decision on the new input counts', async () => {
    const { t, code } = await deployed(rename, { approval: () => ({ deny: 'not any more' }) });
    expect(t.result('order')).toMatchObject({ error: { code: 'denied', message: 'not any more' } });
    expect(code.inputs).toEqual([]);
    const roles = ['lead'];
    const asks = await deployed(rename, {
      approval: () => ({ ask: { reason: 'Anew', audience: { roles } } }),
    });
    expect(asks.t.snapshot.pending).toMatchObject([{ reason: 'Anew', audience: { roles } }]);
  });

  it('is approved anew although the present policies would let it run', async () => {
    const { t, code } = await deployed(rename, { approval: 'auto' });
    expect([code.inputs, t.snapshot.pending.length]).toEqual([[], 1]);
  });

  it('has its total time, and expires like any other', async () => {
    const { t, code } = await deployed(rename);
    await t.advance('2 days');
    expect(t.result('order')).toMatchObject({ error: { code: 'expired' } });
    expect(code.inputs).toEqual([]);
  });

  it('is carried over once more when the tool changes again, and over a roll-over', async () => {
    const { t, code } = await deployed(rename);
    t.rollOver();
    const third = z.object({ id: z.string() });
    const migrate: Migrate = (raw) => ({ id: (raw as { orderId: string }).orderId });
    await t.deploy(agentOf([serverTool(code, third, { migrate })]));
    await t.approve('order', { argsDigest: digestOf(t) });
    expect(t.snapshot.pending).toMatchObject([{ prompt: { id: 'a7' }, revised: true }]);
    await t.approve('order', { argsDigest: digestOf(t) });
    expect(code.inputs).toEqual([{ id: 'a7' }]);
  });
});

describe('a call that migrate cannot carry over', () => {
  it.each<[string, Migrate, RegExp]>([
    ['says that it cannot', () => undefined, /was changed after it was called/],
    [
      'throws',
      () => {
        throw new Error('no such order');
      },
      /its migrate failed: no such order/,
    ],
    ['returns what is no input', () => ({ orderId: 7 }), /its migrate returned invalid arguments/],
    ['returns what is no JSON', () => ({ orderId: 1n }), /its migrate returned invalid arguments/],
  ])('ends with definition_changed when migrate %s', async (_what, migrate, text) => {
    const { t, code } = await deployed(migrate);
    expect(code.inputs).toEqual([]);
    expect(t.result('order')).toMatchObject({
      error: { code: 'definition_changed', message: expect.stringMatching(text) as string },
    });
    t.expectNothingOpen();
  });

  it('is not migrated where the tool has another executor now', async () => {
    const code = new Runs();
    const t = await waiting([serverTool(code, BEFORE)]);
    let isAsked = false;
    const client = defineTool({
      ...{ name: 'order', description: 'Orders.', executor: 'client', input: BEFORE },
      migrate: (raw: unknown) => {
        isAsked = true;
        return raw;
      },
    } as never) as AnyTool;
    await t.deploy(agentOf([client]));
    await t.approve('order');
    expect(t.result('order')).toMatchObject({ error: { code: 'definition_changed' } });
    expect(isAsked).toBe(false);
  });
});

describe('a client call that is carried over', () => {
  const client = (input: z.ZodType, more: object = {}) =>
    defineTool({
      ...{ name: 'order', description: 'Orders.', approval: 'required', executor: 'client', input },
      ...more,
    } as never) as AnyTool;

  it('is approved anew, and then offered in its new form', async () => {
    const t = await waiting([client(BEFORE)]);
    await t.deploy(agentOf([client(AFTER, { migrate: rename })]));
    await t.approve('order');
    expect(t.snapshot.pending).toMatchObject([{ kind: 'approval', prompt: CARRIED }]);
    await t.approve('order', { argsDigest: digestOf(t) });
    expect(t.snapshot.pending).toMatchObject([{ kind: 'client_execution', prompt: CARRIED }]);
    await t.answer('order', 'done');
    expect(t.result('order')).toEqual({ ok: true, result: 'done' });
  });

  it('has its request shaped anew before it is approved anew', async () => {
    const preflight = (given: unknown) => ({ shaped: given });
    const t = await waiting([client(BEFORE, { preflight })]);
    expect(t.snapshot.pending).toMatchObject([{ prompt: { shaped: ARGUMENTS } }]);
    await t.deploy(agentOf([client(AFTER, { preflight, migrate: rename })]));
    await t.approve('order');
    expect(t.snapshot.pending).toMatchObject([{ kind: 'approval', prompt: { shaped: CARRIED } }]);
    await t.approve('order', { argsDigest: digestOf(t) });
    expect(t.snapshot.pending).toMatchObject([
      { kind: 'client_execution', prompt: { shaped: CARRIED } },
    ]);
  });
});

describe('the fields of a definition for changes', () => {
  it('are judged where the tool is defined', () => {
    const define = (more: object) => () =>
      defineTool({ name: 'order', description: 'Orders.', input: BEFORE, ...more } as never);
    const run = () => 'done';
    expect(define({ run, version: '' })).toThrow(/version: must be a text of 1 to 64 characters/);
    expect(define({ run, migrate: 'rename' })).toThrow(/migrate: must be a function/);
    expect(define({ executor: 'human', migrate: run })).toThrow(/migrate: does not apply to human/);
    expect(define({ run, version: '2', migrate: rename })).not.toThrow();
  });
});
