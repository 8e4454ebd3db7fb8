/** The worklist of the API without a server: its stream is written and cut by the test. */
import type { WorklistItem } from '../../../src/protocol/log/worklist.js';
import {
  FakeStream,
  type FetchCall,
  problem,
  scriptedFetch,
} from '../../support/pages/scripted-fetch.js';

export class ScriptedWorklist {
  readonly fetch: typeof fetch;
  readonly calls: readonly FetchCall[];
  /** Answers before all else. */
  instead: ((call: FetchCall) => Response | undefined) | undefined;
  /** Names the list after the last change. */
  id = 0;
  readonly #streams: FakeStream[] = [];

  constructor() {
    const { fetch, calls } = scriptedFetch((call) => this.instead?.(call) ?? this.#answer(call));
    this.fetch = fetch;
    this.calls = calls;
  }

  /** Streams whose reader is there. */
  get open(): readonly FakeStream[] {
    return this.#streams.filter(({ isCancelled, isCut }) => !isCancelled && !isCut);
  }

  get stream(): FakeStream {
    const stream = this.#streams.at(-1);
    if (stream === undefined) throw new Error('no stream is open');
    return stream;
  }

  /** Sends the whole list. */
  whole(...items: readonly WorklistItem[]): void {
    this.#send('snapshot', { items, first: true, last: true });
  }

  adds(item: WorklistItem): void {
    this.#send('item', { item });
  }

  ends(ref: string): void {
    this.#send('gone', { ref });
  }

  #send(event: string, data: object): void {
    this.id += 1;
    this.stream.send(`id: ${this.id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #answer({ path }: FetchCall): Response {
    if (!path.startsWith('/v1/worklist/stream')) return problem(404, 'not_found');
    const stream = new FakeStream();
    this.#streams.push(stream);
    return stream.response;
  }
}

const HOUR_MS = 3_600_000;

/** A call that waits since now; `hours` until its deadline. */
export function waitingItem(
  ref: string,
  { hours = 2, ...more }: Partial<WorklistItem> & { readonly hours?: number } = {},
): WorklistItem {
  const now = Date.now();
  return {
    ...{ tenant: 'default', conversationId: `c-${ref}`, ref, toolCallId: 'call_1', turnId: 't1' },
    ...{ tool: 'pay', agent: 'shop', executor: 'server', kind: 'approval', preview: '{}' },
    openedAt: new Date(now).toISOString(),
    deadline: new Date(now + hours * HOUR_MS).toISOString(),
    ...{ requesters: [], audience: 'everyone', mayAnswer: true, why: 'everyone may' },
    ...more,
  };
}
