/** Counts and findings of a storm of forks. */

/** All of them are empty after a storm without findings. */
export interface ForkFindings {
  /** Conversations and forks that could not be driven to their end. */
  readonly stuck: string[];
  /** Origins whose log, snapshot or effects changed while they were forked. */
  readonly touched: string[];
  /** Forks that took over, ran or answered what is the origin's, and keys that two conversations share. */
  readonly shared: string[];
  /** Forks that were begun or refused against the rules, and refusals that do not name the rule. */
  readonly misjudged: string[];
  /** Violations of invariants of the core, of effects or of the model's input. */
  readonly broken: string[];
  /** Runs that cannot be replayed. */
  readonly unreplayable: string[];
  /** Exported tests that fail as they stand, and changed ones that pass. */
  readonly exports: string[];
}

export interface ForkReport {
  readonly seed: number;
  readonly conversations: number;
  readonly forks: number;
  readonly refused: number;
  /** Calls that waited anew. */
  readonly reopened: number;
  readonly notCarried: number;
  readonly runs: number;
  readonly toolRuns: number;
  readonly exported: number;
  readonly changed: number;
  /** Conversations that a test cannot play again, by the reason. */
  readonly notExported: Readonly<Record<string, number>>;
  readonly findings: ForkFindings;
}

export function noForkFindings(): ForkFindings {
  return {
    ...{ stuck: [], touched: [], shared: [], misjudged: [] },
    ...{ broken: [], unreplayable: [], exports: [] },
  };
}

/** True when there are no findings, and forks and exports took place. */
export function isClean({ findings, forks, refused, exported }: ForkReport): boolean {
  const lists: readonly (readonly string[])[] = Object.values(findings);
  return [forks, refused, exported].every((count) => count > 0) && lists.flat().length === 0;
}

const SHOWN = 10;
const SHOWN_CHARS = 3_000;

/** For people: one line for each number, and the findings. */
export function textOf(report: ForkReport): string {
  const { findings, notExported } = report;
  const lists: readonly (readonly [string, readonly string[]])[] = Object.entries({ ...findings });
  return [
    `forks of random conversations, seed ${report.seed}`,
    `conversations  ${report.conversations}, and ${report.forks} forks, in ${report.runs} runs`,
    `refused        ${report.refused} forks`,
    `calls          ${report.reopened} waited anew, ${report.notCarried} were not carried`,
    `runs of tools  ${report.toolRuns}`,
    `exported       ${report.exported} tests, and ${report.changed} changed ones`,
    ...Object.entries(notExported).map(
      ([why, count]) => `not exported   ${count} times: it ${why}`,
    ),
    ...lists.map(([kind, list]) => `${kind.padEnd(15)}${list.length}`),
    ...lists.flatMap(([kind, list]) =>
      list.slice(0, SHOWN).map((one) => `\n${kind}: ${one.slice(0, SHOWN_CHARS)}`),
    ),
  ].join('\n');
}
