import { firstName, MODEL_ALIASES, resolveModelName } from '../../../agent/launch/model-name.ts';
import { isRecord } from '../../../base/json-value.ts';
import { redactText } from '../../../base/text/redact.ts';
import { readFailure } from '../../../mcp/errors/classify-failure.ts';
import { sanitizeLine } from '../../terminal/terminal-text.ts';

/** The models of an endpoint, or why they cannot be listed. */
export type EndpointModels = { readonly names: readonly string[] } | { readonly fault: string };

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;
const MAX_MODELS = 200;
const ANTHROPIC_URL = 'https://api.anthropic.com';
const OPENAI_URL = 'https://api.openai.com/v1';
const BY_NAME = '; to select one, enter /model <name>';

/** Lists the models that the endpoint of the current model offers. The prefix of the current name is kept. */
export async function endpointModels(
  current: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<EndpointModels> {
  const given = firstName(current, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL);
  const target = resolveModelName(given, env);
  switch (target.kind) {
    case 'rehearsal':
    case 'scripted':
      return { names: [] };
    case 'missing':
      return { fault: target.lookedFor };
    case 'anthropic': {
      const { credential, baseUrl = ANTHROPIC_URL } = target;
      const headers: Record<string, string> = {
        'anthropic-version': '2023-06-01',
        ...('apiKey' in credential
          ? { 'x-api-key': credential.apiKey }
          : { authorization: `Bearer ${credential.authToken}` }),
      };
      const found = await listModels(`${trimmed(baseUrl)}/v1/models?limit=${MAX_MODELS}`, headers);
      if ('fault' in found) return found;
      const aliases = Object.keys(MODEL_ALIASES).filter((name) => name !== 'default');
      return { names: [...aliases, ...found.names] };
    }
    case 'openai': {
      const { apiKey, baseUrl = OPENAI_URL } = target;
      const headers: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
      const found = await listModels(`${trimmed(baseUrl)}/models`, headers);
      return 'fault' in found ? found : { names: found.names.map((name) => `openai:${name}`) };
    }
  }
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

async function listModels(url: string, headers: Record<string, string>): Promise<EndpointModels> {
  const host = new URL(url).host;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    // A redirect could take the key to another host.
    const response = await fetch(url, { headers, signal, redirect: 'error' });
    if (!response.ok)
      return { fault: `${host} returned HTTP ${response.status} for its list of models${BY_NAME}` };
    const body: unknown = JSON.parse(await boundedText(response));
    const data = isRecord(body) && Array.isArray(body.data) ? body.data : [];
    const names = data.filter(isRecord).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    return { names: names.slice(0, MAX_MODELS) };
  } catch (cause) {
    const reason = sanitizeLine(redactText(readFailure(cause).message));
    return { fault: `cannot read the list of models of ${host}: ${reason}${BY_NAME}` };
  }
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (text.length > MAX_BYTES) throw new Error('the list is too long');
  }
  return text;
}
