/** `loadHsafaFile`: documents from a file or a folder. Runs in Node. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../../define/define-agent.js';
import type { Tool } from '../../../define/tool/types.js';
import { isRecord } from '../../../protocol/values/json.js';
import { agentOf, type HsafaAgentOptions } from './agents.js';
import { Findings, type Warning } from './findings.js';
import { MAX_DOCUMENTS } from './forms.js';
import { checkNames, definedIn, type Placed, placesOf, toolOf } from './tools.js';

export interface HsafaFileOptions extends HsafaAgentOptions {
  /** Takes each warning. @defaultValue a warning of the process, as `process.emitWarning` prints it */
  readonly onWarning?: (warning: Warning) => void;
}

export interface HsafaFile {
  readonly agents: readonly Agent[];
  /** Tool documents beside the agents, which agents name in their `tools`. */
  readonly tools: readonly Tool[];
  readonly warnings: readonly Warning[];
}

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a JSON file, or all `*.json` files of a folder, by name; folders in it are not read. A file has one document or
 * a list. A document with `executionType` is a tool, any other an agent.
 * @throws {DefinitionError} invalid_definition with every fault of all files; errors of the file system for the path
 *   itself
 */
export function loadHsafaFile(path: string, options: HsafaFileOptions): HsafaFile {
  const findings = new Findings(options.strict);
  const placed = filesAt(path).flatMap(({ file, at }) => documentsIn(file, at, findings));
  if (placed.length > MAX_DOCUMENTS)
    findings.fault(path, `must have at most ${MAX_DOCUMENTS} documents, got ${placed.length}`);
  const documents = placed.slice(0, MAX_DOCUMENTS);
  const isTool = ({ document }: Placed): boolean =>
    isRecord(document) && 'executionType' in document;
  const [toolDocuments, agentDocuments] = [
    documents.filter(isTool),
    documents.filter((it) => !isTool(it)),
  ];
  checkNames(toolDocuments, findings);
  checkNames(agentDocuments, findings);
  const reading = { findings, options };
  const tools = definedIn(toolDocuments.map(({ document, at }) => toolOf(document, at, reading)));
  const shared = new Map(tools.map((tool) => [tool.name, tool]));
  const agents = agentDocuments.map(({ document, at }) =>
    agentOf(document, at, { ...reading, shared }),
  );
  findings.throwIfAny(`the documents of ${path}`);
  const { warnings } = findings;
  const onWarning = options.onWarning ?? emitted;
  for (const warning of warnings) onWarning(warning);
  return { agents: definedIn(agents), tools, warnings };
}

function emitted({ path, message }: Warning): void {
  process.emitWarning(`${path} ${message}`, 'HsafaDocumentWarning');
}

function filesAt(path: string): readonly { readonly file: string; readonly at: string }[] {
  if (!statSync(path).isDirectory()) return [{ file: path, at: '' }];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'))
    .map(({ name }) => ({ file: join(path, name), at: `${name}: ` }))
    .sort((one, other) => (one.file < other.file ? -1 : 1));
}

function documentsIn(file: string, at: string, findings: Findings): readonly Placed[] {
  const whole = at.replace(/: $/, '');
  try {
    if (statSync(file).size > MAX_FILE_BYTES) {
      findings.fault(whole, `must have at most ${MAX_FILE_BYTES} bytes`);
      return [];
    }
    return placesOf(JSON.parse(readFileSync(file, 'utf8')), at, findings);
  } catch (error) {
    findings.fault(
      whole,
      `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return [];
  }
}
