import type { EntryType } from './entry-type.ts'
import { endOf, type Secrets } from './secret-end.ts'

/** What can have secrets, among other members. */
interface Owner {
  readonly secrets?: unknown
}

/**
 * The secrets that an entry remembers it had: more than a rotation each month leaves in eight years. The oldest are forgotten
 * first.
 */
export const maxFormer = 100

const secretsOf = ({ secrets }: Owner): Secrets => (Array.isArray(secrets) ? secrets : [])

const base64Form = /^[A-Za-z0-9+/]+$/u

/** Decodes and encodes again: the last character of a base64 text has bits that no byte contains, so several are one hash. */
const canonical = (base64: string): string =>
  base64Form.test(base64) && base64.length % 4 !== 1 ? btoa(atob(base64)).replace(/=+$/u, '') : base64

/** Names a secret by its hash, in one form for each spelling of the base64. `undefined` if it matches nothing. */
function nameOf(secret: Secrets[number] | null): string | undefined {
  const { sha256, sha512 } = secret ?? {}
  const [algorithm, hash] = typeof sha512 === 'string' ? ['sha512', sha512] : ['sha256', sha256]
  return typeof hash === 'string'
    ? `${algorithm}:${canonical(hash.replace(/=+$/u, '').replaceAll('-', '+').replaceAll('_', '/'))}`
    : undefined
}

/** Returns the end of each secret in epoch seconds, by its name. */
export const endsOf = (owner: Owner): ReadonlyMap<string, number> =>
  new Map(
    secretsOf(owner).flatMap((secret): readonly [string, number][] => {
      const name = nameOf(secret)
      return name === undefined ? [] : [[name, endOf(secret?.expiresAt)]]
    }),
  )

/** Returns the names of all secrets of an owner, as `refusedSecrets` of the configuration has them. */
export const namesOf = (owner: Owner): readonly string[] => [...endsOf(owner).keys()]

/** Why a secret is refused. */
export const formerProblem = ({ noun }: Pick<EntryType<object>, 'noun'>, id: string, index: number): string =>
  `secrets[${index}] of the ${noun} ${id} was replaced; remove it from the file, or create another one with grantry hash-secret`

/** Returns the former secrets of an entry after a change: those that it takes away, or ends earlier. */
export function formerAfter(former: readonly string[] = [], before: Owner, after: Owner): readonly string[] {
  const ends = endsOf(after)
  const replaced = [...endsOf(before)].filter(([name, end]) => (ends.get(name) ?? 0) < end).map(([name]) => name)
  return [...new Set([...former.filter((name) => !replaced.includes(name)), ...replaced])].slice(-maxFormer)
}

/**
 * Returns the indexes of secrets that a change brings back, such as a leaked one from an old file: one that was taken away, or
 * a later end for one that was rotated out.
 */
export function returnedSecrets(former: readonly string[] = [], before: Owner, after: Owner): readonly number[] {
  const known = new Set(former)
  const ends = endsOf(before)
  return secretsOf(after).flatMap((secret, index) => {
    const name = nameOf(secret)
    const isReturned =
      name !== undefined && known.has(name) && endOf(secret?.expiresAt) > (ends.get(name) ?? Number.NEGATIVE_INFINITY)
    return isReturned ? [index] : []
  })
}
