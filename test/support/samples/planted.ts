/** Secrets that are planted in a worker and searched for everywhere else; see `planted-secrets.ts`. */
export const PLANTED = {
  model: 'planted-model-81f3a6c29d',
  tool: 'planted-tool-5be07d114a',
  mcp: 'planted-mcp-c9a2e86f03',
  service: 'planted-service-27d4b1e95c',
} as const;
