// Lines that keep requirements, in the form of promises.mjs: of agents made of parts, and of adapters to other protocols.
const SUB_AGENTS = 'test/unit/sub-agents/sub-agents.test.ts';
const STATES = 'test/unit/kit/plugins/states.test.ts';
const MADE_TOOLS = 'test/unit/kit/plugins/made-tools.test.ts';
const PREPARE = 'test/unit/kit/plugins/prepare.test.ts';
const PLUGINS = 'test/unit/define/plugin.test.ts';
const APTIX = 'test/unit/compat/aptix.test.ts';
const STEPS = 'test/http/routes/steps.test.ts';
const DOCUMENTS = 'test/unit/compat/hsafa/tool-documents.test.ts';
const OUTSIDE_WORK = 'test/unit/scenarios/outside-work.test.ts';
const ASSEMBLE = 'test/unit/core/context/assemble.test.ts';

export const OF_REQUIREMENTS = [
  {
    promise: 'A9',
    file: 'src/core/events/children.ts',
    line: "{ type: 'suspension', suspension: { ...suspension, childId } },",
    test: SUB_AGENTS,
  },
  {
    promise: 'A19',
    file: 'src/core/context/assemble.ts',
    line: "atOnce(name) ? retentionOf(name) : 'never_evict',",
    to: "atOnce(name) ? 'never_evict' : 'never_evict',",
    test: ASSEMBLE,
  },
  {
    promise: 'A24',
    file: 'src/core/decide/decide.ts',
    line: "if (answer === undefined) return [{ type: 'open_suspension', toolCallId, kind: row.wait }];",
    to: "if (answer === undefined) return [{ type: 'open_suspension', toolCallId, kind: 'elicitation' }];",
    test: 'test/unit/scenarios/executors.test.ts',
  },
  {
    promise: 'C10',
    file: 'src/tools/shared/state-view.ts',
    line: 'this.#own.set(plugin.id, own);',
    test: STATES,
  },
  {
    promise: 'C16',
    file: 'src/tools/shared/state-view.ts',
    line: 'this.#take(known, replaced(json));',
    test: STATES,
  },
  {
    promise: 'C17',
    file: 'src/define/services/container.ts',
    line: 'if (made !== undefined) return made.service as Service;',
    test: 'test/unit/define/services.test.ts',
  },
  {
    promise: 'C18',
    file: 'src/tools/plugins/step-tools.ts',
    line: 'this.#added.set(name, tool);',
    test: MADE_TOOLS,
  },
  {
    promise: 'C19',
    file: 'src/define/define-agent.ts',
    line: 'const tools = [...(spec.tools ?? []), ...plugins.flatMap((plugin) => plugin.tools)];',
    to: 'const tools = [...(spec.tools ?? [])];',
    test: PLUGINS,
  },
  {
    promise: 'C20',
    file: 'src/tools/plugins/step-tools.ts',
    line: 'this.#hidden.add(name);',
    test: PREPARE,
  },
  {
    promise: 'C21',
    file: 'src/tools/shared/factories.ts',
    line: 'const ref = { plugin: id, factory, ...(json === null ? {} : { args: json }) };',
    to: 'const ref = { plugin: id, factory };',
    test: MADE_TOOLS,
  },
  {
    promise: 'C34',
    file: 'src/tools/plugins/prepare.ts',
    line: 'await preparedBy(plugin, given, { view, tools, servers, context });',
    to: 'void plugin;',
    test: PREPARE,
  },
  {
    promise: 'C40',
    file: 'src/define/check-tools.ts',
    line: '...textFindings(tool, before),',
    test: 'test/unit/define/agent/check-tools.test.ts',
  },
  {
    promise: 'H12',
    file: 'src/tools/http/request.ts',
    line: 'headers[name.toLowerCase()] = value;',
    test: DOCUMENTS,
  },
  {
    promise: 'H15',
    file: 'src/define/http/rules.ts',
    line: "problems.add('mode', 'an HTTP tool is answered by its own request, so it cannot be detached');",
    to: 'void 0;',
    test: 'test/unit/define/http/http-tool.test.ts',
  },
  {
    promise: 'H24',
    file: 'src/compat/hsafa/documents/tools.ts',
    line: 'if (execution?.url !== undefined) return requestOf(parsed, { at, common, headers }, reading);',
    test: DOCUMENTS,
  },
  {
    promise: 'H36',
    file: 'src/core/calls/detached.ts',
    line: "const result = { status: 'pending', pendingToolCallId: toolCallId };",
    to: "const result = { status: 'pending' };",
    test: OUTSIDE_WORK,
  },
  {
    promise: 'S21',
    file: 'src/core/calls/detached.ts',
    line: "return { ...call, plan: rest, status, background: 'late', closedWait: kept };",
    to: 'return call;',
    test: OUTSIDE_WORK,
  },
  {
    promise: 'S22',
    file: 'src/core/calls/detached.ts',
    line: "return { status: 'detached', envelope: { ok: true, result }, provenance: 'trusted' };",
    to: "return { status: 'detached', envelope: { ok: true, result: null }, provenance: 'trusted' };",
    test: OUTSIDE_WORK,
  },
  {
    promise: 'S23',
    file: 'src/core/apply/inbox.ts',
    line: "next = withMessage(next, { role: 'user', id, turnId, parts, inbox: eventId });",
    to: 'void [id, parts];',
    test: OUTSIDE_WORK,
  },
  {
    promise: 'S24',
    file: 'src/compat/hsafa/documents/tools.ts',
    line: "? ({ mode: 'detach' } as const)",
    to: '? ({} as const)',
    test: DOCUMENTS,
  },
  {
    promise: 'S34',
    file: 'src/tools/plugins/step-tools.ts',
    line: 'this.#added.set(name, tool);',
    test: MADE_TOOLS,
  },
  {
    promise: 'S36',
    file: 'src/define/define-agent.ts',
    line: 'const tools = [...(spec.tools ?? []), ...plugins.flatMap((plugin) => plugin.tools)];',
    to: 'const tools = [...plugins.flatMap((plugin) => plugin.tools), ...(spec.tools ?? [])];',
    test: PLUGINS,
  },
  {
    promise: 'S44',
    file: 'src/core/context/retention.ts',
    line: "if (retention === 'never_evict') return false;",
    to: 'if (retention !== undefined) return false;',
    test: ASSEMBLE,
  },
  {
    promise: 'X5',
    file: 'src/compat/aptix/agent-tool.ts',
    line: 'return declared.isToolFullyExecutedOnServer',
    to: 'return !declared.isToolFullyExecutedOnServer',
    test: APTIX,
  },
  {
    promise: 'X6',
    file: 'src/compat/aptix/transport.ts',
    line: 'if (problem !== undefined) return failed(problem);',
    test: APTIX,
  },
  {
    promise: 'X20',
    file: 'src/compat/aptix/agent-tool.ts',
    line: 'userId: ctx.requester.id,',
    to: "userId: '',",
    test: APTIX,
  },
  {
    promise: 'X23',
    file: 'src/compat/aptix/agent-tool.ts',
    line: 'return outcome.successful ? resultOf(outcome.result) : failureOf(outcome.errors);',
    to: 'return outcome.successful ? null : failureOf(outcome.errors);',
    test: APTIX,
  },
  {
    promise: 'X28',
    file: 'src/protocol/log/step-continuation.ts',
    line: "if (plan.executor === 'client') return prepared !== undefined || plan.preflight !== true;",
    test: STEPS,
  },
  {
    promise: 'X30',
    file: 'src/protocol/log/step-continuation.ts',
    line: 'wasExecuted: wasExecuted(call),',
    to: 'wasExecuted: false,',
    test: STEPS,
  },
  {
    promise: 'X32',
    file: 'src/compat/aptix/agent-tool.ts',
    line: "return toolError(errors.map(({ message }) => message).join('; '));",
    to: "return toolError('');",
    test: APTIX,
  },
  {
    promise: '2.H.1',
    file: 'src/core/state/inbox-turns.ts',
    line: "return settings.inbox?.whileBusy === 'next_turn';",
    to: 'return settings === undefined;',
    test: 'test/unit/kit/turns/inbox-cycles.test.ts',
  },
  {
    promise: '2.H.2',
    file: 'src/core/context/assemble.ts',
    line: 'if (index < this.#head || index >= from) sum += count;',
    to: 'if (from >= 0) sum += count;',
    test: ASSEMBLE,
  },
  {
    promise: '2.H.3',
    file: 'src/spaces/plugin/plan-tools.ts',
    line: 'if (given.length !== 1)',
    to: 'if (given.length === 0)',
    test: 'test/unit/spaces/plugin/built-ins.test.ts',
  },
  {
    promise: '2.H.4',
    file: 'src/compat/hsafa/routes/results.ts',
    line: 'if (call.turnId !== run.turnId) return OTHER_RUN;',
    test: 'test/unit/compat/hsafa/results-route.test.ts',
  },
];
