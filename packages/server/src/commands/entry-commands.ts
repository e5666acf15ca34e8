import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import {
  type EntryType,
  type Kind,
  listText,
  type Managed,
  type ManagedPage,
  shownEntry,
} from '@grantry/administration'
import { inexactNumber, inexactNumberIn, isJsonObject, parseJsonText, quotableName } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { parseJson } from '../configuration/parse-json.ts'
import { errorMessage, fileErrorReason } from '../error-message.ts'
import { type CommandAdministration, withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText } from '../sanitize-text.ts'
import { table } from './output.ts'

/** The options of every command that changes entries. */
export interface CommonArguments {
  readonly config?: string
  readonly json?: true
}

/** Options that name members of an entry. */
export interface ChangeArguments {
  readonly file?: string
  readonly set?: readonly string[]
  readonly unset?: readonly string[]
}

export const json = (value: unknown): string => `${jsonText(value)}\n`

/** Runs an action with the administration of the storage of a configuration. */
export async function runOnEntries<T>(
  { config }: CommonArguments,
  act: (administration: CommandAdministration, loaded: LoadedConfiguration) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'change the clients, scopes and users in the configuration')
  return withAdministration(loaded, (administration) => act(administration, loaded))
}

/** Shows the end of a secret, which is in seconds since the epoch, as a time. */
const withTime = (member: string, value: unknown): unknown =>
  member === 'expiresAt' && typeof value === 'number' ? new Date(value * 1000).toISOString() : value

/** Returns the members of an entry, one per line. */
export const details = <T extends object>(type: EntryType<T>, entry: Managed<T>): string =>
  table(
    Object.entries(shownEntry(type, entry)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value, withTime),
    ]),
  )

/**
 * @param noun what `unset` names, with a space, such as `claim `
 * @throws TypeError if `unset` names a member that the entry does not have
 */
export function assertHas(called: string, present: object, unset: readonly string[] = [], noun = ''): void {
  const missing = unset.find((name) => !Object.hasOwn(present, name))
  if (missing === undefined) return
  throw new TypeError(`${called} has no ${noun}${missing}; it has ${Object.keys(present).join(', ') || 'none'}`)
}

/** Returns entries as JSON, and the ids of those that cannot be read. */
export function jsonOfPages<T extends object>(type: EntryType<T>, pages: readonly ManagedPage<T>[]): string {
  const shown = pages.flatMap(({ entries }) => entries.map((entry) => shownEntry(type, entry)))
  const unreadable = pages.flatMap((page) => page.unreadable)
  return json([...shown, ...unreadable.map((id) => ({ [type.idMember]: id, unreadable: true }))])
}

/** Returns entries as a table. */
export function tableOfPages<T extends object>(
  { type, heading, columns }: Kind<T>,
  pages: readonly ManagedPage<T>[],
): string {
  const headings = [heading, 'STATE', ...columns.map(([name]) => name), 'TAGS', 'CHANGED']
  const rowOf = (entry: Managed<T>): readonly string[] => [
    entry.id,
    type.isEnabled(entry.value) ? 'enabled' : 'disabled',
    ...columns.map(([, textOf]) => textOf(entry)),
    listText(entry.tags),
    entry.changedAt,
  ]
  const rows = pages.flatMap(({ entries }) => entries.map(rowOf))
  const empty = headings.slice(2).map(() => '-')
  const unreadable = pages.flatMap((page) => page.unreadable.map((id) => [id, 'unreadable', ...empty]))
  return table([headings, ...rows, ...unreadable])
}

/** @param example such as `accessTokenLifetime=600` */
function memberOf(assignment: string, example: string): [name: string, value: unknown] {
  const at = assignment.indexOf('=')
  const [name, value] = [assignment.slice(0, at), assignment.slice(at + 1)]
  if (at < 1) throw new TypeError(`--set takes a member and its value in JSON, such as ${example}`)
  let parsed: unknown
  try {
    parsed = parseJsonText(value)
  } catch {
    throw new TypeError(`--set ${name}: the value is not JSON; write text in quotes, such as '${name}="text"'`)
  }
  if (inexactNumberIn(parsed) !== undefined)
    throw new TypeError(`--set ${name}: the value has one that ${inexactNumber}`)
  return [name, parsed]
}

/** Reads members of an entry from a file, or from standard input. */
async function membersIn(file: string, example: string): Promise<Record<string, unknown>> {
  const isInput = file === '-'
  const called = isInput ? 'standard input' : file
  const content = await (isInput ? readAll(process.stdin) : readFile(file, 'utf8')).catch((cause: unknown) => {
    throw new TypeError(`cannot read ${called} (${fileErrorReason(cause)})`, { cause })
  })
  let members: unknown
  try {
    // The message of JSON.parse() would quote the file, which can have a secret.
    members = await parseJson(content, 'any')
  } catch (cause) {
    throw new TypeError(`${called} is not JSON: ${errorMessage(cause)}`, { cause })
  }
  const inexact = inexactNumberIn(members)
  if (inexact !== undefined) throw new TypeError(`${called}: ${quotableName(inexact)} ${inexactNumber}`)
  if (isJsonObject(members)) return members as Record<string, unknown>
  throw new TypeError(`${called} must be an object with members, such as ${example}`)
}

/**
 * Returns the members that the options of a command name, in this order: the file, options for single members, `--set`,
 * `--unset`.
 *
 * @param examples of `--set`, and of a file
 */
export async function changeOf(
  { file, set = [], unset = [] }: ChangeArguments,
  single: Readonly<Record<string, unknown>>,
  examples: { readonly set: string; readonly file: string },
): Promise<Record<string, unknown>> {
  return {
    ...(file !== undefined && (await membersIn(file, examples.file))),
    ...Object.fromEntries(Object.entries(single).filter(([, value]) => value !== undefined)),
    ...Object.fromEntries(set.map((assignment) => memberOf(assignment, examples.set))),
    ...Object.fromEntries(unset.map((member) => [member, undefined])),
  }
}
