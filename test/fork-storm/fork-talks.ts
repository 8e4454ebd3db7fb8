/** Conversations of a storm of forks: each is driven at random, left in peace, forked at random places, and checked. */
import type { ConversationClient } from 'colloquy/client';
import type { OpenLog } from 'colloquy/log';
import { applyAll } from '../../src/core/apply/apply.js';
import type { ConversationSnapshot } from '../../src/protocol/conversation/conversation.js';
import type { Reply } from '../e2e/support/api.js';
import { TOOLS } from '../e2e/support/random/random-inputs.js';
import { RandomTalk } from '../e2e/support/random/random-talk.js';
import type { World } from '../e2e/support/world.js';
import { Dice } from '../support/dice.js';
import { cutsOf } from '../support/forks/core-forks.js';
import { until } from '../support/until.js';
import {
  type Cut,
  type Events,
  expectedOf,
  expectSound,
  misjudged,
  sharedBy,
} from './fork-checks.js';
import type { ForkFindings } from './report.js';

const AGENTS = ['queueing', 'steering', 'interrupting', 'rejecting', 'delegating'] as const;
const WORDS = [...TOOLS, ...['look', 'glance', 'glance', 'guarded', 'ask']];
/** Inputs of an origin: at least one, and fewer than this. */
const MOST_STEPS = 10;
const FORK_STEPS = 3;
/** A wait that ends sooner would change the origin while it is compared. */
const PEACE_MS = 60_000;
const REST_MS = 60_000;

export interface Means {
  readonly world: World;
  readonly client: ConversationClient;
  readonly opened: OpenLog;
  readonly findings: ForkFindings;
}

interface Seen {
  readonly events: Events;
  readonly snapshot: ConversationSnapshot;
}

/** A conversation that nothing will change. */
interface Origin extends Seen {
  readonly random: RandomTalk;
  readonly stored: string;
  readonly runs: number;
}

export class ForkTalks {
  readonly workflowIds: string[] = [];
  /** Exports of the conversations, by their ids. */
  readonly exports = new Map<string, Reply>();
  readonly counts = { forks: 0, refused: 0, reopened: 0, notCarried: 0 };
  readonly #means: Means;
  readonly #seed: number;

  constructor(means: Means, seed: number) {
    this.#means = means;
    this.#seed = seed;
  }

  async play(index: number): Promise<void> {
    const { findings, world } = this.#means;
    const id = `fork${this.#seed}-${index}`;
    const agent = AGENTS[index % AGENTS.length] ?? 'queueing';
    const dice = new Dice(this.#seed * 10_000 + index);
    try {
      const origin = await this.#origin({ id, agent, dice });
      this.exports.set(id, await origin.random.talk.call('/export?from=./agents.js'));
      await this.#forks(origin, dice);
      await this.#compare(origin);
      if (dice.oneIn(4)) await this.#goOn(origin);
    } catch (error) {
      findings.stuck.push(`${id} (${agent}): ${String(error)}`);
    }
    // Every request to the model has the whole transcript, and there are many conversations.
    world.model.forget((text) => text.includes(` ${id}.`) || text.includes(` ${id}x`));
  }

  async #origin(of: {
    readonly id: string;
    readonly agent: string;
    readonly dice: Dice;
  }): Promise<Origin> {
    const { id, agent, dice } = of;
    const seed = dice.below(2 ** 31);
    const words = agent === 'delegating' ? [...WORDS, 'delegate', 'delegate', 'delegate'] : WORDS;
    const random = new RandomTalk(this.#means, { id, agent, seed, words });
    await random.begin(undefined, REST_MS);
    this.workflowIds.push(random.talk.workflowId);
    for (let steps = dice.below(MOST_STEPS); steps > 0; steps -= 1) await random.step();
    if (dice.oneIn(3)) await this.#rollOver(random);
    // Leases end soon, and the end of one is an event.
    for (const call of await random.pending())
      if (call.claim !== undefined) await random.answerTwice(call);
    const seen = await this.#seen(random, isAtPeace);
    const stored = JSON.stringify(await this.#stored(id));
    const runs = (await this.#runsOf(id)).length;
    return { random, ...seen, stored, runs };
  }

  async #rollOver(random: RandomTalk): Promise<void> {
    const { temporal } = this.#means.world;
    await temporal.workflow.getHandle(random.talk.workflowId).signal('rollOver', {});
  }

  async #forks(origin: Origin, dice: Dice): Promise<void> {
    const { events, random } = origin;
    const cuts = cutsOf(events);
    const calls = events.flatMap((event) =>
      event.type === 'tool_call' ? [event.call.toolCallId] : [],
    );
    const anywhere = Array.from({ length: 2 }, () => 1 + dice.below(events.length + 2));
    const valid = dice.pick(cuts);
    const places = valid === undefined ? anywhere : [...anywhere, valid];
    for (const [index, atSeq] of places.entries()) {
      const some = dice.shuffled([...calls, 'nobody']).slice(0, dice.below(3));
      const asked = { atSeq, reopen: some };
      const id = `${random.id}x${index}`;
      const isBegun = await this.#fork(origin, { ...asked, id }, dice);
      // Most sets of calls are refused: those that may wait anew are found one by one.
      if (isBegun || !cuts.includes(atSeq)) continue;
      const reopen = calls.filter(
        (callId) =>
          dice.oneIn(2) && !('refused' in expectedOf(events, { atSeq, reopen: [callId] })),
      );
      await this.#fork(origin, { atSeq, reopen, id }, dice);
    }
  }

  /** False where it is refused. */
  async #fork(origin: Origin, at: Cut & { readonly id: string }, dice: Dice): Promise<boolean> {
    const { findings } = this.#means;
    const { random, events } = origin;
    const { id, ...cut } = at;
    const expected = expectedOf(events, cut);
    const body = { generation: 1, id, ...cut };
    // On a busy machine it may begin later, and a repeat finds it.
    const reply = await until(`${id} begins`, () => random.talk.call('/fork', { body }), {
      holds: ({ status }) => status !== 202,
    });
    const wrong = misjudged(reply, expected);
    if (wrong !== undefined) findings.misjudged.push(`${id} at ${JSON.stringify(cut)}: ${wrong}`);
    if (reply.status !== 201) {
      this.counts.refused += 1;
      return false;
    }
    this.counts.forks += 1;
    this.counts.reopened += cut.reopen.length;
    this.counts.notCarried += ((reply.body['notCarried'] ?? []) as readonly string[]).length;
    await this.#drive(origin, at, dice).catch((error: unknown) => {
      findings.stuck.push(`${id} at ${JSON.stringify(cut)}: ${String(error)}`);
    });
    return true;
  }

  /** Drives a fork to its end, and checks it. */
  async #drive(
    { random: { id: originId, agent }, events: copied }: Origin,
    { id, ...cut }: Cut & { readonly id: string },
    dice: Dice,
  ): Promise<void> {
    const { findings, world } = this.#means;
    const seed = dice.below(2 ** 31);
    const random = new RandomTalk(this.#means, { id, agent, seed, words: WORDS });
    this.workflowIds.push(random.talk.workflowId);
    // By the log: on a busy machine a short wait may be over before the first look.
    const begun = async (): Promise<string> => {
      const events = await random.talk.events();
      return events
        .flatMap((event) =>
          event.type === 'suspension' && event.seq > cut.atSeq ? [event.suspension.toolCallId] : [],
        )
        .toSorted()
        .join(' ');
    };
    const wanted = cut.reopen.toSorted().join(' ');
    await until(`the calls "${wanted}" begin to wait in ${id}`, begun, {
      holds: (calls) => calls === wanted,
    });
    await random.begin(undefined, REST_MS);
    for (let steps = dice.below(FORK_STEPS); steps > 0; steps -= 1) await random.step();
    await random.rest(REST_MS);
    const finale = await random.finale(REST_MS);
    const seen = await this.#seen(random, () => true);
    const runs = await world.lines('runs.jsonl');
    const forked = { ...seen, id, cut, runs, finale, origin: { id: originId, events: copied } };
    findings.shared.push(...sharedBy(forked).map((what) => `${id}: it ${what}`));
    try {
      expectSound(forked, world);
    } catch (error) {
      findings.broken.push(`${id} at ${JSON.stringify(cut)}: ${String(error)}`);
    }
  }

  /** The origin is as it was before its forks. */
  async #compare(before: Origin): Promise<void> {
    const { findings } = this.#means;
    const { random, events, snapshot, stored, runs } = before;
    const { id } = random;
    const now = await this.#seen(random, () => true);
    const pairs = [
      ['log', events, now.events],
      ['snapshot of the workflow', snapshot, now.snapshot],
      ['snapshot of the store', JSON.parse(stored), await this.#stored(id)],
      ['number of runs of tools', runs, (await this.#runsOf(id)).length],
    ] as const;
    for (const [what, was, is] of pairs)
      if (JSON.stringify(was) !== JSON.stringify(is))
        findings.touched.push(`${id}: its ${what}, ${differenceOf(was, is)}`);
  }

  /** The origin goes on as if it had never been forked. */
  async #goOn({ random }: Origin): Promise<void> {
    await random.rest(REST_MS);
    await random.finale(REST_MS);
    const { events } = await this.#seen(random, () => true);
    const state = applyAll(events);
    if (state === undefined || state.origin !== undefined)
      this.#means.findings.broken.push(`${random.id}: it became a fork`);
  }

  async #stored(conversationId: string): Promise<unknown> {
    const key = { tenant: 'default', conversationId };
    return (await this.#means.opened.log.head(key))?.snapshot;
  }

  async #runsOf(id: string): Promise<readonly unknown[]> {
    const runs = await this.#means.world.lines('runs.jsonl');
    return runs.filter((run) => run['conversationId'] === id);
  }

  /** The log and the snapshot of the workflow, once they agree and the condition holds. */
  async #seen(random: RandomTalk, holds: (seen: Seen) => boolean): Promise<Seen> {
    const look = async (): Promise<Seen> => {
      await this.#quiet(random);
      const snapshot = await random.workflow();
      // The text of the timeout: the events themselves are too many.
      const toJSON = (): unknown => snapshot;
      return Object.assign({ snapshot, events: await random.talk.events() }, { toJSON });
    };
    const { snapshot, events } = await until(`${random.id} is at peace`, look, {
      holds: (seen) => seen.events.at(-1)?.seq === seen.snapshot.seq && holds(seen),
      // A wait that ends soon may begin in it.
      timeoutMs: PEACE_MS + REST_MS,
    });
    return { snapshot, events };
  }

  /** Resolves when the workflow has taken every signal, and no activity of it runs. */
  async #quiet({ id, talk }: RandomTalk): Promise<void> {
    const handle = this.#means.world.temporal.workflow.getHandle(talk.workflowId);
    await until(`no task of ${id} is under way`, () => handle.describe(), {
      holds: ({ raw }) => !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0,
      timeoutMs: REST_MS,
    });
  }
}

/** Whether nothing happens soon in a workflow that has no work under way: no wait ends, and no sub-agent does. */
function isAtPeace({ events, snapshot }: Seen): boolean {
  const { status, pending, turn, queued } = snapshot;
  const soon = Date.now() + PEACE_MS;
  const isLasting = (until: string | undefined): boolean =>
    until === undefined || Date.parse(until) > soon;
  const isDelegated = Object.values(applyAll(events)?.calls ?? {}).some(
    ({ plan, result }) => plan.subAgent !== undefined && result === undefined,
  );
  // The end of a sub-agent comes behind that of its cancelled call.
  const children = new Map(
    events.flatMap((event) =>
      event.type === 'child_changed' ? [[event.childId, event.status] as const] : [],
    ),
  );
  const hasChild = [...children.values()].some((of) => of !== 'ended');
  return (
    (status === 'idle' || status === 'awaiting_input') &&
    (turn === undefined ? queued.length === 0 : pending.length > 0) &&
    !isDelegated &&
    !hasChild &&
    pending.every(
      ({ deadline, claim, claimBy }) =>
        claim === undefined && isLasting(deadline) && isLasting(claimBy),
    )
  );
}

function differenceOf(was: unknown, is: unknown): string {
  if (Array.isArray(was) && Array.isArray(is))
    return `with ${JSON.stringify(is.slice(was.length))} behind it`;
  return `${JSON.stringify(is)} instead of ${JSON.stringify(was)}`;
}
