import type { Features } from '../../mcp/features/features.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ResourceReader } from '../builtins/built-in.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { ResultSource } from '../results/result-store.ts';
import { contentsToModel, failureToModel } from '../results/to-model.ts';
import { ANOTHER_SERVER } from './resolve-call.ts';

/** Whose resources an agent may see, and what becomes of them. */
export type ResourceWorld = {
  /** The servers whose resources may be read, by key. */
  servers(): readonly string[];
  /** Whether the server of that key is the one that reading was decided on for. */
  isMeant(server: string): boolean;
  featuresOf(server: string): Features;
  /** Where a result goes that a model cannot take whole. */
  sourceOf(server: string): ResultSource;
};

/** Resources of servers as a model is told of them. */
export function resourceReader({ servers, isMeant, featuresOf, sourceOf }: ResourceWorld): ResourceReader {
  return {
    async list(server, signal) {
      const there = servers();
      if (server !== undefined && !there.includes(server)) return { fault: unknown(server, there) };
      const lists = await Promise.all(
        (server === undefined ? there : [server]).map(async (key) => {
          const features = featuresOf(key);
          try {
            const [resources, templates] = await Promise.all([
              features.listResources(key, { signal }),
              features.listResourceTemplates(key, { signal }),
            ]);
            return { resources, templates, faults: [] };
          } catch (failure) {
            signal.throwIfAborted();
            return { resources: [], templates: [], faults: [messageOf(failure)] };
          }
        }),
      );
      return {
        resources: lists.flatMap((it) => it.resources),
        templates: lists.flatMap((it) => it.templates),
        faults: lists.flatMap((it) => it.faults),
      };
    },
    async read(server, uri, signal) {
      const there = servers();
      if (!there.includes(server)) return failedOutcome(unknown(server, there));
      if (!isMeant(server)) return failedOutcome(`MCP server "${server}": ${ANOTHER_SERVER}; call it again`);
      try {
        const { contents } = await featuresOf(server).readResource(server, uri, { signal });
        return (await contentsToModel(contents, sourceOf(server), signal)) as ToolOutcome;
      } catch (failure) {
        signal.throwIfAborted();
        return (await failureToModel(failure, sourceOf(server))) as ToolOutcome;
      }
    },
  };
}

function unknown(server: string, there: readonly string[]): string {
  return `There is no connected server '${server}'. Connected: ${there.join(', ') || '(none)'}`;
}
