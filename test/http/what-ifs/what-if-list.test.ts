/** Lists of what-ifs over HTTP, and their cancels. */
import { describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { TURN } from '../../support/samples/sample-log.js';
import { app, BEGUN_MS, bodyOf, DONE, type Given } from './setup.js';

interface Page {
  readonly whatIfs: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string;
}

describe('GET /v1/conversations/{id}/what-if', promise('G389'), () => {
  const PATH = '/v1/conversations/c-1/what-if';
  const begunIn = async ({ ask }: Awaited<ReturnType<typeof app>>, count: number) => {
    const ids: unknown[] = [];
    for (let nth = 1; nth <= count; nth += 1)
      ids.push((await bodyOf(await ask({ maxSteps: nth })))['whatIfId']);
    return ids.toReversed();
  };

  it('has those of the conversation, the newest first, in pages', async () => {
    const here = await app();
    const ids = await begunIn(here, 5);
    const read = async (query: string): Promise<Page> =>
      (await (await here.request(PATH + query)).json()) as Page;
    const { whatIfs, nextCursor } = await read('');
    expect(nextCursor).toBeUndefined();
    expect(whatIfs.map(({ whatIfId }) => whatIfId)).toEqual(ids);
    expect(whatIfs[0]).toEqual({
      ...{ whatIfId: ids[0], turnId: TURN, generation: 1, agent: 'support' },
      ...{ state: 'ended', reason: 'answered', stepCount: 0, usage: DONE.usage },
      begunAt: new Date(BEGUN_MS + 4_000).toISOString(),
      endedAt: new Date(BEGUN_MS + 60_000).toISOString(),
    });
    const paged: unknown[] = [];
    for (let query = '?limit=2'; query !== ''; ) {
      const page = await read(query);
      paged.push(...page.whatIfs.map(({ whatIfId }) => whatIfId));
      query = page.nextCursor === undefined ? '' : `?limit=2&cursor=${page.nextCursor}`;
    }
    expect(paged).toEqual(ids);
    // Both readings ask the server for each end once.
    expect(here.calls.filter(({ kind }) => kind === 'result')).toHaveLength(5);
    expect(here.calls.find(({ kind }) => kind === 'list')?.input).toBe(
      "WorkflowType = 'whatIf' AND WorkflowId STARTS_WITH 'what-if:default:c-1:'",
    );
  });

  it('has no result of one that runs, and nothing of an earlier conversation of the id', async () => {
    const startedAt = '2020-01-01T00:00:00.000Z';
    const memo = { startedAt, generation: 1, agent: 'support', turnId: TURN, digest: 'd' };
    const earlier = { workflowId: 'what-if:default:c-1:w-old', runId: 'r', memo };
    const others = [{ ...earlier, status: { name: 'COMPLETED' }, startTime: new Date() }];
    const here = await app({ others, status: 'RUNNING' });
    const [whatIfId] = await begunIn(here, 1);
    const { whatIfs } = (await bodyOf(await here.request(PATH))) as unknown as Page;
    expect(whatIfs).toEqual([
      {
        ...{ whatIfId, turnId: TURN, generation: 1, agent: 'support', state: 'running' },
        begunAt: new Date(BEGUN_MS).toISOString(),
      },
    ]);
  });

  it('shows what-ifs that began at one time once each, a page at a time', async () => {
    const { ask, starts } = await app();
    await ask({});
    const memo = starts[0]?.options['memo'];
    const startTime = new Date(BEGUN_MS);
    const ids = ['w-b', 'w-c', 'w-a'];
    const others = ids.map((id) => ({
      ...{ workflowId: `what-if:default:c-1:${id}`, runId: `r-${id}`, memo, startTime },
      ...{ status: { name: 'COMPLETED' }, closeTime: new Date(BEGUN_MS + 60_000) },
    }));
    const { request } = await app({ others });
    const seen: unknown[] = [];
    let query = '?limit=1';
    for (let page = 0; page < ids.length; page += 1) {
      const read = (await bodyOf(await request(PATH + query))) as unknown as Page;
      seen.push(...read.whatIfs.map(({ whatIfId }) => whatIfId));
      query = `?limit=1&cursor=${read.nextCursor ?? ''}`;
    }
    expect(seen).toEqual(['w-c', 'w-b', 'w-a']);
  });

  it.each([
    ['?cursor=nothing', '?cursor', 'must be the nextCursor of an earlier page'],
    ['?limit=0', '?limit', 'must be from 1 to 100'],
    ['?limit=101', '?limit', 'must be from 1 to 100'],
    ['?state=running', '?state', 'is not known here'],
  ])('refuses %s', async (query, path, message) => {
    const { request } = await app();
    const response = await request(PATH + query);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path, message }] });
  });

  it.each([
    ['may not read', { rights: ['send', 'cancel'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 200],
    ['is of another tenant', { tenants: ['beta'] }, 404],
  ] as const)('answers a caller who %s', async (_title, identity, status) => {
    const { request } = await app({ identity });
    expect((await request(PATH)).status).toBe(status);
  });
});

describe('POST /v1/conversations/{id}/what-if/{whatIfId}/cancel', promise('G389'), () => {
  const cancelled = async (given: Given, id?: string) => {
    const here = await app(given);
    const { whatIfId } = await bodyOf(await here.ask({}));
    const path = `/v1/conversations/c-1/what-if/${id ?? String(whatIfId)}/cancel`;
    const response = await here.post(path, {});
    const cancels = here.calls.filter(({ kind }) => kind === 'cancel');
    return { here, whatIfId, response, cancels, path };
  };

  it('asks the run to stop, once more at a repeat, and says when no worker has taken it', async () => {
    const { here, whatIfId, response, cancels, path } = await cancelled({ status: 'RUNNING' });
    expect(await bodyOf(response)).toEqual({ whatIfId, status: 'stopping' });
    expect(cancels).toMatchObject([{ options: { runId: 'run-1' } }]);
    expect((await here.post(path, {})).status).toBe(200);
    const waits = { state: 1, scheduledTime: { seconds: Date.now() / 1_000 - 60 } };
    const raw = { pendingWorkflowTask: waits };
    const waiting = await cancelled({ status: 'RUNNING', raw });
    expect(await bodyOf(waiting.response)).toMatchObject({
      ...{ status: 'stopping', warning: expect.stringContaining('No worker polls') as string },
    });
  });

  it('says how one has ended before', async () => {
    const { whatIfId, response, cancels } = await cancelled({});
    expect(await bodyOf(response)).toEqual({ whatIfId, status: 'over', state: 'ended' });
    expect(cancels).toEqual([]);
  });

  it('says that it had ended, where it ends meanwhile', async () => {
    let isOver = false;
    const given: Given = {
      status: () => (isOver ? 'COMPLETED' : 'RUNNING'),
      cancel: () => {
        isOver = true;
      },
    };
    const { response } = await cancelled(given);
    expect(await bodyOf(response)).toMatchObject({ status: 'over', state: 'ended' });
  });

  it.each(['x-1', 'a%20b'])('does not know any other: %s', async (id) => {
    const { response, cancels } = await cancelled({ status: 'RUNNING' }, id);
    expect(await problemOf(response)).toMatchObject({ code: 'unknown_what_if' });
    expect(cancels).toEqual([]);
  });

  it.each([
    ['may not cancel', { rights: ['read', 'send'] }, 403],
    ['may use this conversation only', { conversation: 'c-1' }, 200],
  ] as const)('answers a caller who %s', async (_title, identity, status) => {
    const { response, cancels } = await cancelled({ identity, status: 'RUNNING' });
    expect(response.status).toBe(status);
    expect(cancels).toHaveLength(status === 200 ? 1 : 0);
  });
});
