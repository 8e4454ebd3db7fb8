/**
 * A client process. It gets races from its parent, sends requests about their calls through both APIs, and reports each
 * with its times. `node --import test/support/typescript-hooks.mjs client.ts <number> <url> <url>`
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../support/dice.js';
import { drawCancel, drawPause, drawRequest, type Player } from './draws.js';
import type { Input, Kind, Operation } from './history.js';
import { type Place, send, type Target } from './send.js';

export interface RacedCall {
  readonly toolCallId: string;
  readonly kind: Kind;
  readonly deadlineMs: number;
}

/** From the parent. */
export interface Race extends Place {
  readonly seed: number;
  readonly calls: readonly RacedCall[];
}

/** To the parent: operations by call; those without a call are of the whole turn. */
export interface Raced {
  readonly conversationId: string;
  readonly operations: readonly (readonly [toolCallId: string, Operation])[];
  readonly turn: readonly Operation[];
  /** Requests that had no effect for sure: nothing listened, or a limit of the API. They are in no history. */
  readonly unsent: number;
}

/** At most; a restarted API listens again after some seconds. */
const RETRY_MS = 300;

class Client {
  readonly #number: number;
  readonly #urls: readonly string[];

  constructor(number: number, urls: readonly string[]) {
    this.#number = number;
    this.#urls = urls;
  }

  async race(race: Race): Promise<Raced> {
    const operations: (readonly [string, Operation])[] = [];
    const turn: Operation[] = [];
    let unsent = 0;
    const note = (toolCallId: string | undefined, operation: Operation | undefined): void => {
      if (operation === undefined) unsent += 1;
      else if (toolCallId === undefined) turn.push(operation);
      else operations.push([toolCallId, operation]);
    };
    await Promise.all([
      ...race.calls.map((call, index) => this.#play(race, { call, index }, note)),
      this.#mayCancel(race, note),
    ]);
    return { conversationId: race.conversationId, operations, turn, unsent };
  }

  async #play(
    race: Race,
    { call, index }: { readonly call: RacedCall; readonly index: number },
    note: (toolCallId: string, operation: Operation | undefined) => void,
  ): Promise<void> {
    const { toolCallId, kind, deadlineMs } = call;
    const dice = new Dice(race.seed * 1_000 + index * 50 + this.#number);
    const isEager = new Dice(race.seed * 1_000 + index * 50 + 49).oneIn(3);
    const sent: Input[] = [];
    let claimId: string | undefined;
    const steps = (kind === 'leased' ? 4 : 3) + dice.below(3);
    for (let step = 0; step < steps; step += 1) {
      await sleep(step === 0 ? dice.below(20) : drawPause(dice, kind));
      const player: Player = {
        ...{ client: this.#number, actor: this.#actor, kind, deadlineMs, isEager, sent, claimId },
      };
      const input = drawRequest(dice, player, step);
      sent.push(input);
      const operation = await this.#send(input, { race, toolCallId, dice }, (tried) =>
        note(toolCallId, tried),
      );
      claimId = claimAfter(claimId, operation);
    }
  }

  async #mayCancel(
    race: Race,
    note: (toolCallId: undefined, operation: Operation | undefined) => void,
  ): Promise<void> {
    const dice = new Dice(race.seed * 1_000 + 900 + this.#number);
    if (!dice.oneIn(10)) return;
    await sleep(dice.below(1_500));
    const input = drawCancel(dice, { client: this.#number, actor: this.#actor });
    await this.#send(input, { race, toolCallId: '', dice }, (tried) => note(undefined, tried));
  }

  /** Sends a request; where its reply is lost, often once more under its request id, as clients should. */
  async #send(
    input: Input,
    { race, toolCallId, dice }: Pick<Target, 'toolCallId'> & { race: Race; dice: Dice },
    note: (operation: Operation | undefined) => void,
  ): Promise<Operation | undefined> {
    const first = dice.below(this.#urls.length);
    for (let tries = 0; ; tries += 1) {
      const url = this.#urls[(first + tries) % this.#urls.length] ?? '';
      const operation = await send(input, { race, toolCallId, url, client: this.#number });
      note(operation);
      const isHeard = operation?.output !== undefined;
      if (isHeard || tries === 3 || dice.oneIn(3)) return operation;
      await sleep(dice.below(RETRY_MS));
    }
  }

  get #actor(): string {
    return this.#number % 2 === 0 ? 'ann' : 'bob';
  }
}

/** The claim of the client after a reply: a given one, and none after a loss. */
function claimAfter(
  before: string | undefined,
  operation: Operation | undefined,
): string | undefined {
  const { input, output } = operation ?? {};
  if (input?.op !== 'claim' || output === undefined) return before;
  if (output.verdict === 'accepted' || output.verdict === 'duplicate') return output.claimId;
  return input.claimId === before ? undefined : before;
}

const [, , number, ...urls] = process.argv;
const client = new Client(Number(number), urls);
process.on('message', (race: Race) => {
  void client.race(race).then((raced) => process.send?.(raced));
});
process.once('disconnect', () => process.exit(0));
