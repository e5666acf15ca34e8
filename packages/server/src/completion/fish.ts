import type { SuggestedCommand, SuggestedOption } from './command-tree.ts'
import { keyOf, quotedForFish as quoted } from './quoted.ts'

const valueFlags = (value: SuggestedOption['value']): string => {
  if (value === 'none') return ''
  return value === 'file' ? ' -r -F' : value === 'text' ? ' -x' : ` -x -a ${quoted(value.join(' '))}`
}

function linesOf({ path, commands, options, takesFile }: SuggestedCommand): readonly string[] {
  const start = `complete -c grantry -n ${quoted(`__grantry_is ${quoted(keyOf(path))}`)}`
  return [
    ...(takesFile ? [`${start} -F`] : []),
    ...commands.map(({ word, description }) => `${start} -a ${quoted(word)} -d ${quoted(description)}`),
    ...options.map(({ long, short, description, value }) => {
      const letter = short === undefined ? '' : ` -s ${short.slice(1)}`
      return `${start} -l ${long.slice(2)}${letter}${valueFlags(value)} -d ${quoted(description)}`
    }),
  ]
}

export const fishCompletion = (commands: readonly SuggestedCommand[]): string => `\
# Completion of grantry for fish. Load it with: grantry completion fish | source
set -g __grantry_paths ${commands.map(({ path }) => quoted(keyOf(path))).join(' ')}
function __grantry_is
    set -l path ''
    for word in (commandline -opc)[2..]
        if contains -- "$path $word" $__grantry_paths
            set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end
complete -c grantry -f
${commands.flatMap(linesOf).join('\n')}
`
