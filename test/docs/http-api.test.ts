/** Checks docs/generated/http-api.md against the description of the API. COLLOQUY_WRITE_DOCS=1 writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { wrapped } from '../../scripts/docs/prose-width.mjs';
import {
  DEFAULT_REQUESTS,
  DEFAULT_STREAMS,
  WINDOW_SECONDS,
} from '../../src/http/limits/options.js';
import { EXAMPLES } from '../../src/http/openapi/examples/examples.js';
import { refusalsOf } from '../../src/http/openapi/refusals.js';
import { OPERATIONS, type Operation } from '../../src/http/openapi/rows/operations.js';
import { HEARTBEAT_MS, RETRY_MS } from '../../src/http/request/sse.js';
import { CONVERSATIONS_A_PAGE } from '../../src/http/routes/conversations.js';
import { EVENTS_A_PAGE } from '../../src/http/routes/events.js';
import { FAILURES } from '../../src/protocol/failures/failures.js';
import { MAX_REQUEST_ID_CHARS } from '../../src/protocol/limits/limits.js';
import {
  MAX_BLOB_BYTES,
  MAX_HTTP_BODY_BYTES,
  MAX_LIST_PAGE,
  MAX_WAIT_RESULT_MS,
} from '../../src/protocol/limits/service-limits.js';
import type { LiveEvent } from '../../src/protocol/log/live-events.js';

const PAGE = fileURLToPath(new URL('../../docs/generated/http-api.md', import.meta.url));

/** Types of live events; a new one does not compile until it is here. */
const LIVE_TYPES: Readonly<Record<LiveEvent['type'], true>> = {
  text_delta: true,
  reasoning_delta: true,
  tool_arguments_delta: true,
  tool_call_started: true,
  tool_progress: true,
  model_call_started: true,
  model_call_failed: true,
  provider_call_started: true,
  provider_call_progress: true,
};
const LIVE = Object.keys(LIVE_TYPES);

const LIMITS: readonly (readonly [string, string])[] = [
  ['bytes of a JSON body', `${MAX_HTTP_BODY_BYTES}`],
  ['bytes of a file', `${MAX_BLOB_BYTES}`],
  ['conversations of a page', `${CONVERSATIONS_A_PAGE}, at most ${MAX_LIST_PAGE}`],
  ['events of a page', `${EVENTS_A_PAGE}, at most 1000`],
  ['wait for a result (`timeout`; of a turn `wait`)', `${MAX_WAIT_RESULT_MS / 1_000} s`],
  ['characters of a key', `${MAX_REQUEST_ID_CHARS}`],
  [
    `requests of a caller in ${WINDOW_SECONDS} s`,
    `${DEFAULT_REQUESTS}; answers to calls: any number`,
  ],
  ['open streams of a caller', `${DEFAULT_STREAMS}`],
];

/** Events of `GET .../events` as a stream, as `src/http/request/sse.ts` writes them. */
const STREAM: readonly (readonly [string, string, string])[] = [
  ['the type of a [logged event](events.md)', '`<generation>-<seq>`', 'the event'],
  [
    `\`live.<type>\`: ${LIVE.map((type) => `\`${type}\``).join(', ')}`,
    'none',
    'what may be lost, and is superseded by the log',
  ],
  ['`nested.<type>`, with `nested=true`', 'none', 'the event of a sub-agent, with its path'],
];

function row(operation: Operation): string {
  const { method, path, id, summary, right, query, answers, streams, idempotent } = operation;
  const place = `\`${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``;
  const names = Object.keys(query?.shape ?? {}).filter((name) => name !== 'tenant');
  const statuses = Object.keys(answers).join(', ');
  const stream = streams === true ? ', or a stream' : '';
  const key = { itself: 'by itself', true: 'by key', undefined: '' }[String(idempotent)];
  const repeats = method === 'post' ? (key ?? '') : 'by itself';
  return `| ${place} | \`${id}\` | ${summary} | ${right} | ${repeats} | ${names.map((name) => `\`${name}\``).join(', ')} | ${statuses}${stream} |`;
}

function codesOf(operation: Operation): readonly string[] {
  return [...refusalsOf(operation).values()].flat();
}

/** Codes that every operation can answer. */
const COMMON = OPERATIONS.map(codesOf).reduce((common, codes) =>
  common.filter((code) => codes.includes(code)),
);

function refusalRow(operation: Operation): string {
  const own = codesOf(operation).filter((code) => !COMMON.includes(code));
  return `| \`${operation.id}\` | ${own.map((code) => `\`${code}\``).join(', ')} |`;
}

/** Examples of bodies that say something. */
function bodyRows({ id }: Operation): readonly string[] {
  return Object.values(EXAMPLES[id]?.bodies ?? {})
    .filter((body) => Object.keys(body).length > 0)
    .map((body) => `| \`${id}\` | \`${JSON.stringify(body)}\` |`);
}

function page(): string {
  const origin = `Generated from \`src/http/openapi\` by \`test/docs/http-api.test.ts\`;
    \`COLLOQUY_WRITE_DOCS=1 npx vitest run --project docs\` writes it. The API serves its whole description, with all
    fields, at \`/openapi.json\` (OpenAPI 3.1); the package has it as \`colloquy/openapi.json\`.`;
  const headers: readonly (readonly [string, string])[] = [
    [
      '`Idempotency-Key`',
      'names a request: repeats under one key are one request, and another body under it is 422; the same as `requestId` in the body',
    ],
    ['`Authorization: Bearer ...`', 'identifies the caller; a page sends the cookie of a session'],
    ['`Accept: text/event-stream`', 'makes `GET .../events` a stream'],
    [
      '`Last-Event-ID`',
      `continues a stream after that event; streams ask clients to wait ${RETRY_MS / 1_000} s before they reconnect, and send a comment every ${HEARTBEAT_MS / 1_000} s`,
    ],
    [
      '`If-None-Match`',
      'holds the `ETag` of an earlier answer: 304 without a body if nothing has changed; for a conversation, a stored value and `/openapi.json`',
    ],
    ['`Range: bytes=0-1023`', 'returns a part of a stored value'],
    [
      '`X-Request-Id`',
      'is in the log lines of the request, also of its failure, and comes back; made when absent. The line of a message has the `turnId` as well, which the lines of workers about that turn have. In the history of the workflow each update and signal names it in its header `colloquy-http-request-id`. The input of a conversation has the `Idempotency-Key`',
    ],
    [
      '`Retry-After` of an answer',
      'is the time in seconds after which a retry may succeed (429, 503)',
    ],
  ];
  const problems = Object.entries(FAILURES).map(
    ([code, { httpStatus, title }]) => `| \`${code}\` | ${httpStatus} | ${title} |`,
  );
  return `# HTTP API

${wrapped(origin)}

| place | name | effect | right | repeats are safe | query | answers |
|---|---|---|---|---|---|---|
${OPERATIONS.map(row).join('\n')}

${wrapped('Every place of a conversation takes `tenant` as well, where the application lets a caller name several. [Identity](../identity.md) explains the rights.')}

## Bodies of requests

${wrapped('Examples of one story: Ann wants her money back for order 3, and Bob approves the refund. Bodies that may be empty are left out. The description has them with examples of the answers.')}

| name | example |
|---|---|
${OPERATIONS.flatMap(bodyRows).join('\n')}

## Headers

| header | effect |
|---|---|
${headers.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

## Limits

| limit | value |
|---|---|
${LIMITS.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

${wrapped('Each limit per caller is one of `colloquy serve`, and can be set ([deploying](../deploying.md#limits-per-caller)).')}

## Events of a stream

| event | \`id\` | data |
|---|---|---|
${STREAM.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

${wrapped(`Lines that begin with a colon are comments: one at the start, and one after ${HEARTBEAT_MS / 1_000} s of silence.`)}

## Problems

${wrapped(`Every refusal is a problem (RFC 9457, \`application/problem+json\`) with \`code\`, \`detail\`, and in \`errors\` the fields
that break a rule. [Errors](../errors.md) says for each code what to do.`)}

| code | status | title |
|---|---|---|
${problems.join('\n')}

## Problems of each operation

${wrapped(`Every operation can answer ${COMMON.map((code) => `\`${code}\``).join(', ')}. Those of a conversation's calls answer with a verdict in place of a problem once the request reaches the call.`)}

| name | codes, besides those of every operation |
|---|---|
${OPERATIONS.map(refusalRow).join('\n')}
`;
}

it('the page of the HTTP API agrees with its description', () => {
  const wanted = page();
  if (process.env['COLLOQUY_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});
