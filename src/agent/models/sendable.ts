import { withFewerImages } from './fewer-images.ts';
import type { ModelRequest } from './model.ts';
import { wellFormed } from './well-formed.ts';

/** A request without what would make an interface refuse it as a whole, whatever tools and servers have put into it. */
export function sendable(request: ModelRequest): ModelRequest {
  const { system, tools, messages } = request;
  return {
    ...request,
    system: system.toWellFormed(),
    tools: wellFormed(tools),
    messages: wellFormed(withFewerImages(messages)),
  };
}
