/**
 * Keeps calls that are repeated by the SDK from ending the process once their connection is closed. The SDK repeats a
 * refused call from a timer; on a closed connection `nextCall` throws there, where no caller can catch it
 * (docs/sdk-issues/calls-repeated-after-close).
 */
import {
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** The part of gRPC's calls that an interceptor passes on, as far as it is used here. */
interface Call {
  start(
    metadata: unknown,
    listener?: {
      onReceiveMessage?(message: unknown): void;
      onReceiveStatus?(status: unknown): void;
    },
  ): void;
}

/** gRPC status: the call is over, and is not repeated. */
const CANCELLED = 1;

/**
 * A workflow buffers one query, and the server refuses further ones until that is answered: in milliseconds, mostly. The
 * SDK repeats them after two seconds, as if the server were overloaded, which is longer than a reader waits.
 */
const isBufferFull = ({ details }: { readonly details: string }): boolean =>
  details.includes('query buffer is full');
/** Milliseconds. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 250;
/** Longer than any caller waits for a query. */
const MAX_TRIES = 60;

/**
 * The SDK's own repetition of refused calls, that of queries sooner; a call on a closed connection ends as cancelled.
 */
export function retryingInterceptors(): Interceptor[] {
  const inner = endWhenClosed as unknown as Interceptor;
  const usual = defaultGrpcRetryOptions();
  const options: typeof usual = {
    // The SDK's own delays ignore a longest one (1.24).
    delayFunction: (attempt, status) =>
      isBufferFull(status)
        ? Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LAST_PAUSE_MS)
        : usual.delayFunction(attempt, status),
    retryableDecider: (attempt, status) =>
      isBufferFull(status) ? attempt < MAX_TRIES : usual.retryableDecider(attempt, status),
  };
  return [makeGrpcRetryInterceptor(options), inner];
}

function endWhenClosed(options: unknown, nextCall: (options: unknown) => Call): Call {
  try {
    return nextCall(options);
  } catch {
    return endedCall();
  }
}

function endedCall(): Call {
  const nothing = (): void => undefined;
  return {
    start: (metadata, listener) => {
      const status = { code: CANCELLED, details: 'the connection is closed', metadata };
      queueMicrotask(() => {
        // The SDK's interceptor passes the status of a first try on only after a message, be it none (1.24).
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.(status);
      });
    },
    // The rest of a call's interface, called by gRPC.
    ...{ sendMessageWithContext: nothing, sendMessage: nothing, startRead: nothing },
    ...{ halfClose: nothing, cancelWithStatus: nothing },
    ...{ getPeer: () => 'closed', getAuthContext: () => null },
  };
}
