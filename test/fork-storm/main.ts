/** `npm run storm:forks`: a storm of forks with a report. Exit code 1 when it has findings. */
import { parseArgs } from 'node:util';
import { runForkStorm } from './fork-storm.js';
import { isClean, textOf } from './report.js';

const HELP = `npm run storm:forks -- [--conversations 1000] [--seed N] [--lanes 8] [--exports 100] [--keep DIR]

Random conversations on a real server are forked at random places; origin and fork are compared, driven on and
replayed. Conversations are exported as tests, which pass as they stand, and fail once they are changed.

  --conversations N  1 to 100000, default 1000
  --seed N           draws conversations and places (0 to 200000, default from the clock)
  --lanes N          conversations at once (1 to 64, default 8)
  --exports N        the most exported tests that are run (1 to 10000, default 100)
  --keep DIR         writes exported tests there that end in another way than they must
`;

function numberOf(name: string, given: string | undefined, [or, min, max]: readonly number[]) {
  if (given === undefined) return or ?? 0;
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= (min ?? 0) && value <= (max ?? 0))
    return value;
  throw new RangeError(
    `--${name}: must be a whole number from ${String(min)} to ${String(max)}, got "${given}"`,
  );
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      conversations: { type: 'string' },
      seed: { type: 'string' },
      lanes: { type: 'string' },
      exports: { type: 'string' },
      keep: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    help: values.help,
    keep: values.keep,
    conversations: numberOf('conversations', values.conversations, [1_000, 1, 100_000]),
    seed: numberOf('seed', values.seed, [Date.now() % 200_000, 0, 200_000]),
    lanes: numberOf('lanes', values.lanes, [8, 1, 64]),
    exports: numberOf('exports', values.exports, [100, 1, 10_000]),
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
  const onProgress = (line: string): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`forks: ${seconds} s: ${line}\n`);
  };
  onProgress(`seed ${options.seed}`);
  const report = await runForkStorm({ ...options, onProgress });
  process.stdout.write(`${textOf(report)}\n`);
  return isClean(report) ? 0 : 1;
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
// Calls that were given up may still wait for their next attempt, and would keep the process alive.
process.exit(await main());
