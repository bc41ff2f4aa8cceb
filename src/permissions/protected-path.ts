import { absolutePath, type Workspace } from './path.ts';

/**
 * Whether a shell, an editor, git, a package manager, a CI service or an agent runs or obeys the file without being told
 * to run this project. Mode `acceptEdits` does not cover such files. Sources and build files (`package.json`, `Makefile`)
 * are ordinary: they run when somebody builds the project.
 */
export function isProtectedPath(path: string, workspace: Workspace): boolean {
  const parts = absolutePath(path, workspace).split('/').map(asFileSystemsCompare);
  const name = parts.at(-1) ?? '';
  return (
    parts.some((part) => NAMES.has(part)) ||
    parts.some((part, index) => FOLDERS_IN.get(part)?.has(parts[index + 1] ?? '')) ||
    NAME_PATTERN.test(name)
  );
}

/** Some file systems ignore case, compatibility forms and invisible characters. */
function asFileSystemsCompare(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

const words = (text: string) => text.trim().split(/\s+/);

/** Names of files, and of directories with all that is in them. */
const NAMES: ReadonlySet<string> = new Set([
  // agents
  ...words('.claude .claude.json .toolplane .mcp.json .cursor .codex .gemini .windsurf'),
  ...words('.aider.conf.yml .continue .kiro .opencode opencode.json .roo'),
  // version control and its hooks
  ...words('.git .gitconfig .gitmodules .gitattributes .hg .hgrc .svn .jj .husky .huskyrc .githooks'),
  ...words('.pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml'),
  ...words('lefthook.toml lefthook.json .lefthook.toml .lefthook.json'),
  ...words('.lefthook.yaml .lefthook .overcommit.yml .simple-git-hooks.json .simple-git-hooks.cjs'),
  // editors and debuggers
  ...words('.vscode .idea .zed .fleet .devcontainer .devcontainer.json .dir-locals.el .emacs .emacs.d .vim'),
  ...words('.vimrc .gvimrc .exrc .lvimrc .nvimrc .nvim.lua .gdbinit .gdbearlyinit .lldbinit .pdbrc'),
  // shells, terminals and sessions
  ...words('.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile'),
  ...words('.zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc config.fish profile.ps1'),
  ...words(
    'microsoft.powershell_profile.ps1 .envrc .direnv .direnvrc .tmux.conf .screenrc .xinitrc .xprofile',
  ),
  ...words('.xsession .xsessionrc .pam_environment .ssh .crontab'),
  // package managers, version managers and what they install
  ...words(
    '.npmrc .yarnrc .yarnrc.yml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js',
  ),
  ...words('bunfig.toml .cargo rust-toolchain rust-toolchain.toml .bundle .gemrc pip.conf pip.ini uv.toml'),
  ...words('.condarc .mvn nuget.config .tool-versions .mise mise.toml .mise.toml mise.local.toml'),
  ...words('.mise.local.toml .asdfrc node_modules .venv site-packages'),
  // interpreters and command line programs
  ...words('sitecustomize.py usercustomize.py .pythonrc .pythonrc.py .pythonstartup .irbrc .pryrc .rprofile'),
  ...words('.renviron .iex.exs .ghci .psqlrc .sqliterc .ripgreprc .curlrc .wgetrc'),
  // CI
  ...words('.gitlab-ci.yml .gitlab-ci.yaml .circleci .buildkite .travis.yml .drone.yml .woodpecker'),
  ...words('.woodpecker.yml .woodpecker.yaml .cirrus.yml .semaphore .teamcity .tekton .appveyor.yml'),
  ...words('appveyor.yml azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml jenkinsfile'),
]);

/** Directories and files that are protected only in a directory of that name. */
const FOLDERS_IN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['.github', new Set(['workflows', 'actions'])],
  ['.gitea', new Set(['workflows', 'actions'])],
  ['.forgejo', new Set(['workflows', 'actions'])],
  ['.gitlab', new Set(['ci'])],
  ['gradle', new Set(['wrapper'])],
  ['.gradle', new Set(['init.d', 'init.gradle', 'gradle.properties'])],
  [
    '.config',
    new Set(
      words(
        'autostart direnv environment.d fish git mise nushell nvim pip powershell systemd uv zsh mise.toml',
      ),
    ),
  ],
  ['.local', new Set(['bin'])],
  ['library', new Set(['launchagents', 'launchdaemons'])],
]);

const NAME_PATTERN = /(?:\.pth|\.code-workspace|\.sublime-project)$|^\.lintstagedrc/;
