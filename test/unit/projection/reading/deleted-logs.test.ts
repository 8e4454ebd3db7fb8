/** Readers with cursors of deleted conversations. */
import { expect, it } from 'vitest';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { LogCursor } from '../../../../src/protocol/values/cursor.js';
import { promise } from '../../../support/promise.js';
import { KEY, outline, stamped, started, turn } from '../../../support/samples/log-events.js';
import { aReader } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);
const AGAIN = stamped([started(KEY, 'chain1'), ...turn('t9')], { clock: 5 });

it('begins at a marker for a cursor of a deleted conversation, page by page', {
  ...promise('G251'),
}, async () => {
  const { reader, log, store } = await aReader();
  await store(LOG);
  await log.beginDeletion({ ...KEY, runIds: [] });
  await store(AGAIN, 'run-b');
  const pagesFrom = async (from: LogCursor, limit: number) => {
    const seen: CanonicalEvent[] = [];
    let after = from;
    for (let more = true; more; ) {
      const page = await reader.events(KEY, { after, limit });
      seen.push(...(page?.events ?? []));
      after = page?.cursor ?? after;
      more = page?.more ?? false;
    }
    return outline(seen);
  };
  for (const limit of [1, 3, AGAIN.length, AGAIN.length + 1])
    expect(await pagesFrom({ generation: 1, seq: 9 }, limit)).toEqual([
      '0:log_rewritten',
      ...outline(AGAIN),
    ]);
  // A reader that has no event yet has nothing to drop.
  expect(await pagesFrom({ generation: 1, seq: 0 }, 3)).toEqual(outline(AGAIN));
});
