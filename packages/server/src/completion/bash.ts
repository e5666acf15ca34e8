import type { SuggestedCommand } from './command-tree.ts'
import { keyOf, quoted } from './quoted.ts'

const line = (key: string, words: readonly string[]): string =>
  `    ${quoted(key)}) printf '%s\\n' ${words.map(quoted).join(' ')} ;;`

/** The words that can follow a command, and the values of its options. */
function linesOf({ path, commands, options }: SuggestedCommand): readonly string[] {
  const key = keyOf(path)
  const values = options.flatMap(({ long, short, value }) =>
    Array.isArray(value)
      ? [long, short].flatMap((name) => (name === undefined ? [] : [line(`${key} ${name}`, value)]))
      : [],
  )
  return [line(key, [...commands.map(({ word }) => word), ...options.map(({ long }) => long)]), ...values]
}

/** The options that are followed by a text, or by a file: bash then completes the names of files. */
const withText = (commands: readonly SuggestedCommand[]): readonly string[] => [
  ...new Set(
    commands.flatMap(({ options }) =>
      options.flatMap(({ long, short, value }) =>
        value === 'text' || value === 'file' ? [long, ...(short === undefined ? [] : [short])] : [],
      ),
    ),
  ),
]

export const bashCompletion = (commands: readonly SuggestedCommand[]): string => `\
# Completion of grantry for bash. Load it with: source <(grantry completion bash)
_grantry_words() {
  case "$1" in
${commands.flatMap(linesOf).join('\n')}
  esac
}
_grantry() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) [ -z "$(_grantry_words "$path $word")" ] || path="$path $word" ;;
    esac
  done
  COMPREPLY=()
  case "$before" in
    -*) words=$(_grantry_words "$path $before") ;;
  esac
  if [ -z "$words" ]; then
    case "$before" in
      ${withText(commands).join('|')}) return ;;
    esac
    words=$(_grantry_words "$path")
    # Options only after a dash, so that names of files can be completed.
    case "$current" in
      -*) ;;
      *) words=$(printf '%s\\n' "$words" | grep -v '^-') ;;
    esac
  fi
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _grantry grantry
`
