/** `hsafaRoutes` on loopback, for one caller. */
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { expect, onTestFinished } from 'vitest';
import { ConversationError } from '../../../src/client/index.js';
import {
  type CallerIdentity,
  type CallOffers,
  type CallSpaces,
  type HsafaAgentDocuments,
  type HsafaClient,
  type HsafaServers,
  type HsafaToolbox,
  hsafaRoutes,
  type Identify,
  type ResultsClient,
  type RunsClient,
  type TriggerClient,
} from '../../../src/compat/hsafa/index.js';
import { hsafaDescription } from '../../../src/compat/hsafa/routes/description.js';
import type { LogCursor } from '../../../src/protocol/values/cursor.js';
import type { TestConversation } from '../../../src/testing/index.js';
import { checkerOf } from '../networks/described.js';

const ANN: CallerIdentity = {
  ...{ tenants: ['acme', 'other'], actor: { id: 'ann' }, verified: true },
  rights: ['answer'],
};

interface Served {
  readonly client?: ResultsClient | RunsClient | TriggerClient;
  /** In place of a fixed caller. */
  readonly identify?: Identify;
  /** Replaces fields of a caller who may answer calls of two tenants; undefined: the caller is unknown. */
  readonly identity?: Partial<CallerIdentity> | undefined;
  readonly offers?: CallOffers;
  readonly agents?: HsafaAgentDocuments;
  readonly toolbox?: HsafaToolbox;
  readonly servers?: HsafaServers;
  readonly spaces?: CallSpaces;
}

/** The address of the routes, until the test has ended. */
export async function servedRoutes(options: Served): Promise<string> {
  const { client = {}, offers, agents, toolbox, servers, spaces } = options;
  const identity = 'identity' in options ? options.identity : {};
  const fixed = () => (identity === undefined ? undefined : { ...ANN, ...identity });
  const app = express();
  app.use(checkAnswers(options));
  app.use(
    hsafaRoutes({
      // A test uses the parts of one route.
      client: client as HsafaClient,
      spaces: spaces ?? false,
      identify: options.identify ?? fixed,
      ...(offers === undefined ? {} : { offers }),
      ...(agents === undefined ? {} : { agents }),
      ...(toolbox === undefined ? {} : { toolbox }),
      ...(servers === undefined ? {} : { servers }),
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Compares each answer with the description of the routes, and fails the test at its end. */
function checkAnswers({ offers, agents, toolbox, servers }: Served): RequestHandler {
  const description = hsafaDescription({
    ...{ offers: offers !== undefined, toolbox: toolbox !== undefined },
    agents: agents !== undefined,
    servers: servers !== undefined,
  });
  const check = checkerOf(description);
  const checks: Promise<void>[] = [];
  onTestFinished(async () => {
    await Promise.all(checks);
  });
  return (request, response, next) => {
    const { path, method } = request;
    const json = response.json.bind(response);
    response.json = (body: unknown) => {
      const { statusCode: status } = response;
      const headers = { 'content-type': 'application/json' };
      const text = status === 204 ? null : JSON.stringify(body);
      const checked = check(method, path, new Response(text, { status, headers }));
      // Reported at the end of the test.
      checked.catch(() => undefined);
      checks.push(checked);
      return json(body);
    };
    next();
  };
}

/** A client of one conversation of the test kit. The page size is small, so that reads go on. */
export function resultsClient(
  t: TestConversation<unknown>,
  of: { readonly id: string; readonly tenant: string },
): ResultsClient {
  return {
    conversation: (id, { tenant }) => {
      const there = <Value>(value: () => Value): Promise<Value> =>
        id === of.id && tenant === of.tenant
          ? Promise.resolve(value())
          : Promise.reject(
              new ConversationError('unknown_conversation', `No conversation "${id}"`),
            );
      return {
        snapshot: () => there(() => t.snapshot),
        events: ({ before }) =>
          there(() => {
            const end = before === 'end' ? t.events.length : before.seq;
            const from = Math.max(0, end - 5);
            const cursor = { generation: 1, seq: from } as LogCursor;
            return { events: t.events.slice(from, end).reverse(), cursor, more: from > 0 };
          }),
        // The test conversation has a clock of its own.
        resolve: async (callId, resolution, { receivedAt, ...options }) => {
          expect(Math.abs(Date.parse(receivedAt) - Date.now())).toBeLessThan(60_000);
          return await there(() => t.resolve(callId, resolution, options));
        },
      };
    },
  };
}

/** Status and body of the answer to a submitted result. */
export async function submitted(base: string, runId: string, body: unknown, headers: object = {}) {
  const response = await fetch(`${base}/api/runs/${encodeURIComponent(runId)}/tool-results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return [response.status, await response.json()];
}
