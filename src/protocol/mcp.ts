/** Tools of MCP servers as data. Runs anywhere. */

/**
 * What a server says of a tool's behaviour. Hints: nothing checks them, and a server may be wrong or lie.
 * @see https://modelcontextprotocol.io/specification - ToolAnnotations
 */
export interface ToolAnnotations {
  /** For people. */
  readonly title?: string;
  /** It changes nothing. Absent: it may. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something, rather than only add. Absent: it may. */
  readonly destructiveHint?: boolean;
  /** A second call with the same arguments changes nothing more. Absent: it may. */
  readonly idempotentHint?: boolean;
  /** It reaches beyond the server's own world, as a web search does. Absent: it may. */
  readonly openWorldHint?: boolean;
}

/** Which tool of which server a call was planned for: all that another worker needs to find it again. In recorded histories. */
export interface McpToolRef {
  /** The server's name in the agent's definition. */
  readonly server: string;
  /** The tool's name as the server has it. */
  readonly tool: string;
  /** `sha256:` over its input schema and annotations: by these the call was judged. */
  readonly digest: string;
  /** `sha256:` over its annotations alone: by these its policies judged the call. Absent: they are judged with the schema, by `digest`. */
  readonly hints?: string;
}
