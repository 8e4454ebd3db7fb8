/** Interceptors for a client's calls to the server: the calls are recorded, or made to fail. */
import type { ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** The next interceptor's call has the type of the interface, not of the class that the type asks for. */
const goOn = ((options, nextCall) => nextCall(options)) as (
  ...parameters: Parameters<Interceptor>
) => never;

/** `called` gets the name of each call, such as `QueryWorkflow`, and may throw in the server's place. */
export function interceptor(called: (name: string) => void): Interceptor {
  return (options, nextCall) => {
    called(options.method_definition.path.split('/').at(-1) ?? '');
    return goOn(options, nextCall);
  };
}
