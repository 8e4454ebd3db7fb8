/**
 * Client tools whose request is shaped on the server: who sees which payload, in which order, and under which digest.
 * Scenario S37.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, toolError } from '../../../../src/index.js';
import { MAX_PREPARED_BYTES } from '../../../../src/protocol/limits/service-limits.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { argsDigest } from '../../../../src/tools/shared/arguments.js';
import { promise } from '../../../support/promise.js';

const SECRET = 'token-4711';

function transfer(preflight: (input: unknown, ctx: unknown) => unknown, more: object = {}) {
  const tool = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    executor: 'client',
    input: z.object({ cents: z.int() }),
    preflight,
    ...more,
  });
  const model = script(calls('transfer', { cents: 5 }), says('Done.'));
  const agent = defineAgent({ name: 'bank', instructions: 'Help.', model, tools: [tool] });
  return { conversation: testConversation(agent), model };
}

const shaped = { iban: 'DE00', cents: 5, token: SECRET };

describe('a client tool with a preflight', () => {
  it('offers the shaped request to the client, under its digest; the model never reads it', {
    ...promise('G51', 'S37', 'X10', 'X13', 'X14', 'X18'),
  }, async () => {
    let seen: unknown;
    const { conversation, model } = transfer((input) => {
      seen = input;
      return shaped;
    });
    await conversation.send('Pay');
    expect(seen).toEqual({ cents: 5 });
    expect(conversation.pending).toMatchObject([
      { kind: 'client_execution', prompt: shaped, argsDigest: argsDigest(shaped) },
    ]);
    await conversation.resolve('transfer', { type: 'result', value: { done: true } });
    expect(conversation.result('transfer')).toEqual({ ok: true, result: { done: true } });
    expect(conversation.text).toBe('Done.');
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(model.requests)).not.toContain(SECRET);
  });

  it('is shaped once, then approved, then executed: all of the same payload, also over a roll-over', async () => {
    let shapings = 0;
    const { conversation } = transfer(
      () => {
        shapings += 1;
        return { ...shaped, shapings };
      },
      { approval: 'required' },
    );
    await conversation.send('Pay');
    const [asked] = conversation.pending;
    expect(asked).toMatchObject({ kind: 'approval', prompt: { shapings: 1 } });
    conversation.rollOver();
    const ofInput = argsDigest({ cents: 5 });
    const wrong = await conversation.resolve(
      'transfer',
      { type: 'approve' },
      {
        argsDigest: ofInput,
      },
    );
    expect(wrong.verdict).toBe('invalid');
    const digest = asked?.argsDigest ?? '';
    await conversation.resolve('transfer', { type: 'approve' }, { argsDigest: digest });
    expect(conversation.pending).toMatchObject([
      { kind: 'client_execution', prompt: asked?.prompt, argsDigest: digest },
    ]);
    expect(shapings).toBe(1);
  });

  it('cannot have its input edited by the approver: the edit would not be shaped', async () => {
    const { conversation } = transfer(() => shaped, { approval: 'required' });
    await conversation.send('Pay');
    const resolution = { type: 'approve', input: { cents: 500 } } as const;
    expect(await conversation.resolve('transfer', resolution)).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/resolution/input' }],
    });
    expect(conversation.pending).toHaveLength(1);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('not yours')), 'tool_error', /not yours/],
    ['returns a tool error', () => toolError('No such account'), 'tool_error', /^No such account$/],
    ['returns too much', () => 'x'.repeat(MAX_PREPARED_BYTES), 'invalid_output', /bytes/],
    ['returns a trap', () => ({ toJSON: thrower }), 'invalid_output', /trap/],
    ['takes too long', () => new Promise(() => undefined), 'timeout', /20ms/],
  ] as const)(
    'that %s waits for no client; the model reads why',
    promise('X14', 'X18', 'X21', 'X32'),
    async (_how, preflight, code, text) => {
      const more = { approval: 'required', timeouts: { run: '20ms' } };
      const { conversation } = transfer(preflight, more);
      await conversation.send('Pay');
      expect(conversation.eventTypes).not.toContain('suspension');
      expect(conversation.result('transfer')).toMatchObject({
        ok: false,
        error: { code, message: expect.stringMatching(text) as string },
      });
      expect(conversation.text).toBe('Done.');
    },
  );

  it('may shape nothing', async () => {
    const { conversation } = transfer(() => undefined);
    await conversation.send('Pay');
    expect(conversation.pending).toMatchObject([{ prompt: null }]);
  });

  it('is not shaped for a call that cannot run', async () => {
    let asked = false;
    const { conversation } = transfer(
      () => {
        asked = true;
      },
      { input: z.object({ cents: z.string() }) },
    );
    await conversation.send('Pay');
    expect(asked).toBe(false);
    expect(conversation.result('transfer')).toMatchObject({ error: { code: 'invalid_input' } });
  });
});

function thrower(): never {
  throw new Error('trap');
}

describe('a preflight', () => {
  const base = { name: 'x', description: 'X.', input: z.object({}) };

  it('is for client tools, and a function', () => {
    const define = (spec: object) => () => defineTool(spec as never);
    expect(define({ ...base, run: () => 1, preflight: () => 1 })).toThrow(/preflight/);
    expect(define({ ...base, executor: 'human', preflight: () => 1 })).toThrow(/preflight/);
    expect(define({ ...base, executor: 'client', preflight: 'no' })).toThrow(/preflight/);
    const timeouts = { run: '1s' };
    expect(define({ ...base, executor: 'client', timeouts })).toThrow(/timeouts.run/);
  });
});
