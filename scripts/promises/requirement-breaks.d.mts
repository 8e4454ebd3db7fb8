/** Types of requirement-breaks.mjs, for tests. */
import type { Break } from './breaks.mjs';

export const REQUIREMENT_BREAKS: readonly Break[];
