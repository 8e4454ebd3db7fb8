/** `npm run storm`: a storm with a report. Exit code 1 when it has findings. */
import { parseArgs } from 'node:util';
import { isCalm, textOf } from './report.js';
import { runStorm } from './storm.js';

const HELP = `npm run storm -- [--minutes 10] [--seed N] [--load 4] [--lanes 6] [--keep DIR] [--json]

Conversations are driven at random while two workers and the API are killed and frozen, runs roll over and leave
memory, and outsiders query them; then everything is brought to rest and checked, and every history is replayed.

  --minutes N  how long it goes on (0.1 to 600, default 10)
  --seed N     repeats the faults in their order, and the inputs as far as conversations go the same way
  --load N     busy loops beside (0 to 64, default 0); 4 on two cores is twice their work
  --lanes N    conversations at once (1 to 50, default 6)
  --keep DIR   writes histories that cannot be replayed there, as the Temporal CLI does
  --json       the report as JSON on stdout; progress is on stderr in any case
`;

function numberOf(
  name: string,
  given: string | undefined,
  rule: {
    readonly or: number;
    readonly min: number;
    readonly max: number;
    readonly whole: boolean;
  },
): number {
  if (given === undefined) return rule.or;
  const value = Number(given);
  const isFine =
    given.trim() !== '' &&
    value >= rule.min &&
    value <= rule.max &&
    (!rule.whole || Number.isInteger(value));
  if (isFine) return value;
  const kind = rule.whole ? 'a whole number' : 'a number';
  throw new RangeError(
    `--${name}: must be ${kind} from ${rule.min} to ${rule.max}, got "${given}"`,
  );
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      load: { type: 'string' },
      lanes: { type: 'string' },
      keep: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    help: values.help,
    json: values.json,
    storm: {
      keep: values.keep,
      minutes: numberOf('minutes', values.minutes, { or: 10, min: 0.1, max: 600, whole: false }),
      seed: numberOf('seed', values.seed, {
        or: Date.now() % 100_000,
        min: 0,
        max: 400_000,
        whole: true,
      }),
      load: numberOf('load', values.load, { or: 0, min: 0, max: 64, whole: true }),
      lanes: numberOf('lanes', values.lanes, { or: 6, min: 1, max: 50, whole: true }),
    },
  };
}

async function main(): Promise<number> {
  let options: ReturnType<typeof optionsOf>;
  try {
    options = optionsOf(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const startedAt = performance.now();
  process.stderr.write(`storm: seed ${options.storm.seed}\n`);
  const report = await runStorm({
    ...options.storm,
    onProgress: (line) => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stderr.write(`storm: ${seconds} s: ${line}\n`);
    },
  });
  process.stdout.write(`${options.json ? JSON.stringify(report) : textOf(report)}\n`);
  return isCalm(report) ? 0 : 1;
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
// Calls that were given up may still wait for their next attempt, and would keep the process alive.
process.exit(await main());
