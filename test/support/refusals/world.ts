/** An installation in which something is wrong, or a caller who sends what breaks a rule: it refuses requests. */
import type { Identify, Identity } from '../../../src/http/identity/identity.js';
import type { TokenSigner } from '../../../src/http/identity/tokens.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import { TESTING } from '../networks/test-identity.js';
import { ROLE } from '../tenants/canaries.js';
import { type Changes, startCanaryApp } from '../tenants/canary-app.js';
import { until } from '../until.js';
import { ask, type Place, type Refusal, type Sent } from './ask.js';

export interface World {
  readonly name: string;
  readonly identify?: Identify;
  readonly tokens?: TokenSigner;
  readonly changes?: Changes;
  /** The operations that are asked. @defaultValue all */
  readonly of?: (operation: Operation) => boolean;
  readonly sent?: (operation: Operation) => Sent;
  /** Requests that are open meanwhile. */
  readonly crowd?: (place: Place) => Promise<unknown>;
  readonly ask?: (place: Place, operation: Operation) => Promise<Refusal>;
}

/** May do all. */
export const ANN: Identity = {
  ...TESTING,
  actor: { id: 'ann', roles: [ROLE] },
  verified: true,
};

const STREAM = { accept: 'text/event-stream' };

/** Headers of the forms in which an operation answers. */
function formsOf({ answers, streams }: Operation): readonly Record<string, string>[] {
  return answers[200] === 'stream' || streams === true ? [STREAM, {}] : [{}];
}

/** `<operation> <code>` of each refusal. */
export async function refusalsIn(world: World): Promise<ReadonlySet<string>> {
  const { identify = () => ANN, tokens, changes, of = () => true } = world;
  const app = await startCanaryApp(
    tokens === undefined ? { identify } : { identify, tokens },
    changes,
  );
  const place = { port: app.server.port, ids: app.ids };
  const crowd = world.crowd?.(place);
  if (crowd !== undefined) await until('the crowd has come', () => app.calls.length > 0);
  const asked = OPERATIONS.filter(of).map(async (operation) => {
    const send = async (headers: Record<string, string>): Promise<Refusal> => {
      if (world.ask !== undefined) return await world.ask(place, operation);
      const given = world.sent?.(operation) ?? {};
      return await ask(place, operation, { ...given, headers: { ...headers, ...given.headers } });
    };
    const answers = await Promise.all(formsOf(operation).map(send));
    return answers.flatMap(({ code }) => (code === undefined ? [] : [`${operation.id} ${code}`]));
  });
  const refusals = await Promise.all(asked);
  await crowd;
  return new Set(refusals.flat());
}
