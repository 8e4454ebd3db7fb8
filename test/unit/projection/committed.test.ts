import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createIsCommitted } from '../../../src/projection/committed.js';
import { KEY } from '../../support/log-events.js';

type Event = Readonly<Record<string, unknown>>;
const ME = '1@here#abcd';
const TARGET = { runId: 'run-a', task: 6 };

const completed = (eventId: number, identity = ME, startedEventId = eventId - 1): Event => ({
  eventId,
  workflowTaskCompletedEventAttributes: { identity, startedEventId },
});
const other = (eventId: number): Event => ({ eventId, timerStartedEventAttributes: {} });

/** A server whose history is looked at page by page; each look takes the next of `looks`. */
function server(...looks: readonly (readonly (readonly Event[])[] | Error)[]) {
  const asked: unknown[] = [];
  let look = -1;
  const client = {
    options: { namespace: 'ns' },
    withDeadline: async (_deadline: number, work: () => Promise<unknown>) => await work(),
    workflowService: {
      getWorkflowExecutionHistoryReverse: async (request: { nextPageToken?: Uint8Array }) => {
        await Promise.resolve();
        asked.push(request);
        const page = request.nextPageToken?.[0] ?? 0;
        if (page === 0) look += 1;
        const pages = looks[Math.min(look, looks.length - 1)] ?? [];
        if (pages instanceof Error) throw pages;
        return { history: { events: pages[page] }, nextPageToken: Uint8Array.of(page + 1) };
      },
    },
  };
  return { isCommitted: createIsCommitted(client as unknown as Client, { identity: ME }), asked };
}

describe('whether a task was committed', () => {
  it('is shown by the event after its start', async () => {
    const { isCommitted, asked } = server([[completed(7)]]);
    expect(await isCommitted(KEY, TARGET)).toBe(true);
    expect(asked).toMatchObject([
      {
        namespace: 'ns',
        execution: { workflowId: 'conversation:default:c1', runId: 'run-a' },
      },
    ]);
  });

  it.each([
    ['another process completed it', [completed(7, '1@there#ffff')]],
    ['it timed out or failed', [{ eventId: 7, workflowTaskTimedOutEventAttributes: {} }]],
    ['another event stands there', [other(8), other(7)]],
    ['the completion is of another task', [completed(7, ME, 4)]],
  ])('is denied when %s', async (_what, events) => {
    expect(await server([events]).isCommitted(KEY, TARGET)).toBe(false);
  });

  it('is looked for on the page before the newest, and no further', async () => {
    expect(await server([[other(9), other(8)], [completed(7)]]).isCommitted(KEY, TARGET)).toBe(
      true,
    );
    const deep = server([[other(12)], [other(11)], [completed(7)]]);
    expect(await deep.isCommitted(KEY, TARGET)).toBe(false);
    expect(deep.asked).toHaveLength(2);
  });

  it('is waited for while the task is still on its way, and not for ever', async () => {
    const early = server([[other(6)]], [[other(5)]], [[completed(7)]]);
    expect(await early.isCommitted(KEY, TARGET)).toBe(true);
    expect(early.asked).toHaveLength(3);
    const never = server([[other(6)]]);
    expect(await never.isCommitted(KEY, TARGET)).toBe(false);
    expect(never.asked).toHaveLength(6);
  });

  it('cannot be said when the server fails; one that does not know the call is not asked again', async () => {
    const flaky = server(new Error('away'), [[completed(7)]]);
    expect(await flaky.isCommitted(KEY, TARGET)).toBe(false);
    expect(await flaky.isCommitted(KEY, TARGET)).toBe(true);
    const old = server(Object.assign(new Error('what?'), { code: 12 }));
    expect(await old.isCommitted(KEY, TARGET)).toBe(false);
    expect(await old.isCommitted(KEY, TARGET)).toBe(false);
    expect(old.asked).toHaveLength(1);
  });
});
