import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = (...args: string[]) => promisify(execFile)('openssl', args);

/** A certificate authority, and certificates that it signed: for a server at 127.0.0.1 or `mcp.test`, and a client. */
export async function makeCertificates() {
  const dir = await mkdtemp(join(tmpdir(), 'certificates-'));
  const at = (name: string) => join(dir, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
  );
  const sign = async (name: string, subject: string, names: string) => {
    await openssl('req', ...key, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`), '-subj', subject);
    await writeFile(at(`${name}.ext`), `subjectAltName=${names}\n`);
    const ca = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
    await openssl(
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      ...ca,
      '-extfile',
      at(`${name}.ext`),
      '-out',
      at(`${name}.pem`),
    );
  };
  await sign('server', '/CN=server', 'IP:127.0.0.1,DNS:mcp.test');
  await sign('client', '/CN=client', 'DNS:client');
  const read = (name: string) => readFile(at(name), 'utf8');
  return {
    caPath: at('ca.pem'),
    ca: await read('ca.pem'),
    server: { cert: await read('server.pem'), key: await read('server.key') },
    client: { cert: await read('client.pem'), key: await read('client.key') },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
