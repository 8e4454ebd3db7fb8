/** Prints events as they arrive, from the conversation's own event stream. */
import { type CanonicalEvent, type LiveEvent, LiveView } from 'colloquy/browser';
import type { Stack } from 'colloquy/dev';
import { createParser } from 'eventsource-parser';

/** After this long without events the stream counts as caught up. */
const QUIET_MS = 300;
const RETRY_MS = 200;

type Api = Pick<Stack, 'apiUrl' | 'apiHeaders'>;

interface Watched {
  readonly url: string;
  readonly headers: Stack['apiHeaders'];
}

export class Timeline {
  readonly #startedAt = Date.now();
  #lastEventAt = Date.now();
  readonly #closing = new AbortController();
  #hasEnded = false;
  #cursor = '';
  #streaming = false;
  /** Filters streamed pieces: late, repeated and superseded ones are not printed. */
  readonly #view = new LiveView();
  #shownAttempt = '';

  note(text: string): void {
    this.#line('  ', text);
  }

  act(text: string): void {
    this.#line('->', text);
  }

  answer(text: string): void {
    this.#endStream();
    process.stdout.write(`\n  ${text}\n\n`);
  }

  /** Follows the conversation over SSE until closed; resumes by `Last-Event-ID` when the stream breaks. */
  watch({ apiUrl, apiHeaders }: Api, conversationId: string): void {
    const url = `${apiUrl}/v1/conversations/${conversationId}/events`;
    void this.#follow({ url, headers: apiHeaders }, this.#closing.signal);
  }

  /** Resolves once the end of the turn is printed, and with it every event before it. @throws after `timeoutMs` */
  async ended(timeoutMs: number): Promise<void> {
    const giveUpAt = Date.now() + timeoutMs;
    while (!this.#hasEnded) {
      if (Date.now() > giveUpAt)
        throw new Error(`the end of the turn was not streamed within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 3));
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async caughtUp(): Promise<void> {
    while (Date.now() - this.#lastEventAt < QUIET_MS)
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 3));
  }

  async #follow(stream: Watched, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#readOnce(stream, signal);
      } catch {
        // The conversation does not exist yet, or the stream broke: reconnect and resume.
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #readOnce({ url, ...watched }: Watched, signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = { ...watched.headers, accept: 'text/event-stream' };
    if (this.#cursor !== '') headers['last-event-id'] = this.#cursor;
    const response = await fetch(url, { headers, signal });
    if (!response.ok || response.body === null) return;
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (id !== undefined) this.#cursor = id;
        if (event?.startsWith('live.') === true) this.#live(JSON.parse(data) as LiveEvent);
        else this.#canonical(JSON.parse(data) as CanonicalEvent);
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body)
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  }

  #live(event: LiveEvent): void {
    const isGap = this.#view.missingBefore(event) > 0;
    const news = this.#view.take(event);
    if (news?.type === 'model_call_failed') {
      const { attempt, code, nextInMs } = news;
      const next = nextInMs === undefined ? '' : `, next in ${nextInMs / 1_000} s`;
      this.#line('  ', `  attempt ${attempt} failed: ${code}${next}`);
    }
    if (news?.type !== 'text_delta') return;
    const { messageId, attempt, text } = news;
    const shown = `${messageId} ${attempt}`;
    if (shown !== this.#shownAttempt) this.#endStream();
    this.#shownAttempt = shown;
    if (!this.#streaming) {
      const again = attempt === 1 ? '' : ` (attempt ${attempt})`;
      process.stdout.write(`${this.#stamp()}    model${again}: `);
    }
    this.#streaming = true;
    process.stdout.write(isGap ? `… ${text}` : text);
  }

  /** Live events may be lost, so the streamed text may lack a part; then the whole text is printed. */
  #message(event: Extract<CanonicalEvent, { type: 'assistant_message' }>): string {
    const whole = event.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const { answer } = this.#view;
    const shown = answer?.messageId === event.messageId ? answer.text : '';
    if (whole === '') return 'assistant_message without text';
    return whole === shown
      ? `assistant_message of ${whole.length} characters, as streamed`
      : `assistant_message: ${whole}`;
  }

  #canonical(event: CanonicalEvent): void {
    this.#lastEventAt = Date.now();
    const words = event.type === 'assistant_message' ? this.#message(event) : describe(event);
    this.#view.note(event);
    this.#line('  ', `${String(event.seq).padStart(3)} ${words}`);
    if (event.type === 'turn_ended') this.#hasEnded = true;
  }

  #line(mark: string, text: string): void {
    this.#endStream();
    process.stdout.write(`${this.#stamp()} ${mark} ${text}\n`);
  }

  #endStream(): void {
    if (this.#streaming) process.stdout.write('\n');
    this.#streaming = false;
  }

  #stamp(): string {
    return `${((Date.now() - this.#startedAt) / 1_000).toFixed(1).padStart(5)}s`;
  }
}

function describe(event: CanonicalEvent): string {
  switch (event.type) {
    case 'user_message':
      return `user_message from ${event.actor.id}`;
    case 'model_call':
      return `model_call ${event.model}, step ${event.step}: ${event.usage.inputTokens} tokens in, ${event.usage.outputTokens} out`;
    case 'tool_call':
      return `tool_call ${event.call.name} ${JSON.stringify(event.call.input)}`;
    case 'suspension': {
      const { kind, name, deadline } = event.suspension;
      return `suspension ${kind} of ${name} until ${deadline}`;
    }
    case 'resolution':
      return `resolution ${event.resolution.type} by ${event.actor.id} (${event.actor.verified ? 'verified' : 'unverified'}, ${event.actor.channel})`;
    case 'tool_result':
      return `tool_result ${event.name}: ${event.result.status} ${JSON.stringify(event.result.envelope)}`;
    case 'turn_ended':
      return `turn_ended ${event.status} after ${event.steps} steps`;
    default:
      return event.type;
  }
}
