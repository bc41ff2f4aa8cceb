import { readFile } from 'node:fs/promises';
import { isRecord } from '../../base/is-record.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Model, ModelFault } from '../models/model.ts';
import { type ScriptedReply, scriptedModel, text, toolUse } from '../models/scripted.ts';

/**
 * A model that says what a JSON file tells it to, one item a reply: a text, or `{ "tool": name, "input": { … } }`.
 * The file is read with the first request.
 */
export function fileModel(path: string): Model {
  let replies: Promise<readonly ScriptedReply[]> | undefined;
  return scriptedModel(async (_, n) => {
    replies ??= readReplies(path);
    const reply = (await replies)[n - 1];
    return reply ?? { fault: new ModelFault('bad-request', `${path} has no reply for request ${n}`) };
  });
}

async function readReplies(path: string): Promise<readonly ScriptedReply[]> {
  try {
    return parseReplies(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new ModelFault('bad-request', `--model scripted:${path}: ${messageOf(cause)}`, { cause });
  }
}

function parseReplies(raw: unknown): ScriptedReply[] {
  if (!Array.isArray(raw)) throw new Error('it must hold a list of replies');
  return raw.map((item: unknown, index) => {
    if (typeof item === 'string') return text(item);
    if (isRecord(item) && typeof item.tool === 'string') {
      return toolUse(item.tool, isRecord(item.input) ? item.input : {});
    }
    throw new Error(`reply ${index + 1} is neither a text nor { "tool": name, "input": { … } }`);
  });
}
