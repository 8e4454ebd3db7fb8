/** The compose file of `deploy`, as Docker would read it: with its merges, and with variables put in. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly stop_grace_period?: string;
  readonly network_mode?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
}

const FILE = fileURLToPath(new URL('../../../deploy/compose.yaml', import.meta.url));

/** In place of every variable that a person has to set. */
export const SECRET = 'secret-of-the-compose-file';

export function composeServices(): Readonly<Record<string, ComposeService>> {
  const text = readFileSync(FILE, 'utf8').replaceAll(/\$\{\w+:\?\}/g, SECRET);
  const { services } = parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };
  return services;
}
