/** Queries messages of a transcript from the run that holds them: for workers without a cached transcript. */
import type { Client } from '@temporalio/client';
import { retryQuery } from '../../client/temporal/query-retry.js';
import { TRANSCRIPT_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import { QUERIES } from '../../protocol/workflow/messaging.js';
import type { TranscriptQuery, TranscriptSlice } from '../../protocol/workflow/transcript-delta.js';

/**
 * One page. The run is pinned, even if another run is current by now: messages of one run and epoch never change.
 * @throws when no worker answers within 5 s (`TRANSCRIPT_DEADLINE_MS`)
 */
export async function fetchTranscript(
  client: Client,
  run: { readonly workflowId: string; readonly runId: string },
  query: TranscriptQuery,
): Promise<TranscriptSlice> {
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  return await client.withDeadline(Date.now() + TRANSCRIPT_DEADLINE_MS, () =>
    retryQuery(() =>
      handle.query<TranscriptSlice, [TranscriptQuery]>(QUERIES.transcriptSlice, query),
    ),
  );
}
