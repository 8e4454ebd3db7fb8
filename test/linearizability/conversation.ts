/** One conversation of a recording: its calls begin to wait, the clients race on them, and the log has the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CanonicalEvent, PendingCall } from 'colloquy/client';
import { call as ask, type Fields } from '../e2e/support/api.js';
import { Dice } from '../support/dice.js';
import type { Raced, RacedCall } from './client.js';
import {
  canonical,
  entryOf,
  type History,
  type Input,
  KINDS,
  type Kind,
  type Nanoseconds,
  type Operation,
  resultsOf,
} from './history.js';
import type { Clients } from './processes.js';
import { nanosecondsSince, type Place, send } from './send.js';

const TOOLS = { approval: 'pay', question: 'ask', external: 'render', leased: 'render' } as const;
const ANSWERS = {
  pay: { type: 'approve' },
  ask: { type: 'answer', value: { word: 'end' } },
  render: { type: 'result', value: { frames: 0 } },
} as const;
/** Calls of one conversation, all in one step. The server takes ten updates of one run at a time. */
const CALLS = 3;
const POLL_MS = 100;
/** A worker that was killed in the middle of a tool is noticed after ten seconds; a busy machine takes its time. */
const PATIENCE_MS = 120_000;

export interface Means {
  readonly clients: Clients;
  readonly urls: readonly [string, string];
  readonly zero: string;
}

/** Histories without the effects of the tools, and the ids of their calls. */
export interface Recorded {
  readonly conversationId: string;
  readonly calls: readonly { readonly toolCallId: string; readonly history: History }[];
  readonly unsent: number;
}

/** @throws when the conversation does not come to its end */
export async function recordConversation(
  means: Means,
  of: { readonly id: string; readonly seed: number },
): Promise<Recorded> {
  const dice = new Dice(of.seed);
  const kinds = Array.from({ length: CALLS }, () => dice.pick(KINDS));
  const talk = new Talk(means, of.id, dice);
  const calls = await talk.begin(kinds);
  const place = talk.place();
  const raced = await means.clients.race({ ...place, seed: of.seed, calls });
  const settled = await talk.settle();
  const { events, ...times } = await talk.log();
  const turn = [...raced.flatMap((one) => one.turn), ...settled.turn];
  return {
    conversationId: of.id,
    unsent: raced.reduce((sum, one) => sum + one.unsent, 0),
    calls: calls.map((call) => ({
      toolCallId: call.toolCallId,
      history: historyOf({ ...of, ...times, call, events, turn, raced: [...raced, settled] }),
    })),
  };
}

interface Parts {
  readonly id: string;
  readonly call: RacedCall;
  readonly events: readonly CanonicalEvent[];
  readonly turn: readonly Operation[];
  readonly raced: readonly Pick<Raced, 'operations'>[];
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
}

function historyOf({ id, call, events, turn, raced, from, to }: Parts): History {
  const { toolCallId, kind, deadlineMs } = call;
  const own = raced.flatMap(({ operations }) =>
    operations.flatMap(([of, operation]) => (of === toolCallId ? [operation] : [])),
  );
  const entries = events.flatMap((event) => entryOf(event, toolCallId) ?? []);
  const results = resultsOf(events, toolCallId);
  return {
    id: `${id}/${toolCallId}`,
    kind,
    deadlineMs,
    operations: [...own, ...turn].toSorted((one, other) => one.call - other.call),
    log: { call: from, return: to, entries, results, effects: 0 },
  };
}

class Talk {
  readonly #means: Means;
  readonly #id: string;
  readonly #dice: Dice;
  #turnId = '';

  constructor(means: Means, id: string, dice: Dice) {
    this.#means = means;
    this.#id = id;
    this.#dice = dice;
  }

  place(): Place {
    return { conversationId: this.#id, turnId: this.#turnId, zero: this.#means.zero };
  }

  async begin(kinds: readonly Kind[]): Promise<readonly RacedCall[]> {
    const message = kinds.map((kind) => TOOLS[kind]).join(' ');
    const body = { agent: 'raced', id: this.#id, message, requestId: `begin-${this.#id}` };
    await this.#until('is admitted', async () => {
      const { status } = await ask(`${this.#url()}/v1/conversations`, { body });
      return status === 202 ? true : undefined;
    });
    const { waiting, made } = await this.#until('waits', async () => {
      const pending = await this.#pending();
      if (pending.length !== kinds.length) return undefined;
      const events = await this.#events();
      return { waiting: pending, made: events.filter((event) => event.type === 'tool_call') };
    });
    this.#turnId = waiting[0]?.turnId ?? '';
    return made.map(({ call: { toolCallId } }, index) => ({
      toolCallId,
      kind: kinds[index] ?? 'approval',
      deadlineMs: Date.parse(waiting.find((one) => one.toolCallId === toolCallId)?.deadline ?? ''),
    }));
  }

  /** Ends what is still open, by requests that belong to the histories as those of the race do. */
  async settle(): Promise<Pick<Raced, 'operations' | 'turn'>> {
    const operations: (readonly [string, Operation])[] = [];
    const turn: Operation[] = [];
    const place = this.place();
    const client = this.#means.clients.count;
    let tries = 0;
    await this.#until('comes to its end', async () => {
      const pending = await this.#pending();
      if (pending.length === 0) return await this.#hasEnded();
      tries += 1;
      const free = tries > 2 ? [] : pending.filter(({ claim }) => claim === undefined);
      for (const { toolCallId, name } of free) {
        const content = canonical(ANSWERS[name as keyof typeof ANSWERS]);
        const input: Input = { op: 'resolve', actor: 'cy', content, requestId: `end-${tries}` };
        const sent = await send(input, { race: place, toolCallId, url: this.#url(), client });
        if (sent !== undefined) operations.push([toolCallId, sent]);
      }
      if (free.length > 0) return undefined;
      const input: Input = { op: 'cancel', actor: 'cy', requestId: `end-${tries}` };
      const sent = await send(input, { race: place, toolCallId: '', url: this.#url(), client });
      if (sent !== undefined) turn.push(sent);
      return undefined;
    });
    return { operations, turn };
  }

  /** The events once the turn has ended, and the times around their reading. */
  async log(): Promise<{
    readonly events: readonly CanonicalEvent[];
    readonly from: Nanoseconds;
    readonly to: Nanoseconds;
  }> {
    const { zero } = this.#means;
    return await this.#until('can be read', async () => {
      const from = nanosecondsSince(zero);
      const events = await this.#events();
      const isWhole = events.some(({ type }) => type === 'turn_ended');
      return isWhole ? { events, from, to: nanosecondsSince(zero) } : undefined;
    });
  }

  async #hasEnded(): Promise<true | undefined> {
    const events = await this.#events();
    return events.some(({ type }) => type === 'turn_ended') ? true : undefined;
  }

  async #pending(): Promise<readonly PendingCall[]> {
    const { status, body } = await this.#read('/pending');
    if (status !== 200) throw new Error(`pending calls: ${status}`);
    return (body['pending'] ?? []) as readonly PendingCall[];
  }

  async #events(): Promise<readonly CanonicalEvent[]> {
    const { status, body } = await this.#read('/events?limit=1000');
    if (status !== 200 || body['more'] === true) throw new Error(`events: ${status}`);
    return body['events'] as readonly CanonicalEvent[];
  }

  async #read(path: string): Promise<{ readonly status: number; readonly body: Fields }> {
    return await ask(`${this.#url()}/v1/conversations/${this.#id}${path}`);
  }

  #url(): string {
    return this.#dice.pick(this.#means.urls);
  }

  /** Repeats the work until it has a result; requests may fail meanwhile, as processes are killed. */
  async #until<Result>(what: string, work: () => Promise<Result | undefined>): Promise<Result> {
    const endMs = performance.now() + PATIENCE_MS;
    let last: unknown;
    while (performance.now() < endMs) {
      const result = await work().catch((error: unknown) => {
        last = error;
        return undefined;
      });
      if (result !== undefined) return result;
      await sleep(POLL_MS);
    }
    throw new Error(`${this.#id}: not seen in time that it ${what}`, { cause: last });
  }
}
