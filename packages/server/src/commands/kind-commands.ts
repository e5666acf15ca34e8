import type { Command } from 'commander'
import { configOption } from '../opening/command-options.ts'
import type { CommonArguments } from './entry-commands.ts'
import {
  add,
  type CommandKind,
  type EntryArguments,
  edit,
  list,
  type MemberOption,
  remove,
  rotateSecret,
  setEnabled,
  show,
  type Verb,
} from './kind-actions.ts'
import { withOverlap } from './shown-secret.ts'

export interface CommandGroup {
  /** Returns the new command. */
  readonly command: (name: string, description: string) => Command
  /** The same with an argument that names an entry. */
  readonly ofEntry: (name: string, description: string) => Command
}

/** Returns functions that add commands to a group. @param argument names an entry */
export function groupCommands(
  group: Command,
  argument: readonly [flags: string, description: string],
  withCommon: (command: Command) => Command = (command) => command,
): CommandGroup {
  const command = (name: string, description: string): Command =>
    withCommon(group.command(name).description(description))
      .option(...configOption)
      .option('--json', 'print JSON')
  return { command, ofEntry: (name, description) => command(name, description).argument(...argument) }
}

/** Adds options that name members, and labels. */
export function withMembers(command: Command, options: readonly MemberOption[], setExample: string): Command {
  for (const [flags, description] of options) command.option(flags, description)
  return command
    .option('--set <member=json...>', `any member, such as ${setExample}`)
    .option('--file <file>', 'members as a JSON object; - reads standard input')
    .option('--tag <labels...>', 'labels, to find it by')
}

/** Adds the options of all commands that change members. */
export const withChanges = (command: Command, group: string): Command =>
  command
    .option('--unset <members...>', 'members to remove, which then have their defaults')
    .option('--if-version <version>', `only if this is its current version, as shown by grantry ${group} show`)

/** Adds the options that select entries of a list. @param ids the placeholder of an id in the help, such as `NAME` */
export const withFilter = (command: Command, ids: string): Command =>
  command
    .option('--prefix <text>', `only those whose ${ids.toLowerCase()}s start with it`)
    .option('--tag <label>', 'only those with this label')

/** Returns functions that add the usual commands of a kind, each with its description. */
export function entryCommands<T extends object>(of: CommandKind<T>, { command, ofEntry }: CommandGroup) {
  const { heading, list: group, forceRemoval, rotation } = of.kind
  const members = (created: Command): Command => withMembers(created, of.options, of.examples.set)
  const turn = (name: string, description: string, isEnabled: boolean): Command =>
    ofEntry(name, description).action((id: string, options: CommonArguments) => setEnabled(of, isEnabled, id, options))
  return {
    list: (description: string): Command =>
      withFilter(command('list', description), heading).action((options: CommonArguments) => list(of, options)),
    show: (description: string): Command =>
      ofEntry('show', description).action((id: string, options: CommonArguments) => show(of, id, options)),
    add(description: string, verb: Verb = 'add'): Command {
      const created = members(ofEntry(verb, description))
      for (const [flags, text] of of.newOptions ?? []) created.option(flags, text)
      return created.action((id: string, options: EntryArguments) => add(of, verb, id, options))
    },
    edit: (description: string): Command =>
      withChanges(members(ofEntry('edit', description)), group).action((id: string, options: EntryArguments) =>
        edit(of, id, options),
      ),
    disable: (description: string): Command => turn('disable', description, false),
    enable: (description: string): Command => turn('enable', description, true),
    rotateSecret(): void {
      if (rotation === undefined) throw new TypeError(`${group} have no secrets`)
      const text = 'add a new secret, which is shown once, and let the earlier ones end'
      withOverlap(ofEntry('rotate-secret', text)).action(
        (id: string, options: CommonArguments & { readonly overlap: number }) =>
          rotateSecret(of, rotation.rotate, id, options),
      )
    },
    remove(description: string, verb: Verb = 'remove'): Command {
      const created = ofEntry(verb, description)
      if (forceRemoval !== undefined) created.option('--force', 'although clients in the storage have it')
      return created.action((id: string, options: CommonArguments) => remove(of, verb, id, options))
    },
  }
}
