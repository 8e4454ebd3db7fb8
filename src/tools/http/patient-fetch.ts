/**
 * `fetch` without clocks of its own, for answers that may take as long as whoever waits for them allows; the built-in one gives up after
 * five minutes of silence. Runs in the worker.
 */
import { Agent, type RequestInit as AgentInit, fetch } from 'undici';
import { HTTP_CONNECT_TIMEOUT_MS } from '../../protocol/limits.js';

const agent = new Agent({
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: HTTP_CONNECT_TIMEOUT_MS },
});

/** As `fetch`; only the request's signal ends it early. */
export async function patientFetch(to: string | URL, init?: RequestInit): Promise<Response> {
  // The same classes twice: Node has its own copy of undici.
  const request = { ...init, dispatcher: agent } as AgentInit;
  const response: unknown = await fetch(to, request);
  return response as Response;
}
