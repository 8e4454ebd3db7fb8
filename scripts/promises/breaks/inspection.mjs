// The lines that keep promises about looks into conversations, and about settings of the API.
export const OF_INSPECTION = [
  {
    promise: 'G421',
    file: 'src/projection/model-calls/derived.ts',
    line: '...(isSystem ? { system } : {}),',
    to: '...{},',
    test: 'test/unit/projection/model-calls/derived.test.ts',
  },
  {
    promise: 'G422',
    file: 'src/activities/model/call-model.ts',
    line: 'const owner = inCode.agent(name) === undefined ? { tenant } : {};',
    to: 'const owner = tenant === undefined ? { tenant } : {};',
    test: 'test/activities/audit/named-requests.test.ts',
  },
  {
    promise: 'G423',
    file: 'src/projection/model-calls/model-call.ts',
    line: 'if (context?.definition !== undefined)',
    to: 'if (context?.definition === null)',
    test: 'test/activities/audit/named-requests.test.ts',
  },
  {
    promise: 'G424',
    file: 'src/cli/serve/provider-files.ts',
    line: "if (typeof answer === 'boolean') return answer;",
    to: 'if (answer !== null) return Boolean(answer);',
    test: 'test/unit/cli/serve/provider-files.test.ts',
  },
  {
    promise: 'G425',
    file: 'src/http/app.ts',
    line: 'return res === undefined ? undefined : await identityFor(deps, request, res);',
    to: 'return res === undefined ? undefined : await deps.identify(request);',
    test: 'test/http/operated/own-routes.test.ts',
  },
];
