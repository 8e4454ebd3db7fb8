/** The HTTP API on a test's engine. */
import { onTestFinished } from 'vitest';
import { ConversationClient } from '../../../src/client/index.js';
import { createApp } from '../../../src/http/app.js';
import { serve } from '../../../src/http/listen.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import type { Engine } from '../engine/engine.js';
import { identifyAll } from '../networks/test-identity.js';
import { patientOptions } from '../patience.js';

/** Serves until the test ends; returns the address. */
export async function startApi(
  { temporal, taskQueue, reader, opened }: Engine,
  agents: readonly AgentManifest[],
): Promise<string> {
  const options = { temporal, taskQueue, reader, agents, channel: 'api' } as const;
  const client = new ConversationClient(patientOptions(options, () => true));
  const app = createApp({ client, reader, conversations: opened.log, identify: identifyAll });
  const server = await serve(app, { port: 0, graceMs: 500 });
  onTestFinished(() => server.close());
  return server.url;
}
