import type {
  Completion,
  CompletionOf,
  FilledPrompt,
  ReadResource,
} from '../mcp/features/feature-results.ts';
import type { Features } from '../mcp/features/features.ts';

import type { Subscription } from '../mcp/features/subscriptions.ts';
import { checkAsked } from './check-host-options.ts';
import type { HostCallOptions, HostPrompt, HostResource, HostResourceTemplate } from './host-options.ts';

/** What a host has of its servers beside tools: resources, prompts and completion, in either protocol. */
export abstract class HostFeatures {
  /** Of one server, or of all that are connected; one of those that cannot list is a `warning`, and the others are there. */
  async listResources(server?: string, options: HostCallOptions = {}): Promise<HostResource[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listResources(server, options);
  }

  /** As `listResources`; a template has parts to fill in, which `complete` knows more of. */
  async listResourceTemplates(
    server?: string,
    options: HostCallOptions = {},
  ): Promise<HostResourceTemplate[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listResourceTemplates(
      server,
      options,
    );
  }

  /** Binary contents are base64 in `blob`. Waits and rejects as `callTool`. */
  async readResource(server: string, uri: string, options: HostCallOptions = {}): Promise<ReadResource> {
    return this.#asked({ server, uri }, options).readResource(server, uri, options);
  }

  /** `listener` hears of every change, and once after each reconnect, until it is unsubscribed or the host is closed. */
  async subscribe(
    server: string,
    uri: string,
    listener: () => void,
    options: HostCallOptions = {},
  ): Promise<Subscription> {
    return this.#asked({ server, uri, listener }, options).subscribe(server, uri, listener, options);
  }

  /** As `listResources`. */
  async listPrompts(server?: string, options: HostCallOptions = {}): Promise<HostPrompt[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listPrompts(server, options);
  }

  /** What a prompt says with these arguments; those it requires are checked before its server is asked. */
  async getPrompt(
    server: string,
    name: string,
    args: Record<string, string> = {},
    options: HostCallOptions = {},
  ): Promise<FilledPrompt> {
    return this.#asked({ server, name, args }, options).getPrompt(server, name, args, options);
  }

  /** What an argument may become; `context` is what the others are already. */
  async complete(
    server: string,
    of: CompletionOf,
    argument: { name: string; value: string },
    context: Record<string, string> = {},
    options: HostCallOptions = {},
  ): Promise<Completion> {
    return this.#asked({ server, of, argument, context }, options).complete(
      server,
      of,
      argument,
      context,
      options,
    );
  }

  /** Throws if there is no host any more. */
  protected abstract features(): Features;

  #asked(asked: Parameters<typeof checkAsked>[0], options: HostCallOptions): Features {
    checkAsked(asked, options);
    return this.features();
  }
}
