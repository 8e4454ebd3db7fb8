/** Interceptors for a client's calls to the server: the calls are recorded, or made to fail. */
import type { ConnectionOptions } from '@temporalio/client';
import { QUERIES } from '../../../src/protocol/workflow/messaging.js';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** The next interceptor's call has the type of the interface, not of the class that the type asks for. */
const goOn = ((options, nextCall) => nextCall(options)) as (
  ...parameters: Parameters<Interceptor>
) => never;

/** `called` gets the name of each call, such as `QueryWorkflow`, and may throw in the server's place. */
export function interceptor(called: (name: string) => void): Interceptor {
  return (options, nextCall) => {
    called(nameOf(options));
    return goOn(options, nextCall);
  };
}

/**
 * `queried` runs before each query for a transcript, and may throw in the server's place. Queries of the projector,
 * which come on a busy machine, are not counted.
 */
export function transcriptQueries(queried: () => void): Interceptor {
  return (options, nextCall) => {
    const call: ReturnType<Interceptor> = goOn(options, nextCall);
    if (nameOf(options) !== 'QueryWorkflow') return call;
    const send = call.sendMessageWithContext.bind(call);
    call.sendMessageWithContext = (context, message: unknown) => {
      if (message instanceof Uint8Array && Buffer.from(message).includes(QUERIES.transcriptSlice))
        queried();
      send(context, message);
    };
    return call;
  };
}

function nameOf({ method_definition }: Parameters<Interceptor>[0]): string {
  return method_definition.path.split('/').at(-1) ?? '';
}
