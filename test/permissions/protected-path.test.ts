import { expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { file, situation } from './situation.ts';

const decisions = (paths: readonly string[]) =>
  Object.fromEntries(
    paths.map((path) => [path, decide(situation(file('Write', path), { mode: 'acceptEdits' })).kind]),
  );

test('mode acceptEdits asks before it changes what runs without the project being run', () => {
  const paths = [
    ...['.git/hooks/pre-push', '.gitconfig', '.gitmodules', 'lib/.gitattributes', '.husky/pre-commit'],
    ...['.githooks/pre-push', '.pre-commit-config.yaml', 'lefthook.yml', '.lintstagedrc.json'],
    ...['.claude/settings.json', '.toolplane/settings.json', '.mcp.json', '.cursor/mcp.json'],
    ...['.vscode/tasks.json', '.idea/workspace.xml', 'a.code-workspace', '.devcontainer/devcontainer.json'],
    ...['.vimrc', '.exrc', '.nvim.lua', '.dir-locals.el', '.gdbinit', '.lldbinit'],
    ...['.bashrc', '.bash_profile', '.profile', '.zshrc', '.zshenv', '.zprofile', '.config/fish/config.fish'],
    ...['.envrc', 'packages/a/.envrc', '.direnv/bin/x', '.config/fish/conf.d/a.fish', '.ssh/config'],
    ...['.npmrc', 'packages/a/.npmrc', '.yarnrc.yml', '.yarn/releases/yarn.cjs', '.pnpmfile.cjs', '.pnp.cjs'],
    ...['.cargo/config.toml', 'rust-toolchain.toml', 'pip.conf', '.mvn/extensions.xml', 'bunfig.toml'],
    ...['.tool-versions', 'mise.toml', '.mise.toml', 'node_modules/.bin/tsc', '.venv/bin/python'],
    ...['sitecustomize.py', 'src/usercustomize.py', 'a/x.pth', '.pythonrc', '.Rprofile', '.ripgreprc'],
    ...['.github/workflows/ci.yml', '.github/actions/a/action.yml', '.gitlab-ci.yml', '.circleci/config.yml'],
    ...['.gitea/workflows/a.yml', '.travis.yml', 'azure-pipelines.yml', 'Jenkinsfile'],
    ...['lefthook.toml', 'lefthook.json', '.kiro/settings/mcp.json', 'opencode.json', '.aider.conf.yml'],
    // What file systems take for the same name.
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
    ...['pnpm-workspace.yaml', 'lerna.json', '.storybook/main.ts', '.changeset/a.md', 'public/.well-known/x'],
  ];
  expect(decisions(paths)).toEqual(Object.fromEntries(paths.map((path) => [path, 'allow'])));
});
