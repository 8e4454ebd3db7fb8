/**
 * Conversations of a storm: lanes in which one follows the other, each driven at random, brought to rest and checked.
 */
import type { ConversationClient } from 'colloquy/client';
import type { OpenLog } from 'colloquy/log';
import { applyAll } from '../../src/core/apply/apply.js';
import { snapshotOf } from '../../src/core/view/snapshot.js';
import type { CanonicalEvent } from '../../src/protocol/log/events.js';
import { expectModelRead } from '../e2e/support/model-reads.js';
import { TOOLS } from '../e2e/support/random/random-inputs.js';
import { RandomTalk } from '../e2e/support/random/random-talk.js';
import { doubled, expectEffects, expectReplies } from '../e2e/support/random/trail-checks.js';
import type { World } from '../e2e/support/world.js';
import { Dice } from '../support/dice.js';
import type { OutsideQueries } from '../support/histories/outside-queries.js';
import { expectInvariants } from '../support/schedules/core-invariants.js';
import { until } from '../support/until.js';
import type { Findings } from './report.js';
import { whyStuck } from './runs.js';

const AGENTS = ['queueing', 'steering', 'interrupting', 'rejecting'] as const;
/** Added to those of the random schedules: reads, as activities and inside of the model call. */
const WORDS = [...TOOLS, ...['look', 'look', 'glance', 'glance', 'glance', 'glance']];
/** Each conversation gets this many inputs, and up to as many again: its transcript stays short enough to compare. */
const STEPS = 20;
const REST_MS = 180_000;
const LOG_MS = 60_000;

export interface Means {
  readonly world: World;
  readonly client: ConversationClient;
  readonly opened: OpenLog;
  readonly queries: OutsideQueries;
  readonly findings: Findings;
}

export class StormConversations {
  /** Ids of all conversations that have begun. */
  readonly workflowIds: string[] = [];
  /** Ids of those that are driven now. */
  readonly open = new Set<string>();
  readonly disturbed: Record<string, number> = {};
  events = 0;
  inputs = 0;
  readonly #deps: Means;
  readonly #seed: number;

  constructor(deps: Means, seed: number) {
    this.#deps = deps;
    this.#seed = seed;
  }

  /** Drives one conversation after the other until the signal fires, and brings each to rest, the last included. */
  async lane(number: number, signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const seed = this.#seed * 10_000 + number * 500 + turn;
      const agent = AGENTS[(number + turn) % AGENTS.length] ?? 'queueing';
      await this.#play({ id: `storm${this.#seed}-${number}-${turn}`, agent, seed }, signal);
    }
  }

  async #play(
    by: { readonly id: string; readonly agent: string; readonly seed: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { queries, findings } = this.#deps;
    const random = new RandomTalk(this.#deps, { ...by, words: WORDS });
    const { workflowId } = random.talk;
    const ended = new AbortController();
    try {
      await random.begin(undefined, REST_MS);
    } catch (error) {
      this.#disturb(error);
      const wasTaken = random.trail.repeats('message').some(({ refused }) => !refused);
      if (wasTaken) findings.stuck.push(await whyStuck(this.#deps.world, workflowId, error));
      return;
    }
    this.workflowIds.push(workflowId);
    this.open.add(workflowId);
    const asking = queries.watch(workflowId, { seed: by.seed, signal: ended.signal });
    try {
      await this.#drive(random, signal);
      await this.#toRest(random, signal);
    } catch (error) {
      findings.stuck.push(await whyStuck(this.#deps.world, workflowId, error));
    } finally {
      ended.abort();
      this.open.delete(workflowId);
      this.inputs += random.trail.inputs.length;
    }
    await asking;
  }

  async #drive(random: RandomTalk, signal: AbortSignal): Promise<void> {
    const steps = STEPS + new Dice(random.id.length).below(STEPS);
    for (let step = 0; step < steps && !signal.aborted; step += 1)
      await random.step().catch((error: unknown) => this.#disturb(error));
  }

  async #toRest(random: RandomTalk, signal: AbortSignal): Promise<void> {
    const { id } = random;
    await this.#inCalm(signal, () => random.rest(REST_MS));
    const finale = await this.#inCalm(signal, () => random.finale(REST_MS));
    const events = await this.#inCalm(signal, () => this.#wholeLog(random));
    this.events += events.length;
    const { findings, world } = this.#deps;
    const check = (into: string[], checking: () => void): void => {
      try {
        checking();
      } catch (error) {
        into.push(`${id} (${random.agent}): ${String(error)}`);
      }
    };
    check(findings.lost, () => expectReplies(random.trail, events));
    const own = (await world.lines('runs.jsonl')).filter((run) => run['conversationId'] === id);
    for (const calls of doubled(own)) findings.doubled.push(`${id}: ${JSON.stringify(calls)}`);
    check(findings.broken, () => {
      const state = applyAll(events);
      if (state === undefined) throw new Error('the log is empty');
      expectInvariants({ state, events: [...events] });
      expectEffects(own, events);
      expectModelRead(world.model.requests, { id, finale, events });
    });
    // Every request to the model has the whole transcript, and there are many conversations.
    world.model.forget((text) => text.includes(` ${id}.`));
  }

  /** Work that fails while faults go on is tried again, and has to succeed once they are over. */
  async #inCalm<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const isCalm = signal.aborted;
      try {
        return await work();
      } catch (error) {
        if (isCalm) throw error;
        this.#disturb('not done in time while faults went on');
      }
    }
  }

  /**
   * The store's log, once it has the workflow's events and folds to its state: a run may roll over when everything is
   * done.
   */
  async #wholeLog(random: RandomTalk): Promise<readonly CanonicalEvent[]> {
    const { opened } = this.#deps;
    const key = { tenant: 'default', conversationId: random.id };
    const look = async () => {
      const snapshot = await random.workflow().catch(() => undefined);
      const events: CanonicalEvent[] = [];
      for (let more = true; more; ) {
        const read = await opened.log.read(key, { afterSeq: events.at(-1)?.seq ?? 0 });
        events.push(...(read?.events ?? []));
        more = read?.more ?? false;
      }
      // The text of the timeout: the events themselves are too many.
      const toJSON = () => ({
        stored: events.at(-1)?.seq ?? 0,
        workflow: snapshot?.seq ?? 'silent',
      });
      return { events, snapshot, toJSON };
    };
    const { events, snapshot } = await until(`the log of ${random.id} is whole`, look, {
      holds: (seen) => seen.snapshot !== undefined && seen.events.at(-1)?.seq === seen.snapshot.seq,
      timeoutMs: LOG_MS,
    });
    const state = applyAll(events);
    const folded = state === undefined ? undefined : snapshotOf(state);
    if (JSON.stringify(folded) !== JSON.stringify(snapshot))
      this.#deps.findings.broken.push(`${random.id}: the log folds to something else`);
    return events;
  }

  #disturb(error: unknown): void {
    const text = String(error).split('\n')[0]?.slice(0, 160) ?? '';
    this.disturbed[text] = (this.disturbed[text] ?? 0) + 1;
  }
}
