/** Requests that Node refuses before the app sees them: answered with a problem document, as all others. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ConversationError } from '../client/api/errors.js';
import type { FailureCode } from '../protocol/failures/failures.js';
import { problemOf } from './request/problem.js';

/** Errors of Node's parser with a status of their own. */
const FAILURES_BY_ERROR: Readonly<Record<string, { code: FailureCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    detail: 'The request line and the headers may have 16 KiB together',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    detail: 'The request was not complete in time',
  },
};
const UNREADABLE = { code: 'malformed_request', detail: 'The request cannot be read' } as const;

/** The connection is closed after the answer, and without one where another answer is under way on it. */
export function answerUnreadable(server: Server): void {
  const answering = new WeakSet<Duplex>();
  server.on('request', ({ socket }, response) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || answering.has(socket)) {
      socket.destroy(error);
      return;
    }
    const { code, detail } = FAILURES_BY_ERROR[error.code ?? ''] ?? UNREADABLE;
    const problem = problemOf(new ConversationError(code, detail));
    const body = JSON.stringify(problem);
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
