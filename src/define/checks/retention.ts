/** Rules of counts and retention settings that tools and agents share. Runs anywhere. */
import { isRecord } from '../../protocol/values/json.js';
import { shown } from './problems.js';

/** The reason why a value is no retention; undefined when it is one. */
export function retentionProblem(retention: unknown): string | undefined {
  if (retention === undefined || retention === 'never_evict') return undefined;
  const rule = `must be {turns: n}, {last: n} or 'never_evict', got ${shown(retention)}`;
  if (!isRecord(retention)) return rule;
  const [field, ...more] = Object.keys(retention);
  if (more.length > 0 || (field !== 'turns' && field !== 'last')) return rule;
  return isCount(retention[field]) ? undefined : `${field} must be a whole number from 1`;
}

export function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}
