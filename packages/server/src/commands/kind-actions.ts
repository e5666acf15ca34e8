import {
  type Kind,
  type KindManager,
  type Managed,
  type ManagedPage,
  type Members,
  pagesOf,
  shownEntry,
} from '@grantry/administration'
import { Option } from 'commander'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { CommandAdministration } from '../opening/open-administration.ts'
import { warnOf } from '../opening/open-administration.ts'
import { sanitizeText } from '../sanitize-text.ts'
import { orConfigured } from './configured-entry.ts'
import {
  assertHas,
  type ChangeArguments,
  type CommonArguments,
  changeOf,
  details,
  json,
  jsonOfPages,
  runOnEntries,
  tableOfPages,
} from './entry-commands.ts'
import { print } from './output.ts'
import { shownRotation, shownSecret } from './shown-secret.ts'

/** An option of a command, and the member that it names. */
export type MemberOption = readonly [flags: string, description: string, member: string]

/** The differences between the commands of one kind of entries and those of other kinds. */
export interface CommandKind<T extends object> {
  readonly kind: Kind<T>
  /** Options that name members. */
  readonly options: readonly MemberOption[]
  /** The same, only for an addition. */
  readonly newOptions?: readonly MemberOption[] | undefined
  /** A change, the value of `--set`, and the content of a file. */
  readonly examples: { readonly change: string; readonly set: string; readonly file: string }
  /** The ends of the sentences that report a change. Default: a period. */
  readonly ends: {
    readonly added?: ((id: string, loaded: LoadedConfiguration) => string) | undefined
    readonly disabled?: string | undefined
    readonly removed?: string | undefined
  }
  /** Members of a new entry that are not stored, for `--json`. */
  readonly derived?: ((id: string, loaded: LoadedConfiguration) => Members) | undefined
  /** Returns the id of the entry that an argument names. Default: the argument. */
  readonly idOf?:
    | ((named: string, administration: CommandAdministration, loaded: LoadedConfiguration) => Promise<string>)
    | undefined
  /** Returns the name of an entry in sentences. Default: the id. */
  readonly nameOf?: ((entry: Managed<T>) => string) | undefined
  /** Returns the name of the entry in the sentence about its removal. Default: the id. */
  readonly removedName?: ((named: string, id: string) => string) | undefined
}

/** The arguments that commands of each kind take. Arguments for single members have names of their own. */
export interface EntryArguments extends CommonArguments, ChangeArguments {
  readonly tag?: readonly string[]
  readonly ifVersion?: string
}

const verbs = { add: 'Added', create: 'Created', remove: 'Removed', end: 'Ended' } as const

/** The name of a command that adds or removes. */
export type Verb = keyof typeof verbs

const idIn = <T extends object>({ nameOf }: CommandKind<T>, entry: Managed<T>): string => nameOf?.(entry) ?? entry.id

/** Prints an entry for programs, or a sentence. */
function report<T extends object>({ kind }: CommandKind<T>, options: CommonArguments, entry: Managed<T>, text: string) {
  print(options.json ? json(shownEntry(kind.type, entry)) : `${sanitizeText(text)}\n`)
}

/** Runs an action on one entry, which must be in the storage. */
const onEntry = <T extends object, R>(
  { kind, idOf }: CommandKind<T>,
  named: string,
  options: CommonArguments,
  act: (manager: KindManager<T>, id: string, administration: CommandAdministration) => Promise<R>,
): Promise<R> =>
  runOnEntries(options, (administration, loaded) =>
    orConfigured(kind.list, named, loaded, async () => {
      const id = (await idOf?.(named, administration, loaded)) ?? named
      return act(kind.managerOf(administration), id, administration)
    }),
  )

/** Returns the members that the options of a command name. */
function membersOf<T extends object>(of: CommandKind<T>, options: EntryArguments): Promise<Record<string, unknown>> {
  const values = options as unknown as Members
  const single = [...of.options, ...(of.newOptions ?? [])].map(
    ([flags, , member]) => [member, values[new Option(flags).attributeName()]] as const,
  )
  return changeOf(options, Object.fromEntries(single), of.examples)
}

export async function list<T extends object>(
  { kind }: CommandKind<T>,
  options: CommonArguments & { readonly prefix?: string; readonly tag?: string },
): Promise<void> {
  const pages = await runOnEntries(options, async (administration) => {
    const all: ManagedPage<T>[] = []
    const { page } = kind.managerOf(administration)
    for await (const read of pagesOf(page, { prefix: options.prefix, tag: options.tag })) all.push(read)
    return all
  })
  print(options.json ? jsonOfPages(kind.type, pages) : tableOfPages(kind, pages))
}

export const show = <T extends object>(of: CommandKind<T>, named: string, options: CommonArguments): Promise<void> =>
  onEntry(of, named, options, async (manager, id) => {
    const entry = await manager.show(id)
    print(options.json ? json(shownEntry(of.kind.type, entry)) : details(of.kind.type, entry))
  })

export async function add<T extends object>(
  of: CommandKind<T>,
  verb: Verb,
  id: string,
  options: EntryArguments & { readonly secret?: true },
): Promise<void> {
  const { kind, ends } = of
  const { type } = kind
  const value = { ...(await membersOf(of, options)), [type.idMember]: id } as T
  await runOnEntries(options, async (administration, loaded) => {
    const { entry, secret } = await kind.add(administration, value, options.tag ?? [], { withSecret: options.secret })
    warnOf(type.gaps?.(entry.value) ?? [])
    const more = { ...of.derived?.(id, loaded), ...(secret !== undefined && { secret }) }
    if (options.json) return print(json({ ...shownEntry(type, entry), ...more }))
    print(`${verbs[verb]} the ${type.noun} ${id}${ends.added?.(id, loaded) ?? '.'}\n`)
    if (secret !== undefined) print(shownSecret(secret))
  })
}

export async function edit<T extends object>(
  of: CommandKind<T>,
  named: string,
  options: EntryArguments,
): Promise<void> {
  const { noun, gaps } = of.kind.type
  const change = await membersOf(of, options)
  if (Object.keys(change).length === 0 && options.tag === undefined)
    throw new TypeError(`nothing to change; name a member, such as ${of.examples.change}`)
  const entry = await onEntry(of, named, options, async (manager, id) => {
    if (options.unset !== undefined) assertHas(`the ${noun} ${id}`, (await manager.show(id)).value, options.unset)
    return manager.edit(id, change, { version: options.ifVersion, tags: options.tag })
  })
  warnOf(gaps?.(entry.value) ?? [])
  report(of, options, entry, `Changed the ${noun} ${idIn(of, entry)}.`)
}

export async function setEnabled<T extends object>(
  of: CommandKind<T>,
  isEnabled: boolean,
  named: string,
  options: CommonArguments,
): Promise<void> {
  const { noun, switch: member } = of.kind.type
  const entry = await onEntry(of, named, options, (manager, id) => manager.edit(id, { [member]: isEnabled }))
  const end = (isEnabled ? undefined : of.ends.disabled) ?? '.'
  report(of, options, entry, `${isEnabled ? 'Enabled' : 'Disabled'} the ${noun} ${idIn(of, entry)}${end}`)
}

export async function rotateSecret<T extends object>(
  of: CommandKind<T>,
  rotate: NonNullable<Kind<T>['rotation']>['rotate'],
  named: string,
  options: CommonArguments & { readonly overlap: number },
): Promise<void> {
  const { entry, ...secrets } = await onEntry(of, named, options, (_, id, administration) =>
    rotate(administration, id, options.overlap),
  )
  print(
    options.json ? json({ ...shownEntry(of.kind.type, entry), ...secrets }) : shownRotation(secrets, options.overlap),
  )
}

export async function remove<T extends object>(
  of: CommandKind<T>,
  verb: Verb,
  named: string,
  options: CommonArguments & { readonly force?: true },
): Promise<void> {
  const { forceRemoval, type } = of.kind
  const id = await onEntry(of, named, options, async (manager, storedId, administration) => {
    await (options.force === true && forceRemoval !== undefined
      ? forceRemoval(administration, storedId)
      : manager.remove(storedId))
    return storedId
  })
  const sentence = `${verbs[verb]} the ${type.noun} ${of.removedName?.(named, id) ?? id}${of.ends.removed ?? '.'}\n`
  print(options.json ? json({ [type.idMember]: id, [verbs[verb].toLowerCase()]: true }) : sentence)
}
