/**
 * The built-in `fetch` without its timeouts, for responses that may take as long as the caller allows: by default it
 * gives up after five minutes of silence. Runs in the worker.
 */

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/**
 * Where the built-in `fetch` finds the dispatcher of the process: the environment's proxy, or the one that the
 * application has set. Not undici's `getGlobalDispatcher`: undici 8 reads another place, which Node 22 and older copies
 * of undici do not set.
 */
const PROCESS_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * Reads the dispatcher at each request: an application may set another one, and before its first request Node has none.
 */
const patient: Pick<Dispatcher, 'dispatch'> = {
  dispatch: (options, handler) => {
    const { [PROCESS_DISPATCHER]: dispatcher } = globalThis as {
      [PROCESS_DISPATCHER]?: Dispatcher;
    };
    if (dispatcher === undefined) throw new TypeError('the process has no dispatcher for fetch');
    return dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

/** Like the built-in `fetch`, proxies included; once connected, only the request's signal ends it early. */
export async function patientFetch(to: string | URL, init?: RequestInit): Promise<Response> {
  return fetch(to, { ...init, dispatcher: patient as Dispatcher });
}
