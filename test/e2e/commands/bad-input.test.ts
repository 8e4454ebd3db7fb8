/**
 * Malformed input on every route of a real API process: each reply names the problem, no history is written, and every
 * process stays up.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineHistory } from '../../support/engine/history.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { BAD_REQUESTS, type Expected } from '../fixtures/broken/bad-requests.js';
import { call, type Fields, type Reply } from '../support/api.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
/** A conversation with waiting calls, which no malformed input may change. */
let talk: Talk;
let refundId: string;
let questionId: string;
let historyBefore: number;

beforeAll(async () => {
  world = await startWorld();
  talk = world.talk('untouched');
  await talk.begin('support', 'hello');
  const pending = await talk.waiting(3);
  refundId = pending.get('payments.refund')?.toolCallId ?? '';
  questionId = pending.get('customer.ask')?.toolCallId ?? '';
  historyBefore = await new EngineHistory(world.temporal).count(talk.workflowId);
});
afterAll(() => world.stop());

function expectProblem(reply: Reply, { status, code, path, says }: Expected): void {
  const { type, title, detail, ...rest } = reply.body;
  expect({ ...rest, contentType: reply.contentType }).toMatchObject({
    status,
    code,
    contentType: expect.stringContaining('application/problem+json') as string,
  });
  expect(type).toBe(`urn:colloquy:problem:${code}`);
  expect(title).toBeTypeOf('string');
  expect(detail).toMatch(says);
  expect(reply.status).toBe(status);
  if (path === undefined) return;
  const errors = reply.body['errors'] as readonly { path: string; message: string }[];
  expect(errors.map((error) => error.path)).toContain(path);
}

describe('bad input over HTTP', () => {
  it.each(BAD_REQUESTS)(
    '%s is refused with a problem that names the field',
    async (_, path, request, expected) => {
      const place = path.replace('{refund}', refundId).replace('{question}', questionId);
      expectProblem(await call(`${world.apiUrl}${place}`, request), expected);
    },
  );

  it.each([
    [
      'an answer of the wrong shape',
      '{question}',
      { type: 'answer', value: { answer: '' } },
      422,
      { verdict: 'invalid' },
    ],
    [
      'an answer without its field',
      '{question}',
      { type: 'answer', value: {} },
      422,
      { verdict: 'invalid' },
    ],
    [
      'an answer to an approval',
      '{refund}',
      { type: 'answer', value: 'yes' },
      409,
      { verdict: 'stale', why: 'other_kind', openKind: 'approval' },
    ],
    [
      'an unknown call',
      'call_99',
      { type: 'approve' },
      404,
      { verdict: 'unknown', what: 'tool_call' },
    ],
  ] as const)(
    '%s gets a verdict, and the call stays open',
    async (_, id, resolution, status, verdict) => {
      const callId = id.replace('{refund}', refundId).replace('{question}', questionId);
      const reply = await talk.resolve(callId, resolution);
      expect(reply).toMatchObject({ status, body: verdict });
      if (status !== 422) return;
      const [problem] = reply.body['problems'] as readonly Fields[];
      // The path of the field itself, or of its parent when the field is missing.
      expect(problem?.['path']).toMatch(/^\/resolution\/value(\/answer)?$/);
      expect(`${String(problem?.['path'])} ${String(problem?.['message'])}`).toContain('answer');
      expect((await talk.waiting(3)).size).toBe(3);
    },
  );

  it('a resolution for an unknown conversation starts no workflow', async () => {
    const reply = await world.talk('nowhere').resolve('call_1', { type: 'approve' });
    expect(reply).toMatchObject({
      status: 404,
      body: { verdict: 'unknown', what: 'conversation' },
    });
  });

  it('adds nothing to Temporal, and every process is still up', promise('G134'), async () => {
    expect(world.stack.api.alive()).toBe(true);
    expect(world.stack.worker().alive()).toBe(true);
    expect(await new EngineHistory(world.temporal).count(talk.workflowId)).toBe(historyBefore);
    // A later conversation in the list proves that the list is up to date.
    await world.talk('sentinel').begin('support', 'after all that');
    const ids = await until('the sentinel is listed', workflowIds, {
      holds: (listed) => listed.includes('conversation:default:sentinel'),
    });
    expect(ids).toEqual(['conversation:default:sentinel', 'conversation:default:untouched']);
  });
});

async function workflowIds(): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of world.temporal.workflow.list()) ids.push(workflowId);
  return ids.toSorted();
}
