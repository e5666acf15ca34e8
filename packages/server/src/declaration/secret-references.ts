import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { passwordProblem } from '@grantry/administration'
import { hashSecret, isJsonObject, quotableName } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { fileErrorReason } from '../error-message.ts'

type Members = Readonly<Record<string, unknown>>

/** A variable and nothing else. */
const variable = /^\$\{[A-Za-z_]\w*\}$/u

/** The maximum size in bytes. A larger file, such as a device without an end, is not a secret. */
const maxSecret = 4096

/** The lists whose entries have secrets. */
const owners = ['clients', 'scopes'] as const

/** Finds all secrets of a file, with their paths. */
function* secretsIn(content: unknown): Generator<{ readonly path: string; readonly secret: Members }> {
  if (!isJsonObject(content)) return
  for (const list of owners) {
    const entries = content[list]
    if (!Array.isArray(entries)) continue
    for (const [index, entry] of entries.entries()) {
      if (!isJsonObject(entry) || !Array.isArray(entry.secrets)) continue
      for (const [number, secret] of entry.secrets.entries()) {
        if (isJsonObject(secret)) yield { path: `${list}[${index}].secrets[${number}]`, secret }
      }
    }
  }
}

/** Finds the passwords of a file that are references, with their paths. */
function* passwordsIn(content: unknown): Generator<{ readonly path: string; readonly secret: Members }> {
  const users = isJsonObject(content) && Array.isArray(content.users) ? content.users : []
  for (const [index, user] of users.entries()) {
    if (isJsonObject(user) && isJsonObject(user.password))
      yield { path: `users[${index}].password`, secret: user.password }
  }
}

/** Returns a mistake for each plain secret in a file. The messages do not contain the secrets. */
export function plainSecrets(content: unknown): readonly string[] {
  return [...secretsIn(content), ...passwordsIn(content)].flatMap(({ path, secret }) =>
    'value' in secret && !(typeof secret.value === 'string' && variable.test(secret.value))
      ? `${path}.value must be a variable such as \${WEB_SECRET}, and nothing else: a file does not contain secrets`
      : [],
  )
}

function readSecret(file: string, path: string): string {
  let opened: number | undefined
  try {
    opened = openSync(file, 'r')
    if (!fstatSync(opened).isFile()) throw new TypeError('it is not a file')
    const bytes = Buffer.alloc(maxSecret + 1)
    const length = readSync(opened, bytes, 0, bytes.length, 0)
    if (length > maxSecret) throw new TypeError(`it has more than ${maxSecret} bytes`)
    return bytes.toString('utf8', 0, length).replace(/\r?\n$/u, '')
  } catch (cause) {
    throw new TypeError(`${path}: cannot read the secret in ${file} (${fileErrorReason(cause)})`)
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/** Returns the secret that a reference names. */
function referencedBy({ value, file }: Members, path: string, directory: string): string {
  if (value !== undefined && file !== undefined) throw new TypeError(`${path} has both value and file; keep one`)
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new TypeError(`${path}.file must be the path of a file that contains the secret`)
  const text = typeof file === 'string' ? readSecret(resolve(directory, file), path) : value
  if (typeof text !== 'string' || text === '') throw new TypeError(`${path}: the secret is empty`)
  return text
}

function hashed(secret: Members, path: string, directory: string): Members {
  const { value, file, ...rest } = secret
  if (value === undefined && file === undefined) return secret
  if ('sha256' in rest || 'sha512' in rest)
    throw new TypeError(`${path} has both a hash and a reference to a secret; keep one`)
  return { ...hashSecret(referencedBy(secret, path, directory)), ...rest }
}

async function hashedPassword(reference: Members, path: string, directory: string): Promise<string> {
  const [unknownName] = Object.keys(reference).filter((name) => name !== 'value' && name !== 'file')
  if (unknownName !== undefined)
    throw new TypeError(`${path}: ${quotableName(unknownName)} is not known here; known are value and file`)
  const password = referencedBy(reference, path, directory)
  const problem = passwordProblem(password)
  if (problem !== undefined) throw new TypeError(`${path} ${problem}`)
  return hashPassword(password)
}

/**
 * Replaces references to secrets by the hashes of these: `{ "value": "${NAME}" }`, whose variable has been replaced, and
 * `{ "file": "path" }`.
 *
 * @throws TypeError that names the path of the first reference that does not work. It does not contain the secret.
 */
export async function withHashes(content: unknown, directory: string): Promise<unknown> {
  if (!isJsonObject(content)) return content
  const replaced = new Map<unknown, unknown>()
  for (const { path, secret } of secretsIn(content)) replaced.set(secret, hashed(secret, path, directory))
  for (const { path, secret } of passwordsIn(content))
    replaced.set(secret, await hashedPassword(secret, path, directory))
  const ofEntry = (entry: unknown): unknown => {
    if (!isJsonObject(entry)) return entry
    const { secrets, password } = entry
    return {
      ...entry,
      ...(Array.isArray(secrets) && { secrets: secrets.map((secret) => replaced.get(secret) ?? secret) }),
      ...(replaced.has(password) && { password: replaced.get(password) }),
    }
  }
  return Object.fromEntries(
    Object.entries(content).map(([name, list]) => [name, Array.isArray(list) ? list.map(ofEntry) : list]),
  )
}
