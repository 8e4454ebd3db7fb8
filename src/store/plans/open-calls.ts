/** Builds the statement that reads calls to offer, and reads its rows; the same for both databases. */
import type { OpenCall, OpenCallsRead } from '../ports/open-calls.js';
import { admission, allOf, type Dialect, type ListQuery, Statement } from './list-query.js';
import { keyOf, numberIn, type Row, textIn } from './rows.js';

export function unclaimedQuery(
  { tenant, tools, kinds, agent, admits, limit }: OpenCallsRead,
  dialect: Dialect,
): ListQuery {
  const statement = new Statement(dialect);
  const anyOf = (among: readonly string[]): string =>
    among.map((value) => statement.value(value)).join(', ');
  const conditions = [
    ...statement.where([
      ['tenant =', tenant],
      ['agent =', agent],
    ]),
    `tool IN (${anyOf(tools)})`,
    `kind IN (${anyOf(kinds)})`,
    'claimed_by IS NULL',
    dialect.admits('call', admission(statement, admits)),
  ];
  const generation = `(SELECT generation FROM ${dialect.conversations} AS head
     WHERE head.tenant = call.tenant AND head.conversation_id = call.conversation_id)`;
  const sql = `SELECT tenant, conversation_id, tool_call_id, tool, claims, seq, opened_at_ms, ${generation} AS generation
     FROM ${dialect.pendingCalls} AS call ${allOf(conditions)}
     ORDER BY deadline_ms, position, tool_call_id LIMIT ${statement.value(limit)}`;
  return { sql, values: statement.values };
}

export function openCallOf(row: Row): OpenCall {
  return {
    ...keyOf(row),
    toolCallId: textIn(row, 'tool_call_id'),
    tool: textIn(row, 'tool'),
    claims: numberIn(row, 'claims'),
    seq: numberIn(row, 'seq'),
    generation: numberIn(row, 'generation'),
    openedAtMs: numberIn(row, 'opened_at_ms'),
  };
}
