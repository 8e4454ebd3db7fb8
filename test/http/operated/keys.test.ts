/** One `Idempotency-Key` with two bodies, at every POST route that the router has. */
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { refusesRepeats } from '../../../src/http/openapi/rows/operation.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import { REUSED } from '../../../src/protocol/values/ids.js';
import { isRecord } from '../../../src/protocol/values/json.js';
import { type FakeCall, refusal } from '../../support/fakes/fake-temporal.js';
import { routesIn } from '../../support/networks/router-routes.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { ask, type Sent } from '../../support/refusals/ask.js';
import { more } from '../../support/refusals/installations.js';
import { ANN } from '../../support/refusals/world.js';
import { REQUEST_BODIES } from '../../support/samples/request-bodies.js';
import { CALL, TURN } from '../../support/samples/sample-log.js';
import { startCanaryApp } from '../../support/tenants/canary-app.js';

/** The id of the event of the valid body. */
const KEY = 'e-1';
const DOCUMENT = openApiDocument('0.0.0');

/** Operations of the POST routes that the router has. */
const POSTS = routesIn(createApp({ identify: identifyAll } as never))
  .filter((route) => route.startsWith('post '))
  .map((route) => {
    const operation = OPERATIONS.find(({ method, path }) => `${method} ${path}` === route);
    if (operation === undefined) throw new Error(`${route} is not described`);
    return operation;
  });

const ANSWERS = POSTS.filter((operation) => !refusesRepeats(operation));

/** Other bodies, each as valid as the first; `{unknown}` for an operation whose body has no field. */
const OTHERS: Readonly<Record<string, object>> = {
  createConversation: { message: 'Hello' },
  sendMessage: { text: 'Hello' },
  cancelTurn: { reason: 'enough' },
  closeConversation: { actor: { id: 'bob' } },
  sendEvent: { payload: { cents: 1 } },
  submitStep: { results: [{ toolCallId: 'x-1', resultJson: '2' }] },
  resolveToolCall: { resolution: { type: 'answer', value: 'y' } },
  resolveSpaceCall: { resolution: { type: 'answer', value: 'y' } },
  extendToolCall: { by: '6m' },
  claimToolCall: { lease: '6m' },
  reportProgress: { payload: 2 },
  mintToken: { rights: ['read'] },
  forkConversation: { id: 'f-2' },
  createTrigger: { title: 'Other' },
  setTriggerNote: { note: 'other' },
  createSpace: { name: 'Other' },
  joinSpace: { member: { kind: 'person', id: 'bob' } },
  sendToSpace: { text: 'Hello' },
  createWebhook: { url: 'https://example.com/other' },
};

/** These have no key to remember, with the reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  uploadFile: 'the id of a file is that of its content: another one is another file',
  reportProgress: 'each report is a new one, and none is recorded',
  resolveMany: 'each item has a request id of its own',
  startWhatIf: 'test/http/what-ifs: the run in Temporal remembers the request',
};

/** The parts of a conversation that know its requests; it refuses another content under a known id. */
function conversation(): (call: FakeCall) => unknown {
  const known = new Map<string, string>();
  return ({ name, input }) => {
    const { requestId, eventId, receivedAt: _at, ...content } = isRecord(input) ? input : {};
    const id = JSON.stringify(requestId ?? eventId);
    const text = JSON.stringify(content);
    const isOther = (known.get(id) ?? text) !== text;
    if (!known.has(id)) known.set(id, text);
    const isCall = ['resolveToolCall', 'resolveBatch', 'extendToolCall', 'claimToolCall'];
    if (isOther && isCall.includes(name)) return { verdict: 'invalid', problems: [REUSED] };
    if (isOther) throw refusal('invalid_request', { problems: [REUSED] });
    if (name === 'cancelTurn') return { cancelled: true, turnId: TURN, seq: 9 };
    return {
      ...{ verdict: 'accepted', toolCallId: CALL, seq: 9, turnId: TURN, messageId: 'm_1' },
      ...{ ahead: 0, eventId, status: 'admitted', closed: true },
    };
  };
}

describe('an Idempotency-Key', promise('G340'), () => {
  it.each(POSTS)('of $id is described, with 409 and 422', ({ id, path, method }) => {
    const place = DOCUMENT.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method];
    expect(place).toMatchObject({
      parameters: expect.arrayContaining([
        expect.objectContaining({ name: 'Idempotency-Key' }),
      ]) as unknown,
      // Many answers have a verdict each, and one status.
      responses: { ...(id === 'resolveMany' ? {} : { 409: {} }), 422: {} },
    });
  });

  it.each(POSTS.filter(({ id }) => !(id in EXCEPT)))(
    'of $id that comes with another body is refused, and with the same one it is not',
    async (operation) => {
      const { id } = operation;
      const answer = conversation();
      const app = await startCanaryApp(
        { identify: () => ANN, tokens: tokenSigner(['a secret of tokens with 32 characters']) },
        { prepare: more, script: { update: answer, updateWithStart: answer } },
      );
      const place = { port: app.server.port, ids: app.ids };
      const body = REQUEST_BODIES[id] ?? {};
      const sent = (given: object): Sent => ({
        ids: id === 'forkConversation' ? { id: 'c-4' } : {},
        headers: { 'idempotency-key': KEY },
        body: JSON.stringify(id === 'forkConversation' ? { ...given, atSeq: 9 } : given),
      });
      const first = await ask(place, operation, sent(body));
      const other = await ask(
        place,
        operation,
        sent({ ...body, ...(OTHERS[id] ?? { unknown: 1 }) }),
      );
      const again = await ask(place, operation, sent(body));
      expect([id, first.status, other.status]).toEqual([id, again.status, 422]);
      // A conversation answers a repeat by its own state; nothing but another body is refused.
      expect([id, first.status]).not.toEqual([id, 422]);
    },
  );

  it('is of a request that runs at every POST route but those of answers, which wait for one verdict', () => {
    expect(ANSWERS.map(({ id }) => id).toSorted()).toEqual([
      ...['claimToolCall', 'extendToolCall', 'reportProgress', 'resolveMany'],
      ...['resolveSpaceCall', 'resolveToolCall', 'submitStep'],
    ]);
    expect(POSTS.filter((operation: Operation) => operation.idempotent === undefined)).toEqual([]);
  });
});
