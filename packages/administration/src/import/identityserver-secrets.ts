import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { exportedEnd } from './exported-values.ts'
import { objectsIn } from './imported.ts'
import type { Reader } from './reader.ts'

/** The algorithms of hashes, by the length of their base64. */
const algorithms: ReadonlyMap<number, 'sha256' | 'sha512'> = new Map([
  [44, 'sha256'],
  [88, 'sha512'],
])

const lowerNames = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name.toLowerCase(), value]))

const unreadableEnd = 'was left out: its time of expiry cannot be read'

/** Returns the secrets of a list that are hashes: base64 of the SHA-256 or SHA-512. Reports the others. */
export function hashesIn(list: unknown, member: string, { note }: Reader): readonly Members[] {
  return objectsIn(list)
    .map(lowerNames)
    .flatMap(({ type, value, expiration }, index) => {
      const where = `${member}[${index}]`
      if ((type ?? 'SharedSecret') !== 'SharedSecret') {
        if (type !== 'JWK') note(where, `a secret of the type ${String(type)} has no counterpart`, 'sign-in')
        return []
      }
      const isBase64 = typeof value === 'string' && value.length <= 88 && /^[A-Za-z0-9+/]+={0,2}$/u.test(value)
      const algorithm = isBase64 ? algorithms.get(value.length) : undefined
      if (algorithm === undefined) {
        note(where, 'was left out: it is not the base64 of a SHA-256 or SHA-512', 'sign-in')
        return []
      }
      const end = exportedEnd(expiration)
      if (Number.isNaN(end)) {
        note(where, unreadableEnd, 'sign-in')
        return []
      }
      return [{ [algorithm]: value, ...(end !== undefined && { expiresAt: end }) }]
    })
}

/** Members of keys that sign, or decrypt. */
const privateMembers: readonly string[] = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** Returns why a key cannot be that of a client. */
function keyProblem(key: unknown): string | undefined {
  if (!isJsonObject(key) || typeof key.kty !== 'string') return 'it is not a JWK'
  if (key.kty === 'oct' || privateMembers.some((name) => Object.hasOwn(key, name))) return 'it is not a public key'
  return undefined
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

/** Returns the public keys in a list of secrets. A key of a client has no end here, so one that has an end is left out. */
export function keysIn(list: unknown, member: string, { note }: Reader): readonly unknown[] {
  return objectsIn(list)
    .map(lowerNames)
    .flatMap(({ type, value, expiration }, index) => {
      if (type !== 'JWK') return []
      const key = parsed(value)
      const end = exportedEnd(expiration)
      const problem =
        keyProblem(key) ??
        (end === undefined ? undefined : 'it has an end, which a key cannot have here; add it, and remove it then')
      if (problem === undefined) return [key]
      note(`${member}[${index}]`, `was left out: ${problem}`, 'sign-in')
      return []
    })
}
