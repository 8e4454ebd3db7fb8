/** The messages that a replayed run shows to its worker, in place of queries. */
import { expect, it } from 'vitest';
import { Transcripts } from '../../../src/activities/shared/transcripts.js';
import { offloadedEnd } from '../../../src/core/context/offloaded.js';
import { ShownSlices } from '../../../src/projection/reading/shown-slices.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import {
  slicesBefore,
  TranscriptWindow,
} from '../../../src/workflows/transcript/transcript-window.js';
import { aTurn, Shelf } from '../../support/fakes/stored-transcripts.js';
import { aConversationState } from '../../support/samples/transcripts.js';

const BOUNDS = { fromBytes: 1_000, keepBytes: 300, chunkBytes: 1_000 };
const RUN = { workflowId: 'conversation:default:c-1', runId: 'run-2' };

function turns(count: number): readonly Message[] {
  return Array.from({ length: count }, (_, index) => aTurn(index + 1, [2], 90)).flat();
}

it.each([
  ['all of them inline', { ...BOUNDS, fromBytes: 1_000_000 }],
  ['the oldest ones stored', BOUNDS],
])('a replayed run shows what its queries would return: %s', async (what, bounds) => {
  const shelf = new Shelf();
  const state = shelf.rolledOver(aConversationState(turns(10)), bounds);
  expect(offloadedEnd(state.transcript) > 0).toBe(what !== 'all of them inline');
  const window = new TranscriptWindow();
  window.next(state);
  window.cameBack();
  const delta = window.next(state);
  expect(delta).toMatchObject({ base: turns(10).length, append: [] });
  const shown = new ShownSlices();
  shown.show(RUN, slicesBefore(state, delta));
  const transcripts = new Transcripts({
    maxBytes: 0,
    fetch: (run, query) => {
      const slice = shown.take(run, query);
      if (slice === undefined) throw new Error(`a query of ${query.from} to ${query.to}`);
      return Promise.resolve(slice);
    },
    readChunk: (_run, id) => Promise.resolve(shelf.get(id)),
  });
  expect(await transcripts.whole(RUN, delta)).toEqual(turns(10));
});
