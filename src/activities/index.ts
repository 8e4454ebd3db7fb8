/** The activities of a worker, by the names that histories hold. The only export that a composition root needs. */

import { STATES_CACHE_BYTES, TRANSCRIPT_CACHE_BYTES } from '../protocol/limits/service-limits.js';
import { wellFormedJson } from '../protocol/values/well-formed.js';
import type { ConversationActivities } from '../protocol/workflow/activities.js';
import { McpServers } from '../tools/mcp/servers.js';
import { createAgentRegistry } from '../tools/registry.js';
import { Scopes } from '../tools/scope/scopes.js';
import { reportToParent, startChild, stopChild } from './children/children.js';
import { callModel } from './model/call-model.js';
import { summarize } from './model/summarize.js';
import { whatIf } from './model/what-if.js';
import type { ActivityDeps, ActivityTools } from './shared/deps.js';
import { wellFormedError } from './shared/failure.js';
import { withFoundAgentOrFail } from './shared/found-agents.js';
import { inScope } from './shared/in-scope.js';
import { MadeTools } from './shared/made-tools.js';
import { notedActivities, wrappedActivities } from './shared/noted.js';
import { RememberedStates } from './shared/plugin-states.js';
import { Transcripts } from './shared/transcripts.js';
import { checkAnswer, checkDefinition, checkEdit, planCall } from './tools/checks.js';
import { preflightTool } from './tools/preflight-tool.js';
import { reconcileTool } from './tools/reconcile-tool.js';
import { runTool } from './tools/run-tool.js';
import { flushLog, restoreState } from './transcript/log.js';
import { offloadTranscript } from './transcript/offload-transcript.js';
import { readChunk } from './transcript/stored-messages.js';
import { deliverTrigger } from './triggers/deliver.js';

/**
 * Binds the activities to their dependencies.
 * @throws {DefinitionError} invalid_definition when two agents share a name.
 */
export function createActivities<Services>(deps: ActivityDeps<Services>): ConversationActivities {
  const { agents, services, ...rest } = deps;
  const { logger } = deps;
  const scopes = deps.scopes ?? new Scopes({ services, logger });
  const registry = createAgentRegistry(agents);
  const tools: ActivityTools = {
    ...rest,
    scopes,
    ...{ registry, inCode: registry },
    mcp: deps.mcp ?? new McpServers({ scopes, logger, apiUrls: deps.apiUrls }),
    transcripts: new Transcripts({
      fetch:
        deps.fetchTranscript ?? (() => Promise.reject(new Error('this worker cannot query runs'))),
      readChunk: (run, id) => readChunk(deps.chunks, run, id),
      maxBytes: deps.transcriptCacheBytes ?? TRANSCRIPT_CACHE_BYTES,
    }),
    states: new RememberedStates({
      fetch: deps.fetchStates ?? (() => Promise.reject(new Error('this worker cannot query runs'))),
      maxBytes: STATES_CACHE_BYTES,
    }),
    made: new MadeTools(),
  };
  const activities: ConversationActivities = {
    callModel: (input) => inScope(tools, input, (scoped) => callModel(scoped, input)),
    planCall: (input) => inScope(tools, input, (scoped) => planCall(scoped, input)),
    runTool: (input) => runTool(tools, input),
    preflightTool: (input) => inScope(tools, input, (scoped) => preflightTool(scoped, input)),
    reconcileTool: (input) => inScope(tools, input, (scoped) => reconcileTool(scoped, input)),
    checkAnswer: (input) => inScope(tools, input, (scoped) => checkAnswer(scoped, input)),
    checkEdit: (input) => inScope(tools, input, (scoped) => checkEdit(scoped, input)),
    checkDefinition: (input) => inScope(tools, input, (scoped) => checkDefinition(scoped, input)),
    summarize: async (input) => summarize(await withFoundAgentOrFail(tools, input), input),
    flushLog: (input) => flushLog(tools, input),
    offloadTranscript: (input) => offloadTranscript(tools, input),
    restoreState: (input) => restoreState(tools, input),
    startChild: (input) => inScope(tools, input, (scoped) => startChild(scoped, input)),
    stopChild: (input) => stopChild(tools, input),
    reportToParent: (input) => reportToParent(tools, input),
    deliverTrigger: (input) => deliverTrigger(tools, input),
    whatIf: (input) =>
      inScope(tools, { ...input, requester: input.actor }, (scoped) => whatIf(scoped, input)),
  };
  return notedActivities(wellFormedOutcomes(activities));
}

/**
 * Makes the outcomes and failures of models and tools well-formed before they enter history: no text may be one that
 * UTF-8 cannot hold. A worker whose failure the SDK cannot encode ends.
 */
function wellFormedOutcomes(activities: ConversationActivities): ConversationActivities {
  return wrappedActivities(activities, (_, run) => async (input) => {
    try {
      return wellFormedJson(await run(input));
    } catch (error) {
      throw wellFormedError(error);
    }
  });
}
