/** A server whose history is read page by page, newest first. */
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

export type FakeEvent = Readonly<Record<string, unknown>>;
export const ME = '1@here#abcd';

export const completed = (
  eventId: number,
  identity = ME,
  startedEventId = eventId - 1,
): FakeEvent => ({ eventId, workflowTaskCompletedEventAttributes: { identity, startedEventId } });

/** Milliseconds since 1970 at which tasks were started. */
export const STARTED_AT = 1_700_000_000_123;

export const started = (eventId: number, at = STARTED_AT): FakeEvent => ({
  eventId,
  eventTime: msToTs(at),
  workflowTaskStartedEventAttributes: {},
});

export const timer = (eventId: number): FakeEvent => ({ eventId, timerStartedEventAttributes: {} });

/** Pages of events, or the server's error. */
export type Look = readonly (readonly FakeEvent[])[] | Error;

/** Each read takes the next of `answers`, and repeats the last one. */
export function fakeHistory(...answers: readonly Look[]) {
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
        const pages = answers[Math.min(look, answers.length - 1)] ?? [];
        if (pages instanceof Error) throw pages;
        const isLast = page + 1 >= pages.length;
        const nextPageToken = isLast ? new Uint8Array() : Uint8Array.of(page + 1);
        return { history: { events: pages[page] }, nextPageToken };
      },
    },
  };
  return { client: client as unknown as Client, asked };
}
