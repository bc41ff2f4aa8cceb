import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A local server for a catalogue, which is closed after the test. */
export type CatalogueServer = {
  readonly url: string;
  /** The received requests, in order. */
  readonly asked: readonly IncomingMessage[];
};

export async function catalogueServer(answer: RequestListener): Promise<CatalogueServer> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogue`, asked };
}

/** Answers with a value as JSON, or with a string as it is. */
export function answering(value: unknown, headers: Record<string, string> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(200, headers).end(typeof value === 'string' ? value : JSON.stringify(value));
  };
}
