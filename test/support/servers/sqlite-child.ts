/** Child of `sqlite.test.ts`: appends the same long log, or its own, in small batches beside others. */
import { openSqliteEventLog } from '../event-logs.js';
import { stamped, started, turn } from '../samples/log-events.js';

const [file = '', conversationId = '', turns = '1'] = process.argv.slice(2);
const key = { tenant: 'default', conversationId };
const log = await openSqliteEventLog({ file });
const bodies = Array.from({ length: Number(turns) }, (_, index) => turn(`t${index}`));
const events = stamped([started(key), ...bodies.flat()]);
let added = 0;
for (let from = 0; from < events.length; from += 3) {
  const result = await log.append({ ...key, runId: 'run-a', events: events.slice(from, from + 3) });
  if ('added' in result) added += result.added;
}
await log.close();
process.stdout.write(`${JSON.stringify({ added })}\n`);
