import { hashSecret, type Runtime } from '@grantry/core'
import { endOf, namesOf, type Secrets } from './former-secrets.ts'
import type { EditOptions, EntryManager } from './manage-entries.ts'
import type { Managed } from './managed-entry.ts'

/** An entry with secrets of its own: a client, or the API of a scope. */
interface Owner {
  readonly secrets?: Secrets | undefined
}

/** The secret of a new value, which is shown once: only its hash is stored. */
export interface NewSecret {
  readonly secret: string
  readonly hash: Secrets[number]
}

/** Creates secrets of 256 bits. */
export function createNewSecret(runtime: Pick<Runtime, 'randomBytes' | 'base64url'>): () => NewSecret {
  return () => {
    const secret = runtime.base64url(runtime.randomBytes(32))
    return { secret, hash: hashSecret(secret) }
  }
}

/** Secrets as they are shown and recorded: only their ends. Other members stay as they are. */
export function withoutHashes(member: string, value: unknown): unknown {
  if (member !== 'secrets') return value
  if (!Array.isArray(value)) return undefined
  return value.map((secret: { readonly expiresAt?: unknown } | null) => ({ expiresAt: secret?.expiresAt ?? null }))
}

/** Returns the secrets that have not ended, each with an end that is not later than `end`. In epoch seconds. */
const endingSecrets = (secrets: Secrets = [], now: number, end: number): Secrets =>
  secrets.flatMap((secret) => {
    const expiresAt = Math.min(end, endOf(secret.expiresAt))
    return expiresAt > now ? [{ ...secret, expiresAt }] : []
  })

/** A new secret, and the names of those that it replaces. */
export interface RotatedSecret {
  readonly secret: string
  /** Names of the earlier secrets, for `refusedSecrets` of the configuration. They contain a hash, and no secret. */
  readonly replaced: readonly string[]
}

interface RotationDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly newSecret: () => NewSecret
}

/** Adds a secret, and ends the others. @param assertOwner refuses an owner that cannot have a secret */
export async function rotateSecret<T extends Owner & object>(
  manager: Pick<EntryManager<T>, 'replace'>,
  id: string,
  overlap: number,
  options: Pick<EditOptions, 'version'> & { readonly action: string },
  { now, newSecret }: RotationDeps,
  assertOwner: (value: T) => void = () => {},
): Promise<RotatedSecret & { readonly rotated: Managed<T> }> {
  const { secret, hash } = newSecret()
  const time = Math.floor(now() / 1000)
  let replaced: readonly string[] = []
  const rotated = await manager.replace(
    id,
    (current) => {
      assertOwner(current)
      replaced = namesOf(current)
      return { ...current, secrets: [...endingSecrets(current.secrets, time, time + overlap), hash] }
    },
    options,
  )
  return { rotated, secret, replaced }
}
