import * as v from 'valibot'
import { assertNone } from '../config-problems.ts'
import { placeInList } from '../config-schema.ts'
import { after } from '../promises.ts'
import { hex, type Runtime, utf8 } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { type HashSecretOutput, parseSecret, type Secret, secretRow } from './secret.ts'

/** The hashes of compromised secrets. */
export interface RefusedSecrets {
  /** Whether the list has a hash of this algorithm. */
  uses(algorithm: Secret['algorithm']): boolean
  has(secret: Pick<Secret, 'algorithm' | 'hash'>): boolean
}

/** Compromised secrets of eight years with one each month, of ten clients. */
const maxRefused = 1000

const nameForm = /^(sha256|sha512):(.+)$/u

/** Returns the secret that a name stands for; `undefined` if it is malformed. */
function secretNamed(name: string): Secret | undefined {
  const [, algorithm = '', hash] = nameForm.exec(name) ?? []
  // Names have no padding.
  const padded = hash?.padEnd(Math.ceil(hash.length / 4) * 4, '=')
  const secret = parseSecret({ [algorithm]: padded } as HashSecretOutput)
  return typeof secret === 'string' ? undefined : secret
}

/** The schema of a list of names, such as `sha256:<base64>`. */
export const refusedSecretsSchema = v.optional(
  v.pipe(
    v.array(
      v.pipe(
        v.string('must be a string'),
        v.check(
          (name) => secretNamed(name) !== undefined,
          'must be sha256: and the base64 of the SHA-256 of a secret, as grantry clients rotate-secret prints it',
        ),
      ),
      'must be an array of strings',
    ),
    v.maxLength(maxRefused, `must have at most ${maxRefused} secrets`),
  ),
  [],
)

/** Opens a checked list of names. */
function openRefusedSecrets(names: readonly string[]): RefusedSecrets {
  const secrets = names.flatMap((name) => secretNamed(name) ?? [])
  const known = new Set(secrets.map(({ algorithm, hash }) => `${algorithm}:${hash}`))
  const algorithms = new Set(secrets.map(({ algorithm }) => algorithm))
  return {
    uses: (algorithm) => algorithms.has(algorithm),
    has: ({ algorithm, hash }) => known.has(`${algorithm}:${hash}`),
  }
}

// Also takes values that were not validated: a client store has no list, and the schema reports a malformed list
// itself.
const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? value : [])

/**
 * Checks the secrets of clients and scopes of the host.
 *
 * @throws TypeError that names each one that is refused.
 */
export function assertNotRefused(
  { clients, scopes }: { readonly clients: unknown; readonly scopes: unknown },
  refused: RefusedSecrets,
): void {
  assertNone(
    Object.entries({ clients, scopes }).flatMap(([list, owners]) =>
      listOf<{ readonly secrets?: unknown } | null>(owners).flatMap((owner, index) =>
        listOf<unknown>(owner?.secrets).flatMap((row, at) => {
          const secret = parseSecret(secretRow(row))
          return typeof secret === 'string' || !refused.has(secret)
            ? []
            : `${placeInList(list, index, owner)}: secrets[${at}] is in refusedSecrets, because it was compromised; create another one with grantry hash-secret`
        }),
      ),
    ),
  )
}

/** Opens the refused secrets of a provider. @throws TypeError when one is that of a client or scope of the host */
export function checkedRefusedSecrets(options: {
  readonly refusedSecrets: readonly string[]
  readonly clients: unknown
  readonly scopes: unknown
}): RefusedSecrets {
  const refused = openRefusedSecrets(options.refusedSecrets)
  assertNotRefused(options, refused)
  return refused
}

/** Compares in time that depends only on the lengths, so that it does not reveal where two secrets differ. */
export function constantTimeEqual(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index += 1) difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}

// Expired, so no presented secret matches, but comparing takes as long as with a live secret.
const decoys: readonly Secret[] = [
  { algorithm: 'sha256', hash: '0'.repeat(64), expiresAt: 0 },
  { algorithm: 'sha512', hash: '0'.repeat(128), expiresAt: 0 },
]

/** Whether any live secret of the owner matches. `secrets` is `undefined` for an unknown owner. */
type SecretCheck = (presented: string, secrets: readonly Secret[] | undefined) => MaybePromise<boolean>

/**
 * Creates the check of secrets. Each check hashes the presented secret once with every algorithm in use, regardless of
 * the owner and of the number of its secrets. Its timing therefore does not reveal which owners exist or how a secret
 * is stored.
 *
 * @param known the secrets of all owners that are known at startup. Algorithms of other owners are added when they are
 * first checked; without any known algorithm, SHA-512 is used.
 * @see wire contract, section 2; docs/decisions/0031-equal-work-for-every-credential.md
 */
export function createSecretCheck(known: readonly (readonly Secret[])[], runtime: Runtime): SecretCheck {
  const used = new Set(known.flat().map(({ algorithm }) => algorithm))
  return (presented, secrets = []) => {
    for (const { algorithm } of secrets) used.add(algorithm)
    const sha256 = used.has('sha256') ? runtime.sha256Hex(presented) : ''
    const digesting = used.has('sha512') || used.size === 0 ? after(runtime.sha512(utf8(presented)), hex) : ''
    return after(digesting, (sha512) => {
      const digests = { sha256, sha512 }
      const now = runtime.now()
      let matched = false
      for (const { algorithm, hash, expiresAt } of secrets.length === 0 ? decoys : secrets) {
        const equal = constantTimeEqual(digests[algorithm], hash)
        if (equal && (expiresAt === undefined || now < expiresAt)) matched = true
      }
      return matched
    })
  }
}

/** Whether a presented secret was compromised, however its owner has stored it. Without such secrets, it hashes nothing. */
export type RefusalCheck = (presented: string) => MaybePromise<boolean>

export function createRefusalCheck(refused: RefusedSecrets, runtime: Runtime): RefusalCheck {
  return (presented) =>
    (refused.uses('sha256') && refused.has({ algorithm: 'sha256', hash: runtime.sha256Hex(presented) })) ||
    (refused.uses('sha512') &&
      after(runtime.sha512(utf8(presented)), (digest) => refused.has({ algorithm: 'sha512', hash: hex(digest) })))
}
