/** What a storm did and what it found. */
import type { QueryCounts } from '../support/histories/outside-queries.js';

/** All of them are empty after a storm that found nothing. */
export interface Findings {
  /** Conversations that never came to rest, or whose workflow task fails again and again. */
  readonly stuck: string[];
  /** Logs of which readers saw a part that was written anew. */
  readonly rewritten: string[];
  /** Calls of a tool that runs once which were run twice. */
  readonly doubled: string[];
  /** Inputs that were taken, or left as signals, and are not in the log. */
  readonly lost: string[];
  /** Runs that no replay agrees with, and everything else that names TMPRL1100. */
  readonly unreplayable: string[];
  /** Anything else that must hold, and does not. */
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
  /** Those that took place, in their order. */
  readonly faults: readonly string[];
  readonly queries: QueryCounts;
  /** Inputs that failed with something else than a refusal, such as a store that was locked for too long; by what they failed with. */
  readonly disturbed: Readonly<Record<string, number>>;
  readonly findings: Findings;
}

export function noFindings(): Findings {
  return { stuck: [], rewritten: [], doubled: [], lost: [], unreplayable: [], broken: [] };
}

/** True when nothing was found, and the storm was one. */
export function isCalm(report: StormReport): boolean {
  const { findings, conversations, faults, queries, toolRuns } = report;
  const hasHappened = [conversations, faults.length, queries.answered, toolRuns];
  return hasHappened.every((count) => count > 0) && !Object.values(findings).some(isFilled);
}

/** Each kind with what was found of it. */
export function foundIn(findings: Findings): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(findings as Readonly<Record<keyof Findings, readonly string[]>>);
}

function isFilled(found: readonly string[]): boolean {
  return found.length > 0;
}

const SHOWN = 10;
const SHOWN_CHARS = 2_000;

/** For people: one line for each number, and what was found. */
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
