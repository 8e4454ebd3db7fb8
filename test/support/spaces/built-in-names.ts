/** The names of the built-in tools of an agent of spaces, sorted. */
export const BUILT_IN_NAMES: readonly string[] = [
  ...['delete_goals', 'delete_memories', 'delete_plans', 'enter_space', 'get_plans'],
  ...['leave_space', 'read_messages', 'send_message', 'set_goals', 'set_memories', 'set_plans'],
  'skip',
];
