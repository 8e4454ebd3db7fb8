import type { Fault } from './fault.mjs';

export function widthFaults(lines: readonly string[]): readonly Fault[];
export function wrapped(paragraph: string): string;
