/** Counts and findings of a storm. */
import type { QueryCounts } from '../support/histories/outside-queries.js';

/** All of them are empty after a storm without findings. */
export interface Findings {
  /** Conversations that never came to rest, or whose workflow task fails again and again. */
  readonly stuck: string[];
  /** Logs that were rewritten after readers had seen a part of them. */
  readonly rewritten: string[];
  /** Calls with effects `once` that ran twice. */
  readonly doubled: string[];
  /** Inputs that were accepted, or left as signals, and are not in the log. */
  readonly lost: string[];
  /** Runs that cannot be replayed, and every other mention of TMPRL1100. */
  readonly unreplayable: string[];
  /** Violations of other invariants. */
  readonly broken: string[];
}

export interface StormReport {
  readonly seed: number;
  readonly minutes: number;
  readonly load: number;
  readonly conversations: number;
  readonly runs: number;
  readonly events: number;
  readonly inputs: number;
  readonly toolRuns: number;
  /** Faults that took place, in their order. */
  readonly faults: readonly string[];
  readonly queries: QueryCounts;
  /**
   * Inputs that failed with another error than a refusal, such as a store that was locked for too long; by that
   * error.
   */
  readonly disturbed: Readonly<Record<string, number>>;
  readonly findings: Findings;
}

export function noFindings(): Findings {
  return { stuck: [], rewritten: [], doubled: [], lost: [], unreplayable: [], broken: [] };
}

/** True when there are no findings, and the storm took place. */
export function isCalm(report: StormReport): boolean {
  const { findings, conversations, faults, queries, toolRuns } = report;
  const hasHappened = [conversations, faults.length, queries.answered, toolRuns];
  return hasHappened.every((count) => count > 0) && !Object.values(findings).some(isFilled);
}

/** Each kind with its findings. */
export function foundIn(findings: Findings): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(findings as Readonly<Record<keyof Findings, readonly string[]>>);
}

function isFilled(found: readonly string[]): boolean {
  return found.length > 0;
}

const SHOWN = 10;
const SHOWN_CHARS = 2_000;

/** For people: one line for each number, and the findings. */
export function textOf(report: StormReport): string {
  const { findings, queries, faults, disturbed } = report;
  const found = foundIn(findings);
  return [
    `storm of ${report.minutes} minutes, seed ${report.seed}, ${report.load} busy loops beside`,
    `conversations  ${report.conversations} in ${report.runs} runs, ${report.events} events`,
    `inputs         ${report.inputs}, and ${report.toolRuns} runs of tools`,
    `faults         ${faults.length}`,
    `queries        ${queries.asked}: ${queries.answered} answered, ${queries.refused} refused, ${queries.unanswered} without an answer`,
    ...Object.entries(queries.reasons).map(
      ([why, count]) => `               ${count} times: ${why}`,
    ),
    ...Object.entries(disturbed).map(([what, count]) => `disturbed      ${count} times: ${what}`),
    ...found.map(([kind, list]) => `${kind.padEnd(15)}${list.length}`),
    ...found.flatMap(([kind, list]) =>
      list.slice(0, SHOWN).map((one) => `\n${kind}: ${one.slice(0, SHOWN_CHARS)}`),
    ),
  ].join('\n');
}
