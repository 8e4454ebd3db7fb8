/** A declared MCP server as the engine knows it. Types only. */
import type { UntypedServices } from '../tool/context.js';
import type { McpHttpServerSpec, McpServerSpec, McpStdioServerSpec } from './spec.js';

/** The way in which a server is reached. */
export type McpTransport<Services> =
  | ({ readonly type: 'http' } & Pick<
      McpHttpServerSpec<Services>,
      'url' | 'token' | 'headers' | 'identity' | 'allowPrivate'
    >)
  | ({ readonly type: 'stdio' } & Pick<
      McpStdioServerSpec<Services>,
      'command' | 'args' | 'env' | 'cwd'
    >);

/** A server as the engine knows it; made by `mcpServer` only. */
export interface McpServer<Services = UntypedServices> {
  readonly kind: 'mcp_server';
  readonly name: string;
  readonly transport: McpTransport<Services>;
  /** The declared fields that concern its tools. */
  readonly spec: McpServerSpec<Services>;
  readonly connectMs: number;
  readonly listMs: number;
  readonly refreshAfterMs: number;
}

/** Any server, of any services: to be inspected, not connected to. */
export type AnyMcpServer = McpServer<never>;
