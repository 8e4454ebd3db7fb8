/** Calls of servers with the older protocol that stay open during a question: they must not be repeated. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { AgentSettingsSpec } from '../../../src/define/agent/settings.js';
import { MCP_HELD_SLACK_MS } from '../../../src/define/mcp/limits.js';
import type { McpHttpServerSpec } from '../../../src/define/mcp/spec.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import type { Question } from '../../../src/protocol/calls/questions.js';
import { isRecord } from '../../../src/protocol/values/json.js';
import type { RunToolResult } from '../../../src/protocol/workflow/activities.js';
import { startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { after, mcpWorker, questionIn, textIn } from './setup.js';

type More = Partial<Omit<McpHttpServerSpec, 'name'>>;

const BRANCH = z.object({ branch: z.string() });
const QUEUE = 'colloquy-held-1';

/** A server that pushes as many questions as requested, and records the starts and ends of its work. */
async function asking(more: More = {}, settings: AgentSettingsSpec = {}) {
  const runs: string[] = [];
  const { url } = await startOldMcpServer(() => {
    const server = new McpServer({ name: 'old', version: '1' });
    const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
    const input = { description: 'Pushes.', inputSchema: z.object({ questions: z.number() }) };
    server.registerTool('push', input, ({ questions }, { mcpReq }) => {
      const given = mcpReq.inputResponses?.['branch'];
      const answers = JSON.parse(mcpReq.requestState<string>() ?? '[]') as unknown[];
      if (given === undefined) {
        runs.push('begun');
        mcpReq.signal.addEventListener('abort', () => runs.push('cancelled'));
      } else answers.push(isRecord(given) ? (given['content'] ?? given['action']) : given);
      if (answers.length < questions)
        return inputRequired({
          requestState: JSON.stringify(answers),
          inputRequests: {
            branch: inputRequired.elicit({
              message: `Which branch, ${answers.length + 1}?`,
              requestedSchema: BRANCH,
            }),
          },
        });
      runs.push('ended');
      return text(`pushed to ${JSON.stringify(answers)}`);
    });
    const other = { description: 'Looks.', inputSchema: z.object({}) };
    server.registerTool('look', other, () => text('seen'));
    return server;
  });
  const server = mcpServer({ name: 'old', url, ...more });
  const worker = (ownQueue: () => Promise<string> = () => Promise.resolve(QUEUE)) =>
    mcpWorker({ mcpServers: [server], settings, ownQueue });
  return { worker, runs };
}

/** A question names the queue of the worker that holds its call. */
function heldIn(end: RunToolResult): Question {
  if (!('ask' in end)) throw new Error(`no question: ${JSON.stringify(end)}`);
  return end.ask;
}

afterEach(() => vi.useRealTimers());

const MAIN = { answer: { value: { branch: 'main' } } };

describe('a call that must not be repeated, whose server asks in the middle of it', () => {
  it('stays open during the question, and continues with the answer: the server has worked once', {
    ...promise('G150'),
  }, async () => {
    const { worker, runs } = await asking();
    const holder = worker();
    const plan = await holder.plan('old.push', { questions: 1 });
    expect(plan.effects).toBe('once');
    const end = await holder.run(plan);
    expect(heldIn(end)).toMatchObject({
      reason: 'Which branch, 1? (asked by the MCP server "old")',
      form: { properties: { branch: { type: 'string' } }, required: ['branch'] },
      heldAt: QUEUE,
    });
    expect(runs).toEqual(['begun']);
    const last = await holder.run(plan, after(questionIn(end), MAIN));
    expect(textIn(last)).toBe('pushed to [{"branch":"main"}]');
    expect(runs).toEqual(['begun', 'ended']);
  });

  it('may ask more than once, and receives a decline', async () => {
    const { worker, runs } = await asking();
    const holder = worker();
    const plan = await holder.plan('old.push', { questions: 2 });
    const first = questionIn(await holder.run(plan));
    const second = await holder.run(plan, after(first, MAIN));
    expect(heldIn(second)).toMatchObject({ heldAt: QUEUE });
    expect(questionIn(second).reason).toMatch(/^Which branch, 2\?/);
    const last = await holder.run(plan, after(questionIn(second), { declined: {} }, 2));
    expect(textIn(last)).toBe('pushed to [{"branch":"main"},"decline"]');
    expect(runs).toEqual(['begun', 'ended']);
  });

  it('has an unknown outcome in any other worker, which does not repeat it', async () => {
    const { worker, runs } = await asking();
    const plan = await worker().plan('old.push', { questions: 1 });
    const question = questionIn(await worker().run(plan));
    expect(await worker().run(plan, after(question, MAIN))).toMatchObject({
      envelope: { ok: false, error: { code: 'outcome_unknown' } },
    });
    expect(runs).toEqual(['begun']);
  });

  it('receives a cancel when its worker stops', promise('G150'), async () => {
    const { worker, runs } = await asking();
    const holder = worker();
    await holder.run(await holder.plan('old.push', { questions: 1 }));
    await holder.mcp.close();
    await until('the server goes on', () => runs, { holds: (seen) => seen.length === 2 });
  });

  it.each([
    ['its server', { timeouts: { answer: '200ms' } }, {}],
    ['its agent', {}, { timeouts: { human: '200ms' } }],
  ] as const)(
    'receives a cancel when the time for the answer set by %s is over',
    promise('G152'),
    async (_whose, more, settings) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
      const { worker, runs } = await asking(more, settings);
      const holder = worker();
      const plan = await holder.plan('old.push', { questions: 1 });
      const question = questionIn(await holder.run(plan));
      // An answer at the last moment still finds the call.
      vi.advanceTimersByTime(1_000);
      expect(textIn(await holder.run(plan, after(question, MAIN)))).toMatch('main');
      const late = questionIn(await holder.run(plan));
      runs.length = 0;
      vi.advanceTimersByTime(200 + MCP_HELD_SLACK_MS);
      await until('the server goes on', () => runs, { holds: (seen) => seen.length === 1 });
      // An answer that was in flight is too late.
      expect(await holder.run(plan, after(late, MAIN))).toMatchObject({
        envelope: { ok: false, error: { code: 'outcome_unknown' } },
      });
    },
  );

  it('is held for the time in its plan, even if its author has changed that since', {
    ...promise('G152'),
  }, async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    const { worker } = await asking({ timeouts: { answer: '200ms' } });
    const holder = worker();
    const made = await holder.plan('old.push', { questions: 1 });
    const plan = { ...made, timeouts: { ...made.timeouts, answerMs: 50_000 } };
    const question = questionIn(await holder.run(plan));
    vi.advanceTimersByTime(40_000);
    expect(textIn(await holder.run(plan, after(question, MAIN)))).toBe(
      'pushed to [{"branch":"main"}]',
    );
  });

  it('is not held if its run has ended in the meantime: the server receives a cancellation', {
    ...promise('G152'),
  }, async () => {
    const { worker, runs } = await asking();
    let place: (queue: string) => void = () => undefined;
    const holder = worker(() => new Promise((resolve) => (place = resolve)));
    const made = await holder.plan('old.push', { questions: 1 });
    const plan = { ...made, timeouts: { ...made.timeouts, runMs: 500 } };
    expect(await holder.run(plan)).toMatchObject({
      envelope: { ok: false, error: { code: 'timeout' } },
    });
    expect(runs).toEqual(['begun']);
    place(QUEUE);
    await until('the server hears it', () => runs, { holds: (seen) => seen.length === 2 });
    expect(runs).toEqual(['begun', 'cancelled']);
  });

  it('blocks neither calls of other tools nor further questions', async () => {
    const { worker } = await asking();
    const holder = worker();
    const plan = await holder.plan('old.push', { questions: 1 });
    const first = questionIn(await holder.run(plan));
    expect(textIn(await holder.run(await holder.plan('old.look')))).toBe('seen');
    const again = await holder.plan('old.push', { questions: 1 });
    const second = questionIn(await holder.run(again));
    const other = { answer: { value: { branch: 'other' } } };
    expect(textIn(await holder.run(again, after(second, other)))).toBe(
      'pushed to [{"branch":"other"}]',
    );
    expect(textIn(await holder.run(plan, after(first, MAIN)))).toBe(
      'pushed to [{"branch":"main"}]',
    );
  });

  it('receives a cancel if its worker cannot hold it', async () => {
    const { worker, runs } = await asking();
    const lame = worker(() => Promise.reject(new Error('no connection')));
    const end = await lame.run(await lame.plan('old.push', { questions: 1 }));
    expect(textIn(end)).toMatch(
      /^pushed to \["cancel"\]\n\[The server asked .*Which branch, 1\?\]$/,
    );
    expect(runs).toEqual(['begun', 'ended']);
  });

  it('is also held for repeatable tools, if the author chooses so', async () => {
    const { worker, runs } = await asking({ effects: 'idempotent', pushedQuestions: 'hold' });
    const holder = worker();
    const plan = await holder.plan('old.push', { questions: 1 });
    const question = questionIn(await holder.run(plan));
    expect(textIn(await holder.run(plan, after(question, MAIN)))).toBe(
      'pushed to [{"branch":"main"}]',
    );
    expect(runs).toEqual(['begun', 'ended']);
  });
});
