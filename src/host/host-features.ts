import type {
  Completion,
  CompletionOf,
  FilledPrompt,
  ReadResource,
} from '../mcp/features/feature-results.ts';
import type { Features } from '../mcp/features/features.ts';

import type { Subscription } from '../mcp/features/subscriptions.ts';
import { checkRequest } from './check-host-options.ts';
import type {
  HostCallOptions,
  HostPrompt,
  HostResource,
  HostResourceTemplate,
  HostSkill,
} from './host-options.ts';

/** Resources, prompts and completion of a host's servers, in both protocol versions. */
export abstract class HostFeatures {
  /**
   * The resources of one server or of all connected servers. A server that fails to list them produces a `warning`
   * event.
   */
  async listResources(server?: string, options: HostCallOptions = {}): Promise<HostResource[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listResources(server, options);
  }

  /**
   * The resource templates of one server or of all connected servers; see `listResources()`. `complete()` suggests values
   * for their parameters.
   */
  async listResourceTemplates(
    server?: string,
    options: HostCallOptions = {},
  ): Promise<HostResourceTemplate[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listResourceTemplates(
      server,
      options,
    );
  }

  /** Reads a resource; binary contents are base64 in `blob`. Waits and rejects like `callTool`. */
  async readResource(server: string, uri: string, options: HostCallOptions = {}): Promise<ReadResource> {
    return this.#asked({ server, uri }, options).readResource(server, uri, options);
  }

  /**
   * Calls `listener` on every change and once after each reconnect, until unsubscribed or until the host is closed.
   */
  async subscribe(
    server: string,
    uri: string,
    listener: () => void,
    options: HostCallOptions = {},
  ): Promise<Subscription> {
    return this.#asked({ server, uri, listener }, options).subscribe(server, uri, listener, options);
  }

  /** The prompts of one server or of all connected servers; see `listResources()`. */
  async listPrompts(server?: string, options: HostCallOptions = {}): Promise<HostPrompt[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listPrompts(server, options);
  }

  /** Fills in a prompt. Required arguments are checked before the server is asked. */
  async getPrompt(
    server: string,
    name: string,
    args: Record<string, string> = {},
    options: HostCallOptions = {},
  ): Promise<FilledPrompt> {
    return this.#asked({ server, name, args }, options).getPrompt(server, name, args, options);
  }

  /**
   * The skills that one server or all connected servers offer (SEP-2640); see `listResources()`. Only `readSkill()` reads
   * their files.
   */
  async listSkills(server?: string, options: HostCallOptions = {}): Promise<HostSkill[]> {
    return this.#asked(server === undefined ? {} : { server }, options).listSkills(server, options);
  }

  /**
   * Reads the text of a listed skill, without its frontmatter. Rejects if its size, digest or frontmatter is not what the
   * server listed.
   */
  async readSkill(server: string, uri: string, options: HostCallOptions = {}): Promise<string> {
    return this.#asked({ server, uri }, options).readSkill(server, uri, options);
  }

  /** Suggests values for an argument; `context` holds the arguments that are already set. */
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

  /** Throws if the host is closed. */
  protected abstract features(): Features;

  #asked(asked: Parameters<typeof checkRequest>[0], options: HostCallOptions): Features {
    checkRequest(asked, options);
    return this.features();
  }
}
