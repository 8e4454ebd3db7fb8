/** `npm run check:verdicts`: records histories under kills, and has porcupine judge whether they are linearizable. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { record } from './recorder.js';
import { isSound, type Judgement, textOf } from './report.js';

const HELP = `npm run check:verdicts -- [--histories 1000] [--seed N] [--lanes 16] [--out DIR]

Clients in four processes answer, claim, extend and cancel the same waiting calls over two APIs, while both APIs and two
workers are killed. Each call is one history; porcupine judges whether its verdicts are linearizable. Needs Go.

  --histories N  at least so many (1 to 100000, default 1000)
  --seed N       draws requests and kills (0 to 200000, default from the clock)
  --lanes N      conversations at once (1 to 64, default 16)
  --out DIR      gets the histories, and a drawing of each illegal one (default .colloquy/verdicts)
`;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const JUDGE = fileURLToPath(new URL('./judge/', import.meta.url));

function numberOf(
  name: string,
  given: string | undefined,
  rule: { readonly or: number; readonly min: number; readonly max: number },
): number {
  if (given === undefined) return rule.or;
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= rule.min && value <= rule.max)
    return value;
  throw new RangeError(
    `--${name}: must be a whole number from ${rule.min} to ${rule.max}, got "${given}"`,
  );
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      histories: { type: 'string' },
      seed: { type: 'string' },
      lanes: { type: 'string' },
      out: { type: 'string', default: join(ROOT, '.colloquy', 'verdicts') },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    help: values.help,
    out: values.out,
    histories: numberOf('histories', values.histories, { or: 1_000, min: 1, max: 100_000 }),
    seed: numberOf('seed', values.seed, { or: Date.now() % 200_000, min: 0, max: 200_000 }),
    lanes: numberOf('lanes', values.lanes, { or: 16, min: 1, max: 64 }),
  };
}

/** Builds the judge, and has it judge the planted histories. Returns why it cannot be used, where it cannot. */
function buildJudge(judge: string): string | undefined {
  if (spawnSync('go', ['version']).status !== 0)
    return 'needs Go 1.22 or later, to build its judge: https://go.dev/dl';
  const stdio = ['ignore', 2, 2] as const;
  const built = spawnSync('go', ['build', '-o', judge, '.'], { cwd: JUDGE, stdio: [...stdio] });
  if (built.status !== 0) return 'could not build its judge; the first time, Go fetches porcupine';
  const plants = spawnSync(judge, ['plants', join(JUDGE, 'testdata')], { stdio: [...stdio] });
  return plants.status === 0 ? undefined : 'has a judge that misjudges planted histories';
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
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-judge-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const judge = join(folder, 'judge');
  const unusable = buildJudge(judge);
  if (unusable === undefined) return await check(judge, options);
  process.stderr.write(`check:verdicts ${unusable}\n`);
  return 2;
}

async function check(judge: string, options: ReturnType<typeof optionsOf>): Promise<number> {
  const { seed, out } = options;
  const startedAt = performance.now();
  const elapsed = (): number => Math.round((performance.now() - startedAt) / 1_000);
  const onProgress = (line: string): void => {
    process.stderr.write(`verdicts: ${elapsed()} s: ${line}\n`);
  };
  onProgress(`seed ${seed}`);
  const recording = await record({ ...options, onProgress });
  rmSync(join(out, 'illegal'), { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const file = join(out, 'histories.jsonl');
  const lines = recording.histories.map((history) => `${JSON.stringify(history)}\n`);
  writeFileSync(file, lines.join(''));
  const said = execFileSync(judge, ['histories', file, join(out, 'illegal')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  const judgement = JSON.parse(said) as Judgement;
  process.stdout.write(`${textOf({ seed, seconds: elapsed() }, recording, judgement)}\n`);
  return isSound(recording, judgement) ? 0 : 1;
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
process.exit(await main());
