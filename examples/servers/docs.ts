// A documentation server for `toolplane serve` (stdio).
import { toolServer } from 'toolplane';
import { z } from 'zod';

const PAGES: Readonly<Record<string, string>> = {
  'getting started': 'Install the package, write a tool, hand it to an agent.',
  'deploying a service': 'Deployments go through the deploy server: trigger one, then watch its status.',
  'writing tools': 'A tool is a function with a name, a description and a schema.',
};

export default toolServer('docs')
  .tool(
    'search',
    'Search the documentation',
    { query: z.string() },
    ({ query }) => {
      const words = query.toLowerCase().split(/\W+/);
      const found = Object.keys(PAGES).filter((title) =>
        words.some((word) => word.length > 2 && `${title} ${PAGES[title]}`.toLowerCase().includes(word)),
      );
      return found.length > 0 ? `Pages: ${found.join('; ')}` : `No page about "${query}"`;
    },
    { annotations: { readOnlyHint: true } },
  )
  .tool(
    'get_page',
    'Read one page by its title',
    { title: z.string() },
    ({ title }) => PAGES[title.toLowerCase()] ?? new Error(`There is no page "${title}"`),
    { annotations: { readOnlyHint: true } },
  );
