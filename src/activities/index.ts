/** The activities of a worker, by the names that histories hold. The only export that a composition root needs. */
import type { ConversationActivities } from '../protocol/activities.js';
import { TRANSCRIPT_CACHE_BYTES } from '../protocol/service-limits.js';
import { wellFormedJson } from '../protocol/well-formed.js';
import { McpServers } from '../tools/mcp/servers.js';
import { createAgentRegistry } from '../tools/registry.js';
import { callModel } from './call-model.js';
import { checkAnswer } from './check-answer.js';
import { checkDefinition } from './check-definition.js';
import { checkEdit } from './check-edit.js';
import type { ActivityDeps, ActivityTools } from './deps.js';
import { flushLog } from './flush-log.js';
import { notedActivities } from './noted.js';
import { planCall } from './plan-call.js';
import { preflightTool } from './preflight-tool.js';
import { reconcileTool } from './reconcile-tool.js';
import { runTool } from './run-tool.js';
import { spillTranscript } from './spill-transcript.js';
import { readStored } from './stored-messages.js';
import { summarize } from './summarize.js';
import { Transcripts } from './transcripts.js';
import { wrappedActivities } from './wrapped.js';

/**
 * Binds the activities to what they need.
 * @throws {DefinitionError} invalid_definition when two agents share a name.
 */
export function createActivities<Services>(deps: ActivityDeps<Services>): ConversationActivities {
  const { agents, services, ...rest } = deps;
  const tools: ActivityTools = {
    ...rest,
    // The agents asked for these services when they were defined; from here on nobody looks inside.
    services: services as never,
    registry: createAgentRegistry(agents),
    mcp: deps.mcp ?? new McpServers({ services, logger: deps.logger }),
    transcripts: new Transcripts({
      fetch:
        deps.fetchTranscript ?? (() => Promise.reject(new Error('this worker asks nobody for it'))),
      readStored: (run, part) => readStored(deps.chunks, run, part),
      maxBytes: deps.transcriptCacheBytes ?? TRANSCRIPT_CACHE_BYTES,
    }),
  };
  const activities: ConversationActivities = {
    callModel: (input) => callModel(tools, input),
    planCall: (input) => planCall(tools, input),
    runTool: (input) => runTool(tools, input),
    preflightTool: (input) => preflightTool(tools, input),
    reconcileTool: (input) => reconcileTool(tools, input),
    checkAnswer: (input) => checkAnswer(tools, input),
    checkEdit: (input) => checkEdit(tools, input),
    checkDefinition: (input) => checkDefinition(tools, input),
    summarize: (input) => summarize(tools, input),
    flushLog: (input) => flushLog(tools, input),
    spillTranscript: (input) => spillTranscript(tools, input),
  };
  return notedActivities(wellFormedOutcomes(activities));
}

/** What models and tools made enters the history here: no text of it may be one that UTF-8 cannot hold. */
function wellFormedOutcomes(activities: ConversationActivities): ConversationActivities {
  return wrappedActivities(
    activities,
    (_, run) => async (input) => wellFormedJson(await run(input)),
  );
}
