/**
 * Conversations that only go on because of their webhooks: the receiver answers each waiting call, and sends the next
 * message when a turn has ended. Both workers, which send them, are killed while requests wait for the answer.
 */
import { expect, it, onTestFinished } from 'vitest';
import type { WebhookEvent } from '../../../src/protocol/log/webhook-events.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { startReceiver } from '../../support/webhooks/receiver.js';
import { SECRET } from '../../support/webhooks/samples.js';
import { startWorld, type World } from '../support/world.js';

const CONVERSATIONS = 8;
const TURNS = 3;
const KILLS = 2;
/** A delivery that a killed worker has claimed is claimed again after a minute. */
const PATIENCE_MS = 150_000;
const OF_A_TURN = ['suspension.opened', 'suspension.ended', 'turn.ended'];

/** Lets requests of senders wait for their answers. */
class Answers {
  waiting = 0;
  #isHeld = false;

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.waiting = 0;
  }

  async pass(): Promise<void> {
    if (!this.#isHeld) return;
    this.waiting += 1;
    await until('the answers are released', () => !this.#isHeld, { timeoutMs: PATIENCE_MS });
  }
}

async function startWorldFor(url: string): Promise<World> {
  const world = await startWorld({
    script: ({ results }) =>
      results.length === 0
        ? { calls: [{ name: 'customer.ask', input: { question: 'May it go on?' } }] }
        : { text: 'It goes on.' },
    env: {
      COLLOQUY_WEBHOOKS: JSON.stringify([{ name: 'crm', url, secret: SECRET, tenant: 'default' }]),
      COLLOQUY_WEBHOOKS_PRIVATE: '127.0.0.1',
    },
  });
  onTestFinished(() => world.stop());
  return world;
}

/** The receiver of an application: it remembers the ids of the events that it has handled. */
class Backend {
  world: World | undefined;
  readonly failures: unknown[] = [];
  readonly #handled = new Set<string>();
  readonly #turns = new Map<string, number>();

  async handle(event: WebhookEvent): Promise<void> {
    if (this.#handled.has(event.id)) return;
    this.#handled.add(event.id);
    try {
      await this.#act(event);
    } catch (error) {
      this.failures.push(error);
    }
  }

  async #act({ type, data }: WebhookEvent): Promise<void> {
    if (this.world === undefined) throw new Error(`${type} before the world has started`);
    const talk = this.world.talk(data.conversationId);
    if (type === 'conversation.suspension.opened') {
      const answer = { type: 'answer', value: { answer: 'yes' } };
      const { status, body } = await talk.resolve(data.toolCallId, answer);
      if (![200, 202].includes(status)) throw new Error(`answer ${status} ${JSON.stringify(body)}`);
    } else if (type === 'conversation.turn.ended') {
      const turns = (this.#turns.get(talk.id) ?? 0) + 1;
      this.#turns.set(talk.id, turns);
      if (turns < TURNS) await talk.begin('support', `Turn ${turns + 1}`, { mayWait: true });
    }
  }
}

it('webhooks of killed workers are sent again: conversations that they drive reach their ends, and each gets its events in order', {
  ...promise('G359'),
  timeout: patient(2 * PATIENCE_MS),
}, async () => {
  const answers = new Answers();
  const backend = new Backend();
  const receiver = await startReceiver(SECRET, {
    onEvent: async (event) => {
      await answers.pass();
      await backend.handle(event);
    },
  });
  const world = await startWorldFor(receiver.url);
  backend.world = world;
  let workers = [world.stack.worker(), await world.stack.startWorker()];
  const ids = Array.from({ length: CONVERSATIONS }, (_, nth) => `driven-${nth}`);
  for (const id of ids) await world.talk(id).begin('support', 'Turn 1', { mayWait: true });
  let cut = 0;
  for (let nth = 0; nth < KILLS; nth += 1) {
    answers.hold();
    const waiting = () => answers.waiting;
    const patience = { timeoutMs: PATIENCE_MS };
    await until('a request waits for its answer', waiting, patience);
    await Promise.all(workers.map((worker) => worker.kill()));
    cut += answers.waiting;
    answers.release();
    workers = await Promise.all([world.stack.startWorker(), world.stack.startWorker()]);
  }
  const eventsOf = (id: string): readonly WebhookEvent[] =>
    firstOnes(receiver.events.filter(({ data }) => data.conversationId === id));
  const wanted = Array.from({ length: TURNS }, () => OF_A_TURN).flat();
  await until(
    'all conversations have reached their ends',
    () => ids.map((id) => eventsOf(id).length),
    { holds: (counts) => counts.every((count) => count >= wanted.length), timeoutMs: PATIENCE_MS },
  );
  expect(backend.failures).toEqual([]);
  expect(receiver.refused).toEqual([]);
  for (const id of ids) {
    expect(eventsOf(id).map(({ type }) => type)).toEqual(
      wanted.map((type) => `conversation.${type}`),
    );
    const places = eventsOf(id).map(placeOf);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  }
  // Each request that a kill has cut off came again, with the same body.
  const repeats = receiver.events.length - firstOnes(receiver.events).length;
  expect(repeats).toBeGreaterThanOrEqual(cut);
  const bodies = new Set(receiver.events.map((event) => JSON.stringify(event)));
  expect(bodies.size).toBe(firstOnes(receiver.events).length);
});

function firstOnes(events: readonly WebhookEvent[]): readonly WebhookEvent[] {
  const seen = new Set<string>();
  return events.filter(({ id }) => {
    const isFirst = !seen.has(id);
    seen.add(id);
    return isFirst;
  });
}

function placeOf({ type, data }: WebhookEvent): number {
  if (!('cursor' in data)) throw new Error(`${type} has no place in the log`);
  return Number(data.cursor.split('-')[1]);
}
