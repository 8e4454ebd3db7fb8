/** Many answers of a page in one request, and the agents with their tools. */
import { describe, expect, it } from 'vitest';
import { createBrowserClient } from '../../../src/browser/index.js';
import { agentsOf, resolveMany } from '../../../src/browser/worklist/index.js';
import {
  type FetchCall,
  json,
  problem,
  scriptedFetch,
} from '../../support/pages/scripted-fetch.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10 };
const clientOf = (answer: (call: FetchCall) => Response) => {
  const { fetch, calls } = scriptedFetch(answer);
  return { client: createBrowserClient({ baseUrl: '', tenant: 't', fetch, timing: QUICK }), calls };
};
const answerTo = (toolCallId: string) => ({
  ...{ conversationId: 'c', toolCallId, requestId: `r-${toolCallId}` },
  resolution: { type: 'approve' } as const,
});

describe('many answers', () => {
  it('each have a verdict or a problem, in their order, and are sent until there are some', async () => {
    let tries = 0;
    const { client, calls } = clientOf(() => {
      tries += 1;
      if (tries === 1) return problem(503, 'temporal_unreachable');
      return json({
        results: [
          { verdict: 'accepted', toolCallId: 'a', seq: 7, conversationId: 'c', httpStatus: 200 },
          { code: 'unavailable', detail: 'later', toolCallId: 'b', httpStatus: 503 },
        ],
      });
    });
    const results = await resolveMany(client, [answerTo('a'), answerTo('b')]);
    expect(results).toMatchObject([
      { verdict: { verdict: 'accepted', seq: 7 } },
      { problem: { status: 503, code: 'unavailable', detail: 'later' } },
    ]);
    expect(calls.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/worklist/resolutions?tenant=t', { items: [answerTo('a'), answerTo('b')] }],
      ['/v1/worklist/resolutions?tenant=t', { items: [answerTo('a'), answerTo('b')] }],
    ]);
  });

  it('that the API refuses as a whole are an error', async () => {
    const { client } = clientOf(() => problem(422, 'invalid_request'));
    await expect(resolveMany(client, [])).rejects.toMatchObject({ problem: { status: 422 } });
  });
});

it('the agents come with the schemas of their tools, for every tenant', async () => {
  const agents = [{ name: 'shop', tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }];
  const { client, calls } = clientOf(() => json({ agents }));
  expect(await agentsOf(client)).toEqual(agents);
  expect(calls.map(({ path }) => path)).toEqual(['/v1/agents']);
});
