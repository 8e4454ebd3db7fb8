/**
 * `npm run endurance`: measurements that take longer than a benchmark's slices. ../BENCHMARKS.md describes the methods.
 */
import { parseArgs } from 'node:util';
import { startEndurance } from './engine.js';
import { FAILING_BAR, measureFailingBeside } from './failing-beside.js';
import { measureLongTurn } from './long-turn.js';
import { measureReplays, replaysReport } from './replays.js';

const USAGE = `npm run endurance -- long-turn|failing-beside|replays [options]
  long-turn        one turn of slow calls, the server killed and restarted twice: each call runs once
  --calls N        sequential calls (default 5)
  --seconds N      duration of each (default 360)

  failing-beside   healthy conversations beside one whose workflow tasks fail: p95 of the healthy turns
  --minutes N      duration of the failing one (default 60)
  --quiet N        minutes without it, before and after (default 5)
  --conversations N  number of healthy ones (default 200)
  --rate N         turns started in each second (default 10)

  replays          a worker is lost, and the next one has to replay many long histories at once: tasks that time out,
                   whole histories for each turn, alternately with the slots of Temporal's worker and of the engine's
  --conversations N  number of conversations (default 40)
  --events N       minimum length of each history (default 700)
  --load N         busy loops beside the worker (default 4)
  --rounds N       waves of each kind (default 2)

Exit code 1 when a bar is missed.`;

function number(option: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) throw new Error(`--${option} must be a number above 0, got "${text ?? ''}"`);
  return value;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calls: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    quiet: { type: 'string' },
    conversations: { type: 'string' },
    rate: { type: 'string' },
    events: { type: 'string' },
    load: { type: 'string' },
    rounds: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Uses a server and workers of its own. */
async function replays(): Promise<boolean> {
  const waves = await measureReplays({
    conversations: number('conversations', values.conversations, 40),
    events: number('events', values.events, 700),
    load: values.load === '0' ? 0 : number('load', values.load, 4),
    rounds: number('rounds', values.rounds, 2),
  });
  const report = replaysReport(waves);
  console.log(JSON.stringify({ waves, ...report }, null, 2));
  console.log(report.met ? 'met' : 'missed');
  return report.met;
}

async function main(what: string | undefined): Promise<boolean> {
  if (what === 'replays' && !values.help) return await replays();
  const longTurn = {
    calls: number('calls', values.calls, 5),
    secondsEach: number('seconds', values.seconds, 360),
  };
  const failing = {
    conversations: number('conversations', values.conversations, 200),
    minutes: number('minutes', values.minutes, 60),
    quietMinutes: number('quiet', values.quiet, 5),
    rate: number('rate', values.rate, 10),
  };
  if (values.help || (what !== 'long-turn' && what !== 'failing-beside')) {
    console.log(USAGE);
    return values.help;
  }
  const engine = await startEndurance();
  try {
    const measured =
      what === 'long-turn'
        ? await measureLongTurn(engine, longTurn)
        : await measureFailingBeside(engine, failing);
    console.log(JSON.stringify(measured, null, 2));
    if ('ratio' in measured)
      console.log(
        `p95 with the failing conversation at most ${FAILING_BAR} times: ${measured.ratio.toFixed(2)}`,
      );
    console.log(measured.met ? 'met' : 'missed');
    return measured.met;
  } finally {
    await engine.stop();
  }
}

try {
  process.exitCode = (await main(positionals[0])) ? 0 : 1;
} catch (error) {
  console.error(`endurance: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
