/**
 * The built-in `fetch` without its clocks, for answers that may take as long as whoever waits for them allows: it gives up after five
 * minutes of silence. Runs in the worker.
 */

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/**
 * Where the built-in `fetch` finds what the process sends by: the environment's proxy, or what the application has set. Not undici's
 * `getGlobalDispatcher`: undici 8 looks elsewhere, where Node 22 and older copies of undici put nothing.
 */
const PROCESS_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Looks at each request: an application may set another one, and before its first request Node has none. */
const patient: Pick<Dispatcher, 'dispatch'> = {
  dispatch: (options, handler) => {
    const { [PROCESS_DISPATCHER]: dispatcher } = globalThis as {
      [PROCESS_DISPATCHER]?: Dispatcher;
    };
    if (dispatcher === undefined) throw new TypeError('the process has no dispatcher for fetch');
    return dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

/** As the built-in `fetch`, proxies included; once there is a connection, only the request's signal ends it early. */
export async function patientFetch(to: string | URL, init?: RequestInit): Promise<Response> {
  return fetch(to, { ...init, dispatcher: patient as Dispatcher });
}
