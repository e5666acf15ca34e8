import * as v from 'valibot'
import { assertNone } from './config-problems.ts'
import { isJsonObject } from './json.ts'

/** The Levenshtein distance between two strings. */
function distance(from: string, to: string): number {
  let row = [...Array(to.length + 1).keys()]
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** Maps `code_challenge`, `code-challenge` and `codeChallenge` to `codechallenge`. */
const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/gu, '')

/** Returns the known name with the fewest edits; `undefined` if it needs more than 2 and more than a third of the name. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({
    candidate,
    edits: distance(normalizeName(name), normalizeName(candidate)),
  }))
  return ranked
    .filter(({ edits }) => edits <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.edits - b.edits)[0]?.candidate
}

/** A word of a name. Random text is longer, or has capitals in other places. */
const word = /^(?:[A-Z]{0,3}[a-z]{2,24}|[A-Z]{1,25}|[A-Z]?[a-z])$/u

/**
 * Returns the name of an option for an error: a secret could have been pasted where the name belongs. Quotes only a
 * name that consists of words, with up to three digits at its end. Of random texts of 16 letters and digits, about 2
 * in 100 have this form; of those of 32, fewer than 1 in 1,000.
 */
export function quotableName(name: string): string {
  const [, text = ''] = /^(.{1,80}?)\d{0,3}$/u.exec(name) ?? []
  const words = text.split(/[$_.:/#-]+|(?<=[a-z])(?=[A-Z])/u).filter((part) => part !== '')
  // Random letters split into many short words: with more words, each must be longer on average.
  const shortest = words.length <= 2 ? 1 : words.length === 3 ? 3 : 3.5
  const isName = words.length > 0 && words.join('').length >= shortest * words.length
  return isName && words.every((part) => word.test(part)) ? name : '<name not shown: it could be a secret>'
}

/** Describes a value by its type only: the value itself could be a secret in the wrong place. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The unknown keys besides the one of an issue: valibot reports one key of each object. */
const moreUnknown = new WeakMap<object, readonly { readonly name: string; readonly message: string }[]>()

/**
 * The schema of a configuration object. It rejects unknown keys and suggests the closest known one, so that a mistyped
 * security option is never ignored.
 *
 * @param hints `suggestions`: what to suggest for names of other libraries (`client_secret`), keyed by the name in lower
 * case without `_` and `-`. `shape`: what the object looks like, and how to create one. `noun`: what its keys are.
 */
export function configurationObject<const E extends v.ObjectEntries>(
  entries: E,
  hints: {
    readonly suggestions?: Readonly<Record<string, string>> | undefined
    readonly shape?: readonly [form: string, how?: string] | undefined
    readonly noun?: string | undefined
  } = {},
) {
  const known = Object.keys(entries)
  const { suggestions = {}, shape = ['an object'], noun = 'option' } = hints
  const explain = (unknown: string): string => {
    const normalized = normalizeName(unknown)
    if (Object.hasOwn(suggestions, normalized)) return `is not a known ${noun}; did you mean ${suggestions[normalized]}`
    const suggestion = closestName(unknown, known)
    return suggestion === undefined
      ? `is not a known ${noun} here; known ${noun}s: ${known.join(', ')}`
      : `is not a known ${noun}; did you mean ${suggestion}?`
  }
  return v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') {
      const { key, input = {} } = issue.path?.at(-1) ?? {}
      const others = Object.keys(input as object).filter((name) => name !== key && !known.includes(name))
      moreUnknown.set(
        issue,
        others.map((name) => ({ name, message: explain(name) })),
      )
      return explain(String(key ?? ''))
    }
    if (issue.expected.startsWith('"')) return 'is required'
    const [form, how] = shape
    return `must be ${form}, not ${kindOf(issue.input)}${how === undefined ? '' : `; ${how}`}`
  })
}

type Accepted<T> = T extends readonly (infer Item)[] ? readonly Item[] : T

/** The options that a schema accepts, with the comments of its entries in editors. */
export type OptionsOf<S extends v.GenericSchema> = {
  readonly [Name in keyof v.InferInput<S>]: Accepted<v.InferInput<S>[Name]>
}

/** The schema of a configuration object with any keys, whose values have one schema. */
export const configurationMap = <const S extends v.GenericSchema>(values: S) =>
  v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(isJsonObject, ({ input }) => `must be an object, not ${kindOf(input)}`),
    v.record(v.string(), values),
  )

/**
 * The schema of a host port: an object of functions. Unknown members are allowed unless one looks like a misspelled
 * function: a misspelled `isActve` would otherwise make every user active.
 */
export function configurationPort<T>(names: readonly string[], expected: string) {
  return v.pipe(
    v.custom<T>((value) => typeof value === 'object' && value !== null, `must be ${expected}`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      // Reads members by name instead of listing keys: class methods are on the prototype.
      const members = dataset.value as Readonly<Record<string, unknown>>
      const absent = names.filter((name) => members[name] === undefined)
      const wrong = names.find((name) => members[name] !== undefined && typeof members[name] !== 'function')
      if (wrong !== undefined) return addIssue({ message: `has ${wrong}, which must be a function` })
      for (const name of Object.keys(members)) {
        const closest = names.includes(name) ? undefined : closestName(name, absent)
        if (closest !== undefined) return addIssue({ message: `has ${name}; did you mean ${closest}()?` })
      }
      if (absent.length === names.length && Object.values(members).some((member) => member !== undefined))
        addIssue({ message: `must be ${expected}` })
    }),
  )
}

export const functionSchema = <T>() =>
  v.optional(v.custom<T>((value) => typeof value === 'function', 'must be a function'))

function pathOf(keys: readonly unknown[]): string {
  let path = ''
  for (const key of keys) {
    path += typeof key === 'number' ? `[${key}]` : `${path === '' ? '' : '.'}${quotableName(String(key))}`
  }
  return path
}

// Messages of our own schemas are already sentences; valibot's default messages begin with `Invalid`.
function sentence(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  return `must be ${issue.expected ?? 'valid'}, not ${kindOf(issue.input)}`
}

type Issues = readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]

/** Sorts the mistakes: unknown keys first, because they often explain why a required one is missing. */
function sorted(issues: Issues): readonly v.BaseIssue<unknown>[] {
  const unknown = issues.filter(({ expected }) => expected === 'never')
  const suggestions = unknown.flatMap((issue) => [
    issue.message,
    ...(moreUnknown.get(issue) ?? []).map(({ message }) => message),
  ])
  const isExplained = ({ input, path }: v.BaseIssue<unknown>): boolean =>
    input === undefined && suggestions.some((message) => message.includes(`did you mean ${String(path?.at(-1)?.key)}?`))
  return [...unknown, ...issues.filter((issue) => issue.expected !== 'never' && !isExplained(issue))]
}

/** Returns where an entry of a list is, with its id: `clients[0] ("web")`. An id of another form could forge a line of the log. */
export function placeInList(list: string, index: number, entry: unknown): string {
  const { clientId = '', name = clientId } = Object(entry) as { readonly clientId?: string; readonly name?: string }
  return `${list}[${index}]${/^[!#-~]+$/u.test(name) ? ` ("${name}")` : ''}`
}

/**
 * Validates a configuration value at startup.
 *
 * @throws TypeError with one sentence that names the path of the first mistake. `configurationProblems()` returns all.
 */
export function parseConfiguration<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  what: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true })
  if (result.success) return result.output
  const describe = (keys: readonly unknown[], message: string): string => {
    const path = pathOf(keys)
    const parts = [what === '' || path === '' ? what : `${what}:`, path, message]
    return parts.filter((part) => part !== '').join(' ')
  }
  const problems = sorted(result.issues).flatMap((issue) => {
    const keys = issue.path?.map(({ key }) => key) ?? []
    const others = moreUnknown.get(issue) ?? []
    return [
      describe(keys, sentence(issue)),
      ...others.map(({ name, message }) => describe([...keys.slice(0, -1), name], message)),
    ]
  })
  assertNone([...new Set(problems)])
  return result.output as v.InferOutput<S>
}

/** The upper limit of every lifetime setting: ten years, in seconds. */
export const maxLifetime = 315_360_000

/** The schema of an option that is `true` or `false`. */
export const flag = (byDefault: boolean) => v.optional(v.boolean('must be true or false'), byDefault)

/** A lifetime in seconds: a positive integer of at most ten years. */
export const lifetimeSchema = v.pipe(
  v.number('must be a number of seconds'),
  v.check(
    (seconds) => Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= maxLifetime,
    `must be a whole number of seconds from 1 to ${maxLifetime} (ten years)`,
  ),
)
