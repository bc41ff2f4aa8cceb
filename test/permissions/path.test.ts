import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { matchesPath } from '../../src/permissions/path.ts';
import { file, situation, WORKSPACE } from './situation.ts';

describe('path', () => {
  test('patterns agree with their definition', () => {
    const segments = (...names: string[]) =>
      fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        segments('a', 'ab', '*', '**', 'a*', '*b', '?', 'a**b', '*a*'),
        segments('a', 'ab', 'b', 'ba', 'aab'),
        (pattern, path) => {
          const matches = matchesPath(`//${pattern.join('/')}`, `/${path.join('/')}`, WORKSPACE);
          expect(matches).toBe(isBelowMatch(pattern, path));
        },
      ),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['many stars in one name', `//${'*a'.repeat(500)}b`, `/${'a'.repeat(4000)}`],
    ['many stars across directories', `//${'**/a/'.repeat(200)}b`, `/${'a/'.repeat(2000)}c`],
    ['a name at any depth', `*${'a*'.repeat(500)}b`, `/w/${'a'.repeat(4000)}`],
  ])('a pattern that makes a regular expression backtrack: %s', (_, pattern, path) => {
    expect(matchesPath(pattern, path, WORKSPACE)).toBe(false);
  });

  /** Paths below a match match, too; `**` at the end is at least one name. */
  function isBelowMatch(pattern: readonly string[], path: readonly string[]): boolean {
    const [head, ...rest] = pattern;
    if (head === undefined) return true;
    if (head === '**' && rest.length === 0) return path.length > 0;
    if (head === '**' && isBelowMatch(rest, path)) return true;
    const [name, ...below] = path;
    if (name === undefined) return false;
    if (head === '**') return isBelowMatch(pattern, below);
    return matchesName(head, name) && isBelowMatch(rest, below);
  }

  function matchesName(pattern: string, name: string): boolean {
    if (pattern === '') return name === '';
    if (pattern.startsWith('*')) {
      return matchesName(pattern.slice(1), name) || (name !== '' && matchesName(pattern, name.slice(1)));
    }
    const isSame = name !== '' && (pattern.startsWith('?') || pattern[0] === name[0]);
    return isSame && matchesName(pattern.slice(1), name.slice(1));
  }
});

describe('protected path', () => {
  const decisions = (paths: readonly string[]) =>
    Object.fromEntries(
      paths.map((path) => [path, decide(situation(file('Write', path), { mode: 'acceptEdits' })).kind]),
    );

  test('mode acceptEdits asks before it changes protected files', () => {
    const paths = [
      ...['.git/hooks/pre-push', '.gitconfig', '.gitmodules', 'lib/.gitattributes', '.husky/pre-commit'],
      ...['.githooks/pre-push', '.pre-commit-config.yaml', 'lefthook.yml', '.lintstagedrc.json'],
      ...['.claude/settings.json', '.toolplane/settings.json', '.mcp.json', '.cursor/mcp.json'],
      ...['.vscode/tasks.json', '.idea/workspace.xml', 'a.code-workspace', '.devcontainer/devcontainer.json'],
      ...['.vimrc', '.exrc', '.nvim.lua', '.dir-locals.el', '.gdbinit', '.lldbinit'],
      ...[
        '.bashrc',
        '.bash_profile',
        '.profile',
        '.zshrc',
        '.zshenv',
        '.zprofile',
        '.config/fish/config.fish',
      ],
      ...['.envrc', 'packages/a/.envrc', '.direnv/bin/x', '.config/fish/conf.d/a.fish', '.ssh/config'],
      ...[
        '.npmrc',
        'packages/a/.npmrc',
        '.yarnrc.yml',
        '.yarn/releases/yarn.cjs',
        '.pnpmfile.cjs',
        '.pnp.cjs',
      ],
      ...['.cargo/config.toml', 'rust-toolchain.toml', 'pip.conf', '.mvn/extensions.xml', 'bunfig.toml'],
      ...['.tool-versions', 'mise.toml', '.mise.toml', 'node_modules/.bin/tsc', '.venv/bin/python'],
      ...['sitecustomize.py', 'src/usercustomize.py', 'a/x.pth', '.pythonrc', '.Rprofile', '.ripgreprc'],
      ...[
        '.github/workflows/ci.yml',
        '.github/actions/a/action.yml',
        '.gitlab-ci.yml',
        '.circleci/config.yml',
      ],
      ...['.gitea/workflows/a.yml', '.travis.yml', 'azure-pipelines.yml', 'Jenkinsfile'],
      ...['lefthook.toml', 'lefthook.json', '.kiro/settings/mcp.json', 'opencode.json', '.aider.conf.yml'],
      // Names that some file systems treat as the same.
      ...['.NPMRC', '.GitHub/Workflows/ci.yml', '.n\u200bpmrc', '.ｅnvrc'],
    ];
    expect(decisions(paths)).toEqual(Object.fromEntries(paths.map((path) => [path, 'ask'])));
  });

  test('mode acceptEdits allows ordinary files', () => {
    const paths = [
      ...['src/a.ts', 'package.json', 'package-lock.json', 'Makefile', 'Dockerfile', 'docker-compose.yml'],
      ...['tsconfig.json', 'vite.config.ts', '.eslintrc.cjs', '.prettierrc', '.editorconfig', '.gitignore'],
      ...['.dockerignore', '.nvmrc', '.env.example', '.env', 'pyproject.toml', 'setup.py', 'conftest.py'],
      ...['Cargo.toml', 'build.rs', 'go.mod', 'pom.xml', 'build.gradle', 'gradle.properties', 'flake.nix'],
      ...['README.md', 'CLAUDE.md', 'AGENTS.md', '.github/CODEOWNERS', '.github/ISSUE_TEMPLATE/bug.md'],
      ...[
        '.github/dependabot.yml',
        'docs/workflows/ci.md',
        'workflows/a.ts',
        'git/a.ts',
        'profile',
        'login.ts',
      ],
      ...['src/npmrc.ts', 'config/fish.json', 'lib/library/index.ts', 'scripts/deploy.sh', 'bin/run'],
      ...[
        'pnpm-workspace.yaml',
        'lerna.json',
        '.storybook/main.ts',
        '.changeset/a.md',
        'public/.well-known/x',
      ],
    ];
    expect(decisions(paths)).toEqual(Object.fromEntries(paths.map((path) => [path, 'allow'])));
  });
});
