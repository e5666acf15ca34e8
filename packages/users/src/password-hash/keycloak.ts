/** A credential of type `password` in an export of Keycloak. Both members contain JSON. */
export interface KeycloakCredential {
  readonly credentialData: string
  readonly secretData: string
}

interface CredentialData {
  readonly algorithm?: unknown
  readonly hashIterations?: unknown
  readonly additionalParameters?: Readonly<Record<string, readonly unknown[] | undefined>>
}

interface SecretData {
  readonly salt?: unknown
  readonly value?: unknown
}

const digests: Readonly<Record<string, string>> = {
  pbkdf2: 'pbkdf2-sha1',
  'pbkdf2-sha256': 'pbkdf2-sha256',
  'pbkdf2-sha512': 'pbkdf2-sha512',
}

// Base64 has two at most. Without a limit, a long row of them takes quadratic time.
const unpadded = (text: string): string => text.replace(/={1,2}$/u, '')

function parsed<T extends object>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the hash of a Keycloak credential as a PHC string for `parsePasswordHash()`: `$pbkdf2-sha256$i=27500$SALT$HASH`
 * or `$argon2id$v=19$m=7168,t=5,p=1$SALT$HASH`. Returns `undefined` for other algorithms and malformed credentials.
 */
export function keycloakPasswordHash({ credentialData, secretData }: KeycloakCredential): string | undefined {
  const credential = parsed<CredentialData>(credentialData)
  const secret = parsed<SecretData>(secretData)
  if (credential === undefined || typeof secret?.salt !== 'string' || typeof secret.value !== 'string') return undefined
  const { algorithm, hashIterations, additionalParameters = {} } = credential
  if (typeof algorithm !== 'string' || typeof hashIterations !== 'number') return undefined
  const end = `${unpadded(secret.salt)}$${unpadded(secret.value)}`
  const digest = Object.hasOwn(digests, algorithm) ? digests[algorithm] : undefined
  if (digest !== undefined) return `$${digest}$i=${hashIterations}$${end}`
  const [type, version, memory, parallelism] = ['type', 'version', 'memory', 'parallelism'].map(
    (name) => additionalParameters[name]?.[0],
  )
  if (algorithm !== 'argon2' || type !== 'id' || version !== '1.3') return undefined
  return `$argon2id$v=19$m=${memory},t=${hashIterations},p=${parallelism}$${end}`
}
