/**
 * Marks replies to updates and queries, so that the codec does not compress them. Every client that can reach the
 * server reads them: the Temporal UI, `temporal workflow query`, applications in other languages. Payloads of
 * activities, signals and runs stay between the engine's own workers and clients.
 *
 * The marks are set on the finished commands. An interceptor around the handlers would add a promise to each, and the
 * order of commands would differ from recorded histories.
 */
import type { Payload } from '@temporalio/common';
import type {
  ConcludeActivationInput,
  Next,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { COMPRESS_FROM_BYTES } from '../../protocol/limits/limits.js';
import { PLAIN_METADATA } from '../../protocol/workflow/messaging.js';

export class PlainReplies implements WorkflowInternalsInterceptor {
  concludeActivation(
    input: ConcludeActivationInput,
    next: Next<WorkflowInternalsInterceptor, 'concludeActivation'>,
  ): ConcludeActivationInput {
    const output = next(input);
    for (const { updateResponse, respondToQuery } of output.commands) {
      mark(updateResponse?.completed);
      mark(respondToQuery?.succeeded?.response);
    }
    return output;
  }
}

/** The letters of "true", as readers of metadata show it. */
const TRUE = Uint8Array.from('true', (letter) => letter.charCodeAt(0));

/** Small payloads are not compressed anyway, and stay unchanged. */
function mark(payload: Payload | null | undefined): void {
  if (!payload || (payload.data?.byteLength ?? 0) <= COMPRESS_FROM_BYTES) return;
  payload.metadata = { ...payload.metadata, [PLAIN_METADATA]: TRUE };
}
