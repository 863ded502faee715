/**
 * The scripts of `dock completion`. Names of Docks come from other people and reach a shell here: no script evaluates them,
 * and what is inserted into the line is quoted.
 */

const bash = `# Completion of dock for bash: eval "$(dock completion bash)"
_dock() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <(dock __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
  [[ \${#COMPREPLY[@]} -ne 1 || \${COMPREPLY[0]} != *: ]] || compopt -o nospace
}
complete -o default -F _dock dock
`

const zsh = `#compdef dock
# Completion of dock for zsh: eval "$(dock completion zsh)"
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
_dock() {
  local -a found
  found=("\${(@f)$(dock __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  if [[ -z "\${found[1]}" ]]; then
    _files
  elif [[ "\${found[1]}" == *: ]]; then
    compadd -S '' -a found
  else
    compadd -a found
  fi
}
compdef _dock dock
`

const fish = `# Completion of dock for fish: dock completion fish | source
function __dock_complete
  set -l words (commandline -opc)
  set -l found (dock __complete -- $words[2..-1] "$(commandline -ct)" 2>/dev/null </dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c dock -f -a '(__dock_complete)'
`

export const completionScripts: Readonly<Record<string, string>> = { bash, zsh, fish }
