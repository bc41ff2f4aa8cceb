import { isMcpToolName, mcpToolName } from '../../protocol/tool-name.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import { line, type Piece } from '../terminal/render.ts';

type Annotations = Readonly<Record<string, boolean>>;

/** Annotations of a tool for display; agents send the hints with or without `Hint`. */
export function annotationLabels(annotations: Annotations | undefined): string[] {
  const isTrue = (name: string) => annotations?.[name] === true || annotations?.[`${name}Hint`] === true;
  return [
    ...(isTrue('readOnly') ? ['read-only'] : []),
    ...(isTrue('destructive') ? ['destructive'] : []),
    ...(isTrue('idempotent') ? ['idempotent'] : []),
    ...(isTrue('openWorld') ? ['open world'] : []),
  ];
}

/** The annotations of the tool with this full name. */
export function labelsOfTool(servers: readonly McpServerStatus[], tool: string): string[] {
  for (const { name, tools = [] } of servers) {
    const found = tools.find((it) => mcpToolName(name, it.name) === tool);
    if (found) return annotationLabels(found.annotations);
  }
  return [];
}

/** `/tools`: the tool names by server; `offered` are the tools at the start of the last turn. */
export function toolList(servers: readonly McpServerStatus[], offered: readonly string[]): Piece[] {
  const listed = servers.flatMap(({ name, tools = [] }) =>
    tools.length === 0
      ? []
      : [line([name, 'strong']), ...tools.map((it) => row(mcpToolName(name, it.name), it))],
  );
  const own = offered.filter((name) => !isMcpToolName(name));
  const builtIn = own.length === 0 ? [] : [line(['built in', 'strong']), ...own.map((name) => row(name, {}))];
  const all = [...builtIn, ...listed];
  return all.length > 0 ? all : [line('No tools.')];
}

function row(
  name: string,
  { description, annotations }: { description?: string; annotations?: Annotations },
): Piece {
  const labels = annotationLabels(annotations);
  return {
    kind: 'line',
    overflow: 'cut',
    spans: [
      `  ${name} `,
      [labels.map((label) => `(${label})`).join(' '), 'warn'],
      [description ? ` ${description}` : '', 'dim'],
    ],
  };
}
