/** Updates whose caller must learn the outcome: never left behind as signals. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { UpdateTypes } from '../../protocol/workflow/messaging.js';
import { ConversationError } from '../api/errors.js';
import { isUnanswered, refusalOf } from './errors.js';
import type { TemporalGateway } from './temporal-gateway.js';

export interface UpdateToConfirm<Name extends keyof UpdateTypes> {
  readonly name: Name;
  readonly input: UpdateTypes[Name]['input'];
  readonly updateId: string;
  /** Beginning of the error's text: `The claim was not confirmed, and may still count`. */
  readonly unconfirmed: string;
  /** Only this incarnation of the conversation takes the update. Absent: the current one. */
  readonly firstRunId?: string;
}

/**
 * Sends the update until a worker has confirmed it. Refusals of the workflow are thrown as the SDK throws them.
 * @throws {ConversationError} temporal_unreachable when no server took it; workers_busy when it was not sent; no_worker
 *   or another reason why no worker confirmed. The server may still pass the request to the next worker, so its caller
 *   repeats it under the same request id
 */
export async function confirmUpdate<Name extends keyof UpdateTypes>(
  gateway: TemporalGateway,
  key: ConversationKey,
  { name, unconfirmed, ...call }: UpdateToConfirm<Name>,
): Promise<UpdateTypes[Name]['reply']> {
  // Only an event makes work for longer than its answer takes, so the other updates go before messages.
  const kind = name === 'inboxEvent' ? 'message' : 'resolution';
  const tried = await gateway.confirm(() => gateway.update(key, name, call), { key, kind });
  if (tried.confirmed) return tried.value;
  const { cause } = tried;
  if (ConversationError.isInstance(cause)) throw unsent(cause);
  const failed = (code: ConversationError['code'], why: string): ConversationError =>
    new ConversationError(code, `${unconfirmed} when a worker answers. ${why}`, { cause });
  if (gateway.isUnreached(cause)) {
    const { code, message } = gateway.toConversationError(cause);
    throw failed(code, message);
  }
  const { reason, text } = await gateway.whyUnanswered(key);
  throw failed(reason, text);
}

/** The error of a request that got no place in time; see `Attempted`. */
function unsent(cause: ConversationError): ConversationError {
  const { code, retryAfterMs } = cause;
  const text = `The request was not sent. ${cause.message}`;
  return new ConversationError(code, text, { cause, retryAfterMs });
}

/**
 * The verdict of the workflow if it refused the update, else that of the log if the conversation does not run.
 * @throws {ConversationError} for every other error.
 */
export async function verdictOfFailure<Verdict>(
  gateway: TemporalGateway,
  error: unknown,
  fromLog: () => Promise<Verdict>,
): Promise<Verdict | { readonly verdict: 'unknown'; readonly what: 'conversation' }> {
  const refusal = refusalOf(error);
  if (refusal?.type === 'verdict') return refusal.detail as Verdict;
  if (!(error instanceof WorkflowNotFoundError)) throw gateway.toConversationError(error);
  try {
    return await fromLog();
  } catch (cause) {
    // A run that may be gone and a log that cannot be read do not prove that the conversation never existed.
    if (isUnanswered(cause)) return { verdict: 'unknown', what: 'conversation' };
    throw gateway.toConversationError(cause);
  }
}
