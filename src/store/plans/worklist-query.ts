/** Builds the statements behind the worklist, and reads their rows; the adapters differ in their dialect. */
import type { Risk } from '../../protocol/calls/executors.js';
import {
  MAX_COUNTED_CALLS,
  type WaitingItem,
  type WorklistCounts,
  worklistCounts,
} from '../../protocol/log/worklist.js';
import type { WaitingPage, WorklistRequest } from '../ports/worklist.js';
import { admission, allOf, type Dialect, type ListQuery, Statement } from './list-query.js';
import { callCursorOf, callPositionOf, deadlineMsOf, listLimit } from './paging.js';
import { namesStored } from './pending.js';
import { numberIn, type Row, textIn } from './rows.js';

/**
 * Rows have `position`, `deadline_ms`, `tool_call_id` and `item`. Reads one row more than the page has, to see whether
 * there is another. @throws {RangeError} for a cursor that `waitingPage` did not make.
 */
export function worklistQuery(request: WorklistRequest, dialect: Dialect): ListQuery {
  const statement = new Statement(dialect);
  const conditions = conditionsOf(request, { statement, dialect });
  if (request.cursor !== undefined) {
    const { deadlineMs, position, toolCallId } = callPositionOf(request.cursor);
    const from = [deadlineMs, position, toolCallId].map((value) => statement.value(value));
    conditions.push(`(${ORDER}) > (${from.join(', ')})`);
  }
  const sql = `SELECT position, deadline_ms, tool_call_id, item FROM ${dialect.pendingCalls} AS call
     ${allOf(conditions)} ORDER BY ${ORDER} LIMIT ${statement.value(listLimit(request) + 1)}`;
  return { sql, values: statement.values };
}

/** Rows have `tool`, `risk` and `calls`. */
export function countQuery(request: WorklistRequest, dialect: Dialect): ListQuery {
  const statement = new Statement(dialect);
  const conditions = conditionsOf(request, { statement, dialect });
  const first = `SELECT tool, risk FROM ${dialect.pendingCalls} AS call
     ${allOf(conditions)} ORDER BY ${ORDER} LIMIT ${statement.value(MAX_COUNTED_CALLS)}`;
  const sql = `SELECT tool, risk, count(*) AS calls FROM (${first}) AS counted GROUP BY tool, risk`;
  return { sql, values: statement.values };
}

/** A call has an id of its own in its conversation only; conversations have positions. */
const ORDER = 'deadline_ms, position, tool_call_id';

function conditionsOf(
  request: WorklistRequest,
  { statement, dialect }: { readonly statement: Statement; readonly dialect: Dialect },
): string[] {
  const { tenant, tool, agent, kind, risk, requester, deadlineBefore, mayAnswer } = request;
  const conditions = statement.where([
    ['tenant =', tenant],
    ['tool =', tool],
    ['agent =', agent],
    ['kind =', kind],
    ['risk =', risk],
    ['deadline_ms <', deadlineBefore === undefined ? undefined : deadlineMsOf(deadlineBefore)],
  ]);
  if (requester !== undefined)
    conditions.push(dialect.askedBy('call', statement.value(namesStored([requester]))));
  if (mayAnswer !== undefined) {
    conditions.push(dialect.admits('call', admission(statement, mayAnswer)));
    // A parameter of its own: Postgres gives each one type.
    const holder = statement.value(namesStored([mayAnswer.id]));
    conditions.push(`(claimed_by IS NULL OR claimed_by = ${holder})`);
  }
  return conditions;
}

export function waitingPage(request: WorklistRequest, rows: readonly Row[]): WaitingPage {
  const limit = listLimit(request);
  const page = rows.slice(0, limit);
  const items = page.map(itemOf);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  const deadlineMs = numberIn(last, 'deadline_ms');
  const position = numberIn(last, 'position');
  const toolCallId = textIn(last, 'tool_call_id');
  return { items, nextCursor: callCursorOf({ deadlineMs, position, toolCallId }) };
}

export function itemOf(row: Row): WaitingItem {
  return JSON.parse(textIn(row, 'item')) as WaitingItem;
}

export function waitingCountsOf(rows: readonly Row[]): WorklistCounts {
  const counted = rows.map((row) => ({
    tool: textIn(row, 'tool'),
    calls: numberIn(row, 'calls'),
    ...(row['risk'] === null ? {} : { risk: textIn(row, 'risk') as Risk }),
  }));
  const total = counted.reduce((sum, { calls }) => sum + calls, 0);
  return worklistCounts(counted, total >= MAX_COUNTED_CALLS);
}
