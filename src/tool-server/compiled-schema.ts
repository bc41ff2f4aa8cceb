import type { JsonSchema } from '../protocol/mcp.ts';

/** A schema made ready: what the model is told, and the check before the handler runs (defaults applied). */
export type CompiledSchema = {
  readonly json: JsonSchema;
  check(value: unknown): Checked | Promise<Checked>;
};

export type Checked = { ok: true; value: unknown } | { ok: false; message: string };
