/** A worker keeps the chunks that it has stored; a summary may have moved their messages since its last model call. */
import { expect, it } from 'vitest';
import { Transcripts } from '../../../src/activities/shared/transcripts.js';
import { offloadedEnd } from '../../../src/core/context/offloaded.js';
import {
  TranscriptWindow,
  transcriptSlice,
} from '../../../src/workflows/transcript/transcript-window.js';
import { aSummary, aTurn, Shelf } from '../../support/fakes/stored-transcripts.js';
import { promise } from '../../support/promise.js';
import { aConversationState } from '../../support/samples/transcripts.js';

const RUN = { workflowId: 'conversation:default:c-1', runId: 'run-2' };

it('stored messages are not mixed up with those in the same places before a summary, between a call and a roll-over', {
  ...promise('G180'),
}, async () => {
  const shelf = new Shelf();
  const said = [1, 2, 3, 4, 5, 6].flatMap((ordinal) => aTurn(ordinal, [2], 90));
  const left = said.filter(({ turnId }) => turnId === 't1').length;
  // The call omitted the oldest turn; then exactly that turn was summarised, and the run rolled over.
  const given = { ...aConversationState(said.slice(left)), forgotten: left };
  const summed = [aSummary('t1'), ...said.slice(left)];
  const before = { ...aConversationState(summed), forgotten: left };
  const state = shelf.rolledOver(before, { fromBytes: 1_000, keepBytes: 300, chunkBytes: 1_000 });
  const transcripts = new Transcripts({
    maxBytes: 1_000_000,
    fetch: (_run, query) => Promise.resolve(transcriptSlice(state, query)),
    readChunk: (_run, id) => Promise.resolve(shelf.get(id)),
  });
  await transcripts.whole(RUN, new TranscriptWindow().next(given));
  expect(offloadedEnd(state.transcript)).toBeGreaterThan(1);
  for (const [id, messages] of shelf.chunks) transcripts.stored(RUN, id, messages);
  const next = { ...RUN, runId: 'run-3' };
  expect(await transcripts.whole(next, new TranscriptWindow(state).next(state))).toEqual(summed);
});
