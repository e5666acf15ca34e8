import type { SuggestedCommand } from './command-tree.ts'
import { keyOf, quoted } from './quoted.ts'

/** A word with its description. A colon separates them. */
const described = (word: string, description: string): string =>
  quoted(`${word.replaceAll(':', '\\:')}:${description.replaceAll(':', '\\:')}`)

function linesOf({ path, commands, options }: SuggestedCommand): readonly string[] {
  const key = keyOf(path)
  const line = (name: string, words: readonly string[]): string => `    ${quoted(name)}) found=(${words.join(' ')}) ;;`
  const values = options.flatMap(({ long, short, value }) => {
    const words = Array.isArray(value) ? value.map((word) => described(word, '')) : value === 'none' ? undefined : []
    return [long, short].flatMap((name) =>
      name === undefined || words === undefined ? [] : [line(`${key} ${name}`, words)],
    )
  })
  const all = [
    ...commands.map(({ word, description }) => described(word, description)),
    ...options.map(({ long, description }) => described(long, description)),
  ]
  return [line(key, all), ...values]
}

export const zshCompletion = (commands: readonly SuggestedCommand[]): string => `\
#compdef grantry
# Completion of grantry for zsh. Load it with: source <(grantry completion zsh)
_grantry_words() {
  found=(none)
  case "$1" in
${commands.flatMap(linesOf).join('\n')}
    *) return 1 ;;
  esac
}
_grantry() {
  local prefix='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" = -* ]] || { _grantry_words "$prefix $word" && prefix="$prefix $word" }
  done
  if [[ "\${words[CURRENT-1]}" = -* ]] && _grantry_words "$prefix \${words[CURRENT-1]}"; then
    if (( \${#found} )); then _describe value found; else _files; fi
    return
  fi
  _grantry_words "$prefix"
  # Options only after a dash, so that names of files can be completed.
  [[ "\${words[CURRENT]}" = -* ]] || found=("\${(@)found:#-*}")
  if (( \${#found} )); then _describe command found; else _files; fi
}
compdef _grantry grantry
`
