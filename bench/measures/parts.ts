/** Conversations made of parts against the same work without them: both on the engine, alternating slice by slice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CellResult, type InlineResult, PARTS, type PartsCase } from '../shared/cells.js';
import type { Bench } from './processes.js';
import { undisturbed } from './undisturbed.js';

export interface PartsOptions {
  readonly rounds: number;
  readonly slices: number;
  readonly turns: number;
  readonly patienceMs: number;
  readonly settleMs: number;
}

export interface PartsCell {
  readonly case: PartsCase;
  readonly rounds: readonly InlineResult[];
}

const CASES = Object.keys(PARTS) as readonly PartsCase[];

export async function measureParts(
  bench: Bench,
  { rounds, slices, turns, patienceMs, settleMs }: PartsOptions,
): Promise<readonly PartsCell[]> {
  const measured = CASES.map((which) => ({ case: which, rounds: [] as InlineResult[] }));
  for (let round = 1; round <= rounds; round += 1)
    for (const cell of measured) {
      const about = { case: cell.case, lanes: PARTS[cell.case].lanes };
      const request = { ...about, turnsPerConversation: turns, slices };
      let result: InlineResult | undefined;
      await undisturbed(patienceMs, async () => {
        await sleep(settleMs);
        result = await bench.ask<InlineResult>({ type: 'parts', request });
        return Object.values(result) as CellResult[];
      });
      if (result === undefined) throw new Error('nothing was measured');
      cell.rounds.push(result);
      const { inline: parts, plain } = result;
      const rates = [parts, plain].map(({ turnsPerSecond }) => turnsPerSecond.toFixed(2));
      console.error(`${cell.case}: with and without parts ${rates.join(', ')} a second`);
    }
  return measured;
}
