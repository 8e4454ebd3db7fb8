/** The report of recorded and judged histories. */
import type { History, Operation } from './history.js';
import type { Recording } from './recorder.js';

/** As the judge prints it (`judge/main.go`). */
export interface Judgement {
  readonly judged: number;
  readonly illegal: readonly {
    /** Without its extensions: the history is in `.json`, its drawing in `.html`. */
    readonly path: string;
    /** Single operations without which the history would be legal. */
    readonly suspects: readonly string[];
  }[];
  /** Histories that took too long to judge. */
  readonly undecided: readonly string[];
  readonly raced: number;
  readonly contested: number;
  readonly pairs: number;
  /** Answers whose first request got a duplicate, since its API found in the log that it was accepted. */
  readonly ownDuplicates: number;
}

/** How often each kind of request got each verdict. */
export function verdictsOf(histories: readonly History[]): Readonly<Record<string, number>> {
  // A cancel is in the history of each call of its turn.
  const seen = new Set<Operation>();
  const counts: Record<string, number> = {};
  for (const operation of histories.flatMap(({ operations }) => operations)) {
    if (seen.has(operation)) continue;
    seen.add(operation);
    const name = nameOf(operation);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return Object.fromEntries(
    Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other)),
  );
}

function nameOf({ input, output }: Operation): string {
  const op = input.op === 'claim' && input.claimId !== undefined ? 'renew' : input.op;
  const stored = op === 'renew' && output?.verdict === 'accepted' && output.seq === undefined;
  const verdict = output === undefined ? 'unknown' : (output.why ?? output.verdict);
  return `${op.padEnd(8)}${verdict}${stored ? ' by the store' : ''}`;
}

/** Whether all histories were judged linearizable, and there were races under kills to judge. */
export function isSound(recording: Recording, judgement: Judgement): boolean {
  const { illegal, undecided, judged, contested } = judgement;
  const bad = illegal.length + undecided.length + recording.stuck.length;
  const kills = Object.values(recording.kills).reduce((sum, one) => sum + one, 0);
  return bad === 0 && judged > 0 && contested > 0 && kills > 0;
}

export function textOf(
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
  recording: Recording,
  judgement: Judgement,
): string {
  const { histories, kills, unsent, stuck } = recording;
  const { judged, illegal, undecided, raced, contested, pairs, ownDuplicates } = judgement;
  const verdicts = Object.entries(verdictsOf(histories));
  const total = verdicts.reduce((sum, [, count]) => sum + count, 0);
  return [
    `${judged} histories judged, seed ${seed}, ${seconds} s`,
    `illegal      ${illegal.length}`,
    `undecided    ${undecided.length}`,
    `stuck        ${stuck.length}`,
    `raced        ${raced} had requests at the same time, ${pairs} pairs; in ${contested} two wanted to end the call`,
    `kills        ${Object.entries(kills)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    `requests     ${total}, and ${unsent} that reached no API`,
    `duplicates   ${ownDuplicates} of a request's own first try`,
    ...verdicts.map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`),
    ...illegal.flatMap(({ path, suspects }) => [
      `illegal: ${path}.json, drawn in ${path}.html`,
      ...suspects.map((suspect) => `  legal without: ${suspect}`),
    ]),
    ...undecided.map((id) => `undecided: ${id}`),
    ...stuck.map((text) => `stuck: ${text}`),
  ].join('\n');
}
