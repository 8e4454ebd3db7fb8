/**
 * One turn of slow calls, while the server is killed and restarted twice: each call has to run once, and the turn has
 * to end.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SlowOrder } from './agents.js';
import type { Endurance } from './engine.js';

/** Times of the kills, as shares of the turn: each in the middle of a call. */
const RESTARTS = [0.3, 0.7] as const;
/** Time allowed beyond the calls themselves. */
const SLACK_MS = 120_000;

export interface LongTurnOptions {
  readonly calls: number;
  readonly secondsEach: number;
}

export interface LongTurn extends LongTurnOptions {
  readonly tookSeconds: number;
  /** Downtimes of the server, in milliseconds. */
  readonly downMs: readonly number[];
  readonly status: string;
  readonly text: string;
  /** The number of starts of the tool's code, and of its results. */
  readonly began: number;
  readonly ended: number;
  readonly met: boolean;
}

export async function measureLongTurn(
  engine: Endurance,
  { calls, secondsEach }: LongTurnOptions,
): Promise<LongTurn> {
  const order: SlowOrder = { calls, seconds: secondsEach };
  const startedAt = performance.now();
  const conversation = engine.client.conversation('long-turn', { agent: 'bench-slow' });
  const turn = await conversation.send(JSON.stringify(order));
  if (turn.status !== 'admitted') throw new Error(`the message is ${turn.status}`);
  const totalMs = calls * secondsEach * 1_000;
  const downMs: number[] = [];
  for (const share of RESTARTS) {
    await sleep(Math.max(0, startedAt + share * totalMs - performance.now()));
    downMs.push(await engine.restartServer());
    console.error(`the server was down for ${(downMs.at(-1) ?? 0).toFixed(0)} ms`);
  }
  const leftMs = startedAt + totalMs + SLACK_MS - performance.now();
  const result = await turn.result({ timeout: leftMs });
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  const text = 'text' in result ? result.text : JSON.stringify(result).slice(0, 300);
  const [began, ended] = counts(engine.ledger);
  const met =
    result.status === 'completed' &&
    text === `${calls} calls are done` &&
    began === calls &&
    ended === calls;
  return {
    calls,
    secondsEach,
    tookSeconds,
    downMs,
    status: result.status,
    text,
    began,
    ended,
    met,
  };
}

function counts(ledger: string): [began: number, ended: number] {
  const lines = readFileSync(ledger, 'utf8').trim().split('\n');
  const notes = lines.map((line) => (JSON.parse(line) as { what: string }).what);
  return [
    notes.filter((what) => what === 'began').length,
    notes.filter((what) => what === 'ended').length,
  ];
}
