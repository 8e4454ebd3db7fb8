/** Lists the what-ifs of a conversation, and cancels them. */
import { MAX_WHAT_IF_PAGE } from '../../protocol/limits/service-limits.js';
import { idProblem } from '../../protocol/values/ids.js';
import type { ListedWhatIf, WhatIfCancelled, WhatIfPage } from '../../protocol/workflow/what-if.js';
import { wholeProblem } from '../api/checks.js';
import { invalidField } from '../api/errors.js';
import type { WhatIfListOptions } from '../api/what-if-types.js';
import type { ListedRun } from '../what-ifs/runs.js';
import { findWhatIf, type WhatIfParts } from './what-if.js';

const DEFAULT_PAGE = 50;
/** Each report is a request of its own. */
const AT_ONCE = 8;

/** @throws {ConversationError} invalid_request naming the option; errors of Temporal */
export async function listWhatIfs(
  parts: WhatIfParts,
  { limit = DEFAULT_PAGE, cursor }: WhatIfListOptions,
  startedAt: string,
): Promise<WhatIfPage> {
  const problem = wholeProblem(limit, MAX_WHAT_IF_PAGE);
  if (problem !== undefined) throw invalidField('/limit', problem);
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const runs = await parts.whatIfs.list(parts.key, startedAt);
  const rest = after === undefined ? runs : runs.filter((run) => isBehind(run, after));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const whatIfs: ListedWhatIf[] = [];
  for (let at = 0; at < page.length; at += AT_ONCE) {
    const shown = page.slice(at, at + AT_ONCE).map((run) => listed(parts, run));
    whatIfs.push(...(await Promise.all(shown)).flat());
  }
  return {
    whatIfs,
    ...(last === undefined || rest.length <= limit ? {} : { nextCursor: cursorOf(last) }),
  };
}

/** None when the server has removed it since. */
async function listed(
  { key, whatIfs }: WhatIfParts,
  { whatIfId, runId, memo, begunAt, endedAt }: ListedRun,
): Promise<readonly ListedWhatIf[]> {
  const { digest: _ofRequest, startedAt: _ofConversation, ...about } = memo;
  const named = { whatIfId, ...about, begunAt: begunAt.toISOString() };
  if (endedAt === undefined) return [{ ...named, state: 'running' }];
  const end = await whatIfs.end(key, { whatIfId, runId });
  return end === undefined ? [] : [{ ...named, ...end, endedAt: endedAt.toISOString() }];
}

type Place = Pick<ListedRun, 'whatIfId'> & { readonly begunMs: number };

function cursorOf({ begunAt, whatIfId }: ListedRun): string {
  return `${begunAt.getTime()}.${whatIfId}`;
}

function placeOf(cursor: string): Place {
  const [, begunMs, whatIfId = ''] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? [];
  if (begunMs === undefined || idProblem('cursor', whatIfId) !== undefined)
    throw invalidField('/cursor', 'must be the nextCursor of an earlier page');
  return { begunMs: Number(begunMs), whatIfId };
}

function isBehind({ begunAt, whatIfId }: ListedRun, place: Place): boolean {
  const ms = begunAt.getTime();
  return ms < place.begunMs || (ms === place.begunMs && whatIfId < place.whatIfId);
}

/** Safe to repeat. @throws {ConversationError} unknown_what_if; errors of Temporal */
export async function cancelWhatIf(
  parts: WhatIfParts,
  whatIfId: string,
  startedAt: string,
): Promise<WhatIfCancelled> {
  const { key, gateway, whatIfs } = parts;
  const find = () => findWhatIf(parts, whatIfId, startedAt);
  const before = await find();
  if (before.state === 'running') await whatIfs.cancel(key, whatIfId, before.runId);
  // The server also accepts the request for a run that has ended meanwhile.
  const run = before.state === 'running' ? await find() : before;
  if (run.state === 'running') {
    const isWaiting = before.state === 'running' && before.isWaiting;
    const warning = isWaiting ? { warning: await gateway.noWorkerText() } : {};
    return { whatIfId, status: 'stopping', ...warning };
  }
  return { whatIfId, status: 'over', state: run.result.state };
}
