import { createRequire } from 'node:module';
import type { Ajv, ValidateFunction } from 'ajv';
import type { JsonSchema } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { CompiledSchema } from './compiled-schema.ts';

/** A JSON Schema as it is. It is compiled at the first call, so that a faulty one fails that call and nothing else. */
export function compileJsonSchema(json: JsonSchema): CompiledSchema {
  const hasDefaults = JSON.stringify(json).includes('"default"');
  let validate: ValidateFunction | { fault: string } | undefined;
  return {
    json,
    check(value) {
      validate ??= compile(json);
      if ('fault' in validate)
        return { ok: false, message: `the tool's own schema is faulty: ${validate.fault}` };
      const candidate = hasDefaults ? structuredClone(value) : value;
      if (validate(candidate)) return { ok: true, value: candidate };
      const lines = (validate.errors ?? []).map(
        (error) =>
          `${error.instancePath === '' ? 'arguments' : error.instancePath.slice(1)} ${error.message}`,
      );
      return { ok: false, message: lines.join('; ') };
    },
  };
}

function compile(json: JsonSchema): ValidateFunction | { fault: string } {
  try {
    // The engine knows only its own dialect by name.
    const { $schema, ...schema } = json;
    const engine = dialect($schema);
    const validate = engine.compile(schema);
    engine.removeSchema(schema);
    return validate;
  } catch (cause) {
    return { fault: messageOf(cause) };
  }
}

/** Engines hold no schema after compiling, so one of each serves the whole process. */
const dialects = new Map<string, Ajv>();

/** MCP's default dialect is 2020-12; draft 7 and older where `$schema` says so. */
function dialect(named: unknown): Ajv {
  const name = /draft-0[4-7]/.test(String(named)) ? 'ajv' : 'ajv/dist/2020.js';
  const known = dialects.get(name);
  if (known) return known;
  const require = createRequire(import.meta.url);
  const { default: Engine } = require(name) as { default: typeof Ajv };
  const engine = new Engine({
    useDefaults: true,
    allErrors: true,
    strict: false,
    addUsedSchema: false,
    logger: false,
  });
  const { default: addFormats } = require('ajv-formats') as { default: (ajv: Ajv) => void };
  addFormats(engine);
  dialects.set(name, engine);
  return engine;
}
