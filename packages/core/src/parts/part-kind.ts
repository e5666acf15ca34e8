import * as v from 'valibot'
import { configurationObject, parseConfiguration } from '../config-schema.ts'
import { isSchema } from '../standard-schema.ts'

/**
 * The number of the contract between parts and the core: the members of parts, and what their kinds do for the core. Parts
 * can come from another copy of this package, which must have the same one.
 */
const contract = 4

/** What the functions that define parts add to them. */
export interface Defined<K extends string = string> {
  readonly kind: K
  /** How the core checks and runs parts of this kind. A program contains only the kinds of the functions that it uses. */
  readonly '~kind': object
}

/** The members of a part that its plugin provides. */
export type Members<P extends Defined> = P extends unknown ? Omit<P, keyof Defined> : never

/** A value with the name of the plugin that it belongs to. */
export interface Owned<P> {
  readonly plugin: string
  readonly part: P
}

/** All members of a type, also those of each member of a union. */
type MembersOf<P> = P extends unknown ? keyof P & string : never

/** A schema for each member of a contract: one without a schema does not compile, nor does a schema without a member. */
export type SchemasOf<P> = Readonly<Record<MembersOf<P>, v.GenericSchema>>

const objectOf = (schemas: object) => configurationObject(schemas as v.ObjectEntries, { noun: 'member' })

/** How the core checks and runs a kind of part. */
export interface PartKind<P = never, C = unknown> {
  readonly kind: string
  readonly contract: number
  /** The names of the members that parts of this kind can have. */
  readonly members: () => readonly string[]
  /** @throws TypeError with a sentence for each mistake of the part. */
  readonly assert: (owned: Owned<object>) => void
  /**
   * Returns what the parts of all plugins add to the provider.
   *
   * @throws TypeError when they contradict each other.
   */
  readonly collect: (parts: readonly Owned<P>[]) => C
}

/**
 * Defines how a kind of part is checked. A member that the schema does not know is refused, so that a misspelled one is
 * never ignored. The schemas are created when they are first needed: a bundler can then leave out a kind without use.
 *
 * @param how `name`: the member that distinguishes the parts of a plugin, for messages. `problemOf`: returns what is wrong
 * with members that are valid one by one.
 */
export function partKind<P extends Defined, C = readonly Owned<P>[]>(
  kind: P['kind'],
  how: {
    readonly title: string
    readonly name?: MembersOf<P> | undefined
    readonly schemas: () => Omit<SchemasOf<P>, keyof Defined>
    readonly problemOf?: (part: P) => string | false | undefined
    readonly collect: (parts: readonly Owned<P>[]) => C
  },
): PartKind<P, C> {
  const { title, name, problemOf = () => undefined, collect } = how
  let created: ReturnType<typeof objectOf> | undefined
  const schemaOf = () => {
    created ??= objectOf(how.schemas())
    return created
  }
  return {
    kind,
    contract,
    collect,
    members: () => Object.keys(schemaOf().entries),
    assert({ plugin, part }) {
      const { kind: _, '~kind': _kind, ...members } = part as Readonly<Record<string, unknown>>
      const called = name === undefined ? undefined : members[name]
      const what = `plugins: the ${title}${typeof called === 'string' && called !== '' ? ` ${called.slice(0, 100)}` : ''}`
      // A grant without a plugin is a plugin with the name of its grant type.
      const where = title === 'grant' && (plugin === '' || plugin === called) ? what : `${what} of ${plugin}`
      parseConfiguration(schemaOf(), members, where)
      const problem = problemOf(part as P)
      if (problem) throw new TypeError(`${where} ${problem}`)
    },
  }
}

/** Where parts of a kind come from, such as `defineGrantCheck()`. */
const sourceOf = (kind: string): string =>
  kind === 'capability'
    ? 'import it from @grantry/core'
    : `create it with define${kind.replaceAll(/(?:^|-)([a-z])/gu, (_, letter: string) => letter.toUpperCase())}()`

/**
 * Returns the kind of a part.
 *
 * @throws TypeError when the function of its kind has not defined it: its members could not be checked, and a misspelled
 * one would be ignored.
 */
export function kindIn({ plugin, part }: Owned<Defined>): PartKind {
  const { kind } = part
  const known = part['~kind'] as PartKind | undefined
  if (known?.kind !== kind) {
    throw new TypeError(`plugins: ${plugin} has a part of the kind ${kind} that is a plain object; ${sourceOf(kind)}`)
  }
  if (known.contract !== contract) {
    throw new TypeError(
      `plugins: ${plugin} has a part of the kind ${kind} from an incompatible version of @grantry/core; install only one version of it`,
    )
  }
  return known
}

/** The schema of an object in a part. */
export const memberObject = <P>(schemas: SchemasOf<P>) => objectOf(schemas)

/** A function that the part must have. */
export const required = () =>
  v.custom<(...parameters: never[]) => unknown>((value) => typeof value === 'function', 'must be a function')

/** A member that is `true`, `false` or absent. */
export const flag = () => v.optional(v.boolean('must be true or false'))

/** A flag that is set or absent. */
export const mark = () => v.optional(v.literal(true, 'must be true, or absent'))

/** One of several values. */
export const oneOf = (...values: readonly (string | number)[]) =>
  v.picklist(values, `must be one of ${values.join(', ')}`)

/** Text of a form. */
export const text = (form: RegExp, message: string) => v.pipe(v.string(message), v.regex(form, message))

/** What a plugin checks the parameters of its requests with. */
export const parameters = () => v.custom(isSchema, 'must be a Standard Schema, such as v.object()')

/**
 * Returns the parts by the name that each claims; a part can claim none.
 *
 * @throws TypeError when two parts claim the same name. The message contains the names of both plugins.
 */
export function byClaim<P>(
  parts: readonly Owned<P>[],
  what: string,
  claimOf: (part: P) => string | undefined,
): ReadonlyMap<string, Owned<P>> {
  const claimed = new Map<string, Owned<P>>()
  for (const owned of parts) {
    const claim = claimOf(owned.part)
    if (claim === undefined) continue
    const earlier = claimed.get(claim)
    if (earlier !== undefined) {
      throw new TypeError(
        `plugins: ${earlier.plugin} and ${owned.plugin} both provide ${what} ${claim}; remove one of them`,
      )
    }
    claimed.set(claim, owned)
  }
  return claimed
}
