import { readFile } from 'node:fs/promises';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Model, ModelError } from './model.ts';
import { type ScriptedReply, scriptedModel, text, toolUse } from './scripted.ts';

/**
 * A model that replies from a JSON file, one item per reply: a string, or `{ "tool": name, "input": { … } }`. The file is
 * read at the first request.
 */
export function scriptedFile(path: string): Model {
  let replies: Promise<readonly ScriptedReply[]> | undefined;
  return scriptedModel(async (_, n) => {
    replies ??= readReplies(path);
    const reply = (await replies)[n - 1];
    return (
      reply ?? {
        error: new ModelError('bad-request', `${path} has no reply for request ${n}; add one to the file`),
      }
    );
  });
}

async function readReplies(path: string): Promise<readonly ScriptedReply[]> {
  try {
    return parseReplies(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new ModelError('bad-request', `--model scripted:${path}: ${messageOf(cause)}`, { cause });
  }
}

function parseReplies(raw: unknown): ScriptedReply[] {
  if (!Array.isArray(raw)) throw new Error('the file must contain an array of replies');
  return raw.map((item: unknown, index) => {
    if (typeof item === 'string') return text(item);
    if (isRecord(item) && typeof item.tool === 'string') {
      return toolUse(item.tool, isRecord(item.input) ? item.input : {});
    }
    throw new Error(`reply ${index + 1} is neither a string nor { "tool": name, "input": { … } }`);
  });
}
