import * as v from 'valibot'
import { assertNone } from '../config-problems.ts'
import { type HashSecretOutput, parseSecret, type Secret, secretRow } from './secret.ts'

/** Secrets that were compromised, by their hashes. */
export interface RefusedSecrets {
  /** Whether there is one with this algorithm. */
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

/** Returns what is wrong with secrets that are refused. */
const problemsOf = (secrets: unknown, refused: RefusedSecrets, where: string): readonly string[] =>
  (Array.isArray(secrets) ? secrets : []).flatMap((row, index) => {
    const secret = parseSecret(secretRow(row))
    return typeof secret === 'string' || !refused.has(secret)
      ? []
      : `${where}: secrets[${index}] is in refusedSecrets, because it was compromised; create another one with grantry hash-secret`
  })

/**
 * Checks the secrets of clients and scopes of the host.
 *
 * @throws TypeError that names each one that is refused.
 */
export function assertNotRefused(
  { clients, scopes }: { readonly clients: unknown; readonly scopes: unknown },
  refused: RefusedSecrets,
): void {
  const listed = (list: string, owners: unknown): readonly string[] =>
    (Array.isArray(owners) ? owners : []).flatMap((owner: { readonly secrets?: unknown } | null, index) =>
      problemsOf(owner?.secrets, refused, `${list}[${index}]`),
    )
  assertNone([...listed('clients', clients), ...listed('scopes', scopes)])
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
