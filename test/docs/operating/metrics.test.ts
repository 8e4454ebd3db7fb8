/** The tables of metrics in docs/deploying.md have every metric that the code makes, and no other. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { API_METRICS } from '../../../src/http/metrics/table.js';
import { COUNTERS, LAG_HISTOGRAM } from '../../../src/worker/watch/event-metrics.js';
import { MODEL_HISTOGRAM } from '../../../src/worker/watch/model-metrics.js';
import { FAILING_GAUGE, SLOW_GAUGE } from '../../../src/worker/watch/trouble-metrics.js';

const PAGE = readFileSync(
  fileURLToPath(new URL('../../../docs/deploying.md', import.meta.url)),
  'utf8',
);

/** The rows of the table whose first column has this head. */
function rowsUnder(head: string): readonly string[] {
  const lines = PAGE.split('\n');
  const first = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rest = lines.slice(first + 2);
  return rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  );
}

it('the metrics of an API process are documented as they are', () => {
  const wanted = Object.entries(API_METRICS).map(([name, { labels, meaning }]) => {
    const tags = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${tags}${tags === '' ? '' : ' '}| ${meaning} |`;
  });
  expect(rowsUnder('metric of an API process')).toEqual(wanted);
});

it('the metrics of a worker are documented, and no others', () => {
  const rows = rowsUnder('metric of a worker').join('\n');
  const named = [...rows.matchAll(/`(colloquy_\w+|\.\.\._\w+)`/g)].map(([, name]) => name);
  const counters = Object.keys(COUNTERS).map((name) => `${name}_total`);
  const slow = `...${SLOW_GAUGE.replace('colloquy_conversations', '')}`;
  expect(named).toEqual([...counters, MODEL_HISTOGRAM, LAG_HISTOGRAM, FAILING_GAUGE, slow]);
});
