/** Settings of agents that random schedules choose from: each bound and each `onBusy` is among them. */
import type { AgentSettings } from '../../../src/protocol/conversation/agents.js';

export const SCHEDULE_SETTINGS: readonly Partial<AgentSettings>[] = [
  { onBusy: 'queue', maxSteps: 4, summaries: true },
  { onBusy: 'reject', maxSteps: 5, whileWaiting: 'detach', repeatLimit: 3 },
  { onBusy: 'steer', maxSteps: 4, budgets: { calls: 5, callsOf: { constructor: 1 } } },
  { onBusy: 'interrupt', maxSteps: 6, budgets: { tokens: 40 }, repeatLimit: 2 },
  { onBusy: 'queue', maxSteps: 4, whileWaiting: 'detach', budgets: { timeMs: 1_200_000 } },
  { onBusy: 'queue', maxSteps: 4, toolExecution: 'sequential', budgets: { calls: 6 } },
  { onBusy: 'steer', maxSteps: 4, toolExecution: 'sequential', whileWaiting: 'detach' },
  { onBusy: 'queue', maxSteps: 5, budgets: { cost: { micros: 40, currency: 'USD' } } },
  {
    onBusy: 'steer',
    maxSteps: 4,
    summaries: true,
    onToolError: 'abort_turn',
    onUnknownTool: 'abort_turn',
  },
  {
    onBusy: 'queue',
    maxSteps: 4,
    inbox: { whileBusy: 'next_turn', rate: { turns: 2, perMs: 60_000 } },
  },
];

/** Settings for any number; equal numbers have equal ones. */
export function scheduleSettings(variant: number): (typeof SCHEDULE_SETTINGS)[number] {
  return SCHEDULE_SETTINGS[variant % SCHEDULE_SETTINGS.length] ?? {};
}
