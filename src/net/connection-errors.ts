/** Connection errors by the codes of Node and undici: one table for models, HTTP tools and MCP servers. Runs anywhere. */

export interface ConnectionError {
  /** In words that may be shown. */
  readonly text: string;
  /** The request may have reached the server. */
  readonly sent: boolean;
  /** `timeout`: too slow. `cut`: it stood, and was lost. */
  readonly kind: 'unreachable' | 'timeout' | 'cut';
}

const NOT_SENT = { sent: false, kind: 'unreachable' } as const;
const CUT = { text: 'the connection was cut', sent: true, kind: 'cut' } as const;

const CONNECTION_ERRORS: ReadonlyMap<unknown, ConnectionError> = new Map<string, ConnectionError>([
  ['ECONNREFUSED', { ...NOT_SENT, text: 'the connection was refused' }],
  ['ENOTFOUND', { ...NOT_SENT, text: 'the host is not known' }],
  ['EAI_AGAIN', { ...NOT_SENT, text: 'the host could not be looked up' }],
  ['EHOSTUNREACH', { ...NOT_SENT, text: 'the host cannot be reached' }],
  ['ENETUNREACH', { ...NOT_SENT, text: 'the network cannot be reached' }],
  ['EADDRNOTAVAIL', { ...NOT_SENT, text: 'the host cannot be reached' }],
  ['UND_ERR_PRX_CONN', { ...NOT_SENT, text: 'the proxy closed the connection' }],
  [
    'UND_ERR_CONNECT_TIMEOUT',
    { text: 'the host did not take the connection in time', sent: false, kind: 'timeout' },
  ],
  ['ETIMEDOUT', { text: 'the connection timed out', sent: true, kind: 'timeout' }],
  ['UND_ERR_HEADERS_TIMEOUT', { text: 'no answer came in time', sent: true, kind: 'timeout' }],
  ['UND_ERR_BODY_TIMEOUT', { ...CUT, text: 'the answer fell silent' }],
  ['ECONNRESET', CUT],
  ['EPIPE', CUT],
  ['UND_ERR_SOCKET', CUT],
  ['ERR_STREAM_PREMATURE_CLOSE', CUT],
]);

/** Undefined for codes that do not concern a connection, and for values that are not codes. */
export function connectionErrorOf(code: unknown): ConnectionError | undefined {
  return CONNECTION_ERRORS.get(code);
}
