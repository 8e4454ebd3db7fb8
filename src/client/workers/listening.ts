/** Whether anything listens where a Temporal server should be: only then "start one" is of no help. */
import { connect } from 'node:net';

/** A port of this machine answers or refuses at once; of one that swallows packets nothing is known after this long. */
const PROBE_MS = 500;

/** `nothing`: the machine says that no process listens there. `unknown`: it did not say, or the name is not known. */
export type Listening = 'something' | 'nothing' | 'unknown';

/** Opens a connection and closes it again. `address` is `host:port`, also with a scheme before it. Never rejects. */
export async function listeningAt(address: string): Promise<Listening> {
  const url = URL.parse(`tcp://${address.replace(/^[a-z]+:\/\//i, '')}`);
  if (url === null || url.port === '') return 'unknown';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return await new Promise((resolve) => {
    const socket = connect({ host, port: Number(url.port), timeout: PROBE_MS });
    const done = (found: Listening): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => {
      done('something');
    });
    socket.once('timeout', () => {
      done('unknown');
    });
    socket.once('error', (error) => {
      done(isRefusal(error) ? 'nothing' : 'unknown');
    });
  });
}

/** True where an error, or one that caused it, says that the connection was refused, in the words of Node or of Temporal's native client. */
export function isRefusal(error: unknown): boolean {
  for (let link = error, depth = 0; link instanceof Error && depth < 6; link = link.cause) {
    if (/ECONNREFUSED|Connection refused/i.test(link.message)) return true;
    // Several addresses of one name were tried.
    if (link instanceof AggregateError && link.errors.some((each) => isRefusal(each))) return true;
    depth += 1;
  }
  return false;
}
