/**
 * Ends conversations of agents with each other. A text of a person always wakes; a text of an agent does not where
 * agents have gone on among themselves for too long. The judgement depends on stored messages alone, so a repeat, and
 * every process, comes to the same one.
 */
import { ConversationError } from '../client/api/errors.js';
import type { ProjectionLogger } from '../projection/source/outages.js';
import {
  MAX_AGENT_HOPS,
  MAX_AGENT_TEXTS_AN_HOUR,
  MAX_SPACE_PAGE,
} from '../protocol/limits/service-limits.js';
import { isSameMember, type MemberRef, type SpaceMessage } from '../protocol/spaces/spaces.js';
import { fingerprint } from '../protocol/values/json.js';
import type { ClaimedWake, MessageFilter, SpaceStore } from '../store/ports/spaces/spaces.js';
import type { Spaces } from './service.js';
import type { DeliverText } from './wakes.js';

/** `hops`: texts of agents without one of a person between them. `rate`: of agents, in an hour. `echo`: its own words. */
export type LoopReason = 'hops' | 'rate' | 'echo';

export interface LoopVerdict {
  /** Texts of agents since the last text of a person, this one included; 0 for a text of a person. */
  readonly hops: number;
  /** Present when the text does not wake the agent. */
  readonly stop?: LoopReason;
}

/** A text without its words, of which a fingerprint is enough. */
export interface EarlierText extends Pick<SpaceMessage, 'author' | 'createdAt'> {
  readonly words: string;
}

export function earlierText({
  author,
  createdAt,
  text,
}: Pick<SpaceMessage, 'author' | 'createdAt' | 'text'>): EarlierText {
  return { author, createdAt, words: fingerprint(text.trim()) };
}

const HOUR_MS = 3_600_000;
/** As many texts of agents as may wake others in an hour. */
const MAX_PAGES = Math.ceil(MAX_AGENT_TEXTS_AN_HOUR / MAX_SPACE_PAGE);
/** Texts that are being delivered. */
const MAX_KNOWN = 100;

/** Whether a text wakes an agent. `earlier`: the texts of the space before it, newest first. */
export function judgeText(
  text: EarlierText,
  earlier: readonly EarlierText[],
  { recipient }: { readonly recipient: MemberRef },
): LoopVerdict {
  if (text.author.kind === 'person') return { hops: 0 };
  const people = earlier.findIndex(({ author }) => author.kind === 'person');
  const hops = 1 + (people < 0 ? earlier.length : people);
  if (hops > MAX_AGENT_HOPS) return { hops, stop: 'hops' };
  const since = Date.parse(text.createdAt) - HOUR_MS;
  const inHour = earlier.filter(
    ({ author, createdAt }) => author.kind === 'agent' && Date.parse(createdAt) > since,
  );
  if (inHour.length >= MAX_AGENT_TEXTS_AN_HOUR) return { hops, stop: 'rate' };
  const own = earlier.find(({ author }) => isSameMember(author, recipient));
  return own?.words === text.words ? { hops, stop: 'echo' } : { hops };
}

export interface LoopDeps {
  readonly store: Pick<SpaceStore, 'messages'>;
  readonly spaces: Pick<Spaces, 'show'>;
  readonly logger: ProjectionLogger;
}

/** Delivers the texts that `judgeText` lets pass; the space shows why the first of the others does not wake an agent. */
export function withoutLoops(deliver: DeliverText, deps: LoopDeps): DeliverText {
  const known = new Map<string, Promise<readonly EarlierText[]>>();
  return async (wake, text) => {
    const earlier =
      text.author.kind === 'person' ? [] : await textsOnce({ known, deps }, wake, text);
    const recipient = { kind: 'agent', id: wake.memberId } as const;
    const { hops, stop } = judgeText(earlierText(text), earlier, { recipient });
    if (stop === undefined) await deliver(wake, text, hops);
    else await stopped(deps, { wake, text, hops, stop });
  };
}

/** A text is delivered to many agents: all of them share one read. */
async function textsOnce(
  {
    known,
    deps,
  }: { readonly known: Map<string, Promise<readonly EarlierText[]>>; readonly deps: LoopDeps },
  wake: ClaimedWake,
  text: SpaceMessage,
): Promise<readonly EarlierText[]> {
  const name = `${wake.tenant}/${wake.spaceId}/${text.id}`;
  const reading = known.get(name) ?? textsBefore(deps, wake, text);
  known.set(name, reading);
  const [oldest = name] = known.keys();
  if (known.size > MAX_KNOWN) known.delete(oldest);
  try {
    return await reading;
  } catch (error) {
    known.delete(name);
    throw error;
  }
}

/**
 * As far back as a limit may reach: the newest texts, by which hops are counted, and behind them those of agents in the
 * hour. Calls that are shown between texts, and texts of people between those of agents, take no place in these reads.
 */
async function textsBefore(
  { store }: LoopDeps,
  wake: ClaimedWake,
  text: SpaceMessage,
): Promise<readonly EarlierText[]> {
  const since = Date.parse(text.createdAt) - HOUR_MS;
  const read = async (only: MessageFilter, before: number): Promise<readonly SpaceMessage[]> =>
    (await store.messages(wake, { limit: MAX_SPACE_PAGE, before, only })).toReversed();
  let found = await read('texts', text.position);
  const texts = found.map(earlierText);
  const hops = texts.findIndex(({ author }) => author.kind === 'person');
  // A stop for hops needs no count of the hour.
  if (hops < 0 || hops >= MAX_AGENT_HOPS) return texts;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const last = found.at(-1);
    if (last === undefined || Date.parse(last.createdAt) <= since) break;
    found = await read('texts_of_agents', last.position);
    texts.push(...found.map(earlierText));
  }
  return texts;
}

interface Stopped extends LoopVerdict {
  readonly wake: ClaimedWake;
  readonly text: SpaceMessage;
  readonly stop: LoopReason;
}

async function stopped(
  { spaces, logger }: LoopDeps,
  { wake, text, hops, stop }: Stopped,
): Promise<void> {
  const { tenant, spaceId, conversationId, agent } = wake;
  const about = { tenant, spaceId, conversationId, agent, message: text.id, hops, reason: stop };
  logger.warn('An agent of a space is not woken for a text of another agent', about);
  // One message of its author says so: not one for each text that follows, nor for each agent.
  if (stop === 'hops' && hops > MAX_AGENT_HOPS + 1) return;
  const hour = Math.floor(Date.parse(text.createdAt) / HOUR_MS);
  try {
    await spaces.show({ tenant, member: text.author }, spaceId, {
      requestId: `loop:${stop}:${stop === 'rate' ? hour : text.id}`,
      status: 'error',
      text: TEXTS[stop],
      metadata: { toolName: 'loop_protection', reason: stop, messageId: text.id, hops },
    });
  } catch (error) {
    // The author has left meanwhile.
    if (!ConversationError.isInstance(error)) throw error;
  }
}

const TEXTS: Readonly<Record<LoopReason, string>> = {
  hops: `Wakes no agent: ${MAX_AGENT_HOPS} texts of agents came without one of a person. A text of a person wakes all agents again.`,
  rate: `Wakes no agent: more than ${MAX_AGENT_TEXTS_AN_HOUR} texts of agents came within an hour. Texts of people still wake.`,
  echo: 'Does not wake an agent whose own last text it repeats.',
};
