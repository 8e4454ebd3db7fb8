/**
 * Responses in OpenAI's background mode: they continue at the provider without a reader, and any worker can resume
 * them. So a cut stream or a lost worker costs no second answer, and the provider's tools run once.
 */
import type OpenAI from 'openai';
import type { Stream } from 'openai/streaming';
import type { ModelCallOptions } from '../../protocol/model/model.js';
import { streamBroken, toModelFailure } from '../shared/failure.js';
import type { Watch } from '../shared/stream-watch.js';
import { readStream } from './connection.js';
import type { ResponsesAnswer } from './response-events.js';

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

/** Milliseconds between two polls of a response that cannot be streamed. */
const POLL_MS = 2_000;

interface Reading {
  readonly client: OpenAI;
  readonly body: OpenAI.Responses.ResponseCreateParamsStreaming;
  readonly answer: ResponsesAnswer;
  readonly watch: Watch;
  /** Milliseconds. @defaultValue 2,000 */
  readonly pollMs?: number | undefined;
}

/** One response, from its creation or its resumption to its end. */
export class BackgroundResponse {
  readonly #reading: Reading;
  readonly #report: NonNullable<ModelCallOptions['onReport']>;
  #id: string | undefined;
  /** Sequence number of the last event that was read. */
  #sequence: number | undefined;

  constructor(reading: Reading, { resume, onReport }: ModelCallOptions) {
    this.#reading = reading;
    this.#id = resume;
    this.#report = (report) => onReport?.(report);
  }

  /**
   * Reads the answer to its end, across cuts of the stream.
   * @throws the error that ended the reading early; a response that was reported as open may be resumed
   */
  async read(): Promise<void> {
    const { answer } = this.#reading;
    let stream = this.#id === undefined ? await this.#created() : await this.#resumed(this.#id);
    while (stream !== undefined) {
      const before = this.#sequence;
      await this.#follow(stream);
      if (answer.isWhole) break;
      if (this.#id === undefined) throw streamBroken("The model's stream ended before its answer");
      // A stream without new events would bring none the next time: the response itself has the status.
      stream =
        this.#sequence === before ? await this.#polled(this.#id) : await this.#resumed(this.#id);
    }
    this.#report({ type: 'closed' });
  }

  async #created(): Promise<Stream<StreamEvent>> {
    const { client, body, watch } = this.#reading;
    const stream = await client.responses.create(body, { signal: watch.signal });
    this.#report({ type: 'accepted' });
    return stream;
  }

  /**
   * Reads until the stream ends or is cut. @throws the provider's error for a failed answer, and a cut that cannot be
   * resumed
   */
  async #follow(stream: Stream<StreamEvent>): Promise<void> {
    const { answer, watch } = this.#reading;
    const reader = {
      get isWhole() {
        return answer.isWhole;
      },
      add: (event: StreamEvent) => {
        this.#note(event);
        answer.add(event);
      },
    };
    try {
      await readStream(stream, reader, watch);
    } catch (error) {
      watch.throwIfOver();
      const { code } = toModelFailure(error);
      if (this.#id === undefined || code === 'model_unavailable') throw error;
      if (code !== 'model_stream_broken') await this.#settle(this.#id, error);
      // Without sequence numbers the stream would start over, and its text would be emitted twice.
      else if (this.#sequence === undefined) throw error;
    }
  }

  /** The stream reported an error; the response says whether the answer has failed. @throws `error` if so */
  async #settle(id: string, error: unknown): Promise<void> {
    await this.#polled(id);
    if (!this.#reading.answer.hasFailed) return;
    this.#report({ type: 'closed' });
    throw error;
  }

  #note(event: StreamEvent): void {
    this.#sequence = event.sequence_number;
    if (this.#id !== undefined || !('response' in event)) return;
    this.#id = event.response.id;
    this.#report({ type: 'open', id: this.#id });
  }

  /** The events after those that were read; undefined when they cannot be streamed, and the answer is whole. */
  async #resumed(id: string): Promise<Stream<StreamEvent> | undefined> {
    const { client, body, watch } = this.#reading;
    const after = this.#sequence === undefined ? {} : { starting_after: this.#sequence };
    const { include = [] } = body;
    try {
      const stream = await client.responses.retrieve(
        id,
        { stream: true, include: include ?? [], ...after },
        { signal: watch.signal },
      );
      this.#report({ type: 'open', id });
      return stream;
    } catch (error) {
      watch.throwIfOver();
      // The response exists, but is not streamed.
      if (toModelFailure(error).code === 'model_bad_request') return this.#polled(id);
      throw this.#lost(error);
    }
  }

  /** Polls the response until it has ended. */
  async #polled(id: string): Promise<undefined> {
    const { client, body, watch, answer, pollMs = POLL_MS } = this.#reading;
    const { include = [] } = body;
    const { signal } = watch;
    try {
      for (;;) {
        const query = { include: include ?? [] };
        const response = await client.responses.retrieve(id, query, { signal });
        watch.heard();
        this.#report({ type: 'open', id });
        if (response.status !== 'queued' && response.status !== 'in_progress') {
          answer.end(response);
          return undefined;
        }
        await watch.pause(pollMs);
      }
    } catch (error) {
      watch.throwIfOver();
      throw this.#lost(error);
    }
  }

  /**
   * For a response that the provider no longer has, reports it closed, so that the next attempt makes a new request.
   */
  #lost(error: unknown): unknown {
    const { code } = toModelFailure(error);
    if (code !== 'model_not_found' && code !== 'model_bad_request') return error;
    this.#report({ type: 'closed' });
    return streamBroken('The provider no longer has the response');
  }
}
