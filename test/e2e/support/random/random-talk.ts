/**
 * One conversation driven by random inputs, by client, HTTP and raw signals. Each input is recorded with its reply. The
 * choice depends on the state of the conversation, so a seed gives the same inputs only as far as the states agree.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation, ConversationClient, PendingCall, Resolution } from 'colloquy/client';
import { retryQuery } from '../../../../src/client/temporal/query-retry.js';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import { Dice } from '../../../support/dice.js';
import { until } from '../../../support/until.js';
import type { Talk } from '../talk.js';
import type { World } from '../world.js';
import {
  finalOf,
  fitting,
  isAtRest,
  meantFor,
  noting,
  notingReply,
  saidIn,
} from './random-answers.js';
import { ANN, BOSS, randomClaim, randomText, STEPS, type Step, TOOLS } from './random-inputs.js';
import { type Input, Trail } from './trail.js';

const ON_BUSY = ['reject', 'queue', 'interrupt', 'steer'] as const;

/** Time to wait for a turn to settle; without it, most messages would find the conversation busy. */
const SETTLE_MS = 1_500;
const REST_MS = 60_000;
const LOOK_MS = 25;
/** Deadline of one query; without any worker the store is read instead. */
const QUERY_MS = 5_000;

export class RandomTalk {
  readonly id: string;
  readonly agent: string;
  readonly trail = new Trail();
  /** The conversation over HTTP. */
  readonly talk: Talk;
  readonly #world: World;
  readonly #conversation: Conversation;
  readonly #dice: Dice;
  readonly #words: readonly string[];
  readonly #seen = new Map<string, PendingCall>();
  readonly #again: (() => Promise<void>)[] = [];
  #count = 0;

  constructor(
    parts: { readonly world: World; readonly client: ConversationClient },
    by: {
      readonly id: string;
      readonly agent: string;
      readonly seed: number;
      /** The tools that its messages request. @defaultValue those of the juggler */
      readonly words?: readonly string[];
    },
  ) {
    this.id = by.id;
    this.agent = by.agent;
    this.#world = parts.world;
    this.#conversation = parts.client.conversation(by.id, { agent: by.agent });
    this.#dice = new Dice(by.seed);
    this.#words = by.words ?? TOOLS;
    this.talk = parts.world.talk(by.id);
  }

  /** Starts the conversation, with a random message or one that requests these calls: see `juggler-model.ts`. */
  async begin(plan?: string, patienceMs = REST_MS): Promise<void> {
    await this.#message(plan);
    const look = (): Promise<unknown> => this.#conversation.snapshot().catch(() => undefined);
    await until(`${this.id} is in the log`, look, { timeoutMs: patienceMs });
  }

  async pending(): Promise<readonly PendingCall[]> {
    return (await this.#present()).pending;
  }

  /** Answers the call finally and twice, on random paths: at the same moment, or one after the other. */
  async answerTwice(call: PendingCall): Promise<void> {
    const give = async (): Promise<void> => {
      await this.#resolve({ call, resolution: finalOf(call), actor: BOSS, via: this.#via() });
    };
    if (this.#dice.oneIn(2)) await Promise.all([give(), give()]);
    else {
      await give();
      await give();
    }
  }

  /** One random input, or a few at once. */
  async step(): Promise<void> {
    if (!this.#dice.oneIn(4)) await this.#settled();
    const step = this.#dice.pick(STEPS) ?? 'message';
    if (step !== 'burst') {
      await this.#take(step);
      return;
    }
    const several = Array.from({ length: 2 + this.#dice.below(3) }, () => this.#dice.pick(STEPS));
    await Promise.all(
      several.map((one) => this.#take(one === undefined || one === 'burst' ? 'resolve' : one)),
    );
  }

  /** Answers all waiting calls until none waits and no turn runs. @throws when it never comes to rest */
  async rest(restMs = REST_MS): Promise<void> {
    const giveUpAt = Date.now() + restMs;
    for (;;) {
      const snapshot = await this.#present();
      if (isAtRest(snapshot) && (await this.#isWorkflowAtRest())) return;
      if (Date.now() > giveUpAt)
        throw new Error(`${this.id} never comes to rest: ${JSON.stringify(snapshot)}`);
      for (const call of snapshot.pending) {
        this.#seen.set(call.toolCallId, call);
        await this.#resolve({ call, resolution: finalOf(call), actor: BOSS, via: 'client' });
      }
      await sleep(LOOK_MS);
    }
  }

  /** The snapshot of the workflow itself. */
  async workflow(): Promise<ConversationSnapshot> {
    const { temporal } = this.#world;
    const handle = temporal.workflow.getHandle(this.talk.workflowId);
    return await temporal.withDeadline(Date.now() + QUERY_MS, () =>
      retryQuery(() => handle.query<ConversationSnapshot>('snapshot')),
    );
  }

  /** Runs a last turn, in which the model reads the whole conversation. Returns its message. */
  async finale(restMs = REST_MS): Promise<string> {
    const text = `do ${this.id}.finale:`;
    await this.#send({ id: `${this.id}.finale`, text, via: 'client' });
    await this.rest(restMs);
    return text;
  }

  async #isWorkflowAtRest(): Promise<boolean> {
    return await this.workflow().then(isAtRest, () => false);
  }

  /**
   * The snapshot of the workflow, or of the store when the workflow does not answer: the last events of a killed worker
   * are stored with a delay.
   */
  async #present(): Promise<ConversationSnapshot> {
    return await this.workflow().catch(() => this.#conversation.snapshot());
  }

  async #take(step: Exclude<Step, 'burst'>): Promise<void> {
    switch (step) {
      case 'message':
        return await this.#message();
      case 'resolve':
        return await this.#resolveSome(await this.#conversation.pending());
      case 'wrong':
        return await this.#resolveWrongly();
      case 'repeat':
        return await this.#dice.pick(this.#again)?.();
      case 'extend':
        return await this.#extend();
      case 'claim':
        return await this.#claim();
      case 'cancel':
        return await this.#cancel();
      case 'rollOver':
        await this.#signal('rollOver', {});
        return this.trail.note({ what: 'roll-over', via: 'signal', id: '', said: 'sent' });
      case 'event':
        return await this.#event();
      case 'garbage':
        await this.#signal('resolveToolCall', this.#dice.pick([null, 7, {}, { toolCallId: 'a' }]));
        return this.trail.note({ what: 'garbage', via: 'signal', id: '', said: 'sent' });
    }
  }

  async #message(plan?: string): Promise<void> {
    const id = `${this.id}.${this.#next()}`;
    const text = plan === undefined ? randomText(this.#dice, id, this.#words) : `do ${id}: ${plan}`;
    const onBusy = this.#dice.oneIn(4) ? this.#dice.pick(ON_BUSY) : undefined;
    const via = this.#via();
    const send = (): Promise<void> =>
      this.#send({ id, text, via, ...(onBusy === undefined ? {} : { onBusy }) });
    this.#again.push(send);
    await send();
  }

  async #send(message: {
    readonly id: string;
    readonly text: string;
    readonly via: Input['via'];
    readonly onBusy?: (typeof ON_BUSY)[number];
  }): Promise<void> {
    const { id: requestId, text, via, ...options } = message;
    const note = { what: 'message', via, id: requestId, of: text } as const;
    const hasBegun = this.trail.inputs.length > 0;
    if (hasBegun && via === 'signal') {
      await this.#signal('sendMessage', { text, requestId, actor: ANN, ...options });
      this.trail.note({ ...note, said: 'sent' });
    } else if (hasBegun && via === 'http') {
      const request = { text, requestId, actor: ANN, ...options };
      await notingReply(this.trail, note, () => this.talk.call('/messages', { body: request }));
    } else
      await noting(this.trail, { ...note, via: 'client' }, async () => {
        const sent = await this.#conversation.send(text, { requestId, actor: ANN, ...options });
        return { ...saidIn({ ...sent }) };
      });
  }

  async #resolveSome(pending: readonly PendingCall[]): Promise<void> {
    for (const call of pending) this.#seen.set(call.toolCallId, call);
    const call = this.#dice.pick(pending);
    if (call === undefined) return;
    // A worker reverts some of these answers.
    const resolution = this.#dice.pick(fitting(call)) ?? finalOf(call);
    await this.#resolve({ call, resolution, actor: BOSS, via: this.#via() });
  }

  /**
   * Resolves a call that may have ended long ago or never existed, with any kind of answer, perhaps as an actor without
   * permission, and with a random time.
   */
  async #resolveWrongly(): Promise<void> {
    const call = this.#dice.pick([...this.#seen.values()]);
    const [other] = this.#dice.shuffled([...this.#seen.values()]);
    const target = this.#dice.oneIn(6) ? undefined : call;
    const resolution = this.#dice.pick(other === undefined ? [] : fitting(other));
    await this.#resolve({
      call: target,
      resolution: resolution ?? { type: 'approve' },
      actor: this.#dice.pick([ANN, BOSS, { id: 'eve' }]),
      via: this.#via(),
      receivedAt: new Date(Date.now() - this.#dice.below(4_000)).toISOString(),
    });
  }

  async #resolve(answer: {
    readonly call: PendingCall | undefined;
    readonly resolution: Resolution;
    readonly actor: { readonly id: string; readonly roles?: readonly string[] };
    readonly via: Input['via'];
    readonly receivedAt?: string;
  }): Promise<void> {
    const { call, resolution, actor, via } = answer;
    const id = `${this.id}.r${this.#next()}`;
    const toolCallId = call?.toolCallId ?? 'nobody';
    const note = { what: 'resolution', via, id, toolCallId, of: resolution } as const;
    const stamp = {
      ...(answer.receivedAt === undefined ? {} : { receivedAt: answer.receivedAt }),
      ...meantFor(call),
    };
    const give = async (): Promise<void> => {
      if (via === 'signal') {
        const input = { toolCallId, resolution, actor, requestId: id, ...stamp };
        await this.#signal('resolveToolCall', input);
        this.trail.note({ ...note, said: 'sent' });
      } else if (via === 'http') {
        const body = { resolution, actor, ...meantFor(call) };
        const headers = { 'idempotency-key': id };
        await notingReply(this.trail, note, () =>
          this.talk.resolve(toolCallId, resolution, { body, headers }),
        );
      } else
        await noting(this.trail, note, async () => {
          const options = { actor, requestId: id, ...stamp };
          return saidIn({ ...(await this.#conversation.resolve(toolCallId, resolution, options)) });
        });
    };
    this.#again.push(give);
    await give();
    // A double click.
    if (this.#dice.oneIn(5)) await give();
  }

  async #extend(): Promise<void> {
    const call = this.#dice.pick([...this.#seen.values()]);
    if (call === undefined) return;
    const { toolCallId } = call;
    const id = `${this.id}.x${this.#next()}`;
    const extend = (): Promise<void> =>
      noting(this.trail, { what: 'extension', via: 'client', id, toolCallId }, async () => {
        const options = { by: 60_000, requestId: id, actor: BOSS };
        return saidIn({ ...(await this.#conversation.extend(toolCallId, options)) });
      });
    this.#again.push(extend);
    await extend();
  }

  async #claim(): Promise<void> {
    const held = randomClaim(this.#dice, await this.#conversation.pending());
    if (held === undefined) return;
    const { toolCallId, ...asked } = held;
    const id = `${this.id}.h${this.#next()}`;
    const claim = (): Promise<void> =>
      noting(this.trail, { what: 'claim', via: 'client', id, toolCallId }, async () => {
        const options = { ...asked, requestId: id };
        return saidIn({ ...(await this.#conversation.claim(toolCallId, options)) });
      });
    this.#again.push(claim);
    await claim();
  }

  async #cancel(): Promise<void> {
    const id = `${this.id}.c${this.#next()}`;
    const cancel = (): Promise<void> =>
      noting(this.trail, { what: 'cancel', via: 'client', id }, async () =>
        saidIn({ ...(await this.#conversation.cancel({ requestId: id, actor: ANN })) }),
      );
    this.#again.push(cancel);
    await cancel();
  }

  async #event(): Promise<void> {
    const id = `${this.id}.e${this.#next()}`;
    const event = { eventId: id, kind: 'news', payload: { of: id } };
    const via = this.#via() === 'signal' ? 'signal' : 'client';
    const deliver = async (): Promise<void> => {
      if (via === 'signal') {
        await this.#signal('inboxEvent', event);
        this.trail.note({ what: 'event', via, id, said: 'sent' });
      } else
        await noting(this.trail, { what: 'event', via, id }, async () =>
          saidIn({ ...(await this.#conversation.sendEvent(event)) }),
        );
    };
    this.#again.push(deliver);
    await deliver();
  }

  /** Waits, for a short time, until a call waits for input or no turn runs. */
  async #settled(): Promise<void> {
    const giveUpAt = Date.now() + SETTLE_MS;
    while (Date.now() < giveUpAt) {
      const { status } = await this.#conversation.snapshot();
      if (status === 'idle' || status === 'awaiting_input') return;
      await sleep(LOOK_MS);
    }
  }

  async #signal(name: string, input: unknown): Promise<void> {
    await this.#world.temporal.workflow.getHandle(this.talk.workflowId).signal(name, input);
  }

  #via(): Input['via'] {
    return this.#dice.pick(['client', 'http', 'signal']);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}
