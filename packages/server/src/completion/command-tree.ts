import type { Command, Option } from 'commander'

/** A word that can follow. */
export interface Suggestion {
  readonly word: string
  readonly description: string
}

export interface SuggestedOption {
  /** With its dashes; the short one is absent if there is none. */
  readonly long: string
  readonly short?: string | undefined
  readonly description: string
  /** The kind of value that follows the option. */
  readonly value: 'none' | 'text' | 'file' | readonly string[]
}

/** A command, and what can follow its name. */
export interface SuggestedCommand {
  /** The words from the program to it, such as `['clients', 'add']`; empty for the program. */
  readonly path: readonly string[]
  readonly commands: readonly Suggestion[]
  readonly options: readonly SuggestedOption[]
  /** Whether its argument is a file. */
  readonly takesFile: boolean
}

const isFile = (name: string): boolean => /file|dir/iu.test(name)

/** The first clause of a description: completions are one line. */
const shortened = (description: string): string => (description.split(/[;(]/u, 1)[0] ?? '').trim()

function valueKindOf({ argChoices, required, optional, flags }: Option): SuggestedOption['value'] {
  if (argChoices !== undefined) return argChoices
  if (!required && !optional) return 'none'
  return isFile(/[<[]([^>\]]*)/u.exec(flags)?.[1] ?? '') ? 'file' : 'text'
}

const help: SuggestedOption = { long: '--help', short: '-h', description: 'show the help', value: 'none' }

/** Returns a command and all commands below it. */
export function commandTree(command: Command, path: readonly string[] = []): readonly SuggestedCommand[] {
  const visible = command.commands.filter((each) => each.name() !== 'help')
  const options = command.options.flatMap((option): readonly SuggestedOption[] =>
    option.hidden || option.long == null
      ? []
      : [
          {
            long: option.long,
            short: option.short ?? undefined,
            description: shortened(option.description),
            value: valueKindOf(option),
          },
        ],
  )
  const suggested: SuggestedCommand = {
    path,
    commands: visible.map((each) => ({ word: each.name(), description: shortened(each.description()) })),
    options: [...options, help],
    takesFile: command.registeredArguments.some((argument) => isFile(argument.name())),
  }
  return [suggested, ...visible.flatMap((each) => commandTree(each, [...path, each.name()]))]
}
