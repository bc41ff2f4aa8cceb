export type Shell = 'bash' | 'zsh' | 'fish';

/** The files of a shell are its own affair: a line of this kind asks for them. */
export const FILES = ':files';
export const DIRECTORIES = ':directories';

/** What each shell runs. All of them ask the program what may come next, so that there is one place that knows. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // "=" parts words in bash; the program puts them together again. bash 3 has no compopt.
  bash: `# bash completion of toolplane; made by: toolplane completion bash
_toolplane() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line word
  [[ $current == '=' ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      ${FILES})
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current") ;;
      ${DIRECTORIES})
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current") ;;
      *)
        printf -v word %q "\${line%%$'\\t'*}"
        COMPREPLY+=("$word") ;;
    esac
  done < <("\${COMP_WORDS[0]}" completion --words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _toolplane toolplane
`,
  // Between double quotes zsh knows no $'\\t'; a colon parts a word from what it means.
  zsh: `#compdef toolplane
# zsh completion of toolplane; made by: toolplane completion zsh
_toolplane() {
  local line word tab=$'\\t'
  local -a found
  local files=no directories=no
  for line in "\${(@f)$("\${words[1]}" completion --words -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      ('') ;;
      (${FILES}) files=yes ;;
      (${DIRECTORIES}) directories=yes ;;
      (*)
        word=\${line%%$tab*}
        word=\${word//:/\\\\:}
        found+=("\${word}:\${line#*$tab}") ;;
    esac
  done
  (( \${#found} )) && _describe -t words 'toolplane' found
  [[ $files == yes ]] && _files
  [[ $directories == yes ]] && _files -/
  return 0
}
if [[ "\${funcstack[1]}" == _toolplane ]]; then
  _toolplane "$@"
else
  compdef _toolplane toolplane
fi
`,
  fish: `# fish completion of toolplane; made by: toolplane completion fish
function __toolplane_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    for line in (command $program completion --words -- $before "$current" 2>/dev/null)
        switch $line
            case '${FILES}'
                __fish_complete_path "$current"
            case '${DIRECTORIES}'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c toolplane -f -a '(__toolplane_words)'
`,
};
