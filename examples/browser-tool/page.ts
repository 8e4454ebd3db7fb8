/** The code of a page that runs tools for an agent. `fetch` and the stream parser are all that it needs. */
import { EventSourceParserStream } from 'eventsource-parser/stream';

export type Tools = Readonly<Record<string, (input: never) => unknown>>;

export interface PageOptions {
  /** Address of the conversation at the API. */
  readonly conversation: string;
  /** Headers that identify the page. With the cookie of a session there are none. */
  readonly headers: Readonly<Record<string, string>>;
  /** The user who is signed in. */
  readonly user: string;
  readonly tools: Tools;
  /** Called with the verdict of each claim. */
  readonly onClaim: (verdict: string) => void;
  readonly signal: AbortSignal;
}

interface Opened {
  readonly suspension: WaitingCall;
}

interface WaitingCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly kind: string;
  readonly prompt: unknown;
}

/** Runs the calls of its tools as they come, until the signal aborts. */
export async function openPage(options: PageOptions): Promise<void> {
  const { conversation, headers, signal } = options;
  const response = await fetch(`${conversation}/events`, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal,
  });
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { event, data } of events ?? [])
      if (event === 'suspension') await runCall(options, (JSON.parse(data) as Opened).suspension);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function runCall(options: PageOptions, call: WaitingCall): Promise<void> {
  const run = options.tools[call.name];
  if (call.kind !== 'client_execution' || run === undefined) return;
  const url = `${options.conversation}/tool-calls/${encodeURIComponent(call.toolCallId)}`;
  const post = postWith(options.headers);
  const actor = { id: options.user };
  // One of several tabs gets the call.
  const claim = await post(`${url}/claim`, { actor, lease: '30 seconds' });
  options.onClaim(claim.verdict);
  if (claim.verdict !== 'accepted') return;
  const { claimId } = claim;
  try {
    const value = await run(call.prompt as never);
    await post(`${url}/resolution`, { resolution: { type: 'result', value }, actor, claimId });
  } catch (error) {
    const resolution = { type: 'error', message: String(error) };
    await post(`${url}/resolution`, { resolution, actor, claimId });
  }
}

interface Reply {
  readonly verdict: string;
  readonly claimId?: string;
}

function postWith(headers: PageOptions['headers']) {
  return async (url: string, body: object): Promise<Reply> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Reply;
  };
}
