/** The fields of `mcpServer`, in one place. Types only. */

import type { Effects } from '../../protocol/calls/executors.js';
import type { Retention } from '../../protocol/conversation/context.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { UntypedServices } from '../tool/context.js';
import type { ApprovalRequest, ToolPolicy } from '../tool/policy.js';

/** Arguments of resolvers of secrets. Called in the worker; the return values go to the server and nowhere else. */
export interface McpDeps<Services = UntypedServices> {
  readonly services: Services;
  /** A secret of the caller, by the worker's `secrets`. @throws when there is none, and where there is no caller */
  readonly secret: (name: string) => Promise<string>;
  /** The server refused the value given last: return a newer one than a cached token. */
  readonly refused: boolean;
  /** The server's `WWW-Authenticate` when it refused: what is missing and where to get it. */
  readonly challenge?: string;
  /** The caller of the request, by `identity`. Absent: the worker itself, which lists the tools. */
  readonly caller?: McpCaller;
}

/** The caller whose calls a connection carries. */
export interface McpCaller {
  readonly tenant: string;
  /** The actor who sent the message of the turn. Absent with `identity: 'tenant'`. */
  readonly requester?: Pick<StampedActor, 'id' | 'verified'>;
}

/** A value, or a function that returns it, called anew for every request (`token`, `headers`) or start (`env`). */
export type Resolved<Value, Services> =
  | Value
  | ((deps: McpDeps<Services>) => Value | Promise<Value>);

/** Time-outs of an MCP server and of each call of its tools. */
export interface McpTimeouts {
  /** Connecting to the server. @defaultValue 10 seconds */
  readonly connect?: Duration;
  /** Listing its tools. A turn waits no longer for a first listing. @defaultValue 10 seconds */
  readonly list?: Duration;
  /** Time for an approval. @defaultValue 24 hours */
  readonly approval?: Duration;
  /** Time for the answer to a question of the server. @defaultValue 24 hours */
  readonly answer?: Duration;
  /** One request. @defaultValue 1 minute */
  readonly run?: Duration;
  /** All waits and requests of a call together. */
  readonly total?: Duration;
}

interface SharedFields<Services> {
  /** A word of letters, digits, "-" and single "_", up to 24 characters; unique among the agent's servers. */
  readonly name: string;
  /** `'http'` is streamable HTTP. Follows from `url` or `command`; a value that disagrees is refused. */
  readonly transport?: 'http' | 'stdio';
  /** The tools that the agent may have, by their names on the server. @defaultValue all that the server lists */
  readonly allowedTools?: readonly string[];
  /**
   * `true`: every tool is named `<server>.<tool>`. `false`: a tool keeps its own name, unless a tool of the agent, or
   * of a server before, has it; then it is named `<server>.<tool>`. @defaultValue true
   */
  readonly prefix?: boolean;
  /**
   * Whether a person must approve a call before it runs. `'destructive'`: unless the server declares that the tool only
   * reads (`readOnlyHint`) or destroys nothing (`destructiveHint: false`). A function decides for each call, and gets
   * the tool's `annotations`. They are the server's own claims: do not let them open a gate for a server that you do
   * not trust. @defaultValue 'auto'
   */
  readonly approval?: 'auto' | 'required' | 'destructive' | ApprovalRequest | ToolPolicy<Services>;
  /**
   * The effect of a second run of a tool: for all of them, or by name. @defaultValue the server's hints: `'none'` for
   * `readOnlyHint`, `'idempotent'` for `idempotentHint`, else `'once'`
   */
  readonly effects?: Effects | Readonly<Record<string, Effects>>;
  readonly timeouts?: McpTimeouts;
  /** Time for which a listing is used before the tools are listed again, in the background. @defaultValue 5 minutes */
  readonly refreshAfter?: Duration;
  /**
   * Audience of answers to the server's questions; an approval has an audience of its own. @defaultValue every actor
   */
  readonly audience?: AudienceSpec;
  /** The same as the field of a tool. */
  readonly retention?: Retention;
  /** The same as the field of a tool. */
  readonly maxResultBytes?: number;
  /**
   * Action on a question that a server of a protocol before 2026-07-28 pushes into a call that it holds open. `'ask'`:
   * the call is given up, the question is asked, and with the answer the call is made again from its start. `'hold'`:
   * the call stays open in its worker until the answer arrives, and is lost with the worker (`outcome_unknown`).
   * `'cancel'`: the question is answered as cancelled. @defaultValue 'hold' for tools whose effects are `'once'`, else
   * 'ask'
   */
  readonly pushedQuestions?: 'ask' | 'hold' | 'cancel';
}

/** A server that is reached by streamable HTTP. */
export interface McpHttpServerSpec<Services = UntypedServices> extends SharedFields<Services> {
  readonly url: string;
  /**
   * Bearer token of every request. Never recorded, logged or shown. A function without a token returns undefined: the
   * server then responds with its `challenge`.
   */
  readonly token?: Resolved<string | undefined, Services>;
  /** Sent with every request; may hold secrets as the token does. */
  readonly headers?: Resolved<Readonly<Record<string, string>>, Services>;
  /**
   * Owner of the connection that carries a call: the worker, the conversation's tenant, or the turn's requester; the
   * latter two are `caller` to `token` and `headers`. Tools are listed once for all, by the worker. @defaultValue
   * 'worker'
   */
  readonly identity?: 'worker' | 'tenant' | 'requester';
  /**
   * Addresses that are not public, as the field of `httpTool`: all others are refused, and no proxy is used.
   * @defaultValue any address for a server of an agent; public ones for one that a plugin makes at run time
   */
  readonly allowPrivate?: true | readonly string[];
}

/** A server that the worker starts as a process of its own, and stops when the worker itself stops. */
export interface McpStdioServerSpec<Services = UntypedServices> extends SharedFields<Services> {
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * The whole environment of the process, beside `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`; may hold
   * secrets as a token does.
   */
  readonly env?: Resolved<Readonly<Record<string, string>>, Services>;
  readonly cwd?: string;
}

/** All fields that `mcpServer` takes. */
export type McpServerSpec<Services = UntypedServices> =
  | McpHttpServerSpec<Services>
  | McpStdioServerSpec<Services>;
