import { type ClientOptions, type EntryStore, epochSecondsOf, type Json } from '@grantry/core'
import type { EntryType } from './entry-type.ts'
import { refused } from './refusal.ts'

export type Secrets = NonNullable<ClientOptions['secrets']>

/** Returns the epoch seconds of the end of a secret. A secret that cannot be read has ended: no check accepts it. */
export const endOf = (end: unknown): number =>
  end === undefined || end === null ? Number.POSITIVE_INFINITY : (epochSecondsOf(end) ?? Number.NEGATIVE_INFINITY)

/** An entry that can have secrets, among other members. */
interface Owner {
  readonly secrets?: unknown
}

/**
 * The secrets that an entry remembers it had: more than a rotation each month leaves in eight years. The oldest are forgotten
 * first.
 */
const maxFormer = 100

const secretsOf = ({ secrets }: Owner): Secrets => (Array.isArray(secrets) ? secrets : [])

const base64Form = /^[A-Za-z0-9+/]+$/u

/** Decodes and encodes again: the last character of a base64 text has bits that no byte contains, so several are one hash. */
const canonical = (base64: string): string =>
  base64Form.test(base64) && base64.length % 4 !== 1 ? btoa(atob(base64)).replace(/=+$/u, '') : base64

/**
 * Returns the name of a secret: its hash, in the same form for all spellings of the base64. `undefined` if no secret
 * can match.
 */
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

/** Adds the secrets that a change removes, or ends earlier, to the former secrets. */
function formerAfter(former: readonly string[] = [], before: Owner, after: Owner): readonly string[] {
  const ends = endsOf(after)
  const replaced = [...endsOf(before)].filter(([name, end]) => (ends.get(name) ?? 0) < end).map(([name]) => name)
  return [...new Set([...former.filter((name) => !replaced.includes(name)), ...replaced])].slice(-maxFormer)
}

/**
 * Returns the indexes of secrets that a change brings back, such as a leaked one from an old file: a removed secret, or
 * a later end for one that was rotated.
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

/** Returns the former secrets of an entry after a change. @throws RefusedError `invalid` for one that brings a secret back */
export function formerSecretsOf(
  type: Pick<EntryType<object>, 'noun'>,
  before: { readonly id: string; readonly formerSecrets?: readonly string[] | undefined; readonly value: Owner },
  after: Owner,
): readonly string[] {
  const { id, formerSecrets, value } = before
  const [returned] = returnedSecrets(formerSecrets, value, after)
  if (returned === undefined) return formerAfter(formerSecrets, value, after)
  throw refused('invalid', formerProblem(type, id, returned), { member: `secrets[${returned}]` })
}

/** The secrets that were taken away from removed entries: one that is added under the same id does not get them back. */
export interface RemovedSecrets {
  /** Returns their names, the oldest first. */
  find(id: string): Promise<readonly string[]>
  /** Adds names, before an entry is removed. */
  keep(id: string, names: readonly string[] | undefined): Promise<void>
}

function namesIn(value: Json | undefined): readonly string[] {
  const { formerSecrets } = Object(value ?? {}) as { readonly formerSecrets?: unknown }
  return Array.isArray(formerSecrets) ? formerSecrets.filter((name) => typeof name === 'string') : []
}

export function createRemovedSecrets(
  { formerKind: kind, noun }: Pick<EntryType<object>, 'formerKind' | 'noun'>,
  entries: Pick<EntryStore, 'get' | 'create' | 'replace'>,
): RemovedSecrets {
  const read = async (id: string) => (kind === undefined ? undefined : entries.get(kind, id))
  return {
    find: async (id) => namesIn((await read(id))?.value),
    async keep(id, names = []) {
      if (kind === undefined || names.length === 0) return
      const entry = await read(id)
      const value = { formerSecrets: [...new Set([...namesIn(entry?.value), ...names])].slice(-maxFormer) }
      const kept =
        entry === undefined
          ? await entries.create(kind, id, value)
          : await entries.replace(kind, id, entry.version, value)
      if (kept === undefined) throw refused('outdated', `the ${noun} ${id} is being removed by another call; try again`)
    },
  }
}
