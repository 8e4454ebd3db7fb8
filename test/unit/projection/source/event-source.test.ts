/** Pushed events with the proof that their tasks were completed, and queries in their place. */
import { describe, expect, it } from 'vitest';
import { createEventSource } from '../../../../src/projection/source/event-source.js';
import type { TaskCompletion } from '../../../../src/projection/source/task-commit.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { Hint } from '../../../../src/protocol/workflow/messaging.js';
import { FakeSource } from '../../../support/fakes/fake-source.js';
import { KEY, stamped, started, turn } from '../../../support/samples/log-events.js';

const RUN = 'run-a';
const STARTED_AT = 1_700_000_000_000;
const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

function hint(events: readonly CanonicalEvent[], { task = 3 } = {}): Hint {
  const seq = events.at(-1)?.seq ?? 0;
  const pushed = { task, startedAt: STARTED_AT, liveFrom: 1, events };
  return { ...KEY, runId: RUN, seq, urgency: 'later', pushed };
}

describe('a source with pushed events', () => {
  const query = { runId: RUN, after: 0, upTo: 5 };
  const reads: unknown[] = [];
  const sourceWith = (completion: TaskCompletion | undefined) => {
    const asked = new FakeSource();
    asked.set({ runId: RUN, events: LOG });
    reads.length = 0;
    const source = createEventSource(asked, async (key, target) => {
      reads.push({ key, target });
      await Promise.resolve();
      return completion;
    });
    source.pushed?.(hint(LOG.slice(0, 5), { task: 7 }));
    return { source, asked };
  };

  it('answers from them once their task is known to be committed', async () => {
    const { source, asked } = sourceWith({});
    expect((await source.events(KEY, query)).events).toEqual(LOG.slice(0, 5));
    expect(reads).toEqual([
      {
        key: KEY,
        target: {
          runId: RUN,
          task: { id: 7, startedAt: STARTED_AT },
          pushedAt: expect.any(Number) as number,
        },
      },
    ]);
    expect(asked.queries).toEqual([]);
  });

  it('takes events of a replay when any worker completed their task', async () => {
    const asked = new FakeSource();
    const targets: unknown[] = [];
    const source = createEventSource(asked, async (_key, target) => {
      targets.push(target);
      return await Promise.resolve({});
    });
    source.pushed?.({ ...hint(LOG.slice(0, 5), { task: 7 }), doubt: true });
    expect((await source.events(KEY, query)).events).toEqual(LOG.slice(0, 5));
    expect(targets).toMatchObject([{ task: { id: 7 }, byAnyWorker: true }]);
    expect(asked.queries).toEqual([]);
  });

  it('still counts when more events have been pushed meanwhile', async () => {
    const asked = new FakeSource();
    const source = createEventSource(asked, async () => {
      await Promise.resolve();
      source.pushed?.(hint(LOG.slice(3, 5), { task: 12 }));
      return {};
    });
    source.pushed?.(hint(LOG.slice(0, 3)));
    expect((await source.events(KEY, { ...query, upTo: 3 })).events).toEqual(LOG.slice(0, 3));
    expect(asked.queries).toEqual([]);
  });

  it('queries the workflow when that is not known, and for a query without an upper seq', async () => {
    const { source, asked } = sourceWith(undefined);
    expect((await source.events(KEY, query)).events).toEqual(LOG);
    const { upTo: _, ...strict } = query;
    await sourceWith({}).source.events(KEY, strict);
    expect(reads).toEqual([]);
    expect(asked.queries).toEqual([{ after: 0, runId: RUN }]);
  });

  it('needs no proof of replayed events that are only compared with stored ones', async () => {
    const asked = new FakeSource();
    asked.set({ runId: RUN, events: LOG });
    let proofs = 0;
    const source = createEventSource(asked, async () => {
      proofs += 1;
      return await Promise.resolve(undefined);
    });
    source.pushed?.({ ...hint(LOG.slice(0, 3)), doubt: true });
    const compared = { runId: RUN, after: 2, upTo: 3, stored: 3 };
    expect((await source.events(KEY, compared)).events).toEqual([LOG[2]]);
    expect([proofs, asked.queries.length]).toEqual([0, 0]);
    await source.events(KEY, { ...compared, stored: 2 });
    expect([proofs, asked.queries.length]).toEqual([1, 1]);
  });

  it('returns the length of the history at which the run had nothing after the page', async () => {
    const { source } = sourceWith({ historyLength: 17 });
    const page = await source.events(KEY, query);
    expect(page).toMatchObject({ lastSeq: 5, historyLength: 17 });
  });
});
