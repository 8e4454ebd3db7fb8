/** Checks docs/generated/http-api.md against the description of the API. COLLOQUY_WRITE_DOCS=1 writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { wrapped } from '../../scripts/docs/prose-width.mjs';
import { OPERATIONS, type Operation } from '../../src/http/openapi/operations.js';
import { HEARTBEAT_MS, RETRY_MS } from '../../src/http/request/sse.js';
import { FAILURES } from '../../src/protocol/failures/failures.js';
import { MAX_BLOB_BYTES, MAX_HTTP_BODY_BYTES } from '../../src/protocol/limits/service-limits.js';

const PAGE = fileURLToPath(new URL('../../docs/generated/http-api.md', import.meta.url));

function row({ method, path, id, summary, right, query, answers, streams }: Operation): string {
  const place = `\`${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``;
  const names = Object.keys(query?.shape ?? {}).filter((name) => name !== 'tenant');
  const statuses = Object.keys(answers).join(', ');
  const stream = streams === true ? ', or a stream' : '';
  return `| ${place} | \`${id}\` | ${summary} | ${right} | ${names.map((name) => `\`${name}\``).join(', ')} | ${statuses}${stream} |`;
}

function page(): string {
  const origin = `Generated from \`src/http/openapi\` by \`test/docs/http-api.test.ts\`;
    \`COLLOQUY_WRITE_DOCS=1 npx vitest run --project docs\` writes it. The API serves its whole description, with all
    fields, at \`/openapi.json\` (OpenAPI 3.1); the package has it as \`colloquy/openapi.json\`.`;
  const headers: readonly (readonly [string, string])[] = [
    [
      '`Idempotency-Key`',
      'names a request: repeats under one key are one request; the same as `requestId` in the body',
    ],
    ['`Authorization: Bearer ...`', 'identifies the caller; a page sends the cookie of a session'],
    ['`Accept: text/event-stream`', 'makes `GET .../events` a stream'],
    [
      '`Last-Event-ID`',
      `continues a stream after that event; streams ask clients to wait ${RETRY_MS / 1_000} s before they reconnect, and send a comment every ${HEARTBEAT_MS / 1_000} s`,
    ],
    ['`Range: bytes=0-1023`', 'returns a part of a stored value'],
    ['`X-Request-Id`', 'is in the log lines of the request, and comes back; made when absent'],
  ];
  const problems = Object.entries(FAILURES).map(
    ([code, { httpStatus, title }]) => `| \`${code}\` | ${httpStatus} | ${title} |`,
  );
  return `# HTTP API

${wrapped(origin)}

| place | name | effect | right | query | answers |
|---|---|---|---|---|---|
${OPERATIONS.map(row).join('\n')}

${wrapped('Every place of a conversation takes `tenant` as well, where the application lets a caller name several. [Identity](../identity.md) explains the rights.')}

## Headers

| header | effect |
|---|---|
${headers.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

## Limits

${wrapped(`A body of JSON has at most ${MAX_HTTP_BODY_BYTES} bytes, a file ${MAX_BLOB_BYTES}. Lists have 100 conversations a page, the log
1,000 events.`)}

## Problems

${wrapped(`Every other answer is a problem (RFC 9457, \`application/problem+json\`) with \`code\`, \`detail\`, and in \`errors\` the fields
that break a rule. [Errors](../errors.md) says for each code what to do.`)}

| code | status | title |
|---|---|---|
${problems.join('\n')}
`;
}

it('the page of the HTTP API agrees with its description', () => {
  const wanted = page();
  if (process.env['COLLOQUY_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});
