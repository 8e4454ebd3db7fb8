/** CPU time of processes and of the machine, from /proc (Linux). On other systems everything is 0. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** USER_HZ is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

export interface CpuReading {
  readonly atMs: number;
  readonly byName: Readonly<Record<string, number>>;
  /** The total of all processes, in CPU milliseconds. */
  readonly busyMs: number;
}

export function readCpu(pids: Readonly<Record<string, number>>): CpuReading {
  const byName: Record<string, number> = {};
  for (const [name, pid] of Object.entries(pids)) byName[name] = processMs(pid);
  return { atMs: performance.now(), byName, busyMs: machineMs() };
}

/** CPU milliseconds by process between two readings, and the share of the machine that others took. */
export function cpuBetween(
  before: CpuReading,
  after: CpuReading,
): { readonly byName: Readonly<Record<string, number>>; readonly foreign: number } {
  const byName: Record<string, number> = {};
  let ours = 0;
  for (const [name, ms] of Object.entries(after.byName)) {
    byName[name] = ms - (before.byName[name] ?? 0);
    ours += byName[name];
  }
  const capacity = (after.atMs - before.atMs) * Math.max(1, cpus().length);
  const others = after.busyMs - before.busyMs - ours;
  return { byName, foreign: Math.max(0, others / capacity) };
}

const CALM_LOOK_MS = 700;

/**
 * Waits until other processes use at most `atMost` of the machine, or until the time is up. Callers have no work
 * running meanwhile.
 */
export async function untilCalm(atMost: number, waitMs: number): Promise<void> {
  const giveUpAt = performance.now() + waitMs;
  while (performance.now() < giveUpAt) {
    const before = readCpu({});
    await sleep(CALM_LOOK_MS);
    if (cpuBetween(before, readCpu({})).foreign <= atMost) return;
  }
}

function processMs(pid: number): number {
  const text = read(`/proc/${pid}/stat`);
  // The name is in brackets and may contain anything; times are the 12th and 13th field after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK;
}

function machineMs(): number {
  const [line = ''] = read('/proc/stat').split('\n');
  const [, user, nice, system, , , irq, softirq] = line.split(/\s+/).map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (irq ?? 0) + (softirq ?? 0)) * MS_PER_TICK;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
