/** The snippets of agentic-core's documentation about approvals, written anew with `colloquy/compat`. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type CompletionEvent,
  completionEvents,
  completionOf,
  createTool,
} from '../../../src/compat/index.js';
import { calls, callsAll, says } from '../../../src/testing/index.js';
import { conversationWith, DomainService } from './agentic-core-parts.js';

describe('Human Approval', () => {
  const addDomain = createTool({
    id: 'web-fetch.add-domain',
    description: 'Allows a domain',
    input: z.object({ domain: z.string() }),
    output: z.object({ domain: z.string(), added: z.boolean() }),
    requireApproval: { required: true, reason: 'The domain stays allowed.' },
    invoke: async ({ input, services: container }) => ({
      domain: input.domain.toLowerCase(),
      added: await container.get(DomainService).addDomain(input.domain),
    }),
  });
  let asked = 0;
  const fetchPage = createTool({
    id: 'web-fetch.fetch',
    description: 'Fetches a page',
    input: z.object({ url: z.string() }),
    output: z.object({ status: z.number(), url: z.string() }),
    requireApproval: async ({ input, services: container }) => {
      asked += 1;
      const domain = new URL(input.url).hostname.toLowerCase();
      const allowed = await container.get(DomainService).isAllowed(domain);
      return { required: !allowed, reason: `"${domain}" is not allowed yet.` };
    },
    invoke: async ({ input, services: container }) =>
      await container.get(DomainService).fetch({ ...input, force: true }),
  });

  it('Static Approval and Approval Lifecycle: pending, asked for, approved, its result, completed', async () => {
    const t = await conversationWith(
      { tools: [addDomain] },
      calls('web-fetch.add-domain', { domain: 'Example.COM' }),
      says('Added.'),
    );
    await t.send('Add it');
    const reason = 'The domain stays allowed.';
    const call = { id: 'call_1', type: 'tool', function: 'web-fetch.add-domain' };
    const before: readonly CompletionEvent[] = [...completionEvents(t.events)];
    expect(before).toEqual([
      { type: 'output', output: { ...call, result: { type: 'pending', reason } } },
      {
        ...{ type: 'approval-requested', toolCallId: 'call_1', toolName: 'web-fetch.add-domain' },
        ...{ input: { domain: 'Example.COM' }, reason },
      },
    ]);
    await completionOf(t).approve('call_1');
    const output = { domain: 'example.com', added: true };
    expect([...completionEvents(t.events)].slice(2)).toEqual([
      { type: 'output', output: { ...call, result: { type: 'success', output } } },
      { type: 'output', output: { type: 'text', content: 'Added.' } },
      { type: 'completed', state: 'completed' },
    ]);
  });

  it('an error result takes the place of a rejected call, with the reason', async () => {
    const t = await conversationWith(
      { tools: [addDomain] },
      calls('web-fetch.add-domain', { domain: 'x.org' }),
      says('Not added.'),
    );
    await t.send('Add it');
    await completionOf(t).reject('call_1', 'not this one');
    expect(t.result('web-fetch.add-domain')).toMatchObject({
      ok: false,
      error: { code: 'denied', message: /not this one/ },
    });
    expect(t.text).toBe('Not added.');
  });

  it('Dynamic Approval: the function decides once, and invoke runs without another question', async () => {
    const t = await conversationWith(
      { tools: [fetchPage] },
      calls('web-fetch.fetch', { url: 'https://example.org/a' }),
      calls('web-fetch.fetch', { url: 'https://other.org/b' }),
      says('Read.'),
    );
    asked = 0;
    await t.send('Read both');
    const url = 'https://example.org/a';
    expect(t.result('web-fetch.fetch')).toEqual({ ok: true, result: { status: 200, url } });
    expect(t.pending).toMatchObject([{ reason: '"other.org" is not allowed yet.' }]);
    await completionOf(t).approve('call_2');
    expect([asked, t.text]).toEqual([2, 'Read.']);
  });

  it('several calls of one answer: the rest is processed after the approval, and may pause again', async () => {
    const t = await conversationWith(
      { tools: [addDomain, fetchPage] },
      callsAll([
        { name: 'web-fetch.add-domain', input: { domain: 'a.org' } },
        { name: 'web-fetch.fetch', input: { url: 'https://a.org/' } },
        { name: 'web-fetch.add-domain', input: { domain: 'b.org' } },
      ]),
      says('Both.'),
    );
    await t.send('Go');
    expect(t.pending.map(({ toolCallId }) => toolCallId)).toEqual(['call_1']);
    await completionOf(t).approve('call_1');
    // The second was allowed by the first.
    const url = 'https://a.org/';
    expect(t.result('web-fetch.fetch')).toEqual({ ok: true, result: { status: 200, url } });
    expect(t.pending.map(({ toolCallId }) => toolCallId)).toEqual(['call_3']);
    await completionOf(t).approve('call_3');
    expect(t.text).toBe('Both.');
  });
});
