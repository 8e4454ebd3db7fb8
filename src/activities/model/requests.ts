/** Parts of every request to a model: the key of the provider's cache, and the failure that is recorded for it. */
import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from '../../define/tool/context.js';
import { toModelFailure } from '../../model/shared/failure.js';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { TRANSCRIPT_MISS } from '../../protocol/workflow/transcript-delta.js';
import {
  framesOf,
  httpStatusOf,
  interruption,
  isCancelRequested,
  toFailure,
} from '../shared/failure.js';
import type { Spending } from './spending.js';

/** Ids of conversations belong to the application, so the provider receives only a digest of them. */
export function cacheKeyOf(key: ConversationKey): string {
  return createHash('sha256').update(conversationKey(key)).digest('hex').slice(0, 32);
}

/** Replaces the texts of errors that no adapter made: some quote headers, and the text goes into history. */
export function knownFailure(error: unknown): unknown {
  return error instanceof ApplicationFailure ? error : toModelFailure(error);
}

/** The failure of an activity that asks a model once, recorded for the workflow and the next attempt. */
export function failedRequest(
  {
    logger,
    spending,
    text,
  }: { readonly logger: Logger; readonly spending: Spending; readonly text: string },
  error: unknown,
): Error {
  const context = Context.current();
  const isAborted = context.cancellationSignal.aborted;
  if (isCancelRequested(context)) spending.giveUp();
  const known = isAborted ? interruption(context, 'model_unavailable') : knownFailure(error);
  const failure = toFailure(known, 'model_unavailable');
  // The activity that is sent the messages does not receive the open request, so it is ended here.
  if (failure instanceof ApplicationFailure && failure.type === TRANSCRIPT_MISS) spending.giveUp();
  else if (failure instanceof ApplicationFailure)
    spending.attempts.fail(failure, httpStatusOf(known));
  if (!isAborted) logger.warn(text, { reason: failure.message, at: framesOf(error) });
  return spending.failed(failure);
}
