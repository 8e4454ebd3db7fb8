/** `hsafaRoutes` on loopback, for one caller. */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { onTestFinished } from 'vitest';
import {
  type CallerIdentity,
  type CallOffers,
  type HsafaToolbox,
  hsafaRoutes,
  type ResultsClient,
} from '../../../src/compat/hsafa/index.js';

const ANN: CallerIdentity = {
  ...{ tenants: ['acme', 'other'], actor: { id: 'ann' }, verified: true },
  rights: ['answer'],
};

interface Served {
  readonly client?: ResultsClient;
  /** Replaces fields of a caller who may answer calls of two tenants; undefined: the caller is unknown. */
  readonly identity?: Partial<CallerIdentity> | undefined;
  readonly offers?: CallOffers;
  readonly toolbox?: HsafaToolbox;
}

/** The address of the routes, until the test has ended. */
export async function servedRoutes(options: Served): Promise<string> {
  const { client = {} as ResultsClient, offers, toolbox } = options;
  const identity = 'identity' in options ? options.identity : {};
  const app = express();
  app.use(
    hsafaRoutes({
      client,
      identify: () => (identity === undefined ? undefined : { ...ANN, ...identity }),
      ...(offers === undefined ? {} : { offers }),
      ...(toolbox === undefined ? {} : { toolbox }),
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
