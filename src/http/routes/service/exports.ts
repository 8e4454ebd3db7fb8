/** Exports of conversations as tests. */
import type { Router } from 'express';
import { ConversationError } from '../../../client/api/errors.js';
import type { Conversation } from '../../../client/conversation.js';
import type { LogCursor } from '../../../client/ports/reader.js';
import { NotExportable } from '../../../projection/exports/recording.js';
import { type TestFileOptions, testFileOf } from '../../../projection/exports/test-file.js';
import { MAX_EXPORTED_EVENTS } from '../../../protocol/limits/service-limits.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type { AppDeps } from '../../request/deps.js';
import { parseQuery } from '../../request/parse.js';
import { addRoute } from '../../request/router.js';
import { conversationOf } from '../../request/tenants.js';
import { ExportQuerySchema } from '../../schemas/forks.js';

const EVENTS_A_READ = 500;

export function addExportRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/export', {
    get: async (request, response) => {
      const { from, exportedAs } = parseQuery(ExportQuerySchema, request);
      const conversation = conversationOf(deps, request);
      const options = {
        ...(from === undefined ? {} : { from }),
        ...(exportedAs === undefined ? {} : { exportedAs }),
      };
      const text = testOf(await logOf(conversation), options);
      response.setHeader('Content-Disposition', 'attachment');
      response.type('text/plain; charset=utf-8').send(text);
    },
  });
}

/** @throws {ConversationError} invalid_request naming the event that a test cannot play again */
function testOf(events: readonly CanonicalEvent[], options: TestFileOptions): string {
  try {
    return testFileOf(events, options);
  } catch (error) {
    if (!(error instanceof NotExportable)) throw error;
    throw new ConversationError(error.code, error.message);
  }
}

/** @throws {ConversationError} invalid_request for a log that is longer than `MAX_EXPORTED_EVENTS` */
async function logOf(conversation: Conversation): Promise<readonly CanonicalEvent[]> {
  const events: CanonicalEvent[] = [];
  let after: LogCursor | undefined;
  for (let more = true; more; ) {
    const page = await conversation.events({
      ...(after === undefined ? {} : { after }),
      limit: EVENTS_A_READ,
    });
    events.push(...page.events);
    if (events.length > MAX_EXPORTED_EVENTS)
      throw new ConversationError(
        'invalid_request',
        `A conversation of more than ${MAX_EXPORTED_EVENTS} events cannot be exported as a test`,
      );
    ({ cursor: after, more } = page);
  }
  return events;
}
