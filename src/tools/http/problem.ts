/** What goes wrong with a request, in words for the model. Runs in the worker. */

/**
 * The request has no good answer. Its text goes to the model when secrets are struck out; it names hosts and fields, never
 * values of headers.
 */
export class HttpProblem extends Error {
  /** The same request may do better later. */
  readonly retryable: boolean;
  /** As the server asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    retry?: { readonly retryable: boolean; readonly retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.name = 'HttpProblem';
    this.retryable = retry?.retryable ?? false;
    this.retryAfterMs = retry?.retryAfterMs;
  }
}

/** Failures of the connection, by the codes of Node and undici. `sent`: the request may have reached the server. */
const CONNECTION: Readonly<Record<string, { readonly text: string; readonly sent: boolean }>> = {
  ECONNREFUSED: { text: 'the connection was refused', sent: false },
  ENOTFOUND: { text: 'the host is not known', sent: false },
  EAI_AGAIN: { text: 'the host could not be looked up', sent: false },
  EHOSTUNREACH: { text: 'the host cannot be reached', sent: false },
  ENETUNREACH: { text: 'the network cannot be reached', sent: false },
  EADDRNOTAVAIL: { text: 'the host cannot be reached', sent: false },
  UND_ERR_CONNECT_TIMEOUT: { text: 'the host did not take the connection in time', sent: false },
  UND_ERR_PRX_CONN: { text: 'the proxy closed the connection', sent: false },
  ECONNRESET: { text: 'the connection was cut', sent: true },
  EPIPE: { text: 'the connection was cut', sent: true },
  ETIMEDOUT: { text: 'the connection timed out', sent: true },
  UND_ERR_SOCKET: { text: 'the connection was cut', sent: true },
};

/** What a failed request is told as; errors of the network by their code, anything else without its text. */
export function problemOf(error: unknown, host: string): HttpProblem {
  if (error instanceof HttpProblem) return error;
  for (const { code, message } of causesOf(error)) {
    if (code === 'ADDRESS_REFUSED') return new HttpProblem(`The request was not sent: ${message}`);
    const known = CONNECTION[code];
    if (known !== undefined) {
      const outcome = known.sent
        ? 'it is not known whether the request took effect'
        : 'the request was not sent';
      return new HttpProblem(`${host}: ${known.text}; ${outcome}`, { retryable: true });
    }
    if (isCertificateCode(code))
      return new HttpProblem(`${host}: its certificate is not trusted; the request was not sent`);
    if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI'))
      return new HttpProblem(`${host}: its answer is compressed wrongly and cannot be read`);
    if (code.startsWith('HPE_'))
      return new HttpProblem(`${host}: its answer is not HTTP and cannot be read`);
  }
  return new HttpProblem(
    `${host}: the request failed; it is not known whether the request took effect`,
  );
}

function isCertificateCode(code: string): boolean {
  return /CERT|^ERR_(?:TLS|SSL)|SELF_SIGNED|ISSUER/.test(code);
}

/** An error and what caused it, as far as they have codes. */
function causesOf(error: unknown): readonly { readonly code: string; readonly message: string }[] {
  const found: { code: string; message: string }[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string')
      found.push({ code: current.code, message: current.message });
    current = current.cause;
  }
  return found;
}

const RETRYABLE_STATUSES: readonly number[] = [408, 425, 429];
/** These say that it is never done. */
const FINAL_SERVER_STATUSES: readonly number[] = [501, 505];

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-15 */
export function isRetryableStatus(status: number): boolean {
  return (
    RETRYABLE_STATUSES.includes(status) ||
    (status >= 500 && !FINAL_SERVER_STATUSES.includes(status))
  );
}
