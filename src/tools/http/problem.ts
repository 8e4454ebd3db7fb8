/** Describes failures of a request in words for the model. Runs in the worker. */
import { connectionErrorOf } from '../../net/connection-errors.js';

/**
 * A request without a successful response. Its text goes to the model after redaction; it names hosts and fields, never
 * values of headers.
 */
export class HttpProblem extends Error {
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** The delay that the server requested. */
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

/** Converts the error of a failed request: network errors by their code, any other without its text. */
export function problemOf(error: unknown, host: string): HttpProblem {
  if (error instanceof HttpProblem) return error;
  for (const { code, message } of causesOf(error)) {
    if (code === 'ADDRESS_REFUSED') return new HttpProblem(`The request was not sent: ${message}`);
    const known = connectionErrorOf(code);
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
    if (code === 'UND_ERR_HEADERS_OVERFLOW')
      return new HttpProblem(`${host}: its headers are too large`);
    const refusal = TUNNEL_REFUSED.exec(message)?.[1];
    if (refusal !== undefined)
      return new HttpProblem(
        `${host}: the proxy refused the connection (HTTP ${refusal}); the request was not sent`,
        { retryable: isRetryableStatus(Number(refusal)) },
      );
    if (NOT_HTTP.includes(code))
      return new HttpProblem(`${host}: its answer is not HTTP and cannot be read`);
  }
  return new HttpProblem(
    `${host}: the request failed; it is not known whether the request took effect`,
  );
}

/** Undici has no error code for this case. */
const TUNNEL_REFUSED = /^Proxy response \((\d{3})\) !== 200/;

/** Undici's parse errors have a name and no code. */
const NOT_HTTP: readonly string[] = ['HTTPParserError', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];

function isCertificateCode(code: string): boolean {
  return /CERT|^ERR_(?:TLS|SSL)|SELF_SIGNED|ISSUER/.test(code);
}

/** An error and its causes, by name if there is no code. */
function causesOf(error: unknown): readonly { readonly code: string; readonly message: string }[] {
  const found: { code: string; message: string }[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const code = 'code' in current ? current.code : undefined;
    found.push({ code: typeof code === 'string' ? code : current.name, message: current.message });
    current = current.cause;
  }
  return found;
}

const RETRYABLE_STATUSES: readonly number[] = [408, 425, 429];
/** Statuses that will not change with a retry. */
const FINAL_SERVER_STATUSES: readonly number[] = [501, 505];

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-15 */
export function isRetryableStatus(status: number): boolean {
  return (
    RETRYABLE_STATUSES.includes(status) ||
    (status >= 500 && !FINAL_SERVER_STATUSES.includes(status))
  );
}
