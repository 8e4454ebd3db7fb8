/** SSE subscribers over HTTP, one for each conversation, like a page; they record the arrival of each turn's end. */
import { type ClientRequest, get } from 'node:http';
import type { LoadConfig } from '../shared/cells.js';

type Api = Pick<LoadConfig, 'apiUrl' | 'apiHeaders'>;

export class Watchers {
  readonly #api: Api;
  readonly #open = new Map<string, ClientRequest>();
  /** `performance.now()` by turn id. */
  readonly #ended = new Map<string, number>();
  #failure: string | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Starts to watch a conversation that has already begun. */
  watch(conversationId: string): void {
    const { apiUrl, apiHeaders } = this.#api;
    const url = `${apiUrl}/v1/conversations/${conversationId}/events`;
    const request = get(
      url,
      { agent: false, headers: { ...apiHeaders, accept: 'text/event-stream' } },
      (response) => {
        if (response.statusCode !== 200)
          this.#failure = `${url} answered ${response.statusCode ?? 'nothing'}`;
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          const frames = (rest + chunk).split('\n\n');
          rest = frames.pop() ?? '';
          for (const frame of frames) this.#take(frame);
        });
      },
    );
    // The benchmark closes the stream like a page that is left.
    request.on('error', () => undefined);
    this.#open.set(conversationId, request);
  }

  unwatch(conversationId: string): void {
    this.#open.get(conversationId)?.destroy();
    this.#open.delete(conversationId);
  }

  endOf(turnId: string): number | undefined {
    return this.#ended.get(turnId);
  }

  /** @throws when a stream was refused, because the measurement then had no watcher */
  check(): void {
    if (this.#failure !== undefined) throw new Error(this.#failure);
  }

  close(): void {
    for (const conversationId of [...this.#open.keys()]) this.unwatch(conversationId);
    this.#ended.clear();
  }

  #take(frame: string): void {
    if (!frame.includes('\nevent: turn_ended\n')) return;
    const data = frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length);
    const { turnId } = JSON.parse(data) as { turnId: string };
    this.#ended.set(turnId, performance.now());
  }
}
