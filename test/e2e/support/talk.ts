/** One conversation over the HTTP API, with waits that report the last reply on a timeout. */
import type { CanonicalEvent, PendingCall } from 'colloquy/client';
import { until } from '../../support/until.js';
import { type Call, call, type EventStream, openEventStream, type Reply } from './api.js';

/**
 * The server times out an activity of a killed worker after 10 s without a heartbeat; the rest is for slow machines.
 */
const PATIENCE_MS = 60_000;

export type EventOf<Type extends CanonicalEvent['type']> = Extract<CanonicalEvent, { type: Type }>;

export class Talk {
  readonly id: string;
  readonly workflowId: string;
  readonly #apiUrl: () => string;

  constructor(id: string, apiUrl: () => string) {
    this.id = id;
    this.workflowId = `conversation:default:${id}`;
    this.#apiUrl = apiUrl;
  }

  /**
   * `mayWait`: true where the message may be queued: just after a restart of Temporal, until a worker has reconnected, or
   * among many beginnings at once on a slow machine.
   */
  async begin(agent: string, message: string, { mayWait = false } = {}): Promise<Reply> {
    const url = `${this.#apiUrl()}/v1/conversations`;
    const reply = await call(url, { body: { agent, id: this.id, message } });
    const taken = mayWait ? ['admitted', 'queued'] : ['admitted'];
    if (reply.status !== 202 || !taken.includes(reply.body['status'] as string))
      throw new Error(`not admitted: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply;
  }

  async call(path: string, request: Call = {}): Promise<Reply> {
    return await call(`${this.#apiUrl()}/v1/conversations/${this.id}${path}`, request);
  }

  async resolve(toolCallId: string, resolution: object, options: Call = {}): Promise<Reply> {
    const body = { resolution, actor: { id: 'http' } };
    return await this.call(`/tool-calls/${toolCallId}/resolution`, { body, ...options });
  }

  /** The waiting calls, once there are so many. */
  async waitingCalls(count: number): Promise<readonly PendingCall[]> {
    return await until(`${count} calls wait in ${this.id}`, () => this.#pending(), {
      holds: (calls) => calls.length === count,
      timeoutMs: PATIENCE_MS,
    });
  }

  /** The same calls by the name of their tool. */
  async waiting(count: number): Promise<ReadonlyMap<string, PendingCall>> {
    return new Map((await this.waitingCalls(count)).map((entry) => [entry.name, entry]));
  }

  /** Reads page by page, because one page holds at most a payload. */
  async events(): Promise<readonly CanonicalEvent[]> {
    const events: CanonicalEvent[] = [];
    for (let after = ''; ; ) {
      const { body } = await this.call(`/events?limit=1000${after}`);
      events.push(...((body['events'] ?? []) as readonly CanonicalEvent[]));
      if (body['more'] !== true) return events;
      after = `&after=${String(body['cursor'])}`;
    }
  }

  async eventsOf<Type extends CanonicalEvent['type']>(
    type: Type,
  ): Promise<readonly EventOf<Type>[]> {
    const events = await this.events();
    return events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /**
   * The events of a type, once the store holds so many: a verdict may reach a page before the worker has written its
   * event.
   */
  async recorded<Type extends CanonicalEvent['type']>(
    type: Type,
    count = 1,
  ): Promise<readonly EventOf<Type>[]> {
    return await until(`${count} of ${type} in ${this.id}`, () => this.eventsOf(type), {
      holds: (found) => found.length >= count,
      timeoutMs: PATIENCE_MS,
    });
  }

  /** The end of the first turn, or of the given one. */
  async ended(turn = 1): Promise<EventOf<'turn_ended'>> {
    const ends = await this.recorded('turn_ended', turn);
    const end = ends[turn - 1];
    if (end === undefined) throw new Error('unreachable');
    return end;
  }

  async stream(lastEventId?: string): Promise<EventStream> {
    return await openEventStream(
      `${this.#apiUrl()}/v1/conversations/${this.id}/events`,
      lastEventId,
    );
  }

  async #pending(): Promise<readonly PendingCall[]> {
    const { body } = await this.call('/pending');
    return (body['pending'] ?? []) as readonly PendingCall[];
  }
}
