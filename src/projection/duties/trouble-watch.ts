/**
 * Keeps the marks of conversations whose workflow tasks never complete. The sweep finds them, and so does the API when
 * an input is not answered; a mark is cleared when a check finds that tasks are completed again. Never throws: the next
 * check finds a mark that could not be written.
 */
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type ConversationKey, conversationKey } from '../../protocol/values/ids.js';
import { PASSING_TASK_ATTEMPTS, type Trouble } from '../../protocol/values/trouble.js';
import type { Troubled, Troubles } from '../../store/ports/troubles.js';
import type { ProjectionLogger } from '../source/outages.js';
import { SILENT } from '../source/outages.js';

export interface TroubleWatchDeps {
  readonly log: Troubles;
  readonly logger?: ProjectionLogger;
  /** Called after each recheck with the numbers of conversations that have a mark. Must not throw. */
  readonly count?: (counts: TroubleCounts) => void;
}

export interface TroubleCounts {
  readonly failing: number;
  readonly slow: number;
}

/** Conversations whose trouble this process remembers to have logged, and for how long: an API never sees it end. */
const LOGGED = { max: 10_000, ttl: 3_600_000 } as const;

/** Marks that one recheck covers: as many as one pass of the sweep describes. */
const RECHECKED = 300;
const RECHECKED_AT_ONCE = 8;

export interface Recheck {
  /** Rejects if the server does not answer. */
  readonly describe: (key: ConversationKey) => Promise<Trouble | undefined>;
  /** True once no further check is to begin. @defaultValue never */
  readonly isStopping?: () => boolean;
}

export class TroubleWatch {
  readonly #deps: Required<TroubleWatchDeps>;
  /** Run, kind and error that were logged last, by conversation. */
  readonly #logged = new LRUCache<string, string>(LOGGED);
  /** The last mark that was checked, and the counts up to it; absent where the next recheck begins with the first mark. */
  #place: { readonly after: ConversationKey; readonly counts: TroubleCounts } | undefined;

  constructor(deps: TroubleWatchDeps) {
    this.#deps = { logger: SILENT, count: () => undefined, ...deps };
  }

  /**
   * Marks the trouble that a check has found. Logs it in each process that finds it, once in an hour: workers and APIs
   * share the marks, not their logs. Too few attempts make no mark.
   */
  async found(key: ConversationKey, trouble: Trouble): Promise<void> {
    if (trouble.attempts <= PASSING_TASK_ATTEMPTS) return;
    const { log, logger } = this.#deps;
    await log.markTrouble(key, trouble).catch(() => false);
    const conversation = conversationKey(key);
    const what = `${trouble.runId} ${trouble.kind} ${trouble.error ?? ''}`;
    if (this.#logged.get(conversation) === what) return;
    this.#logged.set(conversation, what);
    logger.warn(textOf(key, trouble), { conversation, trouble });
  }

  /**
   * Checks the next marked conversations again, and counts once all have had their turn. A recheck that was stopped is
   * made again.
   */
  async recheck({ describe, isStopping = () => false }: Recheck): Promise<void> {
    const { log, count } = this.#deps;
    const place = this.#place;
    const counts = { failing: 0, slow: 0, ...place?.counts };
    const check = async ({ tenant, conversationId, trouble: before }: Troubled): Promise<void> => {
      if (isStopping()) return;
      const key = { tenant, conversationId };
      const now = await describe(key).catch(() => before);
      if (now === undefined) return await this.#cleared(key);
      counts[now.kind] += 1;
      await this.found(key, now);
    };
    const after = place === undefined ? {} : { after: place.after };
    const marked = await log.troubles({ limit: RECHECKED, ...after });
    const limited = pLimit(RECHECKED_AT_ONCE);
    await Promise.all(marked.map((mark) => limited(() => check(mark))));
    if (isStopping()) return;
    const last = marked.at(-1);
    this.#place =
      last === undefined || marked.length < RECHECKED ? undefined : { after: last, counts };
    if (this.#place === undefined) count(counts);
  }

  async #cleared(key: ConversationKey): Promise<void> {
    const { log, logger } = this.#deps;
    const conversation = conversationKey(key);
    this.#logged.delete(conversation);
    if (!(await log.clearTrouble(key).catch(() => false))) return;
    logger.info(`The workflow of ${conversation} completes its tasks again`, { conversation });
  }
}

function textOf(key: ConversationKey, { kind, attempts, since, error }: Trouble): string {
  const conversation = conversationKey(key);
  if (kind === 'slow')
    return `The workflow of ${conversation} is slow: ${attempts} attempts at a task timed out since ${since}`;
  return `The workflow of ${conversation} fails: ${attempts} attempts since ${since}${error === undefined ? '' : `: ${error}`}. Next: npx colloquy doctor`;
}
