/** Connects to OpenAI's API, or a compatible server: key, client, and the end of a request. Runs in the worker. */
import type OpenAI from 'openai';
import type { Stream } from 'openai/streaming';
import type { ModelCaller } from '../../protocol/model/model.js';
import { ModelFailure } from '../shared/failure.js';
import type { Watch } from '../shared/stream-watch.js';

export interface ConnectionOptions {
  /** URL of any server that speaks the API, with its `/v1`. @defaultValue env OPENAI_BASE_URL, else OpenAI's own */
  readonly baseURL?: string;
  /**
   * Read before every request, in the worker, so that a rotated key takes effect without a restart; a function receives
   * the caller. Servers other than OpenAI's are called without a key when there is none. @defaultValue env
   * OPENAI_API_KEY
   */
  readonly apiKey?: string | ((caller: ModelCaller) => string | Promise<string>);
  /** @defaultValue env OPENAI_ORG_ID */
  readonly organization?: string;
  /**
   * Longest silence of the server in milliseconds: before the first piece and between pieces. More than the default has
   * no effect. @defaultValue 300,000 (5 minutes)
   */
  readonly requestTimeoutMs?: number;
}

/** Whether requests go to OpenAI itself: its own server, or one of its regions. */
export function isOpenAI({ baseURL }: ConnectionOptions): boolean {
  const url = baseURL ?? process.env['OPENAI_BASE_URL'];
  if (url === undefined || url === '') return true;
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return host === 'api.openai.com' || host.endsWith('.api.openai.com');
}

/** @throws ModelFailure `model_unauthorized`; retried when the key could not be read */
export async function readKey(
  { apiKey, baseURL }: ConnectionOptions,
  caller: ModelCaller = {},
): Promise<string> {
  let key: string | undefined;
  try {
    key =
      typeof apiKey === 'function'
        ? await apiKey(caller)
        : (apiKey ?? process.env['OPENAI_API_KEY']);
  } catch {
    // The text of the error may hold secrets.
    throw unauthorized('The API key could not be read', true);
  }
  const trimmed = key?.trim() ?? '';
  // Headers cannot carry such a key, and the error of the client would quote it.
  if (/[^\x21-\x7e]/.test(trimmed))
    throw unauthorized('The API key holds characters that keys do not have', false);
  if (trimmed !== '') return trimmed;
  if (baseURL === undefined && !process.env['OPENAI_BASE_URL'])
    throw unauthorized('No API key: set OPENAI_API_KEY, or give openaiModel an apiKey', false);
  return '';
}

function unauthorized(message: string, retryable: boolean): ModelFailure {
  return new ModelFailure('model_unauthorized', message, { retryable });
}

/** Loads the client with the first call, so that defining an agent costs nothing. */
export async function createClient(apiKey: string, options: ConnectionOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const { baseURL, organization } = options;
  return new Client({
    // The client requires a key.
    apiKey: apiKey === '' ? 'none' : apiKey,
    // Temporal retries, the watch limits the time, and no content of a conversation belongs on the console.
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(organization === undefined ? {} : { organization }),
  });
}

/** Takes the pieces of one streamed answer. */
interface StreamedAnswer<Piece> {
  /** True once the provider has sent the end of the answer: later errors of the stream do not matter. */
  readonly isWhole?: boolean;
  add(piece: Piece): void;
}

/** Reads a stream to its end. @throws the error that ended it early */
export async function readStream<Piece>(
  stream: Stream<Piece>,
  answer: StreamedAnswer<Piece>,
  watch: Watch,
): Promise<void> {
  watch.heard();
  try {
    for await (const piece of stream) {
      // Between the abort and the end of the stream, pieces that had already arrived may follow.
      watch.throwIfOver();
      watch.heard();
      answer.add(piece);
    }
  } catch (error) {
    if (answer.isWhole !== true) throw error;
  }
  // The client ends an aborted stream as if it were whole.
  if (answer.isWhole !== true) watch.throwIfOver();
}
