/** `colloquy chat`: a conversation in the terminal, with words that answer the calls that wait. */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Conversation } from '../../client/conversation.js';
import type { ConversationClient } from '../../client/conversation-client.js';
import type { LogCursor } from '../../client/ports/reader.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { verdictText } from '../conversations/answer-command.js';
import { type ActorFlags, withClient } from '../conversations/opened.js';
import { waitingCalls } from '../conversations/pending-command.js';
import { oneLine } from '../conversations/text.js';
import { waitingLines } from '../conversations/waiting-lines.js';
import { AnswerPrinter } from './answer-printer.js';
import { CHAT_HELP, typedLine, wordsFor } from './typed-line.js';

export interface ChatFlags extends ActorFlags {
  /** Begins the conversation with this agent. */
  readonly agent?: string;
}

const PROMPT = '> ';
/** Pause between two looks at the state, while events are printed as they come. */
const LOOK_AGAIN_MS = 100;
/** Events of a known conversation that are printed first. */
const EARLIER = 20;

/** Reads lines until the end of the input, `/quit` or Ctrl-C. The conversation goes on without the chat. */
export async function runChat(id: string | undefined, flags: ChatFlags): Promise<never> {
  return await withClient(flags, async ({ client }) => {
    const { agent, tenant } = flags;
    const name = id ?? `chat-${randomUUID().slice(0, 8)}`;
    const conversation = client.conversation(name, { agent, tenant });
    return await new Chat(client, conversation).run();
  });
}

class Chat {
  readonly #client: ConversationClient;
  readonly #conversation: Conversation;
  readonly #printer = new AnswerPrinter(write);
  readonly #left = new AbortController();
  #following: Promise<void> | undefined;
  /** Seq of the last event that was printed. */
  #seq = 0;

  constructor(client: ConversationClient, conversation: Conversation) {
    this.#client = client;
    this.#conversation = conversation;
  }

  async run(): Promise<0 | 1> {
    const isKnown = await this.#conversation.exists();
    write(`${this.#conversation.id}: type a message, /help for more\n`);
    if (isKnown) {
      await this.#showEarlier();
      await this.#rest();
    }
    // Opened last: lines that come before they are read would be lost.
    const input = createInterface({ input: process.stdin, terminal: process.stdin.isTTY });
    input.once('SIGINT', () => {
      this.#left.abort();
      input.close();
    });
    try {
      if (process.stdin.isTTY) write(PROMPT);
      for await (const line of input) {
        if (!(await this.#take(line))) break;
        if (process.stdin.isTTY) write(PROMPT);
      }
    } finally {
      input.close();
      this.#left.abort();
      await this.#following;
    }
    return 0;
  }

  /** False when the person leaves. An error is printed, and the chat goes on. */
  async #take(line: string): Promise<boolean> {
    try {
      const typed = typedLine(line);
      switch (typed.type) {
        case 'quit':
          return false;
        case 'nothing':
          break;
        case 'help':
          write(`${CHAT_HELP}\n`);
          break;
        case 'waiting':
          await this.#showWaiting(await this.#conversation.snapshot());
          break;
        case 'stop':
          await this.#stop();
          break;
        case 'answer':
          await this.#answer(typed.resolution, typed.ref);
          break;
        case 'message':
          await this.#send(typed.text);
      }
    } catch (error) {
      write(`  ${error instanceof Error ? error.message : String(error)}\n`);
    }
    return true;
  }

  async #send(text: string): Promise<void> {
    const requestId = randomUUID();
    this.#printer.typed(requestId);
    const sent = await this.#conversation.send(text, { requestId });
    if (sent.status === 'queued') write(`  queued: ${oneLine(sent.warning)}\n`);
    else await this.#rest(sent.seq);
  }

  async #stop(): Promise<void> {
    const outcome = await this.#conversation.cancel();
    if (outcome.status === 'queued') write(`  queued: ${oneLine(outcome.warning)}\n`);
    else if (outcome.cancelled) await this.#rest(outcome.seq);
    else write('  no turn runs\n');
  }

  async #answer(resolution: Resolution, named: string | undefined): Promise<void> {
    const { pending } = await this.#conversation.snapshot();
    const ref = named ?? pending[0]?.ref;
    if (ref === undefined) {
      write('  nothing waits\n');
      return;
    }
    const outcome = await this.#client.resolve(ref, resolution);
    write(`  ${verdictText(outcome)}\n`);
    await this.#rest('seq' in outcome ? outcome.seq : undefined);
  }

  /** Prints until the conversation rests or waits for an answer, and then the waiting calls; or until the person leaves. */
  async #rest(atLeastSeq?: number): Promise<void> {
    this.#following ??= this.#follow();
    while (!this.#left.signal.aborted) {
      const snapshot = await this.#conversation.snapshot({ atLeastSeq });
      const isBusy = snapshot.turn !== undefined || snapshot.queued.length > 0;
      const rests = !isBusy || ['awaiting_input', 'closed', 'failing'].includes(snapshot.status);
      if (rests && this.#seq >= snapshot.seq) {
        await this.#showWaiting(snapshot);
        return;
      }
      await delay(LOOK_AGAIN_MS);
    }
  }

  async #showWaiting(snapshot: ConversationSnapshot): Promise<void> {
    for (const waiting of await waitingCalls(this.#client, [snapshot])) {
      const byHand = { commandFor: () => undefined, withoutCommand: wordsFor(waiting.call) };
      write(`${waitingLines(byHand, waiting).join('\n')}\n`);
    }
  }

  async #showEarlier(): Promise<void> {
    const page = await this.#conversation.events({ before: 'end', limit: EARLIER });
    for (const event of page.events.toReversed()) this.#show(event);
    this.#following = this.#follow(page.tail ?? page.cursor);
  }

  #show(event: CanonicalEvent): void {
    this.#printer.event(event);
    this.#seq = event.seq;
  }

  /** Prints what comes. */
  async #follow(after?: LogCursor): Promise<void> {
    const { signal } = this.#left;
    const position = after === undefined ? {} : { after };
    try {
      for await (const frame of this.#conversation.subscribe({ ...position, signal })) {
        if (frame.type === 'live') this.#printer.live(frame.event);
        if (frame.type === 'event') this.#show(frame.event);
      }
    } catch (error) {
      if (!signal.aborted) write(`  ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

function write(text: string): void {
  process.stdout.write(text);
}
