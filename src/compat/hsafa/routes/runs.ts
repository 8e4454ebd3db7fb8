/**
 * The stream of one run: the events of a turn out of the stream of its conversation, with the same ids. Runs in Node.
 */
import { type CanonicalEvent, turnIdOf } from '../../../protocol/log/events.js';
import type { LiveEvent } from '../../../protocol/log/live-events.js';
import { formatCursor, type LogCursor, parseCursor } from '../../../protocol/values/cursor.js';
import { type Answer, answerToError, type Caller, isAnswer, refusal } from './callers.js';
import { MAX_EVENTS_BACK, type ReadLog, searchBack } from './log.js';
import { parseRunId } from './pending.js';
import { type StreamOf, writeTexts } from './stream.js';

type Frame =
  | { readonly type: 'event'; readonly cursor: LogCursor; readonly event: CanonicalEvent }
  | { readonly type: 'live'; readonly event: LiveEvent }
  | { readonly type: 'nested' };

/** The part of a conversation that the stream uses. */
export interface RunConversation extends ReadLog {
  snapshot(): Promise<{
    readonly turn?: { readonly turnId: string };
    readonly queued: readonly string[];
  }>;
  subscribe(options: {
    readonly after?: LogCursor;
    readonly signal: AbortSignal;
  }): AsyncIterable<Frame>;
}

/** The part of `ConversationClient` that the stream uses. */
export interface RunsClient {
  conversation(id: string, options: { readonly tenant: string }): RunConversation;
}

/** Events of no turn that a reader of a run has to know. */
const OF_ALL_RUNS: readonly string[] = ['log_rewritten', 'run_ended'];

const NO_RUN = refusal(404, 'Run not found');
const TOO_OLD = refusal(
  404,
  `Run not found: it began more than ${MAX_EVENTS_BACK} events ago, or there is none`,
);

/**
 * Resolves when the stream has ended; to an answer where none was opened.
 * @throws errors that are not the client's own
 */
export async function streamRun(
  client: RunsClient,
  caller: Caller,
  { request, response, signal }: StreamOf,
): Promise<Answer | undefined> {
  const run = parseRunId(String(request.params['runId']));
  if (run === undefined || (caller.conversation ?? run.conversationId) !== run.conversationId)
    return NO_RUN;
  const id = request.get('last-event-id');
  const seen = id === undefined ? undefined : parseCursor(id);
  if (id !== undefined && seen === undefined)
    return refusal(400, 'Last-Event-ID must be an id that this stream has sent');
  const conversation = client.conversation(run.conversationId, { tenant: caller.tenant });
  let place: Place | Answer;
  try {
    place = await placeOf(conversation, run.turnId);
  } catch (error) {
    const answer = answerToError(error);
    if (answer === undefined) throw error;
    return answer.status === 404 ? NO_RUN : answer;
  }
  if (isAnswer(place)) return place;
  const { begin, end, isWhole } = place;
  // A browser does not connect again after this status.
  if (end !== undefined && seen?.generation === end.generation && seen.seq >= end.seq)
    return { status: 204, body: {} };
  if (seen === undefined && !isWhole) return TOO_OLD;
  // Behind a place of another generation comes the event that says so.
  const isBehind = seen?.generation === begin.generation && seen.seq < begin.seq;
  const after = seen === undefined || isBehind ? begin : seen;
  const frames = conversation.subscribe({ after, signal });
  await writeTexts(textsOf(frames, run.turnId), response, signal);
  return undefined;
}

interface Place {
  /** The first event of the run is the next one. */
  readonly begin: LogCursor;
  /** False where the run has begun before that, further back than is searched. */
  readonly isWhole: boolean;
  /** The last event of the run. Absent while it goes on. */
  readonly end?: LogCursor;
}

/** @throws errors of the client */
async function placeOf(conversation: RunConversation, turnId: string): Promise<Place | Answer> {
  const { turn, queued } = await conversation.snapshot();
  const seen: { newest?: LogCursor; begin?: LogCursor; end?: LogCursor; messageId?: string } = {};
  const search = await searchBack(conversation, (event, at) => {
    seen.newest ??= at;
    if (turnIdOf(event) !== turnId) return false;
    seen.begin = { ...at, seq: at.seq - 1 };
    if (event.type === 'turn_ended') seen.end = at;
    if (event.type !== 'turn_started')
      return event.type === 'user_message' && event.messageId === seen.messageId;
    seen.messageId = event.messageId;
    // Without a message the run begins here.
    return event.inbox !== undefined;
  });
  const { newest = { generation: 1, seq: 0 }, begin, end, messageId } = seen;
  if (begin !== undefined)
    return {
      ...{ begin, isWhole: search !== 'bound' || messageId !== undefined },
      ...(end === undefined ? {} : { end }),
    };
  // The log may lag behind a run that was begun just now.
  if (turn?.turnId === turnId || queued.includes(turnId)) return { begin: newest, isWhole: true };
  return search === 'bound' ? TOO_OLD : NO_RUN;
}

/** Until the run has ended, or the log is rewritten: the reader comes again, and learns whether the run is in it. */
async function* textsOf(
  frames: AsyncIterable<Frame>,
  turnId: string,
): AsyncGenerator<string, void, undefined> {
  for await (const frame of frames) {
    if (frame.type === 'nested') continue;
    if (frame.type === 'live') {
      if (frame.event.turnId === turnId) yield textOf(`live.${frame.event.type}`, frame.event);
      continue;
    }
    const isOfRun = turnIdOf(frame.event) === turnId;
    const { type } = frame.event;
    if (!isOfRun && !OF_ALL_RUNS.includes(type)) continue;
    yield `id: ${formatCursor(frame.cursor)}\n${textOf(type, frame.event)}`;
    if (type === 'log_rewritten' || (isOfRun && type === 'turn_ended')) return;
  }
}

function textOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
