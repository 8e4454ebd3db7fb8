/** An application that a test opens by `openColloquy`, with its API and its workers. The end of the test closes all. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { openColloquy } from '../../../src/engine/open-colloquy.js';
import type { OpenedColloquy, OpenOptions, ServedAgents } from '../../../src/engine/options.js';
import { serve } from '../../../src/http/listen.js';
import { CONVERTER } from '../engine/engine.js';
import { identifyAll } from '../networks/test-identity.js';
import { temporaryFolder } from '../temporary.js';

/** The test's own log and task queue, on the server of its project. */
export function openOptions(given: Pick<OpenOptions, 'actor'> = {}) {
  return {
    store: join(temporaryFolder(), 'log.db'),
    temporal: { address: inject('temporalAddress') },
    taskQueue: `test-${randomUUID()}`,
    ...given,
  };
}

export async function opened(given?: Pick<OpenOptions, 'actor'>): Promise<OpenedColloquy> {
  const colloquy = await openColloquy(openOptions(given));
  onTestFinished(() => colloquy.close());
  return colloquy;
}

export interface ServedApp {
  readonly url: string;
  /** The JSON of the answer, which must be a success. @param method of a request with a body; without one it is a GET */
  request<Answer>(path: string, body?: object, method?: 'POST' | 'PUT'): Promise<Answer>;
}

/** Listens with this app. */
export async function served(app: Parameters<typeof serve>[0]): Promise<ServedApp> {
  const server = await serve(app, { port: 0 });
  onTestFinished(() => server.close());
  return {
    url: server.url,
    request: async <Answer>(path: string, body?: object, method = 'POST') => {
      const response = await fetch(`${server.url}${path}`, {
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method, body: JSON.stringify(body) }),
      });
      expect([path, response.status, response.ok]).toEqual([path, response.status, true]);
      return (await response.json()) as Answer;
    },
  };
}

/** Opens an application, and listens with its API. */
export async function openedServer(
  given?: Pick<OpenOptions, 'actor'>,
): Promise<ServedApp & { readonly colloquy: OpenedColloquy }> {
  const colloquy = await opened(given);
  return { colloquy, ...(await served(await colloquy.app({ identify: identifyAll }))) };
}

/** Runs a worker on the bundle from source. Returns the function that stops it, which the end of the test calls, too. */
export async function runs<Services>(
  colloquy: OpenedColloquy,
  options: ServedAgents<Services>,
): Promise<() => Promise<void>> {
  const worker = await colloquy.worker({
    shutdownGraceMs: 500,
    ...options,
    tuning: {
      workflowBundle: { codePath: inject('workflowBundlePath') },
      dataConverter: { payloadConverterPath: CONVERTER },
      ...options.tuning,
    },
  });
  const running = worker.run();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    if (stopping === undefined) worker.shutdown();
    return (stopping ??= running);
  };
  onTestFinished(stop);
  return stop;
}
