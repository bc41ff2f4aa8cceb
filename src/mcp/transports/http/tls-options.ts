import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { HostError } from '../../errors/host-error.ts';

/** The TLS settings of an entry. */
type TlsEntry = { ca?: string; cert?: string; key?: string; serverName?: string };

/**
 * Turns certificate verification on explicitly: without it Node applies `NODE_TLS_REJECT_UNAUTHORIZED=0` of the
 * environment to every connection that does not say otherwise.
 */
export const VERIFIED = { rejectUnauthorized: true } as const;

/** Options of a TLS connection; the entry's `ca` is added to the default authorities. Verification is always on. */
export type TlsOptions = typeof VERIFIED & {
  ca?: string[];
  cert?: string;
  key?: string;
  servername?: string;
};

/** Reads the TLS settings: each is PEM text or the path of a PEM file. */
export async function tlsOptions(name: string, entry: TlsEntry | undefined): Promise<TlsOptions> {
  if (entry === undefined) return VERIFIED;
  const pem = async (part: 'ca' | 'cert' | 'key') => {
    const value = entry[part];
    if (value === undefined) return undefined;
    const text = value.includes('-----BEGIN ') ? value : await fileText(name, part, value);
    if (text.includes('-----BEGIN ')) return text;
    throw new HostError('bad-config', name, `"tls.${part}" is neither PEM text nor the path of a PEM file`);
  };
  const [ca, cert, key] = await Promise.all([pem('ca'), pem('cert'), pem('key')]);
  if ((cert === undefined) !== (key === undefined)) {
    throw new HostError('bad-config', name, '"tls.cert" and "tls.key" must be set together');
  }
  const { getCACertificates } = await import('node:tls');
  return {
    ...VERIFIED,
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    ...(entry.serverName !== undefined && { servername: entry.serverName }),
  };
}

async function fileText(name: string, part: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = messageOf(cause).split(',')[0];
    throw new HostError(
      'bad-config',
      name,
      `"tls.${part}" cannot be read: ${why}; correct the path in its entry, or make the file readable`,
      {
        cause,
      },
    );
  }
}
