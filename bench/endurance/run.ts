/** `npm run endurance`: what takes longer than a benchmark's slices. How it measures stands in ../BENCHMARKS.md. */
import { parseArgs } from 'node:util';
import { startEndurance } from './engine.js';
import { FAILING_BAR, measureFailingBeside } from './failing-beside.js';
import { measureLongTurn } from './long-turn.js';
import { measureReplays, replaysReport } from './replays.js';

const USAGE = `npm run endurance -- long-turn|failing-beside|replays [options]
  long-turn        one turn of slow calls, the server killed and started again twice: each call runs once
  --calls N        calls, one after the other (default 5)
  --seconds N      what each takes (default 360)

  failing-beside   healthy conversations, one more whose workflow tasks fail: p95 of the turns of the others
  --minutes N      how long the failing one is there (default 60)
  --quiet N        minutes without it, before and after (default 5)
  --conversations N  healthy ones (default 200)
  --rate N         turns begun in a second (default 10)

  replays          a worker is lost, and the next one has to replay many long histories at once: tasks that are given up,
                   whole histories for each turn, with the slots of Temporal's worker and with ours, in turn
  --conversations N  so many (default 40)
  --events N       of each history, at least (default 700)
  --load N         busy loops beside it (default 4)
  --rounds N       of both (default 2)

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

/** Has a server and workers of its own. */
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
      console.log(`p95 beside it at most ${FAILING_BAR} times: ${measured.ratio.toFixed(2)}`);
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
