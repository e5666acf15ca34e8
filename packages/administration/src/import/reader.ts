import { inexactNumberIn, metadataName } from '@grantry/core'
import type { Members } from '../differences.ts'
import type { Consequence, Finding } from './imported.ts'

/**
 * Reads the members of an entry of an export. The report lists the members that were not read, so that nothing is
 * dropped silently.
 */
export interface Reader {
  /** Returns a member. */
  take(name: string): unknown
  text(name: string): string | undefined
  /** @param unreadable the result for a value of another form: the stricter one of both */
  flag(name: string, unreadable?: boolean): boolean | undefined
  number(name: string): number | undefined
  texts(name: string): readonly string[]
  /** Returns a list that limits; `undefined`, with this consequence in the report, if it has another form. */
  texts(name: string, consequence: string): readonly string[] | undefined
  /** Ignores a member that has no counterpart, if it has one of these values. */
  ignore(names: readonly string[], ...values: readonly unknown[]): void
  /** Adds a loss to the report. */
  note(member: string | undefined, what: string, consequence?: Consequence): void
  /** Adds a member to the report that was taken over, but has another effect. */
  changed(member: string | undefined, what: string, consequence: Consequence): void
  /** Reports all members that were not read. */
  end(): void
}

/** Returns the consequence of a member without a counterpart, and a text that says more than that. */
export type Known = (member: string) => readonly [consequence: Consequence, what?: string] | undefined

/** The consequence of a name in the metadata of clients (RFC 7591). */
export function knownOfMetadata(name: string): ReturnType<Known> {
  const loss = metadataName(name)?.loss
  return loss && [loss]
}

export interface ReaderOptions {
  /** Such as `client web`. */
  readonly entry: string
  readonly findings: Finding[]
  /** The path of the members, such as `attributes.`. */
  readonly path?: string | undefined
  /** Whether the case of names has no meaning. */
  readonly anyCase?: boolean | undefined
  readonly known?: Known | undefined
}

const noCounterpart = 'has no counterpart'
const textOf = (consequence: Consequence): string =>
  consequence === 'sub' ? `${noCounterpart}: users of the client get another sub` : noCounterpart

const textsIn = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.every((text) => typeof text === 'string') ? value : undefined

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && (Array.isArray(value) ? value : Object.keys(value)).length === 0)

/** Exports have numbers and flags as texts, too. */
const asNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,15}$/u.test(value) ? Number(value) : value
const asFlag = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value)

export function createReader(members: Members, options: ReaderOptions): Reader {
  const { entry, findings, path = '', anyCase = false, known } = options
  const keyOf = (name: string): string => (anyCase ? name.toLowerCase() : name)
  const values = new Map(Object.entries(members).map(([name, value]) => [keyOf(name), { name, value }]))
  const read = new Set<string>()

  const add =
    (outcome: Finding['outcome']) => (member: string | undefined, what: string, consequence?: Consequence) => {
      const place = member === undefined ? {} : { member: path + member }
      findings.push({ entry, ...place, what, outcome, consequence: consequence ?? 'unknown' })
    }
  const note = add('lost')
  const take: Reader['take'] = (name) => {
    read.add(keyOf(name))
    return values.get(keyOf(name))?.value ?? undefined
  }
  /** Returns a member of a type. One of another type is reported. */
  function typed<T>(
    name: string,
    is: (value: unknown) => value is T,
    as = (value: unknown): unknown => value,
    unreadable?: T,
  ): T | undefined {
    const value = as(take(name))
    if (value === undefined || is(value)) return value
    note(name, `has an unknown form, and ${noCounterpart}`)
    return unreadable
  }

  return {
    take,
    note,
    changed: add('changed'),
    text(name) {
      const value = typed(name, (raw) => typeof raw === 'string')
      return value === '' ? undefined : value
    },
    flag: (name, unreadable) => typed(name, (value) => typeof value === 'boolean', asFlag, unreadable),
    number: (name) =>
      typed(
        name,
        (value): value is number => typeof value === 'number' && inexactNumberIn(value) === undefined,
        asNumber,
      ),
    texts(name: string, consequence?: string) {
      const value = take(name)
      const texts = textsIn(value)
      if (texts !== undefined || value === undefined) return texts ?? []
      note(name, `has an unknown form, and ${consequence ?? noCounterpart}`, 'sign-in')
      return consequence === undefined ? [] : (undefined as never)
    },
    ignore(names, ...harmless) {
      for (const name of names) {
        const { value } = values.get(keyOf(name)) ?? {}
        if (
          harmless.length === 0 ||
          isEmpty(value) ||
          harmless.some((each) => each === value || each === asFlag(value))
        )
          read.add(keyOf(name))
      }
    },
    end() {
      for (const [key, { name, value }] of values) {
        if (read.has(key) || isEmpty(value)) continue
        const [consequence, what = textOf(consequence)] = known?.(name) ?? ['unknown']
        note(name, what, consequence)
      }
    },
  }
}
