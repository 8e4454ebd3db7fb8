/** A listed tool as a tool of an agent: an ordinary server tool whose code is a request. Runs in the worker. */

import { defineTool } from '../../define/define-tool.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
import { jsonSchema } from '../../define/schemas/schema.js';
import type { ToolContext } from '../../define/tool/context.js';
import type { Approval } from '../../define/tool/spec.js';
import type { AnyTool } from '../../define/tool/types.js';
import { relaxedSchema } from '../../json-schema/relaxed.js';
import type { Effects } from '../../protocol/calls/executors.js';
import type { ToolAnnotations } from '../../protocol/calls/plan.js';
import { isRecord } from '../../protocol/values/json.js';
import { policyCall } from '../shared/policy.js';
import { callListedTool } from './call.js';
import type { HeldCalls } from './held.js';
import type { ListedTool } from './listed-tool.js';
import type { McpConnections } from './session/connections.js';

interface Way {
  readonly server: AnyMcpServer;
  readonly connections: McpConnections;
  readonly held?: HeldCalls | undefined;
  /**
   * The effects that were pinned when the call was planned. @defaultValue those that the author, or the server,
   * declares now
   */
  readonly effects?: Effects;
  /** The pinned time limit for an answer. @defaultValue the tool's own */
  readonly answerMs?: number;
  /** True when only the plan describes the tool. */
  readonly unlisted?: true;
}

/** @throws {DefinitionError} when it cannot be a tool of the engine */
export function mcpTool(name: string, tool: ListedTool, way: Way): AnyTool {
  const { server, connections, held, effects = effectsOf(server, tool) } = way;
  const { spec } = server;
  const { approval, answer, run, total } = spec.timeouts ?? {};
  const mcp = {
    ref: {
      ...{ server: server.name, tool: tool.name, digest: tool.digest },
      ...(tool.hints === undefined ? {} : { hints: tool.hints }),
    },
    annotations: tool.annotations,
    ...(way.unlisted === true ? { unlisted: true as const } : {}),
  };
  const made = defineTool<never>({
    name,
    description: tool.description,
    input: { ...jsonSchema(tool.inputSchema), judgedElsewhere: true },
    effects,
    approval: gateOf(server, tool.annotations, () => whole),
    timeouts: {
      ...(approval === undefined ? {} : { approval }),
      ...(answer === undefined ? {} : { answer }),
      ...(run === undefined ? {} : { run }),
      ...(total === undefined ? {} : { total }),
    },
    streaming: true,
    provenance: 'untrusted',
    ...(spec.audience === undefined ? {} : { audience: spec.audience }),
    ...(spec.retention === undefined ? {} : { retention: spec.retention }),
    ...(spec.maxResultBytes === undefined ? {} : { maxResultBytes: spec.maxResultBytes }),
    run: async (input: unknown, ctx: ToolContext<never>) => {
      const { connection, release } = connections.lease(ctx);
      try {
        const { answerMs = whole.timeouts.answerMs } = way;
        const lease = () => connections.lease(ctx);
        const callee = { server, connection, tool, effects, held, answerMs, lease };
        return await callListedTool(callee, input, ctx);
      } finally {
        release();
      }
    },
  });
  // The model gets the schema unchanged. Its regular expressions are not run here: the server checks them itself.
  const input = { jsonSchema: relaxedSchema(tool.inputSchema) };
  const whole: AnyTool = Object.freeze({ ...made, input, mcp });
  return whole;
}

/**
 * Hints decide only about the server's own risk: a wrong "read-only" means no more than a second call after a lost
 * worker. Missing hints have the protocol's defaults.
 */
function effectsOf({ spec }: AnyMcpServer, { name, annotations }: ListedTool): Effects {
  const { effects } = spec;
  if (typeof effects === 'string') return effects;
  const said = isRecord(effects) ? effects[name] : undefined;
  if (said !== undefined) return said;
  if (annotations.readOnlyHint === true) return 'none';
  return annotations.idempotentHint === true ? 'idempotent' : 'once';
}

function gateOf(
  { spec, name }: AnyMcpServer,
  { readOnlyHint, destructiveHint }: ToolAnnotations,
  tool: () => AnyTool,
): Approval<never, unknown> {
  const { approval } = spec;
  if (approval === undefined) return 'auto';
  if (typeof approval === 'function')
    return (input, ctx) => approval(policyCall(tool(), input as never), ctx);
  if (approval !== 'destructive') return approval;
  if (readOnlyHint === true || destructiveHint === false) return 'auto';
  return { ask: { reason: `MCP server "${name}" does not declare the tool as non-destructive` } };
}
