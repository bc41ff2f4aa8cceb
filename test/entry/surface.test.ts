import { expect, test } from 'vitest';
import * as host from '../../src/entry/host.ts';
import * as main from '../../src/entry/index.ts';
import * as testing from '../../src/entry/testing.ts';

// An added or removed export must change this file, so that no change of the public API is accidental.

test('what "toolplane" exports', () => {
  expect(Object.keys(main).sort()).toMatchInlineSnapshot(`
    [
      "AbortError",
      "AgentClient",
      "BUILTIN_TOOL_NAMES",
      "EXIT_REASONS",
      "HOOK_EVENTS",
      "InMemorySessionStore",
      "LEGACY_TOOL_NAME_ALIASES",
      "ORG_POLICY_LIMIT_PREFIXES",
      "SYSTEM_PROMPT_DYNAMIC_BOUNDARY",
      "SdkError",
      "USAGE_LIMIT_ERROR_PREFIXES",
      "USAGE_TRANSITION_PREFIXES",
      "USAGE_WARNING_PREFIXES",
      "archiveSession",
      "attach",
      "createSdkMcpServer",
      "deleteSession",
      "filterEscalatingDefaultMode",
      "foldSessionSummary",
      "forkSession",
      "getSessionInfo",
      "getSessionMessages",
      "getSubagentMessages",
      "importSessionToStore",
      "listSessions",
      "listSubagents",
      "matchDeniedModels",
      "moduleServer",
      "prewarm",
      "query",
      "renameSession",
      "resolveSettings",
      "startup",
      "tagSession",
      "tool",
      "toolServer",
      "unarchiveSession",
    ]
  `);
});

test('what "toolplane/host" exports', () => {
  expect(Object.keys(host).sort()).toMatchInlineSnapshot(`
    [
      "AuthError",
      "HostError",
      "NotReadyError",
      "ServerFault",
      "createHost",
      "loadConfiguration",
    ]
  `);
});

test('what "toolplane/testing" exports', () => {
  expect(Object.keys(testing).sort()).toMatchInlineSnapshot(`
    [
      "AgentScript",
      "ScriptedAgent",
      "scriptAgent",
    ]
  `);
});
