/** Options that several commands share. */
import { InvalidArgumentError } from 'commander';

/** @throws {InvalidArgumentError} */
export function seconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds.');
  return Number(text);
}

/** The option `--retry`, with its default. */
export function retry(defaultSeconds: number) {
  return [
    '--retry <seconds>',
    'keep trying to reach Temporal and Postgres for this long; 0 = exit at once',
    seconds,
    defaultSeconds,
  ] as const;
}
