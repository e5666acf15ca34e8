import * as v from 'valibot'
import { configurationObject, parseConfiguration } from '../config-schema.ts'
import { isSchema } from './declared-parameters.ts'

/** A value with the name of the plugin that it belongs to. */
export interface Owned<P> {
  readonly plugin: string
  readonly part: P
}

/** All members of a type, also those of each member of a union. */
type MembersOf<P> = P extends unknown ? keyof P & string : never

/** A schema for each member of a contract: one without a schema does not compile, nor does a schema without a member. */
export type SchemasOf<P> = Readonly<Record<MembersOf<P>, v.GenericSchema>>

/** How a kind of part is checked at startup. */
export interface PartKind {
  readonly schema: v.GenericSchema & { readonly entries: v.ObjectEntries }
  /** @throws TypeError with a sentence for each mistake of the part. */
  assert(owned: Owned<object>): void
}

/**
 * Defines how a kind of part is checked. A member that the schema does not know is refused, so that a misspelled one is
 * never ignored.
 *
 * @param name the member that distinguishes the parts of a plugin, for messages
 * @param problemOf returns what is wrong with members that are valid one by one
 */
export function partKind<P extends { readonly kind: string }>(
  title: string,
  schemas: Omit<SchemasOf<P>, 'kind'>,
  name?: keyof typeof schemas,
  problemOf: (part: P) => string | false | undefined = () => undefined,
): PartKind {
  const schema = configurationObject(schemas as v.ObjectEntries, { noun: 'member' })
  return {
    schema,
    assert({ plugin, part }) {
      const { kind: _, ...members } = part as Readonly<Record<string, unknown>>
      const called = name === undefined ? undefined : members[name]
      const what = `plugins: the ${title}${typeof called === 'string' && called !== '' ? ` ${called.slice(0, 100)}` : ''}`
      // A grant alone is a plugin of this name.
      const where = title === 'grant' && (plugin === '' || plugin === called) ? what : `${what} of ${plugin}`
      parseConfiguration(schema, members, where)
      const problem = problemOf(part as P)
      if (problem) throw new TypeError(`${where} ${problem}`)
    },
  }
}

/** The schema of an object in a part. */
export const memberObject = <P>(schemas: SchemasOf<P>) =>
  configurationObject(schemas as v.ObjectEntries, { noun: 'member' })

/** A function that the part must have. */
export const required = v.custom((value) => typeof value === 'function', 'must be a function')

export const flag = v.optional(v.boolean('must be true or false'))

/** A flag that is set or absent. */
export const mark = v.optional(v.literal(true, 'must be true, or absent'))

/** One of several values. */
export const oneOf = (...values: readonly (string | number)[]) =>
  v.picklist(values, `must be one of ${values.join(', ')}`)

/** Text of a form. */
export const text = (form: RegExp, message: string) => v.pipe(v.string(message), v.regex(form, message))

/** The schema of parameters. */
export const parameters = v.custom(isSchema, 'must be a Standard Schema, such as v.object()')

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
