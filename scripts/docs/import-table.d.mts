import type { Fault } from './fault.mjs';

export interface AllowedImports {
  readonly own: readonly string[];
  readonly packages: readonly string[];
  readonly schema?: readonly string[];
  readonly only?: Readonly<Record<string, readonly string[]>>;
}
export function importFaults(
  lines: readonly string[],
  imports: Readonly<Record<string, AllowedImports>>,
): readonly Fault[];
export function importTableFaults(root: string): readonly (Fault & { readonly file: string })[];
