/** Secrets that a tool uses: they serve the call, and nothing that the call leaves holds them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SecretRequest, ToolContext } from '../../../src/index.js';
import {
  defineAgent,
  defineConnection,
  definePlugin,
  defineTool,
  ToolRetry,
  toolError,
} from '../../../src/index.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const SECRET = 'tok/Ä 7f3a-very-"secret"';
const FORMS = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')];
const notes = definePlugin({ id: 'notes', state: z.object({ text: z.string().default('') }) });
const crm = defineConnection({
  name: 'crm',
  open: async ({ secret }) => ({ key: await secret('crm') }),
});

type Run = (ctx: ToolContext) => unknown;

function conversationOf(run: Run, extra: object = {}) {
  const lines: unknown[] = [];
  const line = (...given: readonly unknown[]): void => void lines.push(given);
  const tool = defineTool({
    name: 'use',
    description: 'Uses a secret.',
    input: z.object({}),
    run: (_, ctx) => run(ctx),
    ...extra,
  });
  const agent = defineAgent({
    name: 'support',
    model: script(calls('use', {}), says('done')),
    instructions: 'Help.',
    tools: [tool],
    plugins: [notes],
  });
  const asked: SecretRequest[] = [];
  const conversation = testConversation(agent, {
    secrets: (request) => {
      asked.push(request);
      return request.name === 'absent' ? undefined : request.name === 'short' ? 'abc' : SECRET;
    },
    logger: { debug: line, info: line, warn: line, error: line },
  });
  return { conversation, lines, asked };
}

describe('a secret', promise('G334'), () => {
  it('is found for the tenant and the requester, once for each call', async () => {
    const { conversation, asked } = conversationOf(async ({ secret }) => [
      (await secret('token')) === SECRET,
      (await secret('token')) === SECRET,
    ]);
    await conversation.send('go', { actor: { id: 'lena' } });
    expect(conversation.result('use')).toEqual({ ok: true, result: [true, true] });
    expect(asked).toMatchObject([{ name: 'token', tenant: 'default', user: { id: 'lena' } }]);
  });

  it.each<[string, Run]>([
    ['returned', async ({ secret }) => ({ [await secret('token')]: FORMS, n: undefined })],
    [
      'thrown',
      async ({ secret }) => {
        throw new Error(`refused ${await secret('token')}`);
      },
    ],
    ['returned as an error', async ({ secret }) => toolError(`refused ${await secret('token')}`)],
    [
      'the message of a retry',
      async ({ secret }) => {
        throw new ToolRetry({ message: await secret('token') });
      },
    ],
    [
      'written to a state',
      async (ctx) => {
        ctx.setState(notes, { text: await ctx.secret('token') });
      },
    ],
    [
      'the reason of a question',
      async (ctx) =>
        ctx.ask({ form: z.object({ ok: z.boolean() }), reason: await ctx.secret('token') }),
    ],
    [
      'the state of a question',
      async (ctx) =>
        ctx.ask({
          form: z.object({ ok: z.boolean() }),
          state: { kept: await ctx.secret('token') },
        }),
    ],
    ['of a connection', async (ctx) => (await ctx.connection(crm)).key],
    [
      'logged',
      async (ctx) => {
        ctx.logger.info(`with ${await ctx.secret('token')}`, { token: await ctx.secret('token') });
        ctx.logger.event('info', 'used', { token: await ctx.secret('token') });
      },
    ],
    [
      'at the end of a large result',
      async ({ secret }) => 'x'.repeat(70_000) + (await secret('token')),
    ],
  ])('that is %s is in no event, state, request or log line', async (_, run) => {
    const { conversation, lines } = conversationOf(run);
    await conversation.send('go');
    const kept = JSON.stringify([
      conversation.events,
      conversation.pending,
      conversation.result('use'),
      lines,
    ]);
    for (const form of FORMS) expect(kept).not.toContain(JSON.stringify(form).slice(1, -1));
    expect(kept).toContain('[redacted]');
  });

  it.each([
    ['absent', 'There is no secret "absent"'],
    [
      'short',
      'The secret "short" has fewer than 4 characters: it could not be kept out of results',
    ],
  ])('that is %s is an error of the call', async (name, message) => {
    const { conversation } = conversationOf(({ secret }) => secret(name));
    await conversation.send('go');
    expect(conversation.result('use')).toMatchObject({
      ok: false,
      error: { code: 'tool_error', message: expect.stringContaining(message) as string },
    });
  });

  it('that cannot be looked up is looked up again by the next attempt', async () => {
    let count = 0;
    const tool = defineTool({
      name: 'use',
      description: 'Uses a secret.',
      input: z.object({}),
      effects: 'idempotent',
      maxAttempts: 3,
      run: async (_, ctx) => (await ctx.secret('token')) === SECRET,
    });
    const conversation = testConversation(
      defineAgent({
        name: 'support',
        model: script(calls('use', {}), says('done')),
        instructions: 'Help.',
        tools: [tool],
      }),
      {
        secrets: () => {
          count += 1;
          if (count === 1) throw new Error(`no answer to ${SECRET}`);
          return SECRET;
        },
      },
    );
    await conversation.send('go');
    expect(conversation.result('use')).toEqual({ ok: true, result: true });
  });
});
