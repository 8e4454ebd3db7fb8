/** Messages of spaces: pages of them, texts of people, and the stream of all changes. */
import type { Router } from 'express';
import { invalidField } from '../../client/api/errors.js';
import type { SpaceFrame, SpaceMessage } from '../../protocol/spaces/spaces.js';
import { toolEventOf } from '../../protocol/spaces/tool-events.js';
import type { AppDeps } from '../request/deps.js';
import { lastEventIdOf, parseBody, parseQuery, requestIdOf } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { answerWithStream } from '../request/sse.js';
import type { OpenStreams } from '../request/streams.js';
import {
  ChangeSchema,
  ReadSpaceSchema,
  SendToSpaceSchema,
  SpaceMessagesQuerySchema,
  SpaceStreamQuerySchema,
} from '../schemas/spaces.js';
import { callerIn, spaceIdOf, spacesOf } from './caller.js';

const ONE = '/v1/spaces/:spaceId';
const DEFAULT_PAGE = 50;

export function addMessageRoutes(router: Router, deps: AppDeps, streams: OpenStreams): void {
  addRoute(router, `${ONE}/messages`, {
    get: async (request, response) => {
      const { limit = DEFAULT_PAGE, ...query } = parseQuery(SpaceMessagesQuerySchema, request);
      const { before, after, offset } = query;
      const [, second] = Object.entries({ before, after, offset }).filter(
        ([, value]) => value !== undefined,
      );
      if (second !== undefined)
        throw invalidField(`?${second[0]}`, 'must be the only one of before, after and offset');
      const options = { limit, before, after, offset };
      const page = await spacesOf(deps).messages(callerIn(request), spaceIdOf(request), options);
      response.json(page);
    },
    post: async (request, response) => {
      const { actor, requestId, ...fields } = parseBody(SendToSpaceSchema, request);
      const caller = callerIn(request, actor);
      const given = { ...fields, ...requestIdOf(request, requestId) };
      response.status(201).json(await spacesOf(deps).send(caller, spaceIdOf(request), given));
    },
  });
  addRoute(router, `${ONE}/read`, {
    post: async (request, response) => {
      const { actor, messageId } = parseBody(ReadSpaceSchema, request);
      const caller = callerIn(request, actor);
      response.json(await spacesOf(deps).read(caller, spaceIdOf(request), messageId));
    },
  });
  addRoute(router, `${ONE}/stream`, {
    get: async (request, response) => {
      const { after } = parseQuery(SpaceStreamQuerySchema, request);
      const from = lastEventIdOf(request, ChangeSchema) ?? after;
      const [caller, spaceId] = [callerIn(request), spaceIdOf(request)];
      await answerWithStream<SpaceFrame>(request, response, {
        ...{ streams, heartbeatMs: deps.heartbeatMs, format: formatSpaceFrame },
        // Follows before the stream opens, so that a store that is away is a 503 and not an empty stream.
        frames: (signal) => spacesOf(deps).watch(caller, spaceId, { after: from, signal }),
      });
    },
  });
}

function formatSpaceFrame(frame: SpaceFrame): string {
  if (frame.type === 'message') return textOf(frame);
  const id = 'change' in frame ? `id: ${frame.change}\n` : '';
  return `${id}event: ${frame.type}\ndata: ${JSON.stringify(dataOf(frame))}\n\n`;
}

function dataOf(frame: SpaceFrame): object {
  if (frame.type === 'tool.streaming') return frame.piece;
  return frame.type === 'read' ? { position: frame.position } : {};
}

/** Texts of messages that several readers get. */
const texts = new WeakMap<SpaceMessage, string>();

/** The event of a call has no id: a reader that is cut off behind it gets it again, with the message. */
function textOf({ change, message }: Extract<SpaceFrame, { type: 'message' }>): string {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const { type, ...data } = toolEventOf(message) ?? {};
  const event = type === undefined ? '' : `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  const text = `${event}id: ${change}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`;
  texts.set(message, text);
  return text;
}
